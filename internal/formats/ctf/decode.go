package ctf

import (
	"errors"
	"fmt"
)

// values are the fields of one event or head, by name; later ones hide earlier.
type values struct {
	numbers map[string]int64
	texts   map[string]string
	lists   map[string][]int64
	chosen  map[string]string // of enumerations: the label
	clocks  []clockValue
}

// clockValue is a field that is mapped to the clock.
type clockValue struct {
	name  string
	value uint64
	size  uint
}

func newValues() *values {
	return &values{map[string]int64{}, map[string]string{}, map[string][]int64{}, map[string]string{}, nil}
}

func (v *values) reset() {
	clear(v.numbers)
	clear(v.texts)
	clear(v.lists)
	clear(v.chosen)
	v.clocks = v.clocks[:0]
}

// cursor walks a packet; positions are in bits.
type cursor struct {
	data []byte
	pos  uint64
	end  uint64 // of the content
}

var errShort = errors.New("a packet ends inside an event")

func (c *cursor) alignTo(n uint) {
	if n > 1 {
		c.pos = (c.pos + uint64(n) - 1) &^ (uint64(n) - 1)
	}
}

// bits reads a number. Little-endian ones begin with the low bits of a byte,
// big-endian ones with the high bits.
func (c *cursor) bits(n uint, big bool) (uint64, error) {
	if c.pos > c.end || uint64(n) > c.end-c.pos {
		return 0, errShort
	}
	v := uint64(0)
	for read := uint(0); read < n; {
		b := c.data[c.pos/8]
		offset := uint(c.pos % 8)
		take := min(8-offset, n-read)
		if big {
			part := uint64(b>>(8-offset-take)) & (1<<take - 1)
			v = v<<take | part
		} else {
			part := uint64(b>>offset) & (1<<take - 1)
			v |= part << read
		}
		read += take
		c.pos += uint64(take)
	}
	return v, nil
}

func (c *cursor) text() (string, error) {
	c.alignTo(8)
	for i := c.pos / 8; i < c.end/8; i++ {
		if c.data[i] == 0 {
			s := string(c.data[c.pos/8 : i])
			c.pos = (i + 1) * 8
			return s, nil
		}
	}
	return "", errShort
}

// maxElements bounds lists, beside the bits that are left: those of messages are
// communicators.
const maxElements = 1 << 20

// decode reads a value of a type under a name.
func (c *cursor) decode(t *dataType, name string, out *values) error {
	c.alignTo(t.align)
	switch t.kind {
	case integer, enumeration, float:
		raw, err := c.bits(t.size, t.big)
		if err != nil {
			return err
		}
		if t.clock {
			out.clocks = append(out.clocks, clockValue{name, raw, t.size})
		}
		v := int64(raw)
		if t.signed && t.size < 64 {
			v = int64(raw<<(64-t.size)) >> (64 - t.size)
		}
		out.numbers[name] = v
		for _, l := range t.labels {
			if v >= l.low && v <= l.top {
				out.chosen[name] = l.name
				break
			}
		}
		return nil
	case text:
		s, err := c.text()
		out.texts[name] = s
		return err
	case structure:
		for _, f := range t.fields {
			if err := c.decode(f.typ, f.name, out); err != nil {
				return err
			}
		}
		return nil
	case variant:
		for _, f := range t.fields {
			if f.name == out.chosen[t.by] {
				return c.decode(f.typ, f.name, out)
			}
		}
		return fmt.Errorf("no member of a variant is called %q", out.chosen[t.by])
	}
	return c.list(t, name, out)
}

func (c *cursor) list(t *dataType, name string, out *values) error {
	n := t.length
	if t.kind == sequence {
		v, ok := out.numbers[t.by]
		if !ok || v < 0 {
			return fmt.Errorf("the length of %s is not known", name)
		}
		n = uint64(v)
	}
	// Every element of a list that is read takes at least a bit.
	if n > maxElements || n > c.end-min(c.pos, c.end) {
		return fmt.Errorf("%s has %d elements, and %d bits are left", name, n, c.end-min(c.pos, c.end))
	}
	if t.element.kind == integer && t.element.size == 8 && !t.element.signed {
		return c.letters(n, name, out)
	}
	var all []int64
	for range n {
		at := c.pos
		if err := c.decode(t.element, name, out); err != nil {
			return err
		}
		if c.pos == at {
			return fmt.Errorf("%s has elements of no size", name)
		}
		if t.element.kind == integer {
			all = append(all, out.numbers[name])
		}
	}
	out.lists[name] = all
	return nil
}

// letters reads a list of bytes, which is how some tracers write strings.
func (c *cursor) letters(n uint64, name string, out *values) error {
	b := make([]byte, 0, n)
	for range n {
		v, err := c.bits(8, false)
		if err != nil {
			return err
		}
		if v == 0 {
			c.pos += (n - uint64(len(b)) - 1) * 8
			break
		}
		b = append(b, byte(v))
	}
	out.texts[name] = string(b)
	return nil
}
