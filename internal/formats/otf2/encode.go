package otf2

import (
	"encoding/binary"
	"math/bits"
)

// encoder appends records in one byte order.
type encoder struct {
	b   []byte
	big bool
}

func (e *encoder) fixed(v uint64, n int) {
	var raw [8]byte
	if e.big {
		binary.BigEndian.PutUint64(raw[:], v)
		e.b = append(e.b, raw[8-n:]...)
		return
	}
	binary.LittleEndian.PutUint64(raw[:], v)
	e.b = append(e.b, raw[:n]...)
}

// compressed writes the size byte and the low-order bytes of v.
func (e *encoder) compressed(v uint64, width int) {
	if v == Undefined>>(64-8*width) {
		e.b = append(e.b, 0xff)
		return
	}
	n := (bits.Len64(v) + 7) / 8
	e.b = append(e.b, byte(n))
	e.fixed(v, n)
}

func (e *encoder) scalar(v uint64, enc encoding) {
	switch enc {
	case u8:
		e.b = append(e.b, byte(v))
	case c32:
		e.compressed(v&Undefined32, 4)
	case c64, i64:
		e.compressed(v, 8)
	case full64:
		e.fixed(v, 8)
	case u16enc:
		e.fixed(v, 2)
	case f32enc:
		e.fixed(v, 4)
	}
}

func (e *encoder) text(s string) {
	for i := range len(s) {
		if s[i] != 0 { // a NUL would end the string early
			e.b = append(e.b, s[i])
		}
	}
	e.b = append(e.b, 0)
}

func (e *encoder) value(v Value) {
	f := fC64
	if int(v.Type) < len(attributeEncoding) {
		f = attributeEncoding[v.Type]
	}
	e.scalar(v.Bits, f.enc)
}

// record appends id, length and body; the body is written by fill and its
// length put in front of it.
func (e *encoder) record(id uint8, fill func()) {
	e.b = append(e.b, id, 0)
	at := len(e.b)
	fill()
	n := len(e.b) - at
	if n < 255 {
		e.b[at-1] = byte(n)
		return
	}
	e.b[at-1] = 255
	e.fixed(0, 8)
	copy(e.b[at+8:], e.b[at:at+n])
	length := encoder{big: e.big}
	length.fixed(uint64(n), 8)
	copy(e.b[at:], length.b)
}

// event appends an event without its time.
func (e *encoder) event(ev *Event) {
	layout := &eventRecords[ev.Kind]
	fields := func() {
		for i, f := range layout.fields {
			switch f.enc {
			case values:
				e.b = append(e.b, byte(len(ev.List)))
				for _, v := range ev.List {
					e.b = append(e.b, v.Type)
					e.compressed(v.Bits, 8)
				}
			case list32:
				e.compressed(uint64(len(ev.List)), 4)
				for _, v := range ev.List {
					e.compressed(v.Bits&Undefined32, 4)
				}
			default:
				e.scalar(ev.F[i], f.enc)
			}
		}
	}
	if layout.noLen {
		e.b = append(e.b, byte(ev.Kind))
		fields()
		return
	}
	e.record(byte(ev.Kind), fields)
}

// attributes appends the list that belongs to the next event.
func (e *encoder) attributes(list []AttributeValue) {
	if len(list) == 0 {
		return
	}
	e.record(attributeList, func() {
		e.compressed(uint64(len(list)), 4)
		for _, a := range list {
			e.compressed(uint64(a.ID), 4)
			e.b = append(e.b, a.Type)
			e.value(a.Value)
		}
	})
}

// definition appends a global definition.
func (e *encoder) definition(d *Definition) {
	layout := &definitions[d.Kind]
	e.record(byte(d.Kind), func() {
		for i, f := range layout.fields[:d.Has] {
			switch f.enc {
			case str:
				e.text(d.Text)
			case av:
				e.value(Value{uint8(d.F[i-1]), d.F[i]})
			case list64, short32:
				e.list(d.List, f.enc)
			case props:
				e.b = append(e.b, byte(len(d.List)))
				for k, p := range d.List {
					e.b = append(e.b, byte(p), d.Values[k].Type)
					e.value(d.Values[k])
				}
			default:
				e.scalar(d.F[i], f.enc)
			}
		}
	})
}

func (e *encoder) list(list []uint64, enc encoding) {
	if enc == short32 {
		e.b = append(e.b, byte(len(list)))
		for _, v := range list {
			e.compressed(v&Undefined32, 4)
		}
		return
	}
	e.compressed(uint64(len(list)), 4)
	for _, v := range list {
		e.compressed(v, 8)
	}
}
