package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// TestReferenceIsWhole holds that every verb and every flag is in the reference.
func TestReferenceIsWhole(t *testing.T) {
	var text bytes.Buffer
	root := newRoot()
	if err := writeReference(&text, root); err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(text.String(), "\n## ")
	parts := strings.Split(after, "\n## ")
	verbs := describedVerbs(root)
	if len(parts) != len(verbs) || len(verbs) < 30 {
		t.Fatalf("%d parts for %d verbs", len(parts), len(verbs))
	}
	for i, c := range verbs {
		if !strings.HasPrefix(parts[i], c.Name()+"\n") {
			t.Errorf("part %d is %.20q, want %s", i, parts[i], c.Name())
		}
		eachFlag(c, func(form, _ string) {
			if !strings.Contains(parts[i], "| `"+form+"` |") {
				t.Errorf("the part of %s lacks %s", c.Name(), form)
			}
		})
	}
}

// TestManualPages holds that every verb has a page that troff reads without a
// warning, and that the page names every flag.
func TestManualPages(t *testing.T) {
	folder := t.TempDir()
	root := newRoot()
	if err := writeManual(root, folder); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil || len(pages) != len(describedVerbs(root))+1 {
		t.Fatalf("%d pages for %d verbs, %v", len(pages), len(describedVerbs(root)), err)
	}
	for _, c := range describedVerbs(root) {
		text, err := os.ReadFile(filepath.Join(folder, "isobath-"+c.Name()+".1"))
		if err != nil {
			t.Fatal(err)
		}
		eachFlag(c, func(form, _ string) {
			if !strings.Contains(string(text), roff(form)) {
				t.Errorf("the page of %s lacks %s", c.Name(), form)
			}
		})
	}
	if testing.Short() {
		return
	}
	groff := test.Peer(t, "groff", "groff-base")
	out, err := exec.Command(groff, append([]string{"-man", "-Tutf8", "-K", "utf8", "-ww", "-z"}, pages...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
