package server

import (
	"encoding/json"
	"os"
	"slices"
	"sync"

	"github.com/isobath/isobath/internal/app/server/frame"
)

// keepRecent is how many files are remembered.
const keepRecent = 12

// recent remembers which files were opened, in a file of the user's
// configuration folder. It is a convenience: failing to read or write it is no
// error.
type recent struct {
	file string
	mu   sync.Mutex
}

// list returns the files that still exist, newest first.
func (r *recent) list() []frame.Recent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return frame.List(slices.DeleteFunc(r.read(), func(e frame.Recent) bool {
		_, err := os.Stat(e.Path)
		return err != nil
	}))
}

func (r *recent) read() []frame.Recent {
	if r.file == "" {
		return nil
	}
	text, err := os.ReadFile(r.file)
	if err != nil {
		return nil
	}
	var entries []frame.Recent
	if json.Unmarshal(text, &entries) != nil {
		return nil
	}
	return entries
}

func (r *recent) add(path, name string) {
	if r.file == "" || path == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := slices.DeleteFunc(r.read(), func(e frame.Recent) bool { return e.Path == path })
	entries = append([]frame.Recent{{Path: path, Name: name}}, entries...)
	text, err := json.MarshalIndent(entries[:min(len(entries), keepRecent)], "", "  ")
	if err != nil {
		return
	}
	writeSetting(r.file, text)
}
