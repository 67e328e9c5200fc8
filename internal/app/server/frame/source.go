package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/source"
)

// maxSource bounds a source file that is shown.
const maxSource = 8 << 20

// source answers with the text of a file that samples name. No other file can
// be asked for, and none outside the folders that were given.
func (f *Frame) source(w http.ResponseWriter, r *http.Request, run *Run) error {
	name := r.URL.Query().Get("file")
	if !slices.Contains(run.sourceNames(), name) {
		return NotFound("", "no sample or region names the source file %q", name)
	}
	file, where, tried := run.openSource(name)
	if file == nil {
		return NotFound("point to the folder that holds it, or import again with --sources DIR",
			"the source file %s was not found; looked for %s", name, strings.Join(tried, ", "))
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSource+1))
	if err != nil {
		return fmt.Errorf("read source %s: %w", where, err)
	}
	cut := min(len(text), maxSource)
	return f.Answer(w, r, SourceText{
		File: name, Path: where, Truncated: cut < len(text),
		Text: strings.ToValidUTF8(string(text[:cut]), "\uFFFD"),
	})
}

// SourceBytes returns the text of a source file that samples name, as far as it is
// shown.
func (r *Run) SourceBytes(name string) ([]byte, error) {
	file, _, tried := r.openSource(name)
	if file == nil {
		return nil, fmt.Errorf("the source file %s was not found; looked for %s", name, strings.Join(tried, ", "))
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxSource))
}

// SourceLines returns the lines of a source file; nil if there is no text of it.
func (r *Run) SourceLines(name string) []string {
	text, err := r.SourceBytes(name)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	return strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
}

// addSources adds a folder in which to look for sources.
func (f *Frame) addSources(w http.ResponseWriter, r *http.Request, run *Run) error {
	var a AddSources
	if err := ReadJSON(w, r, &a); err != nil {
		return err
	}
	info, err := os.Stat(a.Folder)
	switch {
	case !filepath.IsAbs(a.Folder):
		return BadRequest("%q is not an absolute path", a.Folder)
	case err != nil:
		return &statusError{http.StatusBadRequest, Failure{
			Error: fmt.Sprintf("the folder %s cannot be opened: %v", a.Folder, errors.Unwrap(err)),
			Hint:  "the folder must be on the machine where isobath runs"}}
	case !info.IsDir():
		return BadRequest("%s is a file, not a folder", a.Folder)
	}
	run.AddSources(filepath.Clean(a.Folder))
	return f.Tell(w, r, run)
}

// sourceFolder is a folder that users said holds sources.
type sourceFolder struct {
	path  string
	files map[string]source.File // by name in the samples
}

// AddSources adds a folder in which to look for sources. The newest comes
// first: it is what the user means now.
func (r *Run) AddSources(folder string) {
	f := &sourceFolder{path: folder, files: map[string]source.File{}}
	// Without its leading slash a name is looked for below the folder only.
	relative := func(name string) string { return strings.TrimLeft(filepath.ToSlash(name), "/") }
	var wanted []string
	for _, name := range r.sourceNames() {
		wanted = append(wanted, relative(name))
	}
	found := source.Find(wanted, []string{folder})
	for _, name := range r.sourceNames() {
		if m, ok := found[relative(name)]; ok {
			f.files[name] = m.File
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(r.folders), func(o *sourceFolder) bool { return o.path == folder })
	r.folders = append([]*sourceFolder{f}, rest...)
}

// InheritSources adds the folders that another run was given.
func (r *Run) InheritSources(from *Run) {
	from.mu.RLock()
	folders := from.folders // replaced, never changed
	from.mu.RUnlock()
	for _, f := range slices.Backward(folders) { // the newest is added last
		r.AddSources(f.path)
	}
}

// SourceNamer is a part that names source files.
type SourceNamer interface {
	// SourceNames returns the files it names; nil if it does not know.
	SourceNames() []string
}

// sourceNames returns the files that the parts of the run name, in their order.
func (r *Run) sourceNames() []string {
	var names []string
	known := map[string]bool{}
	for _, p := range r.Parts() {
		n, ok := p.(SourceNamer)
		if !ok {
			continue
		}
		for _, name := range n.SourceNames() {
			if !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
	}
	if names != nil {
		return names
	}
	return slices.Sorted(maps.Keys(r.Sources))
}

func (r *Run) sources() []Source {
	out := []Source{}
	for _, name := range r.sourceNames() {
		if name == "" || strings.HasPrefix(name, "??") {
			continue // no debug information
		}
		f, _, tried := r.openSource(name)
		if f != nil {
			f.Close()
		}
		out = append(out, Source{File: name, Found: f != nil, Tried: List(tried)})
	}
	return out
}

// openSource looks for a source file: where the importer found it, then in the
// folders users pointed to, by as much of its path as fits. It returns the
// places tried if it is nowhere.
func (r *Run) openSource(name string) (f io.ReadCloser, where string, tried []string) {
	if text, ok := r.Texts[name]; ok {
		return io.NopCloser(bytes.NewReader(text)), name, nil
	}
	if known, ok := r.Sources[name]; ok {
		if f, err := known.Open(); err == nil {
			return f, known.Path(), nil
		}
		tried = append(tried, known.Path())
	}
	r.mu.RLock()
	folders := r.folders // replaced, never changed
	r.mu.RUnlock()
	for _, folder := range folders {
		if below, ok := folder.files[name]; ok {
			if f, err := below.Open(); err == nil {
				return f, below.Path(), nil
			}
		}
		tried = append(tried, filepath.Join(folder.path, path.Base(filepath.ToSlash(name))))
	}
	if len(tried) == 0 {
		tried = append(tried, name)
	}
	return nil, "", tried
}
