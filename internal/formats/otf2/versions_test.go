package otf2

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOldRecords: definitions as earlier versions wrote them, where only the
// length says which fields are there.
func TestOldRecords(t *testing.T) {
	region := fieldsIn(7, 1, 2, 0, 3, 10, 20, 4, 1, 4, 1)
	for has := 7; has <= 11; has++ {
		enc := encoder{}
		enc.definition(&Definition{Kind: defRegion, F: region, Has: has})
		var d Definition
		c := cursor{b: enc.b, i: 2, end: len(enc.b)}
		if !decodeDefinition(&d, defRegion, &c) || d.Has != has {
			t.Fatalf("a region of %d fields reads as %d", has, d.Has)
		}
		defs := newDefinitions()
		defs.add(&d)
		r := defs.Regions[7]
		if wantCanonical := has > 7; (r.Canonical == 4) != wantCanonical {
			t.Errorf("%d fields: canonical name %d", has, r.Canonical)
		}
		if wantParadigm := has > 9; (r.Paradigm == ParadigmMPI) != wantParadigm {
			t.Errorf("%d fields: paradigm %d", has, r.Paradigm)
		}
	}
	// Before 1.2 groups had only the old type: 6 was what is COMM_LOCATIONS now.
	defs := newDefinitions()
	defs.add(&Definition{Kind: defGroup, F: fieldsIn(0, 0, 6), Has: 4, List: []uint64{5, 9}})
	defs.add(&Definition{Kind: defGroup, F: fieldsIn(0, 0, 4), Has: 4, List: []uint64{1, 0}})
	defs.add(&Definition{Kind: defComm, F: fieldsIn(3, 0, 0, uint64(None)), Has: 4})
	if m := defs.Members(3); !m.OK || len(m.Ranks) != 2 || m.Ranks[0] != 9 || m.Ranks[1] != 5 {
		t.Errorf("members %+v, want locations 9 and 5", m)
	}
}

// TestNumbers: the compressed numbers, also in the sizes OTF2 1.1 chose.
func TestNumbers(t *testing.T) {
	tests := []struct {
		bytes string
		width int
		big   bool
		want  uint64
		bad   bool
	}{
		{"\x00", 4, false, 0, false},
		{"\x01\x00", 4, false, 0, false},
		{"\xff", 4, false, Undefined32, false},
		{"\xff", 8, false, Undefined, false},
		{"\x02\x34\x12", 4, false, 0x1234, false},
		{"\x02\x12\x34", 4, true, 0x1234, false},
		{"\x05\x01\x02\x03\x04\x05", 4, false, 0, true},
		{"\x05\x01\x02\x03\x04\x05", 8, false, 0x0504030201, false},
		{"\x09", 8, false, 0, true},
		{"\x03\x01", 4, false, 0, true},
	}
	for _, tt := range tests {
		c := cursor{b: []byte(tt.bytes), end: len(tt.bytes), big: tt.big}
		if got := c.compressed(tt.width); c.bad != tt.bad || !tt.bad && got != tt.want {
			t.Errorf("% x as %d bytes: %#x, bad %v; want %#x, %v", tt.bytes, tt.width, got, c.bad, tt.want, tt.bad)
		}
	}
}

// TestBrokenArchives: what is wrong is said, and what is whole is read.
func TestBrokenArchives(t *testing.T) {
	build := func(t *testing.T) string {
		return small(t, WriterOptions{}, func(_ *Writer, a, b *EventWriter) {
			for i := range uint64(20) {
				write(t, a, Event{Kind: Enter, Time: i})
				write(t, b, Event{Kind: MPISend, Time: i, F: [6]uint64{0, 0, 1, 8}})
			}
		})
	}
	patch := func(file string, change func([]byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(data), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	drop := func(file string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name   string
		damage func(*testing.T, string)
		err    string // error of Open, or
		warn   string // a warning, and
		events int    // events that remain
	}{
		{"whole", func(*testing.T, string) {}, "", "", 40},
		{"no definitions", drop("trace.def"), "no such file", "", 0},
		{"no local definitions", drop("trace/0.def"), "", "", 40},
		{"no events of one", drop("trace/1.evt"), "", "no event file", 20},
		{"empty event file", patch("trace/1.evt", func([]byte) []byte { return nil }), "", "cannot be read: 0 bytes", 20},
		{"anchor of two bytes", patch("trace.otf2", func(b []byte) []byte { return b[:2] }), "not an OTF2 anchor", "", 0},
		{"chunk size 0", patch("trace.otf2", func(b []byte) []byte { clear(b[12:20]); return b }), "", "chunk size of 0", 0},
		{"definition chunk size 0", patch("trace.otf2", func(b []byte) []byte { clear(b[20:28]); return b }), "chunk size of 0", "", 0},
		{"length past the end", patch("trace/1.evt", func(b []byte) []byte { b[28] = 255; return b }), "", "longer than its chunk", 20},
		{"impossible size byte", patch("trace/0.evt", func(b []byte) []byte { b[28] = 77; return b }), "", "impossible size", 20},
		{"unknown record", patch("trace/1.evt", func(b []byte) []byte { b[27] = 200; return b }), "", "unknown kind", 39},
		{"bad head", patch("trace/0.evt", func(b []byte) []byte { b[1] = 9; return b }), "", "not with the head", 20},
		{"stray event file", func(t *testing.T, dir string) {
			data, _ := os.ReadFile(filepath.Join(dir, "trace/0.evt"))
			if err := os.WriteFile(filepath.Join(dir, "trace/99.evt"), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}, "", "no defined location", 60},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := build(t)
			tt.damage(t, filepath.Dir(path))
			a, err := Open(path)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			events := 0
			for _, l := range a.Defs.Locations {
				r, err := a.Events(l.ID)
				if err != nil {
					t.Fatal(err)
				}
				var ev Event
				for r.Next(&ev) {
					events++
				}
			}
			warnings := strings.Join(a.Warnings.List(), "\n")
			if events != tt.events || !strings.Contains(warnings, tt.warn) || tt.warn == "" && warnings != "" {
				t.Errorf("%d events, warnings %q; want %d, %q", events, warnings, tt.events, tt.warn)
			}
		})
	}
}

// TestInterComm: in a communicator of two groups the peer is in the other one.
func TestInterComm(t *testing.T) {
	d := newDefinitions()
	d.add(&Definition{Kind: defGroup, F: fieldsIn(0, 0, 0, 0, groupCommLocations, ParadigmMPI, 0), Has: 7, List: []uint64{10, 11, 12, 13}})
	d.add(&Definition{Kind: defGroup, F: fieldsIn(1, 0, 0, 0, groupComm, ParadigmMPI, 0), Has: 7, List: []uint64{0, 1}})
	d.add(&Definition{Kind: defGroup, F: fieldsIn(2, 0, 0, 0, groupComm, ParadigmMPI, 0), Has: 7, List: []uint64{3, 2}})
	d.add(&Definition{Kind: defInterComm, F: fieldsIn(5, 0, 1, 2, uint64(None), 0), Has: 6})
	m := d.Members(5)
	for _, tt := range []struct{ rank, from, want uint64 }{{0, 10, 13}, {1, 11, 12}, {0, 13, 10}, {1, 12, 11}} {
		if got, ok := m.Peer(tt.rank, tt.from); !ok || got != tt.want {
			t.Errorf("rank %d as seen from %d is %d, %v; want %d", tt.rank, tt.from, got, ok, tt.want)
		}
	}
	if _, ok := m.Peer(2, 10); ok {
		t.Error("rank 2 of a group of two was found")
	}
}
