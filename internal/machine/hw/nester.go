package hw

import "errors"

// Nester collects the objects of a description whose nesting says which CPUs
// each one has: readers of XML open and close objects as elements start and
// end.
type Nester struct {
	Objects []Object

	cpus    []int
	open    []openObject
	inherit []int // memory whose CPUs are those of the object around it
	members int
}

type openObject struct {
	object Object
	first  int // in cpus
	memory int // in inherit
}

// maxDepth is far beyond real nesting (14 groups in the deepest file seen).
const maxDepth = 256

var (
	errTooDeep   = errors.New("objects are nested deeper than 256: not a description of a machine")
	errTooLarge  = errors.New("the objects hold too many CPUs: not a description of a machine")
	errUnbalance = errors.New("an object ends that did not begin")
)

// Open starts an object.
func (n *Nester) Open(o Object) error {
	if len(n.open) >= maxDepth {
		return errTooDeep
	}
	if o.Kind == CPU && !o.Instruction {
		if len(n.cpus) >= MaxCPUs {
			return errTooLarge
		}
		n.cpus = append(n.cpus, o.OS)
	}
	first := len(n.cpus)
	if o.Kind == CPU {
		first--
	}
	n.open = append(n.open, openObject{o, first, len(n.inherit)})
	return nil
}

// Close ends the object opened last. CPUs given beforehand are kept only for
// memory without CPUs inside, the leaves of newer hwloc files; without them such
// memory has the CPUs of the object around it.
func (n *Nester) Close() error {
	if len(n.open) == 0 {
		return errUnbalance
	}
	top := n.open[len(n.open)-1]
	n.open = n.open[:len(n.open)-1]
	o := top.object
	memory := o.Kind == NUMA || o.Kind == SideCache
	inside := n.cpus[max(top.first, 0):]
	if len(inside) > 0 || !memory {
		o.CPUs = NewCPUs(append([]int(nil), inside...))
	}
	n.members += len(o.CPUs)
	if n.members > maxMembers {
		return errTooLarge
	}
	n.Objects = append(n.Objects, o)
	switch {
	case memory && len(inside) == 0 && o.CPUs == nil:
		n.inherit = append(n.inherit, len(n.Objects)-1)
	case !memory:
		for _, i := range n.inherit[top.memory:] {
			n.Objects[i].CPUs = o.CPUs
		}
		n.inherit = n.inherit[:top.memory]
	}
	return nil
}

// SetModel names the processor of the object opened last.
func (n *Nester) SetModel(model string) {
	if len(n.open) > 0 {
		n.open[len(n.open)-1].object.Model = model
	}
}

// SetTier gives the tier of the memory opened last.
func (n *Nester) SetTier(tier string) {
	if len(n.open) > 0 {
		n.open[len(n.open)-1].object.Tier = tier
	}
}

// SetMemory gives the type of memory of the object opened last.
func (n *Nester) SetMemory(memory string) {
	if len(n.open) > 0 {
		n.open[len(n.open)-1].object.Memory = memory
	}
}
