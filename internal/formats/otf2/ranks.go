package otf2

import "slices"

// Members lists the locations of a communicator by rank. Other is the remote
// group of an inter-communicator. Self says that every process has its own
// copy, with itself as only member. OK is false where a definition is missing.
type Members struct {
	Group uint32 // the same group has the same Ranks
	Ranks []uint64
	Other []uint64
	Self  bool
	OK    bool
}

// Members resolves the ranks of a communicator to location ids: a rank is an
// index into the communicator's group, whose members are indices into the
// locations of the group's paradigm. Lists are shared between communicators of
// the same group: a hostile file could otherwise have many large ones. Not safe
// for concurrent use.
func (t *Definitions) Members(comm uint32) Members {
	c, ok := t.Comms[comm]
	if !ok {
		return Members{}
	}
	g, ok := t.Groups[c.Group]
	if !ok {
		return Members{}
	}
	m := Members{Self: g.Self, OK: true, Group: c.Group, Ranks: t.groupLocations(c.Group, g)}
	if c.Inter {
		if b, ok := t.Groups[c.GroupB]; ok {
			m.Other = t.groupLocations(c.GroupB, b)
		}
	}
	return m
}

func (t *Definitions) groupLocations(id uint32, g Group) []uint64 {
	all := t.CommLocations[g.Paradigm]
	if g.Global {
		return all
	}
	if out, ok := t.resolved[id]; ok {
		return out
	}
	out := make([]uint64, len(g.Members))
	t.resolved[id] = out
	for i, m := range g.Members {
		out[i] = Undefined
		if m < uint64(len(all)) {
			out[i] = all[m]
		}
	}
	return out
}

// Peer returns the location of a rank as seen from location from.
func (m Members) Peer(rank, from uint64) (uint64, bool) {
	if m.Self {
		return from, m.OK && rank == 0
	}
	ranks := m.Ranks
	if m.Other != nil && slices.Contains(ranks, from) {
		ranks = m.Other
	}
	if !m.OK || rank >= uint64(len(ranks)) || ranks[rank] == Undefined {
		return 0, false
	}
	return ranks[rank], true
}

// GroupLocations returns the name and the locations of a group of any kind that
// has some: of locations, or of ranks. Not safe for concurrent use.
func (t *Definitions) GroupLocations(id uint32) (name string, locations []uint64) {
	if g, ok := t.LocationSets[id]; ok {
		return t.Text(g.Name), g.Members
	}
	g, ok := t.Groups[id]
	if !ok {
		return "", nil
	}
	return t.Text(g.Name), t.groupLocations(id, g)
}
