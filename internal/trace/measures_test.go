package trace_test

import (
	"path/filepath"
	"slices"
	"testing"

	"isobath/internal/formats/otf2"
	"isobath/internal/test/mpiprog"
	"isobath/internal/trace"
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
