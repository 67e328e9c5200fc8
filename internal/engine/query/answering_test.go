package query

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

// Keeping the first groups is sorting all and cutting.
func TestRanking(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 2, 9, 10, 11, 20, 21, 1000} {
		for _, top := range []int{0, 1, 5, 10, 999, 2000} {
			data := make([]int32, size)
			for i := range data {
				data[i] = int32(i)
			}
			line := &table.Column{Name: "line", Data: data}
			ranking := NewRanking(Group{Top: top}, []*table.Column{line})
			type ranked struct {
				count int
				key   string
			}
			var want []ranked
			for _, i := range r.Perm(size) {
				x := RankedGroup{First: i}
				x.Row.Counts[Selected] = r.IntN(size)
				ranking.Add(x)
				want = append(want, ranked{x.Row.Counts[Selected], line.Text(i)})
			}
			slices.SortFunc(want, func(a, b ranked) int {
				if a.count != b.count {
					return b.count - a.count
				}
				return NaturalCompare(a.key, b.key)
			})
			if top > 0 {
				want = want[:min(top, size)]
			}
			g := ranking.Groups()
			var got []ranked
			for _, row := range g.Rows {
				got = append(got, ranked{row.Counts[Selected], row.Keys[0]})
			}
			if g.Total != size || !slices.Equal(got, want) {
				t.Errorf("first %d of %d: got %v of %d, want %v", top, size, got, g.Total, want)
			}
		}
	}
}
