package command

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/command/commandtest"
)

func TestSimilarity(t *testing.T) {
	tests := []struct {
		input, phrase string
		want          float64
	}{
		{"abcd", "abcd", 1},
		{"abcd", "abcdefg", 1 - 0.9/7}, // the thesis' example: a completion …
		{"abcd", "abc", 1 - 1.0/3},     // … is nearer than a common beginning
		{"", "abc", 0.7},
		{"xyz", "abc", 0},
	}
	for _, tt := range tests {
		if got := similarity(tt.input, tt.phrase, new([]float32)); got < tt.want-1e-6 || got > tt.want+1e-6 {
			t.Errorf("similarity(%q, %q) = %v, want %v", tt.input, tt.phrase, got, tt.want)
		}
	}
}

// slowDistance is the definition of the weighted distance, without a table.
func slowDistance(a, b string) float64 {
	switch {
	case a == "":
		return insertion * float64(len(b))
	case b == "":
		return deletion * float64(len(a))
	case a[0] == b[0]:
		return slowDistance(a[1:], b[1:])
	}
	return min(slowDistance(a[1:], b)+deletion, slowDistance(a, b[1:])+insertion, slowDistance(a[1:], b[1:])+substitution)
}

func TestSimilarityAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	word := func() string {
		b := make([]byte, 1+r.IntN(6))
		for i := range b {
			b[i] = "abc"[r.IntN(3)]
		}
		return string(b)
	}
	var scratch []float32
	for range 2000 {
		a, b := word(), word()
		want := max(0, 1-slowDistance(a, b)/float64(len(b)))
		if got := similarity(a, b, &scratch); got < want-1e-5 || got > want+1e-5 {
			t.Fatalf("similarity(%q, %q) = %v, want %v", a, b, got, want)
		}
	}
}

func TestEdits(t *testing.T) {
	tests := []struct {
		a, b          string
		whole, prefix int
	}{
		{"latency", "latency", 0, 0},
		{"latnecy", "latency", 1, 1}, // a swap is one slip
		{"latncy", "latency", 1, 1},
		{"mispreidcte", "mispredicted", 2, 1},
		{"abc", "xyz", 3, 3},
	}
	for _, tt := range tests {
		if whole, prefix := edits(tt.a, tt.b, 2); whole != tt.whole || prefix != tt.prefix {
			t.Errorf("edits(%q, %q) = %d, %d, want %d, %d", tt.a, tt.b, whole, prefix, tt.whole, tt.prefix)
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"ibs_dc_miss":  {"ibs", "dc", "miss"},
		"dataSource":   {"data", "source"},
		"L1 TLB":       {"l1", "tlb"},
		"/a/sweep.cc":  {"a", "sweep", "cc"},
		"std::map<T>":  {"std", "map", "t"},
		"größe_Länge ": {"größe", "länge"},
		"":             nil,
	} {
		if got := split(text); !slices.Equal(got, want) {
			t.Errorf("split(%q) = %q, want %q", text, got, want)
		}
	}
}

// legacy is data of older Intel hardware: one TLB bit, no branches.
func legacy(t testing.TB) *table.Table {
	tab, err := table.New("samples", []*table.Column{
		table.Times("time", "ticks", table.Measured, []uint64{5, 6, 7, 8}, nil),
		table.Ints("cpu", "", table.Measured, []int64{0, 1, 0, 1}, nil),
		table.Ints("latency", "cycles", table.Measured, []int64{4, 10, 300, 10}, nil),
		table.Categories("level", table.Measured, []uint32{0, 1, 2, 0}, []string{"L1", "L2", "Local RAM"}, nil),
		table.Categories("tlb", table.Measured, []uint32{0, 0, 1, 0}, []string{"hit", "miss"}, nil),
		table.Flags("remote", table.Absent, make([]uint8, 4), table.NewBits(4)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestMissing(t *testing.T) {
	s := searcher(t, legacy(t))
	for input, want := range map[string]string{
		"mispredicted branches": "the data has no branches; AMD IBS op samples have them (ibs_op_brn_misp)",
		"L1 TLB misses":         "this hardware tells only whether the last TLB level missed; try L2 TLB misses",
		"locked accesses":       "the data does not say which accesses were locked (no column lock)",
		"false sharing":         "the data does not say what snooping found (no column snoop)",
		"remote axis":           "no sample has a value of remote",
	} {
		list, err := s.Search(t.Context(), input, Context{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(s Suggestion) bool { return s.Missing == want })
		if i < 0 || list[i].Selects || list[i].Samples != nil {
			t.Errorf("%q: nothing says %q: %+v", input, want, list)
		}
	}
}

// The thirds of an axis are all its values, each once, whatever is equal.
func TestThirds(t *testing.T) {
	s := searcher(t, ibs(t))
	for _, column := range []string{"latency", "cpu", "line", "ibs_tlb_refill_lat", "ibs_dc_miss_lat", "time"} {
		total := 0
		for _, third := range thirds {
			where, err := third.of(column)(&asked{t.Context(), s})
			if err != nil {
				t.Fatal(err)
			}
			n, err := s.count(t.Context(), countKey{where: where})
			if err != nil {
				t.Fatal(err)
			}
			total += n
		}
		valued, _ := s.count(t.Context(), countKey{where: column + " != none"})
		if total != valued {
			t.Errorf("%s: the thirds have %d samples, the column %d", column, total, valued)
		}
	}
}

// Counts are those of the plain evaluation of the selection.
func TestCounts(t *testing.T) {
	tab := ibs(t)
	s := searcher(t, tab)
	for _, input := range []string{"l1 misses", "slowest 3 %", "low latency", "matmul", "latency 100 200", "correlate mispredicted branches with cpu", "everything"} {
		list, err := s.Search(t.Context(), input, Context{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			if !l.Selects {
				continue
			}
			e, err := query.Parse(l.Where, tab)
			if err != nil {
				t.Fatalf("%q: %q: %v", input, l.Where, err)
			}
			rows, err := query.SelectRows(t.Context(), s.data, e)
			if err != nil {
				t.Fatal(err)
			}
			if l.Samples == nil || *l.Samples != rows.Count() {
				t.Errorf("%q: %q selects %v, want %d", input, l.Where, l.Samples, rows.Count())
			}
		}
	}
}

// With a filter, only samples in it count.
func TestFilter(t *testing.T) {
	s := searcher(t, legacy(t))
	list, err := s.Search(t.Context(), "l1 misses", Context{Filter: "cpu = 1"})
	if err != nil {
		t.Fatal(err)
	}
	if list[0].Text != "select L1 misses" || *list[0].Samples != 1 {
		t.Errorf("%+v", list[0])
	}
}

// Quick says the same as Search once everything has been asked for.
func TestQuick(t *testing.T) {
	s := searcher(t, ibs(t))
	before := s.Quick("slowest", shown)
	if before[0].Resolved() {
		t.Error("a quantile is known before it was asked for")
	}
	want, err := s.Search(t.Context(), "slowest", shown)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range s.Quick("slowest", shown) {
		if got.Where != want[i].Where || (got.Samples == nil) != (want[i].Samples == nil) {
			t.Errorf("%d: %+v, want %+v", i, got, want[i])
		}
	}
}

func TestPropose(t *testing.T) {
	s := searcher(t, legacy(t))
	list := s.Propose([]Proposal{{Text: "CPU 1 is slow", Where: "cpu = 1", Score: 0.4}}, Context{Most: 4})
	if err := s.Fill(t.Context(), list, ""); err != nil {
		t.Fatal(err)
	}
	if len(list) != 4 || list[0].Text != "CPU 1 is slow" || *list[0].Samples != 2 || list[1].Text != "select L1 misses" || *list[1].Samples != 2 {
		t.Errorf("%+v", list)
	}
}

// With 100 axes and 10 000 names a name is found by any of its words.
func TestManyNames(t *testing.T) {
	s := searcher(t, commandtest.Table(100, 10_000))
	for input, want := range map[string]string{
		"kernel_4710":      "kernel_4710_reduce",
		"4713 update":      "boundary_4713_update",
		"solver 17 reduce": "solver_17_reduce",
	} {
		list, err := s.Search(t.Context(), input, Context{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 || !strings.Contains(list[0].Where, want) {
			t.Errorf("%q: %+v", input, list)
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, in := range inputs {
		f.Add(in.text)
	}
	f.Add("select latency in (1, ")
	f.Add("correlate with with 5 5 5")
	f.Add("0x 1e999 -- % >= <")
	tab := legacy(f)
	s := searcher(f, tab)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := s.Search(t.Context(), text, shown)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for _, l := range list {
			if _, err := query.Parse(l.Where, tab); err != nil {
				t.Errorf("%q suggests %q: %v", text, l.Where, err)
			}
		}
	})
}

// BenchmarkKeystroke types an input letter by letter.
func BenchmarkKeystroke(b *testing.B) {
	c := NewCatalogue(commandtest.Table(100, 10_000), nil)
	const input = "correlate kernel 47 updte with attribute 31"
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Match(input[:1+i%len(input)], shown)
	}
}

// A run without samples has commands of the page only.
func TestNoSamples(t *testing.T) {
	tab, err := table.New("none", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSearcher(query.Data{Table: tab}, nil, nil)
	for _, input := range []string{"", "help", "correlate", "select", "show x with y 5", "5"} {
		list, err := s.Search(t.Context(), input, Context{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			if l.Selects || len(l.Axes) > 0 {
				t.Errorf("%q: %+v", input, l)
			}
		}
		if input == "help" && (len(list) == 0 || list[0].Action != Help) {
			t.Errorf("help: %+v", list)
		}
	}
}

// A point or a comma divides thousands where values are whole, and no input with one
// means everything.
func TestThousands(t *testing.T) {
	tab, err := table.New("samples", []*table.Column{
		table.Ints("latency", "cycles", table.Measured, []int64{4, 40, 999, 1500, 4000}, nil),
		table.Floats("temperature", "K", table.Measured, []float64{0.5, 1.2, 1.6, 300, 2000}, nil),
		table.Ints("line", "", table.Measured, []int64{2, 35, 2035, 135, 2135}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := searcher(t, tab)
	for text, want := range map[string]string{
		"latencies above 1.000": "latency > 1000", "latency over 1,000": "latency > 1000", "latency > 1.000": "latency > 1000", "latency > 1\u202f000": "latency > 1000",
		"latency between 1 000 and 2.000 cycles": "latency in 1000..2000", "latency < 1.000.000": "latency < 1000000", "temperature above 1.500": "temperature > 1.5",
		"line 2,035": "line = 2035", "line 2.135": "line = 2135", "line 2,135": "line in (2, 135)", "latency above 12.5": "latency > 12.5",
	} {
		list, err := s.Search(t.Context(), text, Context{})
		if err != nil {
			t.Fatal(err)
		}
		if list[0].Where != want {
			t.Errorf("%q selects %q, want %q: %q", text, list[0].Where, want, texts(s, t, text))
		}
	}
}

// A number with a hash before it is that number.
func TestHashedNumber(t *testing.T) {
	s := luleshSearcher(t)
	for _, tt := range [][2]string{{"#3", "3"}, {"cpu #3", "cpu 3"}, {"m_x on node #1", "m_x on node 1"}} {
		if got, want := texts(s, t, tt[0]), texts(s, t, tt[1]); !slices.Equal(got, want) {
			t.Errorf("%q offers %q, %q offers %q", tt[0], got, tt[1], want)
		}
	}
}
