// Package pinatrace reads pinatrace.out, the text that the Pin tool of that
// name writes: instruction, R or W, address.
package pinatrace

import (
	"bytes"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and opens pinatrace traces.
var Format = foreign.Format{
	Name:  "pinatrace",
	Kind:  kind.Refs,
	Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head) },
	Refs:  foreign.StreamedRefs(func(r io.Reader) refs.Source { return NewReader(r) }),
}

func sniff(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		_, ok := parse(line)
		return ok
	}
	return false
}

// Reader reads one trace.
type Reader struct {
	lines *refs.Lines
	about refs.About
	whole bool // #eof was seen
}

// NewReader reads the text of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{lines: refs.NewLines(r), about: refs.About{Has: refs.HasPC}}
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

func (r *Reader) take(line []byte) (refs.Ref, bool, error) {
	line = refs.SkipSpace(line)
	if len(line) == 0 {
		return refs.Ref{}, false, nil
	}
	if line[0] == '#' {
		r.whole = r.whole || bytes.HasPrefix(line, []byte("#eof"))
		return refs.Ref{}, false, nil
	}
	ref, ok := parse(line)
	if !ok {
		r.about.Skipped++
	}
	return ref, ok, nil
}

func (r *Reader) finish() {
	if !r.whole {
		r.about.Notes = append(r.about.Notes, "the last line is not #eof: the recording was cut short")
	}
	if s := r.about.Skipped; s > 0 {
		r.about.Notes = append(r.about.Notes, fmt.Sprintf("%d lines are not trace lines and were passed over", s))
	}
}

// parse reads "0x7f3acd1eadc0: R 0x7ffc35c3c178".
func parse(line []byte) (ref refs.Ref, ok bool) {
	if !bytes.HasPrefix(line, []byte("0x")) {
		return ref, false
	}
	pc, rest, ok := refs.Hex(line)
	if !ok || len(rest) < 4 || rest[0] != ':' {
		return ref, false
	}
	rest = refs.SkipSpace(rest[1:])
	if len(rest) < 3 || rest[1] != ' ' {
		return ref, false
	}
	switch rest[0] {
	case 'R':
	case 'W':
		ref.Op = refs.Store
	default:
		return ref, false
	}
	addr, rest, ok := refs.Hex(refs.SkipSpace(rest[2:]))
	if !ok || len(refs.SkipSpace(rest)) != 0 {
		return ref, false
	}
	ref.PC, ref.Addr = pc, addr
	return ref, true
}
