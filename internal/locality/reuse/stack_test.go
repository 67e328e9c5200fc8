package reuse

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// plainStack is the definition: a list of lines, latest first.
type plainStack []uint64

func (s *plainStack) access(line uint64) uint32 {
	i := slices.Index(*s, line)
	d := uint32(i)
	if i < 0 {
		d, i = First, len(*s)
		*s = append(*s, line)
	}
	copy((*s)[1:i+1], (*s)[:i])
	(*s)[0] = line
	return d
}

func TestStackEqualsItsDefinition(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		lines := 1 + rng.Uint64N(2000)
		spread := uint64(1) << rng.Uint64N(40)
		s, plain := newStack(rangeSlots<<(seed%3)), plainStack{}
		for i := range 60_000 { // more than there are slots
			line := rng.Uint64N(lines)
			if i%3 == 0 { // a sweep
				line = uint64(i) % lines
			}
			line *= spread
			got, id := s.Access(line)
			if want := plain.access(line); got != want {
				t.Fatalf("seed %d, access %d of line %d: distance %d, want %d", seed, i, line, got, want)
			}
			if id >= s.table.pages*pageLines {
				t.Fatalf("id %d with %d pages", id, s.table.pages)
			}
		}
		if s.Lines() != len(plain) {
			t.Errorf("seed %d: %d lines, want %d", seed, s.Lines(), len(plain))
		}
	}
}

func TestBuckets(t *testing.T) {
	last := -1
	for d := range uint32(1 << 20) {
		b := Bucket(d)
		if b < last || b > last+1 || uint64(d) < BucketStart(b) || uint64(d) >= BucketStart(b+1) {
			t.Fatalf("bucket of %d is %d, from %d to %d", d, b, BucketStart(b), BucketStart(b+1))
		}
		last = b
	}
	for _, lines := range []uint64{1, 15, 16, 512, 768, 4096, 20480, 32768, 589824} { // 32K, 48K, 1.25M, 36M
		if !Exact(lines) {
			t.Errorf("%d lines do not begin a bucket", lines)
		}
	}
	if b := Bucket(1<<32 - 2); b >= Buckets {
		t.Errorf("the largest distance has bucket %d", b)
	}
}

func TestHistogramMisses(t *testing.T) {
	var h Histogram
	plain := map[uint64]uint64{}
	rng := rand.New(rand.NewPCG(4, 4))
	for range 5000 {
		d := uint32(rng.Uint64N(1 << rng.Uint64N(24)))
		h.Add(d)
		plain[uint64(d)]++
	}
	h.Add(First)
	for lines := uint64(1); lines < 1<<24; lines = lines*5/4 + 1 {
		want := uint64(1)
		for d, n := range plain {
			if d >= lines {
				want += n
			}
		}
		got := h.Misses(lines)
		if got < want || Exact(lines) && got != want {
			t.Errorf("%d lines: %d misses, want %d, exact %v", lines, got, want, Exact(lines))
		}
	}
}

func TestExactCountsBeyond32Bits(t *testing.T) {
	var c exactCounts
	c.add(3)
	c.low[3] = ^uint32(0) // as after 2³² - 1 references
	for _, d := range []uint32{3, 3, 2000, First} {
		c.add(d)
	}
	got := c.all()
	if len(got) != 2001 || got[3] != 1<<32+1 || got[2000] != 1 || c.first != 1 {
		t.Errorf("%d counts, %d of distance 3, %d of 2000, %d first; want 2001, 2³²+1, 1, 1", len(got), got[3], got[2000], c.first)
	}
}
