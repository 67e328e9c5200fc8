// Package cycle finds the loops that memory traffic runs in: windows of a
// reference trace become points, persistent cohomology finds the circles the
// points lie on, and the trace is followed around each circle.
//
// The method is that of Choudhury, Wang, Rosen and Pascucci, "Topological
// Analysis and Visualization of Cyclical Behavior in Memory Reference Traces"
// (PacificVis 2012), with exact closed windings added.
package cycle

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/isobath/isobath/internal/data/refs"
)

// Symbol says what two references must share to count as the same.
type Symbol uint8

// The symbols. PC gives the loop structure of the code; the others look at
// data, and grow finer from CacheLine to PCAddr.
const (
	PC Symbol = iota
	Line
	Addr
	OpAddr
	PCAddr
	CacheLine
	Object
)

var symbolNames = []string{"pc", "line", "addr", "op+addr", "pc+addr", "cacheline", "object"}

func (s Symbol) String() string { return symbolNames[s] }

// ParseSymbol reads the name of a symbol.
func ParseSymbol(name string) (Symbol, error) {
	for i, n := range symbolNames {
		if n == name || strings.ReplaceAll(n, "+", "") == name {
			return Symbol(i), nil
		}
	}
	return 0, fmt.Errorf("symbol %q: want %s", name, strings.Join(symbolNames, ", "))
}

// needsPC reports whether the symbol is made from the instruction address.
func (s Symbol) needsPC() bool { return s == PC || s == PCAddr }

// Resolver finds the source of an instruction.
type Resolver interface {
	Line(pc uint64) (file string, line int, function string)
}

// Objects finds the data object an address lies in. Objects of one kind share
// symbols: the same walk over two arrays of a kind is the same pattern.
type Objects interface {
	Object(addr uint64) (kind uint32, base uint64, ok bool)
	ObjectName(kind uint32) string
}

// Input says which references of a trace to take and what to see in them.
type Input struct {
	Symbol   Symbol
	Every    int      // keep one record in Every of each thread; 0 and 1 keep all
	From, To uint64   // records of the file, half open; To 0 is the end
	Thread   *uint32  // this thread only
	Resolver Resolver // may be nil
	Objects  Objects  // may be nil unless Symbol is Object and the trace has none
	Operands bool     // keep what each reference does, and to which object
	// Answered returns which level of a memory answers a reference, 0 is the
	// nearest; nil keeps none. It is asked of every reference, in order.
	Answered func(*refs.Ref) uint8
	Expect   int    // about how many references there are; 0 if unknown
	Files    *Files // where long traces go; nil keeps them in memory
	Progress func(records uint64)
}

// Trace is the references of one thread as a string of symbols.
type Trace struct {
	Thread  uint32
	Symbol  Symbol
	Every   int
	Records uint64   // references of this thread before sampling
	Syms    []uint32 // one per kept record; numbered by first appearance
	Symbols int      // how many distinct ones
	// Where gives for every kept record an index into Sites. It is nil when
	// the trace has neither instructions nor lines. With Symbol PC it is Syms
	// itself.
	Where []uint32
	Sites []Site
	First uint64 // number in the file of the first kept record
	// Ops and Object are what every kept record does and an index into Objects;
	// nil unless asked for. Memory that nothing names is one object a region.
	Ops     []refs.Op
	Object  []uint16
	Objects []string
	// Strides say how far each kept record is from the one before of its site; nil
	// unless operands were asked for. Levels are what Answered said.
	Strides []Stride
	Levels  []uint8

	files *Files // of Syms and Where
}

// Stride is how far a reference is from the one before by the same instruction.
type Stride uint8

// The strides, by what a memory system makes of them.
const (
	SameAddress Stride = iota
	WithinLine
	WithinPage
	Farther
)

// strideOf tells how far two addresses are apart.
func strideOf(from, to uint64) Stride {
	d := max(to, from) - min(to, from)
	switch {
	case d == 0:
		return SameAddress
	case d < 64:
		return WithinLine
	case d < 4096:
		return WithinPage
	}
	return Farther
}

// Site is one instruction of the program, or one source line where the trace
// has no instructions.
type Site struct {
	PC    uint64
	Place refs.Place
	// Slot is the address the site touches, if it is always the same one and
	// on the stack: a local variable, a saved register, a return address.
	Slot uint64

	addr   uint64 // the first address
	last   uint64 // the newest
	varies bool
}

type builder struct {
	*Trace
	syms    strand
	where   strand // of other symbols than PC; empty until there is a site
	ids     *refs.Memo
	sites   *refs.Memo
	highest uint64 // address touched
	objects operands
}

// stackSize is the default limit of a main thread's stack, which lies above
// everything else.
const stackSize = 8 << 20

func (b *builder) slots() {
	for i := range b.Sites {
		if s := &b.Sites[i]; !s.varies && b.highest-s.addr < stackSize {
			s.Slot = s.addr
		}
	}
}

// Load reads a trace and returns one string of symbols per thread, in order of
// first appearance.
func Load(ctx context.Context, src refs.Source, in Input) ([]*Trace, error) {
	has := src.About().Has
	if err := in.check(has); err != nil {
		return nil, err
	}
	l := &loader{in: in, src: src, byThread: map[uint32]*builder{}}
	err := refs.Each(src, func(batch []refs.Ref) error {
		for i := range batch {
			if err := l.add(&batch[i]); err != nil {
				return err
			}
		}
		if in.Progress != nil {
			in.Progress(l.seq)
		}
		if in.To != 0 && l.seq >= in.To {
			return errEnough
		}
		return ctx.Err()
	})
	if err != nil && err != errEnough {
		return nil, err
	}
	// gem5 and lackey only know at the end whether instructions were there.
	if err := in.check(src.About().Has); err != nil {
		return nil, err
	}
	return l.traces()
}

var errEnough = fmt.Errorf("the wanted range is read")

func (in *Input) check(has refs.Fields) error {
	switch {
	case in.Symbol.needsPC() && has&refs.HasPC == 0:
		return fmt.Errorf("the trace has no instruction addresses; use --symbol addr or cacheline")
	case in.Symbol == Line && has&refs.HasPlace == 0 && in.Resolver == nil:
		return fmt.Errorf("the trace has no source lines; give the program with --binary, or use --symbol pc")
	case in.Symbol == Object && in.Objects == nil && has&refs.HasObject == 0:
		return fmt.Errorf("objects are not known; give the program with --binary, or use --symbol addr")
	}
	return nil
}

type loader struct {
	in       Input
	src      refs.Source
	byThread map[uint32]*builder
	order    []*builder
	last     *builder // of the reference before
	seq      uint64
}

func (l *loader) add(ref *refs.Ref) error {
	seq := l.seq
	l.seq++
	level := uint8(0)
	if l.in.Answered != nil {
		level = l.in.Answered(ref)
	}
	if seq < l.in.From || l.in.To != 0 && seq >= l.in.To || l.in.Thread != nil && ref.Thread != *l.in.Thread {
		return nil
	}
	b := l.last
	if b == nil || b.Thread != ref.Thread {
		b = l.byThread[ref.Thread]
	}
	if b == nil {
		b = &builder{
			Trace: &Trace{Thread: ref.Thread, Symbol: l.in.Symbol, Every: max(1, l.in.Every), First: seq, files: l.in.Files},
			ids:   refs.NewMemo(), sites: refs.NewMemo(), syms: strand{files: l.in.Files}, where: strand{files: l.in.Files},
		}
		l.byThread[ref.Thread] = b
		l.order = append(l.order, b)
	}
	l.last = b
	n := b.Records
	b.Records++
	if b.Every > 1 && n%uint64(b.Every) != 0 {
		return nil
	}
	if b.syms.n == 0 && l.in.Files == nil && l.in.Expect > 0 && len(l.order) == 1 {
		b.reserve(l.in)
	}
	if b.syms.n == math.MaxInt32 {
		return fmt.Errorf("thread %d has more than %d references; use --range or --every", b.Thread, math.MaxInt32)
	}
	sym := b.ids.Number(l.key(ref))
	b.syms.add(sym)
	stride := l.site(b, ref, sym)
	if l.in.Answered != nil {
		b.Levels = append(b.Levels, level)
	}
	if l.in.Operands {
		b.Strides = append(b.Strides, stride)
		b.highest = max(b.highest, ref.Addr) // site has skipped those without one
		b.Ops = append(b.Ops, ref.Op)
		b.Object = append(b.Object, b.objects.number(ref, l))
	}
	return nil
}

// reserve makes room for the first thread's references, nearly always all there
// are: growing by doubling copies and faults in each of them once more.
func (b *builder) reserve(in Input) {
	n := min(in.Expect, math.MaxInt32)
	if in.To != 0 {
		n = min(n, int(min(in.To, math.MaxInt32)))
	}
	n = max(0, n-int(min(in.From, math.MaxInt32)))/b.Every + 1
	b.syms.here = make([]uint32, 0, n)
	if in.Operands {
		b.Ops, b.Object, b.Strides = make([]refs.Op, 0, n), make([]uint16, 0, n), make([]Stride, 0, n)
	}
}

func (l *loader) key(ref *refs.Ref) refs.Key {
	switch l.in.Symbol {
	case PC:
		return refs.Key{ref.PC}
	case Line:
		return l.lineKey(ref)
	case Addr:
		return refs.Key{ref.Addr}
	case OpAddr:
		return refs.Key{ref.Addr, uint64(ref.Op)}
	case PCAddr:
		return refs.Key{ref.Addr, ref.PC}
	case CacheLine:
		return refs.Key{ref.Addr >> 6}
	}
	return l.objectKey(ref)
}

// objectKey is where in its object a reference lies. Objects of one name are of
// one kind.
func (l *loader) objectKey(ref *refs.Ref) refs.Key {
	if known := l.src.About().Objects; ref.Object > 0 && int(ref.Object) < len(known) {
		o := known[ref.Object]
		return refs.Key{ref.Addr - o.Start, hashText(o.Name)}
	}
	if l.in.Objects == nil {
		return refs.Key{ref.Addr, 0}
	}
	kind, base, ok := l.in.Objects.Object(ref.Addr)
	if !ok {
		return refs.Key{ref.Addr, 0}
	}
	return refs.Key{ref.Addr - base, uint64(kind) + 1}
}

// lineKey makes one symbol of a source line, whatever function it is inlined
// into. Without a line the function stands in, then the instruction.
func (l *loader) lineKey(ref *refs.Ref) refs.Key {
	p := l.place(ref)
	if p.Line == 0 && p.File == "" {
		return refs.Key{hashText(p.Function), ref.PC}
	}
	return refs.Key{hashText(p.File), uint64(p.Line)}
}

func hashText(s string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func (l *loader) place(ref *refs.Ref) refs.Place {
	if places := l.src.About().Places; ref.Place != 0 && int(ref.Place) < len(places) {
		return places[ref.Place]
	}
	if l.in.Resolver == nil {
		return refs.Place{}
	}
	file, line, function := l.in.Resolver.Line(ref.PC)
	return refs.Place{Function: function, File: file, Line: line}
}

// site notes where the record comes from. With symbol PC the sites are the
// symbols, one an instruction. It returns how far the site moved.
func (l *loader) site(b *builder, ref *refs.Ref, sym uint32) Stride {
	id := sym
	if l.in.Symbol == PC {
		if int(id) == len(b.Sites) {
			b.Sites = append(b.Sites, Site{PC: ref.PC, Place: l.place(ref), addr: ref.Addr, last: ref.Addr})
		}
	} else {
		var ok bool
		if id, ok = l.where(b, ref); !ok {
			return SameAddress
		}
		b.where.add(id)
	}
	s := &b.Sites[id]
	s.varies = s.varies || s.addr != ref.Addr
	stride := strideOf(s.last, ref.Addr)
	s.last = ref.Addr
	b.highest = max(b.highest, ref.Addr)
	return stride
}

// where numbers the instruction, or the source line, that a record comes from;
// not ok if it has neither.
func (l *loader) where(b *builder, ref *refs.Ref) (id uint32, ok bool) {
	if ref.PC == 0 && ref.Place == 0 {
		if len(b.Sites) > 0 {
			b.where.add(0)
		}
		return 0, false
	}
	k := refs.Key{ref.PC, 0}
	if ref.PC == 0 {
		k = refs.Key{0, uint64(ref.Place)}
	}
	if id, ok = b.sites.Get(k); ok {
		return id, true
	}
	if len(b.Sites) == 0 {
		b.where.here = make([]uint32, 0, cap(b.syms.here))
		if before := b.syms.n - 1; before > 0 {
			b.where.pad(before)
			b.Sites = append(b.Sites, Site{}) // records before had no site
			b.sites.Put(refs.Key{}, 0)
		}
	}
	id = uint32(len(b.Sites))
	b.sites.Put(k, id)
	b.Sites = append(b.Sites, Site{PC: ref.PC, Place: l.place(ref), addr: ref.Addr, last: ref.Addr})
	return id, true
}

func (l *loader) traces() ([]*Trace, error) {
	var out []*Trace
	for _, b := range l.order {
		var err error
		if b.Syms, err = b.syms.all(); err != nil {
			return nil, err
		}
		if b.Where, err = b.where.all(); err != nil {
			return nil, err
		}
		b.Symbols = b.ids.Len()
		b.slots()
		if l.in.Operands {
			b.Objects = b.objects.names(b.highest)
			b.Object = b.objects.merge(b.Object)
		}
		if b.Symbol == PC {
			b.Where = b.Syms
		}
		out = append(out, b.Trace)
	}
	return out, nil
}
