package main

import (
	"context"
	"fmt"
	"time"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/memory/guide"
)

// placed is synthetic samples on a machine of their 144 CPUs: two packages of 36
// cores with two CPUs each.
func placed(rows int) (query.Data, *hw.Rows, error) {
	topology, err := twoPackages(36)
	if err != nil {
		return query.Data{}, nil, err
	}
	t := synth.Samples(rows)
	places, err := hw.PlaceRows(hw.NewPlacer(topology), t)
	if err != nil {
		return query.Data{}, nil, err
	}
	return query.Data{Table: t, Placing: &query.Placing{
		Row: places.Code, Count: len(places.Coder.Places), Touching: places.Coder.Touching,
	}}, places, nil
}

func twoPackages(cores int) (*hw.Topology, error) {
	var spec hw.Spec
	object := func(k hw.Kind, os int, cpus []int) {
		spec.Objects = append(spec.Objects, hw.Object{Kind: k, OS: os, CPUs: hw.NewCPUs(cpus)})
	}
	var all []int
	for p := range 2 {
		var inside []int
		for c := p * cores; c < (p+1)*cores; c++ {
			pair := []int{c, c + 2*cores}
			inside = append(inside, pair...)
			object(hw.Cache2, -1, pair)
			object(hw.Cache1, -1, pair)
			object(hw.Core, c, pair)
			for _, cpu := range pair {
				object(hw.CPU, cpu, []int{cpu})
			}
		}
		object(hw.Package, p, inside)
		object(hw.NUMA, p, inside)
		object(hw.Cache3, -1, inside)
		all = append(all, inside...)
	}
	object(hw.Machine, -1, all)
	return hw.Build(spec)
}

// strips is one metric over 60 windows of 10 M samples, against one histogram of
// the same axis; both for a selection not seen before.
func strips(ctx context.Context) ([]Result, error) {
	d, places, err := placed(screenRows)
	if err != nil {
		return nil, err
	}
	e := kernel.New(d, kernel.Options{})
	defer e.Close()
	g := guide.New(d, places, e)
	histogram := func(i int) error {
		_, err := e.Answer(ctx, &query.Request{Where: fresh(i), Axes: []query.Axis{{Column: "time", Bins: 60}}})
		return err
	}
	if err := histogram(0); err != nil { // codes
		return nil, err
	}
	var results []Result
	for _, metric := range []string{"imbalance", "latency"} {
		i := 0
		ours, peer, err := turns(7, func() error { i += 2; return nil }, func() error {
			_, err := g.Strip(ctx, guide.StripOptions{Axis: "time", Metric: metric, Depth: "CPU", Windows: 60, Where: fresh(i)})
			return err
		}, func() error { return histogram(i + 1) })
		if err != nil {
			return nil, err
		}
		results = append(results, compare(Result{Name: "strip-10M-" + metric, Versus: "one histogram", Bar: 5}, ours, peer))
	}
	return results, nil
}

// fresh is a selection of nine samples in ten, another one for each i.
func fresh(i int) query.Expr {
	return query.Compare{Column: "chance", Op: query.Lt, Value: query.NumberValue(float64(9000 + i))}
}

// clustering is one tree with the default windows, sorting included. The bars
// are seconds on two cores; processor time is what is compared, as the work is
// done on one.
func clustering(ctx context.Context) ([]Result, error) {
	var results []Result
	for _, size := range []struct {
		name string
		rows int
		bar  float64 // seconds
	}{{"300k", 300_000, 0.3}, {"10M", screenRows, 6}} {
		d, places, err := placed(size.rows)
		if err != nil {
			return nil, err
		}
		e := kernel.New(d, kernel.Options{})
		defer e.Close()
		for _, axis := range []string{"time", "addr"} {
			var took timing
			took.wall, took.cpu = 1e12, 1e12
			for range 3 {
				g := guide.New(d, places, e) // which remembers nothing yet
				if err := took.try(func() error {
					_, err := g.Cluster(ctx, guide.TreeOptions{Axis: axis, Metric: "latency", Depth: "CPU"})
					return err
				}); err != nil {
					return nil, err
				}
			}
			r := Result{Name: fmt.Sprintf("clusters-%s-%s", size.name, axis), Ours: took.cpu, Peer: size.bar * 1000, Unit: "ms-cpu", Versus: fmt.Sprint(time.Duration(size.bar * float64(time.Second))), Bar: 1}
			r.Ratio = r.Ours / r.Peer
			results = append(results, r)
		}
	}
	return results, nil
}

// insightSearch is the whole list of findings on 10 M samples, nothing remembered.
// There is no peer; the bar is that of a tree of the same samples.
func insightSearch(ctx context.Context) ([]Result, error) {
	d, places, err := placed(screenRows)
	if err != nil {
		return nil, err
	}
	e := kernel.New(d, kernel.Options{})
	defer e.Close()
	const bar = 6 * time.Second
	took := timing{1e12, 1e12}
	for range 2 {
		if err := took.try(func() error {
			_, err := guide.New(d, places, e).Insights(ctx, nil, nil)
			return err
		}); err != nil {
			return nil, err
		}
	}
	r := Result{Name: "insights-10M", Ours: took.cpu, Peer: milliseconds(bar), Unit: "ms-cpu", Versus: bar.String(), Bar: 1}
	r.Ratio = r.Ours / r.Peer
	return []Result{r}, nil
}
