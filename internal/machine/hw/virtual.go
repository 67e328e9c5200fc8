package hw

import (
	"fmt"
	"strconv"
	"strings"
)

// addVirtual appends a resource for every kind of server that a sample may name
// without there being one in the description, or only one. They follow from the
// topology alone, so that their indices are the same in every run.
func (p *Placer) addVirtual() {
	for c := range p.cpus {
		for _, k := range []Kind{Cache1, Cache2, Cache3, Cache4} {
			p.addMissing(c, k)
		}
		if near := p.near[c]; len(near) != 1 && p.virtual[p.localID(near)] == 0 {
			note := "the topology has no memory node for these CPUs"
			if len(near) > 1 {
				note = "several memory nodes are equally near: " + p.ids(near)
			}
			p.add(p.localID(near), Resource{Kind: NUMA, Name: "local memory", Note: note})
		}
	}
	for _, l := range hopLevels {
		for h := AnyHops; int(h) < hopsCount; h++ {
			name := fmt.Sprintf("remote (%v)", h)
			if l == RemoteCache {
				name = fmt.Sprintf("remote cache (%v)", h)
			}
			p.add(remoteID(l, h), Resource{Kind: NUMA, Name: name, Note: "the samples do not say which node"})
		}
	}
	p.add("Peer", Resource{Kind: NUMA, Name: "peer cache", Note: "a cache of the same memory node; the samples do not say which"})
	p.add("MSC:unknown", Resource{Kind: SideCache, Name: "memory-side cache", Note: "not in the topology file, or several"})
	p.add("PMEM", Resource{Kind: NUMA, Name: "persistent memory", Note: "not in the topology file, or several"})
	p.add("CXL", Resource{Kind: NUMA, Name: "CXL memory", Note: "not in the topology file, or several"})
}

// addMissing makes the resource that stands for a cache of a CPU the
// description does not have: at the core for L1 and L2, at the package beyond.
func (p *Placer) addMissing(c int, k Kind) {
	chain := p.chain[c]
	for _, i := range chain {
		if p.Resources[i].Kind == k {
			return
		}
	}
	at := p.missingAt(c, k)
	id := missingID(k, p.Resources[at].ID)
	if p.virtual[id] != 0 {
		return
	}
	i := p.add(id, Resource{Kind: k, Name: k.String() + " of " + p.Resources[at].Name, Note: k.String() + " not in topology file"})
	p.Resources[i].Parent = at
	p.Resources[i].CPUs = p.Resources[at].CPUs
}

func (p *Placer) missingAt(c int, k Kind) int {
	t := p.Topology
	around := Package
	if k == Cache1 || k == Cache2 {
		around = Core
	}
	cpu := t.cpu[p.cpus[c]]
	if at := t.enclosing(cpu, around); at >= 0 {
		return at
	}
	if around == Core {
		return cpu
	}
	return 0
}

// missing returns the resource that stands for a cache of a CPU that the
// description lacks.
func (p *Placer) missing(c int, k Kind) int {
	return p.virtual[missingID(k, p.Resources[p.missingAt(c, k)].ID)]
}

func missingID(k Kind, at string) string { return fmt.Sprintf("No%v@%s", k, at) }

func remoteID(l Level, h Hops) string {
	return fmt.Sprintf("%s:%d", strings.ReplaceAll(l.String(), " ", ""), h)
}

func (p *Placer) localID(near []int) string {
	if len(near) == 0 {
		return "Local:none"
	}
	numbers := make([]string, len(near))
	for i, n := range near {
		numbers[i] = strconv.Itoa(p.Resources[n].OS)
	}
	return "Local:" + strings.Join(numbers, "+")
}

func (p *Placer) add(id string, r Resource) int {
	r.Index, r.Number, r.OS, r.Virtual, r.Aside = len(p.Resources), -1, -1, true, true
	r.ID = id
	p.virtual[id] = r.Index
	p.Resources = append(p.Resources, r)
	return r.Index
}

func (p *Placer) ids(resources []int) string {
	names := make([]string, len(resources))
	for i, r := range resources {
		names[i] = p.Resources[r].ID
	}
	return strings.Join(names, ", ")
}
