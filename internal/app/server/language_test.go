package server

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// TestSelectionLanguage runs the page's list of selections through our parser:
// what the page accepts we accept, and the form it writes selects the same rows.
func TestSelectionLanguage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(test.Root(), "web", "src", "state", "testdata", "selections.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases [][2]*string
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	data := randomSamples(t)
	data.RowSets = &query.RowSets{}
	data.RowSets.FindBy(func(context.Context, string) (table.Bits, error) { return table.FullBits(100), nil })
	selected := func(text string) []int {
		e, err := query.Parse(text, data.Table)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		b, err := query.SelectRows(context.Background(), data, e)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return slices.Collect(b.All())
	}
	for _, c := range cases {
		t.Run(*c[0], func(t *testing.T) {
			if c[1] == nil {
				if e, err := query.Parse(*c[0], data.Table); err == nil {
					t.Errorf("the page refuses %q and we read %v", *c[0], e)
				}
				return
			}
			if got, want := selected(*c[1]), selected(*c[0]); !slices.Equal(got, want) {
				t.Errorf("%q selects %v and its standard form %q %v", *c[0], want, *c[1], got)
			}
		})
	}
}

func randomSamples(t *testing.T) query.Data {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	const n = 100
	numbers := func(name string, most int32) *table.Column {
		d := make([]int32, n)
		for i := range d {
			d[i] = r.Int32N(most)
		}
		return &table.Column{Name: name, Kind: table.Number, Data: d}
	}
	names := func(name string, dict ...string) *table.Column {
		d := make([]uint32, n)
		for i := range d {
			d[i] = r.Uint32N(uint32(len(dict)))
		}
		return &table.Column{Name: name, Kind: table.Category, Data: d, Dict: dict}
	}
	times, flags, addresses := make([]int64, n), make([]uint8, n), make([]uint64, n)
	for i := range n {
		times[i], flags[i], addresses[i] = r.Int64N(4000), uint8(r.UintN(2)), 1<<63+r.Uint64N(4)
	}
	level := names("level", "L1", "L3", "L33", "Local RAM")
	level.Valid = table.FullBits(n)
	level.Valid.Clear(7)
	level.Data.([]uint32)[7] = 0
	tab, err := table.New("samples", []*table.Column{
		numbers("latency", 400), numbers("cpu", 8), numbers("line", 6), level,
		names("file", "a.c", "12", "in", "a..b"), numbers(`x-1 "q"`, 3),
		{Name: "time", Kind: table.Time, Data: times}, {Name: "remote", Kind: table.Flag, Data: flags},
		{Name: "addr", Kind: table.Address, Data: addresses},
	})
	if err != nil {
		t.Fatal(err)
	}
	places := make([]uint32, n)
	for i := range places {
		places[i] = r.Uint32N(2)
	}
	return query.Data{Table: tab, Placing: &query.Placing{
		Row: places, Count: 2, Touching: func(name string) ([]bool, error) { return []bool{true, name == "L3:1"}, nil },
	}}
}
