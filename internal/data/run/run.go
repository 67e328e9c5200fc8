// Package run keeps one recorded or imported execution as a folder
// NAME.isobath: a manifest, tables, the hardware topology and source files.
//
// A run is created whole or not at all, and its tables never change afterwards,
// so any number of processes may read it at once.
package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
)

// Suffix ends the name of every run.
const Suffix = ".isobath"

// Version is the version of the folder's layout that this program writes. A
// reader refuses a newer one; docs/formats.md has the history.
const Version = 1

const (
	manifestFile     = "manifest.json"
	treeFile         = "topology.json"
	sourceFolder     = "sources"
	selectionFile    = "selections.json"
	namesFile        = "objects.txt"
	proofFile        = "proofs.json"
	typesFile        = "types.json"
	maxManifestBytes = 64 << 20
)

// Manifest is what a run says about itself.
type Manifest struct {
	Version  int          `json:"version"`
	Kind     kind.Kind    `json:"kind"`
	Format   string       `json:"format"`   // of the data it was made from
	Origin   kind.Origin  `json:"origin"`   // where the recording was made
	Imported time.Time    `json:"imported"` // when the run was made
	From     []string     `json:"from,omitempty"`
	Tables   []TableEntry `json:"tables"`
	// Topology is the name of the hardware description as it was imported; the
	// normalised tree is beside it.
	Topology string        `json:"topology,omitempty"`
	Sources  []SourceEntry `json:"sources,omitempty"`
	Warnings []string      `json:"warnings"`
	// Recording is set if this program recorded the run.
	Recording *Recording `json:"recording,omitempty"`
	// Trace is the anchor of the message trace that lies beside the samples of
	// the same execution.
	Trace string `json:"trace,omitempty"`
}

// TableEntry is one table of a run.
type TableEntry struct {
	Name string `json:"name"`
	File string `json:"file"`
	Rows int    `json:"rows"`
}

// SourceEntry is a source file kept with the run.
type SourceEntry struct {
	Name string `json:"name"` // as the file column has it
	File string `json:"file"` // below the run's sources folder
	// Found says how the file was found: "path", "suffix" or "name".
	Found string `json:"found"`
}

// Run is one opened execution, or one about to be written.
type Run struct {
	Path string // the folder; empty if the run is only in memory
	Manifest
	Contents []*table.Table
	// TopologyData is the hardware description as it was imported, Tree the
	// normalised one. Both are nil without a topology.
	TopologyData []byte
	Tree         json.RawMessage
	// Names are sentences that say what objects are, one a line, given after the
	// fact ("allocation at heat.c:57 is u double[1024][1024]").
	Names string
	// Types is what is known of the types of the objects of references, for when
	// the program is not there; nil if nothing is kept.
	Types []byte
	// SourceFiles maps Manifest.Sources[i].Name to a file on disk. It is filled
	// when a run is made; an opened run reads its own copies.
	SourceFiles map[string]source.File
	// More, if set, writes files of other kinds into the folder of a run that is
	// being made, such as the archive of a message trace.
	More func(dir string) error

	opened  map[string]os.FileInfo // the files that are mapped, as they were
	onClose func() error           // nil: nothing
	named   map[string]string      // selections of a run that is no folder
}

// OnClose says what else is released with the run. It is called once, before the
// tables are released.
func (r *Run) OnClose(release func() error) { r.onClose = release }

// Changed reports whether a mapped file is another than the one that was opened,
// or has been written to.
func (r *Run) Changed() bool {
	for file, was := range r.opened {
		now, err := os.Stat(file)
		if err != nil || !os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime()) {
			return true
		}
	}
	return false
}

// Table returns the table of that name, or nil.
func (r *Run) Table(name string) *table.Table {
	i := slices.IndexFunc(r.Contents, func(t *table.Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return r.Contents[i]
}

// Close releases the mapped tables.
func (r *Run) Close() error {
	var errs []error
	if release := r.onClose; release != nil {
		r.onClose = nil
		errs = append(errs, release())
	}
	for _, t := range r.Contents {
		errs = append(errs, t.Close())
	}
	return errors.Join(errs...)
}

// IsRun reports whether the path is a run.
func IsRun(path string) bool {
	_, err := os.Stat(filepath.Join(path, manifestFile))
	return err == nil
}

// Open maps the run at path.
func Open(path string) (*Run, error) {
	m, err := ReadManifest(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	defer root.Close()
	r := &Run{Path: path, Manifest: *m, SourceFiles: map[string]source.File{}, opened: map[string]os.FileInfo{}}
	if err := r.read(root); err != nil {
		return nil, errors.Join(fmt.Errorf("run %s: %w", path, err), r.Close())
	}
	for _, s := range m.Sources {
		r.SourceFiles[s.Name] = source.File{Root: path, Name: filepath.Join(sourceFolder, filepath.FromSlash(s.File))}
	}
	return r, nil
}

// read reads the files of the run through its folder: a run from a stranger may
// hold links to files that are not its own.
func (r *Run) read(root *os.Root) error {
	for _, e := range r.Tables {
		if err := r.readTable(root, e); err != nil {
			return err
		}
	}
	var err error
	if r.Manifest.Topology != "" {
		if r.TopologyData, err = readSmall(root, r.Manifest.Topology, maxManifestBytes); err != nil {
			return fmt.Errorf("topology: %w", err)
		}
		if r.Tree, err = readSmall(root, treeFile, maxManifestBytes); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("topology: %w", err)
		}
	}
	names, err := readSmall(root, namesFile, maxNamesBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.Names = string(names)
	if r.Types, err = readSmall(root, typesFile, maxTypesBytes); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (r *Run) readTable(root *os.Root, e TableEntry) error {
	f, err := plainfile.OpenIn(root, e.File)
	if err != nil {
		return err
	}
	defer f.Close()
	file := filepath.Join(r.Path, e.File)
	if r.opened[file], err = f.Stat(); err != nil {
		return err
	}
	t, err := table.OpenArrowFile(f)
	if err != nil {
		return err
	}
	r.Contents = append(r.Contents, t)
	if t.Name != e.Name || t.Rows() != e.Rows {
		return fmt.Errorf("%s holds table %q of %d rows, the manifest says %q of %d; import it again", e.File, t.Name, t.Rows(), e.Name, e.Rows)
	}
	return nil
}

// maxTypesBytes bounds the types of objects: ten thousand structures are less.
const maxTypesBytes = 16 << 20

// readSmall reads a plain file of a run that is small if it is ours.
func readSmall(root *os.Root, name string, most int64) ([]byte, error) {
	text, err := plainfile.ReadFileIn(root, name, most)
	if errors.Is(err, plainfile.ErrNotPlain) || errors.Is(err, plainfile.ErrTooLong) {
		err = fmt.Errorf("%w; it is not one of ours", err)
	}
	return text, err
}

// ReadManifest reads what the run at path says about itself, without its tables.
func ReadManifest(path string) (*Manifest, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	defer root.Close()
	text, err := readSmall(root, manifestFile, maxManifestBytes)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	return m, nil
}

// parseManifest reads a manifest and refuses names that lead out of the run.
func parseManifest(text []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	switch {
	case m.Version > Version:
		return nil, fmt.Errorf("the run has version %d and this program knows %d; use a newer isobath", m.Version, Version)
	case m.Version < 1:
		return nil, fmt.Errorf("manifest: version %d", m.Version)
	}
	for _, t := range m.Tables {
		if !localName(t.File) || t.Rows < 0 {
			return nil, fmt.Errorf("manifest: table %q in file %q with %d rows", t.Name, t.File, t.Rows)
		}
	}
	if m.Topology != "" && !localName(m.Topology) {
		return nil, fmt.Errorf("manifest: topology in file %q", m.Topology)
	}
	if m.Trace != "" && !localName(m.Trace) {
		return nil, fmt.Errorf("manifest: trace in file %q", m.Trace)
	}
	for _, s := range m.Sources {
		if !filepath.IsLocal(filepath.FromSlash(s.File)) {
			return nil, fmt.Errorf("manifest: source %q in file %q", s.Name, s.File)
		}
	}
	return &m, nil
}

func localName(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`) && name != "."
}

// Source returns the text of a source file of the run by its name in the data.
func (r *Run) Source(name string) ([]byte, error) {
	file, ok := r.SourceFiles[name]
	if !ok {
		return nil, fmt.Errorf("source %s: %w", name, fs.ErrNotExist)
	}
	return file.Read()
}
