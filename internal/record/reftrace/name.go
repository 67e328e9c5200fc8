package reftrace

import (
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
)

// name turns instruction addresses into link addresses where they belong to
// the program, and looks up the source of each. Every address is looked up
// once: a trace has few.
func (j *job) name() error {
	n := namer{job: j, files: &symbol.Files{}, known: newByPC[named](), places: map[refs.Place]uint32{{}: 0}}
	defer n.files.Close()
	j.rec.Places = []refs.Place{{}}
	n.own, _ = n.files.Open(j.program.Path, "") // without it there are no names
	if err := n.walkSites(); err != nil {
		return err
	}
	for _, block := range j.rec.blocks() {
		for i := range block {
			r := &block[i]
			at := n.known.at(r.PC, n.look)
			r.PC, r.Place = at.pc, at.place
		}
	}
	n.way()
	if n.own != nil && n.own.NoLines() != "" {
		j.note("%s", "no source lines: "+n.own.NoLines())
	}
	return nil
}

type named struct {
	pc    uint64
	place uint32
}

// byPC is what was found out about instructions, each of them once.
type byPC[T any] struct {
	numbers *refs.Memo
	values  []T
}

func newByPC[T any]() *byPC[T] { return &byPC[T]{numbers: refs.NewMemo()} }

// at returns what is known of an instruction, and finds it out the first time.
func (b *byPC[T]) at(pc uint64, find func(uint64) T) T {
	n := b.numbers.Number(refs.Key{pc})
	if int(n) == len(b.values) {
		b.values = append(b.values, find(pc))
	}
	return b.values[n]
}

type namer struct {
	*job
	files  *symbol.Files
	own    *symbol.Binary
	known  *byPC[named]
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
