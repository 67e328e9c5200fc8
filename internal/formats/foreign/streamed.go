package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/compressed"
)

// StreamedRefs makes the opener of a format whose trace is one file, packed or
// not. Errors of the reader are prefixed with the path.
func StreamedRefs(read func(io.Reader) refs.Source) func(*Input) (refs.Reader, error) {
	return func(in *Input) (refs.Reader, error) {
		if in.Stream != nil {
			r, err := compressed.Reader(in.Stream)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", in.Path, err)
			}
			return &streamed{Source: read(r), path: in.Path, closer: io.NopCloser(r)}, nil
		}
		f, err := compressed.Open(in.Path)
		if err != nil {
			return nil, err
		}
		return &streamed{Source: read(f), path: in.Path, closer: f}, nil
	}
}

// streamed is a trace that is read from one file.
type streamed struct {
	refs.Source
	path   string
	closer io.Closer
}

func (f *streamed) Read(dst []refs.Ref) (int, error) {
	n, err := f.Source.Read(dst)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", f.path, err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w; was the recording or the copy cut short?", err)
	}
	return n, err
}

func (f *streamed) Close() error { return f.closer.Close() }

// StreamedSamples makes the reader of a format whose samples are one file, packed
// or not, read from its start to its end. Errors are prefixed with the path.
func StreamedSamples(parse func(context.Context, io.Reader, *Options) (*Imported, error)) func(context.Context, *Input, *Options) (*Imported, error) {
	return func(ctx context.Context, in *Input, opt *Options) (*Imported, error) {
		f, err := compressed.Open(in.Path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		out, err := parse(ctx, f, opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Path, err)
		}
		return out, nil
	}
}

// ReadWhole reads what a reader holds, if it has no more than most bytes: a
// packed file of a few kilobytes may hold any number.
func ReadWhole(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("it has more than %d MiB", most>>20)
	}
	return data, nil
}
