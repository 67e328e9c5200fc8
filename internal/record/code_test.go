package record

import (
	"io"
	"testing"
)

// pages is the memory of a process that has only some of its pages.
type pages map[uint64]bool

func (p pages) ReadAt(b []byte, at int64) (int, error) {
	for i := range b {
		if !p[(uint64(at)+uint64(i))/pageSize] {
			return i, io.ErrUnexpectedEOF
		}
	}
	return len(b), nil
}

// Wherever an address lies in its page and whatever lies around it, the code that is
// read holds the address or is empty: a process may end between a sample of it and
// the look at its code.
func TestCodeWindow(t *testing.T) {
	for _, has := range []pages{{}, {7: true}, {6: true}, {8: true}, {6: true, 7: true}, {7: true, 8: true}, {6: true, 7: true, 8: true}} {
		for offset := uint64(0); offset < pageSize; offset++ {
			ip := 7*pageSize + offset
			low, code := window(has, ip)
			if got := len(code) > 0; got != has[7] {
				t.Fatalf("pages %v: %d bytes of code around %#x", has, len(code), ip)
			}
			if has[7] && (low > ip || low+uint64(len(code)) <= ip) {
				t.Fatalf("pages %v: code %#x to %#x does not hold %#x", has, low, low+uint64(len(code)), ip)
			}
		}
	}
}
