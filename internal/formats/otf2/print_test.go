package otf2

import (
	"fmt"
	"strings"
)

// line prints an event as otf2-print does: what follows name, location and
// time. It covers the records that occur in the shared traces; the others are
// compared value by value (TestEveryRecord).
func line(a *Archive, loc uint64, ev *Event, members map[uint32]Members) string {
	d := a.Defs
	named := func(text string, id uint64) string { return fmt.Sprintf("%q <%d>", text, id) }
	region := func(id uint64) string {
		r, ok := d.Regions[uint32(id)]
		if !ok {
			return fmt.Sprintf("INVALID <%d>", id)
		}
		return named(d.Text(r.Name), id)
	}
	comm := func(id uint64) string {
		if id == Undefined32 {
			return "UNDEFINED"
		}
		c, ok := d.Comms[uint32(id)]
		if !ok {
			return fmt.Sprintf("INVALID <%d>", id)
		}
		return named(d.Text(c.Name), id)
	}
	location := func(id uint64) string {
		for _, l := range d.Locations {
			if l.ID == id {
				return named(d.Text(l.Name), id)
			}
		}
		return fmt.Sprintf("INVALID <%d>", id)
	}
	peer := func(rank, c uint64) string {
		m, ok := members[uint32(c)]
		if !ok {
			m = d.Members(uint32(c))
			members[uint32(c)] = m
		}
		if id, ok := m.Peer(rank, loc); ok {
			return fmt.Sprintf("%d (%s)", rank, location(id))
		}
		return fmt.Sprintf("%d (INVALID)", rank)
	}
	f := ev.F
	switch ev.Kind {
	case BufferFlush:
		return fmt.Sprintf("Stop Time: %d", f[0])
	case Enter, Leave:
		return "Region: " + region(f[0])
	case MPISend, MPIIsend, MPIRecv, MPIIrecv:
		who := "Receiver"
		if ev.Kind == MPIRecv || ev.Kind == MPIIrecv {
			who = "Sender"
		}
		s := fmt.Sprintf("%s: %s, Communicator: %s, Tag: %d, Length: %d", who, peer(f[0], f[1]), comm(f[1]), f[2], f[3])
		if ev.Kind == MPIIsend || ev.Kind == MPIIrecv {
			s += fmt.Sprintf(", Request: %d", f[4])
		}
		return s
	case MPIIsendComplete, MPIIrecvRequest, MPIRequestTest, MPIRequestCancelled, NBCRequest:
		return fmt.Sprintf("Request: %d", f[0])
	case MPICollectiveBegin:
		return ""
	case MPICollectiveEnd, NBCComplete:
		root := "NONE"
		if f[2] != RootNone {
			root = peer(f[2], f[1])
		}
		s := fmt.Sprintf("Operation: %s, Communicator: %s, Root: %s, Sent: %d, Received: %d",
			collectiveNames[f[0]], comm(f[1]), root, f[3], f[4])
		if ev.Kind == NBCComplete {
			s += fmt.Sprintf(", Request: %d", f[5])
		}
		return s
	case ProgramBegin:
		s := fmt.Sprintf("Name: %s, %d Arguments", named(d.Text(uint32(f[0])), f[0]), len(ev.List))
		for i, v := range ev.List {
			sep := ", "
			if i == 0 {
				sep = ": "
			}
			s += sep + named(d.Text(uint32(v.Bits)), v.Bits)
		}
		return s
	case 84:
		if f[0] == 1<<63 { // how OTF2 leaves a signed number undefined
			return "Exit status: UNDEFINED"
		}
		return fmt.Sprintf("Exit status: %d", int64(f[0]))
	case 87, 88:
		return "Communicator: " + comm(f[0])
	case 63, 65:
		return fmt.Sprintf("Thread Contingent: %s, Sequence Count: %s", comm(f[0]), number(f[1]))
	}
	return fmt.Sprintf("no text for %v", ev.Kind)
}

func number(v uint64) string {
	if v == Undefined {
		return "UNDEFINED"
	}
	return fmt.Sprint(v)
}

var collectiveNames = strings.Fields(`BARRIER BCAST GATHER GATHERV SCATTER SCATTERV ALLGATHER ALLGATHERV ALLTOALL
	ALLTOALLV ALLTOALLW ALLREDUCE REDUCE REDUCE_SCATTER SCAN EXSCAN REDUCE_SCATTER_BLOCK CREATE_HANDLE DESTROY_HANDLE
	ALLOCATE DEALLOCATE CREATE_HANDLE_AND_ALLOCATE DESTROY_HANDLE_AND_DEALLOCATE`)

// attributeLine prints an attribute list as otf2-print does, for the types of
// the shared traces.
func attributeLine(a *Archive, attrs []AttributeValue) string {
	var parts []string
	for _, v := range attrs {
		name := a.Defs.Text(a.Defs.Attributes[v.ID].Name)
		typ := map[uint8]string{1: "UINT8", 2: "UINT16", 3: "UINT32", 4: "UINT64", 5: "INT8", 6: "INT16", 7: "INT32", 8: "INT64"}[v.Type]
		parts = append(parts, fmt.Sprintf("(%q <%d>; %s; %d)", name, v.ID, typ, v.Bits))
	}
	return "ADDITIONAL ATTRIBUTES: " + strings.Join(parts, ", ")
}
