package cacheline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
)

type access struct {
	addr         uint64
	tid, cpu     int64
	op, snoop    uint32
	latency      int64
	width        int64
	symbol, file uint32
	line         int64
}

var (
	ops    = []string{"load", "store"}
	snoops = []string{"none", "hit modified"}
)

const (
	load, store    = 0, 1
	none, modified = 0, 1
)

func tableOf(t *testing.T, list []access) *table.Table {
	t.Helper()
	n := len(list)
	addr, tid, cpu, latency, width, line := make([]uint64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	op, snoop, symbol := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	for i, a := range list {
		addr[i], tid[i], cpu[i], op[i], snoop[i], latency[i], width[i], symbol[i], line[i] = a.addr, a.tid, a.cpu, a.op, a.snoop, a.latency, a.width, a.symbol, a.line
	}
	tab, err := table.New("samples", []*table.Column{
		table.Addresses("addr", table.Measured, addr, nil), table.Ints("tid", "", table.Measured, tid, nil), table.Ints("cpu", "", table.Measured, cpu, nil),
		table.Categories("op", table.Measured, op, ops, nil), table.Categories("snoop", table.Measured, snoop, snoops, nil),
		table.Ints("latency", "cycles", table.Measured, latency, nil), table.Ints("width", "bytes", table.Derived, width, nil),
		table.Categories("symbol", table.Derived, symbol, []string{"counters", "queue"}, nil),
		table.Categories("file", table.Derived, make([]uint32, n), []string{"/src/count.c"}, nil), table.Ints("line", "", table.Derived, line, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestKinds has one line of each kind, whose answer is known.
func TestKinds(t *testing.T) {
	const a, b, c, d = 0x1000, 0x1040, 0x1080, 0x10c0
	tab := tableOf(t, []access{
		{a + 0, 1, 0, store, none, 5, 8, 0, 0, 10}, {a + 8, 2, 1, store, none, 5, 8, 0, 0, 11}, {a + 0, 1, 0, load, modified, 200, 8, 0, 0, 10}, {a + 8, 2, 1, load, modified, 300, 8, 0, 0, 11},
		{b + 4, 1, 0, store, none, 5, 4, 1, 0, 20}, {b + 0, 2, 1, load, modified, 100, 8, 1, 0, 21},
		{c, 1, 0, load, none, 4, 8, 0, 0, 30}, {c, 2, 1, load, none, 4, 8, 0, 0, 30},
		{d, 3, 0, store, none, 4, 8, 0, 0, 40}, {d, 3, 1, load, none, 4, 8, 0, 0, 40}, {d, 3, 1, load, none, 4, 8, 0, 0, 40},
	})
	r, err := Find(t.Context(), tab, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	type summary struct {
		Addr                           string
		Loads, Stores, HITM, Contended int
		Sharing                        Sharing
		CPUs, Readers, Writers         []int64
		Symbols                        []string
	}
	var got []summary
	for _, l := range r.Lines {
		got = append(got, summary{l.Addr, l.Loads, l.Stores, l.HITM, l.Contended, l.Sharing, l.CPUs, l.Readers, l.Writers, l.Symbols})
	}
	want := []summary{
		{"0x1000", 2, 2, 2, 2, False, []int64{0, 1}, []int64{1, 2}, []int64{1, 2}, []string{"counters"}},
		{"0x1040", 1, 1, 1, 1, True, []int64{0, 1}, []int64{2}, []int64{1}, []string{"queue"}},
		{"0x10c0", 2, 1, 0, 0, Private, []int64{0, 1}, []int64{3}, []int64{3}, []string{"counters"}},
		{"0x1080", 2, 0, 0, 0, ReadOnly, []int64{0, 1}, []int64{1, 2}, []int64{}, []string{"counters"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	offsets := []LineOffset{
		{Offset: 0, Width: 8, Samples: 2, Loads: 1, Stores: 1, HITM: 1, Threads: []int64{1}, Symbol: "counters", Places: []string{"count.c:10"}},
		{Offset: 8, Width: 8, Samples: 2, Loads: 1, Stores: 1, HITM: 1, Threads: []int64{2}, Symbol: "counters", Places: []string{"count.c:11"}},
	}
	if diff := cmp.Diff(offsets, r.Lines[0].Offsets); diff != "" {
		t.Errorf("offsets (-want +got):\n%s", diff)
	}
	if r.Count != 4 || r.Shared != 3 || r.HITM != 3 || r.Addressed != 11 {
		t.Errorf("report %+v", r)
	}
}

// TestSums: whatever the selection, the lines add up to it.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var list []access
	for range 5000 {
		list = append(list, access{addr: 0x4000 + r.Uint64N(4096), tid: int64(r.IntN(4)), cpu: int64(r.IntN(4)), op: uint32(r.IntN(2)), snoop: uint32(r.IntN(2)), latency: int64(r.IntN(500))})
	}
	tab := tableOf(t, list)
	rows := table.NewBits(len(list))
	hitm, stores, latency := 0, 0, 0.0
	for i, a := range list {
		if r.IntN(3) == 0 {
			continue
		}
		rows.Set(i)
		hitm, stores, latency = hitm+int(a.snoop), stores+int(a.op), latency+float64(a.latency)
	}
	report, err := Find(t.Context(), tab, rows, 0)
	if err != nil {
		t.Fatal(err)
	}
	samples, gotHITM, gotStores, gotLatency := 0, 0, 0, 0.0
	last := report.Lines[0]
	for _, l := range report.Lines {
		samples, gotHITM, gotStores, gotLatency = samples+l.Samples, gotHITM+l.HITM, gotStores+l.Stores, gotLatency+l.Latency
		sum := 0
		for _, o := range l.Offsets {
			sum += o.Samples
		}
		if sum != l.Samples {
			t.Errorf("line %s: %d samples, %d at its offsets", l.Addr, l.Samples, sum)
		}
		if l.HITM > last.HITM {
			t.Errorf("line %s with %d HITM comes after %d", l.Addr, l.HITM, last.HITM)
		}
		last = l
	}
	if samples != rows.Count() || gotHITM != hitm || gotStores != stores || gotLatency != latency {
		t.Errorf("%d samples, %d HITM, %d stores, %g cycles; want %d, %d, %d, %g", samples, gotHITM, gotStores, gotLatency, rows.Count(), hitm, stores, latency)
	}
	if top, err := Find(t.Context(), tab, rows, 3); err != nil || len(top.Lines) != 3 {
		t.Errorf("top 3: %+v, %v", top, err)
	}
}

func TestNoAddresses(t *testing.T) {
	tab, err := table.New("samples", []*table.Column{table.Ints("cpu", "", table.Measured, []int64{1}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := Find(t.Context(), tab, nil, 0); found != nil || err != nil {
		t.Error("lines without addresses")
	}
}

func TestForNobody(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(gone, tableOf(t, []access{{}}), nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("the search goes on for nobody: %v", err)
	}
}

// TestPlaceInObjects moves an object by a page: its lines keep their places in it.
func TestPlaceInObjects(t *testing.T) {
	places := func(move uint64) map[string]int64 {
		tab := tableOf(t, []access{
			{addr: move + 0x1010, symbol: 0}, {addr: move + 0x1050, symbol: 0}, {addr: move + 0x1058, symbol: 0}, {addr: 0x9000, symbol: 1},
		})
		found, err := Find(t.Context(), tab, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		found.PlaceInObjects(t.Context(), tab, nil)
		out := map[string]int64{}
		for _, l := range found.Lines {
			out[fmt.Sprint(l.Symbols, l.Samples)] = *l.ObjectOffset
		}
		return out
	}
	want := map[string]int64{"[counters] 1": 0, "[counters] 2": 64, "[queue] 1": 0}
	for _, move := range []uint64{0, 4096} {
		if diff := cmp.Diff(want, places(move)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestHosts holds that an address of two hosts is two lines, physical or not.
func TestHosts(t *testing.T) {
	list := []access{
		{0x1000, 1, 0, store, none, 5, 8, 0, 0, 10}, {0x1000, 1, 0, load, none, 5, 8, 0, 0, 10},
		{0x1008, 2, 1, store, none, 5, 8, 0, 0, 11}, {0x1008, 2, 1, load, none, 5, 8, 0, 0, 11},
	}
	for _, physical := range []bool{false, true} {
		plain := tableOf(t, list)
		columns := append(slices.Clone(plain.Columns()), table.Categories("host", table.Measured, []uint32{0, 0, 1, 1}, []string{"a", "b"}, nil))
		if physical {
			columns = append(columns, table.Addresses("phys", table.Measured, plain.Column("addr").Data.([]uint64), nil))
		}
		both, err := table.New("samples", columns)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Find(t.Context(), both, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got.Count != 2 || got.Shared != 0 || got.Lines[0].Sharing != Private || got.Lines[0].Host == got.Lines[1].Host {
			t.Errorf("physical %v: %+v", physical, got)
		}
	}
}
