//go:build linux && amd64

package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// TestStrangers compares misses with cachegrind and the use of lines with callgrind
// on programs that are no loops over matrices: a hash table with tombstones, a walk
// through an octree, and a filter of an image of padded structures. Under make
// locality they are also run unoptimised, where every variable is a reference.
func TestStrangers(t *testing.T) {
	if testing.Short() {
		t.Skip("runs valgrind")
	}
	valgrind := test.Peer(t, "valgrind", "valgrind")
	sources, err := filepath.Glob("testdata/*.c")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	levels := []string{"-O2"}
	if os.Getenv("ISOBATH_ALL_GEOMETRIES") != "" {
		levels = append(levels, "-O0")
	}
	for k, source := range sources {
		for i, level := range levels {
			t.Run(strings.TrimSuffix(filepath.Base(source), ".c")+level, func(t *testing.T) {
				t.Parallel()
				exe := buildStatic(t, source, level)
				compareCachegrind(t, valgrind, exe, geometries[(2*k+i)%len(geometries):][:1])
				compareCallgrind(t, valgrind, exe)
			})
		}
	}
}
