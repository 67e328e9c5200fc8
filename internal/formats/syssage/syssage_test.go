package syssage

import (
	"bytes"
	"os"
	"testing"

	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/topotest"
)

func FuzzRead(f *testing.F) {
	topotest.Fuzz(f, Read,
		// Relations that refer to each other in a circle, and to themselves.
		`<sys-sage><Components><Node><NUMA id="0" addr="0x1"><HW_Thread id="0"/></NUMA></Node></Components>`+
			`<Relations><Relation components="0x1 0x1"><DataPath components="0x1 0x1" latency="1e308"/></Relation></Relations></sys-sage>`,
		`<sys-sage><Components><Cache cache_type="x"/></Components></sys-sage>`,
	)
}

func TestSmall(t *testing.T) {
	data, err := os.ReadFile("testdata/small.xml")
	if err != nil {
		t.Fatal(err)
	}
	topo, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	topotest.Check(t, topo, hw.NewPlacer(topo))
	// Neither the GPU nor the second machine may appear.
	if s := topo.Summary(); s.CPUs != 2 || s.Nodes != 2 || len(topo.At(hw.Cache3)) != 1 || len(topo.At(hw.Package)) != 1 {
		t.Errorf("summary %+v, want 2 CPUs, 2 nodes, 1 package", s)
	}
	if len(topo.Warnings) != 1 {
		t.Errorf("warnings %q, want one about several machines", topo.Warnings)
	}
	if d, ok := topo.Distances.Between(1, 0); !ok || d != 95.5 || topo.Distances.Unit != "ns" {
		t.Errorf("distance 1 to 0 = %v, %v; want 95.5 ns", d, ok)
	}
}
