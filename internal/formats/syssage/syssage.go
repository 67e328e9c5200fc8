// Package syssage reads the XML that the sys-sage library writes: a tree of
// components, and relations between them such as measured data paths.
package syssage

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/xmlwalk"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Format is the sys-sage dialect.
var Format = foreign.Format{
	Name: "sys-sage", Kind: kind.Topology,
	Sniff:    func(in *foreign.Input) bool { return !in.Dir() && xmlwalk.Root(in.Head).Name == "sys-sage" },
	Topology: Read,
}

// Read reads a description.
func Read(r io.Reader) (*hw.Topology, error) {
	v := &visitor{nodeAt: map[string]int{}, latency: map[[2]int]float64{}}
	if err := xmlwalk.Walk(r, v); err != nil {
		return nil, err
	}
	if !v.sage {
		return nil, fmt.Errorf("the file has no element sys-sage")
	}
	v.spec.Source = "sys-sage"
	v.spec.Objects = v.nest.Objects
	v.distances()
	return hw.Build(v.spec)
}

type visitor struct {
	spec hw.Spec
	nest hw.Nester
	sage bool
	open []element

	machines int            // Node elements seen
	nodes    []int          // memory nodes in document order
	nodeAt   map[string]int // addr to OS index
	latency  map[[2]int]float64

	gpus []*hw.Accelerator // the GPU being read, and the parts of it that are open
	path []bool            // of each element inside: whether it is a part
}

type element struct{ object, skip, relations bool }

func (v *visitor) top() element {
	if len(v.open) == 0 {
		return element{}
	}
	return v.open[len(v.open)-1]
}

func (v *visitor) Text(string) error { return nil }

func (v *visitor) Start(e *xmlwalk.Element) error {
	el := v.top()
	el.object = false
	if len(v.open) == 0 {
		v.sage = e.Name == "sys-sage"
	}
	var err error
	switch {
	case el.skip:
		v.inGPU(e)
	case e.Name == "Relations":
		el.relations = true
	case el.relations:
		// Relations may contain relations; each stands for itself, so that
		// what refers to what, even in a circle, does not matter.
		if e.Name == "DataPath" {
			err = v.dataPath(e)
		}
	default:
		err = v.component(e, &el)
	}
	v.open = append(v.open, el)
	return err
}

func (v *visitor) End(string) error {
	el := v.top()
	v.open = v.open[:len(v.open)-1]
	if el.object {
		return v.nest.Close()
	}
	if el.skip {
		v.endGPU()
	}
	return nil
}

func (v *visitor) component(e *xmlwalk.Element, el *element) error {
	if e.Name == "Chip" && gpu(e) {
		el.skip = true
		v.startGPU(e)
		return nil
	}
	o, known, err := v.object(e)
	if err != nil {
		return err
	}
	if o.Kind == hw.Machine && known {
		v.machines++
		if v.machines > 1 {
			el.skip = true
			if v.machines == 2 {
				v.spec.Warnings = append(v.spec.Warnings, "the file describes several machines; only the first is used")
			}
			return nil
		}
	}
	if !known {
		return nil
	}
	el.object = true
	return v.nest.Open(o)
}

func (v *visitor) object(e *xmlwalk.Element) (o hw.Object, known bool, err error) {
	id, err := e.Int("id", -1)
	if err != nil {
		return o, false, err
	}
	o.OS = id
	switch e.Name {
	case "Node":
		o.Kind = hw.Machine
	case "Chip":
		o.Kind, o.Model = hw.Package, e.Attr("model")
	case "NUMA":
		o.Kind = hw.NUMA
		if o.Size, err = e.Size("size"); err != nil {
			return o, false, err
		}
		v.nodes = append(v.nodes, id)
		v.nodeAt[e.Attr("addr")] = id
	case "Cache":
		return cache(e)
	case "Core":
		o.Kind = hw.Core
	case "HW_Thread":
		o.Kind = hw.CPU
	default:
		return o, false, nil // Topology, Subdivision, Memory, Storage, …: looked through
	}
	return o, true, nil
}

// gpu reports whether a chip is a GPU, whose cores and threads are numbered
// like those of CPUs. The number for a GPU is 8 in older versions of the
// library; newer ones use small numbers that overlap, so the name decides.
func gpu(e *xmlwalk.Element) bool {
	return strings.Contains(strings.ToUpper(e.Attr("name")), "GPU") || e.Attr("type") == "8"
}

// cache takes the level from cache_type; the id of a cache means nothing.
func cache(e *xmlwalk.Element) (o hw.Object, known bool, err error) {
	typ := strings.TrimPrefix(e.Attr("cache_type"), "L")
	o.OS = -1
	if strings.HasSuffix(typ, "i") {
		o.Instruction = true
	}
	level, err := strconv.Atoi(strings.TrimRight(typ, "idID"))
	if err != nil {
		return o, false, fmt.Errorf("Cache has cache_type=%q; expected its level, such as 2", e.Attr("cache_type"))
	}
	if o.Kind, known = hw.Cache(level); !known {
		return o, false, nil
	}
	if o.Size, err = e.Size("cache_size"); err != nil {
		return o, false, err
	}
	if o.Line, err = e.Int("cache_line_size", 0); err != nil {
		return o, false, err
	}
	o.Ways, err = e.Int("cache_associativity_ways", 0)
	return o, err == nil, err
}

// dataPath reads a measured latency between two memory nodes. Its id is not
// reliable: sys-sage wrote uninitialised memory there.
func (v *visitor) dataPath(e *xmlwalk.Element) error {
	ends := strings.Fields(e.Attr("components"))
	if len(ends) != 2 {
		return nil
	}
	from, okFrom := v.nodeAt[ends[0]]
	to, okTo := v.nodeAt[ends[1]]
	latency, err := e.Float("latency", 0)
	if err != nil {
		return err
	}
	if okFrom && okTo && latency > 0 {
		v.latency[[2]int{from, to}] = latency
		if e.Attr("ordered") == "0" {
			v.latency[[2]int{to, from}] = latency
		}
	}
	return nil
}

// distances takes the measured latencies if they are complete.
func (v *visitor) distances() {
	if len(v.latency) == 0 {
		return
	}
	if len(v.latency) != len(v.nodes)*len(v.nodes) {
		v.spec.Warnings = append(v.spec.Warnings, fmt.Sprintf("latencies between memory nodes left out: %d of %d known",
			len(v.latency), len(v.nodes)*len(v.nodes)))
		return
	}
	d := &hw.Distances{Unit: "ns", Nodes: v.nodes}
	for _, from := range v.nodes {
		for _, to := range v.nodes {
			d.Values = append(d.Values, v.latency[[2]int{from, to}])
		}
	}
	v.spec.Distances = d
}
