package demo

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/klauspost/compress/zstd"

	"github.com/isobath/isobath/internal/data/table"
)

// The form of the run in the repository: the length of a header as four bytes,
// the header as JSON, then the columns, each compressed by itself. A column is
// a list of varints: its values, or their differences from the row before, or
// from the row before on the same CPU, whichever is smallest. It is read only
// from this program's own data, but checks what it reads like any reader.

// header describes a stored run.
type header struct {
	Name     string         `json:"name"`
	Rows     int            `json:"rows"`
	Columns  []storedColumn `json:"columns"`
	Objects  []Object       `json:"objects"`
	Origin   kind.Origin    `json:"origin"`
	Warnings []string       `json:"warnings"`
}

type storedColumn struct {
	table.Meta
	Wide  bool     `json:"wide,omitempty"` // numbers of 64 bits
	Dict  []string `json:"dict,omitempty"`
	Valid bool     `json:"valid,omitempty"` // validity words precede the values
	Delta int      `json:"delta,omitempty"`
	Bytes int      `json:"bytes"` // compressed
}

// What a value is stored as the difference from.
const (
	fromZero = iota
	fromLast
	fromSameCPU
)

// mostRows bounds what a damaged header can make us allocate.
const mostRows = 16 << 20

var errDamaged = errors.New("damaged demo data; make it again with 'go run ./internal/app/demo/gen'")

// Encode returns the run in the form the repository keeps it in.
func Encode(r *Run) ([]byte, error) {
	zw, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer zw.Close()
	h := header{Name: r.Name, Rows: r.Samples.Rows(), Objects: r.Objects, Origin: r.Origin, Warnings: r.Warnings}
	lanes := lanesOf(r.Samples)
	var body []byte
	for _, c := range r.Samples.Columns() {
		s, data, err := encodeColumn(c, lanes, zw)
		if err != nil {
			return nil, err
		}
		h.Columns = append(h.Columns, s)
		body = append(body, data...)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	return append(append(out, text...), body...), nil
}

// lanesOf returns the CPU of every row, which is always the first or second
// column and never stored by lane itself.
func lanesOf(t *table.Table) []int32 {
	lanes, _ := t.Column("cpu").Data.([]int32)
	return lanes
}

func encodeColumn(c *table.Column, lanes []int32, zw *zstd.Encoder) (storedColumn, []byte, error) {
	s := storedColumn{Meta: c.Meta(), Dict: c.Dict, Valid: c.Valid != nil}
	values, wide, err := integers(c)
	if err != nil {
		return s, nil, err
	}
	s.Wide = wide
	deltas := []int{fromZero, fromLast, fromSameCPU}
	if c.Name == "cpu" || c.Name == "time" {
		deltas = deltas[:2] // read before the lanes are known
	}
	var best []byte
	for _, d := range deltas {
		var raw []byte
		for _, w := range c.Valid {
			raw = binary.LittleEndian.AppendUint64(raw, w)
		}
		from := newBase(d, lanes)
		for i, v := range values {
			raw = binary.AppendVarint(raw, v-*from.at(i))
			*from.at(i) = v
		}
		if data := zw.EncodeAll(raw, nil); best == nil || len(data) < len(best) {
			best, s.Delta, s.Bytes = data, d, len(data)
		}
	}
	return s, best, nil
}

// base finds the value that a row is stored as the difference from.
type base struct {
	delta int
	last  []int64
	lanes []int32
}

const mostLanes = 1 << 12

func newBase(delta int, lanes []int32) *base {
	return &base{delta: delta, last: make([]int64, mostLanes), lanes: lanes}
}

func (b *base) at(i int) *int64 {
	switch b.delta {
	case fromLast:
		return &b.last[0]
	case fromSameCPU:
		return &b.last[b.lanes[i]&(mostLanes-1)]
	}
	return new(int64)
}

// integers returns the values of a column as they are stored. Addresses wrap
// into the negative numbers and back.
func integers(c *table.Column) (values []int64, wide bool, err error) {
	switch d := c.Data.(type) {
	case []int32:
		return widen(d), false, nil
	case []int64:
		return d, true, nil
	case []uint8:
		return widen(d), false, nil
	case []uint32:
		return widen(d), false, nil
	case []uint64:
		return widen(d), false, nil
	}
	return nil, false, fmt.Errorf("column %q: cannot store %T", c.Name, c.Data)
}

func widen[T int32 | uint8 | uint32 | uint64](d []T) []int64 {
	out := make([]int64, len(d))
	for i, v := range d {
		out[i] = int64(v)
	}
	return out
}

func decode(data []byte) (*header, *table.Table, error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, errDamaged
	}
	n := binary.LittleEndian.Uint32(data)
	var h header
	if err := json.Unmarshal(data[4:4+n], &h); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if h.Rows < 0 || h.Rows > mostRows {
		return nil, nil, fmt.Errorf("%w: %d rows", errDamaged, h.Rows)
	}
	zr, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostRows*binary.MaxVarintLen64))
	if err != nil {
		return nil, nil, err
	}
	defer zr.Close()
	rest := data[4+n:]
	var columns []*table.Column
	var lanes []int32
	for _, s := range h.Columns {
		if s.Bytes < 0 || s.Bytes > len(rest) || s.Delta == fromSameCPU && lanes == nil {
			return nil, nil, fmt.Errorf("%w: column %q", errDamaged, s.Name)
		}
		raw, err := zr.DecodeAll(rest[:s.Bytes], nil)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: column %q: %w", errDamaged, s.Name, err)
		}
		rest = rest[s.Bytes:]
		c, err := decodeColumn(s, h.Rows, raw, lanes)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: column %q: %w", errDamaged, s.Name, err)
		}
		if s.Name == "cpu" {
			lanes, _ = c.Data.([]int32)
		}
		columns = append(columns, c)
	}
	t, err := table.New("samples", columns)
	return &h, t, err
}

func decodeColumn(s storedColumn, rows int, raw []byte, lanes []int32) (*table.Column, error) {
	kind, err := table.ParseKind(s.Kind)
	if err != nil {
		return nil, err
	}
	c := &table.Column{Kind: kind, Dict: s.Dict}
	if err := c.Describe(s.Meta); err != nil {
		return nil, err
	}
	if s.Valid {
		c.Valid = table.NewBits(rows)
		if len(raw) < 8*len(c.Valid) {
			return nil, errors.New("short validity")
		}
		for i := range c.Valid {
			c.Valid[i] = binary.LittleEndian.Uint64(raw[8*i:])
		}
		raw = raw[8*len(c.Valid):]
	}
	if len(raw) < rows {
		return nil, fmt.Errorf("%d bytes for %d values", len(raw), rows)
	}
	values := make([]int64, rows)
	from := newBase(s.Delta, lanes)
	for i := range values {
		v, n := binary.Varint(raw)
		if n <= 0 {
			return nil, fmt.Errorf("value %d of %d", i, rows)
		}
		raw = raw[n:]
		at := from.at(i)
		values[i] = *at + v
		*at = values[i]
	}
	return c, setData(c, values, s.Wide)
}

// setData gives the column its values in the type of its kind.
func setData(c *table.Column, values []int64, wide bool) error {
	switch {
	case c.Kind == table.Address:
		c.Data = narrow[uint64](values)
		return nil
	case wide:
		c.Data = values
		return nil
	}
	for i, v := range values {
		if v < math.MinInt32 || v > math.MaxInt32 || c.Kind != table.Number && v < 0 {
			return fmt.Errorf("value %d is %d", i, v)
		}
	}
	switch c.Kind {
	case table.Category:
		c.Data = narrow[uint32](values)
	case table.Flag:
		c.Data = narrow[uint8](values)
	default:
		c.Data = narrow[int32](values)
	}
	return nil
}

func narrow[T int32 | uint8 | uint32 | uint64](values []int64) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = T(v)
	}
	return out
}
