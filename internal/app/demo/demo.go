package demo

import (
	_ "embed"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

//go:embed data/stencil.bin
var stencilData []byte

// Open returns the built-in run: the stencil program as it is before anyone
// has looked at its performance.
func Open() (*Run, error) {
	h, samples, err := decode(stencilData)
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
