package otf2

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/wholefile"
)

// Chunk sizes that every version of the library accepts.
const (
	eventChunk      = 1 << 20
	definitionChunk = 4 << 20
	maxChunk        = 16 << 20
)

// WriterOptions are what an archive says about itself.
type WriterOptions struct {
	Creator    string
	Resolution uint64 // ticks per second; 0 is 10^9
	Offset     uint64 // tick of the start
	Length     uint64 // ticks
	Realtime   uint64 // ns since 1970 at Offset; 0 is unknown

	eventChunk uint64 // for tests of several chunks
	bigEndian  bool
}

// Writer makes an archive. Definitions are collected and written on Close,
// the anchor last of all, so that an interrupted run leaves no archive that
// looks whole. Event writers of different locations may be used at the same
// time; the Writer itself may not.
type Writer struct {
	path, base string
	o          WriterOptions
	defs       []Definition
	strings    map[string]uint32
	counts     map[DefKind]uint32
	locations  []*EventWriter
	// What the anchor of a copied archive says beside its creator.
	machine, about string
	properties     [][2]string
}

// Create starts an archive at path, which must end in .otf2. Files of an
// earlier archive of that name are an error.
func Create(path string, o WriterOptions) (*Writer, error) {
	base, ok := strings.CutSuffix(path, ".otf2")
	if !ok {
		return nil, fmt.Errorf("%s: the name of an archive must end in .otf2", path)
	}
	for _, p := range []string{path, base, base + ".def"} {
		if _, err := os.Lstat(p); err == nil {
			return nil, fmt.Errorf("%s exists; choose another name or remove it", p)
		}
	}
	if err := os.MkdirAll(base, 0o777); err != nil {
		return nil, err
	}
	if o.Resolution == 0 {
		o.Resolution = 1e9
	}
	if o.eventChunk == 0 {
		o.eventChunk = eventChunk
	}
	return &Writer{path: path, base: base, o: o, strings: map[string]uint32{}, counts: map[DefKind]uint32{}}, nil
}

// define stores a definition; the first field of most is their own id.
func (w *Writer) define(d Definition) uint32 {
	d.Has = len(definitions[d.Kind].fields)
	w.defs = append(w.defs, d)
	id := w.counts[d.Kind]
	w.counts[d.Kind]++ // callers put the same number into the first field
	return id
}

func fieldsIn(v ...uint64) (f [11]uint64) {
	copy(f[:], v)
	return f
}

// String returns the id of a string, defining it when it is new.
func (w *Writer) String(text string) uint32 {
	if id, ok := w.strings[text]; ok {
		return id
	}
	id := w.define(Definition{Kind: defString, F: fieldsIn(uint64(w.counts[defString])), Text: text})
	w.strings[text] = id
	return id
}

// Unrecorded says how many calls the recorder left out.
func (w *Writer) Unrecorded(calls uint64) {
	w.properties = append(w.properties, [2]string{unrecordedCalls, strconv.FormatUint(calls, 10)})
}

// Node defines a system tree node, such as a host; parent may be None.
func (w *Writer) Node(name, class string, parent uint32) uint32 {
	return w.define(Definition{Kind: defSystemNode, F: fieldsIn(uint64(w.counts[defSystemNode]), uint64(w.String(name)), uint64(w.String(class)), uint64(parent))})
}

// Process defines a process that runs on a node.
func (w *Writer) Process(name string, node uint32) uint32 {
	const process = 1
	return w.define(Definition{Kind: defLocationGroup, F: fieldsIn(uint64(w.counts[defLocationGroup]), uint64(w.String(name)), process, uint64(node), uint64(None))})
}

// RegionInfo describes a region to be defined.
type RegionInfo struct {
	Name       string
	File       string
	Begin, End uint32
	Role       uint8
	Paradigm   uint8
}

// Region defines a region.
func (w *Writer) Region(r RegionInfo) uint32 {
	name, file := uint64(w.String(r.Name)), uint64(None)
	if r.File != "" {
		file = uint64(w.String(r.File))
	}
	return w.define(Definition{Kind: defRegion, F: fieldsIn(uint64(w.counts[defRegion]), name, uint64(w.String("")), 0, file,
		uint64(r.Begin), uint64(r.End), name, uint64(r.Role), uint64(r.Paradigm), 0)})
}

// SourceLocation defines a place in the source.
func (w *Writer) SourceLocation(file string, line uint32) uint32 {
	return w.define(Definition{Kind: defSourceLocation, F: fieldsIn(uint64(w.counts[defSourceLocation]), uint64(w.String(file)), uint64(line))})
}

// Context defines a calling context: a region called from a place (None if that
// is not known) in another context or None.
func (w *Writer) Context(region, source, parent uint32) uint32 {
	return w.define(Definition{Kind: defContext, F: fieldsIn(uint64(w.counts[defContext]), uint64(region), uint64(source), uint64(parent))})
}

// MetricMember defines a metric; modes and value types are those of OTF2.
func (w *Writer) MetricMember(name, unit string, mode, value uint8) uint32 {
	const user, decimal = 3, 1
	return w.define(Definition{Kind: defMetricMember, F: fieldsIn(uint64(w.counts[defMetricMember]), uint64(w.String(name)), uint64(w.String("")),
		user, uint64(mode), uint64(value), decimal, 0, uint64(w.String(unit)))})
}

// MetricClass defines metrics that are recorded together.
func (w *Writer) MetricClass(members ...uint32) uint32 {
	d := Definition{Kind: defMetricClass, F: fieldsIn(uint64(w.counts[defMetricClass]))}
	for _, m := range members {
		d.List = append(d.List, uint64(m))
	}
	d.F[2] = 1 // synchronous
	return w.define(d)
}

// MetricInstance says that a location records a class for a scope: another
// location, a location group, a node, or a group of locations. Its id is one of
// those of MetricClass.
//
// unused: by the program, which records no metrics of others; tests of the reader
// write them.
func (w *Writer) MetricInstance(class uint32, recorder uint64, kind ScopeKind, scope uint64) uint32 {
	id := w.counts[defMetricClass]
	w.define(Definition{Kind: defMetricInstance, F: fieldsIn(uint64(id), uint64(class), recorder, uint64(kind), scope)})
	w.counts[defMetricClass]++ // classes and instances share their ids
	return id
}

// Locations defines a group of locations, such as a metric may be recorded for.
//
// unused: as MetricInstance.
func (w *Writer) Locations(name string, members []uint64) uint32 {
	return w.group(name, groupLocations, members)
}

// Attribute defines an attribute; types are those of AttributeValue. One that a
// copied archive defines already is used again.
func (w *Writer) Attribute(name, description string, typ uint8) uint32 {
	text := uint64(w.String(name))
	for _, d := range w.defs {
		if d.Kind == defAttribute && d.F[1] == text && d.F[2] == uint64(typ) {
			return uint32(d.F[0])
		}
	}
	return w.define(Definition{Kind: defAttribute, F: fieldsIn(uint64(w.counts[defAttribute]), text, uint64(typ), uint64(w.String(description)))})
}

// CommLocations says which locations are the ranks of MPI_COMM_WORLD; it must
// come before Comm.
func (w *Writer) CommLocations(locations []uint64) {
	w.group("", groupCommLocations, locations)
}

func (w *Writer) group(name string, typ uint64, members []uint64) uint32 {
	old, paradigm := map[uint64]uint64{groupLocations: 1, groupCommLocations: 6, groupComm: 4, groupSelf: 5}[typ], uint64(ParadigmMPI)
	if typ == groupLocations {
		paradigm = 0
	}
	return w.define(Definition{Kind: defGroup, List: slices.Clone(members),
		F: fieldsIn(uint64(w.counts[defGroup]), uint64(w.String(name)), old, 0, typ, paradigm, 0)})
}

// Comm defines a communicator; members are ranks of MPI_COMM_WORLD by rank in
// the communicator. No members make MPI_COMM_SELF.
func (w *Writer) Comm(name string, members []uint64, parent uint32) uint32 {
	typ := uint64(groupComm)
	if len(members) == 0 {
		typ = groupSelf
	}
	group := w.group(name, typ, members)
	return w.define(Definition{Kind: defComm, F: fieldsIn(uint64(w.counts[defComm]), uint64(w.String(name)), uint64(group), uint64(parent), 0)})
}

// Ranks defines a group of ranks of MPI_COMM_WORLD that is no communicator.
func (w *Writer) Ranks(name string, members []uint64) uint32 {
	return w.group(name, groupComm, members)
}

// InterComm defines a communicator that joins two groups of ranks of
// MPI_COMM_WORLD. Its id is one of those of Comm.
func (w *Writer) InterComm(name string, a, b []uint64, common uint32) uint32 {
	groupA, groupB := w.group(name, groupComm, a), w.group(name, groupComm, b)
	id := w.counts[defComm]
	w.define(Definition{Kind: defInterComm, F: fieldsIn(uint64(id), uint64(w.String(name)), uint64(groupA), uint64(groupB), uint64(common), 0)})
	w.counts[defComm]++ // communicators of both kinds share their ids
	return id
}

// Location defines a thread of a process and returns the writer of its events.
func (w *Writer) Location(name string, process uint32) *EventWriter {
	return w.location(uint64(len(w.locations)), uint64(w.String(name)), LocationCPU, uint64(process))
}

func (w *Writer) location(id, name uint64, typ uint8, group uint64) *EventWriter {
	e := &EventWriter{ID: id, path: filepath.Join(w.base, strconv.FormatUint(id, 10)+".evt"), chunk: int(w.o.eventChunk),
		name: name, group: group, typ: typ}
	e.enc.big = w.o.bigEndian
	w.locations = append(w.locations, e)
	e.head()
	return e
}

// Copy takes over all definitions of an archive but its locations, and what its anchor says about the machine and the trace; ids
// stay what they are, and what is defined afterwards gets ids behind them. It must come first.
func (w *Writer) Copy(a *Archive) error {
	err := a.EachDefinition(func(d *Definition) {
		if d.Kind == defLocation || d.Kind == defClock {
			return
		}
		c := *d
		c.List, c.Values = slices.Clone(d.List), slices.Clone(d.Values)
		w.defs = append(w.defs, c)
		if c.Kind == defString {
			if _, ok := w.strings[c.Text]; !ok {
				w.strings[c.Text] = uint32(c.F[0])
			}
		}
		if id := uint32(c.F[0]); id != None {
			w.counts[c.Kind] = max(w.counts[c.Kind], id+1)
		}
	})
	w.o.Resolution, w.o.Offset, w.o.Length = a.Defs.Clock.Resolution, a.Defs.Clock.Offset, a.Defs.Clock.Length
	if a.Defs.Clock.Realtime != Undefined {
		w.o.Realtime = a.Defs.Clock.Realtime
	}
	// A record that fits a chunk there must fit one here.
	if c := a.Anchor.EventChunk; c > w.o.eventChunk && c <= maxChunk {
		w.o.eventChunk = c
	}
	w.machine, w.about, w.properties = a.Anchor.Machine, a.Anchor.About, a.Anchor.Properties
	return err
}

// CopyLocation defines a location of a copied archive under its own id.
func (w *Writer) CopyLocation(l Location) *EventWriter {
	return w.location(l.ID, uint64(l.Name), l.Type, uint64(l.Group))
}

// EventWriter writes the events of one location. Times must not fall.
type EventWriter struct {
	ID uint64

	path        string
	f           *os.File // opened with the first chunk: a trace may have thousands
	closed      bool
	chunk       int
	enc         encoder // the current chunk
	scratch     encoder
	events      uint64
	now         uint64
	timed       bool // the chunk has a timestamp
	err         error
	name, group uint64
	typ         uint8
	local       encoder // records of the local definition file
}

func order(big bool) byte {
	if big {
		return 0x23
	}
	return 0x42
}

// head begins a chunk; the number of the last event is filled in at its end.
func (e *EventWriter) head() {
	e.enc.b = append(e.enc.b[:0], chunkHead, order(e.enc.big))
	e.enc.fixed(e.events+1, 8)
	e.enc.fixed(e.events, 8)
	e.timed = false
}

// Write appends an event with its attributes. The error of an earlier call is
// returned again.
func (e *EventWriter) Write(ev *Event) error {
	if e.err != nil {
		return e.err
	}
	if ev.Time < e.now {
		e.err = fmt.Errorf("location %d: event at %d after one at %d; times must not fall", e.ID, ev.Time, e.now)
		return e.err
	}
	e.scratch.big = e.enc.big
	e.scratch.b = e.scratch.b[:0]
	e.scratch.attributes(ev.Attributes)
	e.scratch.event(ev)
	// A timestamp takes 9 bytes; one byte must stay for the end of the chunk,
	// and two for the end of the file.
	if len(e.enc.b)+9+len(e.scratch.b)+2 > e.chunk {
		if headSize+9+len(e.scratch.b)+2 > e.chunk {
			e.err = fmt.Errorf("location %d: an event of %d bytes does not fit a chunk of %d", e.ID, len(e.scratch.b), e.chunk)
			return e.err
		}
		e.flush(true)
		e.head()
	}
	if !e.timed || ev.Time != e.now {
		e.enc.b = append(e.enc.b, timestamp)
		e.enc.fixed(ev.Time, 8)
		e.timed = true
	}
	e.now = ev.Time
	e.enc.b = append(e.enc.b, e.scratch.b...)
	e.events++
	return e.err
}

// flush writes the chunk; all but the last are padded.
func (e *EventWriter) flush(pad bool) {
	last := encoder{big: e.enc.big}
	last.fixed(e.events, 8)
	copy(e.enc.b[10:], last.b)
	if pad {
		e.enc.b = append(e.enc.b, make([]byte, e.chunk-len(e.enc.b))...)
	}
	if e.f == nil {
		if e.f, e.err = os.Create(e.path); e.err != nil {
			return
		}
	}
	_, e.err = e.f.Write(e.enc.b)
}

// Close ends the event file. The Writer closes what is still open, but a trace
// of many locations should not keep all of its files open.
func (e *EventWriter) Close() error {
	if e.closed {
		return e.err
	}
	e.closed = true
	if e.err == nil {
		e.enc.b = append(e.enc.b, endOfFile, endOfBuffer)
		e.flush(false)
	}
	if e.f != nil {
		e.err = cmp.Or(e.err, e.f.Sync(), e.f.Close())
	}
	e.f, e.enc.b = nil, nil
	return e.err
}

// ClockOffset notes the difference between the location's clock and the
// global one at a time; readers correct times by at least two of them.
func (e *EventWriter) ClockOffset(time uint64, offset int64) {
	e.local.big = e.enc.big
	e.local.record(localClockOffset, func() {
		e.local.fixed(time, 8)
		e.local.compressed(uint64(offset), 8)
		e.local.fixed(0, 8)
	})
}

// Discard ends an archive that cannot be finished and removes its files.
func (w *Writer) Discard() error {
	for _, e := range w.locations {
		e.Close() // what it could not write is removed with the rest
	}
	return errors.Join(os.RemoveAll(w.base), removeIfThere(w.base+".def"), removeIfThere(w.path))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close writes the definitions and, when all else is on the disk, the anchor:
// without it there is no archive.
func (w *Writer) Close() error {
	defs := w.ordered()
	for _, e := range w.locations {
		if err := e.Close(); err != nil {
			return err
		}
		local := w.definitionFile(func(enc *encoder) { enc.b = append(enc.b, e.local.b...) })
		if err := w.fill(strconv.FormatUint(e.ID, 10)+".def", local); err != nil {
			return err
		}
	}
	if err := w.writeGlobal(defs); err != nil {
		return err
	}
	return wholefile.WriteBytes(w.path, 0, w.anchor(uint64(len(defs))))
}

// fill writes a small file of the folder of locations, which may hold an older
// archive. Nobody reads it before there is an anchor.
func (w *Writer) fill(name string, text []byte) error {
	path := filepath.Join(w.base, name)
	if err := removeIfThere(path); err != nil {
		return err
	}
	return wholefile.Fill(context.Background(), path, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// definitionFile frames records as one chunk.
func (w *Writer) definitionFile(fill func(*encoder)) []byte {
	enc := &encoder{big: w.o.bigEndian}
	enc.b = append(enc.b, chunkHead, order(enc.big))
	enc.fixed(1, 8)
	enc.fixed(0, 8)
	fill(enc)
	return append(enc.b, endOfFile, endOfBuffer)
}

// ordered returns all definitions such that references point back: readers of
// the library warn otherwise.
func (w *Writer) ordered() []Definition {
	clock := Definition{Kind: defClock, F: fieldsIn(w.o.Resolution, w.o.Offset, w.o.Length, w.o.Realtime), Has: 4}
	if w.o.Realtime == 0 {
		clock.F[3] = Undefined
	}
	all := []Definition{clock}
	for _, e := range w.locations {
		w.defs = append(w.defs, Definition{Kind: defLocation, Has: 5, F: fieldsIn(e.ID, e.name, uint64(e.typ), e.events, e.group)})
	}
	rank := map[DefKind]int{}
	for i, k := range []DefKind{defString, 6, 7, 8, defSystemNode, 26, 27, defLocationGroup, 28, defLocation, 29, defRegion, defSourceLocation, defContext,
		16, 17, defAttribute, defMetricMember, defGroup, defMetricClass, defComm, defInterComm, 23, 24} {
		rank[k] = i - 100
	}
	// These share their ids, which must rise.
	rank[defInterComm], rank[defMetricInstance] = rank[defComm], rank[defMetricClass]
	rest := slices.DeleteFunc(slices.Clone(w.defs), func(d Definition) bool { return d.Kind == defClock })
	slices.SortStableFunc(rest, func(a, b Definition) int { return rank[a.Kind] - rank[b.Kind] })
	return append(all, rest...)
}

// writeGlobal writes NAME.def, in several chunks if need be.
func (w *Writer) writeGlobal(defs []Definition) error {
	return wholefile.Write(context.Background(), w.base+".def", 0, func(f io.Writer) error { return w.definitions(f, defs) })
}

func (w *Writer) definitions(f io.Writer, defs []Definition) error {
	enc := &encoder{big: w.o.bigEndian}
	one := &encoder{big: w.o.bigEndian}
	head := func() {
		enc.b = append(enc.b[:0], chunkHead, order(enc.big))
		enc.fixed(1, 8)
		enc.fixed(0, 8)
	}
	head()
	for i := range defs {
		one.b = one.b[:0]
		one.definition(&defs[i])
		if len(enc.b)+len(one.b)+2 > definitionChunk {
			enc.b = append(enc.b, make([]byte, definitionChunk-len(enc.b))...)
			if _, err := f.Write(enc.b); err != nil {
				return err
			}
			head()
		}
		enc.b = append(enc.b, one.b...)
	}
	enc.b = append(enc.b, endOfFile, endOfBuffer)
	_, err := f.Write(enc.b)
	return err
}

func (w *Writer) anchor(defs uint64) []byte {
	enc := &encoder{big: w.o.bigEndian}
	enc.b = append(enc.b, chunkHead, order(enc.big))
	enc.text(magic)
	enc.b = append(enc.b, 3, 2, 3, 0, 2) // anchor and trace format, OTF2 3.0.2
	enc.fixed(w.o.eventChunk, 8)
	enc.fixed(definitionChunk, 8)
	enc.b = append(enc.b, substratePOSIX, compressionNone)
	enc.fixed(uint64(len(w.locations)), 8)
	enc.fixed(defs, 8)
	enc.text(w.machine)
	enc.text(w.o.Creator)
	enc.text(w.about)
	enc.fixed(uint64(len(w.properties)), 4)
	for _, p := range w.properties {
		enc.text(p[0])
		enc.text(p[1])
	}
	enc.fixed(traceID(rand.Reader), 8)
	enc.fixed(0, 4)
	enc.fixed(0, 4)
	return append(enc.b, endOfFile, endOfBuffer, 0)
}

// traceID returns a random number other than zero.
func traceID(r io.Reader) uint64 {
	var b [8]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 1
	}
	return binary.LittleEndian.Uint64(b[:]) | 1
}
