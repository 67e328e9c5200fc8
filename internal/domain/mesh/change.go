package mesh

import (
	"context"
	"fmt"
	"math"
)

// Name is what the field is called: that of its aggregate, and that it is a change.
func (f *Field) Name() string {
	if f.Changed {
		return f.Spec.String() + "_change"
	}
	return f.Spec.String()
}

// Change is how much a field has risen since another one: a value where both have one.
// Its number of samples is the smaller of the two, which says how sure the change is.
func Change(now, before *Field) (*Field, error) {
	if len(now.Values) != len(before.Values) {
		return nil, fmt.Errorf("the two dumps have %d and %d cells; cells can be compared only where they stay the same", len(before.Values), len(now.Values))
	}
	out := &Field{Spec: now.Spec, Changed: true, Values: make([]float64, len(now.Values)), Counts: now.Counts}
	if now.Samples != nil && before.Samples != nil {
		out.Samples = make([]uint32, len(now.Values))
	}
	for c := range out.Values {
		out.Values[c] = now.Values[c] - before.Values[c]
		if out.Samples == nil {
			continue
		}
		if out.Samples[c] = min(now.Samples[c], before.Samples[c]); out.Samples[c] == 0 {
			out.Values[c] = math.NaN()
		}
	}
	return out, nil
}

// SameCells reports whether two dumps number the same cells, so that the values of a
// cell can be compared.
func (v *Series) SameCells(ctx context.Context, a, b int) (bool, error) {
	first, err := v.Mesh(ctx, a)
	if err != nil {
		return false, err
	}
	second, err := v.Mesh(ctx, b)
	if err != nil {
		return false, err
	}
	s, err := NewSpace(first)
	if err != nil {
		return false, err
	}
	o, err := NewSpace(second)
	if err != nil || s.AMR != o.AMR || s.shape() != o.shape() {
		return false, err
	}
	return !s.AMR || BoxHash(first) == BoxHash(second), nil
}
