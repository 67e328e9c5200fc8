// Package datasrc decodes what hardware says about one memory access: the
// operation, the level that served it, snoop, TLB and lock. Two encodings are
// known: perf's data_src word and the older Intel PEBS number.
package datasrc

import (
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Op, Hit, Snoop, TLB and Lock are what a sample may say; 0 is "not said".
type (
	Op    uint8
	Hit   uint8
	Snoop uint8
	TLB   uint8
	Lock  uint8
)

// The values.
const (
	Load Op = 1 + iota
	Store
	Prefetch
	Exec
	LoadStore
)
const (
	Miss Hit = 1 + iota
	HitLevel
)
const (
	SnoopNone Snoop = 1 + iota
	SnoopHit
	SnoopMiss
	SnoopHitM
	SnoopPeer
	SnoopForward
)
const (
	TLBL1 TLB = 1 + iota
	TLBL2
	TLBHit // hit, which level is not said
	TLBMiss
	TLBWalk
	TLBFault
)
const (
	Unlocked Lock = 1 + iota
	Locked
)

// Names of the values as the columns spell them; index 0 is "not said".
var (
	OpNames    = []string{"", "load", "store", "prefetch", "exec", "load+store"}
	hitNames   = []string{"", "miss", "hit"}
	SnoopNames = []string{"", "none", "hit", "miss", "hit modified", "peer", "forward"}
	TLBNames   = []string{"", "L1 hit", "L2 hit", "hit", "miss", "walk", "OS fault"}
)

// What perf's texts call them.
var (
	snoopWords = map[string]Snoop{"None": SnoopNone, "Hit": SnoopHit, "Miss": SnoopMiss, "HitM": SnoopHitM, "Peer": SnoopPeer, "Fwd": SnoopForward}
	tlbWords   = map[string]TLB{"L1 hit": TLBL1, "L2 hit": TLBL2, "L1 or L2 hit": TLBHit, "L2 miss": TLBMiss, "L1 or L2 miss": TLBMiss, "Walker hit": TLBWalk, "Fault hit": TLBFault}
)

// SnoopOf returns what perf's word for the result of a snoop means, as the
// column spells it; false where it is none of its words.
func SnoopOf(word string) (string, bool) {
	s, ok := snoopWords[word]
	return SnoopNames[s], ok
}

// TLBOf is SnoopOf for how an address was translated.
func TLBOf(word string) (string, bool) {
	t, ok := tlbWords[word]
	return TLBNames[t], ok
}

// ReadWords takes what perf's words for snoop and translation say; others say
// nothing.
func (a *Access) ReadWords(snoop, tlb string) {
	if s, ok := snoopWords[snoop]; ok {
		a.Snoop = s
	}
	if t, ok := tlbWords[tlb]; ok {
		a.TLB = t
	}
}

// Access is everything one sample says.
type Access struct {
	Op    Op
	Level hw.Level
	Hit   Hit
	Hops  hw.Hops
	Snoop Snoop
	TLB   TLB
	Lock  Lock
	// Ambiguous says that the hardware named two levels and the farther one
	// was taken.
	Ambiguous bool
}

// Known reports whether all that an access says has a name: one that was read from
// a file may say anything.
func (a Access) Known() bool {
	return int(a.Op) < len(OpNames) && int(a.Hit) < len(hitNames) && int(a.Snoop) < len(SnoopNames) && int(a.TLB) < len(TLBNames) &&
		int(a.Level) <= len(hw.Levels()) && a.Lock <= Locked && a.Hops <= hw.OtherBoard
}

// Remote reports whether another memory node served the access.
func (a Access) Remote() bool { return a.Level == hw.RemoteRAM || a.Level == hw.RemoteCache }

// placed reports whether the level names one place: what was served somewhere
// beyond a cache may have been remote or not.
func (a Access) placed() bool {
	switch a.Level {
	case hw.NoLevel, hw.Unknown, hw.BeyondL1, hw.BeyondL2, hw.BeyondL3:
		return false
	}
	return true
}

// Fields of perf_mem_data_src; see union perf_mem_data_src in
// include/uapi/linux/perf_event.h.
const (
	opShift, opBits         = 0, 5
	lvlShift, lvlBits       = 5, 14
	snoopShift, snoopBits   = 19, 5
	lockShift, lockBits     = 24, 2
	tlbShift, tlbBits       = 26, 7
	numShift, numBits       = 33, 4
	remoteShift, remoteBits = 37, 1
	snoopxShift, snoopxBits = 38, 2
	hopsShift, hopsBits     = 43, 3
)

func field(w uint64, shift, bits int) uint64 { return w >> shift & (1<<bits - 1) }

// Perf decodes a data_src word of the kernel.
func Perf(w uint64) Access {
	a := Access{
		Op:    perfOp(field(w, opShift, opBits)),
		Snoop: perfSnoop(field(w, snoopShift, snoopBits), field(w, snoopxShift, snoopxBits)),
		TLB:   perfTLB(field(w, tlbShift, tlbBits)),
	}
	switch lock := field(w, lockShift, lockBits); {
	case lock&2 != 0:
		a.Lock = Locked
	case lock == 0:
		a.Lock = Unlocked
	}
	lvl := field(w, lvlShift, lvlBits)
	switch {
	case lvl&4 != 0:
		a.Hit = Miss
	case lvl&2 != 0:
		a.Hit = HitLevel
	}
	if num := field(w, numShift, numBits); num != 0 && num != 0xf {
		a.Level, a.Hops = perfNumber(num, field(w, remoteShift, remoteBits) != 0, field(w, hopsShift, hopsBits))
		if a.Hit == Miss {
			a.Level = beyond(a.Level)
		}
		return a
	}
	a.Level, a.Hops, a.Ambiguous = perfLevel(lvl)
	return a
}

func perfOp(f uint64) Op {
	switch {
	case f&6 == 6:
		return LoadStore
	case f&2 != 0:
		return Load
	case f&4 != 0:
		return Store
	case f&8 != 0:
		return Prefetch
	case f&0x10 != 0:
		return Exec
	}
	return 0
}

func perfSnoop(f, x uint64) Snoop {
	switch {
	case f&0x10 != 0:
		return SnoopHitM
	case x&2 != 0:
		return SnoopPeer
	case x&1 != 0:
		return SnoopForward
	case f&4 != 0:
		return SnoopHit
	case f&8 != 0:
		return SnoopMiss
	case f&2 != 0:
		return SnoopNone
	}
	return 0
}

// perfTLB decodes the dtlb field. The kernel marks "L1 or L2" with both level
// bits; which of the two hit is then not known.
func perfTLB(f uint64) TLB {
	switch {
	case f&0x40 != 0:
		return TLBFault
	case f&4 != 0:
		return TLBMiss
	case f&0x20 != 0:
		return TLBWalk
	case f&0x18 == 0x18:
		return TLBHit
	case f&8 != 0:
		return TLBL1
	case f&0x10 != 0:
		return TLBL2
	case f&2 != 0:
		return TLBHit
	}
	return 0
}

// perfNumber decodes the level number of newer kernels.
func perfNumber(num uint64, remote bool, hops uint64) (hw.Level, hw.Hops) {
	distance := [...]hw.Hops{hw.AnyHops, hw.AnyHops, hw.OneHop, hw.OtherSocket, hw.OtherBoard, 0, 0, 0}[hops]
	switch num {
	case 1, 7:
		return hw.L1, 0
	case 2, 5:
		return hw.L2, 0
	case 3, 4, 0xb:
		switch {
		case remote || hops >= 2:
			return hw.RemoteCache, distance
		case hops == 1:
			return hw.LocalPeerCache, 0
		case num == 4:
			return hw.L4, 0
		case num == 0xb:
			return hw.Unknown, 0
		}
		return hw.L3, 0
	case 6:
		return hw.MSC, 0
	case 8:
		return hw.Uncached, 0
	case 9:
		return hw.CXL, 0
	case 0xa:
		return hw.IO, 0
	case 0xc:
		return hw.LFB, 0
	case 0xd:
		if remote {
			return hw.RemoteRAM, distance
		}
		return hw.LocalRAM, 0
	case 0xe:
		return hw.PMEM, distance
	}
	return hw.Unknown, 0
}

// perfLevels are the level bits of the lvl field, nearest first.
var perfLevels = []struct {
	bit   uint64
	level hw.Level
	hops  hw.Hops
}{
	{0x8, hw.L1, 0}, {0x10, hw.LFB, 0}, {0x20, hw.L2, 0}, {0x40, hw.L3, 0}, {0x80, hw.LocalRAM, 0},
	{0x400, hw.RemoteCache, hw.OneHop}, {0x800, hw.RemoteCache, hw.TwoHops},
	{0x100, hw.RemoteRAM, hw.OneHop}, {0x200, hw.RemoteRAM, hw.TwoHops},
	{0x1000, hw.IO, 0}, {0x2000, hw.Uncached, 0},
}

// perfLevel decodes the lvl bits. Of two levels the farther is taken; a miss
// with one level was served beyond it.
func perfLevel(f uint64) (level hw.Level, hops hw.Hops, ambiguous bool) {
	named := 0
	for _, l := range perfLevels {
		if f&l.bit != 0 {
			level, hops = l.level, l.hops
			named++
		}
	}
	if f&4 != 0 && named == 1 {
		return beyond(level), hops, false
	}
	return level, hops, named > 1
}

// beyond returns what is known of an access that missed a level.
func beyond(l hw.Level) hw.Level {
	switch l {
	case hw.L1, hw.LFB:
		return hw.BeyondL1
	case hw.L2:
		return hw.BeyondL2
	case hw.L3, hw.L4:
		return hw.BeyondL3
	}
	return l
}

// Beyond is beyond for readers of text that names the level that was missed.
func Beyond(l hw.Level) hw.Level { return beyond(l) }

// pebs is the meaning of the low four bits of the older Intel encoding; see the
// table of data source encodings in Intel's SDM, volume 3, PEBS load latency.
var pebs = [16]struct {
	level hw.Level
	snoop Snoop
}{
	0x0: {hw.BeyondL3, 0}, 0x1: {hw.L1, 0}, 0x2: {hw.LFB, 0}, 0x3: {hw.L2, 0},
	0x4: {hw.L3, SnoopNone}, 0x5: {hw.L3, SnoopHit}, 0x6: {hw.L3, SnoopHitM}, 0x7: {hw.L3, SnoopHitM},
	0x8: {hw.BeyondL3, 0}, 0x9: {hw.Unknown, 0}, 0xa: {hw.LocalRAM, 0}, 0xb: {hw.RemoteRAM, 0},
	0xc: {hw.LocalRAM, 0}, 0xd: {hw.RemoteRAM, 0}, 0xe: {hw.IO, 0}, 0xf: {hw.Uncached, 0},
}

// PEBS decodes the older Intel number: four bits of source, then second-level
// TLB miss and lock. Every such sample is a load.
func PEBS(w uint64) Access {
	e := pebs[w&0xf]
	a := Access{Op: Load, Level: e.level, Snoop: e.snoop, Lock: Unlocked, TLB: TLBHit}
	if w&0x10 != 0 {
		a.TLB = TLBMiss
	}
	if w&0x20 != 0 {
		a.Lock = Locked
	}
	return a
}

// Columns collects accesses and turns them into the columns op, level, hit,
// remote, hops, snoop, tlb and lock.
type Columns struct{ rows []Access }

// NewColumns returns an empty collection with room for n rows.
func NewColumns(n int) *Columns { return &Columns{rows: make([]Access, 0, n)} }

// Append adds one row.
func (c *Columns) Append(a Access) { c.rows = append(c.rows, a) }

// Ambiguous counts the rows whose level was one of two.
func (c *Columns) Ambiguous() int {
	n := 0
	for _, a := range c.rows {
		if a.Ambiguous {
			n++
		}
	}
	return n
}

// Table returns the columns. A column in which no row says anything is kept as
// absent, so that a view can say so.
func (c *Columns) Table(p table.Provenance) []*table.Column {
	levels := make([]string, 0, len(hw.Levels())+1)
	levels = append(levels, "")
	for _, l := range hw.Levels() {
		levels = append(levels, l.String())
	}
	return []*table.Column{
		c.category("op", p, OpNames, func(a Access) uint8 { return uint8(a.Op) }),
		c.category("level", p, levels, func(a Access) uint8 { return uint8(a.Level) }),
		c.category("hit", p, hitNames, func(a Access) uint8 { return uint8(a.Hit) }),
		c.flag("remote", p, func(a Access) (bool, bool) { return a.Remote(), a.placed() }),
		c.hops(p),
		c.category("snoop", p, SnoopNames, func(a Access) uint8 { return uint8(a.Snoop) }),
		c.category("tlb", p, TLBNames, func(a Access) uint8 { return uint8(a.TLB) }),
		c.flag("lock", p, func(a Access) (bool, bool) { return a.Lock == Locked, a.Lock != 0 }),
	}
}

// category makes a column of the names that occur, in the order of names.
func (c *Columns) category(name string, p table.Provenance, names []string, of func(Access) uint8) *table.Column {
	var used [256]bool
	for _, a := range c.rows {
		used[of(a)] = true
	}
	var code [256]uint32
	var dict []string
	for v := 1; v < len(names); v++ {
		if used[v] {
			code[v] = uint32(len(dict))
			dict = append(dict, names[v])
		}
	}
	codes := make([]uint32, len(c.rows))
	valid := table.NewBits(len(c.rows))
	for i, a := range c.rows {
		if v := of(a); v != 0 {
			codes[i] = code[v]
			valid.Set(i)
		}
	}
	if dict == nil {
		p = table.Absent
	}
	return table.Categories(name, p, codes, dict, valid)
}

func (c *Columns) flag(name string, p table.Provenance, of func(Access) (set, said bool)) *table.Column {
	values := make([]uint8, len(c.rows))
	valid := table.NewBits(len(c.rows))
	any := false
	for i, a := range c.rows {
		set, said := of(a)
		if said {
			valid.Set(i)
			any = true
		}
		if set {
			values[i] = 1
		}
	}
	if !any {
		p = table.Absent
	}
	return table.Flags(name, p, values, valid)
}

func (c *Columns) hops(p table.Provenance) *table.Column {
	values := make([]int64, len(c.rows))
	valid := table.NewBits(len(c.rows))
	any := false
	for i, a := range c.rows {
		if a.Hops != hw.AnyHops {
			values[i] = int64(a.Hops)
			valid.Set(i)
			any = true
		}
	}
	if !any {
		p = table.Absent
	}
	return table.Ints("hops", "", p, values, valid)
}
