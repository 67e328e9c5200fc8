package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// Bounds of one request: far above what a page of views asks, low enough that a
// broken client cannot exhaust the machine.
const (
	maxAxes   = 256
	maxBins   = 4096
	maxGroups = 64
	maxRows   = 10_000
)

func (s routes) ask(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a Ask
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	defer s.Turns.First()()
	head, body, err := run.Answer(r.Context(), &a)
	if err != nil {
		return err
	}
	return s.AnswerColumns(w, r, head, body)
}

// Answer answers an Ask: a header, and the columns it speaks of.
func (r *Samples) Answer(ctx context.Context, a *Ask) (*Answer, *frame.Body, error) {
	q, err := r.request(a)
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	answer, err := r.Engine.Answer(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	head := &Answer{Where: textOf(q.Where), Filter: textOf(q.Filter), Took: frame.Since(start)}
	return head, encodeAnswer(q, answer, head, r.fold), nil
}

// prepare lets the engine get ready for a drag. It answers when that is done:
// a page that gives up the drag takes the request back.
func (s routes) prepare(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var p Prepare
	if err := frame.ReadJSON(w, r, &p); err != nil {
		return err
	}
	q, err := run.request(&p.Ask)
	if err != nil {
		return err
	}
	if err := run.check(&query.Request{Axes: []query.Axis{p.Axis}}); err != nil {
		return err
	}
	if e, ok := run.Engine.(query.Preparer); ok {
		if err := e.Prepare(r.Context(), q, p.Axis); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// rows streams the selected rows. Its size does not matter: nothing is kept.
func (s routes) rows(w http.ResponseWriter, r *http.Request, run *Samples) error {
	given := r.URL.Query()
	filter, where, err := run.parse(given.Get("filter"), given.Get("where"))
	if err != nil {
		return err
	}
	t, err := subset(run.Data.Table, given.Get("columns"))
	if err != nil {
		return err
	}
	write, err := run.writeRows(r.Context(), t, query.Both(filter, where))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", run.Run.ID+".csv"))
	h.Set("Cache-Control", "no-store")
	var out io.Writer = w
	if s.Compress && frame.AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is a constant of the package
		defer z.Close()
		out = z
	}
	// The header is sent by now; all that is left to do about an error is to
	// end the stream short, which the client notices.
	if err := write(contextWriter{r.Context(), out}); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// writeRows finds the selected rows of a table, whose columns are some of the run's, and
// returns what writes them. Rows that are elsewhere come in pieces while they are
// written; that they can come at all is found out before.
func (r *Samples) writeRows(ctx context.Context, t *table.Table, where query.Expr) (func(io.Writer) error, error) {
	distant, ok := r.Engine.(query.Distant)
	if !ok || !r.Data.Table.Elsewhere() {
		selected, err := r.Engine.Select(ctx, where)
		return func(w io.Writer) error { return t.WriteCSV(w, selected) }, err
	}
	if _, err := distant.Answer(ctx, &query.Request{Where: where}); err != nil {
		return nil, err
	}
	var columns []string
	for _, c := range t.Columns() {
		columns = append(columns, c.Name)
	}
	return func(w io.Writer) error {
		if err := t.WriteCSVHeader(w); err != nil {
			return err
		}
		return distant.InRows(ctx, where, columns, func(rows *table.Table) error { return rows.WriteCSVRows(w, nil) })
	}, nil
}

// contextWriter fails once the request is over.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}

func subset(t *table.Table, names string) (*table.Table, error) {
	if names == "" {
		return t, nil
	}
	var chosen []*table.Column
	for name := range strings.SplitSeq(names, ",") {
		c := t.Column(name)
		if c == nil {
			return nil, frame.BadRequest("%v", query.UnknownColumn(t, name))
		}
		chosen = append(chosen, c)
	}
	out, err := table.New(t.Name, chosen)
	if err != nil {
		return nil, frame.BadRequest("%v", err)
	}
	return out, nil
}

// request checks an Ask and puts it into the engine's terms.
func (r *Samples) request(a *Ask) (*query.Request, error) {
	filter, where, err := r.parse(a.Filter, a.Where)
	if err != nil {
		return nil, err
	}
	hover, err := parseField("hover", a.Hover, r.Data.Table)
	if err != nil {
		return nil, err
	}
	q := &query.Request{Filter: filter, Where: where, Hover: hover, Axes: a.Axes, Groups: a.Groups, Stats: a.Stats, Rows: a.Rows}
	q.Places = a.Places && r.Places != nil
	for _, p := range a.Pairs {
		q.Pairs = append(q.Pairs, query.Pair{Left: p[0], Right: p[1]})
	}
	return q, r.check(q)
}

// parse reads a filter and a selection.
func (r *Samples) parse(filter, where string) (f, w query.Expr, err error) {
	if f, err = parseField("filter", filter, r.Data.Table); err != nil {
		return nil, nil, err
	}
	if w, err = parseField("where", where, r.Data.Table); err != nil {
		return nil, nil, err
	}
	return f, w, nil
}

// parseField reads a selection; an error says in which text and where.
func parseField(field, text string, t *table.Table) (query.Expr, error) {
	e, err := query.Parse(text, t)
	var syntax *query.SyntaxError
	if errors.As(err, &syntax) {
		at := min(syntax.Position, len(text))
		word := len(text[at:]) - len(strings.TrimLeft(text[at:], wordLetters))
		return nil, frame.Refused(http.StatusBadRequest, frame.Failure{
			Error: syntax.Problem, Field: field,
			Position: utf8.RuneCountInString(text[:at]), Length: max(word, 1),
		})
	}
	return e, err
}

const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// check refuses questions no engine can answer, as the client's mistake.
func (r *Samples) check(q *query.Request) error {
	if len(q.Axes) > maxAxes || len(q.Pairs) > maxAxes || len(q.Groups) > maxGroups || len(q.Stats) > maxGroups {
		return frame.BadRequest("too many questions: at most %d axes and pairs, %d groups and statistics", maxAxes, maxGroups)
	}
	var names []string
	for _, a := range q.Axes {
		if a.Bins < 0 || a.Bins > maxBins {
			return frame.BadRequest("axis %s: %d bins; want 2 to %d", a.Column, a.Bins, maxBins)
		}
		names = append(names, a.Column)
	}
	for _, p := range q.Pairs {
		if !p.Fits(len(q.Axes)) {
			return frame.BadRequest("pair %d, %d: there are %d axes", p.Left, p.Right, len(q.Axes))
		}
	}
	for _, g := range q.Groups {
		if len(g.By) == 0 {
			return frame.BadRequest("a group by no column")
		}
		names = append(append(names, g.By...), present(g.Sum, g.Distinct)...)
	}
	for _, s := range q.Stats {
		names = append(names, s.Column)
	}
	if p := q.Rows; p != nil {
		if p.Offset < 0 || p.Count < 0 || p.Count > maxRows {
			return frame.BadRequest("rows %d from %d: want at most %d", p.Count, p.Offset, maxRows)
		}
		if len(p.Columns) == 0 {
			p.Columns = nil
		}
		names = append(append(names, p.Columns...), present(p.Sort)...)
	}
	for _, name := range names {
		if r.Data.Table.Column(name) == nil {
			return frame.BadRequest("%v", query.UnknownColumn(r.Data.Table, name))
		}
	}
	return nil
}

func present(names ...string) (out []string) {
	for _, n := range names {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}

func textOf(e query.Expr) string {
	if e == nil {
		return ""
	}
	return e.String()
}
