package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/locality/advice"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// Proof is what was predicted against what the changed program did.
type Proof struct {
	Command    []string       `json:"command"` // the changed program
	Kind       string         `json:"kind"`
	Object     string         `json:"object"`
	Change     string         `json:"change"`
	Map        string         `json:"map"`        // of the advice: which change it is a proof of
	Provenance string         `json:"provenance"` // of the misses
	Machine    Machine        `json:"machine"`    // that both programs were replayed on
	References uint64         `json:"references"` // that the prediction is of
	Recorded   string         `json:"recorded"`   // when the run was made that it is of
	Made       string         `json:"made"`
	Programs   []ProofProgram `json:"programs"` // those that are files: as recorded, and changed
	Levels     []ProofLevel   `json:"levels"`
	Holds      bool           `json:"holds"` // every level within 2 % of the range predicted; never of pages, which references do not show
	Saves      Saves          `json:"saves"`
	Time       *ProofTime     `json:"time"` // null if the programs were not timed
	Text       string         `json:"text"`
	Stale      []string       `json:"stale"` // why it does not speak for the advice as it is now; empty if it does
}

// Saves is what the changed program saved.
type Saves string

// What a changed program saves.
const (
	SavesTime    Saves = "time"    // and whatever it misses
	SavesMisses  Saves = "misses"  // and no time
	SavesUntimed Saves = "untimed" // misses; the time was not measured
	SavesNothing Saves = "nothing" // neither
	SavesUnknown Saves = "unknown" // it did something else: there is nothing to compare
)

// ProofProgram is a program as it was when it was run.
type ProofProgram struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Sum   string `json:"sum"` // SHA-256
}

// ProofLevel is one level of a proof.
type ProofLevel struct {
	Level     string    `json:"level"`
	Now       uint64    `json:"now"`
	Predicted [2]uint64 `json:"predicted" ts:"readonly [number, number]"`
	Recorded  uint64    `json:"recorded"` // of the changed program, replayed on the machine
	Inside    bool      `json:"inside"`
}

// ProofTime is the processor time of both programs, measured in turn.
type ProofTime struct {
	Rounds     int     `json:"rounds"`
	Before     float64 `json:"before_s"` // median
	After      float64 `json:"after_s"`
	Faster     int     `json:"faster"` // rounds in which the changed program was faster
	Provenance string  `json:"provenance"`
	Output     Output  `json:"output"`
}

// Output is whether both programs printed and returned the same.
type Output string

// What two programs print.
const (
	OutputSame    Output = "same"
	OutputDiffers Output = "differs"
	OutputVaries  Output = "varies" // the program as recorded prints something else each time: nothing follows
)

// NewProof is a proof of an advice, of which nothing is known yet.
func NewProof(a *advice.Advice, m *platform.Machine, references uint64) *Proof {
	p := &Proof{Kind: string(a.Kind), Change: a.What, Map: a.Map, Provenance: Modelled, Machine: MachineOf(m), References: references, Programs: []ProofProgram{}, Stale: []string{}}
	if a.Object != nil {
		p.Object = a.Object.Name
	}
	return p
}

// tolerance is how far beyond the predicted range a level may lie.
const tolerance = 0.02

// unseen is what the references of a changed program do not tell of a change of its
// pages.
var unseen = map[advice.Kind]string{
	advice.Huge:  "how large the pages of the changed program are, so that its page walks are not known",
	advice.Place: "on which node the pages of the changed program lie, so that its remote lines are not known",
}

// AddLevels compares the changed program's misses with the prediction.
func (p *Proof) AddLevels(a *advice.Advice, after replay.Counts, m *platform.Machine) {
	p.Holds = unseen[a.Kind] == ""
	for i, l := range levelChanges(a, m) {
		measured := after.Walks
		if i == len(m.Levels) && a.Kind == advice.Huge {
			break // they would be walks of small pages
		}
		if i < len(m.Levels) {
			measured = after.Misses[i]
		}
		inside := float64(measured) >= (1-tolerance)*float64(l.Then[0]) && float64(measured) <= (1+tolerance)*float64(l.Then[1])
		p.Levels = append(p.Levels, ProofLevel{l.Level, l.Now, l.Then, measured, inside})
		if i < len(m.Levels) {
			p.Holds = p.Holds && inside
		}
	}
}

// Conclude says what the numbers mean. Fewer misses are not less time.
func (p *Proof) Conclude() {
	var off []string
	saved := false
	for _, l := range p.Levels {
		if !l.Inside {
			off = append(off, fmt.Sprintf("%s: predicted %s, recorded %d", missName(l.Level), rangeText(l.Predicted), l.Recorded))
		}
		saved = saved || l.Recorded < l.Now-l.Now/20
	}
	hidden := unseen[advice.Kind(p.Kind)]
	switch p.Text = "the changed program misses as predicted, within 2 %"; {
	case len(off) > 0 && p.Holds:
		p.Text += ", but not in " + strings.Join(off, "; ")
	case len(off) > 0:
		p.Text = "predicted and recorded differ: " + strings.Join(off, "; ")
	}
	if hidden != "" {
		p.Text += "; references do not tell " + hidden
	}
	switch t := p.Time; {
	case t != nil && t.Output == OutputDiffers:
		p.Saves = SavesUnknown
		p.Text = "the changed program printed another result, so what it saves says nothing; its misses: " + p.Text
	case t == nil:
		p.Saves = SavesNothing
		if saved {
			p.Saves = SavesUntimed
		}
		p.Text += "; the time was not measured"
	case 4*t.Faster >= 3*t.Rounds && t.After < t.Before:
		p.Saves = SavesTime
		p.Text += fmt.Sprintf("; it takes %s in place of %s of processor time (median of %d runs in turn, faster in %d)", seconds(t.After), seconds(t.Before), t.Rounds, t.Faster)
	case saved:
		p.Saves = SavesMisses
		p.Text += fmt.Sprintf("; the misses saved no time: %s and %s of processor time (median of %d runs in turn, faster in %d)", seconds(t.Before), seconds(t.After), t.Rounds, t.Faster)
	default:
		p.Saves = SavesNothing
		p.Text += fmt.Sprintf("; no time was saved: %s and %s (median of %d runs in turn)", seconds(t.Before), seconds(t.After), t.Rounds)
	}
}

// seconds writes a time with the unit that shows its digits: short programs take
// milliseconds.
func seconds(s float64) string { return term.Duration(int64(s * 1e9)) }

// AddProof puts a kept proof beside the change it is of; false if that is not in
// the list.
func (a *Advise) AddProof(p *Proof) bool {
	for i := range a.Advice {
		x := &a.Advice[i]
		if x.Map == p.Map {
			x.Proof = p
			return true
		}
		for k := range x.Instead {
			if x.Instead[k].Map == p.Map {
				x.Instead = slices.Clone(x.Instead)
				x.Instead[k].Proof = p
				return true
			}
		}
	}
	return false
}
