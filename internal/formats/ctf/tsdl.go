package ctf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

// What follows reads the Trace Stream Description Language (CTF 1.8.3, section 7
// and appendix C), as far as tracers use it.

// kindOf says what a type is.
type kindOf uint8

const (
	integer kindOf = iota
	float
	text
	structure
	array    // of a fixed length
	sequence // of a length that a field says
	variant
	enumeration
)

// dataType is a type of the language.
type dataType struct {
	kind    kindOf
	size    uint // in bits
	align   uint
	signed  bool
	big     bool
	ordered bool // big says so itself
	clock   bool // a time
	fields  []member
	element *dataType
	length  uint64
	by      string // the field that says the length, or which member of a variant
	labels  []label
}

type member struct {
	name string
	typ  *dataType
}

// label is a name of an enumeration for a range of values.
type label struct {
	name     string
	low, top int64
}

// streamForm is a class of streams.
type streamForm struct {
	packet, header, context *dataType
	events                  map[uint64]*eventForm
}

type eventForm struct {
	name            string
	context, fields *dataType
}

// description is the metadata of a trace.
type description struct {
	big        bool
	header     *dataType // of packets
	streams    map[uint64]*streamForm
	resolution uint64
	offset     uint64 // ticks
}

// parser reads metadata.
type parser struct {
	scanner.Scanner
	token rune
	out   *description
	named map[string]*dataType
	depth int
	err   error
}

// Bounds of descriptions: those of the kernel have a few thousand events.
const (
	maxDepth  = 32
	maxFields = 1 << 16
)

func parseDescription(source string) (*description, error) {
	p := &parser{out: &description{streams: map[uint64]*streamForm{}, resolution: 1e9}, named: map[string]*dataType{}}
	p.Init(strings.NewReader(source))
	p.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanStrings | scanner.ScanChars | scanner.ScanComments | scanner.SkipComments
	p.Error = func(_ *scanner.Scanner, msg string) { p.fail("%s", msg) }
	p.next()
	for p.token != scanner.EOF && p.err == nil {
		p.declaration()
	}
	if p.err != nil {
		return nil, fmt.Errorf("metadata: line %d: %w", p.Position.Line, p.err)
	}
	if len(p.out.streams) == 0 {
		return nil, errors.New("metadata: no stream is described")
	}
	return p.out, nil
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *parser) next() { p.token = p.Scan() }

func (p *parser) is(text string) bool { return p.err == nil && p.TokenText() == text }

func (p *parser) accept(text string) bool {
	if p.is(text) && p.token != scanner.EOF {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail("%q where %q is expected", p.TokenText(), text)
	}
}

func (p *parser) word() string {
	w := p.TokenText()
	if p.token != scanner.Ident {
		p.fail("%q where a name is expected", w)
	}
	p.next()
	return w
}

// declaration reads one at the top level.
func (p *parser) declaration() {
	switch {
	case p.accept(";"):
	case p.accept("trace"):
		p.block(func(key string) {
			switch key {
			case "byte_order":
				p.out.big = p.bigEndian(p.value())
			case "packet.header":
				p.out.header = p.anyType()
			default:
				p.value()
			}
		})
	case p.accept("clock"):
		p.clock()
	case p.accept("stream"):
		p.stream()
	case p.accept("event"):
		p.event()
	case p.accept("typealias"):
		t := p.anyType()
		p.expect(":")
		p.expect("=")
		p.named[p.typeName()] = t
		p.expect(";")
	case p.accept("typedef"):
		t := p.anyType()
		p.named[p.word()] = t
		p.expect(";")
	case p.is("struct") || p.is("enum") || p.is("variant"):
		p.anyType()
		p.accept(";")
	case p.token == scanner.Ident: // env, callsite and what else may come
		p.next()
		p.block(func(string) { p.value() })
	default:
		p.fail("%q begins no declaration", p.TokenText())
	}
}

// block reads { key = value; key := type; … }; and lets each be read by visit.
func (p *parser) block(visit func(key string)) {
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		if p.token == scanner.EOF {
			p.fail("the description ends inside a block")
			return
		}
		if p.is("typealias") || p.is("struct") || p.is("enum") {
			p.declaration()
			continue
		}
		key := p.word()
		for p.accept(".") {
			key += "." + p.word()
		}
		if p.accept(":") {
			p.expect("=")
		} else {
			p.expect("=")
		}
		visit(key)
		p.expect(";")
	}
	p.accept(";")
}

// value reads what stands behind an equals sign: a number, a string or a path.
func (p *parser) value() string {
	sign := ""
	if p.accept("-") {
		sign = "-"
	}
	out, path := p.TokenText(), p.token == scanner.Ident
	if p.token == scanner.String {
		if s, err := strconv.Unquote(out); err == nil {
			out = s
		}
	}
	p.next()
	for path && p.err == nil && p.accept(".") {
		out += "." + p.TokenText()
		p.next()
	}
	return sign + out
}

func (p *parser) number(text string) uint64 {
	v, err := strconv.ParseUint(strings.TrimRight(text, "uUlL"), 0, 64)
	if err != nil {
		if n, bad := strconv.ParseInt(text, 0, 64); bad == nil {
			return uint64(n)
		}
		p.fail("%.20q is no number", text)
	}
	return v
}

func (p *parser) bigEndian(word string) bool { return word == "be" || word == "network" }

func (p *parser) clock() {
	seconds := uint64(0)
	p.block(func(key string) {
		v := p.value()
		switch key {
		case "freq":
			p.out.resolution = p.number(v)
		case "offset":
			p.out.offset = p.number(v)
		case "offset_s":
			seconds = p.number(v)
		}
	})
	if p.out.resolution == 0 {
		p.fail("a clock of no frequency")
	}
	p.out.offset += seconds * p.out.resolution
}

func (p *parser) stream() {
	id := uint64(0)
	s := &streamForm{events: map[uint64]*eventForm{}}
	p.block(func(key string) {
		switch key {
		case "id":
			id = p.number(p.value())
		case "packet.context":
			s.packet = p.anyType()
		case "event.header":
			s.header = p.anyType()
		case "event.context":
			s.context = p.anyType()
		default:
			p.value()
		}
	})
	if old := p.out.streams[id]; old != nil {
		s.events = old.events
	}
	p.out.streams[id] = s
}

func (p *parser) event() {
	id, in := uint64(0), uint64(0)
	e := &eventForm{}
	p.block(func(key string) {
		switch key {
		case "name":
			e.name = p.value()
		case "id":
			id = p.number(p.value())
		case "stream_id":
			in = p.number(p.value())
		case "context":
			e.context = p.anyType()
		case "fields":
			e.fields = p.anyType()
		default:
			p.value()
		}
	})
	s := p.out.streams[in]
	if s == nil {
		s = &streamForm{events: map[uint64]*eventForm{}}
		p.out.streams[in] = s
	}
	s.events[id] = e
}

// typeName reads the name of a type, which may have several words.
func (p *parser) typeName() string {
	name := p.word()
	for p.err == nil && p.token == scanner.Ident && baseWords[p.TokenText()] {
		name += " " + p.word()
	}
	return name
}

var baseWords = map[string]bool{"unsigned": true, "signed": true, "long": true, "int": true, "short": true, "char": true}

// anyType reads a type.
func (p *parser) anyType() *dataType {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.fail("types inside types, more than %d deep", maxDepth)
	}
	if p.err != nil {
		return &dataType{}
	}
	switch {
	case p.accept("integer"):
		return p.numeric(integer)
	case p.accept("floating_point"):
		return p.numeric(float)
	case p.accept("string"):
		if p.is("{") {
			p.block(func(string) { p.value() })
		}
		return &dataType{kind: text, align: 8}
	case p.accept("struct"):
		return p.composite("struct", structure)
	case p.accept("variant"):
		return p.variant()
	case p.accept("enum"):
		return p.enumeration()
	}
	name := p.typeName()
	t := p.named[name]
	if t == nil {
		p.fail("type %q is not known", name)
		return &dataType{}
	}
	return t
}

func (p *parser) numeric(kind kindOf) *dataType {
	t := &dataType{kind: kind, align: 1, big: p.out.big}
	aligned := false
	p.block(func(key string) {
		v := p.value()
		switch key {
		case "size":
			t.size = uint(p.number(v))
		case "exp_dig", "mant_dig":
			t.size += uint(p.number(v))
		case "align":
			t.align, aligned = uint(p.number(v)), true
		case "signed":
			t.signed = v == "true" || v == "1"
		case "byte_order":
			if v != "native" {
				t.big = p.bigEndian(v)
			}
			t.ordered = true
		case "map":
			t.clock = strings.HasPrefix(v, "clock.")
		}
	})
	if t.size == 0 || t.size > 64 || kind == float && t.size != 32 && t.size != 64 {
		p.fail("a number of %d bits", t.size)
	}
	if !aligned && t.size%8 == 0 {
		t.align = 8
	}
	p.checkAlign(t.align)
	return t
}

func (p *parser) checkAlign(n uint) {
	if n == 0 || n > 1<<16 || n&(n-1) != 0 {
		p.fail("an alignment of %d bits", n)
	}
}

// composite reads the name and the members of a struct or a variant.
func (p *parser) composite(word string, kind kindOf) *dataType {
	name := ""
	if p.token == scanner.Ident {
		name = word + " " + p.word()
	}
	if !p.is("{") {
		t := p.named[name]
		if t == nil {
			p.fail("%s is not known", name)
			return &dataType{}
		}
		return t
	}
	t := &dataType{kind: kind, align: 1}
	p.members(t)
	if name != "" {
		p.named[name] = t
	}
	return t
}

func (p *parser) members(t *dataType) {
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		if p.is("typealias") {
			p.declaration()
			continue
		}
		field := p.anyType()
		name := p.word()
		for p.err == nil && p.accept("[") {
			field = p.bracket(field)
		}
		t.fields = append(t.fields, member{plain(name), field})
		if len(t.fields) > maxFields {
			p.fail("more than %d fields", maxFields)
		}
		p.expect(";")
	}
	for _, f := range t.fields {
		if t.kind == structure {
			t.align = max(t.align, f.typ.align)
		}
	}
	if p.accept("align") {
		p.expect("(")
		t.align = max(t.align, uint(p.number(p.value())))
		p.checkAlign(t.align)
		p.expect(")")
	}
}

// bracket reads a length, or the field that says it.
func (p *parser) bracket(of *dataType) *dataType {
	t := &dataType{kind: array, element: of, align: of.align}
	if p.token == scanner.Int {
		t.length = p.number(p.value())
	} else {
		t.kind, t.by = sequence, lastOf(p.value())
	}
	p.expect("]")
	return t
}

// lastOf is the last word of a path: stream.event.header.id is id.
func lastOf(path string) string { return plain(path[strings.LastIndexByte(path, '.')+1:]) }

// plain is a name without the underscore that writers put before names which
// could be words of the language (section 7.3.4 of the format).
func plain(name string) string { return strings.TrimPrefix(name, "_") }

func (p *parser) variant() *dataType {
	by := ""
	tag := func() {
		if p.accept("<") {
			by = lastOf(p.value())
			p.expect(">")
		}
	}
	tag()
	name := ""
	if p.token == scanner.Ident {
		name = "variant " + p.word()
	}
	tag()
	t := &dataType{kind: variant, align: 1}
	if p.is("{") {
		p.members(t)
		if name != "" {
			p.named[name] = t
		}
	} else if known := p.named[name]; known != nil {
		t = known
	} else {
		p.fail("%s is not known", name)
	}
	if by != "" {
		c := *t
		c.by = by
		t = &c
	}
	return t
}

func (p *parser) enumeration() *dataType {
	name := ""
	if p.token == scanner.Ident {
		name = "enum " + p.word()
	}
	t := &dataType{kind: enumeration, align: 8, size: 32, big: p.out.big}
	if p.accept(":") {
		base := p.anyType()
		if base.kind != integer {
			p.fail("an enumeration of something else than integers")
		}
		*t = *base
		t.kind = enumeration
	}
	if !p.is("{") {
		if known := p.named[name]; known != nil {
			return known
		}
		p.fail("%s is not known", name)
		return t
	}
	p.expect("{")
	after := int64(0)
	for p.err == nil && !p.accept("}") {
		word := p.TokenText()
		if s, err := strconv.Unquote(word); err == nil {
			word = s
		}
		p.next()
		l := label{plain(word), after, after}
		if p.accept("=") {
			l.low = int64(p.number(p.value()))
			l.top = l.low
			if p.accept(".") {
				p.expect(".")
				p.expect(".")
				l.top = int64(p.number(p.value()))
			}
		}
		after = l.top + 1
		t.labels = append(t.labels, l)
		if !p.accept(",") && !p.is("}") {
			p.fail("%q inside an enumeration", p.TokenText())
		}
	}
	if name != "" {
		p.named[name] = t
	}
	return t
}
