package main

import (
	"math"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// timing is what one or more calls took at the best of several tries: the try
// that other programs disturbed least.
type timing struct{ wall, cpu float64 } // milliseconds

// turns times two functions in turns; before is called before each turn and not
// timed.
func turns(n int, before, ours, peer func() error) (a, b timing, err error) {
	a, b = timing{math.Inf(1), math.Inf(1)}, timing{math.Inf(1), math.Inf(1)}
	for range n {
		if err := before(); err != nil {
			return a, b, err
		}
		if err := a.try(ours); err != nil {
			return a, b, err
		}
		if err := b.try(peer); err != nil {
			return a, b, err
		}
	}
	return a, b, nil
}

func (t *timing) try(do func() error) error {
	start, used := time.Now(), cpu()
	if err := do(); err != nil {
		return err
	}
	t.wall = min(t.wall, milliseconds(time.Since(start)))
	t.cpu = min(t.cpu, milliseconds(cpu()-used))
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cpu is the processor time this program has used.
func cpu() time.Duration { return processorTime(syscall.RUSAGE_SELF) }

// cpuOfChildren is that of the programs it started and that have ended.
func cpuOfChildren() time.Duration { return processorTime(syscall.RUSAGE_CHILDREN) }

func processorTime(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// compare makes a result of two timings of work that keeps all processors busy.
// On a busy machine the clock says more about the other programs than about
// ours, so then the processor time is compared, and the unit says so.
func compare(r Result, ours, peer timing) Result {
	r.Ours, r.Peer, r.Unit = ours.wall, peer.wall, "ms"
	if busy := peer.wall > 1.3*peer.cpu/float64(runtime.GOMAXPROCS(0)); busy {
		r.Ours, r.Peer, r.Unit = ours.cpu, peer.cpu, "ms-cpu"
	}
	r.Ratio = r.Ours / r.Peer
	return r
}

type timings []float64

func (t timings) median() float64 {
	if len(t) == 0 {
		return 0
	}
	slices.Sort(t)
	return t[len(t)/2]
}

// interval is where the median lies with a probability of 95 %, whatever the
// distribution is: as many values are below it as heads fall in so many throws.
func (t timings) interval() (low, high float64) {
	if len(t) == 0 {
		return 0, 0
	}
	slices.Sort(t)
	n := float64(len(t))
	k := max(0, int(n/2-1.96*math.Sqrt(n)/2)-1)
	return t[k], t[len(t)-1-k]
}
