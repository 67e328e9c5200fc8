package symbol

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Generated is the names of code that programs made while they ran: what their
// compilers wrote into perf maps and jitdumps. Not safe for concurrent use while
// it is filled.
type Generated struct {
	pages map[generatedPage][]int32 // functions by the pages they reach, in the order they were added
	all   []generatedFunction
	refs  int
	// interpreted are the functions that are no code, in order of their addresses.
	interpreted []int32
}

// interpretedCode is where functions stand that an interpreter runs, and their lines:
// no process of Linux has memory there.
const (
	interpretedCode = 1 << 62
	interpretedSize = 2
)

// InterpretedPC is the address that stands for the function, or line of one, that
// AddInterpreted was given as number n.
func InterpretedPC(n int) uint64 { return interpretedCode + interpretedSize*uint64(n) }

// AddInterpreted names a function, or a line of one, that is no code: an
// interpreter runs it. They are numbered from 0.
func (g *Generated) AddInterpreted(f Frame) {
	at := InterpretedPC(len(g.interpreted))
	g.interpreted = append(g.interpreted, int32(len(g.all)))
	g.all = append(g.all, generatedFunction{start: at, end: at + interpretedSize, frame: f})
}

type generatedPage struct {
	pid  int
	page uint64
}

type generatedFunction struct {
	since      uint64
	start, end uint64
	frame      Frame
	lines      []generatedLine // by address
}

type generatedLine struct {
	addr uint64
	file string
	line int
}

// Bounds of what is believed: the largest function of generated code is far
// smaller, and a program has a few hundred thousand of them.
const (
	maxGeneratedFunction = 64 << 20
	maxGeneratedRefs     = 8 << 20
	generatedPageBits    = 12
)

// errGeneratedFull says that there are more names than are kept.
var errGeneratedFull = errors.New("more generated functions than are kept; the last have no names")

// add names code of a process from a time on.
func (g *Generated) add(pid int, f generatedFunction) error {
	size := f.end - f.start
	if f.end <= f.start || size > maxGeneratedFunction || f.frame.Function == "" {
		return nil
	}
	first, last := f.start>>generatedPageBits, (f.end-1)>>generatedPageBits
	if g.refs += int(last - first + 1); g.refs > maxGeneratedRefs {
		return errGeneratedFull
	}
	if g.pages == nil {
		g.pages = map[generatedPage][]int32{}
	}
	n := int32(len(g.all))
	g.all = append(g.all, f)
	for p := first; p <= last; p++ {
		k := generatedPage{pid, p}
		g.pages[k] = append(g.pages[k], n)
	}
	return nil
}

// find returns the number of the function that an address was in at a time: the
// newest of then, or else the first that came. -1 is none.
func (g *Generated) find(pid int, at, pc uint64) int32 {
	if g == nil {
		return none
	}
	if n := pc/interpretedSize - interpretedCode/interpretedSize; pc >= interpretedCode && n < uint64(len(g.interpreted)) {
		return g.interpreted[n]
	}
	later := int32(none)
	for _, n := range slices.Backward(g.pages[generatedPage{pid, pc >> generatedPageBits}]) {
		f := &g.all[n]
		if pc < f.start || pc >= f.end {
			continue
		}
		if f.since <= at {
			return n
		}
		later = n
	}
	return later
}

// frameAt is the function with the line of an address, where the compiler said it.
func (f *generatedFunction) frameAt(pc uint64) Frame {
	at, found := slices.BinarySearchFunc(f.lines, pc, func(l generatedLine, pc uint64) int { return cmp.Compare(l.addr, pc) })
	if !found {
		at--
	}
	if at < 0 || at >= len(f.lines) {
		return f.frame
	}
	return Frame{f.frame.Function, f.lines[at].file, f.lines[at].line}
}

// ReadPerfMap takes in the text of a perf map: start and size in hexadecimal and a
// name, one function a line. It has no times: of two functions at one place the
// one further down counts. What is no such line is left out.
func (g *Generated) ReadPerfMap(pid int, r io.Reader) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, long, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("perf map: %w", err)
		}
		for more := long; more && err == nil; {
			_, more, err = lines.ReadLine() // a name longer than that is cut
		}
		from, rest, _ := bytes.Cut(line, []byte{' '})
		length, name, ok := bytes.Cut(rest, []byte{' '})
		start, err1 := strconv.ParseUint(strings.TrimPrefix(string(from), "0x"), 16, 64)
		size, err2 := strconv.ParseUint(strings.TrimPrefix(string(length), "0x"), 16, 64)
		if !ok || err1 != nil || err2 != nil {
			continue
		}
		if err := g.add(pid, generatedFunction{start: start, end: start + size, frame: generatedFrame(string(name))}); err != nil {
			return err
		}
	}
}

// generatedFrame reads the conventions of V8 ("JS:*name file.js:3:9") and CPython
// ("py::name:file.py"); others' names stay as they are. The line that V8 says is
// that of the function and not of the instruction, so it is no line of a frame.
func generatedFrame(name string) Frame {
	name = strings.ToValidUTF8(strings.TrimSpace(name), "?")
	if rest, ok := strings.CutPrefix(name, "py::"); ok {
		if function, file, ok := cutLast(rest, ":"); ok {
			return Frame{Function: function, File: file}
		}
		return Frame{Function: rest}
	}
	kind, rest, ok := strings.Cut(name, ":")
	if !ok || !slices.Contains([]string{"JS", "LazyCompile", "Function", "Eval", "Script"}, kind) {
		return Frame{Function: name}
	}
	rest = strings.TrimLeft(rest, "*~^+")
	function, where, ok := cutLast(rest, " ")
	if !ok {
		return Frame{Function: rest}
	}
	file, _, _ := cutLast(where, ":") // the column
	file, line, ok := cutLast(file, ":")
	if _, err := strconv.Atoi(line); !ok || err != nil {
		return Frame{Function: rest}
	}
	if function == "" {
		function = fmt.Sprintf("(%s:%s)", path.Base(file), line)
	}
	return Frame{Function: function, File: strings.TrimPrefix(file, "file://")}
}

// Records of a jitdump, by their number.
const (
	jitLoad  = 0
	jitMove  = 1
	jitDebug = 2
)

const (
	jitMagic      = 0x4a695444
	jitHeader     = 40
	jitRecordHead = 16
	maxJitRecord  = 256 << 20
)

// errJitdump is the error for files that are no jitdump, or of another machine.
var errJitdump = errors.New("not a jitdump of this machine's byte order")

// ReadJitdump takes in a jitdump: functions with the time they were made at, in
// CLOCK_MONOTONIC, and the lines of their code. A file that ends within a record,
// as that of a program which still runs does, is read up to there.
func (g *Generated) ReadJitdump(pid int, r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var head [jitHeader]byte
	if _, err := io.ReadFull(in, head[:]); err != nil || binary.LittleEndian.Uint32(head[:]) != jitMagic {
		return errJitdump
	}
	if size := binary.LittleEndian.Uint32(head[8:]); size > jitHeader {
		if _, err := in.Discard(int(min(size-jitHeader, 1<<20))); err != nil {
			return nil
		}
	}
	d := jitReader{g: g, pid: pid, lines: map[uint64][]generatedLine{}, byIndex: map[uint64]generatedFunction{}}
	for {
		var h [jitRecordHead]byte
		if _, err := io.ReadFull(in, h[:]); err != nil {
			return nil
		}
		kind, size, at := binary.LittleEndian.Uint32(h[:]), binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint64(h[8:])
		if size < jitRecordHead || size > maxJitRecord {
			return fmt.Errorf("jitdump: a record of %d bytes", size)
		}
		size -= jitRecordHead
		if kind != jitLoad && kind != jitMove && kind != jitDebug {
			if _, err := in.Discard(int(size)); err != nil {
				return nil
			}
			continue
		}
		// Read what is there, and not what the size claims.
		body, err := io.ReadAll(io.LimitReader(in, int64(size)))
		if err != nil || len(body) < int(size) {
			return nil
		}
		if err := d.record(kind, at, body); err != nil {
			return err
		}
	}
}

// jitReader is what of a jitdump later records refer to.
type jitReader struct {
	g       *Generated
	pid     int
	lines   map[uint64][]generatedLine // of code that is loaded next, by its address
	byIndex map[uint64]generatedFunction
}

func (d *jitReader) record(kind uint32, at uint64, b []byte) error {
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
	switch {
	case kind == jitLoad && len(b) > 40:
		name, _, _ := bytes.Cut(b[40:], []byte{0})
		f := generatedFunction{since: at, start: u64(16), frame: generatedFrame(string(name))}
		f.end = f.start + u64(24)
		f.lines = placed(d.lines[f.start], f.start, f.end)
		delete(d.lines, f.start)
		d.byIndex[u64(32)] = f
		return d.g.add(d.pid, f)
	case kind == jitMove && len(b) >= 48:
		f, ok := d.byIndex[u64(40)]
		if !ok {
			return nil
		}
		by := u64(24) - f.start
		f.lines = slices.Clone(f.lines)
		for i := range f.lines {
			f.lines[i].addr += by
		}
		f.since, f.start, f.end = at, f.start+by, f.end+by
		d.byIndex[u64(40)] = f
		return d.g.add(d.pid, f)
	case kind == jitDebug && len(b) >= 16:
		d.lines[u64(0)] = jitLines(b[16:], u64(8))
	}
	return nil
}

// elfHeader is what V8 adds to the addresses of lines: a tool of perf's puts the
// code behind such a header.
const elfHeader = 64

// placed returns the lines of a function where its code has them; none if they are
// not all within it, which V8 writes of some that its quick compiler made.
func placed(lines []generatedLine, start, end uint64) []generatedLine {
	if len(lines) == 0 {
		return nil
	}
	if lines[0].addr == start+elfHeader {
		for i := range lines {
			lines[i].addr -= elfHeader
		}
	}
	if lines[0].addr < start || lines[len(lines)-1].addr >= end {
		return nil
	}
	return lines
}

// sameFile stands for the file of the line before.
const sameFile = "\xff"

// jitLines reads the lines of a function, n of them as the record says: address,
// line, column and file each. They come back by address, none if one makes no sense.
func jitLines(b []byte, n uint64) []generatedLine {
	var out []generatedLine
	file := ""
	for ; n > 0 && len(b) >= 17; n-- {
		l := generatedLine{addr: binary.LittleEndian.Uint64(b), line: int(int32(binary.LittleEndian.Uint32(b[8:])))}
		end := bytes.IndexByte(b[16:], 0)
		if end < 0 {
			return nil
		}
		if name := string(b[16 : 16+end]); name != sameFile {
			file = strings.TrimPrefix(name, "file://")
		}
		b = b[16+end+1:]
		if l.line < 0 || !utf8.ValidString(file) {
			return nil
		}
		if l.file = file; l.line > 0 && file != "" {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b generatedLine) int { return cmp.Compare(a.addr, b.addr) })
	return out
}
