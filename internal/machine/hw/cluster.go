package hw

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// A cluster is the machines of a run of several hosts as one tree: Cluster, Host,
// and below each host what its machine consists of. CPUs and memory nodes are
// numbered through the cluster, so that a number is one of them; Resource.Shift
// says what was added to the number of the host's own system.

// NamedMachine is a host and the machine it is.
type NamedMachine struct {
	Name    string
	Machine *Topology
}

// host is where the resources of a host are in the tree of a cluster.
type host struct {
	NamedMachine
	first   int // its resource; the others of its machine follow
	shift   int // of its CPUs
	virtual int // its first virtual resource in the Placer's list
	place   int // its first place
}

// What bounds the tree of a cluster: it is held in memory, some 300 bytes a resource, and
// 65,535 of a kind are what guided analysis can tell apart.
const (
	maxClusterCPUs      = 60_000
	maxClusterResources = 1 << 18
)

// NewCluster makes one tree of the machines of several hosts. Hosts of one kind
// may share a Topology. Of more CPUs than a tree can have, the first machine
// stands for all, and a warning says so.
func NewCluster(hosts []NamedMachine) (*Topology, error) {
	if len(hosts) == 0 {
		return nil, errors.New("a cluster without hosts")
	}
	cpus, resources := 0, 0
	for _, h := range hosts {
		if h.Machine == nil || len(h.Machine.hosts) > 0 {
			return nil, fmt.Errorf("host %s is no single machine", term.ClipEnd(h.Name, 41))
		}
		cpus += h.Machine.cpuSpan()
		resources += len(h.Machine.Resources)
	}
	if cpus > maxClusterCPUs || resources > maxClusterResources {
		return oneForAll(hosts, resources), nil
	}
	t := &Topology{
		Name: term.Counted(len(hosts), "host"), Source: commonSource(hosts), Page: hosts[0].Machine.Page,
		cpu: map[int]int{}, node: map[int]int{}, byID: map[string]int{}, hostNumber: map[string]int{},
	}
	t.Resources = []Resource{{Kind: Cluster, ID: Cluster.String(), Name: t.Name, OS: -1, Parent: -1}}
	t.byID[Cluster.String()] = 0
	shift := 0
	for _, h := range hosts {
		t.addHost(h, shift)
		shift += h.Machine.cpuSpan()
	}
	t.listDepths()
	return t, nil
}

// oneForAll is the first machine, where a tree of all would be too large.
func oneForAll(hosts []NamedMachine, resources int) *Topology {
	t := *hosts[0].Machine
	t.Warnings = append(slices.Clone(t.Warnings), fmt.Sprintf(
		"the %s resources of %s are more than one tree holds: the machine of %s stands for all of them, and each of its parts for that part of every host",
		term.Thousands(resources), term.Counted(len(hosts), "host"), hosts[0].Name))
	return &t
}

// cpuSpan is how many numbers the CPUs and memory nodes of a machine need.
func (t *Topology) cpuSpan() int {
	all := t.Root().CPUs
	span := all[len(all)-1] + 1
	for os := range t.node {
		span = max(span, os+1)
	}
	return span
}

// commonSource is where the descriptions come from, if all are from one.
func commonSource(hosts []NamedMachine) string {
	for _, h := range hosts {
		if h.Machine.Source != hosts[0].Machine.Source {
			return ""
		}
	}
	return hosts[0].Machine.Source
}

func (t *Topology) addHost(named NamedMachine, shift int) {
	h := host{NamedMachine: named, first: len(t.Resources), shift: shift}
	at := len(t.hosts)
	t.hosts = append(t.hosts, h)
	if _, known := t.hostNumber[h.Name]; !known {
		t.hostNumber[h.Name] = at
	}
	m := named.Machine
	for _, r := range m.Resources {
		t.Resources = append(t.Resources, h.adopt(r, at))
	}
	root, whole := &t.Resources[h.first], t.Root()
	root.Kind, root.Number, root.ID, root.Name = Host, at, resourceID(Host, at), cmp.Or(named.Name, fmt.Sprintf("host %d, without a name", at))
	root.Parent = 0
	whole.Kids = append(whole.Kids, h.first)
	whole.CPUs = append(whole.CPUs, root.CPUs...)
	whole.Size += root.Size
	for i := h.first; i < len(t.Resources); i++ {
		t.byID[t.Resources[i].ID] = i
	}
	for os, i := range m.cpu {
		t.cpu[shift+os] = h.first + i
	}
	for os, i := range m.node {
		t.node[shift+os] = h.first + i
	}
	for _, o := range m.Instruction {
		o.CPUs = o.CPUs.shifted(shift)
		t.Instruction = append(t.Instruction, o)
	}
	for _, w := range m.Warnings {
		if !slices.Contains(t.Warnings, w) {
			t.Warnings = append(t.Warnings, w)
		}
	}
}

// adopt is a resource of the host's machine as one of the cluster.
func (h *host) adopt(r Resource, at int) Resource {
	r.ID += "@" + resourceID(Host, at)
	r.Index += h.first
	if r.Parent >= 0 {
		r.Parent += h.first
	}
	r.Kids = slices.Clone(r.Kids)
	for k := range r.Kids {
		r.Kids[k] += h.first
	}
	r.CPUs, r.Shift = r.CPUs.shifted(h.shift), h.shift
	if r.OS >= 0 && (r.Kind == CPU || r.Kind == NUMA) {
		r.OS += h.shift
	}
	r.Name += " of " + h.Name
	r.host = h.Name
	return r
}

func (c CPUs) shifted(by int) CPUs {
	out := slices.Clone(c)
	for i := range out {
		out[i] += by
	}
	return out
}

// OwnCPUs are the CPUs of a resource as the system of its host numbers them. Those
// of a cluster are not of one host.
func (r *Resource) OwnCPUs() CPUs { return r.CPUs.shifted(-r.Shift) }

// OwnOS is OS as the system of the resource's host says it.
func (r *Resource) OwnOS() int {
	if r.OS >= 0 && (r.Kind == CPU || r.Kind == NUMA) {
		return r.OS - r.Shift
	}
	return r.OS
}

// ShortName is the name without that of the host, for where this is plain.
func (r *Resource) ShortName() string {
	if r.host == "" || r.Kind == Host {
		return r.Name
	}
	return strings.TrimSuffix(r.Name, " of "+r.host)
}

// Hosts are the resources that stand for hosts; none for a single machine.
func (t *Topology) Hosts() []int { return t.At(Host) }

// NodesOfMachine is how many memory nodes a machine has: of a cluster, that of its
// hosts with the most.
func (t *Topology) NodesOfMachine() int {
	most := 0
	for _, h := range t.hosts {
		most = max(most, len(h.Machine.At(NUMA)))
	}
	if t.hosts == nil {
		most = len(t.At(NUMA))
	}
	return most
}

// newClusterPlacer joins the placers of the hosts: how an access is served is a
// matter of its own machine. Hosts of one kind share a placer.
func newClusterPlacer(t *Topology) *Placer {
	p := &Placer{Topology: t, Resources: slices.Clone(t.Resources), side: map[int]int{}}
	byMachine := map[*Topology]*Placer{}
	for at, h := range t.hosts {
		sub := byMachine[h.Machine]
		if sub == nil {
			sub = NewPlacer(h.Machine)
			byMachine[h.Machine] = sub
		}
		h.virtual, h.place = len(p.Resources), p.places
		for _, r := range sub.Resources[len(h.Machine.Resources):] {
			r = h.adopt(r, at)
			r.Index = len(p.Resources)
			p.Resources = append(p.Resources, r)
		}
		for node, side := range sub.side {
			p.side[h.first+node] = h.first + side
		}
		p.hosts = append(p.hosts, placedHost{h, sub})
		p.places += sub.Places()
	}
	return p
}

// placedHost is a host with the placer of its machine.
type placedHost struct {
	host
	placer *Placer
}

// resource is the index in the cluster of a resource of the host's placer.
func (h *placedHost) resource(i int) int {
	if own := len(h.Machine.Resources); i >= own {
		return h.virtual + i - own
	}
	return h.first + i
}

// at returns the host of a place, and the place on its machine.
func (p *Placer) at(pl Place) (*placedHost, Place) {
	i, exact := slices.BinarySearchFunc(p.hosts, int(pl), func(h placedHost, pl int) int { return cmp.Compare(h.place, pl) })
	if !exact {
		i--
	}
	h := &p.hosts[i]
	return h, pl - Place(h.place)
}

// placeOn is Place for an access on the host of that number, by the numbers of its
// own system. A host that the cluster does not have has no CPU that it knows.
func (p *Placer) placeOn(number, cpu int, a Access) Place {
	if p.hosts == nil {
		return p.Place(cpu, a)
	}
	if number < 0 || number >= len(p.hosts) {
		number, cpu = 0, -1
	}
	h := &p.hosts[number]
	return Place(h.place) + h.placer.Place(cpu, a)
}

func (p *Placer) clusterAccess(pl Place) (cpu int, a Access) {
	h, own := p.at(pl)
	cpu, a = h.placer.Access(own)
	if cpu >= 0 {
		cpu += h.shift
	}
	if a.Home >= 0 {
		a.Home += h.shift
	}
	return cpu, a
}

func (p *Placer) clusterPath(pl Place) Path {
	h, own := p.at(pl)
	path := h.placer.Path(own)
	for i, step := range path.Steps {
		path.Steps[i] = h.resource(step)
	}
	if path.Server >= 0 {
		path.Server = h.resource(path.Server)
	}
	return path
}
