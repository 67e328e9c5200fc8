package mesh

import (
	"math"
	"testing"
)

func TestFew(t *testing.T) {
	mean := FieldSpec{Column: "latency", Aggregate: Mean}
	samples := []uint32{0, 1, 4, 5, 9}
	for _, tt := range []struct {
		name string
		f    Field
		than int
		want int
	}{
		{"a mean of fewer than five", Field{Spec: mean, Samples: samples}, 5, 2},
		{"none are few", Field{Spec: mean, Samples: samples}, 1, 0},
		{"a count is what it is", Field{Spec: FieldSpec{Aggregate: Count}, Samples: samples}, 5, 0},
		{"so is a sum", Field{Spec: FieldSpec{Column: "latency", Aggregate: Sum}, Samples: samples}, 5, 0},
		{"the change of a count is not", Field{Spec: FieldSpec{Aggregate: Count}, Changed: true, Samples: samples}, 5, 2},
		{"a variable has no samples", Field{Spec: FieldSpec{}, Values: []float64{1, 2}}, 5, 0},
	} {
		if got := tt.f.Few(tt.than); got != tt.want {
			t.Errorf("%s: Few(%d) = %d, want %d", tt.name, tt.than, got, tt.want)
		}
	}
}

// A change rests on as many samples as the poorer of the two dumps has.
func TestFewOfChange(t *testing.T) {
	now := &Field{Spec: FieldSpec{Column: "latency", Aggregate: Mean}, Values: []float64{5, 6, math.NaN()}, Samples: []uint32{9, 9, 0}}
	before := &Field{Spec: now.Spec, Values: []float64{1, 9, 4}, Samples: []uint32{2, 7, 9}}
	change, err := Change(now, before)
	if err != nil {
		t.Fatal(err)
	}
	if got := change.Few(FewSamples); got != 1 || change.Values[0] != 4 || !math.IsNaN(change.Values[2]) {
		t.Errorf("few = %d, values %v; want 1, and no change of the cell that has no samples now", got, change.Values)
	}
}
