package references

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/views"
)

// Loops and fields are no columns of a table of references. Selections name them
// as rows, so that one selection means the same on every page of a run:
//
//	rows "loop stencil.c:12 smooth"
//	rows "field p.x"
const (
	rowsOfLoop  = "loop "
	rowsOfField = "field "
)

// RowsNamed finds the references of a loop, with those of loops inside it and of
// what it calls, or of a field.
func (r *Refs) RowsNamed(ctx context.Context, name string) (table.Bits, error) {
	if r.beside {
		return nil, fmt.Errorf("loops and fields are known of references, and these are samples; select lines or objects")
	}
	l := r.locality
	give, err := l.take(ctx)
	if err != nil {
		return nil, err
	}
	defer give()
	quiet := heard(nil)
	if err := l.load(ctx, r, quiet); err != nil {
		return nil, err
	}
	return l.named(ctx, r, name, quiet)
}

// named is RowsNamed for a trace that is loaded. The caller has the turn.
func (l *locality) named(ctx context.Context, r *Refs, name string, progress frame.Told) (table.Bits, error) {
	if field, ok := strings.CutPrefix(name, rowsOfField); ok {
		rows, err := views.FieldRows(l.trace, l.set.Table, field)
		return l.widened(rows), err
	}
	loop, ok := strings.CutPrefix(name, rowsOfLoop)
	if !ok {
		return nil, fmt.Errorf("want the name of a loop or a field: \"%sNAME\" or \"%sOBJECT.FIELD\"", rowsOfLoop, rowsOfField)
	}
	if err := l.loadLoops(ctx, r, progress); err != nil {
		return nil, err
	}
	n, err := l.loops.Number(loop)
	if err != nil {
		return nil, err
	}
	return l.widened(l.loops.Rows(n, len(l.trace.Accesses))), nil
}

// widened has a place for every row of the table: what was not kept of a long
// trace is not selected.
func (l *locality) widened(rows table.Bits) table.Bits {
	if rows == nil || l.table == nil || l.table.Rows() <= len(l.trace.Accesses) {
		return rows
	}
	out := table.NewBits(l.table.Rows())
	copy(out, rows)
	return out
}

// narrow leaves their colours to the references that are selected. The picture is
// there all the same where it cannot be known which these are.
func (k *coloured) narrow(ctx context.Context, r *Refs, where string) error {
	l := r.locality
	give, err := l.take(ctx)
	if err != nil {
		return err
	}
	defer give()
	rows, err := l.selected(ctx, r, where)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		k.unknown = err.Error()
	case k.ask.Folds > 0:
		k.unknown = "one turn of a folded trace stands for many"
	case !l.whole:
		k.unknown = fmt.Sprintf("the first %d references are looked at, and there are more", len(l.trace.Accesses))
	default:
		chosen := k.records(l.trace, rows)
		k.colours, k.selected = k.colours.Only(chosen.Get), chosen.Count()
	}
	return nil
}

// selected loads the trace and finds what a selection means. The caller has the
// turn.
func (l *locality) selected(ctx context.Context, r *Refs, where string) (table.Bits, error) {
	if err := l.load(ctx, r, heard(nil)); err != nil {
		return nil, err
	}
	return l.choose(ctx, r, where, heard(nil))
}

// records are those of an analysis that are among some references of the trace:
// it is of one thread, of a part of the trace, or of every so many.
func (c *cycles) records(t *replay.Trace, among table.Bits) table.Bits {
	tr := c.view.R.Trace
	out := table.NewBits(len(tr.Syms))
	thread := slices.Index(t.Threads, tr.Thread)
	met, kept := 0, 0
	for i := int(c.ask.From); i < len(t.Accesses) && kept < len(tr.Syms); i++ {
		if int(t.Accesses[i].Thread) != thread {
			continue
		}
		if met%tr.Every == 0 {
			if among.Get(i) {
				out.Set(kept)
			}
			kept++
		}
		met++
	}
	return out
}
