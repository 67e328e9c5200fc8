package timeline

// fanout is how many entries of a level the next one sums up. Levels of 16, 256
// and 4,096 operations cost 7 % of the columns they stand for.
const (
	fanoutBits = 4
	levels     = 3
)

// pyramid holds the largest value and the sum of aligned blocks of operations,
// so that a picture of millions of them visits thousands.
type pyramid struct {
	value func(int32) int64 // of the operation at a position
	level [levels][]block
}

// block sums up 16, 256 or 4,096 neighbouring positions.
type block struct {
	most  int64
	sum   int64
	where int32 // position of most
}

func newPyramid(n int, value func(int32) int64) *pyramid {
	p := &pyramid{value: value}
	below := func(k, i int) block {
		if k == 0 {
			v := value(int32(i))
			return block{v, v, int32(i)}
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
				o := below(k, i<<fanoutBits+j)
				b.sum += o.sum
				if o.most > b.most {
					b.most, b.where = o.most, o.where
				}
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
			v := p.value(i)
			visit(i, i, block{v, v, i})
			i++
		}
	}
}

// pyramid returns the pyramid of a metric, made on first use.
func (t *Timeline) pyramid(m Metric, steps bool) (*pyramid, error) {
	value, _, err := t.values(m)
	if err != nil {
		return nil, err
	}
	steps = steps && t.bySteps != nil
	key := pyramidKey{m, steps}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.pyramids[key]; p != nil {
		return p, nil
	}
	at := value
	if steps {
		at = func(i int32) int64 { return value(t.bySteps[i]) }
	}
	p := newPyramid(t.S.Len(), at)
	t.pyramids[key] = p
	return p, nil
}
