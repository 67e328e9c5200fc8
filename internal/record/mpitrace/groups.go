package mpitrace

import (
	"encoding/binary"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// groups are the lists of ranks of MPI_COMM_WORLD that calls wait for: those of
// epochs of windows, and the neighbours of a topology.
type groups struct {
	local [][][]uint64      // by rank and local number
	ids   map[string]uint32 // by members, in the order in which they are defined
	order [][]uint64
	near  bool   // somebody exchanges data with neighbours
	first uint32 // number of the first in the archive: groups of communicators come before
	sent  uint32 // attributes; otf2.None until one is needed
	got   uint32
}

func newGroups(ranks int) *groups {
	return &groups{local: make([][][]uint64, ranks), ids: map[string]uint32{}, sent: otf2.None, got: otf2.None}
}

// add takes over members. Numbers count from 1; a list that goes on repeats its
// number.
func (g *groups) add(rank int, r *record, size int) {
	list := &g.local[rank]
	if int(r.a) == len(*list)+1 {
		*list = append(*list, nil)
	}
	if r.a == 0 || int(r.a) != len(*list) {
		return
	}
	members := &(*list)[r.a-1]
	for _, m := range r.ranks {
		if int(m) < size {
			*members = append(*members, uint64(m))
		}
	}
}

func (g *groups) members(rank int, local uint32) []uint64 {
	if local == 0 || int(local) > len(g.local[rank]) {
		return nil
	}
	return g.local[rank][local-1]
}

// id is the number of a list in the archive.
func (g *groups) id(members []uint64) uint32 {
	key := make([]byte, 0, 4*len(members))
	for _, m := range members {
		key = binary.LittleEndian.AppendUint32(key, uint32(m))
	}
	id, ok := g.ids[string(key)]
	if !ok {
		id = g.first + uint32(len(g.order))
		g.ids[string(key)] = id
		g.order = append(g.order, append([]uint64{}, members...))
	}
	return id
}

// define writes the lists, behind the groups of the communicators.
func (g *groups) define(out *otf2.Writer) {
	for _, members := range g.order {
		out.Ranks("partners", members)
	}
}

// Attributes of the end of a call that exchanges data with neighbours: the
// groups it sent to and got from. OTF2 has no records for these collectives.
const (
	sentAttribute = "isobath::sent to"
	gotAttribute  = "isobath::got from"
	typeGroup     = 15
)

// defineNear defines the attributes if they are needed.
func (c *converter) defineNear() {
	c.groups.first = 1 // the locations of MPI_COMM_WORLD
	for _, k := range c.order {
		c.groups.first++
		if k.inter {
			c.groups.first++
		}
	}
	if c.groups.near {
		c.groups.sent = c.out.Attribute(sentAttribute, "the ranks that a collective of neighbours sends to", typeGroup)
		c.groups.got = c.out.Attribute(gotAttribute, "the ranks that a collective of neighbours receives from", typeGroup)
	}
}

// mostNear bounds what the calls of a damaged recording wait for.
const mostNear = 1 << 16

// near collects who a call sends to and waits for.
func (s *stream) near(r *record) {
	to := &s.to
	if r.op == 1 {
		to = &s.from
	}
	if members := s.groups.members(s.rank, r.a); len(*to)+len(members) <= mostNear {
		*to = append(*to, members...)
	}
}

// exchanged are the attributes of the end of a call.
func (s *stream) exchanged() []otf2.AttributeValue {
	var out []otf2.AttributeValue
	for _, side := range []struct {
		id      uint32
		members *[]uint64
	}{{s.groups.sent, &s.to}, {s.groups.got, &s.from}} {
		if len(*side.members) > 0 {
			out = append(out, otf2.AttributeValue{ID: side.id, Value: otf2.Value{Type: typeGroup, Bits: uint64(s.groups.id(*side.members))}})
		}
		*side.members = (*side.members)[:0]
	}
	return out
}
