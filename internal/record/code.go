package record

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"isobath/internal/perfevent"
	"isobath/internal/record/operand"
	"isobath/internal/symbol"
)

// codeMap is executable memory of a process.
type codeMap struct {
	start, end, offset uint64
	path               string
	loaded             *loaded
}

// loaded is code ready to be searched, and what to add to its link-time
// addresses.
type loaded struct {
	image *operand.Image // nil if the code cannot be read
	bias  uint64
}

// spaces are the executable mappings of all processes now. Attribution uses
// symbol.Space, which knows all mappings at all times, but only afterwards.
type spaces struct {
	files  *symbol.Files
	pids   map[int32][]codeMap
	images map[string]*operand.Image // by path; nil if it cannot be read
}

func newSpaces(files *symbol.Files) *spaces {
	return &spaces{files: files, pids: map[int32][]codeMap{}, images: map[string]*operand.Image{}}
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
		kept = append(kept, codeMap{start: m.Start, end: end, offset: m.Offset, path: m.Name})
	}
	s.pids[pid] = kept
}

// fork gives a new process the mappings of its parent.
func (s *spaces) fork(parent, child int32) {
	if parent != child {
		s.pids[child] = slices.Clone(s.pids[parent])
	}
}

func (s *spaces) exec(pid int32) { delete(s.pids, pid) }

// find returns the code around an address of a process.
func (s *spaces) find(pid int32, ip uint64) *loaded {
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

func (s *spaces) load(pid int32, c *codeMap) *loaded {
	if !strings.HasPrefix(c.path, "/") || strings.HasPrefix(c.path, "//") || strings.HasPrefix(c.path, "/memfd:") {
		return s.copied(pid, c)
	}
	binary, err := s.files.Open(c.path, "")
	if err != nil {
		return s.copied(pid, c)
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
	return &loaded{image, bias}
}

// maxCopy bounds what is copied of code that is in no file.
const maxCopy = 64 << 20

// copied takes the code out of the living process: the vdso, and what compilers
// make at run time.
func (s *spaces) copied(pid int32, c *codeMap) *loaded {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return &loaded{}
	}
	defer f.Close()
	code := make([]byte, min(c.end-c.start, maxCopy))
	n, err := f.ReadAt(code, int64(c.start))
	if n == 0 || err != nil && err != io.EOF {
		return &loaded{}
	}
	return &loaded{image: operand.CodeImage(machine(), c.start, code[:n])}
}

func machine() elf.Machine {
	if runtime.GOARCH == "arm64" {
		return elf.EM_AARCH64
	}
	return elf.EM_X86_64
}
