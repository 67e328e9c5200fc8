package allocated

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
)

func TestSites(t *testing.T) {
	text := func(name string, v ...string) *table.Column {
		in, codes := table.NewInterner(), []uint32{}
		for _, s := range v {
			codes = append(codes, in.CodeString(s))
		}
		return table.Categories(name, table.Derived, codes, in.Names(), nil)
	}
	ended := table.NewBits(2)
	ended.Set(1)
	columns := []*table.Column{
		text("stack", "main (a.c:9);grid (a.c:3)", "main (a.c:9);list"), text("allocation", "a.c:3", "a.c:9"), text("symbol", "u;v", ""),
		table.Ints("lifetime", "ns", table.Measured, []int64{0, 700}, ended), table.Ints("cost", "ns", table.Derived, []int64{30, 0}, nil),
	}
	for name, v := range map[string][]int64{"processes": {1, 2}, "calls": {2, 20000}, "bytes": {200, 100000}, "freed": {0, 20000}, "peak": {200, 50}, "peak_calls": {2, 10}, "at_peak": {200, 5}, "at_end": {200, 0},
		"summed_calls": {0, 7}, "summed_bytes": {0, 35}, "small_seen": {0, 3}, "small_calls": {0, 90}, "small_bytes": {0, 49152}, "samples": {3, 0}, "reads": {2, 0}, "writes": {1, 0}} {
		columns = append(columns, table.Ints(name, "", table.Measured, v, nil))
	}
	a, err := table.New("allocations", columns)
	if err != nil {
		t.Fatal(err)
	}
	life := int64(700)
	grid := AllocationSite{Frames: []AllocationFrame{{"grid", "a.c", 3}, {"main", "a.c", 9}}, Allocation: "a.c:3", Symbols: []string{"u", "v"}, Processes: 1, Calls: 2, Bytes: 200, Peak: 200, PeakCalls: 2, AtPeak: 200, AtEnd: 200,
		Samples: 3, Reads: 2, Writes: 1, Cost: 30, Share: 0.25}
	list := AllocationSite{Frames: []AllocationFrame{{Function: "list"}, {"main", "a.c", 9}}, Allocation: "a.c:9", Symbols: []string{}, Processes: 2, Calls: 20007, Bytes: 100035, Summed: 7, SummedBytes: 35, Freed: 20000,
		Peak: 50, PeakCalls: 10, PeakAtLeast: true, AtPeak: 5, Lifetime: &life, SmallCalls: 90, SmallBytes: 49152, SmallSeen: 3}
	want := &Allocations{Calls: 20009, Bytes: 100235, Peak: 205, SmallCalls: 90, SmallBytes: 49152, Samples: 12, InAllocations: 3, CostUnit: "ns", SiteCount: 2, Sites: []AllocationSite{grid, list}}
	got, err := Sites(t.Context(), a, 12, 0)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := Sites(t.Context(), a, 12, 1); err != nil || len(got.Sites) != 1 || got.Bytes != want.Bytes || got.SiteCount != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	// A table of somebody else.
	short, err := table.New("allocations", columns[:3])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sites(t.Context(), short, 12, 0); err == nil || !strings.Contains(err.Error(), "no column") {
		t.Errorf("%v", err)
	}
}
