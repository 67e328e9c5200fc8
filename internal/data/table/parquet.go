package table

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// ParquetMeta is the key under which a Parquet file of ours keeps what Parquet
// has no place for: a JSON list of Meta, in column order.
const ParquetMeta = "isobath.columns"

// Meta describes a column without its values.
type Meta struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Unit       string `json:"unit,omitempty"`
	Provenance string `json:"provenance"`
	Label      string `json:"label,omitempty"`
	Note       string `json:"note,omitempty"`
	Base       uint64 `json:"base,omitempty"`
}

// Meta returns the description of the column.
func (c *Column) Meta() Meta {
	return Meta{c.Name, c.Kind.String(), c.Unit, c.Provenance.String(), c.Label, c.Note, c.Base}
}

// Describe sets the description of a column from m, except its kind, which
// follows the values.
func (c *Column) Describe(m Meta) error {
	p, err := ParseProvenance(m.Provenance)
	if err != nil {
		return fmt.Errorf("column %q: %w", m.Name, err)
	}
	c.Name, c.Unit, c.Provenance, c.Label, c.Note, c.Base = m.Name, m.Unit, p, m.Label, m.Note, m.Base
	return nil
}

// rows per Parquet row group: large enough to compress well, small enough that
// readers can skip.
const parquetGroup = 1 << 20

// WriteParquet writes the chosen rows (nil: all) as zstd-compressed Parquet.
// Categories become dictionary-encoded strings, flags booleans.
func (t *Table) WriteParquet(w io.Writer, rows Bits) error {
	group := parquet.Group{}
	var metas []Meta
	for _, c := range t.columns {
		group[c.Name] = parquet.Optional(parquet.Compressed(parquetNode(c), &zstd.Codec{Level: zstd.SpeedDefault}))
		metas = append(metas, c.Meta())
	}
	described, err := json.Marshal(metas)
	if err != nil {
		return err
	}
	schema := parquet.NewSchema(t.Name, group)
	out := parquet.NewGenericWriter[any](w, schema, parquet.KeyValueMetadata(ParquetMeta, string(described)),
		parquet.CreatedBy("isobath", buildVersion(), ""))
	var index []int // of the group
	for row := range t.chosen(rows) {
		if index = append(index, row); len(index) == parquetGroup {
			if err := t.writeGroup(out, schema, index); err != nil {
				return fmt.Errorf("write parquet: %w", err)
			}
			index = index[:0]
		}
	}
	if len(index) > 0 {
		err = t.writeGroup(out, schema, index)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	return nil
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

func parquetNode(c *Column) parquet.Node {
	switch c.Data.(type) {
	case []int32:
		return parquet.Int(32)
	case []int64:
		return parquet.Int(64)
	case []float64:
		return parquet.Leaf(parquet.DoubleType)
	case []uint64:
		return parquet.Uint(64)
	case []uint8:
		return parquet.Leaf(parquet.BooleanType)
	}
	return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
}

func (t *Table) writeGroup(out *parquet.GenericWriter[any], schema *parquet.Schema, index []int) error {
	writers := out.ColumnWriters()
	batch := make([]parquet.Value, 0, 8192)
	for at, path := range schema.Columns() {
		c := t.Column(path[0])
		names := make([]parquet.Value, len(c.Dict))
		for i, n := range c.Dict {
			names[i] = parquet.ByteArrayValue([]byte(n))
		}
		for start := 0; start < len(index); start += cap(batch) {
			batch = batch[:0]
			for _, row := range index[start:min(start+cap(batch), len(index))] {
				batch = append(batch, c.parquetValue(row, names).Level(0, defined(c.Has(row)), at))
			}
			if _, err := writers[at].WriteRowValues(batch); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func defined(has bool) int {
	if has {
		return 1
	}
	return 0
}

func (c *Column) parquetValue(i int, names []parquet.Value) parquet.Value {
	if !c.Has(i) {
		return parquet.NullValue()
	}
	switch d := c.Data.(type) {
	case []int32:
		return parquet.Int32Value(d[i])
	case []int64:
		return parquet.Int64Value(d[i])
	case []float64:
		return parquet.DoubleValue(d[i])
	case []uint64:
		return parquet.Int64Value(int64(d[i]))
	case []uint8:
		return parquet.BooleanValue(d[i] != 0)
	}
	return names[c.Data.([]uint32)[i]]
}
