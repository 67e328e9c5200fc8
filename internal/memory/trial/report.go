package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/run"
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
	Fixed    bool       `json:"fixed,omitempty"` // one look, at the end
	Within   float64    `json:"within,omitempty"`
	Until    float64    `json:"until,omitempty"`
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
	// four times in five; nil if so few pairs find none.
	Detectable *float64 `json:"detectable"`
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

// skipped marks a pair that does not count, since the commands ended differently.
type skipped struct{ a, b int }

func (e skipped) Error() string {
	return fmt.Sprintf("A ended with status %d, B with %d", e.a, e.b)
}

// hopeless is how many pairs may end differently before the first that does not.
const hopeless = 10

// Run runs pairs until a look ends the trial. An interrupt ends it with what there
// is.
func (t *Trial) Run(ctx context.Context) (*Report, error) {
	coin := NewCoin(t.Seed)
	r := &Report{Version: reportVersion, Seed: t.Seed, Metric: t.Metric, Most: t.Most(), Fixed: t.Fixed, Within: t.Within, Until: t.Until, Hints: []string{}}
	for attempt := 1; r.Stopped == Going; attempt++ {
		if ctx.Err() != nil {
			r.Stopped = Interrupted
			break
		}
		v, err := t.pair(ctx, len(r.Values), coin.BFirst())
		switch differ := (skipped{}); {
		case ctx.Err() != nil:
			continue
		case errors.As(err, &differ):
			if attempt-len(r.Values) >= hopeless && (len(r.Values) == 0 || attempt >= 2*t.Most()+hopeless) {
				return nil, fmt.Errorf("%d of %d pairs do not compare, since the commands ended differently (the last: %w)", attempt-len(r.Values), attempt, differ)
			}
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
		return nil, skipped{v.A.Status, v.B.Status}
	}
	return v, nil
}

// Conclude fills in what the values say.
func (d *Design) Conclude(r *Report) {
	r.Pairs, r.Lanes = len(r.Values), []Lane{}
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
			r.Noise = &Noise{Pair: noise}
			if r.Most >= leastPairs {
				least := detectable(max(math.Log1p(noise), got.deviation()), r.Most, d.Looks[len(d.Looks)-1].Bound)
				r.Noise.Detectable = &least
			}
		}
		l := Lane{Lane: lane, Unit: "s", Provenance: "measured", A: spreadOf(a), B: spreadOf(b), Change: &got.Change, Z: &got.Z, Verdict: got.Verdict}
		if got.Bounded {
			l.Low, l.High = &got.Low, &got.High
		}
		r.Lanes = append(r.Lanes, l)
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

// File is the name of a trial's report in the folder of its recordings.
const File = "trial.json"

// Recording is where a side of a pair, "a" or "b", is recorded in a folder.
func Recording(folder string, pair int, side string) string {
	return filepath.Join(folder, fmt.Sprintf("p%02d%s%s", pair, side, run.Suffix))
}

// maxReport bounds a report that is read, in bytes.
const maxReport = 64 << 20

// Open reads the report at a path, or in a folder of recordings, and concludes
// anew what its values say. Counts are kept: they are not made again.
func Open(path string) (*Report, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		path = filepath.Join(path, File)
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxReport {
		return nil, fmt.Errorf("%s has %d bytes; a trial has at most %d", path, info.Size(), maxReport)
	}
	text, err := plainfile.ReadFile(path, maxReport)
	if err != nil {
		return nil, err
	}
	r, err := ReadReport(text)
	if err != nil {
		return nil, err
	}
	kept, machine := r.Lanes, r.Noise
	r.Design().Conclude(r)
	if machine != nil && r.Noise != nil {
		r.Noise.Load, r.Noise.Steal, r.Noise.CPUs = machine.Load, machine.Steal, machine.CPUs
	}
	for _, lane := range kept {
		if lane.Lane != LaneCPU && lane.Lane != LaneWall {
			r.Lanes = append(r.Lanes, lane)
		}
	}
	return r, nil
}

// Design is how the trial was run.
func (r *Report) Design() *Design {
	d := &Design{Seed: r.Seed, Looks: Looks(r.Most), Fixed: r.Fixed, Within: r.Within, Until: r.Until}
	if r.Fixed || r.Most < firstLook {
		d.Looks, d.Fixed = OneLook(r.Most), true
	}
	return d
}

// Course is what a lane says after each pair: its score so far, and the decision
// at each look.
func (r *Report) Course(lane string) (so []float64, looks []Decision) {
	x := logRatios(r.Values, lane)
	sum, squares := 0.0, 0.0
	for _, p := range scores(x, 0) { // no score depends on those after it
		sum, squares = sum+p, squares+p*p
		so = append(so, sum/math.Sqrt(max(squares, 1e-300)))
	}
	d := r.Design()
	for _, look := range d.Looks {
		if look.Pairs <= len(x) {
			at, _ := d.At(x[:look.Pairs])
			looks = append(looks, at)
		}
	}
	return so, looks
}

// MaxPairs is of a trial, and bounds a report that is read.
const MaxPairs = 10_000

// ReadReport reads a trial.json.
func ReadReport(text []byte) (*Report, error) {
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("trial.json: %w", err)
	}
	switch {
	case r.Version != reportVersion:
		return nil, fmt.Errorf("trial.json of version %d; this program reads %d", r.Version, reportVersion)
	case len(r.Values) == 0 || len(r.Values) > MaxPairs:
		return nil, fmt.Errorf("trial.json has %d pairs", len(r.Values))
	case r.Metric != LaneCPU && r.Metric != LaneWall:
		return nil, fmt.Errorf("trial.json: metric %q; want cpu or wall", r.Metric)
	case r.Most < 1 || r.Most > MaxPairs:
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
