package champsim

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// instructions makes n records of a loop; every other one loads two words and
// stores one.
func instructions(l *layout, n int) []byte {
	b := make([]byte, n*l.size)
	for i := range n {
		rec := b[i*l.size:]
		binary.LittleEndian.PutUint64(rec, 0x400000+uint64(i%16)*4)
		if i%16 == 15 {
			rec[8], rec[9] = 1, 1
		}
		if i%2 == 0 {
			binary.LittleEndian.PutUint64(rec[l.loads:], 0x7000+uint64(i))
			binary.LittleEndian.PutUint64(rec[l.loads+16:], 0x8000)
			binary.LittleEndian.PutUint64(rec[l.stores+8:], 0x9000)
		}
	}
	return b
}

func TestRead(t *testing.T) {
	for i := range layouts {
		l := &layouts[i]
		t.Run(l.name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(instructions(l, 20)))
			got, err := refs.All(r)
			if err != nil {
				t.Fatal(err)
			}
			want := []refs.Ref{
				{Addr: 0x7002, PC: 0x400008},
				{Addr: 0x8000, PC: 0x400008},
				{Addr: 0x9000, PC: 0x400008, Op: refs.Store},
			}
			if len(got) != 30 || r.About().Instructions != 20 {
				t.Fatalf("%d references of %d instructions, want 30 of 20", len(got), r.About().Instructions)
			}
			if d := cmp.Diff(want, got[3:6]); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPacked(t *testing.T) {
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(instructions(&layouts[0], 5000))
	w.Close()
	path := filepath.Join(t.TempDir(), "loop.champsimtrace.xz")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	r, _, err := foreign.List{Format}.OpenRefs(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if all, err := refs.All(r); err != nil || len(all) != 7500 {
		t.Errorf("%d references, error %v, want 7500", len(all), err)
	}
}

func TestRefusals(t *testing.T) {
	good := instructions(&layouts[0], 20)
	bad := bytes.Clone(good)
	bad[64*12+8] = 9
	for want, in := range map[string][]byte{"record 19 has 60 bytes": good[:len(good)-4], "branch flags 9": bad} {
		if _, err := refs.All(NewReader(bytes.NewReader(in))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q", err, want)
		}
	}
	for _, head := range []string{"", strings.Repeat("\x00", 4096), strings.Repeat("text ", 1000)} {
		if Format.Sniff(&foreign.Input{Head: []byte(head)}) {
			t.Errorf("Sniff(%.10q) = true", head)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(instructions(&layouts[0], 10))
	f.Add(instructions(&layouts[1], 10))
	f.Fuzz(func(t *testing.T, in []byte) {
		all, _ := refs.All(NewReader(bytes.NewReader(in)))
		if len(all) > len(in)/8 {
			t.Fatalf("%d references from %d bytes", len(all), len(in))
		}
	})
}
