// Package firsttouch says which threads, on which memory nodes, were the first
// to touch the pages of each data object. Under the usual policy of Linux that
// is where the pages lie.
package firsttouch

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/data/table"
)

// Touched is how the pages of one data object came into memory.
type Touched struct {
	Symbol string `json:"symbol"`
	Pages  int    `json:"pages"`
	// Nodes and Threads count its pages by who touched them first.
	Nodes   []PageCount `json:"nodes"`
	Threads []PageCount `json:"threads"`
	// Samples are accesses to the object; Known those whose page was seen to
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
func Objects(ctx context.Context, samples, touches *table.Table) ([]Touched, error) {
	all := map[string]*object{}
	get := func(symbol string) *object {
		o := all[symbol]
		if o == nil {
			o = &object{nodes: map[int]int{}, threads: map[int]int{}}
			o.Symbol = symbol
			all[symbol] = o
		}
		return o
	}
	if touches != nil {
		countPages(ctx, touches, get)
	}
	if samples != nil && samples.Column("symbol") != nil {
		countSamples(ctx, samples, get)
	}
	out := make([]Touched, 0, len(all))
	for _, o := range all {
		if o.Pages > 0 {
			o.Nodes, o.Threads = ranked(o.nodes), ranked(o.threads)
			out = append(out, o.Touched)
		}
	}
	slices.SortFunc(out, func(a, b Touched) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Symbol, b.Symbol))
	})
	return out, ctx.Err()
}

type object struct {
	Touched
	nodes, threads map[int]int
}

// countPages counts each page of a process once, by its last fault: reading
// memory that nobody has written only maps a page of zeros that all share, and
// the write that follows is what places it.
func countPages(ctx context.Context, t *table.Table, get func(string) *object) {
	type page struct {
		pid  int
		addr uint64
	}
	pid, tid, node, addr, symbol := t.Column("pid"), t.Column("tid"), t.Column("node"), t.Column("addr"), t.Column("symbol")
	if pid == nil || tid == nil || addr == nil {
		return
	}
	addresses, ok := addr.Data.([]uint64)
	if !ok {
		return
	}
	last := map[page]int{}
	for i := range table.Scan(ctx, nil, t.Rows()) {
		last[page{int(pid.Float(i)), addresses[i] >> pageBits}] = i
	}
	for _, i := range last {
		name := ""
		if symbol != nil {
			name = symbol.Text(i)
		}
		o := get(name)
		o.Pages++
		o.threads[int(tid.Float(i))]++
		if node != nil && node.Has(i) {
			o.nodes[int(node.Float(i))]++
		}
	}
}

func countSamples(ctx context.Context, t *table.Table, get func(string) *object) {
	symbol, node, home := t.Column("symbol"), t.Column("node"), t.Column("touch_node")
	for i := range table.Scan(ctx, nil, t.Rows()) {
		if !symbol.Has(i) {
			continue
		}
		o := get(symbol.Text(i))
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
