package hw

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
)

// Object is one resource as a description gives it: only its kind and its CPUs
// decide where in the tree it goes.
type Object struct {
	Kind        Kind
	OS          int // -1 if there is none
	CPUs        CPUs
	Size        uint64
	Line, Ways  int
	Model       string
	Memory      string
	Tier        string // of a memory node: the number that its description gives its kind of memory, 0 the fastest
	Bandwidth   uint64 // of a memory node, from its nearest CPUs: MiB/s; 0 if not known
	Delay       uint64 // the same: ns; 0 if not known
	Instruction bool   // a cache for instructions only
}

// FullyAssociative is the number of ways of a cache that has one set.
const FullyAssociative = -1

// Spec is the description of a machine, in whatever order its source has it.
type Spec struct {
	Name      string
	Source    string
	Objects   []Object
	Distances *Distances
	Classes   []CPUClass
	Blocked   CPUs
	Warnings  []string
	Page      int // bytes of the smallest page; 0 if not known
	// Accelerators are devices that compute, which have no place in the tree.
	Accelerators []Accelerator
}

// Build makes the tree. Nesting comes from CPU sets alone, so that it does not
// matter on which side of a cache a description puts a memory node.
func Build(spec Spec) (*Topology, error) {
	objects, instruction, err := checked(&spec)
	if err != nil {
		return nil, err
	}
	n := nest(objects)
	t := &Topology{
		Name: spec.Name, Source: spec.Source, Distances: spec.Distances, Classes: spec.Classes,
		Warnings: slices.Clone(spec.Warnings), Instruction: instruction, Accelerators: spec.Accelerators, Page: spec.Page,
		cpu: map[int]int{}, node: map[int]int{}, byID: map[string]int{}, spec: spec,
	}
	t.Warnings = append(t.Warnings, n.warnings...)
	t.flatten(n)
	if err := t.checkDistances(); err != nil {
		return nil, err
	}
	t.decorate(spec)
	return t, nil
}

// checked refuses what cannot be a machine and splits off instruction caches.
func checked(spec *Spec) (objects, instruction []Object, err error) {
	known, err := cpuIndices(spec.Objects)
	if err != nil {
		return nil, nil, err
	}
	nodes := map[int]bool{}
	members := 0
	objects = append(objects, Object{Kind: Machine, OS: -1, CPUs: known})
	for _, o := range spec.Objects {
		if o.Kind == CPU {
			o.CPUs = CPUs{o.OS}
		}
		o.CPUs = slices.DeleteFunc(slices.Clone(o.CPUs), func(c int) bool { return !known.Has(c) })
		members += len(o.CPUs)
		if members > maxMembers {
			return nil, nil, fmt.Errorf("the objects hold more than %d CPUs together: not a description of a machine", maxMembers)
		}
		switch {
		case o.Instruction:
			instruction = append(instruction, o)
			continue
		case o.Kind == Machine:
			objects[0].OS, objects[0].Size = o.OS, o.Size
			continue
		case o.Kind == NUMA:
			if nodes[o.OS] {
				return nil, nil, fmt.Errorf("memory node %d occurs twice", o.OS)
			}
			nodes[o.OS] = true
			if len(nodes) > MaxNodes {
				return nil, nil, fmt.Errorf("more than %d memory nodes: not a description of a machine", MaxNodes)
			}
		case len(o.CPUs) == 0 && o.Kind != SideCache:
			continue // an offline package or core
		}
		objects = append(objects, o)
	}
	return objects, instruction, nil
}

func cpuIndices(objects []Object) (CPUs, error) {
	var all []int
	for _, o := range objects {
		if o.Kind != CPU {
			continue
		}
		if o.OS < 0 || o.OS >= MaxCPUIndex {
			return nil, fmt.Errorf("CPU number %d: want 0 to %d", o.OS, MaxCPUIndex-1)
		}
		all = append(all, o.OS)
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("the description has no CPUs")
	case len(all) > MaxCPUs:
		return nil, fmt.Errorf("%d CPUs: more than %d is no machine we know", len(all), MaxCPUs)
	}
	set := NewCPUs(slices.Clone(all))
	if len(set) < len(all) {
		slices.Sort(all)
		for i := range all[1:] {
			if all[i] == all[i+1] {
				return nil, fmt.Errorf("CPU %d occurs twice; does the description hold several machines?", all[i])
			}
		}
	}
	return set, nil
}

// nested is objects with the index of each one's parent.
type nested struct {
	objects  []Object
	parent   []int
	aside    []bool
	taken    [kindCount][]bool // CPUs that lie in a resource of each kind
	warnings []string
}

// nest orders objects from the largest CPU set to the smallest and hangs each
// below the innermost one placed so far. Because sets only shrink, the object
// below which every CPU of a set was last placed contains the whole set.
func nest(objects []Object) *nested {
	slices.SortStableFunc(objects, func(a, b Object) int {
		return cmp.Or(-cmp.Compare(len(a.CPUs), len(b.CPUs)), cmp.Compare(a.Kind, b.Kind), slices.Compare(a.CPUs, b.CPUs), cmp.Compare(a.OS, b.OS))
	})
	n := &nested{}
	owner := make(map[int]int, len(objects[0].CPUs))
	for _, o := range objects {
		n.place(o, owner)
	}
	return n
}

func (n *nested) place(o Object, owner map[int]int) {
	if len(n.objects) == 0 {
		n.add(o, -1, false, owner)
		return
	}
	if len(o.CPUs) == 0 { // memory without CPUs of its own
		n.add(o, 0, true, nil)
		return
	}
	parent, whole := n.common(o.CPUs, owner)
	twin := whole && slices.Equal(n.objects[parent].CPUs, o.CPUs)
	memory := o.Kind == NUMA || o.Kind == SideCache
	switch {
	case o.Kind == Group && (twin || !whole):
		// Groups only express closeness; one that is what is there already, or
		// cuts through others, says nothing the tree could show.
	case twin && memory && o.Kind == n.objects[parent].Kind:
		// DRAM and HBM of the same CPUs: one lies around them, the other beside
		n.add(o, n.parent[n.memoryAround(parent)], true, nil)
	case twin && o.Kind == n.objects[parent].Kind:
		// the same resource told twice, once for each CPU
	case !memory && n.claimed(o):
		n.warn(fmt.Sprintf("%v with CPUs %v overlaps another; it is left out", o.Kind, term.ClipEnd(o.CPUs.String(), 41)))
	case twin && n.objects[parent].Kind == Group:
		n.objects[parent] = o
		n.claim(o)
	case !whole && o.Kind.holdsCPUsOnly():
		n.warn(fmt.Sprintf("%v with CPUs %v cuts through other resources; it is left out", o.Kind, term.ClipEnd(o.CPUs.String(), 41)))
	case !whole:
		n.warn(fmt.Sprintf("%v with CPUs %v cuts through other resources; it is drawn beside them", o.Kind, term.ClipEnd(o.CPUs.String(), 41)))
		n.add(o, 0, true, nil)
	default:
		n.add(o, parent, false, owner)
	}
}

// claimed reports whether a CPU of the object already lies in another of its
// kind: a CPU has one core, one package and one cache of each level.
func (n *nested) claimed(o Object) bool {
	taken := n.taken[o.Kind]
	return o.Kind != Group && taken != nil && slices.ContainsFunc(o.CPUs, func(cpu int) bool { return taken[cpu] })
}

func (n *nested) claim(o Object) {
	all := n.objects[0].CPUs
	if n.taken[o.Kind] == nil {
		n.taken[o.Kind] = make([]bool, all[len(all)-1]+1)
	}
	for _, cpu := range o.CPUs {
		n.taken[o.Kind][cpu] = true
	}
}

func (n *nested) memoryAround(i int) int {
	for n.parent[i] > 0 && n.objects[n.parent[i]].Kind == NUMA {
		i = n.parent[i]
	}
	return i
}

// warn keeps the first few warnings: a description that is wrong throughout
// does not need more.
func (n *nested) warn(text string) {
	if len(n.warnings) < 10 {
		n.warnings = append(n.warnings, text)
	}
}

func (n *nested) add(o Object, parent int, aside bool, owner map[int]int) {
	for _, cpu := range o.CPUs {
		if owner != nil {
			owner[cpu] = len(n.objects)
		}
	}
	n.objects = append(n.objects, o)
	n.parent = append(n.parent, parent)
	n.aside = append(n.aside, aside)
	n.claim(o)
}

func (n *nested) common(cpus CPUs, owner map[int]int) (int, bool) {
	first := owner[cpus[0]]
	for _, cpu := range cpus[1:] {
		if owner[cpu] != first {
			return 0, false
		}
	}
	return first, true
}

// flatten numbers the tree depth first, children by their lowest CPU, memory
// beside the CPUs last.
func (t *Topology) flatten(n *nested) {
	kids := make([][]int, len(n.objects))
	for i, p := range n.parent {
		if p >= 0 {
			kids[p] = append(kids[p], i)
		}
	}
	for _, k := range kids {
		slices.SortStableFunc(k, func(a, b int) int {
			return cmp.Or(compareBool(n.aside[a], n.aside[b]), compareSets(&n.objects[a], &n.objects[b]))
		})
	}
	numbers := map[Kind]int{}
	type open struct{ object, parent int }
	stack := []open{{0, -1}}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		i := t.append(n.objects[top.object], top.parent, n.aside[top.object], numbers)
		for _, kid := range slices.Backward(kids[top.object]) {
			stack = append(stack, open{kid, i})
		}
	}
	t.listDepths()
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func compareSets(a, b *Object) int {
	if len(a.CPUs) == 0 || len(b.CPUs) == 0 {
		return cmp.Or(-cmp.Compare(len(a.CPUs), len(b.CPUs)), cmp.Compare(a.OS, b.OS))
	}
	return cmp.Or(cmp.Compare(a.CPUs[0], b.CPUs[0]), cmp.Compare(a.OS, b.OS))
}

func (t *Topology) append(o Object, parent int, aside bool, numbers map[Kind]int) int {
	i := len(t.Resources)
	number := numbers[o.Kind]
	numbers[o.Kind]++
	if o.Kind == CPU || o.Kind == NUMA {
		number = o.OS
	}
	r := Resource{
		Index: i, Kind: o.Kind, ID: resourceID(o.Kind, number), Number: number, OS: o.OS,
		Name: resourceName(o.Kind, number), Size: o.Size, Line: o.Line, Ways: o.Ways,
		Model: o.Model, Memory: o.Memory, Tier: o.Tier, Bandwidth: o.Bandwidth, Delay: o.Delay, Parent: parent, CPUs: o.CPUs, Aside: aside,
	}
	switch o.Kind {
	case Machine:
		r.Name = cmp.Or(t.Name, "machine")
	case CPU:
		t.cpu[o.OS] = i
	case NUMA:
		t.node[o.OS] = i
	}
	t.byID[r.ID] = i
	t.Resources = append(t.Resources, r)
	if parent >= 0 {
		t.Resources[parent].Kids = append(t.Resources[parent].Kids, i)
	}
	return i
}

func resourceID(k Kind, number int) string {
	if k == Machine {
		return "Machine"
	}
	return fmt.Sprintf("%v:%d", k, number)
}

// resourceName marks numbers that are an order of ours with #, so that they are
// not taken for numbers of the operating system.
func resourceName(k Kind, number int) string {
	if k == CPU || k == NUMA {
		return fmt.Sprintf("%v %d", k, number)
	}
	return fmt.Sprintf("%v #%d", k, number)
}

// listDepths collects the resources of each kind. Groups express closeness of
// arbitrary things and are no depth: two of them may contain each other.
func (t *Topology) listDepths() {
	var at [kindCount][]int
	for i := range t.Resources {
		at[t.Resources[i].Kind] = append(at[t.Resources[i].Kind], i)
	}
	for k, list := range at {
		if len(list) > 0 && Kind(k) != Group {
			t.Depths = append(t.Depths, Depth{Kind(k), list})
		}
	}
}

func (t *Topology) checkDistances() error {
	d := t.Distances
	if d == nil {
		return nil
	}
	if len(d.Values) != len(d.Nodes)*len(d.Nodes) {
		return fmt.Errorf("%d distances for %d memory nodes, want %d", len(d.Values), len(d.Nodes), len(d.Nodes)*len(d.Nodes))
	}
	for _, v := range d.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("a distance between memory nodes is not a number")
		}
	}
	for _, os := range d.Nodes {
		if t.ByNode(os) == nil {
			return fmt.Errorf("distances name memory node %d, which does not exist", os)
		}
	}
	return nil
}

func (t *Topology) decorate(spec Spec) {
	for _, os := range spec.Blocked {
		if r := t.ByCPU(os); r != nil {
			r.Blocked = true
		}
	}
	for _, c := range spec.Classes {
		if len(spec.Classes) < 2 {
			break // all CPUs are alike
		}
		for _, os := range c.CPUs {
			if r := t.ByCPU(os); r != nil {
				r.Class = c.Name
			}
		}
	}
	root := t.Root()
	if root.Size == 0 {
		for i := range maps.Values(t.node) {
			root.Size += t.Resources[i].Size
		}
	}
}
