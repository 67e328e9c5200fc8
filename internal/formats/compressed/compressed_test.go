package compressed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
