package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/compare"
	"github.com/isobath/isobath/internal/memory/trial"
)

// pairedFiles writes samples of pairs of runs: B makes as many more in one
// function as grow says, runs differ by a few samples.
func pairedFiles(t *testing.T, pairs int, grow float64) (a, b []string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, hot int) string {
		var text strings.Builder
		text.WriteString("function,file,line,latency\n")
		for i := range hot {
			fmt.Fprintf(&text, "solve,src/solve.c,%d,100\n", 10+i%2)
		}
		for range 2000 {
			text.WriteString("pack,src/pack.c,7,100\n")
		}
		path := filepath.Join(dir, name+".csv")
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for i := range pairs {
		base := 3000 + 17*(i%5)
		a = append(a, write(fmt.Sprintf("a%d", i), base))
		b = append(b, write(fmt.Sprintf("b%d", i), int(float64(base+9*(i%3))*grow)))
	}
	return a, b
}

// exits runs a command line as main does and returns its exit code.
func exits(args ...string) int { return execute(context.Background(), args) }

// TestGateExits: 0 passed, 3 regression, 4 unsure under --strict.
func TestGateExits(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	for _, tt := range []struct {
		name  string
		pairs int
		grow  float64
		flags []string
		want  int
	}{
		{"grown", 6, 1.2, []string{"--fail-above", "5%"}, 3},
		{"grown, by a limit of its own", 6, 1.2, []string{"--fail-above", "line:10%,function:50%"}, 3},
		{"grown less than the limit", 6, 1.2, []string{"--fail-above", "50%"}, 0},
		{"grown in points", 6, 1.2, []string{"--fail-above", "2pp"}, 3},
		{"the same", 6, 1, []string{"--fail-above", "20%", "--strict"}, 0},
		{"unsure", 2, 1.05, []string{"--fail-above", "1%", "--strict"}, 4},
		{"fallen", 6, .8, []string{"--fail-below", "5%"}, 3},
		{"fallen, which is no harm", 6, .8, []string{"--fail-above", "5%"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := pairedFiles(t, tt.pairs, tt.grow)
			args := append([]string{"diff", "--by", "function", "--pair"}, tt.flags...)
			args = append(append(append(args, a...), "--"), b...)
			if got := exits(args...); got != tt.want {
				t.Errorf("exit %d, want %d", got, tt.want)
			}
		})
	}
}

// TestRunsWithoutSamples: programs that end at once leave runs without a sample; the
// pairs beside them still compare, and what is left out is said.
func TestRunsWithoutSamples(t *testing.T) {
	side := func(name string, rows ...int) (out []compare.Run) {
		for i, n := range rows {
			tab, err := table.New("samples", []*table.Column{table.Ints("line", "", table.Derived, make([]int64, n), nil)})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, compare.Run{Name: fmt.Sprint(name, i), Table: tab})
		}
		return out
	}
	for _, tt := range []struct {
		name       string
		a, b       []compare.Run
		keptA      string
		keptB      string
		complained string
	}{
		{"all", side("a", 5, 5), side("b", 5, 5), "a0 a1", "b0 b1", ""},
		{"pairs go together", side("a", 5, 0, 5), side("b", 5, 5, 0), "a0", "b0", "a1 b2"},
		{"sides of other lengths", side("a", 5, 0, 5), side("b", 5, 5), "a0 a2", "b0 b1", "a1"},
		{"no pair is left", side("a", 5, 0), side("b", 0, 5), "", "", "a1 b0"},
	} {
		keptA, keptB, left := withSamples(tt.a, tt.b)
		names := func(runs []compare.Run) string {
			var out []string
			for _, r := range runs {
				out = append(out, r.Name)
			}
			return strings.Join(out, " ")
		}
		var said []string
		for _, text := range left {
			name, _, _ := strings.Cut(text, " has no samples")
			said = append(said, name)
		}
		if names(keptA) != tt.keptA || names(keptB) != tt.keptB || strings.Join(said, " ") != tt.complained {
			t.Errorf("%s: %s against %s, %q", tt.name, names(keptA), names(keptB), left)
		}
	}
}

// TestStudyWithoutFunctions: nobody asked for groups, and runs of other tools may have
// neither functions nor objects.
func TestStudyWithoutFunctions(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	for name, text := range map[string]string{"objects": "addr,latency,symbol\n1,5,u\n2,6,v\n", "neither": "addr,latency\n1,5\n2,6\n"} {
		path := filepath.Join(t.TempDir(), name+".csv")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := exits("study", path, path); got != 0 {
			t.Errorf("%s: exit %d", name, got)
		}
		if got := exits("study", path, path, "--by", "function"); got == 0 {
			t.Errorf("%s by function: exit 0", name)
		}
	}
}

// TestComparisonExits: 1 where nothing could be compared, 2 for a wrong command line
// or question; a build must not take either for a regression.
func TestComparisonExits(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	a, b := pairedFiles(t, 1, 1)
	none := filepath.Join(t.TempDir(), "none.csv")
	for _, tt := range []struct {
		want int
		args []string
	}{
		{1, []string{"diff", a[0], none, "--fail-above", "5%"}},
		{1, []string{"diff", t.TempDir(), "--fail-above", "5%"}},
		{1, []string{"ab", "--runs", "3", "--fail-above", "5%", "--", none, "--", "true"}},
		{1, []string{"ab", "--runs", "3", "--fail-above", "5%", "--", "true", "--", "false"}},
		{1, []string{"ab", none}},
		{1, []string{"study", none}},
		{2, []string{"diff"}},
		{2, []string{"diff", a[0], b[0], "--fail-above", "much"}},
		{2, []string{"diff", a[0], b[0], "--fail-above", "5"}},
		{2, []string{"diff", a[0], b[0], "--by", "colour", "--fail-above", "5%"}},
		{2, []string{"diff", a[0], b[0], "--by", "function", "--metric", "cpu", "--json", "--junit", "-"}},
		{2, []string{"ab", "--fail-above", "2pp", "--", "true", "--", "true"}},
		{2, []string{"ab", "--", "true"}},
		{2, []string{"study", a[0], "--order", "colour"}},
		{0, []string{"ab", "--runs", "3", "--fail-above", "5%", "--", "true", "--", "true"}},
		{4, []string{"ab", "--runs", "3", "--fail-above", "5%", "--strict", "--", "true", "--", "true"}},
	} {
		if got := exits(tt.args...); got != tt.want {
			t.Errorf("%q: exit %d, want %d", tt.args, got, tt.want)
		}
	}
}

// TestTrialGate: what the gate of a trial exits with, whatever made it end.
func TestTrialGate(t *testing.T) {
	lane := func(v trial.Verdict, change float64) *trial.Report {
		return &trial.Report{Pairs: 20, Lanes: []trial.Lane{{Verdict: v, Change: &change}}}
	}
	limit := .05
	for _, tt := range []struct {
		name   string
		report *trial.Report
		strict bool
		want   int
	}{
		{"surely slower", lane(trial.More, .06), false, 3},
		{"surely slower, by less than the limit", lane(trial.More, .04), true, 0},
		{"surely faster", lane(trial.Less, -.2), true, 0},
		{"the same", lane(trial.Same, .01), true, 0},
		{"unsure", lane(trial.Unsure, .3), false, 0},
		{"unsure, strictly", lane(trial.Unsure, .3), true, 4},
	} {
		f := &abFlags{strict: tt.strict}
		f.gate(tt.report, &limit)
		if tt.report.Exit != tt.want {
			t.Errorf("%s: exit %d, want %d", tt.name, tt.report.Exit, tt.want)
		}
		tt.report.Stopped, tt.report.Exit = trial.Interrupted, 0
		if f.gate(tt.report, &limit); tt.report.Exit != 1 {
			t.Errorf("%s, interrupted: exit %d", tt.name, tt.report.Exit)
		}
	}
	early := &trial.Report{Stopped: trial.Interrupted}
	if (&abFlags{}).gate(early, &limit); early.Exit != 1 {
		t.Errorf("interrupted in the first pair: exit %d", early.Exit)
	}
}

// TestDoubtfulTimes: a hint has the numbers of what it speaks of, and a machine that is
// busy with others is no program that waits.
func TestDoubtfulTimes(t *testing.T) {
	busy := 12.0
	for _, tt := range []struct {
		name, metric string
		cpu, wall    float64
		load         *float64
		want         string
	}{
		{"waits", trial.LaneCPU, .0012, .101, nil, "a run has 1.2 ms of CPU time in 101 ms: what it waits for counts by --metric wall alone"},
		{"waits, by wall", trial.LaneWall, .0012, .101, nil, ""},
		{"computes", trial.LaneCPU, .1, .101, nil, ""},
		{"computes with threads", trial.LaneCPU, .4, .101, nil, ""},
		{"computes beside others", trial.LaneCPU, .03, .2, &busy, ""},
		{"waits beside others", trial.LaneCPU, .01, .2, &busy, "a run has 10 ms of CPU time in 200 ms: what it waits for counts by --metric wall alone"},
		{"is short", trial.LaneCPU, .002, .003, nil, "a run takes 2 ms of CPU time: starting it is a large part of that; give it more to do"},
		{"is short by wall", trial.LaneWall, .002, .003, nil, "a run takes 3 ms: starting it is a large part of that; give it more to do"},
	} {
		r := &trial.Report{Metric: tt.metric, Noise: &trial.Noise{Load: tt.load, CPUs: 2}}
		for lane, s := range map[string]float64{trial.LaneCPU: tt.cpu, trial.LaneWall: tt.wall} {
			r.Lanes = append(r.Lanes, trial.Lane{Lane: lane, A: trial.Spread{Median: s}, B: trial.Spread{Median: 1.1 * s}})
		}
		if got := doubtfulTimes(r); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// diffed is what the JSON of a diff says of both sides and its groups.
type diffed struct {
	A, B   struct{ Cost float64 }
	Whole  struct{ Ratio float64 }
	Groups []struct {
		Key     map[string]any
		KeyA    map[string]any `json:"key_a"`
		Matched string
		Sure    bool
		A, B    struct{ Cost float64 }
	}
}

func diffOf(t *testing.T, a, b, by string) (d diffed) {
	t.Helper()
	runs := filepath.Join(test.Shared(t, "compare"), "runs")
	text, err := isobath(t, "diff", filepath.Join(runs, a+".isobath"), filepath.Join(runs, b+".isobath"), "--by", by, "--json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestEditedProgram compares recordings from before and after an edit that
// renamed a file and a function and moved lines: hardly any cost stays without a
// partner.
func TestEditedProgram(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	partner := map[string]string{}
	for _, g := range diffOf(t, "join-a", "join-b", "function").Groups {
		if g.Matched != "only a" && g.Matched != "only b" {
			partner[fmt.Sprint(g.KeyA["function"])] = fmt.Sprint(g.Key["function"])
		}
	}
	if partner["probe"] != "probe" || partner["aggregate"] != "summarise" {
		t.Errorf("functions are paired as %v", partner)
	}
	for _, by := range []string{"function", "line"} {
		d := diffOf(t, "join-a", "join-b", by)
		var alone float64
		for _, g := range d.Groups {
			switch g.Matched {
			case "only a":
				alone += g.A.Cost / d.A.Cost
			case "only b":
				alone += g.B.Cost / d.B.Cost
			}
		}
		if len(d.Groups) < 5 || alone > .03 {
			t.Errorf("by %s: %.1f %% of the cost of %d groups has no partner", by, 100*alone, len(d.Groups))
		}
	}
}

// TestOneRunASide compares one recording with one that has 20 % more work in a
// function: nothing is called, and what has more work has the largest change.
func TestOneRunASide(t *testing.T) {
	d := diffOf(t, "stencil-a", "stencil-b", "function")
	if len(d.Groups) < 4 || d.Groups[0].Key["function"] != "residual" {
		t.Errorf("the first of %d groups is %v", len(d.Groups), d.Groups[0].Key)
	}
	for _, g := range d.Groups {
		if g.Sure {
			t.Errorf("%v is called", g.Key)
		}
		if first := d.Groups[0]; math.Abs(g.B.Cost-g.A.Cost) > first.B.Cost-first.A.Cost {
			t.Errorf("%v changed by %.3g ns, residual by %.3g", g.Key, g.B.Cost-g.A.Cost, first.B.Cost-first.A.Cost)
		}
	}
}

// TestOtherRate compares recordings of one program at 2 000 and at 500 samples a
// second: cost does not depend on the rate.
func TestOtherRate(t *testing.T) {
	d := diffOf(t, "stencil-a", "stencil-rate", "function")
	if d.Whole.Ratio < .9 || d.Whole.Ratio > 1.1 {
		t.Errorf("the whole run costs %.3f times as much", d.Whole.Ratio)
	}
	for _, g := range d.Groups {
		if g.Sure {
			t.Errorf("%v is called", g.Key)
		}
	}
}

// TestNoDifferenceOfLevels: levels that were modelled in one run are not in the other,
// and nothing compares them, in whatever words it is asked.
func TestNoDifferenceOfLevels(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	runs := filepath.Join(test.Shared(t, "compare"), "runs")
	plain, modelled := filepath.Join(runs, "stencil-a.isobath"), filepath.Join(runs, "stencil-model.isobath")
	for _, pair := range [][]string{{plain, modelled}, {modelled, plain}} {
		for _, ask := range [][]string{{"--by", "level"}, {"--by", "function,level"}, {"--metric", "Remote RAM"}, {"--metric", "L1"}, {"--fail-above", "level:5%"}, {"--fail-above", "5%,L1"}} {
			args := append(append([]string{"diff"}, pair...), ask...)
			if _, err := isobath(t, args...); err == nil || !strings.Contains(err.Error(), "level") || exits(args...) != 2 {
				t.Errorf("%q: %v", ask, err)
			}
		}
	}
	// What both have is compared, by what both have.
	text, err := isobath(t, "diff", plain, modelled, "--by", "function")
	if err != nil || strings.Contains(text, "RAM") || !strings.Contains(text, "of run time") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestSARIF checks what code review tools require of every result.
func TestSARIF(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	a, b := pairedFiles(t, 6, 1.3)
	out := filepath.Join(t.TempDir(), "out.sarif")
	args := append([]string{"diff", "--by", "line", "--pair", "--fail-above", "5%", "--sarif", out}, a...)
	if got := exits(append(append(args, "--"), b...)...); got != 3 {
		t.Fatalf("exit %d", got)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct{ ID string }
				}
			}
			Results []struct {
				RuleID, Level string
				Message       struct{ Text string }
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name != "isobath" || len(log.Runs[0].Results) != 2 {
		t.Fatalf("%s", text)
	}
	for i, r := range log.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		if r.RuleID != "isobath/more" || r.Level != "error" || !strings.Contains(r.Message.Text, "% more") || at.ArtifactLocation.URI != "src/solve.c" ||
			at.Region.StartLine != 10+i && at.Region.StartLine != 11-i || len(r.PartialFingerprints["isobath/v1"]) != 32 {
			t.Errorf("result %+v", r)
		}
	}
}
