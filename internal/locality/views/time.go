package views

import "context"

// Lane is an object on the map of misses.
type Lane struct {
	Object string
	Bytes  uint64
	Rows   int // slices of its addresses
	// All and Selected are misses by row and column.
	All, Selected []uint16
}

// Map is misses over time and addresses.
type Map struct {
	Columns int
	Lanes   []Lane
	// Set is the distinct lines met in the last Window references, at the end of
	// each column: of all and of selected references.
	Window      int
	Set, Chosen []uint32
	// Functions is the busiest function of each column, as an index into Names.
	Functions []uint16
	Names     []string
}

// Shape is how much room a map has: columns, and rows for each object that is
// asked for by name.
type Shape struct {
	Columns int
	Rows    map[string]int
	Level   int
	Window  int
}

// DefaultWindow is how many references a set in use is counted over.
const DefaultWindow = 50_000

// Map counts misses over time and addresses.
func (s *Study) Map(ctx context.Context, c *Choice, shape Shape) (*Map, error) {
	n := len(s.Trace.Accesses)
	m := &Map{Columns: min(shape.Columns, max(n, 1)), Window: shape.Window}
	lane := make([]int, len(s.Table.Objects))
	for i := range lane {
		lane[i] = -1
	}
	for _, o := range s.Table.Objects[1:] {
		rows := shape.Rows[o.Name]
		if rows <= 0 || lane[o.Number] >= 0 {
			continue
		}
		lane[o.Number] = len(m.Lanes)
		m.Lanes = append(m.Lanes, Lane{Object: o.Name, Bytes: o.Size, Rows: rows, All: make([]uint16, rows*m.Columns), Selected: make([]uint16, rows*m.Columns)})
	}
	set := newSetInUse(s, m.Window, m.Columns)
	names := newFunctionBand(s, m.Columns)
	everything := c.all()
	span := 0
	for i := range s.Trace.Accesses {
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a := &s.Trace.Accesses[i]
		column := int(int64(i) * int64(m.Columns) / int64(n))
		selected := everything || s.has(c, i)
		names.add(column, a.Code)
		set.add(i, s.Line[i], selected)
		for ; span < len(s.Spans) && s.Spans[span].Access <= i; span++ {
			set.add(i, s.Spans[span].Line, selected)
		}
		k := lane[a.Object]
		misses := s.Levels[shape.Level][i].Misses
		if k < 0 || misses == 0 {
			continue
		}
		l, o := &m.Lanes[k], s.Table.Objects[a.Object]
		row := 0
		if o.Size > 0 && a.Addr >= o.Start {
			row = min(int((a.Addr-o.Start)*uint64(l.Rows)/o.Size), l.Rows-1)
		}
		count(&l.All[row*m.Columns+column], misses)
		if selected {
			count(&l.Selected[row*m.Columns+column], misses)
		}
	}
	m.Set, m.Chosen = set.ends()
	m.Functions, m.Names = names.busiest()
	return m, nil
}

// count adds to a cell that may be full.
func count(cell *uint16, n uint8) { *cell = uint16(min(int(*cell)+int(n), 1<<16-1)) }

// setInUse counts the distinct lines of a sliding window: a line is in it from
// each use until a window later, or until its next use.
type setInUse struct {
	n, window, columns int
	steps              [2][]int32 // changes at each reference that ends a column
	last               [2][]int   // plus one; by line
}

func newSetInUse(s *Study, window, columns int) *setInUse {
	u := &setInUse{n: len(s.Trace.Accesses), window: window, columns: columns}
	for k := range 2 {
		u.steps[k] = make([]int32, columns+1)
		u.last[k] = make([]int, s.Numbers)
	}
	return u
}

// columnOf is the first column whose last reference is i or later.
func (u *setInUse) columnOf(i int) int {
	if i >= u.n {
		return u.columns
	}
	// Column k ends before reference (k+1)·n/columns, rounded up.
	return int(int64(i) * int64(u.columns) / int64(u.n))
}

func (u *setInUse) add(i int, line uint32, selected bool) {
	for k := range 2 {
		if k == 1 && !selected {
			continue
		}
		if last := u.last[k][line]; last > 0 && last-1+u.window > i {
			// Still in the set: it leaves later than was thought.
			u.steps[k][u.columnOf(last-1+u.window)]++
		} else {
			u.steps[k][u.columnOf(i)]++
		}
		u.steps[k][u.columnOf(i+u.window)]--
		u.last[k][line] = i + 1
	}
}

func (u *setInUse) ends() (all, chosen []uint32) {
	out := [2][]uint32{make([]uint32, u.columns), make([]uint32, u.columns)}
	for k := range 2 {
		sum := int32(0)
		for c := range u.columns {
			sum += u.steps[k][c]
			out[k][c] = uint32(max(sum, 0))
		}
	}
	return out[0], out[1]
}

// functionBand counts references by column and function.
type functionBand struct {
	of     []uint16 // function of a code
	names  []string
	counts []uint32
	n      int
}

func newFunctionBand(s *Study, columns int) *functionBand {
	b := &functionBand{of: make([]uint16, len(s.Trace.Codes)), n: columns}
	index := map[string]uint16{}
	for c, code := range s.Trace.Codes {
		name := ""
		if int(code.Place) < len(s.Trace.Places) {
			name = s.Trace.Places[code.Place].Function
		}
		id, ok := index[name]
		if !ok && len(b.names) < maxFunctions {
			id = uint16(len(b.names))
			index[name] = id
			b.names = append(b.names, name)
		}
		b.of[c] = id
	}
	b.counts = make([]uint32, columns*len(b.names))
	return b
}

// maxFunctions bounds the functions of the band; further ones count as the
// first.
const maxFunctions = 256

func (b *functionBand) add(column int, code uint32) {
	b.counts[column*len(b.names)+int(b.of[code])]++
}

func (b *functionBand) busiest() ([]uint16, []string) {
	out := make([]uint16, b.n)
	for c := range b.n {
		row := b.counts[c*len(b.names):][:len(b.names)]
		for f, n := range row {
			if n > row[out[c]] {
				out[c] = uint16(f)
			}
		}
	}
	return out, b.names
}
