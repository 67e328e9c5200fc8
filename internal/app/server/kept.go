package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/wholefile"
)

// keptSelections is what the server remembers and no run has room for: selections of
// files that are not runs, which are never written to, and links too long to be
// passed on. It lies in a folder of the user's configuration, or in memory if
// there is none.
type keptSelections struct {
	folder string

	mu     sync.Mutex
	memory map[string][]byte
	order  []string // the names of memory, the newest last
}

// read fills in what is kept under a name; fs.ErrNotExist if nothing is.
func (k *keptSelections) read(name string, into any) error {
	text, err := k.text(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w; remove the file to begin anew", filepath.Join(k.folder, name+".json"), err)
	}
	return nil
}

func (k *keptSelections) text(name string) ([]byte, error) {
	if k.folder != "" {
		return os.ReadFile(filepath.Join(k.folder, name+".json"))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if text, ok := k.memory[name]; ok {
		return text, nil
	}
	return nil, fs.ErrNotExist
}

// write keeps a value under a name.
func (k *keptSelections) write(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if k.folder == "" {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.memory == nil {
			k.memory = map[string][]byte{}
		}
		k.memory[name] = text
		k.order = append(slices.DeleteFunc(k.order, func(n string) bool { return n == name }), name)
		return nil
	}
	return writeSetting(filepath.Join(k.folder, name+".json"), text)
}

// bound forgets the oldest of what is kept under names with that prefix until
// there are at most so many, with at most so many bytes.
func (k *keptSelections) bound(prefix string, most int, bytes int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	entries, err := k.newestFirst(prefix)
	var errs []error
	for i, e := range entries {
		if bytes -= e.bytes; i < most && bytes >= 0 {
			continue
		}
		if k.folder == "" {
			delete(k.memory, e.name)
			k.order = slices.DeleteFunc(k.order, func(n string) bool { return n == e.name })
		} else if err := os.Remove(filepath.Join(k.folder, e.name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err) // another server of this user may have been faster
		}
	}
	return errors.Join(append(errs, err)...)
}

// keptEntry is a thing that is kept, by its name in memory or in the folder.
type keptEntry struct {
	name    string
	bytes   int64
	written time.Time
}

func (k *keptSelections) newestFirst(prefix string) ([]keptEntry, error) {
	var out []keptEntry
	if k.folder == "" {
		for _, name := range slices.Backward(k.order) {
			if strings.HasPrefix(name, prefix) {
				out = append(out, keptEntry{name: name, bytes: int64(len(k.memory[name]))})
			}
		}
		return out, nil
	}
	files, err := os.ReadDir(k.folder)
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), prefix) || filepath.Ext(f.Name()) != ".json" {
			continue
		}
		if info, err := f.Info(); err == nil { // otherwise it is gone by now
			out = append(out, keptEntry{f.Name(), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(out, func(a, b keptEntry) int { return cmp.Or(b.written.Compare(a.written), strings.Compare(a.name, b.name)) })
	return out, err
}

// writeSetting writes a file of the user's configuration: two servers of one user
// may write at once.
func writeSetting(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return wholefile.WriteBytes(file, wholefile.Private, text)
}

// keepSelections gives a run that cannot be written to a place for its named
// selections, and brings back those kept before.
func (s *Server) keepSelections(r *frame.Run) {
	if r.Save != nil || s.kept.folder == "" {
		return
	}
	name := "selections-" + r.ID
	if err := s.kept.read(name, &r.Selections); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Warnings = append(r.Warnings, err.Error())
	}
	r.SavedIn = frame.SavedWithUser
	r.Save = func(list []frame.NamedSelection) error { return s.kept.write(name, list) }
}

func (s *Server) linkRoutes() []frame.Route {
	return []frame.Route{
		{Method: "POST", Path: "links", Access: frame.Viewer, Does: "keeps a state of the page that is too long for an address",
			Takes: frame.Link{}, Answers: frame.Link{}, Handle: s.keepLink},
		{Method: "GET", Path: "links/{link}", Access: frame.Viewer, Does: "a state of the page that was kept", Answers: frame.Link{}, Handle: s.link},
	}
}

// maxLink bounds a link that is kept, and the others all of them: whoever may
// look at a shared server can make links.
const (
	maxLink   = 1 << 20
	maxLinks  = 1000
	linkBytes = 64 << 20
)

var linkID = regexp.MustCompile(`^[0-9a-f]{12}$`)

func (s *Server) keepLink(w http.ResponseWriter, r *http.Request) error {
	var l frame.Link
	if err := frame.ReadJSON(w, r, &l); err != nil {
		return err
	}
	if !strings.HasPrefix(l.Fragment, "#v=") || len(l.Fragment) > maxLink {
		return frame.BadRequest("a link to keep begins with #v= and has %d bytes at most", maxLink)
	}
	sum := sha256.Sum256([]byte(l.Fragment))
	l.ID = hex.EncodeToString(sum[:6])
	if err := s.kept.write("link-"+l.ID, l); err != nil {
		return err
	}
	if err := s.kept.bound("link-", maxLinks, linkBytes); err != nil {
		return err
	}
	return s.frame.Answer(w, r, l)
}

func (s *Server) link(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("link")
	var l frame.Link
	err := fs.ErrNotExist
	if linkID.MatchString(id) {
		err = s.kept.read("link-"+id, &l)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return frame.NotFound("long links work only where they were made; ask for the link again", "there is no link %q", id)
	}
	if err != nil {
		return err
	}
	return s.frame.Answer(w, r, l)
}
