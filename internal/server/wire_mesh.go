package server

import "isobath/internal/mesh"

// MeshAsk asks about one dump of a mesh.
type MeshAsk struct {
	Step int `json:"step"` // -1 for the last
}

// MeshInfo describes a mesh and one of its dumps.
type MeshInfo struct {
	Name   string         `json:"name"`
	Format string         `json:"format"`
	Step   int            `json:"step"`
	Steps  []MeshStep     `json:"steps"`
	Cells  int            `json:"cells"`
	Points int            `json:"points"`
	Levels int            `json:"levels"` // of refinement; 1 for other meshes
	Parts  []MeshPart     `json:"parts"`
	Low    []float64      `json:"low"` // corner of the bounds
	High   []float64      `json:"high"`
	Flat   bool           `json:"flat"` // no cell is solid: nothing to slice
	Values []MeshVariable `json:"values"`
	// Fields are the performance fields that are offered; empty without
	// samples. Any other COLUMN_AGGREGATE can be asked for too.
	Fields  []string `json:"fields"`
	Samples int      `json:"samples"`
	Placing []string `json:"placing"` // columns that decide a sample's cell
	// Iterations are the samples by iteration; null if they have none.
	Iterations *MeshIterations `json:"iterations"`
	Notes      []string        `json:"notes"`
}

// MeshStep is one dump. From says where its iteration comes from.
type MeshStep struct {
	Iteration int64    `json:"iteration"`
	From      string   `json:"from" ts:"'file' | 'name' | 'ordinal'"`
	Time      *float64 `json:"time"`
}

// MeshPart is a block or a refinement level.
type MeshPart struct {
	Name   string `json:"name"`
	Domain int    `json:"domain"`
	Level  int    `json:"level"`
	First  int    `json:"first"`
	Cells  int    `json:"cells"`
	Dims   []int  `json:"dims"` // cells per axis; empty if they are not in rows
}

// MeshVariable is a variable of the simulation. Its range is that of cells.
type MeshVariable struct {
	Name string   `json:"name"`
	Min  *float64 `json:"min"`
	Max  *float64 `json:"max"`
	Few  bool     `json:"few"` // whole numbers, few of them: categories
}

// MeshIterations counts samples in equal ranges of iterations.
type MeshIterations struct {
	Column string  `json:"column"`
	Low    int64   `json:"low"`
	High   int64   `json:"high"`
	Counts []int64 `json:"counts"`
}

// MeshFieldAsk asks for a number per cell: a performance field of the selected
// samples, or a variable of the simulation if one is named.
type MeshFieldAsk struct {
	Step     int       `json:"step"`
	Field    string    `json:"field"`
	Variable string    `json:"variable"`
	Mode     mesh.Mode `json:"mode"`
	Where    string    `json:"where"`
	Filter   string    `json:"filter"`
	// Picked is a selection whose cells are listed besides; empty for none.
	Picked string `json:"picked"`
}

// MeshFieldAnswer is a field. Cells without a value are NaN.
type MeshFieldAnswer struct {
	Columns    []ColumnRef  `json:"columns"`
	Took       float64      `json:"took"`
	Name       string       `json:"name"`
	Unit       string       `json:"unit"`
	Provenance string       `json:"provenance"`
	Values     Column       `json:"values"`
	Samples    Column       `json:"samples"` // of each cell; empty for variables
	Picked     Column       `json:"picked"`  // cells
	Min        *float64     `json:"min"`
	Max        *float64     `json:"max"`
	Sum        float64      `json:"sum"`
	Covered    int          `json:"covered"`
	Counts     *mesh.Counts `json:"counts"` // null for variables
}

// MeshGeometryAsk asks for what is drawn of a dump: its surface, a slice across
// an axis at a part of the bounds, or the surface of the cells whose value lies
// between low and high.
type MeshGeometryAsk struct {
	Step  int           `json:"step"`
	View  string        `json:"view" ts:"'surface' | 'slice' | 'threshold'"`
	Axis  int           `json:"axis"`
	At    float64       `json:"at"`
	Level int           `json:"level"` // of refinement; -1 for all
	By    *MeshFieldAsk `json:"by,omitempty"`
	Low   float64       `json:"low"`
	High  float64       `json:"high"`
}

// MeshGeometryAnswer are triangles that know their cell, and lines.
type MeshGeometryAnswer struct {
	Columns   []ColumnRef `json:"columns"`
	Took      float64     `json:"took"`
	Positions Column      `json:"positions"` // x, y, z of each vertex
	Triangles Column      `json:"triangles"` // three vertices each
	Cells     Column      `json:"cells"`     // of each triangle
	Edges     Column      `json:"edges"`     // two vertices each
	Features  Column      `json:"features"`
	Polygons  int         `json:"polygons"`
	Kept      int         `json:"kept"` // cells that pass threshold and level
}

// MeshCellAsk asks for the samples of a cell.
type MeshCellAsk struct {
	Step int `json:"step"`
	Cell int `json:"cell"`
}

// MeshCell is a cell: where it is, and which selection has its samples.
type MeshCell struct {
	Cell    int    `json:"cell"`
	Part    string `json:"part"`
	Index   []int  `json:"index"` // in its part; empty if cells are not in rows
	Where   string `json:"where"` // empty without samples
	Samples int    `json:"samples"`
}

// MeshRelateAsk asks how a performance field and a variable go together, and
// how the field spreads over the values of another one.
type MeshRelateAsk struct {
	MeshFieldAsk
	Against string `json:"against"`
	By      string `json:"by"`
	Bins    int    `json:"bins"`
	Least   int    `json:"least"` // samples a cell must have
}

// MeshRelation is the answer: what could not be computed is null and problem
// says why.
type MeshRelation struct {
	Correlation *mesh.Correlation    `json:"correlation"`
	Density     *mesh.Density        `json:"density"`
	Categories  []mesh.CategoryStats `json:"categories"`
	Problem     string               `json:"problem"`
}

// MeshAttach puts the mesh of another run under the samples of this one.
type MeshAttach struct {
	Mesh string `json:"mesh"` // run that has it
}
