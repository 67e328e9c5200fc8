package tree

import (
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// Of the block in which a recording ended only what its references reached has run: a
// loop behind that was not entered, and one that has begun has its turns so far.
func TestStoppedInABlock(t *testing.T) {
	text := "int run(int n)\n{\n\tfor (int k = 0; k < n; k++)\n\t\tb[k]++;\n\ta[0] = 1;\n\tdo\n\t\ta[n]++;\n\twhile (n-- > 0);\n}\n"
	at := func(pc uint64, line, column int, ending flow.Ending, loads bool) flow.Instruction {
		return flow.Instruction{PC: pc, Length: 4, Ending: ending, Loads: loads, Function: 0x1000, Home: "run", Column: column, Place: refs.Place{Function: "run", File: "a.c", Line: line}}
	}
	code := []flow.Instruction{
		at(0x1000, 4, 3, flow.Straight, true), at(0x1004, 3, 19, flow.Branch, false),
		at(0x1008, 5, 7, flow.Straight, true), at(0x100c, 7, 4, flow.Straight, true), at(0x1010, 8, 13, flow.Branch, false),
		at(0x1014, 9, 1, flow.Return, true),
	}
	ref := func(pc uint64, enters bool) refs.Ref {
		return refs.Ref{PC: pc, Addr: pc * 16, Size: 4, Thread: 1, Enters: enters}
	}
	for _, tt := range []struct {
		name   string
		blocks [][2]uint64
		refs   []refs.Ref
		turns  uint64 // of the do; 0 if it was not come to
	}{
		{"before the loop", [][2]uint64{{0x1008, 0x1014}}, []refs.Ref{ref(0x1008, true)}, 0},
		{"in its first turn", [][2]uint64{{0x1008, 0x1014}}, []refs.Ref{ref(0x1008, true), ref(0x100c, false)}, 1},
		{"in its second", [][2]uint64{{0x1008, 0x1014}, {0x100c, 0x1014}}, []refs.Ref{ref(0x1008, true), ref(0x100c, false), ref(0x100c, true)}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := flow.NewEncoder()
			enter := func(from, to uint64) {
				e.Enter(1, from)
				e.Reach(1, to)
			}
			way := []refs.Ref{ref(0x1000, true), ref(0x1000, true)}
			enter(0x1000, 0x1008)
			enter(0x1000, 0x1008)
			// Another thread goes round the second loop, so that it is known.
			for _, b := range [][2]uint64{{0x1008, 0x1014}, {0x100c, 0x1014}} {
				e.Enter(2, b[0])
				e.Reach(2, b[1])
			}
			e.Enter(2, 0x1014)
			e.Reach(2, 0x1018)
			for _, b := range tt.blocks {
				enter(b[0], b[1])
			}
			way = append(way, tt.refs...)
			trace := &flow.Trace{Code: code, Stopped: true}
			var err error
			if trace.Blocks, trace.Threads, err = e.Flow(); err != nil {
				t.Fatal(err)
			}
			got, err := Build(t.Context(), Input{Flow: trace, Source: func(string) []byte { return []byte(text) },
				Open: func() (refs.Reader, error) {
					return &kept{left: slices.Clone(way), about: &refs.About{Has: refs.HasPC}}, nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range got.Loops {
				switch l.Line {
				case 3:
					if !l.Exact || l.Trips.Trips != 2 || l.Entries != 1 {
						t.Errorf("line 3: %+v, want 2 turns", l)
					}
				case 6:
					// Two turns are those of the other thread.
					if l.Trips.Trips != 2+tt.turns || l.AtLeast != (tt.turns > 0) {
						t.Errorf("line 6: %+v, want %d turns", l, 2+tt.turns)
					}
				}
			}
		})
	}
}
