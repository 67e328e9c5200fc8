package demo

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"

	"isobath/examples"
	"isobath/internal/formats/refscsv"
	"isobath/internal/refs"
)

// Cycle is a recorded example of the cycles page: every memory reference of a
// region of a small program, made by our own recorder.
type Cycle struct {
	Name   string   // of the run
	Source string   // in examples/loops
	Args   []string // of the program
	Flags  []string // of the compiler
}

// Cycles are the examples, in the order of the paper's figures: bubble sorts
// of five numbers, matrix multiplications, and particles giving to a grid.
var Cycles = []Cycle{
	{"bubble sort, reversed", "bubble_array.c", []string{"5", "4", "3", "2", "1"}, nil},
	{"bubble sort, sorted", "bubble_array.c", []string{"1", "2", "3", "4", "5"}, nil},
	{"bubble sort, shuffled", "bubble_array.c", []string{"4", "1", "5", "2", "3"}, nil},
	{"bubble sort of a vector, reversed", "bubble_vector.cpp", []string{"5", "4", "3", "2", "1"}, nil},
	{"bubble sort of a vector, sorted", "bubble_vector.cpp", []string{"1", "2", "3", "4", "5"}, nil},
	{"matrix multiplication", "matmul.c", nil, nil},
	{"matrix multiplication, blocked", "matmul_blocked.c", nil, nil},
	{"particles to grid", "particles.c", []string{"24"}, nil},
}

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
