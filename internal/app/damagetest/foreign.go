package damagetest

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/ulikunitz/xz"
)

// Tables as other programs write them: packed buffers and pages, columns of types
// that we do not write, some of which are left out.

// others are such files, each with what damages it.
func others() ([]*specimen, error) {
	var all []*specimen
	for _, f := range []struct {
		name   string
		option ipc.Option
	}{{"zstd.arrow", ipc.WithZstd()}, {"lz4.arrow", ipc.WithLZ4()}} {
		text, err := foreignArrow(f.option)
		if err != nil {
			return nil, err
		}
		all = append(all, oneFile(f.name, "arrow", text, damageArrow))
	}
	for _, f := range []struct {
		name    string
		options []parquet.WriterOption
	}{
		{"snappy.parquet", []parquet.WriterOption{parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1), parquet.PageBufferSize(256)}},
		{"gzip.parquet", []parquet.WriterOption{parquet.Compression(&parquet.Gzip), parquet.DataPageVersion(2), parquet.PageBufferSize(512)}},
		{"lz4.parquet", []parquet.WriterOption{parquet.Compression(&parquet.Lz4Raw), parquet.DataPageStatistics(true)}},
	} {
		text, err := foreignParquet(f.options...)
		if err != nil {
			return nil, err
		}
		all = append(all, oneFile(f.name, "parquet", text, damageParquet))
	}
	packed, err := packedTexts()
	if err != nil {
		return nil, err
	}
	text, err := foreignParquet(parquet.Compression(&parquet.Zstd))
	if err != nil {
		return nil, err
	}
	return append(append(all, packed...), oneFile("zstd.parquet", "parquet", text, damageParquet)), nil
}

// foreignArrow is a file of two batches with most types there are.
func foreignArrow(option ipc.Option) ([]byte, error) {
	words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "cpu", Type: arrow.PrimitiveTypes.Uint8}, {Name: "latency", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "addr", Type: arrow.PrimitiveTypes.Uint64}, {Name: "level", Type: words, Nullable: true}, {Name: "function", Type: arrow.BinaryTypes.LargeString},
		{Name: "file", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "time", Type: arrow.FixedWidthTypes.Timestamp_us}, {Name: "hit", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "nothing", Type: arrow.Null, Nullable: true}, {Name: "stack", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)}, {Name: "raw", Type: arrow.BinaryTypes.Binary},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(schema), option)
	if err != nil {
		return nil, err
	}
	for batch := range 2 {
		for i := range 60 {
			b.Field(0).(*array.Uint8Builder).Append(uint8(i % 4))
			b.Field(1).(*array.Float32Builder).AppendValues([]float32{float32(i) / 3}, []bool{i%5 != 0})
			b.Field(2).(*array.Uint64Builder).Append(0xffffffff81000000 + uint64(64*i))
			if err := b.Field(3).(*array.BinaryDictionaryBuilder).AppendString([]string{"L1", "L2", "Local RAM"}[i%3]); err != nil {
				return nil, err
			}
			b.Field(4).(*array.LargeStringBuilder).Append(fmt.Sprint("f", i%7))
			b.Field(5).(*array.StringBuilder).AppendValues([]string{"heat.c"}, []bool{i%6 != 0})
			b.Field(6).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000_000 + 60*batch + i))
			b.Field(7).(*array.BooleanBuilder).Append(i%2 == 0)
			b.Field(8).AppendNull()
			list := b.Field(9).(*array.ListBuilder)
			list.Append(true)
			list.ValueBuilder().(*array.Int32Builder).AppendValues([]int32{int32(i), 7}, nil)
			b.Field(10).(*array.BinaryBuilder).Append([]byte{byte(i), 0, 0xff})
		}
		if err := w.Write(b.NewRecordBatch()); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// foreignParquet is a file of several row groups and pages.
func foreignParquet(options ...parquet.WriterOption) ([]byte, error) {
	type sample struct {
		CPU      int32    `parquet:"cpu,delta"`
		Latency  *float64 `parquet:"latency,optional"`
		Addr     uint64   `parquet:"addr"`
		Level    string   `parquet:"level,dict"`
		Function string   `parquet:"function,delta"`
		Hit      bool     `parquet:"hit"`
		Time     int64    `parquet:"time,timestamp(microsecond)"`
		Weight   float32  `parquet:"weight,split"`
		Stack    []int32  `parquet:"stack,list"`
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[sample](&out, append(options, parquet.MaxRowsPerRowGroup(50))...)
	for i := range 120 {
		s := sample{CPU: int32(i % 4), Addr: 0xffffffff81000000 + uint64(64*i), Level: []string{"L1", "L2", "Local RAM"}[i%3], Function: fmt.Sprint("f", i%7),
			Hit: i%2 == 0, Time: 1_700_000_000_000_000 + int64(i), Weight: float32(i) / 7, Stack: []int32{int32(i), 7}}
		if latency := float64(i) / 3; i%5 != 0 {
			s.Latency = &latency
		}
		if _, err := w.Write([]sample{s}); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// packedTexts are texts that are unpacked on the way; the packing is damaged, not
// the text.
func packedTexts() ([]*specimen, error) {
	var text bytes.Buffer
	text.WriteString("time,cpu,addr,latency,function\n")
	for i := range 400 {
		fmt.Fprintf(&text, "%d,%d,0x%x,%d,f%d\n", i, i%8, i*64, i%300, i%50)
	}
	var zipped, standard bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(text.Bytes()); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	s, err := zstd.NewWriter(&standard)
	if err != nil {
		return nil, err
	}
	if _, err := s.Write(text.Bytes()); err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	var xzed bytes.Buffer
	x, err := xz.NewWriter(&xzed)
	if err != nil {
		return nil, err
	}
	if _, err := x.Write(text.Bytes()); err != nil {
		return nil, err
	}
	if err := x.Close(); err != nil {
		return nil, err
	}
	return []*specimen{
		oneFile("samples.csv.gz", "csv", zipped.Bytes(), damageBytes),
		oneFile("samples.csv.zst", "csv", standard.Bytes(), damageBytes),
		oneFile("samples.csv.xz", "csv", xzed.Bytes(), damageXZ),
	}, nil
}
