package query

import (
	"math"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"sync"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

const (
	// MaxBins is the most bins an axis may have; with the one for missing values
	// a bin number fits into 16 bits with room to spare.
	MaxBins = 4096

	defaultBins = 100
	// More names than this are folded into the last bin unless an axis asks for
	// more bins itself: nobody reads a thousandth label.
	defaultNames = 1000

	// sampleRows is how many values are looked at to place quantiles. Ranges and
	// edges may come from a sample; counts never do.
	sampleRows = 1 << 18
)

// Binner is a binning together with the column it divides.
type Binner struct {
	Binning *Binning
	// Names is the bin of each dictionary code of a category.
	Names []uint16

	column *table.Column
}

// Extent is what divisions of a column depend on besides the axis. It takes a
// look at every row, so whoever divides a column often keeps it.
type Extent struct {
	column  *table.Column // its values only where outside needs them
	rows    int
	numbers numbers
	// The rest is worked out when first asked for.
	names   func() names                    // of a category
	sample  func() []float64                // finite values in order
	ranges  func() (linear, log [2]float64) // without outliers
	outside func(lo, hi float64) (below, above int, err error)
}

// Measure looks at a column that is to be divided.
func Measure(c *table.Column) *Extent {
	e := &Extent{column: c, rows: c.Len()}
	if c.Kind == table.Category {
		e.names = sync.OnceValue(func() names { return countNames(c) })
		return e
	}
	e.numbers = describe(c)
	if n := &e.numbers; n.count == n.infinite {
		n.least, n.most, n.positive = 0, 0, math.Inf(1)
	}
	e.sample = func() []float64 { return sample(c) }
	e.outside = func(lo, hi float64) (below, above int, err error) {
		below, above = countOutside(c, lo, hi)
		return below, above, nil
	}
	e.rangeOnce()
	return e
}

func (e *Extent) rangeOnce() {
	e.ranges = sync.OnceValues(func() (linear, log [2]float64) {
		values := e.sample()
		return robustRange(values, Linear, e.numbers), robustRange(values, Log, e.numbers)
	})
}

// Bin divides a column as an axis asks. The division depends on the column
// alone, not on a filter or a selection, so that pictures keep their scale.
func Bin(c *table.Column, a Axis) (*Binner, error) { return Measure(c).Bin(a) }

// Bin divides the column.
func (e *Extent) Bin(a Axis) (*Binner, error) {
	if a.Bins < 0 || a.Bins > MaxBins {
		return nil, Refuse("axis %s: %d bins; want 1 to %d, or 0 for the default", a.Column, a.Bins, MaxBins)
	}
	if !finite(a.Lo) || !finite(a.Hi) || a.Lo > a.Hi {
		return nil, Refuse("axis %s: range %g..%g is not a range", a.Column, a.Lo, a.Hi)
	}
	if e.column.Kind == table.Category {
		return e.binNames(a)
	}
	return e.binNumbers(a)
}

// Of returns the bin of a row, the last one if it has no value. It is the
// definition that engines with faster ways must agree with.
func (b *Binner) Of(row int) int {
	v, ok := Number(b.column, row)
	if !ok {
		return b.Binning.Bins
	}
	if b.Names != nil {
		return int(b.Names[int(v)])
	}
	return BinOf(b.Binning.Edges, v)
}

// BinOf returns the bin of a number: the last i with edges[i] <= v, kept within
// the first and the last bin.
func BinOf(edges []float64, v float64) int {
	i := sort.Search(len(edges), func(i int) bool { return edges[i] > v }) - 1
	return min(max(i, 0), len(edges)-2)
}

// Number returns the value of a row as a number, and whether it has one. A NaN
// is no value.
func Number(c *table.Column, row int) (float64, bool) {
	if !c.Has(row) {
		return 0, false
	}
	v := c.Float(row)
	return v, v == v
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// natural is the scale of a column that nobody chose one for.
func natural(c *table.Column) Scale {
	if c.Kind == table.Number && (c.Name == samples.Latency || c.Unit == samples.Cycles) {
		return Log
	}
	return Linear
}

// numbers is what a division of a number column depends on.
type numbers struct {
	count, infinite int
	min, max        float64 // of all values
	least, most     float64 // of the finite ones
	positive        float64 // least finite value above 0
	whole           bool
}

func describe(c *table.Column) numbers {
	switch d := c.Data.(type) {
	case []int32:
		return describeWhole(c, d)
	case []int64:
		return describeWhole(c, d)
	case []uint8:
		return describeWhole(c, d)
	case []uint64:
		return describeWhole(c, d)
	case []float64:
		return describeFloats(c, d)
	}
	return numbers{}
}

func describeWhole[T int32 | int64 | uint8 | uint64](c *table.Column, values []T) numbers {
	n := numbers{whole: true, count: len(values), positive: math.Inf(1)}
	if c.Valid != nil {
		n.count = 0
		for i := range values {
			if c.Valid.Get(i) {
				n.count++
			}
		}
	}
	if n.count == 0 {
		n.min, n.max = math.Inf(1), math.Inf(-1)
		n.least, n.most = n.min, n.max
		return n
	}
	first := 0
	for !c.Has(first) {
		first++
	}
	lo, hi, positive := values[first], values[first], T(0)
	for i, v := range values {
		// Rows without a value are zero, and zero changes nothing below if it
		// lies between the others; only if it does not is validity asked.
		if v < lo && c.Has(i) {
			lo = v
		}
		if v > hi && c.Has(i) {
			hi = v
		}
		if v > 0 && (v < positive || positive == 0) {
			positive = v
		}
	}
	n.min, n.max = float64(lo), float64(hi)
	n.least, n.most = n.min, n.max
	if positive > 0 {
		n.positive = float64(positive)
	}
	return n
}

func describeFloats(c *table.Column, values []float64) numbers {
	n := numbers{min: math.Inf(1), max: math.Inf(-1), least: math.Inf(1), most: math.Inf(-1), positive: math.Inf(1)}
	for i, v := range values {
		if v != v || !c.Has(i) {
			continue
		}
		n.count++
		if math.IsInf(v, 0) {
			n.infinite++
			n.min, n.max = min(n.min, v), max(n.max, v)
			continue
		}
		if v < n.least {
			n.least = v
		}
		if v > n.most {
			n.most = v
		}
		if v > 0 && v < n.positive {
			n.positive = v
		}
	}
	n.min, n.max = min(n.min, n.least), max(n.max, n.most)
	return n
}

func (e *Extent) binNumbers(a Axis) (*Binner, error) {
	c, n := e.column, e.numbers
	switch a.Scale {
	case Natural:
		a.Scale = natural(c)
	case Linear, Log, Quantile:
	default:
		return nil, Refuse("axis %s: a column of kind %v has no %s scale; use linear, log or quantile", a.Column, c.Kind, a.Scale)
	}
	if a.Bins == 0 {
		a.Bins = defaultBins
	}
	b := &Binning{Axis: a, Missing: n.count < e.rows, Min: n.min, Max: n.max}
	if n.count == 0 {
		b.Min, b.Max = math.NaN(), math.NaN()
	}
	if a.Scale == Log && math.IsInf(n.positive, 1) {
		b.Scale = Linear
	}
	b.Edges = e.divide(b.Axis, n)
	b.Bins = len(b.Edges) - 1
	b.Lo, b.Hi = b.Edges[0], b.Edges[b.Bins]
	if n.min < b.Lo || n.max > b.Hi {
		var err error
		if b.Below, b.Above, err = e.outside(b.Lo, b.Hi); err != nil {
			return nil, err
		}
	}
	return &Binner{Binning: b, column: c}, nil
}

func countOutside(c *table.Column, lo, hi float64) (below, above int) {
	switch d := c.Data.(type) {
	case []int32:
		return outside(c, d, lo, hi)
	case []int64:
		return outside(c, d, lo, hi)
	case []uint8:
		return outside(c, d, lo, hi)
	case []uint64:
		return outside(c, d, lo, hi)
	case []float64:
		return outside(c, d, lo, hi)
	}
	return 0, 0
}

func outside[T int32 | int64 | uint8 | uint64 | float64](c *table.Column, values []T, lo, hi float64) (below, above int) {
	for i, v := range values {
		// Few rows are outside: only those are asked whether they have a value.
		if f := float64(v); f < lo && c.Has(i) {
			below++
		} else if f > hi && c.Has(i) {
			above++
		}
	}
	return below, above
}

// divide returns the edges of an axis whose scale and number of bins are set.
func (e *Extent) divide(a Axis, n numbers) []float64 {
	given := a.Lo != 0 || a.Hi != 0
	lo, hi := a.Lo, a.Hi
	if !given {
		lo, hi = n.least, n.most
		if a.Scale != Quantile { // outliers take no room there
			linear, log := e.ranges()
			if a.Scale == Log {
				linear = log
			}
			lo, hi = linear[0], linear[1]
		}
		if n.whole {
			hi++ // the upper edge of the last value, one unit wide like the others
		}
	}
	if lo >= hi {
		hi = beyond(lo)
	}
	switch a.Scale {
	case Log:
		return logEdges(a, n, lo, hi, given)
	case Quantile:
		return quantileEdges(e.sample(), a, lo, hi, n.whole)
	}
	return linearEdges(a.Bins, lo, hi, n.whole)
}

// beyond returns a number above v, far enough to be a range.
func beyond(v float64) float64 { return v + max(1, math.Abs(v)*1e-9) }

// linearEdges divides a range evenly. Narrow bins of whole numbers are made a
// whole number wide: otherwise some would hold one value more than others, and
// an even distribution would look like a comb.
func linearEdges(bins int, lo, hi float64, whole bool) []float64 {
	const narrow = 20
	if width := (hi - lo) / float64(bins); whole && width < narrow {
		lo, hi = math.Floor(lo), math.Ceil(hi)
		w := max(1, math.Ceil((hi-lo)/float64(bins)))
		n := int(math.Ceil((hi - lo) / w))
		edges := make([]float64, n+1)
		for i := range edges {
			edges[i] = lo + float64(i)*w
		}
		return slices.Compact(edges)
	}
	edges := make([]float64, bins+1)
	for i := range edges {
		// Multiplied before divided, so that round numbers stay round.
		edges[i] = lo + (hi-lo)*float64(i)/float64(bins)
		if math.IsInf((hi-lo)*float64(bins), 0) { // they are very far apart
			f := float64(i) / float64(bins)
			edges[i] = lo*(1-f) + hi*f
		}
	}
	edges[0], edges[bins] = lo, hi
	return increasing(edges)
}

// logEdges divides a range evenly in the logarithm. Zero gets a bin of its own
// below the least positive value. Edges of whole numbers are whole, so that no
// bin is empty because no number can lie in it.
func logEdges(a Axis, n numbers, lo, hi float64, given bool) []float64 {
	var edges []float64
	bins := a.Bins
	if lo <= 0 {
		if lo = n.positive; lo >= hi {
			hi = beyond(lo)
		}
	}
	if n.min <= 0 && (!given || a.Lo <= 0) {
		edges = append(edges, 0)
		bins = max(bins-1, 1)
	}
	l, h := math.Log(lo), math.Log(hi)
	for i := range bins + 1 {
		e := math.Exp(l + (h-l)*float64(i)/float64(bins))
		if n.whole {
			e = math.Ceil(e * (1 - 1e-12)) // exp and log do not give 10 back exactly
		}
		switch i {
		case 0:
			e = lo
		case bins:
			e = hi
		}
		edges = append(edges, e)
	}
	edges = increasing(edges)
	if len(edges)-1 > a.Bins { // one bin asked for, and zeros
		edges = []float64{0, hi}
	}
	return edges
}

func quantileEdges(values []float64, a Axis, lo, hi float64, whole bool) []float64 {
	from, _ := slices.BinarySearch(values, lo)
	to := from
	for to < len(values) && values[to] <= hi {
		to++
	}
	values = values[from:to]
	if len(values) == 0 {
		return linearEdges(1, lo, hi, whole)
	}
	edges := []float64{lo}
	for i := 1; i < a.Bins; i++ {
		edges = append(edges, values[i*len(values)/a.Bins])
	}
	return increasing(append(edges, hi))
}

// increasing drops edges that are not above the one before them.
func increasing(edges []float64) []float64 {
	n := 1
	for _, e := range edges[1:] {
		if e > edges[n-1] {
			edges[n] = e
			n++
		}
	}
	return edges[:n]
}

// robustRange is the range of the values without those so far out that they
// would squeeze all others into a few bins. The fence lies some widths of the
// middle 98 % beyond it, in the logarithm on a log scale: one real data set has
// latencies of 20 years among those of 200 cycles.
func robustRange(values []float64, s Scale, n numbers) [2]float64 {
	lo, hi := n.least, n.most
	to, from, widths := func(v float64) float64 { return v }, func(v float64) float64 { return v }, 4.0
	if s == Log {
		lo = n.positive
		to, from, widths = math.Log, math.Exp, 1.5
		first := sort.Search(len(values), func(i int) bool { return values[i] > 0 })
		values = values[first:]
	}
	if len(values) == 0 {
		return [2]float64{lo, hi}
	}
	for _, tail := range []int{100, 1000} {
		k := len(values) / tail
		a, b := to(values[k]), to(values[len(values)-1-k])
		w := (b - a) * widths
		if w <= 0 {
			continue // nearly all values are equal: look further out
		}
		if fence := from(b + w); fence < hi {
			i := sort.Search(len(values), func(i int) bool { return values[i] > fence })
			hi = values[i-1]
		}
		if fence := from(a - w); fence > lo {
			lo = values[sort.Search(len(values), func(i int) bool { return values[i] >= fence })]
		}
		return [2]float64{lo, hi}
	}
	return [2]float64{lo, hi}
}

// sample returns finite values of a column in order: all of a small column,
// evenly scattered ones of a large one.
func sample(c *table.Column) []float64 {
	n := c.Len()
	values := make([]float64, 0, min(n, sampleRows))
	take := func(i int) {
		if v, ok := Number(c, i); ok && finite(v) {
			values = append(values, v)
		}
	}
	if n <= sampleRows {
		for i := range n {
			take(i)
		}
	} else {
		for k := range uint64(sampleRows) {
			// Multiples of the golden ratio scatter evenly and follow no period
			// that the data might have.
			i, _ := bits.Mul64(k*0x9e3779b97f4a7c15, uint64(n))
			take(int(i))
		}
	}
	slices.Sort(values)
	return values
}

// names is what a division of a category depends on.
type names struct {
	count  []int    // rows of each dictionary code
	seen   []uint32 // codes that rows have, in order of appearance
	valued int      // rows with a name
}

func countNames(c *table.Column) names {
	codes, _ := c.Data.([]uint32)
	n := names{count: make([]int, len(c.Dict))}
	for i, code := range codes {
		if c.Has(i) {
			if n.count[code] == 0 {
				n.seen = append(n.seen, code)
			}
			n.count[code]++
			n.valued++
		}
	}
	return n
}

func (e *Extent) binNames(a Axis) (*Binner, error) {
	switch a.Scale {
	case Natural:
		a.Scale = Rank
	case Appearance, Rank, Names:
	default:
		return nil, Refuse("axis %s: a category has no %s scale; use rank, appearance or names", a.Column, a.Scale)
	}
	n, dict := e.names(), e.column.Dict
	present := slices.Clone(n.seen)
	switch a.Scale {
	case Rank:
		slices.SortStableFunc(present, func(x, y uint32) int {
			if n.count[x] != n.count[y] {
				return n.count[y] - n.count[x]
			}
			return NaturalCompare(dict[x], dict[y])
		})
	case Names:
		slices.SortFunc(present, func(x, y uint32) int { return NaturalCompare(dict[x], dict[y]) })
	}
	return e.foldNames(a, present, n.valued), nil
}

// foldNames gives each name its bin, and those beyond the last one share it.
func (e *Extent) foldNames(a Axis, present []uint32, valued int) *Binner {
	if a.Bins == 0 {
		a.Bins = defaultNames
	}
	c := e.column
	b := &Binning{Axis: a, Missing: valued < e.rows, Min: math.NaN(), Max: math.NaN()}
	b.Bins, b.Lo, b.Hi = min(a.Bins, len(present)), 0, 0
	names := make([]uint16, len(c.Dict))
	for i, code := range present {
		names[code] = uint16(min(i, b.Bins-1))
		if i < b.Bins {
			b.Labels = append(b.Labels, c.Dict[code])
		}
	}
	if len(present) > b.Bins {
		b.More = len(present) - b.Bins + 1
		b.Labels[b.Bins-1] = strconv.Itoa(b.More) + " more"
	}
	return &Binner{Binning: b, Names: names, column: c}
}
