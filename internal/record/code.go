package record

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/operand"
	"github.com/isobath/isobath/internal/record/sampler"
)

// codeMap is executable memory of a process.
type codeMap struct {
	start, end, offset uint64
	path               string
	loaded             *loaded
	mapping            *symbol.Mapping // as it was made, whatever covers parts of it since
}

// loaded is code ready to be searched, and what to add to its link-time
// addresses.
type loaded struct {
	path  string
	image *operand.Image // nil if the code cannot be read
	bias  uint64
	// memory is set for code that is in no file: it may change while the
	// program runs, so it is read anew for every sample.
	memory  *os.File
	windows *operand.Windows
}

// spaces are the executable mappings of all processes now. Attribution uses
// symbol.Space, which knows all mappings at all times, but only afterwards.
type spaces struct {
	files    *symbol.Files
	pids     map[int32][]codeMap
	images   map[string]*operand.Image // by path; nil if it cannot be read
	memories map[int32]*os.File        // of processes; nil if it cannot be read
	looked   map[int32]uint64          // time of the last look at a process's mappings
	windows  *operand.Windows          // of code in no file
	leaves   map[codePlace][]byte      // code in no file at return addresses, as it was a moment ago
}

// codePlace is an address of a process.
type codePlace struct {
	pid  int32
	addr uint64
}

func newSpaces(files *symbol.Files) *spaces {
	return &spaces{files: files, pids: map[int32][]codeMap{}, images: map[string]*operand.Image{}, memories: map[int32]*os.File{}, looked: map[int32]uint64{}, leaves: map[codePlace][]byte{},
		windows: operand.NewWindows(machine())}
}

func (s *spaces) close() {
	for _, f := range s.memories {
		if f != nil {
			f.Close()
		}
	}
}

// add puts a mapping over what is there.
func (s *spaces) add(m *perfevent.Mapping) {
	pid, end := int32(m.PID), m.Start+m.Len
	if end < m.Start {
		return
	}
	kept := s.pids[pid][:0:0]
	for _, c := range s.pids[pid] {
		if c.end <= m.Start || c.start >= end {
			kept = append(kept, c)
			continue
		}
		if c.start < m.Start {
			low := c
			low.end = m.Start
			kept = append(kept, low)
		}
		if c.end > end {
			high := c
			high.offset += end - c.start
			high.start = end
			kept = append(kept, high)
		}
	}
	if !m.Data {
		whole := &symbol.Mapping{Start: m.Start, End: end, Offset: m.Offset, Path: m.Name, Exec: true}
		kept = append(kept, codeMap{start: m.Start, end: end, offset: m.Offset, path: m.Name, mapping: whole})
	}
	s.pids[pid] = kept
}

// fork gives a new process the mappings of its parent.
func (s *spaces) fork(parent, child int32) {
	if parent != child {
		s.pids[child] = slices.Clone(s.pids[parent])
	}
}

// exec drops what is known of a process: an open file of its memory stays that of
// the program before.
func (s *spaces) exec(pid int32) {
	delete(s.pids, pid)
	if f := s.memories[pid]; f != nil {
		f.Close()
	}
	delete(s.memories, pid)
	delete(s.looked, pid)
	s.forget()
}

// find returns the code around an address of a process.
func (s *spaces) find(pid int32, ip, time uint64) *loaded {
	if l := s.lookup(pid, ip); l != nil || !s.look(pid, time) {
		return l
	}
	return s.lookup(pid, ip)
}

func (s *spaces) lookup(pid int32, ip uint64) *loaded {
	maps := s.pids[pid]
	for i := range maps {
		c := &maps[i]
		if ip < c.start || ip >= c.end {
			continue
		}
		if c.loaded == nil {
			c.loaded = s.load(pid, c)
		}
		return c.loaded
	}
	return nil
}

// mapping returns the executable mapping of an address now.
func (s *spaces) mapping(pid int32, addr, time uint64) *symbol.Mapping {
	at := func() *symbol.Mapping {
		maps := s.pids[pid]
		for i := range maps {
			if c := &maps[i]; addr >= c.start && addr < c.end {
				return c.mapping
			}
		}
		return nil
	}
	if m := at(); m != nil || !s.look(pid, time) {
		return m
	}
	return at()
}

// lookAgain is how long to wait before a process's mappings are read again.
const lookAgain = 200e6 // ns

// seenFrom is the path by which we reach a file that a process has mapped. One in a
// container, or behind another mount, has its own files: what lies here under the
// same path would give its code the names of another program.
func (s *spaces) seenFrom(pid int32, path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/memfd:") {
		return path
	}
	root := fmt.Sprintf("/proc/%d/root", pid)
	if !s.foreign(pid, root) {
		return path
	}
	theirs, err := os.Stat(root + path)
	if ours, failed := os.Stat(path); err == nil && failed == nil && os.SameFile(theirs, ours) {
		return path
	}
	_, _ = s.files.Open(root+path, "") // while the process lives; it is kept
	return root + path
}

// foreign reports whether a process that lives sees other files than we do.
func (s *spaces) foreign(pid int32, root string) bool {
	mounts, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return false // it has ended: nothing more can be known
	}
	own, _ := os.Readlink("/proc/self/ns/mnt")
	theirs, err := os.Stat(root)
	ours, _ := os.Stat("/")
	return mounts != own || err == nil && !os.SameFile(theirs, ours)
}

// look reads the mappings of a process: memory that became executable after it
// was mapped, as compilers at run time make it, is in no record.
func (s *spaces) look(pid int32, time uint64) bool {
	if last, ok := s.looked[pid]; ok && time < last+lookAgain {
		return false
	}
	s.looked[pid] = time
	maps, err := sampler.Mappings(int(pid))
	if err != nil {
		return false
	}
	for i := range maps {
		if m := &maps[i]; !m.Data && s.lookup(pid, m.Start) == nil {
			m.Name = s.seenFrom(pid, m.Name)
			s.add(m)
		}
	}
	return true
}

func (s *spaces) load(pid int32, c *codeMap) *loaded {
	if !strings.HasPrefix(c.path, "/") || strings.HasPrefix(c.path, "//") || strings.HasPrefix(c.path, "/memfd:") {
		return s.copied(pid)
	}
	binary, err := s.files.Open(c.path, "")
	if err != nil {
		return s.copied(pid)
	}
	bias, ok := binary.Bias(&symbol.Mapping{Start: c.start, End: c.end, Offset: c.offset, Path: c.path, Exec: true})
	if !ok {
		return &loaded{}
	}
	image, seen := s.images[c.path]
	if !seen {
		image, _ = operand.OpenImage(c.path, binary)
		s.images[c.path] = image
	}
	return &loaded{path: c.path, image: image, bias: bias}
}

// copied is code that is in no file: the vdso, and what compilers make at run
// time.
func (s *spaces) copied(pid int32) *loaded {
	f, seen := s.memories[pid]
	if !seen {
		f, _ = os.Open(fmt.Sprintf("/proc/%d/mem", pid))
		s.memories[pid] = f
	}
	return &loaded{memory: f, windows: s.windows}
}

// Bytes of code that are read of a living process, before and behind the counter:
// what the rules look at.
const (
	windowBefore = 128
	windowBehind = 256
	pageSize     = 4096
)

// window reads the code around an address of a process and returns where it begins,
// or nothing if the process has ended or has no such memory any more.
func window(memory io.ReaderAt, ip uint64) (low uint64, code []byte) {
	page := ip &^ (pageSize - 1)
	code = make([]byte, windowBefore+windowBehind)
	low = ip - min(ip, windowBefore)
	n, _ := memory.ReadAt(code, int64(low))
	if n == 0 && low < page { // the page before may be another's
		low = page
		n, _ = memory.ReadAt(code[:ip-low+windowBehind], int64(low))
	}
	if low+uint64(n) <= ip {
		return low, nil
	}
	return low, code[:n]
}

// search finds the access at an address of the code.
func (l *loaded) search(ip uint64, state *operand.State) (operand.Access, operand.Reason) {
	if l.memory != nil {
		low, code := window(l.memory, ip)
		if len(code) == 0 {
			return operand.Access{}, operand.NoCode
		}
		return l.windows.Find(low, code, ip, state)
	}
	if l.image == nil {
		return operand.Access{}, operand.NoCode
	}
	a, why := l.image.Find(ip-l.bias, l.bias, state)
	if a.PC != 0 {
		a.PC += l.bias
	}
	return a, why
}

// Code at a return address that unwinding looks at, and how many of them are kept:
// the functions of a script are few, and called from everywhere.
const (
	leaveBytes = 64
	maxLeaves  = 1 << 14
)

// generatedAt returns the code at a return address that is in no file; nil if it
// cannot be read. Code may change: forget drops what was read.
func (s *spaces) generatedAt(pid int32, addr uint64) []byte {
	at := codePlace{pid, addr}
	code, known := s.leaves[at]
	if known || len(s.leaves) == maxLeaves {
		return code
	}
	if memory := s.copied(pid).memory; memory != nil {
		code = make([]byte, leaveBytes)
		n, _ := memory.ReadAt(code, int64(addr))
		code = code[:n]
	}
	s.leaves[at] = code
	return code
}

// forget drops code of processes that may have changed since.
func (s *spaces) forget() { clear(s.leaves) }

// memory returns words of a process as they are now.
func (s *spaces) memory(pid int32) operand.Memory {
	f := s.copied(pid).memory
	if f == nil {
		return nil
	}
	return func(addr uint64) (uint64, bool) {
		var word [8]byte
		if addr>>63 != 0 {
			return 0, false
		}
		_, err := f.ReadAt(word[:], int64(addr))
		return binary.LittleEndian.Uint64(word[:]), err == nil
	}
}

// spins reports whether the code around an address waits for another thread.
func (l *loaded) spins(ip uint64) bool {
	return l.image != nil && l.image.Spins(ip-l.bias)
}

func machine() elf.Machine {
	if runtime.GOARCH == "arm64" {
		return elf.EM_AARCH64
	}
	return elf.EM_X86_64
}
