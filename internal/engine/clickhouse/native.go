package clickhouse

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// block is rows in columns, as the Native format has them.
type block struct {
	rows    int
	columns []column
}

// column is one array of a block: []uint8, []uint16, []uint32, []uint64, []int32,
// []int64, []float64 or []string; or raw, in what is sent.
type column struct {
	name string
	data any
}

// raw is the memory of values, which is copied once, to where it is sent from.
type raw struct {
	kind  string
	parts [][]byte
}

const (
	maxColumns   = 10_000
	maxName      = 1 << 16
	maxPiece     = 64 << 20 // of one text
	decodeAtOnce = 1 << 16  // values: what a server claims is not allocated before it came
)

// readBlocks reads all blocks of an answer as one.
func readBlocks(r io.Reader) (*block, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	var all *block
	for {
		b, err := readBlock(in)
		if errors.Is(err, io.EOF) {
			if all == nil {
				all = &block{}
			}
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if all == nil || len(all.columns) == 0 {
			all = b
			continue
		}
		if err := all.append(b); err != nil {
			return nil, err
		}
	}
}

func (b *block) append(o *block) error {
	if len(o.columns) == 0 {
		return nil
	}
	if len(o.columns) != len(b.columns) {
		return fmt.Errorf("an answer of %d columns goes on with %d", len(b.columns), len(o.columns))
	}
	for i := range b.columns {
		joined, ok := join(b.columns[i].data, o.columns[i].data)
		if !ok {
			return fmt.Errorf("column %s changes its type within an answer", b.columns[i].name)
		}
		b.columns[i].data = joined
	}
	b.rows += o.rows
	return nil
}

func join(a, b any) (any, bool) {
	switch a := a.(type) {
	case []uint8:
		return joinAs(a, b)
	case []uint16:
		return joinAs(a, b)
	case []uint32:
		return joinAs(a, b)
	case []uint64:
		return joinAs(a, b)
	case []int32:
		return joinAs(a, b)
	case []int64:
		return joinAs(a, b)
	case []float64:
		return joinAs(a, b)
	case []string:
		return joinAs(a, b)
	}
	return nil, false
}

func joinAs[T any](a []T, b any) (any, bool) {
	more, ok := b.([]T)
	return append(a, more...), ok
}

// readBlock reads one block; io.EOF if there is none.
func readBlock(in *bufio.Reader) (*block, error) {
	columns, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	rows, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, unexpected(err)
	}
	if columns > maxColumns || rows > 1<<40 {
		return nil, fmt.Errorf("a block of %d columns and %d rows is not one of ours", columns, rows)
	}
	b := &block{rows: int(rows)}
	for range columns {
		name, err := readText(in, maxName)
		if err != nil {
			return nil, err
		}
		kind, err := readText(in, maxName)
		if err != nil {
			return nil, err
		}
		data, err := readColumn(in, kind, int(rows))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
		b.columns = append(b.columns, column{name, data})
	}
	return b, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func readText(in *bufio.Reader, most uint64) (string, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return "", unexpected(err)
	}
	if n > most {
		return "", fmt.Errorf("a text of %d bytes", n)
	}
	// What comes is read piece by piece, so that a length costs nothing.
	var text []byte
	for n > 0 {
		part := min(n, decodeAtOnce)
		at := len(text)
		text = append(text, make([]byte, part)...)
		if _, err := io.ReadFull(in, text[at:]); err != nil {
			return "", unexpected(err)
		}
		n -= part
	}
	return string(text), nil
}

func readColumn(in *bufio.Reader, kind string, rows int) (any, error) {
	switch kind {
	case "UInt8":
		return readFixed[uint8](in, rows)
	case "UInt16":
		return readFixed[uint16](in, rows)
	case "UInt32":
		return readFixed[uint32](in, rows)
	case "UInt64":
		return readFixed[uint64](in, rows)
	case "Int32":
		return readFixed[int32](in, rows)
	case "Int64":
		return readFixed[int64](in, rows)
	case "Float64":
		return readFixed[float64](in, rows)
	case "String":
		var texts []string
		for range rows {
			text, err := readText(in, maxPiece)
			if err != nil {
				return nil, err
			}
			texts = append(texts, text)
		}
		return texts, nil
	}
	return nil, fmt.Errorf("the type %s was not asked for", kind)
}

func readFixed[T uint8 | uint16 | uint32 | uint64 | int32 | int64 | float64](in *bufio.Reader, rows int) ([]T, error) {
	var out []T
	for rows > 0 {
		part := make([]T, min(rows, decodeAtOnce))
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return nil, unexpected(err)
		}
		if out == nil {
			out = part
		} else {
			out = append(out, part...)
		}
		rows -= len(part)
	}
	return out, nil
}

// bytes writes the block in the Native format.
func (b *block) bytes() ([]byte, error) {
	out := binary.AppendUvarint(make([]byte, 0, b.size()), uint64(len(b.columns)))
	out = binary.AppendUvarint(out, uint64(b.rows))
	for _, c := range b.columns {
		out = appendText(out, c.name)
		out = appendText(out, typeOf(c.data))
		switch data := c.data.(type) {
		case []string:
			for _, t := range data {
				out = appendText(out, t)
			}
		case raw:
			for _, part := range data.parts {
				out = append(out, part...)
			}
		default:
			var err error
			if out, err = binary.Append(out, binary.LittleEndian, data); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// size is about the bytes of the block, and no fewer.
func (b *block) size() int {
	n := 2 * binary.MaxVarintLen64
	text := func(s string) { n += len(s) + binary.MaxVarintLen64 }
	for _, c := range b.columns {
		text(c.name)
		text(typeOf(c.data))
		switch data := c.data.(type) {
		case []string:
			for _, t := range data {
				text(t)
			}
		case raw:
			for _, part := range data.parts {
				n += len(part)
			}
		default:
			n += binary.Size(data)
		}
	}
	return n
}

func appendText(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// typeOf is what the server calls the type of an array.
func typeOf(data any) string {
	switch d := data.(type) {
	case raw:
		return d.kind
	case []uint8:
		return "UInt8"
	case []uint16:
		return "UInt16"
	case []uint32:
		return "UInt32"
	case []uint64:
		return "UInt64"
	case []int32:
		return "Int32"
	case []int64:
		return "Int64"
	case []float64:
		return "Float64"
	}
	return "String"
}

// numbersOf returns a column of whole numbers as wide ones; nil if it holds none.
func (c column) numbersOf() []uint64 {
	switch d := c.data.(type) {
	case []uint8:
		return widen(d)
	case []uint16:
		return widen(d)
	case []uint32:
		return widen(d)
	case []uint64:
		return d
	case []int32:
		return widen(d)
	case []int64:
		return widen(d)
	}
	return nil
}

func widen[T uint8 | uint16 | uint32 | int32 | int64](d []T) []uint64 {
	out := make([]uint64, len(d))
	for i, v := range d {
		out[i] = uint64(v)
	}
	return out
}
