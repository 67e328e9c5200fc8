package reuse

import (
	"fmt"
	"math/bits"

	"github.com/isobath/isobath/internal/data/refs"
)

// seeds is how many samples are drawn at once; how far they lie apart is the
// error.
const seeds = 4

// leastSampled is how many lines a sample must hold to say anything.
const leastSampled = 1000

// Sampler follows only lines whose hash is below a rate, and scales distances
// and counts (SHARDS; Waldspurger, Park, Garthwaite, Ahmad 2015). A few hot lines
// carry most references of a program, and whether they are followed is chance,
// so several samples are drawn and compared.
type Sampler struct {
	rate      float64
	threshold uint64
	shift     uint
	n         uint64
	samples   [seeds]sample
}

type sample struct {
	stacks map[uint32]*Stack
	counts Histogram // by scaled distance
	taken  uint64
}

// NewSampler follows a part of the lines.
func NewSampler(rate float64, line int) *Sampler {
	s := &Sampler{rate: rate, threshold: uint64(rate * (1 << 63) * 2), shift: uint(bits.TrailingZeros(uint(line)))}
	for i := range s.samples {
		s.samples[i].stacks = map[uint32]*Stack{}
	}
	return s
}

// Add takes the next references.
func (s *Sampler) Add(batch []refs.Ref) {
	for i := range batch {
		s.n++
		line := batch[i].Addr >> s.shift
		h := hash(line)
		for k := range s.samples {
			if h < s.threshold {
				s.samples[k].add(batch[i].Thread, line, s.rate)
			}
			h = hash(h)
		}
	}
}

// hash mixes all bits (the finalizer of MurmurHash3).
func hash(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func (p *sample) add(thread uint32, line uint64, rate float64) {
	st := p.stacks[thread]
	if st == nil {
		st = NewStack()
		p.stacks[thread] = st
	}
	p.taken++
	d, _ := st.Access(line)
	if d != First {
		d = uint32(min(float64(d)/rate, 1<<32-2))
	}
	p.counts.Add(d)
}

// Estimate is a miss curve with its error.
type Estimate struct {
	References uint64
	Rate       float64
	Seeds      int
	Lines      uint64 // followed, by the sample with the fewest
	Points     []EstimatedPoint
	Spread     float64 // largest difference between two samples' miss ratios
	Mean       float64 // mean of those differences over the sizes
}

// EstimatedPoint is the miss ratio at a size: the mean of the samples.
type EstimatedPoint struct {
	Lines uint64
	Ratio float64
}

// Estimate ends the sampling. It refuses where a sample holds too few lines.
func (s *Sampler) Estimate() (*Estimate, error) {
	e := &Estimate{References: s.n, Rate: s.rate, Seeds: seeds, Lines: ^uint64(0)}
	last := 0
	for i := range s.samples {
		lines := uint64(0)
		for _, st := range s.samples[i].stacks {
			lines += uint64(st.Lines())
		}
		e.Lines = min(e.Lines, lines)
		for b, n := range s.samples[i].counts.Counts {
			if n > 0 {
				last = max(last, b)
			}
		}
	}
	if e.Lines < leastSampled {
		return nil, fmt.Errorf("a sample at rate %g holds %d lines; fewer than %d say nothing: raise the rate, or leave it away for the exact answer", s.rate, e.Lines, leastSampled)
	}
	for b := 1; b <= last+1; b++ {
		e.add(s, BucketStart(b))
	}
	if len(e.Points) > 0 {
		e.Mean /= float64(len(e.Points))
	}
	return e, nil
}

func (e *Estimate) add(s *Sampler, lines uint64) {
	low, high, sum := 1.0, 0.0, 0.0
	for i := range s.samples {
		// References that the sample should hold and does not, as hot lines are
		// missing or too many, count as hits: the adjustment of SHARDS.
		ratio := float64(s.samples[i].counts.Misses(lines)) / (float64(s.n) * s.rate)
		ratio = min(ratio, 1)
		low, high, sum = min(low, ratio), max(high, ratio), sum+ratio
	}
	e.Points = append(e.Points, EstimatedPoint{lines, sum / seeds})
	e.Spread = max(e.Spread, high-low)
	e.Mean += high - low
}
