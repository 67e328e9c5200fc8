// Package cacheline finds the cache lines that several processors or threads
// fight for: who reads, who writes, at which bytes, and how often the hardware
// said that the line was modified in another cache (HITM).
package cacheline

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Size is the number of bytes of a line on x86 and most ARM cores.
const Size = 64

// Sharing says in which way a line is shared.
type Sharing string

// The ways.
const (
	Private   Sharing = "private"   // one thread only
	ReadOnly  Sharing = "read only" // several, and none was seen to write
	True      Sharing = "true"      // several use the same bytes, and one writes
	False     Sharing = "false"     // several use different bytes only, and one writes
	Undecided Sharing = "undecided" // the samples do not say who wrote
)

// CacheLine is one cache line. Numbers count samples, not accesses.
type CacheLine struct {
	Addr    string  `json:"addr"` // of its first byte, as 0x…
	Pid     *int64  `json:"pid"`  // null where addresses are physical or of one process
	Host    string  `json:"host,omitempty"`
	Samples int     `json:"samples"`
	Loads   int     `json:"loads"`
	Stores  int     `json:"stores"`
	HITM    int     `json:"hitm"`   // loads that found the line modified elsewhere
	Remote  int     `json:"remote"` // served by another node
	Valued  int     `json:"valued"` // samples that have a latency
	Latency float64 `json:"latency"`
	// Contended counts the samples of all threads but the busiest one, if
	// several use the line and one of them writes.
	Contended int      `json:"contended"`
	CPUs      []int64  `json:"cpus"`
	Readers   []int64  `json:"readers"` // threads
	Writers   []int64  `json:"writers"`
	Sharing   Sharing  `json:"sharing"`
	Symbols   []string `json:"symbols"`
	// ObjectOffset is how far the line lies behind the lowest one of its object that
	// was sampled, in bytes; null where nobody asked, or several objects share it.
	ObjectOffset *int64       `json:"object_offset,omitempty"`
	Offsets      []LineOffset `json:"offsets"`
}

// LineOffset is the samples at one place in a line.
type LineOffset struct {
	Offset  int      `json:"offset"`
	Width   int      `json:"width"` // 0 if not known
	Samples int      `json:"samples"`
	Loads   int      `json:"loads"`
	Stores  int      `json:"stores"`
	HITM    int      `json:"hitm"`
	Threads []int64  `json:"threads"`
	Symbol  string   `json:"symbol,omitempty"`
	Field   string   `json:"field,omitempty"`
	Places  []string `json:"places"` // file:line of the code, most samples first
}

// CacheLines is the lines of a selection, the most contended first.
type CacheLines struct {
	LineBytes int         `json:"line_bytes"`
	Physical  bool        `json:"physical"`    // addresses are physical
	Addressed int         `json:"addressed"`   // samples with an address
	Count     int         `json:"group_count"` // of all lines, listed or not
	Shared    int         `json:"shared"`      // lines that several threads use
	HITM      int         `json:"hitm"`
	HasSnoop  bool        `json:"has_snoop"` // HITM was recorded
	HasOp     bool        `json:"has_op"`    // loads and stores are told apart
	Lines     []CacheLine `json:"groups"`
}

// columns are those of a table of samples that matter here; nil where absent.
type columns struct {
	addr, pid, host, tid, cpu, op, snoop, remote, latency, width *table.Column
	symbol, field, file, line, function                          *table.Column
	physical                                                     bool
	store, load, both, hitm                                      uint32 // codes
}

const noCode = math.MaxUint32

// Find returns the top most contended lines of the rows (nil: all); 0 is all of
// them. It is nil if the samples have no addresses.
func Find(ctx context.Context, t *table.Table, rows table.Bits, top int) (*CacheLines, error) {
	c := newColumns(t)
	if c == nil {
		return nil, nil
	}
	index := c.sorted(ctx, t.Rows(), rows)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &CacheLines{LineBytes: Size, Physical: c.physical, Addressed: len(index), HasSnoop: c.snoop != nil, HasOp: c.op != nil}
	type group struct {
		from, to        int
		hitm, contended int
	}
	var groups []group
	for from := 0; from < len(index); {
		to := from + 1
		for to < len(index) && index[to].key == index[from].key && index[to].pid == index[from].pid && index[to].host == index[from].host {
			to++
		}
		g := group{from: from, to: to}
		var several bool
		g.hitm, g.contended, several = c.contention(index[from:to])
		if several {
			r.Shared++
		}
		r.HITM += g.hitm
		groups = append(groups, g)
		from = to
	}
	r.Count = len(groups)
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.hitm, a.hitm), cmp.Compare(b.contended, a.contended), cmp.Compare(b.to-b.from, a.to-a.from))
	})
	if top > 0 && len(groups) > top {
		groups = groups[:top]
	}
	r.Lines = make([]CacheLine, 0, len(groups))
	for _, g := range groups {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.Lines = append(r.Lines, c.describe(index[g.from:g.to], g.contended))
	}
	return r, nil
}

// PlaceInObjects says where in its object each line lies, as seen from the lowest
// address of the object among the rows (nil: all): an address means nothing in
// another run, but this does.
func (r *CacheLines) PlaceInObjects(ctx context.Context, t *table.Table, rows table.Bits) {
	c := newColumns(t)
	if c == nil || c.symbol == nil {
		return
	}
	addrs := c.addr.Data.([]uint64)
	lowest := map[string]uint64{}
	for i := range table.Scan(ctx, rows, t.Rows()) {
		if !c.addr.Has(i) || addrs[i] == 0 || !c.symbol.Has(i) {
			continue
		}
		name := c.symbol.Text(i)
		if at, ok := lowest[name]; !ok || addrs[i] < at {
			lowest[name] = addrs[i]
		}
	}
	for k := range r.Lines {
		l := &r.Lines[k]
		base, ok := uint64(0), len(l.Symbols) == 1
		if ok {
			base, ok = lowest[l.Symbols[0]]
		}
		if at, err := strconv.ParseUint(l.Addr, 0, 64); ok && err == nil {
			offset := int64(at - base/Size*Size)
			l.ObjectOffset = &offset
		}
	}
}

func newColumns(t *table.Table) *columns {
	kind := func(name string, k table.Kind) *table.Column { return samples.UsableAs(t, name, k) }
	c := &columns{
		addr: kind("addr", table.Address), pid: kind("pid", table.Number), host: kind(samples.Host, table.Category), tid: kind("tid", table.Number), cpu: kind("cpu", table.Number),
		op: kind("op", table.Category), snoop: kind("snoop", table.Category), remote: kind("remote", table.Flag), latency: kind("latency", table.Number),
		width: kind("width", table.Number), symbol: kind("symbol", table.Category), field: kind("field", table.Category),
		file: kind("file", table.Category), line: kind("line", table.Number), function: kind("function", table.Category),
	}
	// What the code says about its instruction stands in for what the source
	// does not say.
	if c.op == nil {
		c.op = kind("access", table.Category)
	}
	if c.width == nil {
		c.width = kind("access_width", table.Number)
	}
	if phys := kind("phys", table.Address); phys != nil && (phys.Valid == nil || phys.Valid.Count() > 0) {
		// Processes share memory under different addresses.
		c.addr, c.physical, c.pid = phys, true, nil
	}
	if c.addr == nil {
		return nil
	}
	if c.tid == nil {
		c.tid = c.cpu // the best there is to tell one user from another
	}
	code := func(col *table.Column, name string) uint32 {
		if col == nil {
			return noCode
		}
		if n, ok := col.Code(name); ok {
			return n
		}
		return noCode
	}
	c.store, c.load, c.both, c.hitm = code(c.op, "store"), code(c.op, "load"), code(c.op, "load+store"), code(c.snoop, "hit modified")
	return c
}

// entry is a row and its line.
type entry struct {
	key       uint64
	pid, host int64
	row       int
}

func (c *columns) sorted(ctx context.Context, n int, rows table.Bits) []entry {
	var out []entry
	addrs := c.addr.Data.([]uint64)
	for i := range table.Scan(ctx, rows, n) {
		if !c.addr.Has(i) || addrs[i] == 0 {
			continue
		}
		out = append(out, entry{addrs[i] / Size, c.number(c.pid, i), c.number(c.host, i), i})
	}
	slices.SortFunc(out, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.pid, b.pid), cmp.Compare(a.host, b.host), cmp.Compare(a.row, b.row))
	})
	return out
}

func (c *columns) number(col *table.Column, row int) int64 {
	if col == nil || !col.Has(row) {
		return -1
	}
	return int64(col.Float(row))
}

// access says what a row does. Without an operation it is neither.
func (c *columns) access(row int) (load, store bool) {
	if c.op == nil || !c.op.Has(row) {
		return false, false
	}
	code := c.op.Data.([]uint32)[row]
	return code == c.load || code == c.both, code == c.store || code == c.both
}

func (c *columns) modified(row int) bool {
	return c.snoop != nil && c.snoop.Has(row) && c.snoop.Data.([]uint32)[row] == c.hitm
}

// contention counts what ranks a line.
func (c *columns) contention(rows []entry) (hitm, contended int, several bool) {
	first := c.number(c.tid, rows[0].row)
	written := false
	for _, e := range rows {
		if c.modified(e.row) {
			hitm++
		}
		if _, store := c.access(e.row); store {
			written = true
		}
		several = several || c.number(c.tid, e.row) != first
	}
	if !several || !written { // without an operation nobody is known to write
		return hitm, 0, several
	}
	byThread := map[int64]int{}
	busiest := 0
	for _, e := range rows {
		t := c.number(c.tid, e.row)
		byThread[t]++
		busiest = max(busiest, byThread[t])
	}
	return hitm, len(rows) - busiest, several
}
