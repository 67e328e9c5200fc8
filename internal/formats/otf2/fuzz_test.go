package otf2

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// seeds adds the files of a small archive of ours that end in ext, and those
// of a real one if the shared data is there.
func seeds(f *testing.F, ext string, add func(data []byte)) {
	f.Helper()
	dir := f.TempDir()
	w, err := Create(filepath.Join(dir, "seed.otf2"), WriterOptions{Creator: "seed", Length: 100})
	if err != nil {
		f.Fatal(err)
	}
	e := w.Location("thread", w.Process("rank", w.Node("host", "node", None)))
	e.ClockOffset(10, 5)
	e.ClockOffset(2000, -5)
	w.CommLocations([]uint64{0})
	w.Comm("world", []uint64{0}, None)
	w.Attribute("a", "b", 4)
	for _, ev := range everyEvent() {
		if err := e.Write(&ev); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	globs := []string{dir, test.Fixture(f, "otf2/halo16_skew"), test.Fixture(f, "otf2/amg8"),
		filepath.Join(test.Root(), "..", "shared", "data", "otf2", "thirdparty", "sst-elements-emberotf2"),
		filepath.Join(test.Root(), "..", "shared", "data", "otf2", "eztrace", "halo16", "halo_trace")}
	for _, g := range globs {
		for _, pattern := range []string{"*" + ext, "*/0" + ext} {
			found, _ := filepath.Glob(filepath.Join(g, pattern))
			for _, path := range found {
				if data, err := os.ReadFile(path); err == nil {
					add(data)
				}
			}
		}
	}
}

func FuzzAnchor(f *testing.F) {
	seeds(f, ".otf2", func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := parseAnchor("fuzz.otf2", data); (a == nil) == (err == nil) {
			t.Fatalf("anchor %v, error %v", a, err)
		}
	})
}

func FuzzDefinitions(f *testing.F) {
	seeds(f, ".def", func(data []byte) { f.Add(data, uint64(definitionChunk)); f.Add(data, uint64(64)) })
	f.Fuzz(func(t *testing.T, data []byte, chunk uint64) {
		s, err := newStream("fuzz.def", data, chunk)
		if err != nil {
			return
		}
		d := newDefinitions()
		readDefinitions(s, &Warnings{}, d.add)
		d.finish("fuzz.def", &Warnings{})
		for id := range d.Comms {
			m := d.Members(id)
			m.Peer(0, 1)
		}
	})
}

func FuzzLocal(f *testing.F) {
	seeds(f, ".def", func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := newStream("fuzz.def", data, definitionChunk)
		if err != nil {
			return
		}
		l := readLocal(s, &Warnings{})
		for kind := range int8(mapKinds) {
			l.maps.apply(kind, 3)
			l.maps.apply(kind, Undefined)
		}
		c := corrector{clocks: l.clocks}
		for _, at := range []uint64{0, 1 << 40, Undefined, 7} {
			c.at(at)
		}
	})
}

func FuzzEvents(f *testing.F) {
	seeds(f, ".evt", func(data []byte) { f.Add(data, uint64(eventChunk)); f.Add(data, uint64(256)) })
	f.Fuzz(func(t *testing.T, data []byte, chunk uint64) {
		s, err := newStream("fuzz.evt", data, chunk)
		if err != nil {
			return
		}
		r := &EventReader{s: s, warn: &Warnings{}}
		var ev Event
		n := 0
		for r.Next(&ev) {
			// The smallest event takes two bytes.
			if n++; n > len(data) {
				t.Fatalf("more than %d events in %d bytes", n, len(data))
			}
		}
		r.warn.List()
	})
}
