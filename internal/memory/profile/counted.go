package profile

import (
	"context"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// CallWeight is what some samples weigh: their number, and the sum of the
// latencies of those that have one.
type CallWeight struct {
	Samples int64   `json:"samples"`
	Latency float64 `json:"latency"`
}

func (w *CallWeight) add(o CallWeight) {
	w.Samples += o.Samples
	w.Latency += o.Latency
}

// by is the weight that a picture is drawn by.
func (w CallWeight) by(v Value) float64 {
	if v == Latency {
		return w.Latency
	}
	return float64(w.Samples)
}

// Layers are the samples of a picture of calls, those of them that are selected,
// and those that are hovered. Of each nil is all rows.
type Layers struct {
	All, Selected, Hovered table.Bits
	Hovers                 bool // whether anything is hovered
}

// layered is the weight of one call stack, layer by layer.
type layered struct {
	frames                 []symbol.Frame // outermost first
	all, selected, hovered CallWeight
}

// layer counts the stacks of all layers. A column of stacks has each distinct
// one once, so rows are counted by its code and only texts that occur are split.
func layer(ctx context.Context, t *table.Table, l Layers) ([]layered, error) {
	key, err := newKeys(t)
	if err != nil {
		return nil, err
	}
	var coded []threeWeights
	var codes []uint32
	if key.stack != nil {
		codes, coded = key.stack.Data.([]uint32), make([]threeWeights, len(key.stack.Dict))
	}
	bare := map[string]*threeWeights{} // of samples without a stack
	latency := samples.UsableLatency(t)
	summed, _ := samples.Summed(t)
	for i := range table.Scan(ctx, l.All, t.Rows()) {
		w := CallWeight{Samples: 1}
		if summed != nil {
			w.Samples = int64(summed.Float(i))
		}
		if latency != nil && latency.Has(i) {
			w.Latency = latency.Float(i)
		}
		if codes != nil && key.stack.Has(i) && key.stack.Dict[codes[i]] != "" {
			coded[codes[i]].add(w, l, i)
			continue
		}
		text := key.text(i)
		if bare[text] == nil {
			bare[text] = &threeWeights{}
		}
		bare[text].add(w, l, i)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out []layered
	for code, w := range coded {
		if w.rows > 0 {
			out = append(out, w.of(key.stack.Dict[code]))
		}
	}
	for text, w := range bare {
		out = append(out, w.of(text))
	}
	return out, nil
}

// threeWeights sums the layers of one stack.
type threeWeights struct {
	rows                   int
	all, selected, hovered CallWeight
}

func (t *threeWeights) add(w CallWeight, l Layers, row int) {
	t.rows++
	t.all.add(w)
	if l.Selected == nil || l.Selected.Get(row) {
		t.selected.add(w)
	}
	if l.Hovers && (l.Hovered == nil || l.Hovered.Get(row)) {
		t.hovered.add(w)
	}
}

func (t *threeWeights) of(stack string) layered {
	return layered{symbol.ParseStack(stack), t.all, t.selected, t.hovered}
}
