// Package mitosxml reads the hardware.xml that Mitos wrote until 2014: elements
// NUMA, Cache and CPU below Hardware.
package mitosxml

import (
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/xmlwalk"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Format is the Mitos dialect.
var Format = foreign.Format{
	Name: "mitos-xml", Kind: kind.Topology,
	Sniff:    func(in *foreign.Input) bool { return !in.Dir() && xmlwalk.Root(in.Head).Name == "Hardware" },
	Topology: Read,
}

// Read reads a description.
func Read(r io.Reader) (*hw.Topology, error) {
	v := &visitor{}
	if err := xmlwalk.Walk(r, v); err != nil {
		return nil, err
	}
	v.spec.Source = "Mitos"
	v.spec.Objects = v.nest.Objects
	return hw.Build(v.spec)
}

type visitor struct {
	spec hw.Spec
	nest hw.Nester
	open []bool // whether each open element is an object of the tree
}

func (v *visitor) Text(string) error { return nil }

func (v *visitor) Start(e *xmlwalk.Element) error {
	o, known, err := v.object(e)
	if err != nil {
		return err
	}
	v.open = append(v.open, known)
	if !known {
		return nil
	}
	return v.nest.Open(o)
}

func (v *visitor) End(string) error {
	known := v.open[len(v.open)-1]
	v.open = v.open[:len(v.open)-1]
	if !known {
		return nil
	}
	return v.nest.Close()
}

func (v *visitor) object(e *xmlwalk.Element) (hw.Object, bool, error) {
	id, err := e.Int("id", -1)
	if err != nil {
		return hw.Object{}, false, err
	}
	size, err := e.Size("size")
	if err != nil {
		return hw.Object{}, false, err
	}
	switch e.Name {
	case "Hardware":
		v.spec.Name = e.Attr("name")
		return hw.Object{Kind: hw.Machine, OS: id}, true, nil
	case "NUMA":
		// Memory is in KiB, caches are in bytes.
		return hw.Object{Kind: hw.NUMA, OS: id, Size: size << 10}, true, nil
	case "Cache":
		// The id of a cache is its level.
		kind, ok := hw.Cache(id)
		if !ok {
			return hw.Object{}, false, fmt.Errorf("Cache has id=%q; expected the level, 1 to 5", e.Attr("id"))
		}
		return hw.Object{Kind: kind, OS: -1, Size: size}, true, nil
	case "CPU":
		return hw.Object{Kind: hw.CPU, OS: id}, true, nil
	}
	return hw.Object{}, false, nil
}
