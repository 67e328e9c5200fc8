package guide

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// leaveOutIdle takes the samples of threads that wait, and those in the kernel, out
// of the selection: they are run time, but no memory traffic of the program.
func (l *insightSearch) leaveOutIdle() {
	t := l.data.Table
	wait, kernel := l.category(samples.Waiting), l.category(samples.Kernel)
	if wait == nil && kernel == nil {
		return
	}
	all, busy := table.NewBits(t.Rows()), table.NewBits(t.Rows())
	for row := range l.rows {
		all.Set(row)
		switch {
		case wait != nil && wait.Has(row):
			l.waits++
		case kernel != nil && kernel.Has(row):
			l.kernel++
		default:
			busy.Set(row)
		}
	}
	if l.leftOut() > 0 {
		l.all, l.selected = all, busy
	}
}

// leftOut is how many samples are no memory traffic of the program.
func (l *insightSearch) leftOut() int { return l.waits + l.kernel }

// busy is an order without the samples that are left out.
func (l *insightSearch) busy(o *ordering) *ordering {
	if l.leftOut() == 0 {
		return o
	}
	rows := slices.DeleteFunc(slices.Clone(o.rows), func(row uint32) bool { return !l.selected.Get(int(row)) })
	return &ordering{column: o.column, rows: rows}
}

// withWaiting finds over all samples: a core whose thread waits, or is in the kernel,
// is not idle.
func withWaiting(find func(*insightSearch) ([]Insight, error)) func(*insightSearch) ([]Insight, error) {
	return func(l *insightSearch) ([]Insight, error) {
		if l.leftOut() == 0 {
			return find(l)
		}
		return find(l.withIdle())
	}
}

// withIdle is a search over all samples, those that are left out too.
func (l *insightSearch) withIdle() *insightSearch {
	both := *l
	both.selected, both.samples, both.idleToo, both.grouped, both.kept = l.all, l.samples+l.leftOut(), true, nil, nil
	return &both
}

// idleColumns are those whose samples are left out, as far as the data has them.
func (l *insightSearch) idleColumns() []string {
	var names []string
	for _, name := range []string{samples.Waiting, samples.Kernel} {
		if l.category(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// waiting tells how much of the run time is spent waiting, for what and where.
func waiting(l *insightSearch) ([]Insight, error) {
	if l.waits < limit.samples {
		return nil, nil
	}
	both, err := l.withIdle().over(alike{columns: []string{samples.Waiting, "waiting_in"}})
	if err != nil {
		return nil, err
	}
	kinds, places := map[string]int{}, map[string]int{}
	in := both.data.Table.Column("waiting_in")
	column := both.data.Table.Column(samples.Waiting)
	for row := range both.rows {
		if !column.Has(row) {
			continue
		}
		kinds[column.Text(row)] += both.samplesOf(row)
		if in != nil && in.Has(row) {
			places[in.Text(row)] += both.samplesOf(row)
		}
	}
	total := float64(l.leftOut() + l.samples)
	text := fmt.Sprintf("%s of the samples are of threads that wait: %s", shareText(float64(l.waits)/total), mostOf(kinds, total, "for "))
	if len(places) > 0 {
		text += "; the program waits most in " + mostOf(places, total, "")
	}
	text += ". The other findings leave them out"
	share := float64(l.waits) / total
	return []Insight{{Text: text, Stake: share, Surprise: share, View: OffendersView, Of: inSamples, subject: "threads that wait",
		Where: l.within(query.Missing{Column: samples.Waiting, Not: true})}}, nil
}

// inKernel tells how much of the run time the kernel takes, and why it runs.
func inKernel(l *insightSearch) ([]Insight, error) {
	if l.kernel < limit.samples {
		return nil, nil
	}
	both, err := l.withIdle().over(alike{columns: l.idleColumns()})
	if err != nil {
		return nil, err
	}
	why, wait := both.category(samples.Kernel), both.category(samples.Waiting)
	ways := map[string]int{}
	for row := range both.rows {
		if why.Has(row) && (wait == nil || !wait.Has(row)) {
			ways[why.Text(row)] += both.samplesOf(row)
		}
	}
	total := float64(l.leftOut() + l.samples)
	share := float64(l.kernel) / total
	text := fmt.Sprintf("%s of the samples are in the kernel: %s. The other findings leave them out", shareText(share), mostOf(ways, total, ""))
	return []Insight{{Text: text, Stake: share, Surprise: share, View: OffendersView, Of: inSamples, subject: "the kernel",
		Where: l.within(query.Missing{Column: samples.Kernel, Not: true})}}, nil
}

// mostOf lists the three largest counts with their shares.
func mostOf(counts map[string]int, total float64, before string) string {
	var words []string
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for _, name := range names[:min(len(names), 3)] {
		words = append(words, fmt.Sprintf("%s%s (%s)", before, name, shareText(float64(counts[name])/total)))
	}
	return strings.Join(words, ", ")
}
