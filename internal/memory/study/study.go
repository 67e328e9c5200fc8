package study

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/stat"
)

// Study is what is known of many runs.
type Study struct {
	Runs []*Row `json:"runs"`
	// Order is what the series runs along; empty is as given.
	Order string `json:"order,omitempty"`
	// Parameter is the only one that laws are about, if it was asked for.
	Parameter string `json:"parameter,omitempty"`
	// Against are runs of a baseline, one for each run.
	Against []*Row      `json:"against,omitempty"`
	Laws    []LawRow    `json:"laws"`
	Changes []ChangeRow `json:"changes"`
	Notes   []string    `json:"notes"`
}

// LawRow is how a metric grows with a parameter.
type LawRow struct {
	Metric    string         `json:"metric"`
	Key       map[string]any `json:"key,omitempty"`
	Parameter string         `json:"parameter"`
	// Fixed says at which values of other parameters.
	Fixed map[string]any `json:"fixed,omitempty"`
	Growth
}

// ChangeRow is one change point.
type ChangeRow struct {
	Metric string         `json:"metric"`
	Key    map[string]any `json:"key,omitempty"`
	At     int            `json:"at"` // the first run after it
	Before string         `json:"before"`
	After  string         `json:"after"`
	Step   float64        `json:"step"` // as a fraction
	Low    float64        `json:"low"`
	High   float64        `json:"high"`
	P      float64        `json:"p"`
	Drift  bool           `json:"drift"`
}

// Options say what to look for.
type Options struct {
	// Parameter is the one that laws are about; empty is every numeric one with
	// enough values.
	Parameter string
	// Order is the parameter that a series runs along; "given" is the order of
	// the runs; empty looks for no changes.
	Order string
	// Against are runs of a baseline, one for each run: the series is the
	// ratio to it.
	Against []*Row
}

// InOrder is the order of the runs as they were given.
const InOrder = "given"

// KeyOf names the group that a metric belongs to, such as a function.
func (r *Row) KeyOf(metric string) map[string]any { return r.keys[metric] }

// Set gives a run a metric; key is nil for one of the whole run.
func (r *Row) Set(metric string, value float64, key map[string]any) {
	if r.Metrics == nil {
		r.Metrics, r.keys = map[string]*float64{}, map[string]map[string]any{}
	}
	r.Metrics[metric] = &value
	if key != nil {
		r.keys[metric] = key
	}
}

// Look answers every question about the runs.
func Look(rows []*Row, opt Options) (*Study, error) {
	s := &Study{Runs: rows, Order: opt.Order, Parameter: opt.Parameter, Against: opt.Against, Laws: []LawRow{}, Changes: []ChangeRow{}, Notes: []string{}}
	for _, r := range rows {
		r.Odd = []string{}
	}
	metrics := metricsOf(rows)
	if err := s.laws(metrics, opt.Parameter); err != nil {
		return nil, err
	}
	if opt.Order == "" {
		return s, nil
	}
	if err := s.changes(metrics, opt); err != nil {
		return nil, err
	}
	return s, nil
}

func metricsOf(rows []*Row) []string {
	all := map[string]bool{}
	for _, r := range rows {
		for name := range r.Metrics {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// numbers are the parameters that are numbers in every run.
func numbers(rows []*Row) []string {
	counts := map[string]int{}
	for _, r := range rows {
		for name, v := range r.Parameters {
			if _, ok := v.(float64); ok {
				counts[name]++
			}
		}
	}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n < len(rows) })
	return slices.Sorted(maps.Keys(counts))
}

// laws fits every metric against every parameter, the other parameters fixed.
func (s *Study) laws(metrics []string, wanted string) error {
	all := numbers(s.Runs)
	if wanted != "" && !slices.Contains(all, wanted) {
		return fmt.Errorf("%q is no number in every run; numbers are %v", wanted, all)
	}
	for _, parameter := range all {
		if wanted != "" && parameter != wanted {
			continue
		}
		for _, part := range fixed(s.Runs, all, parameter) {
			for _, metric := range metrics {
				s.law(metric, parameter, part)
			}
		}
	}
	return nil
}

// part is runs that differ in one parameter alone.
type part struct {
	rows  []*Row
	fixed map[string]any
}

// fixed groups runs by their other parameters and keeps groups with enough values
// of this one.
func fixed(rows []*Row, all []string, parameter string) []part {
	var order []string
	parts := map[string]*part{}
	others := slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		return name == parameter || !varies(rows, name) || sameParameter(rows, name, parameter)
	})
	for _, r := range rows {
		at := map[string]any{}
		for _, name := range others {
			at[name] = r.Parameters[name]
		}
		key := fmt.Sprint(at) // maps print in order of their keys
		if parts[key] == nil {
			parts[key] = &part{fixed: at}
			order = append(order, key)
		}
		parts[key].rows = append(parts[key].rows, r)
	}
	var out []part
	for _, key := range order {
		if p := parts[key]; distinctValues(p.rows, parameter) >= leastValues {
			out = append(out, *p)
		}
	}
	return out
}

func varies(rows []*Row, parameter string) bool { return distinctValues(rows, parameter) > 1 }

// sameParameter says whether two parameters are one under two names: every value
// of one comes with one value of the other, as the word of a command and what a
// pattern took from it. Held fixed, it would leave nothing to vary.
func sameParameter(rows []*Row, a, b string) bool {
	to, from := map[any]any{}, map[any]any{}
	for _, r := range rows {
		x, y := r.Parameters[a], r.Parameters[b]
		if v, seen := to[x]; seen && v != y {
			return false
		}
		if v, seen := from[y]; seen && v != x {
			return false
		}
		to[x], from[y] = y, x
	}
	return true
}

func distinctValues(rows []*Row, parameter string) int {
	seen := map[any]bool{}
	for _, r := range rows {
		seen[r.Parameters[parameter]] = true
	}
	return len(seen)
}

func (s *Study) law(metric, parameter string, p part) {
	var n, y []float64
	var of []*Row
	for _, r := range p.rows {
		if v := r.Metrics[metric]; v != nil && *v > 0 {
			n, y, of = append(n, r.Parameters[parameter].(float64)), append(y, *v), append(of, r)
		}
	}
	g, ok := Grow(n, y)
	if !ok {
		return
	}
	s.Laws = append(s.Laws, LawRow{Metric: metric, Key: of[0].KeyOf(metric), Parameter: parameter, Fixed: p.fixed, Growth: *g})
	rest := make([]float64, len(n))
	for i := range n {
		rest[i] = math.Log(y[i] / max(g.At(n[i]), 1e-300))
	}
	for _, i := range Odd(rest) {
		of[i].addOdd(metric)
	}
}

func (r *Row) addOdd(metric string) {
	if !slices.Contains(r.Odd, metric) {
		r.Odd = append(r.Odd, metric)
	}
}

// changes looks for steps along the order, false discoveries controlled over
// metrics at their first split.
func (s *Study) changes(metrics []string, opt Options) error {
	for _, r := range s.Runs {
		if opt.Order != InOrder && r.Parameters[opt.Order] == nil {
			return fmt.Errorf("--order %s: %s has no such parameter", opt.Order, r.Name)
		}
	}
	rows := Ordered(s.Runs, opt.Order)
	if opt.Against != nil && len(opt.Against) != len(rows) {
		return fmt.Errorf("%d runs of a baseline for %d runs; give one beside each", len(opt.Against), len(rows))
	}
	if opt.Against != nil {
		s.Notes = append(s.Notes, "changes are of the ratio to the run of a baseline beside each")
	}
	baseline := map[*Row]*Row{}
	for i := range opt.Against {
		baseline[s.Runs[i]] = opt.Against[i]
	}
	type found struct {
		metric string
		x      []float64
		of     []*Row
		steps  []Step
	}
	var all []found
	var p []float64
	for _, metric := range metrics {
		x, of := series(rows, metric, baseline)
		if len(x) < 2*leastPart || len(x) < len(rows)/2 {
			continue
		}
		steps := Steps(x)
		all = append(all, found{metric, x, of, steps})
		first := 1.0
		for _, step := range steps {
			first = min(first, step.P)
		}
		p = append(p, first)
	}
	for i, q := range stat.Discoveries(p) {
		f := &all[i]
		if q > .05 {
			f.steps = nil
		}
		drift := Drifts(f.x, f.steps)
		for _, k := range Odd(residuals(f.x, f.steps)) {
			f.of[k].addOdd(f.metric)
		}
		for _, step := range f.steps {
			s.Changes = append(s.Changes, ChangeRow{Metric: f.metric, Key: f.of[0].KeyOf(f.metric), At: step.At, Before: f.of[step.At-1].Name, After: f.of[step.At].Name,
				Step: math.Expm1(step.Size), Low: math.Expm1(step.Low), High: math.Expm1(step.High), P: step.P, Drift: drift})
		}
	}
	if slices.ContainsFunc(s.Changes, func(c ChangeRow) bool { return c.Drift }) {
		s.Notes = append(s.Notes, "the machine drifts: neighbouring runs are alike beyond the steps found; run a baseline beside each, and give it with --against")
	}
	return nil
}

// Ordered are runs along a parameter; without one, or for InOrder, as they are.
func Ordered(runs []*Row, order string) []*Row {
	rows := slices.Clone(runs)
	if order != InOrder && order != "" {
		slices.SortStableFunc(rows, func(a, b *Row) int { return compareValues(a.Parameters[order], b.Parameters[order]) })
	}
	return rows
}

// series is the logarithm of a metric along the runs, or of its ratio to the
// baseline.
func series(rows []*Row, metric string, baseline map[*Row]*Row) (x []float64, of []*Row) {
	for _, r := range rows {
		v := r.Metrics[metric]
		if v == nil || !(*v > 0) {
			continue
		}
		y := math.Log(*v)
		if b := baseline[r]; b != nil {
			base := b.Metrics[metric]
			if base == nil || !(*base > 0) {
				continue
			}
			y -= math.Log(*base)
		}
		if y-y != 0 { // an endless value, or a ratio of two
			continue
		}
		x, of = append(x, y), append(of, r)
	}
	return x, of
}

// compareValues orders numbers before texts.
func compareValues(a, b any) int {
	x, xok := a.(float64)
	y, yok := b.(float64)
	switch {
	case xok && yok:
		return cmp.Compare(x, y)
	case xok:
		return -1
	case yok:
		return 1
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}
