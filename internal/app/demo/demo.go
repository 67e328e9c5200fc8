package demo

import (
	_ "embed"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

//go:embed data/stencil.bin
var stencilData []byte

//go:embed data/stencil-fixed.bin
var fixedData []byte

// Open returns the built-in run: the stencil program as it is before anyone
// has looked at its performance.
func Open() (*Run, error) { return open(stencilData) }

// OpenFixed returns the same program after someone has: memory touched first by
// the thread that uses it, planes in slabs, neighbouring planes on neighbouring
// cores.
func OpenFixed() (*Run, error) { return open(fixedData) }

func open(data []byte) (*Run, error) {
	h, samples, err := decode(data)
	if err != nil {
		return nil, err
	}
	cfg := cachesim.TwoSocket()
	return &Run{
		Name:     h.Name,
		Samples:  samples,
		Topology: topologyXML(&cfg),
		Sources:  map[string][]byte{stencilFile: []byte(stencilSource)},
		Objects:  h.Objects,
		Origin:   h.Origin,
		Warnings: h.Warnings,
	}, nil
}
