package compare

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// half is what the reference adds to every count so that logarithms exist.
const half = .5

// replicate is samples by group of recordings of one program: [run][group].
type replicate struct {
	a, b   [][]float64 // of pairs
	groups []string
}

// csvRows reads a compressed CSV file of the shared data by column name.
func csvRows(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(test.Shared(t, filepath.Join("compare", name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, record := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// pairsOf reads samples of adjacent pairs by group.
func pairsOf(t *testing.T, rows []map[string]string, program, planted, by string) replicate {
	t.Helper()
	var r replicate
	at := map[string]int{}
	pairs := 0
	mine := slices.DeleteFunc(slices.Clone(rows), func(row map[string]string) bool {
		return row["program"] != program || row["planted"] != planted
	})
	for _, row := range mine {
		at[row[by]] = 0
		pairs = max(pairs, number(t, row["pair"])+1)
	}
	for name := range at {
		r.groups = append(r.groups, name)
	}
	slices.Sort(r.groups)
	for i, name := range r.groups {
		at[name] = i
	}
	for range pairs {
		r.a, r.b = append(r.a, make([]float64, len(r.groups))), append(r.b, make([]float64, len(r.groups)))
	}
	for _, row := range mine {
		side := r.a
		if row["side"] == "b" {
			side = r.b
		}
		side[number(t, row["pair"])][at[row[by]]] += float64(number(t, row["samples"]))
	}
	return r
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// kept are the groups that the reference tests: five samples a run, 1 % of A.
func (r *replicate) kept() []int {
	var keep []int
	total := 0.0
	sums := make([]float64, len(r.groups))
	of := make([]float64, len(r.groups))
	for i := range r.a {
		for g := range r.groups {
			sums[g] += r.a[i][g]
			of[g] += r.a[i][g] + r.b[i][g]
			total += r.a[i][g]
		}
	}
	for g := range r.groups {
		if of[g]/float64(2*len(r.a)) >= 5 && sums[g]/total >= .01 {
			keep = append(keep, g)
		}
	}
	return keep
}

func (r *replicate) observed(keep []int) observed {
	side := func(runs [][]float64) (out [][]estimate) {
		for _, run := range runs {
			var row []estimate
			for _, g := range keep {
				row = append(row, Amount{Sum: run[g] + half, Squares: run[g] + half}.logCost())
			}
			out = append(out, row)
		}
		return out
	}
	return observed{a: side(r.a), b: side(r.b), paired: true}
}

// TestReference compares with numbers that numpy and scipy gave.
func TestReference(t *testing.T) {
	text, err := os.ReadFile(test.Shared(t, "compare/expected/numbers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Groups map[string]struct {
			Prior  struct{ D0, Phi float64 }
			Dof    float64
			Groups []struct {
				Function                            string
				Change, Low, High, P, Q, Detectable float64
				Verdict                             Verdict
				Fails                               bool
			}
		}
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	rows := csvRows(t, "replicates/pairs.csv.gz")
	for _, program := range []string{"stencil", "many"} {
		for _, planted := range []string{"0", "10"} {
			name := fmt.Sprintf("%s +%s%%", program, planted)
			w := want.Groups[name]
			r := pairsOf(t, rows, program, planted, "function")
			keep := r.kept()
			e := several(r.observed(keep))
			got := judge([]judged{{estimates: e, threshold: .05, gated: true}}, .05)[0]
			if len(got) != len(w.Groups) {
				t.Fatalf("%s: %d groups, want %d", name, len(got), len(w.Groups))
			}
			close := func(what string, got, want float64) {
				if math.Abs(got-want) > 1e-4*max(1, math.Abs(want)) {
					t.Errorf("%s: %s %.6g, want %.6g", name, what, got, want)
				}
			}
			close("degrees of freedom of the prior", e.prior.Freedom, w.Prior.D0)
			close("scale", e.prior.Scale, w.Prior.Phi)
			close("degrees of freedom", e.freedom, w.Dof)
			for i, g := range w.Groups {
				o := got[i]
				if r.groups[keep[i]] != g.Function || o.Verdict != g.Verdict || o.Fails != g.Fails {
					t.Errorf("%s: %s is %q, fails %v; want %+v", name, r.groups[keep[i]], o.Verdict, o.Fails, g)
				}
				close("change", o.Ratio-1, g.Change)
				close("low", o.Low-1, g.Low)
				close("high", o.High-1, g.High)
				close("p", o.P, g.P)
				close("q", o.Q, g.Q)
				close("detectable", o.Detectable, g.Detectable)
			}
		}
	}
}

// TestFalseAlarms compares a program with itself: eight of twenty neighbouring
// pairs, the sides of each swapped by a coin, 300 times.
func TestFalseAlarms(t *testing.T) {
	rows := csvRows(t, "replicates/pairs.csv.gz")
	random := rand.New(rand.NewPCG(25, 10))
	for _, program := range []string{"stencil", "many"} {
		for _, by := range []string{"function", "line"} {
			r := pairsOf(t, rows, program, "0", by)
			const draws = 300
			called, failed := 0, 0
			for range draws {
				var some replicate
				some.groups = r.groups
				for _, i := range random.Perm(len(r.a))[:8] {
					a, b := r.a[i], r.b[i]
					if random.IntN(2) == 1 {
						a, b = b, a
					}
					some.a, some.b = append(some.a, a), append(some.b, b)
				}
				got := judge([]judged{{estimates: several(some.observed(some.kept())), threshold: .05, gated: true}}, .05)[0]
				if slices.ContainsFunc(got, func(o Outcome) bool { return o.Verdict == More || o.Verdict == Less }) {
					called++
				}
				if slices.ContainsFunc(got, func(o Outcome) bool { return o.Fails }) {
					failed++
				}
			}
			t.Logf("%s by %s: any group called in %.1f %%, gate failed in %.1f %% of %d", program, by, 100*float64(called)/draws, 100*float64(failed)/draws, draws)
			if float64(called) > .08*draws || float64(failed) > .05*draws {
				t.Errorf("%s by %s: any group called in %d of %d comparisons of a program with itself, the gate failed in %d", program, by, called, draws, failed)
			}
		}
	}
}
