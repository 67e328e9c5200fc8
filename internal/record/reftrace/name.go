package reftrace

import (
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
)

// name turns instruction addresses into link addresses where they belong to
// the program, and looks up the source of each. Every address is looked up
// once: a trace has few.
func (j *job) name() {
	n := namer{job: j, files: &symbol.Files{}, known: map[uint64]named{}, places: map[refs.Place]uint32{{}: 0}}
	defer n.files.Close()
	j.rec.Places = []refs.Place{{}}
	n.own, _ = n.files.Open(j.program.Path, "") // without it there are no names
	n.walkSites()
	for i := range j.rec.Refs {
		r := &j.rec.Refs[i]
		at, ok := n.known[r.PC]
		if !ok {
			at = n.look(r.PC)
			n.known[r.PC] = at
		}
		r.PC, r.Place = at.pc, at.place
	}
	n.way()
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
	// hooks are the calls of compiler hooks that ran, by running address; nil for
	// other backends.
	hooks map[uint64]hook
}

func (n *namer) look(pc uint64) named {
	b, link := n.file(pc)
	place := n.locate(b, link)
	if n.program.Code(pc-n.bias) == nil {
		// Of a library the address itself is kept: link addresses of different
		// files overlap.
		return named{pc, place}
	}
	return named{pc - n.bias, place}
}

// locate looks an address up.
func (n *namer) locate(b *symbol.Binary, addr uint64) uint32 {
	if b == nil {
		return 0
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
