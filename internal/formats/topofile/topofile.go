// Package topofile reads a hardware description in whatever dialect it is
// written.
package topofile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/hwloc"
	"github.com/isobath/isobath/internal/formats/mitosxml"
	"github.com/isobath/isobath/internal/formats/syssage"
	"github.com/isobath/isobath/internal/machine/hw"
)

var readers = []struct {
	format foreign.Format
	read   func(io.Reader) (*hw.Topology, error)
}{
	{hwloc.Format, hwloc.Read},
	{mitosxml.Format, mitosxml.Read},
	{syssage.Format, syssage.Read},
}

// ErrUnknown is returned for data that is no hardware description.
var ErrUnknown = errors.New("not a hardware description (hwloc, Mitos or sys-sage XML)")

// Open reads a file.
func Open(path string) (*hw.Topology, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if t.Name == "" {
		t.Name = filepath.Base(path)
		t.Root().Name = t.Name
	}
	return t, nil
}

// Read reads a description that is in memory: XML of any dialect, or the JSON
// a run stores.
func Read(data []byte) (*hw.Topology, error) { return read(bytes.NewReader(data)) }

func read(r io.ReadSeeker) (*hw.Topology, error) {
	head := make([]byte, foreign.HeadSize)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	in := &foreign.Input{Head: head[:n]}
	for _, candidate := range readers {
		if candidate.format.Sniff(in) {
			return candidate.read(r)
		}
	}
	if start := bytes.TrimSpace(in.Head); len(start) > 0 && start[0] == '{' {
		t := new(hw.Topology)
		return t, json.NewDecoder(r).Decode(t)
	}
	return nil, ErrUnknown
}
