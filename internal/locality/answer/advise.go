package answer

import (
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/locality/advice"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// Advise is the answer of `isobath advise`.
type Advise struct {
	Records    uint64   `json:"records"`
	References uint64   `json:"references"`
	Provenance string   `json:"provenance"`
	Machine    Machine  `json:"machine"`
	Cost       Cost     `json:"cost"`
	Tried      int      `json:"tried"`
	Silence    *string  `json:"silence"`
	Advice     []Advice `json:"advice"`
	Proof      *Proof   `json:"proof,omitempty"` // made now
	// Proofs are kept ones of changes that are not in the list as they were proven.
	Proofs []Proof  `json:"proofs"`
	Notes  []string `json:"notes"`
}

// Cost is what advice is ranked by.
type Cost struct {
	Now   float64 `json:"now"`
	Steps []int   `json:"steps"` // cycles of a miss at each level, then of a walk
}

// Advice is one change.
type Advice struct {
	Kind       string            `json:"kind"`
	Object     string            `json:"object"`
	Type       string            `json:"type"`
	Evidence   string            `json:"evidence"` // how element and fields are known
	Change     string            `json:"change"`
	Text       string            `json:"text"`
	Code       string            `json:"code"`
	Map        string            `json:"map"`
	Gain       *[2]float64       `json:"gain" ts:"readonly [number, number] | null"`            // least and most over placements, without prefetching
	Prefetched *[2]float64       `json:"gain_prefetched" ts:"readonly [number, number] | null"` // the same with an ideal prefetcher
	Levels     []LevelChange     `json:"levels"`
	Placements []PlacementCounts `json:"placements"`
	Legal      string            `json:"legal"`
	Spanning   float64           `json:"spanning"`
	Cycles     *[2]float64       `json:"cycles" ts:"readonly [number, number] | null"`
	Coherence  *Coherence        `json:"coherence,omitempty"`
	Assumes    []string          `json:"assumes"`
	Instead    []Instead         `json:"instead"`
	Together   float64           `json:"together"`
	Where      string            `json:"where"`
	Place      string            `json:"place"`   // file:line of the outermost loop, or of its body; empty for objects
	Line       string            `json:"line"`    // file:line where the object costs most or a thread uses the line most; empty for loops
	Why        string            `json:"why"`     // which loop carries the reuse that a change of order brings nearer
	Carried    []Carried         `json:"carried"` // reuses in the nest, those beyond the first level first
	Memory     *MemoryChange     `json:"memory,omitempty"`
	Proof      *Proof            `json:"proof"` // kept with the run; null if there is none
}

// Carried is the reuses of the lines of an object that one loop carries.
type Carried struct {
	Object string  `json:"object"`
	Loop   string  `json:"loop"`
	Reuses uint64  `json:"reuses"`
	Mean   float64 `json:"mean_distance"` // in lines
	Far    uint64  `json:"far"`           // at or beyond the lines of the first level
}

// MemoryChange is the lines from memory by node, of advice that places pages.
type MemoryChange struct {
	Now  NodeLines `json:"now"`
	Then NodeLines `json:"then"`
}

// NodeLines is lines from memory.
type NodeLines struct {
	Local   uint64 `json:"local"`
	Remote  uint64 `json:"remote"`
	Busiest uint64 `json:"busiest"` // of the node that serves most
}

// LevelChange is the misses of a level before and after.
type LevelChange struct {
	Level string    `json:"level"`
	Now   uint64    `json:"now"`
	Then  [2]uint64 `json:"then" ts:"readonly [number, number]"` // least and most over where the memory may come to lie
	// ThenIdeal is Then with an ideal prefetcher. The least of Prefetch is with one,
	// the most without. Frames are the least and most with pages in random frames of
	// memory.
	ThenIdeal    [2]uint64 `json:"then_ideal" ts:"readonly [number, number]"`
	NowPrefetch  [2]uint64 `json:"now_prefetch" ts:"readonly [number, number]"`
	ThenPrefetch [2]uint64 `json:"then_prefetch" ts:"readonly [number, number]"`
	NowFrames    [2]uint64 `json:"now_frames" ts:"readonly [number, number]"`
	ThenFrames   [2]uint64 `json:"then_frames" ts:"readonly [number, number]"`
}

// PlacementCounts is a change with its memory in one place.
type PlacementCounts struct {
	Placement string   `json:"placement"`
	Misses    []uint64 `json:"misses"`
	DTLB      uint64   `json:"dtlb_misses"`
	Walks     uint64   `json:"walks"`
	Gain      float64  `json:"gain"`
}

// Instead is another change of the same object.
type Instead struct {
	Kind       string     `json:"kind"`
	Change     string     `json:"change"`
	Gain       [2]float64 `json:"gain" ts:"readonly [number, number]"`
	Prefetched [2]float64 `json:"gain_prefetched" ts:"readonly [number, number]"`
	Map        string     `json:"map"`
	Code       string     `json:"code"`
	Proof      *Proof     `json:"proof"`
}

// NewAdvise makes the answer.
func NewAdvise(r *advice.Result, m *platform.Machine, records uint64, notes []string) *Advise {
	out := &Advise{Records: records, References: r.Now.References, Provenance: Modelled, Machine: MachineOf(m), Cost: Cost{Now: r.Cost}, Tried: r.Tried,
		Advice: []Advice{}, Proofs: []Proof{}, Notes: append(append([]string{}, notes...), r.Notes...)}
	for _, l := range m.Levels {
		out.Cost.Steps = append(out.Cost.Steps, l.Step)
	}
	out.Cost.Steps = append(out.Cost.Steps, m.Walk)
	if r.Silence != "" {
		out.Silence = &r.Silence
	}
	for _, a := range r.Advice {
		out.Advice = append(out.Advice, adviceOf(a, m))
	}
	return out
}

func adviceOf(a *advice.Advice, m *platform.Machine) Advice {
	gain, prefetched := a.Gain, a.Prefetched
	out := Advice{Kind: string(a.Kind), Change: a.What, Code: a.Code, Map: a.Map, Gain: &gain, Prefetched: &prefetched, Levels: levelChanges(a, m), Placements: []PlacementCounts{},
		Legal: a.Legal, Why: a.Why, Carried: []Carried{}, Spanning: a.Spanning, Assumes: append([]string{}, a.Assumes...), Instead: []Instead{}, Together: a.Together}
	if a.Object != nil {
		out.Object, out.Type, out.Evidence = a.Object.Name, a.Object.Type, string(a.Object.Known)
		out.Where = fmt.Sprintf("symbol = %q", a.Object.Name)
	}
	out.Place, out.Line = a.Place, a.Line
	if l := a.Lines; l.From > 0 {
		out.Where = fmt.Sprintf("file ~ %q & line in %d..%d", l.File, l.From, l.To)
	}
	for _, p := range a.Then {
		out.Placements = append(out.Placements, PlacementCounts{string(p.Placement), p.Counts.Misses, p.Counts.DTLB, p.Counts.Walks, p.Gain})
	}
	for _, i := range a.Instead {
		out.Instead = append(out.Instead, Instead{Kind: string(i.Kind), Change: i.What, Gain: i.Gain, Prefetched: i.Prefetched, Map: i.Map, Code: i.Code})
	}
	if a.Object != nil && a.Object.Known == layout.Inferred {
		out.Assumes = append(out.Assumes, "elements and fields are inferred from strides and touched bytes: give their type with --objects")
	}
	if a.Spanning > spanningSaid {
		out.Assumes = append(out.Assumes, fmt.Sprintf("%.1f %% of the references touch several fields at once, as vector code does: the result is a bound; record at -O1 or -O2", 100*a.Spanning))
	}
	if text := framesText(out.Levels); text != "" {
		out.Assumes = append(out.Assumes, text)
	}
	for _, c := range a.Carried {
		out.Carried = append(out.Carried, Carried{c.Object, c.By, c.Reuses, float64(c.Lines) / float64(c.Reuses), c.Far})
	}
	if a.Kind == advice.Place {
		out.Memory = &MemoryChange{nodeLines(&a.Now), nodeLines(&a.Then[0].Counts)}
	}
	out.Text = sentence(a, m)
	if l := a.Shared; l != nil {
		out.Gain, out.Prefetched, out.Levels = nil, nil, []LevelChange{}
		out.Coherence = &Coherence{[2]uint64{l.Least.Coherence, l.Most.Coherence}, l.Clocked.Coherence, l.Separate.Coherence}
		out.Text = fmt.Sprintf("Part the threads in %s: %s. %d threads use line %#x for different bytes, %d of them store: %d to %d coherence misses by schedule, %d by the clock; at most %d apart (modelled: private caches, MESI).",
			objectText(out.Object), a.What, len(l.Users), l.Addr, l.Writers(), l.Least.Coherence, l.Most.Coherence, l.Clocked.Coherence, l.Separate.Coherence)
	}
	return out
}

func nodeLines(c *replay.Counts) NodeLines { return NodeLines{c.Local, c.Remote, c.Busiest} }

// Coherence is the misses that threads cause each other, of advice that parts
// them.
type Coherence struct {
	Now     [2]uint64 `json:"now" ts:"readonly [number, number]"` // least and most over schedules
	Clocked uint64    `json:"clocked"`
	Then    uint64    `json:"then"` // at most
}

// spanningSaid is from which share of references over several fields on it is
// said.
const spanningSaid = 0.01

// levelChanges lists the levels, and the page walks last.
func levelChanges(a *advice.Advice, m *platform.Machine) []LevelChange {
	if len(a.Then) == 0 {
		return nil
	}
	get := func(name string, of func(*replay.Counts) [2]uint64) LevelChange {
		l := LevelChange{Level: name, Now: of(&a.Now)[1], NowPrefetch: of(&a.Now), Then: [2]uint64{^uint64(0), 0}, ThenIdeal: [2]uint64{^uint64(0), 0}}
		for i := range a.Then {
			n := of(&a.Then[i].Counts)
			l.Then[0], l.Then[1] = min(l.Then[0], n[1]), max(l.Then[1], n[1])
			l.ThenIdeal[0], l.ThenIdeal[1] = min(l.ThenIdeal[0], n[0]), max(l.ThenIdeal[1], n[0])
		}
		l.ThenPrefetch = [2]uint64{l.ThenIdeal[0], l.Then[1]}
		l.NowFrames, l.ThenFrames = [2]uint64{l.Now, l.Now}, l.Then
		return l
	}
	var out []LevelChange
	for i, l := range m.Levels {
		c := get(l.Name, func(c *replay.Counts) [2]uint64 { return c.Prefetch(i) })
		if a.NowBands != nil && a.ThenBands != nil {
			c.NowFrames, c.ThenFrames = a.NowBands.Frames(m)[i], a.ThenBands.Frames(m)[i]
			c.ThenFrames = [2]uint64{min(c.ThenFrames[0], c.Then[0]), max(c.ThenFrames[1], c.Then[1])}
		}
		out = append(out, c)
	}
	// Translation goes by the address of the program: no frame and no prefetcher
	// that stays in its page changes it.
	return append(out, get("walks", func(c *replay.Counts) [2]uint64 { return [2]uint64{c.Walks, c.Walks} }))
}

// sentence says the change with the numbers it rests on.
func sentence(a *advice.Advice, m *platform.Machine) string {
	what := ""
	switch a.Kind {
	case advice.Split:
		what = fmt.Sprintf("Split %s: keep %s", a.Object.Name, a.What)
	case advice.SoA:
		what = fmt.Sprintf("Store %s as %s", a.Object.Name, a.What)
	case advice.Reorder:
		what = fmt.Sprintf("Reorder the fields of %s: %s", a.Object.Name, a.What)
	case advice.Align:
		what = fmt.Sprintf("Align %s: %s", a.Object.Name, a.What)
	case advice.Pad:
		what = fmt.Sprintf("Pad %s: %s", a.Object.Name, a.What)
	case advice.Order:
		what = fmt.Sprintf("Keep %s with its %s", a.Object.Name, a.What)
	case advice.Huge:
		what = fmt.Sprintf("Put %s on %s", a.Object.Name, a.What)
	case advice.Place:
		what = fmt.Sprintf("Place %s: %s", a.Object.Name, a.What)
	case advice.Interchange:
		what = fmt.Sprintf("Exchange the loops %s: %s", a.At, a.What)
	case advice.Block:
		what = fmt.Sprintf("Cut the loops %s into %s", a.At, a.What)
	}
	var changes []string
	for _, l := range levelChanges(a, m) {
		if l.Now != l.Then[0] || l.Now != l.Then[1] {
			changes = append(changes, fmt.Sprintf("%s %d to %s%s", missName(l.Level), l.Now, rangeText(l.Then), prefetchedText(l)))
		}
	}
	if a.Kind == advice.Place {
		n := &a.Then[0].Counts
		all := float64(max(n.Local+n.Remote, 1)) / 100
		changes = append(changes, fmt.Sprintf("lines from other nodes %d to %d, from the busiest node %.0f to %.0f %% of all", a.Now.Remote, n.Remote, float64(a.Now.Busiest)/all, float64(n.Busiest)/all))
	}
	if a.Why != "" {
		what += ": " + a.Why
	}
	return fmt.Sprintf("%s. %s; replayed %d references in %s on %s (modelled; not the time).", what, strings.Join(changes, ", "), a.Now.References, term.Counted(len(a.Then), "placement"), m.Name)
}

// framesText says of levels whose sets the frames of pages choose what the change
// then makes of them.
func framesText(levels []LevelChange) string {
	var parts []string
	for _, l := range levels {
		if l.NowFrames[0] != l.NowFrames[1] || l.ThenFrames != l.Then {
			parts = append(parts, fmt.Sprintf("%s %s to %s", missName(l.Level), rangeText(l.NowFrames), rangeText(l.ThenFrames)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "pages lie in memory as in the program's addresses; with pages in random frames " + strings.Join(parts, ", ")
}

// prefetchedText is what an ideal prefetcher leaves of a change, where that is
// something else.
func prefetchedText(l LevelChange) string {
	if l.NowPrefetch[0] == l.Now && l.ThenIdeal == l.Then {
		return ""
	}
	return fmt.Sprintf(" (%d to %s if prefetched)", l.NowPrefetch[0], rangeText(l.ThenIdeal))
}

func missName(level string) string {
	if level == "walks" {
		return "page walks"
	}
	return level + " misses"
}

func rangeText(r [2]uint64) string {
	if r[0] == r[1] {
		return fmt.Sprint(r[0])
	}
	return fmt.Sprintf("%d–%d", r[0], r[1])
}
