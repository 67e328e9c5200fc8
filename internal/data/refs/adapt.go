package refs

import (
	"errors"
	"io"
)

// Split turns every Modify into a Load followed by a Store, as recorders do
// that see memory accesses and not instructions. Two traces of one program are
// only comparable when both count a modify the same way.
func Split(r Reader) Reader { return &splitter{Reader: r} }

type splitter struct {
	Reader
	buf  []Ref
	left []Ref
	half bool // the next record owes its Store
	err  error
}

func (s *splitter) Read(dst []Ref) (int, error) {
	n := 0
	for n < len(dst) {
		if len(s.left) == 0 {
			if s.err != nil {
				return n, s.err
			}
			if n > 0 {
				return n, nil
			}
			s.fill(len(dst))
			continue
		}
		ref := s.left[0]
		switch {
		case ref.Op == Modify && !s.half:
			ref.Op, s.half = Load, true
		case s.half:
			ref.Op, s.half = Store, false
			s.left = s.left[1:]
		default:
			s.left = s.left[1:]
		}
		dst[n] = ref
		n++
	}
	return n, nil
}

func (s *splitter) fill(n int) {
	if cap(s.buf) < n {
		s.buf = make([]Ref, n)
	}
	k, err := s.Reader.Read(s.buf[:n])
	s.left, s.err = s.buf[:k], err
}

// Join is the inverse of Split: a Load and a Store that follow each other with
// the same instruction and address become one Modify. Without instruction
// addresses it would join unrelated neighbours, so it does nothing there.
func Join(r Reader) Reader {
	if r.About().Has&HasPC == 0 {
		return r
	}
	return &joiner{Reader: r}
}

type joiner struct {
	Reader
	held Ref // a Load whose Store may follow
	has  bool
	err  error
}

func (j *joiner) Read(dst []Ref) (int, error) {
	if len(dst) < 2 {
		return 0, io.ErrShortBuffer
	}
	if j.err != nil {
		return j.flush(dst)
	}
	// One slot stays free for the held record, so output never overtakes input.
	k, err := j.Reader.Read(dst[1:])
	n := 0
	for _, ref := range dst[1 : 1+k] {
		if j.has {
			j.has = false
			if ref.Op == Store && ref.PC == j.held.PC && ref.Addr == j.held.Addr && ref.Thread == j.held.Thread {
				ref.Op = Modify
				dst[n] = ref
				n++
				continue
			}
			dst[n] = j.held
			n++
		}
		if ref.Op == Load {
			j.held, j.has = ref, true
			continue
		}
		dst[n] = ref
		n++
	}
	if err != nil {
		j.err = err
		if !errors.Is(err, io.EOF) {
			return n, err
		}
	}
	return n, nil
}

func (j *joiner) flush(dst []Ref) (int, error) {
	if !j.has {
		return 0, j.err
	}
	j.has = false
	dst[0] = j.held
	return 1, j.err
}

// Region keeps what runs between two marker functions: from the first
// reference made inside begin to the first one inside end, without those of
// begin itself. Both are ranges of instruction addresses.
func Region(r Reader, begin, end Range) Reader {
	return &region{Reader: r, begin: begin, end: end}
}

// Range is a half-open range of addresses.
type Range struct{ Low, High uint64 }

// Contains reports whether the address lies in the range.
func (g Range) Contains(a uint64) bool { return a-g.Low < g.High-g.Low }

type region struct {
	Reader
	begin, end Range
	inside     bool
	over       bool
}

func (g *region) Read(dst []Ref) (int, error) {
	if g.over {
		return 0, io.EOF
	}
	for {
		k, err := g.Reader.Read(dst)
		n := 0
		for _, ref := range dst[:k] {
			switch {
			case g.begin.Contains(ref.PC):
				g.inside = true
			case g.inside && g.end.Contains(ref.PC):
				g.over = true
				return n, io.EOF
			case g.inside:
				dst[n] = ref
				n++
			}
		}
		if n > 0 || err != nil || len(dst) == 0 {
			return n, err
		}
	}
}
