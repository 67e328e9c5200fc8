package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
)

const screenRows = 10_000_000

// screen answers everything a full screen asks: 16 axes at 100 bins, 15 pairs
// and 4 sums, for a selection and a hover together. Each answer has a selection
// not seen before, and finding its rows is part of the time. The peer is a plain
// sum over the code bytes that a full count would read, on as many goroutines.
func screen(ctx context.Context) ([]Result, error) {
	d := query.Data{Table: synth.Samples(screenRows)}
	e := kernel.New(d, kernel.Options{})
	defer e.Close()
	if err := synth.Ask(ctx, e, synth.Selection(0, 0)); err != nil { // codes and everything
		return nil, err
	}
	plain := newPlainSum(screenRows)
	var results []Result
	for _, permille := range []int{0, 10, 100, 330, 500, 670, 900, 1000} {
		i := 0
		// An unrelated selection in between, not timed, so that nothing can be
		// taken over from the answer before.
		between := func() error { i++; return synth.Ask(ctx, e, synth.Unrelated(i)) }
		ours, peer, err := turns(15, between, func() error { return synth.Ask(ctx, e, synth.Selection(permille, i)) }, plain.run)
		if err != nil {
			return nil, err
		}
		results = append(results, compare(Result{
			Name: fmt.Sprintf("screen-10M-%g%%", float64(permille)/10), Versus: "plain sum of the codes", Bar: 6,
		}, ours, peer))
	}
	return results, nil
}

// plainSum is the least that reading the codes of a screen can cost: 16 axes and
// three groups of one byte, a group of two (300 lines), and four bytes of
// latency, a row.
type plainSum struct{ words []uint64 }

func newPlainSum(rows int) *plainSum {
	const bytesPerRow = 16 + 3 + 2 + 4
	p := &plainSum{make([]uint64, rows*bytesPerRow/8)}
	for i := range p.words {
		p.words[i] = uint64(i)
	}
	return p
}

var sink atomic.Uint64

func (p *plainSum) run() error {
	const chunk = 1 << 15
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			var a, b, c, d uint64
			for {
				lo := int(next.Add(chunk)) - chunk
				if lo >= len(p.words) {
					break
				}
				part := p.words[lo:min(lo+chunk, len(p.words))]
				for ; len(part) >= 4; part = part[4:] {
					a += part[0]
					b += part[1]
					c += part[2]
					d += part[3]
				}
			}
			sink.Add(a + b + c + d)
		})
	}
	wg.Wait()
	return nil
}

// doubling compares a screen of twice the rows with one of the rows: time, and
// memory beyond the table.
func doubling(ctx context.Context) ([]Result, error) {
	type sized struct {
		e     *kernel.Engine
		bytes float64
	}
	var engines []sized
	for _, rows := range []int{screenRows / 4, screenRows / 2} {
		d := query.Data{Table: synth.Samples(rows)}
		before := heap()
		e := kernel.New(d, kernel.Options{})
		defer e.Close()
		for i := range 3 {
			if err := synth.Ask(ctx, e, synth.Selection(500, i)); err != nil {
				return nil, err
			}
		}
		engines = append(engines, sized{e, heap() - before})
	}
	i := 0
	between := func() error {
		i++
		return errors.Join(synth.Ask(ctx, engines[0].e, synth.Unrelated(i)), synth.Ask(ctx, engines[1].e, synth.Unrelated(i)))
	}
	ask := func(e *kernel.Engine) func() error {
		return func() error { return synth.Ask(ctx, e, synth.Selection(500, i)) }
	}
	twice, once, err := turns(15, between, ask(engines[1].e), ask(engines[0].e))
	if err != nil {
		return nil, err
	}
	mb := func(s sized) float64 { return s.bytes / (1 << 20) }
	return []Result{
		compare(Result{Name: "doubling-time", Versus: "half the rows", Bar: 2.1}, twice, once),
		{Name: "doubling-memory", Ours: mb(engines[1]), Peer: mb(engines[0]), Unit: "MB", Versus: "half the rows", Ratio: mb(engines[1]) / mb(engines[0]), Bar: 2.1},
	}, nil
}

// heap is the bytes in use after collection.
func heap() float64 {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// memory is the bytes per row and axis that stay in use after answers: on a
// screen of axes that fit into one byte, then of the same at a thousand bins.
func memory(ctx context.Context) ([]Result, error) {
	d := query.Data{Table: synth.Samples(screenRows)}
	var results []Result
	for _, wide := range []bool{false, true} {
		r, err := memoryOf(ctx, d, wide)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

func memoryOf(ctx context.Context, d query.Data, wide bool) (Result, error) {
	out := Result{Name: "memory-per-row-and-axis", Unit: "MB", Versus: "one byte a row and code", Bar: 1.3}
	// One group code takes two bytes, the other twenty codes one.
	wanted := float64(len(synth.Axes)+3+2) * screenRows
	ask := synth.Selection
	if wide {
		out.Name, out.Bar = "memory-per-row-and-wide-axis", 2.3
		ask = func(permille, i int) *query.Request {
			r := synth.Selection(permille, i)
			r.Axes, r.Pairs, r.Groups = wideAxes(), nil, nil
			return r
		}
		wanted = float64(len(wideAxes())) * screenRows
	}
	before := heap()
	e := kernel.New(d, kernel.Options{})
	defer e.Close()
	for i := range 20 {
		if err := synth.Ask(ctx, e, ask(100+i, i)); err != nil {
			return out, err
		}
	}
	used := heap() - before
	runtime.KeepAlive(d.Table)
	out.Ours, out.Peer, out.Ratio = used/(1<<20), wanted/(1<<20), used/wanted
	return out, nil
}

// wideAxes are the axes of a screen that have a thousand different bins.
func wideAxes() []query.Axis {
	var axes []query.Axis
	for _, name := range []string{"time", "addr", "latency", "index", "tid", "ip", "phys", "weight", "chance"} {
		axes = append(axes, query.Axis{Column: name, Bins: 1000})
	}
	return axes
}

// quantiles are those of three columns in the rows of a selection: few values,
// many values, and numbers that are not whole. The peer is a plain sum of the
// codes of a screen, about as much work as reading the columns.
func quantiles(ctx context.Context) ([]Result, error) {
	d := query.Data{Table: synth.Samples(screenRows)}
	e := kernel.New(d, kernel.Options{})
	defer e.Close()
	var stats []query.Stat
	for _, name := range []string{"latency", "time", "weight"} {
		stats = append(stats, query.Stat{Column: name, Quantiles: []float64{0.01, 0.25, 0.5, 0.75, 0.99}})
	}
	ask := func(i int) error {
		b := synth.Bounds(500, i)
		return synth.Ask(ctx, e, &query.Request{Where: synth.Brush("chance", b[0], b[1]), Stats: stats})
	}
	i := 0
	if err := ask(i); err != nil { // extents, and the counts of everything
		return nil, err
	}
	plain := newPlainSum(screenRows)
	ours, peer, err := turns(9, func() error { i++; return nil }, func() error { return ask(i) }, plain.run)
	if err != nil {
		return nil, err
	}
	return []Result{compare(Result{Name: "quantiles-10M-50%", Versus: "plain sum of the codes", Bar: 15}, ours, peer)}, nil
}
