package guide

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/engine/query"
)

// The default sizes of leaves: those of the original MemAxes code.
const (
	DefaultWindow = 1000
	DefaultSlide  = 600
	// leastLeaves is how many leaves defaults give at least, where there are
	// that many samples.
	leastLeaves = 8
)

// TreeOptions say what to cluster.
type TreeOptions struct {
	Axis   string
	Metric string
	Depth  string // empty: CPU
	Where  query.Expr
	// Window is the samples of a leaf, Slide the samples from the start of one
	// leaf to the next; 0: the defaults, scaled down for few samples.
	Window, Slide int
	Progress      Progress // may be nil
}

type treeKey struct {
	axis, metric, depth, where string
	window, slide              int
}

// Tree is the full merge tree of neighbouring windows along an axis. Node i is a
// leaf if i < Leaves, else the result of Merges[i-Leaves].
type Tree struct {
	Axis, Metric, Depth, Unit string
	Window, Slide             int
	Samples                   int // that have a value on the axis
	Leaves                    int
	Nodes                     []Node
	Merges                    []Merge

	ends ends // of leaves
}

func (t *Tree) bytes() int64 {
	const node, merge, border = 32, 32, 24 // of which there are many
	return node*int64(len(t.Nodes)) + merge*int64(len(t.Merges)) + border*int64(len(t.ends.borders))
}

// Node is a range of the sorted samples.
type Node struct {
	Begin, End int // sorted positions Begin <= p < End
	Value      float64
	Known      bool // false: no sample to compute the metric from
}

// Merge joins two neighbouring nodes.
type Merge struct {
	A, B int // nodes, A before B
	// Distance is the difference of their metrics, infinite if one has none.
	Distance float64
	// Height is the largest distance in the subtree. Unions are measured anew,
	// so a merge may be closer than one before it; heights never fall.
	Height float64
}

// Cluster is a node chosen by a cut. Neighbours share samples where windows
// overlap.
type Cluster struct {
	Node     int
	Begin    int // sorted positions
	End      int
	From, To float64 // values of the first and the last sample
	Samples  int
	Value    float64
	Known    bool
}

// Expr selects the samples of a cluster by their values. It is exact unless
// several samples at a border have the same value.
func (c *Cluster) Expr(axis string) query.Expr {
	return query.Range{Column: axis, Lo: numberValue(c.From), Hi: numberValue(c.To)}
}

// Cluster builds the merge tree of a metric along an axis, or remembers it.
func (g *Guide) Cluster(ctx context.Context, o TreeOptions) (*Tree, error) {
	m, err := g.prepare(o.Metric, o.Depth)
	if err != nil {
		return nil, err
	}
	if o.Window < 0 || o.Slide < 0 || o.Window > 0 && o.Slide > o.Window {
		return nil, fmt.Errorf("windows of %d samples every %d: want at least 1, and no gap between windows", o.Window, o.Slide)
	}
	text, stable := keyOf(o.Where)
	key := treeKey{o.Axis, m.Name, m.Depth, text, o.Window, o.Slide}
	if t, ok := lookup[*Tree](g, key); ok && stable {
		return t, nil
	}
	o.Progress.tell("sorting", 0, g.data.Table.Rows())
	order, err := g.along(ctx, o.Axis, o.Where)
	if err != nil {
		return nil, err
	}
	t := &Tree{Axis: o.Axis, Metric: m.Name, Depth: m.Depth, Unit: m.unit, Samples: order.n}
	t.Window, t.Slide = leafSize(order.n, o.Window, o.Slide)
	if err := t.build(ctx, m, order, o.Progress); err != nil {
		return nil, err
	}
	if stable {
		store(g, key, t)
	}
	return t, nil
}

// leafSize fills in defaults.
func leafSize(n, window, slide int) (int, int) {
	if window == 0 && slide == 0 {
		window, slide = DefaultWindow, DefaultSlide
		if n >= leastLeaves && (n-window)/slide+1 < leastLeaves {
			// (n-w)/Δ+1 leaves with Δ = 0.6 w is at least 8 for w = n/5.2.
			window = max(int(float64(n)/5.2), 1)
			slide = max(window*3/5, 1)
		}
	}
	if window == 0 {
		window = max(slide*5/3, slide)
	}
	if slide == 0 {
		slide = max(window*3/5, 1)
	}
	return window, slide
}

// leaves are the ranges of sliding windows: the last one reaches to the end.
func leaves(n, window, slide int) []Node {
	if n == 0 {
		return nil
	}
	count := 1
	if n > window {
		count = (n-window)/slide + 1
	}
	out := make([]Node, count)
	for i := range out {
		out[i].Begin, out[i].End = i*slide, i*slide+window
	}
	out[count-1].End = n
	return out
}

func (t *Tree) build(ctx context.Context, m *measure, order *along, progress Progress) error {
	t.Nodes = leaves(t.Samples, t.Window, t.Slide)
	t.Leaves = len(t.Nodes)
	p, err := accumulate(ctx, m, order, t.Nodes, progress)
	if err != nil {
		return err
	}
	t.ends = p.ends
	for i := range t.Nodes {
		p.measure(m, &t.Nodes[i])
	}
	return t.merge(ctx, m, p, progress)
}

// prefix holds, at every border of a leaf, what was counted before it. Any union
// of neighbouring leaves is a range between two borders, so its metric costs as
// much as there are slots, however many samples it has.
type prefix struct {
	ends
	slots   int
	n       []uint32
	valued  []uint32 // nil if the metric needs no latency
	sum     []float64
	scratch *cells
}

// maxPrefix bounds the cells of a prefix table, 16 bytes each.
const maxPrefix = 1 << 27

func accumulate(ctx context.Context, m *measure, order *along, leaves []Node, progress Progress) (*prefix, error) {
	p := &prefix{slots: m.count, scratch: newCells(m.count)}
	var borders []int
	for _, l := range leaves {
		borders = append(borders, l.Begin, l.End)
	}
	slices.Sort(borders)
	p.ends = newEnds(slices.Compact(borders))
	size := len(p.borders) * m.count
	if size > maxPrefix {
		return nil, fmt.Errorf("%d windows of %d resources are too many to cluster; use a larger slide, at least %d",
			len(leaves), m.count, order.n/(maxPrefix/(2*m.count))+1)
	}
	p.n = make([]uint32, size)
	if m.cost != nil {
		p.valued, p.sum = make([]uint32, size), make([]float64, size)
	}
	running := newCells(m.count + 1)
	i, before := 0, math.NaN()
	border := func() {
		p.before[i] = before
		copy(p.n[i*p.slots:], running.n[:p.slots])
		if m.cost != nil {
			copy(p.valued[i*p.slots:], running.valued[:p.slots])
			copy(p.sum[i*p.slots:], running.sum[:p.slots])
		}
		i++
	}
	err := order.each(ctx, m, func(s *stretch) error {
		for k, row := range s.rows {
			at := s.first + k
			if at%65536 == 0 {
				parallel.StandBack(ctx)
				if err := ctx.Err(); err != nil {
					return err
				}
				progress.tell("counting by window", at, order.n)
			}
			if i < len(p.borders) && p.borders[i] == at {
				p.after[i] = s.value(k)
				if k > 0 {
					before = s.value(k - 1)
				}
				border()
			}
			running.add(s.m, int(row))
		}
		before = s.value(len(s.rows) - 1)
		return nil
	})
	if err == nil && i < len(p.borders) {
		border() // the end of all
	}
	return p, err
}

// measure computes the metric of a node.
func (p *prefix) measure(m *measure, n *Node) {
	a, b := p.at(n.Begin)*p.slots, p.at(n.End)*p.slots
	for k := range p.slots {
		p.scratch.n[k] = p.n[b+k] - p.n[a+k]
		if p.sum != nil {
			p.scratch.valued[k] = p.valued[b+k] - p.valued[a+k]
			p.scratch.sum[k] = p.sum[b+k] - p.sum[a+k]
		}
	}
	n.Value, n.Known = m.value(p.scratch)
}

// pending is a pair of neighbours that may be merged.
type pending struct {
	a, b     int // nodes
	distance float64
	begin    int // of a: equal distances are merged from the left
}

type queue []pending

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].distance != q[j].distance {
		return q[i].distance < q[j].distance
	}
	return q[i].begin < q[j].begin
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(pending)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// merge joins the closest neighbours until one node is left.
func (t *Tree) merge(ctx context.Context, m *measure, p *prefix, progress Progress) error {
	const gone = -2
	n := t.Leaves
	t.Nodes = slices.Grow(t.Nodes, max(n-1, 0))
	left, right := make([]int, 2*n), make([]int, 2*n) // neighbours, -1 at the ends
	var q queue
	for i := range n {
		left[i], right[i] = i-1, i+1
	}
	if n > 0 {
		right[n-1] = -1
	}
	for i := range n - 1 {
		q = append(q, t.pair(i, i+1))
	}
	heap.Init(&q)
	heights := make([]float64, 2*n)
	for len(q) > 0 {
		next := heap.Pop(&q).(pending)
		a, b := next.a, next.b
		if left[a] == gone || left[b] == gone {
			continue // one of them is part of a larger node by now
		}
		if len(t.Merges)%1024 == 0 {
			parallel.StandBack(ctx)
			if err := ctx.Err(); err != nil {
				return err
			}
			progress.tell("merging", len(t.Merges), n-1)
		}
		id := len(t.Nodes)
		union := Node{Begin: t.Nodes[a].Begin, End: t.Nodes[b].End}
		p.measure(m, &union)
		t.Nodes = append(t.Nodes, union)
		heights[id] = max(next.distance, heights[a], heights[b])
		t.Merges = append(t.Merges, Merge{a, b, next.distance, heights[id]})
		left[id], right[id] = left[a], right[b]
		left[a], left[b] = gone, gone
		if l := left[id]; l >= 0 {
			right[l] = id
			heap.Push(&q, t.pair(l, id))
		}
		if r := right[id]; r >= 0 {
			left[r] = id
			heap.Push(&q, t.pair(id, r))
		}
	}
	return nil
}

func (t *Tree) pair(a, b int) pending {
	x, y := &t.Nodes[a], &t.Nodes[b]
	d := math.Inf(1)
	if x.Known && y.Known {
		d = math.Abs(x.Value - y.Value)
	}
	return pending{a, b, d, x.Begin}
}

// CutCount returns k clusters: the last k-1 merges undone.
func (t *Tree) CutCount(k int) []Cluster {
	k = min(max(k, 1), t.Leaves)
	made := len(t.Nodes) - (k - 1) // nodes that exist by then
	return t.cut(func(node int) bool { return node < made })
}

// CutHeight returns the largest nodes within which no merge was farther than h.
func (t *Tree) CutHeight(h float64) []Cluster {
	return t.cut(func(node int) bool { return node < t.Leaves || t.Merges[node-t.Leaves].Height <= h })
}

// CutDepth returns the nodes d merges below the root, and leaves above that.
func (t *Tree) CutDepth(d int) []Cluster {
	depth := make([]int, len(t.Nodes))
	for i := len(t.Merges) - 1; i >= 0; i-- {
		below := depth[t.Leaves+i] + 1
		depth[t.Merges[i].A], depth[t.Merges[i].B] = below, below
	}
	return t.cut(func(node int) bool { return node < t.Leaves || depth[node] >= d })
}

// cut walks down from the root to the first nodes that are kept.
func (t *Tree) cut(keep func(node int) bool) []Cluster {
	if len(t.Nodes) == 0 {
		return nil
	}
	var out []Cluster
	stack := []int{len(t.Nodes) - 1}
	for len(stack) > 0 {
		node := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !keep(node) {
			m := t.Merges[node-t.Leaves]
			stack = append(stack, m.B, m.A)
			continue
		}
		out = append(out, t.cluster(node))
	}
	return out
}

func (t *Tree) cluster(node int) Cluster {
	n := t.Nodes[node]
	return Cluster{
		Node: node, Begin: n.Begin, End: n.End, Samples: n.End - n.Begin, Value: n.Value, Known: n.Known,
		From: t.ends.from(n.Begin), To: t.ends.to(n.End),
	}
}
