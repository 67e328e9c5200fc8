package compressed

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

func pack(t testing.TB, open func(io.Writer) (io.WriteCloser, error), text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var writers = map[string]func(io.Writer) (io.WriteCloser, error){
	"gzip":   func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	"xz":     func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	"zstd":   func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	"lz4":    func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil },
	"snappy": func(w io.Writer) (io.WriteCloser, error) { return snappy.NewBufferedWriter(w), nil },
}

func TestUnpack(t *testing.T) {
	text := strings.Repeat("0x10: R 0x20\n", 5000)
	for name, open := range writers {
		t.Run(name, func(t *testing.T) {
			packed := pack(t, open, text)
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, packed, 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := io.ReadAll(f)
			if err != nil || string(got) != text {
				t.Errorf("%d bytes, error %v, want %d", len(got), err, len(text))
			}
			if head, ok := Head(packed); !ok || !strings.HasPrefix(text, string(head)) || len(head) < 1000 {
				t.Errorf("head of %d bytes %.20q", len(head), head)
			}
		})
	}
	if got, packed := Head([]byte("plain")); packed || string(got) != "plain" {
		t.Errorf("Head of plain text = %q", got)
	}
}

// What is packed is what was there, also if it was packed before, and its head shows
// what it is.
func TestPack(t *testing.T) {
	text := &strings.Builder{}
	for i := range 200_000 {
		fmt.Fprintf(text, "0x%x: R 0x%x\n", 0x400000+i%7*4, i*2654435761)
	}
	whole := text.String()
	for name, in := range map[string]string{"text": whole, "empty": "", "a byte": "x", "packed": string(pack(t, writers["gzip"], whole))} {
		for slow, from := range map[string]io.Reader{"": strings.NewReader(in), " in bytes": iotest.OneByteReader(strings.NewReader(in[:min(len(in), 30_000)]))} {
			r, err := Pack(from)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			want := in
			if slow != "" {
				want = in[:min(len(in), 30_000)]
			}
			if name == "packed" {
				if string(got) != want {
					t.Errorf("%s%s: was packed again", name, slow)
				}
				continue
			}
			u, err := Reader(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if back, err := io.ReadAll(u); err != nil || string(back) != want {
				t.Errorf("%s%s: %d bytes came back (%v), want %d", name, slow, len(back), err, len(want))
			}
			if start, _ := Head(got[:min(len(got), 4096)]); slow == "" && name == "text" && len(start) < 4096 {
				t.Errorf("the head shows %d bytes", len(start))
			}
		}
	}
	broken := errors.New("broken pipe")
	r, err := Pack(io.MultiReader(strings.NewReader(whole), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, broken) {
		t.Errorf("a stream that breaks off: %v", err)
	}
}

// A window or a dictionary is allocated before it is known what there is to unpack:
// one that is larger than a file of its size has reason for is refused.
func TestWindowsAreBounded(t *testing.T) {
	text := strings.Repeat("0x10: R 0x20\n", 500)
	wide := pack(t, func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithWindowSize(1<<27), zstd.WithEncoderConcurrency(1))
	}, strings.Repeat(text, 200)) // more than a block, or the frame says that it is small
	two := bytes.Join([][]byte{pack(t, writers["zstd"], text), wide}, nil)
	dictionary := func(code byte) []byte {
		b := pack(t, writers["xz"], text)
		header := b[12 : 12+4*(int(b[12])+1)] // size, flags, filter, size of properties, dictionary
		header[4] = code
		binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
		return b
	}
	for _, tt := range []struct {
		name   string
		packed []byte
		want   string
	}{
		{"window of 128 MB", wide, "window is larger than the 32 MB"},
		{"in the second frame", two, "window is larger than the 32 MB"},
		{"dictionary of 64 MB", dictionary(28), ""},
		{"dictionary of 96 MB", dictionary(29), "a dictionary of 96 MB, where xz -9 takes 64"},
		{"dictionary of 4 GB", dictionary(40), "a dictionary of 4095 MB"},
		{"in the second stream", append(pack(t, writers["xz"], text), dictionary(40)...), "a dictionary of 4095 MB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, tt.packed, 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := io.ReadAll(f)
			runtime.ReadMemStats(&after)
			if tt.want == "" && (err != nil || string(got) != text) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%d bytes, error %v, want %q", len(got), err, tt.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 {
				t.Errorf("%d MB were allocated", used>>20)
			}
			if head, ok := Head(tt.packed); !ok || tt.want == "" && !strings.HasPrefix(text, string(head)) {
				t.Errorf("head %.20q", head)
			}
		})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	head, _ := Head(wide)
	runtime.ReadMemStats(&after)
	if len(head) == 0 || !strings.HasPrefix(strings.Repeat(text, 200), string(head)) {
		t.Errorf("head of a file with a large window: %.20q", head)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 20<<20 {
		t.Errorf("the head of a file with a large window took %d MB", used>>20)
	}
}

// What xz writes in every way that it has comes through as it is: several blocks
// and streams, other checks, padding, and damage is still found.
func TestXZOfXZ(t *testing.T) {
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("no xz here")
	}
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintln(&text, i*i*7919)
	}
	for _, flags := range []string{"-0", "-9", "-3 --check=none", "-3 --check=crc32", "-3 --check=sha256", "-6 --block-size=5001", "-1 -T2 --block-size=8000"} {
		cmd := exec.Command("xz", append([]string{"-c"}, strings.Fields(flags)...)...)
		cmd.Stdin = strings.NewReader(text.String())
		packed, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		twice := append(append(bytes.Clone(packed), 0, 0, 0, 0), packed...)
		r, err := Reader(iotest.HalfReader(bytes.NewReader(twice)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != text.String()+text.String() {
			t.Errorf("%s: %d bytes, error %v, want %d", flags, len(got), err, 2*text.Len())
		}
		for _, at := range []int{len(packed) / 2, len(packed) - 30, len(packed) - 3} {
			if r, err = Reader(bytes.NewReader(packed[:at])); err == nil {
				_, err = io.ReadAll(r)
			}
			if err == nil {
				t.Errorf("%s: the file was cut at byte %d of %d and is read", flags, at, len(packed))
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, open := range writers {
		f.Add(pack(f, open, "0x10: R 0x20\n"))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Reader(bytes.NewReader(in))
		if err != nil {
			return
		}
		io.CopyN(io.Discard, r, 1<<20)
		Head(in)
	})
}

// What a file says is unchanged by a dictionary that is made smaller, however long
// its blocks are and however far back they copy from.
func TestDictionariesKeepContent(t *testing.T) {
	noise := make([]byte, 1<<20+100_000)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	far := slices.Concat(noise[:200_000], noise[:200_000]) // what is copied lies 200 kB back
	for name, want := range map[string][]byte{
		"nothing": {}, "a byte": {7}, "far copies": far, "longer than is read ahead": noise,
		"zeros": make([]byte, 1<<20), "noise between zeros": slices.Concat(make([]byte, 300_000), noise[:5000], make([]byte, 100_000), noise[:5000]),
	} {
		packed := pack(t, writers["xz"], string(want))
		for _, in := range [][]byte{packed, slices.Concat(packed, packed)} {
			r, err := XZ(bytes.NewReader(in))
			if err != nil {
				t.Fatal(name, err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, bytes.Repeat(want, len(in)/len(packed))) {
				t.Errorf("%s: %d of %d bytes, error %v", name, len(got), len(want), err)
			}
		}
	}
}
