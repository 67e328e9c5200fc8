package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// The lanes that every trial measures.
const (
	LaneCPU  = "cpu"
	LaneWall = "wall"
)

// reportVersion is of trial.json.
const reportVersion = 1

// Report is what `isobath ab` prints and keeps as trial.json.
type Report struct {
	Version  int        `json:"version"`
	Commands [][]string `json:"commands"`
	Seed     uint64     `json:"seed"`
	Metric   string     `json:"metric"` // the lane that decides
	Pairs    int        `json:"pairs"`
	Most     int        `json:"most"`
	Look     int        `json:"look"`
	Bound    float64    `json:"bound"`
	Stopped  Stop       `json:"stopped"`
	Lanes    []Lane     `json:"lanes"`
	Noise    *Noise     `json:"noise"`
	Hints    []string   `json:"hints"`
	Values   []Value    `json:"values,omitempty"`
	// FailAbove, Failed and Exit are of a gate.
	FailAbove *float64 `json:"fail_above,omitempty"`
	Exit      int      `json:"exit"`
}

// Lane is one measured quantity. A and B are spreads of measured values, or
// counts.
type Lane struct {
	Lane       string   `json:"lane"`
	Unit       string   `json:"unit,omitempty"`
	Provenance string   `json:"provenance"`
	Exact      *bool    `json:"exact,omitempty"`
	A          any      `json:"a"`
	B          any      `json:"b"`
	Again      any      `json:"a_again,omitempty"` // a second count of A that differs from the first
	Change     *float64 `json:"change"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	Z          *float64 `json:"z,omitempty"`
	Verdict    Verdict  `json:"verdict,omitempty"`
}

// Noise is what the machine did meanwhile.
type Noise struct {
	// Pair is how much one pair differs from the next in the lane that decides.
	Pair float64 `json:"pair"`
	// Detectable is the smallest change that the whole trial would have found
	// four times in five.
	Detectable float64  `json:"detectable"`
	Load       *float64 `json:"load"` // runnable processes, mean of a minute
	Steal      *float64 `json:"steal"`
	CPUs       int      `json:"cpus"`
}

// Value is one pair.
type Value struct {
	Pair  int      `json:"pair"`
	First string   `json:"first"` // "a" or "b"
	A     Measured `json:"a"`
	B     Measured `json:"b"`
}

// of is the value of a lane.
func (m *Measured) of(lane string) float64 {
	if lane == LaneWall {
		return m.Wall
	}
	return m.CPU
}

// logRatios are ln(b/a) of a lane in order.
func logRatios(values []Value, lane string) []float64 {
	x := make([]float64, len(values))
	for i, v := range values {
		x[i] = math.Log(max(v.B.of(lane), 1e-9) / max(v.A.of(lane), 1e-9))
	}
	return x
}

// Trial is a trial about to be run.
type Trial struct {
	Design
	Metric string // the lane that decides
	// Measure runs one side of a pair.
	Measure func(ctx context.Context, pair int, b, first bool) (*Measured, error)
	// Tell is told after each pair how far it is.
	Tell func(pairs int, so Decision)
}

// ErrSkipped marks a pair that does not count.
var ErrSkipped = errors.New("the commands ended differently")

// Run runs pairs until a look ends the trial. An interrupt ends it with what there
// is.
func (t *Trial) Run(ctx context.Context) (*Report, error) {
	coin := NewCoin(t.Seed)
	r := &Report{Version: reportVersion, Seed: t.Seed, Metric: t.Metric, Most: t.Most(), Hints: []string{}}
	for attempt := 0; r.Stopped == Going; attempt++ {
		if attempt >= 2*t.Most()+10 {
			return nil, fmt.Errorf("%d of %d pairs ended differently; nothing can be said", attempt-len(r.Values), attempt)
		}
		v, err := t.pair(ctx, len(r.Values), coin.BFirst())
		switch {
		case ctx.Err() != nil:
			r.Stopped = Interrupted
			continue
		case errors.Is(err, ErrSkipped):
			continue
		case err != nil:
			return nil, err
		}
		r.Values = append(r.Values, *v)
		so, stop := t.At(logRatios(r.Values, t.Metric))
		r.Stopped = stop
		if t.Tell != nil {
			t.Tell(len(r.Values), so)
		}
	}
	t.Conclude(r)
	return r, nil
}

func (t *Trial) pair(ctx context.Context, number int, bFirst bool) (*Value, error) {
	v := &Value{Pair: number, First: map[bool]string{true: "b", false: "a"}[bFirst]}
	for k, b := range []bool{bFirst, !bFirst} {
		m, err := t.Measure(ctx, number, b, k == 0)
		if err != nil {
			return nil, err
		}
		if b {
			v.B = *m
		} else {
			v.A = *m
		}
	}
	if v.A.Status != v.B.Status {
		return nil, ErrSkipped
	}
	return v, nil
}

// Conclude fills in what the values say.
func (d *Design) Conclude(r *Report) {
	r.Pairs, r.Lanes = len(r.Values), nil
	if r.Pairs == 0 {
		return
	}
	for _, lane := range []string{LaneCPU, LaneWall} {
		x := logRatios(r.Values, lane)
		got, _ := d.At(x)
		if got.Pairs == 0 {
			got = d.Partial(x)
		}
		var a, b []float64
		for i := range r.Values {
			a, b = append(a, r.Values[i].A.of(lane)), append(b, r.Values[i].B.of(lane))
		}
		if lane == r.Metric {
			r.Look, r.Bound = got.Look, got.Bound
			noise := pairNoise(x)
			r.Noise = &Noise{Pair: noise, Detectable: detectable(noise, r.Most, d.Looks[len(d.Looks)-1].Bound)}
		}
		r.Lanes = append(r.Lanes, Lane{Lane: lane, Unit: "s", Provenance: "measured", A: spreadOf(a), B: spreadOf(b), Change: &got.Change, Low: &got.Low, High: &got.High, Z: &got.Z, Verdict: got.Verdict})
	}
	// The lane that decides comes first.
	slices.SortStableFunc(r.Lanes, func(x, y Lane) int {
		if x.Lane == r.Metric {
			return -1
		}
		if y.Lane == r.Metric {
			return 1
		}
		return 0
	})
}

// maxValues bounds a report that is read: no trial has more pairs.
const maxValues = 1 << 16

// ReadReport reads a trial.json.
func ReadReport(text []byte) (*Report, error) {
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("trial.json: %w", err)
	}
	switch {
	case r.Version != reportVersion:
		return nil, fmt.Errorf("trial.json of version %d; this program reads %d", r.Version, reportVersion)
	case len(r.Values) == 0 || len(r.Values) > maxValues:
		return nil, fmt.Errorf("trial.json has %d pairs", len(r.Values))
	case r.Metric != LaneCPU && r.Metric != LaneWall:
		return nil, fmt.Errorf("trial.json: metric %q; want cpu or wall", r.Metric)
	case r.Most < 1 || r.Most > maxValues:
		return nil, fmt.Errorf("trial.json: at most %d pairs is no number of pairs", r.Most)
	}
	for i, v := range r.Values {
		for _, n := range []float64{v.A.CPU, v.A.Wall, v.B.CPU, v.B.Wall} {
			if !(n >= 0 && n < 1e9) {
				return nil, fmt.Errorf("trial.json: pair %d took %v s", i, n)
			}
		}
	}
	return r, nil
}
