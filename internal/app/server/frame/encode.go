package frame

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/isobath/isobath/internal/engine/query"
)

// Body collects the binary part of an answer.
type Body struct {
	Refs []ColumnRef
	body []byte
}

// Grow makes room for that many bytes more.
func (b *Body) Grow(bytes int) { b.body = slices.Grow(b.body, bytes) }

// Add appends a column and returns its index. Equal neighbours of a layered
// column are added once; see Layered.
func Add[T uint16 | uint32 | float32 | float64](c *Body, values []T) Column {
	ref := ColumnRef{Offset: len(c.body), Length: len(values)}
	// In a variable of its own: a field would be stored with every value.
	body := slices.Grow(c.body, binary.Size(values)+8)
	switch values := any(values).(type) {
	case []uint16:
		ref.Type = "u16"
		for _, v := range values {
			body = binary.LittleEndian.AppendUint16(body, v)
		}
	case []uint32:
		ref.Type = "u32"
		for _, v := range values {
			body = binary.LittleEndian.AppendUint32(body, v)
		}
	case []float32:
		ref.Type = "f32"
		for _, v := range values {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(v))
		}
	case []float64:
		ref.Type = "f64"
		for _, v := range values {
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(v))
		}
	}
	c.body = append(body, make([]byte, -len(body)&7)...)
	c.Refs = append(c.Refs, ref)
	return Column(len(c.Refs) - 1)
}

// Layered adds a column for each layer. Without a selection the selected layer
// equals all and travels once; a layer that was not asked for is empty.
func Layered[T uint16 | uint32 | float64](c *Body, layers [query.Layers][]T, hover bool) PerLayer {
	var p PerLayer
	for l := range layers {
		values := layers[l]
		if query.Layer(l) == query.Hovered && !hover {
			values = nil
		}
		if l > 0 && slices.Equal(values, layers[l-1]) {
			p[l] = p[l-1]
			continue
		}
		p[l] = Add(c, values)
	}
	return p
}

// CellCounts adds the counts of the cells of a pair, in two bytes each if they
// fit: they are most of an answer, and no layer has more than all rows.
func CellCounts(c *Body, layers [query.Layers][]uint32, hover bool) PerLayer {
	for _, n := range layers[query.All] {
		if n > math.MaxUint16 {
			return Layered(c, layers, hover)
		}
	}
	var short [query.Layers][]uint16
	for l, counts := range layers {
		short[l] = make([]uint16, len(counts))
		for i, n := range counts {
			short[l][i] = uint16(n)
		}
	}
	return Layered(c, short, hover)
}

// Message puts a header and the columns together. The header is padded, so that
// columns start at a multiple of 8 from the start of the message.
func (b *Body) Message(header any) ([]byte, error) {
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	start := (8 + len(text) + 7) &^ 7
	out := make([]byte, start, start+len(b.body))
	copy(out, "ISOB")
	binary.LittleEndian.PutUint32(out[4:], uint32(len(text)))
	copy(out[8:], text)
	return append(out, b.body...), nil
}

// List makes a nil slice an empty one: JSON has [] for it, not null.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Finite replaces what JSON cannot hold.
func Finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// OrNull is nil for what JSON cannot hold.
func OrNull(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// Since is the time since start in milliseconds, as answers give it.
func Since(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1000 }

// Pack compresses.
func Pack(b []byte, level int) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, level) // the levels are constants of the package
	z.Write(b)
	z.Close()
	return out.Bytes()
}
