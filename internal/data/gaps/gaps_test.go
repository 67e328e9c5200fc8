package gaps

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
)

func find(t *testing.T, samples, lost *table.Table) []Gap {
	t.Helper()
	found, err := Find(t.Context(), samples, lost)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func tableOf(t *testing.T, name string, columns ...*table.Column) *table.Table {
	t.Helper()
	tab, err := table.New(name, columns)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func timeColumn(name string, base uint64, values ...int64) *table.Column {
	return &table.Column{Name: name, Kind: table.Time, Unit: "ns", Provenance: table.Measured, Base: base, Data: values}
}

func TestFind(t *testing.T) {
	samples := tableOf(t, "samples", timeColumn("time", 1000, 0, 100_000, 200_000, 256_000),
		table.Ints("cpu", "", table.Measured, []int64{0, 1, 0, 1}, nil),
		table.Floats("counting", "", table.Measured, []float64{1, 0.5, 0.25, 1}, nil))
	has := table.NewBits(4)
	has.Set(0)
	has.Set(1)
	has.Set(3)
	// The gaps count from another time; the second one is close to the first.
	lost := tableOf(t, "gaps", timeColumn("time", 500, 10_500, 11_000, 12_000, 250_500), timeColumn("end", 500, 10_600, 11_100, 90_000, 250_600),
		table.Categories("kind", table.Measured, []uint32{0, 0, 1, 0}, []string{"lost", "throttled"}, nil),
		table.Ints("cpu", "", table.Measured, []int64{3, 1, 0, 3}, nil),
		table.Ints("records", "", table.Measured, []int64{7, 5, 0, 1}, has))
	want := []Gap{
		{Kind: "lost", From: 10_000, To: 10_600, Times: 2, Records: 12, CPUs: []int{1, 3}},
		{Kind: "throttled", From: 11_500, To: 89_500, Times: 1, CPUs: []int{0}},
		{Kind: Multiplexed, From: 100_000, To: 100_000, Times: 1, CPUs: []int{1}, Counting: 0.5},
		{Kind: Multiplexed, From: 200_000, To: 200_000, Times: 1, CPUs: []int{0}, Counting: 0.25},
		{Kind: "lost", From: 250_000, To: 250_100, Times: 1, Records: 1, CPUs: []int{3}},
	}
	if diff := cmp.Diff(want, find(t, samples, lost)); diff != "" {
		t.Error(diff)
	}
	if got := find(t, tableOf(t, "samples", timeColumn("time", 0, 1, 2)), nil); len(got) != 0 {
		t.Errorf("gaps in a recording without any: %+v", got)
	}
	if got := find(t, tableOf(t, "samples", table.Ints("cpu", "", table.Measured, []int64{0}, nil)), lost); got != nil {
		t.Errorf("gaps without a time: %+v", got)
	}
}

// However many, they stay few enough to draw.
func TestFindBounded(t *testing.T) {
	const n = 20_000
	from, to, kind := make([]int64, n), make([]int64, n), make([]uint32, n)
	counting, at := make([]float64, n), make([]int64, n)
	for i := range n {
		from[i], to[i] = int64(10*i), int64(10*i+1)
		at[i] = int64(10 * i)
		counting[i] = float64(i % 2)
	}
	samples := tableOf(t, "samples", timeColumn("time", 0, at...), table.Floats("counting", "", table.Measured, counting, nil))
	lost := tableOf(t, "gaps", timeColumn("time", 0, from...), timeColumn("end", 0, to...), table.Categories("kind", table.Measured, kind, []string{"lost"}, nil))
	got := find(t, samples, lost)
	times := 0
	for _, g := range got {
		times += g.Times
	}
	if len(got) > 2*(parts+1) || times != n+n/2 {
		t.Errorf("%d gaps of %d", len(got), times)
	}
}

// The gaps of ranks that were put together: below each other, and each column
// from a time of its own.
func TestFindOfRanks(t *testing.T) {
	samples := tableOf(t, "samples", timeColumn("time", 1000, 0, 256_000))
	log := func(cpu int32, times ...uint64) *table.Table {
		l := NewLog()
		for i := 0; i < len(times); i += 2 {
			l.Sample(i, cpu, times[i])
			l.Lose(Lost, cpu, times[i+1], 5)
		}
		l.Finish(0)
		out, err := l.Table(times[0])
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all, err := table.Concat("gaps", []*table.Table{log(0, 101_000, 103_000, 201_000, 205_000), log(1, 51_000, 51_500)})
	if err != nil {
		t.Fatal(err)
	}
	want := []Gap{
		{Kind: "lost", From: 50_000, To: 50_500, Times: 1, Records: 5, CPUs: []int{1}},
		{Kind: "lost", From: 100_000, To: 102_000, Times: 1, Records: 5, CPUs: []int{0}},
		{Kind: "lost", From: 200_000, To: 204_000, Times: 1, Records: 5, CPUs: []int{0}},
	}
	if diff := cmp.Diff(want, find(t, samples, all)); diff != "" {
		t.Error(diff)
	}
}
