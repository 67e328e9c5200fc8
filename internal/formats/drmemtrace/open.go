package drmemtrace

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/compressed"
	"github.com/isobath/isobath/internal/formats/foreign"
)

func sniffZip(in *foreign.Input) bool {
	if !bytes.HasPrefix(in.Head, []byte("PK\x03\x04")) {
		return false
	}
	z, err := zip.OpenReader(in.Path)
	if err != nil {
		return false
	}
	defer z.Close()
	return slices.ContainsFunc(z.File, isChunk)
}

func isChunk(f *zip.File) bool { return strings.HasPrefix(filepath.Base(f.Name), "chunk.") }

func sniffDir(in *foreign.Input) bool {
	if in.Has("raw") {
		return true // recognised, so that opening can say what to do with it
	}
	files, err := traceFiles(in.Path)
	if err != nil || len(files) == 0 {
		return false
	}
	first, err := foreign.Look(files[0])
	return err == nil && sniff(first)
}

// traceFiles lists the traces in a folder or its trace/ subfolder. Files that
// lie beside them (funclist.log, maps, cpu_schedule) are left out by name.
func traceFiles(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, "trace")); err == nil {
		dir = filepath.Join(dir, "trace")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		for _, ext := range []string{".gz", ".zip", ".lz4", ".sz", ".xz", ".zst"} {
			name = strings.TrimSuffix(name, ext)
		}
		if !e.IsDir() && strings.HasSuffix(name, ".trace") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

func open(in *foreign.Input) (refs.Reader, error) {
	if in.Stream != nil {
		return nil, fmt.Errorf("%s: a drmemtrace is read from a file or folder; save it first", in.Path)
	}
	if !in.Dir() {
		return openFile(in.Path)
	}
	files, err := traceFiles(in.Path)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds a raw/ folder only, which needs the program's binaries; "+
			"run drraw2trace -indir %s first and open the trace/ folder it makes", in.Path, in.Path)
	}
	return &folder{files: files}, nil
}

func openFile(path string) (refs.Reader, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	magic := make([]byte, 4)
	if _, err := io.ReadFull(f, magic); err == nil && string(magic) == "PK\x03\x04" {
		f.Close()
		return openZip(path)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	r, err := compressed.Reader(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &file{Reader: NewReader(r), path: path, close: f.Close}, nil
}

// openZip reads the chunks of an archive one after the other. Each chunk is a
// run of whole records, so their concatenation is the trace.
func openZip(path string) (refs.Reader, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	chunks := slices.DeleteFunc(slices.Clone(z.File), func(f *zip.File) bool { return !isChunk(f) })
	if len(chunks) == 0 {
		z.Close()
		return nil, fmt.Errorf("%s: the archive has no chunk.NNNN member", path)
	}
	slices.SortFunc(chunks, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	return &file{Reader: NewReader(&chain{chunks: chunks}), path: path, close: z.Close}, nil
}

type chain struct {
	chunks []*zip.File
	open   io.ReadCloser
}

func (c *chain) Read(p []byte) (int, error) {
	for {
		if c.open == nil {
			if len(c.chunks) == 0 {
				return 0, io.EOF
			}
			r, err := c.chunks[0].Open()
			if err != nil {
				return 0, fmt.Errorf("%s: %w", c.chunks[0].Name, err)
			}
			c.open = r
		}
		n, err := c.open.Read(p)
		if n > 0 || err == nil {
			return n, nil
		}
		if err != io.EOF {
			return 0, fmt.Errorf("%s: %w", c.chunks[0].Name, err)
		}
		c.open.Close()
		c.open, c.chunks = nil, c.chunks[1:]
	}
}

type file struct {
	*Reader
	path  string
	close func() error
}

func (f *file) Read(dst []refs.Ref) (int, error) {
	n, err := f.Reader.Read(dst)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", f.path, err)
	}
	return n, err
}

func (f *file) Close() error { return f.close() }

// folder reads the files of a folder one after the other. Threads are analysed
// apart, so the order between their files does not matter.
type folder struct {
	files []string
	now   refs.Reader
	about refs.About
}

func (d *folder) About() *refs.About {
	d.about.Has = refs.HasPC | refs.HasSize | refs.HasThread
	return &d.about
}

func (d *folder) Read(dst []refs.Ref) (int, error) {
	for {
		if d.now == nil {
			if len(d.files) == 0 {
				return 0, io.EOF
			}
			r, err := openFile(d.files[0])
			if err != nil {
				return 0, err
			}
			d.now, d.files = r, d.files[1:]
		}
		n, err := d.now.Read(dst)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		a := d.now.About()
		d.about.Instructions += a.Instructions
		d.about.Skipped += a.Skipped
		d.about.Notes = append(d.about.Notes, a.Notes...)
		err = d.Close()
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (d *folder) Close() error {
	if d.now == nil {
		return nil
	}
	err := d.now.Close()
	d.now = nil
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
