package views

import (
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
)

// Columns makes the table that selections of a trace are looked up in, with the
// columns that a recorded run has.
func Columns(t *replay.Trace, objects *layout.Table) (*table.Table, error) {
	all := make([]refs.Ref, len(t.Accesses))
	var named []refs.Object
	for _, o := range objects.Objects {
		if o == nil || len(named) == refs.MaxObjects {
			named = append(named, refs.Object{})
			continue
		}
		named = append(named, refs.Object{Name: o.Name, Start: o.Start})
	}
	for i := range t.Accesses {
		a := &t.Accesses[i]
		code := &t.Codes[a.Code]
		all[i] = refs.Ref{Addr: a.Addr, PC: code.PC, Size: uint32(a.Size), Thread: t.Threads[a.Thread], Place: code.Place, Op: a.Op}
		if a.Object < refs.MaxObjects {
			all[i].Object = a.Object
		}
	}
	return reftable.New(all, t.Places, named, refs.HasPC|refs.HasSize|refs.HasThread|refs.HasPlace|refs.HasObject)
}
