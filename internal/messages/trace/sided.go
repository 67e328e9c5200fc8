package trace

import "github.com/isobath/isobath/internal/formats/otf2"

// Moved is what processes moved by other ways than messages: through windows of
// one-sided communication, and to and from files. None of it is an operation of
// the trace, but fences and collective operations on files are.
type Moved struct {
	Puts    int   `json:"puts"`
	Gets    int   `json:"gets"`
	Atomics int   `json:"atomics"`
	Bytes   int64 `json:"bytes"` // of these, both ways

	FileOperations int   `json:"file_operations"`
	FileRead       int64 `json:"file_bytes_read"`
	FileWritten    int64 `json:"file_bytes_written"`
}

func (m *Moved) add(o *Moved) {
	m.Puts, m.Gets, m.Atomics, m.Bytes = m.Puts+o.Puts, m.Gets+o.Gets, m.Atomics+o.Atomics, m.Bytes+o.Bytes
	m.FileOperations, m.FileRead, m.FileWritten = m.FileOperations+o.FileOperations, m.FileRead+o.FileRead, m.FileWritten+o.FileWritten
}

// sided counts the records of windows and files of one location.
type sided struct {
	moved Moved
	open  map[[2]uint64][2]uint8 // operations on files under way, by file and number: read, write or flush, and flags
}

const ioRead, ioWrite = 0, 1

// event counts a record; of the end of an operation on a file it returns the
// flags.
func (s *sided) event(ev *otf2.Event) (flags uint8) {
	switch ev.Kind {
	case otf2.RMAPut:
		s.moved.Puts++
		s.bytes(&s.moved.Bytes, ev.F[2])
	case otf2.RMAGet:
		s.moved.Gets++
		s.bytes(&s.moved.Bytes, ev.F[2])
	case otf2.RMAAtomic:
		s.moved.Atomics++
		s.bytes(&s.moved.Bytes, ev.F[3])
		s.bytes(&s.moved.Bytes, ev.F[4])
	case otf2.IOOperationBegin:
		s.moved.FileOperations++
		if s.open == nil {
			s.open = map[[2]uint64][2]uint8{}
		}
		s.open[[2]uint64{ev.F[0], ev.F[4]}] = [2]uint8{uint8(ev.F[1]), uint8(ev.F[2])}
	case otf2.IOOperationComplete:
		key := [2]uint64{ev.F[0], ev.F[2]}
		began, ok := s.open[key]
		mode := began[0]
		flags = began[1]
		delete(s.open, key)
		switch {
		case ok && mode == ioRead:
			s.bytes(&s.moved.FileRead, ev.F[1])
		case ok && mode == ioWrite:
			s.bytes(&s.moved.FileWritten, ev.F[1])
		}
	}
	return flags
}

// bytes adds a number that a writer may have left out, or a damaged file made
// up: sums of those that exist never fall below zero.
func (s *sided) bytes(to *int64, n uint64) {
	if n < 1<<48 {
		*to += int64(n)
	}
}
