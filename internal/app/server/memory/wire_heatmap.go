package memory

import (
	"context"
	"net/http"
	"slices"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/heatmap"
)

// AskHeatmap asks for samples over time and over the values of a column: POST
// runs/{id}/heatmap, answered by Heatmap. Lo = Hi = 0 is the whole time axis;
// values beyond Rows are joined. Along is a column in place of time. Side, of a
// pair, counts one run alone, in the rows that both have together; its windows of
// time are parts of that run.
type AskHeatmap struct {
	Filter  string  `json:"filter,omitempty"`
	Where   string  `json:"where,omitempty"`
	By      string  `json:"by"`
	Along   string  `json:"along,omitempty"`
	Side    string  `json:"side,omitempty"` // A or B
	Windows int     `json:"windows"`
	Rows    int     `json:"rows"`
	Lo      float64 `json:"lo,omitempty"`
	Hi      float64 `json:"hi,omitempty"`
}

// Heatmap is the JSON header of the answer to AskHeatmap. A cell is at
// row*windows+window of each column.
type Heatmap struct {
	Columns []frame.ColumnRef `json:"columns"`
	By      string            `json:"by"`
	Edges   frame.Column      `json:"edges"` // f64, of windows, one more than there are
	Rows    []heatmap.HeatRow `json:"rows"`
	Samples frame.Column      `json:"samples"` // u32
	Sums    frame.Column      `json:"sums"`    // f64, of latency; empty where none was recorded
	Valued  frame.Column      `json:"valued"`  // u32, samples with a latency
	Levels  []string          `json:"levels"`  // an empty name is "not recorded"
	Mix     []frame.Column    `json:"mix"`     // u32, samples of each level
	Missing int               `json:"missing"` // selected samples without a time or a value
}

func (s routes) heatmap(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a AskHeatmap
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	rows, err := run.Within(r.Context(), a.Filter, a.Where)
	if err != nil {
		return err
	}
	opt := heatmap.Options{By: a.By, Along: a.Along, Windows: a.Windows, Lo: a.Lo, Hi: a.Hi, Rows: a.Rows}
	if a.Side != "" {
		if rows, err = run.ofSide(r.Context(), a.Side, rows, &opt); err != nil {
			return err
		}
	}
	g, err := heatmap.Count(r.Context(), run.Data.Table, rows, opt)
	if err != nil {
		return frame.WrongAsk(err)
	}
	body := &frame.Body{}
	head := &Heatmap{
		By: a.By, Rows: g.Rows, Levels: g.Levels, Missing: g.Missing, Mix: []frame.Column{},
		Edges: frame.Add(body, g.Edges), Samples: frame.Add(body, g.Samples), Sums: frame.Add(body, g.Sums), Valued: frame.Add(body, g.Valued),
	}
	for _, counts := range g.Mix {
		head.Mix = append(head.Mix, frame.Add(body, counts))
	}
	if head.Rows == nil {
		head.Rows = []heatmap.HeatRow{}
	}
	if head.Levels == nil {
		head.Levels = []string{}
	}
	head.Columns = body.Refs
	return s.AnswerColumns(w, r, head, body)
}

// ofSide are the rows of one run of a pair among some (nil: all); the grid has the
// rows of both, and windows of time are parts of this run.
func (r *Samples) ofSide(ctx context.Context, side string, among table.Bits, opt *heatmap.Options) (table.Bits, error) {
	own, err := r.allOf(ctx, side)
	if err != nil {
		return nil, err
	}
	opt.Among = among
	if among == nil {
		opt.Among = table.FullBits(r.Data.Table.Rows())
	}
	if when := r.Data.Table.Column(samples.Time); opt.Along == "" && when != nil {
		opt.Lo, opt.Hi = table.Extent(ctx, when, own, r.Data.Table.Rows())
	}
	both := slices.Clone(own) // the engine keeps its own
	both.And(opt.Among)
	return both, nil
}
