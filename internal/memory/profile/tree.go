package profile

import (
	"cmp"
	"context"
	"slices"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/table"
)

// CallNode is a function as it is reached by one path of calls. Nodes come depth
// first, the heaviest child first; Depth says whose child one is.
type CallNode struct {
	Function string     `json:"function"` // empty at the start of the stack
	Depth    int        `json:"depth"`
	Total    CallWeight `json:"total"` // in it and in what it calls
	Self     CallWeight `json:"self"`
	Selected CallWeight `json:"selected"` // of Total
	Hovered  CallWeight `json:"hovered"`  // of Total
}

// CallFunction is a function wherever it is on a stack.
type CallFunction struct {
	Function string     `json:"function"`
	Total    CallWeight `json:"total"`
	Self     CallWeight `json:"self"`
}

// CallTree is where samples are by their call stacks. Without a function Callees
// are the paths from the start of the stack; with one they begin at it, and
// Callers are the paths that lead to it, its callers at depth 0.
//
// Below a function a sample counts once in each node that a part of its stack
// goes through, so with recursion children may weigh more than their parent.
type CallTree struct {
	Function  string         `json:"function"`
	Path      []string       `json:"path"`  // the stacks below it are shown
	Value     string         `json:"value"` // samples or latency: what nodes are ordered and left out by
	Total     CallWeight     `json:"total"`
	Selected  CallWeight     `json:"selected"`
	Hovered   CallWeight     `json:"hovered"`
	Callers   []CallNode     `json:"callers"`
	Callees   []CallNode     `json:"callees"`
	Left      int            `json:"left"`      // nodes that are too light to be listed
	Functions []CallFunction `json:"functions"` // the heaviest
}

// TreeOptions say which tree is wanted.
type TreeOptions struct {
	Function string   // whose callers and callees; empty for all calls
	Path     []string // only what is called through these, from the start of the stack
	Value    Value
	Most     int // nodes in each direction
}

// MostNodes is the most nodes of a tree in one direction; mostFunctions is how
// many functions are listed beside it.
const (
	MostNodes     = 20_000
	mostFunctions = 40
)

// Tree sums samples by the paths of their call stacks.
func Tree(ctx context.Context, t *table.Table, l Layers, o TreeOptions) (*CallTree, error) {
	stacks, err := layer(ctx, t, l)
	if err != nil {
		return nil, err
	}
	out := &CallTree{Function: o.Function, Path: append([]string{}, o.Path...), Value: string(o.Value)}
	callees, callers := newTrie(), newTrie()
	var functions functionSums
	for _, s := range stacks {
		if !under(s.frames, o.Path) {
			continue
		}
		if o.Function == "" {
			callees.add(s)
		} else if !callees.addFrom(callers, s, o.Function) {
			continue
		}
		functions.add(s)
		out.Total.add(s.all)
		out.Selected.add(s.selected)
		out.Hovered.add(s.hovered)
	}
	var left int
	out.Callees, left = callees.list(o)
	out.Callers, out.Left = callers.list(o)
	out.Left += left
	out.Functions = functions.heaviest(o.Value)
	return out, ctx.Err()
}

func under(frames []symbol.Frame, path []string) bool {
	if len(frames) < len(path) {
		return false
	}
	for i, function := range path {
		if frames[i].Function != function {
			return false
		}
	}
	return true
}

// trie holds the nodes of a tree; 0 is above all of them.
type trie struct {
	nodes    []CallNode
	children [][]int
	number   map[trieEdge]int
	seen     []int // the stack that was added last, so that it counts once
	stacks   int
}

type trieEdge struct {
	parent   int
	function string
}

func newTrie() *trie {
	return &trie{nodes: make([]CallNode, 1), children: make([][]int, 1), seen: make([]int, 1), number: map[trieEdge]int{}}
}

// add counts a stack along its frames.
func (t *trie) add(s layered) {
	t.stacks++
	t.walk(s, s.frames, true)
}

// walk counts a stack along some frames; own says that it ends in the last one.
func (t *trie) walk(s layered, frames []symbol.Frame, own bool) {
	at := 0
	for i, f := range frames {
		at = t.step(at, f.Function)
		n := &t.nodes[at]
		if t.seen[at] != t.stacks {
			t.seen[at] = t.stacks
			n.Total.add(s.all)
			n.Selected.add(s.selected)
			n.Hovered.add(s.hovered)
		}
		if own && i == len(frames)-1 {
			n.Self.add(s.all)
		}
	}
}

// addFrom counts what a function calls here and who calls it in callers, and
// says whether the stack has it at all.
func (t *trie) addFrom(callers *trie, s layered, function string) bool {
	t.stacks++
	callers.stacks++
	found := false
	for i, f := range s.frames {
		if f.Function != function {
			continue
		}
		found = true
		t.walk(s, s.frames[i:], true)
		above := slices.Clone(s.frames[:i])
		slices.Reverse(above)
		callers.walk(s, append(above, symbol.Frame{}), false)
	}
	return found
}

func (t *trie) step(parent int, function string) int {
	edge := trieEdge{parent, function}
	at, ok := t.number[edge]
	if !ok {
		at = len(t.nodes)
		t.number[edge] = at
		depth := t.nodes[parent].Depth + 1
		if parent == 0 {
			depth = 0
		}
		t.nodes = append(t.nodes, CallNode{Function: function, Depth: depth})
		t.children, t.seen = append(t.children, nil), append(t.seen, 0)
		t.children[parent] = append(t.children[parent], at)
	}
	return at
}

// list gives the nodes depth first, and how many are left out as too light. What
// is above a node weighs no less, so every node that is listed has its parents.
func (t *trie) list(o TreeOptions) ([]CallNode, int) {
	out := []CallNode{}
	if len(t.nodes) == 1 {
		return out, 0
	}
	least := t.least(o)
	var visit func(at int)
	visit = func(at int) {
		children := t.children[at]
		slices.SortFunc(children, func(a, b int) int {
			p, q := &t.nodes[a], &t.nodes[b]
			return cmp.Or(cmp.Compare(q.Total.by(o.Value), p.Total.by(o.Value)), cmp.Compare(q.Total.Samples, p.Total.Samples), cmp.Compare(p.Function, q.Function))
		})
		for _, c := range children {
			if t.nodes[c].Total.by(o.Value) >= least {
				out = append(out, t.nodes[c])
				visit(c)
			}
		}
	}
	visit(0)
	return out, len(t.nodes) - 1 - len(out)
}

// least is the weight from which nodes are listed, so that they are no more than
// wanted.
func (t *trie) least(o TreeOptions) float64 {
	if len(t.nodes)-1 <= o.Most {
		return 0
	}
	weights := make([]float64, 0, len(t.nodes)-1)
	for _, n := range t.nodes[1:] {
		weights = append(weights, n.Total.by(o.Value))
	}
	slices.Sort(weights)
	slices.Reverse(weights)
	// Of several that weigh the same all are left out, if not all have room.
	at := o.Most
	for at > 0 && weights[at-1] == weights[o.Most] {
		at--
	}
	if at == 0 {
		return weights[0] + 1
	}
	return weights[at-1]
}

// functionSums are functions by name, wherever they are on a stack.
type functionSums map[string]*CallFunction

func (f *functionSums) add(s layered) {
	if *f == nil {
		*f = functionSums{}
	}
	seen := map[string]bool{}
	for i, fr := range s.frames {
		c := (*f)[fr.Function]
		if c == nil {
			c = &CallFunction{Function: fr.Function}
			(*f)[fr.Function] = c
		}
		if !seen[fr.Function] {
			seen[fr.Function] = true
			c.Total.add(s.all)
		}
		if i == len(s.frames)-1 {
			c.Self.add(s.all)
		}
	}
}

// heaviest are those with the most of their own: where time is spent.
func (f functionSums) heaviest(v Value) []CallFunction {
	out := []CallFunction{}
	for _, c := range f {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b CallFunction) int {
		return cmp.Or(cmp.Compare(b.Self.by(v), a.Self.by(v)), cmp.Compare(b.Total.by(v), a.Total.by(v)), cmp.Compare(a.Function, b.Function))
	})
	return out[:min(len(out), mostFunctions)]
}

// Share is the part of the whole that a node weighs.
func (t *CallTree) Share(n CallNode) float64 {
	whole := t.Total.by(Value(t.Value))
	if whole == 0 {
		return 0
	}
	return n.Total.by(Value(t.Value)) / whole
}

// LeaveOut drops the nodes below a share of the whole.
func (t *CallTree) LeaveOut(share float64) {
	for _, nodes := range []*[]CallNode{&t.Callers, &t.Callees} {
		before := len(*nodes)
		*nodes = slices.DeleteFunc(*nodes, func(n CallNode) bool { return t.Share(n) < share })
		t.Left += before - len(*nodes)
	}
}
