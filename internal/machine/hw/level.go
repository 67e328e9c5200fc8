package hw

import (
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
)

// Level is where in the memory hierarchy an access was served. Levels are
// names with an order for display, nearest the CPU first; they are never
// averaged.
type Level uint8

// The levels. NoLevel is "the source does not say", which differs from
// Unknown, "the hardware said it does not know".
const (
	NoLevel Level = iota
	L1
	LFB // line fill buffer: the line was already on its way
	L2
	L3
	L4
	LocalPeerCache // a neighbouring cache of the same memory node
	MSC            // memory-side cache
	LocalRAM
	RemoteCache
	RemoteRAM
	PMEM
	CXL
	BeyondL1 // missed L1, served somewhere beyond
	BeyondL2
	BeyondL3
	IO
	Uncached
	Unknown
	levelCount int = iota
)

var levelNames = [levelCount]string{
	"", samples.L1, samples.LFB, samples.L2, samples.L3, samples.L4, samples.LocalPeerCache, samples.MSC, samples.LocalRAM,
	samples.RemoteCache, samples.RemoteRAM, samples.PMEM, samples.CXL, samples.BeyondL1, samples.BeyondL2,
	samples.BeyondL3, samples.IO, samples.Uncached, samples.UnknownLevel,
}

// String returns the level as the level column of a table spells it; NoLevel
// is the empty text.
func (l Level) String() string { return levelNames[l] }

// Levels returns every level but NoLevel in display order.
func Levels() []Level {
	all := make([]Level, 0, levelCount-1)
	for l := L1; int(l) < levelCount; l++ {
		all = append(all, l)
	}
	return all
}

// ParseLevel reads a name written by Level.String, whatever its case.
func ParseLevel(s string) (Level, error) {
	for l, name := range levelNames {
		if strings.EqualFold(name, s) {
			return Level(l), nil
		}
	}
	return NoLevel, fmt.Errorf("level %q: want one of %s", s, strings.Join(levelNames[1:], ", "))
}

// Hops says how far away the server of a remote access is, as far as the
// source knows. A larger number is farther.
type Hops uint8

// The distances. A perf record with mem_hops 1 (another core of this node) is
// no remote access but a LocalPeerCache; mem_hops 2 is OneHop.
const (
	AnyHops     Hops = iota // remote, distance not said
	OneHop                  // nearest distance class of memory nodes
	TwoHops                 // farther than the nearest class
	OtherSocket             // another package
	OtherBoard
	hopsCount int = iota
)

var hopsNames = [hopsCount]string{
	"distance not said", "1 hop", "2 hops", "other socket", "other board",
}

func (h Hops) String() string { return hopsNames[h] }

// Access is what a sample says about how it was served.
type Access struct {
	Level Level
	Hops  Hops // of a remote access
	Home  int  // OS index of the memory node that holds the page; negative if not known
}
