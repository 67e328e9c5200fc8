package table

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// The Arrow form of a table: one file, one record batch, uncompressed, so that
// a mapped column is one contiguous slice. What Arrow has no place for is in
// the metadata of the schema and of each field, under these keys.
const (
	metaTable      = "isobath.table"
	metaVersion    = "isobath.version"
	metaKind       = "isobath.kind"
	metaUnit       = "isobath.unit"
	metaProvenance = "isobath.provenance"
	metaNote       = "isobath.note"
	metaLabel      = "isobath.label"
	metaBase       = "isobath.base"

	arrowVersion = 1
)

// WriteArrow writes the table as an Arrow IPC file.
func (t *Table) WriteArrow(w io.Writer) error {
	return t.writeArrow(&releasing{w: w, columns: t.columns})
}

// WriteArrowFile is WriteArrow for an empty file, in which holes are left where
// a column is zero.
func (t *Table) WriteArrowFile(f *os.File) error {
	return t.writeArrow(&releasing{w: f, columns: t.columns, file: f, zeros: zerosOf(t.columns)})
}

func (t *Table) writeArrow(w *releasing) error {
	fields := make([]arrow.Field, len(t.columns))
	arrays := make([]arrow.Array, len(t.columns))
	for i, c := range t.columns {
		arrays[i] = c.arrow()
		fields[i] = arrow.Field{Name: c.Name, Type: arrays[i].DataType(), Nullable: true, Metadata: c.metadata()}
	}
	meta := arrow.NewMetadata([]string{metaTable, metaVersion}, []string{t.Name, strconv.Itoa(arrowVersion)})
	schema := arrow.NewSchema(fields, &meta)
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(schema))
	if err != nil {
		return fmt.Errorf("write table %s: %w", t.Name, err)
	}
	if err := out.Write(array.NewRecordBatch(schema, arrays, int64(t.rows))); err != nil {
		return fmt.Errorf("write table %s: %w", t.Name, err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write table %s: %w", t.Name, err)
	}
	return nil
}

// releasing gives back the memory of spilled columns while they are written:
// a table larger than memory passes through it.
type releasing struct {
	w       io.Writer
	columns []*Column
	written int
	file    *os.File  // what w is if holes may be left in it
	zeros   []stretch // of memory that is zero, in their order
}

// stretch is a range of addresses.
type stretch struct{ start, end uintptr }

// zerosOf returns the memory of the columns that are zero. It is found once: a
// table of 40,000 columns is written in 80,000 pieces.
func zerosOf(columns []*Column) []stretch {
	var out []stretch
	for _, c := range columns {
		if c.Spill != nil && c.Spill.zero && len(c.Spill.data) > 0 {
			start := uintptr(unsafe.Pointer(&c.Spill.data[0]))
			out = append(out, stretch{start, start + uintptr(len(c.Spill.data))})
		}
	}
	slices.SortFunc(out, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	return out
}

func (r *releasing) Write(b []byte) (int, error) {
	const step = 8 << 20
	total := 0
	if r.hole(b) {
		return len(b), nil
	}
	for len(b) > 0 {
		n, err := r.w.Write(b[:min(len(b), step)])
		total += n
		if err != nil {
			return total, err
		}
		b = b[n:]
		if r.written += n; r.written >= step {
			r.written = 0
			for _, c := range r.columns {
				c.Release()
			}
		}
	}
	return total, nil
}

// hole leaves out what is zero in a file, where a hole reads as zeros: columns
// that say the same in every row, or nothing, take neither time nor room.
// Something always follows them, so that the file gets its length.
func (r *releasing) hole(b []byte) bool {
	if r.file == nil || len(b) == 0 {
		return false
	}
	at := uintptr(unsafe.Pointer(&b[0]))
	after := sort.Search(len(r.zeros), func(i int) bool { return r.zeros[i].start > at })
	if after == 0 || at >= r.zeros[after-1].end {
		return false
	}
	_, err := r.file.Seek(int64(len(b)), io.SeekCurrent)
	return err == nil
}

func (c *Column) metadata() arrow.Metadata {
	m := map[string]string{metaKind: c.Kind.String(), metaProvenance: c.Provenance.String()}
	if c.Unit != "" {
		m[metaUnit] = c.Unit
	}
	if c.Note != "" {
		m[metaNote] = c.Note
	}
	if c.Label != "" {
		m[metaLabel] = c.Label
	}
	if c.Base != 0 {
		m[metaBase] = strconv.FormatUint(c.Base, 10)
	}
	return arrow.MetadataFrom(m)
}

// arrow wraps the column's own memory in an Arrow array.
func (c *Column) arrow() arrow.Array {
	var valid *memory.Buffer
	nulls := 0
	if c.Valid != nil {
		valid = memory.NewBufferBytes(RawBytes(c.Valid))
		nulls = c.Len() - c.Valid.Count()
	}
	wrap := func(dtype arrow.DataType, values []byte) arrow.ArrayData {
		return array.NewData(dtype, c.Len(), []*memory.Buffer{valid, memory.NewBufferBytes(values)}, nil, nulls, 0)
	}
	switch d := c.Data.(type) {
	case []int32:
		return array.NewInt32Data(wrap(arrow.PrimitiveTypes.Int32, RawBytes(d)))
	case []int64:
		return array.NewInt64Data(wrap(arrow.PrimitiveTypes.Int64, RawBytes(d)))
	case []float64:
		return array.NewFloat64Data(wrap(arrow.PrimitiveTypes.Float64, RawBytes(d)))
	case []uint64:
		return array.NewUint64Data(wrap(arrow.PrimitiveTypes.Uint64, RawBytes(d)))
	case []uint8:
		return array.NewUint8Data(wrap(arrow.PrimitiveTypes.Uint8, d))
	}
	codes := c.Data.([]uint32)
	names := array.NewStringBuilder(memory.DefaultAllocator)
	names.AppendValues(c.Dict, nil)
	dtype := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}
	indices := array.NewUint32Data(wrap(arrow.PrimitiveTypes.Uint32, RawBytes(codes)))
	return array.NewDictionaryArray(dtype, indices, names.NewArray())
}

// OpenArrowFile maps a file that WriteArrow made. The columns point into the
// mapping until Close; the file itself may be closed before.
func OpenArrowFile(f *os.File) (*Table, error) {
	data, unmap, err := mapOpen(f)
	if err != nil {
		return nil, fmt.Errorf("open table: %w", err)
	}
	file := &Spill{data: data, unmap: unmap}
	t, err := fromArrow(data, file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w; the run is damaged, import it again", f.Name(), err)
	}
	t.file = file
	return t, nil
}

// fromArrow reads the table in data, which is what file maps unless that is nil.
// The Arrow library panics on some damaged files; that is an error here, not a
// crash.
func fromArrow(data []byte, file *Spill) (t *Table, err error) {
	defer func() {
		if r := recover(); r != nil {
			t, err = nil, fmt.Errorf("not a readable Arrow file: %v", r)
		}
	}()
	reader, err := ArrowReader(data)
	if err != nil {
		return nil, err
	}
	schema := reader.Schema()
	meta := schema.Metadata()
	if v, _ := meta.GetValue(metaVersion); v != strconv.Itoa(arrowVersion) {
		return nil, fmt.Errorf("table version %q, this program knows %d", v, arrowVersion)
	}
	batch, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("not a readable Arrow file: %w", err)
	}
	columns := make([]*Column, schema.NumFields())
	for i := range columns {
		if columns[i], err = fromArray(schema.Field(i), batch.Column(i)); err != nil {
			return nil, err
		}
		columns[i].Spill = file.part(columns[i].raw())
	}
	name, _ := meta.GetValue(metaTable)
	return New(name, columns)
}

// ArrowReader reads the record batches of an Arrow file in memory. Arrays may
// point into data. It may panic on damaged files: callers recover.
func ArrowReader(data []byte) (*ipc.Reader, error) {
	r, err := ipc.NewReaderFromMessageReader(&messages{data: data})
	if err != nil {
		return nil, fmt.Errorf("not a readable Arrow file: %w", err)
	}
	return r, nil
}

// DescribeFromArrow sets the description of a column from the metadata of a
// field, as far as it has any of ours. A Time keeps its kind only if its values
// are 64 bits wide, as ours are.
func DescribeFromArrow(c *Column, f arrow.Field) error {
	kind, ours := f.Metadata.GetValue(metaKind)
	if !ours {
		return nil
	}
	k, err := ParseKind(kind)
	if err != nil {
		return fmt.Errorf("column %q: %w", f.Name, err)
	}
	switch values := c.Data.(type) {
	case []int32:
		switch k {
		case Time:
			c.Data = widen(values)
			c.Kind = Time
		case Flag:
			c.Data, c.Kind = flags(values), Flag
		}
	case []int64:
		if k == Time {
			c.Kind = Time
		}
	}
	return c.describeArrow(f)
}

func widen(values []int32) []int64 {
	out := make([]int64, len(values))
	for i, v := range values {
		out[i] = int64(v)
	}
	return out
}

func flags(values []int32) []uint8 {
	out := make([]uint8, len(values))
	for i, v := range values {
		if v != 0 {
			out[i] = 1
		}
	}
	return out
}

// describeArrow sets unit, provenance, note and base from our metadata.
func (c *Column) describeArrow(f arrow.Field) error {
	provenance, _ := f.Metadata.GetValue(metaProvenance)
	m := Meta{Name: f.Name, Provenance: provenance}
	m.Unit, _ = f.Metadata.GetValue(metaUnit)
	m.Note, _ = f.Metadata.GetValue(metaNote)
	m.Label, _ = f.Metadata.GetValue(metaLabel)
	if base, ok := f.Metadata.GetValue(metaBase); ok {
		var err error
		if m.Base, err = strconv.ParseUint(base, 10, 64); err != nil {
			return fmt.Errorf("column %q: base: %w", f.Name, err)
		}
	}
	return c.Describe(m)
}

func fromArray(f arrow.Field, a arrow.Array) (*Column, error) {
	c := &Column{Name: f.Name}
	kind, _ := f.Metadata.GetValue(metaKind)
	var err error
	if c.Kind, err = ParseKind(kind); err != nil {
		return nil, fmt.Errorf("column %q: %w", f.Name, err)
	}
	if err := c.describeArrow(f); err != nil {
		return nil, err
	}
	switch a := a.(type) {
	case *array.Int32:
		c.Data = a.Int32Values()
	case *array.Int64:
		c.Data = a.Int64Values()
	case *array.Float64:
		c.Data = a.Float64Values()
	case *array.Uint64:
		c.Data = a.Uint64Values()
	case *array.Uint8:
		c.Data = a.Uint8Values()
	case *array.Dictionary:
		indices, ok := a.Indices().(*array.Uint32)
		names, ok2 := a.Dictionary().(*array.String)
		if !ok || !ok2 {
			return nil, fmt.Errorf("column %q: dictionary of type %v", f.Name, a.DataType())
		}
		c.Data = indices.Uint32Values()
		c.Dict = make([]string, names.Len())
		for i := range c.Dict {
			c.Dict[i] = strings.Clone(names.Value(i)) // names outlive the mapping
		}
	default:
		return nil, fmt.Errorf("column %q: Arrow type %v", f.Name, a.DataType())
	}
	if a.NullN() > 0 {
		c.Valid = bitsOf(a)
	}
	return c, nil
}

// bitsOf copies the validity of an array, because a mapped bitmap need not be
// aligned to words.
func bitsOf(a arrow.Array) Bits {
	b := NewBits(a.Len())
	copy(RawBytes(b), a.NullBitmapBytes())
	b.clip(a.Len())
	return b
}

// MapFile maps a file read-only; the second result unmaps it.
func MapFile(path string) ([]byte, func() error, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return mapOpen(f)
}

func mapOpen(f *os.File) ([]byte, func() error, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 {
		return nil, nil, fmt.Errorf("%s is empty", f.Name())
	}
	return mmap(f, info.Size())
}
