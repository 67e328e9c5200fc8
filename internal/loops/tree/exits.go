package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// takeExits gives exact loops the places where they were left.
func (b *build) takeExits() {
	for row := range b.members {
		if exits, known := b.knownExits(row); known {
			b.out.Loops[row].Exits = exits
		}
	}
}

// knownExits are the places where an exact loop was left. Where a statement became
// several loops at one place, leaving the first of them is no end of it; where copies of
// turns ran outside its code, nobody saw how those ended.
func (b *build) knownExits(row int) ([]Exit, bool) {
	l, groups := &b.out.Loops[row], b.members[row]
	st := b.groups[groups[0]].statement
	if !l.Exact || l.Factor > 1 || st < 0 || slices.ContainsFunc(groups, func(g int32) bool { return len(b.groups[g].machines) > 1 || b.twinned(&b.groups[g]) }) {
		return nil, false
	}
	exits, known := b.exitsOf(row, &b.statements[st])
	seen := uint64(0)
	for i := range exits {
		seen += exits[i].Times
	}
	// Entries without a turn may be decided by a test before the loop.
	if !known || seen > l.Entries || l.Entries-seen > l.Skipped {
		return nil, false
	}
	return withSkipped(exits, l.Entries-seen, &b.statements[st]), true
}

// exitsOf adds up where the loops of a row were left, by line; false if that cannot
// be told.
func (b *build) exitsOf(row int, st *statement) (all []Exit, known bool) {
	for _, g := range b.members[row] {
		for _, m := range b.groups[g].machines {
			for _, s := range b.exits[m] {
				e, ok := b.exitAt(s.to, st)
				if !ok {
					return nil, false
				}
				e.Times = s.times
				all = addExit(all, e)
			}
		}
	}
	return all, true
}

// exitAt is the exit that the end of a basic is. Code of a function that the
// condition calls has the place of that function; it is the condition where nothing
// else of the text leaves the loop.
func (b *build) exitAt(id int32, st *statement) (Exit, bool) {
	p, ok := b.forest.branch(id)
	condition := Exit{Line: position{st.file, st.cond.from}.line(), Condition: true}
	switch {
	case ok && p.file == st.file && !st.endless && st.head.covers(p):
		return condition, true
	case ok && p.file == st.file && st.whole().covers(p):
		return Exit{Line: p.line()}, true
	case st.shape.function != "" && !st.endless && len(st.leavings) == 0 && b.basics[id].ending != flow.Call:
		return condition, true
	}
	return Exit{}, false
}

func addExit(all []Exit, e Exit) []Exit {
	if e.Times == 0 {
		return all
	}
	i := slices.IndexFunc(all, func(o Exit) bool { return o.Line == e.Line && o.Condition == e.Condition })
	if i < 0 {
		return append(all, e)
	}
	all[i].Times += e.Times
	return all
}

// withSkipped adds entries that ended before their first turn: by the condition.
// The most frequent way out comes first.
func withSkipped(all []Exit, times uint64, st *statement) []Exit {
	all = addExit(all, Exit{Line: position{st.file, st.cond.from}.line(), Condition: true, Times: times})
	slices.SortFunc(all, func(x, y Exit) int {
		return cmp.Or(cmp.Compare(y.Times, x.Times), cmp.Compare(x.Line, y.Line))
	})
	return all
}

// ExitText says how a loop ends where that is not always by its condition; empty
// where it is, or where it is not known.
func (l *Loop) ExitText() string {
	var parts []string
	for _, e := range l.Exits {
		at := "by its condition"
		if !e.Condition {
			at = fmt.Sprintf("at line %d", e.Line)
		}
		parts = append(parts, term.Counted(e.Times, "time")+" "+at)
	}
	if !slices.ContainsFunc(l.Exits, func(e Exit) bool { return !e.Condition }) {
		return ""
	}
	return "left " + strings.Join(parts, ", ")
}
