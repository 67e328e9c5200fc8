// Package tracecopy makes a temporary OTF2 archive of a message trace in another
// format: OTF2's model of events is the one that traces are analysed in.
package tracecopy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// Maker is an archive while it is made.
type Maker struct {
	*otf2.Writer
	folder  string
	regions map[string]uint32
	notes   []string
}

// New starts an archive.
func New(o otf2.WriterOptions) (*Maker, error) {
	folder, err := scratch.Folder("", "trace")
	if err != nil {
		return nil, err
	}
	w, err := otf2.Create(filepath.Join(folder, "trace.otf2"), o)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return &Maker{Writer: w, folder: folder, regions: map[string]uint32{}}, nil
}

// Named returns the region of a name, defining it when it is new.
func (m *Maker) Named(name string) uint64 {
	id, ok := m.regions[name]
	if !ok {
		r := otf2.RegionInfo{Name: name}
		if isMPI(name) {
			r.Paradigm = otf2.ParadigmMPI
		}
		id = m.Region(r)
		m.regions[name] = id
	}
	return uint64(id)
}

// isMPI reports whether a region is a call of MPI.
func isMPI(name string) bool { return strings.HasPrefix(name, "MPI_") }

// Note keeps a sentence for the user.
func (m *Maker) Note(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

// Finish ends the archive and opens it, as one that goes when nobody holds it.
func (m *Maker) Finish(file string) (*otf2.Archive, error) {
	if err := m.Close(); err != nil {
		return nil, errors.Join(err, m.Abandon())
	}
	a, err := otf2.OpenTemporary(filepath.Join(m.folder, "trace.otf2"), m.folder)
	if err != nil {
		return nil, err
	}
	for _, n := range m.notes {
		a.Warnings.Add(n, filepath.Base(file))
	}
	return a, nil
}

// Abandon removes what was made.
func (m *Maker) Abandon() error { return errors.Join(m.Discard(), os.RemoveAll(m.folder)) }

// Collectives are the codes of OTF2 for collective calls.
var Collectives = map[string]uint64{
	"MPI_Barrier": 0, "MPI_Bcast": 1, "MPI_Gather": 2, "MPI_Gatherv": 3, "MPI_Scatter": 4, "MPI_Scatterv": 5, "MPI_Allgather": 6,
	"MPI_Allgatherv": 7, "MPI_Alltoall": 8, "MPI_Alltoallv": 9, "MPI_Alltoallw": 10, "MPI_Allreduce": 11, "MPI_Reduce": 12,
	"MPI_Reduce_scatter": 13, "MPI_Scan": 14, "MPI_Exscan": 15, "MPI_Reduce_scatter_block": 16,
}

// Rooted reports whether a collective has a root.
func Rooted(code uint64) bool { return code >= 1 && code <= 5 || code == 12 }
