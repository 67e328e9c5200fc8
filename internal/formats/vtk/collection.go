package vtk

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/grid"
)

// folder is where a collection finds the files it names. Names are relative
// and stay below the folder of the file the user opened: a mesh from somewhere
// else must not read arbitrary files.
type folder struct {
	dir   string // folder of the user's file
	sub   string // folder of the current file, relative to dir
	depth int
}

const maxNesting = 8 // collections in collections

func (f folder) path(name string) (string, error) {
	name = filepath.FromSlash(strings.TrimSpace(name))
	full := filepath.Join(f.sub, name)
	if name == "" || filepath.IsAbs(name) || !filepath.IsLocal(full) {
		return "", fmt.Errorf("file %q lies outside the folder of the collection", name)
	}
	return full, nil
}

// read reads one named file.
func (f folder) read(name string) (*grid.Mesh, error) {
	rel, err := f.path(name)
	if err != nil {
		return nil, err
	}
	if f.depth >= maxNesting {
		return nil, fmt.Errorf("collections are nested deeper than %d", maxNesting)
	}
	buf, err := load(filepath.Join(f.dir, rel))
	if err != nil {
		return nil, err
	}
	var m *grid.Mesh
	if strings.HasPrefix(string(buf[:min(len(buf), 32)]), "# vtk DataFile Version") {
		m, err = ReadLegacy(buf)
	} else {
		m, err = readXML(buf, folder{dir: f.dir, sub: filepath.Dir(rel), depth: f.depth + 1})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

func readComposite(m *grid.Mesh, kind string, body *node, dir folder) error {
	switch kind {
	case "PImageData", "PRectilinearGrid", "PStructuredGrid", "PUnstructuredGrid", "PPolyData":
		return readParallel(m, kind, body, dir)
	case "vtkHierarchicalBoxDataSet", "vtkOverlappingAMR":
		return readAMR(m, body, dir)
	case "vtkMultiBlockDataSet", "vtkMultiGroupDataSet", "vtkPartitionedDataSet", "vtkPartitionedDataSetCollection",
		"vtkMultiPieceDataSet", "vtkNonOverlappingAMR", "vtkHierarchicalDataSet":
		return readBlocks(m, "", body, dir)
	case "Collection":
		return errors.New("a time collection where one dump is expected")
	}
	return fmt.Errorf("VTK XML type %q is not read", term.ClipEnd(kind, 25))
}

// readParallel joins the pieces of a p… file to one grid, as VTK does in one
// process; cell numbers run through the pieces.
func readParallel(m *grid.Mesh, kind string, body *node, dir folder) error {
	var pieces []*grid.Grid
	for _, n := range body.kids {
		if n.name != "Piece" {
			continue
		}
		part, err := dir.read(n.attrs["Source"])
		if err != nil {
			return fmt.Errorf("piece %d: %w", len(pieces), err)
		}
		if len(part.Blocks) != 1 || part.Blocks[0].Grid.Layout != xmlLayouts[kind[1:]] {
			return fmt.Errorf("piece %d is not a %s", len(pieces), kind[1:])
		}
		pieces = append(pieces, part.Blocks[0].Grid)
	}
	var g *grid.Grid
	var err error
	if layout := xmlLayouts[kind[1:]]; layout <= grid.Structured {
		var whole [6]int
		if whole, err = extent(body.attrs["WholeExtent"]); err == nil {
			g, err = grid.Assemble(pieces, whole)
		}
	} else if g, err = grid.Join(pieces); err == nil {
		g.Layout = layout
	}
	m.Blocks = []grid.Block{{Grid: g}}
	return err
}

// readBlocks walks Block, Piece and Partitions elements to the DataSets.
func readBlocks(m *grid.Mesh, prefix string, n *node, dir folder) error {
	for _, k := range n.kids {
		switch k.name {
		case "Block", "Piece", "Partitions":
			label := k.attrs["name"]
			if label == "" {
				label = k.attrs["index"]
			}
			if err := readBlocks(m, joinName(prefix, label), k, dir); err != nil {
				return err
			}
		case "DataSet":
			file := k.attrs["file"]
			if file == "" {
				continue // an empty block
			}
			part, err := dir.read(file)
			if err != nil {
				return err
			}
			label := k.attrs["name"]
			if label == "" {
				label = k.attrs["index"]
			}
			appendBlocks(m, joinName(prefix, label), part)
		}
	}
	return nil
}

func appendBlocks(m *grid.Mesh, name string, part *grid.Mesh) {
	for _, b := range part.Blocks {
		m.Blocks = append(m.Blocks, grid.Block{Name: joinName(name, b.Name), Grid: b.Grid})
	}
	if part.HasTime && !m.HasTime {
		m.Time, m.HasTime = part.Time, true
	}
	if part.HasCycle && !m.HasCycle {
		m.Cycle, m.HasCycle = part.Cycle, true
	}
	m.Warnings = append(m.Warnings, part.Warnings...)
}

func joinName(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}

// readAMR reads levels of boxes. Version 1.1 gives origin and spacing; before
// that they are those of the blocks.
func readAMR(m *grid.Mesh, body *node, dir folder) error {
	dim := 3
	if d := body.attrs["grid_description"]; d == "XY" {
		dim = 2
	} else if d != "" && d != "XYZ" {
		return fmt.Errorf("grid_description %q is not read; want XYZ or XY", term.ClipEnd(d, 25))
	}
	for _, n := range body.kids {
		if n.name != "Block" {
			continue
		}
		l := grid.Level{First: len(m.Blocks), Ratio: 1, Dim: dim}
		if err := reals(body.attrs["origin"], l.Origin[:]); err != nil {
			return fmt.Errorf("origin: %w", err)
		}
		if err := reals(n.attrs["spacing"], l.Spacing[:]); err != nil {
			return fmt.Errorf("level %d: spacing: %w", len(m.Levels), err)
		}
		if err := readLevel(m, &l, n, dir); err != nil {
			return fmt.Errorf("level %d: %w", len(m.Levels), err)
		}
		m.Levels = append(m.Levels, l)
	}
	setRatios(m.Levels)
	return nil
}

func readLevel(m *grid.Mesh, l *grid.Level, n *node, dir folder) error {
	for _, k := range n.kids {
		if k.name != "DataSet" || k.attrs["file"] == "" {
			continue
		}
		e, err := extent(k.attrs["amr_box"])
		if err != nil {
			return fmt.Errorf("amr_box: %w", err)
		}
		part, err := dir.read(k.attrs["file"])
		if err != nil {
			return err
		}
		if len(part.Blocks) != 1 {
			return fmt.Errorf("%s is not one grid", k.attrs["file"])
		}
		g := part.Blocks[0].Grid
		box := grid.Box{Lo: [3]int{e[0], e[2], e[4]}, Hi: [3]int{e[1], e[3], e[5]}}
		if l.Dim == 2 {
			box.Lo[2], box.Hi[2] = 0, 0
		}
		l.Boxes = append(l.Boxes, box)
		if l.Spacing == ([3]float64{}) && g.Layout == grid.Image {
			l.Spacing = g.Spacing
			for a := range l.Origin {
				l.Origin[a] = g.Origin[a] - float64(box.Lo[a])*g.Spacing[a]
			}
		}
		m.Blocks = append(m.Blocks, grid.Block{Name: fmt.Sprintf("level %d box %d", len(m.Levels), len(l.Boxes)-1), Level: len(m.Levels), Grid: g})
		m.Warnings = append(m.Warnings, part.Warnings...)
	}
	l.Domain = grid.Hull(l.Boxes)
	return nil
}

// setRatios derives the refinement ratios from the spacings.
func setRatios(levels []grid.Level) {
	for i := range levels {
		levels[i].Ratio = 1
		if i+1 < len(levels) && levels[i+1].Spacing[0] > 0 {
			levels[i].Ratio = int(min(1024, max(1, math.Round(levels[i].Spacing[0]/levels[i+1].Spacing[0]))))
		}
	}
}

// Step is one entry of a time collection.
type Step struct {
	Time    float64
	HasTime bool
	Files   []string // paths, one per part
}

// Steps lists the dumps of a .pvd or .series file in order of time. ok is
// false when the file is no time collection.
func Steps(path string) (steps []Step, ok bool, err error) {
	buf, err := load(path)
	if err != nil {
		return nil, false, err
	}
	dir := folder{dir: filepath.Dir(path)}
	if sniffSeries(buf) {
		steps, err = seriesSteps(buf, dir)
	} else if sniffXML(buf) {
		d, perr := parseXML(buf)
		if perr != nil {
			return nil, false, fmt.Errorf("%s: %w", filepath.Base(path), perr)
		}
		if d.root.attrs["type"] != "Collection" {
			return nil, false, nil
		}
		steps, err = pvdSteps(d.root.kid("Collection"), dir)
	} else {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return steps, true, nil
}

func pvdSteps(body *node, dir folder) ([]Step, error) {
	if body == nil {
		return nil, errors.New("no Collection element")
	}
	var steps []Step
	type key struct {
		time  float64
		timed bool
	}
	seen := map[key]int{}
	for _, n := range body.kids {
		if n.name != "DataSet" {
			continue
		}
		rel, err := dir.path(n.attrs["file"])
		if err != nil {
			return nil, err
		}
		s := Step{Files: []string{filepath.Join(dir.dir, rel)}}
		if t := strings.TrimSpace(n.attrs["timestep"]); t != "" {
			if s.Time, err = strconv.ParseFloat(t, 64); err != nil {
				return nil, fmt.Errorf("timestep %q is not a number", term.ClipEnd(t, 25))
			}
			s.HasTime = true
		}
		if same, ok := seen[key{s.Time, s.HasTime}]; ok {
			steps[same].Files = append(steps[same].Files, s.Files...)
			continue
		}
		seen[key{s.Time, s.HasTime}] = len(steps)
		steps = append(steps, s)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmpFloat(a.Time, b.Time) })
	return steps, nil
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func seriesSteps(buf []byte, dir folder) ([]Step, error) {
	var list struct {
		Files []struct {
			Name string  `json:"name"`
			Time float64 `json:"time"`
		} `json:"files"`
	}
	if err := json.Unmarshal(buf, &list); err != nil {
		return nil, err
	}
	var steps []Step
	for _, f := range list.Files {
		rel, err := dir.path(f.Name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, Step{Time: f.Time, HasTime: true, Files: []string{filepath.Join(dir.dir, rel)}})
	}
	return steps, nil
}
