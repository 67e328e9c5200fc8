package advice

import (
	"fmt"

	"github.com/isobath/isobath/internal/locality/sharing"
)

// separateBytes is how far apart the data of threads should lie: two lines, for
// many processors fetch lines in pairs.
const separateBytes = 128

// leastShared is the part of a line's accesses that must be false misses by the
// clock, for parting its threads to be worth a sentence.
const leastShared = 0.02

// separate advises to give threads lines of their own where they only share a
// line and not data.
func (f *finder) separate() error {
	if len(f.trace.Threads) < 2 || !f.wants(Pad) {
		return nil
	}
	r, err := sharing.Analyse(f.ctx, f.trace, sharing.Options{})
	if err != nil {
		return err
	}
	said := map[uint32]bool{}
	for _, l := range r.Lines {
		if l.Kind != sharing.False || said[l.Object] && l.Object != 0 {
			continue
		}
		accesses := uint64(0)
		for _, u := range l.Users {
			accesses += u.Loads + u.Stores
		}
		if float64(l.Clocked.False) < leastShared*float64(accesses) || l.Separate.Coherence >= l.Clocked.Coherence {
			continue
		}
		said[l.Object] = true
		f.result.Advice = append(f.result.Advice, f.separation(l, accesses))
	}
	f.result.Tried += len(r.Lines)
	return nil
}

func (f *finder) separation(l *sharing.Line, accesses uint64) *Advice {
	name := fmt.Sprintf("line %#x", l.Addr)
	a := &Advice{Kind: Pad, What: fmt.Sprintf("one line (%d bytes) per thread", separateBytes), Now: f.result.Now, References: accesses, Shared: l,
		Assumes: []string{"threads run at the same time, on cores of their own"}}
	if o := f.table.Objects[l.Object]; o != nil {
		a.Object, name = o, o.Name
	}
	if u := l.Users[0]; len(u.Codes) > 0 {
		a.Line = placeText(f.trace.PlaceOf(u.Codes[0]))
	}
	parts, each := l.Writers(), "one a thread that stores"
	if parts < 2 { // what one stores lies beside what others read
		parts, each = len(l.Users), "one a thread"
	}
	a.Code = fmt.Sprintf("struct own { alignas(%d) /* what one thread uses of %s */ };\nstruct own %s[%d]; // %s\n", separateBytes, name, identifier(name), parts, each)
	a.Map = fmt.Sprintf("# %s: the bytes of each thread %d bytes apart\n", name, separateBytes)
	return a
}
