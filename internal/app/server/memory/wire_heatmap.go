package memory

import (
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/memory/heatmap"
)

// AskHeatmap asks for samples over time and over the values of a column: POST
// runs/{id}/heatmap, answered by Heatmap. Lo = Hi = 0 is the whole time axis;
// values beyond Rows are joined.
type AskHeatmap struct {
	Filter  string  `json:"filter,omitempty"`
	Where   string  `json:"where,omitempty"`
	By      string  `json:"by"`
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
	g, err := heatmap.Count(r.Context(), run.Data.Table, rows, heatmap.Options{By: a.By, Windows: a.Windows, Lo: a.Lo, Hi: a.Hi, Rows: a.Rows})
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
