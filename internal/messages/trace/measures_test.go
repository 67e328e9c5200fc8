package trace_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

// TestSeries reads back the counter readings that a program recorded.
func TestSeries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counted.otf2")
	p, err := mpiprog.New(path, 3)
	if err != nil {
		t.Fatal(err)
	}
	misses := p.Measure("misses", "lines")
	for i := range uint64(4) {
		for r := range 3 {
			p.Compute(r, 100)
			p.Count(r, misses, 10*i+uint64(r))
		}
		p.Collective(mpiprog.World, mpiprog.Barrier)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	m, ok := tr.MeasureNamed("misses")
	if !ok || m.Unit != "lines" || m.Kind != trace.Accumulated || len(tr.Measures) != 1 || tr.Metrics != 12 {
		t.Fatalf("%d metric events of %+v", tr.Metrics, tr.Measures)
	}
	s, err := tr.Series(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 3 {
		want := []float64{float64(r), 10 + float64(r), 20 + float64(r), 30 + float64(r)}
		if !slices.Equal(s.Value[r], want) || !slices.IsSorted(s.Time[r]) {
			t.Errorf("rank %d has %v at %v, want %v", r, s.Value[r], s.Time[r], want)
		}
	}
	if s.Time[0][0] != 1100 { // programs begin at 1000
		t.Errorf("the first reading is at %d, want 1100", s.Time[0][0])
	}
}

// TestScopes: metrics of a process, a host, the machine and of groups belong to
// all ranks they cover, and are named so. Four ranks on two hosts; a location of
// its own, which is no rank, records most of them.
func TestScopes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scopes.otf2")
	w, err := otf2.Create(path, otf2.WriterOptions{Length: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	machine := w.Node("cluster", "machine", otf2.None)
	var hosts, procs []uint32
	var ranks []*otf2.EventWriter
	for h := range 2 {
		hosts = append(hosts, w.Node(fmt.Sprintf("n%d", h), "node", machine))
		for r := 2 * h; r < 2*h+2; r++ {
			procs = append(procs, w.Process(fmt.Sprintf("rank %d", r), hosts[h]))
			ranks = append(ranks, w.Location("thread", procs[r]))
		}
	}
	meter := w.Location("meter", w.Process("meters", machine))
	w.CommLocations([]uint64{0, 1, 2, 3})
	w.Comm("world", []uint64{0, 1, 2, 3}, otf2.None)
	odd := w.Locations("odd ranks", []uint64{1, 3, 1, 99})
	main := uint64(w.Region(otf2.RegionInfo{Name: "main"}))
	barrier := uint64(w.Region(otf2.RegionInfo{Name: "MPI_Barrier", Paradigm: otf2.ParadigmMPI}))

	const absolute, unsigned = 1, 4
	power := w.MetricMember("power", "W", absolute, unsigned)
	class := w.MetricClass(w.MetricMember("heat", "K", absolute, unsigned), power)
	own := w.MetricInstance(class, 4, otf2.ScopeLocation, 2)
	process := w.MetricInstance(class, 4, otf2.ScopeLocationGroup, uint64(procs[3]))
	other := w.MetricClass(power)
	host := w.MetricInstance(other, 4, otf2.ScopeNode, uint64(hosts[1]))
	whole := w.MetricInstance(other, 4, otf2.ScopeNode, uint64(machine))
	group := w.MetricInstance(other, 0, otf2.ScopeGroup, uint64(odd))
	world := w.MetricInstance(other, 4, otf2.ScopeGroup, 1) // the group of a communicator
	w.MetricInstance(other, 4, otf2.ScopeGroup, 77)         // never used

	write := func(e *otf2.EventWriter, kind otf2.Kind, time, first uint64, values ...uint64) {
		ev := otf2.Event{Kind: kind, Time: time}
		ev.F[0] = first
		if kind == otf2.MPICollectiveEnd {
			ev.F = [6]uint64{0, 0, otf2.RootNone}
		}
		for _, v := range values {
			ev.List = append(ev.List, otf2.Value{Type: unsigned, Bits: v})
		}
		if err := e.Write(&ev); err != nil {
			t.Fatal(err)
		}
	}
	for r, e := range ranks {
		write(e, otf2.Enter, 1, main)
		if r == 0 {
			write(e, otf2.Metric, 5, uint64(group), 60)
		}
		write(e, otf2.Enter, 10, barrier)
		write(e, otf2.MPICollectiveBegin, 10, 0)
		write(e, otf2.MPICollectiveEnd, 20, 0)
		write(e, otf2.Leave, 20, barrier)
		write(e, otf2.Metric, 30, uint64(other), uint64(r)) // its own
		write(e, otf2.Leave, 40, main)
	}
	write(meter, otf2.Metric, 2, uint64(own), 300, 20)
	write(meter, otf2.Metric, 3, uint64(process), 310, 30)
	write(meter, otf2.Metric, 4, uint64(host), 40)
	write(meter, otf2.Metric, 5, uint64(whole), 50)
	write(meter, otf2.Metric, 6, uint64(world), 70)
	write(meter, otf2.Metric, 7, uint64(host), 41)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(test.Peer(t, "otf2-print", "otf2-tools"), "--silent", path).CombinedOutput(); err != nil || strings.Contains(string(out), "warning: out of order") {
		t.Errorf("otf2-print: %v\n%s", err, out)
	}
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		name, note string
		values     [4][]float64
	}{
		{"heat", "", [4][]float64{2: {300}}},
		{"heat (per process)", "one value for all ranks of a process", [4][]float64{3: {310}}},
		{"power", "", [4][]float64{{0}, {1}, {20, 2}, {3}}},
		{"power (per process)", "one value for all ranks of a process", [4][]float64{3: {30}}},
		{"power (per node)", "one value for all ranks of a node", [4][]float64{2: {40, 41}, 3: {40, 41}}},
		{"power (per machine)", "one value for all ranks of a machine", [4][]float64{{50}, {50}, {50}, {50}}},
		{"power (group odd ranks)", "one value for all ranks of group odd ranks", [4][]float64{1: {60}, 3: {60}}},
		{"power (group world)", "one value for all ranks of group world", [4][]float64{{70}, {70}, {70}, {70}}},
	}
	var names []string
	for _, m := range tr.Measures {
		names = append(names, m.Name)
	}
	if len(names) != len(want) {
		t.Fatalf("measures %q", names)
	}
	for _, tt := range want {
		m, ok := tr.MeasureNamed(tt.name)
		if !ok || m.Description != tt.note {
			t.Errorf("%s: %+v among %q", tt.name, m, names)
			continue
		}
		s, err := tr.Series(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		for r := range 4 {
			if !slices.Equal(s.Value[r], tt.values[r]) || !slices.IsSorted(s.Time[r]) {
				t.Errorf("%s of rank %d: %v at %v, want %v", tt.name, r, s.Value[r], s.Time[r], tt.values[r])
			}
		}
	}
}

// TestStacks: every region of a process, nested, also without communication.
func TestStacks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nested.otf2")
	p, err := mpiprog.New(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 2 {
		p.Enter(r, "solve")
		p.Compute(r, 50)
		p.Enter(r, "sweep")
		p.Compute(r, 200)
		p.Leave(r, "sweep")
		p.Leave(r, "solve")
	}
	p.Send(0, 1, mpiprog.World, 1)
	p.Recv(1, 0, mpiprog.World, 1)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	stacks, err := tr.Stacks(t.Context(), []int32{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range stacks[1].Region {
		names = append(names, tr.Regions[r].Name)
	}
	s := stacks[1]
	if !slices.Equal(names, []string{"main", "solve", "sweep", "MPI_Send"}) || !slices.Equal(s.Depth, []int32{0, 1, 2, 1}) || s.Deepest != 2 {
		t.Errorf("rank 0 was in %v at depths %v, at most %d", names, s.Depth, s.Deepest)
	}
	if s.Enter[2] != 1050 || s.Exit[2] != 1250 || s.Exit[1] != 1250 || s.Exit[0] < s.Exit[3] {
		t.Errorf("entered %v, left %v", s.Enter, s.Exit)
	}
}

func TestGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kinds.otf2")
	w, err := otf2.Create(path, otf2.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]trace.Group{
		"MPI_Isend": trace.GroupPointToPoint, "MPI_Waitall": trace.GroupWaiting, "MPI_Iallreduce": trace.GroupCollective, "MPI_Comm_split": trace.GroupMPI,
		"MPI_File_open": trace.GroupFiles, "!$omp parallel": trace.GroupThreads, "cudaMalloc": trace.GroupAccelerator, "solve": trace.GroupComputing, "TRACE BUFFER FLUSH": trace.GroupTracer,
	}
	paradigm := map[string]uint8{"!$omp parallel": 3, "cudaMalloc": 5, "solve": 2, "TRACE BUFFER FLUSH": 6}
	for name := range want {
		w.Region(otf2.RegionInfo{Name: name, Paradigm: paradigm[name]})
	}
	e := w.Location("thread", w.Process("rank", w.Node("host", "machine", otf2.None)))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range tr.Regions {
		if g, ok := want[r.Name]; ok && r.Group != g {
			t.Errorf("%s is %s, want %s", r.Name, trace.GroupNames[r.Group], trace.GroupNames[g])
		}
	}
}

// TestSites: a call whose context names a place in the source has that place.
func TestSites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sites.otf2")
	w, err := otf2.Create(path, otf2.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	send := w.Region(otf2.RegionInfo{Name: "MPI_Send", Paradigm: otf2.ParadigmMPI})
	here := w.Context(send, w.SourceLocation("heat.c", 42), otf2.None)
	nowhere := w.Context(send, otf2.None, otf2.None)
	e := w.Location("thread", w.Process("rank 0", w.Node("host", "machine", otf2.None)))
	w.CommLocations([]uint64{0})
	world := w.Comm("world", []uint64{0}, otf2.None)
	for i, context := range []uint32{here, nowhere} {
		at := uint64(100 * (i + 1))
		for _, ev := range []otf2.Event{
			{Kind: otf2.CallingEnter, Time: at}, {Kind: otf2.MPISend, Time: at + 1}, {Kind: otf2.CallingLeave, Time: at + 2},
		} {
			ev.F[0] = uint64(context)
			if ev.Kind == otf2.MPISend {
				ev.F = otf2.Event{}.F
				ev.F[1] = uint64(world)
			}
			if err := e.Write(&ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tr.Ops.Site, []int32{0, trace.None}) || tr.Sites[0] != (trace.Site{File: "heat.c", Line: 42}) {
		t.Errorf("sites %v of %v", tr.Ops.Site, tr.Sites)
	}
}
