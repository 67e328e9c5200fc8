package memory

import (
	"github.com/isobath/isobath/internal/data/gaps"
	"github.com/isobath/isobath/internal/memory/firsttouch"
)

// AskLines asks for the cache lines of a selection, most contended first:
// POST runs/{id}/cachelines. Side, of a pair, is the run that they are of: lines
// then have their place in their object, by which those of both runs are matched.
type AskLines struct {
	Filter string `json:"filter,omitempty"`
	Where  string `json:"where,omitempty"`
	Side   string `json:"side,omitempty"` // A or B
	Top    int    `json:"top,omitempty"`
}

// AskSpread asks how groups spread over levels and latencies: POST
// runs/{id}/spread, answered by Spreads.
type AskSpread struct {
	Filter string   `json:"filter,omitempty"`
	Where  string   `json:"where,omitempty"`
	By     []string `json:"by"`
	Top    int      `json:"top,omitempty"`
}

// Spreads is the answer to AskSpread. Provenance is that of the latencies.
type Spreads struct {
	By         []string `json:"by"`
	Unit       string   `json:"unit"`
	Provenance string   `json:"provenance"`
	Groups     []Spread `json:"groups"`
}

// AskCalls asks who calls a function and what it calls: POST runs/{id}/calls.
// Without a function it is the one with the most samples of its own.
type AskCalls struct {
	Filter   string `json:"filter,omitempty"`
	Where    string `json:"where,omitempty"`
	Function string `json:"function,omitempty"`
}

// AskAssembly asks for the machine code around a source line: POST
// runs/{id}/assembly.
type AskAssembly struct {
	Filter   string `json:"filter,omitempty"`
	Where    string `json:"where,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function,omitempty"` // of those that the line is in
}

// ObjectNames is the sentences that say what objects are: GET and PUT
// runs/{id}/names.
type ObjectNames struct {
	Text string `json:"text"`
	// Saved is false where they cannot be kept.
	Saved bool `json:"saved"`
}

// Gaps is the answer to GET runs/{id}/gaps: when samples are missing or stand
// for more than they count, in order of time.
type Gaps struct {
	Gaps []gaps.Gap `json:"gaps"`
}

// Touches is the answer to GET runs/{id}/touches: who touched the pages of each
// data object first, those with most pages first. Of the whole run, whatever is
// selected.
type Touches struct {
	Pages   int                  `json:"pages"`
	Objects []firsttouch.Touched `json:"objects"`
}
