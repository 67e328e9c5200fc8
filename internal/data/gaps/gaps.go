// Package gaps finds the stretches of time in which samples are missing or
// stand for more than they count: records the kernel lost, throttled sampling,
// cut hardware traces, counters that several events shared.
package gaps

import (
	"cmp"
	"context"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
)

// Multiplexed is the kind of stretches in which a counter was shared; the
// others are those of the table of gaps.
const Multiplexed = "multiplexed"

// Gap is a stretch of time, or several close to each other.
type Gap struct {
	Kind string  `json:"kind"` // lost, throttled, trace cut, multiplexed
	From float64 `json:"from"` // on the time axis of the samples
	To   float64 `json:"to"`
	// Times is how often it happened; of a shared counter, how many samples say so.
	Times int `json:"times"`
	// Records is how many were lost; 0 where that is not known.
	Records int64 `json:"records"`
	CPUs    []int `json:"cpus"` // none if not said
	// Counting is the least share of the time in which a shared counter ran.
	Counting float64 `json:"counting"`
}

// parts is into how many the time is divided at most for each kind: what lies
// closer than one of them is one gap to the eye.
const parts = 256

// Find returns the gaps of a recording in order of time. Lost is the table of
// that name which a reader wrote beside the samples; nil if it wrote none.
func Find(ctx context.Context, samples, lost *table.Table) ([]Gap, error) {
	time := samples.Column("time")
	if time == nil || samples.Rows() == 0 {
		return nil, nil
	}
	from, to := table.Extent(ctx, time, nil, samples.Rows())
	apart := (to - from) / parts
	var out []Gap
	if lost != nil {
		out = append(out, recorded(lost, time, apart)...)
	}
	out = append(out, shared(ctx, samples, time, from, apart)...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
	return out, nil
}

// recorded joins the rows of the table of gaps, each kind by itself.
func recorded(t *table.Table, time *table.Column, apart float64) []Gap {
	begin, end, kind, records, cpu := t.Column("time"), t.Column("end"), t.Column("kind"), t.Column("records"), t.Column("cpu")
	if begin == nil || end == nil || kind == nil {
		return nil
	}
	// Times count from the base of their column; gaps may have others.
	shift, shiftEnd := float64(int64(begin.Base-time.Base)), float64(int64(end.Base-time.Base))
	// Those of several ranks stand below each other.
	order := make([]int, t.Rows())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(begin.Float(a), begin.Float(b)) })
	var out []Gap
	newest := map[string]int{}
	for _, i := range order {
		g := Gap{Kind: kind.Text(i), From: begin.Float(i) + shift, To: end.Float(i) + shiftEnd, Times: 1, CPUs: []int{}}
		if records != nil && records.Has(i) {
			g.Records = int64(records.Float(i))
		}
		if cpu != nil && cpu.Has(i) {
			g.CPUs = append(g.CPUs, int(cpu.Float(i)))
		}
		if n, ok := newest[g.Kind]; ok && g.From-out[n].To <= apart {
			join(&out[n], &g)
			continue
		}
		newest[g.Kind] = len(out)
		out = append(out, g)
	}
	return out
}

// join makes one gap of two that touch, nearly.
func join(to, g *Gap) {
	to.From, to.To = min(to.From, g.From), max(to.To, g.To)
	to.Times += g.Times
	to.Records += g.Records
	for _, c := range g.CPUs {
		if at, found := slices.BinarySearch(to.CPUs, c); !found {
			to.CPUs = slices.Insert(to.CPUs, at, c)
		}
	}
}

// shared finds when counters were shared, from the share of the time that each
// sample's counter ran.
func shared(ctx context.Context, samples *table.Table, time *table.Column, from, apart float64) []Gap {
	counting := samples.Column("counting")
	if counting == nil || counting.Provenance == table.Absent {
		return nil
	}
	cpu := samples.Column("cpu")
	cells := make([]Gap, parts+1)
	for i := range table.Scan(ctx, nil, samples.Rows()) {
		if !counting.Has(i) || !time.Has(i) || !(counting.Float(i) < 1) {
			continue
		}
		at := 0
		if apart > 0 {
			at = min(parts, int((time.Float(i)-from)/apart))
		}
		g := Gap{Kind: Multiplexed, From: time.Float(i), To: time.Float(i), Times: 1, Counting: counting.Float(i)}
		if cpu != nil && cpu.Has(i) {
			g.CPUs = []int{int(cpu.Float(i))}
		}
		if c := &cells[at]; c.Times == 0 {
			*c = g
		} else {
			c.Counting = min(c.Counting, g.Counting)
			join(c, &g)
		}
	}
	var out []Gap
	joined := false
	for i := range cells {
		c := &cells[i]
		if c.Times == 0 {
			joined = false
			continue
		}
		if c.CPUs == nil {
			c.CPUs = []int{}
		}
		if !joined {
			out = append(out, *c)
			joined = true
			continue
		}
		last := &out[len(out)-1]
		last.Counting = min(last.Counting, c.Counting)
		join(last, c)
	}
	return out
}
