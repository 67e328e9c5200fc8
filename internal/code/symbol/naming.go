package symbol

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// Naming says after the fact what an object is: "allocation at heat.c:57 is
// u double[1024][1024]".
type Naming struct {
	// Site is file:line of an allocation, Object the name of another object;
	// one of them is set.
	Site   string `json:"site,omitempty"`
	Object string `json:"object,omitempty"`
	Name   string `json:"name,omitempty"` // empty: keeps its name
	Layout string `json:"type,omitempty"` // text of the type; empty: keeps its type

	layout *Type
}

// Type returns the layout, nil if the naming gives none.
func (n *Naming) Type() *Type { return n.layout }

// String writes the naming as it is read.
func (n *Naming) String() string {
	what := "allocation at " + n.Site
	if n.Site == "" {
		what = "object " + strconv.Quote(n.Object)
	}
	rest := strings.TrimSpace(n.Name + " " + n.Layout)
	return what + " is " + rest
}

// bounds of a file of namings.
const (
	maxNamings     = 10_000
	maxNamingBytes = 4 << 20
)

// ReadNamings reads one naming a line; # begins a comment.
func ReadNamings(r io.Reader) ([]Naming, error) {
	var out []Naming
	scan := bufio.NewScanner(io.LimitReader(r, maxNamingBytes))
	for line := 1; scan.Scan(); line++ {
		text, _, _ := strings.Cut(scan.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		n, err := ParseNaming(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if len(out) == maxNamings {
			return nil, fmt.Errorf("more than %d names", maxNamings)
		}
		out = append(out, n)
	}
	if err := scan.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// ParseNaming reads "allocation at FILE:LINE is [NAME] [TYPE]" or
// `object "NAME" is [NAME] [TYPE]`.
func ParseNaming(text string) (Naming, error) {
	var n Naming
	text = strings.TrimSpace(text)
	rest, object := strings.CutPrefix(text, "object ")
	if !object {
		rest = strings.TrimPrefix(text, "allocation at ")
	}
	rest = strings.TrimSpace(rest)
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		quoted = ""
	}
	what, is, ok := strings.Cut(rest[len(quoted):], " is ")
	if !ok {
		return n, fmt.Errorf("%q: want \"allocation at heat.c:57 is u double[1024][1024]\"", term.ClipEnd(text, 65))
	}
	if what = strings.TrimSpace(what); object {
		n.Object = what
		if quoted != "" && what == "" {
			n.Object, _ = strconv.Unquote(quoted) // QuotedPrefix has checked it
		}
	} else {
		n.Site = quoted + what
		file, line, ok := cutLast(n.Site, ":")
		if number, err := strconv.Atoi(line); !ok || file == "" || err != nil || number <= 0 {
			return n, fmt.Errorf("%q: want FILE:LINE of the allocation, such as heat.c:57", term.ClipEnd(n.Site, 65))
		}
	}
	if n.Site == "" && n.Object == "" {
		return n, fmt.Errorf("%q names no object", term.ClipEnd(text, 65))
	}
	return n, n.parseMeaning(strings.TrimSpace(is))
}

// parseMeaning reads a type, or a name and a type, or a name alone.
func (n *Naming) parseMeaning(text string) error {
	if t, err := ParseType(text); err == nil {
		n.Layout, n.layout = text, t
		return nil
	}
	name, kind, ok := strings.Cut(text, " ")
	if name = strings.TrimRight(name, ":"); name == "" {
		return fmt.Errorf("a name or a type must follow \"is\"")
	}
	n.Name = name
	if !ok {
		if strings.ContainsAny(text, "[(") {
			_, err := ParseType(text)
			return err
		}
		return nil
	}
	t, err := ParseType(strings.TrimSpace(kind))
	if err != nil {
		return err
	}
	n.Layout, n.layout = strings.TrimSpace(kind), t
	return nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// matches reports whether the naming means an object.
func (n *Naming) matches(o *Object) bool {
	if n.Site == "" {
		return n.Object == o.Name
	}
	return o.Site != "" && path.Base(n.Site) == path.Base(o.Site)
}

// rename applies the first naming that means the object.
func (o *Objects) rename(pid int, obj *Object) {
	for i := range o.names {
		n := &o.names[i]
		if !n.matches(obj) {
			continue
		}
		if n.Name != "" {
			obj.Name = o.numbered(pid, n.Name)
		}
		if n.layout != nil {
			obj.Type = n.layout
		}
		return
	}
}

// elements are the sizes of types that people write.
var elements = map[string]uint64{
	"char": 1, "signed char": 1, "unsigned char": 1, "bool": 1, "byte": 1, "int8": 1, "uint8": 1, "int8_t": 1, "uint8_t": 1, "logical(1)": 1, "integer(1)": 1, "i8": 1, "u8": 1,
	"short": 2, "unsigned short": 2, "int16": 2, "uint16": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "float16": 2, "integer(2)": 2, "i16": 2, "u16": 2,
	"int": 4, "unsigned": 4, "unsigned int": 4, "int32": 4, "uint32": 4, "int32_t": 4, "uint32_t": 4, "float": 4, "float32": 4, "real": 4, "real(4)": 4, "integer": 4, "integer(4)": 4, "logical": 4, "rune": 4, "i32": 4, "u32": 4, "f32": 4,
	"long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8, "int64": 8, "uint64": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8, "double": 8, "float64": 8, "double precision": 8, "real(8)": 8, "integer(8)": 8, "pointer": 8, "complex64": 8, "i64": 8, "u64": 8, "f64": 8,
	"long double": 16, "complex128": 16, "double complex": 16, "complex(8)": 16, "float complex": 8, "complex": 8,
}

// ParseType reads a type as a programmer writes it: "double[1024][1024]" with
// the last extent fastest, "real(8)(1024,1024)" with the first, "24 bytes[100]"
// for elements of any size.
func ParseType(text string) (*Type, error) {
	base, dims, columns, err := splitDims(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	base = strings.Join(strings.Fields(base), " ")
	size, ok := elements[strings.ToLower(base)]
	if n, found := strings.CutSuffix(base, " bytes"); !ok && found {
		size, err = strconv.ParseUint(n, 10, 32)
		ok = err == nil && size > 0
	}
	if !ok {
		return nil, fmt.Errorf("type %q is not known; write double[1024][1024], real(8)(1024,1024) or \"24 bytes[100]\"", term.ClipEnd(text, 65))
	}
	elem := &Type{Name: base, Size: size, Elem: size}
	if len(dims) == 0 {
		return elem, nil
	}
	if t := arrayOf(elem, dims, columns); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("type %q is too large", term.ClipEnd(text, 65))
}

// splitDims takes the extents off the end of a type.
func splitDims(text string) (base string, dims []uint64, columns bool, err error) {
	if _, plain := elements[strings.ToLower(text)]; plain {
		return text, nil, false, nil
	}
	var words []string
	switch {
	case strings.HasSuffix(text, "]"):
		at := strings.IndexByte(text, '[')
		if at < 0 {
			return "", nil, false, fmt.Errorf("type %q: ] without [", term.ClipEnd(text, 65))
		}
		base, words = text[:at], strings.Split(strings.TrimSuffix(text[at+1:], "]"), "][")
	case strings.HasSuffix(text, ")"):
		at := strings.LastIndexByte(text, '(')
		if at < 0 {
			return "", nil, false, fmt.Errorf("type %q: ) without (", term.ClipEnd(text, 65))
		}
		base, words, columns = text[:at], strings.Split(text[at+1:len(text)-1], ","), true
	default:
		return text, nil, false, nil
	}
	if len(words) > maxDims {
		return "", nil, false, fmt.Errorf("type %q has more than %d dimensions", term.ClipEnd(text, 65), maxDims)
	}
	for _, w := range words {
		n, err := strconv.ParseUint(strings.TrimSpace(w), 10, 62)
		if err != nil || n == 0 {
			return "", nil, false, fmt.Errorf("type %q: the extent %q is not a positive number", term.ClipEnd(text, 65), term.ClipEnd(w, 65))
		}
		dims = append(dims, n)
	}
	return base, dims, columns, nil
}
