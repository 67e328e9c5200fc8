package tree

import (
	"errors"
	"path/filepath"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/formats"
)

// File is a trace that a tree can be built from.
type File struct {
	Input
	Format string
	run    *run.Run
	about  *refs.About // of the newest reader
	find   func(name string, roots []string) (source.File, bool)
}

// OfProgram says which program made the trace. The user named it: its lines stand
// in for those that the trace has not, and its sources are where it says.
func (f *File) OfProgram(p interface {
	Line(pc uint64) (file string, line int, function string)
}) {
	f.Locate = func(pc uint64) refs.Place {
		name, line, function := p.Line(pc)
		return refs.Place{Function: function, File: name, Line: line}
	}
	f.find = source.OwnAt
}

// Notes are what the reader of the trace has to say, once it was read.
func (f *File) Notes() []string {
	if f.about == nil {
		return nil
	}
	return f.about.Notes
}

// OpenFile opens a run or a foreign trace. It is read more than once, so that it
// cannot be a stream.
func OpenFile(path string) (*File, error) {
	f := &File{find: source.At}
	f.Open = func() (refs.Reader, error) {
		src, _, err := formats.OpenRefs(path, nil)
		if err != nil {
			return nil, err
		}
		f.about = src.About()
		return src, nil
	}
	// A trace may be of another machine, and of a stranger.
	f.Source = func(name string) []byte {
		file, ok := f.find(name, []string{filepath.Dir(path)})
		if !ok {
			return nil
		}
		text, _ := file.Read() // none is no text
		return text
	}
	if !run.IsRun(path) {
		found, err := formats.Identify(path)
		if err != nil {
			return nil, err
		}
		f.Format = found.Format.Name
		return f, nil
	}
	r, err := run.Open(path)
	if err != nil {
		return nil, err
	}
	f.run, f.Format = r, r.Format
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
