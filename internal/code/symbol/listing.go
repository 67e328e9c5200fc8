package symbol

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
)

// Listing gathers the machine code of the functions in which samples are, to be
// kept with the run: the program may be gone or built again when the run is
// looked at.
type Listing struct {
	functions map[listed]bool
	left      int
}

type listed struct {
	binary    *Binary
	module    string
	low, high uint64
}

// Bounds of a listing. A function of a megabyte is generated code that nobody
// reads as assembly.
const (
	maxListed         = 200_000 // instructions
	maxListedFunction = 64 << 10
)

// ListingTable is the name of the table of a run that holds a listing.
const ListingTable = "code"

// NewListing returns an empty listing.
func NewListing() *Listing { return &Listing{functions: map[listed]bool{}, left: maxListed} }

// Add adds the functions of the instructions that a resolver has looked up. Its
// files must still be open when Table is called.
func (l *Listing) Add(r *Resolver) {
	for i := range r.sites {
		s := &r.sites[i]
		if s.binary == nil {
			continue
		}
		if low, high, ok := s.binary.FunctionAt(s.addr); ok && high-low <= maxListedFunction {
			l.functions[listed{s.binary, s.module, low, high}] = true
		}
	}
}

// Table returns the instructions with their positions, nil if there are none:
// module, code (the address in the file, as in the samples), function, file,
// line and instruction. Functions that do not fit any more are left out whole.
func (l *Listing) Table() (*table.Table, error) {
	list := make([]listed, 0, len(l.functions))
	for f := range l.functions {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.binary.Path, b.binary.Path), cmp.Compare(a.low, b.low))
	})
	w := newListingWriter()
	for _, f := range list {
		code, err := f.binary.Disassemble(f.low, f.high, maxListed)
		if err != nil || len(code) > l.left {
			continue
		}
		l.left -= len(code)
		for _, in := range code {
			w.add(f, in)
		}
	}
	return w.table()
}

type listingWriter struct {
	names map[string]*table.Interner
	codes map[string][]uint32
	code  []uint64
	line  []int64
}

var listingNames = []string{"module", "function", "file", "instruction"}

func newListingWriter() *listingWriter {
	w := &listingWriter{names: map[string]*table.Interner{}, codes: map[string][]uint32{}}
	for _, n := range listingNames {
		w.names[n] = table.NewInterner()
	}
	return w
}

func (w *listingWriter) add(f listed, in Instruction) {
	at := f.binary.Locate(in.Addr)
	inner := at.Inner()
	text := in.Text
	if text == "" {
		text = "(not decoded)"
	}
	for name, value := range map[string]string{"module": f.module, "function": at.Outer().Function, "file": inner.File, "instruction": text} {
		w.codes[name] = append(w.codes[name], w.names[name].CodeString(value))
	}
	w.code = append(w.code, in.Addr)
	w.line = append(w.line, int64(inner.Line))
}

func (w *listingWriter) table() (*table.Table, error) {
	if len(w.code) == 0 {
		return nil, nil
	}
	lines := table.NewBits(len(w.line))
	for i, n := range w.line {
		if n > 0 {
			lines.Set(i)
		}
	}
	columns := []*table.Column{
		table.Addresses("code", table.Derived, w.code, nil),
		table.Ints("line", "", table.Derived, w.line, lines),
	}
	for _, name := range listingNames {
		columns = append(columns, table.Categories(name, table.Derived, w.codes[name], w.names[name].Names(), nil))
	}
	return table.New(ListingTable, columns)
}
