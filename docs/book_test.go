package docs

import (
	"os"
	"regexp"
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

// TestPagesLeadToChapters holds that the help of each page of the browser names a
// chapter that there is; e2e/chapters.test.ts follows the links.
func TestPagesLeadToChapters(t *testing.T) {
	text, err := os.ReadFile("../web/src/frame/HelpDialog.svelte")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "const CHAPTERS")
	list, _, _ = strings.Cut(list, "};")
	named := regexp.MustCompile(`(\w+): '([\w-]+)'`).FindAllStringSubmatch(list, -1)
	if len(named) < 5 {
		t.Fatalf("only %d pages name a chapter", len(named))
	}
	chapters, err := Chapters()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range named {
		if !slices.ContainsFunc(chapters, func(c Chapter) bool { return c.Name == m[2] }) {
			t.Errorf("the page %s leads to %s, which is no chapter", m[1], m[2])
		}
	}
}
