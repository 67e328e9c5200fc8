// Package resources folds any column of samples onto the resources of a machine:
// the sum, mean, deviation, largest value, count or number of distinct values of
// the samples that belong to a cache, node or CPU, and of those that it served. In
// are a table, the places of its rows and the selected ones, out is a value for
// each resource.
package resources

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Measures are the ways in which the values of a column become one number.
var Measures = []string{"sum", "mean", "deviation", "largest", "count", "distinct"}

// mostDistinct bounds the values that are told apart, over all places.
const mostDistinct = 1 << 20

// Fold works out a measure of a column over the selected rows (nil: all).
func Fold(ctx context.Context, t *table.Table, places *hw.Rows, rows table.Bits, column, measure string) (*hw.Amounts, error) {
	c := t.Column(column)
	switch {
	case c == nil:
		return nil, query.UnknownColumn(t, column)
	case !slices.Contains(Measures, measure):
		return nil, query.Refuse("unknown measure %q: want %s", measure, strings.Join(Measures, ", "))
	case places == nil:
		return nil, query.Refuse("the samples cannot be placed on resources: there is no topology, or they do not say their CPU")
	case measure == "sum" && c.Kind == table.Time:
		return nil, query.Refuse("%s holds moments: their sum is no number of anything", column)
	case c.Kind == table.Address && measure != "count" && measure != "distinct":
		return nil, query.Refuse("%s holds addresses: their count and the number of distinct ones can be shown, not their %s", column, measure)
	case c.Kind == table.Category && measure != "count" && measure != "distinct":
		return nil, query.Refuse("%s holds names: their count and the number of distinct ones can be shown, not their %s", column, measure)
	}
	byCode := make([]moments, len(places.Coder.Places))
	told := 0
	for row := range table.Scan(ctx, rows, t.Rows()) {
		if !c.Has(row) {
			continue
		}
		m := &byCode[places.Code[row]]
		if measure == "distinct" {
			told += m.tell(c, row, told < mostDistinct)
		} else {
			m.add(c.Float(row))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return fold(byCode, places.Coder, c, measure), nil
}

// fold adds the places of each resource up.
func fold(byCode []moments, coder *hw.Coder, c *table.Column, measure string) *hw.Amounts {
	n := len(coder.Placer.Resources)
	passed, served := make([]moments, n), make([]moments, n)
	for code := range byCode {
		m := &byCode[code]
		if m.n == 0 {
			continue
		}
		through, server := coder.Reached(code)
		for _, i := range through {
			passed[i].join(m)
		}
		if server >= 0 {
			served[server].join(m)
		}
	}
	v := &hw.Amounts{Name: measure + " of " + c.Name, Unit: c.Unit, Passed: make([]hw.Amount, n), Served: make([]hw.Amount, n)}
	if measure == "count" || measure == "distinct" {
		v.Unit = ""
	}
	for i := range n {
		v.Passed[i], v.Served[i] = passed[i].amount(measure), served[i].amount(measure)
	}
	return v
}

// moments are what all measures can be worked out from.
type moments struct {
	n              int
	sum            float64
	mean, squares  float64 // of deviations from the mean, as Welford adds them up
	largest        float64
	distinct       map[uint64]struct{}
	tooManyToCount bool
}

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.squares += d * (x - m.mean)
	if m.n == 1 || x > m.largest {
		m.largest = x
	}
}

// tell notes a row's value and returns how many new ones that is.
func (m *moments) tell(c *table.Column, row int, room bool) int {
	m.n++
	bits := c.Identity(row)
	if _, known := m.distinct[bits]; known {
		return 0
	}
	if !room {
		m.tooManyToCount = true
		return 0
	}
	if m.distinct == nil {
		m.distinct = map[uint64]struct{}{}
	}
	m.distinct[bits] = struct{}{}
	return 1
}

// join adds other samples, by the formula of Chan, Golub and LeVeque for the
// squares.
func (m *moments) join(o *moments) {
	if m.n == 0 || o.largest > m.largest {
		m.largest = o.largest
	}
	n := float64(m.n + o.n)
	d := o.mean - m.mean
	m.squares += o.squares + d*d*float64(m.n)*float64(o.n)/n
	m.mean += d * float64(o.n) / n
	m.sum += o.sum
	m.n += o.n
	m.tooManyToCount = m.tooManyToCount || o.tooManyToCount
	if len(o.distinct) > 0 && m.distinct == nil {
		m.distinct = make(map[uint64]struct{}, len(o.distinct))
	}
	for bits := range o.distinct {
		m.distinct[bits] = struct{}{}
	}
}

func (m *moments) amount(measure string) hw.Amount {
	v := hw.Amount{Samples: m.n}
	switch measure {
	case "sum":
		v.Number = m.sum
	case "mean":
		v.Number = m.mean
	case "deviation":
		v.Number = math.Sqrt(m.squares / float64(max(m.n, 1)))
	case "largest":
		v.Number = m.largest
	case "count":
		v.Number = float64(m.n)
	default:
		v.Number, v.AtLeast = float64(len(m.distinct)), m.tooManyToCount
	}
	return v
}
