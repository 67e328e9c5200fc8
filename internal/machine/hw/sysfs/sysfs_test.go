package sysfs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/machine/hw"
)

// kernel is a sysfs made by hand.
type kernel struct{ fstest.MapFS }

func newKernel(online string) kernel {
	k := kernel{fstest.MapFS{}}
	k.set("sys/devices/system/cpu/online", online)
	return k
}

func (k kernel) set(name, text string) { k.MapFS[name] = &fstest.MapFile{Data: []byte(text + "\n")} }

func (k kernel) core(cpus, die, pkg string, coreID, pkgID int) {
	set, _ := hw.ParseCPUs(cpus)
	for _, cpu := range set {
		base := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", cpu)
		k.set(base+"core_cpus_list", cpus)
		k.set(base+"core_id", fmt.Sprint(coreID))
		if die != "" {
			k.set(base+"die_cpus_list", die)
		}
		k.set(base+"package_cpus_list", pkg)
		k.set(base+"physical_package_id", fmt.Sprint(pkgID))
	}
}

func (k kernel) cache(index, level int, typ, size, cpus string) {
	set, _ := hw.ParseCPUs(cpus)
	for _, cpu := range set {
		base := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index%d/", cpu, index)
		k.set(base+"level", fmt.Sprint(level))
		k.set(base+"type", typ)
		k.set(base+"size", size)
		k.set(base+"shared_cpu_list", cpus)
		k.set(base+"coherency_line_size", "64")
	}
}

func (k kernel) node(n int, cpus, distance string, kB int) {
	base := fmt.Sprintf("sys/devices/system/node/node%d/", n)
	k.set(base+"cpulist", cpus)
	k.set(base+"distance", distance)
	k.set(base+"meminfo", fmt.Sprintf("Node %d MemTotal:       %d kB", n, kB))
}

// tree writes a topology as an indented list of IDs.
func tree(topo *hw.Topology) string {
	var b strings.Builder
	var walk func(i int, indent string)
	walk = func(i int, indent string) {
		r := &topo.Resources[i]
		fmt.Fprintf(&b, "%s%s", indent, r.ID)
		if r.Aside {
			b.WriteString(" aside")
		}
		if r.Size > 0 {
			fmt.Fprintf(&b, " %dK", r.Size>>10)
		}
		b.WriteByte('\n')
		for _, kid := range r.Kids {
			walk(kid, indent+" ")
		}
	}
	walk(0, "")
	return b.String()
}

func TestRead(t *testing.T) {
	k := newKernel("0-3")
	for cpu := range 2 {
		both := fmt.Sprintf("%d,%d", cpu, cpu+2)
		k.core(both, "0-3", "0-3", cpu, 0)
		k.cache(0, 1, "Data", "48K", both)
		k.cache(1, 1, "Instruction", "32K", both)
		k.cache(2, 2, "Unified", "2048K", both)
	}
	k.cache(3, 3, "Unified", "8192K", "0-3")
	k.node(0, "0-3", "10 21", 1<<20)
	k.node(2, "", "21 10", 1<<21) // CXL memory without CPUs
	k.set("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1,3\n")
	k.set("proc/sys/kernel/hostname", "little")
	k.set("sys/devices/cpu_atom/cpus", "1,3")
	k.set("sys/devices/cpu_core/cpus", "0,2")
	topo, err := read(k, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := `Machine 3145728K
 Package:0
  NUMA:0 1048576K
   L3:0 8192K
    L2:0 2048K
     L1:0 48K
      Core:0
       CPU:0
       CPU:2
    L2:1 2048K
     L1:1 48K
      Core:1
       CPU:1
       CPU:3
 NUMA:2 aside 2097152K
`
	if diff := cmp.Diff(want, tree(topo)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if len(topo.Instruction) != 2 || topo.Name != "little" {
		t.Errorf("%d instruction caches of %q, want 2 of little", len(topo.Instruction), topo.Name)
	}
	if !topo.ByCPU(2).Blocked || topo.ByCPU(3).Blocked || topo.ByCPU(3).Class != "IntelAtom" {
		t.Errorf("CPU 2 %+v and CPU 3 %+v: want only 2 blocked, 3 an Atom", topo.ByCPU(2), topo.ByCPU(3))
	}
	if d, ok := topo.Distances.Between(0, 2); !ok || d != 21 {
		t.Errorf("distance 0 to 2 = %v, %v; want 21", d, ok)
	}
}

func TestOldKernelWithoutNodes(t *testing.T) {
	k := newKernel("0-1")
	for cpu := range 2 {
		base := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		k.set(base+"topology/thread_siblings_list", "0-1")
		k.set(base+"topology/core_siblings_list", "0-1")
		k.set(base+"cache/index0/level", "2")
		k.set(base+"cache/index0/shared_cpu_map", "00000000,00000003")
	}
	k.set("proc/meminfo", "MemTotal:        2048 kB")
	topo, err := read(k, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := "Machine 2048K\n Package:0\n  NUMA:0 2048K\n   L2:0\n    Core:0\n     CPU:0\n     CPU:1\n"
	if diff := cmp.Diff(want, tree(topo)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if len(topo.Warnings) != 1 {
		t.Errorf("warnings %q, want one about memory nodes", topo.Warnings)
	}
}

func TestSideCacheAndDies(t *testing.T) {
	k := newKernel("0-3")
	k.core("0", "0-1", "0-3", 0, 0)
	k.core("1", "0-1", "0-3", 1, 0)
	k.core("2", "2-3", "0-3", 0, 0)
	k.core("3", "2-3", "0-3", 1, 0)
	k.node(0, "0-3", "10", 4096)
	k.set("sys/devices/system/node/node0/memory_side_cache/index1/size", "1048576")
	topo, err := read(k, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := `Machine 4096K
 Package:0
  NUMA:0 4096K
   MSC:0 1024K
    Die:0
     Core:0
      CPU:0
     Core:1
      CPU:1
    Die:1
     Core:2
      CPU:2
     Core:3
      CPU:3
`
	if diff := cmp.Diff(want, tree(topo)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestNothingThere(t *testing.T) {
	if _, err := read(fstest.MapFS{}, 0); err == nil || !strings.Contains(err.Error(), "sysfs mounted") {
		t.Errorf("empty root: %v, want a sentence about sysfs", err)
	}
	if _, err := read(newKernel("0-4000000000"), 0); err == nil {
		t.Error("four billion CPUs: want an error")
	}
}

// TestThisMachine compares what we read here with what lstopo reads here.
func TestThisMachine(t *testing.T) {
	lstopo := test.Peer(t, "lstopo-no-graphics", "hwloc-nox")
	file := filepath.Join(t.TempDir(), "here.xml")
	// hwloc leaves out CPUs this process may not use unless told otherwise.
	if out, err := exec.Command(lstopo, "--whole-system", file).CombinedOutput(); err != nil {
		t.Fatalf("lstopo: %v\n%s", err, out)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	theirs, err := formats.OpenTopology(file)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := Local()
	if err != nil {
		t.Fatal(err)
	}
	if ours.Page == 0 || theirs.Page != 0 && ours.Page != theirs.Page {
		t.Errorf("pages of %d bytes, hwloc has %d", ours.Page, theirs.Page)
	}
	for _, k := range []hw.Kind{hw.Package, hw.NUMA, hw.Cache3, hw.Cache2, hw.Cache1, hw.Core, hw.CPU} {
		if diff := cmp.Diff(list(theirs, k), list(ours, k)); diff != "" {
			t.Errorf("%v, CPUs and size (-hwloc +ours):\n%s", k, diff)
		}
	}
}

func list(topo *hw.Topology, k hw.Kind) []string {
	var out []string
	for _, i := range topo.At(k) {
		r := &topo.Resources[i]
		size := r.Size
		if k == hw.NUMA {
			size = 0 // hwloc may round memory
		}
		out = append(out, fmt.Sprint(r.ID, " ", r.CPUs, " ", size))
	}
	return out
}
