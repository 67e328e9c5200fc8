package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/docs"
	"github.com/isobath/isobath/internal/base/test"
)

// outputOf runs a verb and returns what it prints.
func outputOf(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := isobath(t, args...)
	if err != nil {
		t.Fatalf("isobath %s: %v", strings.Join(args, " "), err)
	}
	return []byte(out)
}

// records are the rows of a text with heads, by their names.
func records(t *testing.T, text []byte, comma rune) []map[string]string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma = comma
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		out = append(out, row)
	}
	return out
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// holdsEquation fails if the glossary gives a term another equation than the one
// that is worked out here.
func holdsEquation(t *testing.T, term, equation string) {
	t.Helper()
	got, ok := docs.Explain(term)
	if !ok || got.Equation != equation {
		t.Errorf("the glossary says %q of %s; %q is what was checked", got.Equation, term, equation)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// window is what the equations of metrics are about: samples and latency of each
// CPU of the machine, and counts of some samples.
type window struct {
	n, latency               [32]float64 // the CPUs of the example's machine
	all, memory, remote      float64
	walks, translated, total float64
}

func (w *window) add(t *testing.T, row map[string]string) {
	t.Helper()
	cpu, latency := int(number(t, row["cpu"])), number(t, row["latency"])
	w.n[cpu]++
	w.latency[cpu] += latency
	w.all++
	w.total += latency
	if row["level"] == "Local RAM" || row["level"] == "Remote RAM" {
		w.memory++
	}
	if row["remote"] == "1" || row["remote"] == "true" {
		w.remote++
	}
	if row["tlb"] != "" {
		w.translated++
		if strings.Contains(row["tlb"], "walk") || strings.Contains(row["tlb"], "miss") {
			w.walks++
		}
	}
}

// load is the mean and the standard deviation of samples over all CPUs.
func (w *window) load() (mean, deviation float64) {
	mean = w.all / float64(len(w.n))
	for _, n := range w.n {
		deviation += (n - mean) * (n - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(w.n)))
}

// windowEquations are the metrics over windows, each as the glossary has it.
var windowEquations = []struct {
	metric, term, equation string
	value                  func(*window) float64
}{
	{"latency", "average access latency", "1/|R| · Σ_r (Σ latency of r / n_r), resources without samples left out", func(w *window) float64 {
		sum, used := 0.0, 0.0
		for r, n := range w.n {
			if n > 0 {
				sum, used = sum+w.latency[r]/n, used+1
			}
		}
		return sum / used
	}},
	{"imbalance", "load imbalance", "max_r |n_r − n̄| / σ(n); 0 if all are equal", func(w *window) float64 {
		mean, deviation := w.load()
		return max(slices.Max(w.n[:])-mean, mean-slices.Min(w.n[:])) / deviation
	}},
	{"peak", "busiest resource over the mean", "max_r n_r / n̄ − 1", func(w *window) float64 {
		mean, _ := w.load()
		return slices.Max(w.n[:])/mean - 1
	}},
	{"variation", "coefficient of variation of the load", "σ(n) / n̄", func(w *window) float64 {
		mean, deviation := w.load()
		return deviation / mean
	}},
	{"mean", "mean latency of all samples", "Σ latency / n", func(w *window) float64 { return w.total / w.all }},
	{"dram", "share of samples served by memory", "n(Local RAM, Remote RAM) / n", func(w *window) float64 { return w.memory / w.all }},
	{"remote", "share of samples served by another node", "n(remote) / n", func(w *window) float64 { return w.remote / w.all }},
	{"tlb", "share of samples that missed the TLB", "n(walks) / n(samples with a translation)", func(w *window) float64 { return w.walks / w.translated }},
}

// TestEquationsOfWindows works out every metric from the exported rows, by the
// equation that the glossary gives it.
func TestEquationsOfWindows(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	folder := t.TempDir()
	run := strings.TrimSpace(string(outputOf(t, "demo", "--unpack", folder)))
	rows := records(t, outputOf(t, "export", run, "-o", "-"), ',')
	var windows []*window // the same for every metric
	for _, e := range windowEquations {
		holdsEquation(t, e.term, e.equation)
		var answer struct {
			Windows []struct{ From, To, Value float64 }
		}
		if err := json.Unmarshal(outputOf(t, "metrics", run, "--metric", e.metric, "--depth", "CPU", "--windows", "5", "--json"), &answer); err != nil || len(answer.Windows) != 5 {
			t.Fatalf("%s: %d windows, %v", e.metric, len(answer.Windows), err)
		}
		if windows == nil {
			windows = []*window{{}, {}, {}, {}, {}}
			for _, row := range rows {
				at := number(t, row["time"])
				i := slices.IndexFunc(answer.Windows, func(w struct{ From, To, Value float64 }) bool { return at < w.To })
				if i < 0 { // the last has its end
					i = len(windows) - 1
				}
				windows[i].add(t, row)
			}
		}
		largest := 0.0
		for i, got := range answer.Windows {
			largest = max(largest, got.Value)
			if want := e.value(windows[i]); !near(got.Value, want) {
				t.Errorf("%s of window %d is %v, by its equation %v", e.term, i, got.Value, want)
			}
		}
		if largest == 0 {
			t.Errorf("%s is zero everywhere: nothing is held", e.term)
		}
	}
}

// TestEquationsOfGroups does so for the numbers of one group in a report.
func TestEquationsOfGroups(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	folder := t.TempDir()
	run := strings.TrimSpace(string(outputOf(t, "demo", "--unpack", folder)))
	var answer struct {
		Groups []struct {
			Key struct {
				File string
				Line int
			}
			Samples, Latency, Mean, Share float64
			Distribution                  struct{ P50, P90, P99 float64 }
		}
	}
	if err := json.Unmarshal(outputOf(t, "report", run, "--by", "line", "--spread", "--json"), &answer); err != nil || len(answer.Groups) < 10 {
		t.Fatalf("%d groups, %v", len(answer.Groups), err)
	}
	values, all := map[string][]float64{}, 0.0
	for _, row := range records(t, outputOf(t, "export", run, "-o", "-"), ',') {
		v := number(t, row["latency"])
		place := row["file"] + ":" + row["line"]
		values[place] = append(values[place], v)
		all += v
	}
	for term, equation := range map[string]string{"mean": "Σ v / n", "sum": "Σ v", "share": "Σ latency of the group / Σ latency of all", "median": "the value of rank ⌈n/2⌉", "p90": "p-th quantile = the value of rank ⌈p·n/100⌉"} {
		holdsEquation(t, term, equation)
	}
	for _, g := range answer.Groups {
		v := values[fmt.Sprintf("%s:%d", g.Key.File, g.Key.Line)]
		slices.Sort(v)
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		n := float64(len(v))
		rank := func(p float64) float64 { return v[int(math.Ceil(p*n/100))-1] }
		got := []float64{g.Samples, g.Latency, g.Mean, g.Share, g.Distribution.P50, g.Distribution.P90, g.Distribution.P99}
		want := []float64{n, sum, sum / n, sum / all, v[int(math.Ceil(n/2))-1], rank(90), rank(99)}
		if !slices.EqualFunc(got, want, near) {
			t.Errorf("line %d: %v, by the equations %v", g.Key.Line, got, want)
		}
	}
}

// TestEquationsOfSteps does so for operations of a message trace, as far as they
// need no message: those of a sender are held by the tests of steps.
func TestEquationsOfSteps(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	for _, e := range [][2]string{
		{"lateness", "exit − min exit of the step"}, {"lateness at entry", "enter − min enter of the step"}, {"lateness in the partition", "exit − min exit of the step within the partition"},
		{"differential at entry", "lateness at entry − lateness of the rank's operation before it, at least 0"},
	} {
		holdsEquation(t, e[0], e[1])
	}
	rows := records(t, outputOf(t, "steps", "--tsv", test.Fixture(t, "otf2/halo16")), '\t')
	exits, enters, within := map[string]float64{}, map[string]float64{}, map[string]float64{}
	least := func(m map[string]float64, key string, v float64) {
		if old, ok := m[key]; !ok || v < old {
			m[key] = v
		}
	}
	for _, r := range rows {
		least(exits, r["step"], number(t, r["exit"]))
		least(enters, r["step"], number(t, r["enter"]))
		least(within, r["partition"]+" "+r["step"], number(t, r["exit"]))
	}
	before := map[string]float64{}
	for i, r := range rows {
		enter, exit := number(t, r["enter"]), number(t, r["exit"])
		late, entry := exit-exits[r["step"]], enter-enters[r["step"]]
		for column, want := range map[string]float64{
			"global_lateness": late, "global_aggregate_lateness": entry, "lateness": exit - within[r["partition"]+" "+r["step"]],
			"global_aggregate_differential": max(0, entry-before[r["location"]]),
		} {
			if got := number(t, r[column]); got != want {
				t.Fatalf("row %d of process %s: %s is %v, by its equation %v", i, r["process"], column, got, want)
			}
		}
		before[r["location"]] = late
	}
}
