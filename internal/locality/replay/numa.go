package replay

import (
	"fmt"
	"math/bits"
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

// ParsePolicy reads first, interleave, best or node:N.
func ParsePolicy(s string, m *platform.Machine) (Policy, error) {
	kind, number, _ := strings.Cut(s, ":")
	p := Policy{Kind: PolicyKind(kind)}
	switch p.Kind {
	case FirstTouch, Interleave, Best:
		return p, nil
	case Bind:
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= m.Nodes {
			return p, fmt.Errorf("%q: machine %s has nodes 0 to %d", s, m.Name, m.Nodes-1)
		}
		p.Node = n
		return p, nil
	}
	return p, fmt.Errorf("%q: want first, interleave, best or node:N", s)
}

func (p Policy) String() string {
	if p.Kind == Bind {
		return fmt.Sprintf("node:%d", p.Node)
	}
	return string(p.Kind)
}

// homes counts the lines fetched from memory by the node of their page.
type homes struct {
	policy  Policy
	machine *platform.Machine
	shift   uint
	first   map[uint64]int
	fetched map[uint64][]uint64 // page to lines by node of the reader
	nodes   []int               // of threads
}

func newHomes(m *platform.Machine, p Policy) *homes {
	return &homes{policy: p, machine: m, shift: uint(bits.TrailingZeros(uint(m.Page))), first: map[uint64]int{}, fetched: map[uint64][]uint64{}}
}

func (h *homes) fetch(thread int, addr uint64) {
	for len(h.nodes) <= thread {
		h.nodes = append(h.nodes, h.machine.CoreOf(len(h.nodes)).Node)
	}
	page, node := addr>>h.shift, h.nodes[thread]
	n := h.fetched[page]
	if n == nil {
		n = make([]uint64, h.machine.Nodes)
		h.fetched[page], h.first[page] = n, node
	}
	n[node]++
}

// Memory counts the lines fetched from the reader's own node, and from others.
func (s *Survey) Memory() (local, remote uint64) {
	h := s.homes
	for page, n := range h.fetched {
		home := h.home(page, n)
		for node, lines := range n {
			if node == home {
				local += lines
			} else {
				remote += lines
			}
		}
	}
	return local, remote
}

func (h *homes) home(page uint64, n []uint64) int {
	switch h.policy.Kind {
	case Interleave:
		return int(page % uint64(h.machine.Nodes))
	case Bind:
		return h.policy.Node
	case Best:
		best := 0
		for i := range n {
			if n[i] > n[best] {
				best = i
			}
		}
		return best
	}
	return h.first[page]
}
