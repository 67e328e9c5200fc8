package record

import (
	"io"
	"os/exec"
	"runtime"
	"testing"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/sampler"
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

// What a process becomes by exec is read, and not the program that it was: a file
// of its memory that is open stays that of the old one.
func TestMemoryAfterExec(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory of processes is read on Linux")
	}
	cmd := exec.Command("sh", "-c", "read go; exec cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	s := newSpaces(&symbol.Files{})
	defer s.close()
	pid := int32(cmd.Process.Pid)
	readable := func() bool {
		maps, err := sampler.Mappings(int(pid))
		if err != nil || len(maps) == 0 {
			t.Fatalf("no mappings: %v", err)
		}
		memory := s.memory(pid)
		if memory == nil {
			t.Skip("this machine does not let us read the memory of others")
		}
		_, ok := memory(maps[0].Start)
		return ok
	}
	if !readable() {
		t.Error("the memory of the shell cannot be read")
	}
	if _, err := io.WriteString(in, "go\nhere\n"); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 5)
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "here\n" { // it is cat that answers
		t.Fatalf("%q: %v", line, err)
	}
	s.exec(pid)
	if !readable() {
		t.Error("the memory of the new program cannot be read")
	}
}
