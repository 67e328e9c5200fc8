// Package flow keeps the way a program took through its code: the blocks it
// entered, in order, thread by thread. References say what was touched; the flow
// says how often the code around them ran, also where it touched nothing.
//
// A block is a stretch of code that ends with a jump, a call or a return. After
// each block the one that followed it last time is expected. Only what was not
// expected is an event: how many blocks came as expected before it, and which
// one came instead. A loop of a thousand turns is two events.
package flow

import (
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/table"
)

// Ending says what runs after an instruction.
type Ending uint8

// The endings. All but Straight end a block.
const (
	Straight Ending = iota
	Call
	Return
	Jump
	Branch
)

var endingNames = []string{"straight", "call", "return", "jump", "branch"}

func (e Ending) String() string { return endingNames[min(int(e), len(endingNames)-1)] }

// Event is a block that was not expected.
type Event struct {
	Expected uint32 // blocks that came as expected before it
	Block    uint32 // index into Trace.Blocks; None ends a thread
}

// None is the block of the event that ends a thread.
const None = ^uint32(0)

// Thread is the way of one thread.
type Thread struct {
	ID     uint32
	Events []Event
	spill  *table.Spill // keeps the events; nil where they are in memory
}

// Instruction is one instruction of the code that ran.
type Instruction struct {
	PC     uint64
	Length uint8
	Ending Ending
	// Loads and Stores say that it reads or writes memory; a call's own push of
	// its return address does not count.
	Loads, Stores bool
	// Unhooked says that it reads or writes memory without a compiler hook, as
	// code does with variables on the stack: no reference tells of it.
	Unhooked bool
	// Function is where the function begins that the code is part of after
	// inlining; 0 if it is not known.
	Function uint64
	// Place is the source position; its function may be one that was inlined.
	Place  refs.Place
	Column int // in the line; 0 if unknown
	// Element is the size of what a vector instruction works on side by side; 0 for
	// all others, Wide for a move of a whole vector.
	Element uint8
	// Home is the name of the function that was not inlined.
	Home string
	// Calls are where the functions that it was inlined from are called, innermost
	// first.
	Calls []Site
}

// Site is a position in a source file.
type Site struct {
	File         string
	Line, Column int
}

// Wide is the element of moves that do not say what they move.
const Wide = 0xff

// Mark is where in the code a statement of the source begins. Compilers keep
// marks where they copy code.
type Mark struct {
	PC     uint64
	File   string
	Line   int
	Column int
}

// Trace is the flow of a recording. Addresses are those of the references.
type Trace struct {
	Blocks  []refs.Range
	Code    []Instruction // in order of address, each once
	Marks   []Mark        // in order of address
	Threads []Thread
	// Hooked says that the code that ran has compiler hooks.
	Hooked bool
	// Stopped says that the recording ended before the program left the region: at
	// its limit, or because a signal ended the program.
	Stopped bool
}

// Encoder makes events of the blocks that threads enter.
type Encoder struct {
	numbers *refs.Memo
	blocks  []refs.Range
	threads map[uint32]*encoding
	log     Log
	// last is the thread that entered a block last.
	last   *encoding
	lastID uint32
}

// encoding is the state of one thread.
type encoding struct {
	at       uint32
	expected uint32
	next     []uint32 // by block: the one that followed it last, plus one
}

// NewEncoder returns an encoder without threads.
func NewEncoder() *Encoder {
	return &Encoder{numbers: refs.NewMemo(), threads: map[uint32]*encoding{}}
}

// MaxBlocks bounds the different blocks of a trace.
const MaxBlocks = 1 << 24

// Enter notes that a thread enters the block that begins at an address.
func (e *Encoder) Enter(thread uint32, start uint64) {
	b, ok := e.numbers.Get(refs.Key{start})
	if !ok {
		if len(e.blocks) == MaxBlocks {
			return
		}
		b = uint32(len(e.blocks))
		e.numbers.Put(refs.Key{start}, b)
		e.blocks = append(e.blocks, refs.Range{Low: start, High: start})
	}
	t := e.thread(thread)
	if t == nil {
		e.threads[thread] = &encoding{at: b}
		e.log.Add(thread, 0, b)
		return
	}
	if int(t.at) >= len(t.next) {
		t.next = append(t.next, make([]uint32, len(e.blocks)-len(t.next))...)
	}
	if t.next[t.at] == b+1 && t.expected < None {
		t.expected++
	} else {
		e.log.Add(thread, uint64(t.expected), b)
		t.next[t.at], t.expected = b+1, 0
	}
	t.at = b
}

// thread returns the state of a thread; nil if it has none. Mostly it is the one
// that was asked for before.
func (e *Encoder) thread(id uint32) *encoding {
	if e.last != nil && e.lastID == id {
		return e.last
	}
	e.last, e.lastID = e.threads[id], id
	return e.last
}

// Reach notes that the block a thread is in goes up to an address.
func (e *Encoder) Reach(thread uint32, end uint64) {
	t := e.thread(thread)
	if t == nil {
		return
	}
	b := &e.blocks[t.at]
	b.High = max(b.High, end)
}

// Flow returns the blocks and threads; nothing may be entered afterwards.
func (e *Encoder) Flow() ([]refs.Range, []Thread, error) {
	for id, t := range e.threads {
		e.log.Add(id, uint64(t.expected), None)
	}
	threads, err := e.log.Threads()
	return e.blocks, threads, err
}

// Cut reports whether the recording ended while the thread went on: what came
// after the last event came as expected.
func (t *Thread) Cut() bool {
	n := len(t.Events)
	return n == 0 || t.Events[n-1].Block != None
}

// Length is how many blocks the events tell of.
func (t *Thread) Length() uint64 {
	n := uint64(0)
	for _, e := range t.Events {
		n += uint64(e.Expected)
		if e.Block != None {
			n++
		}
	}
	t.spill.Release()
	return n
}

// Cursor reads the blocks a thread entered one by one.
type Cursor struct {
	events []Event
	next   []uint32
	at     uint32
	left   uint32 // blocks to come as expected before events[0]
	begun  bool
	spill  *table.Spill
	read   int // events since their memory was given back
}

// releaseEvery is how many events are read between two times that the memory of
// those before is given back: two megabytes.
const releaseEvery = 1 << 18

// Cursor returns a cursor before the first block. Events that name other blocks
// than there are end it.
func (t *Thread) Cursor(blocks int) *Cursor {
	c := &Cursor{events: t.Events, next: make([]uint32, blocks), spill: t.spill}
	if len(t.Events) > 0 {
		c.left = t.Events[0].Expected
	}
	return c
}

// Next returns the next block; false at the end.
func (c *Cursor) Next() (uint32, bool) {
	if c.left > 0 && c.begun {
		to := c.next[c.at]
		if to == 0 {
			c.events = nil // damaged: nothing was expected here
			return 0, false
		}
		c.left--
		c.at = to - 1
		return c.at, true
	}
	if len(c.events) == 0 || int(c.events[0].Block) >= len(c.next) {
		return 0, false
	}
	b := c.events[0].Block
	c.events = c.events[1:]
	if c.read++; c.read == releaseEvery {
		c.spill.Release()
		c.read = 0
	}
	if c.begun {
		c.next[c.at] = b + 1
	}
	c.begun, c.at, c.left = true, b, 0
	if len(c.events) > 0 {
		c.left = c.events[0].Expected
	} else {
		c.left = None // cut: as long as anybody asks
	}
	return b, true
}
