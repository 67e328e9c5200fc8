package cycle

import (
	"context"
	"fmt"

	"github.com/isobath/isobath/internal/base/parallel"
)

// maxPoints bounds the distance matrix: points are numbered with 16 bits in
// packed edges and triangles.
const maxPoints = 1<<16 - 1

// Matrix holds the distances between points, cut off above Cap.
type Matrix struct {
	N   int
	Cap int     // larger distances are stored as Cap+1
	D   []uint8 // N*N, symmetric
}

// At is the distance between two points; Cap+1 stands for anything larger.
func (m *Matrix) At(i, j int) int { return int(m.D[i*m.N+j]) }

func (m *Matrix) row(i int) []uint8 { return m.D[i*m.N : (i+1)*m.N] }

// Distances measures the Levenshtein distance between all points, exactly up
// to limit. Distances of windows of length w are at most w.
func Distances(ctx context.Context, p *Points, limit int) (*Matrix, error) {
	n := p.Len()
	if n > maxPoints {
		return nil, fmt.Errorf("%d distinct windows, more than %d; use --symbol pc, --every or --range", n, maxPoints)
	}
	m := &Matrix{N: n, Cap: min(limit, p.Window), D: make([]uint8, n*n)}
	symbols := p.symbols()
	// Rows grow, so workers take them one at a time from the longest down.
	mine := make([]*myers, parallel.Workers())
	err := parallel.Each(ctx, n, func(_ context.Context, w, k int) error {
		if mine[w] == nil {
			mine[w] = newMyers(symbols, p.Window, m.Cap)
		}
		my, i := mine[w], n-1-k
		my.set(p.At(i))
		row := m.row(i)
		for j := range i {
			row[j] = uint8(my.distance(p.At(j)))
		}
		my.clear(p.At(i))
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.mirror()
	return m, nil
}

// mirror fills the upper triangle, block by block so that both sides stay in
// the cache.
func (m *Matrix) mirror() {
	const block = 64
	for bi := 0; bi < m.N; bi += block {
		for bj := 0; bj <= bi; bj += block {
			for i := bi; i < min(bi+block, m.N); i++ {
				row := m.row(i)
				for j := bj; j < min(bj+block, i); j++ {
					m.D[j*m.N+i] = row[j]
				}
			}
		}
	}
}

// myers computes Levenshtein distances with the bit-parallel algorithm of
// Myers (J. ACM 46, 1999) in the form of Hyyrö: one column of the table is two
// machine words of vertical differences.
type myers struct {
	peq   []uint64 // positions of each symbol in the first window
	w     int
	limit int
	all   uint64
	top   uint64
}

func newMyers(symbols, w, limit int) *myers {
	return &myers{peq: make([]uint64, symbols), w: w, limit: limit, all: ^uint64(0) >> (64 - w), top: 1 << (w - 1)}
}

func (m *myers) set(a []uint32) {
	for i, s := range a {
		m.peq[s] |= 1 << i
	}
}

func (m *myers) clear(a []uint32) {
	for _, s := range a {
		m.peq[s] = 0
	}
}

// distance compares the set window with b. The result is exact up to limit and
// limit+1 above it.
func (m *myers) distance(b []uint32) int {
	// Each symbol of b that the other window lacks costs at least one edit.
	if m.limit < m.w {
		lacking := 0
		for _, s := range b {
			if m.peq[s] == 0 {
				lacking++
			}
		}
		if lacking > m.limit {
			return m.limit + 1
		}
	}
	pv, mv, score := m.all, uint64(0), m.w
	for _, s := range b {
		eq := m.peq[s]
		xv := eq | mv
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph := mv | ^(xh | pv)
		mh := pv & xh
		if ph&m.top != 0 {
			score++
		}
		if mh&m.top != 0 {
			score--
		}
		ph = ph<<1 | 1
		mh <<= 1
		pv = mh | ^(xv | ph)
		mv = ph & xv
	}
	return min(score, m.limit+1)
}
