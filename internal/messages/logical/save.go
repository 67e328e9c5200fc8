package logical

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Save writes the trace again as an OTF2 archive, with partition, step and
// lateness of every operation as attributes of the event that leaves its call.
// Times are the corrected ones. Other tools read the result as any archive. It
// is written whole or not at all.
func (s *Structure) Save(ctx context.Context, path string) error {
	a, err := s.Trace.Archive()
	if err != nil {
		return err
	}
	w, err := otf2.Create(path, otf2.WriterOptions{Creator: "isobath"})
	if err != nil {
		return err
	}
	if err := s.save(ctx, a, w); err != nil {
		return errors.Join(err, w.Discard())
	}
	return nil
}

func (s *Structure) save(ctx context.Context, a *otf2.Archive, w *otf2.Writer) error {
	if err := w.Copy(a); err != nil {
		return err
	}
	v := newSaver(s, w)
	procOf := map[uint64]int{}
	for p := range s.Trace.Procs {
		procOf[s.Trace.Procs[p].Location] = p
	}
	for _, l := range a.Defs.Locations {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, ok := procOf[l.ID]
		if !ok {
			p = -1
		}
		if err := v.location(a, w, l, p); err != nil {
			return fmt.Errorf("location %d: %w", l.ID, err)
		}
	}
	return w.Close()
}

const attributeInt64 = 8

// saver knows the attributes and their columns.
type saver struct {
	s    *Structure
	ids  []uint32
	cols []func(op int32) int64
}

func newSaver(s *Structure, w *otf2.Writer) *saver {
	v := &saver{s: s}
	if s.Len() == 0 { // nothing to say about a trace without communication
		return v
	}
	add := func(name, description string, col func(op int32) int64) {
		v.ids = append(v.ids, w.Attribute("isobath::"+name, description, attributeInt64))
		v.cols = append(v.cols, col)
	}
	add("partition", "phase of the logical structure", func(op int32) int64 { return int64(s.Part[op]) })
	add("step", "logical step, from 0", func(op int32) int64 { return int64(s.Step[op]) })
	for _, m := range []struct {
		name, description string
		col               []int64
	}{
		{"lateness", "ns after the first of its partition and step", s.Late},
		{"differential", "part of the lateness that is new here, ns", s.Diff},
		{"global_lateness", "ns after the first of its step", s.GlobalLate},
		{"global_differential", "part of the global lateness that is new here, ns", s.GlobalDiff},
		{"global_aggregate_lateness", "ns by which it was entered late", s.GlobalAggLate},
		{"global_aggregate_differential", "part of that which the computation before it added, ns", s.GlobalAggDiff},
	} {
		add(m.name, m.description, func(op int32) int64 { return s.Trace.NS(m.col[op]) })
	}
	return v
}

// location copies the events of one location; proc is its process or -1.
func (v *saver) location(a *otf2.Archive, w *otf2.Writer, l otf2.Location, proc int) error {
	r, err := a.Events(l.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	out := w.CopyLocation(l)
	next, end := int32(0), int32(0)
	if proc >= 0 {
		next, end = v.s.Trace.Ops.Start[proc], v.s.Trace.Ops.Start[proc+1]
	}
	var ev otf2.Event
	last := uint64(0)
	var list []otf2.AttributeValue
	origin := v.s.Trace.Origin
	for n := int32(0); r.Next(&ev); n++ {
		if n > 0 && int64(ev.Time-origin) < int64(last-origin) {
			ev.Time = last // the trace reads times that fall as equal
		}
		last = ev.Time
		var op int32
		op, next = v.closing(next, end, n)
		list = v.attributes(list[:0], ev.Attributes, op)
		ev.Attributes = list
		if err := out.Write(&ev); err != nil {
			return err
		}
	}
	return out.Close()
}

// attributes appends those an event has, without what an earlier analysis said,
// and those of the operation that it ends.
func (v *saver) attributes(list, given []otf2.AttributeValue, op int32) []otf2.AttributeValue {
	for _, g := range given {
		if !slices.Contains(v.ids, g.ID) {
			list = append(list, g)
		}
	}
	if op == trace.None {
		return list
	}
	for k, id := range v.ids {
		list = append(list, otf2.AttributeValue{ID: id, Value: otf2.Value{Type: attributeInt64, Bits: uint64(v.cols[k](v.s.of[op]))}})
	}
	return list
}

// closing returns the operation of the trace whose call ends with event n of
// its location, and the operation to look at next. Of a call that is split, such
// as MPI_Sendrecv, it is the last.
func (v *saver) closing(next, end, n int32) (op, then int32) {
	op = trace.None
	for next < end && v.s.Trace.Ops.Last[next] <= n {
		if v.s.Trace.Ops.Last[next] == n {
			op = next
		}
		next++
	}
	return op, next
}
