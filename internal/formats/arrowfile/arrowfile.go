// Package arrowfile reads Arrow IPC files: our own without loss, others as far
// as their columns are flat.
package arrowfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/tabular"
)

// Format is an Arrow IPC file (also called Feather version 2).
var Format = foreign.Format{Name: "arrow", Kind: kind.Samples, Sniff: sniff, Samples: read}

func sniff(in *foreign.Input) bool { return bytes.HasPrefix(in.Head, []byte("ARROW1\x00\x00")) }

func read(ctx context.Context, in *foreign.Input, opt *foreign.Options) (*foreign.Imported, error) {
	data, unmap, err := table.MapFile(in.Path)
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	defer unmap()
	out, err := parse(ctx, data, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	out.SourceRoots = []string{filepath.Dir(in.Path)}
	return out, nil
}

// parse reads a file from memory; nothing of the result points into it. The
// library panics on some damaged files; that is an error here.
func parse(ctx context.Context, data []byte, opt *foreign.Options) (out *foreign.Imported, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("not a readable Arrow file: %v", r)
		}
	}()
	r, err := table.ArrowReader(data)
	if err != nil {
		return nil, err
	}
	var builders []*builder
	var warnings []string
	for _, f := range r.Schema().Fields() {
		b, ok := newBuilder(f)
		if !ok {
			warnings = append(warnings, fmt.Sprintf("column %s has type %v and was left out", f.Name, f.Type))
		}
		builders = append(builders, b)
	}
	rows := int64(0)
	for {
		batch, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not a readable Arrow file: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows += batch.NumRows()
		if rows > int64(len(data))*8 {
			return nil, fmt.Errorf("%d rows in a file of %d bytes", rows, len(data))
		}
		for i, b := range builders {
			if n := int64(batch.Column(i).Len()); n != batch.NumRows() { // what a column says of itself
				return nil, fmt.Errorf("not a readable Arrow file: column %s has %d values in a batch of %d rows", r.Schema().Field(i).Name, n, batch.NumRows())
			}
			if b != nil {
				b.append(batch.Column(i))
			}
		}
		if opt.Progress != nil {
			opt.Progress(int64(len(data)), int64(len(data)), rows)
		}
	}
	return assemble(builders, warnings, opt)
}

func assemble(builders []*builder, warnings []string, opt *foreign.Options) (*foreign.Imported, error) {
	var columns []*table.Column
	for _, b := range builders {
		if b == nil {
			continue
		}
		c := b.column()
		if err := table.DescribeFromArrow(c, b.field); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	out, err := tabular.Samples(columns, opt)
	if err != nil {
		return nil, err
	}
	out.Warnings = append(warnings, out.Warnings...)
	return out, nil
}

// builder collects the batches of one column.
type builder struct {
	field  arrow.Field
	kind   table.Kind
	float  bool
	ints   []int64
	words  []uint64
	floats []float64
	flags  []uint8
	codes  []uint32
	in     *table.Interner
	valid  []bool
}

func newBuilder(f arrow.Field) (*builder, bool) {
	b := &builder{field: f, in: table.NewInterner()}
	switch t := f.Type.(type) {
	case *arrow.BooleanType:
		b.kind = table.Flag
	case *arrow.Uint64Type:
		b.kind = table.Address
	case *arrow.Float32Type, *arrow.Float64Type:
		b.float = true
	case *arrow.StringType, *arrow.LargeStringType:
		b.kind = table.Category
	case *arrow.DictionaryType:
		if t.ValueType.ID() != arrow.STRING && t.ValueType.ID() != arrow.LARGE_STRING {
			return nil, false
		}
		b.kind = table.Category
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.TimestampType, *arrow.DurationType:
	default:
		return nil, false
	}
	return b, true
}

// append adds one batch. A row without a value adds a zero.
func (b *builder) append(a arrow.Array) {
	for i := range a.Len() {
		b.valid = append(b.valid, a.IsValid(i))
	}
	switch {
	case b.kind == table.Flag:
		flags := a.(*array.Boolean)
		for i := range a.Len() {
			v := uint8(0)
			if a.IsValid(i) && flags.Value(i) {
				v = 1
			}
			b.flags = append(b.flags, v)
		}
	case b.kind == table.Address:
		b.words = append(b.words, a.(*array.Uint64).Uint64Values()...)
	case b.kind == table.Category:
		for i := range a.Len() {
			code := uint32(0)
			if a.IsValid(i) {
				code = b.in.CodeString(text(a, i))
			}
			b.codes = append(b.codes, code)
		}
	case b.float:
		for i := range a.Len() {
			b.floats = append(b.floats, float(a, i))
		}
	default:
		for i := range a.Len() {
			b.ints = append(b.ints, whole(a, i))
		}
	}
}

func text(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.String:
		return a.Value(i)
	case *array.LargeString:
		return a.Value(i)
	case *array.Dictionary:
		return text(a.Dictionary(), a.GetValueIndex(i))
	}
	return ""
}

func float(a arrow.Array, i int) float64 {
	if f, ok := a.(*array.Float32); ok {
		return float64(f.Value(i))
	}
	return a.(*array.Float64).Value(i)
}

func whole(a arrow.Array, i int) int64 {
	if !a.IsValid(i) {
		return 0
	}
	switch a := a.(type) {
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Uint8:
		return int64(a.Value(i))
	case *array.Uint16:
		return int64(a.Value(i))
	case *array.Uint32:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Duration:
		return int64(a.Value(i))
	}
	return 0
}

func (b *builder) column() *table.Column {
	n := len(b.valid)
	valid := table.NewBits(n)
	for i, ok := range b.valid {
		if ok {
			valid.Set(i)
		}
	}
	name := b.field.Name
	switch {
	case b.kind == table.Flag:
		return table.Flags(name, table.Unknown, b.flags, valid)
	case b.kind == table.Address:
		return table.Addresses(name, table.Unknown, b.words, valid)
	case b.kind == table.Category:
		return table.Categories(name, table.Unknown, b.codes, b.in.Names(), valid)
	case b.float:
		return table.Floats(name, "", table.Unknown, b.floats, valid)
	}
	return table.Ints(name, "", table.Unknown, b.ints, valid)
}
