package server

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

func (s *Server) askRoutes(mux *http.ServeMux) {
	s.handleRun(mux, "POST runs/{id}/ask", s.ask)
	s.handleRun(mux, "POST runs/{id}/prepare", s.prepare)
	s.handleRun(mux, "GET runs/{id}/rows.csv", s.rows)
}

func (s *Server) ask(w http.ResponseWriter, r *http.Request, run *Run) error {
	var a Ask
	if err := readJSON(w, r, &a); err != nil {
		return err
	}
	q, err := run.request(&a)
	if err != nil {
		return err
	}
	start := time.Now()
	answer, err := run.Engine.Answer(r.Context(), q)
	if err != nil {
		return err
	}
	head := Answer{Where: textOf(q.Where), Filter: textOf(q.Filter), Took: float64(time.Since(start).Microseconds()) / 1000}
	body, err := encodeAnswer(q, answer, head, run.fold)
	if err != nil {
		return err
	}
	s.answerBytes(w, r, http.StatusOK, "application/vnd.isobath", body)
	return nil
}

// prepare lets the engine get ready for a drag. It answers when that is done:
// a page that gives up the drag takes the request back.
func (s *Server) prepare(w http.ResponseWriter, r *http.Request, run *Run) error {
	var p Prepare
	if err := readJSON(w, r, &p); err != nil {
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
func (s *Server) rows(w http.ResponseWriter, r *http.Request, run *Run) error {
	given := r.URL.Query()
	filter, where, err := run.parse(given.Get("filter"), given.Get("where"))
	if err != nil {
		return err
	}
	t, err := subset(run.Data.Table, given.Get("columns"))
	if err != nil {
		return err
	}
	selected, err := run.Engine.Select(r.Context(), query.Both(filter, where))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", run.ID+".csv"))
	h.Set("Cache-Control", "no-store")
	var out io.Writer = w
	if s.opt.Compress && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is a constant of the package
		defer z.Close()
		out = z
	}
	// The header is sent by now; all that is left to do about an error is to
	// end the stream short, which the client notices.
	if err := t.WriteCSV(contextWriter{r.Context(), out}, selected); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
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
			return nil, badRequest("%v", query.UnknownColumn(t, name))
		}
		chosen = append(chosen, c)
	}
	out, err := table.New(t.Name, chosen)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return out, nil
}

// request checks an Ask and puts it into the engine's terms.
func (r *Run) request(a *Ask) (*query.Request, error) {
	filter, where, err := r.parse(a.Filter, a.Where)
	if err != nil {
		return nil, err
	}
	hover, err := parseField("hover", a.Hover, r.Data.Table)
	if err == nil {
		err = r.keepCells(hover)
	}
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

// parse reads a filter and a selection, and makes sure that there is something
// to select from.
func (r *Run) parse(filter, where string) (f, w query.Expr, err error) {
	if r.Engine == nil {
		return nil, nil, badRequest("%s holds a %s, which has no samples to ask about", r.Name, r.Kind)
	}
	if f, err = parseField("filter", filter, r.Data.Table); err != nil {
		return nil, nil, err
	}
	if w, err = parseField("where", where, r.Data.Table); err != nil {
		return nil, nil, err
	}
	return f, w, errors.Join(r.keepCells(f), r.keepCells(w))
}

// parseField reads a selection; an error says in which text and where.
func parseField(field, text string, t *table.Table) (query.Expr, error) {
	e, err := query.Parse(text, t)
	var syntax *query.SyntaxError
	if errors.As(err, &syntax) {
		at := min(syntax.Position, len(text))
		word := len(text[at:]) - len(strings.TrimLeft(text[at:], wordLetters))
		return nil, &statusError{http.StatusBadRequest, Failure{
			Error: syntax.Problem, Field: field,
			Position: utf8.RuneCountInString(text[:at]), Length: max(word, 1),
		}}
	}
	return e, err
}

const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// check refuses questions no engine can answer, as the client's mistake.
func (r *Run) check(q *query.Request) error {
	if len(q.Axes) > maxAxes || len(q.Pairs) > maxAxes || len(q.Groups) > maxGroups || len(q.Stats) > maxGroups {
		return badRequest("too many questions: at most %d axes and pairs, %d groups and statistics", maxAxes, maxGroups)
	}
	var names []string
	for _, a := range q.Axes {
		if a.Bins < 0 || a.Bins > maxBins {
			return badRequest("axis %s: %d bins; want 2 to %d", a.Column, a.Bins, maxBins)
		}
		names = append(names, a.Column)
	}
	for _, p := range q.Pairs {
		if !p.Fits(len(q.Axes)) {
			return badRequest("pair %d, %d: there are %d axes", p.Left, p.Right, len(q.Axes))
		}
	}
	for _, g := range q.Groups {
		if len(g.By) == 0 {
			return badRequest("a group by no column")
		}
		names = append(append(names, g.By...), present(g.Sum, g.Distinct)...)
	}
	for _, s := range q.Stats {
		names = append(names, s.Column)
	}
	if p := q.Rows; p != nil {
		if p.Offset < 0 || p.Count < 0 || p.Count > maxRows {
			return badRequest("rows %d from %d: want at most %d", p.Count, p.Offset, maxRows)
		}
		if len(p.Columns) == 0 {
			p.Columns = nil
		}
		names = append(append(names, p.Columns...), present(p.Sort)...)
	}
	for _, name := range names {
		if r.Data.Table.Column(name) == nil {
			return badRequest("%v", query.UnknownColumn(r.Data.Table, name))
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
