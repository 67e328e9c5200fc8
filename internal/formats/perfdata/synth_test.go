package perfdata

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/perfdata/perfsynth"
)

const everyField = perfsynth.IP | perfsynth.TID | perfsynth.Time | perfsynth.Addr | perfsynth.Read | perfsynth.Callchain | perfsynth.ID |
	perfsynth.CPU | perfsynth.Period | perfsynth.StreamID | perfsynth.Raw | perfsynth.BranchStack | perfsynth.RegsUser | perfsynth.StackUser |
	perfsynth.WeightStruct | perfsynth.DataSrc | perfsynth.Identifier | perfsynth.Transaction | perfsynth.RegsIntr | perfsynth.PhysAddr |
	perfsynth.Aux | perfsynth.Cgroup | perfsynth.DataPageSize | perfsynth.CodePageSize

// synth writes a file in memory.
func synth(t testing.TB, opt perfsynth.Options, events []perfsynth.Event, write func(*perfsynth.Writer)) []byte {
	t.Helper()
	var buf perfsynth.Buffer
	w := perfsynth.New(&buf, opt, events...)
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.B
}

func parseBytes(data []byte, opt foreign.Options) (*foreign.Imported, error) {
	return parse(context.Background(), bytes.NewReader(data), int64(len(data)), &opt, folder{})
}

func mustParse(t testing.TB, data []byte) *foreign.Imported {
	t.Helper()
	out, err := parseBytes(data, foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rowsOf writes the named columns of a table as lines.
func rowsOf(t testing.TB, tab *table.Table, names ...string) []string {
	t.Helper()
	out := make([]string, tab.Rows())
	for i := range out {
		var words []string
		for _, n := range names {
			c := tab.Column(n)
			if c == nil {
				t.Fatalf("no column %s", n)
			}
			words = append(words, c.Text(i))
		}
		out[i] = strings.Join(words, " ")
	}
	return out
}

var containers = []perfsynth.Options{{}, {Pipe: true}, {Big: true}, {Big: true, Pipe: true}, {Zstd: 81}, {Zstd: 83}, {Pipe: true, Zstd: 83}}

// A sample with every field there is comes back whole from every kind of file.
func TestEveryField(t *testing.T) {
	ev := perfsynth.Event{Name: "all", Type: 4, Config: 0x1cd, Config1: 30, SampleType: everyField, ReadFormat: 0x1f, Flags: perfsynth.SampleIDAll | 2<<15,
		BranchType: 1<<17 | 1<<19, RegsUser: 0xff0fff, RegsIntr: 0x5, IDs: []uint64{11, 12}}
	other := ev
	other.Name, other.IDs = "other", []uint64{21}
	for _, opt := range containers {
		t.Run(fmt.Sprintf("%+v", opt), func(t *testing.T) {
			data := synth(t, opt, []perfsynth.Event{ev, other}, func(w *perfsynth.Writer) {
				w.Comm(50, 7, 8, "prog", false)
				for i := range 300 {
					w.Sample(perfsynth.Sample{Event: i % 2, IP: 0x400100 + uint64(i), PID: 7, TID: 8, Time: 100 + uint64(i), Addr: 0x7f0000001000, StreamID: 9, CPU: 3, Period: 77,
						Read: []uint64{2, 1000, 500, uint64(i/2+1) * 77, 11, 0, uint64((i+1)/2) * 77, 21, 1}, Chain: []uint64{0xfffffffffffffe00, 0x400100 + uint64(i), 0x400200}, Raw: make([]byte, 12),
						Branches: make([]uint64, 6), RegsUser: make([]uint64, 20), RegsIntr: []uint64{1, 2}, Stack: make([]byte, 16),
						Weight: 300 | 40<<32 | 5<<48, DataSrc: 0x10668100842, Transaction: 1, Phys: 0x123000, Cgroup: 4, DataPageSize: 4096, CodePages: 2 << 20, Aux: make([]byte, 24)})
					if i == 100 {
						w.CutZstd(333)
					}
				}
				w.Feature(12, w.Names())
			})
			im := mustParse(t, data)
			tab := im.Tables[0]
			got := rowsOf(t, tab, "time", "cpu", "pid", "tid", "comm", "ip", "addr", "phys", "op", "level", "latency", "ins_lat", "retire_lat", "weight", "event",
				"period", "data_src", "data_page_size", "code_page_size", "transaction", "cgroup", "counting")
			if len(got) != 300 {
				t.Fatalf("%d samples, want 300", len(got))
			}
			for i, name := range []string{"all", "other"} {
				want := fmt.Sprintf("%d 3 7 8 prog 0x%x 0x7f0000001000 0x123000 load L3 300 40 5 300 %s 77 %d 4096 2097152 1 4 0.5", i, 0x400100+i, name, 0x10668100842)
				if got[i] != want {
					t.Errorf("row %d:\n got %s\nwant %s", i, got[i], want)
				}
			}
			if !strings.Contains(strings.Join(im.Warnings, "\n"), "multiplexed") {
				t.Errorf("nothing is said of multiplexing: %q", im.Warnings)
			}
		})
	}
}

func memEvent(name string, ids ...uint64) perfsynth.Event {
	return perfsynth.Event{Name: name, Type: 4, Config: 0x1cd, Config1: 30, Period: 1000, Flags: perfsynth.SampleIDAll, IDs: ids,
		SampleType: perfsynth.IP | perfsynth.TID | perfsynth.Time | perfsynth.Addr | perfsynth.CPU | perfsynth.Period | perfsynth.Identifier | perfsynth.DataSrc | perfsynth.WeightStruct}
}

// Of a group that is recorded with :S only the leader interrupts; every counter
// that moved since it was last read gives a sample of its event, as in perf.
func TestGroupReads(t *testing.T) {
	leader, member := memEvent("task-clock", 1, 2), memEvent("page-faults", 3, 4)
	leader.SampleType |= perfsynth.Read
	leader.ReadFormat = 0xc // id, group
	member.SampleType, member.ReadFormat = leader.SampleType, leader.ReadFormat
	data := synth(t, perfsynth.Options{}, []perfsynth.Event{leader, member}, func(w *perfsynth.Writer) {
		w.Sample(perfsynth.Sample{ID: 1, IP: 1, Time: 10, Period: 9, Read: []uint64{2, 100, 1, 0, 3}})
		w.Sample(perfsynth.Sample{ID: 1, IP: 2, Time: 11, Period: 9, Read: []uint64{2, 150, 1, 7, 3}})
		w.Sample(perfsynth.Sample{ID: 2, IP: 3, Time: 12, Period: 9, Read: []uint64{2, 30, 2, 1, 4}})
		w.Sample(perfsynth.Sample{ID: 1, IP: 4, Time: 13, Period: 9, Read: []uint64{2, 150, 1, 9, 3}})
		w.Feature(12, w.Names())
	})
	im := mustParse(t, data)
	got := rowsOf(t, im.Tables[0], "event", "ip", "period")
	want := []string{"task-clock 0x1 100", "task-clock 0x2 50", "page-faults 0x2 7", "task-clock 0x3 30", "page-faults 0x3 1", "page-faults 0x4 2"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(strings.Join(im.Warnings, "\n"), "3 samples of events that were read") {
		t.Errorf("nothing is said of it: %q", im.Warnings)
	}
}

// A trace of Intel PT is stepped over, whatever its bytes look like.
func TestForeignTrace(t *testing.T) {
	pt := memEvent("intel_pt//", 1)
	pt.Type = 8
	for _, samples := range []int{0, 2} {
		data := synth(t, perfsynth.Options{}, []perfsynth.Event{memEvent("loads", 2), pt}, func(w *perfsynth.Writer) {
			w.Record(70, 0, binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 8))
			w.Auxtrace(0, 0, 5, 1, bytes.Repeat([]byte{9, 0, 0, 0, 2, 0, 16, 0}, 1000))
			for i := range samples {
				w.Sample(perfsynth.Sample{Time: uint64(i), ID: 2, IP: 1})
			}
			w.Auxtrace(8000, 0, 5, 1, []byte{1, 2, 3, 4, 5, 6, 7, 8})
		})
		im, err := parseBytes(data, foreign.Options{})
		if samples == 0 {
			if err == nil || !strings.Contains(err.Error(), "a hardware trace of Intel PT, which is not decoded") {
				t.Errorf("only a trace: %v", err)
			}
			continue
		}
		if err != nil || im.Tables[0].Rows() != samples || !strings.Contains(strings.Join(im.Warnings, "\n"), "Intel PT") {
			t.Errorf("%v, %+v", err, im)
		}
	}
}

// perf record --threads makes a folder: the header and what perf wrote itself in
// one file, the records of each thread in others.
func TestThreadFolder(t *testing.T) {
	ev := memEvent("loads", 1)
	whole := synth(t, perfsynth.Options{}, []perfsynth.Event{ev}, func(w *perfsynth.Writer) {
		w.Comm(1, 5, 5, "prog", false)
		w.Feature(12, w.Names())
	})
	dir := filepath.Join(t.TempDir(), "perf.data")
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write("data", whole)
	for i, name := range []string{"data.0", "data.2", "data.10"} {
		// Only the records of a file of its own, which begin where its header says.
		data := synth(t, perfsynth.Options{}, []perfsynth.Event{ev}, func(w *perfsynth.Writer) {
			for k := range uint64(3) {
				w.Sample(perfsynth.Sample{Time: 10 + 10*k + uint64(i), IP: 0x100*uint64(i) + k + 1, PID: 5, TID: 5})
			}
		})
		at, size := binary.LittleEndian.Uint64(data[40:]), binary.LittleEndian.Uint64(data[48:])
		write(name, data[at:at+size])
	}
	write("data.x", []byte("not ours"))
	got := rowsOf(t, importFile(t, dir, foreign.Options{}).Tables[0], "time", "ip", "comm")
	want := []string{"0 0x1 prog", "1 0x101 prog", "2 0x201 prog", "10 0x2 prog", "11 0x102 prog", "12 0x202 prog", "20 0x3 prog", "21 0x103 prog", "22 0x203 prog"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	write("data.2", []byte{9, 0, 0, 0, 0, 0, 200, 0, 1, 2, 3})
	in, err := foreign.Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Format.Samples(context.Background(), in, &foreign.Options{}); err == nil || !strings.Contains(err.Error(), "data.2: no record begins at byte 0") {
		t.Errorf("a damaged part: %v", err)
	}
	if kept := importFile(t, dir, foreign.Options{Salvage: true}).Tables[0].Rows(); kept != 6 {
		t.Errorf("%d samples are salvaged, want 6", kept)
	}
}

// Since Sapphire Rapids loads are sampled in a group led by an event that only
// helps; the samples are the second's.
func TestSapphireRapidsGroup(t *testing.T) {
	aux, loads, stores := memEvent("cpu/mem-loads-aux/", 1, 2), memEvent("cpu/mem-loads,ldlat=30/P", 3, 4), memEvent("cpu/mem-stores/P", 5, 6)
	aux.Config, aux.Config1 = 0x8203, 0
	stores.Config, stores.Config1 = 0x2cd, 0
	data := synth(t, perfsynth.Options{}, []perfsynth.Event{aux, loads, stores}, func(w *perfsynth.Writer) {
		w.Sample(perfsynth.Sample{Event: 1, ID: 4, IP: 1, Time: 10, CPU: 1, Addr: 0x1000, Weight: 5 | 33<<32, DataSrc: 0x40268100142, Period: 1})
		w.Sample(perfsynth.Sample{Event: 2, ID: 5, IP: 2, Time: 11, CPU: 0, Addr: 0x2000, DataSrc: 0x229080144, Period: 1})
		w.Sample(perfsynth.Sample{Event: 1, ID: 3, IP: 3, Time: 12, CPU: 0, Addr: 0x3000, Weight: 96 | 120<<32 | 7<<48, DataSrc: 0x10668100842, Period: 1})
		w.Feature(12, w.Names())
	})
	im := mustParse(t, data)
	got := rowsOf(t, im.Tables[0], "event", "op", "level", "latency", "ins_lat", "retire_lat", "addr")
	want := []string{
		"cpu/mem-loads,ldlat=30/P load L1 5 33  0x1000",
		"cpu/mem-stores/P store L1    0x2000",
		"cpu/mem-loads,ldlat=30/P load L3 96 120 7 0x3000",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// On hybrid machines each kind of core has its own device and events.
func TestHybridCores(t *testing.T) {
	core, atom := memEvent("cpu_core/mem-loads,ldlat=30/", 1), memEvent("cpu_atom/mem-loads,ldlat=30/P", 2)
	atom.Type, atom.Config, atom.Config1 = 10, 0x5d0, 31
	data := synth(t, perfsynth.Options{}, []perfsynth.Event{core, atom}, func(w *perfsynth.Writer) {
		w.Sample(perfsynth.Sample{Event: 0, IP: 1, Time: 10, CPU: 2, Addr: 0xffffb33a850078a0, Weight: 5, DataSrc: 0x40268100142})
		w.Sample(perfsynth.Sample{Event: 1, IP: 2, Time: 11, CPU: 20, Addr: 0x7f0aaaa0aae0, Weight: 71, DataSrc: 0x11868100242})
		w.Feature(12, w.Names())
		w.Feature(16, w.PMUs(map[uint32]string{4: "cpu_core", 10: "cpu_atom"}, 4, 10))
	})
	im := mustParse(t, data)
	got := rowsOf(t, im.Tables[0], "event", "cpu", "level", "latency")
	want := []string{"cpu_core/mem-loads,ldlat=30/ 2 L1 5", "cpu_atom/mem-loads,ldlat=30/P 20 LFB 71"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	all := strings.Join(im.Warnings, "\n")
	if !strings.Contains(all, "at least 30 cycles") || !strings.Contains(all, "at least 31 cycles") {
		t.Errorf("the thresholds of both devices should be told: %s", all)
	}
}

// What was lost is told at the sample after it, as a gap, and in a sentence.
func TestLosses(t *testing.T) {
	data := synth(t, perfsynth.Options{}, []perfsynth.Event{memEvent("e", 1)}, func(w *perfsynth.Writer) {
		sample := func(time uint64, cpu uint32) { w.Sample(perfsynth.Sample{Time: time, CPU: cpu, IP: 1}) }
		sample(1000, 0)
		sample(1001, 1)
		w.Lost(1500, 0, 42)
		sample(1600, 1)
		sample(1700, 0)
		w.Throttle(2000, 1, true)
		sample(2100, 0)
		w.Throttle(2500, 1, false)
		sample(2600, 1)
		w.Record(13, 0, append([]byte{8, 0, 0, 0, 0, 0, 0, 0}, w.Trailer(0, 0, 0, 2700, 0)...)) // LOST_SAMPLES
		sample(2800, 0)
	})
	im := mustParse(t, data)
	got := rowsOf(t, im.Tables[0], "time", "cpu", "lost", "throttled")
	want := []string{"0 0 0 0", "1 1 0 0", "600 1 0 0", "700 0 42 0", "1100 0 0 0", "1600 1 0 1", "1800 0 8 0"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("samples:\n%s", diff)
	}
	if len(im.Tables) != 2 || im.Tables[1].Name != "gaps" {
		t.Fatalf("no table of gaps")
	}
	got = rowsOf(t, im.Tables[1], "time", "end", "kind", "cpu", "records")
	want = []string{"0 500 lost 0 42", "1000 1500 throttled 1 ", "1100 1700 lost 0 8"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("gaps:\n%s", diff)
	}
	all := strings.Join(im.Warnings, "\n")
	if !strings.Contains(all, "lost 50 records") || !strings.Contains(all, "throttled sampling 1 time") {
		t.Errorf("warnings %s", all)
	}
}

// Mappings and names hold from their time on, are copied by a fork and dropped
// by an exec, whatever their order in the file.
func TestReplay(t *testing.T) {
	data := synth(t, perfsynth.Options{}, []perfsynth.Event{memEvent("e", 1)}, func(w *perfsynth.Writer) {
		sample := func(time uint64, pid uint32, ip uint64) {
			w.Sample(perfsynth.Sample{Time: time, PID: pid, TID: pid, IP: ip})
		}
		sample(30, 5, 0x1010)
		sample(20, 5, 0x1010)
		sample(60, 6, 0x1010)
		sample(80, 6, 0x1010)
		sample(70, 5, 0x2010)
		sample(10, 5, 0x1010)
		w.Mmap(15, 5, 5, 0x1000, 0x1000, 0, "/x/first.so")
		w.Mmap(25, 5, 5, 0x1000, 0x800, 0, "/x/second.so")
		w.Comm(1, 5, 5, "parent", false)
		w.Fork(50, 6, 5, 6, 5)
		w.Comm(75, 6, 6, "child", true)
		w.Mmap(65, 5, 5, 0x2000, 0x1000, 0, "/x/third.so")
	})
	got := rowsOf(t, mustParse(t, data).Tables[0], "time", "pid", "comm", "module")
	want := []string{"0 5 parent ", "10 5 parent first.so", "20 5 parent second.so", "50 6 parent second.so", "60 5 parent third.so", "70 6 child "}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Before sample_id_all only forks, exits and samples had times: what a child
// mapped is not replaced by what its parent had.
func TestReplayWithoutTimes(t *testing.T) {
	ev := memEvent("e", 1)
	ev.Flags &^= perfsynth.SampleIDAll
	data := synth(t, perfsynth.Options{}, []perfsynth.Event{ev}, func(w *perfsynth.Writer) {
		w.Comm(0, 5, 5, "parent", false)
		w.Mmap(0, 5, 5, 0x1000, 0x1000, 0, "/x/first.so")
		w.Fork(50, 6, 5, 6, 5)
		w.Comm(0, 6, 6, "child", false)
		w.Mmap(0, 6, 6, 0x1000, 0x1000, 0, "/x/second.so")
		w.Sample(perfsynth.Sample{Time: 60, PID: 6, TID: 6, IP: 0x1010})
		w.Sample(perfsynth.Sample{Time: 61, PID: 5, TID: 5, IP: 0x1010})
	})
	got := rowsOf(t, mustParse(t, data).Tables[0], "comm", "module")
	if want := []string{"child second.so", "parent first.so"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A file that is cut anywhere is refused with a sentence, and salvaged up to
// the cut.
func TestSalvage(t *testing.T) {
	for _, opt := range containers {
		data := synth(t, opt, []perfsynth.Event{memEvent("e", 1)}, func(w *perfsynth.Writer) {
			for i := range 50 {
				w.Sample(perfsynth.Sample{Time: uint64(i) + 1, IP: uint64(i) + 1})
				if i%20 == 19 {
					w.FlushZstd()
				}
			}
		})
		whole := mustParse(t, data).Tables[0].Rows()
		if whole != 50 {
			t.Fatalf("%+v: %d samples, want 50", opt, whole)
		}
		refused, salvaged := 0, 0
		last := 0
		for cut := 16; cut < len(data); cut += 5 {
			if _, err := parseBytes(data[:cut], foreign.Options{}); err != nil {
				refused++
				if errors.Is(err, errDamaged) && !strings.Contains(err.Error(), "byte") {
					t.Fatalf("%+v cut at %d: the error does not say where: %v", opt, cut, err)
				}
			}
			im, err := parseBytes(data[:cut], foreign.Options{Salvage: true})
			if err == nil {
				salvaged++
				if n := im.Tables[0].Rows(); n < last {
					t.Fatalf("%+v cut at %d: %d samples, fewer than %d of a shorter file", opt, cut, n, last)
				} else {
					last = n
				}
			}
		}
		if cuts := len(data) / 5; refused < cuts/2 || salvaged < cuts/4 || last < 40 {
			t.Errorf("%+v: of %d cuts %d are refused and %d salvaged, the last with %d samples", opt, len(data)-16, refused, salvaged, last)
		}
	}
}

// Records of types to come are stepped over by their size.
func TestUnknownRecords(t *testing.T) {
	data := synth(t, perfsynth.Options{}, []perfsynth.Event{memEvent("e", 1)}, func(w *perfsynth.Writer) {
		w.Sample(perfsynth.Sample{Time: 1, IP: 1})
		w.Record(40, 0, make([]byte, 24))
		w.Record(99, 0, make([]byte, 13))
		w.Record(32769, 0, make([]byte, 40)) // simpleperf's symbols of the kernel
		w.Sample(perfsynth.Sample{Time: 2, IP: 2})
		w.Record(9, 2, make([]byte, 16)) // a sample that is too short
		w.Sample(perfsynth.Sample{Time: 3, ID: 77, IP: 3})
	})
	im := mustParse(t, data)
	if n := im.Tables[0].Rows(); n != 3 {
		t.Errorf("%d samples, want 3", n)
	}
	all := strings.Join(im.Warnings, "\n")
	for _, want := range []string{"1 of type 40, 1 of type 99, 1 of type 32769", "left out: 1 sample of another size"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in the warnings: %s", want, all)
		}
	}
}

func TestTimeOrderEqualsStableSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := rng.IntN(200)
		time := make([]uint64, n)
		for i := range time {
			time[i] = uint64(i/8*8) + rng.Uint64N(1+rng.Uint64N(40))
		}
		want := make([]uint32, n)
		for i := range want {
			want[i] = uint32(i)
		}
		slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(time[a], time[b]) })
		got := timeOrder(&sorter{}, time)
		if got == nil {
			if !slices.IsSorted(time) {
				t.Fatalf("%v is not in order", time)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Fatalf("order of %v is %v, want %v", time, got, want)
		}
	}
}

// A few bytes that name many CPUs again and again do not fill memory.
func TestManyCPUs(t *testing.T) {
	lists := make([]string, 5000)
	for i := range lists {
		lists[i] = "0-65000"
	}
	data := synth(t, perfsynth.Options{}, []perfsynth.Event{memEvent("e", 1)}, func(w *perfsynth.Writer) {
		w.Sample(perfsynth.Sample{Time: 1, IP: 1})
		w.Feature(13, append(w.Strings(lists...), w.Strings("0")...))
	})
	im := mustParse(t, data)
	if all := strings.Join(im.Warnings, "\n"); !strings.Contains(all, "more than 4194304 CPUs") {
		t.Errorf("warnings %s", all)
	}
}
