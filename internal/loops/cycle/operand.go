package cycle

import (
	"fmt"
	"math"

	"github.com/isobath/isobath/internal/data/refs"
)

// operands numbers the objects that references touch: those that the trace
// names, then those that the program's symbols name, then regions of memory
// that nothing names.
type operands struct {
	ids    map[string]uint16
	keys   []operand
	merged []uint16 // by number: the number it ends with
	// The object before: most references stay near the last one.
	last  uint16
	of    uint32 // object of the trace
	chunk uint64 // or chunk of memory
}

// operand is an object before it has its last name: a chunk of unnamed memory
// turns out to be stack only when the highest address is known.
type operand struct {
	name  string
	chunk uint64
}

// chunkSize divides memory that has no names: larger than any array on a
// stack, smaller than the distance between a heap and a stack.
const chunkSize = 1 << 20

const outside = math.MaxUint64 // no chunk

// number returns the number of a reference's object.
func (o *operands) number(ref *refs.Ref, l *loader) uint16 {
	if o.ids == nil {
		o.ids, o.chunk = map[string]uint16{}, outside
	}
	if known := l.src.About().Objects; ref.Object > 0 && int(ref.Object) < len(known) {
		if o.of != ref.Object || len(o.keys) == 0 {
			o.last, o.of, o.chunk = o.intern(operand{known[ref.Object].Name, outside}), ref.Object, outside
		}
		return o.last
	}
	o.of = 0
	if l.in.Objects != nil {
		if kind, _, ok := l.in.Objects.Object(ref.Addr); ok {
			return o.intern(operand{l.in.Objects.ObjectName(kind), outside})
		}
	}
	if chunk := ref.Addr / chunkSize; chunk != o.chunk {
		o.last, o.chunk = o.intern(operand{fmt.Sprintf("memory at %#x", chunk*chunkSize), chunk}), chunk
	}
	return o.last
}

func (o *operands) intern(k operand) uint16 {
	id, ok := o.ids[k.name]
	if !ok {
		if len(o.keys) == math.MaxUint16 {
			return math.MaxUint16 // too many to tell apart: has no name
		}
		id = uint16(len(o.keys))
		o.ids[k.name] = id
		o.keys = append(o.keys, k)
	}
	return id
}

// names returns the names of all objects; the unnamed memory below the highest
// address is the stack.
func (o *operands) names(highest uint64) []string {
	ids := map[string]uint16{}
	var out []string
	for _, k := range o.keys {
		if k.chunk != outside && highest-k.chunk*chunkSize < stackSize+chunkSize {
			k.name = "stack"
		}
		id, ok := ids[k.name]
		if !ok {
			id = uint16(len(out))
			ids[k.name] = id
			out = append(out, k.name)
		}
		o.merged = append(o.merged, id)
	}
	return out
}

// merge renumbers what names has given one name.
func (o *operands) merge(list []uint16) []uint16 {
	for i, k := range list {
		if int(k) < len(o.merged) {
			list[i] = o.merged[k]
		}
	}
	return list
}
