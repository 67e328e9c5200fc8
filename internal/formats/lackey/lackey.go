// Package lackey reads the text of Valgrind's lackey tool with
// --trace-mem=yes: one line per instruction and per data access.
package lackey

import (
	"bytes"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and opens lackey traces.
var Format = foreign.Format{
	Name:  "lackey",
	Kind:  kind.Refs,
	Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head) },
	Refs:  foreign.StreamedRefs(func(r io.Reader) refs.Source { return NewReader(r) }),
}

// sniff wants three trace lines, Valgrind's own messages apart.
func sniff(head []byte) bool {
	seen := 0
	for line := range bytes.Lines(head) {
		if seen == 3 {
			break
		}
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // cut by the end of the head
		}
		line = bytes.TrimRight(line, "\r\n")
		if noise(line) {
			continue
		}
		if _, _, ok := parse(line); !ok {
			return false
		}
		seen++
	}
	return seen > 0
}

func noise(line []byte) bool {
	return len(line) == 0 || bytes.HasPrefix(line, []byte("==")) || bytes.HasPrefix(line, []byte("--"))
}

// Reader reads one trace.
type Reader struct {
	lines *refs.Lines
	pc    uint64
	about refs.About
	ran   func(pc uint64) // nil where nobody asks
}

// NewReader reads the text of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{lines: refs.NewLines(r), about: refs.About{Has: refs.HasPC | refs.HasSize}}
}

// About implements refs.Source.
func (r *Reader) About() *refs.About { return &r.about }

// Read implements refs.Source.
func (r *Reader) Read(dst []refs.Ref) (int, error) {
	n, err := r.lines.Fill(dst, r.take)
	if err == io.EOF {
		r.finish()
	}
	return n, err
}

// Visit reads all of the trace in the order in which it ran: an instruction comes
// before what it reads and writes.
func (r *Reader) Visit(ran func(pc uint64), access func(refs.Ref)) error {
	r.ran = ran
	var one [1]refs.Ref
	for {
		n, err := r.Read(one[:])
		if n > 0 {
			access(one[0])
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take reads one line. A data line belongs to the last instruction line above
// it. The program's own output may be mixed in, so what is not a trace line is
// counted and passed over.
func (r *Reader) take(line []byte) (refs.Ref, bool, error) {
	if noise(line) {
		return refs.Ref{}, false, nil
	}
	ref, kind, ok := parse(line)
	switch {
	case !ok:
		r.about.Skipped++
	case kind == 'I':
		r.pc, ok = ref.Addr, false
		r.about.Instructions++
		if r.ran != nil {
			r.ran(r.pc)
		}
	default:
		ref.PC = r.pc
	}
	return ref, ok, nil
}

func (r *Reader) finish() {
	if r.about.Instructions == 0 {
		r.about.Has &^= refs.HasPC
	}
	if s := r.about.Skipped; s > 0 {
		r.about.Notes = []string{fmt.Sprintf("%d lines are not trace lines and were passed over", s)}
	}
}

// parse reads "I  00109eac,1", " S 1fff0006f8,8", " L …" or " M …".
func parse(line []byte) (ref refs.Ref, kind byte, ok bool) {
	if len(line) < 5 {
		return ref, 0, false
	}
	switch {
	case line[0] == 'I' && line[1] == ' ':
		kind = 'I'
	case line[0] == ' ' && line[2] == ' ':
		kind = line[1]
	}
	switch kind {
	case 'I', 'L':
	case 'S':
		ref.Op = refs.Store
	case 'M':
		ref.Op = refs.Modify
	default:
		return ref, 0, false
	}
	addr, rest, ok := refs.Hex(refs.SkipSpace(line[2:]))
	if !ok || len(rest) < 2 || rest[0] != ',' {
		return ref, 0, false
	}
	size, rest, ok := refs.Decimal(rest[1:])
	if !ok || len(rest) != 0 || size > 1<<20 {
		return ref, 0, false
	}
	ref.Addr, ref.Size = addr, uint32(size)
	return ref, kind, true
}
