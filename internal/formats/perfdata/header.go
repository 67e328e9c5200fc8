package perfdata

import (
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/code/perfevent"
)

const (
	pipeHeaderSize = 16
	fileHeaderSize = 104
	// maxEvents bounds the attrs of a file: perf itself opens a few hundred
	// at most, and every sample may have to be told apart by them.
	maxEvents = 1 << 14
	// maxFeature is what one feature section may take. BUILD_ID and
	// TRACING_DATA are the largest; neither comes near.
	maxFeature = 64 << 20
	// maxAttrSize is far above the 136 bytes of 2024; more is not an attr.
	maxAttrSize = 4096
)

// section is a part of the file.
type section struct{ off, size uint64 }

// file is an opened perf.data before its records are read.
type file struct {
	perfevent.Order
	r        io.ReaderAt
	size     int64
	pipe     bool
	data     section
	events   []*eventAttr
	byID     map[uint64]int32
	recent   [64]recentID
	texts    map[string]string // names of files and commands
	features fileFeatures
	warnings []string
	salvage  bool
}

func (f *file) warnf(format string, args ...any) {
	f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
}

// open reads the header, the attrs and the features.
func open(r io.ReaderAt, size int64, salvage bool) (*file, error) {
	f := &file{r: r, size: size, byID: map[uint64]int32{}, texts: map[string]string{}, salvage: salvage}
	head := make([]byte, min(size, fileHeaderSize))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if len(head) < pipeHeaderSize {
		return nil, fmt.Errorf("%d bytes are no perf.data: its header has %d: %w", size, pipeHeaderSize, errDamaged)
	}
	switch string(head[:8]) {
	case "2ELIFREP", "ELIFFREP":
		f.Order = true
	}
	switch n := f.U64(head[8:]); {
	case n == pipeHeaderSize:
		f.pipe = true
		f.data = section{pipeHeaderSize, uint64(size) - pipeHeaderSize}
		return f, nil
	case n != fileHeaderSize:
		return nil, fmt.Errorf("header of %d bytes; perf writes %d, or %d through a pipe: %w", n, fileHeaderSize, pipeHeaderSize, errDamaged)
	case len(head) < fileHeaderSize:
		return nil, fmt.Errorf("the file ends in its header at byte %d: %w", size, errDamaged)
	}
	f.data = section{f.U64(head[40:]), f.U64(head[48:])}
	if err := f.readAttrs(f.U64(head[16:]), section{f.U64(head[24:]), f.U64(head[32:])}); err != nil {
		return nil, err
	}
	f.readFeatures(head[72:104])
	return f, f.checkData()
}

// checkData compares the data section with the file.
func (f *file) checkData() error {
	if f.data.off > uint64(f.size) {
		return fmt.Errorf("the data should begin at byte %d of %d: %w", f.data.off, f.size, errDamaged)
	}
	left := uint64(f.size) - f.data.off
	switch {
	case f.data.size == 0:
		// perf writes the size last; without it there are no features either.
		f.data.size = left
		if left > 0 {
			f.warnf("the recording was cut off before perf finished the file: everything up to its end is read")
		}
	case f.data.size > left:
		cut := fmt.Errorf("the file ends %d bytes before its data does (%d of %d there): %w; give --salvage to import what is there",
			f.data.size-left, left, f.data.size, errDamaged)
		if !f.salvage {
			return cut
		}
		f.data.size = left
		f.warnf("the file is cut off: %d bytes of samples remain", left)
	}
	return nil
}

// load reads a section whole.
func (f *file) load(s section, what string) ([]byte, error) {
	if s.off > uint64(f.size) || s.size > uint64(f.size)-s.off {
		return nil, fmt.Errorf("%s at byte %d, %d bytes long, lies outside the file of %d bytes: %w", what, s.off, s.size, f.size, errDamaged)
	}
	if s.size > maxFeature {
		return nil, fmt.Errorf("%s of %d bytes; the limit is %d: %w", what, s.size, maxFeature, errDamaged)
	}
	b := make([]byte, s.size)
	if n, err := f.r.ReadAt(b, int64(s.off)); err != nil && (err != io.EOF || n < len(b)) {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return b, nil
}

// readAttrs reads the attr section: attrs of one size, each with the place of
// its ids.
func (f *file) readAttrs(entry uint64, s section) error {
	if entry < perfevent.AttrSize0+16 || entry > maxAttrSize+16 {
		return fmt.Errorf("event attributes of %d bytes; want %d to %d: %w", entry, perfevent.AttrSize0+16, maxAttrSize+16, errDamaged)
	}
	if s.size%entry != 0 || s.size/entry > maxEvents {
		return fmt.Errorf("the attribute section of %d bytes does not hold whole entries of %d: %w", s.size, entry, errDamaged)
	}
	b, err := f.load(s, "the attribute section")
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[entry:] {
		place := section{f.U64(b[entry-16:]), f.U64(b[entry-8:])}
		attr, err := perfevent.ParseAttr(f.Order, b[:entry-16])
		if err != nil {
			return fmt.Errorf("%w: %w", err, errDamaged)
		}
		ids, err := f.load(place, "the ids of an event")
		if err != nil {
			return err
		}
		f.addEvent(attr, ids)
	}
	return f.agree()
}

// addEvent appends an event and its ids.
func (f *file) addEvent(attr perfevent.Attr, ids []byte) *eventAttr {
	e := &eventAttr{Attr: attr, IDs: make([]uint64, 0, len(ids)/8)}
	for ; len(ids) >= 8; ids = ids[8:] {
		id := f.U64(ids)
		e.IDs = append(e.IDs, id)
		f.byID[id] = int32(len(f.events))
	}
	f.events = append(f.events, e)
	return e
}

// agree checks that the id of a sample can be found before its event is known.
func (f *file) agree() error {
	for _, e := range f.events {
		if extra := e.SampleType &^ perfevent.SampleKnown; extra != 0 {
			return fmt.Errorf("samples hold fields this program does not know (sample_type %#x): use a newer isobath, or perf script -F", e.SampleType)
		}
		if e.IDOffset() != f.events[0].IDOffset() {
			return fmt.Errorf("the events keep the id of a sample at different places: their samples cannot be told apart: %w", errDamaged)
		}
	}
	return nil
}
