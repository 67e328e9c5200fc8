package ctf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/formats/tracecopy"
)

// happened is an event that is kept.
type happened struct {
	time uint64
	kind otf2.Kind
	name string // of a region
	f    [6]uint64
}

// thread is what one thread did; events of the tracers' streams, which are those
// of CPUs, are put in order at the end.
type thread struct {
	rank                int32
	id                  uint64
	name, process, host string
	events              []happened
	fell                bool // an event is older than the one before it
}

// threadKey tells threads apart: our own by location, others by process and
// thread, or by stream.
type threadKey struct {
	process, thread int64
	stream          string
}

type group struct {
	id    uint32
	name  string
	ranks []int64
}

// reader collects what the streams hold.
type reader struct {
	d       *description
	threads map[threadKey]*thread
	order   []threadKey
	groups  []group
	skipped map[string]int
	notes   map[string]int
	ours    bool
	now     uint64 // of the stream that is read
}

func newReader(d *description) *reader {
	return &reader{d: d, threads: map[threadKey]*thread{}, skipped: map[string]int{}, notes: map[string]int{}}
}

// stream reads the packets of a file. What is damaged ends it; the events before
// are kept.
func (r *reader) stream(name string, data []byte) {
	r.now = 0
	for len(data) > 0 {
		size, err := r.packet(name, data)
		if err != nil {
			r.notes[fmt.Sprintf("stream %s: %v; the events before are kept", name, err)]++
			return
		}
		data = data[size:]
	}
}

// packet reads one packet and returns its size in bytes.
func (r *reader) packet(file string, data []byte) (int, error) {
	c := &cursor{data: data, end: uint64(len(data)) * 8}
	head := newValues()
	if r.d.header != nil {
		if err := c.decode(r.d.header, "", head); err != nil {
			return 0, err
		}
		if m, ok := head.numbers["magic"]; ok && uint32(m) != magic {
			return 0, fmt.Errorf("a packet begins with %#x", uint32(m))
		}
	}
	s := r.d.streams[uint64(head.numbers["stream_id"])]
	if s == nil {
		return 0, fmt.Errorf("stream class %d is not described", head.numbers["stream_id"])
	}
	whole := c.end
	if s.packet != nil {
		if err := c.decode(s.packet, "", head); err != nil {
			return 0, err
		}
		content, packet := c.end, c.end
		if v, ok := head.numbers["packet_size"]; ok {
			packet, content = uint64(v), uint64(v)
		}
		if v, ok := head.numbers["content_size"]; ok {
			content = uint64(v)
		}
		if content > packet || packet > c.end || packet == 0 || packet%8 != 0 || content < c.pos {
			return 0, fmt.Errorf("a packet of %d bits, %d of them content, and %d are left", packet, content, c.end)
		}
		c.end, whole = content, packet
		if v, ok := head.numbers["timestamp_begin"]; ok {
			r.now = uint64(v)
		}
	}
	return int(whole / 8), r.events(file, c, s, head)
}

func (r *reader) events(file string, c *cursor, s *streamForm, head *values) error {
	v := newValues()
	for c.pos < c.end {
		v.reset()
		at := c.pos
		if s.header != nil {
			if err := c.decode(s.header, "", v); err != nil {
				return err
			}
		}
		for _, clock := range v.clocks {
			r.advance(clock)
		}
		id := uint64(v.numbers["id"])
		if len(v.clocks) == 0 {
			if t, ok := v.numbers["timestamp"]; ok {
				r.now = uint64(t)
			}
		}
		e := s.events[id]
		if e == nil {
			return fmt.Errorf("event %d is not described", id)
		}
		for _, part := range []*dataType{s.context, e.context, e.fields} {
			if part == nil {
				continue
			}
			if err := c.decode(part, "", v); err != nil {
				return err
			}
		}
		if c.pos == at {
			return fmt.Errorf("event %q takes no room", e.name)
		}
		r.take(file, e.name, head, v)
	}
	return nil
}

// advance moves the clock: a field of fewer bits is the low part of it, and has
// gone around once where it falls.
func (r *reader) advance(c clockValue) {
	if c.size >= 64 {
		r.now = c.value
		return
	}
	mask := uint64(1)<<c.size - 1
	next := r.now&^mask | c.value
	if next < r.now {
		next += mask + 1
	}
	r.now = next
}

// take keeps an event that is a call or a message.
func (r *reader) take(file, name string, head, v *values) {
	if own, ok := strings.CutPrefix(name, provider); ok {
		r.own(own, head, v)
		return
	}
	kind, region, ok := callOf(name, v)
	if !ok {
		r.skipped[name]++
		return
	}
	key := threadKey{process: -1, thread: -1, stream: file}
	if tid, ok := v.numbers["vtid"]; ok {
		key = threadKey{v.numbers["vpid"], tid, ""}
	}
	th := r.thread(key)
	th.add(happened{time: r.now, kind: kind, name: region})
}

// callOf recognises events that begin or end a call by how tracers of user space
// name them: func_entry and func_exit of the compiler's instrumentation, and
// NAME_entry and NAME_exit, with other words for both.
func callOf(name string, v *values) (kind otf2.Kind, region string, ok bool) {
	_, short, _ := strings.Cut(name, ":")
	if short == "" {
		short = name
	}
	for _, w := range []struct {
		ending string
		kind   otf2.Kind
	}{{"_entry", otf2.Enter}, {"_exit", otf2.Leave}, {"_begin", otf2.Enter}, {"_end", otf2.Leave}, {"_start", otf2.Enter}, {"_stop", otf2.Leave}} {
		region, found := strings.CutSuffix(short, w.ending)
		if !found || region == "" {
			continue
		}
		if region == "func" {
			if addr, ok := v.numbers["addr"]; ok {
				region = fmt.Sprintf("0x%x", uint64(addr))
			} else if w.kind == otf2.Leave {
				region = "" // the innermost
			}
		}
		return w.kind, region, true
	}
	return 0, "", false
}

func (r *reader) thread(key threadKey) *thread {
	th := r.threads[key]
	if th == nil {
		th = &thread{rank: -1}
		r.threads[key] = th
		r.order = append(r.order, key)
	}
	return th
}

func (th *thread) add(h happened) {
	if n := len(th.events); n > 0 && h.time < th.events[n-1].time {
		th.fell = true
	}
	th.events = append(th.events, h)
}

// ownKinds are the events that we write which are records of OTF2, with the
// fields in its order.
var ownKinds = map[string]struct {
	kind   otf2.Kind
	fields []string
}{
	"mpi_send":             {otf2.MPISend, []string{"peer", "communicator", "tag", "bytes"}},
	"mpi_recv":             {otf2.MPIRecv, []string{"peer", "communicator", "tag", "bytes"}},
	"mpi_isend":            {otf2.MPIIsend, []string{"peer", "communicator", "tag", "bytes", "request"}},
	"mpi_irecv":            {otf2.MPIIrecv, []string{"peer", "communicator", "tag", "bytes", "request"}},
	"mpi_isend_complete":   {otf2.MPIIsendComplete, []string{"request"}},
	"mpi_irecv_request":    {otf2.MPIIrecvRequest, []string{"request"}},
	"mpi_collective_begin": {otf2.MPICollectiveBegin, nil},
	"mpi_collective_end":   {otf2.MPICollectiveEnd, []string{"operation", "communicator", "root", "sent", "received"}},
}

// own takes an event of a trace that we wrote, or another program copied.
func (r *reader) own(name string, head, v *values) {
	r.ours = true
	location := head.numbers["location"]
	th := r.thread(threadKey{thread: location})
	th.rank, th.id = int32(head.numbers["rank"]), uint64(location)
	switch name {
	case "location":
		th.name, th.process, th.host = v.texts["name"], v.texts["process"], v.texts["host"]
	case "communicator":
		r.groups = append(r.groups, group{uint32(v.numbers["id"]), v.texts["name"], slices.Clone(v.lists["ranks"])})
	case "enter":
		th.add(happened{time: r.now, kind: otf2.Enter, name: v.texts["region"]})
	case "leave":
		th.add(happened{time: r.now, kind: otf2.Leave, name: v.texts["region"]})
	default:
		form, ok := ownKinds[name]
		if !ok {
			r.skipped[provider+name]++
			return
		}
		h := happened{time: r.now, kind: form.kind}
		for i, field := range form.fields {
			h.f[i] = uint64(v.numbers[field])
		}
		th.add(h)
	}
}

// archive writes what was read as OTF2.
func (r *reader) archive(path string) (*otf2.Archive, error) {
	m, err := tracecopy.New(otf2.WriterOptions{Creator: "CTF", Resolution: r.d.resolution, Realtime: r.realtime()})
	if err != nil {
		return nil, err
	}
	if err := r.fill(m); err != nil {
		return nil, fmt.Errorf("%w (%v)", err, m.Abandon())
	}
	for text, n := range r.notes {
		m.Note("%s (%d)", text, n)
	}
	if all := 0; len(r.skipped) > 0 {
		for _, n := range r.skipped {
			all += n
		}
		m.Note("%d events of %d kinds that are neither calls nor messages are left out: %s", all, len(r.skipped), strings.TrimPrefix(r.unknown(), "it has "))
	}
	return m.Finish(path)
}

// realtime is when tick 0 was, in ns since 1970; 0 if that is not known.
func (r *reader) realtime() uint64 {
	if r.d.offset == 0 {
		return 0
	}
	return r.d.offset/r.d.resolution*1e9 + r.d.offset%r.d.resolution*1e9/r.d.resolution
}
