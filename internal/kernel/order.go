package kernel

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"isobath/internal/query"
	"isobath/internal/table"
)

// keys are numbers that sort like the values of a column: names naturally,
// numbers by value.
type keys struct {
	column *table.Column
	flip   uint64 // all ones to sort downwards
	rank   []uint64
}

func keysOf(c *table.Column, down bool) *keys {
	k := &keys{column: c}
	if down {
		k.flip = math.MaxUint64
	}
	if c.Kind == table.Category {
		codes := make([]int, len(c.Dict))
		for i := range codes {
			codes[i] = i
		}
		slices.SortFunc(codes, func(x, y int) int { return query.NaturalCompare(c.Dict[x], c.Dict[y]) })
		k.rank = make([]uint64, len(c.Dict))
		for i, code := range codes {
			k.rank[code] = uint64(i)
			if i > 0 && c.Dict[code] == c.Dict[codes[i-1]] {
				k.rank[code] = k.rank[codes[i-1]]
			}
		}
	}
	return k
}

// block writes the keys of rows lo to hi.
func (k *keys) block(lo, hi int, into []uint64) []uint64 {
	into = into[:hi-lo]
	switch d := k.column.Data.(type) {
	case []int32:
		for i, v := range d[lo:hi] {
			into[i] = wholeKey(v) ^ k.flip
		}
	case []int64:
		for i, v := range d[lo:hi] {
			into[i] = wholeKey(v) ^ k.flip
		}
	case []uint8:
		for i, v := range d[lo:hi] {
			into[i] = uint64(v) ^ k.flip
		}
	case []uint64:
		for i, v := range d[lo:hi] {
			into[i] = v ^ k.flip
		}
	case []float64:
		for i, v := range d[lo:hi] {
			into[i] = floatKey(v) ^ k.flip
		}
	case []uint32:
		for i, v := range d[lo:hi] {
			if int(v) < len(k.rank) {
				into[i] = k.rank[v] ^ k.flip
			}
		}
	}
	return into
}

// floatKey sorts like the number: the sign bit of positive numbers is set, all
// bits of negative ones are inverted. Both zeros are equal.
func floatKey(v float64) uint64 {
	b := math.Float64bits(v + 0) // -0 + 0 is 0
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// value is the number behind a key.
func (k *keys) value(key uint64) float64 {
	key ^= k.flip
	switch k.column.Data.(type) {
	case []int32, []int64:
		return float64(int64(key ^ 1<<63))
	case []float64:
		return keyFloat(key)
	}
	return float64(key)
}

func keyFloat(key uint64) float64 {
	return math.Float64frombits(key ^ (uint64(^int64(key)>>63) | 1<<63))
}

// ranked is the key at a rank, and how many rows have lesser keys.
type ranked struct {
	key   uint64
	below int
}

// at finds the keys at the given ranks, in ascending order, among the rows of a
// set. It narrows down on each 16 bits at a time, so a column is read at most
// five times, whatever the number of ranks.
func (k *keys) at(ctx context.Context, set table.Bits, ranks []int) ([]ranked, error) {
	if len(ranks) == 0 {
		return nil, nil
	}
	lo, hi, err := k.extent(ctx, set)
	if err != nil {
		return nil, err
	}
	out := make([]ranked, len(ranks)) // key holds the leading bits found so far, less lo
	for left := bits.Len64(hi - lo); left > 0; {
		width := min(16, left)
		left -= width
		var prefixes []uint64
		for _, r := range out {
			if len(prefixes) == 0 || prefixes[len(prefixes)-1] != r.key {
				prefixes = append(prefixes, r.key)
			}
		}
		counts, err := k.digits(ctx, set, lo, prefixes, left, width)
		if err != nil {
			return nil, err
		}
		for i := range out {
			j, _ := slices.BinarySearch(prefixes, out[i].key)
			digit := 0
			for out[i].below+int(counts[j][digit]) <= ranks[i] {
				out[i].below += int(counts[j][digit])
				digit++
			}
			out[i].key = out[i].key<<width | uint64(digit)
		}
	}
	for i := range out {
		out[i].key += lo
	}
	return out, nil
}

// extent returns the least and the greatest key of a set that is not empty.
func (k *keys) extent(ctx context.Context, set table.Bits) (lo, hi uint64, err error) {
	type span struct{ lo, hi uint64 }
	spans := make([]span, workers())
	for i := range spans {
		spans[i] = span{math.MaxUint64, 0}
	}
	err = k.each(ctx, set, func(w int, keys []uint64, words []uint64) {
		s := &spans[w]
		for i := range (table.Bits)(words).All() {
			s.lo, s.hi = min(s.lo, keys[i]), max(s.hi, keys[i])
		}
	})
	lo, hi = math.MaxUint64, 0
	for _, s := range spans {
		lo, hi = min(lo, s.lo), max(hi, s.hi)
	}
	return lo, hi, err
}

// digits counts, for each prefix, the next width bits of the keys that begin
// with it; shift bits follow those.
func (k *keys) digits(ctx context.Context, set table.Bits, lo uint64, prefixes []uint64, shift, width int) ([][]uint32, error) {
	counts := make([][]uint32, workers())
	size := 1 << width
	for i := range counts {
		counts[i] = make([]uint32, len(prefixes)*size)
	}
	err := k.each(ctx, set, func(w int, keys []uint64, words []uint64) {
		h := counts[w]
		for i := range (table.Bits)(words).All() {
			key := (keys[i] - lo) >> shift
			prefix, digit := key>>width, int(key)&(size-1)
			j := 0
			for j < len(prefixes) && prefixes[j] < prefix {
				j++
			}
			if j < len(prefixes) && prefixes[j] == prefix {
				h[j*size+digit]++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, h := range counts[1:] {
		for i, n := range h {
			counts[0][i] += n
		}
	}
	out := make([][]uint32, len(prefixes))
	for j := range out {
		out[j] = counts[0][j*size : (j+1)*size]
	}
	return out, nil
}

// each calls do with the keys and the members of every block that has any.
func (k *keys) each(ctx context.Context, set table.Bits, do func(worker int, keys, words []uint64)) error {
	rows := k.column.Len()
	scratch := make([][]uint64, workers())
	return parallel(ctx, blocks(rows), func(w, block int) {
		lo, hi := bounds(block, rows)
		words := set[lo/64 : (hi+63)/64]
		if table.Bits(words).Count() == 0 {
			return
		}
		do(w, k.block(lo, hi, grow(&scratch[w], hi-lo)), words)
	})
}
