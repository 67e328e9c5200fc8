// Package caliper reads profiles and traces of Caliper in its own format (.cali):
// lines of nodes, which make a tree of attributes and values, and of snapshots,
// which refer to them. Its memory services (IBS, PEBS, allocations) and its MPI
// services are columns like all others.
package caliper

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and reads .cali files.
var Format = foreign.Format{Name: "caliper", Kind: kind.Samples, Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head) }, Samples: foreign.StreamedSamples(parse)}

func sniff(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("__rec="))
}

const (
	maxLine  = 4 << 20
	maxDepth = 4096 // of the tree
)

// Numbers of the nodes that every file has without saying so: the types, and the
// attributes that describe attributes (Caliper's MetadataTree).
const (
	attrName = 8
	attrType = 9
	attrProp = 10
)

var typeNames = map[uint64]string{0: "usr", 1: "int", 2: "uint", 3: "string", 4: "addr", 5: "double", 6: "bool", 7: "type", 11: "ptr"}

// propNested is the bit of the properties of an attribute that says that values
// nest, with those of other such attributes.
const propNested = 256

// node is a value of an attribute below a parent.
type node struct {
	attr   uint64
	data   string
	parent uint64
	has    bool // a parent
}

// attribute is what a node of a name says about the values that refer to it.
type attribute struct {
	id          uint64
	name, typ   string
	unit, alias string
	nested      bool
}

// reader is a file while it is read.
type reader struct {
	nodes      map[uint64]node
	attributes map[uint64]*attribute
	rows       int
	columns    map[string]*column
	order      []*column         // as they come
	row        map[string]string // of the snapshot that is read, reused
	globals    map[string]string
	notes      map[string]int
}

// column is the values of an attribute in all snapshots; of nested ones the
// innermost.
type column struct {
	*attribute
	values []string
	has    []bool
}

// pathColumn is the column of the values of nested attributes, outermost first,
// with semicolons between.
const pathColumn = "stack"

func newReader() *reader {
	r := &reader{nodes: map[uint64]node{}, attributes: map[uint64]*attribute{}, columns: map[string]*column{}, row: map[string]string{}, globals: map[string]string{}, notes: map[string]int{}}
	for id, name := range typeNames {
		r.nodes[id] = node{attr: attrType, data: name}
	}
	for id, n := range map[uint64]node{attrName: {attrName, "cali.attribute.name", 3, true}, attrType: {attrName, "cali.attribute.type", 7, true}, attrProp: {attrName, "cali.attribute.prop", 1, true}} {
		r.nodes[id] = n
	}
	return r
}

func parse(ctx context.Context, in io.Reader, opt *foreign.Options) (*foreign.Imported, error) {
	r := newReader()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		text := strings.TrimRight(lines.Text(), "\r")
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := r.line(text); err != nil {
			if opt.Salvage {
				r.notes[fmt.Sprintf("a line was left out: %v", err)]++
				continue
			}
			return nil, fmt.Errorf("line %d: %w; --salvage reads the others", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if r.rows == 0 {
		return nil, errors.New("the file has no snapshots")
	}
	return r.imported(opt)
}

// split cuts a text at a character that no backslash stands before, and takes
// the backslashes out of the parts if raw is false.
func split(text string, at byte, raw bool) []string {
	var out []string
	var part []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			if raw {
				part = append(part, '\\')
			}
			i++
			c := text[i]
			if c == 'n' && !raw {
				c = '\n'
			}
			part = append(part, c)
		case text[i] == at:
			out = append(out, string(part))
			part = part[:0]
		default:
			part = append(part, text[i])
		}
	}
	return append(out, string(part))
}

// line reads "__rec=KIND,key=value=value,…".
func (r *reader) line(text string) error {
	fields := map[string][]string{}
	for i, f := range split(text, ',', true) {
		parts := split(f, '=', false)
		if i == 0 && (parts[0] != "__rec" || len(parts) != 2) {
			return fmt.Errorf("%.30q is no record of Caliper", text)
		}
		fields[parts[0]] = parts[1:]
	}
	switch rec := fields["__rec"][0]; rec {
	case "node":
		return r.node(fields)
	case "ctx":
		return r.snapshot(fields, false)
	case "globals":
		return r.snapshot(fields, true)
	default:
		r.notes[fmt.Sprintf("records of kind %.20q are left out", rec)]++
		return nil
	}
}

func (r *reader) number(fields map[string][]string, key string) (uint64, bool, error) {
	v := fields[key]
	if len(v) == 0 {
		return 0, false, nil
	}
	n, err := strconv.ParseUint(v[0], 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("%s %.20q is no number", key, v[0])
	}
	return n, true, nil
}

func (r *reader) node(fields map[string][]string) error {
	id, ok, err := r.number(fields, "id")
	if err == nil && !ok {
		err = errors.New("a node has no number")
	}
	if err != nil {
		return err
	}
	attr, _, err := r.number(fields, "attr")
	if err != nil {
		return err
	}
	n := node{attr: attr, data: strings.Join(fields["data"], "=")}
	if n.parent, n.has, err = r.number(fields, "parent"); err != nil {
		return err
	}
	if _, ok := r.nodes[n.parent]; n.has && !ok {
		return fmt.Errorf("node %d is below node %d, which does not exist", id, n.parent)
	}
	if _, twice := r.nodes[id]; twice {
		return nil // nodes never change; bootstrap nodes may be written again
	}
	r.nodes[id] = n
	return nil
}

// attributeOf finds out what an attribute is: its node has the name, the nodes
// above it the type, properties and other facts.
func (r *reader) attributeOf(id uint64) (*attribute, error) {
	if a := r.attributes[id]; a != nil {
		return a, nil
	}
	n, ok := r.nodes[id]
	if !ok || n.attr != attrName {
		return nil, fmt.Errorf("attribute %d does not exist", id)
	}
	a := &attribute{id: id, name: n.data, typ: "string"}
	for depth := 0; n.has && depth < maxDepth; depth++ {
		n = r.nodes[n.parent]
		switch n.attr {
		case attrType:
			a.typ = n.data
		case attrProp:
			bits, _ := strconv.ParseUint(n.data, 10, 64)
			a.nested = bits&propNested != 0
		default:
			switch r.nodes[n.attr].data {
			case "attribute.unit", "time.unit":
				a.unit = n.data
			case "attribute.alias":
				a.alias = n.data
			}
		}
	}
	r.attributes[id] = a
	return a, nil
}

// snapshot reads a record: nodes with all above them, and values of their own.
func (r *reader) snapshot(fields map[string][]string, global bool) error {
	clear(r.row)
	for _, text := range fields["ref"] {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("reference %.20q is no number", text)
		}
		if err := r.path(id); err != nil {
			return err
		}
	}
	attrs, data := fields["attr"], fields["data"]
	if len(attrs) != len(data) {
		return fmt.Errorf("%d attributes with %d values", len(attrs), len(data))
	}
	for i, text := range attrs {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("attribute %.20q is no number", text)
		}
		a, err := r.attributeOf(id)
		if err != nil {
			return err
		}
		r.note(a)
		r.row[a.name] = data[i]
	}
	if global {
		for name, v := range r.row {
			r.globals[name] = v
		}
		return nil
	}
	r.rows++
	for name, v := range r.row {
		c := r.columns[name]
		for len(c.values) < r.rows-1 { // snapshots that did not have it
			c.values, c.has = append(c.values, ""), append(c.has, false)
		}
		c.values, c.has = append(c.values, v), append(c.has, true)
	}
	return nil
}

func (r *reader) note(a *attribute) {
	if r.columns[a.name] == nil {
		c := &column{attribute: a}
		r.columns[a.name] = c
		r.order = append(r.order, c)
	}
}

// path puts the values of a node and those above it into the row.
func (r *reader) path(id uint64) error {
	n, ok := r.nodes[id]
	if !ok {
		return fmt.Errorf("node %d does not exist", id)
	}
	var nested []string // innermost first
	for depth := 0; ; depth++ {
		if depth > maxDepth {
			return fmt.Errorf("more than %d nodes above node %d", maxDepth, id)
		}
		if n.attr != attrName && n.attr != attrType && n.attr != attrProp {
			a, err := r.attributeOf(n.attr)
			if err != nil {
				return err
			}
			r.note(a)
			if _, inner := r.row[a.name]; !inner {
				r.row[a.name] = n.data
			}
			if a.nested {
				nested = append(nested, strings.ReplaceAll(n.data, ";", ","))
			}
		}
		if !n.has {
			break
		}
		n = r.nodes[n.parent]
	}
	if len(nested) > 0 {
		slices.Reverse(nested)
		r.note(&attribute{name: pathColumn, typ: "string"})
		r.row[pathColumn] = strings.Join(nested, ";")
	}
	return nil
}
