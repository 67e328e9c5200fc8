package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/zstd"
)

// Two ordinary addresses of a kernel differ by a number that a float64 of each
// cannot tell.
func TestSummarizeKernelAddresses(t *testing.T) {
	c := Addresses("ip", Measured, []uint64{0xffffffff8117d567, 0xffffffff811d1244, 0xffffffff8117d567}, nil)
	if s := Summarize(c); s.Distinct != 2 || s.Min != "0xffffffff8117d567" || s.Max != "0xffffffff811d1244" {
		t.Errorf("summary %+v", s)
	}
	signed := Ints("n", "", Measured, []int64{-1 << 63, 1<<63 - 1, 0}, nil)
	if s := Summarize(signed); s.Distinct != 3 {
		t.Errorf("summary %+v", s)
	}
}

func arrowOf(t *testing.T, order endian.Endianness, options ...ipc.Option) []byte {
	t.Helper()
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range int64(1000) {
		b.Append(i * i)
	}
	schema := arrow.NewSchemaWithEndian([]arrow.Field{{Name: "cpu", Type: arrow.PrimitiveTypes.Int64}}, nil, order)
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&seekless{&out}, append(options, ipc.WithSchema(schema))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type seekless struct{ *bytes.Buffer }

// A message that the library would believe, and should not, is refused before it
// sees it: swapping bytes in a mapping would end the program, and so would an
// allocation of 2^40 bytes.
func TestHostileArrow(t *testing.T) {
	packed := arrowOf(t, endian.LittleEndian, ipc.WithZstd())
	bomb := bytes.Clone(packed)
	at := bytes.Index(bomb, binary.LittleEndian.AppendUint64(nil, 8000)) // what the buffer says it holds
	if at < 0 {
		t.Fatal("no compressed buffer found")
	}
	binary.LittleEndian.PutUint64(bomb[len(bomb)-len(bomb[at:]):], 1<<40)
	for at = range bomb { // every place that says 8000 may be it
		if at+8 <= len(packed) && binary.LittleEndian.Uint64(packed[at:]) == 8000 {
			binary.LittleEndian.PutUint64(bomb[at:], 1<<40)
		}
	}
	frame := bytes.Index(packed, []byte{0x28, 0xb5, 0x2f, 0xfd})
	wide := bytes.Clone(packed)
	copy(wide[frame+4:], []byte{0, (27 - 10) << 3}) // not one segment, whose size would be the window
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"plain", arrowOf(t, endian.LittleEndian), ""},
		{"compressed", packed, ""},
		{"big-endian", arrowOf(t, endian.BigEndian), "big-endian"},
		{"a buffer that claims 2^40 bytes", bomb, "compressed buffers that say they hold"},
		{"a frame whose window has 2^27 bytes", wide, "window has 134217728 bytes where 8388608 are enough"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.arrow")
			if err := os.WriteFile(file, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			data, unmap, err := MapFile(file)
			if err != nil {
				t.Fatal(err)
			}
			defer unmap()
			r, err := ArrowReader(data)
			for err == nil {
				_, err = r.Read()
			}
			text := err.Error()
			if tt.want == "" && text != "EOF" || !strings.Contains(text, tt.want) {
				t.Errorf("error %q, want %q", text, tt.want)
			}
		})
	}
}

// A window is told in every frame of a buffer, not the first alone.
func TestEveryWindowIsChecked(t *testing.T) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	small := z.EncodeAll(bytes.Repeat([]byte("isobath "), 20), nil)
	long := z.EncodeAll(bytes.Repeat([]byte{7}, 400_000), nil) // several blocks, each of one byte
	skipped := append([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0}, "abc"...)
	wide := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, (27 - 10) << 3, 1, 0, 0}
	single := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, 0, 0, 0, 8, 1, 0, 0)
	good := slices.Concat(small, skipped, long, small)
	if err := checkFrames(good, mostWindow); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]byte{wide, single} {
		if err := checkFrames(slices.Concat(good, bad), mostWindow); err == nil || !strings.Contains(err.Error(), "window has 134217728 bytes") {
			t.Errorf("error %v", err)
		}
	}
	for n := range len(good) {
		checkFrames(good[:n], mostWindow) // ends
	}
}

// openArrow is OpenArrowFile by name.
func openArrow(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return OpenArrowFile(f)
}

// TestManyColumns counts what a summary of 40,000 columns of a few rows takes:
// no more than their values, however far these lie apart.
func TestManyColumns(t *testing.T) {
	const columns, rows = 40_000, 20
	cs := make([]*Column, columns)
	for i := range cs {
		values := make([]int32, rows)
		for k := range values {
			values[k] = int32(k*50_000 + i)
		}
		cs[i] = &Column{Name: fmt.Sprint("c", i), Data: values}
	}
	if zeros := zerosOf(cs); len(zeros) != 0 {
		t.Errorf("%d pieces of memory are looked through for each that is written, want those that are zero", len(zeros))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range cs {
		if s := Summarize(c); s.Distinct != rows {
			t.Fatalf("%s has %d distinct values, want %d", c.Name, s.Distinct, rows)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / columns; got > 4096 {
		t.Errorf("the summary of a column of %d rows takes %d bytes", rows, got)
	}
}

// TestZeroMemory finds the columns of a file in which holes are left.
func TestZeroMemory(t *testing.T) {
	var cs []*Column
	for i := range 9 {
		data := make([]byte, 64)
		cs = append(cs, &Column{Spill: &Spill{data: data, zero: i%2 == 0}})
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "holes"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := &releasing{w: f, columns: cs, file: f, zeros: zerosOf(cs)}
	for i, c := range cs {
		for _, piece := range [][]byte{c.Spill.data, c.Spill.data[8:], c.Spill.data[63:]} {
			if got := w.hole(piece); got != (i%2 == 0) {
				t.Errorf("column %d of zeros %v: a hole is left %v", i, c.Spill.zero, got)
			}
		}
	}
	if w.hole([]byte("elsewhere")) {
		t.Error("what is not of a column is left out")
	}
}
