package otf2

import (
	"fmt"
	"sort"
	"sync"
)

// Warnings counts what was wrong with an archive and still could be read: one
// entry a kind, with the place where it was first met. It is safe for
// concurrent use.
type Warnings struct {
	mu    sync.Mutex
	kinds map[string]*warning
}

type warning struct {
	n     int
	first string
}

// Add counts one occurrence of a kind at a place (a file, or file and byte).
func (w *Warnings) Add(kind, place string) { w.AddN(kind, place, 1) }

// AddN counts n occurrences.
func (w *Warnings) AddN(kind, place string, n int) {
	if n == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kinds == nil {
		w.kinds = map[string]*warning{}
	}
	k := w.kinds[kind]
	if k == nil {
		k = &warning{first: place}
		w.kinds[kind] = k
	}
	// Locations are read in parallel; the smallest place keeps the text the
	// same in every run.
	if place < k.first {
		k.first = place
	}
	k.n += n
}

// List returns the warnings as sentences in a fixed order.
func (w *Warnings) List() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]string, 0, len(w.kinds))
	for kind, k := range w.kinds {
		s := kind
		if k.first != "" {
			s += fmt.Sprintf(" (first in %s)", k.first)
		}
		if k.n > 1 {
			s += fmt.Sprintf(", %d times", k.n)
		}
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}
