package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/operand"
	"github.com/isobath/isobath/internal/record/pmu"
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

// A process may end within a moment of its first sample, and only while it lives can
// its memory be asked. So code is read of its file and nothing else, however much
// debug information lies beside.
func TestFirstSampleReadsCodeOnly(t *testing.T) {
	counter := "/proc/self/io"
	if _, err := os.Stat(counter); err != nil {
		t.Skip("this system does not count what is read")
	}
	const padding = 64 << 20
	dir := t.TempDir()
	source, program, debug := filepath.Join(dir, "p.c"), filepath.Join(dir, "p"), filepath.Join(dir, "debug")
	if err := os.WriteFile(source, []byte("long *p; int main(void) { for (;;) p = (long *)*p; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(debug, nil, 0o600), os.Truncate(debug, padding)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{test.Peer(t, "gcc", "gcc"), "-o", program, source}, {test.Peer(t, "objcopy", "binutils"), "--add-section", ".debug_info=" + debug, program}} {
		if text, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	files := &symbol.Files{}
	defer files.Close()
	b, err := symbol.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	low, high, err := b.Function("main")
	if err != nil {
		t.Fatal(err)
	}
	c := newCollector(files)
	defer c.code.close()
	const pid, page = 1 << 30, 1 << 12 // nobody has this number
	ip := high - 4
	c.Mapping(0, &perfevent.Mapping{PID: pid, Start: low &^ (page - 1), Len: page, Offset: low &^ (page - 1), Name: program})
	stack := make([]byte, 64)
	registers := perfevent.Regs{ABI: perfevent.ABI64, Mask: 1<<c.regs.ip | 1<<c.regs.sp | 1<<9, Values: words(map[int]uint64{c.regs.ip: ip, c.regs.sp: 0x7000, 9: 0})}
	before := bytesRead(t, counter)
	c.Sample(&pmu.Event{Use: pmu.Timer}, &perfevent.Sample{PID: pid, TID: pid, IP: ip, RegsUser: registers, StackUser: stack})
	read := bytesRead(t, counter) - before
	if len(c.rows) != 1 || c.rows[0].found == operand.NoCode || c.rows[0].found == operand.NoRegisters {
		t.Fatalf("rows %+v", c.rows)
	}
	if read > padding/4 {
		t.Errorf("%d bytes were read for a sample of a program with %d of debug information", read, padding)
	}
}

// words are registers in the order of their bits.
func words(of map[int]uint64) (out perfevent.Words) {
	for _, bit := range slices.Sorted(maps.Keys(of)) {
		out.Bytes = binary.LittleEndian.AppendUint64(out.Bytes, of[bit])
	}
	return out
}

// bytesRead is how many bytes this process has read so far.
func bytesRead(t *testing.T, counter string) (n int) {
	t.Helper()
	body, err := os.ReadFile(counter)
	if err == nil {
		_, err = fmt.Sscanf(string(body), "rchar: %d", &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
