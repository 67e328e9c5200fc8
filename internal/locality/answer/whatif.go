package answer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// WhatIf is the answer of `isobath whatif`.
type WhatIf struct {
	Records    uint64        `json:"records"`
	References uint64        `json:"references"`
	Provenance string        `json:"provenance"`
	Base       Machine       `json:"base"`
	Machine    Machine       `json:"machine"`
	Levels     []WhatIfLevel `json:"levels"`
	Pages      WhatIfPages   `json:"pages"`
	Memory     WhatIfMemory  `json:"memory"`
	By         By            `json:"by"`
	Groups     []WhatIfGroup `json:"groups"`
	GroupCount int           `json:"group_count"`
	Sharing    *SharedLines  `json:"sharing"`
	Notes      []string      `json:"notes"`
}

// WhatIfLevel is a level of both machines; a machine without it has null.
type WhatIfLevel struct {
	Level   string  `json:"level"`
	Base    *Counts `json:"base"`
	Machine *Counts `json:"machine"`
}

// Counts is C of the answer: what happened at a level.
type Counts struct {
	Misses            uint64     `json:"misses"`
	MissingReferences uint64     `json:"missing_references"`
	First             uint64     `json:"first"`
	Capacity          int64      `json:"capacity"`
	Conflict          int64      `json:"conflict"`
	Prefetchable      uint64     `json:"prefetchable"`
	Band              [2]uint64  `json:"prefetch"`   // misses with an ideal prefetcher, and without one
	BytesUsed         *uint64    `json:"bytes_used"` // first level only; null where it is not counted
	Frames            [2]uint64  `json:"frames"`
	Placements        *[2]uint64 `json:"placements"` // least and most over the places of changed objects; null where nothing is changed
}

// WhatIfPages is address translation on both machines.
type WhatIfPages struct {
	Base    TLBCounts `json:"base"`
	Machine TLBCounts `json:"machine"`
}

// TLBCounts is the misses of both TLBs.
type TLBCounts struct {
	DTLB  uint64 `json:"dtlb_misses"`
	Walks uint64 `json:"walks"`
	// Translation goes by the address of the program, so frames do not matter, and a
	// prefetcher that stays in its page saves none of it: only the places of changed
	// objects make a range.
	DTLBPlacements [2]uint64 `json:"dtlb_placements" ts:"readonly [number, number]"`
	WalkPlacements [2]uint64 `json:"walk_placements" ts:"readonly [number, number]"`
	DTLBPrefetch   [2]uint64 `json:"dtlb_prefetch" ts:"readonly [number, number]"`
	WalkPrefetch   [2]uint64 `json:"walk_prefetch" ts:"readonly [number, number]"`
}

// translated is the address translation of a replay, and of one a placement of
// what is changed.
func translated(c *replay.Counts, placed []replay.Counts) TLBCounts {
	out := TLBCounts{DTLB: c.DTLB, Walks: c.Walks, DTLBPrefetch: [2]uint64{c.DTLB, c.DTLB}, WalkPrefetch: [2]uint64{c.Walks, c.Walks},
		DTLBPlacements: [2]uint64{c.DTLB, c.DTLB}, WalkPlacements: [2]uint64{c.Walks, c.Walks}}
	for i := range placed {
		p := &placed[i]
		out.DTLBPlacements = [2]uint64{min(out.DTLBPlacements[0], p.DTLB), max(out.DTLBPlacements[1], p.DTLB)}
		out.WalkPlacements = [2]uint64{min(out.WalkPlacements[0], p.Walks), max(out.WalkPlacements[1], p.Walks)}
	}
	return out
}

// WhatIfMemory is lines fetched from the reader's own node and from others.
type WhatIfMemory struct {
	Policy string `json:"policy"`
	Local  uint64 `json:"local"`
	Remote uint64 `json:"remote"`
}

// WhatIfGroup is some of the references on both machines.
type WhatIfGroup struct {
	Key        Key      `json:"key"`
	References uint64   `json:"references"`
	Base       []uint64 `json:"base"` // misses by level
	Machine    []uint64 `json:"machine"`
	// The bands that they lie in.
	BaseBands    replay.Bands `json:"base_bands"`
	MachineBands replay.Bands `json:"machine_bands"`
	Change       float64      `json:"change"` // of the modelled cost, in cycles, without prefetching
	// Prefetched is Change with an ideal prefetcher on both machines.
	Prefetched float64 `json:"change_prefetched"`
}

// WhatIfInput is what an answer is made of.
type WhatIfInput struct {
	Base, Machine       *platform.Machine
	BaseRun, MachineRun *replay.Survey
	Keys                []Key // of the groups
	By                  By
	Policy              replay.Policy
	Top                 int
	Records             uint64
	Placements          []replay.Counts // of a changed layout, one a placement
	Notes               []string
	Sharing             *SharedLines
	Threads             int
}

// NewWhatIf makes the answer.
func NewWhatIf(in WhatIfInput) *WhatIf {
	out := &WhatIf{Records: in.Records, References: in.BaseRun.References, Provenance: Modelled, Base: MachineOf(in.Base), Machine: MachineOf(in.Machine), By: in.By,
		Groups: []WhatIfGroup{}, Notes: append([]string{}, in.Notes...), Sharing: in.Sharing,
		Pages:  WhatIfPages{translated(&in.BaseRun.Counts, nil), translated(&in.MachineRun.Counts, in.Placements)},
		Memory: WhatIfMemory{Policy: in.Policy.String()}}
	out.Memory.Local, out.Memory.Remote = in.MachineRun.Memory()
	for i := range max(len(in.Base.Levels), len(in.Machine.Levels)) {
		l := WhatIfLevel{Base: countsOf(in.BaseRun, i), Machine: countsOf(in.MachineRun, i)}
		if i < len(in.Base.Levels) {
			l.Level = in.Base.Levels[i].Name
		} else {
			l.Level = in.Machine.Levels[i].Name
		}
		if l.Machine != nil && len(in.Placements) > 0 {
			l.Machine.Placements = placementRange(in.Placements, i)
		}
		out.Levels = append(out.Levels, l)
	}
	out.addGroups(in)
	out.noteExclusive(in.Machine, in.MachineRun)
	if in.Base.Name != in.Machine.Name {
		out.noteExclusive(in.Base, in.BaseRun)
	}
	if in.Threads > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d threads lie on the cores of each machine in turn over its memory nodes; caches they share see the recorded order, which another run would change", in.Threads))
	}
	return out
}

// noteExclusive says what the conflicts of a cache are that only takes what the
// caches before it give up: its fully associative twin keeps all it is asked for.
func (w *WhatIf) noteExclusive(m *platform.Machine, s *replay.Survey) {
	for i := range m.Levels {
		if n := s.Levels[i].Conflict(); m.Levels[i].Policy == platform.Exclusive && n != 0 {
			w.Notes = append(w.Notes, fmt.Sprintf("%s of %s holds only lines that the caches before it gave up; its %d conflicts are against a fully associative cache that keeps every line it is asked for, and so hold what this changes too",
				m.Levels[i].Name, m.Name, n))
		}
	}
}

func placementRange(all []replay.Counts, level int) *[2]uint64 {
	r := [2]uint64{all[0].Misses[level], all[0].Misses[level]}
	for _, c := range all {
		r[0], r[1] = min(r[0], c.Misses[level]), max(r[1], c.Misses[level])
	}
	return &r
}

func countsOf(s *replay.Survey, level int) *Counts {
	if level >= len(s.Levels) {
		return nil
	}
	l := &s.Levels[level]
	c := &Counts{Misses: l.Misses, MissingReferences: l.MissingReferences, First: l.First, Conflict: l.Conflict(), Capacity: int64(l.Full) - int64(l.First),
		Prefetchable: l.Prefetchable, Band: [2]uint64{l.Misses - l.Prefetchable, l.Misses}, Frames: l.Frames}
	if level == 0 {
		used := s.Used
		c.BytesUsed = &used
	}
	return c
}

func (a *WhatIf) addGroups(in WhatIfInput) {
	for i, k := range in.Keys {
		base, machine := groupAt(in.BaseRun, i), groupAt(in.MachineRun, i)
		g := WhatIfGroup{Key: k, Base: base.Misses, Machine: machine.Misses, BaseBands: base.Bands(in.Base), MachineBands: machine.Bands(in.Machine)}
		if i < len(in.BaseRun.GroupRefs) {
			g.References = in.BaseRun.GroupRefs[i]
		}
		if g.References == 0 {
			continue
		}
		g.Change = costOf(in.Machine, g.Machine) - costOf(in.Base, g.Base)
		g.Prefetched = g.Change + costOf(in.Base, base.Hidden) - costOf(in.Machine, machine.Hidden)
		a.Groups = append(a.Groups, g)
	}
	slices.SortStableFunc(a.Groups, func(x, y WhatIfGroup) int {
		return cmp.Or(cmp.Compare(max(y.Change, -y.Change), max(x.Change, -x.Change)), cmp.Compare(y.References, x.References))
	})
	a.GroupCount = len(a.Groups)
	if in.Top > 0 && len(a.Groups) > in.Top {
		a.Groups = a.Groups[:in.Top]
	}
}

func groupAt(s *replay.Survey, i int) *replay.Tally {
	if i < len(s.Groups) {
		return &s.Groups[i]
	}
	none := replay.NewTally(len(s.Levels))
	return &none
}

func costOf(m *platform.Machine, misses []uint64) (cost float64) {
	for i, n := range misses {
		cost += float64(n) * float64(m.Levels[i].Step)
	}
	return cost
}

// Grouper numbers the groups that references belong to.
type Grouper struct {
	Keys  []Key
	by    By
	table *layout.Table
	about *refs.About
	index map[string]uint32
	codes []uint32 // group of each code, plus one
	parts map[layout.Member]uint32
}

// NewGrouper makes groups of a kind.
func NewGrouper(by By, table *layout.Table, about *refs.About) *Grouper {
	return &Grouper{by: by, table: table, about: about, index: map[string]uint32{}, parts: map[layout.Member]uint32{}}
}

// Group numbers the group of an access.
func (g *Grouper) Group(a *replay.Access, code replay.Code, thread uint32) uint32 {
	switch g.by {
	case ByObject, ByField:
		m := layout.Member{Object: a.Object, Field: -1}
		if o := g.table.Objects[a.Object]; o != nil && g.by == ByField && len(o.Fields) > 0 {
			_, offset := o.Locate(a.Addr)
			m.Field = o.Field(offset)
		}
		return g.member(m)
	case ByThread:
		return g.number(Key{Thread: &thread})
	}
	for int(a.Code) >= len(g.codes) {
		g.codes = append(g.codes, 0)
	}
	if g.codes[a.Code] == 0 {
		k := placeKey(g.by, g.about.Places, code.Place)
		if g.by == ByPC {
			k = placeKey(ByLine, g.about.Places, code.Place)
			k.PC = fmt.Sprintf("%#x", code.PC)
		}
		g.codes[a.Code] = g.number(k) + 1
	}
	return g.codes[a.Code] - 1
}

// Streamed is Group for a reference whose trace is still being read, so that the
// blocks of its object are not in order yet.
func (g *Grouper) Streamed(r *refs.Ref, a *replay.Access, code replay.Code) uint32 {
	if g.by == ByField {
		return g.member(g.table.Members()[g.table.Member(r)])
	}
	return g.Group(a, code, r.Thread)
}

func (g *Grouper) member(m layout.Member) uint32 {
	n, ok := g.parts[m]
	if !ok {
		n = g.number(memberKey(g.by, g.table, m))
		g.parts[m] = n
	}
	return n
}

func (g *Grouper) number(k Key) uint32 {
	name := k.String()
	n, ok := g.index[name]
	if !ok {
		n = uint32(len(g.Keys))
		g.index[name] = n
		g.Keys = append(g.Keys, k)
	}
	return n
}
