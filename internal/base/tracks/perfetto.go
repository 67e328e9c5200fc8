package tracks

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
)

// Perfetto writes a trace of Perfetto: a sequence of TracePacket messages. Field
// numbers are those of protos/perfetto/trace in its repository.
type Perfetto struct {
	w        *bufio.Writer
	err      error
	packet   message // reused
	body     message
	inner    message
	tracks   map[Track]uint64
	counters map[counter]uint64
	uuids    uint64
	stacks   stacks
	sent     map[uint64]bool // stacks that are written
	byFrame  map[Frame]uint64
	texts    map[internedText]uint64
	interned message // what the next packet must define
	began    bool
}

type counter struct {
	track      Track
	name, unit string
}

type internedText struct {
	field int
	text  string
}

// Fields of TracePacket.
const (
	packetTimestamp   = 8
	packetSequence    = 10
	packetTrackEvent  = 11
	packetInterned    = 12
	packetFlags       = 13
	packetDescriptor  = 60
	packetPerfSample  = 66
	internedFunctions = 5
	internedFrames    = 6
	internedStacks    = 7
	internedSources   = 18
)

// Types of TrackEvent.
const (
	eventBegin   = 1
	eventEnd     = 2
	eventCounter = 4
)

// NewPerfetto begins a file.
func NewPerfetto(w io.Writer) *Perfetto {
	p := &Perfetto{w: bufio.NewWriterSize(w, 1<<16), tracks: map[Track]uint64{}, counters: map[counter]uint64{},
		sent: map[uint64]bool{}, byFrame: map[Frame]uint64{}, texts: map[internedText]uint64{}}
	p.stacks = stacks{nodes: map[stackNode]uint64{}, add: func(uint64, uint64, Frame) {}}
	return p
}

// message is a protobuf message as it is built.
type message []byte

func (m *message) tag(field int, wire uint64) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|wire)
}

func (m *message) number(field int, v uint64) {
	m.tag(field, 0)
	*m = binary.AppendUvarint(*m, v)
}

func (m *message) fixed(field int, v uint64) {
	m.tag(field, 1)
	*m = binary.LittleEndian.AppendUint64(*m, v)
}

func (m *message) bytes(field int, v []byte) {
	m.tag(field, 2)
	*m = binary.AppendUvarint(*m, uint64(len(v)))
	*m = append(*m, v...)
}

// send writes a packet with one message in it.
func (p *Perfetto) send(field int, body message, time int64, timed bool) {
	const incrementalCleared, needsIncremental = 1, 2
	m := p.packet[:0]
	if timed {
		m.number(packetTimestamp, uint64(time))
	}
	m.number(packetSequence, 1)
	if p.began {
		m.number(packetFlags, needsIncremental)
	} else {
		m.number(packetFlags, incrementalCleared)
		p.began = true
	}
	if len(p.interned) > 0 {
		m.bytes(packetInterned, p.interned)
		p.interned = p.interned[:0]
	}
	m.bytes(field, body)
	p.packet = m
	var head message
	head.tag(1, 2) // Trace.packet
	head = binary.AppendUvarint(head, uint64(len(m)))
	if p.err == nil {
		_, p.err = p.w.Write(head)
	}
	if p.err == nil {
		_, p.err = p.w.Write(m)
	}
}

func (p *Perfetto) uuid() uint64 {
	p.uuids++
	return p.uuids
}

// describe sends a TrackDescriptor: a message of the given field that says what
// kind of track it is.
func (p *Perfetto) describe(uuid, parent uint64, name string, kind int, about message) {
	m := p.body[:0]
	m.number(1, uuid)
	if name != "" {
		m.bytes(2, []byte(name))
	}
	if parent != 0 {
		m.number(5, parent)
	}
	m.bytes(kind, about)
	p.body = m
	p.send(packetDescriptor, m, 0, false)
}

func (p *Perfetto) Process(pid int64, name string) {
	const process = 3
	var about message
	about.number(1, uint64(pid))
	about.bytes(6, []byte(name))
	p.describe(p.uuid(), 0, "", process, about)
}

func (p *Perfetto) Thread(t Track, name string) {
	const thread = 4
	var about message
	about.number(1, uint64(t.PID))
	about.number(2, uint64(t.TID))
	about.bytes(5, []byte(name))
	id := p.uuid()
	p.tracks[t] = id
	p.describe(id, 0, "", thread, about)
}

func (p *Perfetto) Begin(t Track, time int64, name, category string, details []Value, leaving []uint64) {
	m := p.body[:0]
	m.number(9, eventBegin)
	m.number(11, p.tracks[t])
	m.bytes(22, []byte(category))
	m.bytes(23, []byte(name))
	for _, d := range details {
		in := p.inner[:0]
		in.bytes(10, []byte(d.Name))
		switch v := d.Value.(type) {
		case string:
			in.bytes(6, []byte(v))
		case int64:
			in.number(4, uint64(v))
		case uint64:
			in.number(3, v)
		case float64:
			in.fixed(5, math.Float64bits(v))
		}
		p.inner = in
		m.bytes(4, in)
	}
	for _, id := range leaving {
		m.fixed(47, id)
	}
	p.body = m
	p.send(packetTrackEvent, m, time, true)
}

// End ends a slice. Flows end here and not where the slice begins: a receive may
// begin before its send, and the direction of a flow is that of time.
func (p *Perfetto) End(t Track, time int64, arriving []uint64) {
	m := p.body[:0]
	m.number(9, eventEnd)
	m.number(11, p.tracks[t])
	for _, id := range arriving {
		m.fixed(48, id)
	}
	p.body = m
	p.send(packetTrackEvent, m, time, true)
}

func (p *Perfetto) Counter(t Track, time int64, name, unit string, value float64) {
	const counterTrack = 8
	key := counter{t, name, unit}
	id, ok := p.counters[key]
	if !ok {
		id = p.uuid()
		p.counters[key] = id
		var about message
		if unit != "" {
			about.bytes(6, []byte(unit))
		}
		p.describe(id, p.tracks[t], name, counterTrack, about)
	}
	m := p.body[:0]
	m.number(9, eventCounter)
	m.number(11, id)
	m.fixed(44, math.Float64bits(value))
	p.body = m
	p.send(packetTrackEvent, m, time, true)
}

// text interns a string of one kind and returns its number.
func (p *Perfetto) text(field int, text string) uint64 {
	key := internedText{field, text}
	id, ok := p.texts[key]
	if !ok {
		id = uint64(len(p.texts) + 1)
		p.texts[key] = id
		var m message
		m.number(1, id)
		m.bytes(2, []byte(text))
		p.interned.bytes(field, m)
	}
	return id
}

// frame interns a frame and returns its number.
func (p *Perfetto) frame(f Frame) uint64 {
	id, ok := p.byFrame[f]
	if !ok {
		id = uint64(len(p.byFrame) + 1)
		p.byFrame[f] = id
		var m message
		m.number(1, id)
		m.number(2, p.text(internedFunctions, f.Name))
		if f.File != "" {
			m.number(5, p.text(internedSources, f.File))
			m.number(6, uint64(max(f.Line, 0)))
		}
		p.interned.bytes(internedFrames, m)
	}
	return id
}

// stack interns a call stack and returns its number. Parts of it that are no
// stack of a sample are not written.
func (p *Perfetto) stack(frames []Frame) uint64 {
	id := p.stacks.of(frames)
	if p.sent[id] {
		return id
	}
	p.sent[id] = true
	var m message
	m.number(1, id)
	for _, f := range frames {
		m.number(2, p.frame(f))
	}
	p.interned.bytes(internedStacks, m)
	return id
}

func (p *Perfetto) Sample(t Track, time int64, cpu int64, stack []Frame) {
	id := p.stack(stack)
	m := p.body[:0]
	if cpu >= 0 {
		m.number(1, uint64(cpu))
	}
	m.number(2, uint64(t.PID))
	m.number(3, uint64(t.TID))
	m.number(4, id)
	p.body = m
	p.send(packetPerfSample, m, time, true)
}

// Close ends the file.
func (p *Perfetto) Close() error {
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}
