package tracks

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// story is two processes: a slice with a message to another, a counter and two
// samples.
func story(to Sink) error {
	a, b := Track{1, 10}, Track{2, 20}
	to.Process(1, `rank "0"`)
	to.Thread(a, "main")
	to.Process(2, "rank 1")
	to.Thread(b, "main")
	to.Begin(a, 1500, "MPI_Send", "MPI", []Value{{"file", "a.c:3"}, {"bytes", int64(8)}}, []uint64{7})
	to.End(a, 2500, nil)
	to.Begin(b, 1000, "MPI_Recv", "MPI", nil, nil)
	to.End(b, 3001, []uint64{7})
	to.Counter(a, 2000, "latency", "cycles", 12.5)
	stack := []Frame{{"main", "a.c", 1}, {"solve<int>", "a.c", 9}}
	to.Sample(a, 2000, 3, stack)
	to.Sample(a, 2100, -1, stack)
	to.Sample(b, 2200, 0, stack[:1])
	return to.Close()
}

func TestChrome(t *testing.T) {
	var b bytes.Buffer
	if err := story(NewChrome(&b)); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Ph, Name, Bp string
			Pid, Tid, ID int64
			Ts           json.Number
			Args         map[string]any
		}
		StackFrames map[string]struct {
			Name   string
			Parent uint64
		}
		Samples []struct {
			Ts, Tid, CPU string
			Sf           uint64
		}
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	var got []string
	for _, e := range file.TraceEvents {
		if e.Ph != "M" {
			got = append(got, fmt.Sprintf("%s %s %s %d", e.Ph, e.Name, e.Ts, e.ID))
		}
	}
	want := []string{"B MPI_Send 1.500 0", "s message 1.500 7", "E MPI_Send 2.500 0", "B MPI_Recv 1 0", "f message 3.001 7", "E MPI_Recv 3.001 0", "C latency (cycles) 2 10"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(file.StackFrames) != 2 || file.StackFrames["2"].Parent != 1 || len(file.Samples) != 3 || file.Samples[1].Sf != 2 || file.Samples[2].Sf != 1 || file.Samples[0].CPU != "3" {
		t.Errorf("%+v %+v", file.StackFrames, file.Samples)
	}
}

// field is a field of a protobuf message, as the wire has it.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

// fields takes a message apart by the rules of the encoding alone: it shares
// nothing with the writer.
func fields(t *testing.T, b []byte) []field {
	t.Helper()
	var out []field
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("a key ends early")
		}
		b = b[n:]
		f := field{number: int(key >> 3)}
		switch key & 7 {
		case 0:
			f.value, n = binary.Uvarint(b)
		case 1:
			f.value, n = binary.LittleEndian.Uint64(b), 8
		case 2:
			size, k := binary.Uvarint(b)
			f.bytes, n = b[k:k+int(size)], k+int(size)
		default:
			t.Fatalf("wire type %d", key&7)
		}
		b = b[n:]
		out = append(out, f)
	}
	return out
}

func one(fs []field, number int) (field, bool) {
	i := slices.IndexFunc(fs, func(f field) bool { return f.number == number })
	if i < 0 {
		return field{}, false
	}
	return fs[i], true
}

// TestPerfetto reads the file back with the field numbers of the published
// schema: trace_packet, track_event, track_descriptor, interned_data.
func TestPerfetto(t *testing.T) {
	var b bytes.Buffer
	if err := story(NewPerfetto(&b)); err != nil {
		t.Fatal(err)
	}
	var got []string
	tracks, functions, frames, stacks := map[uint64]string{}, map[uint64]string{}, map[uint64]uint64{}, map[uint64][]uint64{}
	for i, packet := range fields(t, b.Bytes()) {
		p := fields(t, packet.bytes)
		if flags, _ := one(p, 13); packet.number != 1 || flags.value != map[bool]uint64{true: 1, false: 2}[i == 0] {
			t.Errorf("packet %d: field %d, flags %d", i, packet.number, flags.value)
		}
		time, _ := one(p, 8)
		if data, ok := one(p, 12); ok {
			for _, f := range fields(t, data.bytes) {
				entry := fields(t, f.bytes)
				id, second := entry[0].value, entry[1]
				switch f.number {
				case 5:
					functions[id] = string(second.bytes)
				case 6:
					frames[id] = second.value
				case 7:
					for _, frame := range entry[1:] {
						stacks[id] = append(stacks[id], frame.value)
					}
				}
			}
		}
		if d, ok := one(p, 60); ok {
			fs := fields(t, d.bytes)
			id, _ := one(fs, 1)
			for _, kind := range []struct {
				number, name int
				what         string
			}{{3, 6, "process"}, {4, 5, "thread"}, {8, 6, "counter"}} {
				if about, ok := one(fs, kind.number); ok {
					name, _ := one(fields(t, about.bytes), kind.name)
					tracks[id.value] = kind.what + " " + string(name.bytes)
				}
			}
		}
		if e, ok := one(p, 11); ok {
			fs := fields(t, e.bytes)
			kind, _ := one(fs, 9)
			track, _ := one(fs, 11)
			name, _ := one(fs, 23)
			leaves, _ := one(fs, 47)
			arrives, _ := one(fs, 48)
			value, _ := one(fs, 44)
			got = append(got, fmt.Sprintf("%d %d %s %s %d %d %g", time.value, kind.value, tracks[track.value], name.bytes, leaves.value, arrives.value, math.Float64frombits(value.value)))
		}
		if s, ok := one(p, 66); ok {
			fs := fields(t, s.bytes)
			tid, _ := one(fs, 3)
			stack, _ := one(fs, 4)
			var names []string
			for _, f := range stacks[stack.value] {
				names = append(names, functions[frames[f]])
			}
			got = append(got, fmt.Sprintf("%d sample %d %s", time.value, tid.value, strings.Join(names, ";")))
		}
	}
	want := []string{"1500 1 thread main MPI_Send 7 0 0", "2500 2 thread main  0 0 0", "1000 1 thread main MPI_Recv 0 0 0", "3001 2 thread main  0 7 0", "2000 4 counter cycles  0 0 12.5",
		"2000 sample 10 main;solve<int>", "2100 sample 10 main;solve<int>", "2200 sample 20 main"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
