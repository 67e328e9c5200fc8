package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/base/term"
)

// Bounds on what one file may make us allocate. The largest real binaries
// (browsers, compilers with debug information) have sections of 2 or 3 GB and
// a few dozen sections, a few thousand when linked from one section a function.
const (
	maxSections     = 200_000
	maxSectionNames = 16 << 20
	maxSectionSize  = 4 << 30
	maxInflation    = 1100 // zlib cannot do more than 1032 : 1
	smallSection    = 1 << 20
	maxName         = 16 << 10 // of a symbol; C++ templates reach a few thousand
)

// segment is a loaded part of a file.
type segment struct {
	vaddr, memory uint64
	offset, bytes uint64
	exec          bool
}

// image is an open ELF file.
type image struct {
	file     *os.File
	memory   io.ReaderAt // in place of a file
	elf      *elf.File
	size     int64
	segments []segment
	buildID  string
}

// openImage opens a regular file. Names come from recordings, so anything else,
// such as a pipe that would block, is refused.
func openImage(path string) (*image, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	im, err := newImage(f, info.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	im.file = f
	return im, nil
}

// newImage reads the headers. The library's reader is trusted with nothing that
// a number in the file could make large.
func newImage(r io.ReaderAt, size int64) (im *image, err error) {
	defer guard(&err, "ELF headers")
	if err := checkNames(r, size); err != nil {
		return nil, err
	}
	e, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	im = &image{elf: e, size: size, memory: r}
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr+p.Memsz >= p.Vaddr {
			im.segments = append(im.segments, segment{p.Vaddr, p.Memsz, p.Off, p.Filesz, p.Flags&elf.PF_X != 0})
		}
	}
	im.buildID = im.readBuildID()
	return im, nil
}

// guard turns a panic of a library on damaged input into an error.
func guard(err *error, what string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s are damaged: %v", what, p)
	}
}

// checkNames refuses a file whose section names, which the library copies, take
// more than a real file's. Overlapping names could make megabytes into terabytes.
func checkNames(r io.ReaderAt, size int64) error {
	head := make([]byte, 64)
	if n, err := r.ReadAt(head, 0); err != nil && (err != io.EOF || n < 52) {
		return errors.New("too short for an ELF file")
	}
	if !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		return fmt.Errorf("not an ELF file: it starts with %q", head[:4])
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	wide := elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS64
	at, entry, count, names := int64(order.Uint32(head[32:])), order.Uint16(head[46:]), order.Uint16(head[48:]), order.Uint16(head[50:])
	if wide {
		at, entry, count, names = int64(order.Uint64(head[40:])), order.Uint16(head[58:]), order.Uint16(head[60:]), order.Uint16(head[62:])
	}
	want := uint16(40)
	if wide {
		want = 64
	}
	if at == 0 || count == 0 && at < 0 {
		return nil
	}
	if entry != want || at < 0 || at > size-int64(want) {
		return errors.New("the section table is outside the file")
	}
	return sumNames(r, size, sectionTable{order, wide, at, int(entry), int(count), int(names)})
}

type sectionTable struct {
	order               binary.ByteOrder
	wide                bool
	at                  int64
	entry, count, names int
}

// section returns name offset, size, file offset and link of a section header.
func (t sectionTable) section(h []byte) (name, link uint32, offset, size uint64) {
	if t.wide {
		return t.order.Uint32(h), t.order.Uint32(h[40:]), t.order.Uint64(h[24:]), t.order.Uint64(h[32:])
	}
	return t.order.Uint32(h), t.order.Uint32(h[24:]), uint64(t.order.Uint32(h[16:])), uint64(t.order.Uint32(h[20:]))
}

func sumNames(r io.ReaderAt, size int64, t sectionTable) error {
	first := make([]byte, t.entry)
	if _, err := r.ReadAt(first, t.at); err != nil {
		return err
	}
	// Beyond 65 279 sections the first header has the numbers.
	_, link, _, many := t.section(first)
	if t.count == 0 {
		if many > maxSections {
			return fmt.Errorf("%d sections", many)
		}
		t.count = int(many)
	}
	if t.names == int(elf.SHN_XINDEX) {
		t.names = int(link)
	}
	if t.names >= t.count || int64(t.count)*int64(t.entry) > size-t.at {
		return errors.New("the section table is outside the file")
	}
	headers := make([]byte, t.count*t.entry)
	if _, err := r.ReadAt(headers, t.at); err != nil {
		return err
	}
	_, _, offset, length := t.section(headers[t.names*t.entry:])
	if length > maxSectionNames || offset > uint64(size) || length > uint64(size)-offset {
		return errors.New("the section names are outside the file")
	}
	text := make([]byte, length)
	if _, err := r.ReadAt(text, int64(offset)); err != nil {
		return err
	}
	sum := 0
	for i := range t.count {
		name, _, _, _ := t.section(headers[i*t.entry:])
		if uint64(name) < length {
			end := bytes.IndexByte(text[name:], 0)
			if end < 0 {
				end = len(text) - int(name)
			}
			sum += end
		}
		if sum > maxSectionNames {
			return errors.New("the section names overlap too much")
		}
	}
	return nil
}

// data returns the contents of a section, decompressed.
func (im *image) data(s *elf.Section) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	stored := s.FileSize
	if s.Offset > uint64(im.size) || stored > uint64(im.size)-s.Offset {
		return nil, fmt.Errorf("section %s is outside the file", term.ClipEnd(s.Name, 65))
	}
	if s.Size > maxSectionSize || s.Size > smallSection && s.Size/maxInflation > stored {
		return nil, fmt.Errorf("section %s claims %d bytes from %d", term.ClipEnd(s.Name, 65), s.Size, stored)
	}
	return s.Data()
}

// section returns the contents of the section of that name, or of its old
// compressed form (.zdebug_…); nil if there is none.
func (im *image) section(name string) ([]byte, error) {
	for _, s := range im.elf.Sections {
		if s.Name == name {
			return im.data(s)
		}
	}
	old := ".z" + strings.TrimPrefix(name, ".")
	for _, s := range im.elf.Sections {
		if s.Name == old {
			return im.inflate(s)
		}
	}
	return nil, nil
}

// guarded is section for damaged files that make the library panic.
func (im *image) guarded(name string) (data []byte, err error) {
	defer guard(&err, "section "+name)
	return im.section(name)
}

func (im *image) readBuildID() string {
	for _, s := range im.elf.Sections {
		if s.Type != elf.SHT_NOTE || s.Size > 1<<16 {
			continue
		}
		if data, err := im.data(s); err == nil {
			if id := noteID(data, im.elf.ByteOrder); id != "" {
				return id
			}
		}
	}
	for _, p := range im.elf.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > 1<<16 {
			continue
		}
		data := make([]byte, p.Filesz)
		if _, err := p.ReadAt(data, 0); err == nil {
			if id := noteID(data, im.elf.ByteOrder); id != "" {
				return id
			}
		}
	}
	return ""
}

// noteID finds the GNU build id among notes: name size, description size, type,
// name and description, each padded to four bytes.
func noteID(data []byte, order binary.ByteOrder) string {
	const gnuBuildID = 3
	for len(data) >= 12 {
		name, desc, kind := order.Uint32(data), order.Uint32(data[4:]), order.Uint32(data[8:])
		data = data[12:]
		padded := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
		if padded(name)+uint64(desc) > uint64(len(data)) {
			return ""
		}
		value := data[padded(name):][:desc]
		if kind == gnuBuildID && string(data[:name]) == "GNU\x00" && desc > 0 && desc <= 64 {
			return hex.EncodeToString(value)
		}
		data = data[min(padded(name)+padded(desc), uint64(len(data))):]
	}
	return ""
}

// debugLink returns the name and checksum in .gnu_debuglink.
func (im *image) debugLink() (name string, sum uint32, ok bool) {
	data, err := im.section(".gnu_debuglink")
	if err != nil || len(data) < 8 {
		return "", 0, false
	}
	end := bytes.IndexByte(data, 0)
	if end <= 0 || strings.ContainsAny(string(data[:end]), "/\\") {
		return "", 0, false
	}
	return string(data[:end]), im.elf.ByteOrder.Uint32(data[len(data)-4:]), true
}

// checksum is the CRC of a whole file, as .gnu_debuglink has it.
func checksum(path string) (uint32, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, f); err != nil {
		return 0, err
	}
	return h.Sum32(), nil
}

func (im *image) close() error {
	if im == nil || im.file == nil {
		return nil
	}
	return im.file.Close()
}
