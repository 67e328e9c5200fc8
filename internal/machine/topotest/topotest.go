// Package topotest checks what holds for every hardware tree, whatever file it
// was read from.
package topotest

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/machine/hw"
)

// Fuzz feeds a reader with the XML files in testdata, the given seeds and what
// the fuzzer makes of them: it may refuse them, but what it accepts must hold.
func Fuzz(f *testing.F, read func(io.Reader) (*hw.Topology, error), seeds ...string) {
	f.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "*.xml"))
	if err != nil || len(names) == 0 {
		f.Fatalf("no XML files in testdata: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		topo, err := read(bytes.NewReader(data))
		if err == nil {
			Check(t, topo, hw.NewPlacer(topo))
		}
	})
}

// Check verifies that children lie inside their parents and apart from each
// other, that every ID finds its resource, that no sample is lost on any of a
// thousand places, and that the stored form gives the same tree.
func Check(t testing.TB, topo *hw.Topology, p *hw.Placer) {
	t.Helper()
	for i := range topo.Resources {
		r := &topo.Resources[i]
		if found, err := topo.Find(r.ID); err != nil || found.Index != i {
			t.Errorf("Find(%q) = %v, %v; want resource %d", r.ID, found, err, i)
		}
		checkKids(t, topo, r)
	}
	checkPlaces(t, p)
	stored, err := json.Marshal(topo)
	if err != nil {
		t.Fatal(err)
	}
	var again hw.Topology
	if err := json.Unmarshal(stored, &again); err != nil {
		t.Fatal(err)
	}
	if len(again.Resources) != len(topo.Resources) {
		t.Fatalf("stored and read again: %d resources, want %d", len(again.Resources), len(topo.Resources))
	}
	for i := range topo.Resources {
		if a, b := &topo.Resources[i], &again.Resources[i]; a.ID != b.ID || a.Parent != b.Parent || a.Size != b.Size || a.CPUs.String() != b.CPUs.String() {
			t.Fatalf("stored and read again: %+v, want %+v", b, a)
		}
	}
}

func checkKids(t testing.TB, topo *hw.Topology, r *hw.Resource) {
	t.Helper()
	inKid := map[int]bool{}
	for _, k := range r.Kids {
		kid := &topo.Resources[k]
		if kid.Parent != r.Index {
			t.Errorf("%s is a child of %s but has parent %d", kid.ID, r.ID, kid.Parent)
		}
		if kid.Aside {
			continue
		}
		for _, cpu := range kid.CPUs {
			if !r.CPUs.Has(cpu) || inKid[cpu] {
				t.Errorf("%s: CPU %d of child %s lies outside or in two children", r.ID, cpu, kid.ID)
			}
			inKid[cpu] = true
		}
	}
	if r.Kind != hw.CPU && !r.Aside && len(inKid) != len(r.CPUs) {
		t.Errorf("%s has %d CPUs, its children %d", r.ID, len(r.CPUs), len(inKid))
	}
}

func checkPlaces(t testing.TB, p *hw.Placer) {
	t.Helper()
	c := hw.NewCoder(p)
	step := max(1, p.Places()/1000)
	var counts []hw.Count
	for pl := 0; pl < p.Places(); pl += step {
		c.Code(hw.Place(pl))
		counts = append(counts, hw.Count{Samples: uint64(pl%7 + 1)})
	}
	if err := hw.Fold(c, counts).Check(); err != nil {
		t.Error(err)
	}
}
