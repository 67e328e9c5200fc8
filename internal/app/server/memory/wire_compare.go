package memory

// AskCompare asks how this run, A, differs from another one that is open, B: POST
// runs/{id}/compare.
type AskCompare struct {
	With string `json:"with"` // the id of B; empty for a pair, whose runs are A and B
	// By are the columns of the groups; a line needs its file before it.
	By     []string `json:"by"`
	Metric string   `json:"metric,omitempty"` // cost, share, samples, mean or a level; empty: cost
	Where  string   `json:"where,omitempty"`  // in both
	Top    int      `json:"top,omitempty"`    // the largest changes; 0: all
}

// Compared is how two runs differ. Absent numbers are not known.
type Compared struct {
	Sentence string `json:"sentence"`
	Limits   string `json:"limits"` // what could not have been seen
	Metric   string `json:"metric"`
	Unit     string `json:"unit"`
	Modelled bool   `json:"modelled"` // costs and means rest on a model
	Design   string `json:"design"`
	// Of sides of several runs, what each run costs.
	RunsA    []RunCost     `json:"runsA,omitempty"`
	RunsB    []RunCost     `json:"runsB,omitempty"`
	Tested   int           `json:"tested"`
	Whole    ComparedRow   `json:"whole"`
	Small    *ComparedRow  `json:"small,omitempty"` // groups too small to be tested alone
	Groups   []ComparedRow `json:"groups"`
	Count    int           `json:"count"` // of groups, before Top
	Warnings []string      `json:"warnings"`
}

// RunCost is what one run of a side costs.
type RunCost struct {
	Name string  `json:"name"`
	Cost float64 `json:"cost"`
}

// ComparedRow is the same thing in both runs.
type ComparedRow struct {
	Label   string       `json:"label"`
	KeyA    []string     `json:"keyA,omitempty"` // as A calls it; absent where it has none
	KeyB    []string     `json:"keyB,omitempty"`
	Matched string       `json:"matched,omitempty"` // equal, modified, moved, by number, only a, only b
	A       ComparedCell `json:"a"`
	B       ComparedCell `json:"b"`
	// Ratio is B ÷ A of what is compared, with its interval.
	Ratio      *float64 `json:"ratio,omitempty"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	Verdict    string   `json:"verdict"` // more, less, same or unsure
	Mark       string   `json:"mark,omitempty"`
	Detectable *float64 `json:"detectable,omitempty"`
	Groups     int      `json:"groups,omitempty"` // that the row stands for
}

// ComparedCell is one group in one run.
type ComparedCell struct {
	Samples int      `json:"samples"`
	Cost    float64  `json:"cost"`
	Share   float64  `json:"share"`
	Mean    *float64 `json:"mean,omitempty"`
}

// AskChanges asks what changed between the runs of a pair: POST
// runs/{a},{b}/changes.
type AskChanges struct {
	Where string `json:"where,omitempty"` // in common names
}

// WhatChanged is what changed, most important first.
type WhatChanged struct {
	Sentence string        `json:"sentence"` // about the whole runs
	Limits   string        `json:"limits"`   // what could not have been seen
	Changes  []FoundChange `json:"changes"`
	Nothing  string        `json:"nothing"` // said where there are none
	Modelled bool          `json:"modelled"`
	Warnings []string      `json:"warnings"`
}

// FoundChange is one finding of what changed.
type FoundChange struct {
	Kind  string   `json:"kind" ts:"'moved-level' | 'new' | 'gone' | 'dearer' | 'cheaper' | 'rebalanced' | 'placed'"`
	By    []string `json:"by"`
	Text  string   `json:"text"`
	Share float64  `json:"share"` // of all change of its kind
	Score float64  `json:"score"`
	Sure  bool     `json:"sure"`
	Where string   `json:"where"` // the samples; empty: all
}

// MatchedLines is which line of A each line of a source file was: GET
// runs/{a},{b}/matched. Without lines they were not matched by content.
type MatchedLines struct {
	File  string     `json:"file"`
	FileA string     `json:"fileA"`
	Lines []int      `json:"lines"` // by line of B; 0 has none
	How   []string   `json:"how"`
	Gone  []GoneLine `json:"gone"`
	From  []LineFrom `json:"from"` // lines that were in another file than FileA
	// TextA is the text of FileA as A has it; empty if that is not known.
	TextA string   `json:"textA"`
	Left  []LineIn `json:"left"` // lines of FileA that are in another file of B
}

// LineIn is a line of A and the line of another file of B that it is now.
type LineIn struct {
	Line int    `json:"line"`
	File string `json:"file"`
	In   int    `json:"in"`
}

// LineFrom is a line of B and the file of A that it was in.
type LineFrom struct {
	Line int    `json:"line"`
	File string `json:"file"`
}

// GoneLine is a line that only A has, and the line of B that it stood before.
type GoneLine struct {
	Line   int    `json:"line"`
	Before int    `json:"before"`
	Text   string `json:"text"`
}
