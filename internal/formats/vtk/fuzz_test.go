package vtk

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
)

const legacySeed = `# vtk DataFile Version 3.0
title
ASCII
DATASET UNSTRUCTURED_GRID
FIELD FieldData 1
CYCLE 1 1 int
7
POINTS 5 float
0 0 0 1 0 0 0 1 0 0 0 1 1 1 1
CELLS 2 10
4 0 1 2 3
4 1 2 3 4
CELL_TYPES 2
10 10
CELL_DATA 2
SCALARS e double 1
LOOKUP_TABLE default
1.5 2.5
VECTORS v float
1 0 0 0 1 0
`

const xmlSeed = `<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian">
<UnstructuredGrid><Piece NumberOfPoints="+4" NumberOfCells="1">
<CellData><DataArray type="Float64" Name="e" format="appended" offset="0"/></CellData>
<Points><DataArray type="Float32" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">4</DataArray>
<DataArray type="UInt8" Name="types" format="binary">AQAAAAo=</DataArray></Cells>
</Piece></UnstructuredGrid><AppendedData encoding="raw">_` + "\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf8\x3f" + `</AppendedData></VTKFile>`

// TestSeeds reads the two smallest files by hand.
func TestSeeds(t *testing.T) {
	m, err := ReadLegacy([]byte(legacySeed))
	if err != nil {
		t.Fatal(err)
	}
	g := m.Blocks[0].Grid
	if m.Cycle != 7 || g.NumCells() != 2 || grid.Find(g.CellData, "e").At(1) != 2.5 || grid.Find(g.CellData, "v").Comps != 3 {
		t.Errorf("legacy: %+v", g)
	}
	m, err = readXML([]byte(xmlSeed), folder{dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	g = m.Blocks[0].Grid
	if g.NumPoints() != 4 || g.Types[0] != grid.Tetra || grid.Find(g.CellData, "e").At(0) != 1.5 {
		t.Errorf("XML: %+v", g)
	}
}

// sharedSeed is a tetrahedron as a polyhedron in the form of VTK 9.4 and later.
const sharedSeed = `<VTKFile type="UnstructuredGrid" version="2.3"><UnstructuredGrid><Piece NumberOfPoints="4" NumberOfCells="2">
<Points><DataArray type="Float64" NumberOfComponents="3">0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points>
<Cells><DataArray type="Int64" Name="connectivity">0 1 2 0 1 2 3</DataArray><DataArray type="Int64" Name="offsets">3 7</DataArray>
<DataArray type="UInt8" Name="types">5 42</DataArray>
<DataArray type="Int64" Name="face_connectivity">0 2 1 0 1 3 1 2 3 2 0 3</DataArray><DataArray type="Int64" Name="face_offsets">3 6 9 12</DataArray>
<DataArray type="Int64" Name="polyhedron_to_faces">0 1 2 3</DataArray><DataArray type="Int64" Name="polyhedron_offsets">0 4</DataArray></Cells>
</Piece></UnstructuredGrid></VTKFile>`

func TestSharedFaces(t *testing.T) {
	m, err := readXML([]byte(sharedSeed), folder{dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var got [][]int32
	m.Blocks[0].Grid.CellFaces(1, &grid.Scratch{}, func(f []int32) { got = append(got, slices.Clone(f)) })
	if want := "[[0 2 1] [0 1 3] [1 2 3] [2 0 3]]"; fmt.Sprint(got) != want {
		t.Errorf("faces %v, want %s", got, want)
	}
}

// use asks a grid everything that drawing and projecting ask.
func use(t *testing.T, m *grid.Mesh) {
	var s grid.Scratch
	for i := range m.Blocks {
		g := m.Blocks[i].Grid
		for c := range min(g.NumCells(), 1000) {
			_, ids := g.Cell(c, nil)
			for _, id := range ids {
				g.Point(int(id))
			}
			g.CellFaces(c, &s, func(f []int32) {})
		}
	}
	for l := range m.Levels {
		if m.Levels[l].Cells() < 1<<20 {
			m.Covered(l)
		}
	}
	if m.NumCells() > 1<<16 || m.NumPoints() > 1<<16 {
		return
	}
	if flat, err := m.Flatten(); err == nil {
		var b bytes.Buffer
		if err := WriteVTU(&b, flat); err != nil {
			t.Fatal(err)
		}
		if back, err := readXML(b.Bytes(), folder{}); err != nil || back.NumCells() != flat.NumCells() {
			t.Fatalf("what was written is not read back: %v", err)
		}
	}
}

func FuzzLegacy(f *testing.F) {
	f.Add([]byte(legacySeed))
	f.Add([]byte("# vtk DataFile Version 1.0\n\nBINARY\nDATASET POLYDATA\nPOINTS 1 double\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\nVERTICES 1 2\n\x00\x00\x00\x01\x00\x00\x00\x00\n"))
	f.Add([]byte("# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\nCELLS 2 3\nOFFSETS vtktypeint64\n0 3\nCONNECTIVITY vtktypeint64\n0 1 2\nCELL_TYPES 1\n5\nMETADATA\nINFORMATION 0\n\nPOINT_DATA 3\nFIELD a 1\nn%20m 1 3 string\na\nb\nc\n"))
	f.Add([]byte("# vtk DataFile Version 2.0\nt\nASCII\nDATASET RECTILINEAR_GRID\nDIMENSIONS 2 2 1\nX_COORDINATES 2 int\n0 1\nY_COORDINATES 2 int\n0 1\nZ_COORDINATES 1 int\n0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ReadLegacy(b); err == nil {
			use(t, m)
		}
	})
}

func FuzzXML(f *testing.F) {
	f.Add([]byte(xmlSeed))
	f.Add([]byte(sharedSeed))
	f.Add([]byte(`<VTKFile type="ImageData" header_type="UInt64" compressor="vtkZLibDataCompressor"><ImageData WholeExtent="0 1 0 1 0 1" Origin="0 0 0" Spacing="1 1 1"><Piece Extent="0 1 0 1 0 1"><PointData><DataArray type="Int8" Name="a" format="ascii">1 2 3 4 5 6 7 8</DataArray></PointData></Piece></ImageData></VTKFile>`))
	f.Add([]byte(`<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="3" NumberOfPolys="1"><Points><DataArray type="Float32" NumberOfComponents="3">0 0 0 1 0 0 0 1 0</DataArray></Points><Polys><DataArray type="Int64" Name="connectivity">0 1 2</DataArray><DataArray type="Int64" Name="offsets">3</DataArray></Polys></Piece></PolyData></VTKFile>`))
	f.Add([]byte(`<VTKFile type="vtkMultiBlockDataSet"><vtkMultiBlockDataSet><Block index="0"><DataSet file="x.vtu"/></Block></vtkMultiBlockDataSet></VTKFile>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := readXML(b, folder{dir: t.TempDir()}); err == nil {
			use(t, m)
		}
		if d, err := parseXML(b); err == nil && d.root.attrs["type"] == "Collection" {
			_, _ = pvdSteps(d.root.kid("Collection"), folder{})
		}
	})
}
