// Package executions answers what pages ask about many executions: trials of two
// commands, and studies of many runs.
package executions

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/memory/study"
	"github.com/isobath/isobath/internal/memory/trial"
)

// The kinds of run that are many executions.
const (
	trialKind = "trial"
	studyKind = "study"
)

// part is a trial or a study of a run.
type part struct {
	trial  *trial.Report
	folder string // of its recordings
	study  *study.Study
}

// Kind implements frame.Part.
func (*part) Kind() string { return Kind{}.Name() }

// Rows implements frame.Part.
func (p *part) Rows() int {
	if p.trial != nil {
		return len(p.trial.Values)
	}
	return len(p.study.Runs)
}

// String implements frame.Part.
func (p *part) String() string {
	if p.trial != nil {
		return p.trial.Sentence()
	}
	return fmt.Sprintf("%s, %s, %s", term.Counted(len(p.study.Runs), "run"), term.Counted(len(p.study.Laws), "growth law"), term.Counted(len(p.study.Changes), "change point"))
}

// Tell implements frame.Part.
func (*part) Tell(context.Context, *frame.Info) error { return nil }

// Close implements frame.Part.
func (*part) Close() {}

// maxFile bounds what is read, in bytes.
const maxFile = 64 << 20

// Holds says whether a path is a trial or a study.
func Holds(path string) bool { return kindOf(path) != "" }

func kindOf(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		if file, err := os.Stat(filepath.Join(path, trial.File)); err == nil && file.Mode().IsRegular() && !run.IsRun(path) {
			return trialKind
		}
		return ""
	case !info.Mode().IsRegular() || info.Size() > maxFile || !strings.HasSuffix(strings.ToLower(path), ".json"):
		return ""
	}
	text, err := os.ReadFile(path)
	var shape struct{ Lanes, Values, Runs, Laws json.RawMessage }
	if err != nil || json.Unmarshal(text, &shape) != nil {
		return ""
	}
	switch {
	case shape.Lanes != nil && shape.Values != nil:
		return trialKind
	case shape.Runs != nil && shape.Laws != nil:
		return studyKind
	}
	return ""
}

// Open opens a trial or a study; it must be one.
func Open(path string) (*frame.Run, error) {
	p, kind := &part{}, kindOf(path)
	var err error
	if kind == trialKind {
		p.folder = path
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			p.folder = filepath.Dir(path)
		}
		p.trial, err = trial.Open(path)
	} else {
		p.study, err = study.Open(path)
	}
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	if err := json.NewEncoder(h).Encode([]any{p.trial, p.study}); err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	r := &frame.Run{ID: frame.Identity(name, h), Name: name, Path: path, Kind: kind, Format: kind, TopologyNote: "many executions have no hardware topology of their own"}
	r.Put(p)
	return r, nil
}

// Kind is trials and studies as the server knows them.
type Kind struct{}

// Name implements frame.Kind.
func (Kind) Name() string { return "executions" }

type routes struct{ *frame.Frame }

// Routes implements frame.Kind.
func (Kind) Routes(f *frame.Frame) []frame.Route {
	s := routes{f}
	refuse := func(r *frame.Run) error {
		return frame.BadRequest("%s is one execution, and no trial or study", r.Name)
	}
	return []frame.Route{
		{Method: "GET", Path: "runs/{id}/trial", Access: frame.Viewer, Does: "a trial of two commands: what it found, and every pair", Command: "isobath ab",
			Answers: TrialAnswer{}, OfRun: frame.OfPart(refuse, s.trial)},
		{Method: "POST", Path: "runs/{id}/study", Access: frame.Viewer, Does: "many runs as rows, with growth laws and change points", Command: "isobath study",
			Takes: StudyAsk{}, Answers: StudyAnswer{}, OfRun: frame.OfPart(refuse, s.study)},
	}
}

func (s routes) trial(w http.ResponseWriter, r *http.Request, p *part) error {
	if p.trial == nil {
		return frame.BadRequest("a study is no trial")
	}
	return s.Answer(w, r, p.trialAnswer())
}

func (p *part) trialAnswer() *TrialAnswer {
	t := p.trial
	out := &TrialAnswer{Sentence: t.Sentence(), Noise: t.Noise.Text(), Hints: frame.List(t.Hints), Metric: t.Metric, Stopped: string(t.Stopped), Seed: t.Seed, Most: t.Most,
		A: []string{}, B: []string{}, Lanes: []TrialLane{}, Bounds: []TrialLook{}, Values: []TrialPair{}}
	if len(t.Commands) == 2 {
		out.A, out.B = frame.List(t.Commands[0]), frame.List(t.Commands[1])
	}
	for i := range t.Lanes {
		l := &t.Lanes[i]
		a, b := l.Sides()
		out.Lanes = append(out.Lanes, TrialLane{l.Lane, l.Provenance, a, b, l.Change, l.Low, l.High, string(l.Verdict)})
	}
	scores, looks := t.Course(t.Metric)
	for i, bound := range t.Design().Looks {
		look := TrialLook{Pairs: bound.Pairs, Bound: bound.Bound}
		if i < len(looks) && looks[i].Bounded {
			so := looks[i]
			look = TrialLook{so.Pairs, so.Bound, true, so.Z, so.Change, so.Low, so.High, string(so.Verdict)}
		}
		out.Bounds = append(out.Bounds, look)
	}
	for i, v := range t.Values {
		pair := TrialPair{First: v.First, A: v.A.CPU, B: v.B.CPU, WallA: v.A.Wall, WallB: v.B.Wall, Score: scores[i], PathA: p.recording(v.Pair, "a"), PathB: p.recording(v.Pair, "b")}
		if t.Metric == trial.LaneWall {
			pair.A, pair.B = v.A.Wall, v.B.Wall
		}
		out.Values = append(out.Values, pair)
	}
	return out
}

// recording is where a side of a pair was recorded; empty if it was not.
func (p *part) recording(pair int, side string) string {
	path := trial.Recording(p.folder, pair, side)
	if !run.IsRun(path) {
		return ""
	}
	return path
}

func (s routes) study(w http.ResponseWriter, r *http.Request, p *part) error {
	var ask StudyAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	if p.study == nil {
		return frame.BadRequest("a trial is no study")
	}
	st := p.study
	if ask.Order != "" && ask.Order != st.Order {
		var err error
		if st, err = st.Again(ask.Order); err != nil {
			return frame.BadRequest("%s", err)
		}
	}
	return s.Answer(w, r, studyAnswer(st))
}

func studyAnswer(st *study.Study) *StudyAnswer {
	out := &StudyAnswer{Runs: []StudyRun{}, Order: st.Order, Orders: []string{study.InOrder}, Series: []int{}, Laws: []StudyLaw{}, Changes: []StudyChange{}, Notes: frame.List(st.Notes)}
	var parameters, metrics []string
	for _, r := range st.Runs {
		out.Runs = append(out.Runs, StudyRun{r.Name, r.Path, frame.List(r.Odd)})
		for name := range r.Parameters {
			parameters = append(parameters, name)
		}
		for name := range r.Metrics {
			metrics = append(metrics, name)
		}
	}
	for _, name := range sorted(parameters) {
		c := StudyColumn{Name: name, Parameter: true, Numbers: []*float64{}, Texts: []string{}}
		c.fill(st.Runs)
		out.Columns = append(out.Columns, c)
		if !slices.ContainsFunc(st.Runs, func(r *study.Row) bool { return r.Parameters[name] == nil }) {
			out.Orders = append(out.Orders, name)
		}
	}
	for _, name := range sorted(metrics) {
		c := StudyColumn{Name: name, Numbers: []*float64{}, Texts: []string{}}
		for _, r := range st.Runs {
			c.Numbers = append(c.Numbers, r.Metrics[name])
		}
		out.Columns = append(out.Columns, c)
	}
	at := map[*study.Row]int{}
	for i, r := range st.Runs {
		at[r] = i
	}
	for _, r := range study.Ordered(st.Runs, st.Order) {
		out.Series = append(out.Series, at[r])
	}
	for i := range st.Laws {
		out.Laws = append(out.Laws, lawOf(&st.Laws[i], st.Runs))
	}
	for _, c := range st.Changes {
		out.Changes = append(out.Changes, StudyChange{c.Metric, c.At, c.Before, c.After, c.Step, c.Low, c.High, c.P, c.Drift})
	}
	return out
}

// fill takes a parameter of every run: as numbers if all that have it have one.
func (c *StudyColumn) fill(runs []*study.Row) {
	texts := false
	for _, r := range runs {
		v := r.Parameters[c.Name]
		n, number := v.(float64)
		texts = texts || v != nil && !number
		if number {
			c.Numbers = append(c.Numbers, &n)
		} else {
			c.Numbers = append(c.Numbers, nil)
		}
		text := ""
		if v != nil {
			text = fmt.Sprint(v)
		}
		c.Texts = append(c.Texts, text)
	}
	if texts {
		c.Numbers = []*float64{}
	} else {
		c.Texts = []string{}
	}
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// curvePoints is how finely a law is drawn.
const curvePoints = 60

func lawOf(l *study.LawRow, runs []*study.Row) StudyLaw {
	out := StudyLaw{Metric: l.Metric, Parameter: l.Parameter, Law: l.Law.Text, Exponent: l.Exponent, Low: l.Low, High: l.High, Error: math.Expm1(l.Error), Others: frame.List(l.Others), X: []float64{}, Y: []float64{}}
	var fixed []string
	for name, v := range l.Fixed {
		fixed = append(fixed, fmt.Sprintf("%s = %v", name, v))
	}
	slices.Sort(fixed)
	out.Fixed = strings.Join(fixed, ", ")
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range runs {
		if n, ok := r.Parameters[l.Parameter].(float64); ok && n > 0 {
			low, high = min(low, n), max(high, n)
		}
	}
	for i := range curvePoints {
		if !(low < high) {
			break
		}
		n := low * math.Pow(high/low, float64(i)/(curvePoints-1))
		if y := l.At(n); !math.IsNaN(y) && !math.IsInf(y, 0) {
			out.X, out.Y = append(out.X, n), append(out.Y, y)
		}
	}
	return out
}
