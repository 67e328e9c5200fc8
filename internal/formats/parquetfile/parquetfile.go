// Package parquetfile reads Parquet tables: our own without loss, others as far
// as their columns are flat.
package parquetfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/tabular"
)

// Format is a Parquet file.
var Format = foreign.Format{Name: "parquet", Kind: kind.Samples, Sniff: sniff, Samples: read}

func sniff(in *foreign.Input) bool { return bytes.HasPrefix(in.Head, []byte("PAR1")) }

// maxRows bounds what a footer may claim: more rows than any machine that runs
// this could hold.
const maxRows = 1 << 33

// freeValues is how many values a file may have, however small it is.
const freeValues = 1 << 22

func read(ctx context.Context, in *foreign.Input, opt *foreign.Options) (*foreign.Imported, error) {
	f, err := plainfile.Open(in.Path)
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	out, err := parse(ctx, f, info.Size(), opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	out.SourceRoots = []string{filepath.Dir(in.Path)}
	return out, nil
}

// parse reads a Parquet file. The library panics on some damaged files; that
// is an error here.
func parse(ctx context.Context, r io.ReaderAt, size int64, opt *foreign.Options) (out *foreign.Imported, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("not a readable Parquet file: %v", r)
		}
	}()
	if err := checkFooter(r, size); err != nil {
		return nil, fmt.Errorf("not a readable Parquet file: %w", err)
	}
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("not a readable Parquet file: %w", err)
	}
	if err := checkPages(r, size, file); err != nil {
		return nil, fmt.Errorf("not a readable Parquet file: %w", err)
	}
	rows := file.NumRows()
	if err := checkRows(rows, int64(len(leaves(file.Root()))), size); err != nil {
		return nil, err
	}
	metas := described(file)
	var columns []*table.Column
	var warnings []string
	for i, leaf := range leaves(file.Root()) {
		if leaf.MaxRepetitionLevel() > 0 || len(leaf.Path()) != 1 {
			warnings = append(warnings, fmt.Sprintf("column %s is nested and was left out", leaf.Name()))
			continue
		}
		c, err := readColumn(ctx, leaf, int(rows))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", leaf.Name(), err)
		}
		if m, ok := metas[c.Name]; ok {
			if err := restore(c, m); err != nil {
				return nil, err
			}
		}
		columns = append(columns, c)
		if opt.Progress != nil {
			opt.Progress(size*int64(i+1)/int64(len(leaves(file.Root()))), size, rows)
		}
	}
	out, err = tabular.Samples(ordered(columns, file), opt)
	if err != nil {
		return nil, err
	}
	out.Warnings = append(warnings, out.Warnings...)
	return out, nil
}

// checkRows refuses more values than a file of that size has reason for. A column
// whose values are all missing, or all the same, takes a few bytes however many
// rows there are; here every value takes eight.
func checkRows(rows, columns, size int64) error {
	if rows < 0 || rows > maxRows || rows*columns > freeValues+size*mostPacked {
		return fmt.Errorf("%d rows of %d columns in a file of %d bytes", rows, columns, size)
	}
	return nil
}

func leaves(c *parquet.Column) []*parquet.Column {
	if c.Leaf() {
		return []*parquet.Column{c}
	}
	var out []*parquet.Column
	for _, child := range c.Columns() {
		out = append(out, leaves(child)...)
	}
	return out
}

// described returns what our own writer noted about the columns.
func described(file *parquet.File) map[string]table.Meta {
	text, ok := file.Lookup(table.ParquetMeta)
	var list []table.Meta
	if !ok || json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	out := map[string]table.Meta{}
	for _, m := range list {
		out[m.Name] = m
	}
	return out
}

// ordered puts the columns of our own files back in their order; Parquet
// groups are sorted by name.
func ordered(columns []*table.Column, file *parquet.File) []*table.Column {
	text, _ := file.Lookup(table.ParquetMeta)
	var list []table.Meta
	if json.Unmarshal([]byte(text), &list) != nil {
		return columns
	}
	byName := map[string]*table.Column{}
	for _, c := range columns {
		byName[c.Name] = c
	}
	var out []*table.Column
	for _, m := range list {
		if c := byName[m.Name]; c != nil {
			out = append(out, c)
			delete(byName, m.Name)
		}
	}
	for _, c := range columns {
		if byName[c.Name] != nil {
			out = append(out, c)
		}
	}
	return out
}

// restore gives a column of ours back its meaning. Times were counted from the
// base already.
func restore(c *table.Column, m table.Meta) error {
	kind, err := table.ParseKind(m.Kind)
	if err != nil {
		return fmt.Errorf("column %q: %w", m.Name, err)
	}
	if values, ok := c.Data.([]int64); ok && kind == table.Time {
		c.Kind = table.Time
		c.Data = values
	}
	return c.Describe(m)
}

func readColumn(ctx context.Context, leaf *parquet.Column, rows int) (*table.Column, error) {
	b := newBuilder(leaf, rows)
	pages := leaf.Pages()
	defer pages.Close()
	buf := make([]parquet.Value, 4096)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		values := page.Values()
		for {
			n, err := values.ReadValues(buf)
			for _, v := range buf[:n] {
				if b.rows == rows {
					return nil, fmt.Errorf("more values than the %d rows of the file", rows)
				}
				b.append(v)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
		}
		parquet.Release(page)
	}
	if b.rows != rows {
		return nil, fmt.Errorf("%d values for %d rows", b.rows, rows)
	}
	return b.column(), nil
}

// builder collects the values of one column.
type builder struct {
	name     string
	kind     parquet.Kind
	unsigned bool
	rows     int
	ints     []int64
	floats   []float64
	flags    []uint8
	codes    []uint32
	in       *table.Interner
	valid    table.Bits
}

func newBuilder(leaf *parquet.Column, rows int) *builder {
	b := &builder{name: leaf.Name(), kind: leaf.Type().Kind(), valid: table.NewBits(rows), in: table.NewInterner()}
	if t := leaf.Type().LogicalType(); t != nil {
		if integer, ok := t.Value.(*format.IntType); ok {
			b.unsigned = !integer.IsSigned && integer.BitWidth == 64
		}
	}
	return b
}

func (b *builder) append(v parquet.Value) {
	if !v.IsNull() {
		b.valid.Set(b.rows)
	}
	b.rows++
	switch b.kind {
	case parquet.Boolean:
		flag := uint8(0)
		if !v.IsNull() && v.Boolean() {
			flag = 1
		}
		b.flags = append(b.flags, flag)
	case parquet.Int32:
		b.ints = append(b.ints, valueOrZero(v, func() int64 { return int64(v.Int32()) }))
	case parquet.Int64:
		b.ints = append(b.ints, valueOrZero(v, v.Int64))
	case parquet.Float:
		b.floats = append(b.floats, valueOrZero(v, func() float64 { return float64(v.Float()) }))
	case parquet.Double:
		b.floats = append(b.floats, valueOrZero(v, v.Double))
	default:
		code := uint32(0)
		if !v.IsNull() {
			code = b.in.Code(v.Bytes())
		}
		b.codes = append(b.codes, code)
	}
}

func valueOrZero[T any](v parquet.Value, get func() T) (n T) {
	if !v.IsNull() {
		n = get()
	}
	return n
}

func (b *builder) column() *table.Column {
	switch {
	case b.kind == parquet.Boolean:
		return table.Flags(b.name, table.Unknown, b.flags, b.valid)
	case b.unsigned:
		words := make([]uint64, len(b.ints))
		for i, v := range b.ints {
			words[i] = uint64(v)
		}
		return table.Addresses(b.name, table.Unknown, words, b.valid)
	case b.kind == parquet.Int64:
		return &table.Column{Name: b.name, Kind: table.Number, Provenance: table.Unknown, Data: filled(b.ints, b.rows), Valid: some(b.valid, b.rows)}
	case b.kind == parquet.Int32:
		return table.Ints(b.name, "", table.Unknown, filled(b.ints, b.rows), b.valid)
	case b.kind == parquet.Float || b.kind == parquet.Double:
		return table.Floats(b.name, "", table.Unknown, b.floats, b.valid)
	}
	return table.Categories(b.name, table.Unknown, b.codes, b.in.Names(), b.valid)
}

func filled(values []int64, rows int) []int64 {
	if values == nil {
		return make([]int64, rows)
	}
	return values
}

func some(valid table.Bits, rows int) table.Bits {
	if valid.Count() == rows {
		return nil
	}
	return valid
}
