package formats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/formats/compressed"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Identify says what a foreign file or folder is, packed or not.
func Identify(path string) (*foreign.Found, error) { return Known.Identify(path) }

// Stdin is the path of standard input.
const Stdin = "-"

// OpenRefs opens a trace of every memory reference by its name, one of our own
// runs, a foreign file or folder, or "-" for standard input, and says which
// format it has. The caller closes it.
func OpenRefs(path string, stdin io.Reader) (refs.Reader, string, error) {
	if path != Stdin && run.IsRun(path) {
		return openRecordedRefs(path)
	}
	var found *foreign.Found
	var err error
	if path == Stdin {
		found, err = Known.IdentifyStream(stdin)
	} else {
		found, err = Identify(path)
	}
	if err != nil {
		return nil, "", err
	}
	r, err := found.Refs()
	return r, found.Format.Name, err
}

func openRecordedRefs(path string) (refs.Reader, string, error) {
	r, err := run.Open(path)
	if err != nil {
		return nil, "", err
	}
	t := r.Table(reftable.Name)
	if t == nil {
		r.Close()
		return nil, "", fmt.Errorf("%s holds %s, not a trace of every memory reference; record one with 'isobath record --refs'", path, r.Kind)
	}
	src, err := reftable.NewReader(t)
	if err != nil {
		r.Close()
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	src.About().Notes = append(src.About().Notes, r.Warnings...)
	return recordedRefs{src, r}, r.Format, nil
}

// recordedRefs keeps the run open while its references are read.
type recordedRefs struct {
	*reftable.Reader
	io.Closer
}

// OpenTrace opens the archive of a message-passing trace and says which format it
// has: the anchor, the folder or run that holds it, or a copy that is made of a
// trace in another format.
func OpenTrace(path string) (*otf2.Archive, string, error) {
	found, err := Known.Of(kind.Trace).Identify(path)
	if errors.Is(err, foreign.ErrUnknown) {
		err = cmp.Or(holdsOther(path, kind.Trace), err)
	}
	if err != nil {
		return nil, "", err
	}
	a, err := found.Trace()
	return a, found.Format.Name, err
}

// holdsOther says what a file holds that is not of the kind that is wanted; nil
// if that is not known either.
func holdsOther(path string, want kind.Kind) error {
	if run.IsRun(path) {
		m, err := run.ReadManifest(path)
		if err != nil {
			return err
		}
		return &foreign.WrongKind{Path: path, Format: "a run", Kind: m.Kind, Want: want}
	}
	found, err := Identify(path)
	if err != nil {
		return nil // the first error says more
	}
	return &foreign.WrongKind{Path: path, Format: found.Format.Name, Kind: found.Format.Kind, Want: want}
}

// ErrNoTopology is returned for data that is no hardware description.
var ErrNoTopology = errors.New("not a hardware description (hwloc, Mitos or sys-sage XML)")

// OpenTopology reads a hardware description of whatever dialect, or the JSON a
// run stores.
func OpenTopology(path string) (*hw.Topology, error) {
	found, err := Known.Of(kind.Topology).Identify(path)
	if !errors.Is(err, foreign.ErrUnknown) {
		if err != nil {
			return nil, err
		}
		return found.Topology()
	}
	if t, err := openTree(path); err == nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s: %w", path, ErrNoTopology)
}

func isObject(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

func openTree(path string) (*hw.Topology, error) {
	f, err := compressed.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := new(hw.Topology)
	if err := json.NewDecoder(f).Decode(t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ReadTopology is OpenTopology for a description that is in memory.
func ReadTopology(data []byte) (*hw.Topology, error) {
	format, err := Known.Of(kind.Topology).Recognise(&foreign.Input{Head: data[:min(len(data), foreign.HeadSize)]})
	switch {
	case err == nil:
		return format.Topology(bytes.NewReader(data))
	case isObject(data):
		t := new(hw.Topology)
		return t, json.Unmarshal(data, t)
	}
	return nil, ErrNoTopology
}
