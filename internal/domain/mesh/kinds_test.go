package mesh

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
)

// readByParaView is what ParaView finds in a file: of its first step the sums of arrays.
type readByParaView struct {
	File   string
	Cells  int
	Points int
	Steps  int
	Sums   map[string]float64 // "cells NAME" or "points NAME"
}

// madeByReader are arrays that ParaView's Exodus reader adds to those of the file.
var madeByReader = []string{"cells ids", "points ids", "cells object_id", "cells file_id", "cells GlobalElementId", "points GlobalNodeId", "cells ObjectId", "cells PedigreeElementId", "points PedigreeNodeId"}

// TestKindsOfParaView: files that ParaView writes have the cells, points, steps and
// values that it reads from them; kinds that are not read say in one sentence why.
func TestKindsOfParaView(t *testing.T) {
	pvpython := test.Peer(t, "pvpython", "paraview")
	folder := t.TempDir()
	var said bytes.Buffer
	command := exec.Command(pvpython, "testdata/write_kinds.py", folder)
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	kinds := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "{") {
			continue
		}
		var want readByParaView
		check(t, json.Unmarshal(lines.Bytes(), &want))
		kinds++
		t.Run(want.File, func(t *testing.T) { sameAsParaView(t, filepath.Join(folder, want.File), want) })
	}
	if kinds != 11 {
		t.Errorf("ParaView read %d files, want 11: %s", kinds, said.String())
	}
	for file, why := range map[string]string{
		"solid.xmf": "it looks like a mesh in XDMF", "surface.ply": "it looks like a surface in PLY", "surface.stl": "it looks like a surface in STL",
		"tree.htg": `VTK XML type "HyperTreeGrid" is not read`,
	} {
		series, err := Open(t.Context(), filepath.Join(folder, file))
		if err == nil {
			_, err = series.Mesh(t.Context(), 0)
		}
		if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", file, err, why)
		}
	}
}

func sameAsParaView(t *testing.T, file string, want readByParaView) {
	series, err := Open(t.Context(), file)
	check(t, err)
	m, err := series.Mesh(t.Context(), 0)
	check(t, err)
	if m.NumCells() != want.Cells || m.NumPoints() != want.Points || len(series.Steps) != want.Steps {
		t.Errorf("%d cells, %d points, %d steps; ParaView has %d, %d, %d", m.NumCells(), m.NumPoints(), len(series.Steps), want.Cells, want.Points, want.Steps)
	}
	sums := map[string]float64{}
	for i := range m.Blocks {
		addSums(sums, "cells ", m.Blocks[i].Grid.CellData)
		addSums(sums, "points ", m.Blocks[i].Grid.PointData)
	}
	for name, sum := range want.Sums {
		got, ok := sums[name]
		if !ok && !slices.Contains(madeByReader, name) {
			t.Errorf("no array %q", name)
		}
		if ok && math.Abs(got-sum) > 1e-9*math.Abs(sum) {
			t.Errorf("%s: values add up to %g, ParaView's to %g", name, got, sum)
		}
	}
	for name := range sums {
		if _, ok := want.Sums[name]; !ok {
			t.Errorf("ParaView has no array %q", name)
		}
	}
}

func addSums(sums map[string]float64, where string, arrays []grid.Array) {
	for i := range arrays {
		for k := range arrays[i].Values() {
			sums[where+arrays[i].Name] += arrays[i].At(k)
		}
	}
}
