package references

import "github.com/isobath/isobath/internal/locality/replay"

// LoopsAsk asks for the loops of a trace.
type LoopsAsk struct{}

// LoopsInfo is the loops of the code of a trace, outer before inner.
type LoopsInfo struct {
	// Recorded says that the way through the code was recorded; else it was rebuilt
	// from the instructions that make references, and no count is exact.
	Recorded   bool         `json:"recorded"`
	References uint64       `json:"references"`
	Outside    uint64       `json:"outside"` // references in no loop
	Lost       uint64       `json:"lost"`
	Notes      []string     `json:"notes"`
	Machine    string       `json:"machine"` // that misses are modelled on; empty if none
	Model      string       `json:"model"`   // what they rest on
	Levels     []string     `json:"levels"`  // of its caches
	Misses     []uint64     `json:"misses"`  // of everything, by level
	Bands      replay.Bands `json:"bands"`   // that they lie in
	Loops      []LoopRow    `json:"loops"`
}

// LoopRow is one loop. References, bytes, lines and misses include inner loops and
// calls.
type LoopRow struct {
	Kind        string       `json:"kind" ts:"'loop' | 'recursion'"`
	Title       string       `json:"title"` // short: "for j, lu.c:12"
	Name        string       `json:"name"`  // unlike that of all others: selections know it by this
	Text        string       `json:"text"`
	Function    string       `json:"function"`
	File        string       `json:"file"`
	Line        int          `json:"line"`
	Depth       int          `json:"depth"`
	Parent      int          `json:"parent"` // -1 for none
	Entries     uint64       `json:"entries"`
	Trips       uint64       `json:"trips"` // over all entries
	Min         uint64       `json:"min"`
	Median      uint64       `json:"median"`
	Max         uint64       `json:"max"`
	Skipped     uint64       `json:"skipped"` // entries without a turn
	Unknown     LoopUnknown  `json:"unknown"`
	Exact       bool         `json:"exact"`
	AtLeast     bool         `json:"atLeast"` // the recording ended while it was under way: not exact
	Why         string       `json:"why"`     // it is not exact
	Factor      int          `json:"factor"`
	Irreducible bool         `json:"irreducible"`
	References  uint64       `json:"references"`
	Own         uint64       `json:"own"`
	Loads       uint64       `json:"loads"`
	Stores      uint64       `json:"stores"`
	Modifies    uint64       `json:"modifies"`
	Bytes       uint64       `json:"bytes"`
	Lines       uint64       `json:"lines"` // distinct, of 64 bytes
	LinesExact  bool         `json:"linesExact"`
	Caption     string       `json:"caption"`
	Exits       string       `json:"exits"`  // where it is left if not by its condition alone; empty if it is not, or not known
	Course      []uint64     `json:"course"` // turns of entries in order, one in courseEvery
	CourseEvery uint64       `json:"courseEvery"`
	Objects     []LoopObject `json:"objects"`
	Strides     []LoopStride `json:"strides"` // of its own instructions
	Misses      []uint64     `json:"misses"`  // modelled, by level; empty if not known
	Bands       replay.Bands `json:"bands"`   // that they lie in
}

// LoopUnknown says which counts of a loop are not known; they are 0.
type LoopUnknown struct {
	Entries bool `json:"entries"`
	Trips   bool `json:"trips"`
	Spread  bool `json:"spread"` // min, median, max and skipped
}

// LoopObject is what a loop refers to.
type LoopObject struct {
	Name       string `json:"name"`
	References uint64 `json:"references"`
}

// LoopStride is how the address of an instruction moves.
type LoopStride struct {
	Line       int    `json:"line"`
	Op         string `json:"op"`
	Width      int    `json:"width"`
	References uint64 `json:"references"`
	Text       string `json:"text"`
}
