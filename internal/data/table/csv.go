package table

import (
	"bufio"
	"io"
	"iter"
	"strconv"
	"strings"
)

// WriteCSV writes the chosen rows (nil: all) with a header line. Addresses are
// written as 0x…, categories as their names, a missing value as nothing. Text
// with a comma, a quote or a line break is quoted.
func (t *Table) WriteCSV(w io.Writer, rows Bits) error {
	if err := t.WriteCSVHeader(w); err != nil {
		return err
	}
	return t.WriteCSVRows(w, rows)
}

// WriteCSVHeader writes the header line alone.
func (t *Table) WriteCSVHeader(w io.Writer) error {
	var out strings.Builder
	for i, c := range t.columns {
		if i > 0 {
			out.WriteByte(',')
		}
		name := quoteCSV(c.Name)
		if i == 0 && strings.HasPrefix(name, "#") {
			name = `"` + name + `"` // else the header would be a comment
		}
		out.WriteString(name)
	}
	out.WriteByte('\n')
	_, err := io.WriteString(w, out.String())
	return err
}

// WriteCSVRows is WriteCSV without the header line: a table may come in pieces.
func (t *Table) WriteCSVRows(w io.Writer, rows Bits) error {
	out := bufio.NewWriterSize(w, 1<<16)
	dicts := make([][]string, len(t.columns))
	for i, c := range t.columns {
		dicts[i] = make([]string, len(c.Dict))
		for j, name := range c.Dict {
			dicts[i][j] = quoteCSV(name)
		}
	}
	var line []byte
	write := func(row int) error {
		line = line[:0]
		for i, c := range t.columns {
			if i > 0 {
				line = append(line, ',')
			}
			if c.Has(row) {
				line = c.appendCSV(line, row, dicts[i])
			}
		}
		_, err := out.Write(append(line, '\n'))
		return err
	}
	for row := range t.chosen(rows) {
		if err := write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

// releaseRows is after how many rows a writer gives back the memory that reading
// them took.
const releaseRows = 1 << 18

// chosen yields the rows of a set, nil for all, and gives back the memory of
// those that were written: a table of many rows is written in little.
func (t *Table) chosen(rows Bits) iter.Seq[int] {
	return func(yield func(int) bool) {
		seen := 0
		each := func(row int) bool {
			if seen++; seen%releaseRows == 0 {
				t.Release()
			}
			return yield(row)
		}
		if rows != nil {
			rows.All()(each)
			return
		}
		for row := range t.rows {
			if !each(row) {
				return
			}
		}
	}
}

func (c *Column) appendCSV(b []byte, i int, dict []string) []byte {
	switch d := c.Data.(type) {
	case []int32:
		return strconv.AppendInt(b, int64(d[i]), 10)
	case []int64:
		return strconv.AppendInt(b, d[i], 10)
	case []float64:
		return strconv.AppendFloat(b, d[i], 'g', -1, 64)
	case []uint32:
		return append(b, dict[d[i]]...)
	case []uint64:
		return strconv.AppendUint(append(b, "0x"...), d[i], 16)
	case []uint8:
		return strconv.AppendUint(b, uint64(d[i]), 10)
	}
	return b
}

func quoteCSV(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
