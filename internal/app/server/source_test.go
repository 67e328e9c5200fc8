package server

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/source"
)

// sourceTree has sources in a folder and secrets outside it.
func sourceTree(t *testing.T) (sources string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"etc/passwd":            "secret",
		"code/deep/src/b.c":     "int b;\n",
		"code/other/a.c":        "int a;\n",
		"code/.git/a.c":         "not this one",
		"code/twice/1/header.h": "1",
		"code/twice/2/header.h": "2",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "code")
}

func TestSource(t *testing.T) {
	s := newTestServer(t, nil)
	code := sourceTree(t)
	const path = "/api/v1/runs/six/"
	ask := func(file string) (int, string) {
		w := do(s, "GET", path+"source?file="+url.QueryEscape(file), "")
		return w.Code, w.Body.String()
	}
	if status, body := ask("a.c"); status != 404 || !strings.Contains(body, "point to the folder") {
		t.Errorf("without a folder: %d %s", status, body)
	}
	get[frame.Failure](t, do(s, "POST", path+"sources", `{"folder":"`+filepath.Join(code, "none")+`"}`), 400)
	get[frame.Failure](t, do(s, "POST", path+"sources", `{"folder":"relative"}`), 400)
	info := get[frame.Info](t, do(s, "POST", path+"sources", `{"folder":"`+code+`"}`), 200)
	want := map[string]bool{"a.c": true, "/home/x/src/b.c": true, "../../etc/passwd": false}
	for _, f := range info.Sources {
		if f.Found != want[f.File] {
			t.Errorf("%s: found %v; tried %v", f.File, f.Found, f.Tried)
		}
	}
	text := get[frame.SourceText](t, do(s, "GET", path+"source?file=/home/x/src/b.c", ""), 200)
	if text.Text != "int b;\n" || text.Path != filepath.Join(code, "deep/src/b.c") {
		t.Errorf("%+v", text)
	}
	if text := get[frame.SourceText](t, do(s, "GET", path+"source?file=a.c", ""), 200); text.Text != "int a;\n" {
		t.Errorf("%+v", text)
	}
	// The samples name this one, and still it must not lead out of the folder;
	// the others no sample names.
	for _, file := range []string{"../../etc/passwd", "../etc/passwd", "/etc/passwd", "deep/src/b.c", "", "header.h", "a.c\x00"} {
		if status, body := ask(file); status != 404 || strings.Contains(body, "secret") {
			t.Errorf("%q: %d %s", file, status, body)
		}
	}
}

func TestSourceLinks(t *testing.T) {
	s := newTestServer(t, nil)
	code := sourceTree(t)
	if err := os.Remove(filepath.Join(code, "other", "a.c")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(code, "..", "etc", "passwd"), filepath.Join(code, "a.c")); err != nil {
		t.Fatal(err)
	}
	s.runs[0].AddSources(code)
	if w := do(s, "GET", "/api/v1/runs/six/source?file=a.c", ""); w.Code != 404 {
		t.Errorf("a link that leads out is followed: %d %s", w.Code, w.Body)
	}
	// The importer's own finding is read in the same way.
	s.runs[0].Sources = map[string]source.File{"a.c": {Root: code, Name: "a.c"}}
	if w := do(s, "GET", "/api/v1/runs/six/source?file=a.c", ""); w.Code != 404 {
		t.Errorf("a link that leads out is followed: %d %s", w.Code, w.Body)
	}
}
