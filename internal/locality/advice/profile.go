package advice

import (
	"cmp"
	"context"
	"slices"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// profile is what the candidates for an object are made from.
type profile struct {
	object *layout.Object
	cost   float64 // modelled, of the misses of its references
	refs   uint64
	fields []uint64   // references by field
	pairs  [][]uint64 // visits of an element that touch both fields
	visits uint64     // of elements
	// firstUse is the elements in order of their first visit; many is how many
	// have a second one.
	firstUse []uint32
	many     uint64
	traffic  *replay.Traffic // with memory, where it has several nodes
	regular  float64         // part of the steps over it that repeat the step before
	fortran  bool            // what uses it is written in Fortran
	line     string          // file:line of most of its cost; empty if it is not known
}

// profiles replays the base and gathers what is known of every object.
func profiles(ctx context.Context, t *replay.Trace, table *layout.Table, m *platform.Machine) (base replay.Counts, byObject []*profile, err error) {
	byObject = make([]*profile, len(table.Objects))
	for i, o := range table.Objects {
		if o != nil {
			byObject[i] = newProfile(o)
		}
	}
	charged, err := replay.Charge(ctx, t, m, len(table.Objects))
	if err != nil {
		return base, nil, err
	}
	for i, c := range charged.Costs[1:] {
		byObject[i+1].cost = c
		if charged.Traffic != nil {
			byObject[i+1].traffic = &charged.Traffic[i+1]
		}
	}
	for i := range t.Accesses {
		a := &t.Accesses[i]
		if p := byObject[a.Object]; p != nil {
			p.refs++
		}
	}
	costliestLines(t, charged.Places, byObject)
	return charged.Counts, byObject, nil
}

// costliestLines finds the line of each object that costs most.
func costliestLines(t *replay.Trace, places []replay.ChargedPlace, byObject []*profile) {
	costs := make([]map[string]float64, len(byObject))
	for _, c := range places {
		p := byObject[c.Object]
		if p == nil || int(c.Place) >= len(t.Places) {
			continue
		}
		text := placeText(t.Places[c.Place])
		if text == "" {
			continue
		}
		if costs[c.Object] == nil {
			costs[c.Object] = map[string]float64{}
		}
		costs[c.Object][text] += c.Cost
		if most := costs[c.Object]; p.line == "" || most[text] > most[p.line] {
			p.line = text
		}
	}
}

func newProfile(o *layout.Object) *profile {
	return &profile{object: o}
}

// visit is the element of an object that a thread is at.
type visit struct {
	element uint64
	fields  uint64 // those touched, one bit each
	begun   bool
}

// maxElements bounds the elements whose first use is kept.
const maxElements = 1 << 26

// study counts fields, pairs of fields and visits of elements of one object.
// References to other objects between do not end a visit: a loop over two arrays
// interleaves them.
func (p *profile) study(t *replay.Trace) {
	o := p.object
	n := o.Elements()
	if o.Elem == 0 || n < 2 || n > maxElements {
		return
	}
	p.fields = make([]uint64, len(o.Fields))
	p.pairs = make([][]uint64, len(o.Fields))
	for i := range p.pairs {
		p.pairs[i] = make([]uint64, len(o.Fields))
	}
	times := make([]uint8, n)
	at := make([]visit, len(t.Threads))
	for i := range t.Accesses {
		a := &t.Accesses[i]
		if a.Object != o.Number {
			continue
		}
		element, offset := o.Locate(a.Addr)
		if element >= n {
			continue
		}
		p.fortran = p.fortran || p.visits == 0 && t.Place(a).Fortran()
		v := &at[a.Thread]
		if !v.begun || v.element != element {
			p.leave(v)
			*v = visit{element: element, begun: true}
			if times[element] == 0 {
				p.firstUse = append(p.firstUse, uint32(element))
			}
			if times[element] < 2 {
				if times[element]++; times[element] == 2 {
					p.many++
				}
			}
			p.visits++
		}
		if f := o.Field(offset); f >= 0 {
			p.fields[f]++
			if f < maxFieldsOf {
				v.fields |= 1 << f
			}
		}
	}
	for i := range at {
		p.leave(&at[i])
	}
}

// leave counts the pairs of fields that a visit touched.
func (p *profile) leave(v *visit) {
	for i := range p.pairs {
		if v.fields>>i&1 == 0 {
			continue
		}
		for j := range p.pairs {
			if v.fields>>j&1 == 1 {
				p.pairs[i][j]++
			}
		}
	}
}

// hot lists the fields with at least a tenth of the references of the hottest,
// in order of offset; cold the others.
func (p *profile) hot() (hot, cold []int) {
	most := slices.Max(p.fields)
	for f, n := range p.fields {
		if n > 0 && 10*n >= most {
			hot = append(hot, f)
		} else {
			cold = append(cold, f)
		}
	}
	return hot, cold
}

// chain orders the fields so that those visited together lie side by side: from
// the hottest on, each time the one visited most often with those before it.
func (p *profile) chain() []int {
	left := make([]int, len(p.fields))
	for i := range left {
		left[i] = i
	}
	slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(p.fields[b], p.fields[a]) })
	out := []int{left[0]}
	left = left[1:]
	for len(left) > 0 {
		best := 0
		for i := range left {
			if p.affinity(out, left[i]) > p.affinity(out, left[best]) {
				best = i
			}
		}
		out = append(out, left[best])
		left = slices.Delete(left, best, best+1)
	}
	return out
}

func (p *profile) affinity(chosen []int, f int) (n uint64) {
	for _, c := range chosen {
		n += p.pairs[c][f]
	}
	return n
}
