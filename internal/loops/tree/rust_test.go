package tree

import (
	"fmt"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

func TestRustLoops(t *testing.T) {
	text := `impl<'a> Tree<'a> for Node<'a> { // for x in y {
fn run(v: &'a mut [f64], n: usize) -> char {
	'outer: for (i, x) in v.iter_mut().enumerate() {
		while let Some(q) = next(|k| { k + 1 }) {
			if q == '{' { continue 'outer; }
		}
		let r#loop = "for i in 0..n {";
	}
	loop {
		for j in (0..n).rev() { v[j] += 1.0; }
		break;
	}
	let for_each = v.iter().for_each(|x| { *x; });
	'}'
}
}
`
	var got []string
	for _, st := range rustLoops("a.rs", []byte(text)) {
		got = append(got, fmt.Sprintf("%d-%d %v %s", st.at>>columnBits, (st.body.to-1)>>columnBits, st.endless, st.text))
	}
	want := []string{
		"3-8 false 'outer: for (i, x) in v.iter_mut().enumerate() {",
		"4-6 false while let Some(q) = next(|k| { k + 1 }) {",
		"9-12 true loop {",
		"10-10 false for j in (0..n).rev() { v[j] += 1.0; }",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// A call in the head of a Rust loop is followed by a jump without optimisation, which
// is part of the head too: the last time, when nothing comes, is no turn. Where code
// of the head is not known as such, its turns are told with ≈.
func TestRustHeads(t *testing.T) {
	text := "fn run(v: &[u32]) {\n\tfor x in v.iter() {\n\t\tf(x);\n\t}\n}\n"
	for _, tt := range []struct {
		name, file string
		exact      bool
	}{{"head", "a.rs", true}, {"elsewhere", "core.rs", false}} {
		t.Run(tt.name, func(t *testing.T) {
			at := func(pc, function uint64, line, column int, ending flow.Ending) flow.Instruction {
				return flow.Instruction{PC: pc, Length: 4, Ending: ending, Function: function, Home: "run", Column: column, Place: refs.Place{Function: "run", File: "a.rs", Line: line}}
			}
			trace := &flow.Trace{Code: []flow.Instruction{
				at(0x1000, 0x1000, 1, 1, flow.Straight),
				at(0x1004, 0x1000, 2, 11, flow.Call), // next
				at(0x1008, 0x1000, 2, 11, flow.Jump),
				at(0x100c, 0x1000, 2, 11, flow.Branch),
				at(0x1010, 0x1000, 3, 3, flow.Call), // f
				at(0x1014, 0x1000, 2, 2, flow.Jump),
				at(0x1018, 0x1000, 5, 2, flow.Return),
				{PC: 0x2000, Length: 4, Ending: flow.Return, Function: 0x2000, Home: "next"},
				{PC: 0x3000, Length: 4, Ending: flow.Return, Function: 0x3000, Home: "f"},
			}}
			trace.Code[2].Place.File = tt.file
			e := flow.NewEncoder()
			enter := func(starts ...uint64) {
				for _, pc := range starts {
					e.Enter(1, pc)
					e.Reach(1, pc+4)
				}
			}
			enter(0x1000)
			for range 3 {
				enter(0x1004, 0x2000, 0x1008, 0x100c, 0x1010, 0x3000, 0x1014)
			}
			enter(0x1004, 0x2000, 0x1008, 0x100c, 0x1018)
			var err error
			if trace.Blocks, trace.Threads, err = e.Flow(); err != nil {
				t.Fatal(err)
			}
			got, err := Build(t.Context(), Input{Flow: trace, Source: func(string) []byte { return []byte(text) },
				Open: func() (refs.Reader, error) { return &kept{about: &refs.About{Has: refs.HasPC}}, nil }})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Loops) != 1 || got.Loops[0].Entries != 1 || got.Loops[0].Exact != tt.exact || tt.exact && got.Loops[0].Trips.Trips != 3 {
				t.Errorf("%+v, want 3 turns, exact %v", got.Loops, tt.exact)
			}
		})
	}
}

// Of a loop around a while that the compiler worked on twice a turn, each with a test of
// the while and with code of its own that was inlined, nothing is left but those: it is
// neither of the two for certain.
func TestRustLoopAroundItsTests(t *testing.T) {
	text := "fn run(n: i32) {\n\tfor x in 0..n {\n\t\twhile y > 0 {\n\t\t\tc[x] += 2;\n\t\t}\n\t}\n}\n"
	at := func(pc uint64, line, column int, ending flow.Ending) flow.Instruction {
		return flow.Instruction{PC: pc, Length: 4, Ending: ending, Function: 0x1000, Home: "run", Column: column, Place: refs.Place{Function: "run", File: "a.rs", Line: line}}
	}
	next := flow.Instruction{PC: 0x1014, Length: 4, Ending: flow.Branch, Function: 0x1000, Home: "run", Column: 5,
		Place: refs.Place{Function: "next", File: "core.rs", Line: 7}, Calls: []flow.Site{{File: "a.rs", Line: 2, Column: 11}}}
	trace := &flow.Trace{Code: []flow.Instruction{
		at(0x1000, 1, 1, flow.Jump),
		at(0x1004, 3, 9, flow.Branch), at(0x1008, 4, 4, flow.Straight),
		at(0x100c, 3, 9, flow.Branch), at(0x1010, 4, 4, flow.Straight),
		next, at(0x1018, 7, 2, flow.Return),
	}}
	e := flow.NewEncoder()
	enter := func(starts ...uint64) {
		for _, pc := range starts {
			e.Enter(1, pc)
			e.Reach(1, pc+4)
		}
	}
	enter(0x1000)
	for range 3 {
		enter(0x1004, 0x1008, 0x100c, 0x1010, 0x1014)
	}
	enter(0x1018)
	var err error
	if trace.Blocks, trace.Threads, err = e.Flow(); err != nil {
		t.Fatal(err)
	}
	got, err := Build(t.Context(), Input{Flow: trace, Source: func(string) []byte { return []byte(text) },
		Open: func() (refs.Reader, error) { return &kept{about: &refs.About{Has: refs.HasPC}}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range got.Loops {
		if l.Exact {
			t.Errorf("line %d: %d turns in %d entries are shown as exact", l.Line, l.Trips.Trips, l.Entries)
		}
	}
}
