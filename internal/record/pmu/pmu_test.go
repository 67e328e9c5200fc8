package pmu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/perfevent"
)

// machine reads a sysfs tree. Its files are below the folder of units.
func machine(t *testing.T, name string) fs.FS {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for _, f := range a.Files {
		out[path.Join(Devices, f.Name)] = &fstest.MapFile{Data: f.Data}
	}
	return out
}

// attr is an event's description by hand: the words that are not zero, by their
// place in struct perf_event_attr.
type attr struct {
	kind     uint32 // at 0
	config   uint64 // 8
	period   uint64 // 16
	fields   uint64 // 24: sample_type
	flags    uint64 // 40
	config1  uint64 // 56
	config2  uint64 // 64
	userRegs uint64 // 80
}

func (a attr) bytes() []byte {
	b := make([]byte, 128)
	binary.LittleEndian.PutUint32(b[0:], a.kind)
	binary.LittleEndian.PutUint32(b[4:], 128)
	binary.LittleEndian.PutUint64(b[8:], a.config)
	binary.LittleEndian.PutUint64(b[16:], a.period)
	binary.LittleEndian.PutUint64(b[24:], a.fields)
	binary.LittleEndian.PutUint64(b[40:], a.flags)
	binary.LittleEndian.PutUint64(b[56:], a.config1)
	binary.LittleEndian.PutUint64(b[64:], a.config2)
	binary.LittleEndian.PutUint64(b[80:], a.userRegs)
	binary.LittleEndian.PutUint32(b[92:], 1) // CLOCK_MONOTONIC
	return b
}

// Sums of the bits that events have, from include/uapi/linux/perf_event.h.
const (
	placed   = 0x10087   // identifier, ip, tid, time, cpu
	precise  = 0x101818f // and addr, period, data_src, weight_struct
	older    = 0x1c18f   // weight in place of weight_struct
	quiet    = 0x2040063 // disabled, inherit, exclude_kernel, exclude_hv, sample_id_all, use_clockid
	tracked  = 0x1822300 // mmap, comm, task, mmap_data, mmap2, comm_exec
	freq     = 0x400
	precise2 = 0x10000
	kernel   = 0x20
	hv       = 0x40
)

func TestHardware(t *testing.T) {
	loads := attr{4, 0x1cd, 1000, precise, quiet + tracked + freq + precise2, 3, 0, 0}
	stores := attr{4, 0x2cd, 1000, precise, quiet + freq + precise2, 0, 0, 0}
	aux := attr{4, 0x8203, 0, placed, quiet, 0, 0, 0}
	with := func(a attr, change func(*attr)) attr { change(&a); return a }
	ibs := attr{9, 0x80000, 1000, precise, quiet + tracked + freq - kernel - hv, 0, 0, 0}
	tests := []struct {
		tree    string
		options Options
		plan    string
		want    map[string]attr
		leader  map[string]string
	}{
		{"ivybridge", Options{}, "PEBS", map[string]attr{"cpu/mem-loads": loads, "cpu/mem-stores": stores}, nil},
		{"ivybridge", Options{Latency: 30, Period: 5000}, "PEBS", map[string]attr{
			"cpu/mem-loads":  with(loads, func(a *attr) { a.config1, a.period, a.flags = 30, 5000, a.flags-freq }),
			"cpu/mem-stores": with(stores, func(a *attr) { a.period, a.flags = 5000, a.flags-freq })}, nil},
		{"skylake", Options{}, "PEBS", map[string]attr{"cpu/mem-loads": loads, "cpu/mem-stores": with(stores, func(a *attr) { a.config = 0x82d0 })}, nil},
		{"sapphirerapids", Options{}, "PEBS", map[string]attr{"cpu/mem-loads-aux": aux, "cpu/mem-loads": loads, "cpu/mem-stores": stores},
			map[string]string{"cpu/mem-loads": "cpu/mem-loads-aux"}},
		{"alderlake", Options{}, "PEBS", map[string]attr{"cpu_core/mem-loads-aux": aux, "cpu_core/mem-loads": loads, "cpu_core/mem-stores": stores,
			"cpu_atom/mem-loads":  with(loads, func(a *attr) { a.kind, a.config = 10, 0x5d0 }),
			"cpu_atom/mem-stores": with(stores, func(a *attr) { a.kind, a.config = 10, 0x6d0 })},
			map[string]string{"cpu_core/mem-loads": "cpu_core/mem-loads-aux"}},
		{"zen2", Options{}, "IBS", map[string]attr{"ibs_op": ibs}, nil},
		{"zen2", Options{Period: 100_007, Latency: 500}, "IBS", map[string]attr{"ibs_op": with(ibs, func(a *attr) { a.period, a.flags = 100_000, a.flags-freq })}, nil},
		{"zen3", Options{}, "IBS", map[string]attr{"ibs_op": with(ibs, func(a *attr) { a.kind = 11 })}, nil},
		{"zen4", Options{}, "IBS", map[string]attr{"ibs_op": ibs}, nil},
		{"zen5", Options{}, "IBS", map[string]attr{"ibs_op": with(ibs, func(a *attr) { a.config2, a.flags = 1, a.flags+kernel })}, nil},
		{"zen5", Options{Latency: 500}, "IBS", map[string]attr{"ibs_op": with(ibs, func(a *attr) { a.config1, a.config2, a.flags = 500, 1, a.flags+kernel })}, nil},
		{"neoverse", Options{}, "SPE", map[string]attr{"arm_spe_0": {9, 0x6_0001_0001, 1_999_872, placed, quiet + tracked, 0, 0, 0}}, nil},
		{"neoverse", Options{Latency: 30, Period: 16}, "SPE", map[string]attr{"arm_spe_0": {9, 0x6_0001_0001, 1024, placed, quiet + tracked, 0, 30, 0}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.tree, func(t *testing.T) {
			plans, err := Hardware(machine(t, tt.tree), &tt.options)
			if err != nil || len(plans) == 0 || plans[0].Name != tt.plan {
				t.Fatalf("plans %+v, %v", plans, err)
			}
			p := plans[0]
			if len(p.Events) != len(tt.want) {
				t.Errorf("%d events, want %d", len(p.Events), len(tt.want))
			}
			for _, e := range p.Events {
				if want := tt.want[e.Name].bytes(); !bytes.Equal(e.Attr.Bytes(), want) {
					got, _ := perfevent.ParseAttr(false, e.Attr.Bytes())
					t.Errorf("%s:\n got %x\nwant %x\n(%+v)", e.Name, e.Attr.Bytes(), want, got)
				}
				leader := ""
				if e.Leader >= 0 {
					leader = p.Events[e.Leader].Name
				}
				if leader != tt.leader[e.Name] {
					t.Errorf("%s is led by %q, want %q", e.Name, leader, tt.leader[e.Name])
				}
			}
		})
	}
}

// What perf opened on real machines, as its recordings tell: the same unit, event
// and threshold as ours.
func TestRecordedAttributes(t *testing.T) {
	for _, tt := range []struct {
		file, tree string
		latency    int
	}{{"perf/numatop_perf.data", "ivybridge", 0}, {"perf/google_pdc_perf.data.weight_struct", "skylake", 64}} {
		t.Run(tt.tree, func(t *testing.T) {
			data, err := os.ReadFile(test.Shared(t, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := perfevent.ParseAttr(false, data[binary.LittleEndian.Uint64(data[24:]):])
			if err != nil {
				t.Fatal(err)
			}
			plans, err := Hardware(machine(t, tt.tree), &Options{Latency: tt.latency})
			if err != nil {
				t.Fatal(err)
			}
			ours := plans[0].Events[0].Attr
			if ours.Type != recorded.Type || ours.Config != recorded.Config || ours.Config1 != recorded.Config1 || recorded.Flags>>perfevent.PreciseShift&3 == 0 {
				t.Errorf("ours: type %d config %#x, %#x; perf's: type %d config %#x, %#x", ours.Type, ours.Config, ours.Config1, recorded.Type, recorded.Config, recorded.Config1)
			}
		})
	}
}

func TestOlderKernel(t *testing.T) {
	plans, err := Hardware(machine(t, "skylake"), &Options{})
	if err != nil || len(plans) != 2 || plans[1].Events[0].Attr.SampleType != older {
		t.Errorf("%d plans, %v; want a second one with the older form of the weight", len(plans), err)
	}
}

func TestHybridCPUs(t *testing.T) {
	plans, _ := Hardware(machine(t, "alderlake"), &Options{})
	for _, e := range plans[0].Events {
		want := []int{0, 15}
		if strings.HasPrefix(e.Name, "cpu_atom") {
			want = []int{16, 23}
		}
		if got := []int{e.CPUs[0], e.CPUs[len(e.CPUs)-1]}; !slices.Equal(got, want) {
			t.Errorf("%s on CPUs %v", e.Name, e.CPUs)
		}
	}
}

func TestNoHardware(t *testing.T) {
	plans, err := Hardware(machine(t, "virtual"), &Options{})
	if len(plans) != 0 || !errors.Is(err, ErrNoUnit) {
		t.Errorf("plans %v, %v", plans, err)
	}
	if _, err := Hardware(fstest.MapFS{}, &Options{}); !errors.Is(err, ErrNoUnit) {
		t.Errorf("without sysfs: %v", err)
	}
}

func TestTimer(t *testing.T) {
	p := TimerPlan(&Options{Arch: "amd64"})
	want := attr{1, 0, 1_000_000, placed | 0x1000, quiet + tracked, 0, 0, 0xff03ff}
	if got := p.Events[0].Attr.Bytes(); !bytes.Equal(got, want.bytes()) {
		t.Errorf("got %x\nwant %x", got, want.bytes())
	}
	p = TimerPlan(&Options{Arch: "arm64", Rate: 4000, Threads: true})
	want.period, want.userRegs, want.flags = 250_000, 0x1ffffffff, want.flags|1<<35
	if got := p.Events[0].Attr.Bytes(); !bytes.Equal(got, want.bytes()) {
		t.Errorf("got %x\nwant %x", got, want.bytes())
	}
	touch := attr{1, 2, 1, placed | 8, quiet, 0, 0, 0}
	if e := Touches(&Options{}); !bytes.Equal(e.Attr.Bytes(), touch.bytes()) {
		t.Errorf("got %x\nwant %x", e.Attr.Bytes(), touch.bytes())
	}
}

// Damaged files of sysfs are an error and never an event that counts something
// else.
func TestDamagedTrees(t *testing.T) {
	for _, change := range [][2]string{
		{"cpu/type", "four"}, {"cpu/format/umask", "config:8-"}, {"cpu/format/ldlat", "config9:0-15"}, {"cpu/events/mem-loads", "event=zz"},
		{"cpu/format/event", "config:7-0"}, {"cpu/format/umask", "config:8-70"}, {"cpu/format/umask", "config:8"},
	} {
		m := machine(t, "skylake").(fstest.MapFS)
		m[path.Join(Devices, change[0])] = &fstest.MapFile{Data: []byte(change[1])}
		if plans, err := Hardware(m, &Options{}); err == nil && len(plans) > 0 {
			t.Errorf("%s = %q gives %d plans", change[0], change[1], len(plans))
		}
	}
}
