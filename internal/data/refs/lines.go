package refs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of a text trace. C++ names of instantiated templates
// reach tens of kilobytes; nothing honest reaches this.
const maxLine = 1 << 20

// Lines reads a text trace line by line without allocating.
type Lines struct {
	r    *bufio.Reader
	long []byte
	n    int
}

// NewLines reads lines from r.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, 256<<10)} }

// Number is the 1-based number of the line Next returned last.
func (l *Lines) Number() int { return l.n }

// Next returns the next line without its end. The slice is valid until the
// next call. At the end of the text the error is io.EOF.
func (l *Lines) Next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.rest(line)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(line) == 0 {
		return nil, io.EOF
	}
	l.n++
	return trimEnd(line), nil
}

// Fill reads lines until dst is full. parse turns one into a reference, or
// returns false for a line that holds none; its error ends the trace. At the end
// of the text Fill returns io.EOF, with what was read before it.
func (l *Lines) Fill(dst []Ref, parse func(line []byte) (Ref, bool, error)) (int, error) {
	n := 0
	for n < len(dst) {
		line, err := l.Next()
		if err == io.EOF {
			return n, io.EOF
		}
		if err != nil {
			return n, fmt.Errorf("after line %d: %w", l.n, err)
		}
		ref, ok, err := parse(line)
		if err != nil {
			return n, fmt.Errorf("line %d: %w", l.n, err)
		}
		if ok {
			dst[n] = ref
			n++
		}
	}
	return n, nil
}

func (l *Lines) rest(head []byte) ([]byte, error) {
	l.long = append(l.long[:0], head...)
	for {
		more, err := l.r.ReadSlice('\n')
		l.long = append(l.long, more...)
		if len(l.long) > maxLine {
			return nil, fmt.Errorf("line %d is longer than %d bytes; is this a text trace?", l.n+1, maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}

func trimEnd(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// Hex reads the hexadecimal digits at the start of b, with or without 0x, and
// returns what follows them.
func Hex(b []byte) (v uint64, rest []byte, ok bool) {
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		b = b[2:]
	}
	i := 0
	for ; i < len(b) && i < 17; i++ {
		d := hexDigit[b[i]]
		if d < 0 {
			break
		}
		v = v<<4 | uint64(d)
	}
	return v, b[i:], i > 0 && i <= 16
}

// Decimal reads the decimal digits at the start of b and returns what follows.
func Decimal(b []byte) (v uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		d := uint64(b[i] - '0')
		if v > (1<<64-1-d)/10 {
			return 0, b, false
		}
		v = v*10 + d
	}
	return v, b[i:], i > 0
}

// Number reads a number that is hexadecimal with 0x and decimal without.
func Number(b []byte) (v uint64, rest []byte, ok bool) {
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		return Hex(b)
	}
	return Decimal(b)
}

// SkipSpace returns b without the blanks at its start.
func SkipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

var hexDigit = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = int8(c - '0')
	}
	for c := byte('a'); c <= 'f'; c++ {
		t[c] = int8(c-'a') + 10
		t[c-'a'+'A'] = int8(c-'a') + 10
	}
	return t
}()
