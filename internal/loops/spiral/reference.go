package spiral

import (
	"context"
	"errors"
	"fmt"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/loops/cycle"
)

// Reference is one record of the trace.
type Reference struct {
	Record   uint64 `json:"record"` // among those that are analysed
	Order    uint64 `json:"order"`  // in the whole trace
	Op       string `json:"op"`
	Address  string `json:"address"`
	Size     uint32 `json:"size"`
	PC       string `json:"pc"`
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Object   string `json:"object"`
	Offset   uint64 `json:"offset"` // into the object
}

// Range is records of one thread, counted among those that the input of an
// analysis keeps.
type Range struct {
	cycle.Input
	Thread   uint32
	From, To uint64
}

var errEnough = errors.New("the wanted records are read")

// References lists the records of a range, numbered as cycle.Load numbers them.
func References(ctx context.Context, src refs.Source, g Range) ([]Reference, error) {
	out := make([]Reference, 0, g.To-g.From)
	order, seen, kept := uint64(0), uint64(0), uint64(0)
	every := uint64(max(1, g.Every))
	err := refs.Each(src, func(batch []refs.Ref) error {
		for i := range batch {
			at := order
			order++
			if at < g.Input.From || g.Input.To != 0 && at >= g.Input.To || batch[i].Thread != g.Thread {
				continue
			}
			seen++
			if (seen-1)%every != 0 {
				continue
			}
			if kept >= g.From && kept < g.To {
				r := g.reference(&batch[i], src.About())
				r.Record, r.Order = kept, at
				out = append(out, r)
			}
			if kept++; kept >= g.To {
				return errEnough
			}
		}
		return ctx.Err()
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

var opNames = map[refs.Op]string{refs.Load: "load", refs.Store: "store", refs.Modify: "modify"}

func (g *Range) reference(r *refs.Ref, about *refs.About) Reference {
	out := Reference{Op: opNames[r.Op], Address: fmt.Sprintf("%#x", r.Addr), Size: r.Size}
	if r.PC != 0 {
		out.PC = fmt.Sprintf("%#x", r.PC)
	}
	if int(r.Place) < len(about.Places) {
		p := about.Places[r.Place]
		out.Function, out.File, out.Line = p.Function, p.File, p.Line
	}
	if out.Line == 0 && g.Resolver != nil && r.PC != 0 {
		out.File, out.Line, out.Function = g.Resolver.Line(r.PC)
	}
	if r.Object > 0 && int(r.Object) < len(about.Objects) {
		o := about.Objects[r.Object]
		out.Object, out.Offset = o.Name, r.Addr-o.Start
	} else if g.Objects != nil {
		if kind, base, ok := g.Objects.Object(r.Addr); ok {
			out.Object, out.Offset = g.Objects.ObjectName(kind), r.Addr-base
		}
	}
	return out
}
