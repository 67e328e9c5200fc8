package hwloc

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/formats/xmlwalk"
	"github.com/isobath/isobath/internal/machine/hw"
)

// distances is a matrix as a file gives it.
type distances struct {
	count  int
	depth  int // version 1: objects below the one around; 0 otherwise
	base   float64
	gp     bool
	name   string
	index  []uint64
	values []float64
}

// startDistances begins a matrix if it is one between memory nodes. Version 2
// names the type; version 1 says how deep below the object around it the
// objects are.
func (v *visitor) startDistances(e *xmlwalk.Element) error {
	d := &distances{base: 1, name: e.Attr("name"), gp: e.Attr("indexing") == "gp"}
	var err error
	switch e.Name {
	case "distances":
		err = v.startVersion1(e, d)
	case "distances2":
		// Bit 2 of kind means latencies, bit 3 bandwidths.
		kind, kindErr := e.Int("kind", 4)
		if e.Attr("type") != "NUMANode" || kind&4 == 0 && d.name != "NUMALatency" {
			return kindErr
		}
		d.count, err = e.Int("nbobjs", 0)
	default:
		return nil // distances2hetero: between objects of different types
	}
	if err != nil || d.count == 0 {
		return err
	}
	if d.count < 0 || d.count > hw.MaxNodes {
		return fmt.Errorf("distances between %d memory nodes: more than any machine has", d.count)
	}
	v.distances = d
	return nil
}

func (v *visitor) startVersion1(e *xmlwalk.Element, d *distances) error {
	n, err := e.Int("nbobjs", 0)
	if err != nil {
		return err
	}
	if d.depth, err = e.Int("relative_depth", 0); err != nil {
		return err
	}
	if v.objectsOpen() != 1 || d.depth < 1 {
		return nil // not of the whole machine
	}
	if d.base, err = e.Float("latency_base", 1); err != nil {
		return err
	}
	d.count = n
	return nil
}

func (d *distances) latency(e *xmlwalk.Element) error {
	value, err := e.Float("value", 0)
	if err != nil {
		return err
	}
	return d.add(value * d.base)
}

func (d *distances) add(value float64) error {
	if len(d.values) >= d.count*d.count {
		return fmt.Errorf("more than %d distances between %d objects", d.count*d.count, d.count)
	}
	d.values = append(d.values, value)
	return nil
}

// indexes and u64 read one of several chunks of at most ten values.
func (d *distances) indexes(s string) error {
	for word := range strings.FieldsSeq(s) {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil || len(d.index) >= d.count {
			return fmt.Errorf("indexes of %d distances: %q does not belong there", d.count, word)
		}
		d.index = append(d.index, n)
	}
	return nil
}

func (d *distances) u64(s string) error {
	for word := range strings.FieldsSeq(s) {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return fmt.Errorf("distance %q is not a number", word)
		}
		if err := d.add(float64(n)); err != nil {
			return err
		}
	}
	return nil
}

// pickDistances takes the matrix between all memory nodes: the operating
// system's if there are several.
func (v *visitor) pickDistances() error {
	var best *hw.Distances
	for _, m := range v.matrices {
		if len(m.values) != m.count*m.count {
			return fmt.Errorf("%d distances between %d memory nodes, want %d", len(m.values), m.count, m.count*m.count)
		}
		nodes, err := v.distanceNodes(m)
		if err != nil {
			v.spec.Warnings = append(v.spec.Warnings, "distances left out: "+err.Error())
			continue
		}
		if best == nil || m.name == "NUMALatency" {
			best = &hw.Distances{Unit: "relative", Nodes: nodes, Values: m.values}
		}
	}
	v.spec.Distances = best
	return nil
}

func (v *visitor) distanceNodes(m *distances) ([]int, error) {
	if m.depth > 0 { // version 1: in document order
		if m.count != len(v.nodes) || m.depth != v.nodeDepth {
			return nil, errors.New("they are not between memory nodes")
		}
		return slices.Clone(v.nodes), nil
	}
	if len(m.index) != m.count {
		return nil, fmt.Errorf("%d indexes for %d nodes", len(m.index), m.count)
	}
	nodes := make([]int, m.count)
	for i, n := range m.index {
		os, ok := int(n), n <= hw.MaxCPUIndex && slices.Contains(v.nodes, int(n))
		if m.gp {
			os, ok = v.gp[n], true
			if _, there := v.gp[n]; !there {
				ok = false
			}
		}
		if !ok {
			return nil, fmt.Errorf("index %d is no memory node", n)
		}
		if slices.Contains(nodes[:i], os) {
			return nil, fmt.Errorf("memory node %d occurs twice", os)
		}
		nodes[i] = os
	}
	return nodes, nil
}
