package trace

import (
	"context"
	"path"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// Enters reads the archive again and returns, per process, the times at which
// a region whose name matches one of the patterns is entered. Patterns are
// names, or globs as in path.Match. Regions that hold no communication are not
// in the trace, but may well mark a phase; hence the second reading.
func (t *Trace) Enters(ctx context.Context, patterns []string) ([][]int64, error) {
	a, err := t.Archive()
	if err != nil {
		return nil, err
	}
	n := newNames(a.Defs)
	wanted := make([]bool, len(n.regions))
	for i, r := range n.regions {
		for _, p := range patterns {
			ok, err := path.Match(p, r.Name)
			if err != nil {
				return nil, err
			}
			wanted[i] = wanted[i] || ok || p == r.Name
		}
	}
	out := make([][]int64, len(t.Procs))
	for p := range t.Procs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := a.Events(t.Procs[p].Location)
		if err != nil {
			return nil, err
		}
		var ev otf2.Event
		for r.Next(&ev) {
			region := None
			switch ev.Kind {
			case otf2.Enter:
				region = n.region(ev.F[0])
			case otf2.CallingEnter:
				region = n.context(ev.F[0])
			}
			if region >= 0 && wanted[region] {
				out[p] = append(out[p], int64(ev.Time-t.Origin))
			}
		}
		r.Close()
	}
	return out, nil
}
