package command

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
)

// lulesh is a table with the names that people type for LULESH: 32 CPUs on two
// sockets, a hundred milliseconds.
func lulesh(t testing.TB) query.Data {
	t.Helper()
	const rows = 6000
	r := rand.New(rand.NewPCG(5, 6))
	pickCode := func(n int) []uint32 {
		out := make([]uint32, rows)
		for i := range out {
			out[i] = uint32(r.IntN(n))
		}
		return out
	}
	levels := []string{"L1", "LFB", "L2", "L3", "Local RAM", "Remote RAM", "Remote Cache"}
	level := pickCode(len(levels))
	ints := map[string][]int64{}
	clock := make([]int64, rows)
	for i := range rows {
		cpu := int64(r.IntN(32))
		add := func(name string, v int64) { ints[name] = append(ints[name], v) }
		add("cpu", cpu)
		add("node", cpu/16)
		add("tid", 4000+cpu)
		add("line", []int64{2035, 1044, 512, 77}[r.IntN(4)])
		add("iteration", int64(r.IntN(10)))
		add("latency", 4+int64(level[i])*40+r.Int64N(90)+cpu)
		clock[i] = int64(i) * 100_000_000 / rows
	}
	number := func(name, unit string) *table.Column {
		return table.Ints(name, unit, table.Measured, ints[name], nil)
	}
	remote := make([]uint8, rows)
	for i := range remote {
		remote[i] = uint8(r.IntN(2))
	}
	tab, err := table.New("samples", []*table.Column{
		{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Data: clock},
		number("cpu", ""), number("node", ""), number("tid", ""), number("line", ""), number("iteration", ""), number("latency", "cycles"),
		table.Categories("op", table.Measured, pickCode(2), []string{"load", "store"}, nil),
		table.Categories("level", table.Measured, level, levels, nil),
		table.Flags("remote", table.Derived, remote, nil),
		table.Categories("file", table.Derived, pickCode(2), []string{"/src/lulesh.cc", "/src/util.cc"}, nil),
		table.Categories("function", table.Derived, pickCode(3), []string{"CalcForce", "LagrangeNodal", "main"}, nil),
		table.Categories("symbol", table.Derived, pickCode(7), []string{"m_x", "m_y", "m_z", "m_fx", "m_e", "nodelist", "determ"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	row := make([]uint32, rows)
	for i, c := range ints["cpu"] {
		row[i] = uint32(c)
	}
	return query.Data{Table: tab, Placing: &query.Placing{Row: row, Count: 32, Touching: touching}}
}

// touching says which CPUs are below a resource of two sockets.
func touching(resource string) ([]bool, error) {
	depth, number, _ := strings.Cut(resource, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, err
	}
	per := map[string]int{"Machine": 32, "Package": 16, "NUMA": 16, "L3": 16, "Core": 2, "CPU": 1}[depth]
	if per == 0 {
		return nil, fmt.Errorf("no resource %s", resource)
	}
	out := make([]bool, 32)
	for cpu := range out {
		out[cpu] = cpu/per == n
	}
	return out, nil
}

func luleshSearcher(t testing.TB) *Searcher {
	t.Helper()
	d := lulesh(t)
	e := kernel.New(d, kernel.Options{})
	t.Cleanup(e.Close)
	resources := []string{"Machine:0", "Package:0", "Package:1", "NUMA:0", "NUMA:1", "L3:0", "L3:1"}
	for i := range 16 {
		resources = append(resources, fmt.Sprintf("Core:%d", i))
	}
	for i := range 32 {
		resources = append(resources, fmt.Sprintf("CPU:%d", i))
	}
	return NewSearcher(d, e, resources)
}

// meanings reads a list of inputs and what they mean.
func meanings(t *testing.T, file string) [][2]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out [][2]string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		text, means, ok := strings.Cut(lines.Text(), " => ")
		if ok && !strings.HasPrefix(text, "#") {
			out = append(out, [2]string{text, means})
		}
	}
	return out
}

// slow computes the selections that meanings write with @, by looking at every
// sample.
type slow struct {
	t    *testing.T
	data query.Data
	eng  query.Engine
}

func (s *slow) rows(where string) table.Bits {
	s.t.Helper()
	e, err := query.Parse(where, s.data.Table)
	if err != nil {
		s.t.Fatalf("%s: %v", where, err)
	}
	rows, err := s.eng.Select(context.Background(), e)
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// expand replaces @quantile, @mean and @most by selections.
func (s *slow) expand(where string) string {
	before, rest, ok := strings.Cut(where, "@")
	if !ok {
		return where
	}
	within := ""
	if a, b, ok := strings.Cut(rest, " of "); ok {
		rest, within = a, b
	}
	closing := strings.Count(rest, ")")
	words := strings.Fields(strings.TrimRight(rest, ")"))
	tail := strings.Repeat(")", closing)
	if words[0] == "quantile" {
		p, _ := strconv.ParseFloat(words[2], 64)
		return before + fmt.Sprintf("%s >= %v", words[1], s.quantile(words[1], p)) + tail
	}
	if words[0] == "mean" {
		return before + fmt.Sprintf("%s %s %v", words[1], words[2], s.mean(words[1])) + tail
	}
	return before + s.most(strings.Split(words[1], ","), words[2], words[0] == "least", within) + tail
}

func (s *slow) quantile(column string, p float64) float64 {
	c := s.data.Table.Column(column)
	values := make([]float64, c.Len())
	for i := range values {
		values[i] = c.Float(i)
	}
	slices.Sort(values)
	return values[max(0, int(math.Ceil(p*float64(len(values))))-1)]
}

func (s *slow) mean(column string) float64 {
	c, sum, n := s.data.Table.Column(column), 0.0, 0.0
	for i := range c.Len() {
		if c.Has(i) {
			sum, n = sum+c.Float(i), n+1
		}
	}
	return sum / n
}

func (s *slow) most(by []string, measure string, least bool, within string) string {
	type sum struct{ n, cost float64 }
	sums := map[string]*sum{}
	for i := range s.rows(within).All() {
		var terms []string
		for _, column := range by {
			terms = append(terms, fmt.Sprintf("%s = %q", column, s.data.Table.Column(column).Text(i)))
			if s.data.Table.Column(column).Kind == table.Number {
				terms[len(terms)-1] = strings.ReplaceAll(terms[len(terms)-1], `"`, "")
			}
		}
		key := strings.Join(terms, " & ")
		if sums[key] == nil {
			sums[key] = &sum{}
		}
		sums[key].n++
		sums[key].cost += s.data.Table.Column("latency").Float(i)
	}
	value := func(x *sum) float64 {
		v := map[string]float64{"samples": x.n, "cost": x.cost, "mean": x.cost / x.n}[measure]
		if least {
			return -v
		}
		return v
	}
	best := ""
	for key, x := range sums {
		if best == "" || cmp.Compare(value(x), value(sums[best])) > 0 {
			best = key
		}
	}
	return best
}

// means says whether a suggestion does what was meant.
func (s *slow) means(got Suggestion, want string) bool {
	verb, rest, _ := strings.Cut(want, " ")
	if got.Missing != "" {
		return false
	}
	switch verb {
	case "select":
		return got.Action == Select && slices.Equal(s.rows(got.Where), s.rows(s.expand(rest)))
	case "show", "hide", "correlate":
		return got.Action == Action(verb) && strings.Join(got.Axes, " ") == rest
	case "guide":
		return got.Action == Help && got.Target == "guide"
	case "compare":
		return got.Action == View && got.Target == "changes"
	case "view":
		if rest == "guided" {
			rest = "parallel" // the metrics and clusters are above the axes
		}
		return got.Action == View && got.Target == rest
	case "help":
		return got.Action == Help && got.Target == ""
	}
	return got.Action == Action(verb) && got.Target == rest
}

// share tries a list of inputs and returns how many have what was meant first.
func share(t *testing.T, file string) (first, all int) {
	s := luleshSearcher(t)
	reference := &slow{t, s.data, s.engine}
	for _, in := range meanings(t, file) {
		all++
		list, err := s.Search(t.Context(), in[0], shown)
		if err != nil {
			t.Fatalf("%q: %v", in[0], err)
		}
		if len(list) == 0 {
			t.Errorf("%q ends without an offer", in[0])
			continue
		}
		if n := list[0].Samples; n != nil && *n == 0 {
			t.Errorf("%q: first is %s, which selects nothing", in[0], list[0].Where)
		}
		if reference.means(list[0], in[1]) {
			first++
			continue
		}
		t.Logf("%q: want %s, got %s %s %s (%.2f)", in[0], in[1], list[0].Action, list[0].Where, list[0].Text, list[0].Score)
	}
	t.Logf("%s: what was meant is first for %d of %d inputs (%.1f %%)", file, first, all, 100*float64(first)/float64(all))
	return first, all
}

func TestMeanings(t *testing.T) {
	if first, all := share(t, "inputs.txt"); all < 200 || first < all*95/100 {
		t.Errorf("%d of %d", first, all)
	}
}

// What was kept aside says how inputs fare that nobody tuned for.
func TestMeaningsKeptAside(t *testing.T) {
	if first, all := share(t, "inputs_aside.txt"); all < 60 || first < all*85/100 {
		t.Errorf("%d of %d", first, all)
	}
}

// No input, however strange, ends without something to do.
func TestNoInputEndsInNothing(t *testing.T) {
	s := luleshSearcher(t)
	r := rand.New(rand.NewPCG(7, 8))
	words := []string{"not", "m_x", "L1", "zzz", "cpu", "7", "..", "-", "beyond", "or", "and", ",", "%", "slowest", "line", "é", "()", "0x", "1e9", "without", "\"", "~", "socket", "of", ">", "time"}
	for range 400 {
		var typed []string
		for range 1 + r.IntN(6) {
			typed = append(typed, words[r.IntN(len(words))])
		}
		text := strings.Join(typed, " ")
		list, err := s.Search(t.Context(), text, shown)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(list) == 0 || list[0].Samples != nil && *list[0].Samples == 0 {
			t.Errorf("%q: %+v", text, list)
		}
	}
}
