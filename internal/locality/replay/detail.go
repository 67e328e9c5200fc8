package replay

import (
	"cmp"
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/reuse"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// Outcome is what one access met at one level of a machine.
type Outcome struct {
	Misses uint8 // lines fetched
	First  uint8 // of them those this cache had never been asked for
	// Full is the lines a fully associative cache of this size would have fetched
	// on the same stream.
	Full uint8
	// Evictor is the object whose line had pushed out what is fetched again; 0 is
	// none, or no object.
	Evictor uint16
}

// Detail is a trace run through a machine, kept access by access: any selection
// of the accesses can be counted from it without another replay.
type Detail struct {
	Machine *platform.Machine
	Counts  Counts
	// Distance is the reuse distance of each access in lines of the first level,
	// reuse.First if one of its lines was met for the first time.
	Distance []uint32
	Levels   [][]Outcome // by level and access
	// Used is how many bytes were touched of the lines each access fetched into
	// the first level.
	Used []uint16
	// Hidden says that a stride prefetcher could have fetched the lines before.
	Hidden []bool
	// Line numbers the first line of each access; Spans the second ones of those
	// that have two or more, in order.
	Line  []uint32
	Spans []Span
	// Framed are the accesses that miss behind the first level with pages in some
	// frames of memory, in order; empty where no frame chooses a set.
	Framed []Framed

	Numbers uint32 // of lines: every number is below
	Lines   uint64 // distinct

	survey  *Survey
	gone    map[*cachesim.LRU]map[uint64]uint16
	now     int // the access under way
	object  uint16
	thread  int
	touched func(owner uint32, line uint64, mask []uint64)
}

// Span is a further line of an access.
type Span struct {
	Access int
	Line   uint32
}

// Framed is what an access misses at each level behind the first, for each map of
// pages to frames.
type Framed struct {
	Access int
	Misses [frameMaps][platform.MaxLevels - 1]uint8
}

// frameMissed counts a line that the levels behind the first missed.
func (d *Detail) frameMissed(seed, levels int) {
	last := len(d.Framed) - 1
	if last < 0 || d.Framed[last].Access != d.now {
		d.Framed, last = append(d.Framed, Framed{Access: d.now}), last+1
	}
	for i := range levels {
		if n := &d.Framed[last].Misses[seed][i]; *n < math.MaxUint8 {
			*n++
		}
	}
}

// NewDetail replays a trace. Touched, which may be nil, is told which bytes were
// touched of every line that an access fetched into the first level.
func NewDetail(ctx context.Context, t *Trace, m *platform.Machine, plan *Plan, p Placement, touched func(access uint32, line uint64, mask []uint64)) (*Detail, error) {
	n := len(t.Accesses)
	d := &Detail{Machine: m, Distance: make([]uint32, n), Used: make([]uint16, n), Hidden: make([]bool, n), Line: make([]uint32, n),
		gone: map[*cachesim.LRU]map[uint64]uint16{}, touched: touched, survey: &Survey{Caches: NewCaches(m), plan: plan, stacks: map[*cachesim.LRU]*reuse.Stack{}}}
	for range m.Levels {
		d.Levels = append(d.Levels, make([]Outcome, n))
	}
	d.survey.missed, d.survey.evicted = d.account, d.evict
	d.survey.away = newElsewhere(m, d.frameMissed)
	lines := reuse.NewStack()
	err := t.Each(ctx, plan, p, func(i int, pieces []Piece) { d.access(i, &t.Accesses[i], pieces, lines) })
	if err != nil {
		return nil, err
	}
	for _, u := range d.survey.usage {
		u.Flush()
	}
	if plan.Order != nil {
		slices.SortFunc(d.Framed, func(a, b Framed) int { return cmp.Compare(a.Access, b.Access) })
	}
	d.Counts, d.Lines = d.survey.Counts, uint64(lines.Lines())
	d.survey, d.gone = nil, nil
	return d, nil
}

// perAccess is what a detail takes of memory for each access, without its levels.
const perAccess = 4 + 2 + 1 + 4 // distance, bytes used, hidden, line

// DetailWeight is about what the detail of so many accesses takes in memory on a
// machine of so many levels, before it is made.
func DetailWeight(accesses, levels int) int64 {
	return int64(accesses) * (perAccess + int64(levels)*int64(unsafe.Sizeof(Outcome{})))
}

// Bytes is what the detail takes in memory.
func (d *Detail) Bytes() int64 {
	return DetailWeight(len(d.Distance), len(d.Levels)) +
		int64(cap(d.Spans))*int64(unsafe.Sizeof(Span{})) + int64(cap(d.Framed))*int64(unsafe.Sizeof(Framed{}))
}

func (d *Detail) access(i int, a *Access, pieces []Piece, lines *reuse.Stack) {
	s := d.survey
	d.now, d.object, d.thread = i, uint16(min(a.Object, math.MaxUint16)), int(a.Thread)
	path := s.path(d.thread)
	s.References++
	s.usePages(s.plan, a.Object)
	usage := d.usage(d.thread)
	for k, piece := range pieces {
		if k == 0 {
			d.Hidden[i] = s.streams.follow(d.thread, a.Code, piece.Addr)
		}
		end := (piece.Addr + uint64(max(piece.Size, 1)) - 1) >> s.shift
		for line := piece.Addr >> s.shift; line <= end; line++ {
			_, id := lines.Access(line)
			if k == 0 && line == piece.Addr>>s.shift {
				d.Line[i] = id
			} else {
				d.Spans = append(d.Spans, Span{i, id})
			}
			d.Numbers = max(d.Numbers, id+1)
			d.Distance[i] = max(d.Distance[i], d.look(0, line))
		}
		usage.Access(piece.Addr, piece.Size, uint32(i))
		s.piece(path, piece.Addr, piece.Size)
	}
}

// usage is the cache of a thread that knows which bytes are touched.
func (d *Detail) usage(thread int) *cachesim.Usage {
	for len(d.survey.usage) <= thread {
		u := cachesim.NewUsage(d.Machine.Levels[0].Geometry(), func(owner uint32, n, _ int) {
			d.Used[owner] = uint16(min(int(d.Used[owner])+n, math.MaxUint16))
		})
		u.Touched = d.touched
		d.survey.usage = append(d.survey.usage, u)
	}
	return d.survey.usage[thread]
}

// look asks the fully associative twin of a cache.
func (d *Detail) look(level int, line uint64) (distance uint32) {
	l, o := &d.Machine.Levels[level], &d.Levels[level][d.now]
	distance, _ = d.survey.paths[d.thread][level].Access(line)
	switch {
	case distance == reuse.First:
		o.First++
		o.Full++
	case int(distance) >= l.Size/l.Line:
		o.Full++
	}
	return distance
}

// account counts a line that the levels below one missed.
func (d *Detail) account(line uint64, level int) {
	path := d.survey.threads[d.thread]
	for i := range level {
		o := &d.Levels[i][d.now]
		o.Misses++
		if by, ok := d.gone[path.levels[i]][d.survey.at(i, line)]; ok {
			o.Evictor = by
		}
		if i+1 < len(d.Levels) {
			d.look(i+1, d.survey.at(i+1, line))
		}
	}
	d.survey.away.fetch(d.thread, line, d.survey.pageShift)
}

func (d *Detail) evict(c *cachesim.LRU, line uint64) {
	lost := d.gone[c]
	if lost == nil {
		lost = map[uint64]uint16{}
		d.gone[c] = lost
	}
	lost[line] = d.object
}
