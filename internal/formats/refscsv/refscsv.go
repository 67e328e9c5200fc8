// Package refscsv reads and writes reference traces as CSV: a header that
// names its columns, then one reference a line.
package refscsv

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and opens CSV traces.
var Format = foreign.Format{
	Name:  "refscsv",
	Kind:  kind.Refs,
	Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head) },
	Refs:  foreign.StreamedRefs(func(r io.Reader) refs.Source { return NewReader(r) }),
}

// Columns are the names a header may use, in the order Write uses. Only op and
// addr are required; other columns are allowed and ignored.
var Columns = []string{"seq", "thread", "op", "addr", "size", "pc", "func", "file", "line", "object", "offset"}

// otherNames are what tables of samples call the same columns. Beside one that
// samples do not have they stand for references.
var otherNames = map[string]int{"tid": colThread, "address": colAddr, "ip": colPC, "function": colFunc, "symbol": colObject}

const (
	colSeq = iota
	colThread
	colOp
	colAddr
	colSize
	colPC
	colFunc
	colFile
	colLine
	colObject
	colOffset
)

// sniff wants known columns only: a table of samples has op and addr as well,
// and columns of its own beside them.
func sniff(head []byte) bool {
	line, _, ok := bytes.Cut(head, []byte("\n"))
	if !ok {
		return false
	}
	line = bytes.TrimRight(line, "\r")
	cols, err := header(line)
	return err == nil && !slices.Contains(cols, -1) && namesReferences(line)
}

// namesReferences reports whether a header has a name that samples do not have, or
// none that they have.
func namesReferences(line []byte) bool {
	others := false
	for name := range columnNames(line) {
		switch name {
		case "seq", "thread", "size", "pc", "func", "object", "offset":
			return true
		}
		_, other := otherNames[name]
		others = others || other
	}
	return !others
}

func columnNames(line []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range strings.SplitSeq(string(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))), ",") {
			if !yield(strings.TrimSpace(name)) {
				return
			}
		}
	}
}

// header maps each column of the file to an index of Columns; -1 is a column
// we do not know.
func header(line []byte) ([]int, error) {
	var cols []int
	seen := make([]bool, len(Columns))
	for name := range columnNames(line) {
		k := slices.Index(Columns, name)
		if other, ok := otherNames[name]; k < 0 && ok {
			k = other
		}
		if k >= 0 && seen[k] {
			return nil, fmt.Errorf("column %q appears twice", Columns[k])
		}
		if k >= 0 {
			seen[k] = true
		}
		cols = append(cols, k)
	}
	if !seen[colOp] || !seen[colAddr] {
		return nil, fmt.Errorf("the header %q has no op and addr; want some of %s",
			clip(line), strings.Join(Columns, ","))
	}
	return cols, nil
}

// Reader reads one trace.
type Reader struct {
	lines  *refs.Lines
	cols   []int // nil until the header was read
	err    error
	about  refs.About
	places map[refs.Place]uint32
	fields [][]byte
	// The place of the line before: nearly all lines repeat it or one of a few.
	lastKey []byte
	last    uint32

	objects    map[refs.Object]uint32
	lastObject refs.Object
	lastNumber uint32
}

// NewReader reads the text of r.
func NewReader(r io.Reader) *Reader {
	rd := &Reader{
		lines:  refs.NewLines(r),
		places: map[refs.Place]uint32{{}: 0},
		about:  refs.About{Places: []refs.Place{{}}, Objects: []refs.Object{{}}},

		objects: map[refs.Object]uint32{{}: 0},
	}
	rd.readHeader()
	return rd
}

func (r *Reader) readHeader() {
	line, err := r.lines.Next()
	if err == io.EOF {
		r.err = fmt.Errorf("the file is empty; want a header such as %s", strings.Join(Columns, ","))
		return
	}
	if err != nil {
		r.err = err
		return
	}
	if r.cols, err = header(line); err != nil {
		r.err = fmt.Errorf("line 1: %w", err)
		return
	}
	r.fields = make([][]byte, len(Columns))
	for _, c := range r.cols {
		switch c {
		case colThread:
			r.about.Has |= refs.HasThread
		case colSize:
			r.about.Has |= refs.HasSize
		case colPC:
			r.about.Has |= refs.HasPC
		case colLine:
			r.about.Has |= refs.HasPlace
		case colObject:
			r.about.Has |= refs.HasObject
		}
	}
}

// About implements refs.Source.
func (r *Reader) About() *refs.About { return &r.about }

// Read implements refs.Source. A line that does not parse is an error: a CSV
// is made on purpose, and a wrong column would give a wrong answer silently.
func (r *Reader) Read(dst []refs.Ref) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.lines.Fill(dst, func(line []byte) (refs.Ref, bool, error) {
		if len(line) == 0 {
			return refs.Ref{}, false, nil
		}
		ref, err := r.parse(line)
		return ref, true, err
	})
}

func (r *Reader) parse(line []byte) (ref refs.Ref, err error) {
	if err := r.split(line); err != nil {
		return ref, err
	}
	if ref.Op, err = parseOp(r.fields[colOp]); err != nil {
		return ref, err
	}
	if ref.Addr, err = parseField("addr", r.fields[colAddr], 64); err != nil {
		return ref, err
	}
	size, err := parseField("size", r.fields[colSize], 32)
	if err != nil {
		return ref, err
	}
	thread, err := parseField("thread", r.fields[colThread], 32)
	if err != nil {
		return ref, err
	}
	if ref.PC, err = parseField("pc", r.fields[colPC], 64); err != nil {
		return ref, err
	}
	ref.Size, ref.Thread = uint32(size), uint32(thread)
	if ref.Place, err = r.place(r.fields[colFunc], r.fields[colFile], r.fields[colLine]); err != nil {
		return ref, err
	}
	ref.Object, err = r.object(ref.Addr, r.fields[colObject], r.fields[colOffset])
	return ref, err
}

// object interns the piece of memory that an address lies in. Beyond
// refs.MaxObjects of them it is unknown.
func (r *Reader) object(addr uint64, name, offset []byte) (uint32, error) {
	if len(name) == 0 {
		return 0, nil
	}
	n, err := parseField("offset", offset, 64)
	if err != nil {
		return 0, err
	}
	start := addr - n
	if r.lastNumber > 0 && r.lastObject.Start == start && r.lastObject.Name == string(name) {
		return r.lastNumber, nil
	}
	o := refs.Object{Name: unquote(name), Start: start}
	id, ok := r.objects[o]
	if !ok {
		if len(r.about.Objects) >= refs.MaxObjects {
			return 0, nil
		}
		id = uint32(len(r.about.Objects))
		r.objects[o] = id
		r.about.Objects = append(r.about.Objects, o)
	}
	r.lastObject, r.lastNumber = o, id
	return id, nil
}

// split cuts the line into the known columns. Quotes protect commas; doubled
// quotes stay doubled until place interns the text.
func (r *Reader) split(line []byte) error {
	for i, c := range r.cols {
		var field []byte
		if len(line) > 0 && line[0] == '"' {
			end := closing(line)
			if end < 0 {
				return fmt.Errorf("column %d: the quote is not closed", i+1)
			}
			field, line = line[1:end], line[end+1:]
		} else if k := bytes.IndexByte(line, ','); k >= 0 {
			field, line = line[:k], line[k:]
		} else {
			field, line = line, nil
		}
		if c >= 0 {
			r.fields[c] = field
		}
		if i == len(r.cols)-1 {
			break
		}
		if len(line) == 0 || line[0] != ',' {
			return fmt.Errorf("%d columns, the header has %d", i+1, len(r.cols))
		}
		line = line[1:]
	}
	if len(line) != 0 {
		return fmt.Errorf("more columns than the header's %d", len(r.cols))
	}
	return nil
}

// closing returns the index of the quote that ends the field line starts with.
func closing(line []byte) int {
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 < len(line) && line[i+1] == '"' {
			i++
			continue
		}
		return i
	}
	return -1
}

func parseOp(b []byte) (refs.Op, error) {
	if len(b) == 1 {
		switch b[0] | 0x20 {
		case 'l', 'r':
			return refs.Load, nil
		case 's', 'w':
			return refs.Store, nil
		case 'm':
			return refs.Modify, nil
		}
	}
	switch string(bytes.ToLower(b)) {
	case "load", "read":
		return refs.Load, nil
	case "store", "write":
		return refs.Store, nil
	case "modify":
		return refs.Modify, nil
	}
	return 0, fmt.Errorf("op %q: want L, S or M", clip(b))
}

func parseField(column string, b []byte, bits int) (uint64, error) {
	if len(b) == 0 {
		return 0, nil
	}
	v, rest, ok := refs.Number(b)
	if !ok || len(rest) != 0 || bits < 64 && v>>bits != 0 {
		return 0, fmt.Errorf("%s %q: want a number such as 64 or 0x40", column, clip(b))
	}
	return v, nil
}

// place interns the source position of a line.
func (r *Reader) place(function, file, line []byte) (uint32, error) {
	if len(function)+len(file)+len(line) == 0 {
		return 0, nil
	}
	key := r.lastKey
	if len(key) == len(function)+len(file)+len(line)+2 && bytes.HasPrefix(key, line) &&
		bytes.HasSuffix(key, function) && bytes.Equal(key[len(line)+1:len(line)+1+len(file)], file) {
		return r.last, nil
	}
	n, err := parseField("line", line, 31)
	if err != nil {
		return 0, err
	}
	p := refs.Place{Function: unquote(function), File: unquote(file), Line: int(n)}
	id, ok := r.places[p]
	if !ok {
		id = uint32(len(r.about.Places))
		r.places[p] = id
		r.about.Places = append(r.about.Places, p)
	}
	r.lastKey = append(append(append(append(append(r.lastKey[:0], line...), 0), file...), 0), function...)
	r.last = id
	return id, nil
}

func unquote(b []byte) string { return strings.ReplaceAll(string(b), `""`, `"`) }

func clip(b []byte) []byte { return b[:min(len(b), 40)] }
