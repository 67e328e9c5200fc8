package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
)

// A file that is no run of ours is never written to; its selections are found
// again by its content.
func TestSelectionsOfForeignFiles(t *testing.T) {
	folder := t.TempDir()
	keep := func(o *Options) { o.Kept = folder }
	s := newTestServer(t, keep)
	const path = "/api/v1/runs/six/selections"
	get[[]frame.NamedSelection](t, do(s, "PUT", path, `[{"name":"slow","where":"latency > 100"}]`), 200)
	if info := get[frame.Info](t, do(s, "GET", "/api/v1/runs/six", ""), 200); !info.Saved || info.SavedIn != frame.SavedWithUser {
		t.Errorf("saved %v in %q, want with the user", info.Saved, info.SavedIn)
	}

	again := newTestServer(t, keep)
	if got := get[[]frame.NamedSelection](t, do(again, "GET", path, ""), 200); len(got) != 1 || got[0].Name != "slow" {
		t.Errorf("after a restart: %+v", got)
	}

	if err := os.WriteFile(filepath.Join(folder, "selections-six.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := get[frame.Info](t, do(newTestServer(t, keep), "GET", "/api/v1/runs/six", ""), 200)
	if len(damaged.Warnings) == 0 || !strings.Contains(damaged.Warnings[len(damaged.Warnings)-1], "remove the file") {
		t.Errorf("a damaged file: warnings %q", damaged.Warnings)
	}
}

func TestLinks(t *testing.T) {
	for _, folder := range []string{"", t.TempDir()} {
		s := newTestServer(t, func(o *Options) { o.Kept = folder })
		fragment := "#v=1&s=" + strings.Repeat("cpu+in+(1)", 400)
		made := get[frame.Link](t, do(s, "POST", "/api/v1/links", fmt.Sprintf(`{"fragment":%q}`, fragment)), 200)
		if got := get[frame.Link](t, do(s, "GET", "/api/v1/links/"+made.ID, ""), 200); got.Fragment != fragment {
			t.Errorf("link %s: %.40q", made.ID, got.Fragment)
		}
		for _, id := range []string{"000000000000", "..%2Frecent", "x"} {
			if f := get[frame.Failure](t, do(s, "GET", "/api/v1/links/"+id, ""), 404); f.Hint == "" {
				t.Errorf("link %s: no hint", id)
			}
		}
		get[frame.Failure](t, do(s, "POST", "/api/v1/links", `{"fragment":"javascript:"}`), 400)
	}
}

// Links are bounded in number and in bytes; the oldest go, and nothing else.
func TestLinksAreBounded(t *testing.T) {
	for _, folder := range []string{"", t.TempDir()} {
		k := &keptSelections{folder: folder}
		for i, name := range []string{"link-b", "selections-x", "link-a", "link-c", "link-d"} {
			if err := k.write(name, strings.Repeat("x", 10)); err != nil {
				t.Fatal(err)
			}
			if folder != "" { // files written within a tick of the clock have no order
				at := time.Unix(int64(1000+i), 0)
				if err := os.Chtimes(filepath.Join(folder, name+".json"), at, at); err != nil {
					t.Fatal(err)
				}
			}
		}
		has := func(want ...string) {
			t.Helper()
			var found []string
			for _, name := range []string{"link-a", "link-b", "link-c", "link-d", "selections-x"} {
				var text string
				if err := k.read(name, &text); err == nil {
					found = append(found, name)
				} else if !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
			if strings.Join(found, " ") != strings.Join(want, " ") {
				t.Errorf("in %q is %v, want %v", folder, found, want)
			}
		}
		bound := func(most int, bytes int64) {
			t.Helper()
			if err := k.bound("link-", most, bytes); err != nil {
				t.Error(err)
			}
		}
		bound(3, 1000)
		has("link-a", "link-c", "link-d", "selections-x")
		bound(3, 25) // each has 12: ten letters in quotes
		has("link-c", "link-d", "selections-x")
	}
	s := newTestServer(t, nil)
	for i := range maxLinks + 5 {
		get[frame.Link](t, do(s, "POST", "/api/v1/links", fmt.Sprintf(`{"fragment":"#v=1&s=%d"}`, i)), 200)
	}
	if n := len(s.kept.memory); n != maxLinks {
		t.Errorf("%d links are kept, want %d", n, maxLinks)
	}
}

// A page that changed an older list than the one that is kept is told so, and
// loses nothing of the other's.
func TestSelectionConflict(t *testing.T) {
	s := newTestServer(t, nil)
	const path = "/api/v1/runs/six/selections"
	read := do(s, "GET", path, "")
	version := read.Header().Get("ETag")
	first := do(s, "PUT", path, `[{"name":"mine","where":"cpu = 1"}]`, "If-Match", version)
	get[[]frame.NamedSelection](t, first, 200)
	f := get[frame.Failure](t, do(s, "PUT", path, `[{"name":"yours","where":"cpu = 0"}]`, "If-Match", version), 409)
	if f.Error == "" || f.Hint == "" {
		t.Errorf("the conflict says %+v", f)
	}
	if kept := get[[]frame.NamedSelection](t, do(s, "GET", path, ""), 200); len(kept) != 1 || kept[0].Name != "mine" {
		t.Errorf("after the conflict: %+v", kept)
	}
	both := `[{"name":"mine","where":"cpu = 1"},{"name":"yours","where":"cpu = 0"}]`
	if kept := get[[]frame.NamedSelection](t, do(s, "PUT", path, both, "If-Match", first.Header().Get("ETag")), 200); len(kept) != 2 {
		t.Errorf("after reading again: %+v", kept)
	}
}
