// Package show writes a hardware tree, alone or with the samples placed on it,
// as JSON, as text for a terminal, and as SVG drawings.
package show

import (
	"slices"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// View is what is shown: a tree and, unless Samples is nil, samples on it.
type View struct {
	Topology *hw.Topology
	Samples  *hw.Aggregate
	Where    string // selection the samples come from; empty for all
	Of       uint64 // samples before the selection
	// Level and Latency say where those columns come from. Modelled numbers
	// are marked wherever they are shown.
	Level, Latency table.Provenance
	LatencyUnit    string
	// Amounts are another number of each resource, of any column; nil without.
	Amounts *hw.Amounts
	// AmountsOf says where the values of that column come from.
	AmountsOf table.Provenance
	// Warnings about the samples; those of the topology need not be repeated.
	Warnings []string
}

func (v *View) warnings() []string {
	all := slices.Clone(v.Topology.Warnings)
	for _, w := range v.Warnings {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// Node is a resource as `isobath topology --json` prints it. Values that are
// not known are null.
type Node struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
	// Size is bytes of a cache or memory.
	Size *uint64 `json:"size"`
	// Samples belong to the resource: their path from the CPU outward goes
	// through it, or a CPU inside issued them. It is what `at ID` selects.
	Samples *uint64  `json:"samples"`
	Latency *float64 `json:"latency"`
	// LinkSamples is the traffic between the resource and its parent.
	LinkSamples *uint64 `json:"link_samples"`

	Mean      *float64 `json:"mean,omitempty"`
	Deviation *float64 `json:"deviation,omitempty"`
	// Served is the part of Samples that ended here.
	Served        *uint64  `json:"served,omitempty"`
	ServedLatency *float64 `json:"served_latency,omitempty"`
	// Value is what --by COLUMN:MEASURE asks for, over Samples; ServedValue over
	// the part that ended here. ValueAtLeast says that there are more.
	Value        *float64 `json:"value,omitempty"`
	ValueSamples *int     `json:"value_samples,omitempty"`
	ValueAtLeast bool     `json:"value_at_least,omitempty"`
	ServedValue  *float64 `json:"served_value,omitempty"`
	// Pending found their line already on its way to this L1.
	Pending *uint64 `json:"pending,omitempty"`
	// ServedRemote is the part of Served that came from CPUs elsewhere, and
	// RemoteSamples those that left this cache for another node.
	ServedRemote  *uint64 `json:"served_remote,omitempty"`
	RemoteSamples *uint64 `json:"remote_samples,omitempty"`

	OS     *int   `json:"os,omitempty"`
	CPUs   string `json:"cpus,omitempty"`
	Line   int    `json:"line,omitempty"`
	Ways   int    `json:"ways,omitempty"`
	Model  string `json:"model,omitempty"`
	Memory string `json:"memory,omitempty"`
	// Tier is that of memory, 0 the fastest; bandwidth is in MiB/s and delay in
	// ns, both from the nearest CPUs, as the description says them.
	Tier      string `json:"tier,omitempty"`
	Bandwidth uint64 `json:"bandwidth,omitempty"`
	Delay     uint64 `json:"delay,omitempty"`
	Class     string `json:"class,omitempty"`
	Blocked   bool   `json:"blocked,omitempty"`
	// Virtual resources stand for a server that cannot be named; Note says why.
	Virtual bool   `json:"virtual,omitempty"`
	Note    string `json:"note,omitempty"`

	*Machine
	Children []*Node `json:"children"`
}

// Machine is what the root has beside the fields of every node.
type Machine struct {
	Source      string            `json:"source"`
	Summary     hw.Summary        `json:"summary"`
	Where       string            `json:"where,omitempty"`
	Of          *uint64           `json:"of,omitempty"`
	By          *By               `json:"by,omitempty"`
	Provenance  map[string]string `json:"provenance,omitempty"`
	Depths      []Depth           `json:"depths,omitempty"`
	Unplaced    []Unplaced        `json:"unplaced,omitempty"`
	Links       []Link            `json:"links,omitempty"`
	Distances   *hw.Distances     `json:"distances,omitempty"`
	Instruction []KindSize        `json:"instruction_caches,omitempty"`
	// Accelerators are beside the tree: no sample goes through them.
	Accelerators []hw.Accelerator `json:"accelerators,omitempty"`
	Warnings     []string         `json:"warnings,omitempty"`
	// Hosts of a cluster, the one most unlike the others first.
	Hosts []Host `json:"hosts,omitempty"`
}

// Host is how far a host is from the median host, in deviations, in the measure in
// which that is most.
type Host struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Distance float64 `json:"distance"`
	Measure  string  `json:"measure"`
}

// By is what the values of nodes are.
type By struct {
	Name       string `json:"name"`
	Unit       string `json:"unit"`
	Provenance string `json:"provenance"`
}

// Depth says where the samples are at one depth: samples + nearer + around +
// lost - twice is the total.
type Depth struct {
	Type    string `json:"type"`
	Samples uint64 `json:"samples"`
	Nearer  uint64 `json:"nearer"` // resolved nearer the CPU
	Around  uint64 `json:"around"` // passed by: their CPU has no such cache
	Lost    uint64 `json:"lost"`   // their CPU is not in the topology
	Twice   uint64 `json:"twice"`  // in samples twice: another cache of this depth answered
}

// Unplaced is samples that no resource is known to have served.
type Unplaced struct {
	Level   string   `json:"level"`
	Samples uint64   `json:"samples"`
	Latency *float64 `json:"latency"`
	Reason  string   `json:"reason"`
}

// Link is traffic to another node.
type Link struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Samples uint64   `json:"samples"`
	Latency *float64 `json:"latency"`
}

// KindSize counts caches of one kind and size.
type KindSize struct {
	Type  string `json:"type"`
	Size  uint64 `json:"size"`
	Count int    `json:"count"`
}

// Tree returns the JSON form.
func (v *View) Tree() *Node {
	resources := v.Topology.Resources
	if v.Samples != nil {
		resources = v.Samples.Placer.Resources
	}
	nodes := make([]*Node, len(resources))
	for i := range resources {
		r := &resources[i]
		if r.Virtual && v.Samples.Tallies[i].Passed.Samples == 0 {
			continue
		}
		nodes[i] = v.node(r)
		if r.Parent >= 0 {
			nodes[r.Parent].Children = append(nodes[r.Parent].Children, nodes[i])
		}
	}
	nodes[0].Machine = v.machine()
	return nodes[0]
}

func (v *View) node(r *hw.Resource) *Node {
	n := &Node{
		Type: r.Kind.String(), ID: r.ID, Name: r.Name, CPUs: r.OwnCPUs().String(), Line: r.Line, Ways: max(r.Ways, 0),
		Model: r.Model, Memory: r.Memory, Tier: r.Tier, Bandwidth: r.Bandwidth, Delay: r.Delay, Class: r.Class, Blocked: r.Blocked, Virtual: r.Virtual, Note: r.Note,
		Children: []*Node{},
	}
	if r.Size > 0 {
		n.Size = &r.Size
	}
	if r.Kind == hw.Cluster {
		n.CPUs = "" // numbers of several hosts
	}
	if os := r.OwnOS(); os >= 0 {
		n.OS = &os
	}
	if v.Samples == nil {
		return n
	}
	tally := &v.Samples.Tallies[r.Index]
	n.Samples = &tally.Passed.Samples
	n.Latency = v.sum(tally.Passed)
	link := v.Samples.LinkToParent(r.Index).Samples
	n.LinkSamples = &link
	n.Mean = maybe(tally.Passed.Mean())
	if tally.Passed.Squares > 0 {
		n.Deviation = maybe(tally.Passed.Deviation())
	}
	if r.Serves() {
		n.Served, n.ServedLatency = &tally.Served.Samples, v.sum(tally.Served)
		n.Pending = positive(tally.Pending.Samples)
		n.ServedRemote, n.RemoteSamples = positive(tally.FromAfar.Samples), positive(tally.Away.Samples)
	}
	if v.Amounts != nil {
		v.amounts(r, n)
	}
	return n
}

func (v *View) amounts(r *hw.Resource, n *Node) {
	passed := &v.Amounts.Passed[r.Index]
	n.ValueSamples, n.ValueAtLeast = &passed.Samples, passed.AtLeast
	n.Value = maybe(passed.Number, passed.Samples > 0)
	if r.Serves() {
		served := v.Amounts.Served[r.Index]
		n.ServedValue = maybe(served.Number, served.Samples > 0)
	}
}

// sum returns the latency of samples: zero if there are no samples, null if
// there are but none has a latency.
func (v *View) sum(c hw.Count) *float64 {
	if v.Latency == table.Absent || c.Samples > 0 && c.Valued == 0 {
		return nil
	}
	return &c.Sum
}

func maybe(f float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &f
}

func positive(n uint64) *uint64 {
	if n == 0 {
		return nil
	}
	return &n
}

func (v *View) machine() *Machine {
	m := &Machine{
		Source: v.Topology.Source, Summary: v.Topology.Summary(), Where: v.Where,
		Distances: v.Topology.Distances, Warnings: v.warnings(), Instruction: instruction(v.Topology), Accelerators: v.Topology.Accelerators,
	}
	if v.Samples == nil {
		return m
	}
	m.Of = &v.Of
	if v.Amounts != nil {
		m.By = &By{v.Amounts.Name, v.Amounts.Unit, v.AmountsOf.String()}
	}
	m.Provenance = map[string]string{"level": v.Level.String(), "latency": v.Latency.String()}
	for _, b := range v.Samples.Depths() {
		m.Depths = append(m.Depths, Depth{b.Kind.String(), b.Here.Samples, b.Nearer.Samples, b.Around.Samples, b.Lost.Samples, b.Twice.Samples})
	}
	for _, h := range v.Samples.HostsByDistance() {
		r := &v.Topology.Resources[h.Host]
		m.Hosts = append(m.Hosts, Host{r.ID, r.Name, h.Distance, h.Measure})
	}
	for _, u := range v.Samples.Unplaced {
		m.Unplaced = append(m.Unplaced, Unplaced{u.Level.String(), u.Samples, v.sum(u.Count), u.Reason})
	}
	for _, l := range v.Samples.Links {
		if l.Remote {
			r := v.Samples.Placer.Resources
			m.Links = append(m.Links, Link{r[l.From].ID, r[l.To].ID, l.Samples, v.sum(l.Count)})
		}
	}
	return m
}

func instruction(t *hw.Topology) []KindSize {
	var out []KindSize
next:
	for _, o := range t.Instruction {
		for i := range out {
			if out[i].Type == o.Kind.String()+"i" && out[i].Size == o.Size {
				out[i].Count++
				continue next
			}
		}
		out = append(out, KindSize{o.Kind.String() + "i", o.Size, 1})
	}
	return out
}
