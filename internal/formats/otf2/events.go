package otf2

import (
	"fmt"
	"sync"
)

// AttributeValue is one entry of an event's attribute list.
type AttributeValue struct {
	ID uint32
	Value
}

// Event is one decoded event. Ids are global, Time is the corrected tick. F
// holds the scalar fields in the order of the record table; List holds the
// values of a METRIC and the arguments of a PROGRAM_BEGIN. List and Attributes
// are valid until the next call of Next.
type Event struct {
	Kind       Kind
	Time       uint64
	F          [maxFields]uint64
	List       []Value
	Attributes []AttributeValue
}

// EventReader walks the events of one location in file order.
type EventReader struct {
	s       *stream
	local   local
	clock   corrector
	warn    *Warnings
	now     uint64 // corrected
	n       int
	partial bool
	list    []Value
	attrs   []AttributeValue
	pending bool // attrs belong to the next event
	buffers *sync.Pool
}

// Close ends the reading early, or frees the memory of a finished one.
func (r *EventReader) Close() {
	if r.s != nil && r.buffers != nil {
		r.buffers.Put(&r.s.data)
	}
	r.s = nil
}

// Read returns how many events were returned so far.
func (r *EventReader) Read() int { return r.n }

// Partial says that the file ended or broke before its end mark.
func (r *EventReader) Partial() bool { return r.partial }

func (r *EventReader) damage(what string) bool {
	r.partial = true
	r.warn.Add(what, fmt.Sprintf("%s, byte %d", r.s.file, r.s.pos))
	return false
}

// Next reads one event into ev; false is the end of the location.
func (r *EventReader) Next(ev *Event) bool {
	s := r.s
	if s == nil {
		return false
	}
	for {
		if s.pos >= s.limit {
			return r.damage("an event file ends without an end mark; the events before are kept")
		}
		id := s.data[s.pos]
		switch id {
		case timestamp:
			c := cursor{b: s.data, i: s.pos + 1, end: s.limit, big: s.big}
			t := c.fixed(8)
			if c.short {
				return r.damage("an event file ends inside a record; the events before are kept")
			}
			r.now = r.clock.at(t)
			s.pos = c.i
		case attributeList:
			if !r.attributes() {
				return false
			}
		case endOfChunk:
			if !s.next() {
				return r.damage("an event file ends without an end mark; the events before are kept")
			}
		case endOfBuffer, endOfFile:
			return false
		default:
			known, ok := r.event(Kind(id), ev)
			if !ok {
				return false
			}
			if known {
				r.n++
				return true
			}
		}
	}
}

// attributes reads an attribute list, which belongs to the event after it.
func (r *EventReader) attributes() bool {
	s := r.s
	body, end, ok := recordLength(s.data, s.pos+1, s.limit, s.big)
	if !ok {
		return r.damage("an attribute list is longer than its chunk; the events before are kept")
	}
	c := cursor{b: s.data, i: body, end: end, big: s.big}
	r.attrs = r.attrs[:0]
	n := c.count(c32, 3)
	for range n {
		id := r.local.maps.apply(mapAttribute, c.compressed(4))
		typ := uint8(c.byte())
		r.attrs = append(r.attrs, AttributeValue{uint32(id), c.value(typ, &r.local.maps)})
	}
	if c.bad || c.short {
		r.warn.Add("an attribute list is damaged and left out", fmt.Sprintf("%s, byte %d", s.file, s.pos))
		r.attrs = r.attrs[:0]
	}
	r.pending = len(r.attrs) > 0
	s.pos = end
	return true
}

// event decodes the record at the current position. known is false for a
// record of a newer version, which is skipped by its length.
func (r *EventReader) event(id Kind, ev *Event) (known, ok bool) {
	s := r.s
	layout := &eventRecords[id]
	c := cursor{b: s.data, i: s.pos + 1, end: s.limit, big: s.big}
	if !layout.noLen {
		if c.i, c.end, ok = recordLength(s.data, s.pos+1, s.limit, s.big); !ok {
			return false, r.damage("a record is longer than its chunk; the events before are kept")
		}
	}
	if layout.name == "" {
		r.warn.Add("records of an unknown kind are skipped", s.file)
		s.pos, r.pending = c.end, false
		return false, true
	}
	ev.Kind, ev.Time, ev.List = id, r.now, nil
	ev.Attributes = nil
	if r.pending {
		ev.Attributes, r.pending = r.attrs, false
	}
	for i, f := range layout.fields {
		switch f.enc {
		case c32:
			ev.F[i] = r.local.maps.apply(f.mapping, c.compressed(4))
		case values, list32:
			r.readList(f, &c)
			ev.List, ev.F[i] = r.list, uint64(len(r.list))
		default:
			ev.F[i] = c.scalar(f.enc)
		}
	}
	if id == BufferFlush { // its field is a time, too
		ev.F[0] = r.clock.at(ev.F[0])
	}
	if c.bad || layout.noLen && c.short {
		return false, r.damage("a record holds a number of impossible size; the events before are kept")
	}
	if c.short {
		r.warn.Add("records are shorter than their fields; what is missing reads as undefined", s.file)
	}
	s.pos = c.end
	if layout.noLen {
		s.pos = c.i
	}
	return true, true
}

func (r *EventReader) readList(f field, c *cursor) {
	r.list = r.list[:0]
	if f.enc == values {
		n := c.count(u8, 2)
		for range n {
			typ := uint8(c.byte())
			r.list = append(r.list, Value{typ, c.compressed(8)})
		}
		return
	}
	n := c.count(c32, 1)
	for range n {
		id := r.local.maps.apply(f.mapping, c.compressed(4))
		r.list = append(r.list, Value{11, id})
	}
}
