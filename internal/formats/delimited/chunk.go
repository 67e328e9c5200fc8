package delimited

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
)

// chunk is a run of whole lines and the columns read from them.
type chunk struct {
	body    []byte
	opt     *Options
	columns []part
	// narrow lists the columns that are read in this round.
	narrow []int

	rows, lines, repaired, skipped int
	problems                       []Problem
}

// part is the cells of one column in one chunk.
type part struct {
	typ    Type
	saw    seen
	words  []uint64
	floats []float64
	codes  []uint32
	in     interner
	valid  []uint64
	nulls  int
	bad    int
}

// interner numbers texts. Samples come in runs, so the last text is compared
// before the map is asked.
type interner struct {
	codes map[string]uint32
	names []string
	last  uint32
}

func (in *interner) code(text []byte) uint32 {
	if len(in.names) > 0 && string(text) == in.names[in.last] {
		return in.last
	}
	c, ok := in.codes[string(text)]
	if !ok {
		if in.codes == nil {
			in.codes = map[string]uint32{}
		}
		c = uint32(len(in.names))
		in.names = append(in.names, string(text))
		in.codes[in.names[c]] = c
	}
	in.last = c
	return c
}

func newChunk(body []byte, opt *Options, types []Type, want []bool) *chunk {
	ch := &chunk{body: body, opt: opt, columns: make([]part, len(types))}
	// The first line tells roughly how many rows will come.
	line, _ := cutLine(body)
	rows := len(body)/(len(line)+1) + 16
	for c, w := range want {
		if !w {
			continue
		}
		ch.narrow = append(ch.narrow, c)
		p := &ch.columns[c]
		p.typ = types[c]
		p.valid = make([]uint64, 0, rows/64+1)
		switch p.typ {
		case Text:
			p.codes = make([]uint32, 0, rows)
		case Float:
			p.floats = make([]float64, 0, rows)
		default:
			p.words = make([]uint64, 0, rows)
		}
	}
	return ch
}

// progressRows is how often progress is told and cancellation noticed.
const progressRows = 1 << 14

func (ch *chunk) parse(ctx context.Context) error {
	cells := make([][]byte, 0, len(ch.columns)+8)
	told, toldRows := 0, 0
	at := 0
	scanner := ch.opt.scanner()
	if !ch.opt.multiline {
		scanner.patience = 0
	}
	for at < len(ch.body) {
		line, size, inside := scanner.rowEnd(ch.body[at:])
		at += size
		ch.lines += 1 + inside
		if len(line) > maxRow {
			ch.problem("%d characters in one line", len(line))
			continue
		}
		if len(trim(line)) == 0 {
			continue
		}
		cells = split(cells[:0], line, ch.opt.Comma)
		if len(cells) != len(ch.columns) {
			if line[0] == '#' {
				continue // a comment
			}
			var ok bool
			if cells, ok = ch.repair(cells, &at); !ok {
				continue
			}
		}
		ch.opt.points(cells)
		ch.row(cells)
		if ch.rows-toldRows >= progressRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			ch.tell(at-told, ch.rows-toldRows)
			told, toldRows = at, ch.rows
		}
	}
	ch.tell(at-told, ch.rows-toldRows)
	return ctx.Err()
}

func (ch *chunk) tell(bytes, rows int) {
	if ch.opt.Progress != nil {
		ch.opt.Progress(int64(bytes), int64(rows))
	}
}

func (ch *chunk) problem(format string, args ...any) {
	ch.skipped++
	if len(ch.problems) < maxProblems {
		ch.problems = append(ch.problems, Problem{ch.lines - 1, fmt.Sprintf(format, args...)})
	}
}

// repair mends a row with the wrong number of cells, or counts it as skipped.
func (ch *chunk) repair(cells [][]byte, at *int) ([][]byte, bool) {
	want := len(ch.columns)
	if restored := ch.opt.restore(cells); len(restored) == want {
		return restored, true
	}
	if len(cells) < want && ch.opt.JoinLines {
		line, _ := cutLine(ch.body[*at:])
		next := split(nil, line, ch.opt.Comma)
		// The writer breaks the line after a comma, so the last cell is empty.
		if len(cells[len(cells)-1]) == 0 && len(cells)-1+len(next) == want {
			ch.lines++
			ch.repaired++
			*at = min(*at+len(line)+1, len(ch.body))
			if *at > 0 && *at < len(ch.body) && ch.body[*at-1] == '\r' {
				*at++
			}
			return append(cells[:len(cells)-1], next...), true
		}
	}
	if len(cells) > want {
		if joined, ok := ch.absorb(cells); ok {
			ch.repaired++
			return joined, true
		}
	}
	ch.problem("%d fields, want %d", len(cells), want)
	return nil, false
}

// absorb joins neighbouring cells into one column that may contain commas, such
// that every number column again holds a number.
func (ch *chunk) absorb(cells [][]byte) ([][]byte, bool) {
	extra := len(cells) - len(ch.columns)
	for _, c := range ch.opt.Absorb {
		if c+extra >= len(cells) {
			continue
		}
		joined := bytes.Join(cells[c:c+extra+1], []byte{ch.opt.Comma})
		candidate := slices.Concat(cells[:c], [][]byte{joined}, cells[c+extra+1:])
		if ch.fits(candidate) {
			return candidate, true
		}
	}
	return nil, false
}

func (ch *chunk) fits(cells [][]byte) bool {
	for c, cell := range cells {
		t := ch.columns[c].typ
		if t != Int && t != Hex && t != Float {
			continue
		}
		if s := classify(cell); s&sawText != 0 || t == Int && s&sawHex != 0 {
			return false
		}
	}
	return true
}

// row stores one row of cells.
func (ch *chunk) row(cells [][]byte) {
	word, bit := ch.rows>>6, uint64(1)<<(ch.rows&63)
	for _, c := range ch.narrow {
		p := &ch.columns[c]
		if word == len(p.valid) {
			p.valid = append(p.valid, 0)
		}
		if p.store(cells[c]) {
			p.valid[word] |= bit
		} else {
			p.nulls++
		}
	}
	ch.rows++
}

// store appends one cell and reports whether it has a value.
func (p *part) store(cell []byte) bool {
	if null(cell) {
		p.zero()
		return false
	}
	switch p.typ {
	case Int:
		if n, ok := decimal(cell); ok {
			p.saw |= sawDecimal
			p.words = append(p.words, n)
			return true
		}
		return p.signed(cell)
	case Hex:
		n, ok := hexadecimal(cell)
		if !ok {
			p.saw |= classify(cell)
			p.bad++
		} else {
			p.saw |= sawHex
		}
		p.words = append(p.words, n)
		return ok
	case Text:
		p.saw |= sawText
		p.codes = append(p.codes, p.in.code(cell))
		return true
	case Float:
		f, err := strconv.ParseFloat(string(cell), 64)
		if err != nil {
			p.saw |= classify(cell)
			p.bad++
			f = 0
		} else {
			p.saw |= sawFloat
		}
		p.floats = append(p.floats, f)
		return err == nil
	}
	return false
}

// signed stores a cell of an Int column that is not plain digits.
func (p *part) signed(cell []byte) bool {
	s := classify(cell)
	p.saw |= s
	if s == sawNegative {
		if n, err := strconv.ParseInt(string(cell), 10, 64); err == nil {
			p.words = append(p.words, uint64(n))
			return true
		}
	}
	p.bad++
	p.words = append(p.words, 0)
	return false
}

func (p *part) zero() {
	switch p.typ {
	case Text:
		p.codes = append(p.codes, 0)
	case Float:
		p.floats = append(p.floats, 0)
	default:
		p.words = append(p.words, 0)
	}
}

// merge joins the parts of one column in the order of the chunks.
func merge(name string, typ Type, saw seen, chunks []*chunk, c int) Column {
	out := Column{Name: name, Type: typ, Negative: saw&sawNegative != 0}
	rows := 0
	for _, ch := range chunks {
		rows += ch.rows
		out.Nulls += ch.columns[c].nulls
		out.Bad += ch.columns[c].bad
	}
	if out.Nulls > 0 {
		out.Valid = make([]uint64, (rows+63)/64)
	}
	in := interner{}
	at := 0
	for _, ch := range chunks {
		p := &ch.columns[c]
		if out.Valid != nil {
			copyBits(out.Valid, at, p.valid, ch.rows)
		}
		at += ch.rows
		switch typ {
		case Text:
			out.Codes = appendCodes(out.Codes, &in, p, rows)
		case Float:
			out.Floats = appendAll(out.Floats, p.floats, rows)
		case Int, Hex:
			out.Words = appendAll(out.Words, p.words, rows)
		}
		*p = part{saw: p.saw}
	}
	out.Names = in.names
	return out
}

// appendAll appends a chunk; the first one is taken as it is if it is the only
// one, and otherwise sized for all.
func appendAll[T any](out, in []T, rows int) []T {
	if out == nil {
		if len(in) == rows {
			return in
		}
		out = make([]T, 0, rows)
	}
	return append(out, in...)
}

func appendCodes(out []uint32, in *interner, p *part, rows int) []uint32 {
	renumber := make([]uint32, len(p.in.names))
	for i, n := range p.in.names {
		renumber[i] = in.code([]byte(n))
	}
	if out == nil {
		out = make([]uint32, 0, rows)
	}
	// A column without any name has only null rows, whose code is 0.
	if len(renumber) == 0 {
		return append(out, p.codes...)
	}
	for i, code := range p.codes {
		// Null rows keep code 0 whatever name that is.
		if p.valid[i>>6]>>(i&63)&1 == 0 {
			out = append(out, 0)
			continue
		}
		out = append(out, renumber[code])
	}
	return out
}

// copyBits copies n bits to position at.
func copyBits(dst []uint64, at int, src []uint64, n int) {
	shift := uint(at & 63)
	for i := 0; i*64 < n; i++ {
		word := src[i]
		if left := n - i*64; left < 64 {
			word &= 1<<left - 1
		}
		w := at>>6 + i
		dst[w] |= word << shift
		if shift != 0 && word>>(64-shift) != 0 {
			dst[w+1] |= word >> (64 - shift)
		}
	}
}
