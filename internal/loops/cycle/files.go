package cycle

import (
	"errors"
	"iter"

	columns "github.com/isobath/isobath/internal/data/table"
)

// Files are temporary files that the strings of long traces lie in, one number a
// reference each, so that they take no memory. None (nil) keeps them in memory, for
// whoever has no moment at which nobody uses them any more.
type Files struct {
	spills []*columns.Spill
	beside *Files // whose strings are read too
}

// Close frees the files. No trace and no result that was made with them may be used
// afterwards.
func (f *Files) Close() error {
	if f == nil {
		return nil
	}
	var errs []error
	for _, s := range f.spills {
		errs = append(errs, s.Close())
	}
	f.spills = nil
	return errors.Join(errs...)
}

// release gives back the memory that reading the strings took.
func (f *Files) release() {
	if f == nil {
		return
	}
	for _, s := range f.spills {
		s.Release()
	}
	f.beside.release()
}

// own are files beside these that can be closed before them.
func (f *Files) own() *Files {
	if f == nil {
		return nil
	}
	return &Files{beside: f}
}

// keep takes over what was collected.
func (f *Files) keep(g *columns.Growing[uint32]) ([]uint32, error) {
	values, spill, err := g.Values()
	if spill != nil {
		f.spills = append(f.spills, spill)
	}
	return values, err
}

// fill makes a string of n numbers, a part at a time.
func (f *Files) fill(n int, part func(from int, to []uint32) error) ([]uint32, error) {
	if f == nil {
		out := make([]uint32, n)
		return out, part(0, out)
	}
	var g columns.Growing[uint32]
	for at := 0; at < n; {
		to := g.Room(n - at)
		if err := part(at, to); err != nil {
			g.Drop()
			return nil, err
		}
		if at/partLength != (at+len(to))/partLength {
			f.release()
		}
		at += len(to)
	}
	return f.keep(&g)
}

// partLength is how many numbers of a string are looked at before their memory is
// given back: 4 MB of each.
const partLength = 1 << 20

// parts cuts a string into parts, each with where it begins, and gives back the
// memory of all strings after each.
func (f *Files) parts(s []uint32) iter.Seq2[int, []uint32] {
	return func(yield func(int, []uint32) bool) {
		for from := 0; from < len(s); from += partLength {
			if !yield(from, s[from:min(from+partLength, len(s))]) {
				return
			}
			f.release()
		}
	}
}

// strand is a string that grows.
type strand struct {
	files *Files
	here  []uint32
	there columns.Growing[uint32] // in place of here, if there are files
	n     int
}

func (s *strand) add(values ...uint32) {
	s.n += len(values)
	if s.files == nil {
		s.here = append(s.here, values...)
		return
	}
	s.there.AppendAll(values)
}

// pad adds zeros.
func (s *strand) pad(n int) {
	for ; n > 0; n-- {
		s.add(0)
	}
}

// all is the string, to which nothing is added any more; nil if nothing was.
func (s *strand) all() ([]uint32, error) {
	if s.files == nil || s.n == 0 {
		return s.here, nil
	}
	return s.files.keep(&s.there)
}
