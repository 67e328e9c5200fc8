// Package reffile opens a trace of every memory reference by its name: one of
// our own runs, a foreign file or folder, or "-" for standard input.
package reffile

import (
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/formats"
)

// Stdin is the name that stands for standard input.
const Stdin = "-"

// Open opens a trace and says which format it has. The caller closes it.
func Open(path string, stdin io.Reader) (refs.Reader, string, error) {
	if path == Stdin {
		r, f, err := formats.Known.OpenRefsFrom(stdin)
		return r, f.Name, err
	}
	if !run.IsRun(path) {
		r, f, err := formats.Known.OpenRefs(path)
		return r, f.Name, err
	}
	r, err := run.Open(path)
	if err != nil {
		return nil, "", err
	}
	t := r.Table(reftable.Name)
	if t == nil {
		r.Close()
		return nil, "", fmt.Errorf("%s holds %s, not a trace of every memory reference; record one with 'isobath record --refs'", path, r.Kind)
	}
	src, err := reftable.NewReader(t)
	if err != nil {
		r.Close()
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	src.About().Notes = append(src.About().Notes, r.Warnings...)
	return recorded{src, r}, r.Format, nil
}

// recorded keeps the run open while its references are read.
type recorded struct {
	*reftable.Reader
	io.Closer
}
