package table

import (
	"context"
	"slices"
	"testing"
)

func TestScan(t *testing.T) {
	rows := NewBits(200_000)
	want := []int{0, 63, 65_535, 65_536, 199_999}
	for _, i := range want {
		rows.Set(i)
	}
	if got := slices.Collect(Scan(t.Context(), rows, 200_000)); !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if got := slices.Collect(Scan(t.Context(), nil, 3)); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("all of three: %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	for i := range Scan(ctx, nil, 1<<30) {
		if seen++; i == 10 {
			cancel()
		}
	}
	if seen > scanBlock {
		t.Errorf("%d rows were visited after the client had gone", seen)
	}
}
