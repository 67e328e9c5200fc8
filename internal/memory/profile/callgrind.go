package profile

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/isobath/isobath/internal/code/symbol"
)

// WriteCallgrind writes the format of callgrind, which callgrind_annotate and
// KCachegrind read: the samples of each line itself, and of each call with all
// below it.
//
// Readers add calls up to what a function costs with all it calls. That sum
// would exceed the samples where functions call themselves, so a stack counts
// without its circles: main, f, g, f, h as main, f, h.
func WriteCallgrind(w io.Writer, stacks []Stack) error {
	latency := false
	for _, s := range stacks {
		latency = latency || s.Valued > 0
	}
	g := newCallGraph(stacks)
	b := bufio.NewWriter(w)
	events := "Samples"
	if latency {
		events += " Latency"
	}
	cost := func(c callCost) string {
		if latency {
			return fmt.Sprintf("%d %d", c.samples, c.latency)
		}
		return fmt.Sprint(c.samples)
	}
	fmt.Fprintf(b, "# callgrind format\nversion: 1\ncreator: isobath\npositions: line\nevents: %s\nsummary: %s\n", events, cost(g.all))
	for _, fn := range slices.SortedFunc(maps.Keys(g.functions), functionKey.compare) {
		f := g.functions[fn]
		fmt.Fprintf(b, "\nfl=%s\nfn=%s\n", fn.fileName(), fn.name)
		for _, line := range slices.Sorted(maps.Keys(f.self)) {
			fmt.Fprintf(b, "%d %s\n", line, cost(f.self[line]))
		}
		for _, call := range slices.SortedFunc(maps.Keys(f.calls), callKey.compare) {
			c := f.calls[call]
			fmt.Fprintf(b, "cfi=%s\ncfn=%s\ncalls=%d 0\n%d %s\n", call.to.fileName(), call.to.name, c.samples, call.line, cost(c))
		}
	}
	return b.Flush()
}

type functionKey struct{ file, name string }

func (f functionKey) compare(g functionKey) int {
	return cmp.Or(cmp.Compare(f.file, g.file), cmp.Compare(f.name, g.name))
}

// fileName is the file, or what the format has where it is not known.
func (f functionKey) fileName() string { return cmp.Or(f.file, "???") }

// callKey is a call from a line.
type callKey struct {
	line int
	to   functionKey
}

func (c callKey) compare(d callKey) int {
	return cmp.Or(cmp.Compare(c.line, d.line), c.to.compare(d.to))
}

type callCost struct{ samples, latency int64 }

func (c callCost) plus(s *Stack) callCost {
	return callCost{c.samples + s.Samples, c.latency + s.Latency}
}

type calledFunction struct {
	self  map[int]callCost
	calls map[callKey]callCost
}

type callGraph struct {
	functions map[functionKey]*calledFunction
	all       callCost
}

func newCallGraph(stacks []Stack) *callGraph {
	g := &callGraph{functions: map[functionKey]*calledFunction{}}
	for i := range stacks {
		s := &stacks[i]
		path := withoutCircles(s.Frames)
		if len(path) == 0 {
			continue
		}
		g.all = g.all.plus(s)
		inner := path[len(path)-1]
		self := g.function(keyOf(inner)).self
		self[inner.Line] = self[inner.Line].plus(s)
		for k, caller := range path[:len(path)-1] {
			calls := g.function(keyOf(caller)).calls
			call := callKey{caller.Line, keyOf(path[k+1])}
			calls[call] = calls[call].plus(s)
		}
	}
	return g
}

func (g *callGraph) function(key functionKey) *calledFunction {
	f := g.functions[key]
	if f == nil {
		f = &calledFunction{map[int]callCost{}, map[callKey]callCost{}}
		g.functions[key] = f
	}
	return f
}

func keyOf(f symbol.Frame) functionKey { return functionKey{f.File, f.Function} }

// withoutCircles takes a path back to the first call of a function whenever it
// comes to it again.
func withoutCircles(frames []symbol.Frame) []symbol.Frame {
	var path []symbol.Frame
	at := map[functionKey]int{}
	for _, f := range frames {
		key := keyOf(f)
		if i, seen := at[key]; seen {
			for _, cut := range path[i:] {
				delete(at, keyOf(cut))
			}
			path = path[:i]
		}
		at[key] = len(path)
		path = append(path, f)
	}
	return path
}
