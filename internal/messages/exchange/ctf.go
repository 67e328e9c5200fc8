package exchange

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/formats/ctf"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/messages/trace"
)

// CTF writes a trace in the Common Trace Format 1.8: a folder with the metadata
// and a stream of events for each location. Ranks are those of MPI_COMM_WORLD.
func CTF(ctx context.Context, t *trace.Trace, folder string) error {
	if _, err := os.Lstat(folder); err == nil {
		return fmt.Errorf("%s exists; choose another name or remove it", folder)
	}
	a, err := t.Archive()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	w := &ctfWriter{trace: t, archive: a, folder: folder, rank: map[uint64]int32{}}
	if err := w.write(ctx); err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	return nil
}

type ctfWriter struct {
	trace   *trace.Trace
	archive *otf2.Archive
	folder  string
	rank    map[uint64]int32 // of locations
}

func (w *ctfWriter) write(ctx context.Context) error {
	for r, id := range w.archive.Defs.CommLocations[otf2.ParadigmMPI] {
		w.rank[id] = int32(r)
	}
	for i, l := range w.archive.Defs.Locations {
		if err := w.location(ctx, i, l); err != nil {
			return fmt.Errorf("location %d: %w", l.ID, err)
		}
	}
	// The metadata last: without it the folder is no trace.
	about := ctf.About{Creator: "isobath", Resolution: w.trace.Resolution, Realtime: w.trace.Realtime}
	return wholefile.WriteBytes(filepath.Join(w.folder, "metadata"), 0, []byte(ctf.Metadata(about)))
}

// location writes the stream of a location: a packet of all its events.
func (w *ctfWriter) location(ctx context.Context, number int, l otf2.Location) error {
	d := w.archive.Defs
	rank, ok := w.rank[l.ID]
	if !ok {
		rank = w.rankOfGroup(l.Group)
	}
	group := d.LocationGroups[l.Group]
	path := filepath.Join(w.folder, fmt.Sprintf("stream_%d", number))
	return wholefile.Fill(ctx, path, func(f *os.File) error {
		p := &ctfPacket{w: bufio.NewWriterSize(f, 1<<16), origin: uint64(int64(w.trace.Origin) + w.trace.First), defs: d}
		p.raw(make([]byte, ctf.PacketHead)) // filled in when it is known
		p.event(ctf.Location, p.origin)
		p.u64(l.ID)
		p.text(d.Text(l.Name))
		p.text(d.Text(group.Name))
		p.text(d.Text(d.Nodes[group.Parent].Name))
		if number == 0 {
			w.communicators(p)
		}
		if err := w.events(ctx, p, l.ID); err != nil {
			return err
		}
		if err := p.flush(); err != nil {
			return err
		}
		head := ctf.Packet{Rank: rank, Location: l.ID, Bytes: p.size, Begin: 0, End: p.last}
		_, err := f.WriteAt(head.Encode(), 0)
		return err
	})
}

// rankOfGroup is the rank of another location of the same process, or -1.
func (w *ctfWriter) rankOfGroup(group uint32) int32 {
	if group != otf2.None {
		for _, l := range w.archive.Defs.Locations {
			if r, ok := w.rank[l.ID]; ok && l.Group == group {
				return r
			}
		}
	}
	return -1
}

// communicators says who is in each, before anything else happens.
func (w *ctfWriter) communicators(p *ctfPacket) {
	d := w.archive.Defs
	for _, c := range w.trace.Comms {
		if c.Self {
			continue
		}
		members := d.Members(c.ID)
		if len(members.Other) > 0 || len(members.Ranks) == 0 {
			continue // two groups: its messages are written with ranks of the world
		}
		p.event(ctf.Communicator, p.origin)
		p.u32(c.ID)
		p.text(c.Name)
		p.u32(uint32(len(members.Ranks)))
		for _, id := range members.Ranks {
			rank, ok := w.rank[id]
			if !ok {
				rank = -1
			}
			p.u32(uint32(rank))
		}
	}
}

func (w *ctfWriter) events(ctx context.Context, p *ctfPacket, location uint64) error {
	r, err := w.archive.Events(location)
	if err != nil {
		return err
	}
	defer r.Close()
	var ev otf2.Event
	for n := 0; r.Next(&ev); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p.put(&ev)
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

// ctfPacket is the packet of a location while it is written.
type ctfPacket struct {
	w      *bufio.Writer
	defs   *otf2.Definitions
	origin uint64
	size   uint64
	last   uint64
	err    error
}

func (p *ctfPacket) raw(b []byte) {
	p.size += uint64(len(b))
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
}

func (p *ctfPacket) u32(v uint32) { p.raw(binary.LittleEndian.AppendUint32(nil, v)) }
func (p *ctfPacket) u64(v uint64) { p.raw(binary.LittleEndian.AppendUint64(nil, v)) }

// text writes a string, which ends with a zero byte and so cannot hold one.
func (p *ctfPacket) text(s string) {
	b := []byte(s)
	for i, c := range b {
		if c == 0 {
			b[i] = ' '
		}
	}
	p.raw(append(b, 0))
}

func (p *ctfPacket) event(id ctf.Event, time uint64) {
	if time < p.origin {
		time = p.origin
	}
	p.last = max(p.last, time-p.origin) // times of a stream never fall
	p.u32(uint32(id))
	p.u64(p.last)
}

// region is the name of a region or of the region of a calling context.
func (p *ctfPacket) region(ev *otf2.Event) string {
	id := uint32(ev.F[0])
	if ev.Kind == otf2.CallingEnter || ev.Kind == otf2.CallingLeave {
		id = p.defs.Contexts[id].Region
	}
	return p.defs.Text(p.defs.Regions[id].Name)
}

// put writes an event that the format has; others are left out.
func (p *ctfPacket) put(ev *otf2.Event) {
	f := func(i int) uint32 { return uint32(ev.F[i]) }
	switch ev.Kind {
	case otf2.Enter, otf2.CallingEnter:
		p.event(ctf.Enter, ev.Time)
		p.text(p.region(ev))
	case otf2.Leave, otf2.CallingLeave:
		p.event(ctf.Leave, ev.Time)
		p.text(p.region(ev))
	case otf2.MPISend, otf2.MPIRecv:
		p.event(map[otf2.Kind]ctf.Event{otf2.MPISend: ctf.Send, otf2.MPIRecv: ctf.Recv}[ev.Kind], ev.Time)
		p.message(f(0), f(1), f(2), ev.F[3])
	case otf2.MPIIsend, otf2.MPIIrecv:
		p.event(map[otf2.Kind]ctf.Event{otf2.MPIIsend: ctf.Isend, otf2.MPIIrecv: ctf.Irecv}[ev.Kind], ev.Time)
		p.message(f(0), f(1), f(2), ev.F[3])
		p.u64(ev.F[4])
	case otf2.MPIIsendComplete:
		p.event(ctf.IsendComplete, ev.Time)
		p.u64(ev.F[0])
	case otf2.MPIIrecvRequest:
		p.event(ctf.IrecvRequest, ev.Time)
		p.u64(ev.F[0])
	case otf2.MPICollectiveBegin:
		p.event(ctf.CollectiveBegin, ev.Time)
	case otf2.MPICollectiveEnd:
		p.event(ctf.CollectiveEnd, ev.Time)
		p.u32(f(0))
		p.u32(f(1))
		p.u32(f(2))
		p.u64(ev.F[3])
		p.u64(ev.F[4])
	}
}

func (p *ctfPacket) message(peer, comm, tag uint32, bytes uint64) {
	p.u32(peer)
	p.u32(comm)
	p.u32(tag)
	p.u64(bytes)
}

func (p *ctfPacket) flush() error {
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}
