package profile

import (
	"compress/gzip"
	"encoding/binary"
	"io"

	"github.com/isobath/isobath/internal/code/symbol"
)

// WritePprof writes a gzip-compressed profile.proto (github.com/google/pprof,
// proto/profile.proto). Each frame is a location of its own; latency is a
// second value where samples have one.
func WritePprof(w io.Writer, stacks []Stack, unit string) error {
	p := &encoder{strings: map[string]uint64{"": 0}, texts: []string{""}, functions: map[[2]string]uint64{}, locations: map[symbol.Frame]uint64{}}
	latency := false
	for _, s := range stacks {
		latency = latency || s.Valued > 0
	}
	p.valueType(1, "samples", "count")
	if latency {
		p.valueType(1, "latency", unit)
	}
	for _, s := range stacks {
		var ids, values message
		for i := len(s.Frames) - 1; i >= 0; i-- { // pprof has the innermost first
			ids.varint(p.location(s.Frames[i]))
		}
		values.varint(uint64(s.Samples))
		if latency {
			values.varint(uint64(s.Latency))
		}
		var sample message
		sample.bytes(1, ids.body)
		sample.bytes(2, values.body)
		p.body.bytes(2, sample.body)
	}
	// One mapping that says everything is known, or pprof looks for the program.
	var mapping message
	for _, field := range []int{1, 7, 8, 9, 10} {
		mapping.field(field, 1)
	}
	p.body.bytes(3, mapping.body)
	p.body.body = append(p.body.body, p.tables.body...)
	p.valueType(11, "samples", "count") // the type of period
	p.body.field(12, 1)
	for _, s := range p.texts {
		p.body.bytes(6, []byte(s))
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(p.body.body); err != nil {
		return err
	}
	return z.Close()
}

// message is the bytes of a protocol buffer.
type message struct{ body []byte }

func (m *message) varint(v uint64) { m.body = binary.AppendUvarint(m.body, v) }

// field writes a number; zero is the default and left out.
func (m *message) field(number int, v uint64) {
	if v != 0 {
		m.varint(uint64(number) << 3)
		m.varint(v)
	}
}

func (m *message) bytes(number int, b []byte) {
	m.varint(uint64(number)<<3 | 2)
	m.varint(uint64(len(b)))
	m.body = append(m.body, b...)
}

// encoder numbers strings, functions and locations.
type encoder struct {
	body, tables message
	strings      map[string]uint64
	texts        []string
	functions    map[[2]string]uint64
	locations    map[symbol.Frame]uint64
}

func (p *encoder) text(s string) uint64 {
	n, ok := p.strings[s]
	if !ok {
		n = uint64(len(p.texts))
		p.strings[s] = n
		p.texts = append(p.texts, s)
	}
	return n
}

func (p *encoder) valueType(field int, kind, unit string) {
	var m message
	m.field(1, p.text(kind))
	m.field(2, p.text(unit))
	p.body.bytes(field, m.body)
}

func (p *encoder) function(name, file string) uint64 {
	key := [2]string{name, file}
	if n, ok := p.functions[key]; ok {
		return n
	}
	n := uint64(len(p.functions) + 1)
	p.functions[key] = n
	var m message
	m.field(1, n)
	m.field(2, p.text(name))
	m.field(3, p.text(name))
	m.field(4, p.text(file))
	p.tables.bytes(5, m.body)
	return n
}

func (p *encoder) location(f symbol.Frame) uint64 {
	if n, ok := p.locations[f]; ok {
		return n
	}
	n := uint64(len(p.locations) + 1)
	p.locations[f] = n
	var line, m message
	line.field(1, p.function(f.Function, f.File))
	line.field(2, uint64(f.Line))
	m.field(1, n)
	m.field(2, 1)
	m.bytes(4, line.body)
	p.tables.bytes(4, m.body)
	return n
}
