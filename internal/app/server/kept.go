package server

import (
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
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/wholefile"
)

// kept is what the server remembers and no run has room for: selections of
// files that are not runs, which are never written to, and links too long to be
// passed on. It lies in a folder of the user's configuration, or in memory if
// there is none.
type kept struct {
	folder string

	mu     sync.Mutex
	memory map[string][]byte
}

// read fills in what is kept under a name; fs.ErrNotExist if nothing is.
func (k *kept) read(name string, into any) error {
	text, err := k.text(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w; remove the file to begin anew", filepath.Join(k.folder, name+".json"), err)
	}
	return nil
}

func (k *kept) text(name string) ([]byte, error) {
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
func (k *kept) write(name string, value any) error {
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
		return nil
	}
	return writeSetting(filepath.Join(k.folder, name+".json"), text)
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

// maxLink bounds a link that is kept.
const maxLink = 1 << 20

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
