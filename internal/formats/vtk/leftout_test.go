package vtk

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
)

// TestLeftOut: a variable that cannot be read leaves the mesh and the other
// variables as they are, and is said.
func TestLeftOut(t *testing.T) {
	const cube = `<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1</DataArray></Points>
<Cells><DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 3 4 5 6 7</DataArray><DataArray type="Int64" Name="offsets" format="ascii">8</DataArray><DataArray type="UInt8" Name="types" format="ascii">12</DataArray></Cells>`
	piece := func(data string) string {
		return `<Piece NumberOfPoints="8" NumberOfCells="1">` + cube + `<CellData><DataArray type="Float64" Name="e" format="ascii">3.5</DataArray>` + data + `</CellData></Piece>`
	}
	xml := func(pieces ...string) string {
		return `<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>` + strings.Join(pieces, "") + `</UnstructuredGrid></VTKFile>`
	}
	const odd, plain = `<DataArray type="Float128" Name="odd" format="ascii">1</DataArray>`, `<DataArray type="Float64" Name="odd" format="ascii">1</DataArray>`
	const legacy = "# vtk DataFile Version 3.0\nb\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 3 3 2\nORIGIN 0 0 0\nSPACING 1 1 1\n"
	const good = "CELL_DATA 4\nSCALARS e double 1\nLOOKUP_TABLE default\n1 2 3 4\n"
	for name, c := range map[string]struct {
		text  string
		cells int
		said  []string // a warning each
	}{
		"a type nobody knows":       {xml(piece(odd)), 1, []string{`cell data: array "odd": data type "Float128" is not known; it is left out`}},
		"in both pieces, said once": {xml(piece(odd), piece(odd)), 2, []string{`array "odd"`}},
		"in one of two pieces":      {xml(piece(plain), piece(odd)), 2, []string{`array "odd"`}},
		"too few values":            {xml(piece(`<DataArray type="Float64" Name="odd" NumberOfComponents="3" format="ascii">1 2</DataArray>`)), 1, []string{`array "odd"`}},
		"no number":                 {legacy + good + "SCALARS odd double 1\nLOOKUP_TABLE default\n1 2 x 4\n", 4, []string{`"x" is not a number; it and what follows are left out`}},
		"cut off in a variable":     {legacy + good + "SCALARS odd double 1\nLOOKUP_TABLE default\n1 2", 4, []string{"it and what follows are left out"}},
	} {
		t.Run(name, func(t *testing.T) {
			read := func() (*grid.Mesh, error) { return readXML([]byte(c.text), folder{}) }
			if strings.HasPrefix(c.text, "# vtk") {
				read = func() (*grid.Mesh, error) { return ReadLegacy([]byte(c.text)) }
			}
			m, err := read()
			if err != nil {
				t.Fatal(err)
			}
			g := m.Blocks[0].Grid
			if g.NumCells() != c.cells || grid.Find(g.CellData, "e") == nil || grid.Find(g.CellData, "odd") != nil {
				t.Errorf("%d cells with %d variables, want %d with e alone", g.NumCells(), len(g.CellData), c.cells)
			}
			if len(m.Warnings) != len(c.said) {
				t.Fatalf("said %q", m.Warnings)
			}
			for i, want := range c.said {
				if !strings.Contains(m.Warnings[i], want) {
					t.Errorf("said %q, want %q", m.Warnings[i], want)
				}
			}
		})
	}
	if _, err := ReadLegacy([]byte(legacy[:len(legacy)-12] + "SPACING x 1 1\n" + good)); err == nil {
		t.Error("a mesh without its spacing was read")
	}
}
