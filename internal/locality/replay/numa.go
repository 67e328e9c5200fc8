package replay

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/locality/platform"
)

// Policy is which memory node a page lies on.
type Policy struct {
	Kind PolicyKind
	Node int // of Bind
}

// PolicyKind is how pages find their node.
type PolicyKind string

// The policies.
const (
	FirstTouch PolicyKind = "first"      // the node of the thread that fetched it first
	Interleave PolicyKind = "interleave" // page by page in turn
	Bind       PolicyKind = "node"       // all on one
	Best       PolicyKind = "best"       // the node that fetched most of the page
)

// ParsePolicy reads first, interleave, best or node:N. The node is one of the
// machine's, unless that is nil.
func ParsePolicy(s string, m *platform.Machine) (Policy, error) {
	kind, number, _ := strings.Cut(s, ":")
	p := Policy{Kind: PolicyKind(kind)}
	switch p.Kind {
	case FirstTouch, Interleave, Best:
		return p, nil
	case Bind:
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return p, fmt.Errorf("%q: want node:N", s)
		}
		p.Node = n
		if m != nil {
			err = p.check(m)
		}
		return p, err
	}
	return p, fmt.Errorf("%q: want first, interleave, best or node:N", s)
}

// check reports a node that a machine does not have.
func (p Policy) check(m *platform.Machine) error {
	if p.Kind == Bind && p.Node >= m.Nodes {
		return fmt.Errorf("%q: machine %s has nodes 0 to %d", p, m.Name, m.Nodes-1)
	}
	return nil
}

func (p Policy) String() string {
	if p.Kind == Bind {
		return fmt.Sprintf("node:%d", p.Node)
	}
	return string(p.Kind)
}

// homes counts the lines fetched from memory by the node of their page.
type homes struct {
	policy  Policy            // of pages that no other is given for
	given   map[uint32]Policy // by object
	machine *platform.Machine
	shift   uint
	pages   map[uint64]*pageUse
	last    *pageUse
	lastKey uint64 // plus one
	nodes   []int  // of threads
}

// pageUse is who fetched a page.
type pageUse struct {
	object uint32   // that was fetched first
	first  int      // the node that did
	lines  []uint64 // by node of the reader
}

func newHomes(m *platform.Machine, p Policy, given map[uint32]Policy) *homes {
	return &homes{policy: p, given: given, machine: m, shift: uint(bits.TrailingZeros(uint(m.Page))), pages: map[uint64]*pageUse{}}
}

// fetch counts a line that a thread fetches for an object, and tells whether
// another node had its page first.
func (h *homes) fetch(thread int, addr uint64, object uint32) (elsewhere bool) {
	for len(h.nodes) <= thread {
		h.nodes = append(h.nodes, h.machine.CoreOf(len(h.nodes)).Node)
	}
	page, node := addr>>h.shift, h.nodes[thread]
	u := h.last
	if page+1 != h.lastKey {
		if u = h.pages[page]; u == nil {
			u = &pageUse{object, node, make([]uint64, h.machine.Nodes)}
			h.pages[page] = u
		}
		h.last, h.lastKey = u, page+1
	}
	u.lines[node]++
	return u.first != node
}

// Memory counts the lines fetched from the reader's own node, and from others.
func (s *Survey) Memory() (local, remote uint64) {
	var n Counts
	s.homes.count(&n)
	return n.Local, n.Remote
}

// count adds up the pages by their home.
func (h *homes) count(to *Counts) {
	served := make([]uint64, h.machine.Nodes)
	used := map[int]bool{}
	for _, node := range h.nodes {
		used[node] = true
	}
	for page, u := range h.pages {
		home := h.home(page, u)
		for node, lines := range u.lines {
			served[home] += lines
			if node == home {
				to.Local += lines
			} else {
				to.Remote += lines
			}
		}
	}
	if len(used) > 1 {
		to.Busiest = slices.Max(served)
		to.Crowded = to.Busiest - min(to.Busiest, (to.Local+to.Remote+uint64(len(used))-1)/uint64(len(used)))
	}
}

func (h *homes) home(page uint64, u *pageUse) int {
	p, ok := h.given[u.object]
	if !ok {
		p = h.policy
	}
	switch p.Kind {
	case Interleave:
		return int(page % uint64(h.machine.Nodes))
	case Bind:
		return min(p.Node, h.machine.Nodes-1)
	case Best:
		return u.most()
	}
	return u.first
}

// most is the node that fetched most of the page.
func (u *pageUse) most() int {
	best := u.first
	for i, n := range u.lines {
		if n > u.lines[best] {
			best = i
		}
	}
	return best
}

// Traffic is the lines of an object that the threads of each node fetch from
// memory.
type Traffic struct {
	Lines []uint64 // by node of the reader
	First []uint64 // by node that had the page first
	// Runs are the stretches of the object that one node fetches most of, in
	// order of address.
	Runs []NodeRun
}

// NodeRun is a stretch of memory that one node fetches most of.
type NodeRun struct {
	From, To uint64 // addresses
	Node     int
}

// traffic adds up the pages of each object.
func (h *homes) traffic(objects int) []Traffic {
	out := make([]Traffic, objects)
	for _, page := range slices.Sorted(maps.Keys(h.pages)) {
		u := h.pages[page]
		t := &out[u.object]
		if t.Lines == nil {
			t.Lines, t.First = make([]uint64, h.machine.Nodes), make([]uint64, h.machine.Nodes)
		}
		for node, n := range u.lines {
			t.Lines[node] += n
			t.First[u.first] += n
		}
		run := NodeRun{page << h.shift, (page + 1) << h.shift, u.most()}
		if k := len(t.Runs) - 1; k >= 0 && t.Runs[k].Node == run.Node {
			t.Runs[k].To = run.To
		} else {
			t.Runs = append(t.Runs, run)
		}
	}
	return out
}
