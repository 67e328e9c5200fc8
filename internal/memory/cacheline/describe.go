package cacheline

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
)

// place gathers the samples of one offset.
type place struct {
	LineOffset
	threads map[int64]bool
	code    map[string]int
	wrote   map[int64]bool
}

// most bounds the lists of a line: a report is for reading.
const most = 64

// describe tells everything about one line.
func (c *columns) describe(rows []entry, contended int) CacheLine {
	l := CacheLine{Addr: fmt.Sprintf("%#x", rows[0].key*Size), Samples: len(rows), Contended: contended}
	if c.pid != nil && rows[0].pid >= 0 {
		l.Pid = &rows[0].pid
	}
	if rows[0].host >= 0 {
		l.Host = c.host.Text(rows[0].row)
	}
	places := map[int]*place{}
	cpus, readers, writers, symbols := map[int64]bool{}, map[int64]bool{}, map[int64]bool{}, map[string]bool{}
	for _, e := range rows {
		p := c.place(places, e.row)
		thread := c.number(c.tid, e.row)
		load, store := c.access(e.row)
		p.Samples++
		p.threads[thread] = true
		if load {
			l.Loads++
			p.Loads++
			readers[thread] = true
		}
		if store {
			l.Stores++
			p.Stores++
			writers[thread], p.wrote[thread] = true, true
		}
		if c.modified(e.row) {
			l.HITM++
			p.HITM++
		}
		if c.remote != nil && c.remote.Has(e.row) && c.remote.Data.([]uint8)[e.row] != 0 {
			l.Remote++
		}
		if c.latency != nil && c.latency.Has(e.row) {
			l.Latency += c.latency.Float(e.row)
			l.Valued++
		}
		if n := c.number(c.cpu, e.row); n >= 0 {
			cpus[n] = true
		}
		if p.Symbol != "" {
			symbols[p.Symbol] = true
		}
		if at := c.position(e.row); at != "" {
			p.code[at]++
		}
	}
	l.CPUs, l.Readers, l.Writers, l.Symbols = keys(cpus), keys(readers), keys(writers), keys(symbols)
	l.Sharing = c.sharing(places, len(writers))
	l.Offsets = offsets(places)
	return l
}

func (c *columns) place(places map[int]*place, row int) *place {
	offset := int(c.addr.Data.([]uint64)[row] % Size)
	p := places[offset]
	if p == nil {
		p = &place{LineOffset: LineOffset{Offset: offset}, threads: map[int64]bool{}, code: map[string]int{}, wrote: map[int64]bool{}}
		places[offset] = p
	}
	if p.Symbol == "" {
		p.Symbol = text(c.symbol, row)
	}
	if p.Field == "" {
		p.Field = text(c.field, row)
	}
	if w := c.number(c.width, row); w > 0 {
		p.Width = max(p.Width, int(min(w, Size)))
	}
	return p
}

func text(c *table.Column, row int) string {
	if c == nil {
		return ""
	}
	return c.Text(row)
}

// position is the code of a row, as short as it is clear.
func (c *columns) position(row int) string {
	if file := text(c.file, row); file != "" && c.line != nil && c.line.Has(row) {
		return fmt.Sprintf("%s:%d", path.Base(file), int(c.line.Float(row)))
	}
	return text(c.function, row)
}

// sharing decides whether threads use the same bytes. A width that is not known
// counts as one byte, which can only make true sharing look false; the report
// says which widths it knew.
func (c *columns) sharing(places map[int]*place, writers int) Sharing {
	users := map[int64]bool{}
	for _, p := range places {
		for t := range p.threads {
			users[t] = true
		}
	}
	switch {
	case len(users) < 2:
		return Private
	case c.op == nil:
		return Undecided
	case writers == 0:
		return ReadOnly
	}
	var touched [Size]map[int64]bool
	var wrote [Size]bool
	for at, p := range places {
		for b := at; b < min(at+max(p.Width, 1), Size); b++ {
			if touched[b] == nil {
				touched[b] = map[int64]bool{}
			}
			for t := range p.threads {
				touched[b][t] = true
			}
			wrote[b] = wrote[b] || len(p.wrote) > 0
		}
	}
	for b := range touched {
		if len(touched[b]) > 1 && wrote[b] {
			return True
		}
	}
	return False
}

// offsets lists places by offset.
func offsets(places map[int]*place) []LineOffset {
	out := make([]LineOffset, 0, len(places))
	for _, p := range places {
		p.Threads = keys(p.threads)
		code := keys(p.code)
		slices.SortStableFunc(code, func(a, b string) int { return cmp.Compare(p.code[b], p.code[a]) })
		p.Places = code[:min(len(code), most)]
		out = append(out, p.LineOffset)
	}
	slices.SortFunc(out, func(a, b LineOffset) int { return cmp.Compare(a.Offset, b.Offset) })
	return out
}

func keys[K cmp.Ordered, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
