package foreign

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
)

// What a reader says about a file names the file, and a cut one says so.
func TestStreamedRefsNamesFile(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for i := range 50000 {
		w.Write([]byte{byte(i), byte(i * i >> 3), '\n'})
	}
	w.Close()
	path := filepath.Join(t.TempDir(), "cut.gz")
	if err := os.WriteFile(path, packed.Bytes()[:packed.Len()/2], 0o666); err != nil {
		t.Fatal(err)
	}
	open := StreamedRefs(func(r io.Reader) refs.Source { return &countLines{r: r} })
	src, err := open(&Input{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	_, err = refs.All(src)
	if err == nil || !strings.Contains(err.Error(), "cut.gz") || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("error = %v", err)
	}
}

type countLines struct{ r io.Reader }

func (c *countLines) Read([]refs.Ref) (int, error) {
	_, err := io.Copy(io.Discard, c.r)
	return 0, err
}

func (c *countLines) About() *refs.About { return &refs.About{} }
