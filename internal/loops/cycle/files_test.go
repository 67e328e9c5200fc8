package cycle

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
)

// threeLoops makes references of three loops inside each other, two ways through the
// innermost one, and a start without instructions.
type threeLoops struct{ at, n int }

func (r *threeLoops) About() *refs.About { return &refs.About{Has: refs.HasPC} }

func (r *threeLoops) Read(dst []refs.Ref) (int, error) {
	for i := range dst {
		if r.at == r.n {
			return i, io.EOF
		}
		k := r.at
		r.at++
		pc := 0x400000 + 4*uint64(k%6)
		switch {
		case k < 100:
			pc = 0
		case k%600 < 6:
			pc += 0x1000
		case k/6%7 == 3:
			pc += 0x2000
		}
		dst[i] = refs.Ref{PC: pc, Addr: 0x10000 + 8*uint64(k%6000), Size: 8}
	}
	return len(dst), nil
}

// What a trace in files tells is what it tells in memory. It has more references
// than are looked at in one part.
func TestFilesChangeNothing(t *testing.T) {
	test.NoRaces(t, "TestLoadIntoFilesIsCancelled has the files, the others the loops")
	const records = 2*partLength + 12345
	for _, symbol := range []Symbol{PC, CacheLine} {
		if testing.Short() && symbol == PC { // which are fewer
			continue
		}
		t.Run(symbol.String(), func(t *testing.T) {
			type found struct {
				Bars      []Bar
				Classes   []*Class
				Groups    []Group
				Notes     []string
				Pre, Post int
				Folds     []Fold
				Folded    int
				Window    int
				Index     []uint32
				Where     []uint32
			}
			look := func(files *Files, o Options) *found {
				traces, err := Load(t.Context(), &threeLoops{n: records}, Input{Symbol: symbol, Files: files})
				if err != nil {
					t.Fatal(err)
				}
				if len(traces) != 1 || len(traces[0].Syms) != records || len(traces[0].Where) != records {
					t.Fatalf("%d traces of %d and %d records", len(traces), len(traces[0].Syms), len(traces[0].Where))
				}
				res, err := Analyse(t.Context(), traces[0], o)
				if err != nil {
					t.Fatal(err)
				}
				folded, folds, err := FoldLoops(t.Context(), traces[0], res.Points.Window, 4)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range res.Classes {
					c.f, c.steps = nil, nil
				}
				return &found{res.Bars, res.Classes, res.Groups, res.Notes, res.Preamble, res.Postamble, folds, len(folded.Syms), res.Points.Window,
					append([]uint32{}, res.Points.Index...), append([]uint32{}, traces[0].Where...)}
			}
			for _, o := range []Options{{}, {Landmarks: 40}} {
				if symbol == CacheLine && o.Landmarks > 0 {
					continue // nothing is near anything
				}
				want := look(nil, o)
				files := &Files{}
				got := look(files, o)
				if len(files.spills) == 0 {
					t.Error("nothing went to files")
				}
				if err := files.Close(); err != nil {
					t.Error(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%+v:\nin files  %d classes, notes %q, folds %+v\nin memory %d classes, notes %q, folds %+v", o, len(got.Classes), got.Notes, got.Folds, len(want.Classes), want.Notes, want.Folds)
				}
				if len(want.Classes) == 0 && len(want.Folds) == 0 {
					t.Error("nothing was found to compare")
				}
			}
		})
	}
}

// A trace in which nothing recurs is refused as soon as its points are too many, not
// after all of them were numbered.
func TestManyPointsAreRefusedEarly(t *testing.T) {
	tr := &Trace{Syms: make([]uint32, 3_000_000)}
	for i := range tr.Syms {
		tr.Syms[i] = uint32(i)
	}
	_, err := Analyse(t.Context(), tr, Options{Memory: 1 << 20, Window: 10})
	var many *TooManyError
	if !errors.As(err, &many) || !many.More || many.Points > 2000 || !strings.Contains(err.Error(), "more than") || !strings.Contains(err.Error(), "--every") {
		t.Fatalf("three million different windows in a megabyte: %v", err)
	}
	if fits := matrixBytes(many.Points, 2); fits > 1<<20 || matrixBytes(many.Points+1, 2) <= 1<<20 {
		t.Errorf("%d points are the most, which take %d of %d bytes", many.Points, fits, 1<<20)
	}
	// As many as fit are not too many.
	tr.Syms = tr.Syms[:many.Points+9]
	if _, err = Analyse(t.Context(), tr, Options{Memory: 1 << 20, Window: 10}); errors.As(err, &many) {
		t.Errorf("%d windows: %v", many.Points, err)
	}
}

func TestLoadIntoFilesIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	files := &Files{}
	defer files.Close()
	_, err := Load(ctx, &threeLoops{n: 1 << 30}, Input{Files: files, Progress: func(n uint64) {
		if n > partLength {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
