package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
)

// lineBytes is what alignments and paddings are made for.
const lineBytes = 64

// hugeLeast is the size from which an object is worth pages of 2 MiB.
const hugeLeast = 2 << 20

// layouts makes the changes of one object.
func (f *finder) layouts(p *profile) (out []*Advice) {
	add := func(a *Advice, err error) {
		if err == nil && a != nil && f.wants(a.Kind) {
			a.Object, a.References, a.Line = p.object, p.refs, p.line
			if p.fortran && a.Kind != Split && a.Kind != SoA && a.Kind != Reorder {
				a.Code = inC(a.Code)
			}
			out = append(out, a)
		}
	}
	if len(p.fields) > 1 && slices.Max(p.fields) > 0 {
		add(splitOf(p))
		add(soaOf(p))
		add(reorderOf(p))
	}
	add(alignOf(p))
	for _, more := range []uint64{lineBytes, 2 * lineBytes} {
		add(padOf(p, more))
	}
	if a, err := orderOf(p); err == nil && a != nil && f.wants(Order) && f.canMove(p) {
		add(a, nil)
	}
	add(hugeOf(p))
	for _, a := range placesOf(p, f.Machine) {
		add(a, nil)
	}
	return out
}

// structOf lays fields out one after another as C does, and returns where each
// begins, and the size.
func structOf(o *layout.Object, fields []int) (offsets []uint64, size uint64) {
	most := uint64(1)
	for _, f := range fields {
		a := alignOfField(o.Fields[f])
		most = max(most, a)
		size = (size + a - 1) / a * a
		offsets = append(offsets, size)
		size += o.Fields[f].Size
	}
	return offsets, (size + most - 1) / most * most
}

// alignOfField is the alignment of the field's type. Where that is not known it
// is the largest up to eight that its place and size allow: the type has no
// larger one, or it would lie elsewhere. So does a field of a packed structure.
func alignOfField(f layout.Field) uint64 {
	a := f.Align
	if a == 0 {
		a = 8
		for a > 1 && f.Size%a != 0 {
			a /= 2
		}
	}
	for a > 1 && f.Offset%a != 0 {
		a /= 2
	}
	return a
}

func moves(o *layout.Object, part int, fields []int, offsets []uint64) (out []replay.Move) {
	for i, f := range fields {
		out = append(out, replay.Move{From: o.Fields[f].Offset, Size: o.Fields[f].Size, Part: part, To: offsets[i]})
	}
	return out
}

func names(o *layout.Object, fields []int) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = o.Fields[f].Name
	}
	return strings.Join(all, ", ")
}

func splitOf(p *profile) (*Advice, error) {
	hot, cold := p.hot()
	if len(cold) == 0 || len(hot) == 0 {
		return nil, nil
	}
	o := p.object
	hotAt, hotSize := structOf(o, hot)
	coldAt, coldSize := structOf(o, cold)
	c, err := replay.NewChange(o, o.Elem, []replay.Part{{Name: o.Name + ".hot", Stride: hotSize}, {Name: o.Name + ".cold", Stride: coldSize}},
		append(moves(o, 0, hot, hotAt), moves(o, 1, cold, coldAt)...))
	if err != nil {
		return nil, err
	}
	return &Advice{Kind: Split, What: fmt.Sprintf("%s apart from %s", names(o, hot), names(o, cold)), plan: &replay.Plan{Changes: []*replay.Change{c}},
		Code:    p.structCode("hot", hot, hotAt, hotSize) + p.structCode("cold", cold, coldAt, coldSize) + p.partsCode(),
		Map:     fmt.Sprintf("object %s fields %s to %s; rest to %s\n", quote(o.Name), list(o, hot), quote(o.Name+".hot"), quote(o.Name+".cold")),
		Assumes: []string{"elements are reached by number, or by pointers that the change follows"}}, nil
}

// maxSoA bounds the arrays that an array of structures becomes.
const maxSoA = 32

func soaOf(p *profile) (*Advice, error) {
	o := p.object
	if len(o.Fields) > maxSoA {
		return nil, nil
	}
	var parts []replay.Part
	var all []replay.Move
	var code strings.Builder
	for i, f := range o.Fields {
		parts = append(parts, replay.Part{Name: o.Name + "." + f.Name, Stride: f.Size})
		all = append(all, replay.Move{From: f.Offset, Size: f.Size, Part: i})
		code.WriteString(p.arrayCode(f))
	}
	c, err := replay.NewChange(o, o.Elem, parts, all)
	if err != nil {
		return nil, err
	}
	return &Advice{Kind: SoA, What: "one array a field", plan: &replay.Plan{Changes: []*replay.Change{c}},
		Code: p.comment() + " in place of the array " + o.Name + " of structures:\n" + code.String(), Map: fmt.Sprintf("object %s soa\n", quote(o.Name)),
		Assumes: []string{"elements are reached by number: a pointer to one becomes its number"}}, nil
}

func reorderOf(p *profile) (*Advice, error) {
	o := p.object
	order := p.chain()
	if slices.IsSorted(order) {
		return nil, nil
	}
	at, size := structOf(o, order)
	size = max(size, 1)
	c, err := replay.NewChange(o, o.Elem, []replay.Part{{Name: o.Name, Stride: size}}, moves(o, 0, order, at))
	if err != nil {
		return nil, err
	}
	return &Advice{Kind: Reorder, What: names(o, order), plan: &replay.Plan{Changes: []*replay.Change{c}}, Code: p.structCode("", order, at, size),
		Map: fmt.Sprintf("object %s fields %s\n", quote(o.Name), list(o, order)), Assumes: []string{"nothing relies on the order of the fields in memory"}}, nil
}

func alignOf(p *profile) (*Advice, error) {
	o := p.object
	if o.Blocks != nil || o.Elem == 0 || o.Elem%32 != 0 || o.Start%lineBytes == 0 || o.Elements() < 2 {
		return nil, nil
	}
	c, err := whole(o, o.Elem, o.Elem)
	if err != nil {
		return nil, err
	}
	c.Parts[0].Align = lineBytes
	code := called(o) + fmt.Sprintf("%s = aligned_alloc(%d, %d);\n", variable(o), lineBytes, (o.Size+lineBytes-1)/lineBytes*lineBytes)
	if isVariable(o) {
		code = fmt.Sprintf("_Alignas(%d) … %s …; // where it is declared\n", lineBytes, variable(o))
	}
	return &Advice{Kind: Align, What: fmt.Sprintf("start at a multiple of %d; now %d beyond one", lineBytes, o.Start%lineBytes), plan: &replay.Plan{Changes: []*replay.Change{c}}, Code: code,
		Map: fmt.Sprintf("object %s start 0 of %d\n", quote(o.Name), lineBytes)}, nil
}

// whole moves elements as they are, to another stride.
func whole(o *layout.Object, elem, stride uint64) (*replay.Change, error) {
	return replay.NewChange(o, elem, []replay.Part{{Name: o.Name, Stride: stride}}, []replay.Move{{Size: elem, Part: 0}})
}

func padOf(p *profile, more uint64) (*Advice, error) {
	o := p.object
	if o.Rows < leastRow || o.Rows*2 > o.Size || o.Blocks != nil {
		return nil, nil
	}
	c, err := whole(o, o.Rows, o.Rows+more)
	if err != nil {
		return nil, err
	}
	a := &Advice{Kind: Pad, What: fmt.Sprintf("rows of %d bytes in place of %d", o.Rows+more, o.Rows), plan: &replay.Plan{Changes: []*replay.Change{c}},
		Map: fmt.Sprintf("object %s element %d is %d\n", quote(o.Name), o.Rows, o.Rows+more), Assumes: []string{"rows are reached by number"}}
	switch {
	case o.Known == layout.Inferred: // elements may be what the steps are, not what the type is
		a.Code = fmt.Sprintf("// %s: each row %d bytes longer, which are never used\nchar %s[%d][%d + %d];\n", o.Name, more, variable(o), o.Size/o.Rows, o.Rows, more)
	case o.Elem > 0 && o.Elem <= more:
		a.Code = fmt.Sprintf("// %s: each row %d elements longer, which are never used\n%s[%d][%d + %d];\n", o.Name, more/o.Elem, variable(o), o.Size/o.Rows, o.Rows/o.Elem, more/o.Elem)
	default:
		a.Code = fmt.Sprintf("// %s: a row every %d bytes in place of %d\n", o.Name, o.Rows+more, o.Rows)
	}
	return a, nil
}

// orderOf puts elements in the order of their first use. It rewards reading a
// table once in random order too, so most elements must be visited again; and
// elements whose places are computed by a constant step cannot change them.
func orderOf(p *profile) (*Advice, error) {
	o := p.object
	n := o.Elements()
	if o.Elem == 0 || n < 16 || len(p.firstUse) == 0 || 2*p.many <= uint64(len(p.firstUse)) || p.regular > 0.5 {
		return nil, nil
	}
	c, err := whole(o, o.Elem, o.Elem)
	if err != nil {
		return nil, err
	}
	c.Order = make([]uint32, c.Elements())
	for i := range c.Order {
		c.Order[i] = ^uint32(0)
	}
	for rank, e := range p.firstUse {
		c.Order[e] = uint32(rank)
	}
	next := uint32(len(p.firstUse))
	sorted := true
	for i, rank := range c.Order {
		if rank == ^uint32(0) {
			c.Order[i] = next
			next++
		}
		sorted = sorted && c.Order[i] == uint32(i)
	}
	if sorted {
		return nil, nil
	}
	return &Advice{Kind: Order, What: "elements in the order of their first use", plan: &replay.Plan{Changes: []*replay.Change{c}},
		Code: fmt.Sprintf("// allocate or sort the elements of %s in the order in which they are walked\n", o.Name), Map: fmt.Sprintf("object %s order first-use\n", quote(o.Name)),
		Assumes: []string{"elements are reached by pointers or by stored numbers, which then change with them: one whose place is computed must stay",
			"proven for the recorded input only: another input walks in another order"}}, nil
}

// canMove reports whether the elements of an object can be kept in another order;
// of one whose misses are worth a change it says why not. Pointers that change
// cannot be told from places that are computed.
func (f *finder) canMove(p *profile) bool {
	if p.cost < f.Least*f.result.Cost {
		return false
	}
	if of, unused := p.unusedBetween(); leastUnused*float64(of) < float64(unused) {
		f.note("the elements of %s are not offered in the order of their first use: %d of the %d from the first to the last that is used never are, and nothing tells whether the places of the others are stored or computed", p.object.Name, unused, of)
		return false
	}
	r := p.reachOf(f.trace)
	if r.byStored() {
		return true
	}
	known, led := r.best()
	if known == 0 {
		f.note("the elements of %s are not offered in the order of their first use: no load came before them twice, so that nothing tells whether their places are stored or computed", p.object.Name)
		return false
	}
	f.note("the elements of %s are not offered in the order of their first use: what leads to them is not stored, or changes as the program runs: of %d visits after a load from a place that led to an element before, %d went to the same element",
		p.object.Name, known, led)
	return false
}

func hugeOf(p *profile) (*Advice, error) {
	o := p.object
	if o.Size < hugeLeast {
		return nil, nil
	}
	return &Advice{Kind: Huge, What: "pages of 2 MiB", plan: &replay.Plan{Huge: map[uint32]bool{o.Number: true}},
		Code: called(o) + fmt.Sprintf("madvise(%s, %d, MADV_HUGEPAGE); // aligned to 2 MiB\n", variable(o), o.Size), Map: fmt.Sprintf("pages 2M for %s\n", quote(o.Name)),
		Assumes: []string{"the system has free pages of 2 MiB"}}, nil
}
