package sharing

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/locality/replay"
)

// Kind is what kind of sharing a line has.
type Kind string

// The kinds. Latent sharing costs nothing now and does with lines of 128 bytes,
// or if the object starts a few bytes later. Synchronisation is the line of a lock
// or barrier, which no layout parts; Library is memory that only code without names
// uses, as the runtime of OpenMP does.
const (
	True            Kind = "true"
	False           Kind = "false"
	Latent          Kind = "latent"
	Synchronisation Kind = "synchronisation"
	Library         Kind = "library"
)

// Schedules are the names of the schedules, in the order they are run.
var Schedules = []string{"recorded", "one after another", "turns of 1", "turns of 16", "turns of 256", "clocked"}

// User is what one thread does to a line.
type User struct {
	Thread        uint32
	Bytes         [][2]uint64 // from and to, of the line
	Loads, Stores uint64
	Codes         []uint32 // instructions, busiest first
}

// Line is a line, or two neighbours, that threads share or may come to share.
type Line struct {
	Addr   uint64
	Bytes  int // of the line: 64, or 128 for latent sharing
	Object uint32
	Kind   Kind
	Users  []User
	// By is the misses of each schedule; Least and Most those with the fewest and
	// the most.
	By          []Misses
	Least, Most Misses
	Recorded    Misses
	Clocked     Misses
	// Wider is the most misses with lines of 128 bytes; Moved those with strict
	// turns if everything lies so many bytes later.
	Wider    Misses
	Moved    []Moved
	Separate Misses // the most left with each thread's own bytes in lines of their own
	// Pairs are who lost the line to whom, by the clock, most misses first.
	Pairs []Pair
}

// Moved is the misses if the addresses were larger.
type Moved struct {
	Bytes  uint64
	Misses Misses
}

// Result is what was found.
type Result struct {
	Threads []uint32
	Total   []Misses // by schedule, lines of 64 bytes
	Wide    []Misses // by schedule, lines of 128 bytes
	Lines   []*Line
	// Filtered is how many accesses were to lines that may be shared.
	Filtered int
}

// Options say how.
type Options struct {
	Clock Clock
}

// Analyse counts the coherence misses of a trace.
func Analyse(ctx context.Context, t *replay.Trace, o Options) (*Result, error) {
	if len(t.Threads) < 2 {
		return nil, fmt.Errorf("the trace has one thread; record all with --thread all")
	}
	if o.Clock == (Clock{}) {
		o.Clock = DefaultClock
	}
	a := &analysis{Trace: Filter(t), whole: t, found: map[uint64]*Line{}, result: &Result{Threads: t.Threads}}
	a.result.Filtered = len(a.refs)
	if err := a.run(ctx, o); err != nil {
		return nil, err
	}
	return a.result, nil
}

type analysis struct {
	*Trace
	whole  *replay.Trace
	found  map[uint64]*Line // by address / 64
	result *Result
}

func (a *analysis) run(ctx context.Context, o Options) error {
	one := a.turns(1)
	for k, name := range Schedules {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, shift := range []uint{shift64, shift128} {
			m := a.count(a.order(name, one, shift, o.Clock), shift, 0, a.into(k, shift))
			if shift == shift64 {
				a.result.Total = append(a.result.Total, m)
			} else {
				a.result.Wide = append(a.result.Wide, m)
			}
		}
	}
	wide := a.wide(one)
	moved := a.moved(one)
	a.finish(wide, moved)
	a.synchronise()
	a.pair(a.pairs(a.clocked(shift64, o.Clock)))
	return nil
}

// pair says of every line who lost it to whom.
func (a *analysis) pair(by map[uint64]map[[2]uint16]uint64) {
	for _, l := range a.result.Lines {
		for line := l.Addr >> shift64; line < (l.Addr+uint64(l.Bytes))>>shift64; line++ {
			for p, n := range by[line] {
				l.Pairs = append(l.Pairs, Pair{a.whole.Threads[p[0]], a.whole.Threads[p[1]], n})
			}
		}
		slices.SortFunc(l.Pairs, func(x, y Pair) int {
			return cmp.Or(cmp.Compare(y.Misses, x.Misses), cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.To, y.To))
		})
	}
}

// order is the accesses in the order of a schedule.
func (a *analysis) order(name string, one []int32, shift uint, c Clock) []int32 {
	switch name {
	case "recorded":
		return a.recorded()
	case "one after another":
		return a.turns(len(a.refs) + 1)
	case "turns of 1":
		return one
	case "turns of 16":
		return a.turns(16)
	case "turns of 256":
		return a.turns(256)
	}
	return a.clocked(shift, c)
}

// into finds the counts of a line in schedule k; only lines of 64 bytes are kept
// one by one.
func (a *analysis) into(k int, shift uint) func(uint64) *Misses {
	if shift != shift64 {
		return nil
	}
	return func(line uint64) *Misses {
		l := a.found[line]
		if l == nil {
			l = &Line{Addr: line << shift64, Bytes: 64, By: make([]Misses, len(Schedules))}
			a.found[line] = l
		}
		return &l.By[k]
	}
}

// wide counts the misses of lines of 128 bytes with strict turns.
func (a *analysis) wide(one []int32) map[uint64]*Misses {
	out := map[uint64]*Misses{}
	a.count(one, shift128, 0, collect(out))
	return out
}

func collect(into map[uint64]*Misses) func(uint64) *Misses {
	return func(line uint64) *Misses {
		if into[line] == nil {
			into[line] = &Misses{}
		}
		return into[line]
	}
}

// moves are how many bytes later the objects are tried to start.
var moves = []uint64{8, 16, 24, 32, 40, 48, 56}

// moved counts the misses with strict turns if everything lay later, by the
// address at which the line would begin now.
func (a *analysis) moved(one []int32) []map[uint64]*Misses {
	var out []map[uint64]*Misses
	for _, move := range moves {
		lines := map[uint64]*Misses{}
		a.count(one, shift64, move, collect(lines))
		by := map[uint64]*Misses{}
		for line, m := range lines {
			by[line<<shift64-move] = m
		}
		out = append(out, by)
	}
	return out
}

// worthLine is how many misses make a line worth telling: strict turns of
// threads that meet once give a few.
const worthLine = 8

// finish makes the lines of the result.
func (a *analysis) finish(wide map[uint64]*Misses, moved []map[uint64]*Misses) {
	for line, l := range a.found {
		l.bound()
		if w := wide[line>>1]; w != nil {
			l.Wider = *w
		}
		if l.Most.Coherence < worthLine {
			delete(a.found, line)
			continue
		}
		l.Kind = False
		if l.Clocked.True >= l.Clocked.False && l.Most.True >= worthLine {
			l.Kind = True
		}
		a.result.Lines = append(a.result.Lines, l)
	}
	a.addLatent(wide, moved)
	for _, l := range a.result.Lines {
		a.describe(l)
		for k, by := range moved {
			most := Misses{}
			for start, m := range by {
				if start < l.Addr+uint64(l.Bytes) && start+64 > l.Addr && m.Coherence > most.Coherence {
					most = *m
				}
			}
			l.Moved = append(l.Moved, Moved{moves[k], most})
		}
		l.Separate = a.separate(l)
	}
	sortLines(a.result.Lines)
}

func (l *Line) bound() {
	l.Least, l.Most = l.By[0], l.By[0]
	for _, m := range l.By {
		if m.Coherence < l.Least.Coherence {
			l.Least = m
		}
		if m.Coherence > l.Most.Coherence {
			l.Most = m
		}
	}
	l.Recorded, l.Clocked = l.By[0], l.By[len(l.By)-1]
}

// addLatent adds pairs of lines that have no sharing now, and have it with wide
// lines or moved.
func (a *analysis) addLatent(wide map[uint64]*Misses, moved []map[uint64]*Misses) {
	latent := map[uint64]*Line{}
	add := func(start uint64, m Misses) *Line {
		first, last := start>>shift64, (start+63)>>shift64
		if m.Coherence < worthLine || a.found[first] != nil || a.found[last] != nil || a.found[first^1] != nil {
			return nil
		}
		key := start >> shift128
		l := latent[key]
		if l == nil {
			l = &Line{Addr: key << shift128, Bytes: 128, Kind: Latent, By: make([]Misses, len(Schedules))}
			latent[key] = l
		}
		return l
	}
	for line, m := range wide {
		if l := add(line<<shift128, *m); l != nil {
			l.Wider = *m
		}
	}
	for _, by := range moved {
		for start, m := range by {
			add(start, *m)
		}
	}
	for _, l := range latent {
		a.result.Lines = append(a.result.Lines, l)
	}
}

// describe says which thread touches which bytes of a line.
func (a *analysis) describe(l *Line) {
	type use struct {
		bytes         mask
		loads, stores uint64
		codes         map[uint32]uint64
	}
	users := make([]use, a.threads)
	objects := map[uint32]uint64{}
	for i := range a.refs {
		r := &a.refs[i]
		from, to := max(r.addr, l.Addr), min(r.addr+uint64(r.size), l.Addr+uint64(l.Bytes))
		if from >= to {
			continue
		}
		u := &users[r.thread]
		if u.codes == nil {
			u.codes = map[uint32]uint64{}
		}
		u.bytes.set(from-l.Addr, to-l.Addr)
		u.codes[r.code]++
		objects[r.object]++
		if r.store {
			u.stores++
		} else {
			u.loads++
		}
	}
	most := uint64(0)
	for o, n := range objects {
		if n > most || n == most && o > l.Object {
			l.Object, most = o, n
		}
	}
	for k := range users {
		u := &users[k]
		if u.loads+u.stores == 0 {
			continue
		}
		out := User{Thread: a.whole.Threads[k], Bytes: u.bytes.ranges(), Loads: u.loads, Stores: u.stores}
		for c := range u.codes {
			out.Codes = append(out.Codes, c)
		}
		slices.SortFunc(out.Codes, func(x, y uint32) int { return cmp.Or(cmp.Compare(u.codes[y], u.codes[x]), cmp.Compare(x, y)) })
		l.Users = append(l.Users, out)
	}
}

// ranges lists the bytes of a mask.
func (m *mask) ranges() (out [][2]uint64) {
	for b := uint64(0); b < 256; b++ {
		if m[b/64]>>(b%64)&1 == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1][1] == b {
			out[n-1][1] = b + 1
		} else {
			out = append(out, [2]uint64{b, b + 1})
		}
	}
	return out
}

// separate replays a line with the words that only one thread uses in lines of
// that thread's own, and returns the most misses that are left.
func (a *analysis) separate(l *Line) Misses {
	owner := map[uint64]int{} // word to thread plus one, -1 if several
	for i := range a.refs {
		if r := &a.refs[i]; l.holds(r) {
			for w := r.addr / 8; w <= (r.addr+uint64(r.size)-1)/8; w++ {
				switch owner[w] {
				case 0:
					owner[w] = int(r.thread) + 1
				case int(r.thread) + 1:
				default:
					owner[w] = -1
				}
			}
		}
	}
	apart := &Trace{threads: a.threads, turn: a.turn}
	for _, r := range a.refs {
		if !l.holds(&r) {
			continue
		}
		if k := owner[r.addr/8]; k > 0 {
			r.addr += uint64(k) << 40
		}
		apart.refs = append(apart.refs, r)
	}
	return apart.worst()
}
