package answer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/reuse"
)

// Reuse is the answer of `isobath reuse`.
type Reuse struct {
	Records    uint64      `json:"records"`
	References uint64      `json:"references"`
	Threads    int         `json:"threads"`
	LineBytes  int         `json:"line_bytes"`
	Lines      uint64      `json:"lines"`
	First      uint64      `json:"first"`
	Bytes      uint64      `json:"bytes"`
	Provenance string      `json:"provenance"`
	Sample     *Sample     `json:"sample"`
	Curve      []Point     `json:"curve"`
	Histogram  [][3]uint64 `json:"histogram"`
	Pages      Pages       `json:"pages"`
	Footprint  []Window    `json:"footprint"`
	WorkingSet WorkingSet  `json:"working_set"`
	Use        *Use        `json:"use"`
	By         By          `json:"by"`
	Groups     []Group     `json:"groups"`
	// GroupCount is how many groups there are; Groups may be the first of them.
	GroupCount int          `json:"group_count"`
	Machine    ReuseMachine `json:"machine"`
	Aliases    Aliases      `json:"aliases"`
	Objects    []ObjectInfo `json:"objects"`
	Notes      []string     `json:"notes"`
}

// Sample says how a sampled answer was made and how far its seeds lie apart.
type Sample struct {
	Rate   float64 `json:"rate"`
	Seeds  int     `json:"seeds"`
	Lines  uint64  `json:"lines"`  // followed, by the seed with the fewest
	Spread float64 `json:"spread"` // largest difference of the miss ratios of two seeds
	Mean   float64 `json:"mean_spread"`
}

// Point is one size of the miss curve.
type Point struct {
	Lines  uint64  `json:"lines"`
	Bytes  uint64  `json:"bytes"`
	Misses uint64  `json:"misses"`
	Ratio  float64 `json:"ratio"`
}

// Pages are the distances in pages: misses of a fully associative TLB.
type Pages struct {
	PageBytes int         `json:"page_bytes"`
	Pages     uint64      `json:"pages"`
	First     uint64      `json:"first"`
	Histogram [][3]uint64 `json:"histogram"`
}

// Window is the mean number of distinct lines in windows of a length.
type Window struct {
	Window uint64  `json:"window"`
	Lines  float64 `json:"lines"`
}

// WorkingSet is the distinct lines and pages of one window after another.
type WorkingSet struct {
	Window uint64   `json:"window"`
	Lines  []uint32 `json:"lines"`
	Pages  []uint32 `json:"pages"`
}

// Use is how many bytes of fetched lines were touched.
type Use struct {
	Machine    string `json:"machine"` // whose first level it is
	Size       int    `json:"size"`
	Ways       int    `json:"ways"`
	Fetched    uint64 `json:"fetched"`
	BytesUsed  uint64 `json:"bytes_used"`
	Provenance string `json:"provenance"`
	// The first level is looked up by the address of the program, so no frame of
	// memory changes what it fetches; a prefetcher fetches as many lines before they
	// are missed.
	Frames   [2]uint64 `json:"frames" ts:"readonly [number, number]"`
	Prefetch [2]uint64 `json:"prefetch" ts:"readonly [number, number]"`
}

// GroupUse is Use of a group.
type GroupUse struct {
	Fetched   uint64  `json:"fetched"`
	BytesUsed uint64  `json:"bytes_used"`
	PerLine   float64 `json:"bytes_per_line"`
}

// Group is some of the references.
type Group struct {
	Key        Key          `json:"key"`
	References uint64       `json:"references"`
	First      uint64       `json:"first"`
	Median     *[2]uint64   `json:"median"` // distances between which it lies; null if nothing is used again
	Misses     []uint64     `json:"misses"` // at the sizes of the machine
	Histogram  [][3]uint64  `json:"histogram"`
	Use        *GroupUse    `json:"use"`
	Strides    [][2]float64 `json:"strides"` // bytes and share
	Class      string       `json:"class,omitempty"`
	Carried    []any        `json:"carried"`

	histogram reuse.Histogram
	strides   map[int64]uint64
	steps     uint64
}

// ReuseMachine is the sizes at which misses are counted.
type ReuseMachine struct {
	Name  string      `json:"name"`
	Sizes []LevelSize `json:"sizes"`
}

// LevelSize is the size of a level, and the misses of a fully associative cache
// of that size.
type LevelSize struct {
	Level  string `json:"level"`
	Bytes  int    `json:"bytes"`
	Misses uint64 `json:"misses"`
	Exact  bool   `json:"exact"` // for groups: the size begins a bucket
}

// Aliases are loads that look like one of the stores just before in their lower
// twelve bits, and wait for it.
type Aliases struct {
	Machine    string `json:"machine"`
	Loads      uint64 `json:"loads"`
	Aliased    uint64 `json:"aliased"`
	Provenance string `json:"provenance"`
	// The lower bits of an address are the same in every frame, and what is
	// prefetched waits for the same stores.
	Frames   [2]uint64 `json:"frames" ts:"readonly [number, number]"`
	Prefetch [2]uint64 `json:"prefetch" ts:"readonly [number, number]"`
}

// aliasMachine is what aliases are modelled on.
const aliasMachine = "a buffer of 32 stores that compares bits 3 to 11"

// ReuseInput is what an answer is made of.
type ReuseInput struct {
	Result  *reuse.Result
	About   *refs.About
	Table   *layout.Table
	Machine *platform.Machine // nil if no machine is known
	Cache   Use               // the cache of Result.Used
	By      By
	Loops   []string // names, where the pass counted by loop
	Top     int
	Records uint64
	Notes   []string
}

// NewReuse makes the answer.
func NewReuse(in ReuseInput) *Reuse {
	r := in.Result
	out := &Reuse{Records: in.Records, References: r.References, Threads: len(r.Threads), LineBytes: r.LineBytes, Lines: r.Lines, First: r.First,
		Bytes: r.Lines * uint64(r.LineBytes), Provenance: Derived, Histogram: spans(&r.Whole), By: in.By, Objects: objectsOf(in.Table), Notes: append([]string{}, in.Notes...),
		Pages:      Pages{r.PageBytes, r.PageCount, r.Pages.First, spans(&r.Pages)},
		WorkingSet: WorkingSet{r.WorkingSet.Window, r.WorkingSet.Lines, r.WorkingSet.Pages},
		Aliases:    Aliases{aliasMachine, r.Loads, r.Aliases, Modelled, same(r.Aliases), same(r.Aliases)}}
	for _, p := range r.Curve() {
		out.Curve = append(out.Curve, Point{p.Lines, p.Lines * uint64(r.LineBytes), p.Misses, float64(p.Misses) / float64(max(r.References, 1))})
	}
	for _, w := range r.Footprint {
		out.Footprint = append(out.Footprint, Window{w.References, w.Lines})
	}
	if in.Cache.Size > 0 {
		use := in.Cache
		use.Fetched, use.BytesUsed, use.Provenance = r.Fetched, r.Used, Modelled
		use.Frames, use.Prefetch = same(r.Fetched), same(r.Fetched)
		if in.Machine != nil {
			use.Machine = in.Machine.Name
		}
		out.Use = &use
	}
	sizes := out.addMachine(in)
	out.addGroups(in, sizes)
	out.explain(in)
	return out
}

// same is a band of one number.
func same(n uint64) [2]uint64 { return [2]uint64{n, n} }

// addMachine adds the sizes at which misses are counted, in lines.
func (a *Reuse) addMachine(in ReuseInput) (sizes []uint64) {
	a.Machine.Sizes = []LevelSize{}
	if in.Machine == nil {
		return nil
	}
	a.Machine.Name = in.Machine.Name
	for _, l := range in.Machine.Levels {
		lines := uint64(l.Size / in.Result.LineBytes)
		sizes = append(sizes, lines)
		a.Machine.Sizes = append(a.Machine.Sizes, LevelSize{l.Name, l.Size, in.Result.Misses(lines), reuse.Exact(lines)})
	}
	return sizes
}

// spans lists the buckets that hold something: from, to (both included), count.
func spans(h *reuse.Histogram) [][3]uint64 {
	out := [][3]uint64{}
	for b, n := range h.Counts {
		if n > 0 {
			out = append(out, [3]uint64{reuse.BucketStart(b), reuse.BucketStart(b+1) - 1, n})
		}
	}
	return out
}

// addGroups adds the groups, those with the most misses at the first size first.
func (a *Reuse) addGroups(in ReuseInput, sizes []uint64) {
	groups := gather(in)
	for i := range groups {
		g := &groups[i]
		g.References, g.First = g.histogram.Total(), g.histogram.First
		if from, to, ok := g.histogram.Median(); ok {
			g.Median = &[2]uint64{from, to}
		}
		g.Histogram = spans(&g.histogram)
		g.Misses = []uint64{}
		for _, lines := range sizes {
			g.Misses = append(g.Misses, g.histogram.Misses(lines))
		}
		g.addStrides()
		g.Carried = []any{}
		if u := g.Use; u != nil && u.Fetched > 0 {
			u.PerLine = float64(u.BytesUsed) / float64(u.Fetched)
		}
	}
	slices.SortStableFunc(groups, func(x, y Group) int {
		var d int
		if len(sizes) > 0 {
			d = cmp.Compare(y.Misses[0], x.Misses[0])
		}
		return cmp.Or(d, cmp.Compare(y.References, x.References), cmp.Compare(x.Key.String(), y.Key.String()))
	})
	a.GroupCount = len(groups)
	if in.Top > 0 && len(groups) > in.Top {
		groups = groups[:in.Top]
	}
	a.Groups = groups
}

// gather makes the groups from instructions or members.
func gather(in ReuseInput) []Group {
	var groups []Group
	index := map[string]int{}
	at := func(k Key) *Group {
		name := fmt.Sprint(k.File, "\x00", k.Line, "\x00", k.Function, "\x00", k.Field, "\x00", k.PC, "\x00", k.Class, "\x00", k.Loop)
		if k.Object != nil {
			name += "\x00" + *k.Object
		}
		if k.Thread != nil {
			name += fmt.Sprint("\x00", *k.Thread)
		}
		i, ok := index[name]
		if !ok {
			i = len(groups)
			index[name] = i
			groups = append(groups, Group{Key: k, strides: map[int64]uint64{}})
		}
		return &groups[i]
	}
	use := in.Cache.Size > 0
	if in.By == ByObject || in.By == ByField {
		for m, g := range in.Result.Members {
			if g != nil {
				at(memberKey(in.By, in.Table, in.Table.Members()[m])).merge(g, use)
			}
		}
		return groups
	}
	if in.By == ByLoop {
		for i, g := range in.Result.Loops {
			if g != nil {
				at(Key{Loop: in.Loops[i]}).merge(g, use)
			}
		}
		return groups
	}
	for _, c := range in.Result.Code {
		g := at(codeKey(in.By, in.About.Places, c))
		g.merge(&c.Group, use)
		for _, s := range c.Strides.Top(8) {
			g.strides[s.Bytes] += s.Count
		}
		g.steps += c.Strides.Total()
		if in.By == ByPC {
			g.Class = string(c.Strides.Class())
		}
	}
	return groups
}

func codeKey(by By, places []refs.Place, c *reuse.CodeGroup) Key {
	switch by {
	case ByThread:
		return Key{Thread: &c.Thread}
	case ByClass:
		return Key{Class: string(c.Strides.Class())}
	case ByPC:
		k := placeKey(ByLine, places, c.Place)
		k.PC = fmt.Sprintf("%#x", c.PC)
		return k
	}
	return placeKey(by, places, c.Place)
}

func (g *Group) merge(from *reuse.Group, use bool) {
	g.histogram.Merge(&from.Lines)
	if use {
		if g.Use == nil {
			g.Use = &GroupUse{}
		}
		g.Use.Fetched += from.Fetched
		g.Use.BytesUsed += from.Used
	}
}

// addStrides adds the four most frequent strides and their shares.
func (g *Group) addStrides() {
	g.Strides = [][2]float64{}
	type stride struct {
		bytes int64
		n     uint64
	}
	var all []stride
	for b, n := range g.strides {
		all = append(all, stride{b, n})
	}
	slices.SortFunc(all, func(a, b stride) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.bytes, b.bytes)) })
	for _, s := range all[:min(4, len(all))] {
		g.Strides = append(g.Strides, [2]float64{float64(s.bytes), float64(s.n) / float64(g.steps)})
	}
}

// aliasShare is from which share of the loads on aliases are worth a sentence.
const aliasShare = 0.2

// explain adds what a reader of the numbers must know.
func (a *Reuse) explain(in ReuseInput) {
	r := in.Result
	if len(r.Threads) > 1 {
		a.note("%d threads have a stack of their own each, as private caches do; lines that several use count for each", len(r.Threads))
	}
	if r.Unsized > 0 {
		a.note("%s %s no size and %s as one byte: those over two lines are missed, and the bytes used are not known", term.Counted(r.Unsized, "reference"), term.Agree(r.Unsized, "has", "have"), term.Agree(r.Unsized, "counts", "count"))
	}
	if r.Loads > 0 && float64(r.Aliases) >= aliasShare*float64(r.Loads) {
		a.note("%.1f %% of the loads agree with one of the last 32 stores in bits 3 to 11 and lie in another page: the processor may hold each back for a store that does not concern it (modelled)", 100*float64(r.Aliases)/float64(r.Loads))
	}
	if in.Machine == nil {
		a.note("no cache sizes are known; give --machine")
	}
}

func (a *Reuse) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// NewEstimate makes the answer of a sampled pass: the curve and its error, and
// nothing that a sample cannot tell.
func NewEstimate(e *reuse.Estimate, line int, m *platform.Machine, records uint64, notes []string) *Reuse {
	a := &Reuse{Records: records, References: e.References, LineBytes: line, Provenance: Modelled, Histogram: [][3]uint64{}, Groups: []Group{}, Objects: []ObjectInfo{},
		Sample: &Sample{e.Rate, e.Seeds, e.Lines, e.Spread, e.Mean}, Notes: append([]string{}, notes...)}
	a.Machine.Sizes = []LevelSize{}
	for _, p := range e.Points {
		a.Curve = append(a.Curve, Point{p.Lines, p.Lines * uint64(line), uint64(p.Ratio * float64(e.References)), p.Ratio})
	}
	if m != nil {
		a.Machine.Name = m.Name
		for _, l := range m.Levels {
			lines, misses := uint64(l.Size/line), uint64(0)
			for _, p := range a.Curve {
				if p.Lines <= lines {
					misses = p.Misses
				}
			}
			a.Machine.Sizes = append(a.Machine.Sizes, LevelSize{l.Name, l.Size, misses, false})
		}
	}
	a.note("sampled at a rate of %g: groups, pages and the bytes used need every reference", e.Rate)
	return a
}
