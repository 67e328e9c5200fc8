//go:build linux && amd64

package step

import (
	"os/exec"
	"sync"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

// TestChildrenOfOthers records beside other children of this process: the tracer
// must not wait for those in place of whoever started them.
func TestChildrenOfOthers(t *testing.T) {
	p := compile(t, []string{"-O1", "-x", "c"}, "int a[9];\nvoid f(void) { for (int i = 0; i < 9; i++) a[i] = i; }\nint main(void) { f(); return 0; }\n")
	bounds, err := p.Resolve(target.Region{Function: "f"})
	if err != nil {
		t.Fatal(err)
	}
	quick := test.Peer(t, "true", "coreutils")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 {
				if err := exec.Command(quick).Run(); err != nil {
					t.Errorf("a child beside the recording: %v", err)
					return
				}
			}
		})
		all.Go(func() {
			for range 5 {
				n := 0
				res, err := Run(t.Context(), Options{Program: p, Bounds: bounds, Thread: FirstThread, Emit: func(refs.Ref) { n++ }})
				if err != nil || res.Exit != 0 || n == 0 {
					t.Errorf("recorded %d references, %+v, %v", n, res, err)
					return
				}
			}
		})
	}
	all.Wait()
}
