package references

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/locality/views"
)

// held is a trace in memory, with nothing to close.
type held struct{ *reftable.Reader }

func (held) Close() error { return nil }

// walked is a reference trace of n accesses for the locality page.
func walked(t *testing.T, n int) *Refs {
	t.Helper()
	all := make([]refs.Ref, n)
	for i := range all {
		all[i] = refs.Ref{Addr: 0x10000 + uint64(i)*72%65_536, Size: 8, PC: 0x400 + uint64(i%3), Thread: 1}
	}
	trace, err := reftable.New(all, nil, nil, refs.HasPC|refs.HasThread)
	if err != nil {
		t.Fatal(err)
	}
	r := &Refs{records: int64(n), locality: newLocality(nil)}
	r.Set = func(context.Context, string) (*refset.Set, error) {
		src, err := reftable.NewReader(trace)
		if err != nil {
			return nil, err
		}
		return refset.Known(held{src}, nil, demo.Particles.Machine, nil), nil
	}
	return r
}

// TestLocalityKeepsWithinItsBudget: replays of ever other machines and selections are
// kept while there is room for three, go when the server rests, and are given back with
// the run.
func TestLocalityKeepsWithinItsBudget(t *testing.T) {
	const n = 20_000
	b := budget.New(1 << 30)
	ctx := budget.With(t.Context(), b)
	r := walked(t, n)
	var most int64
	for i := range 12 {
		ask := &LocalityAsk{MachineAsk: MachineAsk{Set: fmt.Sprintf("L1.ways=%d", 2<<(i%6))}, Where: fmt.Sprintf("addr >= %d", 0x10000+i)}
		if _, err := r.locality.look(ctx, r, ask, unheard); err != nil {
			t.Fatal(err)
		}
		most = max(most, b.Used())
	}
	one := views.Weight(n, 3)
	if trace := traceBytes(n); most < trace+2*one || most > trace+5*one {
		t.Errorf("%d bytes are kept at most, of a trace of %d and replays of about %d", most, trace, one)
	}
	b.DropUnused(time.Now().Add(time.Minute))
	if used := b.Used(); used != traceBytes(n) {
		t.Errorf("%d bytes are kept at rest, want those of the trace, %d", used, traceBytes(n))
	}
	r.Close()
	if used := b.Used(); used != 0 {
		t.Errorf("%d bytes are still claimed by a run that is closed", used)
	}
}

// TestLocalityWithoutRoom: a trace that the budget has no room for is refused before it
// is read, and can be asked for again.
func TestLocalityWithoutRoom(t *testing.T) {
	b := budget.New(traceBytes(20_000) * 3 / 2)
	ctx := budget.With(t.Context(), b)
	r := walked(t, 20_000)
	other, err := b.Claim("something else needs", b.Limit()/2)
	if err != nil {
		t.Fatal(err)
	}
	var over *budget.Exceeded
	if _, err := r.locality.look(ctx, r, &LocalityAsk{}, unheard); !errors.As(err, &over) || r.locality.trace != nil {
		t.Errorf("a trace of %d bytes in %d: %v", traceBytes(20_000), b.Limit()/2, err)
	}
	other.Release()
	if _, err := r.locality.look(ctx, r, &LocalityAsk{}, unheard); !errors.As(err, &over) || r.locality.trace == nil {
		t.Errorf("a replay of about %d bytes in %d: %v", views.Weight(20_000, 3), b.Limit()-b.Used(), err)
	}
	r.Close()
	if b.Used() != 0 {
		t.Errorf("%d bytes are still claimed", b.Used())
	}
}
