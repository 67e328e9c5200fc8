package cachesim

import "math/bits"

// queue models waiting for something that serves one line at a time. It counts
// the lines of each window of time; while a window runs, the load of the one
// before it decides how long a line waits on average: that of a queue with
// random arrivals and constant service, s·ρ/(2(1−ρ)) (Pollaczek–Khinchine).
// Counting by windows makes it indifferent to the order in which CPUs whose
// clocks differ a little are simulated.
type queue struct {
	service int64
	epoch   int64
	lines   int64 // in this window
	before  int64 // in the window before
}

const (
	windowShift = 13 // 8192 cycles, some 3 µs
	fullLoad    = 1024
	// mostLoad caps ρ: beyond it a real program slows down instead of
	// queueing without end.
	mostLoad = fullLoad * 31 / 32
)

// pass counts a line and returns its mean waiting time in 1/16 cycles.
func (q *queue) pass(now int64) int64 {
	switch epoch := now >> windowShift; {
	case epoch == q.epoch+1:
		q.epoch, q.before, q.lines = epoch, q.lines, 0
	case epoch > q.epoch:
		q.epoch, q.before, q.lines = epoch, 0, 0
	}
	q.lines++
	load := min(q.before*q.service*fullLoad>>windowShift, mostLoad)
	return 16 * q.service * load / (2 * (fullLoad - load))
}

// spread draws a waiting time around a mean given in 1/16 cycles. The stream
// is close to exponential: each further half mean is half as likely.
func (m *Machine) spread(mean int64) int {
	if mean == 0 {
		return 0
	}
	r := m.random.Uint64()
	halvings := int64(min(bits.TrailingZeros64(r), 10))
	fraction := int64(r >> 48) // of 65536
	// The expectation of halvings + fraction is 3/2.
	return int((halvings<<16 + fraction) * mean / 3 >> 19)
}

// ram is the variable part of a memory access: closed rows and the queue at
// the controller.
func (m *Machine) ram(node int) int {
	extra := m.spread(m.sockets[node].memory.pass(m.now))
	if m.random.Uint64()>>62 == 0 {
		extra += m.cfg.RowMiss
	}
	return extra
}

// cross is the waiting time for the link between the sockets.
func (m *Machine) cross(c *core) int {
	return m.spread(c.socket.link.pass(m.now))
}

// sharedLatency is the time to an answer of the shared cache: it lies in as
// many slices as the socket has cores, on a ring, two cycles from one stop to
// the next.
func (m *Machine) sharedLatency(c *core, line uint64) int {
	slices := len(c.socket.cores)
	slice := int((line*0x9e3779b97f4a7c15)>>32) % slices
	d := max(slice-c.index, c.index-slice)
	stops := min(d, slices-d)
	last := m.cfg.Levels[len(m.cfg.Levels)-1]
	return last.Latency + 2*stops + m.spread(16+c.socket.shared.pass(m.now))
}
