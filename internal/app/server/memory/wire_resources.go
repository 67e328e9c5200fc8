package memory

import (
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/memory/resources"
)

// AskResources asks for a measure (sum, mean, deviation, largest, count or
// distinct) of any column over the samples of each resource: POST
// runs/{id}/resources, answered by ResourceAmounts.
type AskResources struct {
	Filter  string `json:"filter,omitempty"`
	Where   string `json:"where,omitempty"`
	Column  string `json:"column"`
	Measure string `json:"measure"`
}

// ResourceAmounts is a number for each resource that the page has of the run's
// topology, in its order: of the samples that belong to it and of those that it served. Samples say
// how many values a number rests on, 0 where there is none; AtLeast that there were
// more distinct values than can be told apart.
type ResourceAmounts struct {
	Name          string            `json:"name"`
	Unit          string            `json:"unit"`
	Provenance    string            `json:"provenance"`
	AtLeast       bool              `json:"atLeast"`
	Columns       []frame.ColumnRef `json:"columns"`
	Passed        frame.Column      `json:"passed"`        // f64
	PassedSamples frame.Column      `json:"passedSamples"` // u32
	Served        frame.Column      `json:"served"`        // f64
	ServedSamples frame.Column      `json:"servedSamples"` // u32
}

func (s routes) resources(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a AskResources
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	rows, err := run.Within(r.Context(), a.Filter, a.Where)
	if err != nil {
		return err
	}
	amounts, err := resources.Fold(r.Context(), run.Data.Table, run.Places, rows, a.Column, a.Measure)
	if err != nil {
		return frame.WrongAsk(err)
	}
	body := &frame.Body{}
	head := &ResourceAmounts{Name: amounts.Name, Unit: amounts.Unit, Provenance: run.Data.Table.Column(a.Column).Provenance.String()}
	add := func(of []hw.Amount) (numbers, counts frame.Column) {
		n, c := make([]float64, len(of)), make([]uint32, len(of))
		for i, one := range of {
			n[i], c[i] = one.Number, uint32(one.Samples)
			head.AtLeast = head.AtLeast || one.AtLeast
		}
		return frame.Add(body, n), frame.Add(body, c)
	}
	head.Passed, head.PassedSamples = add(pick(run.shown(), amounts.Passed))
	head.Served, head.ServedSamples = add(pick(run.shown(), amounts.Served))
	head.Columns = body.Refs
	return s.AnswerColumns(w, r, head, body)
}
