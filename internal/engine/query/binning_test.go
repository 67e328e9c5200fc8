package query

import (
	"math"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

func TestEdges(t *testing.T) {
	seq := func(n int) []int32 {
		s := make([]int32, n)
		for i := range s {
			s[i] = int32(i)
		}
		return s
	}
	var hundreds []float64
	for i := range 101 {
		hundreds = append(hundreds, float64(i*100))
	}
	tests := []struct {
		name string
		data any
		axis Axis
		want []float64
	}{
		{"one bin a value", []int32{3, 4, 6}, Axis{Bins: 100}, []float64{3, 4, 5, 6, 7}},
		{"whole bins", seq(10), Axis{Bins: 4}, []float64{0, 3, 6, 9, 12}},
		{"round numbers", []int32{0, 9999}, Axis{Bins: 100, Lo: 0, Hi: 10000}, hundreds},
		{"floats", []float64{0, 1, 4}, Axis{Bins: 4}, []float64{0, 1, 2, 3, 4}},
		{"one float", []float64{5, 5}, Axis{Bins: 2}, []float64{5, 5.5, 6}},
		{"given range", seq(1000), Axis{Bins: 2, Lo: 100, Hi: 300}, []float64{100, 200, 300}},
		{"log of whole numbers", []int32{1, 10, 99}, Axis{Bins: 4, Scale: Log}, []float64{1, 4, 10, 32, 100}},
		{"log with zeros", []int32{0, 1, 10, 99}, Axis{Bins: 3, Scale: Log}, []float64{0, 1, 10, 100}},
		{"log without positive values", []int32{-4, 0}, Axis{Bins: 5, Scale: Log}, []float64{-4, -3, -2, -1, 0, 1}},
		{"quantiles", []float64{1, 1, 2, 3, 50, 60, 70, 80}, Axis{Bins: 4, Scale: Quantile}, []float64{1, 2, 50, 70, 80}},
		{"no rows", []int32{}, Axis{Bins: 3}, []float64{0, 1}},
		{"infinite values", []float64{math.Inf(-1), 0, 2, math.Inf(1)}, Axis{Bins: 2}, []float64{0, 1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Bin(&table.Column{Name: "x", Data: tt.data}, tt.axis)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.Binning.Edges; !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
				t.Errorf("edges %v, want %v", got, tt.want)
			}
		})
	}
}

// A binning asked for again by the range and number of bins it had is the same.
func TestBinAgain(t *testing.T) {
	c := &table.Column{Name: "x", Data: []int32{0, 3, 90, 143}}
	first, err := Bin(c, Axis{Bins: 72, Scale: Linear})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Bin(c, first.Binning.Axis)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first.Binning.Edges, again.Binning.Edges) {
		t.Errorf("edges %v, then %v", first.Binning.Edges, again.Binning.Edges)
	}
}

// Latencies of 20 years in cycles of 3 GHz must not squeeze the others into one
// bin, nor may they vanish.
func TestRobustRange(t *testing.T) {
	values := make([]int64, 5000)
	for i := range values {
		values[i] = 4 + int64(i%400)
	}
	values[17], values[4000] = 1_892_160_000_000_000_000, 1_892_160_000_000_000_000
	for _, scale := range []Scale{Linear, Log} {
		b, err := Bin(&table.Column{Name: "latency", Data: values}, Axis{Scale: scale})
		if err != nil {
			t.Fatal(err)
		}
		if b.Binning.Hi != 404 || b.Binning.Above != 2 || b.Binning.Max != 1_892_160_000_000_000_000 {
			t.Errorf("%s: up to %v with %d above, largest %v; want up to 404, 2 above", scale, b.Binning.Hi, b.Binning.Above, b.Binning.Max)
		}
		if got := b.Of(17); got != b.Binning.Bins-1 {
			t.Errorf("%s: outlier in bin %d, want the last of %d", scale, got, b.Binning.Bins)
		}
	}
}

func TestBinNames(t *testing.T) {
	c := &table.Column{
		Name: "level", Kind: table.Category, Dict: []string{"L10", "never", "L2", "L1", "RAM"},
		Data: []uint32{2, 0, 0, 4, 4, 4, 3},
	}
	tests := []struct {
		axis Axis
		want []string
	}{
		{Axis{}, []string{"RAM", "L10", "L1", "L2"}},
		{Axis{Scale: Appearance}, []string{"L2", "L10", "RAM", "L1"}},
		{Axis{Scale: Names}, []string{"L1", "L2", "L10", "RAM"}},
		{Axis{Bins: 3}, []string{"RAM", "L10", "2 more"}},
	}
	for _, tt := range tests {
		b, err := Bin(c, tt.axis)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(b.Binning.Labels, tt.want) {
			t.Errorf("%+v: labels %q, want %q", tt.axis, b.Binning.Labels, tt.want)
		}
	}
}

func TestBinErrors(t *testing.T) {
	number := &table.Column{Name: "x", Data: []int32{1}}
	name := &table.Column{Name: "x", Kind: table.Category, Data: []uint32{0}, Dict: []string{"a"}}
	for _, tt := range []struct {
		c *table.Column
		a Axis
	}{
		{number, Axis{Bins: -1}}, {number, Axis{Bins: MaxBins + 1}}, {number, Axis{Lo: 2, Hi: 1}},
		{number, Axis{Lo: math.NaN()}}, {number, Axis{Hi: math.Inf(1)}}, {number, Axis{Scale: Rank}}, {name, Axis{Scale: Log}},
	} {
		if _, err := Bin(tt.c, tt.a); err == nil {
			t.Errorf("%+v: no error", tt.a)
		}
	}
}

func TestNaturalCompare(t *testing.T) {
	sorted := []string{"", "1", "02", "2", "10", "L1", "L1 x", "L2", "L10", "Lx", "a01b2", "a1b02", "a1b10"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := NaturalCompare(a, b), i-j; got > 0 != (want > 0) || got < 0 != (want < 0) {
				t.Errorf("NaturalCompare(%q, %q) = %d, want the sign of %d", a, b, got, want)
			}
		}
	}
}
