// Package gridtest compares grids with what VTK itself reads.
package gridtest

import (
	"bufio"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
)

//go:embed vtkdump.py
var dumpScript []byte

// Leaf is one data set as VTK reads it.
type Leaf struct {
	File    string     `json:"file"`
	Leaf    int        `json:"leaf"`
	Leaves  *int       `json:"leaves"` // set in the line that ends a file
	Class   string     `json:"class"`
	Points  int        `json:"points"`
	Cells   int        `json:"cells"`
	Origin  [3]float64 `json:"origin"`
	Spacing [3]float64 `json:"spacing"`
	Extent  *[6]int    `json:"extent"`
	Arrays  []vtkArray `json:"arrays"`
}

type vtkArray struct {
	Where string   `json:"where"` // geometry, axis, point, cell or field
	Name  string   `json:"name"`
	DType string   `json:"dtype"`
	Comps int      `json:"comps"`
	Bytes int      `json:"bytes"`
	Text  []string `json:"text"`
	data  []byte
}

// Python returns the interpreter that has Debian's VTK modules. Under
// ISOBATH_PEERS=require their absence fails the test.
func Python(t testing.TB) string {
	t.Helper()
	return test.PythonPeer(t, "vtkmodules.vtkIOXML, numpy", "python3-paraview")
}

// VTK returns what VTK reads from each file: path to leaves.
func VTK(t testing.TB, paths ...string) map[string][]Leaf {
	t.Helper()
	python := Python(t)
	script := filepath.Join(t.TempDir(), "vtkdump.py")
	if err := os.WriteFile(script, dumpScript, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{script}, paths...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	all := map[string][]Leaf{}
	r := bufio.NewReader(out)
	for {
		leaf, err := readLeaf(r)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if leaf.Leaves == nil {
			all[leaf.File] = append(all[leaf.File], leaf)
		} else if _, ok := all[leaf.File]; !ok {
			all[leaf.File] = nil
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return all
}

func readLeaf(r *bufio.Reader) (Leaf, error) {
	var leaf Leaf
	line, err := r.ReadBytes('\n')
	if err != nil {
		return leaf, err
	}
	if err := json.Unmarshal(line, &leaf); err != nil {
		return leaf, err
	}
	for i := range leaf.Arrays {
		a := &leaf.Arrays[i]
		a.data = make([]byte, a.Bytes)
		if _, err := io.ReadFull(r, a.data); err != nil {
			return leaf, err
		}
	}
	return leaf, nil
}

// Same reports every difference between a mesh and VTK's leaves. Arrays that
// VTK's reader adds by itself, such as block numbers, are named in made.
func Same(t testing.TB, m *grid.Mesh, leaves []Leaf, made ...string) {
	t.Helper()
	for i := range leaves {
		leaves[i].Arrays = slices.DeleteFunc(leaves[i].Arrays, func(a vtkArray) bool { return slices.Contains(made, a.Name) })
	}
	if len(m.Blocks) != len(leaves) {
		t.Errorf("%d blocks, VTK has %d", len(m.Blocks), len(leaves))
		return
	}
	if m.Levels != nil {
		sameCovered(t, m, leaves)
	}
	for i := range leaves {
		for _, d := range differences(m.Blocks[i].Grid, &leaves[i]) {
			t.Errorf("block %d (%s): %s", i, leaves[i].Class, d)
		}
	}
}

// sameCovered compares the coarse cells we call covered with those VTK marks
// as refined (bit 8 of vtkGhostType), and then leaves those marks and the
// shapes out: VTK calls covered cells empty.
func sameCovered(t testing.TB, m *grid.Mesh, leaves []Leaf) {
	t.Helper()
	block := 0
	for l := range m.Levels {
		covered := m.Covered(l)
		for _, box := range m.Levels[l].Boxes {
			leaf := &leaves[block]
			ghosts := make([]byte, box.Cells())
			for i, a := range leaf.Arrays {
				if a.Name == "vtkGhostType" && a.Where == "cell" {
					copy(ghosts, leaf.Arrays[i].data)
				}
			}
			for i := range ghosts {
				if covered[i] != (ghosts[i]&8 != 0) {
					t.Errorf("level %d, block %d, cell %d: covered %v, VTK has %v", l, block, i, covered[i], !covered[i])
					return
				}
			}
			covered = covered[len(ghosts):]
			leaf.Arrays = slices.DeleteFunc(leaf.Arrays, func(a vtkArray) bool {
				return a.Where == "geometry" || a.Name == "vtkGhostType"
			})
			block++
		}
	}
}

func differences(g *grid.Grid, l *Leaf) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if g.NumPoints() != l.Points || g.NumCells() != l.Cells {
		say("%d points and %d cells, VTK has %d and %d", g.NumPoints(), g.NumCells(), l.Points, l.Cells)
		return out
	}
	if l.Extent != nil && g.Extent != *l.Extent {
		say("extent %v, VTK has %v", g.Extent, *l.Extent)
	}
	if g.Layout == grid.Image && (g.Origin != l.Origin || g.Spacing != l.Spacing) {
		say("origin %v spacing %v, VTK has %v %v", g.Origin, g.Spacing, l.Origin, l.Spacing)
	}
	if d := sameHidden(g, l); d != "" {
		say("%s", d)
	}
	counts := map[string]int{}
	for i := range l.Arrays {
		a := &l.Arrays[i]
		counts[a.Where]++
		ours := pick(g, a.Where, a.Name)
		if ours == nil {
			say("%s array %q is missing", a.Where, a.Name)
			continue
		}
		if a.Text != nil || a.DType == "" {
			if got, _ := ours.Data.([]string); !slices.Equal(got, a.Text) {
				say("%s array %q is %q, VTK has %q", a.Where, a.Name, got, a.Text)
			}
			continue
		}
		if d := compare(ours, a.DType, a.Comps, a.data); d != "" {
			say("%s array %q: %s", a.Where, a.Name, d)
		}
	}
	for where, list := range map[string][]grid.Array{"point": g.PointData, "cell": g.CellData, "field": g.FieldData} {
		if len(list) != counts[where] {
			say("%d %s arrays, VTK has %d", len(list), where, counts[where])
		}
	}
	return out
}

// sameHidden compares the cells that we call hidden with those that VTK calls empty in
// grids whose cells follow from the extent, and then leaves the shapes out.
func sameHidden(g *grid.Grid, l *Leaf) string {
	empty := make([]bool, g.NumCells())
	for i := range l.Arrays {
		if a := &l.Arrays[i]; a.Where == "geometry" && a.Name == "types" && g.Layout <= grid.Structured {
			for c := range a.data {
				empty[c] = a.data[c] == 0
			}
		}
	}
	if !slices.Contains(empty, true) {
		return ""
	}
	if ghosts := g.Ghosts(); !slices.Equal(ghosts, empty) {
		return fmt.Sprintf("hidden cells %v, VTK has %v", ghosts, empty)
	}
	l.Arrays = slices.DeleteFunc(l.Arrays, func(a vtkArray) bool {
		return a.Where == "geometry" && (a.Name == "conn" || a.Name == "offsets" || a.Name == "types")
	})
	return ""
}

// pick returns our array for one of VTK's.
func pick(g *grid.Grid, where, name string) *grid.Array {
	switch where {
	case "point":
		return grid.Find(g.PointData, name)
	case "cell":
		return grid.Find(g.CellData, name)
	case "field":
		return grid.Find(g.FieldData, name)
	case "axis":
		return &g.Axes[strings.Index("xyz", name)]
	}
	switch name {
	case "points":
		return &g.Points
	case "types", "conn", "offsets":
		return cells(g, name)
	}
	return nil
}

func cells(g *grid.Grid, name string) *grid.Array {
	n := g.NumCells()
	if n > 50000 {
		n = 2000 // as the script does
	}
	conn, offsets, types := []int64{}, []int64{0}, []uint8{}
	var buf []int32
	for i := range n {
		t, ids := g.Cell(i, buf)
		types = append(types, uint8(t))
		for _, id := range ids {
			conn = append(conn, int64(id))
		}
		offsets = append(offsets, int64(len(conn)))
	}
	switch name {
	case "types":
		return &grid.Array{Comps: 1, Data: types}
	case "conn":
		return &grid.Array{Comps: 1, Data: conn}
	}
	return &grid.Array{Comps: 1, Data: offsets}
}

// compare checks type and every value bit for bit; all NaNs are the same.
func compare(a *grid.Array, dtype string, comps int, data []byte) string {
	if a.DType() != dtype || a.Comps != comps {
		return fmt.Sprintf("%s x %d, VTK has %s x %d", a.DType(), a.Comps, dtype, comps)
	}
	size := int(dtype[2] - '0')
	if a.Values()*size != len(data) {
		return fmt.Sprintf("%d values, VTK has %d", a.Values(), len(data)/size)
	}
	theirs := a.Like(a.Len())
	if _, err := binary.Decode(data, binary.LittleEndian, theirs.Data); err != nil {
		return err.Error()
	}
	if reflect.DeepEqual(a.Data, theirs.Data) {
		return ""
	}
	for i := range a.Values() {
		x, y := a.At(i), theirs.At(i)
		if x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
			return fmt.Sprintf("value %d is %v, VTK has %v", i, x, y)
		}
	}
	return ""
}
