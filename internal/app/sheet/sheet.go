// Package sheet writes what there is to say about a run of memory samples on one
// sheet: an HTML file without scripts or links, to attach to a mail or an issue
// and to read without this program. Its numbers are those of the verbs.
package sheet

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw/show"
	"github.com/isobath/isobath/internal/memory/guide"
	"github.com/isobath/isobath/internal/memory/spread"
)

// How much of each kind is shown. A sheet is read from top to bottom.
const (
	mostRows     = 12
	mostInsights = 8
	excerpts     = 3 // source lines shown with their surroundings
	around       = 4 // lines above and below each
)

// Options choose what is on the sheet.
type Options struct {
	Title string
	Where query.Expr // nil: all samples
	// Machine is the hardware with the samples on it, nil if it is not known.
	Machine *show.View
}

// Sheet is the content, as the page prints it.
type Sheet struct {
	Title, Where  string
	Samples, Of   string
	Facts         []Fact
	Warnings      []string
	Insights      []guide.Insight
	Rankings      []Ranking
	Levels        []Part
	Latency       *Latency
	Excerpts      []Excerpt
	Columns       []Column
	MachineAbsent string
	light, dark   markup // the machine, drawn for each theme
}

// Fact is a named value.
type Fact struct{ Name, Value string }

// Ranking is the groups of one column that cost most.
type Ranking struct {
	Title, Unit string
	Rows        []Row
	More        int
}

// Row is one group. Sum and Mean are empty without latency.
type Row struct {
	Label, Share, Samples, Sum, Mean string
	Width                            float64 // of its bar, in percent
}

// Part is a named part of a whole.
type Part struct {
	Name, Share, Samples string
	Width                float64
}

// Latency is a distribution in powers of two.
type Latency struct {
	Facts []Fact
	Bins  []Bin
	Unit  string
	About string // provenance
}

// Bin is one bar: from below Lo up to Hi.
type Bin struct {
	Lo, Hi, Samples string
	Height          float64
}

// Excerpt is a costly line and those around it.
type Excerpt struct {
	Place, Share string
	Lines        []Line
}

// Line is one line of source.
type Line struct {
	Number  int
	Text    string
	Share   string
	Heat    float64 // 0 to 1, of the costliest line of the excerpt: how strong its background is
	Hottest bool
}

// Column says where the values of a column come from.
type Column struct{ Name, Kind, Unit, Provenance string }

// Make collects what the sheet says.
func Make(ctx context.Context, set *dataset.Set, o Options) (*Sheet, error) {
	s := &Sheet{Title: o.Title, Warnings: set.Run.Warnings}
	rows, err := set.Engine.Select(ctx, o.Where)
	if err != nil {
		return nil, err
	}
	s.Samples, s.Of = term.Thousands(rows.Count()), term.Counted(set.Table.Rows(), "sample")
	if o.Where != nil {
		s.Where = o.Where.String()
	}
	s.facts(set)
	found, err := guide.NewWithin(budget.Of(ctx), set.Data, set.Places, set.Engine).Insights(ctx, o.Where, nil)
	if err != nil {
		return nil, err
	}
	s.Insights = found[:min(len(found), mostInsights)]
	if err := s.rank(ctx, set, o.Where); err != nil {
		return nil, err
	}
	if err := s.distribution(ctx, set.Table, rows); err != nil {
		return nil, err
	}
	for _, c := range set.Table.Columns() {
		s.Columns = append(s.Columns, Column{c.Name, c.Kind.String(), c.Unit, c.Provenance.String()})
	}
	return s, s.draw(o.Machine)
}

func (s *Sheet) facts(set *dataset.Set) {
	add := func(name, value string) {
		if value != "" {
			s.Facts = append(s.Facts, Fact{name, value})
		}
	}
	m := &set.Run.Manifest
	add("command", strings.Join(m.Origin.Command, " "))
	add("machine", m.Origin.Host)
	add("recorded", m.Origin.Time)
	add("format", m.Format)
	if r := m.Recording; r != nil {
		add("sampling", fmt.Sprintf("%s; one sample stands for %s; %d lost", r.Mode, r.Weight, r.Lost))
	}
}

// ranked are the rankings of the sheet, where the data has the columns.
var ranked = []struct {
	title string
	by    []string
}{
	{"Source lines", []string{"file", "line"}},
	{"Functions", []string{"function"}},
	{"Data objects", []string{"symbol"}},
}

func (s *Sheet) rank(ctx context.Context, set *dataset.Set, where query.Expr) error {
	latency := samples.UsableLatency(set.Table)
	for _, r := range ranked {
		if missing(set.Table, r.by) {
			continue
		}
		g := query.Group{By: r.by, Order: query.ByCount, Top: mostRows}
		if latency != nil {
			g.Sum, g.Order = samples.Latency, query.BySum
		}
		answer, err := set.Engine.Answer(ctx, &query.Request{Where: where, Groups: []query.Group{g}})
		if err != nil {
			return err
		}
		whole := float64(answer.Counts[query.Selected])
		if latency != nil {
			stats, err := set.Engine.Answer(ctx, &query.Request{Where: where, Stats: []query.Stat{{Column: samples.Latency}}})
			if err != nil {
				return err
			}
			whole = stats.Stats[0].Sums[query.Selected]
		}
		ranking := ranking(r.title, latency, whole, &answer.Groups[0])
		if len(ranking.Rows) == 0 {
			continue
		}
		s.Rankings = append(s.Rankings, ranking)
		if len(r.by) == 2 {
			s.excerpts(set, answer.Groups[0].Rows, latency != nil, whole)
		}
	}
	return nil
}

func missing(t *table.Table, names []string) bool {
	for _, name := range names {
		if samples.Usable(t, name) == nil {
			return true
		}
	}
	return false
}

// cost is what a group has of the whole: latency, or samples without it.
func cost(row *query.GroupRow, latency bool) float64 {
	if latency {
		return row.Sums[query.Selected]
	}
	return float64(row.Counts[query.Selected])
}

func ranking(title string, latency *table.Column, whole float64, groups *query.Groups) Ranking {
	r := Ranking{Title: title, More: groups.Total}
	about, largest := "", 0.0
	if latency != nil {
		r.Unit = samples.LatencyWord(samples.UnitOf(latency))
		about = samples.About(latency.Provenance)
	}
	for i := range groups.Rows {
		row := &groups.Rows[i]
		if row.Counts[query.Selected] == 0 || whole <= 0 {
			continue
		}
		c := cost(row, latency != nil)
		largest = max(largest, c)
		out := Row{Label: label(row.Keys), Share: term.Percent(c / whole), Samples: term.Thousands(row.Counts[query.Selected]), Width: barWidth(c, largest)}
		if n := row.Valued[query.Selected]; latency != nil && n > 0 {
			out.Sum, out.Mean = about+term.Short(c), about+fmt.Sprintf("%.1f", c/float64(n))
		}
		r.Rows = append(r.Rows, out)
	}
	r.More -= len(r.Rows)
	return r
}

// label joins the parts of a key and names what has no value for what it is.
func label(parts []string) string {
	if strings.Join(parts, "") == "" {
		return "(not recorded)"
	}
	return strings.Join(parts, ":")
}

// barWidth is a part in percent with a tenth, for widths.
func barWidth(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(int(1000*part/whole)) / 10
}

func (s *Sheet) distribution(ctx context.Context, t *table.Table, rows table.Bits) error {
	all, err := spread.By(ctx, t, rows, nil, 1)
	if err != nil || len(all) == 0 {
		return err
	}
	for _, l := range all[0].Levels {
		name := l.Name
		if name == "" {
			name = "(not recorded)"
		}
		s.Levels = append(s.Levels, Part{name, term.Percent(float64(l.Samples) / float64(all[0].Samples)), term.Thousands(l.Samples), barWidth(float64(l.Samples), float64(all[0].Samples))})
	}
	d := all[0].Latency
	if d == nil {
		return nil
	}
	c := t.Column(samples.Latency)
	s.Latency = &Latency{Unit: cmp.Or(samples.UnitOf(c), "of unknown unit"), About: c.Provenance.String()}
	for _, f := range []struct {
		name  string
		value float64
	}{{"sum", d.Sum}, {"mean", d.Sum / float64(d.Samples)}, {"median", d.P50}, {"p90", d.P90}, {"p99", d.P99}, {"max", d.Max}} {
		s.Latency.Facts = append(s.Latency.Facts, Fact{f.name, term.Short(f.value)})
	}
	largest := 0
	for _, n := range d.Bins {
		largest = max(largest, n)
	}
	for k, n := range d.Bins {
		lo := 0.0
		if k > 0 {
			lo = float64(uint64(1) << (k - 1))
		}
		s.Latency.Bins = append(s.Latency.Bins, Bin{term.Short(lo), term.Short(float64(uint64(1) << k)), term.Counted(n, "sample"), barWidth(float64(n), float64(largest))})
	}
	return nil
}

func (s *Sheet) draw(machine *show.View) error {
	if machine == nil {
		s.MachineAbsent = "The samples are not placed on a hardware topology."
		return nil
	}
	for _, d := range []struct {
		theme *show.Theme
		into  *markup
	}{{show.Light, &s.light}, {show.Dark, &s.dark}} {
		var b bytes.Buffer
		if err := machine.Sunburst(canvas.NewSVG(&b), &show.Drawing{Theme: d.theme, Side: 520}); err != nil {
			return err
		}
		// Two drawings on one page: what they refer to by name must differ.
		text := strings.NewReplacer(`id="`, `id="`+d.theme.Name+`-`, `href="#`, `href="#`+d.theme.Name+`-`, `url(#`, `url(#`+d.theme.Name+`-`).Replace(b.String())
		*d.into = markup(text) // our own drawing: names in it are escaped
	}
	return nil
}
