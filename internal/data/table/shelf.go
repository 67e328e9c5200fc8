package table

import (
	"os"
	"slices"
	"sync"
	"unsafe"
)

// Shelf keeps values that many parts of some work made in one temporary file
// without a name, until all of them are wanted again.
type Shelf struct {
	mu    sync.Mutex
	file  *os.File
	size  int64
	parts []shelvedPart
	spill *Spill
}

// Shelved is a slice of values without pointers that can be put on a shelf.
type Shelved interface {
	raw() []byte
	set([]byte)
}

type shelvedPart struct {
	Shelved
	at, size int64
}

type shelved[T any] struct{ values *[]T }

// Shelve is the slice that a variable holds.
func Shelve[T any](values *[]T) Shelved { return shelved[T]{values} }

func (s shelved[T]) raw() []byte { return RawBytes(*s.values) }

func (s shelved[T]) set(b []byte) {
	if *s.values = nil; len(b) > 0 {
		var zero T
		*s.values = unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(zero)))
	}
}

// shelfStep is what every part begins at a multiple of, for values of any size.
const shelfStep = 8

// Put writes values to the file and takes them out of their variables, which are
// to stay where they are until Take.
func (s *Shelf) Put(values ...Shelved) error {
	parts, err := s.place(values)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := s.file.WriteAt(p.raw(), p.at); err != nil {
			return noRoom(err)
		}
		p.set(nil)
	}
	return nil
}

// place gives values places in the file.
func (s *Shelf) place(values []Shelved) ([]shelvedPart, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := unnamed()
		if err != nil {
			return nil, err
		}
		s.file = f
	}
	from := len(s.parts)
	for _, v := range values {
		if size := int64(len(v.raw())); size > 0 {
			s.parts = append(s.parts, shelvedPart{v, s.size, size})
			s.size += (size + shelfStep - 1) &^ (shelfStep - 1)
		}
	}
	return slices.Clone(s.parts[from:]), nil
}

// Take gives all variables their values back. These may be changed, and last until
// Close.
func (s *Shelf) Take() error {
	if s.size == 0 {
		return nil
	}
	// The last part may end before its step does.
	if err := s.file.Truncate(s.size); err != nil {
		return noRoom(err)
	}
	data, unmap, err := mmapEditable(s.file, s.size)
	if err != nil {
		return err
	}
	s.spill = &Spill{data: data, unmap: unmap}
	for _, p := range s.parts {
		p.set(data[p.at : p.at+p.size : p.at+p.size])
	}
	s.parts = nil
	return nil
}

// Release gives back the memory that values took that were looked at.
func (s *Shelf) Release() { s.spill.Release() }

// Close frees the file.
func (s *Shelf) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.spill.Close()
	if e := s.file.Close(); err == nil {
		err = e
	}
	return err
}

// Room is space for n values in a temporary file without a name: zeros at first.
// That the file has room for all of them is made sure.
func Room[T any](n int) ([]T, *Spill, error) {
	var zero T
	size := int64(n) * int64(unsafe.Sizeof(zero))
	if size == 0 {
		return nil, nil, nil
	}
	f, err := unnamed()
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if err := allocate(f, size); err != nil {
		return nil, nil, noRoom(err)
	}
	data, unmap, err := mmapEditable(f, size)
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), n), &Spill{data: data, unmap: unmap}, nil
}

// writeZeros fills a file: what is only made longer has no room on the disk yet.
func writeZeros(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}
