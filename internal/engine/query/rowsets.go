package query

import (
	"context"
	"slices"
	"sync"

	"github.com/isobath/isobath/internal/data/table"
)

// RowSets finds the rows that `rows NAME` selects. Whoever knows what names mean
// gives a function; engines ask when they meet a name, so that reading a
// selection changes nothing. The zero value knows no name. It is safe for
// concurrent use.
type RowSets struct {
	mu         sync.Mutex
	find       func(ctx context.Context, name string) (table.Bits, error)
	generation int
	newest     []namedRows // newest first
}

type namedRows struct {
	name string
	rows table.Bits
}

// keepRowSets bounds the sets that are remembered: a name is a few clicks of one
// picture, and all can be found again.
const keepRowSets = 8

// FindBy replaces how names are found; nil: no name is known any more.
func (s *RowSets) FindBy(find func(ctx context.Context, name string) (table.Bits, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.find, s.newest = find, nil
	s.generation++
}

// Generation changes whenever a name may mean other rows than before.
func (s *RowSets) Generation() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

// Rows returns the rows of a name. They are not to be changed.
func (s *RowSets) Rows(ctx context.Context, name string) (table.Bits, error) {
	if s == nil {
		return nil, unknownRows(name)
	}
	s.mu.Lock()
	find, generation := s.find, s.generation
	i := slices.IndexFunc(s.newest, func(n namedRows) bool { return n.name == name })
	if i >= 0 {
		known := s.newest[i]
		s.newest = slices.Insert(slices.Delete(s.newest, i, i+1), 0, known)
		s.mu.Unlock()
		return known.rows, nil
	}
	s.mu.Unlock()
	if find == nil {
		return nil, unknownRows(name)
	}
	rows, err := find(ctx, name)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return nil, Refuse("rows %s: %v", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation == generation {
		s.newest = slices.Insert(s.newest, 0, namedRows{name, rows})
		s.newest = s.newest[:min(len(s.newest), keepRowSets)]
	}
	return rows, nil
}

func unknownRows(name string) error {
	return Refuse("no rows are known by the name %q; sets of cells need the mesh they are of, so open the samples with --mesh", name)
}
