package refset

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/locality/views"
	"github.com/isobath/isobath/internal/loops/tree"
)

// loops is which loop each record of a trace is in.
type loops struct {
	names []string // names[0] is no loop
	of    loopRuns // innermost loop of each record of the file
	kept  []uint32 // and of those that were chosen of the batch being read
	taken int      // how many of kept were asked for
	all   []uint32 // of all that were chosen, where the trace is kept too
}

// loopRuns is a list of numbers that stay the same for many in a row: a trace
// stays in a loop. Each run is two numbers of variable length, the loop and how
// many records, so that a record takes a part of a byte and not four.
type loopRuns struct {
	bytes      []byte
	loop, left uint64 // of the run being made or read
	read       int    // bytes of it read
}

func (r *loopRuns) add(loop uint64) {
	if loop != r.loop {
		r.end()
		r.loop = loop
	}
	r.left++
}

// end ends the run being made.
func (r *loopRuns) end() {
	if r.left > 0 {
		r.bytes = binary.AppendUvarint(binary.AppendUvarint(r.bytes, r.loop), r.left)
		r.left = 0
	}
}

// next is the loop of the next record; of none beyond the last.
func (r *loopRuns) next() uint32 {
	if r.left == 0 {
		if r.read == len(r.bytes) {
			return 0
		}
		for _, to := range []*uint64{&r.loop, &r.left} {
			v, n := binary.Uvarint(r.bytes[r.read:])
			*to, r.read = v, r.read+n
		}
	}
	r.left--
	return uint32(r.loop)
}

// noLoop names references outside of loops.
const noLoop = "(no loop)"

// findLoops finds the innermost loop of every record. The trace is read once
// more for it. What it keeps is claimed from the budget of the context until
// release.
func (s *Set) findLoops(ctx context.Context, progress Progress) (release func(), err error) {
	file, err := s.openTree()
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, wrong("--by loop: the trace is read twice; give it as a file")
	}
	defer file.Close()
	if progress != nil {
		file.Progress = func(stage string, done uint64) { progress(stage, done) }
	}
	claim, err := budget.Take(ctx, "the loops of the references need", 0)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var of loopRuns
	claimed := 0
	found, t, err := FollowLoops(ctx, file, func(around []int) {
		if of.add(uint64(innermost(around))); cap(of.bytes) > claimed {
			if err := claim.Grow(int64(cap(of.bytes) - claimed)); err != nil {
				cancel(fmt.Errorf("%w, such as a --range", err))
			}
			claimed = cap(of.bytes)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		claim.Release()
		return nil, err
	}
	of.end()
	s.Notes = append(s.Notes, t.Notes...)
	if !t.Recorded {
		s.Notes = append(s.Notes, "loops are rebuilt from the instructions that made references: the way through the code was not recorded")
	}
	s.loops = &loops{names: found.Names, of: of}
	return claim.Release, nil
}

// openTree opens the trace once more for its loops; nil for one that can be read
// once only.
func (s *Set) openTree() (*tree.File, error) {
	if s.again != nil {
		return s.again()
	}
	if s.path == "" || s.path == formats.Stdin {
		return nil, nil
	}
	file, err := tree.OpenFile(s.path)
	if err == nil && s.lines != nil {
		file.OfProgram(s.lines)
	}
	return file, err
}

// loopTree is the loops of the trace, for their names; nil where the way through
// the code was not recorded, or cannot be read.
func (s *Set) loopTree(ctx context.Context) *tree.Tree {
	file, err := s.openTree()
	if err != nil || file == nil {
		return nil
	}
	defer file.Close()
	if file.Flow == nil {
		return nil
	}
	t, err := tree.Build(ctx, file.Input)
	if err != nil {
		return nil
	}
	return t
}

// FollowLoops finds the loops of a trace, and tells those around every record in
// order, innermost first; the list is good until the next one.
func FollowLoops(ctx context.Context, file *tree.File, each func(around []int)) (*views.Loops, *tree.Tree, error) {
	l := &views.Loops{Names: []string{noLoop}, Places: []refs.Place{{}}}
	file.Visit = func(_ *refs.Ref, around []int) { each(around) }
	t, err := tree.Build(ctx, file.Input)
	if err != nil {
		return nil, nil, err
	}
	l.Names = append(l.Names, LoopNames(t)...)
	for i := range t.Loops {
		at := &t.Loops[i]
		l.Places = append(l.Places, refs.Place{Function: at.Function, File: at.File, Line: at.Line})
	}
	return l, t, nil
}

// innermost numbers the innermost of the loops around a record; 0 is none.
func innermost(around []int) uint32 {
	if len(around) == 0 {
		return 0
	}
	return uint32(around[0]) + 1
}

// LoopNames names the loops of a tree, no two alike: a compiler makes several of
// one loop of the text.
func LoopNames(t *tree.Tree) []string {
	names := make([]string, len(t.Loops))
	times := map[string]int{}
	for i := range t.Loops {
		names[i] = loopName(&t.Loops[i])
		times[names[i]]++
		if n := times[names[i]]; n > 1 {
			names[i] = fmt.Sprintf("%s (%d)", names[i], n)
		}
	}
	return names
}

// loopName says where a loop is, and what it is called there.
func loopName(l *tree.Loop) string {
	name := l.Where()
	if l.Line > 0 && l.Function != "" {
		name += " " + l.Function
	}
	if l.Kind == tree.Recursion {
		name += " (recursion)"
	}
	return name
}

// begin forgets the batch before.
func (l *loops) begin() { l.kept, l.taken = l.kept[:0], 0 }

// keep takes the loop of the next record, which was chosen or not.
func (l *loops) keep(chosen bool) {
	if n := l.of.next(); chosen {
		l.kept = append(l.kept, n)
	}
}

// next numbers the loops of the chosen references in order, each call the next.
func (l *loops) next(*refs.Ref) uint32 {
	l.taken++
	return l.kept[l.taken-1]
}
