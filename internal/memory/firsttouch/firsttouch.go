// Package firsttouch says which threads, on which memory nodes, were the first
// to touch the pages of each data object. Under the usual policy of Linux that
// is where the pages lie.
package firsttouch

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Touched is how the pages of one data object came into memory. Objects of one name
// in several processes are several objects.
type Touched struct {
	Symbol string `json:"symbol"`
	Pid    *int64 `json:"pid"` // null where all pages are of one process
	Host   string `json:"host,omitempty"`
	Pages  int    `json:"pages"`
	// Nodes and Threads count its pages by who touched them first.
	Nodes   []PageCount `json:"nodes"`
	Threads []PageCount `json:"threads"`
	// Samples are accesses to the object, those of a process that is not known
	// in none of several; Known those whose page was seen to
	// be touched, and Away those of them on another node than its page.
	Samples int `json:"samples"`
	Known   int `json:"known"`
	Away    int `json:"away"`
}

// PageCount is a number of pages.
type PageCount struct {
	ID    int `json:"id"`
	Pages int `json:"pages"`
}

const pageBits = 12

// Objects counts first touches by object, those with most pages first. Both
// tables are those of a recording; either may be nil.
func Objects(ctx context.Context, accesses, touches *table.Table) ([]Touched, error) {
	all := objects{}
	several := false
	if touches != nil {
		several = countPages(ctx, touches, all)
	}
	if accesses != nil && accesses.Column("symbol") != nil {
		countSamples(ctx, accesses, all, several)
	}
	out := make([]Touched, 0, len(all))
	for _, o := range all {
		if o.Pages > 0 {
			o.Nodes, o.Threads = ranked(o.nodes), ranked(o.threads)
			out = append(out, o.Touched)
		}
	}
	slices.SortFunc(out, func(a, b Touched) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Symbol, b.Symbol), cmp.Compare(a.Host, b.Host), cmp.Compare(pidOf(a), pidOf(b)))
	})
	return out, ctx.Err()
}

func pidOf(t Touched) int64 {
	if t.Pid == nil {
		return noProcess
	}
	return *t.Pid
}

// owner is whose memory an address is in.
type owner struct {
	host string
	pid  int64
}

const noProcess = -1

// owners reads the owner of each row; columns may be nil.
type owners struct{ pid, host *table.Column }

func ownersOf(t *table.Table) owners {
	return owners{samples.UsableAs(t, samples.PID, table.Number), samples.UsableAs(t, samples.Host, table.Category)}
}

func (c owners) at(row int) owner {
	o := owner{pid: noProcess}
	if c.pid != nil && c.pid.Has(row) {
		o.pid = int64(c.pid.Float(row))
	}
	if c.host != nil && c.host.Has(row) {
		o.host = c.host.Text(row)
	}
	return o
}

type object struct {
	Touched
	nodes, threads map[int]int
}

// objects are those of all processes, by owner and name.
type objects map[key]*object

type key struct {
	owner
	symbol string
}

func (all objects) get(k key) *object {
	o := all[k]
	if o == nil {
		o = &object{nodes: map[int]int{}, threads: map[int]int{}}
		o.Symbol, o.Host = k.symbol, k.host
		if k.pid != noProcess {
			o.Pid = &k.pid
		}
		all[k] = o
	}
	return o
}

// countPages counts each page of a process once, by its last fault: reading
// memory that nobody has written only maps a page of zeros that all share, and
// the write that follows is what places it. It reports whether there are several
// processes; what is of the only one is counted without naming it.
func countPages(ctx context.Context, t *table.Table, all objects) (several bool) {
	type page struct {
		owner
		addr uint64
	}
	tid, node, addr, symbol := t.Column("tid"), t.Column("node"), t.Column("addr"), t.Column("symbol")
	of := ownersOf(t)
	if of.pid == nil || tid == nil || addr == nil {
		return false
	}
	addresses, ok := addr.Data.([]uint64)
	if !ok {
		return false
	}
	last := map[page]int{}
	processes := map[owner]bool{}
	for i := range table.Scan(ctx, nil, t.Rows()) {
		whose := of.at(i)
		processes[whose] = true
		last[page{whose, addresses[i] >> pageBits}] = i
	}
	several = len(processes) > 1
	for at, i := range last {
		k := key{owner{pid: noProcess}, ""}
		if several {
			k.owner = at.owner
		}
		if symbol != nil {
			k.symbol = symbol.Text(i)
		}
		o := all.get(k)
		o.Pages++
		o.threads[int(tid.Float(i))]++
		if node != nil && node.Has(i) {
			o.nodes[int(node.Float(i))]++
		}
	}
	return several
}

func countSamples(ctx context.Context, t *table.Table, all objects, several bool) {
	symbol, node, home := t.Column("symbol"), t.Column("node"), t.Column("touch_node")
	of := ownersOf(t)
	for i := range table.Scan(ctx, nil, t.Rows()) {
		if !symbol.Has(i) {
			continue
		}
		k := key{owner{pid: noProcess}, symbol.Text(i)}
		if several {
			k.owner = of.at(i)
		}
		o := all.get(k)
		o.Samples++
		if node == nil || home == nil || !node.Has(i) || !home.Has(i) {
			continue
		}
		o.Known++
		if node.Float(i) != home.Float(i) {
			o.Away++
		}
	}
}

func ranked(pages map[int]int) []PageCount {
	out := make([]PageCount, 0, len(pages))
	for id, n := range pages {
		out = append(out, PageCount{id, n})
	}
	slices.SortFunc(out, func(a, b PageCount) int { return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Text writes counts as "0: 120, 1: 8", the largest first and at most four.
func Text(counts []PageCount) string {
	text := ""
	for i, c := range counts {
		if i == 4 {
			return text + ", …"
		}
		if i > 0 {
			text += ", "
		}
		text += strconv.Itoa(c.ID) + ": " + strconv.Itoa(c.Pages)
	}
	return text
}
