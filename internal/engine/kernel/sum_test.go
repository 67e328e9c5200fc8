package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

// Sums of numbers in units of a power of two lose nothing: they are those of
// numbers of any length, also after a part was taken away again.
func TestExactSums(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	tests := []struct {
		name string
		form form
		next func() float64
	}{
		{"eighths", inUnits, func() float64 { return float64(r.IntN(8000))/8 - 300 }},
		{"zeros", inUnits, func() float64 { return 0 }},
		{"any fractions", inUnits, r.Float64},
		{"both signs", inFixed, func() float64 { return r.NormFloat64() * math.Exp(r.Float64()*8) * 1e9 }},
		{"over and under one", inFixed, func() float64 { return math.Exp(r.Float64()*20 - 10) }},
		{"very far apart", inFloats, func() float64 { return math.Exp(r.Float64()*200 - 100) }},
		{"not finite", inFloats, func() float64 { return math.Inf(r.IntN(2)*2 - 1) }},
		{"below the normal ones", inFloats, func() float64 { return float64(1+r.IntN(100)) * 5e-324 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := make([]float64, 1000)
			for i := range data {
				data[i] = tt.next()
			}
			if tt.name == "any fractions" {
				data[17], data[18] = math.NaN(), math.Copysign(0, -1)
			}
			v := newValues(&table.Column{Data: data})
			if v.form != tt.form {
				t.Fatalf("form %d, want %d", v.form, tt.form)
			}
			if !v.exact() {
				return
			}
			all, part := make([]total, 1), make([]total, 1)
			group := make([]uint8, len(data))
			sumWide(all, group, v.block(0, len(data), &valueScratch{}))
			sumWide(part, group[:700], v.block(0, 700, &valueScratch{}))
			all[0].sub(&part[0])
			sum, squares := all[0].sums(v)
			wantSum, wantSquares := exactly(data[700:])
			if sum != wantSum || squares != wantSquares {
				t.Errorf("got %v and %v, want %v and %v", sum, squares, wantSum, wantSquares)
			}
		})
	}
}

func exactly(data []float64) (sum, squares float64) {
	s, q := new(big.Float).SetPrec(4000), new(big.Float).SetPrec(4000)
	for _, v := range data {
		x := new(big.Float).SetPrec(4000).SetFloat64(v)
		s.Add(s, x)
		q.Add(q, x.Mul(x, x))
	}
	sum, _ = s.Float64()
	squares, _ = q.Float64()
	return sum, squares
}
