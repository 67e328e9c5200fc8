package references

import (
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/loops/spiral"
)

// CyclesAsk says which analysis of a reference trace a question is about. Zero
// values are the defaults of `isobath cycles`; an empty symbol is chosen for
// the trace, and thread -1 is the busiest.
type CyclesAsk struct {
	Symbol string `json:"symbol" ts:"'' | 'pc' | 'line' | 'addr' | 'op+addr' | 'pc+addr' | 'cacheline' | 'object'"`
	Window int    `json:"window"`
	Cap    int    `json:"cap"`
	Every  int    `json:"every"`
	From   int64  `json:"from"` // records, half open; to 0 is the end
	To     int64  `json:"to"`
	Folds  int    `json:"folds"` // innermost loops folded to one turn
	Thread int64  `json:"thread"`
}

// CyclesInfo describes the cycles of one thread of a reference trace.
type CyclesInfo struct {
	Records   int             `json:"records"`
	Windows   int             `json:"windows"`
	Unique    int             `json:"unique"`
	Symbols   int             `json:"symbols"`
	Symbol    string          `json:"symbol"`
	Window    int             `json:"window"`
	Cap       int             `json:"cap"`
	Thread    int64           `json:"thread"`
	Threads   []CyclesThread  `json:"threads"`
	Bars      []CyclesBars    `json:"bars"`
	Classes   []CyclesClass   `json:"classes"`
	Lines     []spiral.Colour `json:"lines"` // every line, and functions of libraries
	Preamble  int             `json:"preamble"`
	Postamble int             `json:"postamble"`
	Notes     []string        `json:"notes"`
	HasLines  bool            `json:"hasLines"`
	HasCode   bool            `json:"hasCode"` // references have instructions: loops can be told apart
	Named     []CyclesNamed   `json:"named"`
	// Repeats are what recurs exactly, innermost first, where there is no class.
	Repeats []CyclesRepeat `json:"repeats"`
}

// CyclesRepeat is a stretch of references that recurs without a change: Period of
// them make a turn. Least and Most are turns of an entry.
type CyclesRepeat struct {
	Period  int    `json:"period"`
	Entries int    `json:"entries"`
	Turns   int64  `json:"turns"`
	Least   int    `json:"least"`
	Most    int    `json:"most"`
	Place   string `json:"place"`
}

// CyclesNamed is a structure with a name of its own: what the turns of a class
// are, under which settings. Class is -1 if this analysis does not have them.
type CyclesNamed struct {
	Name   string `json:"name"`
	Symbol string `json:"symbol"`
	Window int    `json:"window"`
	Class  int    `json:"class"`
}

// CyclesThread is a thread that can be chosen.
type CyclesThread struct {
	ID      int64 `json:"id"`
	Records int64 `json:"records"`
}

// CyclesBars are the bars of one birth and death.
type CyclesBars struct {
	Birth int  `json:"birth"`
	Death int  `json:"death"`
	Alive bool `json:"alive"`
	Count int  `json:"count"`
}

// CyclesClass is one circle and the walk around it.
type CyclesClass struct {
	Birth       int          `json:"birth"`
	Death       int          `json:"death"`
	Alive       bool         `json:"alive"`
	Epsilon     int          `json:"epsilon"`
	Turns       int64        `json:"turns"`
	Exact       bool         `json:"exact"`
	Stable      bool         `json:"stable"`    // shorter and longer windows count as many turns
	SameLeast   int          `json:"sameLeast"` // the shortest and the longest window that does; 0 if turns are not counted
	SameMost    int          `json:"sameMost"`
	Combination bool         `json:"combination"`
	Name        string       `json:"name"` // role in the nest of loops
	Parent      int          `json:"parent"`
	Passes      int64        `json:"passes"`
	Dual        int          `json:"dual"`
	Whole       int          `json:"whole"`
	Sentence    string       `json:"sentence"`
	Place       string       `json:"place"`
	TurnAt      int          `json:"turnAt"` // windows of the shortest turn
	TurnLength  int          `json:"turnLength"`
	Residual    float64      `json:"residual"`
	Lines       []CyclesLine `json:"lines"`
	Loop        int          `json:"loop"`  // the loop of the code it goes around, in the list of loops; -1 if none is known
	Title       string       `json:"title"` // of that loop
	Of          string       `json:"of"`    // what its turns are a part of; empty where they are all
}

// CyclesLine is a line's share of a turn.
type CyclesLine struct {
	File  string  `json:"file"`
	Line  int     `json:"line"`
	Share float64 `json:"share"`
}

// ClassAsk asks for a class in colours, or for the morph from it to another:
// part 0 is the one, 1 the other.
type ClassAsk struct {
	CyclesAsk
	Class   int      `json:"class"`
	Other   int      `json:"other"` // -1 for none
	Part    float64  `json:"part"`
	Epsilon int      `json:"epsilon"` // 0: where the class was found
	Colour  string   `json:"colour" ts:"'' | 'line' | 'function' | 'object' | 'op' | 'stride' | 'miss'"`
	Toggled []string `json:"toggled"` // functions that are folded or opened by hand
	Where   string   `json:"where"`   // references that keep their colour; empty: all
}

// SpiralAsk asks for the drawing of a class. Windows from First to Last-1 are
// drawn; Last 0 is the end. Radii and Angles are the pixels there are, Columns
// those of the strip.
type SpiralAsk struct {
	ClassAsk
	First   int `json:"first"`
	Last    int `json:"last"`
	Radii   int `json:"radii"`
	Angles  int `json:"angles"`
	Columns int `json:"columns"`
}

// SectorAsk asks for a part of a drawing in more detail: windows from First to
// Last-1 at angles from From on, over Span turns.
type SectorAsk struct {
	ClassAsk
	First  int     `json:"first"`
	Last   int     `json:"last"`
	From   float64 `json:"from"`
	Span   float64 `json:"span"`
	Radii  int     `json:"radii"`
	Angles int     `json:"angles"`
}

// Walked is the windows of a drawing one by one, if they can be told apart;
// otherwise polar is set.
type Walked struct {
	First     int          `json:"first"`
	Last      int          `json:"last"`
	Whole     bool         `json:"whole"`
	Lift      frame.Column `json:"lift"`
	OtherLift frame.Column `json:"otherLift"` // of the class to morph to
	Colour    frame.Column `json:"colour"`
	Point     frame.Column `json:"point"`
	Polar     *SpiralPolar `json:"polar"`
}

// SectorAnswer is a part of a drawing.
type SectorAnswer struct {
	Columns []frame.ColumnRef `json:"columns"`
	Took    float64           `json:"took"`
	Walked
}

// SpiralAnswer is a drawing.
type SpiralAnswer struct {
	Columns []frame.ColumnRef `json:"columns"`
	Took    float64           `json:"took"`
	Walked
	Turns      frame.Column       `json:"turns"` // windows at which turns begin
	Every      int                `json:"every"` // turns between two of them
	Passes     frame.Column       `json:"passes"`
	ByPass     []int              `json:"byPass"` // turns in each pass; empty if they cannot be counted
	Teeth      bool               `json:"teeth"`
	Strips     []SpiralStrip      `json:"strips"` // of the class and the others with turns
	Ribbon     frame.Column       `json:"ribbon"`
	Ring       frame.Column       `json:"ring"`       // windows in the loop by angle
	RingColour frame.Column       `json:"ringColour"` // and their most frequent colour
	Colours    []spiral.Colour    `json:"colours"`
	Groups     []spiral.Colour    `json:"groups"` // all, those without a colour too
	Structures []spiral.Structure `json:"structures"`
	Selected   int                `json:"selected"` // references that keep their colour
	Unknown    string             `json:"unknown"`  // why it is not known which are selected: all keep theirs
}

// SpiralPolar are pixels of radius and angle: colours, 0xffff for none. Angles
// begin at From and span Span turns.
type SpiralPolar struct {
	From   float64      `json:"from"`
	Span   float64      `json:"span"`
	Radii  int          `json:"radii"`
	Angles int          `json:"angles"`
	Colour frame.Column `json:"colour"`
}

// SpiralStrip is the lift of a class over the whole trace.
type SpiralStrip struct {
	Class int          `json:"class"`
	Low   frame.Column `json:"low"`
	High  frame.Column `json:"high"`
}

// ReferencesAsk asks for records of the trace.
type ReferencesAsk struct {
	CyclesAsk
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// ProjectionAsk asks for the cloud of points in the plane.
type ProjectionAsk struct {
	ClassAsk
	Method string `json:"method" ts:"'isomap' | 'mds'"`
}

// ProjectionAnswer is the cloud: a place, the coordinate of the class in turns
// and the number of visits for every distinct window.
type ProjectionAnswer struct {
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Theta  []float64 `json:"theta"`
	Visits []int64   `json:"visits"`
	Colour []int     `json:"colour"`
	Edges  [][]int64 `json:"edges"` // steps of the trace: from, to, how often
	Note   string    `json:"note"`
}
