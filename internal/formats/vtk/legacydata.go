package vtk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/grid"
)

// attribute reads one block of POINT_DATA, CELL_DATA or the field data.
func (r *legacy) attribute(word string) error {
	if word == "FIELD" {
		return r.field()
	}
	if r.target == nil {
		return errors.New("unknown keyword, or an array before POINT_DATA and CELL_DATA")
	}
	name := decode(r.word())
	switch word {
	case "SCALARS":
		return r.scalars(name)
	case "COLOR_SCALARS":
		return r.colours(name)
	case "LOOKUP_TABLE":
		return r.lookup()
	case "VECTORS", "NORMALS":
		return r.fixed(name, 3)
	case "TENSORS":
		return r.fixed(name, 9)
	case "TENSORS6":
		return r.fixed(name, 6)
	case "GLOBAL_IDS", "PEDIGREE_IDS", "EDGE_FLAGS":
		return r.fixed(name, 1)
	case "TEXTURE_COORDINATES":
		n, err := r.count(1)
		if err != nil {
			return err
		}
		return r.fixed(name, n)
	}
	return errors.New("unknown keyword")
}

func (r *legacy) fixed(name string, comps int) error {
	a, err := r.values(name, comps, r.want, r.word())
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	r.keep(a)
	return nil
}

func (r *legacy) scalars(name string) error {
	kind := r.word()
	comps := 1
	if rest := strings.TrimSpace(string(r.line())); rest != "" {
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 || n > 1<<16 {
			return fmt.Errorf("%q has %q components", name, term.ClipEnd(rest, 25))
		}
		comps = n
	}
	at := r.pos
	if strings.EqualFold(r.word(), "LOOKUP_TABLE") {
		r.word()
	} else {
		r.pos = at
	}
	a, err := r.values(name, comps, r.want, kind)
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	r.keep(a)
	return nil
}

// colours are fractions in text and bytes in binary; VTK turns both to bytes.
func (r *legacy) colours(name string) error {
	comps, err := r.count(1)
	if err != nil {
		return err
	}
	a, err := r.rgba(name, comps, r.want)
	if err == nil {
		r.keep(a)
	}
	return err
}

func (r *legacy) rgba(name string, comps, n int) (grid.Array, error) {
	if r.binary {
		return r.values(name, comps, n, "unsigned_char")
	}
	a, err := r.values(name, comps, n, "float")
	if err != nil {
		return a, err
	}
	bytes := make([]uint8, 0, a.Values())
	for _, v := range a.Data.([]float32) {
		bytes = append(bytes, uint8(255*min(1, max(0, v))+0.5))
	}
	a.Data = bytes
	return a, nil
}

// lookup skips a colour table: Isobath has its own colour maps.
func (r *legacy) lookup() error {
	n, err := r.count(0)
	if err != nil {
		return err
	}
	_, err = r.rgba("", 4, n)
	return err
}

func (r *legacy) field() error {
	r.word() // name of the field: no meaning
	n, err := r.count(0)
	if err != nil {
		return err
	}
	for range n {
		name := decode(r.word())
		if name == "METADATA" {
			r.metadata()
			name = decode(r.word())
		}
		if name == "NULL_ARRAY" {
			continue
		}
		comps, err := r.count(0)
		if err != nil {
			return fmt.Errorf("array %q: %w", term.ClipEnd(name, 25), err)
		}
		tuples, err := r.count(0)
		if err != nil {
			return fmt.Errorf("array %q: %w", term.ClipEnd(name, 25), err)
		}
		a, err := r.values(name, comps, tuples, r.word())
		if err != nil {
			return fmt.Errorf("array %q: %w", term.ClipEnd(name, 25), err)
		}
		r.keepField(a, tuples)
	}
	return nil
}

func (r *legacy) keepField(a grid.Array, tuples int) {
	switch {
	case r.target == nil:
		r.grid.FieldData = put(r.grid.FieldData, a)
	case tuples != r.want:
		r.warn = append(r.warn, fmt.Sprintf("array %q has %d tuples where %d are wanted; left out", a.Name, tuples, r.want))
	default:
		r.keep(a)
	}
}

func (r *legacy) keep(a grid.Array) { *r.target = put(*r.target, a) }

// put adds an array; one of the same name is replaced, as vtkFieldData does.
func put(list []grid.Array, a grid.Array) []grid.Array {
	if old := grid.Find(list, a.Name); old != nil {
		*old = a
		return list
	}
	return append(list, a)
}

// metadata skips to the blank line that ends the block.
func (r *legacy) metadata() {
	r.line()
	for r.pos < len(r.buf) && len(bytes.TrimSpace(r.line())) > 0 {
	}
}

// values reads n tuples of a type named as in vtkDataWriter.cxx, after the end
// of the current line in a binary file.
func (r *legacy) values(name string, comps, n int, kind string) (grid.Array, error) {
	a := grid.Array{Name: name, Comps: max(1, comps)}
	if comps < 0 || n < 0 || comps > 0 && n > len(r.buf)*8/comps {
		return a, fmt.Errorf("%d tuples of %d do not fit in a file of %d bytes", n, comps, len(r.buf))
	}
	n *= comps
	if r.binary && n > 0 {
		r.line()
	}
	var err error
	switch strings.ToLower(kind) {
	case "bit":
		a.Data, err = r.bits(n)
	case "char", "signed_char":
		a.Data, err = scan[int8](r, n, 8)
	case "unsigned_char":
		a.Data, err = scan[uint8](r, n, 8)
	case "short":
		a.Data, err = scan[int16](r, n, 16)
	case "unsigned_short":
		a.Data, err = scan[uint16](r, n, 16)
	case "int":
		a.Data, err = scan[int32](r, n, 32)
	case "vtkidtype": // written with 32 bits, read by VTK into 64
		var narrow []int32
		narrow, err = scan[int32](r, n, 32)
		a.Data, _ = (&grid.Array{Data: narrow}).Int64s()
	case "unsigned_int":
		a.Data, err = scan[uint32](r, n, 32)
	case "long", "vtktypeint64":
		a.Data, err = scan[int64](r, n, 64)
	case "unsigned_long", "vtktypeuint64":
		a.Data, err = scan[uint64](r, n, 64)
	case "float":
		a.Data, err = scan[float32](r, n, 32)
	case "double":
		a.Data, err = scan[float64](r, n, 64)
	case "string", "utf8_string":
		a.Data, err = r.strings(n)
	default:
		err = fmt.Errorf("data type %q is not known", term.ClipEnd(kind, 25))
	}
	return a, err
}

func scan[T grid.Number](r *legacy, n, bits int) ([]T, error) {
	if !r.binary {
		return scanText[T](r, n, bits)
	}
	size := n * bits / 8
	if size > len(r.buf)-r.pos {
		return nil, fmt.Errorf("%d values need %d bytes, the file has %d left; was it cut off?", n, size, len(r.buf)-r.pos)
	}
	out := make([]T, n)
	_, err := binary.Decode(r.buf[r.pos:r.pos+size], binary.BigEndian, out)
	r.pos += size
	return out, err
}

func scanText[T grid.Number](r *legacy, n, bits int) ([]T, error) {
	if n > (len(r.buf)-r.pos+1)/2 {
		return nil, fmt.Errorf("%d values cannot be in the %d bytes that are left", n, len(r.buf)-r.pos)
	}
	out := make([]T, n)
	for i := range out {
		v, err := parse[T](r.word(), bits)
		if err != nil {
			return nil, fmt.Errorf("value %d of %d: %w", i, n, err)
		}
		out[i] = v
	}
	return out, nil
}

// parse reads one number of type T from text.
func parse[T grid.Number](w string, bits int) (T, error) {
	var zero T
	switch any(zero).(type) {
	case float32, float64:
		v, err := strconv.ParseFloat(w, bits)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, fmt.Errorf("%q is not a number", term.ClipEnd(w, 25))
		}
		return T(v), nil
	case uint8, uint16, uint32, uint64:
		v, err := strconv.ParseUint(strings.TrimPrefix(w, "+"), 10, bits)
		if err == nil {
			return T(v), nil
		}
	default:
		v, err := strconv.ParseInt(w, 10, bits)
		if err == nil {
			return T(v), nil
		}
	}
	return 0, fmt.Errorf("%q is not a whole number of %d bits", term.ClipEnd(w, 25), bits)
}

func (r *legacy) bits(n int) ([]uint8, error) {
	if !r.binary {
		return scanText[uint8](r, n, 8)
	}
	size := (n + 7) / 8
	if size > len(r.buf)-r.pos {
		return nil, fmt.Errorf("%d bits need %d bytes, %d are left", n, size, len(r.buf)-r.pos)
	}
	out := make([]uint8, n)
	for i := range out {
		out[i] = r.buf[r.pos+i/8] >> (7 - i%8) & 1
	}
	r.pos += size
	return out, nil
}

// strings are lines in text. In binary each is led by its length, whose first
// two bits say how many bytes the length itself takes: 8, 4, 2 or 1.
func (r *legacy) strings(n int) ([]string, error) {
	if n > len(r.buf)-r.pos+1 {
		return nil, fmt.Errorf("%d strings cannot be in the %d bytes that are left", n, len(r.buf)-r.pos)
	}
	out := make([]string, n)
	if !r.binary {
		if n > 0 {
			r.line()
		}
		for i := range out {
			out[i] = decode(string(bytes.TrimRight(r.line(), "\r")))
		}
		return out, nil
	}
	for i := range out {
		if r.pos >= len(r.buf) {
			return nil, fmt.Errorf("file ends at string %d of %d", i, n)
		}
		width := 8 >> (r.buf[r.pos] >> 6)
		if width > len(r.buf)-r.pos {
			return nil, fmt.Errorf("file ends in the length of string %d", i)
		}
		var size uint64
		for k, b := range r.buf[r.pos : r.pos+width] {
			if k == 0 {
				b &= 0x3f
			}
			size = size<<8 | uint64(b)
		}
		r.pos += width
		if size > uint64(len(r.buf)-r.pos) {
			return nil, fmt.Errorf("string %d has %d bytes, %d are left", i, size, len(r.buf)-r.pos)
		}
		out[i] = string(r.buf[r.pos : r.pos+int(size)])
		r.pos += int(size)
	}
	return out, nil
}

// word returns the next token, "" at the end of the file.
func (r *legacy) word() string {
	for r.pos < len(r.buf) && space(r.buf[r.pos]) {
		r.pos++
	}
	start := r.pos
	for r.pos < len(r.buf) && !space(r.buf[r.pos]) {
		r.pos++
	}
	return string(r.buf[start:r.pos])
}

func space(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// line returns the rest of the current line without its end.
func (r *legacy) line() []byte {
	rest := r.buf[r.pos:]
	i := bytes.IndexByte(rest, '\n')
	if i < 0 {
		r.pos = len(r.buf)
		return rest
	}
	r.pos += i + 1
	return rest[:i]
}

func (r *legacy) count(least int) (int, error) {
	w := r.word()
	n, err := strconv.Atoi(w)
	if err != nil || n < least || n > 1<<40 {
		return 0, fmt.Errorf("%q is not a count", term.ClipEnd(w, 25))
	}
	return n, nil
}

func (r *legacy) ints(out []int) error {
	for i := range out {
		n, err := strconv.Atoi(r.word())
		if err != nil || n > 1<<40 || n < -1<<40 {
			return errors.New("wants whole numbers")
		}
		out[i] = n
	}
	return nil
}

func (r *legacy) reals(out []float64) error {
	for i := range out {
		v, err := parse[float64](r.word(), 64)
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}
