package otf2

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// small writes an archive of two processes; fill writes the events.
func small(t *testing.T, o WriterOptions, fill func(w *Writer, a, b *EventWriter)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.otf2")
	w, err := Create(path, o)
	if err != nil {
		t.Fatal(err)
	}
	node := w.Node("host", "node", None)
	var at [2]*EventWriter
	for i := range at {
		p := w.Process(fmt.Sprintf("MPI Rank %d", i), node)
		at[i] = w.Location("Master thread", p)
	}
	w.CommLocations([]uint64{0, 1})
	w.Comm("MPI_COMM_WORLD", []uint64{0, 1}, None)
	w.Region(RegionInfo{Name: "main", File: "main.c", Begin: 3, End: 90})
	w.Region(RegionInfo{Name: "MPI_Send", Paradigm: ParadigmMPI})
	fill(w, at[0], at[1])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, e *EventWriter, ev Event) {
	t.Helper()
	if err := e.Write(&ev); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, path string, location uint64) []Event {
	t.Helper()
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Events(location)
	if err != nil {
		t.Fatal(err)
	}
	var out []Event
	var ev Event
	for r.Next(&ev) {
		ev.List, ev.Attributes = slices.Clone(ev.List), slices.Clone(ev.Attributes)
		out = append(out, ev)
	}
	if w := a.Warnings.List(); len(w) > 0 || r.Partial() {
		t.Errorf("warnings %v, partial %v", w, r.Partial())
	}
	return out
}

// everyEvent returns one event of every kind, each field with its own value.
func everyEvent() []Event {
	var all []Event
	for id := range eventRecords {
		layout := eventRecords[id]
		if layout.name == "" {
			continue
		}
		ev := Event{Kind: Kind(id), Time: uint64(1000 + id)}
		for i, f := range layout.fields {
			switch f.enc {
			case u8:
				ev.F[i] = 1
			case values:
				ev.List = []Value{{4, 7}, {8, 1 << 40}, {10, 0x3ff8000000000000}}
				ev.F[i] = 3
			case list32:
				ev.List = []Value{{11, 0}, {11, 1}}
				ev.F[i] = 2
			case full64:
				ev.F[i] = 5000
			case c32:
				ev.F[i] = uint64(id*100 + i)
				if f.mapping != unmapped {
					ev.F[i] = 0
				}
			default:
				ev.F[i] = uint64(id)<<32 + uint64(i)
			}
		}
		ev.Attributes = []AttributeValue{{0, Value{4, uint64(id)}}}
		all = append(all, ev)
	}
	return all
}

// TestEveryRecord writes every kind of event in both byte orders, reads them
// back, and lets otf2-print find every number.
func TestEveryRecord(t *testing.T) {
	events := everyEvent()
	if len(events) != 79 {
		t.Fatalf("%d kinds of events, want 79", len(events))
	}
	for _, big := range []bool{false, true} {
		path := small(t, WriterOptions{Creator: "isobath", Length: 2000, bigEndian: big}, func(w *Writer, a, _ *EventWriter) {
			w.Attribute("step", "logical step", 4)
			for _, ev := range events {
				write(t, a, ev)
			}
		})
		got := readAll(t, path, 0)
		if len(got) != len(events) {
			t.Fatalf("big endian %v: %d events, want %d", big, len(got), len(events))
		}
		for i, want := range events {
			if got[i].Kind != want.Kind || got[i].Time != want.Time || !slices.Equal(got[i].List, want.List) || !slices.Equal(got[i].Attributes, want.Attributes) {
				t.Errorf("big endian %v: got %+v, want %+v", big, got[i], want)
			}
			n := len(eventRecords[want.Kind].fields)
			if !slices.Equal(got[i].F[:n], want.F[:n]) {
				t.Errorf("big endian %v: %v: got fields %v, want %v", big, want.Kind, got[i].F[:n], want.F[:n])
			}
		}
		peerFinds(t, path, events)
	}
}

// peerFinds checks that otf2-print shows the plain numbers of each event.
func peerFinds(t *testing.T, path string, events []Event) {
	t.Helper()
	lines := peerEvents(t, path)[0]
	at := 0
	for _, ev := range events {
		want := ev.Kind.String() + " " + strconv.FormatUint(ev.Time, 10)
		for at < len(lines) && !strings.HasPrefix(lines[at], want+" ") && lines[at] != want {
			at++
		}
		if at == len(lines) {
			t.Fatalf("otf2-print does not show %s", want)
		}
		for i, f := range eventRecords[ev.Kind].fields {
			if f.mapping == unmapped && (f.enc == c32 || f.enc == c64 || f.enc == i64) && !symbolic[ev.Kind] {
				if number := strconv.FormatUint(ev.F[i], 10); !strings.Contains(lines[at], number) {
					t.Errorf("otf2-print shows %q without %s (field %d)", lines[at], number, i)
				}
			}
		}
		if want := fmt.Sprintf("UINT64; %d)", uint64(ev.Kind)); !strings.Contains(lines[at+1], want) {
			t.Errorf("otf2-print shows %q without %s", lines[at+1], want)
		}
	}
}

// symbolic are the records whose numbers otf2-print shows as words: flags and
// sync levels.
var symbolic = map[Kind]bool{38: true, 39: true, 69: true, 71: true, 73: true, 75: true}

// TestSeveralChunks: records do not cross chunks, each chunk restates the
// time, and the library agrees.
func TestSeveralChunks(t *testing.T) {
	const n = 60_000
	path := small(t, WriterOptions{eventChunk: 1 << 18}, func(_ *Writer, a, _ *EventWriter) {
		for i := range n {
			write(t, a, Event{Kind: MPISend, Time: uint64(i / 3), F: [6]uint64{1, 0, uint64(i), uint64(i) << 20}})
		}
	})
	got := readAll(t, path, 0)
	if len(got) != n {
		t.Fatalf("%d events, want %d", len(got), n)
	}
	for i, ev := range got {
		if ev.Time != uint64(i/3) || ev.F[2] != uint64(i) || ev.F[3] != uint64(i)<<20 {
			t.Fatalf("event %d is %+v", i, ev)
		}
	}
	peer := test.Peer(t, "otf2-print", "otf2-tools")
	if out, err := exec.Command(peer, "--silent", "-Werror", path).CombinedOutput(); err != nil {
		t.Errorf("otf2-print: %v\n%s", err, out)
	}
	if lines := peerEvents(t, path)[0]; len(lines) != n {
		t.Errorf("otf2-print finds %d events, want %d", len(lines), n)
	}
}

// TestClockCorrection compares corrected times with the library's, inside and
// outside the measured interval and with a single offset.
func TestClockCorrection(t *testing.T) {
	for _, offsets := range [][]clockOffset{
		{{1000, -300}, {900_000, 777}},
		{{1000, 5}, {2000, -5}, {50_000, 123_456}},
		{{1000, 5}},
	} {
		path := small(t, WriterOptions{Length: 1 << 20}, func(_ *Writer, a, _ *EventWriter) {
			for _, o := range offsets {
				a.ClockOffset(o.time, o.offset)
			}
			for at := uint64(700); at < 1_000_000; at = at*9/8 + 1 {
				write(t, a, Event{Kind: Enter, Time: at})
				write(t, a, Event{Kind: BufferFlush, Time: at, F: [6]uint64{at + 50}})
			}
		})
		a, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got := locationLines(t, a, 0, map[uint32]Members{}, new(int))
		diff(t, 0, got, peerEvents(t, path)[0])
	}
}

// TestWriterRefuses: falling times and names without the extension.
func TestWriterRefuses(t *testing.T) {
	if _, err := Create(filepath.Join(t.TempDir(), "trace"), WriterOptions{}); err == nil {
		t.Error("a name without .otf2 was accepted")
	}
	small(t, WriterOptions{}, func(w *Writer, a, b *EventWriter) {
		write(t, a, Event{Kind: Enter, Time: 10})
		if err := a.Write(&Event{Kind: Leave, Time: 9}); err == nil {
			t.Error("a falling time was accepted")
		}
		a.err = nil
		if _, err := Create(w.path, WriterOptions{}); err == nil {
			t.Error("an existing archive was overwritten")
		}
	})
}

// everyDefinition returns one definition of every kind, numbered 0, that
// refers to the others.
func everyDefinition() []Definition {
	var all []Definition
	for id := range definitions {
		layout := definitions[id]
		// Clock, string and location come from the writer itself.
		if layout.name == "" || DefKind(id) == defClock || DefKind(id) == defLocation {
			continue
		}
		d := Definition{Kind: DefKind(id), Has: len(layout.fields)}
		for i, f := range layout.fields {
			switch f.enc {
			case str:
				d.Text = "text"
			case list64, short32:
				d.List = []uint64{0}
			case props:
				d.List, d.Values = []uint64{0}, []Value{{3, 9}}
			case av:
				d.F[i-1], d.F[i] = 4, 1<<40+uint64(id) // a UINT64
			}
		}
		all = append(all, d)
	}
	return all
}

// TestEveryDefinition writes and reads one definition of each kind, and
// otf2-print shows each.
func TestEveryDefinition(t *testing.T) {
	all := everyDefinition()
	if len(all)+2 != 38 {
		t.Fatalf("%d kinds of definitions, want 38", len(all)+2)
	}
	for _, big := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "defs.otf2")
		w, err := Create(path, WriterOptions{bigEndian: big})
		if err != nil {
			t.Fatal(err)
		}
		w.defs = all
		w.location(0, 0, LocationCPU, 0)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		a, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if l := a.Warnings.List(); len(l) > 0 {
			t.Errorf("warnings %v", l)
		}
		found := map[DefKind]Definition{}
		if err := a.EachDefinition(func(d *Definition) {
			c := *d
			c.List, c.Values = slices.Clone(d.List), slices.Clone(d.Values)
			found[d.Kind] = c
		}); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(test.Peer(t, "otf2-print", "otf2-tools"), "-G", path).Output()
		if err != nil {
			t.Fatalf("otf2-print -G: %v", err)
		}
		for _, want := range all {
			got := found[want.Kind]
			if got.F != want.F || got.Has != want.Has || got.Text != want.Text || !slices.Equal(got.List, want.List) || !slices.Equal(got.Values, want.Values) {
				t.Errorf("big endian %v, %v: got %+v, want %+v", big, want.Kind, got, want)
			}
			if !strings.Contains(string(out), "\n"+want.Kind.String()+" ") {
				t.Errorf("otf2-print does not show %v", want.Kind)
			}
		}
		for _, want := range []string{"CLOCK_PROPERTIES", "LOCATION "} {
			if !strings.Contains(string(out), "\n"+want) {
				t.Errorf("otf2-print does not show %s", want)
			}
		}
	}
}

// TestCopy copies an archive of every kind of definition and event: otf2-print
// says the same of both, and what is discarded leaves nothing.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.otf2"), filepath.Join(dir, "to.otf2")
	w, err := Create(from, WriterOptions{Creator: "one", Length: 2000})
	if err != nil {
		t.Fatal(err)
	}
	w.defs = everyDefinition()
	w.machine, w.about, w.properties = "host", "a run", [][2]string{{"OTF2::MPI_COMMUNICATION_COMPLETE", "true"}}
	l := w.location(0, 0, LocationCPU, 0)
	for _, ev := range everyEvent() {
		write(t, l, ev)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	copied := copyArchive(t, from, to)
	peer := test.Peer(t, "otf2-print", "otf2-tools")
	for _, args := range [][]string{{"-G"}, {}} {
		var out [2][]string
		for i, path := range []string{from, to} {
			text, err := exec.Command(peer, append(args, path)...).Output()
			if err != nil {
				t.Fatalf("otf2-print: %v", err)
			}
			for line := range strings.Lines(string(text)) {
				out[i] = append(out[i], strings.TrimSpace(line))
			}
		}
		diff(t, 0, out[1], out[0])
		if len(out[0]) < 38 {
			t.Errorf("otf2-print %v shows %d lines", args, len(out[0]))
		}
	}
	a, err := Open(to)
	if err != nil {
		t.Fatal(err)
	}
	if a.Anchor.Machine != "host" || a.Anchor.About != "a run" || len(a.Anchor.Properties) != 1 || a.Anchor.Creator != "two" {
		t.Errorf("the anchor says %+v", a.Anchor)
	}
	if err := copied.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "to*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func copyArchive(t *testing.T, from, to string) *Writer {
	t.Helper()
	a, err := Open(from)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Create(to, WriterOptions{Creator: "two"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Copy(a); err != nil {
		t.Fatal(err)
	}
	for _, l := range a.Defs.Locations {
		out := w.CopyLocation(l)
		for _, ev := range readAll(t, from, l.ID) {
			write(t, out, ev)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w
}
