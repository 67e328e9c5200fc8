package refset

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/locality/views"
	"github.com/isobath/isobath/internal/loops/tree"
)

// loops is which loop each record of a trace is in.
type loops struct {
	names []string // names[0] is no loop
	// places are where the loops are; places[0] is nowhere.
	places []refs.Place
	of     []uint32 // innermost loop of each record of the file
	kept   []uint32 // and of each that was chosen, as they are read
}

// noLoop names references outside of loops.
const noLoop = "(no loop)"

// findLoops finds the innermost loop of every record. The trace is read once
// more for it, and a record takes four bytes.
func (s *Set) findLoops(ctx context.Context, progress Progress) error {
	if s.path == "" || s.path == formats.Stdin {
		return wrong("--by loop: the trace is read twice; give it as a file")
	}
	file, err := tree.OpenFile(s.path, nil)
	if err != nil {
		return err
	}
	defer file.Close()
	if s.lines != nil {
		file.Locate = func(pc uint64) refs.Place {
			name, line, function := s.lines.Line(pc)
			return refs.Place{Function: function, File: name, Line: line}
		}
	}
	l := &loops{names: []string{noLoop}, places: []refs.Place{{}}}
	file.Visit = func(_ *refs.Ref, around []int) {
		n := uint32(0)
		if len(around) > 0 {
			n = uint32(around[0]) + 1
		}
		l.of = append(l.of, n)
	}
	if progress != nil {
		file.Progress = func(stage string, done uint64) { progress(stage, done) }
	}
	t, err := tree.Build(ctx, file.Input)
	if err != nil {
		return err
	}
	for i := range t.Loops {
		at := &t.Loops[i]
		l.names = append(l.names, loopName(at))
		l.places = append(l.places, refs.Place{Function: at.Function, File: at.File, Line: at.Line})
	}
	s.Notes = append(s.Notes, t.Notes...)
	if !t.Recorded {
		s.Notes = append(s.Notes, "loops are rebuilt from the instructions that made references: the way through the code was not recorded")
	}
	s.loops = l
	return nil
}

// loopName says where a loop is, and what it is called there.
func loopName(l *tree.Loop) string {
	name := fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line)
	if l.Line == 0 {
		name = l.Function
	} else if l.Function != "" {
		name += " " + l.Function
	}
	if l.Kind == tree.Recursion {
		name += " (recursion)"
	}
	return name
}

// Loops finds the innermost loop of every record of the trace; the set must have
// all of them. A set that was read needs another for it.
func (s *Set) Loops(ctx context.Context, progress Progress) (*views.Loops, error) {
	if err := s.findLoops(ctx, progress); err != nil {
		return nil, err
	}
	return &views.Loops{Of: s.loops.of, Names: s.loops.names, Places: s.loops.places}, nil
}

// keep notes the loop of a record that was chosen.
func (l *loops) keep(at uint64) {
	n := uint32(0)
	if at < uint64(len(l.of)) {
		n = l.of[at]
	}
	l.kept = append(l.kept, n)
}

// next numbers the loops of the chosen references in order, each call the next.
func (l *loops) next() func(*refs.Ref) uint32 {
	i := -1
	return func(*refs.Ref) uint32 {
		i++
		return l.kept[i]
	}
}
