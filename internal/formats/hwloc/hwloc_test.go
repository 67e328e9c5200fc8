package hwloc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/topotest"
)

func read(t *testing.T, name string) *hw.Topology {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	topo, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	topotest.Check(t, topo, hw.NewPlacer(topo))
	return topo
}

// shape lists the resources depth first.
func shape(topo *hw.Topology) string {
	var ids []string
	for i := range topo.Resources {
		ids = append(ids, topo.Resources[i].ID)
	}
	return strings.Join(ids, " ")
}

func TestVersions(t *testing.T) {
	tests := []struct{ file, want string }{
		{"version1.xml", "Machine Package:0 NUMA:0 L2:0 Core:0 CPU:0 Core:1 CPU:1 Package:1 NUMA:1 Core:2 CPU:2 Core:3 CPU:3"},
		{"version2.xml", "Machine Package:0 L3:0 NUMA:4 Core:0 CPU:0 Core:1 CPU:1 NUMA:2 L1:0 Core:2 CPU:2 Core:3 CPU:32 NUMA:7"},
		{"version3.xml", "Machine Package:0 Die:0 NUMA:0 MSC:0 L2:0 Core:0 CPU:0 Core:1 CPU:1"},
	}
	for _, tt := range tests {
		if got := shape(read(t, tt.file)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.file, got, tt.want)
		}
	}
}

func TestVersion2Details(t *testing.T) {
	topo := read(t, "version2.xml")
	if d, ok := topo.Distances.Between(4, 2); !ok || d != 12 {
		t.Errorf("distance 4 to 2 = %v, %v; want 12", d, ok)
	}
	if n := topo.ByNode(7); !n.Aside || len(n.CPUs) != 0 || n.Memory != "CXL" {
		t.Errorf("node 7 = %+v; want CXL memory without CPUs", n)
	}
	if !topo.ByCPU(2).Blocked || topo.ByCPU(32).Blocked {
		t.Error("want CPU 2 blocked and CPU 32 allowed")
	}
	if a, b := topo.ByCPU(0).Class, topo.ByCPU(32).Class; a != "small" || b != "large" {
		t.Errorf("classes %q and %q, want small and large", a, b)
	}
	if len(topo.Instruction) != 1 {
		t.Errorf("%d instruction caches, want 1", len(topo.Instruction))
	}
}

// TestPages: the smallest page is what a program gets that asks for no other, in
// whatever order they are listed; what is no page is none.
func TestPages(t *testing.T) {
	machine := func(pages string) string {
		return `<topology version="2.0"><object type="Machine"><object type="Core"><object type="PU" os_index="0"/></object><object type="NUMANode" os_index="0" cpuset="0x1" local_memory="1048576">` + pages + `</object></object></topology>`
	}
	for pages, want := range map[string]int{
		"": 0, `<page_type size="65536" count="16"/><page_type size="2097152" count="0"/>`: 65536, `<page_type size="2097152" count="0"/><page_type size="16384" count="64"/>`: 16384,
		`<page_type size="4095" count="1"/>`: 0, `<page_type size="0" count="1"/>`: 0, `<page_type size="9223372036854775808" count="1"/>`: 0,
	} {
		topo, err := Read(strings.NewReader(machine(pages)))
		if err != nil || topo.Page != want {
			t.Errorf("%s: page of %d, %v; want %d", pages, topo.Page, err, want)
		}
	}
}

// TestFullyAssociative: one set is not the same as ways that nobody knows.
func TestFullyAssociative(t *testing.T) {
	topo := read(t, "version1.xml")
	if l2 := topo.Resources[topo.At(hw.Cache2)[0]]; l2.Ways != hw.FullyAssociative {
		t.Errorf("%d ways, want one set", l2.Ways)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	tests := []struct{ in, want string }{
		{"<topology>\n<object type=\"Cache\" depth=\"7\"/></topology>", `line 2: Cache has depth="7"; expected 1 to 5`},
		{"<topology>\n\n<object type=\"PU\"/></topology>", "line 3: PU has no os_index"},
		{"<topology><object type=\"PU\" os_index=\"x\"/></topology>", `line 1: object has os_index="x"; expected a whole number`},
		{"<topology><object>", "line 1: unexpected EOF"},
		{"<topology></topology>", "the description has no CPUs"},
		{`<topology version="2.0"><object type="NUMANode" os_index="0" cpuset="0xzz"/></topology>`, `line 1: bitmap "0xzz": "0xzz" is not a 32-bit word`},
		{`<topology version="2.0"><distances2 type="NUMANode" nbobjs="2" kind="5"><u64values>1 2 3</u64values></distances2></topology>`, "3 distances between 2 memory nodes, want 4"},
	}
	for _, tt := range tests {
		_, err := Read(strings.NewReader(tt.in))
		if err == nil || err.Error() != tt.want {
			t.Errorf("Read(%q)\n got %v\nwant %s", tt.in, err, tt.want)
		}
	}
}
