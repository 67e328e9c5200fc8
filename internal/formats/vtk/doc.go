// Package vtk reads the mesh files of the Visualization Toolkit, legacy and
// XML, with their collections, and writes .vtu and legacy .vtk files.
package vtk

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Legacy is the format of files that start "# vtk DataFile Version".
var Legacy = foreign.Format{Name: "vtk", Kind: kind.Mesh, Mesh: grid.OneDump(Read), Sniff: func(in *foreign.Input) bool {
	return bytes.HasPrefix(in.Head, []byte("# vtk DataFile Version"))
}}

// XML is the format of all files whose root element is VTKFile, collections
// included, and of ParaView's .series lists.
var XML = foreign.Format{Name: "vtk-xml", Kind: kind.Mesh, Mesh: dumps, Sniff: func(in *foreign.Input) bool {
	return sniffXML(in.Head) || sniffSeries(in.Head)
}}

func sniffXML(head []byte) bool {
	head = head[:min(len(head), 4096)]
	i := bytes.Index(head, []byte("<VTKFile"))
	return i >= 0 && bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("<"))
}

func sniffSeries(head []byte) bool {
	head = head[:min(len(head), 4096)]
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"file-series-version"`))
}

// maxFile bounds the files read whole into memory.
const maxFile = 8 << 30

// Read reads one dump: a legacy or XML file, or a collection of pieces and
// blocks. For the time collections pvd and .series see Steps.
func Read(path string) (*grid.Mesh, error) {
	buf, err := load(path)
	if err != nil {
		return nil, err
	}
	var m *grid.Mesh
	if bytes.HasPrefix(buf, []byte("# vtk DataFile Version")) {
		m, err = ReadLegacy(buf)
	} else {
		m, err = readXML(buf, folder{dir: filepath.Dir(path)})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return m, nil
}

func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s has %d bytes; files up to %d GiB are read", path, info.Size(), maxFile>>30)
	}
	return plainfile.ReadFile(path, maxFile)
}
