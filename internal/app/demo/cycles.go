package demo

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"

	"github.com/isobath/isobath/examples"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/refscsv"
)

// Cycle is a recorded example of the cycles page: every memory reference of a
// region of a small program, made by our own recorder.
type Cycle struct {
	Name   string   // of the run
	Source string   // in examples/loops
	Args   []string // of the program
	Shows  []Shown
}

// Shown is a structure of an example that the paper describes, and where to
// find it: the class with so many turns, and of those the one whose dual has
// Dual turns.
type Shown struct {
	Name   string
	Symbol string
	Window int
	Turns  int64
	Dual   int64 // 0 for any
}

// Cycles are the examples, in the order of the paper's figures: bubble sorts
// of five numbers, matrix multiplications, and particles giving to a grid.
var Cycles = []Cycle{
	{"bubble sort, reversed", "bubble_array.c", reversed, []Shown{
		{"10 comparisons with swaps", "pc", 10, 10, 0}, {"4 passes, with the swaps as teeth", "pc", 10, 4, 0},
		{"6 comparisons that stay in their pass", "pc", 10, 6, 4},
	}},
	{"bubble sort, sorted", "bubble_array.c", sorted, []Shown{{"4 comparisons", "pc", 10, 4, 0}}},
	{"bubble sort, shuffled", "bubble_array.c", shuffled, []Shown{
		{"6 comparisons with a swap", "line", 10, 6, 4}, {"4 comparisons without, the dual", "line", 10, 4, 6}, {"4 passes", "pc", 10, 4, 0},
	}},
	{"bubble sort of a vector, reversed", "bubble_vector.cpp", reversed, []Shown{
		{"10 comparisons with swaps", "pc", 10, 10, 0}, {"4 passes, with the swaps as teeth", "pc", 10, 4, 0},
	}},
	{"bubble sort of a vector, sorted", "bubble_vector.cpp", sorted, []Shown{
		{"4 comparisons", "pc", 10, 4, 0}, {"8 lookups, two a comparison", "line", 10, 8, 0},
	}},
	{"bubble sort of a vector, shuffled", "bubble_vector.cpp", shuffled, []Shown{
		{"6 comparisons with a swap", "pc", 12, 6, 4}, {"4 comparisons without, the dual", "pc", 12, 4, 6},
	}},
	{"matrix multiplication", "matmul.c", nil, []Shown{
		{"k loop: 64 products", "pc", 10, 64, 0}, {"j loop: 16 elements", "pc", 10, 16, 0}, {"i loop: 4 rows", "pc", 10, 4, 0},
	}},
	{"matrix multiplication, blocked", "matmul_blocked.c", nil, []Shown{
		{"k loop: 64 products", "pc", 10, 64, 0}, {"j loop: 32 elements of a block", "pc", 10, 32, 0}, {"i loop: 16 rows of a block", "pc", 10, 16, 0},
		{"4 blocks", "pc", 10, 4, 12},
	}},
	{"particles to grid", "particles.c", []string{"24"}, []Shown{
		{"96 nodes that a particle gives to", "pc", 10, 96, 0}, {"24 particles", "pc", 10, 24, 0}, {"48 rows of nodes", "pc", 10, 48, 2},
	}},
}

// Five numbers to sort. The shuffled ones need six swaps.
var (
	reversed = []string{"5", "4", "3", "2", "1"}
	sorted   = []string{"1", "2", "3", "4", "5"}
	shuffled = []string{"3", "5", "1", "4", "2"}
)

//go:embed data/cycles
var cycleData embed.FS

// File is where the recording of an example is kept, in data/cycles.
func (c Cycle) File() string {
	var out []byte
	for i := range len(c.Name) {
		if b := c.Name[i]; b >= 'a' && b <= 'z' {
			out = append(out, b)
		} else if len(out) > 0 && out[len(out)-1] != '-' {
			out = append(out, '-')
		}
	}
	return string(out) + ".csv.gz"
}

// Open opens the recording.
func (c Cycle) Open() (refs.Reader, error) {
	data, err := cycleData.ReadFile("data/cycles/" + c.File())
	if err != nil {
		return nil, err
	}
	text, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return opened{refscsv.NewReader(text), text}, nil
}

// opened is a reader with what it reads from.
type opened struct {
	refs.Source
	io.Closer
}

// Texts returns the sources of an example by the names in its recording.
func (c Cycle) Texts() (map[string][]byte, error) {
	text, err := examples.Loops.ReadFile("loops/" + c.Source)
	return map[string][]byte{c.Source: text}, err
}
