package timeline

import (
	"context"
	"math"
)

// fanout is how many entries of a level the next one sums up. Levels of 16, 256
// and 4,096 operations cost 7 % of the columns they stand for.
const (
	fanoutBits = 4
	levels     = 3
)

// pyramid holds the largest value and the sum of aligned blocks of operations,
// so that a picture of millions of them visits thousands.
type pyramid struct {
	value  func(int32) float64 // of the operation at a position
	larger func(a, b float64) bool
	level  [levels][]block
}

// block sums up 1, 16, 256 or 4,096 neighbouring positions. Those without a
// value are not counted; where is -1 if that is all of them.
type block struct {
	most  float64
	sum   float64
	where int32 // position of most
	count int32
}

// one is the block of a single position.
func (p *pyramid) one(i int32) block {
	v := p.value(i)
	if math.IsNaN(v) {
		return block{where: -1}
	}
	return block{v, v, i, 1}
}

// add joins a neighbour.
func (b *block) add(o block, larger func(a, b float64) bool) {
	if o.where < 0 {
		return
	}
	if b.where < 0 || larger(o.most, b.most) {
		b.most, b.where = o.most, o.where
	}
	b.sum += o.sum
	b.count += o.count
}

func newPyramid(n int, value func(int32) float64, larger func(a, b float64) bool) *pyramid {
	p := &pyramid{value: value, larger: larger}
	below := func(k, i int) block {
		if k == 0 {
			return p.one(int32(i))
		}
		return p.level[k-1][i]
	}
	size := n
	for k := range levels {
		size >>= fanoutBits // the incomplete block at the end is visited one by one
		p.level[k] = make([]block, size)
		for i := range p.level[k] {
			b := below(k, i<<fanoutBits)
			for j := 1; j < 1<<fanoutBits; j++ {
				b.add(below(k, i<<fanoutBits+j), larger)
			}
			p.level[k][i] = b
		}
	}
	return p
}

// walk visits the positions from a to b-1 in blocks as large as together can
// be: together reports whether the positions from i to j lie in one pixel.
func (p *pyramid) walk(a, b int32, together func(i, j int32) bool, visit func(i, j int32, bl block)) {
	for i := a; i < b; {
		taken := false
		for k := levels - 1; k >= 0; k-- {
			size := int32(1) << (fanoutBits * (k + 1))
			if i&(size-1) != 0 || i+size > b || !together(i, i+size-1) {
				continue
			}
			visit(i, i+size-1, p.level[k][i>>(fanoutBits*(k+1))])
			i += size
			taken = true
			break
		}
		if !taken {
			visit(i, i, p.one(i))
			i++
		}
	}
}

// pyramid returns the pyramid of a metric, made on first use.
func (t *Timeline) pyramid(ctx context.Context, a *Ask, steps bool) (*pyramid, error) {
	v, err := t.values(ctx, a.Metric, a.Versus)
	if err != nil {
		return nil, err
	}
	steps = steps && t.bySteps != nil
	key := pyramidKey{a.Metric, a.Versus.key(), steps}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.pyramids[key]; p != nil {
		return p, nil
	}
	at := v.op
	if steps {
		at = func(i int32) float64 { return v.op(t.bySteps[i]) }
	}
	if len(t.pyramids) >= maxPyramids {
		clear(t.pyramids)
	}
	p := newPyramid(t.S.Len(), at, v.larger)
	t.pyramids[key] = p
	return p, nil
}

// maxPyramids bounds those that are kept: each is a tenth of a column.
const maxPyramids = 24

func (v *Versus) key() string {
	if v == nil {
		return ""
	}
	return v.Key
}
