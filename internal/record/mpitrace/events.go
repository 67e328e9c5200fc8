package mpitrace

import (
	"fmt"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// stream writes the events of one thread of a process.
type stream struct {
	*converter
	rank int
	out  *otf2.EventWriter
	last uint64
	open []uint32 // regions entered and not left
	got  uint64   // bytes received by the collective about to complete

	ready uint64 // ns without a processor before the entry or exit that follows

	to, from []uint64 // whom the call that is open exchanges data with, as a neighbour
}

// events copies one file: its first thread to e, each other one to a location of
// its own. A process that died leaves regions open; they are closed where its
// records end.
func (c *converter) events(rank int, f *rankFile, e *otf2.EventWriter, process uint32) error {
	threads := []*stream{c.stream(rank, f, e)}
	s := threads[0]
	err := f.each(func(r *record) error {
		if r.kind != kThread {
			return s.write(r)
		}
		if int(r.a) == len(threads) {
			threads = append(threads, c.stream(rank, f, c.out.Location(fmt.Sprintf("thread %d", r.a), process)))
		}
		s = threads[r.a]
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range threads {
		for len(s.open) > 0 {
			if err := s.leave(s.open[len(s.open)-1]); err != nil {
				return err
			}
		}
		if err := s.out.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (c *converter) stream(rank int, f *rankFile, e *otf2.EventWriter) *stream {
	e.ClockOffset(f.time[0], f.offset[0])
	e.ClockOffset(f.time[1], f.offset[1])
	return &stream{converter: c, rank: rank, out: e}
}

func (s *stream) put(kind otf2.Kind, fields ...uint64) error {
	ev := otf2.Event{Kind: kind, Time: s.last}
	copy(ev.F[:], fields)
	s.sum.Events++
	return s.out.Write(&ev)
}

// enter writes the beginning of a call, with the place it came from if that is
// known.
func (s *stream) enter(region uint32, site *otf2.AttributeValue) error {
	ev := otf2.Event{Kind: otf2.Enter, Time: s.last}
	ev.F[0] = uint64(region)
	if site != nil {
		ev.Attributes = []otf2.AttributeValue{*site}
	}
	ev.Attributes = s.unready(ev.Attributes)
	s.sum.Events++
	return s.out.Write(&ev)
}

func (s *stream) leave(region uint32) error {
	if n := len(s.open); n > 0 {
		s.open = s.open[:n-1]
	}
	ev := otf2.Event{Kind: otf2.Leave, Time: s.last, Attributes: s.unready(s.exchanged())}
	ev.F[0] = uint64(s.region[region])
	s.sum.Events++
	return s.out.Write(&ev)
}

const (
	readyAttribute = "isobath::ready without a processor"
	typeUint64     = 4
)

// unready adds how long the thread had been ready to run without a processor.
func (s *stream) unready(list []otf2.AttributeValue) []otf2.AttributeValue {
	if s.ready == 0 {
		return list
	}
	list = append(list, otf2.AttributeValue{ID: s.readyID, Value: otf2.Value{Type: typeUint64, Bits: s.ready}})
	s.ready = 0
	return list
}

// comm is the number of a communicator in the archive.
func (s *stream) comm(local uint32) uint64 {
	if int(local) < len(s.local[s.rank]) {
		return uint64(s.local[s.rank][local].id)
	}
	return 0
}

func (s *stream) write(r *record) error {
	s.last = max(s.last, r.time)
	peer, comm, tag := uint64(r.a), s.comm(r.comm), uint64(uint32(r.tag))
	switch r.kind {
	case kEnter:
		s.open = append(s.open, r.a)
		return s.enter(s.region[r.a], s.sites[s.rank].context(r.site))
	case kLeave:
		return s.leave(r.a)
	case kSend:
		return s.put(otf2.MPISend, peer, comm, tag, r.len)
	case kIsend:
		return s.put(otf2.MPIIsend, peer, comm, tag, r.len, r.req)
	case kIsendDone:
		return s.put(otf2.MPIIsendComplete, r.req)
	case kRecvPosted:
		return s.put(otf2.MPIIrecvRequest, r.req)
	case kRecv:
		return s.put(otf2.MPIRecv, peer, comm, tag, r.len)
	case kIrecv:
		return s.put(otf2.MPIIrecv, peer, comm, tag, r.len, r.req)
	case kTested:
		return s.put(otf2.MPIRequestTest, r.req)
	case kCancelled:
		return s.put(otf2.MPIRequestCancelled, r.req)
	case kCollBegin:
		return s.put(otf2.MPICollectiveBegin)
	case kCollEnd:
		return s.put(otf2.MPICollectiveEnd, uint64(r.op), comm, peer, r.len, r.req)
	case kNBCRequest:
		return s.put(otf2.NBCRequest, r.req)
	case kNBCGot:
		s.got = r.len
	case kNBCDone:
		return s.put(otf2.NBCComplete, uint64(r.op), comm, peer, r.len, s.got, r.req)
	case kFlush:
		return s.put(otf2.BufferFlush, r.len)
	case kNear:
		s.near(r)
	case kReady:
		s.ready += r.len
	case kComm, kMembers, kCommFreed, kSite, kGroup:
	default:
		return s.sided(r)
	}
	return nil
}
