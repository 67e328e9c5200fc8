package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/redact"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/data/kind"
)

// Write writes the run as a folder at path: whoever looks at path sees nothing
// or a whole run, which others may read as far as the umask lets them. Without
// replace an existing path is an error.
func (r *Run) Write(ctx context.Context, path string, replace bool) error {
	if _, err := os.Lstat(path); err == nil && replace && !ours(path) {
		return fmt.Errorf("%s exists and is not a run of this program; choose another name", path)
	}
	err := wholefile.Folder(ctx, path, replace, func(dir string) error { return r.fill(ctx, dir) })
	if errors.Is(err, fs.ErrExist) && !replace {
		return fmt.Errorf("%s exists; choose another name, or give --force to replace it", path)
	}
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	r.Path = path
	return nil
}

// ours reports whether a folder holds a run: other programs have files named
// manifest.json, and what is replaced is removed.
func ours(path string) bool {
	m, err := ReadManifest(path)
	return err == nil && kind.Known(m.Kind) && m.Format != ""
}

func (r *Run) fill(ctx context.Context, dir string) error {
	m := r.Manifest
	m.Version = Version
	m.Origin.Command = redact.Args(m.Origin.Command)
	if m.Recording != nil && m.Recording.Trial != nil {
		recording, trial := *m.Recording, *m.Recording.Trial
		trial.Commands = redact.Lines(trial.Commands)
		recording.Trial, m.Recording = &trial, &recording
	}
	m.Tables = nil
	if m.Warnings == nil {
		m.Warnings = []string{}
	}
	for _, t := range r.Contents {
		e := TableEntry{Name: t.Name, File: t.Name + ".arrow", Rows: t.Rows()}
		if err := wholefile.Fill(ctx, filepath.Join(dir, e.File), t.WriteArrowFile); err != nil {
			return err
		}
		m.Tables = append(m.Tables, e)
	}
	if r.TopologyData != nil {
		m.Topology = "topology" + topologySuffix(r.Manifest.Topology)
		if err := wholefile.Fill(ctx, filepath.Join(dir, m.Topology), text(r.TopologyData)); err != nil {
			return err
		}
		if r.Tree != nil {
			if err := wholefile.Fill(ctx, filepath.Join(dir, treeFile), text(r.Tree)); err != nil {
				return err
			}
		}
	}
	for _, f := range []struct {
		name string
		body []byte
	}{{namesFile, []byte(r.Names)}, {typesFile, r.Types}} {
		if len(f.body) == 0 {
			continue
		}
		if err := wholefile.Fill(ctx, filepath.Join(dir, f.name), text(f.body)); err != nil {
			return err
		}
	}
	var err error
	if m.Sources, err = r.copySources(ctx, dir); err != nil {
		return err
	}
	named, err := r.Selections()
	if err != nil { // they are worth less than the run
		m.Warnings = append(slices.Clone(m.Warnings), err.Error())
	}
	if len(named) > 0 {
		body, err := selectionsText(named)
		if err != nil {
			return err
		}
		if err := wholefile.Fill(ctx, filepath.Join(dir, selectionFile), text(body)); err != nil {
			return err
		}
	}
	if r.More != nil {
		if err := r.More(dir); err != nil {
			return err
		}
	}
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	r.Manifest = m
	return wholefile.Fill(ctx, filepath.Join(dir, manifestFile), text(append(body, '\n')))
}

// topologySuffix keeps the ending of the imported description, unless the name
// would clash with our own tree.
func topologySuffix(name string) string {
	if ext := filepath.Ext(name); ext != ".json" && ext != "" {
		return ext
	}
	return ".imported"
}

func text(b []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(b)
		return err
	}
}

// copySources copies the source files that can be read. One that has gone since
// it was found is left out: the run is worth more than its sources.
func (r *Run) copySources(ctx context.Context, dir string) ([]SourceEntry, error) {
	var kept []SourceEntry
	used := map[string]bool{}
	for _, s := range r.Manifest.Sources {
		body, err := r.Source(s.Name)
		if err != nil {
			continue
		}
		s.File = freeName(sourceName(s.Name), used)
		target := filepath.Join(dir, sourceFolder, filepath.FromSlash(s.File))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return nil, err
		}
		if err := wholefile.Fill(ctx, target, text(body)); err != nil {
			return nil, err
		}
		kept = append(kept, s)
	}
	return kept, nil
}

// sourceName is the path below the sources folder for a file name in the data,
// which may be absolute or contain "..".
func sourceName(name string) string {
	clean := filepath.ToSlash(filepath.Clean("/" + filepath.FromSlash(name)))
	return strings.TrimPrefix(clean, "/")
}

func freeName(name string, used map[string]bool) string {
	free := name
	for i := 2; used[strings.ToLower(free)]; i++ {
		free = strconv.Itoa(i) + "/" + name
	}
	used[strings.ToLower(free)] = true
	return free
}

// Selections returns the named selections stored with the run, as texts of the
// selection language.
func (r *Run) Selections() (map[string]string, error) {
	named := map[string]string{}
	if r.Path == "" {
		maps.Copy(named, r.named)
		return named, nil
	}
	root, err := os.OpenRoot(r.Path)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.Path, err)
	}
	defer root.Close()
	body, err := readSmall(root, selectionFile, maxManifestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return named, nil
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.Path, err)
	}
	if err := json.Unmarshal(body, &named); err != nil {
		return nil, fmt.Errorf("run %s: %s: %w", r.Path, selectionFile, err)
	}
	return named, nil
}

// NameSelections gives a run that is no folder its named selections.
func (r *Run) NameSelections(named map[string]string) { r.named = named }

func selectionsText(named map[string]string) ([]byte, error) {
	body, err := json.MarshalIndent(named, "", "  ")
	return append(body, '\n'), err
}

// SaveSelections replaces the named selections, whole or not at all.
func (r *Run) SaveSelections(named map[string]string) error {
	if r.Path == "" {
		return errors.New("this run is only in memory; import it with -o to keep selections")
	}
	body, err := selectionsText(named)
	if err != nil {
		return err
	}
	if err := r.replace(selectionFile, body); err != nil {
		return fmt.Errorf("save selections: %w", err)
	}
	return nil
}

// replace writes a file of the run anew. One that leads out of the run is not its
// own: writing would follow the link.
func (r *Run) replace(name string, body []byte) error {
	file := filepath.Join(r.Path, name)
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is a link or a folder; remove it", file)
	}
	return wholefile.WriteBytes(file, 0, body)
}

// maxNamesBytes bounds the file of names: people write it.
const maxNamesBytes = 4 << 20

// SaveNames replaces the names of objects that were given after the fact.
func (r *Run) SaveNames(names string) error {
	if r.Path == "" {
		return errors.New("this run is only in memory; import it with -o to keep names")
	}
	if len(names) > maxNamesBytes {
		return fmt.Errorf("save names: %d bytes are too many", len(names))
	}
	if err := r.replace(namesFile, []byte(names)); err != nil {
		return fmt.Errorf("save names: %w", err)
	}
	r.Names = names
	return nil
}

// maxProofsBytes bounds the proofs of a run: they are a few numbers each.
const maxProofsBytes = 16 << 20

// Proofs returns the proofs of advice that are kept with the run, as they were
// given; nil if there are none.
func (r *Run) Proofs() ([]byte, error) {
	root, err := os.OpenRoot(r.Path)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.Path, err)
	}
	defer root.Close()
	body, err := readSmall(root, proofFile, maxProofsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return body, err
}

// SaveProofs replaces the proofs of advice, whole or not at all.
func (r *Run) SaveProofs(body []byte) error {
	if err := r.replace(proofFile, body); err != nil {
		return fmt.Errorf("save proofs: %w", err)
	}
	return nil
}
