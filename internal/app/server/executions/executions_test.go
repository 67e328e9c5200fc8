package executions

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/memory/study"
	"github.com/isobath/isobath/internal/memory/trial"
)

// keptTrial is a trial of so many pairs whose B takes 10 % longer.
func keptTrial(t testing.TB, pairs int, edit func(*trial.Report)) []byte {
	t.Helper()
	r := &trial.Report{Version: 1, Commands: [][]string{{"./old"}, {"./new"}}, Seed: 7, Metric: trial.LaneCPU, Most: 60, Stopped: trial.Decided, Lanes: []trial.Lane{}}
	for i := range pairs {
		a, b := .1+.001*float64(7*i%5), 1.1*(.1+.001*float64(3*i%5))
		r.Values = append(r.Values, trial.Value{Pair: i, First: "a", A: trial.Measured{CPU: a, Wall: 2 * a}, B: trial.Measured{CPU: b, Wall: 2 * b}})
	}
	if edit != nil {
		edit(r)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// keptStudy is runs of five sizes, three of each: cpu grows with n, and as its
// square; the last six took twice as long.
func keptStudy(t testing.TB) []byte {
	t.Helper()
	var rows []*study.Row
	for i := range 15 {
		n := float64(int(100) << (i / 3))
		r := &study.Row{Name: fmt.Sprintf("run-%02d", i), Parameters: map[string]any{"n": n, "build": "x"}}
		r.Set("cpu", n*(1+.01*float64(i%3)), nil)
		r.Set("wall", map[bool]float64{false: 1, true: 2}[i >= 9]*(1+.01*float64(i%4)), nil)
		rows = append(rows, r)
	}
	s, err := study.Look(rows, study.Options{Order: study.InOrder})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t testing.TB, path string) *part {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Parts() {
		if p, ok := p.(*part); ok {
			return p
		}
	}
	t.Fatalf("%s has no part of ours", path)
	return nil
}

// TestTrial: every score is that of the pairs up to it, and a look has the decision
// that the trial took then.
func TestTrial(t *testing.T) {
	p := opened(t, write(t, "t.json", keptTrial(t, 12, nil)))
	a := p.trialAnswer()
	if !strings.HasPrefix(a.Sentence, "B costs 10.") || len(a.Values) != 12 || a.Lanes[0].Lane != trial.LaneCPU || a.Lanes[0].Verdict != "more" {
		t.Errorf("%q, %d pairs, %+v", a.Sentence, len(a.Values), a.Lanes)
	}
	var x []float64
	for i, v := range a.Values {
		x = append(x, math.Log(v.B/v.A))
		if want := trial.Score(x, 0); math.Abs(v.Score-want) > 1e-9 {
			t.Errorf("pair %d: score %v, want %v", i, v.Score, want)
		}
	}
	taken := 0
	for _, look := range a.Bounds {
		if look.Taken {
			taken++
		}
	}
	if taken != 2 || len(a.Bounds) != 6 || a.Bounds[1].Pairs != 12 || a.Bounds[1].Change != *a.Lanes[0].Change {
		t.Errorf("looks %+v", a.Bounds)
	}
}

// TestTrialIsDecidedAsItWas: a trial of one look, and one that ends within a limit,
// say when opened what they said when they were run.
func TestTrialIsDecidedAsItWas(t *testing.T) {
	one := opened(t, write(t, "t.json", keptTrial(t, 60, func(r *trial.Report) { r.Fixed = true }))).trialAnswer()
	if len(one.Bounds) != 1 || one.Bounds[0].Pairs != 60 || math.Abs(one.Bounds[0].Bound-1.96) > .01 {
		t.Errorf("looks of a fixed trial: %+v", one.Bounds)
	}
	same := opened(t, write(t, "t.json", keptTrial(t, 12, func(r *trial.Report) {
		for i := range r.Values {
			r.Values[i].B.CPU /= 1.1
		}
		r.Within, r.Stopped = .05, trial.SameStop
	}))).trialAnswer()
	if same.Lanes[0].Verdict != "same" || !strings.HasPrefix(same.Sentence, "B costs the same cpu within the limit") {
		t.Errorf("%q: %+v", same.Sentence, same.Lanes[0])
	}
}

func TestStudy(t *testing.T) {
	p := opened(t, write(t, "s.json", keptStudy(t)))
	a := studyAnswer(p.study)
	if len(a.Runs) != 15 || a.Order != study.InOrder || strings.Join(a.Orders, " ") != "given build n" {
		t.Errorf("%d runs along %q of %v", len(a.Runs), a.Order, a.Orders)
	}
	laws := map[string]StudyLaw{}
	for _, l := range a.Laws {
		laws[l.Metric] = l
	}
	if l := laws["cpu"]; l.Law != "c + n" || len(l.X) != curvePoints || math.Abs(l.X[0]-100) > 1e-9 || math.Abs(l.X[curvePoints-1]-1600) > 1e-6 || math.Abs(l.Y[0]/101-1) > .02 {
		t.Errorf("law of cpu: %+v", l)
	}
	found := false
	for _, c := range a.Changes {
		found = found || c.Metric == "wall" && c.At == 9 && c.After == "run-09" && math.Abs(c.Step-1) < .05
	}
	if !found {
		t.Errorf("changes %+v", a.Changes)
	}
	if other, err := p.study.Again("n"); err != nil || other.Order != "n" || len(other.Runs) != 15 {
		t.Errorf("along n: %+v, %v", other, err)
	}
	if _, err := p.study.Again("m"); err == nil {
		t.Error("an order that no run has")
	}
	for _, c := range a.Columns {
		if texts := c.Name == "build"; texts != (len(c.Texts) == 15) || texts == (len(c.Numbers) == 15) {
			t.Errorf("column %+v", c)
		}
	}
}

// TestHolds: what only looks like a trial or a study is left to those who read it.
func TestHolds(t *testing.T) {
	for text, want := range map[string]bool{
		string(keptTrial(t, 9, nil)): true, string(keptStudy(t)): true,
		`{"runs":[]}`: false, `{"lanes":1}`: false, `[]`: false, `{"traceEvents":[]}`: false, ``: false, `{"lanes":[],"values":[]}`: true,
	} {
		if got := Holds(write(t, "x.json", []byte(text))); got != want {
			t.Errorf("Holds(%.40s) = %v", text, got)
		}
	}
	if Holds(write(t, "x.txt", keptStudy(t))) || Holds(t.TempDir()) || Holds("/no/such") {
		t.Error("holds what is no file of ours")
	}
	if _, err := Open(write(t, "x.json", []byte(`{"lanes":[],"values":[]}`))); err == nil {
		t.Error("a trial without pairs opens")
	}
}

// FuzzOpen: whatever a file says, it is refused or can be shown, and every number
// of the answer can be sent.
func FuzzOpen(f *testing.F) {
	f.Add(keptTrial(f, 9, nil))
	f.Add(keptStudy(f))
	f.Add([]byte(`{"version":1,"metric":"wall","most":9,"fixed":true,"lanes":[{"lane":"refs","a":1,"b":{},"change":null},{"lane":"refs","a":[],"exact":false}],"values":[{"first":"x","pair":-3,"a":{"wall":0},"b":{"wall":1e8}}],"noise":{"load":1}}`))
	f.Add([]byte(`{"version":1,"metric":"cpu","most":10000,"until":-1,"within":1e300,"lanes":[],"values":[{},{},{}]}`))
	f.Add([]byte(`{"laws":[],"order":"n","runs":[{"parameters":{"n":1},"metrics":{"x":1e308}},{"parameters":{"n":1e-308},"metrics":{"x":5e-324}},{"parameters":{"n":3},"metrics":{"x":1}},{"parameters":{"n":1e308},"metrics":{"x":null}},{"parameters":{"n":-1}},{"parameters":{"n":5},"metrics":{"x":9}}]}`))
	f.Add([]byte(`{"laws":[],"runs":[null]}`))
	f.Add([]byte(`{"laws":[],"runs":[{"name":"a"}],"order":"given","against":[null]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := write(t, "x.json", text)
		if !Holds(path) {
			return
		}
		r, err := Open(path)
		if err != nil {
			return
		}
		p := r.Parts()[0].(*part)
		var answer any
		if p.trial != nil {
			answer = p.trialAnswer()
		} else {
			answer = studyAnswer(p.study)
		}
		if _, err := json.Marshal(answer); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if p.String() == "" || p.Rows() < 1 {
			t.Errorf("%s: %q, %d rows", text, p, p.Rows())
		}
	})
}
