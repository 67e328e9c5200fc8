// Package csvtable reads any comma-, tab- or semicolon-separated table with a
// header line, as far as its columns have canonical names or are mapped.
package csvtable

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/delimited"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/tabular"
)

// Format is a table in text form. It accepts much, so it is tried last.
var Format = foreign.Format{Name: "csv", Kind: kind.Samples, Sniff: sniff, Samples: read, Columns: columns}

func sniff(in *foreign.Input) bool {
	if in.Dir() || !isText(in.Head) {
		return false
	}
	if inComment(in.Head) != nil {
		return true // ours; the header may be behind a long description
	}
	if perfReport(in.Head) != nil {
		return true
	}
	_, names, _ := header(in.Head)
	return len(names) >= 2 && foreign.OfAnotherTool(in.Head) == ""
}

func isText(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	// A character may be cut at the end of the head.
	for cut := 0; cut < 4 && cut < len(head); cut++ {
		if utf8.Valid(head[:len(head)-cut]) {
			return true
		}
	}
	return len(head) == 0
}

// header returns the separator, the names, and the length of the text up to the
// first row. Lines that start with # before it are comments; the last of them
// is the header where the first line that is none has as many cells and no names.
func header(data []byte) (comma byte, names []string, length int) {
	var comment []byte
	for length < len(data) {
		line, _, _ := bytes.Cut(data[length:], []byte("\n"))
		start := length
		length = min(length+len(line)+1, len(data))
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			continue
		}
		if line[0] == '#' {
			comment = line
			continue
		}
		comma = separator(line)
		if names = delimited.Header(line, comma); areNames(names) {
			return comma, names, length
		}
		inComment := delimited.Header(bytes.TrimLeft(comment, "# "), comma)
		if len(inComment) == len(names) && areNames(inComment) {
			return comma, inComment, start
		}
		return 0, nil, 0
	}
	return 0, nil, 0
}

func separator(line []byte) byte {
	comma := byte(',')
	for _, c := range []byte{'\t', ';'} {
		if bytes.Count(line, []byte{c}) > bytes.Count(line, []byte{comma}) {
			comma = c
		}
	}
	return comma
}

// areNames reports whether cells can be a header: names are words, and a number
// up there means there is none.
func areNames(cells []string) bool {
	return !slices.ContainsFunc(cells, func(n string) bool {
		return n == "" || n[0] >= '0' && n[0] <= '9' || n[0] == '-' || n[0] == '{' || n[0] == '<'
	})
}

// shownRows is how many rows are looked at before a table is read.
const shownRows = 100

// columns shows the columns of a table.
func columns(in *foreign.Input) ([]foreign.Candidate, error) {
	head := in.Head
	if inComment(head) != nil && !in.Packed {
		data, unmap, err := table.MapFile(in.Path)
		if err != nil {
			return nil, fmt.Errorf("read table: %w", err)
		}
		defer unmap()
		head = data[:min(len(data), maxDescription+foreign.HeadSize)]
	}
	if table := perfReport(head); table != nil {
		head = table
	}
	comma, names, length := header(head)
	if len(names) < 2 {
		return nil, fmt.Errorf("%s: no header line with at least two column names", in.Path)
	}
	out := make([]foreign.Candidate, len(names))
	as := tabular.ReadNames(names, func(int) bool { return false }).As
	for i, name := range names {
		out[i] = foreign.Candidate{Name: name, Values: []string{}, ReadAs: as[i]}
	}
	for _, row := range delimited.FirstLines(head[length:], comma, shownRows) {
		if len(row) != len(out) {
			continue // broken, or cut off by the end of the head
		}
		for i, cell := range row {
			out[i].Show(string(cell))
		}
	}
	return out, nil
}

func read(ctx context.Context, in *foreign.Input, opt *foreign.Options) (*foreign.Imported, error) {
	data, unmap, err := table.MapFile(in.Path)
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	defer unmap()
	if report := perfReport(data); report != nil {
		data = report
	}
	said, warning := description(in, data)
	out, err := parse(ctx, data, said, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	if warning != "" {
		out.Warnings = append(out.Warnings, warning)
	}
	out.SourceRoots = []string{filepath.Dir(in.Path)}
	return out, nil
}

func parse(ctx context.Context, data []byte, said map[string]table.Described, opt *foreign.Options) (*foreign.Imported, error) {
	comma, names, length := header(data)
	if len(names) < 2 {
		return nil, fmt.Errorf("no header line with at least two column names")
	}
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return nil, fmt.Errorf("two columns named %q", n)
		}
		seen[n] = true
	}
	options := delimited.Options{Comma: comma, Names: names, Types: types(names, said), Skip: length, FirstLine: 1 + bytes.Count(data[:length], []byte("\n")), Omitted: -1,
		Progress: opt.Steps(int64(len(data)))}
	// Semicolons are what tables have whose numbers have commas.
	options.DecimalComma = comma == ';' && delimited.HasDecimalComma(delimited.FirstLines(data[length:], comma, shownRows))
	text, err := delimited.Read(ctx, data, options)
	if err != nil {
		return nil, err
	}
	warnings, err := text.Judge(opt.Salvage)
	if err != nil {
		return nil, err
	}
	if options.DecimalComma {
		warnings = append(warnings, "numbers such as 1,5 are read with a decimal comma")
	}
	columns := make([]*table.Column, len(text.Columns))
	for i := range text.Columns {
		columns[i] = column(&text.Columns[i], text.Rows)
	}
	warnings = append(warnings, tabular.Describe(columns, said)...)
	out, err := tabular.Samples(columns, opt)
	if err != nil {
		return nil, err
	}
	out.Warnings = append(warnings, out.Warnings...)
	return out, nil
}

func column(c *delimited.Column, rows int) *table.Column {
	valid := table.Bits(c.Valid)
	switch c.Type {
	case delimited.Text:
		return table.Categories(c.Name, table.Unknown, c.Codes, c.Names, valid)
	case delimited.Float:
		return table.Floats(c.Name, "", table.Unknown, c.Floats, valid)
	case delimited.Hex:
		return table.Addresses(c.Name, table.Unknown, c.Words, valid)
	case delimited.Empty:
		return table.Categories(c.Name, table.Absent, make([]uint32, rows), nil, table.NewBits(rows))
	}
	values := make([]int64, rows)
	for i, w := range c.Words {
		if w > 1<<63-1 && !c.Negative {
			return table.Addresses(c.Name, table.Unknown, c.Words, valid)
		}
		values[i] = int64(w)
	}
	return table.Ints(c.Name, "", table.Unknown, values, valid)
}
