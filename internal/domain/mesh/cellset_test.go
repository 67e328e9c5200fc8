package mesh

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCellSet(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  CellSet
		want string
	}{
		{"none", CellSet{}, "cells"},
		{"one", CellSet{Cells: []int32{3}}, "cells 3"},
		{"runs", CellSet{Cells: []int32{0, 1, 2, 7, 9, 10}}, "cells 0-2 7 9-10"},
		{"of a dump", CellSet{Cells: []int32{4}, Iteration: -60, Dated: true}, "cells@-60 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.set.Name()
			if err != nil || got != tt.want {
				t.Fatalf("%q, %v; want %q", got, err, tt.want)
			}
			back, err := ParseCellSet(got, 11)
			if err != nil || !slices.Equal(back.Cells, tt.set.Cells) || back.Dated != tt.set.Dated || back.Iteration != tt.set.Iteration {
				t.Errorf("%+v, %v; want %+v", back, err, tt.set)
			}
		})
	}
	for _, text := range []string{"cell 3", "cellsed", "cells 11", "cells -1", "cells 3 3", "cells 5-2", "cells 1e9", "cells@x 1", "cells 0-99999999999999999999"} {
		if s, err := ParseCellSet(text, 11); err == nil {
			t.Errorf("%q is read as %v", text, s.Cells)
		}
	}
	scattered := make([]int32, 40_000)
	for i := range scattered {
		scattered[i] = int32(2 * i)
	}
	if _, err := (CellSet{Cells: scattered}).Name(); err == nil || !strings.Contains(err.Error(), "take fewer") {
		t.Errorf("a set of %d scattered cells: %v", len(scattered), err)
	}
}

func TestNthElement(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		v := make([]float64, 1+r.IntN(60))
		for i := range v {
			v[i] = float64(r.IntN(20))
		}
		sorted := slices.Sorted(slices.Values(v))
		n := r.IntN(len(v))
		if got := NthElement(v, n); got != sorted[n] {
			t.Fatalf("element %d of %v is %g", n, sorted, got)
		}
	}
}
