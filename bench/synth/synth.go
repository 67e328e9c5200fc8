// Package synth makes tables and files of samples of any size that look like
// recorded ones: few names are frequent, latency follows the level, addresses
// follow the variable, time only grows.
package synth

import (
	"fmt"
	"math"
	"sync"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// random is a small fast generator; the same seed gives the same numbers on
// every machine and in every release of Go.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) below(n int) int { return int(uint64(uint32(r.next())) * uint64(n) >> 32) }

func (r *random) float() float64 { return float64(r.next()>>11) / (1 << 53) }

// skewed favours small numbers, as the ranks of lines and symbols do.
func (r *random) skewed(n int) int {
	f := r.float()
	return int(float64(n) * f * f * f)
}

// Axes are the sixteen axes of a full screen, at a hundred bins each.
var Axes = func() []query.Axis {
	names := []string{
		"time", "addr", "latency", "line", "symbol", "x", "y", "z",
		"index", "iteration", "tid", "ip", "function", "phys", "weight", "chance",
	}
	axes := make([]query.Axis, len(names))
	for i, name := range names {
		axes[i] = query.Axis{Column: name, Bins: 100}
	}
	return axes
}()

// Pairs are the pairs of neighbouring axes.
func Pairs(axes int) []query.Pair {
	var pairs []query.Pair
	for i := 1; i < axes; i++ {
		pairs = append(pairs, query.Pair{Left: i - 1, Right: i})
	}
	return pairs
}

// Groups are the four sums of a full screen.
var Groups = []query.Group{
	{By: []string{"line"}, Sum: "latency", Top: 100},
	{By: []string{"symbol"}, Sum: "latency", Top: 100},
	{By: []string{"cpu"}, Sum: "latency"},
	{By: []string{"level"}, Sum: "latency"},
}

var levels = []string{"L1", "L2", "L3", "Local RAM", "Remote RAM"}

// Samples returns a table of n samples, the same for the same n.
func Samples(n int) *table.Table { return drawn(n, 0).table() }

// drawn fills the columns of n samples, others for another seed.
func drawn(n int, seed uint64) *columns {
	s := newColumns(n)
	var wg sync.WaitGroup
	const chunk = 1 << 16
	const lots = 4
	for lot := range lots {
		wg.Go(func() {
			for c := lot; c*chunk < n; c += lots {
				r := random(seed<<32 + uint64(c+1))
				for i := c * chunk; i < min((c+1)*chunk, n); i++ {
					s.fill(i, &r)
				}
			}
		})
	}
	wg.Wait()
	return s
}

// cpus is how many CPUs the machine of the samples has.
const cpus = 144

type columns struct {
	time                              []int64
	addr, ip, phys                    []uint64
	latency, line, x, y, z            []int32
	index, iteration, tid, cpu, width []int32
	chance                            []int32
	weight                            []float64
	level, symbol, function, op       []uint32
	hit                               []uint8
}

func newColumns(n int) *columns {
	ints := func() []int32 { return make([]int32, n) }
	codes := func() []uint32 { return make([]uint32, n) }
	words := func() []uint64 { return make([]uint64, n) }
	return &columns{
		time: make([]int64, n), addr: words(), ip: words(), phys: words(),
		latency: ints(), line: ints(), x: ints(), y: ints(), z: ints(), index: ints(), iteration: ints(),
		tid: ints(), cpu: ints(), width: ints(), chance: ints(), weight: make([]float64, n),
		level: codes(), symbol: codes(), function: codes(), op: codes(), hit: make([]uint8, n),
	}
}

func (s *columns) fill(i int, r *random) {
	s.time[i] = int64(i)*997 + int64(r.below(900))
	symbol := r.skewed(200)
	s.symbol[i] = uint32(symbol)
	s.index[i] = int32(r.below(1 << 20))
	s.addr[i] = 0x7f00_0000_0000 + uint64(symbol)<<23 + uint64(s.index[i])*8
	s.phys[i] = r.next() >> 30
	level := min(r.skewed(5), 4)
	s.level[i] = uint32(level)
	s.latency[i] = int32([]float64{5, 14, 50, 200, 350}[level] * math.Exp(r.float()*2))
	s.line[i] = int32(r.skewed(300)) + 1
	s.ip[i] = 0x40_0000 + uint64(s.line[i])*40 + uint64(r.below(40))
	s.x[i], s.y[i], s.z[i] = int32(r.below(100)), int32(r.below(100)), int32(s.index[i]%100)
	s.iteration[i] = int32(i * 200 / len(s.time))
	s.tid[i] = 4000 + int32(r.below(1000))
	s.cpu[i] = s.tid[i] % cpus
	s.width[i] = 1 << r.below(4)
	s.chance[i] = int32(r.below(10_000))
	s.weight[i] = r.float()
	s.function[i] = uint32(symbol*3/4+r.below(3)) % 150
	s.op[i] = uint32(min(r.below(4), 1))
	if level == 0 {
		s.hit[i] = 1
	}
}

func (s *columns) table() *table.Table {
	number := func(name, unit string, data any) *table.Column {
		return &table.Column{Name: name, Unit: unit, Provenance: table.Measured, Data: data}
	}
	name := func(name string, data []uint32, dict []string) *table.Column {
		return &table.Column{Name: name, Kind: table.Category, Provenance: table.Measured, Data: data, Dict: dict}
	}
	address := func(name string, data []uint64) *table.Column {
		return &table.Column{Name: name, Kind: table.Address, Provenance: table.Measured, Data: data}
	}
	t, err := table.New("samples", []*table.Column{
		{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Data: s.time},
		address("addr", s.addr), address("ip", s.ip), address("phys", s.phys),
		number("latency", "cycles", s.latency), number("line", "", s.line),
		number("x", "", s.x), number("y", "", s.y), number("z", "", s.z), number("index", "", s.index),
		number("iteration", "", s.iteration), number("tid", "", s.tid), number("cpu", "", s.cpu),
		number("width", "bytes", s.width), number("chance", "", s.chance), number("weight", "", s.weight),
		name("level", s.level, levels), name("symbol", s.symbol, numbered("symbol", 200)),
		name("function", s.function, numbered("function", 150)), name("op", s.op, []string{"load", "store"}),
		{Name: "hit", Kind: table.Flag, Provenance: table.Measured, Data: s.hit},
	})
	if err != nil {
		panic(err) // the columns above are not a table
	}
	return t
}

func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s_%d", prefix, i)
	}
	return names
}
