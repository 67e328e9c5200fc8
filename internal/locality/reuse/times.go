package reuse

import "math/bits"

// timeBuckets holds counts and sums of times by octaves in eight parts, which is
// enough to answer for every window that begins a bucket, exactly.
type timeBuckets struct {
	of [8 * 62]struct{ count, sum uint64 }
}

func timeBucket(t uint64) int {
	k := max(bits.Len64(t)-4, 0)
	return 8*k + int(t>>(k&63))
}

func (b *timeBuckets) add(t uint64) {
	at := &b.of[timeBucket(t)]
	at.count++
	at.sum += t
}

func (b *timeBuckets) merge(o *timeBuckets) {
	for i := range b.of {
		b.of[i].count += o.of[i].count
		b.of[i].sum += o.of[i].sum
	}
}

// beyond sums t - w over the times t from bucket i on, where w begins it. In
// floating point: the sum of the last times of a long trace exceeds 64 bits.
func (b *timeBuckets) beyond(i int, w uint64) (sum float64) {
	for ; i < len(b.of); i++ {
		sum += float64(b.of[i].sum) - float64(w)*float64(b.of[i].count)
	}
	return sum
}

// Window is the mean number of distinct lines in windows of a length.
type Window struct {
	References uint64
	Lines      float64
}

// footprint computes the mean number of distinct lines in all windows of each
// length that begins a bucket, from the first and last times of all lines and
// the times between uses (Xiang, Ding, Luo, Bao 2013).
func footprint(n, lines uint64, first, last, reuse *timeBuckets) []Window {
	var out []Window
	for i := 1; i < len(reuse.of); i++ {
		w := BucketStart(i)
		if w > n {
			break
		}
		missing := first.beyond(i, w) + last.beyond(i, w) + reuse.beyond(i, w)
		out = append(out, Window{w, float64(lines) - missing/float64(n-w+1)})
	}
	return out
}

// WorkingSet is the number of distinct lines in each of the windows that a trace
// is cut into.
type WorkingSet struct {
	Window uint64 // references
	Lines  []uint32
	Pages  []uint32
}

// maxWindows bounds how many windows are kept of one length.
const maxWindows = 4096

// baseWindow is the shortest window, in references.
const baseWindow = 256

// windows counts distinct lines in aligned windows of baseWindow·2^k references
// for all k at once, as the length of the trace is not known beforehand. A
// length with too many windows is given up.
type windows struct {
	first int // the smallest k that is kept
	// since and until bound the present window of that length: most uses find
	// their line used in it already.
	since, until uint64
	// fresh counts the lines new to the present window by the largest k whose
	// window they are new to: they are new to all shorter ones too.
	fresh  [maxLengths]uint32
	counts [maxLengths][]uint32
}

// maxLengths is up to windows of 2^44 references.
const maxLengths = 36

func newWindows() *windows { return &windows{} }

// add counts a line used at a time whose last use was at another, both counted
// from 1; 0 is never.
func (w *windows) add(now, last uint64) {
	if now < w.until && last >= w.since {
		return
	}
	w.count(now, last)
}

// count is add for a line that may be new to the present window.
func (w *windows) count(now, last uint64) {
	if now >= w.until {
		w.next(now)
	}
	if last >= w.since {
		return
	}
	k := maxLengths
	if last > 0 {
		// The windows of both times are one from the length on at which the numbers
		// of their shortest windows have the same upper bits.
		k = bits.Len64((now-1)/baseWindow ^ (last-1)/baseWindow)
	}
	w.fresh[min(k, maxLengths)-1]++
}

// next ends the present window and begins the one of a time.
func (w *windows) next(now uint64) {
	w.settle()
	for (now-1)/baseWindow>>w.first >= maxWindows {
		w.counts[w.first] = nil
		w.first++
	}
	w.since = (now-1)>>w.first/baseWindow*baseWindow<<w.first + 1
	w.until = w.since + baseWindow<<w.first
}

// settle adds what was counted in the present window to those of every length.
func (w *windows) settle() {
	if w.until == 0 {
		return
	}
	n := uint32(0)
	for k := maxLengths - 1; k >= w.first; k-- {
		n += w.fresh[k]
		i := (w.since - 1) / baseWindow >> k
		for uint64(len(w.counts[k])) <= i {
			w.counts[k] = append(w.counts[k], 0)
		}
		w.counts[k][i] += n
	}
	w.fresh = [maxLengths]uint32{}
}

// of returns the windows of the length that n references are cut into.
func (w *windows) of(n uint64) (length uint64, counts []uint32) {
	w.settle()
	k := w.first
	length = baseWindow << k
	counts = w.counts[k]
	for uint64(len(counts)) < (n+length-1)/length {
		counts = append(counts, 0)
	}
	return length, counts
}
