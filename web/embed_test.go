package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

// TestUnpacked reads plain and packed files by their own names; one that is
// damaged is an error, not an empty page.
func TestUnpacked(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("let a;")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	files := Unpacked{fstest.MapFS{
		"index.html":     {Data: []byte("<p>")},
		"assets/a.js.gz": {Data: packed.Bytes()},
		"assets/b.js.gz": {Data: packed.Bytes()[:packed.Len()-6]},
		"assets/c.js.gz": {Data: []byte("plain")},
	}}
	for name, want := range map[string]string{"index.html": "<p>", "assets/a.js": "let a;"} {
		got, err := fs.ReadFile(files, name)
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if info, err := fs.Stat(files, name); err != nil || info.Size() != int64(len(want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := fs.ReadFile(files, "assets/none.js"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, name := range []string{"assets/b.js", "assets/c.js"} {
		if _, err := fs.ReadFile(files, name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is damaged: %v", name, err)
		}
	}
}
