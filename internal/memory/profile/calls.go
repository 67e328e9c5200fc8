package profile

import (
	"cmp"
	"slices"
)

// Calls is what calls a function and what it calls, counted in samples. A
// function that is on a stack twice counts once.
type Calls struct {
	Function string `json:"function"`
	// Total counts the samples in the function or in what it calls, Self those
	// in itself.
	Total   int64  `json:"total"`
	Self    int64  `json:"self"`
	Callers []Call `json:"callers"`
	Callees []Call `json:"callees"`
}

// Call is one of them. Function is empty at the bottom of the stack.
type Call struct {
	Function string  `json:"function"`
	Samples  int64   `json:"samples"`
	Latency  float64 `json:"latency"`
}

// CallsOf breaks the samples of a function down by caller and callee. Without a
// name it is the function with the most samples of its own.
func CallsOf(stacks []Stack, function string) Calls {
	if function == "" {
		function = hottest(stacks)
	}
	c := Calls{Function: function}
	callers, callees := map[string]*Call{}, map[string]*Call{}
	for _, s := range stacks {
		above, below := map[string]bool{}, map[string]bool{}
		found := false
		for i, f := range s.Frames {
			if f.Function != function {
				continue
			}
			found = true
			caller := ""
			if i > 0 {
				caller = s.Frames[i-1].Function
			}
			above[caller] = true
			if i+1 < len(s.Frames) {
				below[s.Frames[i+1].Function] = true
			} else {
				c.Self += s.Samples
			}
		}
		if found {
			c.Total += s.Samples
		}
		add(callers, above, s)
		add(callees, below, s)
	}
	c.Callers, c.Callees = ranked(callers), ranked(callees)
	return c
}

func hottest(stacks []Stack) string {
	self := map[string]int64{}
	for _, s := range stacks {
		if n := len(s.Frames); n > 0 {
			self[s.Frames[n-1].Function] += s.Samples
		}
	}
	best := ""
	for name, n := range self {
		if n > self[best] || n == self[best] && (best == "" || name < best) {
			best = name
		}
	}
	return best
}

func add(to map[string]*Call, names map[string]bool, s Stack) {
	for name := range names {
		c := to[name]
		if c == nil {
			c = &Call{Function: name}
			to[name] = c
		}
		c.Samples += s.Samples
		c.Latency += float64(s.Latency)
	}
}

func ranked(calls map[string]*Call) []Call {
	out := make([]Call, 0, len(calls))
	for _, c := range calls {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Call) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Function, b.Function))
	})
	return out
}
