package advice

import (
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// maxRuns is how many stretches of an object are listed by their node; one with
// more is placed by the threads that use it.
const maxRuns = 8

// placesOf puts the pages of an object on other memory nodes: on the one that
// fetches most of it, each on the one that fetches most of the page, or in turn.
// It needs threads on several nodes.
func placesOf(p *profile, m *platform.Machine) (out []*Advice) {
	if p.traffic == nil || p.object.Size < uint64(m.Page) {
		return nil
	}
	most, total := 0, uint64(0)
	for node, n := range p.traffic.Lines {
		total += n
		if n > p.traffic.Lines[most] {
			most = node
		}
	}
	if total == 0 {
		return nil
	}
	for _, policy := range []replay.Policy{{Kind: replay.Bind, Node: most}, {Kind: replay.Best}, {Kind: replay.Interleave}} {
		out = append(out, placeOf(p, m, policy, total))
	}
	return out
}

func placeOf(p *profile, m *platform.Machine, policy replay.Policy, total uint64) *Advice {
	o := p.object
	a := &Advice{Kind: Place, plan: &replay.Plan{Homes: map[uint32]replay.Policy{o.Number: policy}}, Map: fmt.Sprintf("pages of %s on %s\n", quote(o.Name), policy),
		Assumes: []string{fmt.Sprintf("threads lie in turn on the %d nodes of %s, and stay there", m.Nodes, m.Name),
			"pages lie where the recorded region touched them first: what ran before it is not known"}}
	switch policy.Kind {
	case replay.Bind:
		a.What = fmt.Sprintf("all pages on node %d, whose threads fetch %d of its %d lines from memory", policy.Node, p.traffic.Lines[policy.Node], total)
		a.Code = called(o) + fmt.Sprintf("%s = numa_alloc_onnode(%d, %d);\n", variable(o), o.Size, policy.Node)
		if isVariable(o) {
			a.Code = fmt.Sprintf("numa_tonode_memory(%s, %d, %d); // before anything touches it\n", reference(o), o.Size, policy.Node)
		}
	case replay.Best:
		a.What = "each page on the node whose threads fetch most of it, by first touch"
		a.Code = firstTouchCode(o, p.traffic.Runs)
	case replay.Interleave:
		a.What = "pages in turn over all nodes, as the threads of all nodes use each"
		a.Code = called(o) + fmt.Sprintf("%s = numa_alloc_interleaved(%d);\n", variable(o), o.Size)
		if isVariable(o) {
			a.Code = fmt.Sprintf("numa_interleave_memory(%s, %d, numa_all_nodes_ptr); // before anything touches it\n", reference(o), o.Size)
		}
		a.Assumes = append(a.Assumes, fmt.Sprintf("threads fetch at the same time: a line beyond the even share of its node waits %d cycles", m.Queue))
	}
	return a
}

// firstTouchCode lets the threads of each node touch their pages first.
func firstTouchCode(o *layout.Object, runs []replay.NodeRun) string {
	if len(runs) > maxRuns || len(runs) < 2 {
		return fmt.Sprintf("// each thread fills first what it uses of %s:\n#pragma omp parallel for schedule(static)\nfor (i = 0; i < %d; i++)\n\t%s[i] = …;\n", o.Name, o.Elements(), variable(o))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// %s is filled first by threads of the node that uses it:\n", o.Name)
	for _, r := range runs {
		from, to := max(r.From, o.Start)-o.Start, min(r.To, o.Start+o.Size)-o.Start
		if o.Elem > 0 && o.Blocks == nil {
			fmt.Fprintf(&b, "//   elements %d to %d on node %d\n", from/o.Elem, (to-1)/o.Elem, r.Node)
		} else {
			fmt.Fprintf(&b, "//   bytes %d to %d on node %d\n", from, to-1, r.Node)
		}
	}
	b.WriteString("#pragma omp parallel for schedule(static)\n")
	fmt.Fprintf(&b, "for (i = 0; i < %d; i++)\n\t%s[i] = …;\n", o.Elements(), variable(o))
	return b.String()
}
