package platform

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/machine/hw"
)

func TestPresetsAreMachines(t *testing.T) {
	for _, name := range Presets() {
		m, ok := Preset(name)
		if !ok {
			t.Fatal(name)
		}
		if err := m.Check(); err != nil {
			t.Error(err)
		}
		for k := range 2 * len(m.Cores) {
			if c := m.CoreOf(k); len(c.Caches) != len(m.Levels) || c.Node >= m.Nodes {
				t.Errorf("%s: thread %d on %+v", name, k, c)
			}
		}
	}
}

// TestTopologies makes a machine of every shared description, or an error that
// names what is missing.
func TestTopologies(t *testing.T) {
	dir := test.Shared(t, "topology")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		topo, err := formats.OpenTopology(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		m, err := FromTopology(topo)
		if err != nil {
			if !strings.Contains(err.Error(), "no caches") && !strings.Contains(err.Error(), "no size") {
				t.Errorf("%s: %v", f.Name(), err)
			}
			continue
		}
		made++
		if len(m.Cores) == 0 {
			t.Errorf("%s has no cores", f.Name())
		}
	}
	if made < 20 {
		t.Errorf("only %d of %d descriptions give a machine", made, len(files))
	}
}

// TestPageOfTopology: pages are as large as the description says, also in a run that
// keeps it, and assumed only where it does not.
func TestPageOfTopology(t *testing.T) {
	for page, want := range map[int]int{0: 4096, 65536: 65536} {
		topo, err := hw.Build(hw.Spec{Page: page, Objects: []hw.Object{{Kind: hw.CPU, CPUs: hw.CPUs{0}}, {Kind: hw.Cache1, OS: -1, CPUs: hw.CPUs{0}, Size: 4096, Line: 64, Ways: hw.FullyAssociative}}})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := json.Marshal(topo)
		if err != nil {
			t.Fatal(err)
		}
		var again hw.Topology
		if err := json.Unmarshal(stored, &again); err != nil {
			t.Fatal(err)
		}
		for _, of := range []*hw.Topology{topo, &again} {
			m, err := FromTopology(of)
			if err != nil {
				t.Fatal(err)
			}
			if assumed := slices.Contains(m.Assumed, "page size"); m.Page != want || assumed != (page == 0) || m.Levels[0].Ways != 64 || len(m.Levels[0].Assumed) > 0 {
				t.Errorf("page of %d: %+v", page, m)
			}
		}
	}
}

func TestSet(t *testing.T) {
	m, _ := Preset("classic")
	if err := m.Set("L1.size=48K,L1.ways=12,page=2M,dtlb=96/6,L3.policy=exclusive,L2.step=20"); err != nil {
		t.Fatal(err)
	}
	if m.Levels[0].Size != 48<<10 || m.Levels[0].Ways != 12 || m.Page != 2<<20 || m.DTLB != (TLB{96, 6}) || m.Levels[2].Policy != Exclusive || m.Levels[1].Step != 20 {
		t.Errorf("%+v", m)
	}
	for settings, want := range map[string]string{
		"L1.size=33000": "whole sets", "L9.size=1M": "want line", "line=48": "power of two", "L1": "KEY=VALUE", "L2.policy=odd": "want non-inclusive",
		"dtlb=5/2": "TLB of 5", "page=3000": "power of two", "L1.policy=inclusive": "no nearer cache", "L1.size=zero": "want a size",
	} {
		m, _ := Preset("classic")
		if err := m.Set(settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
}
