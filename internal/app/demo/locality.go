package demo

import (
	_ "embed"
	"slices"

	"github.com/isobath/isobath/examples"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/locality/layout"
)

// Locality is the recorded example of the locality page: every memory reference
// of two steps of examples/locality/pic.c, made by our own recorder.
type Locality struct {
	Name    string // of the run
	Source  string // in examples/locality
	Machine string // that it is shown on: the same everywhere
}

// Particles is a program worth improving: structures of which little is used, a
// loop that walks columns, and arrays that meet in the same sets.
var Particles = Locality{Name: "particles in a cell", Source: "pic.c", Machine: "sapphirerapids"}

//go:embed data/locality/pic.refs
var particles []byte

// Open opens the recording.
func (l Locality) Open() (refs.Reader, error) { return openStored(particles) }

// Objects are those of the program, with their types.
func (l Locality) Objects() ([]layout.Object, error) {
	s, err := openStored(particles)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.h.Objects), nil
}

// Flow is the way that the program took through its code.
func (l Locality) Flow() (*flow.Trace, error) {
	s, err := openStored(particles)
	if err != nil {
		return nil, err
	}
	return s.h.Flow, nil
}

// Texts returns the sources by the names in the recording.
func (l Locality) Texts() (map[string][]byte, error) {
	text, err := examples.Locality.ReadFile("locality/" + l.Source)
	return map[string][]byte{l.Source: text}, err
}
