package table

import (
	"fmt"
	"os"
	"slices"
	"unsafe"

	"github.com/isobath/isobath/internal/base/scratch"
)

// spillBytes is what a growing column may take in memory before it moves to a
// temporary file.
const spillBytes = 1 << 20

// firstRoom is how many values there is room for at first: one of many threads may
// have few.
const firstRoom = 64

// Fixed are the element types of columns.
type Fixed interface {
	int32 | int64 | float64 | uint32 | uint8 | uint64
}

// Growing collects values whose number is not known beforehand: elements of
// columns, or records without pointers. Beyond a few megabytes they go to a
// temporary file without a name, so that an import needs memory for neither its
// input nor its output.
type Growing[T any] struct {
	// Stay keeps all of them in memory, for values that nobody closes.
	Stay bool
	tail []T // what is not in the file
	file *os.File
	rows int
	err  error
}

// Append adds a value.
func (g *Growing[T]) Append(v T) {
	if len(g.tail) == cap(g.tail) {
		g.room()
	}
	g.tail = append(g.tail, v)
	g.rows++
}

// Room appends up to n values, at least one, and returns them. All of them are
// to be set before the next call: values that come in blocks need no call each.
func (g *Growing[T]) Room(n int) []T {
	if len(g.tail) == cap(g.tail) {
		g.room()
	}
	at := len(g.tail)
	g.tail = g.tail[:min(at+n, cap(g.tail))]
	g.rows += len(g.tail) - at
	return g.tail[at:]
}

// Len returns the number of values.
func (g *Growing[T]) Len() int { return g.rows }

// Pad appends zeros until there are n values.
func (g *Growing[T]) Pad(n int) {
	for g.rows < n {
		clear(g.Room(n - g.rows))
	}
}

// AppendAll adds values.
func (g *Growing[T]) AppendAll(values []T) {
	for len(values) > 0 {
		values = values[copy(g.Room(len(values)), values):]
	}
}

// room makes the tail longer, or empties it into the file.
func (g *Growing[T]) room() {
	var zero T
	if g.file == nil {
		if n := cap(g.tail); g.Stay || n*int(unsafe.Sizeof(zero)) < spillBytes {
			g.tail = append(make([]T, 0, max(2*n, firstRoom)), g.tail...)
			return
		}
		f, err := unnamed()
		if err != nil {
			g.fail(err)
			return
		}
		g.file = f
	}
	g.flush()
	if keep := spillBytes / 4 / int(unsafe.Sizeof(zero)); cap(g.tail) > keep {
		g.tail = make([]T, 0, keep)
	}
}

func (g *Growing[T]) flush() {
	if _, err := g.file.Write(RawBytes(g.tail)); err != nil {
		g.fail(noRoom(err))
	}
	g.tail = g.tail[:0]
}

// unnamed makes a temporary file that lives as long as it is open or mapped.
func unnamed() (*os.File, error) {
	f, err := scratch.File("", "column")
	if err != nil {
		return nil, noRoom(err)
	}
	os.Remove(f.Name())
	return f, nil
}

func noRoom(err error) error {
	return fmt.Errorf("keep columns in a temporary file: %w; set TMPDIR to a folder with room", err)
}

// fail remembers the first error; what comes after it is dropped.
func (g *Growing[T]) fail(err error) {
	if g.err == nil {
		g.err = err
	}
	g.tail = g.tail[:0]
}

// Values returns everything that was appended, and what keeps it, which is nil
// if that is ordinary memory. Nothing may be appended afterwards.
func (g *Growing[T]) Values() ([]T, *Spill, error) { return g.values(mmap) }

// Editable is Values for a caller that changes them: what is written goes to the
// temporary file too.
func (g *Growing[T]) Editable() ([]T, *Spill, error) { return g.values(mmapEditable) }

func (g *Growing[T]) values(mapped func(*os.File, int64) ([]byte, func() error, error)) ([]T, *Spill, error) {
	if g.file == nil {
		return g.tail, nil, g.err
	}
	defer g.file.Close()
	if g.err != nil {
		return nil, nil, g.err
	}
	if g.flush(); g.err != nil {
		return nil, nil, g.err
	}
	g.tail = nil
	var zero T
	data, unmap, err := mapped(g.file, int64(g.rows)*int64(unsafe.Sizeof(zero)))
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), g.rows), &Spill{data: data, unmap: unmap}, nil
}

// Drop gives up what was collected.
func (g *Growing[T]) Drop() {
	if g.file != nil {
		g.file.Close()
	}
	*g = Growing[T]{}
}

// Spill is the mapped file behind the values of a column, or of all columns of a
// table, or a part of that.
type Spill struct {
	data    []byte
	unmap   func() error
	whole   *Spill // what it is a part of, which is the one to unmap; nil if it is all
	checked bool   // its column was found consistent in some table
	zero    bool   // nothing was ever written to it
}

// Release gives back the memory that reading the values took. They are read
// from the file again when they are needed.
func (s *Spill) Release() {
	if s != nil && s.data != nil && (s.whole == nil || s.whole.data != nil) {
		release(s.data)
	}
}

// Close frees the file; that of a part only forgets it. The values must not be
// used afterwards.
func (s *Spill) Close() error {
	if s == nil || s.data == nil {
		return nil
	}
	s.data = nil
	if s.whole != nil {
		return nil
	}
	return s.unmap()
}

// part is the spill of values that are within the file, with which their column
// gives back their memory alone. Those that would take little, as of each of 40,000
// columns, have none: they go with the file.
func (s *Spill) part(values []byte) *Spill {
	if s == nil || len(values) <= spillBytes {
		return nil
	}
	at := int(uintptr(unsafe.Pointer(&values[0])) - uintptr(unsafe.Pointer(&s.data[0])))
	end := at + len(values)
	return &Spill{data: s.data[at-at%os.Getpagesize() : end], whole: s} // memory is given back by pages
}

func zeros[T Fixed](n int) (any, *Spill, error) {
	v, spill, err := Zeros[T](n)
	return v, spill, err
}

// RawBytes is the memory of values.
func RawBytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// Back says that a spill holds the column's values: closing its table closes
// the spill too.
func (c *Column) Back(s *Spill) *Column {
	c.Spill = s
	return c
}

// Release gives back memory that a file can fill again.
func (c *Column) Release() {
	if c != nil {
		c.Spill.Release()
	}
}

// Release gives back memory that files can fill again.
func (t *Table) Release() {
	for _, c := range t.columns {
		c.Release()
	}
	t.file.Release()
}

// Settle moves values that are in memory into a temporary file: of many tables
// that wait for something, each then takes none. A table of a file gives back what
// was read of it. Nobody else may have the table yet.
func (t *Table) Settle() error {
	if t.file != nil || t.elsewhere {
		t.Release()
		return nil
	}
	f, err := unnamed()
	if err != nil {
		return err
	}
	defer f.Close() // the mapping keeps it
	var places []int
	size := 0
	for _, c := range t.columns {
		places = append(places, size)
		if c.Spill == nil {
			raw := c.raw()
			size += (len(raw) + 7) &^ 7 // values of eight bytes stay aligned
			if _, err := f.WriteAt(raw, int64(places[len(places)-1])); err != nil {
				return noRoom(err)
			}
		}
	}
	if size == 0 {
		return nil
	}
	if err := f.Truncate(int64(size)); err != nil {
		return noRoom(err)
	}
	data, unmap, err := mmap(f, int64(size))
	if err != nil {
		return err
	}
	t.file = &Spill{data: data, unmap: unmap}
	for i, c := range t.columns {
		if c.Spill == nil {
			c.restOn(data[places[i]:][:len(c.raw())])
			c.Spill = t.file.part(c.raw())
		}
	}
	return nil
}

// Raw returns the memory of the values of some rows.
func (c *Column) Raw(lo, hi int) []byte {
	all, n := c.raw(), c.Len()
	if n == 0 {
		return nil
	}
	width := len(all) / n
	return all[lo*width : hi*width]
}

// raw returns the memory of the values.
func (c *Column) raw() []byte {
	switch d := c.Data.(type) {
	case []int32:
		return RawBytes(d)
	case []int64:
		return RawBytes(d)
	case []float64:
		return RawBytes(d)
	case []uint32:
		return RawBytes(d)
	case []uint8:
		return RawBytes(d)
	case []uint64:
		return RawBytes(d)
	}
	return nil
}

// restOn takes values that are the same from other memory.
func (c *Column) restOn(raw []byte) {
	switch c.Data.(type) {
	case []int32:
		c.Data = valuesIn[int32](raw)
	case []int64:
		c.Data = valuesIn[int64](raw)
	case []float64:
		c.Data = valuesIn[float64](raw)
	case []uint32:
		c.Data = valuesIn[uint32](raw)
	case []uint8:
		c.Data = raw
	case []uint64:
		c.Data = valuesIn[uint64](raw)
	}
}

// valuesIn is the inverse of RawBytes.
func valuesIn[T Fixed](raw []byte) []T {
	if len(raw) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(&raw[0])), len(raw)/int(unsafe.Sizeof(zero)))
}

// Spread returns the column whose row i is row rows[i] of c: c describes what
// occurs, rows says where. The result may be in a temporary file.
func (c *Column) Spread(rows []uint32) (*Column, error) {
	out := *c
	var err error
	switch d := c.Data.(type) {
	case []int32:
		out.Data, out.Spill, err = spread(d, rows)
	case []int64:
		out.Data, out.Spill, err = spread(d, rows)
	case []float64:
		out.Data, out.Spill, err = spread(d, rows)
	case []uint32:
		out.Data, out.Spill, err = spread(d, rows)
	case []uint8:
		out.Data, out.Spill, err = spread(d, rows)
	case []uint64:
		out.Data, out.Spill, err = spread(d, rows)
	}
	if err != nil {
		return nil, err
	}
	if c.Valid != nil {
		out.Valid = dense(c.spreadValid(rows), len(rows))
	}
	out.Release()
	return &out, nil
}

// spreadValid returns which of the rows have a value, a word at a time.
func (c *Column) spreadValid(rows []uint32) Bits {
	has := make([]uint64, c.Len())
	for i := range c.Valid.All() {
		has[i] = 1
	}
	valid := NewBits(len(rows))
	for w := range valid {
		some := rows[64*w : min(64*w+64, len(rows))]
		var word uint64
		for i, row := range some {
			word |= has[row] << i
		}
		valid[w] = word
	}
	return valid
}

// Zeros returns n zeros that take no memory while they are only read: what a
// column has that says the same, or nothing, in every row.
func Zeros[T Fixed](n int) ([]T, *Spill, error) {
	var zero T
	if n*int(unsafe.Sizeof(zero)) <= spillBytes {
		return make([]T, n), nil, nil
	}
	data, unmap, err := anonymous(n * int(unsafe.Sizeof(zero)))
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), n), &Spill{data: data, unmap: unmap, zero: true}, nil
}

func spread[T Fixed](values []T, rows []uint32) (any, *Spill, error) {
	if !slices.ContainsFunc(values, func(v T) bool { return v != 0 }) {
		return zeros[T](len(rows))
	}
	var g Growing[T]
	for len(rows) > 0 {
		block := g.Room(len(rows))
		for i := range block {
			block[i] = values[rows[i]]
		}
		rows = rows[len(block):]
	}
	out, spill, err := g.Values()
	return out, spill, err
}
