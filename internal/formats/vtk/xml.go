package vtk

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/grid"
)

// node is one element of a VTKFile. Text is kept for arrays only.
type node struct {
	name  string
	attrs map[string]string
	kids  []*node
	text  []byte
}

func (n *node) kid(name string) *node {
	for _, k := range n.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

// maxDepth bounds nesting; VTK's own files need 6, composite data a few more.
const maxDepth = 64

// document is a parsed VTKFile and how its arrays are encoded.
type document struct {
	root       *node
	order      binary.ByteOrder
	header     int    // bytes of a header integer: 4 or 8
	compressor string // "" or VTK's class name
	appended   []byte // after the underscore
	raw        bool   // appended data is raw, not base64
	left       []leftArray
}

// leftArray is a variable that could not be read.
type leftArray struct {
	what, name string
	why        error // names it
}

// leaveOut notes, once for all pieces, that an array could not be read. What the
// mesh is made of does not depend on it.
func (d *document) leaveOut(l leftArray) {
	if !slices.ContainsFunc(d.left, func(o leftArray) bool { return o.what == l.what && o.name == l.name }) {
		d.left = append(d.left, l)
	}
}

// parseXML reads the tree. Raw appended data is not XML, so everything from
// <AppendedData on is cut off first.
func parseXML(buf []byte) (*document, error) {
	d := &document{order: binary.LittleEndian, header: 4}
	if i := bytes.Index(buf, []byte("<AppendedData")); i >= 0 {
		if err := d.findAppended(buf[i:]); err != nil {
			return nil, err
		}
		buf = buf[:i]
	}
	open := 0 // elements that end behind the tree
	if d.appended != nil {
		open = 1
	}
	root, err := parseTree(buf, open)
	if err != nil {
		return nil, err
	}
	d.root = root
	if root.attrs["byte_order"] == "BigEndian" {
		d.order = binary.BigEndian
	}
	switch h := root.attrs["header_type"]; h {
	case "", "UInt32":
	case "UInt64":
		d.header = 8
	default:
		return nil, fmt.Errorf("header_type %q, want UInt32 or UInt64", term.ClipEnd(h, 25))
	}
	d.compressor = root.attrs["compressor"]
	return d, nil
}

func (d *document) findAppended(buf []byte) error {
	end := bytes.IndexByte(buf, '>')
	if end < 0 {
		return errors.New("the AppendedData element does not end")
	}
	d.raw = bytes.Contains(buf[:end], []byte(`"raw"`)) || bytes.Contains(buf[:end], []byte(`'raw'`))
	mark := bytes.IndexByte(buf[end:], '_')
	if mark < 0 {
		return errors.New("AppendedData has no underscore before the data")
	}
	d.appended = buf[end+mark+1:]
	return nil
}

// parseTree reads elements. One that is not closed is half of a file, which may look
// like a smaller one.
func parseTree(buf []byte, open int) (*node, error) {
	dec := xml.NewDecoder(bytes.NewReader(buf))
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	top := &node{}
	stack := []*node{top}
	for {
		tok, err := dec.RawToken()
		at := stack[len(stack)-1]
		if cut := (*xml.SyntaxError)(nil); errors.As(err, &cut) && cut.Msg == "unexpected EOF" || err == io.EOF && len(stack) != 1+open {
			return nil, fmt.Errorf("the file ends inside <%s>; was it cut off?", term.ClipEnd(at.name, 25))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("XML: %w", err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(stack) > maxDepth {
				return nil, fmt.Errorf("elements nested deeper than %d", maxDepth)
			}
			n := &node{name: t.Name.Local, attrs: make(map[string]string, len(t.Attr))}
			for _, a := range t.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			at.kids = append(at.kids, n)
			stack = append(stack, n)
		case xml.EndElement:
			if len(stack) == 1 || at.name != t.Name.Local {
				return nil, fmt.Errorf("XML: </%s> closes <%s>", term.ClipEnd(t.Name.Local, 25), term.ClipEnd(at.name, 25))
			}
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if at.name == "DataArray" || at.name == "Array" {
				at.text = append(at.text, t...)
			}
		}
	}
	root := top.kid("VTKFile")
	if root == nil {
		return nil, errors.New("no VTKFile element")
	}
	return root, nil
}

// array decodes a DataArray. want is the number of tuples, or -1 when the data
// itself says.
func (d *document) array(n *node, want int) (grid.Array, error) {
	a := grid.Array{Name: n.attrs["Name"], Comps: 1}
	if c := n.attrs["NumberOfComponents"]; c != "" {
		v, err := countAttribute(c)
		if err != nil || v > 1<<20 {
			return a, fmt.Errorf("array %q has %q components", a.Name, term.ClipEnd(c, 25))
		}
		a.Comps = max(1, v)
	}
	if want < 0 {
		if t := n.attrs["NumberOfTuples"]; t != "" {
			v, err := countAttribute(t)
			if err != nil {
				return a, fmt.Errorf("array %q has %q tuples", a.Name, term.ClipEnd(t, 25))
			}
			want = v
		}
	}
	values := -1
	if want >= 0 {
		if want > 1<<40/a.Comps {
			return a, fmt.Errorf("array %q claims %d tuples of %d", a.Name, want, a.Comps)
		}
		values = want * a.Comps
	}
	var err error
	if a.Data, err = d.decode(n, values); err != nil {
		return a, fmt.Errorf("array %q: %w", a.Name, err)
	}
	if values >= 0 && a.Values() != values {
		return a, fmt.Errorf("array %q has %d values, want %d", a.Name, a.Values(), values)
	}
	return a, nil
}

// countAttribute parses a count or an extent bound; some writers put a plus sign.
func countAttribute(s string) (int, error) {
	v, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || v < 0 || v > 1<<40 {
		return 0, fmt.Errorf("%q is not a count", term.ClipEnd(s, 25))
	}
	return v, nil
}

func (d *document) decode(n *node, values int) (any, error) {
	switch n.attrs["type"] {
	case "Int8":
		return decodeAs[int8](d, n, 8, values)
	case "UInt8":
		return decodeAs[uint8](d, n, 8, values)
	case "Int16":
		return decodeAs[int16](d, n, 16, values)
	case "UInt16":
		return decodeAs[uint16](d, n, 16, values)
	case "Int32":
		return decodeAs[int32](d, n, 32, values)
	case "UInt32":
		return decodeAs[uint32](d, n, 32, values)
	case "Int64":
		return decodeAs[int64](d, n, 64, values)
	case "UInt64":
		return decodeAs[uint64](d, n, 64, values)
	case "Float32":
		return decodeAs[float32](d, n, 32, values)
	case "Float64":
		return decodeAs[float64](d, n, 64, values)
	case "Bit":
		return d.decodeBits(n, values)
	case "String":
		return d.decodeStrings(n, values)
	}
	return nil, fmt.Errorf("data type %q is not known", term.ClipEnd(n.attrs["type"], 25))
}

func decodeAs[T grid.Number](d *document, n *node, bits, values int) ([]T, error) {
	if f := n.attrs["format"]; f == "ascii" || f == "" {
		return asciiValues[T](n.text, bits, values)
	}
	data, err := d.bytes(n, values, bits)
	if err != nil {
		return nil, err
	}
	count := len(data) * 8 / bits
	if values >= 0 {
		count = min(count, values)
	}
	out := make([]T, count)
	_, err = binary.Decode(data[:count*bits/8], d.order, out)
	return out, err
}

func asciiValues[T grid.Number](text []byte, bits, values int) ([]T, error) {
	r := &legacy{buf: text}
	if values >= 0 {
		return scanText[T](r, values, bits)
	}
	var out []T
	for w := r.word(); w != ""; w = r.word() {
		v, err := parse[T](w, bits)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (d *document) decodeBits(n *node, values int) (any, error) {
	if f := n.attrs["format"]; f == "ascii" || f == "" {
		return asciiValues[uint8](n.text, 8, values)
	}
	data, err := d.bytes(n, values, 1)
	if err != nil {
		return nil, err
	}
	if values < 0 || values > 8*len(data) {
		values = 8 * len(data)
	}
	out := make([]uint8, values)
	for i := range out {
		out[i] = data[i/8] >> (7 - i%8) & 1
	}
	return out, nil
}

// decodeStrings reads texts that end with a zero byte; in ascii the bytes are
// written as numbers.
func (d *document) decodeStrings(n *node, values int) (any, error) {
	var data []byte
	var err error
	if f := n.attrs["format"]; f == "ascii" || f == "" {
		data, err = asciiValues[uint8](n.text, 8, -1)
	} else {
		data, err = d.bytes(n, -1, 8)
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for len(data) > 0 && (values < 0 || len(out) < values) {
		s, rest, _ := bytes.Cut(data, []byte{0})
		out = append(out, string(s))
		data = rest
	}
	return out, nil
}

// bytes returns the decoded block of a binary or appended array: uncompressed,
// still in the file's byte order.
func (d *document) bytes(n *node, values, bits int) ([]byte, error) {
	src := bytes.TrimSpace(n.text)
	raw := false
	switch f := n.attrs["format"]; f {
	case "binary":
		if bytes.ContainsAny(src, " \t\r\n") {
			src = bytes.Join(bytes.Fields(src), nil)
		}
	case "appended":
		off, err := countAttribute(n.attrs["offset"])
		if err != nil {
			return nil, fmt.Errorf("offset %w", err)
		}
		if off > len(d.appended) {
			return nil, fmt.Errorf("offset %d is beyond the %d bytes of appended data", off, len(d.appended))
		}
		src, raw = d.appended[off:], d.raw
	default:
		return nil, fmt.Errorf("format %q, want ascii, binary or appended", term.ClipEnd(f, 25))
	}
	if values == 0 && len(src) == 0 {
		return nil, nil
	}
	s := &stream{src: src, raw: raw, order: d.order, width: d.header}
	if d.compressor == "" {
		return s.plain()
	}
	most := -1
	if values >= 0 {
		most = (values*bits + 7) / 8
	}
	return s.packed(d.compressor, most)
}

// stream reads header integers and data from raw or base64 text.
type stream struct {
	src   []byte
	raw   bool
	order binary.ByteOrder
	width int
}

// take decodes the next n bytes. In base64 they start a group of their own,
// so the text moves on by whole groups of four characters.
func (s *stream) take(n int) ([]byte, error) {
	if s.raw {
		if n < 0 || n > len(s.src) {
			return nil, fmt.Errorf("%d bytes wanted, %d are left", n, len(s.src))
		}
		out := s.src[:n]
		s.src = s.src[n:]
		return out, nil
	}
	out, err := s.peek(n)
	if err == nil {
		s.src = s.src[min(len(s.src), (n+2)/3*4):]
	}
	return out, err
}

// peek decodes n bytes of base64 without moving on.
func (s *stream) peek(n int) ([]byte, error) {
	chars := (n + 2) / 3 * 4
	if n < 0 || chars > len(s.src) {
		return nil, fmt.Errorf("%d bytes wanted, %d characters of base64 are left", n, len(s.src))
	}
	out := make([]byte, chars/4*3)
	got, err := base64.StdEncoding.Decode(out, s.src[:chars])
	if err != nil {
		return nil, fmt.Errorf("base64: %w", err)
	}
	if got < n {
		return nil, fmt.Errorf("base64 ends after %d of %d bytes", got, n)
	}
	return out[:n], nil
}

func (s *stream) integer(b []byte) uint64 {
	if s.width == 8 {
		return s.order.Uint64(b)
	}
	return uint64(s.order.Uint32(b))
}

// plain reads "byte count, data". In base64 both are one text; writers that
// encode the count on its own are recognised by its padding.
func (s *stream) plain() ([]byte, error) {
	if s.raw {
		head, err := s.take(s.width)
		if err != nil {
			return nil, err
		}
		return s.take(clampInt(s.integer(head)))
	}
	head, err := s.peek(s.width)
	if err != nil {
		return nil, err
	}
	n := clampInt(s.integer(head))
	if n > 0 && s.paddedCount() {
		if _, err := s.take(s.width); err != nil {
			return nil, err
		}
		return s.take(n)
	}
	if n > len(s.src) {
		return nil, fmt.Errorf("block of %d bytes in %d characters", n, len(s.src))
	}
	all, err := s.take(s.width + n)
	if err != nil {
		return nil, err
	}
	return all[s.width:], nil
}

// paddedCount reports whether the count was encoded on its own: 4 bytes end in
// two padding characters, 8 bytes in one. Together with data they cannot.
func (s *stream) paddedCount() bool {
	if s.width == 4 {
		return s.src[6] == '='
	}
	return s.src[11] == '='
}

func clampInt(v uint64) int { return int(min(v, 1<<62)) }
