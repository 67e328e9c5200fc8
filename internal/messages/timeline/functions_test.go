package timeline_test

import (
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/timeline"
)

// TestFunctions: a function's time is its own, without what it calls, clipped to
// the window; two halves add up to the whole.
func TestFunctions(t *testing.T) {
	tl := open(t, nested(t, 3), logical.Options{})
	tr := tl.S.Trace
	own := func(from, to int64) map[string]int64 {
		list, err := tl.Functions(t.Context(), from, to)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int64{}
		for _, f := range list {
			out[tr.Regions[f.Region].Name] = tr.NS(f.Excl)
		}
		return out
	}
	whole := own(tr.First, tr.Last+1)
	for name, want := range map[string]int64{"outer": 3 * 30_000, "inner": 3 * 50_000} {
		if whole[name] != want {
			t.Errorf("%s ran %d ns by itself, want %d", name, whole[name], want)
		}
	}
	if _, ok := whole["MPI_Allreduce"]; ok {
		t.Error("a call of MPI is among the functions")
	}
	middle := tr.First + (tr.Last-tr.First)/3
	a, b := own(tr.First, middle), own(middle, tr.Last+1)
	for name, all := range whole {
		if a[name]+b[name] != all {
			t.Errorf("%s: %d ns and %d ns in the parts, %d in all", name, a[name], b[name], all)
		}
	}
}

// TestFunctionsOfMany: more processes than stacks are kept of are not looked into.
func TestFunctionsOfMany(t *testing.T) {
	tl := open(t, nested(t, timeline.MaxStackLines+1), logical.Options{})
	if list, err := tl.Functions(t.Context(), 0, 1<<40); list != nil || err != nil {
		t.Errorf("%d functions, %v", len(list), err)
	}
}

// nested writes a program of outer, which takes 30 µs around 50 µs of inner.
func nested(t *testing.T, ranks int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.otf2")
	p, err := mpiprog.New(path, ranks)
	if err != nil {
		t.Fatal(err)
	}
	for r := range ranks {
		p.Enter(r, "outer")
		p.Compute(r, 10_000)
		p.Enter(r, "inner")
		p.Compute(r, 50_000)
		p.Leave(r, "inner")
		p.Compute(r, 20_000)
		p.Leave(r, "outer")
	}
	p.Collective(mpiprog.World, mpiprog.Allreduce)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
