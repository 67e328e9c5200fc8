package tree

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/formats"
)

// File is a trace that a tree can be built from.
type File struct {
	Input
	Format string
	Notes  []string // of its reader
	run    *run.Run
}

// OpenFile opens a run or a foreign trace; "-" is standard input, which is kept
// in memory because it is read twice.
func OpenFile(path string, stdin io.Reader) (*File, error) {
	f := &File{}
	f.Open = func() (refs.Reader, error) {
		src, _, err := formats.OpenRefs(path, stdin)
		return src, err
	}
	if path == formats.Stdin {
		src, format, err := formats.OpenRefs(path, stdin)
		if err != nil {
			return nil, err
		}
		all, err := refs.All(src)
		if err != nil {
			return nil, err
		}
		f.Format, f.Notes = format, append(slices.Clone(src.About().Notes),
			fmt.Sprintf("standard input is read twice, so its %s are kept in memory, %s; a file is read in parts", term.Counted(len(all), "reference"), term.Bytes(len(all)*int(unsafe.Sizeof(refs.Ref{})))))
		f.Open = func() (refs.Reader, error) { return &kept{about: src.About(), left: all}, nil }
	}
	f.Source = func(name string) []byte {
		text, _ := os.ReadFile(name) // a trace may be of another machine
		return text
	}
	if !run.IsRun(path) {
		return f, nil
	}
	r, err := run.Open(path)
	if err != nil {
		return nil, err
	}
	f.run, f.Format, f.Notes = r, r.Format, r.Warnings
	if f.Flow, err = flow.Read(r); err != nil {
		r.Close()
		return nil, err
	}
	f.Source = f.source
	return f, nil
}

// source reads a file that the run keeps, by its whole name or its last part.
func (f *File) source(name string) []byte {
	text, err := f.run.Source(name)
	if err == nil {
		return text
	}
	for full := range f.run.SourceFiles {
		if filepath.Base(full) == name {
			text, _ = f.run.Source(full) // none is no text
			return text
		}
	}
	return nil
}

// Close releases the run.
func (f *File) Close() error {
	if f.run == nil {
		return nil
	}
	var err error
	if f.Flow != nil {
		err = f.Flow.Close()
	}
	return errors.Join(err, f.run.Close())
}

// kept is references in memory.
type kept struct {
	about *refs.About
	left  []refs.Ref
}

func (k *kept) About() *refs.About { return k.about }
func (k *kept) Close() error       { return nil }

func (k *kept) Read(dst []refs.Ref) (int, error) {
	n := copy(dst, k.left)
	k.left = k.left[n:]
	if len(k.left) == 0 {
		return n, io.EOF
	}
	return n, nil
}
