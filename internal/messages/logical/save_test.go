package logical

import (
	"context"
	"math/rand/v2"
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

// TestSave: a saved trace is read by us and by otf2-print, has the same
// structure, and carries it in attributes.
func TestSave(t *testing.T) {
	s := simulate(t, 5, Default(), func(p *mpiprog.Program) { random(p, rand.New(rand.NewPCG(2, 2)), 300) })
	checkSaved(t, s)
}

func TestSaveShared(t *testing.T) {
	for _, name := range []string{"halo16_skew", "commtag8", "thirdparty/sst-elements-emberotf2", "lulesh8"} {
		t.Run(name, func(t *testing.T) { checkSaved(t, analyze(t, openShared(t, name), Default())) })
	}
}

func checkSaved(t *testing.T, s *Structure) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.otf2")
	if err := s.Save(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	again := analyze(t, tr, s.Options)
	if !slices.Equal(again.Part, s.Part) || !slices.Equal(again.Step, s.Step) || !slices.Equal(again.GlobalLate, s.GlobalLate) || tr.Events != s.Trace.Events {
		t.Error("the saved trace has another structure")
	}
	steps := savedSteps(t, path)
	if want := s.Len(); len(steps) < want/2 {
		t.Errorf("%d calls carry a step, %d operations", len(steps), want)
	}
	for _, st := range steps {
		if st < 0 || st >= int64(s.Steps) {
			t.Errorf("step %d of %d", st, s.Steps)
		}
	}
	if out, err := exec.Command(test.Peer(t, "otf2-print", "otf2-tools"), "--silent", path).CombinedOutput(); err != nil || strings.Contains(string(out), "error") {
		t.Errorf("otf2-print: %v\n%s", err, out)
	}
}

func savedSteps(t *testing.T, path string) []int64 {
	t.Helper()
	a, err := otf2.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if w := a.Warnings.List(); len(w) > 0 {
		t.Errorf("warnings: %v", w)
	}
	var steps []int64
	for _, l := range a.Defs.Locations {
		r, err := a.Events(l.ID)
		if err != nil {
			t.Fatal(err)
		}
		var ev otf2.Event
		for r.Next(&ev) {
			for _, v := range ev.Attributes {
				if a.Defs.Text(a.Defs.Attributes[v.ID].Name) == "isobath::step" {
					steps = append(steps, int64(v.Bits))
				}
			}
		}
	}
	return steps
}

// TestSaveSameTick: calls and their halves that share a time keep their own
// steps. Two ranks shift in a ring and leave everything in one tick.
func TestSaveSameTick(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tick.otf2")
	w, err := otf2.Create(path, otf2.WriterOptions{Length: 1000})
	if err != nil {
		t.Fatal(err)
	}
	host := w.Node("host", "machine", otf2.None)
	main := uint64(w.Region(otf2.RegionInfo{Name: "main"}))
	shift := uint64(w.Region(otf2.RegionInfo{Name: "MPI_Sendrecv", Paradigm: otf2.ParadigmMPI}))
	for r := range uint64(2) {
		e := w.Location("thread", w.Process("rank", host))
		for _, ev := range []otf2.Event{
			{Kind: otf2.Enter, Time: 1, F: [6]uint64{main}},
			{Kind: otf2.Enter, Time: 5, F: [6]uint64{shift}},
			{Kind: otf2.MPISend, Time: 5, F: [6]uint64{1 - r, 0, 0, 8}},
			{Kind: otf2.MPIRecv, Time: 5, F: [6]uint64{1 - r, 0, 0, 8}},
			{Kind: otf2.Leave, Time: 5, F: [6]uint64{shift}},
			{Kind: otf2.Leave, Time: 5, F: [6]uint64{main}},
		} {
			if err := e.Write(&ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.CommLocations([]uint64{0, 1})
	w.Comm("world", []uint64{0, 1}, otf2.None)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.otf2")
	if err := analyze(t, tr, Default()).Save(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if steps := savedSteps(t, out); !slices.Equal(steps, []int64{1, 1}) {
		t.Errorf("steps %v, want that of the receive on each rank and none on main", steps)
	}
}
