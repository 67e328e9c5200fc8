package ctf

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// lttng is a description as LTTng writes those of user space: numbers of 5 and 27
// bits in one word, a variant for long identities, names with underscores.
const lttng = `/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;
trace {
	major = 1; minor = 8; uuid = "00000000-0000-0000-0000-000000000000"; byte_order = le;
	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };
};
env { hostname = "host"; domain = "ust"; tracer_major = 2; };
clock { name = "monotonic"; description = "Monotonic Clock"; freq = 1000000000; offset = 1000; };
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_monotonic_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_monotonic_t;
struct packet_context { uint64_clock_monotonic_t timestamp_begin; uint64_clock_monotonic_t timestamp_end; uint64_t content_size; uint64_t packet_size; uint32_t cpu_id; };
struct event_header_compact {
	enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct { uint27_clock_monotonic_t timestamp; } compact;
		struct { uint32_t id; uint64_clock_monotonic_t timestamp; } extended;
	} v;
} align(8);
stream { id = 0; event.header := struct event_header_compact; packet.context := struct packet_context;
	event.context := struct { integer { size = 32; align = 8; signed = 1; base = 10; } _vpid; integer { size = 32; align = 8; signed = 1; } _vtid; }; };
event { name = "lttng_ust_mpi:MPI_Send_entry"; id = 0; stream_id = 0; loglevel = 13; fields := struct { integer { size = 32; align = 8; signed = 1; } _dest; string _name; }; };
event { name = "lttng_ust_mpi:MPI_Send_exit"; id = 1; stream_id = 0; loglevel = 13; fields := struct { }; };
event { name = "lttng_ust_cyg_profile:func_entry"; id = 40; stream_id = 0; fields := struct { unsigned long _addr; uint16_t __len_length; uint8_t _len[ __len_length ]; }; };
event { name = "lttng_ust_statedump:start"; id = 2; stream_id = 0; fields := struct { }; };
`

// packet makes a packet of the description above with the given events.
func packet(begin uint64, events ...[]byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, magic)
	b = append(b, make([]byte, 16)...)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint64(b, begin)
	b = le.AppendUint64(b, begin+1000)
	sizes := len(b)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint32(b, 3)
	for _, e := range events {
		b = append(b, e...)
	}
	le.PutUint64(b[sizes:], uint64(len(b))*8)
	b = append(b, make([]byte, 13)...) // what follows the content is not read
	le.PutUint64(b[sizes+8:], uint64(len(b))*8)
	return b
}

func compact(id, time uint32, tid uint32, fields ...byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, id|time<<5)
	b = binary.LittleEndian.AppendUint32(b, 77)
	b = binary.LittleEndian.AppendUint32(b, tid)
	return append(b, fields...)
}

func extended(id uint32, time uint64, tid uint32, fields ...byte) []byte {
	b := []byte{31}
	b = binary.LittleEndian.AppendUint32(b, id)
	b = binary.LittleEndian.AppendUint64(b, time)
	b = binary.LittleEndian.AppendUint32(b, 77)
	b = binary.LittleEndian.AppendUint32(b, tid)
	return append(b, fields...)
}

func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "session")
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestUserSpace reads calls of one thread from the streams of two CPUs, with a
// clock whose low bits go around.
func TestUserSpace(t *testing.T) {
	const wrap = 1 << 27
	one := packet(wrap-100, compact(0, wrap-50, 5, append([]byte{1, 0, 0, 0}, "x\x00"...)...), compact(1, 20, 5), compact(2, 30, 5))
	two := packet(wrap+30, extended(40, wrap+40, 5, append(make([]byte, 7), 0x10, 2, 0, 'a', 'b')...))
	folder := lay(t, map[string]string{"ust/uid/0/64-bit/metadata": lttng, "ust/uid/0/64-bit/ch_0": string(one), "ust/uid/0/64-bit/ch_1": string(two)})
	if in, err := foreign.Look(folder); err != nil || !Format.Sniff(in) {
		t.Fatalf("not recognised: %v", err)
	}
	a, err := open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Defs.Locations) != 1 {
		t.Fatalf("%d threads: %v", len(a.Defs.Locations), a.Warnings.List())
	}
	r, err := a.Events(a.Defs.Locations[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var ev otf2.Event
	times := []uint64{wrap - 50, wrap + 20, wrap + 40}
	for r.Next(&ev) {
		if len(got) < len(times) && ev.Time != times[len(got)] {
			t.Errorf("event %d at %d, want %d", len(got), ev.Time, times[len(got)])
		}
		got = append(got, ev.Kind.String()+" "+a.Defs.Text(a.Defs.Regions[uint32(ev.F[0])].Name))
	}
	if want := "ENTER MPI_Send,LEAVE MPI_Send,ENTER 0x1000000000000000"; strings.Join(got, ",") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ","), want)
	}
	if notes := strings.Join(a.Warnings.List(), "\n"); !strings.Contains(notes, "lttng_ust_statedump:start") {
		t.Errorf("notes: %s", notes)
	}
}

func TestDamaged(t *testing.T) {
	for _, tt := range []struct{ name, metadata, want string }{
		{"no stream", "/* CTF 1.8 */ trace { major = 1; };", "no stream"},
		{"unknown type", "/* CTF 1.8 */ stream { packet.context := struct { foo_t a; }; };", `"foo_t" is not known`},
		{"deep", "/* CTF 1.8 */ stream { packet.context := " + strings.Repeat("struct { ", 99) + "};", "deep"},
		{"huge number", "/* CTF 1.8 */ typealias integer { size = 4096; } := x;", "4096 bits"},
		{"ends early", "/* CTF 1.8 */ stream { id = 0;", "ends inside"},
	} {
		if _, err := open(lay(t, map[string]string{"metadata": tt.metadata})); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := open(lay(t, map[string]string{"metadata": lttng})); err == nil || !strings.Contains(err.Error(), "no events at all") {
		t.Errorf("%v", err)
	}
}

// FuzzRead holds that neither a description nor a stream makes the reader fail in
// another way than with an error or a note.
func FuzzRead(f *testing.F) {
	f.Add(lttng, packet(5, compact(1, 20, 5)))
	f.Add(Metadata(About{Resolution: 1e9}), append(Packet{Bytes: PacketHead}.Encode(), 1, 2, 3))
	f.Fuzz(func(t *testing.T, metadata string, stream []byte) {
		d, err := parseDescription(metadata)
		if err != nil {
			return
		}
		newReader(d).stream("fuzz", stream)
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte("\x57\x1d\xd1\x75"))
	f.Fuzz(func(t *testing.T, raw []byte) { _, _ = metadataText(raw) })
}
