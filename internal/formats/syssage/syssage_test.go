package syssage

import (
	"bytes"
	"os"
	"testing"

	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/topotest"
	"reflect"
	"strings"
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

// TestGPU reads a GPU with its multiprocessors, memory and MIG instances beside
// the tree.
func TestGPU(t *testing.T) {
	const text = `<sys-sage><components><Node id="0" name="n"><Chip id="0" name="socket"><Core id="0"><HW_Thread id="0"/></Core></Chip>
<Chip id="1" name="GPU" vendor="NVIDIA" model="A100" type="8"><Memory name="GPU main memory" size="42949672960"/><Cache cache_type="2" name="L2"/>
<Subdivision name="SM" id="0" count="108"><Core id="0"><HW_Thread id="0"/></Core></Subdivision>
<Subdivision name="MIG" id="7"><Memory size="5368709120"/><Subdivision name="SM" id="0" count="14"/></Subdivision></Chip></Node></components></sys-sage>`
	topo, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []hw.Accelerator{{Name: "GPU 1", Model: "NVIDIA A100", Memory: 40 << 30, Cores: 108, Parts: []hw.Accelerator{{Name: "MIG 7", Memory: 5 << 30, Cores: 14}}}}
	if !reflect.DeepEqual(topo.Accelerators, want) {
		t.Errorf("got %+v, want %+v", topo.Accelerators, want)
	}
	if n := len(topo.At(hw.CPU)); n != 1 {
		t.Errorf("%d CPUs, want 1: those of the GPU are not among them", n)
	}
}
