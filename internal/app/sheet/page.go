package sheet

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"io"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/guide"
)

//go:embed sheet.css
var style string

// markup is text that is HTML already. Everything else is escaped.
type markup string

// page is the text of a sheet as it grows. It is written without text/template:
// a program that holds it keeps every exported method of every type, because a
// template may ask for any by name, and ours was 4.8 MB larger for it.
type page struct{ bytes.Buffer }

// put writes HTML with values in it. Whatever is text is escaped, so that no name
// in the data becomes part of the page.
func (p *page) put(format string, values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case markup:
			values[i] = string(v)
		case string:
			values[i] = html.EscapeString(term.Plain(v))
		}
	}
	fmt.Fprintf(p, format, values...)
}

// Write prints the sheet as HTML.
func (s *Sheet) Write(w io.Writer) error {
	var p page
	p.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s · Isobath</title>
<style>
%s</style>
</head>
<body>
`, s.Title, markup(style))
	p.head(s)
	p.insights(s.Insights)
	for i := range s.Rankings {
		p.ranking(&s.Rankings[i])
	}
	p.excerpts(s.Excerpts)
	if s.Latency != nil {
		p.latency(s.Latency)
	}
	p.levels(s.Levels)
	p.machine(s)
	p.notes(s.Warnings)
	p.columns(s.Columns)
	p.put("</body>\n</html>\n")
	_, err := p.WriteTo(w)
	return err
}

func (p *page) head(s *Sheet) {
	p.put("<h1>%s</h1>\n<p class=\"muted\">%s of %s", s.Title, s.Samples, s.Of)
	if s.Where != "" {
		p.put(" where <code>%s</code>", s.Where)
	}
	p.put("</p>\n")
	p.facts(s.Facts)
}

func (p *page) facts(facts []Fact) {
	p.put("<dl>")
	for _, f := range facts {
		p.put("<dt>%s</dt><dd>%s</dd>", f.Name, f.Value)
	}
	p.put("</dl>\n")
}

func (p *page) insights(found []guide.Insight) {
	p.put("\n<h2>Worth a look</h2>\n")
	if len(found) == 0 {
		p.put("<p>Nothing stands out from what chance would give.</p>\n")
		return
	}
	p.put("<ol>")
	for i := range found {
		p.put("<li>%s", found[i].Text)
		if where := found[i].Where; where != "" {
			p.put("<br><code class=\"muted\">%s</code>", where)
		}
		p.put("</li>")
	}
	p.put("</ol>\n")
}

func (p *page) ranking(r *Ranking) {
	p.put("\n<h2>%s</h2>\n<table><thead><tr><th class=\"n\">share</th><th class=\"n\">samples</th>", r.Title)
	if r.Unit != "" {
		p.put(`<th class="n">%s</th><th class="n">mean</th>`, r.Unit)
	}
	p.put("<th></th></tr></thead><tbody>\n")
	for _, row := range r.Rows {
		p.put(`<tr><td class="n">%s</td><td class="n">%s</td>`, row.Share, row.Samples)
		if r.Unit != "" {
			p.put(`<td class="n">%s</td><td class="n">%s</td>`, orDash(row.Sum), orDash(row.Mean))
		}
		p.bar(row.Width, row.Label)
	}
	p.put("</tbody></table>")
	if r.More > 0 {
		p.put("<p class=\"muted\">… %d more</p>", r.More)
	}
	p.put("\n")
}

// bar is the last cell of a row: a name on a bar of its width in percent.
func (p *page) bar(width float64, label string) {
	p.put("<td class=\"label bar\" style=\"--w:%v%%\">%s</td></tr>\n", width, label)
}

func orDash(value string) string {
	if value == "" {
		return "–"
	}
	return value
}

func (p *page) excerpts(excerpts []Excerpt) {
	if len(excerpts) > 0 {
		p.put("\n<h2>Source</h2>\n")
	}
	for _, e := range excerpts {
		p.put("<p><code>%s</code> <span class=\"muted\">%s</span></p>\n<pre>", e.Place, e.Share)
		for _, l := range e.Lines {
			p.put("<span")
			if l.Share != "" {
				p.put(` class="hot" style="--h:%v%%"`, barWidth(l.Heat, 1))
			}
			p.put("><i>%5d %6s </i>%s</span>", l.Number, l.Share, l.Text)
		}
		p.put("</pre>\n")
	}
}

func (p *page) latency(l *Latency) {
	p.put("\n<h2>Latency <span class=\"muted\">%s, %s</span></h2>\n", l.Unit, l.About)
	p.facts(l.Facts)
	p.put(`<div class="chart" role="img" aria-label="histogram of latencies in powers of two">`)
	for _, b := range l.Bins {
		p.put(`<div style="height:%v%%" title="%s to %s: %s"></div>`, b.Height, b.Lo, b.Hi, b.Samples)
	}
	p.put("</div>\n<div class=\"ends\" aria-hidden=\"true\">")
	for _, b := range l.Bins {
		p.put("<span>%s</span>", b.Lo)
	}
	p.put("</div>\n")
}

func (p *page) levels(levels []Part) {
	if len(levels) == 0 {
		return
	}
	p.put("\n<h2>Memory levels</h2>\n<table><tbody>\n")
	for _, l := range levels {
		p.put(`<tr><td class="n">%s</td><td class="n">%s</td>`, l.Share, l.Samples)
		p.bar(l.Width, l.Name)
	}
	p.put("</tbody></table>\n")
}

func (p *page) machine(s *Sheet) {
	p.put("\n<h2>Machine</h2>\n")
	if s.MachineAbsent != "" {
		p.put("<p class=\"muted\">%s</p>\n", s.MachineAbsent)
		return
	}
	p.put("<figure class=\"light\">%s</figure><figure class=\"dark\">%s</figure>\n", s.light, s.dark)
}

func (p *page) notes(warnings []string) {
	if len(warnings) == 0 {
		return
	}
	p.put("\n<h2>Notes</h2><ul>")
	for _, w := range warnings {
		p.put("<li>%s</li>", w)
	}
	p.put("</ul>\n")
}

func (p *page) columns(columns []Column) {
	p.put("\n<h2>Where the numbers come from</h2>\n<table><thead><tr><th>column</th><th>kind</th><th>unit</th><th>origin</th></tr></thead><tbody>\n")
	for _, c := range columns {
		p.put("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", c.Name, c.Kind, c.Unit, c.Provenance)
	}
	p.put("</tbody></table>\n")
}
