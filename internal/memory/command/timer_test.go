package command

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

// timed is a run of a timer: samples stand for run time, and nothing says how long
// an access took or what served it. Line 25 has half of them, thread 12 most.
func timed(t *testing.T) *table.Table {
	t.Helper()
	const rows = 1000
	clock, ints := make([]int64, rows), map[string][]int64{}
	var file, function, symbol, allocation []uint32
	for i := range rows {
		clock[i] = int64(i) * 5_000_000 // five seconds
		line, thread, code := []int64{25, 16}[i%2], []int64{11, 12, 12, 13}[i%4], uint32(i%2)
		ints["line"], ints["tid"] = append(ints["line"], line), append(ints["tid"], thread)
		ints["cpu"], ints["weight"] = append(ints["cpu"], int64(i%2)), append(ints["weight"], 5_000_000)
		file, function = append(file, 0), append(function, code)
		symbol, allocation = append(symbol, uint32(i%3)), append(allocation, code)
	}
	number := func(name, unit string) *table.Column {
		return table.Ints(name, unit, table.Measured, ints[name], nil)
	}
	tab, err := table.New("samples", []*table.Column{
		{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Data: clock},
		number("cpu", ""), number("tid", ""), number("line", ""), number("weight", "ns"),
		table.Categories("file", table.Derived, file, []string{"/src/blur.c"}, nil),
		table.Categories("function", table.Derived, function, []string{"blur_columns", "blur_rows"}, nil),
		table.Categories("symbol", table.Derived, symbol, []string{"scratch", "weights", "image"}, nil),
		table.Categories("allocation", table.Derived, allocation, []string{"blur.c:54", "blur.c:55"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// What a run of a timer cannot tell is said, and nothing else is offered in its
// place; what it can tell is found.
func TestSearchOfTimerSamples(t *testing.T) {
	s := searcher(t, timed(t))
	cannot := func(why string) is {
		return func(s Suggestion) bool { return strings.Contains(s.Missing, why) && !s.Selects }
	}
	for text, want := range map[string]is{
		"slowest 1 %":                   cannot("how long"),
		"slowest 5 %":                   cannot("how long"),
		"latency over 100":              cannot("how long"),
		"latency 50-200":                cannot("how long"),
		"scratch beyond L2":             cannot("which level"),
		"everything except L1":          cannot("which level"),
		"dram":                          cannot("which level"),
		"L1 hit rate":                   cannot("which level"),
		"slowest thread":                selects("tid = 12"),
		"thread 2":                      selects("tid = 13"), // counted from 0
		"memory bandwidth":              cannot("bytes"),
		"cold misses":                   cannot("why a line"),
		"hottest loop":                  cannot("not loops"),
		"socket 7":                      cannot("has no Package:7"),
		"iteration 3":                   cannot("no column iteration"),
		"hottest rank":                  cannot("no column rank"),
		"which thread is slowest":       selects("tid = 12"),
		"blur.c:25":                     selects(`file = "/src/blur.c" & line = 25`),
		"weights":                       selects("symbol = weights"),
		"weight":                        does(Show, "weight"),
		"samples in the second half":    selects("time >= 2497500000"),
		"first half of the run":         selects("time < 2497500000"),
		"first 10 %":                    selects("time <= 499500000"),
		"last second":                   selects("time >= 3995000000"),
		"last 2 seconds":                selects("time >= 2995000000"),
		"scratch in the last 2 seconds": selects("symbol = scratch & time >= 2995000000"),
	} {
		if p := position(s, t, text, want); p != 1 {
			t.Errorf("%q: position %d in %q", text, p, texts(s, t, text))
		}
	}
	// Nothing that was not meant comes first.
	for _, text := range []string{"malloc", "memcpy", "blur.c:27"} {
		list, err := s.Search(t.Context(), text, shown)
		if err != nil {
			t.Fatal(err)
		}
		if first := list[0].Text; strings.Contains(first, "low ") || strings.Contains(first, "mid ") || strings.Contains(first, "allocation blur.c") {
			t.Errorf("%q: %q is first", text, first)
		}
	}
}

// Where all latencies are the same, none is among the slowest.
func TestSlowestOfEqualOnes(t *testing.T) {
	same := make([]int64, 500)
	for i := range same {
		same[i] = 7
	}
	tab, err := table.New("samples", []*table.Column{table.Ints("latency", "cycles", table.Measured, same, nil)})
	if err != nil {
		t.Fatal(err)
	}
	s := searcher(t, tab)
	all := func(s Suggestion) bool { return s.Selects && *s.Samples == len(same) }
	if p := position(s, t, "slowest 1 %", all); p == 1 {
		t.Errorf("all samples are the slowest of a hundred: %q", texts(s, t, "slowest 1 %"))
	}
}
