package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/isobath/isobath/internal/base/test"
)

// TestBookIsServed reads the guide as a browser does, without a token, and follows
// the links of the page's help.
func TestBookIsServed(t *testing.T) {
	s, err := New(Options{Token: "x", Assets: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	get := func(path string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		body, err := io.ReadAll(w.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.Code, string(body)
	}
	code, contents := get("/guide/")
	if code != http.StatusOK || !strings.Contains(contents, `<a href="late-ranks">`) {
		t.Fatalf("contents: %d %.200s", code, contents)
	}
	for path, want := range map[string]string{"/guide/late-ranks": "<h1 ", "/guide/book.css": "pre{"} {
		if code, text := get(path); code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d %.200s", path, code, text)
		}
	}
	for _, path := range []string{"/guide/nothing", "/guide/../README", "/guide/a/b"} {
		if code, _ := get(path); code == http.StatusOK {
			t.Errorf("%s is answered", path)
		}
	}
	for path, want := range map[string]string{"": `"name":"addr"`, "?find=late": `"heading":"Which rank is late, and why?"`, "?find=imbal": `"name":"load imbalance"`} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/api/v1/guide"+path, nil)
		r.Header.Set(TokenHeader, "x")
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if text := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("guide%s: %d %.300s", path, w.Code, text)
		}
	}
	help, err := os.ReadFile(filepath.Join(test.Root(), "web", "src", "frame", "HelpDialog.svelte"))
	if err != nil {
		t.Fatal(err)
	}
	chapters := regexp.MustCompile(`(?m)^    \w+: '([\w-]+)',$`).FindAllStringSubmatch(string(help), -1)
	if len(chapters) != 7 {
		t.Fatalf("%d chapters in the help", len(chapters))
	}
	for _, c := range chapters {
		if code, _ := get("/guide/" + c[1]); code != http.StatusOK {
			t.Errorf("the help leads to chapter %s, which is not there", c[1])
		}
	}
}
