package logical

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
)

// ReportCompare is how a run differs from another run of the same program.
// Amounts are here minus there, in nanoseconds.
type ReportCompare struct {
	With      string         `json:"with"`
	Ranks     int            `json:"ranks"`
	Matched   int            `json:"matched"`
	OnlyHere  int            `json:"only_here"`
	OnlyThere int            `json:"only_there"`
	Moved     int            `json:"moved"` // pairs at different steps
	Span      int64          `json:"span"`
	Compute   int64          `json:"compute"` // before paired operations, all ranks
	Calls     int64          `json:"calls"`   // in paired operations
	Lateness  int64          `json:"lateness"`
	Top       []ReportChange `json:"top"`
}

// ReportChange is a place where the runs drift apart: a computation that took
// longer or shorter, or a call that became late by itself.
type ReportChange struct {
	Op        int32  `json:"op"`
	Other     int32  `json:"other"` // its partner there
	Process   int32  `json:"process"`
	Kind      string `json:"kind"` // compute or call
	Operation string `json:"operation"`
	Step      int32  `json:"step"`
	Partition int32  `json:"partition"`
	Amount    int64  `json:"amount"`
	Here      int64  `json:"here"`
	There     int64  `json:"there"`
	Text      string `json:"text"`
}

// Began returns when the computation before an operation began: at the exit of
// the operation before it, or with the trace.
func (s *Structure) Began(op int32) int64 {
	if op == s.Start[s.Proc[op]] {
		return min(s.Trace.First, s.Enter[op])
	}
	return min(s.Exit[op-1], s.Enter[op])
}

// Compare says how the run here differs, with the top largest changes.
func (a *Alignment) Compare(with string, top int) *ReportCompare {
	h, t := a.Here, a.There
	r := &ReportCompare{
		With: with, Ranks: a.Ranks, Matched: a.Matched, OnlyHere: h.Len() - a.Matched, OnlyThere: t.Len() - a.Matched, Moved: a.Moved,
		Span: h.Trace.SpanNS() - t.Trace.SpanNS(), Top: []ReportChange{},
	}
	var all []ReportChange
	for i := range int32(h.Len()) {
		j := a.Of[i]
		if j < 0 {
			continue
		}
		compute := change(h.Trace.NS(h.Enter[i]-h.Began(i)), t.Trace.NS(t.Enter[j]-t.Began(j)))
		call := change(h.Trace.NS(h.Exit[i]-h.Enter[i]), t.Trace.NS(t.Exit[j]-t.Enter[j]))
		late := change(h.Trace.NS(h.GlobalDiff[i]), t.Trace.NS(t.GlobalDiff[j]))
		r.Compute += compute.Amount
		r.Calls += call.Amount
		r.Lateness += h.Trace.NS(h.GlobalLate[i]) - t.Trace.NS(t.GlobalLate[j])
		compute.Kind, late.Kind = "compute", "call"
		for _, c := range []ReportChange{compute, late} {
			if c.Amount != 0 {
				c.Op, c.Other = i, j
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y ReportChange) int {
		return cmp.Or(cmp.Compare(max(y.Amount, -y.Amount), max(x.Amount, -x.Amount)), cmp.Compare(x.Op, y.Op))
	})
	for _, c := range all[:min(top, len(all))] {
		r.Top = append(r.Top, a.describe(c))
	}
	return r
}

func change(here, there int64) ReportChange {
	return ReportChange{Amount: here - there, Here: here, There: there}
}

func (a *Alignment) describe(c ReportChange) ReportChange {
	s := a.Here
	c.Process, c.Operation, c.Step, c.Partition = s.Proc[c.Op], s.Name(c.Op), s.Step[c.Op], s.Part[c.Op]
	more, amount := "longer", c.Amount
	if amount < 0 {
		more, amount = "shorter", -amount
	}
	if c.Kind == "compute" {
		c.Text = fmt.Sprintf("%s computed %s %s before %s at step %d: %s here, %s there", s.Who(c.Process), term.Duration(amount), more, c.Operation, c.Step, term.Duration(c.Here), term.Duration(c.There))
		return c
	}
	if c.Amount > 0 {
		c.Text = fmt.Sprintf("%s became %s later inside %s at step %d than there", s.Who(c.Process), term.Duration(amount), c.Operation, c.Step)
	} else {
		c.Text = fmt.Sprintf("%s became %s less late inside %s at step %d than there", s.Who(c.Process), term.Duration(amount), c.Operation, c.Step)
	}
	return c
}
