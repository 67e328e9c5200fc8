package advice

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
)

// walk is how one instruction moves over one object.
type walk struct {
	last  uint64
	begun bool
	n     uint64
	step  uint64 // greatest common divisor of all its steps
	prior int64  // the last step
	same  uint64 // steps that equal the one before
	long  map[int64]uint64
}

type walkKey struct {
	object, code uint32
	thread       uint16
}

const (
	leastWalk   = 8    // steps before an instruction tells anything of elements
	maxElem     = 4096 // bytes of an element that is divided into fields
	leastRow    = 512  // bytes of a row
	maxFieldsOf = 64
)

// infer completes what is known of objects from the references to them: the
// element by the strides of the instructions that walk it, the fields by the
// bytes they touch, the row by the long strides.
//
// It returns which part of the steps over each object repeat the step before:
// what such instructions walk is computed, not looked up.
func infer(t *replay.Trace, table *layout.Table) (regular []float64) {
	adopt(t, table)
	walks := map[walkKey]*walk{}
	for i := range t.Accesses {
		a := &t.Accesses[i]
		if a.Object == 0 || table.Objects[a.Object].Stack {
			continue
		}
		k := walkKey{a.Object, a.Code, a.Thread}
		w := walks[k]
		if w == nil {
			w = &walk{long: map[int64]uint64{}}
			walks[k] = w
		}
		w.add(a.Addr)
	}
	steps, rows := map[uint32]uint64{}, map[uint32]map[int64]uint64{}
	regular, all := make([]float64, len(table.Objects)), make([]float64, len(table.Objects))
	for k, w := range walks {
		regular[k.object] += float64(w.same)
		all[k.object] += float64(w.n)
		if w.n < leastWalk {
			continue
		}
		steps[k.object] = gcd(steps[k.object], w.step)
		if rows[k.object] == nil {
			rows[k.object] = map[int64]uint64{}
		}
		for s, n := range w.long {
			rows[k.object][s] += n
		}
	}
	for _, o := range table.Objects[1:] {
		if o.Elem == 0 && o.Blocks == nil && steps[o.Number] > 0 && steps[o.Number] <= maxElem && steps[o.Number] <= o.Size/2 {
			o.Elem, o.Known = steps[o.Number], layout.Inferred
			o.EndElement()
		}
		if o.Rows == 0 && o.Blocks == nil {
			o.Rows = likelyRow(rows[o.Number], o)
		}
	}
	inferFields(t, table)
	for i := range regular {
		regular[i] /= max(all[i], 1)
	}
	return regular
}

func (w *walk) add(addr uint64) {
	d := int64(addr - w.last)
	w.last = addr
	if !w.begun {
		w.begun = true
		return
	}
	w.n++
	if d == w.prior {
		w.same++
	}
	w.prior = d
	if d == 0 {
		return
	}
	size := uint64(max(d, -d))
	w.step = gcd(w.step, size)
	if size >= leastRow && len(w.long) < 64 {
		w.long[int64(size)]++
	} else if n, ok := w.long[int64(size)]; ok {
		w.long[int64(size)] = n + 1
	}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// likelyRow is the most frequent long stride, if it fits the object.
func likelyRow(strides map[int64]uint64, o *layout.Object) uint64 {
	best, most := uint64(0), uint64(0)
	for s, n := range strides {
		if n > most || n == most && uint64(s) < best {
			best, most = uint64(s), n
		}
	}
	if most < leastWalk || best > o.Size/2 || o.Elem > 0 && best%o.Elem != 0 {
		return 0
	}
	return best
}

// inferFields divides elements of known size and unknown fields into the byte
// ranges that references touch, and the holes between them.
func inferFields(t *replay.Trace, table *layout.Table) {
	touched := map[uint32]map[[2]uint64]uint64{}
	for _, o := range table.Objects[1:] {
		if o.Blocks != nil && o.Elem == 0 {
			o.Elem = blockSize(t, o)
		}
		if len(o.Fields) == 0 && o.Elem > 8 && o.Elem <= maxElem && !o.Stack {
			touched[o.Number] = map[[2]uint64]uint64{}
		}
	}
	for i := range t.Accesses {
		a := &t.Accesses[i]
		if m := touched[a.Object]; m != nil && len(m) < 4*maxFieldsOf {
			_, off := table.Objects[a.Object].Locate(a.Addr)
			m[[2]uint64{off, uint64(a.Size)}]++
		}
	}
	for n, m := range touched {
		o := table.Objects[n]
		if f := fieldsOf(m, o.Elem); len(f) > 1 && len(f) <= maxFieldsOf {
			o.Fields = f
			if o.Known != layout.ByUser {
				o.Known = layout.Inferred
			}
		}
	}
}

// blockSize is how many bytes from their start are touched of the blocks of a
// group.
func blockSize(t *replay.Trace, o *layout.Object) uint64 {
	size := uint64(0)
	for i := range t.Accesses {
		if a := &t.Accesses[i]; a.Object == o.Number {
			_, off := o.Locate(a.Addr)
			size = max(size, off+uint64(a.Size))
		}
	}
	return (size + 7) / 8 * 8
}

// fieldsOf makes fields from touched ranges: overlapping ones are one field.
func fieldsOf(m map[[2]uint64]uint64, elem uint64) []layout.Field {
	var ranges [][2]uint64
	for r := range m {
		ranges = append(ranges, [2]uint64{r[0], min(r[0]+r[1], elem)})
	}
	slices.SortFunc(ranges, func(a, b [2]uint64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	var out []layout.Field
	add := func(from, to uint64) {
		if from < to {
			out = append(out, layout.Field{Name: fmt.Sprintf("at_%d", from), Offset: from, Size: to - from})
		}
	}
	end := uint64(0)
	for i := 0; i < len(ranges); {
		from, to := ranges[i][0], ranges[i][1]
		for i++; i < len(ranges) && ranges[i][0] < to; i++ {
			to = max(to, ranges[i][1])
		}
		add(end, from)
		add(from, to)
		end = to
	}
	add(end, elem)
	return out
}
