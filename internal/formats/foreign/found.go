package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/compressed"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Found is a file or folder whose format is known: what Identify returns. Each
// kind of data has one way to open it; the others say what the file holds.
type Found struct {
	Input  *Input
	Format Format
}

// Identify says what a file or folder is, packed or not.
func (l List) Identify(path string) (*Found, error) {
	in, err := Look(path)
	if err != nil {
		return nil, err
	}
	return l.identify(in)
}

// IdentifyStream is Identify for a stream.
func (l List) IdentifyStream(r io.Reader) (*Found, error) {
	in, err := lookAt(r)
	if err != nil {
		return nil, err
	}
	return l.identify(in)
}

// hdf5 begins such a file, after a block of its user.
var hdf5 = []byte("\x89HDF\r\n\x1a\n")

func (l List) identify(in *Input) (*Found, error) {
	format, err := l.Recognise(in)
	if err == nil || !in.Packed || in.Stream != nil || !bytes.Contains(in.Head, hdf5) {
		return &Found{in, format}, err
	}
	// What is kept in HDF5 is told by names that lie anywhere in the file. Of all
	// else the head is enough, and the rest may be any number of zeros.
	file, unpackErr := unpack(context.Background(), in.Path)
	if unpackErr != nil {
		return nil, unpackErr
	}
	defer file.remove()
	inside, lookErr := Look(file.path)
	if lookErr != nil {
		return nil, lookErr
	}
	if format, insideErr := l.Recognise(inside); insideErr == nil {
		in.Head = inside.Head
		return &Found{in, format}, nil
	}
	return nil, err
}

// OpenRefs identifies and opens a trace of every memory reference. The caller
// closes it.
//
// unused: by the program, which asks formats.OpenRefs; the tests of one reader
// have a list of one.
func (l List) OpenRefs(path string) (refs.Reader, Format, error) {
	found, err := l.Identify(path)
	if err != nil {
		return nil, Format{}, err
	}
	r, err := found.Refs()
	return r, found.Format, err
}

// Of returns the formats of one kind.
func (l List) Of(k kind.Kind) List {
	var out List
	for _, f := range l {
		if f.Kind == k {
			out = append(out, f)
		}
	}
	return out
}

// WrongKind is the error for a file that holds something else than is asked
// for.
type WrongKind struct {
	Path   string
	Format string
	Kind   kind.Kind // what it holds
	Want   kind.Kind
}

// What each kind is called, and the verb that shows it.
var (
	kindNouns = map[kind.Kind]string{kind.Samples: "memory samples", kind.Refs: "a trace of every memory reference", kind.Trace: "a message-passing trace",
		kind.Mesh: "a mesh", kind.Topology: "a hardware description"}
	kindVerbs = map[kind.Kind]string{kind.Samples: "report", kind.Trace: "steps", kind.Refs: "cycles", kind.Mesh: "mesh", kind.Topology: "topology"}
)

func (e *WrongKind) Error() string {
	return fmt.Sprintf("%s holds %s (%s), not %s; try 'isobath %s %s'", e.Path, e.Kind, e.Format, kindNouns[e.Want], kindVerbs[e.Kind], e.Path)
}

func (f *Found) want(k kind.Kind) error {
	if f.Format.Kind != k {
		return &WrongKind{f.Input.Path, f.Format.Name, f.Format.Kind, k}
	}
	return nil
}

// Samples reads sampled accesses.
func (f *Found) Samples(ctx context.Context, opt *Options) (*Imported, error) {
	if err := f.want(kind.Samples); err != nil {
		return nil, err
	}
	if !f.Input.Packed {
		return f.Format.Samples(ctx, f.Input, opt)
	}
	file, err := unpack(ctx, f.Input.Path)
	if err != nil {
		return nil, err
	}
	defer file.remove()
	in, err := Look(file.path)
	if err != nil {
		return nil, err
	}
	in.known = strings.TrimSuffix(f.Input.Path, filepath.Ext(f.Input.Path))
	got, err := f.Format.Samples(ctx, in, opt)
	if err != nil {
		return nil, Renamed(err, file.path, f.Input.Path)
	}
	for i, root := range got.SourceRoots {
		if root == filepath.Dir(file.path) {
			got.SourceRoots[i] = filepath.Dir(f.Input.Path)
		}
	}
	return got, nil
}

// Columns looks at the columns of a file of samples, for choosing which is
// which.
func (f *Found) Columns() ([]Candidate, error) {
	if err := f.want(kind.Samples); err != nil {
		return nil, err
	}
	if f.Format.Columns == nil {
		return nil, fmt.Errorf("%s: the columns of a %s file cannot be chosen here; give --map on the command line", f.Input.Path, f.Format.Name)
	}
	return f.Format.Columns(f.Input)
}

// Refs opens a trace of every memory reference. The caller closes it.
func (f *Found) Refs() (refs.Reader, error) {
	if err := f.want(kind.Refs); err != nil {
		return nil, err
	}
	return f.Format.Refs(f.Input)
}

// Topology reads a hardware description.
func (f *Found) Topology() (*hw.Topology, error) {
	if err := f.want(kind.Topology); err != nil {
		return nil, err
	}
	file, err := compressed.Open(f.Input.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t, err := f.Format.Topology(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Input.Path, err)
	}
	if t.Name == "" {
		t.Name = filepath.Base(f.Input.Path)
		t.Root().Name = t.Name
	}
	return t, nil
}

// Mesh lists the dumps of a mesh without reading them.
func (f *Found) Mesh() ([]grid.Dump, error) {
	if err := f.want(kind.Mesh); err != nil {
		return nil, err
	}
	if !f.Input.Packed {
		return f.Format.Mesh(f.Input.Path)
	}
	var dumps []grid.Dump
	err := f.unpacked(func(file string) (err error) {
		dumps, err = f.Format.Mesh(file)
		return err
	})
	for i := range dumps {
		dumps[i].Files = []string{f.Input.Path}
		dumps[i].Load = func(ctx context.Context) (m *grid.Mesh, err error) {
			err = f.unpacked(func(file string) error {
				again, err := f.Format.Mesh(file)
				if err == nil && i >= len(again) {
					err = errors.New("the file has changed; open it again")
				}
				if err == nil {
					m, err = again[i].Load(ctx)
				}
				return err
			})
			return m, err
		}
	}
	return dumps, err
}

// Trace opens the archive of a message-passing trace.
func (f *Found) Trace() (*otf2.Archive, error) {
	if err := f.want(kind.Trace); err != nil {
		return nil, err
	}
	if f.Input.Packed && !f.Format.TraceIsOneFile {
		return nil, fmt.Errorf("%s is packed, but an archive is a folder of files beside its anchor; unpack it first", f.Input.Path)
	}
	return f.Format.Trace(f.Input.Path)
}

// unpacked calls do with a file that holds what the packed one does, and
// removes it.
func (f *Found) unpacked(do func(file string) error) error {
	file, err := unpack(context.Background(), f.Input.Path)
	if err != nil {
		return err
	}
	defer file.remove()
	return Renamed(do(file.path), file.path, f.Input.Path)
}

// Renamed returns an error about a file that the user knows by another name.
func Renamed(err error, file, name string) error {
	if err == nil {
		return nil
	}
	return &renamed{err, file, name}
}

type renamed struct {
	error
	file, name string
}

func (e *renamed) Error() string { return strings.ReplaceAll(e.error.Error(), e.file, e.name) }
func (e *renamed) Unwrap() error { return e.error }

// temporary is an unpacked copy of a file.
type temporary struct {
	path  string
	claim *budget.Claim // nil on a disk
}

func (t temporary) remove() {
	os.RemoveAll(filepath.Dir(t.path))
	t.claim.Release()
}

// mostPacked bounds how much longer an unpacked file may be: gzip reaches 1032,
// and files of samples some 20.
const mostPacked = 1100

// unpack writes what a packed file holds to a temporary one.
func unpack(ctx context.Context, path string) (temporary, error) {
	packed, err := compressed.Open(path)
	if err != nil {
		return temporary{}, err
	}
	defer packed.Close()
	info, err := os.Stat(path)
	if err != nil {
		return temporary{}, err
	}
	dir, err := scratch.Folder("", "unpacked")
	if err != nil {
		return temporary{}, err
	}
	base := filepath.Base(path)
	out := temporary{path: filepath.Join(dir, strings.TrimSuffix(base, filepath.Ext(base)))}
	out.claim, err = budget.TakeFor(ctx, dir, "what is packed in it, which is kept in memory here, needs")
	if err == nil {
		err = out.fill(ctx, packed, info.Size()*mostPacked)
	}
	if err != nil {
		out.remove()
		return temporary{}, fmt.Errorf("unpack %s: %w", path, err)
	}
	return out, nil
}

func (t temporary) fill(ctx context.Context, r io.Reader, most int64) error {
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, t.claim.Reader(io.LimitReader(&cancelled{ctx, r}, most+1)))
	if err == nil && n > most {
		err = fmt.Errorf("more than %d bytes come out, %d times what went in; it is not a file of data", most, mostPacked)
	}
	return errors.Join(err, f.Close())
}

// cancelled is a reader that ends with its context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
