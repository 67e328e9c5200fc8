package memory

import (
	"net/http"
	"strconv"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/engine/query"
)

// why says how the level of a sample was decided.
func (s routes) why(w http.ResponseWriter, r *http.Request, run *Samples) error {
	q := r.URL.Query()
	if q.Has("where") {
		return s.whySome(w, r, run, q.Get("where"), q.Get("filter"))
	}
	row, err := rowOf(r, run.Data.Table.Rows())
	if err != nil {
		return err
	}
	return s.Answer(w, r, Why{Row: row, Why: datasrc.Why(run.Data.Table, row)})
}

// whySome says it of the first sample that a selection matches.
func (s routes) whySome(w http.ResponseWriter, r *http.Request, run *Samples, where, filter string) error {
	all, of, err := run.parse(filter, where)
	if err != nil {
		return err
	}
	rows, err := run.Engine.Select(r.Context(), query.Both(all, of))
	if err != nil {
		return err
	}
	for row := range rows.All() {
		return s.Answer(w, r, Why{Row: row, Why: datasrc.Why(run.Data.Table, row)})
	}
	return frame.BadRequest("no sample matches %s", where)
}

// rowOf reads the row a request is about.
func rowOf(r *http.Request, rows int) (int, error) {
	text := r.URL.Query().Get("row")
	row, err := strconv.Atoi(text)
	if err != nil || row < 0 || row >= rows {
		return 0, frame.BadRequest("row %q: want a number from 0 to %d", text, rows-1)
	}
	return row, nil
}
