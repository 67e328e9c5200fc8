package reuse

import "math/bits"

// Buckets is how many a histogram has: eight an octave up to 2³².
const Buckets = 240

// Bucket returns the bucket of a distance: the distance itself below 16, then
// eight buckets an octave, so that 1, 1¼, 1½ and 1¾ times every power of two,
// which the sizes of real caches are, begin a bucket. Misses at those sizes are
// exact from the buckets alone.
func Bucket(d uint32) int {
	k := max(bits.Len32(d)-4, 0)
	return 8*k + int(d>>(k&31))
}

// BucketStart returns the least distance of a bucket.
func BucketStart(b int) uint64 {
	if b < 16 {
		return uint64(b)
	}
	k := b/8 - 1
	return uint64(8+b%8) << k
}

// Histogram counts references by distance.
type Histogram struct {
	First  uint64
	Counts [Buckets]uint64
}

// firstBucket is where a pass counts first uses until it ends, so that it need
// not ask: no distance reaches it, as the lines of a stack have 31 bits.
const firstBucket = Buckets - 1

// settle takes first uses out of their bucket.
func (h *Histogram) settle() {
	h.First += h.Counts[firstBucket]
	h.Counts[firstBucket] = 0
}

// Add counts one reference.
func (h *Histogram) Add(d uint32) {
	if d == First {
		h.First++
		return
	}
	h.Counts[Bucket(d)]++
}

// Merge adds the counts of another.
func (h *Histogram) Merge(o *Histogram) {
	h.First += o.First
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
}

// Total is how many references were counted.
func (h *Histogram) Total() uint64 {
	n := h.First
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Misses is how many references a fully associative LRU cache of so many lines
// misses. It is exact where the size begins a bucket; else the bucket that holds
// the size is counted as missing, which bounds the misses from above.
func (h *Histogram) Misses(lines uint64) uint64 {
	n := h.First
	for b := Buckets - 1; b >= 0; b-- {
		if b+1 < Buckets && BucketStart(b+1) <= lines {
			break
		}
		n += h.Counts[b]
	}
	return n
}

// Exact reports whether Misses is exact for a size.
func Exact(lines uint64) bool {
	return lines < 1<<32 && BucketStart(Bucket(uint32(lines))) == lines
}

// Median returns the range of distances in which the median of the repeated
// references lies; ok is false if there are none.
func (h *Histogram) Median() (from, to uint64, ok bool) {
	total := h.Total() - h.First
	if total == 0 {
		return 0, 0, false
	}
	n := uint64(0)
	for b, c := range h.Counts {
		if n += c; 2*n >= total {
			return BucketStart(b), BucketStart(b+1) - 1, true
		}
	}
	return 0, 0, false
}

// exactCounts counts references by exact distance. Distances of random uses are
// random places: counts of 32 bits keep twice as many of them in a cache.
type exactCounts struct {
	first uint64
	zeros uint64 // of distance 0, besides those in low
	low   []uint32
	high  map[uint32]uint64 // what no longer fits into low
}

func (c *exactCounts) add(d uint32) {
	if int(d) < len(c.low) {
		if c.low[d]++; c.low[d] == 0 {
			c.carry(d)
		}
		return
	}
	if d == First {
		c.first++
		return
	}
	c.low = append(c.low, make([]uint32, max(int(d)+1-len(c.low), len(c.low), 1024))...)
	c.low[d] = 1
}

func (c *exactCounts) carry(d uint32) {
	if c.high == nil {
		c.high = map[uint32]uint64{}
	}
	c.high[d] += 1 << 32
}

// all is the counts up to the largest distance.
func (c *exactCounts) all() []uint64 {
	n := len(c.low)
	for n > 0 && c.low[n-1] == 0 && c.high[uint32(n-1)] == 0 {
		n--
	}
	counts := make([]uint64, max(n, int(min(c.zeros, 1))))
	for d := range n {
		counts[d] = uint64(c.low[d]) + c.high[uint32(d)]
	}
	if c.zeros > 0 {
		counts[0] += c.zeros
	}
	return counts
}
