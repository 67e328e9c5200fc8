package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/sharing"
)

// SharedLines is the answer of `isobath sharing`.
type SharedLines struct {
	Records    uint64          `json:"records"`
	Threads    int             `json:"threads"`
	Provenance string          `json:"provenance"`
	LineBytes  []int           `json:"line_bytes"`
	Schedules  []ScheduleCount `json:"schedules"`
	Lines      []SharedLine    `json:"lines"`
	LineCount  int             `json:"line_count"`
	Notes      []string        `json:"notes"`
}

// ScheduleCount is the coherence misses of one schedule.
type ScheduleCount struct {
	Schedule string         `json:"schedule"`
	Misses   sharing.Misses `json:"misses"` // lines of 64 bytes
	Wider    sharing.Misses `json:"wider"`  // lines of 128 bytes
}

// SharedLine is a line that threads share or may come to share.
type SharedLine struct {
	Addr     string         `json:"addr"`
	Bytes    int            `json:"bytes"`
	Object   string         `json:"object"`
	Field    string         `json:"field"`
	Sharing  string         `json:"sharing"`
	Threads  []SharedThread `json:"threads"`
	Misses   SharedMisses   `json:"misses"`
	Wider    sharing.Misses `json:"wider"`
	Moved    []SharedMoved  `json:"moved"`
	Separate SharedApart    `json:"separate"`
	Pairs    []SharedPair   `json:"pairs"` // by the clock, most misses first
	Text     string         `json:"text"`
}

// Kind is what kind of sharing it is, in words.
func (l *SharedLine) Kind() string {
	switch sharing.Kind(l.Sharing) {
	case sharing.Synchronisation:
		return l.Sharing
	case sharing.Library:
		return "of a library"
	}
	return l.Sharing + " sharing"
}

// SharedThread is what one thread does to a line.
type SharedThread struct {
	TID    uint32      `json:"tid"`
	Bytes  [][2]uint64 `json:"bytes" ts:"ReadonlyArray<readonly [number, number]>"`
	Loads  uint64      `json:"loads"`
	Stores uint64      `json:"stores"`
	Places []string    `json:"places"`
}

// SharedApart is the misses with each thread's own bytes in lines of their own.
type SharedApart struct {
	Most uint64 `json:"most"`
}

// SharedPair is how often a thread lost the line to another and missed it later.
type SharedPair struct {
	TID    uint32 `json:"tid"`
	To     uint32 `json:"to"`
	Misses uint64 `json:"misses"`
}

// SharedMisses is the range over the schedules.
type SharedMisses struct {
	Least    uint64 `json:"least"`
	Most     uint64 `json:"most"`
	Recorded uint64 `json:"recorded"`
	Clocked  uint64 `json:"clocked"`
	True     uint64 `json:"true"`  // of the clocked schedule
	False    uint64 `json:"false"` //
}

// SharedMoved is the misses if the object started later.
type SharedMoved struct {
	Bytes uint64 `json:"bytes"`
	Most  uint64 `json:"most"`
}

// NewSharing makes the answer.
func NewSharing(r *sharing.Result, t *replay.Trace, table *layout.Table, records uint64, top int, notes []string) *SharedLines {
	out := &SharedLines{Records: records, Threads: len(r.Threads), Provenance: Modelled, LineBytes: []int{64, 128}, Lines: []SharedLine{}, LineCount: len(r.Lines),
		Notes: append(append([]string{}, notes...), "private caches without limit, MESI; the range is over schedules that keep the recorded order of accesses to the same byte of which one is a store")}
	for i, name := range sharing.Schedules {
		out.Schedules = append(out.Schedules, ScheduleCount{name, r.Total[i], r.Wide[i]})
	}
	lines := r.Lines
	if top > 0 && len(lines) > top {
		lines = lines[:top]
	}
	for _, l := range lines {
		out.Lines = append(out.Lines, sharedLine(l, t, table))
	}
	return out
}

// maxPlaces is how many source lines are named of a thread at a line.
const maxPlaces = 4

func sharedLine(l *sharing.Line, t *replay.Trace, table *layout.Table) SharedLine {
	out := SharedLine{Addr: fmt.Sprintf("%#x", l.Addr), Bytes: l.Bytes, Sharing: string(l.Kind), Wider: l.Wider, Threads: []SharedThread{}, Moved: []SharedMoved{}, Pairs: []SharedPair{},
		Misses:   SharedMisses{l.Least.Coherence, l.Most.Coherence, l.Recorded.Coherence, l.Clocked.Coherence, l.Clocked.True, l.Clocked.False},
		Separate: SharedApart{l.Separate.Coherence}}
	if o := table.Objects[l.Object]; o != nil {
		out.Object, out.Field = o.Name, strings.Join(sharedFields(l, o), ", ")
	}
	for _, u := range l.Users {
		x := SharedThread{TID: u.Thread, Bytes: u.Bytes, Loads: u.Loads, Stores: u.Stores, Places: []string{}}
		for _, c := range u.Codes {
			p := t.PlaceOf(c)
			at := fmt.Sprintf("%s:%d", p.File, p.Line)
			if p.Line > 0 && !slices.Contains(x.Places, at) && len(x.Places) < maxPlaces {
				x.Places = append(x.Places, at)
			}
		}
		out.Threads = append(out.Threads, x)
	}
	for _, m := range l.Moved {
		out.Moved = append(out.Moved, SharedMoved{m.Bytes, m.Misses.Coherence})
	}
	for _, p := range l.Pairs {
		out.Pairs = append(out.Pairs, SharedPair{p.Thread, p.To, p.Misses})
	}
	out.Text = sharingText(&out, l, waitsIn(l, t))
	return out
}

// sharedFields are the fields that threads use of a line, by their place in it.
func sharedFields(l *sharing.Line, o *layout.Object) (names []string) {
	used := map[int]bool{} // bytes of the line
	for _, u := range l.Users {
		for _, part := range u.Bytes {
			for at := part[0]; at < part[1]; at++ {
				used[int(at)] = true
			}
		}
	}
	for at := range l.Bytes {
		addr := l.Addr + uint64(at)
		if !used[at] || addr-o.Start >= o.Size {
			continue
		}
		if _, offset := o.Locate(addr); o.Field(offset) >= 0 {
			if name := o.Fields[o.Field(offset)].Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// mostNamed is how many fields of a line are named in a sentence.
const mostNamed = 3

// sharedName is what a line holds: an object, or some fields of it.
func sharedName(s *SharedLine) string {
	fields := strings.Split(s.Field, ", ")
	if s.Field == "" || len(fields) > mostNamed {
		return s.Object
	}
	for i := range fields {
		fields[i] = s.Object + "." + fields[i]
	}
	return strings.Join(fields, ", ")
}

// maxWaits is how many functions are named that threads wait for one another in.
const maxWaits = 3

// waitsIn names the functions in which threads synchronise at a line, those that
// use it most first.
func waitsIn(l *sharing.Line, t *replay.Trace) (names []string) {
	for _, u := range l.Users {
		for _, c := range u.Codes {
			if name := t.PlaceOf(c).Function; sharing.Synchronises(name) && !slices.Contains(names, name) && len(names) < maxWaits {
				names = append(names, name)
			}
		}
	}
	return names
}

// fromTo is the misses of a line over all schedules.
func fromTo(l *sharing.Line) string {
	if l.Least.Coherence == l.Most.Coherence {
		return fmt.Sprint(l.Most.Coherence)
	}
	return fmt.Sprintf("%d to %d", l.Least.Coherence, l.Most.Coherence)
}

// sharingText says what is shared, with the numbers it rests on.
func sharingText(s *SharedLine, l *sharing.Line, waits []string) string {
	what := fmt.Sprintf("line %s", s.Addr)
	if s.Object != "" {
		what = fmt.Sprintf("%s (line %s)", sharedName(s), s.Addr)
	}
	switch l.Kind {
	case sharing.Latent:
		text := fmt.Sprintf("%s: no misses between its %d threads now", what, len(s.Threads))
		if l.Wider.Coherence > 0 {
			text += fmt.Sprintf("; with lines of 128 bytes, or neighbours fetched in pairs, up to %d", l.Wider.Coherence)
		}
		if worst := worstMoved(s.Moved); worst.Most > 0 {
			text += fmt.Sprintf("; up to %d if it starts %d bytes later", worst.Most, worst.Bytes)
		}
		return text + fmt.Sprintf("; apart in lines of their own at most %d", l.Separate.Coherence)
	case sharing.Synchronisation:
		return fmt.Sprintf("%s: %d threads wait for one another here, in %s: %s coherence misses by schedule, %d by the clock: this is the line of a lock or barrier, which padding does not part; waiting less often removes them",
			what, len(s.Threads), strings.Join(waits, ", "), fromTo(l), l.Clocked.Coherence)
	case sharing.Library:
		return fmt.Sprintf("%s: %d threads meet in memory that only code without names uses, as a library keeps it for itself: %s coherence misses by schedule, %d by the clock: no layout of the program parts it",
			what, len(s.Threads), fromTo(l), l.Clocked.Coherence)
	case sharing.True:
		text := fmt.Sprintf("%s: %d threads pass data: %s coherence misses, %d by the clock, of which %d bring what another wrote: only less communication removes these",
			what, len(s.Threads), fromTo(l), l.Clocked.Coherence, l.Clocked.True)
		if l.Clocked.False > 0 {
			text += fmt.Sprintf("; the other %d only share the line", l.Clocked.False)
		}
		return text
	}
	return fmt.Sprintf("%s: %d threads use one line for different bytes, %d of them store: %s coherence misses by schedule, %d by the clock; alignas(128) for each thread's part leaves at most %d",
		what, len(s.Threads), l.Writers(), fromTo(l), l.Clocked.Coherence, l.Separate.Coherence)
}

// worstMoved is the start with the most misses, the nearest of them.
func worstMoved(all []SharedMoved) (worst SharedMoved) {
	for _, m := range all {
		if m.Most > worst.Most {
			worst = m
		}
	}
	return worst
}
