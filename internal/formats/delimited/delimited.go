// Package delimited reads comma- or tab-separated text into columns, in
// parallel and without a copy of the text.
//
// What a column holds is decided for the whole column, never cell by cell: a
// hexadecimal cell such as 404040 has no letter and would be read as decimal.
// The type is guessed from the first rows; a column that turns out otherwise is
// read again.
package delimited

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
)

// Type is what all cells of a column have in common.
type Type uint8

// The types. Auto is decided by the cells; Number likewise, but a cell that is
// no number is then a missing value and does not make the column text. A column
// asked for as Int, Hex, Float or Text stays that.
const (
	Auto Type = iota
	Number
	Int   // whole decimal numbers, in Column.Words as two's complement
	Hex   // hexadecimal numbers with or without 0x, in Column.Words
	Float // in Column.Floats
	Text  // in Column.Codes and Column.Names
	Empty // no cell has a value
)

// Options say how to read.
type Options struct {
	Comma byte
	Names []string // of the columns
	Types []Type   // nil: all Auto
	// Skip is the length of the header: where the first row starts.
	Skip int
	// FirstLine is the number of the first row's line, for messages.
	FirstLine int
	// DecimalComma says that numbers have a comma where others have a point.
	DecimalComma bool
	// Omitted is a column that no row has although the header does, or -1.
	Omitted int
	// JoinLines repairs a writer that breaks a row in two.
	JoinLines bool
	// Absorb lists columns that may contain stray separators: a row with too
	// many fields is repaired by joining fields of one of them.
	Absorb []int
	// Progress, if set, is told bytes and rows done so far.
	Progress func(bytes, rows int64)

	// multiline says that cells hold line ends, so that a line end may be
	// anywhere in a row.
	multiline bool
}

// Column is one column as read.
type Column struct {
	Name   string
	Type   Type
	Words  []uint64 // Int, Hex
	Floats []float64
	Codes  []uint32 // Text
	Names  []string
	// Valid has a set bit for each row with a value; nil if all have one.
	Valid []uint64
	// Nulls counts rows without a value, Bad those among them whose cell could
	// not be read.
	Nulls, Bad int
	// Negative says that an Int column has values below zero; otherwise its
	// words are unsigned.
	Negative bool
}

// Result is the columns and what happened on the way.
type Result struct {
	Columns  []Column
	Rows     int
	Repaired int
	Skipped  int
	Problems []Problem // the first ten rows that were skipped
}

// Problem is a row that could not be read.
type Problem struct {
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// maxSkipped is the share of damaged rows that is accepted without being asked.
const maxSkipped = 0.01

// Judge decides whether so many damaged rows are acceptable, and says what was
// left out or repaired. With salvage any number is.
func (r *Result) Judge(salvage bool) (warnings []string, err error) {
	if r.Rows == 0 && r.Skipped == 0 {
		return nil, errors.New("a header and no rows")
	}
	if r.Repaired > 0 {
		warnings = append(warnings, term.Counted(r.Repaired, "row")+" with stray separators or line breaks repaired")
	}
	if r.Skipped == 0 {
		return warnings, nil
	}
	sentence := fmt.Sprintf("%s of %d malformed and left out", term.Counted(r.Skipped, "row"), r.Rows+r.Skipped)
	for _, p := range r.Problems {
		sentence += "; " + p.String()
	}
	if r.Rows == 0 {
		return nil, errors.New(sentence)
	}
	if float64(r.Skipped) > maxSkipped*float64(r.Rows+r.Skipped) && !salvage {
		return nil, fmt.Errorf("%s; give --salvage to import the others", sentence)
	}
	return append(warnings, sentence), nil
}

const (
	maxProblems = 10
	guessRows   = 500
	maxRow      = 1 << 20 // a longer line is not a row of a sample file
)

// Read reads every row of data.
func Read(ctx context.Context, data []byte, opt Options) (*Result, error) {
	body := data[min(opt.Skip, len(data)):]
	opt.multiline = multiline(body, &opt)
	types := guess(body, &opt)
	again := make([]bool, len(types))
	for i := range again {
		again[i] = true
	}
	var out *Result
	// Each round settles at least the columns of the round before; a column is
	// read at most three times (Int, Float or Hex, Text).
	for round := 0; slices.Contains(again, true); round++ {
		chunks, err := parseChunks(ctx, body, &opt, types, again)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = &Result{Columns: make([]Column, len(types))}
			out.collect(chunks, opt.FirstLine)
		}
		for c := range types {
			if !again[c] {
				continue
			}
			saw := seen(0)
			for _, ch := range chunks {
				saw |= ch.columns[c].saw
			}
			settled := opt.settle(c, types[c], saw, round)
			again[c] = settled != types[c] && settled != Empty
			types[c] = settled
			if !again[c] {
				out.Columns[c] = merge(opt.Names[c], settled, saw, chunks, c)
			}
		}
	}
	return out, nil
}

// settle returns the type a column should have had, given what its cells were
// like.
func (o *Options) settle(c int, have Type, saw seen, round int) Type {
	asked := o.asked(c)
	if asked != Auto && asked != Number {
		return have
	}
	if asked == Number {
		saw &^= sawText | sawWord
	}
	switch {
	case saw == 0:
		return Empty
	case have == Text || round == 2:
		return have
	}
	return saw.typ()
}

func (o *Options) asked(c int) Type {
	if o.Types == nil {
		return Auto
	}
	return o.Types[c]
}

// parseChunks divides the text at line ends and parses the parts in parallel.
func parseChunks(ctx context.Context, body []byte, opt *Options, types []Type, want []bool) ([]*chunk, error) {
	workers := runtime.GOMAXPROCS(0)
	if opt.JoinLines || opt.multiline || len(body) < 1<<20 {
		workers = 1
	}
	var chunks []*chunk
	for start, i := 0, 0; i < workers && start < len(body); i++ {
		end := len(body)
		if i < workers-1 {
			end = start + (len(body)-start)/(workers-i)
			if nl := bytes.IndexByte(body[end:], '\n'); nl >= 0 {
				end += nl + 1
			} else {
				end = len(body)
			}
		}
		chunks = append(chunks, newChunk(body[start:end], opt, types, want))
		start = end
	}
	if len(chunks) == 0 {
		chunks = append(chunks, newChunk(nil, opt, types, want))
	}
	return chunks, parallel.Each(ctx, len(chunks), func(ctx context.Context, _, i int) error { return chunks[i].parse(ctx) })
}

func (r *Result) collect(chunks []*chunk, firstLine int) {
	line := firstLine
	for _, ch := range chunks {
		r.Rows += ch.rows
		r.Repaired += ch.repaired
		r.Skipped += ch.skipped
		for _, p := range ch.problems {
			if len(r.Problems) < maxProblems {
				r.Problems = append(r.Problems, Problem{line + p.Line, p.Text})
			}
		}
		line += ch.lines
	}
}

// guess looks at the first rows to choose the type of each Auto column.
func guess(body []byte, opt *Options) []Type {
	types := make([]Type, len(opt.Names))
	saw := make([]seen, len(types))
	fields := make([][]byte, 0, len(types)+1)
	scanner := opt.scanner()
	for range guessRows {
		if len(body) == 0 {
			break
		}
		line, size, _ := scanner.rowEnd(body)
		body = body[size:]
		fields = split(fields[:0], line, opt.Comma)
		fields = opt.restore(fields)
		if len(fields) != len(types) {
			continue
		}
		opt.points(fields)
		for c, cell := range fields {
			saw[c] |= classify(cell)
		}
	}
	for c := range types {
		types[c] = opt.asked(c)
		if types[c] == Number {
			saw[c] &^= sawText | sawWord
		}
		if types[c] == Auto || types[c] == Number {
			types[c] = saw[c].typ()
		}
	}
	return types
}

// points gives cells that are numbers with a decimal comma a point in its place.
func (o *Options) points(cells [][]byte) {
	if !o.DecimalComma {
		return
	}
	for i, cell := range cells {
		if whole, part, ok := decimalComma(cell); ok {
			cells[i] = slices.Concat(whole, []byte{'.'}, part) // what was read is not ours to change
		}
	}
}

// decimalComma divides a number at its only comma.
func decimalComma(cell []byte) (whole, part []byte, ok bool) {
	whole, part, ok = bytes.Cut(cell, []byte{','})
	digits := bytes.TrimLeft(whole, "+-")
	return whole, part, ok && len(digits) > 0 && len(part) > 0 && onlyDigits(digits) && onlyDigits(part)
}

func onlyDigits(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// HasDecimalComma reports whether rows that are not separated by commas have
// numbers with a decimal comma: one that cannot be a thousand's, and none with a
// point.
func HasDecimalComma(rows [][][]byte) bool {
	found := false
	for _, row := range rows {
		for _, cell := range row {
			if whole, part, ok := bytes.Cut(cell, []byte{'.'}); ok && onlyDigits(whole) && onlyDigits(part) {
				return false
			}
			whole, part, ok := decimalComma(cell)
			found = found || ok && (len(part) != 3 || len(whole) > 3 || whole[0] == '0')
		}
	}
	return found
}

// restore puts an empty cell in the place of the omitted column.
func (o *Options) restore(fields [][]byte) [][]byte {
	if o.Omitted < 0 || len(fields) != len(o.Names)-1 {
		return fields
	}
	return slices.Insert(fields, o.Omitted, nil)
}

func cutLine(b []byte) (line, rest []byte) {
	line, size := lineEnd(b)
	return line, b[size:]
}

// split appends the cells of a line. A cell that starts with a double quote
// runs to the closing one, with "" for a quote inside.
func split(cells [][]byte, line []byte, comma byte) [][]byte {
	for {
		if len(line) > 0 && line[0] == '"' {
			cell, rest, more := quoted(line, comma)
			cells = append(cells, cell)
			if !more {
				return cells
			}
			line = rest
			continue
		}
		i := bytes.IndexByte(line, comma)
		if i < 0 {
			return append(cells, trim(line))
		}
		cells = append(cells, trim(line[:i]))
		line = line[i+1:]
	}
}

func quoted(line []byte, comma byte) (cell, rest []byte, more bool) {
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			cell = append(cell, line[i])
			continue
		}
		switch {
		case i+1 == len(line):
			return cell, nil, false
		case line[i+1] == '"':
			cell = append(cell, '"')
			i++
		case line[i+1] == comma:
			return cell, line[i+2:], true
		default:
			cell = append(cell, '"')
		}
	}
	return cell, nil, false
}

func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// Header splits a header line into names.
func Header(line []byte, comma byte) []string {
	var names []string
	for _, cell := range split(nil, bytes.TrimPrefix(line, []byte("\ufeff")), comma) {
		names = append(names, strings.TrimSpace(string(cell)))
	}
	return names
}

// FirstLines returns up to n lines of data, each split into cells.
func FirstLines(data []byte, comma byte, n int) [][][]byte {
	var lines [][][]byte
	scanner := &lineScanner{comma: comma, patience: quotePatience}
	for len(data) > 0 && len(lines) < n {
		line, size, _ := scanner.rowEnd(data)
		data = data[size:]
		if len(line) > maxRow {
			break
		}
		if len(trim(line)) > 0 {
			lines = append(lines, split(nil, line, comma))
		}
	}
	return lines
}
