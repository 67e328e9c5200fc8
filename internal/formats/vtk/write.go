package vtk

import (
	"bufio"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/data/grid"
)

var xmlTypes = map[string]string{"|i1": "Int8", "|u1": "UInt8", "<i2": "Int16", "<u2": "UInt16", "<i4": "Int32", "<u4": "UInt32",
	"<i8": "Int64", "<u8": "UInt64", "<f4": "Float32", "<f8": "Float64"}

// sink writes an XML file with raw appended data: first the text, in which
// every array has its offset, then the arrays.
type sink struct {
	head   strings.Builder
	arrays []grid.Array
	offset int
}

func (s *sink) add(indent string, a grid.Array) {
	kind := xmlTypes[a.DType()]
	if kind == "" {
		return // texts stay in the user's own files
	}
	var name strings.Builder
	_ = xml.EscapeText(&name, []byte(a.Name))
	fmt.Fprintf(&s.head, "%s<DataArray type=%q Name=\"%s\" NumberOfComponents=\"%d\" NumberOfTuples=\"%d\" format=\"appended\" offset=\"%d\"/>\n",
		indent, kind, name.String(), max(1, a.Comps), a.Len(), s.offset)
	s.arrays = append(s.arrays, a)
	s.offset += 8 + a.Values()*bytesOf(a.DType())
}

func bytesOf(dtype string) int { return int(dtype[2] - '0') }

// WriteVTU writes an unstructured grid as XML with raw appended data and
// 64-bit sizes.
func WriteVTU(w io.Writer, g *grid.Grid) error {
	s := &sink{}
	s.head.WriteString(`<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="2.2" byte_order="LittleEndian" header_type="UInt64">
  <UnstructuredGrid>
    <FieldData>
`)
	for _, a := range g.FieldData {
		s.add("      ", a)
	}
	fmt.Fprintf(&s.head, "    </FieldData>\n    <Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n      <PointData>\n", g.NumPoints(), g.NumCells())
	for _, a := range g.PointData {
		s.add("        ", a)
	}
	s.head.WriteString("      </PointData>\n      <CellData>\n")
	for _, a := range g.CellData {
		s.add("        ", a)
	}
	s.head.WriteString("      </CellData>\n      <Points>\n")
	p := g.Points
	p.Name = "Points"
	s.add("        ", p)
	s.head.WriteString("      </Points>\n      <Cells>\n")
	for _, a := range cellArrays(g) {
		s.add("        ", a)
	}
	s.head.WriteString("      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n   _")
	return s.write(w)
}

func (s *sink) write(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<20)
	if _, err := b.WriteString(s.head.String()); err != nil {
		return err
	}
	for i := range s.arrays {
		size := uint64(s.arrays[i].Values() * bytesOf(s.arrays[i].DType()))
		if err := binary.Write(b, binary.LittleEndian, size); err != nil {
			return err
		}
		if err := binary.Write(b, binary.LittleEndian, s.arrays[i].Data); err != nil {
			return err
		}
	}
	if _, err := b.WriteString("\n  </AppendedData>\n</VTKFile>\n"); err != nil {
		return err
	}
	return b.Flush()
}

// cellArrays returns connectivity, end offsets, types and face lists.
func cellArrays(g *grid.Grid) []grid.Array {
	ends := make([]int64, len(g.Types))
	types := make([]uint8, len(g.Types))
	for i, t := range g.Types {
		ends[i], types[i] = int64(g.Offsets[i+1]), uint8(t)
	}
	list := []grid.Array{
		{Name: "connectivity", Comps: 1, Data: g.Conn},
		{Name: "offsets", Comps: 1, Data: ends},
		{Name: "types", Comps: 1, Data: types},
	}
	if g.FaceStart == nil {
		return list
	}
	faces, at := []int64{}, make([]int64, len(g.Types))
	for i, start := range g.FaceStart {
		at[i] = -1
		if start < 0 {
			continue
		}
		stream := g.Faces[start:]
		n := 1
		for range stream[0] {
			n += 1 + int(stream[n])
		}
		for _, v := range stream[:n] {
			faces = append(faces, int64(v))
		}
		at[i] = int64(len(faces))
	}
	return append(list, grid.Array{Name: "faces", Comps: 1, Data: faces}, grid.Array{Name: "faceoffsets", Comps: 1, Data: at})
}

var legacyTypes = map[string]string{"|i1": "char", "|u1": "unsigned_char", "<i2": "short", "<u2": "unsigned_short", "<i4": "int",
	"<u4": "unsigned_int", "<i8": "vtktypeint64", "<u8": "vtktypeuint64", "<f4": "float", "<f8": "double"}

// WriteLegacy writes an unstructured grid without polyhedra as a binary
// legacy file of version 3.0, which every VTK reads.
func WriteLegacy(w io.Writer, g *grid.Grid, title string) error {
	if g.FaceStart != nil {
		return fmt.Errorf("polyhedra are written to .vtu files only")
	}
	l := &legacyWriter{w: bufio.NewWriterSize(w, 1<<20)}
	l.text("# vtk DataFile Version 3.0\n%s\nBINARY\nDATASET UNSTRUCTURED_GRID\n", strings.Map(oneLine, title))
	l.field("FieldData", g.FieldData)
	p := g.Points
	l.text("POINTS %d %s\n", p.Len(), legacyTypes[p.DType()])
	l.data(p.Data)
	rows := make([]int32, 0, len(g.Conn)+len(g.Types))
	types := make([]int32, len(g.Types))
	for i, t := range g.Types {
		ids := g.Conn[g.Offsets[i]:g.Offsets[i+1]]
		rows = append(append(rows, int32(len(ids))), ids...)
		types[i] = int32(t)
	}
	l.text("CELLS %d %d\n", len(g.Types), len(rows))
	l.data(rows)
	l.text("CELL_TYPES %d\n", len(types))
	l.data(types)
	l.text("POINT_DATA %d\n", g.NumPoints())
	l.field("point", g.PointData)
	l.text("CELL_DATA %d\n", g.NumCells())
	l.field("cell", g.CellData)
	if l.err == nil {
		l.err = l.w.Flush()
	}
	return l.err
}

func oneLine(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

type legacyWriter struct {
	w   *bufio.Writer
	err error
}

func (l *legacyWriter) text(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format, args...)
	}
}

func (l *legacyWriter) data(v any) {
	if l.err == nil {
		l.err = binary.Write(l.w, binary.BigEndian, v)
	}
	l.text("\n")
}

func (l *legacyWriter) field(name string, list []grid.Array) {
	var numbers []grid.Array
	for _, a := range list {
		if !a.Text() {
			numbers = append(numbers, a)
		}
	}
	if len(numbers) == 0 {
		return
	}
	l.text("FIELD %s %d\n", name, len(numbers))
	for _, a := range numbers {
		l.text("%s %d %d %s\n", encode(a.Name), a.Comps, a.Len(), legacyTypes[a.DType()])
		l.data(a.Data)
	}
}

// encode is the inverse of decode.
func encode(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c > '~' || c == '%' || c == '"' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	if b.Len() == 0 {
		return "array"
	}
	return b.String()
}
