package views

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
)

// Columns makes the table that selections of a trace are looked up in, with the
// columns that a recorded run has. They may be in temporary files until the table is
// closed.
func Columns(t *replay.Trace, objects *layout.Table) (*table.Table, error) {
	var named []refs.Object
	for _, o := range objects.Objects {
		if o == nil || len(named) == refs.MaxObjects {
			named = append(named, refs.Object{})
			continue
		}
		named = append(named, refs.Object{Name: o.Name, Start: o.Start})
	}
	blocks := func(yield func([]refs.Ref) bool) {
		block := make([]refs.Ref, columnsBlock)
		for some := range slices.Chunk(t.Accesses, columnsBlock) {
			for i := range some {
				a := &some[i]
				code := &t.Codes[a.Code]
				block[i] = refs.Ref{Addr: a.Addr, PC: code.PC, Size: uint32(a.Size), Thread: t.Threads[a.Thread], Place: code.Place, Op: a.Op}
				if a.Object < refs.MaxObjects {
					block[i].Object = a.Object
				}
			}
			if !yield(block[:len(some)]) {
				return
			}
		}
	}
	return reftable.FromBlocks(blocks, len(t.Accesses), t.Places, named, refs.HasPC|refs.HasSize|refs.HasThread|refs.HasPlace|refs.HasObject)
}

// columnsBlock is how many references become rows at a time.
const columnsBlock = 1 << 12
