package answer

import (
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/locality/advice"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// Proof is what was predicted against what the changed program did.
type Proof struct {
	Command []string     `json:"command"`
	Kind    string       `json:"kind"`
	Levels  []ProofLevel `json:"levels"`
	Holds   bool         `json:"holds"` // every level within 2 % of the range predicted
	Time    *ProofTime   `json:"time"`  // null if the programs were not timed
	Text    string       `json:"text"`
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
	Rounds int     `json:"rounds"`
	Before float64 `json:"before_s"` // median
	After  float64 `json:"after_s"`
	Faster int     `json:"faster"` // rounds in which the changed program was faster
}

// tolerance is how far beyond the predicted range a level may lie.
const tolerance = 0.02

// AddLevels compares the changed program's misses with the prediction.
func (p *Proof) AddLevels(a *advice.Advice, after replay.Counts, m *platform.Machine) {
	p.Holds = true
	for i, l := range levelChanges(a, m) {
		measured := after.Walks
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
	p.Text = "the changed program misses as predicted, within 2 %"
	if len(off) > 0 {
		p.Text = "predicted and recorded differ: " + strings.Join(off, "; ")
	}
	switch t := p.Time; {
	case t == nil:
		p.Text += "; the time was not measured"
	case 4*t.Faster >= 3*t.Rounds && t.After < t.Before:
		p.Text += fmt.Sprintf("; it takes %s in place of %s of processor time (median of %d runs in turn, faster in %d)", seconds(t.After), seconds(t.Before), t.Rounds, t.Faster)
	case saved:
		p.Text += fmt.Sprintf("; the misses saved no time: %s and %s of processor time (median of %d runs in turn, faster in %d)", seconds(t.Before), seconds(t.After), t.Rounds, t.Faster)
	default:
		p.Text += fmt.Sprintf("; no time was saved: %s and %s (median of %d runs in turn)", seconds(t.Before), seconds(t.After), t.Rounds)
	}
}

// seconds writes a time with the unit that shows its digits: short programs take
// milliseconds.
func seconds(s float64) string { return term.Duration(int64(s * 1e9)) }
