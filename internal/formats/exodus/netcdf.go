package exodus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/grid"
)

// classic is a netCDF file of the classic formats CDF-1, CDF-2 and CDF-5, read
// whole. See the appendix "File Format Specifications" of the netCDF guide.
type classic struct {
	buf     []byte
	at      int
	version byte
	err     error
	dims    []ncDim
	vars    map[string]*ncVar
	steps   int64
	recSize int64
}

type ncDim struct {
	name string
	size int64 // 0: the record dimension
}

type ncVar struct {
	dims  []int
	attrs map[string]string
	kind  int
	begin int64
	size  int64 // bytes of the variable, or of one record of it
}

// maxFile bounds the files read whole.
const maxFile = 8 << 30

func openClassic(path string) (*classic, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%d bytes; files up to %d GiB are read", info.Size(), maxFile>>30)
	}
	buf, err := plainfile.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	return parseClassic(buf)
}

func parseClassic(buf []byte) (*classic, error) {
	c := &classic{buf: buf, vars: map[string]*ncVar{}}
	if len(buf) < 4 || string(buf[:3]) != "CDF" {
		return nil, errors.New("not a classic netCDF file")
	}
	c.version = buf[3]
	if c.version != 1 && c.version != 2 && c.version != 5 {
		return nil, fmt.Errorf("netCDF version %d is not read", c.version)
	}
	c.at = 4
	c.steps = c.count()
	if c.version != 5 && c.steps == math.MaxUint32 {
		c.steps = 0 // written as a stream: unknown
	}
	c.readDims()
	c.readAttrs()
	c.readVars()
	if c.err != nil {
		return nil, fmt.Errorf("netCDF header: byte %d: %w", c.at, c.err)
	}
	return c, nil
}

func (c *classic) take(n int64) []byte {
	if c.err == nil && (n < 0 || n > int64(len(c.buf)-c.at)) {
		c.err = fmt.Errorf("field of %d bytes, %d are left", n, len(c.buf)-c.at)
	}
	if c.err != nil {
		return make([]byte, 8)
	}
	c.at += int(n)
	return c.buf[c.at-int(n) : c.at]
}

func (c *classic) u32() int64 { return int64(binary.BigEndian.Uint32(c.take(4))) }

func (c *classic) i64() int64 { return int64(binary.BigEndian.Uint64(c.take(8))) }

// count reads a size: 8 bytes in CDF-5, 4 before.
func (c *classic) count() int64 {
	if c.version == 5 {
		return c.i64()
	}
	return c.u32()
}

func (c *classic) name() string {
	n := c.count()
	s := string(c.take(n))
	c.take((4 - n%4) % 4)
	return s
}

// list reads the tag and length of a list.
func (c *classic) list(tag int64) int64 {
	got, n := c.u32(), c.count()
	if c.err == nil && got != tag && (got != 0 || n != 0) {
		c.err = fmt.Errorf("tag %d, want %d", got, tag)
	}
	if n < 0 || n > int64(len(c.buf)) {
		c.err = fmt.Errorf("list of %d entries in a file of %d bytes", n, len(c.buf))
	}
	if c.err != nil {
		return 0
	}
	return n
}

func (c *classic) readDims() {
	for range c.list(0x0a) {
		c.dims = append(c.dims, ncDim{c.name(), c.count()})
		if c.err != nil {
			return
		}
	}
}

// readAttrs returns the attributes that are text; others are passed over.
func (c *classic) readAttrs() map[string]string {
	attrs := map[string]string{}
	for range c.list(0x0c) {
		name, kind, n := c.name(), int(c.u32()), c.count()
		size, ok := typeSizes[kind]
		if c.err == nil && (!ok || n < 0 || n > int64(len(c.buf))) {
			c.err = fmt.Errorf("attribute %q of type %d with %d values", name, kind, n)
		}
		if c.err != nil {
			return attrs
		}
		b := c.take(n * size)
		c.take((4 - n*size%4) % 4)
		if kind == ncChar {
			attrs[name] = string(b)
		}
	}
	return attrs
}

const ncChar = 2

var typeSizes = map[int]int64{1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}

func (c *classic) readVars() {
	records := 0
	var last *ncVar
	for range c.list(0x0b) {
		name := c.name()
		v := &ncVar{}
		n := c.count()
		if n > 1024 {
			c.err = fmt.Errorf("variable %q has %d dimensions", name, n)
		}
		for i := int64(0); i < n && c.err == nil; i++ {
			v.dims = append(v.dims, int(c.count()))
		}
		v.attrs = c.readAttrs()
		v.kind = int(c.u32())
		c.count() // vsize is redundant, and wrong for large variables
		if c.version == 1 {
			v.begin = c.u32()
		} else {
			v.begin = c.i64()
		}
		if c.err != nil {
			return
		}
		record, err := c.measure(v)
		if err != nil {
			c.err = fmt.Errorf("variable %q: %w", name, err)
			return
		}
		if record {
			records++
			c.recSize += (v.size + 3) / 4 * 4
			last = v
		}
		c.vars[name] = v
	}
	if records == 1 { // a single record variable is not padded
		c.recSize = last.size
	}
}

// measure sets the size of a variable, or of one record of it.
func (c *classic) measure(v *ncVar) (record bool, err error) {
	size, ok := typeSizes[v.kind]
	if !ok {
		return false, fmt.Errorf("type %d is not known", v.kind)
	}
	for i, d := range v.dims {
		if d < 0 || d >= len(c.dims) {
			return false, fmt.Errorf("dimension %d does not exist", d)
		}
		n := c.dims[d].size
		if n == 0 && i == 0 {
			record = true
			continue
		}
		if n < 0 || n > 0 && size > int64(len(c.buf))/n {
			return record, fmt.Errorf("more values than the file has bytes")
		}
		size *= n
	}
	v.size = size
	return record, nil
}

func (c *classic) dim(name string) (int, bool) {
	for _, d := range c.dims {
		if d.name == name {
			if d.size == 0 {
				return int(c.steps), true
			}
			return int(d.size), true
		}
	}
	return 0, false
}

func (c *classic) has(name string) bool { return c.vars[name] != nil }

func (c *classic) attr(name, attr string) string {
	if v := c.vars[name]; v != nil {
		return v.attrs[attr]
	}
	return ""
}

// raw returns the bytes of a variable, or of one record when step >= 0 and it
// has records.
func (c *classic) raw(name string, step int) ([]byte, *ncVar, error) {
	v := c.vars[name]
	if v == nil {
		return nil, nil, fmt.Errorf("no variable %q", name)
	}
	at := v.begin
	if len(v.dims) > 0 && c.dims[v.dims[0]].size == 0 {
		if step < 0 || int64(step) >= c.steps {
			return nil, nil, fmt.Errorf("variable %q has %d time steps; step %d does not exist", name, c.steps, step)
		}
		if c.recSize > 0 && int64(step) > int64(len(c.buf))/c.recSize {
			return nil, nil, fmt.Errorf("variable %q: record %d is beyond the file", name, step)
		}
		at += int64(step) * c.recSize
	}
	if at < 0 || v.size < 0 || at > int64(len(c.buf)) || v.size > int64(len(c.buf))-at {
		return nil, nil, fmt.Errorf("variable %q: %d bytes at %d lie beyond the file", name, v.size, at)
	}
	return c.buf[at : at+v.size], v, nil
}

func (c *classic) numbers(name string, step int) (any, error) {
	b, v, err := c.raw(name, step)
	if err != nil {
		return nil, err
	}
	switch v.kind {
	case 1:
		return values[int8](b, 1), nil
	case 3:
		return values[int16](b, 2), nil
	case 4:
		return values[int32](b, 4), nil
	case 5:
		return values[float32](b, 4), nil
	case 6:
		return values[float64](b, 8), nil
	case 7:
		return values[uint8](b, 1), nil
	case 8:
		return values[uint16](b, 2), nil
	case 9:
		return values[uint32](b, 4), nil
	case 10:
		return values[int64](b, 8), nil
	case 11:
		return values[uint64](b, 8), nil
	}
	return nil, fmt.Errorf("variable %q holds text", name)
}

func values[T any](b []byte, size int) []T {
	n := len(b) / size
	out := make([]T, n)
	_, _ = binary.Decode(b[:n*size], binary.BigEndian, out) // sizes agree
	return out
}

func (c *classic) records(name string) ([]float64, error) {
	out := []float64{}
	for step := range int(min(c.steps, int64(len(c.buf)))) {
		v, err := c.numbers(name, step)
		if err != nil {
			return nil, err
		}
		a := grid.Array{Comps: 1, Data: v}
		if a.Values() != 1 {
			return nil, fmt.Errorf("variable %q has %d values per step, want 1", name, a.Values())
		}
		out = append(out, a.At(0))
	}
	return out, nil
}

// texts returns the rows of a character array, without padding.
func (c *classic) texts(name string) []string {
	b, v, err := c.raw(name, 0)
	if err != nil || v.kind != ncChar || len(v.dims) < 2 {
		return nil
	}
	return rows(b, int(c.dims[v.dims[len(v.dims)-1]].size))
}

func (c *classic) close() error { return nil }
