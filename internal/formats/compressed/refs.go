package compressed

import (
	"errors"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Refs makes the opener of a format whose trace is one file, packed or not.
// Errors of the reader are prefixed with the path.
func Refs(read func(io.Reader) refs.Source) func(*foreign.Input) (refs.Reader, error) {
	return func(in *foreign.Input) (refs.Reader, error) {
		if in.Stream != nil {
			r, err := Reader(in.Stream)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", in.Path, err)
			}
			return &file{Source: read(r), path: in.Path, closer: io.NopCloser(r)}, nil
		}
		f, err := Open(in.Path)
		if err != nil {
			return nil, err
		}
		return &file{Source: read(f), path: in.Path, closer: f}, nil
	}
}

type file struct {
	refs.Source
	path   string
	closer io.Closer
}

func (f *file) Read(dst []refs.Ref) (int, error) {
	n, err := f.Source.Read(dst)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", f.path, err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w; was the recording or the copy cut short?", err)
	}
	return n, err
}

func (f *file) Close() error { return f.closer.Close() }
