// Package chrometrace reads the Trace Event Format: the JSON that Chrome,
// PyTorch's profiler, clang -ftime-trace, Bazel, viztracer, we and many others
// write for chrome://tracing and Perfetto ("Trace Event Format", Google, 2016).
// Slices of threads, flows between them and counters become an OTF2 archive.
package chrometrace

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/compressed"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// Format recognises and reads trace events in JSON.
var Format = foreign.Format{Name: "chrome", Kind: kind.Trace, Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head) }, Trace: open, TraceIsOneFile: true}

// listKey is the member of the object form that holds the events.
const listKey = "traceEvents"

var (
	listMember = []byte(`"` + listKey + `"`)
	// phaseMember is what every event has: its phase, a letter.
	phaseMember = regexp.MustCompile(`"ph"\s*:\s*"[A-Za-z(),]"`)
)

// sniff wants an object with a list of events, or a list that begins with one.
func sniff(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("{")):
		return bytes.Contains(head, listMember)
	case bytes.HasPrefix(head, []byte("[")):
		first := bytes.TrimLeft(head[1:], " \t\r\n")
		return bytes.HasPrefix(first, []byte("{")) && phaseMember.Match(first)
	}
	return false
}

// open reads a trace and makes an archive of it.
func open(path string) (*otf2.Archive, error) {
	f, err := compressed.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := newReader()
	if err := r.read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.nest()
	if r.slices == 0 {
		return nil, fmt.Errorf("%s: the trace has no slices of threads (B and E, or X); %s", path, r.contents())
	}
	r.join()
	return r.archive(path)
}
