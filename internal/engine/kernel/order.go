package kernel

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
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

// pick writes the keys of the members of a block that begins with row lo.
func (k *keys) pick(lo int, members table.Bits, into []uint64) []uint64 {
	switch d := k.column.Data.(type) {
	case []int32:
		return pickWhole(d[lo:], members, into, k.flip)
	case []int64:
		return pickWhole(d[lo:], members, into, k.flip)
	}
	rows := min(len(members)*64, k.column.Len()-lo)
	return keepKeys(k.block(lo, lo+rows, into), members)
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

// extent is the least and the greatest key of a column.
type extent struct{ lo, hi uint64 }

func (x extent) bits() int { return bits.Len64(x.hi - x.lo) }

// flipped is the extent of the same keys sorted the other way.
func (x extent) flipped(flip uint64) extent {
	if flip == 0 {
		return x
	}
	return extent{x.hi ^ flip, x.lo ^ flip}
}

// subset is the rows of a set that have a value.
type subset struct {
	rowSet
	valued table.Bits // nil: all have one
}

// digitBits is how many bits of a key are counted at a time, from the highest.
const digitBits = 16

// fewKeys is how many keys are sorted rather than counted once more.
const fewKeys = 1 << 14

// at finds the keys at the given ranks, in ascending order, among the rows of a
// subset. It narrows down on a digit at a time, until those that begin like the
// wanted ones are few enough to be sorted. first has the counts of the first
// digit if they are known.
func (k *keys) at(ctx context.Context, s subset, x extent, first []uint32, ranks []int) ([]ranked, error) {
	if len(ranks) == 0 {
		return nil, nil
	}
	out := make([]ranked, len(ranks)) // key holds the leading bits found so far, less lo
	for left := x.bits(); left > 0; {
		width := min(digitBits, left)
		left -= width
		p := prefixesOf(out, x, left+width)
		counts := [][]uint32{first}
		if p.length > 0 || first == nil {
			var err error
			if counts, err = k.digits(ctx, s, x, p, left, width); err != nil {
				return nil, err
			}
		}
		members := 0
		for i := range out {
			j := p.find(out[i].key)
			digit := 0
			for out[i].below+int(counts[j][digit]) <= ranks[i] {
				out[i].below += int(counts[j][digit])
				digit++
			}
			out[i].key = out[i].key<<width | uint64(digit)
			if i == 0 || out[i].key != out[i-1].key {
				members += int(counts[j][digit])
			}
		}
		if left > 0 && members <= fewKeys {
			return out, k.sortRest(ctx, s, x, left, ranks, out)
		}
	}
	for i := range out {
		out[i].key += x.lo
	}
	return out, nil
}

// prefixes are the different leading bits of some keys, in order.
type prefixes struct {
	list   []uint64
	length int // bits of each; 0 if there is only the empty one
	// begin marks the first digits that any of them has: most keys can be told
	// not to be wanted by theirs.
	begin [1 << digitBits / 64]uint64
	shift int // of a whole key, to its first digit
}

// prefixesOf returns the prefixes found so far, which left bits follow.
func prefixesOf(found []ranked, x extent, left int) *prefixes {
	total := x.bits()
	p := &prefixes{length: total - left, shift: max(total-digitBits, 0)}
	for _, r := range found {
		if n := len(p.list); n == 0 || p.list[n-1] != r.key {
			p.list = append(p.list, r.key)
			if p.length > 0 {
				digit := r.key << left >> p.shift
				p.begin[digit/64] |= 1 << (digit % 64)
			}
		}
	}
	return p
}

// find returns the number of a prefix, -1 if it is none of them.
func (p *prefixes) find(prefix uint64) int {
	for j, q := range p.list {
		if q == prefix {
			return j
		}
	}
	return -1
}

// may reports whether a key, less the least one, may begin with a prefix.
func (p *prefixes) may(key uint64) bool {
	digit := uint16(key >> p.shift)
	return p.begin[digit/64]>>(digit%64)&1 != 0
}

// digits counts, for each prefix, the next width bits of the keys that begin
// with it; shift bits follow those.
func (k *keys) digits(ctx context.Context, s subset, x extent, p *prefixes, shift, width int) ([][]uint32, error) {
	counts := make([][]uint32, workers())
	size := 1 << width
	for i := range counts {
		counts[i] = make([]uint32, len(p.list)*size)
	}
	err := k.each(ctx, s, func(w int, keys []uint64) {
		h := counts[w]
		if p.length == 0 {
			for _, key := range keys {
				h[(key-x.lo)>>shift]++
			}
			return
		}
		for _, key := range keys {
			if key -= x.lo; p.may(key) {
				if j := p.find(key >> shift >> width); j >= 0 {
					h[j*size+int(key>>shift)&(size-1)]++
				}
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
	out := make([][]uint32, len(p.list))
	for j := range out {
		out[j] = counts[0][j*size : (j+1)*size]
	}
	return out, nil
}

// sortRest completes keys of which left bits are still to be found.
func (k *keys) sortRest(ctx context.Context, s subset, x extent, left int, ranks []int, out []ranked) error {
	p := prefixesOf(out, x, left)
	lots := make([][]uint64, workers())
	err := k.each(ctx, s, func(w int, keys []uint64) {
		for _, key := range keys {
			if key -= x.lo; p.may(key) && p.find(key>>left) >= 0 {
				lots[w] = append(lots[w], key)
			}
		}
	})
	if err != nil {
		return err
	}
	members := slices.Concat(lots...)
	slices.Sort(members)
	for i := range out {
		start, _ := slices.BinarySearch(members, out[i].key<<left)
		key := members[start+ranks[i]-out[i].below]
		least, _ := slices.BinarySearch(members, key)
		out[i].below += least - start
		out[i].key = key + x.lo
	}
	return nil
}

// extent returns the least and the greatest key of the rows with a value; both
// are 0 if there are none.
func (k *keys) extent(ctx context.Context, s subset) (extent, error) {
	spans := slices.Repeat([]extent{{math.MaxUint64, 0}}, workers())
	err := k.each(ctx, s, func(w int, keys []uint64) {
		lo, hi := spans[w].lo, spans[w].hi
		for _, key := range keys {
			lo, hi = min(lo, key), max(hi, key)
		}
		spans[w] = extent{lo, hi}
	})
	x := spans[0]
	for _, s := range spans[1:] {
		x = extent{min(x.lo, s.lo), max(x.hi, s.hi)}
	}
	if x.lo > x.hi {
		x = extent{}
	}
	return x, err
}

// each calls do with the keys of the members of every block that has any.
func (k *keys) each(ctx context.Context, s subset, do func(worker int, keys []uint64)) error {
	rows := k.column.Len()
	scratch := make([][]uint64, workers())
	return eachBlock(ctx, blocks(rows), func(w, block int) {
		lo, hi := bounds(block, rows)
		var room [blockRows / 64]uint64
		words := s.members(lo, hi, room[:])
		n := words.Count()
		if n == 0 {
			return
		}
		keys := grow(&scratch[w], hi-lo)
		if n < len(keys) {
			keys = k.pick(lo, words, keys)
		} else {
			keys = k.block(lo, hi, keys)
		}
		do(w, keys)
	})
}

// members is words without the rows that have no value.
func (s *subset) members(lo, hi int, room []uint64) table.Bits {
	words := s.words(lo, hi, room)
	if s.valued == nil {
		return words
	}
	room = room[:len(words)]
	both(room, words, s.valued[lo/64:(hi+63)/64])
	return room
}

// pickWhole writes the keys of the members only.
func pickWhole[T int32 | int64](values []T, members table.Bits, into []uint64, flip uint64) []uint64 {
	n := 0
	for w, word := range members {
		part := values[w*64:]
		for ; word != 0; word &= word - 1 {
			into[n] = wholeKey(part[bits.TrailingZeros64(word)]) ^ flip
			n++
		}
	}
	return into[:n]
}

// keepKeys moves the keys of the members to the front.
func keepKeys(keys []uint64, members table.Bits) []uint64 {
	n := 0
	for w, word := range members {
		part := keys[w*64:]
		if word == math.MaxUint64 {
			n += copy(keys[n:], part[:64])
			continue
		}
		for ; word != 0; word &= word - 1 {
			keys[n] = part[bits.TrailingZeros64(word)]
			n++
		}
	}
	return keys[:n]
}
