package term

import (
	"maps"
	"testing"
)

func TestShortPaths(t *testing.T) {
	got := ShortPaths([]string{
		"/home/ann/solver/main.c", "/home/ann/solver/grid/mesh.c", "/usr/src/mesh.c", "mesh.h", "lib/mesh.h",
		"/usr/src/mesh.c", "", "??", "/", "folder/",
	})
	want := map[string]string{
		"/home/ann/solver/main.c": "main.c", "/home/ann/solver/grid/mesh.c": "grid/mesh.c", "/usr/src/mesh.c": "src/mesh.c",
		"mesh.h": "mesh.h", "lib/mesh.h": "lib/mesh.h", "": "", "??": "??", "/": "/", "folder/": "folder/",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
