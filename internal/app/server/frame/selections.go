package frame

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// SelectionChecker is a part that selections are about: it refuses the text of
// one that cannot be read.
type SelectionChecker interface {
	CheckSelection(where string) error
}

// NamedSelections returns what is kept by name.
func (r *Run) NamedSelections() []NamedSelection {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return List(slices.Clone(r.Selections))
}

// versionOf names a list of selections by its content, so that a server that was
// started again knows its versions.
func versionOf(list []NamedSelection) string {
	h := sha256.New()
	json.NewEncoder(h).Encode(List(list)) // texts alone: it cannot fail
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// maxSelections bounds what a run keeps.
const maxSelections = 1000

func (f *Frame) getSelections(w http.ResponseWriter, r *http.Request, run *Run) error {
	kept := run.NamedSelections()
	w.Header().Set("ETag", quoted(versionOf(kept)))
	return f.Answer(w, r, kept)
}

// putSelections replaces the list. A request that says with If-Match which
// version it changed is refused if there is another one by now: two pages that
// read, change and write would lose what one of them added. Without If-Match the
// list is replaced whatever it is.
func (f *Frame) putSelections(w http.ResponseWriter, r *http.Request, run *Run) error {
	var given []NamedSelection
	if err := ReadJSON(w, r, &given); err != nil {
		return err
	}
	if err := run.checkSelections(given); err != nil {
		return err
	}
	if err := run.replaceSelections(given, strings.Trim(r.Header.Get("If-Match"), `"`)); err != nil {
		return err
	}
	w.Header().Set("ETag", quoted(versionOf(given)))
	return f.Answer(w, r, List(given))
}

// KeepSelections replaces what is kept by name, whatever it was.
func (r *Run) KeepSelections(list []NamedSelection) error { return r.replaceSelections(list, "*") }

func quoted(version string) string { return `"` + version + `"` }

func (r *Run) replaceSelections(given []NamedSelection, version string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if version != "" && version != "*" && version != versionOf(r.Selections) {
		return &statusError{http.StatusConflict, Failure{
			Error: "the named selections were changed by another page in the meantime",
			Hint:  "read them again and repeat the change"}}
	}
	if r.Save != nil {
		if err := r.Save(given); err != nil {
			return err
		}
	}
	r.Selections = given
	return nil
}

func (r *Run) checkSelections(given []NamedSelection) error {
	if len(given) > maxSelections {
		return BadRequest("a run keeps %d selections at most, not %d", maxSelections, len(given))
	}
	for i, n := range given {
		if n.Name == "" {
			return BadRequest("selection %d has no name", i+1)
		}
		if slices.ContainsFunc(given[:i], func(o NamedSelection) bool { return o.Name == n.Name }) {
			return BadRequest("two selections are called %q", n.Name)
		}
		if err := r.checkSelection(n.Where); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) checkSelection(where string) error {
	for _, p := range r.Parts() {
		if c, ok := p.(SelectionChecker); ok {
			return c.CheckSelection(where)
		}
	}
	return BadRequest("%s holds %s, which has no samples to select from", r.Name, r.Kind)
}

// Tell answers what the page must know about a run.
func (f *Frame) Tell(w http.ResponseWriter, r *http.Request, run *Run) error {
	info, err := run.Info(r.Context())
	if err != nil {
		return err
	}
	return f.Answer(w, r, info)
}

// RunRoutes are the routes about any run, whatever it holds.
func (f *Frame) RunRoutes() []Route {
	return []Route{
		{Method: "GET", Path: "runs/{id}", Access: Viewer, Does: "what the page must know about a run before it asks anything", Answers: Info{},
			OfRun: f.Tell},
		{Method: "GET", Path: "runs/{id}/selections", Access: Viewer, Does: "the named selections of a run; the header ETag has their version",
			Answers: []NamedSelection{}, OfRun: f.getSelections},
		{Method: "PUT", Path: "runs/{id}/selections", Access: Owner,
			Does:  "replaces the named selections; with the header If-Match only if they still have that version, otherwise 409",
			Takes: []NamedSelection{}, Answers: []NamedSelection{}, OfRun: f.putSelections},
		{Method: "GET", Path: "runs/{id}/source", Access: Viewer, Does: "the text of a source file that the run names", Query: []string{"file"},
			Answers: SourceText{}, OfRun: f.source},
		{Method: "POST", Path: "runs/{id}/sources", Access: Owner, Does: "adds a folder of the server's machine in which to look for source files",
			Takes: AddSources{}, Answers: Info{}, OfRun: f.addSources},
	}
}
