// Package foreign says what a format of other programs is: how it is
// recognised, and how what it holds is opened. Readers import it; the list of
// them all is formats.Known.
package foreign

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/compressed"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/machine/hw"
)

// HeadSize is how much of a file a sniffer sees. It holds the widest known CSV
// header (69 IBS columns) several times over.
const HeadSize = 16 << 10

// Input is a file or folder whose format is to be decided.
type Input struct {
	Path string
	// Head is how the file starts, unpacked if it is packed; nil for a folder.
	Head   []byte
	Packed bool
	Names  []string // what a folder contains, sorted; nil for a file
	// Stream is the whole content, Head included, of an input that has no
	// path: Path then only names it in messages. Nil otherwise.
	Stream io.Reader

	// known is the path without the ending of the packer, where Path is an
	// unpacked copy; empty otherwise.
	known string
}

// Known is where the user has the file, for what lies beside it.
func (in *Input) Known() string {
	if in.known != "" {
		return in.known
	}
	return in.Path
}

// Dir reports whether the input is a folder.
func (in *Input) Dir() bool { return in.Names != nil }

// Has reports whether the folder contains a file whose slash-separated relative
// path is name.
func (in *Input) Has(name string) bool {
	if !in.Dir() {
		return false
	}
	_, err := os.Stat(filepath.Join(in.Path, filepath.FromSlash(name)))
	return err == nil
}

// Format reads one kind of file. Exactly the reader that fits its Kind is set.
type Format struct {
	Name  string
	Kind  kind.Kind
	Sniff func(*Input) bool

	// Samples reads sampled accesses.
	Samples func(context.Context, *Input, *Options) (*Imported, error)

	// Columns looks at the columns of a file of samples without importing it,
	// for choosing which is which; nil where columns have fixed meanings.
	Columns func(*Input) ([]Candidate, error)

	// Refs opens a trace of every memory reference, packed or not: such files
	// are long and are streamed. The caller closes it.
	Refs func(*Input) (refs.Reader, error)

	// Topology reads a hardware description.
	Topology func(io.Reader) (*hw.Topology, error)

	// Mesh lists the dumps in a file without reading them.
	Mesh func(path string) ([]grid.Dump, error)

	// Trace opens a message-passing trace. OTF2's model of events is the one
	// that traces are analysed in.
	Trace func(path string) (*otf2.Archive, error)
	// TraceIsOneFile says that nothing beside the file belongs to it: it may be
	// packed.
	TraceIsOneFile bool
}

// Options are what a user may say about an import.
type Options struct {
	// Map names the foreign column to take for each canonical one.
	Map map[string]string
	// L1Latency is the assumed latency of an L1 hit in cycles where the
	// hardware measures misses only. Values that rest on it are modelled.
	// Negative means no assumption.
	L1Latency int
	// AllOps keeps the micro-ops of an IBS file that are no memory operations:
	// they have no address, level and latency, but branches are among them.
	AllOps bool
	// Kallsyms is a file with the symbols of the recorded kernel, in the form of
	// /proc/kallsyms; empty: those the recording has or this machine shares.
	Kallsyms string
	// Salvage accepts damaged input as far as it can be read.
	Salvage bool
	// Progress, if set, is called now and then with bytes read of bytes in
	// all, and rows so far; by one goroutine at a time.
	Progress func(done, total, rows int64)
}

// Steps returns a function that several goroutines may call with the bytes and
// rows they have done since their last call; nil if nobody wants to know.
func (o *Options) Steps(total int64) func(bytes, rows int64) {
	if o.Progress == nil {
		return nil
	}
	var mu sync.Mutex
	var done, count int64
	return func(bytes, rows int64) {
		mu.Lock()
		defer mu.Unlock()
		done, count = done+bytes, count+rows
		o.Progress(done, total, count)
	}
}

// Candidate is a column of a foreign file.
type Candidate struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // a few different ones, in order of appearance
	// ReadAs is the canonical column it is taken for without being told; empty
	// if it keeps its own name.
	ReadAs string `json:"readAs"`
}

// candidateValues is how many values show what a column holds.
const candidateValues = 5

// Show adds a value of the column, unless it is empty or there already.
func (c *Candidate) Show(value string) {
	if value != "" && len(c.Values) < candidateValues && !slices.Contains(c.Values, value) {
		c.Values = append(c.Values, value)
	}
}

// DefaultL1Latency is the load-to-use latency of an L1 hit on the x86 cores of
// the last decade: 4 or 5 cycles.
const DefaultL1Latency = 4

// Imported is what a sample reader returns.
type Imported struct {
	Tables []*table.Table
	// Topology is the hardware description found with the data, as it was
	// found, and its file name. Nil if there is none.
	Topology     []byte
	TopologyName string
	// SourceRoots are folders in which source files may be found, best first.
	SourceRoots []string
	// Origin is what the data itself says about where it comes from.
	Origin kind.Origin
	// Warnings are sentences for the user.
	Warnings []string
}

// ErrUnknown is returned for a file that no format recognises.
var ErrUnknown = errors.New("unknown format")

// Look reads as much of the file or folder as sniffers need.
func Look(path string) (*Input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, errors.Unwrap(err))
	}
	in := &Input{Path: path}
	if info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("read folder %s: %w", path, err)
		}
		in.Names = make([]string, 0, len(entries))
		for _, e := range entries {
			in.Names = append(in.Names, e.Name())
		}
		return in, nil
	}
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer f.Close()
	in.Head = make([]byte, HeadSize)
	n, err := io.ReadFull(f, in.Head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	in.Head, in.Packed = compressed.Head(in.Head[:n])
	if in.Packed {
		in.Head = longerHead(f, in.Head)
	}
	return in, nil
}

// longerHead unpacks the start of a file with as much of it as that takes: blocks
// of some packers are longer than the head of a file. What cannot be unpacked
// further leaves the head as it is; who reads the whole says why.
func longerHead(f *os.File, head []byte) []byte {
	if len(head) >= HeadSize {
		return head
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return head
	}
	r, err := compressed.Reader(f)
	if err != nil {
		return head
	}
	longer := make([]byte, HeadSize)
	n, _ := io.ReadFull(r, longer)
	if n < len(head) {
		return head
	}
	return longer[:n]
}

// List is a set of formats in the order in which files are tried.
type List []Format

// Recognise returns the first format of the list that accepts the input.
func (l List) Recognise(in *Input) (Format, error) {
	i := slices.IndexFunc(l, func(f Format) bool { return f.Sniff(in) })
	if i >= 0 {
		return l[i], nil
	}
	if in.Dir() {
		if what := looksLikeFolder(in.Names); what != "" {
			return Format{}, fmt.Errorf("%s: %w: %s; see 'isobath help formats'", in.Path, ErrUnknown, what)
		}
		return Format{}, fmt.Errorf("%s: %w: the folder holds %s; see 'isobath help formats'",
			in.Path, ErrUnknown, Names(in.Names, 6))
	}
	if len(in.Head) == 0 {
		return Format{}, fmt.Errorf("%s: the file is empty: %w", in.Path, ErrUnknown)
	}
	if why := encoding(in.Head); why != "" {
		return Format{}, fmt.Errorf("%s: %w: %s", in.Path, ErrUnknown, why)
	}
	if what := looksLike(in.Head); what != "" {
		return Format{}, fmt.Errorf("%s: %w: %s; see 'isobath help formats'", in.Path, ErrUnknown, what)
	}
	return Format{}, fmt.Errorf("%s: %w: it starts with %q; see 'isobath help formats'",
		in.Path, ErrUnknown, in.Head[:min(len(in.Head), 24)])
}

// Names writes names, at most so many of them.
func Names(names []string, most int) string {
	if len(names) == 0 {
		return "nothing"
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// StdinName is what messages call standard input.
const StdinName = "standard input"

// lookAt is Look for a stream.
func lookAt(r io.Reader) (*Input, error) {
	br := bufio.NewReaderSize(r, HeadSize)
	head, err := br.Peek(HeadSize)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read %s: %w", StdinName, err)
	}
	in := &Input{Path: StdinName, Stream: br}
	in.Head, in.Packed = compressed.Head(slices.Clone(head))
	return in, nil
}
