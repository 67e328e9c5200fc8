package record

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/record/heap"
	"github.com/isobath/isobath/internal/record/pmu"
)

// allocations is what the program allocated, by place: a chain of calls as the
// sources tell it, so that processes with other addresses are one.
type allocations struct {
	logs    []*heap.Log
	callers *heap.Callers
	sites   []allocationSite
	byPlace []int // number of the site
}

// allocationSite is one row of the table.
type allocationSite struct {
	stack  string // as in the column of samples
	line   string // innermost, as in the column allocation of samples
	names  []string
	tally  heap.Tally
	access siteAccess
}

// siteAccess is the samples in what a site allocated.
type siteAccess struct {
	samples, reads, writes int64
	cost                   uint64
}

// maxSiteNames bounds the names of a site that are kept: a container that grows has
// one for each size.
const maxSiteNames = 4

// allocated sums up the allocation logs and links them with the samples; nil
// without a log.
func (c *collector) allocated(plan *pmu.Plan, d *run.Heap) (*table.Table, error) {
	a := c.allocations
	if a == nil || len(a.logs) == 0 {
		return nil, nil
	}
	a.place(c.objects)
	tallies, all := a.callers.Tally(a.logs, len(a.sites), func(place int) int { return a.byPlace[place] })
	for i := range tallies {
		a.sites[i].tally = tallies[i]
	}
	d.Peak = all.Peak
	a.name(c.objects)
	for i := range c.rows {
		r := &c.rows[i]
		if !r.hasAddr {
			continue
		}
		if o := c.objects.AllocationAt(int(r.pid), r.time, r.addr); o != nil {
			a.sites[a.byPlace[o.Place]].access.add(r, plan.Hardware())
		}
	}
	return a.table(plan)
}

// place gives every place its site.
func (a *allocations) place(objects *symbol.Objects) {
	places := a.callers.Places()
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	// Going back in time starts the replay of mappings again.
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(places[x].Time, places[y].Time) })
	known := map[string]int{"": 0}
	a.sites, a.byPlace = []allocationSite{{}}, make([]int, len(places)+1)
	for _, i := range order {
		p := &places[i]
		frames := objects.Callers(p.PID, p.Time, p.Sites)
		site := allocationSite{line: innermost(frames)}
		words := make([]string, len(frames))
		for k, f := range frames {
			words[len(frames)-1-k] = f.String()
		}
		site.stack = strings.Join(words, ";")
		n, ok := known[site.stack]
		if !ok {
			n = len(a.sites)
			known[site.stack] = n
			a.sites = append(a.sites, site)
		}
		a.byPlace[i+1] = n
	}
}

func innermost(frames []symbol.Frame) string {
	for _, f := range frames {
		if f.File != "" && f.Line > 0 {
			return f.Place()
		}
	}
	return ""
}

// name collects what the objects of each site are called.
func (a *allocations) name(objects *symbol.Objects) {
	objects.EachAllocation(func(name string, o *symbol.Object) {
		s := &a.sites[a.byPlace[o.Place]]
		if len(s.names) < maxSiteNames && !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	})
}

func (s *siteAccess) add(r *row, hardware bool) {
	s.samples++
	if r.way != 0 { // the kernel is at work for an access that is not known
		s.cost += r.weight
		return
	}
	if hardware {
		op := r.access.Op
		if op == datasrc.Load || op == datasrc.LoadStore {
			s.reads++
		}
		if op == datasrc.Store || op == datasrc.LoadStore {
			s.writes++
		}
		s.cost += uint64(uint32(r.weight))
		return
	}
	if r.op != refs.Store {
		s.reads++
	}
	if r.op != refs.Load {
		s.writes++
	}
	s.cost += r.weight
}

// table has a row for each site that allocated, those with most bytes first.
func (a *allocations) table(plan *pmu.Plan) (*table.Table, error) {
	a.sites = slices.DeleteFunc(a.sites, func(s allocationSite) bool { return s.tally.Processes == 0 })
	slices.SortStableFunc(a.sites, func(x, y allocationSite) int {
		return cmp.Or(cmp.Compare(y.bytes(), x.bytes()), strings.Compare(x.stack, y.stack))
	})
	number := func(name, unit, note string, p table.Provenance, of func(*allocationSite) uint64) *table.Column {
		v := make([]int64, len(a.sites))
		for i := range a.sites {
			v[i] = int64(min(of(&a.sites[i]), math.MaxInt64))
		}
		c := table.Ints(name, unit, p, v, nil)
		c.Note = note
		return c
	}
	text := func(name, note string, of func(*allocationSite) string) *table.Column {
		in, codes := table.NewInterner(), make([]uint32, len(a.sites))
		for i := range a.sites {
			codes[i] = in.CodeString(of(&a.sites[i]))
		}
		c := table.Categories(name, table.Derived, codes, in.Names(), nil)
		c.Note = note
		return c
	}
	unit := "ns"
	if plan.Hardware() {
		unit = "cycles"
	}
	const exact, found, guess = table.Measured, table.Derived, table.Modelled
	lifetime := number("lifetime", "ns", "half of the logged allocations lived no longer; missing where most were never freed", exact, func(s *allocationSite) uint64 { return s.tally.Lifetime })
	lifetime.Valid = table.NewBits(len(a.sites))
	for i := range a.sites {
		if a.sites[i].tally.HasMedian {
			lifetime.Valid.Set(i)
		}
	}
	return table.New("allocations", []*table.Column{
		text("stack", "functions from the outermost to the one that allocates", func(s *allocationSite) string { return s.stack }),
		text("allocation", "the line of the innermost of them that has one", func(s *allocationSite) string { return s.line }),
		text("symbol", "what its objects are called, separated by semicolons", func(s *allocationSite) string { return strings.Join(s.names, ";") }),
		number("processes", "", "that allocate there", exact, func(s *allocationSite) uint64 { return uint64(s.tally.Processes) }),
		number("calls", "", "logged one by one", exact, func(s *allocationSite) uint64 { return s.tally.Calls }),
		number("bytes", "bytes", "of the logged ones", exact, func(s *allocationSite) uint64 { return s.tally.Bytes }),
		number("freed", "", "of the logged ones", exact, func(s *allocationSite) uint64 { return s.tally.Freed }),
		number("peak", "bytes", "the most of the logged ones that lived at once in one process", exact, func(s *allocationSite) uint64 { return s.tally.Peak }),
		number("peak_calls", "", "how many these were", exact, func(s *allocationSite) uint64 { return s.tally.PeakCalls }),
		number("at_peak", "bytes", "when most of all logged ones lived at once", exact, func(s *allocationSite) uint64 { return s.tally.AtPeak }),
		number("at_end", "bytes", "never freed", exact, func(s *allocationSite) uint64 { return s.tally.AtEnd }),
		lifetime,
		number("summed_calls", "", "counted, but not logged one by one", exact, func(s *allocationSite) uint64 { return s.tally.Unlogged.Calls }),
		number("summed_bytes", "bytes", "of these", exact, func(s *allocationSite) uint64 { return s.tally.Unlogged.Bytes }),
		number("small_seen", "", "small allocations that were looked at", exact, func(s *allocationSite) uint64 { return s.tally.Unlogged.Hits }),
		number("small_calls", "", "how many small ones there are, by those", guess, func(s *allocationSite) uint64 { return uint64(math.Round(s.tally.Unlogged.SmallCalls)) }),
		number("small_bytes", "bytes", "of small ones, by those", guess, func(s *allocationSite) uint64 { return uint64(s.tally.Unlogged.SmallBytes) }),
		number("samples", "", "in logged allocations", found, func(s *allocationSite) uint64 { return uint64(s.access.samples) }),
		number("reads", "", "samples that read", found, func(s *allocationSite) uint64 { return uint64(s.access.reads) }),
		number("writes", "", "samples that write", found, func(s *allocationSite) uint64 { return uint64(s.access.writes) }),
		number("cost", unit, "of these samples", found, func(s *allocationSite) uint64 { return s.access.cost }),
	})
}

func (s *allocationSite) bytes() float64 {
	return float64(s.tally.Bytes) + float64(s.tally.Unlogged.Bytes) + s.tally.Unlogged.SmallBytes
}
