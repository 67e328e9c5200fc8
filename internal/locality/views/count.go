package views

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/reuse"
)

// octaveCount is how many buckets a row's histogram has: octaves of distances from 1
// on, and first touches last.
const octaveCount = 19

// MissRow is some of the references: those of an object, a field, a line, a
// function, a loop or a thread.
type MissRow struct {
	Name       string   `json:"name"`
	Object     string   `json:"object"`
	Field      string   `json:"field"`
	File       string   `json:"file"`
	Line       int      `json:"line"`
	Function   string   `json:"function"`
	Loop       string   `json:"loop"`
	Thread     uint32   `json:"thread"`
	Bytes      uint64   `json:"bytes"`  // of an object or a field
	Offset     uint64   `json:"offset"` // of a field
	References uint64   `json:"references"`
	Selected   uint64   `json:"selected"`
	Misses     []uint64 `json:"misses"` // by level
	replay.Bands
	Chosen      []uint64     `json:"chosen"`      // of them those of selected references
	ChosenBands replay.Bands `json:"chosenBands"` // empty if nothing is selected
	Fetched     uint64       `json:"fetched"`
	Used        uint64       `json:"used"`  // bytes, of the lines fetched into the first level
	Reuse       []uint64     `json:"reuse"` // references by octave of distance; first touches last
	First       uint64       `json:"first"`
}

// MissLevel is what happened at one level.
type MissLevel struct {
	Level  string `json:"level"`
	Bytes  int    `json:"bytes"`
	Ways   int    `json:"ways"`
	Line   int    `json:"line_bytes"`
	Misses uint64 `json:"misses"`
	Chosen uint64 `json:"chosen"`
	First  uint64 `json:"first"`
	Full   uint64 `json:"full"`   // of a fully associative cache of this size
	Hidden uint64 `json:"hidden"` // misses that an ideal stride prefetcher hides
	// Frames and Prefetch are as those of rows.
	Frames         [2]uint64 `json:"frames" ts:"readonly [number, number]"`
	Prefetch       [2]uint64 `json:"prefetch" ts:"readonly [number, number]"`
	ChosenFrames   [2]uint64 `json:"chosenFrames" ts:"readonly [number, number]"`
	ChosenPrefetch [2]uint64 `json:"chosenPrefetch" ts:"readonly [number, number]"`
}

// MissCurve is misses by size of a fully associative cache.
type MissCurve struct {
	Sizes    []uint64 `json:"sizes"` // bytes
	Total    []uint64 `json:"total"`
	Selected []uint64 `json:"selected"` // empty if nothing is selected
	// Bands are the references that are not selected, those with the most misses
	// at the first level first.
	Bands []MissBand `json:"bands"`
}

// MissBand is a part of a curve.
type MissBand struct {
	Name   string   `json:"name"`
	Misses []uint64 `json:"misses"`
}

// SizeNeed is the smallest cache with a share of hits; 0 where no cache has it.
type SizeNeed struct {
	Hits  float64 `json:"hits"`
	Bytes uint64  `json:"bytes"`
}

// MissCounts is everything a page shows of a study but its map.
type MissCounts struct {
	References uint64      `json:"references"`
	Selected   uint64      `json:"selected"`
	Lines      uint64      `json:"lines"`
	Footprint  uint64      `json:"footprint"`
	Levels     []MissLevel `json:"levels"`
	Curve      MissCurve   `json:"curve"`
	Needs      []SizeNeed  `json:"needs"`
	// ReusedFrom is the size from which on the selection, or everything, misses
	// at most a twentieth of the repeats that it misses at the first level; 0 if
	// it has none.
	ReusedFrom uint64    `json:"reused_from"`
	FirstAbove uint64    `json:"first_above"` // first touches of the selection, which no size saves
	AtFirst    uint64    `json:"at_first"`    // misses of the selection in a fully associative first level
	Objects    []MissRow `json:"objects"`
	Fields     []MissRow `json:"fields"`
	Places     []MissRow `json:"places"`
	Functions  []MissRow `json:"functions"`
}

// Stack is what the bands of a curve are.
type Stack string

// The bands there are.
const (
	ByObject   Stack = "object"
	ByLine     Stack = "line"
	ByFunction Stack = "function"
	None       Stack = "none"
)

// maxBands is how many bands a curve has; what is smaller is one more.
const maxBands = 8

// maxRows bounds each table.
const maxRows = 256

// cancelEvery is how many accesses are counted between looks at the context.
const cancelEvery = 1 << 18

// group gathers a row.
type group struct {
	MissRow
	all, rest reuse.Histogram // rest is of references that are not selected
	// bands are of all misses, chosen of those of the selection; each nil without any.
	bands, chosen *replay.Tally
}

// groups are the rows of one kind.
type groups struct {
	index   map[any]int
	rows    []*group
	machine *platform.Machine
}

func newGroups(m *platform.Machine) *groups { return &groups{index: map[any]int{}, machine: m} }

func (g *groups) at(key any, fill func(*MissRow)) *group {
	i, ok := g.index[key]
	if !ok {
		i = len(g.rows)
		g.index[key] = i
		levels := len(g.machine.Levels)
		row := &group{MissRow: MissRow{Misses: make([]uint64, levels), Chosen: make([]uint64, levels), ChosenBands: replay.Bands{Frames: [][2]uint64{}, Prefetch: [][2]uint64{}}}}
		fill(&row.MissRow)
		g.rows = append(g.rows, row)
	}
	return g.rows[i]
}

// cell is the references of one instruction to one field: what rows are made of.
type cell struct {
	code   uint32
	member layout.Member
}

// cells numbers the cell of every access, and lists them.
func cells(s *Study) (of []uint32, all []cell) {
	of = make([]uint32, len(s.Trace.Accesses))
	index := map[cell]uint32{}
	lastBy := make([]uint32, len(s.Trace.Codes)) // plus one: instructions mostly stay with their field
	for i := range s.Trace.Accesses {
		a := &s.Trace.Accesses[i]
		c := cell{a.Code, s.member(a)}
		if n := lastBy[a.Code]; n > 0 && all[n-1] == c {
			of[i] = n - 1
			continue
		}
		n, ok := index[c]
		if !ok {
			n = uint32(len(all))
			index[c] = n
			all = append(all, c)
		}
		of[i], lastBy[a.Code] = n, n+1
	}
	return of, all
}

// tally is what was counted of a cell, selected or not.
type tally struct {
	references, used uint64
	distances        reuse.Histogram
	first, full      [platform.MaxLevels]uint64
	bands            replay.Tally
}

// Count counts a study for a selection.
func (s *Study) Count(ctx context.Context, c *Choice, stack Stack) (*MissCounts, error) {
	tallies, err := s.tally(ctx, c, len(s.cells), func(i int) uint32 { return s.cellOf[i] })
	if err != nil {
		return nil, err
	}
	k := newCounter(s)
	chosen := reuse.Histogram{}
	for n, both := range tallies {
		for which, t := range both {
			if t == nil {
				continue
			}
			if which == 1 {
				chosen.Merge(&t.distances)
			}
			k.add(s.cells[n], t, which == 1)
		}
	}
	return k.counted(&chosen, c.all(), stack), nil
}

// tally counts the accesses of each of n kinds, those not selected and those
// selected; without a selection all are the former.
func (s *Study) tally(ctx context.Context, c *Choice, n int, kind func(i int) uint32) ([][2]*tally, error) {
	everything := c.all()
	tallies := make([][2]*tally, n)
	framed := s.Framed
	for i := range s.Trace.Accesses {
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		which := 0
		if !everything && s.has(c, i) {
			which = 1
		}
		t := tallies[kind(i)][which]
		if t == nil {
			t = &tally{bands: replay.NewTally(len(s.Levels))}
			tallies[kind(i)][which] = t
		}
		t.count(s, i)
		if len(framed) > 0 && framed[0].Access == i {
			t.bands.CountFramed(&framed[0])
			framed = framed[1:]
		}
	}
	return tallies, nil
}

// count adds an access.
func (t *tally) count(s *Study, i int) {
	t.references++
	t.used += uint64(s.Used[i])
	t.distances.Add(s.Distance[i])
	for l, level := range s.Levels {
		o := &level[i]
		if o.Misses|o.Full == 0 {
			continue
		}
		t.bands.Count(l, uint64(o.Misses), s.Hidden[i])
		t.first[l] += uint64(o.First)
		t.full[l] += uint64(o.Full)
	}
}

// counter makes rows of what was counted.
type counter struct {
	s                                  *Study
	out                                *MissCounts
	objects, fields, places, functions *groups
	all, chosen                        replay.Tally
}

func newCounter(s *Study) *counter {
	n := len(s.Levels)
	m := s.Machine
	k := &counter{s: s, out: &MissCounts{}, objects: newGroups(m), fields: newGroups(m), places: newGroups(m), functions: newGroups(m), all: replay.NewTally(n), chosen: replay.NewTally(n)}
	for _, l := range s.Machine.Levels {
		k.out.Levels = append(k.out.Levels, MissLevel{Level: l.Name, Bytes: l.Size, Ways: l.Ways, Line: l.Line})
	}
	return k
}

func (k *counter) add(c cell, t *tally, selected bool) {
	for l := range k.out.Levels {
		to := &k.out.Levels[l]
		to.Misses += t.bands.Misses[l]
		to.First += t.first[l]
		to.Full += t.full[l]
		to.Hidden += t.bands.Hidden[l]
		if selected {
			to.Chosen += t.bands.Misses[l]
		}
	}
	k.all.Add(&t.bands)
	if selected {
		k.chosen.Add(&t.bands)
		k.out.Selected += t.references
	}
	k.object(c.member.Object).add(t, selected)
	k.place(c.code).add(t, selected)
	k.function(c.code).add(t, selected)
	if c.member.Field >= 0 {
		k.field(c.member).add(t, selected)
	}
}

// add adds what was counted to a row.
func (g *group) add(t *tally, selected bool) {
	g.References += t.references
	g.all.Merge(&t.distances)
	addTo(&g.bands, &t.bands)
	for l := range g.Misses {
		g.Misses[l] += t.bands.Misses[l]
		if selected {
			g.Chosen[l] += t.bands.Misses[l]
		}
	}
	if selected {
		addTo(&g.chosen, &t.bands)
	}
	g.Fetched += t.bands.Misses[0]
	g.Used += t.used
	if selected {
		g.Selected += t.references
	} else {
		g.rest.Merge(&t.distances)
	}
}

// addTo adds to a tally that may not be there yet.
func addTo(to **replay.Tally, t *replay.Tally) {
	if *to == nil {
		none := replay.NewTally(len(t.Misses))
		*to = &none
	}
	(*to).Add(t)
}

func (k *counter) object(n uint32) *group {
	return k.objects.at(n, func(r *MissRow) {
		r.Name = k.s.objectName(n)
		r.Object = r.Name
		if o := k.s.Table.Objects[n]; o != nil {
			r.Bytes = o.Size
		}
	})
}

func (k *counter) place(code uint32) *group {
	p := k.s.Trace.PlaceOf(code)
	return k.places.at([2]any{p.File, p.Line}, func(r *MissRow) {
		r.File, r.Line, r.Function = p.File, p.Line, p.Function
		r.Name = fmt.Sprintf("%s:%d", p.File, p.Line)
		if p.Line == 0 {
			r.Name = "(no line)"
		}
	})
}

func (k *counter) function(code uint32) *group {
	p := k.s.Trace.PlaceOf(code)
	g := k.functions.at(p.Function, func(r *MissRow) {
		r.File, r.Line, r.Function, r.Name = p.File, p.Line, p.Function, p.Function
		if p.Function == "" {
			r.Name = "(no function)"
		}
	})
	if p.Line > 0 {
		g.Line = min(g.Line, p.Line)
	}
	return g
}

func (k *counter) field(m layout.Member) *group {
	return k.fields.at(m, func(r *MissRow) {
		o := k.s.Table.Objects[m.Object]
		f := o.Fields[m.Field]
		r.Object, r.Field, r.Name, r.Bytes, r.Offset = o.Name, f.Name, o.Name+"."+f.Name, f.Size, f.Offset
	})
}

// counted ends the pass.
func (k *counter) counted(chosen *reuse.Histogram, everything bool, stack Stack) *MissCounts {
	s, out := k.s, k.out
	out.References, out.Lines = uint64(len(s.Trace.Accesses)), s.Lines
	out.Footprint = out.Lines * s.lineSize
	all, picked := k.all.Bands(s.Machine), k.chosen.Bands(s.Machine)
	for i := range out.Levels {
		l := &out.Levels[i]
		l.Frames, l.Prefetch, l.ChosenFrames, l.ChosenPrefetch = all.Frames[i], all.Prefetch[i], picked.Frames[i], picked.Prefetch[i]
	}
	out.Objects, out.Fields = k.objects.sorted(), k.fields.sorted()
	out.Places, out.Functions = k.places.sorted(), k.functions.sorted()
	of := chosen
	if everything {
		of = &s.whole
	}
	l1 := uint64(s.Machine.Levels[0].Size) / s.lineSize
	out.AtFirst, out.FirstAbove = of.Misses(l1), of.First
	out.ReusedFrom = reusedFrom(of, l1) * s.lineSize
	out.Needs = s.needs()
	out.Curve = k.curve(chosen, everything, stack)
	return out
}

// sorted are the rows, those with the most misses at the first level first.
func (g *groups) sorted() []MissRow {
	slices.SortStableFunc(g.rows, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.Misses[0], a.Misses[0]), cmp.Compare(b.References, a.References), cmp.Compare(a.Name, b.Name))
	})
	out := []MissRow{}
	for _, r := range g.rows[:min(len(g.rows), maxRows)] {
		r.Bands = r.bands.Bands(g.machine)
		if r.chosen != nil {
			r.ChosenBands = r.chosen.Bands(g.machine)
		}
		r.Reuse = octaves(&r.all)
		r.First = r.all.First
		out = append(out, r.MissRow)
	}
	return out
}

// octaves folds a histogram: distances 0, 1, 2–3, 4–7, … and first touches last.
func octaves(h *reuse.Histogram) []uint64 {
	out := make([]uint64, octaveCount)
	for b, n := range h.Counts {
		o := 0
		for d := reuse.BucketStart(b); d > 0; d >>= 1 {
			o++
		}
		out[min(o, octaveCount-2)] += n
	}
	out[octaveCount-1] = h.First
	return out
}

// reusedFrom is the smallest number of lines with which at most a twentieth of
// the repeats that miss with so many lines still miss; 0 if none does.
func reusedFrom(h *reuse.Histogram, lines uint64) uint64 {
	repeats := h.Misses(lines) - h.First
	if repeats == 0 {
		return 0
	}
	for b := reuse.Bucket(uint32(lines)); b < reuse.Buckets; b++ {
		if size := reuse.BucketStart(b); 20*(h.Misses(size)-h.First) <= repeats {
			return size
		}
	}
	return 0
}

// needs are the sizes that shares of hits need, exactly.
func (s *Study) needs() []SizeNeed {
	n := uint64(len(s.Distance))
	var out []SizeNeed
	for _, share := range []float64{0.80, 0.85, 0.90, 0.95, 0.97} {
		want := uint64(share * float64(n))
		hits, size := uint64(0), uint64(0)
		for d, c := range s.exact {
			if hits += c; hits >= want {
				size = uint64(d) + 1
				break
			}
		}
		out = append(out, SizeNeed{share, size * s.lineSize})
	}
	return out
}

// leastSize is where curves begin, in bytes.
const leastSize = 4 << 10

// sizes are where a curve has points: every size at which a bucket begins, up to
// twice the footprint.
func (s *Study) sizes() (lines []uint64) {
	for b := range reuse.Buckets {
		size := reuse.BucketStart(b)
		if size*s.lineSize < leastSize {
			continue
		}
		lines = append(lines, size)
		if size >= 2*s.Lines && size*s.lineSize >= 8*leastSize {
			break
		}
	}
	return lines
}

// along is the misses of a histogram at sizes, which begin buckets.
func along(h *reuse.Histogram, sizes []uint64) []uint64 {
	out := make([]uint64, len(sizes))
	n, b := h.Total(), 0
	for i, size := range sizes {
		for ; b < reuse.Buckets && reuse.BucketStart(b) < size; b++ {
			n -= h.Counts[b]
		}
		out[i] = n
	}
	return out
}

// Total is the curve of everything, at sizes in bytes of another study.
func (s *Study) Total(bytes []uint64) []uint64 {
	var lines []uint64
	for _, b := range bytes {
		lines = append(lines, b/s.lineSize)
	}
	out := make([]uint64, len(lines))
	for i, n := range lines {
		out[i] = s.whole.Misses(n)
	}
	return out
}

func (k *counter) curve(chosen *reuse.Histogram, everything bool, stack Stack) MissCurve {
	s := k.s
	sizes := s.sizes()
	c := MissCurve{Total: along(&s.whole, sizes), Selected: []uint64{}, Bands: []MissBand{}}
	for _, n := range sizes {
		c.Sizes = append(c.Sizes, n*s.lineSize)
	}
	if !everything {
		c.Selected = along(chosen, sizes)
	}
	var rows []*group
	switch stack {
	case ByLine:
		rows = k.places.rows
	case ByFunction:
		rows = k.functions.rows
	case None:
		return c
	default:
		rows = k.objects.rows
	}
	l1 := uint64(s.Machine.Levels[0].Size) / s.lineSize
	left := slices.DeleteFunc(slices.Clone(rows), func(g *group) bool { return g.rest.Total() == 0 })
	slices.SortStableFunc(left, func(a, b *group) int { return cmp.Compare(b.rest.Misses(l1), a.rest.Misses(l1)) })
	other := reuse.Histogram{}
	for i, g := range left {
		if i < maxBands-1 || len(left) == maxBands {
			c.Bands = append(c.Bands, MissBand{g.Name, along(&g.rest, sizes)})
		} else {
			other.Merge(&g.rest)
		}
	}
	if other.Total() > 0 {
		c.Bands = append(c.Bands, MissBand{"other", along(&other, sizes)})
	}
	return c
}
