// Package otf2 reads and writes Open Trace Format 2 archives, the traces of
// Score-P, TAU, eztrace and others, without the OTF2 library.
//
// Every number in a file is taken as hostile: lengths are compared with what
// is left before anything is allocated or skipped. What is damaged is counted
// in the archive's warnings and the rest is kept.
package otf2

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/plainfile"
)

// Archive is an opened trace: its anchor and global definitions. Event files
// are read on demand, and several at once if the caller likes.
type Archive struct {
	Anchor   *Anchor
	Defs     *Definitions
	Warnings *Warnings

	path    string
	base    string    // path without the extension
	buffers sync.Pool // of closed event readers
	made    *Archive  // the archive that keeps a temporary folder; nil otherwise
}

// Open reads the anchor and the global definitions of the archive at path,
// which is NAME.otf2 or a folder with exactly one in it or one level below.
func Open(path string) (*Archive, error) {
	path, err := anchorPath(path)
	if err != nil {
		return nil, err
	}
	data, err := readFile(path, maxAnchor, nil)
	if err != nil {
		return nil, err
	}
	a := &Archive{path: path, base: strings.TrimSuffix(path, filepath.Ext(path)), Warnings: &Warnings{}}
	if a.Anchor, err = parseAnchor(filepath.Base(path), data); err != nil {
		return nil, err
	}
	if a.Anchor.Damaged {
		a.Warnings.Add("the anchor is incomplete; what is missing is not needed", filepath.Base(path))
	}
	if err := a.readDefs(); err != nil {
		return nil, err
	}
	return a, a.findStrays()
}

// OpenTemporary opens the archive that the reader of another format made in a
// folder of its own. The folder is removed when nobody holds the archive, or one
// that was reopened from it, any more.
func OpenTemporary(path, folder string) (*Archive, error) {
	a, err := Open(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	runtime.AddCleanup(a, func(folder string) { _ = os.RemoveAll(folder) }, folder)
	return a, nil
}

// Reopen opens the archive again, with warnings of its own.
func (a *Archive) Reopen() (*Archive, error) {
	again, err := Open(a.path)
	if err != nil {
		return nil, err
	}
	again.made = a
	return again, nil
}

// Path returns the path of the anchor.
func (a *Archive) Path() string { return a.path }

// maxAnchor bounds the anchor, which is a few hundred bytes.
const maxAnchor = 16 << 20

func anchorPath(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, err
	}
	var found []string
	// eztrace and runs keep the archive one folder further down.
	for _, pattern := range []string{"*.otf2", "*/*.otf2"} {
		if found, err = filepath.Glob(filepath.Join(escapeGlob(path), pattern)); err != nil || len(found) > 0 {
			break
		}
	}
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%s: %d files named *.otf2 in this folder; name the one to read", path, len(found))
	}
	return found[0], nil
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readFile reads a regular file of at most limit bytes; 0 is no limit. The
// bytes are in buf if they fit.
func readFile(path string, limit int64, buf []byte) ([]byte, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if limit > 0 && info.Size() > limit {
		return nil, fmt.Errorf("%s: %d bytes are too many for an anchor", path, info.Size())
	}
	// A file with holes may claim any length, and what cannot be had ends the program.
	if most := budget.Default(); info.Size() > most {
		return nil, fmt.Errorf("%s: %d bytes, and files of an archive are read whole: here up to %d; record fewer events of a location, or read it on a machine with more memory", path, info.Size(), most)
	}
	data := buf
	if int64(cap(data)) < info.Size() {
		data = make([]byte, info.Size())
	}
	data = data[:info.Size()]
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:n], err
}

func (a *Archive) readDefs() error {
	a.Defs = newDefinitions()
	n := uint64(0)
	err := a.definitions(a.Warnings, func(d *Definition) {
		n++
		a.Defs.add(d)
	})
	if err != nil {
		return fmt.Errorf("global definitions: %w", err)
	}
	file := filepath.Base(a.base) + ".def"
	if n != a.Anchor.Definitions {
		a.Warnings.Add(fmt.Sprintf("the anchor promises %d definitions, %d were understood", a.Anchor.Definitions, n), file)
	}
	a.Defs.finish(file, a.Warnings)
	return nil
}

// definitions visits the records of NAME.def.
func (a *Archive) definitions(w *Warnings, visit func(*Definition)) error {
	file := a.base + ".def"
	data, err := readFile(file, 0, nil)
	if err != nil {
		return err
	}
	s, err := newStream(filepath.Base(file), data, a.Anchor.DefinitionChunk)
	if err != nil {
		return err
	}
	readDefinitions(s, w, visit)
	return nil
}

// findStrays adds locations that have an event file but no definition, so that
// a damaged definition file does not hide them.
func (a *Archive) findStrays() error {
	entries, err := os.ReadDir(a.base)
	if errors.Is(err, fs.ErrNotExist) {
		if len(a.Defs.Locations) > 0 {
			a.Warnings.Add("the folder with the event files is missing", filepath.Base(a.base))
		}
		return nil
	}
	if err != nil {
		return err
	}
	defined := map[uint64]bool{}
	for _, l := range a.Defs.Locations {
		defined[l.ID] = true
	}
	for _, e := range entries {
		name, isEvents := strings.CutSuffix(e.Name(), ".evt")
		if !isEvents {
			continue
		}
		id, err := strconv.ParseUint(name, 10, 64)
		if err != nil || defined[id] {
			continue
		}
		a.Warnings.Add("an event file belongs to no defined location", filepath.Base(a.base)+"/"+e.Name())
		a.Defs.Locations = append(a.Defs.Locations, Location{ID: id, Name: None, Type: LocationCPU, Group: None})
	}
	slices.SortFunc(a.Defs.Locations, func(x, y Location) int {
		if x.ID < y.ID {
			return -1
		}
		return 1
	})
	return nil
}

// Events opens the events of a location; closing the reader is optional and
// gives its memory to the next. A location without an event file has
// none; a file whose head is damaged is counted and has none.
func (a *Archive) Events(id uint64) (*EventReader, error) {
	name := strconv.FormatUint(id, 10)
	r := &EventReader{warn: a.Warnings, buffers: &a.buffers}
	file := filepath.Join(a.base, name+".evt")
	short := filepath.Base(a.base) + "/" + name
	var buf []byte
	if old, ok := a.buffers.Get().(*[]byte); ok {
		buf = *old
	}
	data, err := readFile(file, 0, buf)
	if errors.Is(err, fs.ErrNotExist) {
		a.Warnings.Add("a location has no event file", short+".evt")
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := newStream(short+".evt", data, a.Anchor.EventChunk)
	if err != nil {
		a.Warnings.Add("an event file cannot be read: "+withoutFile(err, short+".evt"), short+".evt")
		r.partial = true
		return r, nil
	}
	r.s = s
	r.local, err = a.local(name, a.Warnings)
	r.clock.clocks = r.local.clocks
	return r, err
}

// local reads the location's own definitions, if there are any.
func (a *Archive) local(name string, w *Warnings) (local, error) {
	data, err := readFile(filepath.Join(a.base, name+".def"), 0, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return local{}, nil
	}
	if err != nil {
		return local{}, err
	}
	short := filepath.Base(a.base) + "/" + name + ".def"
	s, err := newStream(short, data, a.Anchor.DefinitionChunk)
	if err != nil {
		w.Add("local definitions cannot be read: "+withoutFile(err, short), short)
		return local{}, nil
	}
	return readLocal(s, w), nil
}

// Clock is the clock of a location. What is damaged in it is counted where its events
// are read.
func (a *Archive) Clock(id uint64) (*LocationClock, error) {
	l, err := a.local(strconv.FormatUint(id, 10), &Warnings{})
	return &LocationClock{corrector{clocks: l.clocks}}, err
}

// withoutFile drops the file name that starts an error, because the warning
// names it already.
func withoutFile(err error, file string) string {
	return strings.TrimPrefix(err.Error(), file+": ")
}

// EachDefinition reads the global definitions again and visits every record
// of a known kind, also those the reader has no table for. The record is valid
// during the visit only.
func (a *Archive) EachDefinition(visit func(*Definition)) error {
	return a.definitions(&Warnings{}, visit)
}
