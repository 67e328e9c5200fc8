// Package hw holds the hardware tree of a machine, from the CPUs over caches to
// memory nodes, and decides which of its resources served a sample.
//
// A Topology is built once from a description (Spec) and never changes. A
// Placer turns what a sample says, its CPU and the level that served it, into a
// place: a small integer that stands for a path through the tree. Engines count
// samples by place; Aggregate folds those counts into counts per resource.
package hw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a resource is. The order is the one in which resources with the
// same CPUs are nested, outermost first.
type Kind uint8

// The kinds.
const (
	Cluster Kind = iota // the machines of several hosts
	Machine
	Host // a machine of a cluster
	Group
	Package
	Die
	NUMA // a memory node
	SideCache
	Cache5
	Cache4
	Cache3
	Cache2
	Cache1
	Core
	CPU
	kindCount int = iota
)

var kindNames = [kindCount]string{
	"Cluster", "Machine", "Host", "Group", "Package", "Die", "NUMA", "MSC", "L5", "L4", "L3", "L2", "L1", "Core", "CPU",
}

// String returns the name of the kind, which is also the name of its depth.
func (k Kind) String() string { return kindNames[k] }

// ParseKind is the inverse of Kind.String, whatever the case; PU is CPU.
func ParseKind(s string) (Kind, error) {
	if strings.EqualFold(s, "PU") {
		return CPU, nil
	}
	i := slices.IndexFunc(kindNames[:], func(name string) bool { return strings.EqualFold(name, s) })
	if i < 0 {
		return 0, fmt.Errorf("resource type %q: want one of %s", s, strings.Join(kindNames[:], ", "))
	}
	return Kind(i), nil
}

// Cache returns the kind of the data or unified cache of a level from 1 to 5.
func Cache(level int) (Kind, bool) {
	if level < 1 || level > 5 {
		return 0, false
	}
	return Kind(int(Cache1) + 1 - level), true
}

// IsCache reports whether the kind is a cache on the way from a CPU to memory.
func (k Kind) IsCache() bool { return k >= SideCache && k <= Cache1 }

// holdsCPUsOnly reports whether the kind is a container that serves nothing:
// samples belong to it because its CPUs issued them.
func (k Kind) holdsCPUsOnly() bool { return k < NUMA || k >= Core }

// Resource is a node of the tree. Resources are not to be changed.
type Resource struct {
	Index            int    // in Topology.Resources: depth first, children by lowest CPU
	Kind             Kind   //
	ID               string // "Package:0", "L3:1", "CPU:7"; see Number
	Number           int    // the OS index of a CPU or memory node, else the order within the kind
	Name             string // for people: "L3 #1", "NUMA 1", a host name
	OS               int    // index the operating system uses, -1 if there is none
	Size             uint64 // bytes of a cache or of memory; 0 if not known
	Line             int    // cache line in bytes; 0 if not known
	Ways             int    // associativity; 0 if not known, FullyAssociative if there is one set
	Model            string // of a package
	Memory           string // type of a memory node: "DRAM", "HBM", "PMEM", "CXL"; empty if not said
	Tier             string // of a memory node: 0 is the fastest kind; empty if not said
	Bandwidth, Delay uint64 // of a memory node from its nearest CPUs, MiB/s and ns; 0 if not said
	Class            string // of a CPU on a hybrid machine: "IntelCore", "IntelAtom"
	Parent           int    // index, -1 for the machine
	Kids             []int  // indices
	CPUs             CPUs   // the CPUs below, or for a memory node near it
	Aside            bool   // a memory node (or odd cache) drawn beside the CPUs, not around them
	Blocked          bool   // a CPU this process may not run on
	Virtual          bool   // not in the description; stands for a server that cannot be named
	Note             string // why a virtual resource exists
	// Shift is what a cluster adds to the numbers of the host's own system to get
	// CPUs, and OS of a CPU or memory node.
	Shift int
	host  string // the name of the host, in a cluster
}

// Depth is all resources of one kind.
type Depth struct {
	Kind      Kind
	Resources []int
}

// Distances are how far memory nodes are from each other.
type Distances struct {
	Unit   string    `json:"unit"`   // "relative" (10 is local, as ACPI SLIT writes it) or "ns"
	Nodes  []int     `json:"nodes"`  // OS indices, in the order of rows and columns
	Values []float64 `json:"values"` // row by row: from the CPUs of a node to the memory of a node
}

// Between returns the distance between two nodes given by OS index.
func (d *Distances) Between(from, to int) (float64, bool) {
	if d == nil {
		return 0, false
	}
	i, j := slices.Index(d.Nodes, from), slices.Index(d.Nodes, to)
	if i < 0 || j < 0 {
		return 0, false
	}
	return d.Values[i*len(d.Nodes)+j], true
}

// Accelerator is a device that computes beside the CPUs, or a part of one.
type Accelerator struct {
	Name   string        `json:"name"`
	Model  string        `json:"model,omitempty"`
	Bus    string        `json:"bus,omitempty"`    // its address on the PCI bus
	Memory uint64        `json:"memory,omitempty"` // bytes; 0 if not known
	Cores  int           `json:"cores,omitempty"`  // multiprocessors or compute units; 0 if not known
	Parts  []Accelerator `json:"parts,omitempty"`  // what it is divided into, such as MIG instances
}

// MaxAccelerators bounds those of a description, parts included.
const MaxAccelerators = 4096

// CPUClass is a kind of core of a hybrid machine.
type CPUClass struct {
	Name       string
	CPUs       CPUs
	Efficiency int // larger is faster; -1 if not said
}

// Topology is the hardware tree of one machine, or of the hosts of a cluster.
type Topology struct {
	Name      string // host or model; empty if not known
	Source    string // where the description came from: "hwloc 2.0", "Mitos", "sysfs"
	Resources []Resource
	Depths    []Depth
	Distances *Distances
	Classes   []CPUClass
	// Accelerators are devices that compute, such as GPUs. No sample goes
	// through them.
	Accelerators []Accelerator
	Warnings     []string
	Page         int // bytes of the smallest page of its memory; 0 if not known
	// Instruction lists the instruction caches, which serve no data and are
	// not in the tree.
	Instruction []Object

	cpu  map[int]int    // OS index to resource
	node map[int]int    // OS index to resource
	byID map[string]int //
	spec Spec           // what it was built from, for storing

	hosts      []host // of a cluster; nil for a single machine
	hostNumber map[string]int
}

// Root returns the machine, or the cluster.
func (t *Topology) Root() *Resource { return &t.Resources[0] }

// ByCPU returns the CPU with that OS index, or nil.
func (t *Topology) ByCPU(os int) *Resource { return t.lookup(t.cpu, os) }

// ByNode returns the memory node with that OS index, or nil.
func (t *Topology) ByNode(os int) *Resource { return t.lookup(t.node, os) }

func (t *Topology) lookup(m map[int]int, os int) *Resource {
	i, ok := m[os]
	if !ok {
		return nil
	}
	return &t.Resources[i]
}

// At returns the resources of a kind, in order.
func (t *Topology) At(k Kind) []int {
	for _, d := range t.Depths {
		if d.Kind == k {
			return d.Resources
		}
	}
	return nil
}

// Find returns the resource with that ID ("L3:1", whatever the case).
func (t *Topology) Find(id string) (*Resource, error) {
	if strings.EqualFold(id, t.Root().ID) {
		return t.Root(), nil
	}
	part, host, ofHost := strings.Cut(id, "@")
	if ofHost && t.hosts != nil {
		return t.findOn(id, part, host)
	}
	kind, number, _ := strings.Cut(id, ":")
	k, err := ParseKind(kind)
	if err != nil {
		return nil, fmt.Errorf("resource %q: want a type and a number such as L3:1: %w", id, err)
	}
	n, err := strconv.Atoi(number)
	if i, known := t.byID[resourceID(k, n)]; err == nil && known {
		return &t.Resources[i], nil
	}
	there := t.At(k)
	if len(there) == 0 {
		return nil, fmt.Errorf("resource %q: this machine has no %v; it has %s", id, k, t.kinds())
	}
	if t.hosts != nil && k != Host {
		return nil, fmt.Errorf("resource %q: there are %s; say which, as in %s", id, t.Name, t.Resources[there[0]].ID)
	}
	return nil, fmt.Errorf("resource %q does not exist; %v runs from %s to %s", id, k,
		t.Resources[there[0]].ID, t.Resources[there[len(there)-1]].ID)
}

// findOn finds a part of a host: L3:1@Host:2.
func (t *Topology) findOn(id, part, host string) (*Resource, error) {
	r, err := t.Find(host)
	if err != nil {
		return nil, fmt.Errorf("resource %q: %w", id, err)
	}
	if r.Kind != Host {
		return nil, fmt.Errorf("resource %q: after '@' want a host such as Host:0", id)
	}
	h := &t.hosts[r.Number]
	own, err := h.Machine.Find(part)
	if err != nil {
		return nil, fmt.Errorf("on %s: %w", r.ID, err)
	}
	return &t.Resources[h.first+own.Index], nil
}

func (t *Topology) kinds() string {
	names := make([]string, len(t.Depths))
	for i, d := range t.Depths {
		names[i] = d.Kind.String()
	}
	return strings.Join(names, ", ")
}

// HolderOfCPUs says for each CPU which of the resources holds it, by its number among
// them. Asked resource by resource, the CPUs of 256 hosts take minutes.
func (t *Topology) HolderOfCPUs(resources []int) map[int]int {
	holder := map[int]int{}
	for k, r := range resources {
		for _, cpu := range t.Resources[r].CPUs {
			if _, held := holder[cpu]; !held {
				holder[cpu] = k
			}
		}
	}
	return holder
}

// Node returns the memory node nearest to a CPU: the one with the fewest CPUs
// among those whose CPUs include it. Several such nodes (DRAM and HBM) give
// false, and so does a machine without memory nodes.
func (t *Topology) Node(cpu int) (*Resource, bool) {
	near := t.nearNodes(cpu)
	if len(near) != 1 {
		return nil, false
	}
	return &t.Resources[near[0]], true
}

func (t *Topology) nearNodes(cpu int) []int {
	var near []int
	for _, i := range t.At(NUMA) {
		if t.Resources[i].CPUs.Has(cpu) {
			near = t.nearer(near, i)
		}
	}
	return near
}

// nearer adds a memory node of a CPU to those found so far, keeping only the
// ones with the fewest CPUs: memory of the whole machine is not local to a CPU
// that has a node of its own.
func (t *Topology) nearer(near []int, node int) []int {
	if len(near) == 0 {
		return []int{node}
	}
	have, n := len(t.Resources[near[0]].CPUs), len(t.Resources[node].CPUs)
	switch {
	case n < have:
		return []int{node}
	case n == have:
		return append(near, node)
	}
	return near
}

// Summary counts the resources of a machine, as `info` prints them.
type Summary struct {
	CPUs   int         `json:"cpus"`
	Nodes  int         `json:"nodes"`
	Levels []KindCount `json:"levels"`
}

// KindCount is the number of resources of one kind.
type KindCount struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// Summary counts CPUs, memory nodes and the resources of every depth.
func (t *Topology) Summary() Summary {
	s := Summary{CPUs: len(t.At(CPU)), Nodes: len(t.At(NUMA))}
	for _, d := range t.Depths {
		s.Levels = append(s.Levels, KindCount{d.Kind.String(), len(d.Resources)})
	}
	return s
}
