package formats

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/topotest"
)

// counts is what every reader must find in a file.
type counts struct {
	file                               string
	packages                           int
	nodes                              string
	l3, l2, l1, cores, cpus, sideCache int
}

var files = []counts{
	{"16-2gr2gr2n2c+misc.xml", 0, "0-7", 0, 0, 0, 16, 16, 0},
	{"16amd64-4distances.xml", 8, "0-7", 0, 16, 16, 16, 16, 0},
	{"16em64t-4s2c2t.xml", 4, "0", 4, 8, 8, 8, 16, 0},
	{"16intel64-manyVFs.xml", 2, "0-1", 2, 16, 16, 16, 16, 0},
	{"24em64t-2n6c2t-pci.xml", 2, "0-1", 2, 12, 12, 12, 24, 0},
	{"32em64t-2n8c2t-pci-normalio.xml", 2, "0-1", 2, 16, 16, 16, 32, 0},
	{"8intel64-4n2t-memattrs.xml", 0, "0-3", 0, 0, 0, 0, 8, 0},
	{"96em64t-4n4d3ca2co-pci.xml", 16, "0-3", 16, 48, 96, 96, 96, 0},
	{"amd-epyc-9754-hwloc.xml", 2, "0-1", 32, 256, 256, 256, 512, 0},
	{"cxlmem+dax.v2.xml", 1, "0", 1, 4, 4, 4, 4, 0},
	{"fakecpukinds.xml", 1, "0", 0, 0, 0, 2, 4, 0},
	{"fakeheterodistances.xml", 4, "0-7", 8, 0, 0, 0, 8, 0},
	{"gen-linux-256ppc-8n8s4t.xml", 64, "0-1,4-5,8-9,12-13", 64, 64, 64, 64, 256, 0},
	{"gen-linux-64amd64-4s2n4ca2co.xml", 4, "0-7", 8, 32, 64, 64, 64, 0},
	{"gen-linux-96em64t-4no4pa3ca2co.xml", 16, "0-3", 16, 48, 96, 96, 96, 0},
	{"gen-linux-nvidiagpunumanodes.xml", 2, "0,8", 4, 4, 8, 8, 32, 0},
	{"gen-x86-AMD-17h-Zen-2xEpyc-7451.xml", 2, "0", 16, 48, 48, 48, 96, 0},
	{"gen-x86-AMD-19h-Zen3-2xEpyc-7763.xml", 2, "0", 16, 128, 128, 128, 128, 0},
	{"gen-x86-Intel-KnightsLanding-XeonPhi-7210.xml", 1, "0", 0, 32, 64, 64, 256, 0},
	{"gen-x86-Intel-RaptorLake-Corei7-1370P.xml", 1, "0", 1, 8, 14, 14, 20, 0},
	{"irregulargroups-disallowed.xml", 8, "0-7", 8, 64, 64, 64, 64, 0},
	{"linux-32em64t-2n8c+dax+nvme+mic+dimms.xml", 2, "0-1", 2, 16, 16, 16, 16, 0},
	{"linux-40intel64-2g2n4c+pcilocality.xml", 4, "0-3", 4, 40, 40, 40, 40, 0},
	{"memaxes_lulesh2.xml", 2, "0-1", 2, 16, 16, 16, 32, 0},
	{"memaxes_lulesh_close.xml", 2, "0-1", 2, 16, 16, 16, 16, 0},
	{"memaxes_xsbench.xml", 2, "0-1", 2, 24, 24, 24, 48, 0},
	{"memaxes_xsbench_new.xml", 2, "0-1", 2, 16, 16, 16, 16, 0},
	{"memorysidecaches.xml", 2, "0-3", 2, 40, 0, 40, 80, 4},
	{"nvidiaDGX2.xml", 2, "0-1", 2, 4, 4, 4, 4, 0},
	{"sys-sage/skylake_hwloc.xml", 2, "0-3", 2, 24, 24, 24, 24, 0},
	{"sys-sage/sys-sage_sample_output.xml", 2, "0-3", 2, 24, 24, 24, 24, 0},
	{"../samples/lulesh_legacy/hardware.xml", 0, "0-1", 2, 16, 16, 0, 32, 0},
	{"../samples/lulesh_dev_2015/hardware.xml", 2, "0-1", 2, 16, 16, 16, 32, 0},
	{"../samples/mitos_1636037395/hardware.xml", 2, "0-3", 2, 24, 24, 24, 24, 0},
}

func TestEveryFile(t *testing.T) {
	folder := test.Shared(t, "topology")
	for _, want := range files {
		t.Run(want.file, func(t *testing.T) {
			topo, err := OpenTopology(filepath.Join(folder, want.file))
			if err != nil {
				t.Fatal(err)
			}
			got := counts{
				want.file, len(topo.At(hw.Package)), numbers(topo, hw.NUMA),
				len(topo.At(hw.Cache3)), len(topo.At(hw.Cache2)), len(topo.At(hw.Cache1)),
				len(topo.At(hw.Core)), len(topo.At(hw.CPU)), len(topo.At(hw.SideCache)),
			}
			if got != want {
				t.Errorf("counts\n got %+v\nwant %+v", got, want)
			}
			topotest.Check(t, topo, hw.NewPlacer(topo))
		})
	}
	// No file may be missed by the table above.
	found, _ := filepath.Glob(filepath.Join(folder, "*.xml"))
	for _, path := range found {
		if !slices.ContainsFunc(files, func(c counts) bool { return c.file == filepath.Base(path) }) {
			t.Errorf("%s is not in the table", filepath.Base(path))
		}
	}
}

func numbers(topo *hw.Topology, k hw.Kind) string {
	var list []int
	for _, i := range topo.At(k) {
		list = append(list, topo.Resources[i].OS)
	}
	return hw.NewCPUs(list).String()
}

// TestHwlocAgrees compares us with hwloc itself. Version 2.9 in Debian cannot
// read files of version 3 ("cannot import XML version 3.0 > 2"), nor those of
// Mitos and sys-sage; for these the table above is the only
// check.
func TestHwlocAgrees(t *testing.T) {
	lstopo := test.Peer(t, "lstopo-no-graphics", "hwloc-nox")
	folder := test.Shared(t, "topology")
	compared := 0
	for _, f := range files {
		path := filepath.Join(folder, f.file)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head := string(data[:min(len(data), 400)])
		if strings.Contains(head, `version="3`) || !strings.Contains(head, "<topology") {
			continue
		}
		compared++
		t.Run(f.file, func(t *testing.T) { compareWithHwloc(t, lstopo, path) })
	}
	if compared < 17 {
		t.Errorf("compared %d files with hwloc, want at least 17", compared)
	}
}

// hwlocKinds are the types lstopo is asked for, one by one.
var hwlocKinds = map[string]hw.Kind{
	"Package": hw.Package, "NUMANode": hw.NUMA, "L3Cache": hw.Cache3, "L2Cache": hw.Cache2,
	"L1Cache": hw.Cache1, "Core": hw.Core, "PU": hw.CPU, "MemCache": hw.SideCache,
}

func compareWithHwloc(t *testing.T, lstopo, path string) {
	topo, err := OpenTopology(path)
	if err != nil {
		t.Fatal(err)
	}
	set := regexp.MustCompile(`cpuset=(\S+)`)
	for _, name := range slices.Sorted(maps.Keys(hwlocKinds)) {
		// Every object with its CPUs, in logical order.
		out, err := exec.Command(lstopo, "--input", path, "--only", name, "--cpuset", "-p", "--whole-system").CombinedOutput()
		if err != nil {
			t.Fatalf("lstopo --only %s: %v\n%s", name, err, out)
		}
		var theirs []string
		for _, m := range set.FindAllStringSubmatch(string(out), -1) {
			cpus, err := hw.ParseBitmap(m[1])
			if err != nil {
				t.Fatal(err)
			}
			theirs = append(theirs, cpus.String())
		}
		var ours []string
		for _, i := range topo.At(hwlocKinds[name]) {
			ours = append(ours, topo.Resources[i].CPUs.String())
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s, CPUs of each in order (-hwloc +ours):\n%s", name, diff)
		}
	}
}

// TestSameHost reads three descriptions of one machine in three dialects.
func TestSameHost(t *testing.T) {
	folder := test.Shared(t, "topology")
	wantCore := []int{0, 1, 2, 8, 9, 10, 3, 4, 5, 11, 12, 13}
	for _, file := range []string{"../samples/mitos_1636037395/hardware.xml", "sys-sage/skylake_hwloc.xml", "sys-sage/sys-sage_sample_output.xml"} {
		topo, err := OpenTopology(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		for cpu := range 24 {
			node, ok := topo.Node(cpu)
			if !ok || node.OS != cpu/6 {
				t.Errorf("%s: CPU %d is near node %v, want %d", file, cpu, node, cpu/6)
			}
			core := topo.ByCPU(cpu).Parent
			if r := topo.Resources[core]; r.Kind != hw.Core || r.OS != wantCore[cpu%12] {
				t.Errorf("%s: CPU %d is in %s with OS index %d, want core %d", file, cpu, r.ID, r.OS, wantCore[cpu%12])
			}
		}
	}
}

func TestDistances(t *testing.T) {
	folder := test.Shared(t, "topology")
	tests := []struct {
		file     string
		from, to int
		want     float64
		unit     string
	}{
		{"memaxes_lulesh2.xml", 0, 1, 21, "relative"},
		{"16amd64-4distances.xml", 1, 1, 10, "relative"},
		{"16amd64-4distances.xml", 5, 3, 20, "relative"},
		{"fakeheterodistances.xml", 0, 3, 22, "relative"},
		{"gen-linux-96em64t-4no4pa3ca2co.xml", 0, 3, 26, "relative"},
		{"../samples/mitos_1636037395/hardware.xml", 0, 1, 21, "relative"},
		{"sys-sage/sys-sage_sample_output.xml", 0, 1, 203, "ns"},
		{"sys-sage/sys-sage_sample_output.xml", 3, 0, 313, "ns"},
	}
	for _, tt := range tests {
		topo, err := OpenTopology(filepath.Join(folder, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := topo.Distances.Between(tt.from, tt.to)
		if !ok || got != tt.want || topo.Distances.Unit != tt.unit {
			t.Errorf("%s: distance %d to %d = %v, %v; want %v %s", tt.file, tt.from, tt.to, got, ok, tt.want, tt.unit)
		}
	}
}

func TestPeculiarities(t *testing.T) {
	folder := test.Shared(t, "topology")
	open := func(file string) *hw.Topology {
		topo, err := OpenTopology(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		return topo
	}
	blocked := 0
	topo := open("irregulargroups-disallowed.xml")
	for _, i := range topo.At(hw.CPU) {
		if topo.Resources[i].Blocked {
			blocked++
		}
	}
	if blocked != 48 {
		t.Errorf("irregulargroups-disallowed: %d CPUs not allowed, want 48", blocked)
	}
	topo = open("gen-x86-Intel-RaptorLake-Corei7-1370P.xml")
	if a, b := topo.ByCPU(11).Class, topo.ByCPU(12).Class; a != "IntelCore" || b != "IntelAtom" {
		t.Errorf("RaptorLake: CPU 11 is %q and 12 %q, want IntelCore and IntelAtom", a, b)
	}
	topo = open("gen-linux-64amd64-4s2n4ca2co.xml")
	if n := len(topo.Instruction); n != 32 {
		t.Errorf("gen-linux-64amd64: %d instruction caches, want 32", n)
	}
	topo = open("../samples/lulesh_legacy/hardware.xml")
	if r := topo.ByNode(0); r.Size != 33475052<<10 || topo.Name != "msn" {
		t.Errorf("lulesh_legacy: node 0 of %q has %d bytes, want 33475052 KiB of msn", topo.Name, r.Size)
	}
	topo = open("../samples/mitos_1636037395/hardware.xml")
	if parent := topo.Resources[topo.ByNode(2).Parent]; parent.ID != "L3:1" {
		t.Errorf("sub-NUMA clustering: node 2 lies in %s, want L3:1", parent.ID)
	}
}

func TestNotATopology(t *testing.T) {
	for _, in := range []string{"", "hello", "<html></html>", "\x7fELF", "{", `{"version":9}`,
		"<Hardware>", "<topology><object type=\"PU\"/></topology>", "<sys-sage></sys-sage>",
		`<Hardware><CPU id="0"/><CPU id="0"/></Hardware>`} {
		if topo, err := ReadTopology([]byte(in)); err == nil {
			t.Errorf("ReadTopology(%q) gave a topology with %d CPUs, want an error", in, len(topo.At(hw.CPU)))
		}
	}
}

// TestHostileSizes makes sure that nonsense is refused quickly and cheaply.
func TestHostileSizes(t *testing.T) {
	deep := func(open, shut string, n int) string {
		return strings.Repeat(open, n) + strings.Repeat(shut, n)
	}
	pu := func(i int) string { return fmt.Sprintf(`<object type="PU" os_index="%d"/>`, i) }
	tests := map[string]string{
		"deep hwloc":    `<topology version="2.0">` + deep(`<object type="Group">`, `</object>`, 1<<20) + `</topology>`,
		"deep Mitos":    `<Hardware>` + deep(`<Cache id="1">`, `</Cache>`, 1<<20) + `</Hardware>`,
		"deep sys-sage": `<sys-sage><Components>` + deep(`<Node>`, `</Node>`, 1<<20) + `</Components></sys-sage>`,
		"long bitmap": `<topology version="2.0"><object type="NUMANode" os_index="0" cpuset="0x1` +
			strings.Repeat(",0xffffffff", 31<<20/11) + `"/></topology>`,
		"large CPU number": `<topology version="2.0">` + pu(1_000_000_000) + `</topology>`,
		"many nodes":       `<topology version="2.0">` + manyNodes(5000) + pu(0) + `</topology>`,
		"large distances":  `<topology version="2.0"><distances2 type="NUMANode" nbobjs="1000000000" kind="5"></distances2>` + pu(0) + `</topology>`,
		"many CPUs":        `<Hardware>` + manyCPUs(hw.MaxCPUs+1) + `</Hardware>`,
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadTopology([]byte(in)); err == nil {
				t.Error("want an error")
			} else if len(err.Error()) > 300 {
				t.Errorf("the error has %d characters", len(err.Error()))
			}
		})
	}
}

func manyNodes(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`<object type="NUMANode" os_index="` + strconv.Itoa(i) + `"/>`)
	}
	return b.String()
}

func manyCPUs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`<CPU id="` + strconv.Itoa(i) + `"/>`)
	}
	return b.String()
}

// TestLargeMachine reads 4 096 CPUs in eight packages.
func TestLargeMachine(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<Hardware name="big">`)
	for node := range 8 {
		fmt.Fprintf(&b, `<NUMA id="%d" size="1024"><Cache id="3">`, node)
		for core := range 256 {
			first := node*512 + core*2
			fmt.Fprintf(&b, `<Cache id="2"><Cache id="1"><CPU id="%d"/><CPU id="%d"/></Cache></Cache>`, first, first+1)
		}
		b.WriteString(`</Cache></NUMA>`)
	}
	b.WriteString(`</Hardware>`)
	topo, err := ReadTopology([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if s := topo.Summary(); s.CPUs != 4096 || s.Nodes != 8 || len(topo.At(hw.Cache2)) != 2048 {
		t.Errorf("summary %+v", s)
	}
	if node, ok := topo.Node(4095); !ok || node.OS != 7 {
		t.Errorf("CPU 4095 is near %v, want node 7", node)
	}
	topotest.Check(t, topo, hw.NewPlacer(topo))
}
