package docs

import (
	"slices"
	"strings"
	"testing"
)

// TestBook holds that every chapter of the list is there, with a title, and that
// the chapters of the order exist.
func TestBook(t *testing.T) {
	chapters, err := Chapters()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range chapters {
		names = append(names, c.Name)
		if c.Title == "" || !strings.HasPrefix(c.Text, "# ") {
			t.Errorf("%s begins with %.20q, not with a title", c.Name, c.Text)
		}
	}
	for _, want := range []string{"install", "first-picture", "record-your-program", "notebooks", "limits"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no chapter %s", want)
		}
	}
	if names[0] != "install" {
		t.Errorf("the book begins with %s", names[0])
	}
}

func TestFind(t *testing.T) {
	chapters := []Chapter{{Name: "a", Text: "# Late ranks\nA rank waits.\n```\n# not a heading: rank\n```\n## Other\nNothing."}, {Name: "b", Text: "# Caches\nA rank once."}}
	got := Find(chapters, "RANK")
	if len(got) != 2 || got[0].Heading != "Late ranks" || got[0].Found != 13 || got[1].Chapter != "b" || got[0].Line != "A rank waits." {
		t.Errorf("%+v", got)
	}
	if got := Find(chapters, "rank missing"); got != nil {
		t.Errorf("%+v", got)
	}
}
