package perfdata

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/perfdata/perfsynth"
)

// Files that no machine at hand writes, read by perf and by us: other byte
// orders, old attrs, samples of guests, records that do not concern us.
func TestSyntheticEqualsPerfScript(t *testing.T) {
	perf := test.Peer(t, "perf", "linux-perf")
	base := memEvent("loads", 1, 2)
	base.SampleType &^= perfsynth.WeightStruct
	base.SampleType |= perfsynth.Weight
	base.Size, base.Flags = 128, perfsynth.SampleIDAll
	with := func(change func(e *perfsynth.Event)) perfsynth.Event {
		e := base
		change(&e)
		return e
	}
	stores := with(func(e *perfsynth.Event) { e.Name, e.Config, e.IDs = "stores", 0x2cd, []uint64{3, 4} })
	byID := func(e *perfsynth.Event) {
		e.SampleType = e.SampleType&^perfsynth.Identifier | perfsynth.ID
	}
	tests := []struct {
		name   string
		opt    perfsynth.Options
		events []perfsynth.Event
		misc   []uint16
	}{
		{"file", perfsynth.Options{}, []perfsynth.Event{base, stores}, nil},
		{"pipe", perfsynth.Options{Pipe: true}, []perfsynth.Event{base, stores}, nil},
		{"big endian", perfsynth.Options{Big: true}, []perfsynth.Event{base, stores}, nil},
		{"zstd", perfsynth.Options{Zstd: 81}, []perfsynth.Event{base, stores}, nil},
		{"id in its place", perfsynth.Options{}, []perfsynth.Event{with(byID), func() perfsynth.Event { e := stores; byID(&e); return e }()}, nil},
		{"weight in parts", perfsynth.Options{}, []perfsynth.Event{with(func(e *perfsynth.Event) {
			e.SampleType = e.SampleType&^perfsynth.Weight | perfsynth.WeightStruct
		})}, nil},
		{"attr of 64 bytes", perfsynth.Options{}, []perfsynth.Event{with(func(e *perfsynth.Event) { e.Size = 64 })}, nil},
		{"attr of 72 bytes", perfsynth.Options{}, []perfsynth.Event{with(func(e *perfsynth.Event) { e.Size = 72 })}, nil},
		{"attr of 96 bytes", perfsynth.Options{}, []perfsynth.Event{with(func(e *perfsynth.Event) { e.Size = 96 })}, nil},
		{"attr of 112 bytes, pipe", perfsynth.Options{Pipe: true}, []perfsynth.Event{with(func(e *perfsynth.Event) { e.Size = 112 })}, nil},
		{"one event without ids", perfsynth.Options{}, []perfsynth.Event{with(func(e *perfsynth.Event) { e.SampleType &^= perfsynth.Identifier; e.IDs = nil })}, nil},
		{"guests and hypervisor", perfsynth.Options{}, []perfsynth.Event{base}, []uint16{1, 2, 3, 4, 5}},
		{"few fields", perfsynth.Options{}, []perfsynth.Event{with(func(e *perfsynth.Event) { e.SampleType = perfsynth.IP | perfsynth.TID | perfsynth.Time })}, nil},
		{"many fields", perfsynth.Options{}, []perfsynth.Event{with(func(e *perfsynth.Event) {
			e.SampleType |= perfsynth.Callchain | perfsynth.StreamID | perfsynth.BranchStack | perfsynth.RegsUser | perfsynth.StackUser | perfsynth.Transaction |
				perfsynth.RegsIntr | perfsynth.PhysAddr | perfsynth.Cgroup | perfsynth.DataPageSize | perfsynth.CodePageSize | perfsynth.Aux
			e.RegsUser, e.RegsIntr, e.BranchType = 0xff, 0x3, 1<<17
		})}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := synth(t, tt.opt, tt.events, func(w *perfsynth.Writer) {
				w.Comm(1, 7, 7, "prog", false)
				w.Mmap(2, 7, 7, 0x400000, 0x10000, 0, "/nowhere/prog")
				if !tt.opt.Big { // perf turns the bytes of some of them
					bystanders(w)
				}
				for i := range 400 {
					event := i % len(tt.events)
					misc := uint16(2)
					if tt.misc != nil {
						misc = tt.misc[i%len(tt.misc)]
					}
					x := perfsynth.Sample{Event: event, Misc: misc, IP: 0x400100 + uint64(i), PID: 7, TID: 7 + uint32(i%3), Time: 1000 + uint64(i^5), CPU: uint32(i % 4), Period: uint64(i),
						Addr: 0x7f0000000000 + uint64(8*i), Weight: uint64(i), DataSrc: 0x10668100842, StreamID: 5, Phys: 0x1000, Cgroup: 1, DataPageSize: 4096, CodePages: 4096,
						Chain: []uint64{0xffffffffffffff80, 0xffffffff81000000, 0xfffffffffffffe00, 0x400100, 0x400200}, Branches: make([]uint64, 6),
						RegsUser: make([]uint64, 8), RegsIntr: make([]uint64, 2), Stack: make([]byte, 32), Aux: make([]byte, 16)}
					if ids := tt.events[event].IDs; len(ids) > 0 {
						x.ID = ids[i/4%len(ids)]
					}
					w.Sample(x)
					if i%100 == 99 {
						w.Round()
					}
				}
				w.Feature(3, w.String("host")) // perf trusts the features of the other byte order only with it
				if !tt.opt.Pipe {              // they would come after the samples
					w.Feature(12, w.Names())
				}
				if tt.opt.Zstd != 0 {
					w.Feature(27, append(words(4, 1, 1, 1, 1), words(4, 8<<20)...))
				}
			})
			path := filepath.Join(t.TempDir(), "perf.data")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			got, want := linesOf(t, importFile(t, path, foreign.Options{})), scriptLines(t, perf, path)
			if samples := 400 - 80*max(0, len(tt.misc)-3); len(got) != samples {
				t.Errorf("%d samples, want %d", len(got), samples)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-perf +ours):\n%.3000s", diff)
			}
		})
	}
}

// bystanders writes records that a reader of samples steps over: namespaces,
// symbols of the kernel, programs of BPF, control groups, patched code, ids of
// AUX output, switches, and maps of threads and CPUs.
func bystanders(w *perfsynth.Writer) {
	trailer := w.Trailer(0, 7, 7, 3, 1)
	for typ, n := range map[uint32]int{14: 0, 15: 1, 16: 2, 17: 4, 18: 4, 19: 3, 20: 3, 21: 1} {
		w.Record(typ, 0, append(words(8, make([]uint64, n)...), trailer...))
	}
	w.Record(73, 0, words(8, 0)) // THREAD_MAP of none
}

// words writes numbers of so many bytes.
func words(size int, values ...uint64) []byte {
	var b []byte
	for _, v := range values {
		b = append(b, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
	}
	return b
}
