package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
