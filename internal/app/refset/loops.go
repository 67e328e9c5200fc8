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
	of    []uint32 // innermost loop of each record of the file
	kept  []uint32 // and of each that was chosen, as they are read
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
	if progress != nil {
		file.Progress = func(stage string, done uint64) { progress(stage, done) }
	}
	found, t, err := FollowLoops(ctx, file)
	if err != nil {
		return err
	}
	s.Notes = append(s.Notes, t.Notes...)
	if !t.Recorded {
		s.Notes = append(s.Notes, "loops are rebuilt from the instructions that made references: the way through the code was not recorded")
	}
	s.loops = &loops{names: found.Names, of: found.Of}
	return nil
}

// FollowLoops finds the innermost loop of every record of a trace.
func FollowLoops(ctx context.Context, file *tree.File) (*views.Loops, *tree.Tree, error) {
	l := &views.Loops{Names: []string{noLoop}, Places: []refs.Place{{}}}
	file.Visit = func(_ *refs.Ref, around []int) {
		n := uint32(0)
		if len(around) > 0 {
			n = uint32(around[0]) + 1
		}
		l.Of = append(l.Of, n)
	}
	t, err := tree.Build(ctx, file.Input)
	if err != nil {
		return nil, nil, err
	}
	for i := range t.Loops {
		at := &t.Loops[i]
		l.Names = append(l.Names, loopName(at))
		l.Places = append(l.Places, refs.Place{Function: at.Function, File: at.File, Line: at.Line})
	}
	return l, t, nil
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
