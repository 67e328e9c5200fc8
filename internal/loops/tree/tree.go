// Package tree counts the loops of a recorded program: how often each is
// entered, how many turns it makes, and what its references do to memory.
//
// The way a thread took through the code is walked twice. The first walk finds
// which basic goes to which, and from that the loops of each function: strongly
// connected parts with a header, then those inside them. The second walk counts
// what was entered and turned, with the calls under way. Nothing is estimated
// unless a loop says so.
package tree

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// Kind is what goes round.
type Kind string

// The kinds.
const (
	Plain     Kind = "loop"
	Recursion Kind = "recursion" // calls of a function by itself
)

// Loop is one loop of a function, over all paths of calls that lead to it.
type Loop struct {
	Kind     Kind
	Function string // as written; what was inlined keeps its name
	Home     string // the function of the code it became part of
	File     string
	Line     int
	Text     string
	Head     uint64 // where its code, or that of its first version, is entered; 0 if none went round
	Around   bool   // it makes no references and is not found in the text: File, Line and Head are those of the loop inside it
	Depth    int    // loops around it on the path with the most references
	Parent   int    // index of the loop around it there; -1 if none
	Trips
	// Exact says that entries and trips are those of the statement. Why says why
	// not.
	Exact bool
	Why   string
	// AtLeast says that all entries and trips were counted until the recording ended,
	// while the loop was under way: there may be more.
	AtLeast bool
	// Irreducible loops are entered at more than one place. Factor is how many
	// turns of the statement one turn of the code makes at most; 1 is plain.
	Irreducible bool
	Factor      int
	Versions    int // loops of the code that the statement became
	// References and what follows include those of inner loops and calls.
	References, Loads, Stores, Modifies, Bytes uint64
	Lines                                      uint64 // distinct lines of 64 bytes
	LinesExact                                 bool
	Objects                                    []Object
	Accesses                                   []Access // of its own, without inner loops
	Own                                        uint64   // references of its own
	// Course is the turns of entries in the order they came, one in CourseEvery;
	// nil where the code does not tell them.
	Course      []uint64
	CourseEvery uint64
	// Exits are the ways that entries ended; nil where that is not known for
	// certain.
	Exits []Exit
}

// Exit is a place where a loop is left.
type Exit struct {
	Line int
	// Condition says that it is the loop's own: else it is a break, a return, a
	// jump, or a call that did not come back.
	Condition bool
	Times     uint64
}

// Tree is what was found.
type Tree struct {
	Loops []Loop // in order of first appearance, outer before inner
	Nodes []Node
	// Recorded says that the way through the code was recorded; else it was
	// rebuilt from the instructions that made references.
	Recorded bool
	// Stopped says that the recording ended before the program left its region.
	Stopped    bool
	References uint64
	Outside    uint64 // references in no loop
	Lost       uint64 // references that the recorded way does not explain
	Notes      []string

	byPC map[uint64]int // the loop of each instruction; made when asked
}

// Node is a loop on one path of calls.
type Node struct {
	Loop   int // index into Loops
	Parent int // index into Nodes; -1 if none
	Path   []string
	Trips
	References, Bytes uint64
}

// Input is what a tree is built from.
type Input struct {
	// Flow is the recorded way; nil rebuilds it from the references.
	Flow *flow.Trace
	// Open starts the references from the beginning; they may be read twice.
	Open func() (refs.Reader, error)
	// Source returns the text of a source file as references name it; nil if
	// there is none.
	Source func(file string) []byte
	// Locate names the source of an instruction where references do not; nil if
	// the program is not known.
	Locate   func(pc uint64) refs.Place
	Progress func(stage string, done uint64)
	// Visit, if set, is given each reference with the loops around it, innermost
	// first: indices into Loops of the tree to come.
	Visit func(r *refs.Ref, around []int)
}

// readOnce remembers the text that was read last: many loops in turn are of one file.
func readOnce(read func(name string) []byte) func(name string) []byte {
	var last string
	var text []byte
	return func(name string) []byte {
		if name != last {
			last, text = name, read(name)
		}
		return text
	}
}

// Build finds and counts the loops.
func Build(ctx context.Context, in Input) (*Tree, error) {
	b := &build{Input: in}
	if b.Progress == nil {
		b.Progress = func(string, uint64) {}
	}
	if b.Source == nil {
		b.Source = func(string) []byte { return nil }
	}
	b.Source = readOnce(b.Source)
	if in.Flow == nil {
		if err := b.rebuild(ctx); err != nil {
			return nil, err
		}
		defer b.Flow.Close()
	}
	c := newCode(b.Flow, in.Flow == nil)
	f := newForest(c)
	if err := b.firstWalk(ctx, f); err != nil {
		return nil, err
	}
	f.find()
	f.match(b.Source)
	b.walker = newWalker(f, b.Flow)
	b.number()
	if err := b.infer(ctx, f); err != nil {
		return nil, err
	}
	if err := b.secondWalk(ctx); err != nil {
		return nil, err
	}
	return b.tree(), nil
}

type build struct {
	Input
	*walker
	out        Tree
	rowOf      []int     // by group
	members    [][]int32 // the groups of each row
	rowsAround [][]int   // of each node, innermost first; made when asked
	about      *refs.About
	rebuilt    bool
	// entriesSure says of each row whether its entries are certain, even if its
	// turns are not; turnsSure the other way round.
	entriesSure, turnsSure []bool
	// strayed are rows of which code ran at a place that has no loop of it.
	strayed []bool
	// unsupported are the numbers of each row that nothing speaks for.
	unsupported []Unknown
	// proven are the rows whose counts the text tells, where that matters.
	proven    map[int]bool
	prover    *prover       // nil where the text proves nothing
	recursive map[int32]int // rows of functions that call themselves
	// steppers are the instructions of a trace without control flow; inferred are
	// the rows of loops that have others around them which make no references.
	steppers map[spot]*stepper
	inferred map[int]*inferred
}

// checkEvery is how many blocks pass between looks at the context.
const checkEvery = 1 << 18

func (b *build) firstWalk(ctx context.Context, f *forest) error {
	return b.eachBasic(ctx, f, "blocks", func(uint32) func(v int32) {
		s := &stack{code: f.code, visit: f}
		return s.enter
	})
}

// eachBasic goes the way of every thread: begin is told the thread and gives what
// is told its basics in order. The stage is what progress is told.
func (b *build) eachBasic(ctx context.Context, f *forest, stage string, begin func(thread uint32) func(v int32)) error {
	done := uint64(0)
	for i := range b.Flow.Threads {
		t := &b.Flow.Threads[i]
		enter := begin(t.ID)
		c := t.Cursor(len(b.Flow.Blocks))
		// Of a thread that was cut only events are sure: what came as expected
		// after the last one goes where blocks went before.
		left := t.Length()
		for ; left > 0; left-- {
			block, ok := c.Next()
			if !ok {
				break
			}
			for v := f.of[block][0]; v < f.of[block][1]; v++ {
				enter(v)
			}
			if done++; done%checkEvery == 0 {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				b.Progress(stage, done)
			}
		}
	}
	return nil
}

func (b *build) secondWalk(ctx context.Context) error {
	src, err := b.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	err = refs.Each(src, func(batch []refs.Ref) error {
		for i := range batch {
			r := &batch[i]
			if b.rebuilt {
				r.Enters = true
			}
			n, t := b.place(r)
			b.nodes[n].cost.add(r, t)
			if b.Visit != nil {
				b.Visit(r, b.around(n))
			}
		}
		b.out.References += uint64(len(batch))
		b.Progress("references", b.out.References)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	b.about = src.About()
	return b.finish(ctx)
}

// around are the rows of the loops around a node, innermost first, each once.
func (b *build) around(n int32) []int {
	for len(b.rowsAround) <= int(n) {
		b.rowsAround = append(b.rowsAround, nil)
	}
	if b.rowsAround[n] == nil {
		rows := []int{}
		for at := n; at > 0; at = b.nodes[at].parent {
			if g := b.nodes[at].group; g >= 0 && !slices.Contains(rows, b.rowOf[g]) {
				rows = append(append(rows, b.rowOf[g]), b.outward(b.rowOf[g])...)
			}
		}
		b.rowsAround[n] = rows
	}
	return b.rowsAround[n]
}

// number gives every statement a row; loops of the code that no statement is
// known of have each their own.
func (b *build) number() {
	rows := map[int32]int{}
	n := 0
	for g := range b.groups {
		st := b.groups[g].statement
		row, ok := rows[st]
		if !ok || st < 0 {
			row = n
			n++
			if st >= 0 {
				rows[st] = row
			}
		}
		b.rowOf = append(b.rowOf, row)
	}
	b.members = make([][]int32, n)
	for g, row := range b.rowOf {
		b.members[row] = append(b.members[row], int32(g))
	}
}

// errNoCode says that loops cannot be told from addresses alone.
var errNoCode = errors.New("the trace has no instruction addresses, so loops cannot be told apart; record it with 'isobath record --refs'")

// rebuild makes a way through the code of the instructions that made
// references: each is a block of its own.
func (b *build) rebuild(ctx context.Context) error {
	src, err := b.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	about := src.About()
	if about.Has&refs.HasPC == 0 {
		return errNoCode
	}
	e := flow.NewEncoder()
	places := map[uint64]uint32{}
	b.steppers = map[spot]*stepper{}
	n := uint64(0)
	err = refs.Each(src, func(batch []refs.Ref) error {
		for i := range batch {
			r := &batch[i]
			b.follow(r, places)
			e.Enter(r.Thread, r.PC)
			e.Reach(r.Thread, r.PC+1)
		}
		n += uint64(len(batch))
		b.Progress("instructions", n)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	b.rebuilt = true
	b.Flow = &flow.Trace{}
	if b.Flow.Blocks, b.Flow.Threads, err = e.Flow(); err != nil {
		return err
	}
	names := map[string]uint64{}
	for pc, id := range places {
		in := flow.Instruction{PC: pc, Length: 1}
		if int(id) < len(about.Places) {
			in.Place = about.Places[id]
		}
		if in.Place == (refs.Place{}) && b.Locate != nil {
			in.Place = b.Locate(pc)
		}
		in.Home = in.Place.Function
		if in.Home != "" {
			if names[in.Home] == 0 {
				names[in.Home] = uint64(len(names)) + 1
			}
			in.Function = names[in.Home]
		}
		b.Flow.Code = append(b.Flow.Code, in)
	}
	slices.SortFunc(b.Flow.Code, func(x, y flow.Instruction) int { return cmp.Compare(x.PC, y.PC) })
	return nil
}
