package hwloc

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/machine/hw"
)

const tiers = `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x1" complete_cpuset="0x1" allowed_cpuset="0x1" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
<object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="2" subtype="HBM" local_memory="1073741824"><info name="MemoryTier" value="0"/></object>
<object type="NUMANode" os_index="1" cpuset="0x1" complete_cpuset="0x1" nodeset="0x2" complete_nodeset="0x2" gp_index="3" subtype="DRAM" local_memory="4294967296"><info name="MemoryTier" value="1"/></object>
<object type="PCIDev" gp_index="9" pci_busid="0000:34:00.0" pci_type="0302 [10de:1db8] [10de:131d] a1 00" pci_link_speed="15.7">
<object type="OSDev" gp_index="10" name="cuda0" subtype="CUDA" osdev_type="5"><info name="GPUModel" value="V100"/><info name="CUDAGlobalMemorySize" value="33554432"/><info name="CUDAMultiProcessors" value="80"/></object>
<object type="OSDev" gp_index="11" name="nvml0" subtype="NVML" osdev_type="1"/></object>
<object type="PCIDev" gp_index="12" pci_busid="0000:40:00.0" pci_type="0200 [8086:1521] [8086:1521] a1 00" pci_link_speed="1"><object type="OSDev" gp_index="13" name="eth0" osdev_type="2"/></object>
<object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x3" complete_nodeset="0x3" gp_index="4"><object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x3" complete_nodeset="0x3" gp_index="5"/></object>
</object>
<memattr name="Bandwidth" flags="5"><memattr_value target_obj_type="NUMANode" target_obj_gp_index="2" value="90000" initiator_cpuset="0x1"/><memattr_value target_obj_type="NUMANode" target_obj_gp_index="3" value="20000" initiator_cpuset="0x1"/></memattr>
<memattr name="Latency" flags="6"><memattr_value target_obj_type="NUMANode" target_obj_gp_index="3" value="80" initiator_cpuset="0x1"/></memattr>
</topology>
`

// TestTiers reads tiers, bandwidths and accelerators, and keeps them in the form
// that runs store.
func TestTiers(t *testing.T) {
	read, err := Read(strings.NewReader(tiers))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	again := new(hw.Topology)
	if err := json.Unmarshal(stored, again); err != nil {
		t.Fatal(err)
	}
	for _, topo := range []*hw.Topology{read, again} {
		want := []hw.Accelerator{{Name: "cuda0 nvml0", Model: "V100", Bus: "0000:34:00.0", Memory: 32 << 30, Cores: 80}}
		if !reflect.DeepEqual(topo.Accelerators, want) {
			t.Errorf("got %+v, want %+v", topo.Accelerators, want)
		}
		nodes := topo.At(hw.NUMA)
		fast, slow := topo.Resources[nodes[0]], topo.Resources[nodes[1]]
		if fast.Tier != "0" || fast.Bandwidth != 90000 || fast.Delay != 0 || slow.Tier != "1" || slow.Bandwidth != 20000 || slow.Delay != 80 {
			t.Errorf("memory %+v and %+v", fast, slow)
		}
	}
}

// TestTiersLstopo lets lstopo read the same file: it must see the same memory and
// the same device, and what it writes must read as the same.
func TestTiersLstopo(t *testing.T) {
	lstopo := test.Peer(t, "lstopo-no-graphics", "hwloc-nox")
	folder := t.TempDir()
	in, out := filepath.Join(folder, "in.xml"), filepath.Join(folder, "out.xml")
	if err := os.WriteFile(in, []byte(tiers), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(lstopo, "-i", in, "--whole-io", "--of", "xml", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Read(strings.NewReader(tiers))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(strings.NewReader(string(written)))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Accelerators, want.Accelerators) {
		t.Errorf("after lstopo %+v, want %+v", got.Accelerators, want.Accelerators)
	}
	for i, r := range want.Resources {
		if g := got.Resources[i]; g.Tier != r.Tier || g.Bandwidth != r.Bandwidth || g.Size != r.Size {
			t.Errorf("%s after lstopo: %+v, want %+v", r.ID, g, r)
		}
	}
}
