// Package demo makes the built-in example runs: programs written for the
// purpose, simulated access by access on a modelled two-socket machine.
//
// The stencil run is kept in the repository, made by `go run
// ./internal/demo/gen`; Open returns it without simulating anything. The other
// runs are made when they are asked for.
package demo

import (
	"isobath/internal/formats"
	"isobath/internal/table"
)

// Run is one example: sampled accesses and all that belongs to them.
type Run struct {
	Name     string
	Samples  *table.Table
	Topology []byte            // hwloc 2 XML
	Sources  map[string][]byte // by the name in the file column
	Objects  []Object
	Origin   formats.Origin
	Warnings []string
}

// Object is an array of the program.
type Object struct {
	Name    string `json:"name"`
	Address uint64 `json:"address"`
	Width   int    `json:"width"` // bytes of one element
	Count   int    `json:"count"`
}
