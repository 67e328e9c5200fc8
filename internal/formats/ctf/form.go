package ctf

import (
	"encoding/binary"
	"fmt"
)

// Event is the number of an event in the traces that we write.
type Event uint32

// The events. They are those of OTF2's message passing, which they come from and
// become again.
const (
	Location Event = iota
	Communicator
	Enter
	Leave
	Send
	Recv
	Isend
	Irecv
	IsendComplete
	IrecvRequest
	CollectiveBegin
	CollectiveEnd
)

const messageFields = "uint32_t peer; uint32_t communicator; uint32_t tag; uint64_t bytes;"

// forms are the events with their fields, by number.
var forms = [...]struct{ name, fields string }{
	Location:        {"location", "uint64_t id; string name; string process; string host;"},
	Communicator:    {"communicator", "uint32_t id; string name; uint32_t size; int32_t ranks[size];"},
	Enter:           {"enter", "string region;"},
	Leave:           {"leave", "string region;"},
	Send:            {"mpi_send", messageFields},
	Recv:            {"mpi_recv", messageFields},
	Isend:           {"mpi_isend", messageFields + " uint64_t request;"},
	Irecv:           {"mpi_irecv", messageFields + " uint64_t request;"},
	IsendComplete:   {"mpi_isend_complete", "uint64_t request;"},
	IrecvRequest:    {"mpi_irecv_request", "uint64_t request;"},
	CollectiveBegin: {"mpi_collective_begin", ""},
	CollectiveEnd:   {"mpi_collective_end", "uint32_t operation; uint32_t communicator; uint32_t root; uint64_t sent; uint64_t received;"},
}

// provider is what names of our events begin with.
const provider = "isobath:"

// About is what a trace says about itself.
type About struct {
	Creator    string
	Resolution uint64 // ticks per second
	Realtime   uint64 // ns since 1970 at the first event; 0 is unknown
}

// Metadata is the description of a trace, in the language of the format.
func Metadata(a About) string {
	text := `/* CTF 1.8 */

typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;

trace {
	major = 1;
	minor = 8;
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint32_t stream_id;
	};
};

env {
	domain = "ust";
	tracer_name = "` + a.Creator + `";
};
`
	text += fmt.Sprintf("\nclock {\n\tname = trace;\n\tfreq = %d;\n\toffset_s = %d;\n\toffset = %d;\n};\n", a.Resolution, a.Realtime/1e9, ticks(a.Realtime%1e9, a.Resolution))
	text += `
typealias integer { size = 64; align = 8; signed = false; map = clock.trace.value; } := clock_t;

stream {
	id = 0;
	packet.context := struct {
		uint64_t content_size;
		uint64_t packet_size;
		clock_t timestamp_begin;
		clock_t timestamp_end;
		int32_t rank;
		uint64_t location;
	};
	event.header := struct {
		uint32_t id;
		clock_t timestamp;
	};
};
`
	for id, f := range forms {
		text += fmt.Sprintf("\nevent {\n\tname = %q;\n\tid = %d;\n\tstream_id = 0;\n\tfields := struct { %s };\n};\n", provider+f.name, id, f.fields)
	}
	return text
}

func ticks(ns, resolution uint64) uint64 { return uint64(float64(ns) / 1e9 * float64(resolution)) }

// Packet is the head of a stream that we write.
type Packet struct {
	Rank       int32
	Location   uint64
	Bytes      uint64 // of the whole packet, with its head
	Begin, End uint64
}

// PacketHead is how many bytes a head takes.
const PacketHead = 8 + 4*8 + 4 + 8

// Encode is the head as it stands in the file.
func (p Packet) Encode() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, magic)
	b = le.AppendUint32(b, 0)
	for _, v := range []uint64{p.Bytes * 8, p.Bytes * 8, p.Begin, p.End} {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint32(b, uint32(p.Rank))
	return le.AppendUint64(b, p.Location)
}

// magic begins every packet of events.
const magic = 0xC1FC1FC1
