// Package demo makes the built-in example runs: programs written for the
// purpose, simulated access by access on a modelled two-socket machine.
//
// The stencil run is kept in the repository, made by `go run
// ./internal/app/demo/gen`; Open returns it without simulating anything. The other
// runs are made when they are asked for.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/run"
	sourcefile "github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/hwloc"
)

// Run is one example: sampled accesses and all that belongs to them.
type Run struct {
	Name     string
	Samples  *table.Table
	Topology []byte            // hwloc 2 XML
	Sources  map[string][]byte // by the name in the file column
	Objects  []Object
	Origin   kind.Origin
	Warnings []string
}

// Object is an array of the program.
type Object struct {
	Name    string `json:"name"`
	Address uint64 `json:"address"`
	Width   int    `json:"width"` // bytes of one element
	Count   int    `json:"count"`
}

// Write writes the run as the folder NAME.isobath in dir and returns its path.
func (r *Run) Write(ctx context.Context, dir string) (path string, err error) {
	path = filepath.Join(dir, r.Name+run.Suffix)
	if err := free(path); err != nil {
		return "", err
	}
	b, err := r.Bundle()
	if err != nil {
		return "", err
	}
	tmp, err := scratch.Folder("", "demo")
	if err != nil {
		return "", fmt.Errorf("unpack the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	b.SourceFiles = map[string]sourcefile.File{}
	for _, s := range b.Sources {
		file := filepath.Join(tmp, s.Name)
		if err := os.WriteFile(file, r.Sources[s.Name], 0o644); err != nil {
			return "", fmt.Errorf("unpack the demo: %w", err)
		}
		b.SourceFiles[s.Name] = sourcefile.File{Root: tmp, Name: s.Name}
	}
	return path, b.Write(ctx, path, false)
}

// Bundle returns the run in memory, with a table of the program's arrays beside
// the samples. It has no source files: those need a folder; see Write.
func (r *Run) Bundle() (*run.Run, error) {
	topology, err := hwloc.Read(bytes.NewReader(r.Topology))
	if err != nil {
		return nil, err
	}
	tree, err := json.Marshal(topology)
	if err != nil {
		return nil, err
	}
	objects, err := r.objects()
	if err != nil {
		return nil, err
	}
	b := &run.Run{
		Manifest: run.Manifest{
			Version: run.Version, Kind: kind.Samples, Format: "demo", Origin: r.Origin,
			Imported: time.Now().UTC().Truncate(time.Second), Topology: "topology.xml", Warnings: r.Warnings,
		},
		Contents:     []*table.Table{r.Samples, objects},
		TopologyData: r.Topology,
		Tree:         tree,
	}
	for name := range r.Sources {
		b.Sources = append(b.Sources, run.SourceEntry{Name: name, Found: "path"})
	}
	slices.SortFunc(b.Sources, func(a, b run.SourceEntry) int { return strings.Compare(a.Name, b.Name) })
	return b, nil
}

// objects makes a table of the arrays.
func (r *Run) objects() (*table.Table, error) {
	names := table.NewInterner()
	var codes []uint32
	var addresses []uint64
	var widths, counts []int64
	for _, o := range r.Objects {
		codes = append(codes, names.CodeString(o.Name))
		addresses = append(addresses, o.Address)
		widths = append(widths, int64(o.Width))
		counts = append(counts, int64(o.Count))
	}
	return table.New("objects", []*table.Column{
		table.Categories("symbol", table.Derived, codes, names.Names(), nil),
		table.Addresses("addr", table.Derived, addresses, nil),
		table.Ints("width", "bytes", table.Derived, widths, nil),
		table.Ints("count", "", table.Derived, counts, nil),
	})
}
