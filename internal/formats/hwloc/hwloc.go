// Package hwloc reads the XML that hwloc's lstopo writes, in its versions 1
// (caches are objects of type Cache, memory nodes contain cores), 2 and 3
// (memory nodes are leaves beside the cores).
package hwloc

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

// Format is hwloc XML of any version.
var Format = foreign.Format{
	Name: "hwloc", Kind: kind.Topology,
	Sniff: func(in *foreign.Input) bool {
		root := xmlwalk.Root(in.Head).Name
		return !in.Dir() && (root == "topology" || root == "root")
	},
	Topology: Read,
}

// Read reads a description.
func Read(r io.Reader) (*hw.Topology, error) {
	v := &visitor{gp: map[uint64]int{}, attributes: map[int]map[string]uint64{}, blockedOf: map[string]hw.CPUs{}}
	if err := xmlwalk.Walk(r, v); err != nil {
		return nil, err
	}
	v.spec.Objects = v.nest.Objects
	v.measured()
	v.spec.Source = "hwloc " + v.version
	v.block()
	if err := v.pickDistances(); err != nil {
		return nil, err
	}
	return hw.Build(v.spec)
}

type visitor struct {
	spec    hw.Spec
	nest    hw.Nester
	version string
	open    []element

	nodes     []int          // OS indices in document order
	nodeDepth int            // of the first memory node, in objects below the machine
	gp        map[uint64]int // gp_index of a memory node to OS index
	blockedOf map[string]hw.CPUs

	distances *distances   // the one being read
	matrices  []*distances // of memory nodes
	class     *hw.CPUClass // the one being read

	device     *device                   // the one being read, with all it contains
	memattr    string                    // the name of the memory attribute being read
	attributes map[int]map[string]uint64 // of memory nodes, by OS index
}

// element is an open element: object if it is part of the tree, skip if it and
// what it contains are devices.
type element struct {
	name         string
	object, skip bool
	kind         hw.Kind
}

func (v *visitor) top() element {
	if len(v.open) == 0 {
		return element{}
	}
	return v.open[len(v.open)-1]
}

func (v *visitor) Start(e *xmlwalk.Element) error {
	el := element{name: e.Name, skip: v.top().skip}
	if len(v.open) == 0 {
		if e.Name != "topology" && e.Name != "root" {
			return fmt.Errorf("the file starts with element %s; expected topology", e.Name)
		}
		v.version = e.Attr("version")
		if v.version == "" {
			v.version = "1"
		}
	}
	var err error
	switch {
	case el.skip:
		v.inDevice(e)
	case e.Name == "object":
		err = v.startObject(e, &el)
	case e.Name == "memattr":
		v.memattr = e.Attr("name")
	case e.Name == "memattr_value":
		v.memoryAttribute(e)
	case e.Name == "page_type":
		err = v.page(e)
	case e.Name == "info":
		err = v.info(e)
	case strings.HasPrefix(e.Name, "distances"):
		err = v.startDistances(e)
	case e.Name == "latency" && v.distances != nil:
		err = v.distances.latency(e)
	case e.Name == "cpukind":
		err = v.startClass(e)
	}
	v.open = append(v.open, el)
	return err
}

func (v *visitor) End(string) error {
	el := v.top()
	v.open = v.open[:len(v.open)-1]
	switch {
	case el.object:
		return v.nest.Close()
	case el.skip:
		v.endDevice()
	case strings.HasPrefix(el.name, "distances") && v.distances != nil:
		v.matrices = append(v.matrices, v.distances)
		v.distances = nil
	case el.name == "cpukind" && v.class != nil:
		v.spec.Classes = append(v.spec.Classes, *v.class)
		v.class = nil
	}
	return nil
}

func (v *visitor) Text(s string) error {
	if v.distances == nil {
		return nil
	}
	switch v.top().name {
	case "indexes":
		return v.distances.indexes(s)
	case "u64values":
		return v.distances.u64(s)
	}
	return nil
}

var kinds = map[string]hw.Kind{
	"Machine": hw.Machine, "System": hw.Machine, "Group": hw.Group, "Package": hw.Package, "Socket": hw.Package,
	"Die": hw.Die, "NUMANode": hw.NUMA, "Node": hw.NUMA, "MemCache": hw.SideCache,
	"Core": hw.Core, "PU": hw.CPU,
}

// devices are objects that hang beside the CPUs and memory, with all they
// contain.
var devices = map[string]bool{"Bridge": true, "PCIDev": true, "OSDev": true, "Misc": true}

func (v *visitor) startObject(e *xmlwalk.Element, el *element) error {
	typ := e.Attr("type")
	if devices[typ] {
		el.skip = true
		v.inDevice(e)
		return nil
	}
	o, known, err := v.object(e, typ)
	if err != nil || !known {
		return err // an object of a type unknown to us is looked through
	}
	el.object, el.kind = true, o.Kind
	return v.nest.Open(o)
}

func (v *visitor) object(e *xmlwalk.Element, typ string) (hw.Object, bool, error) {
	o, known, err := v.kindOf(e, typ)
	if err != nil || !known {
		return o, known, err
	}
	if o.OS, err = e.Int("os_index", -1); err != nil {
		return o, false, err
	}
	switch {
	case o.Kind == hw.CPU && o.OS < 0:
		return o, false, fmt.Errorf("%s has no os_index", typ)
	case o.Kind == hw.NUMA:
		err = v.memory(e, &o)
	case o.Kind.IsCache():
		err = cache(e, &o)
	case o.Kind == hw.Machine:
		err = v.machine(e)
	}
	if err == nil && (o.Kind == hw.NUMA || o.Kind == hw.SideCache) {
		o.CPUs, err = cpuset(e)
	}
	return o, true, err
}

func (v *visitor) kindOf(e *xmlwalk.Element, typ string) (hw.Object, bool, error) {
	if kind, ok := kinds[typ]; ok {
		return hw.Object{Kind: kind}, true, nil
	}
	level, instruction := 0, false
	switch {
	case typ == "Cache": // version 1: the level is in depth, type 2 is instructions
		var err error
		if level, err = e.Int("depth", -1); err != nil {
			return hw.Object{}, false, err
		}
		if level < 1 || level > 5 {
			return hw.Object{}, false, fmt.Errorf("Cache has depth=%q; expected 1 to 5", e.Attr("depth"))
		}
		instruction = e.Attr("cache_type") == "2"
	case len(typ) >= 7 && typ[0] == 'L' && strings.HasSuffix(typ, "Cache"):
		level = int(typ[1] - '0')
		instruction = typ[2] == 'i'
	}
	kind, ok := hw.Cache(level)
	return hw.Object{Kind: kind, Instruction: instruction}, ok, nil
}

// cpuset returns the set of a memory node; nil if the file does not give one,
// empty but not nil if the node has no CPUs.
func cpuset(e *xmlwalk.Element) (hw.CPUs, error) {
	text, ok := e.Lookup("cpuset")
	if !ok {
		return nil, nil
	}
	set, err := hw.ParseBitmap(text)
	if err != nil {
		return nil, err
	}
	return append(hw.CPUs{}, set...), nil
}

// maxPage is the largest page of any machine there is.
const maxPage = 16 << 30

// page keeps the smallest of the pages that memory is said to come in: what a
// program gets that asks for no other. Version 1 has them at the machine, the
// later ones at each memory node.
func (v *visitor) page(e *xmlwalk.Element) error {
	size, err := e.Size("size")
	if err != nil || size < 512 || size > maxPage || size&(size-1) != 0 {
		return err
	}
	if v.spec.Page == 0 || int(size) < v.spec.Page {
		v.spec.Page = int(size)
	}
	return nil
}

func cache(e *xmlwalk.Element, o *hw.Object) (err error) {
	o.OS = -1 // some versions number caches, each level from 0 in each package
	if o.Size, err = e.Size("cache_size"); err != nil {
		return err
	}
	if o.Line, err = e.Int("cache_linesize", 0); err != nil {
		return err
	}
	// hwloc writes -1 for full associativity, as hw has it.
	ways, err := e.Int("cache_associativity", 0)
	o.Ways = max(ways, hw.FullyAssociative)
	return err
}

func (v *visitor) memory(e *xmlwalk.Element, o *hw.Object) (err error) {
	if o.OS < 0 {
		return fmt.Errorf("%s has no os_index", e.Attr("type"))
	}
	if o.Size, err = e.Size("local_memory"); err != nil {
		return err
	}
	o.Memory = memoryType(e.Attr("subtype"))
	if len(v.nodes) == 0 {
		v.nodeDepth = v.objectsOpen()
	}
	v.nodes = append(v.nodes, o.OS)
	if gp, err := strconv.ParseUint(e.Attr("gp_index"), 10, 64); err == nil {
		v.gp[gp] = o.OS
	}
	return nil
}

func (v *visitor) objectsOpen() int {
	n := 0
	for _, el := range v.open {
		if el.object {
			n++
		}
	}
	return n
}

// memoryType reads the subtype of a memory node: "DRAM", "HBM", "MCDRAM",
// "SPM" (specific purpose: high bandwidth or CXL), "NVM", "GPUMemory",
// "CXL-DRAM".
func memoryType(subtype string) string {
	switch {
	case strings.HasPrefix(subtype, "CXL"):
		return "CXL"
	case strings.HasPrefix(subtype, "NVM"), strings.HasPrefix(subtype, "PMEM"):
		return "PMEM"
	case subtype == "MCDRAM":
		return "HBM"
	}
	return subtype
}

func (v *visitor) machine(e *xmlwalk.Element) error {
	for _, name := range []string{"cpuset", "allowed_cpuset"} {
		set, err := hw.ParseBitmap(e.Attr(name))
		if err != nil {
			return err
		}
		v.blockedOf[name] = set
	}
	return nil
}

// block lists the CPUs that are there but not allowed.
func (v *visitor) block() {
	allowed := v.blockedOf["allowed_cpuset"]
	if len(allowed) == 0 {
		return
	}
	for _, cpu := range v.blockedOf["cpuset"] {
		if !allowed.Has(cpu) {
			v.spec.Blocked = append(v.spec.Blocked, cpu)
		}
	}
}

func (v *visitor) info(e *xmlwalk.Element) error {
	name, value := e.Attr("name"), strings.TrimSpace(e.Attr("value"))
	switch top := v.top(); {
	case v.class != nil && name == "CoreType":
		v.class.Name = value
	case name == "HostName":
		v.spec.Name = value
	case name == "DMIProductName" && v.spec.Name == "" && top.kind == hw.Machine:
		v.spec.Name = value
	case name == "CPUModel" && top.object:
		v.nest.SetModel(strings.Join(strings.Fields(value), " "))
	case name == "MemoryTier" && top.object && top.kind == hw.NUMA:
		v.nest.SetTier(value)
	case name == "DAXType" && top.object && top.kind == hw.NUMA:
		v.nest.SetMemory(memoryType(value))
	}
	return nil
}

func (v *visitor) startClass(e *xmlwalk.Element) error {
	set, err := hw.ParseBitmap(e.Attr("cpuset"))
	if err != nil {
		return err
	}
	if len(v.spec.Classes) >= 64 {
		return fmt.Errorf("more than 64 kinds of CPUs")
	}
	eff, err := e.Int("forced_efficiency", -1)
	v.class = &hw.CPUClass{Name: fmt.Sprintf("kind %d", len(v.spec.Classes)), CPUs: set, Efficiency: eff}
	return err
}
