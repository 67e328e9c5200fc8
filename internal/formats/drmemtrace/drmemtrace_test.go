package drmemtrace

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

func record(typ, size uint16, addr uint64) []byte {
	b := binary.LittleEndian.AppendUint16(nil, typ)
	b = binary.LittleEndian.AppendUint16(b, size)
	return binary.LittleEndian.AppendUint64(b, addr)
}

// two threads that alternate, with a load each after the switch back: the load
// belongs to the last instruction of its own thread.
var sample = bytes.Join([][]byte{
	record(typeHeader, 0, 3),
	record(typeThread, 4, 11),
	record(typePID, 4, 10),
	record(typeMarker, 2, 12345),
	record(typeInstr, 4, 0x400),
	record(typeThread, 4, 12),
	record(typeInstr, 4, 0x500),
	record(typeWrite, 8, 0x2000),
	record(typeThread, 4, 11),
	record(typeRead, 4, 0x1000),
	record(typeFooter, 0, 0),
}, nil)

var sampleRefs = []refs.Ref{
	{Addr: 0x2000, PC: 0x500, Size: 8, Thread: 12, Op: refs.Store},
	{Addr: 0x1000, PC: 0x400, Size: 4, Thread: 11, Op: refs.Load},
}

func readPath(t *testing.T, path string) ([]refs.Ref, *refs.About) {
	t.Helper()
	r, _, err := foreign.List{Format}.OpenRefs(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := refs.All(r)
	if err != nil {
		t.Fatal(err)
	}
	return all, r.About()
}

func TestRead(t *testing.T) {
	got, err := refs.All(NewReader(bytes.NewReader(sample)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sampleRefs, got); d != "" {
		t.Error(d)
	}
}

func TestPacked(t *testing.T) {
	dir := t.TempDir()
	var gz, zipped bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write(sample)
	w.Close()
	z := zip.NewWriter(&zipped)
	// The members are stored out of order; a record never spans two.
	for _, m := range []struct {
		name string
		data []byte
	}{{"chunk.0001", sample[5*recordSize:]}, {"chunk.0000", sample[:5*recordSize]}, {"notes", []byte("x")}} {
		f, _ := z.Create(m.name)
		f.Write(m.data)
	}
	z.Close()
	for name, data := range map[string][]byte{"a.trace": sample, "a.trace.gz": gz.Bytes(), "a.trace.zip": zipped.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		got, _ := readPath(t, path)
		if d := cmp.Diff(sampleRefs, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	got, about := readPath(t, dir)
	if len(got) != 6 || about.Instructions != 6 {
		t.Errorf("folder: %d references, %d instructions, want 6 and 6", len(got), about.Instructions)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"raw file", record(9, 1, 77), "drraw2trace"},
		{"cut", sample[:30], "6 bytes of a record of 12"},
	}
	for _, tt := range tests {
		if _, err := refs.All(NewReader(bytes.NewReader(tt.data))); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want %q", tt.name, err, tt.want)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "raw"), 0o777); err != nil {
		t.Fatal(err)
	}
	in, err := foreign.Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Format.Refs(in); err == nil || !strings.Contains(err.Error(), "drraw2trace") {
		t.Errorf("raw folder: error = %v", err)
	}
}

// The counts are those of DynamoRIO's own files, counted record by record with
// an independent script.
func TestShared(t *testing.T) {
	tests := []struct {
		file                 string
		instr, reads, writes uint64
		threads              int
		note                 string
	}{
		{"drmemtrace.small.x64.trace", 173, 42, 14, 1, ""},
		{"drmemtrace.allasm_x86_64.trace.zip", 133, 0, 0, 0, "no data references"},
		{"fib_plus/drmemtrace.tool.fib_plus.125254.3691.trace.gz", 18952, 4308, 1433, 1, ""},
		{"fib_plus", 18952 + 7502 + 5764, 4308 + 2139 + 1630, 1433 + 1098 + 867, 3, ""},
		{"offline-legacy-trace.gz", 85070, 26381, 16308, 5, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			r, _, err := foreign.List{Format}.OpenRefs(test.Shared(t, "refs/drmemtrace/"+tt.file))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			c, err := refs.Count(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if c.Instructions != tt.instr || c.Loads != tt.reads || c.Stores != tt.writes || c.Threads != tt.threads {
				t.Errorf("counts = %+v, want %+v", c, tt)
			}
			if !strings.Contains(strings.Join(c.Notes, "\n"), tt.note) {
				t.Errorf("notes = %q, want %q", c.Notes, tt.note)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample)
	f.Add(sample[:31])
	f.Fuzz(func(t *testing.T, in []byte) {
		all, _ := refs.All(NewReader(bytes.NewReader(in)))
		if len(all) > len(in)/recordSize {
			t.Fatalf("%d references from %d bytes", len(all), len(in))
		}
	})
}
