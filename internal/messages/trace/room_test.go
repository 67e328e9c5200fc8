package trace

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

func inFiles(t *Trace) bool { return t.room != nil && t.room.spilled }

// TestSpilled reads traces as large ones are read, into files, and compares every
// column with what reading into memory gives.
func TestSpilled(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(test.Fixture(t, "whatif"), "traces/*/*.otf2"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"amg8", "halo16", "lu8"} {
		paths = append(paths, test.Fixture(t, "otf2/"+name))
	}
	if len(paths) < 10 {
		t.Fatalf("%d traces", len(paths))
	}
	usual := spillAbove
	t.Cleanup(func() { spillAbove = usual })
	operations := 0
	for _, path := range paths {
		spillAbove = usual
		want, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for _, above := range []int64{0, 4000} { // the first timelines stay in memory
			spillAbove = above
			got, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			operations += len(got.Ops.Enter)
			if !inFiles(got) && len(got.Ops.Enter) > 200 || inFiles(want) {
				t.Errorf("%s: in files %v above %d bytes, %v usually", path, inFiles(got), above, inFiles(want))
			}
			got.Release()
			for _, part := range [][2]any{
				{want.Ops, got.Ops}, {want.Frames, got.Frames}, {want.Sends, got.Sends}, {want.Recvs, got.Recvs}, {want.Waits, got.Waits},
				{want.Colls, got.Colls}, {want.Async, got.Async}, {want.Calls, got.Calls}, {want.Times, got.Times}, {want.Procs, got.Procs},
				{want.Repairs, got.Repairs}, {want.Warnings, got.Warnings}, {want.Guessed, got.Guessed},
			} {
				if !reflect.DeepEqual(part[0], part[1]) {
					t.Errorf("%s above %d bytes: %T differ", path, above, part[0])
				}
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if operations < 10_000 {
		t.Errorf("%d operations were compared", operations)
	}
}
