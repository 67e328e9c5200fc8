package reftrace

import (
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

// name turns instruction addresses into link addresses where they belong to
// the program, and looks up the source of each. Every address is looked up
// once: a trace has few.
func (j *job) name() {
	n := namer{job: j, files: &symbol.Files{}, known: map[uint64]named{}, places: map[refs.Place]uint32{{}: 0}}
	defer n.files.Close()
	j.rec.Places = []refs.Place{{}}
	n.own, _ = n.files.Open(j.program.Path, "") // without it there are no names
	for i := range j.rec.Refs {
		r := &j.rec.Refs[i]
		at, ok := n.known[r.PC]
		if !ok {
			at = n.look(r.PC)
			n.known[r.PC] = at
		}
		r.PC, r.Place = at.pc, at.place
	}
	if n.own != nil && n.own.NoLines != "" {
		j.note("%s", "no source lines: "+n.own.NoLines)
	}
}

type named struct {
	pc    uint64
	place uint32
}

type namer struct {
	*job
	files  *symbol.Files
	own    *symbol.Binary
	known  map[uint64]named
	places map[refs.Place]uint32
}

func (n *namer) look(pc uint64) named {
	if link := pc - n.bias; n.program.Code(link) != nil {
		return named{link, n.locate(n.own, link, n.rec.Backend == Instrument)}
	}
	for _, m := range n.modules {
		if pc >= m.Start && pc < m.End {
			return named{pc, n.library(m, pc)}
		}
	}
	return named{pc, 0}
}

// library names an instruction of a library; the address itself is kept, as
// link addresses of different files overlap.
func (n *namer) library(m target.Module, pc uint64) uint32 {
	b, err := n.files.Open(m.Path, "")
	if err != nil {
		return 0
	}
	bias, ok := b.Bias(&symbol.Mapping{Start: m.Start, End: m.End, Offset: m.Offset, Path: m.Path, Exec: true})
	if !ok {
		return 0
	}
	return n.locate(b, pc-bias, n.rec.Backend == Instrument)
}

// locate looks an address up. Hooks see where they return to, which is one
// behind the instruction that matters.
func (n *namer) locate(b *symbol.Binary, addr uint64, after bool) uint32 {
	if b == nil {
		return 0
	}
	if after {
		addr--
	}
	l := b.Locate(addr)
	f := l.Inner()
	p := refs.Place{Function: f.Function, File: f.File, Line: f.Line}
	id, ok := n.places[p]
	if !ok {
		id = uint32(len(n.rec.Places))
		n.places[p] = id
		n.rec.Places = append(n.rec.Places, p)
	}
	return id
}
