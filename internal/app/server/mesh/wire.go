package mesh

import (
	"github.com/isobath/isobath/internal/app/server/frame"
)

import "github.com/isobath/isobath/internal/domain/mesh"

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
	// Vectors are the variables of the simulation that have a direction.
	Vectors []string `json:"vectors"`
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
	Name string `json:"name"`
	// Subject is what it is about: physics of the simulation, or placement,
	// communication and layers, which are derived from the samples and the mesh.
	Subject mesh.Subject `json:"subject"`
	Min     *float64     `json:"min"`
	Max     *float64     `json:"max"`
	Few     bool         `json:"few"`    // whole numbers, few of them: categories
	Spread  []float64    `json:"spread"` // as that of a field
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
	// Since is another dump: values are then the change since it, of performance fields in
	// mode only, and of the variables that they are related to.
	Since *int `json:"since,omitempty"`
}

// MeshFieldAnswer is a field: of all cells, or of those of a picture, and then
// Picked are places in its list of cells. Cells without a value are NaN.
type MeshFieldAnswer struct {
	Columns    []frame.ColumnRef `json:"columns"` // empty in a picture, which has its own
	Took       float64           `json:"took"`
	Name       string            `json:"name"`
	Unit       string            `json:"unit"`
	Provenance string            `json:"provenance"`
	Values     frame.Column      `json:"values"`
	Samples    frame.Column      `json:"samples"` // of each cell; empty for variables
	Picked     frame.Column      `json:"picked"`  // cells
	Min        *float64          `json:"min"`
	Max        *float64          `json:"max"`
	Sum        float64           `json:"sum"`
	Covered    int               `json:"covered"`
	Counts     *mesh.Counts      `json:"counts"` // null for variables
	Change     bool              `json:"change"` // values are changes since another dump
	// Accesses says what became of the recorded references, of a field that is shared out
	// over them and of their number; null for others. NoAccess counts cells with samples
	// that have no value, because no access to them was recorded.
	Accesses *mesh.AccessCounts `json:"accesses"`
	NoAccess int                `json:"no_access"`
	// Uncertain says that a value rests on too little where the samples are few: it is
	// a mean, an order statistic or a change, and no count.
	Uncertain bool `json:"uncertain"`
	// Spread are values between which lie equally many cells, from the smallest
	// to the largest; empty without values.
	Spread []float64 `json:"spread"`
	// PickedCells counts all picked cells, also those that are not drawn.
	PickedCells int `json:"picked_cells"`
}

// MeshGeometryAsk asks for what is drawn of a dump: its surface, a slice across
// an axis at a part of the bounds, the surface of the cells whose value lies
// between low and high, or the contour where it is low.
type MeshGeometryAsk struct {
	Step  int           `json:"step"`
	View  string        `json:"view" ts:"'surface' | 'slice' | 'threshold' | 'contour'"`
	Axis  int           `json:"axis"`
	At    float64       `json:"at"`
	Level int           `json:"level"` // of refinement; -1 for all
	By    *MeshFieldAsk `json:"by,omitempty"`
	Low   float64       `json:"low"`
	High  float64       `json:"high"`
	// Clip are planes: cells are drawn whose middle lies within all of them.
	Clip []MeshPlane `json:"clip,omitempty"`
}

// MeshPlane bounds what is drawn: normal · point ≤ end.
type MeshPlane struct {
	Normal [3]float64 `json:"normal" ts:"readonly [number, number, number]"`
	End    float64    `json:"end"`
}

// MeshPictureAsk asks for what is drawn: a geometry and the fields on it. The
// step is that of the geometry.
type MeshPictureAsk struct {
	Geometry    MeshGeometryAsk `json:"geometry"`
	Have        string          `json:"have"` // key of the geometry that the page has
	Performance *MeshFieldAsk   `json:"performance,omitempty"`
	Physics     *MeshFieldAsk   `json:"physics,omitempty"`
	Arrows      string          `json:"arrows,omitempty"` // vectors to be drawn on the cells
}

// MeshPicture is the answer; geometry is null if the page has it.
type MeshPicture struct {
	Columns     []frame.ColumnRef `json:"columns"`
	Took        float64           `json:"took"`
	Key         string            `json:"key"` // of the geometry
	Geometry    *MeshGeometry     `json:"geometry"`
	Performance *MeshFieldAnswer  `json:"performance"`
	Physics     *MeshFieldAnswer  `json:"physics"`
	Arrows      *MeshArrows       `json:"arrows"`
}

// MeshArrows are vectors on the cells that are drawn.
type MeshArrows struct {
	Name   string       `json:"name"`
	Values frame.Column `json:"values"` // x, y, z of each cell that is drawn; NaN: it has none
}

// MeshGeometry are triangles that know their cell, and lines.
type MeshGeometry struct {
	Took      float64      `json:"took"`
	Positions frame.Column `json:"positions"` // x, y, z of each vertex
	Triangles frame.Column `json:"triangles"` // three vertices each
	Of        frame.Column `json:"of"`        // each triangle's place in cells
	Cells     frame.Column `json:"cells"`     // that are drawn, rising
	Edges     frame.Column `json:"edges"`     // two vertices each
	Features  frame.Column `json:"features"`
	Polygons  int          `json:"polygons"`
	Kept      int          `json:"kept"` // cells that pass threshold and level
}

// MeshSummaryAsk asks what there is to say in numbers about the fields of a
// picture. Picked is the selection whose cells are described besides.
type MeshSummaryAsk struct {
	Performance *MeshSummedAsk `json:"performance,omitempty"`
	Physics     *MeshSummedAsk `json:"physics,omitempty"`
	Relate      *MeshRelateAsk `json:"relate,omitempty"`
	Picked      string         `json:"picked"`
	Filter      string         `json:"filter"`
}

// MeshSummedAsk is a field and the parts of a scale in which its cells are
// counted: edges that do not fall, one more than parts.
type MeshSummedAsk struct {
	MeshFieldAsk
	Edges []float64 `json:"edges"`
	Few   int       `json:"few"` // fewer samples than these are few
}

// MeshSummary is the answer; what was not asked for is null.
type MeshSummary struct {
	Performance *MeshSummed   `json:"performance"`
	Physics     *MeshSummed   `json:"physics"`
	Relation    *MeshRelation `json:"relation"`
}

// MeshSummed describes a field.
type MeshSummed struct {
	Histogram []int       `json:"histogram"` // cells in the parts of the scale
	All       MeshStats   `json:"all"`
	Picked    *MeshStats  `json:"picked"`
	Highest   []MeshValue `json:"highest"`
	Marks     []float64   `json:"marks"` // values of selected cells, some of them if there are many
	Few       int         `json:"few"`   // cells whose value rests on few samples
}

// MeshStats are order statistics over cells that have a value.
type MeshStats struct {
	Cells   int      `json:"cells"`
	Valued  int      `json:"valued"`
	Samples int      `json:"samples"`
	Min     *float64 `json:"min"`
	Median  *float64 `json:"median"`
	P90     *float64 `json:"p90"`
	Max     *float64 `json:"max"`
}

// MeshValue is the value of a cell.
type MeshValue struct {
	Cell  int     `json:"cell"`
	Value float64 `json:"value"`
}

// MeshCellsAsk asks which cells of a geometry have samples of a selection.
type MeshCellsAsk struct {
	Geometry MeshGeometryAsk `json:"geometry"`
	Where    string          `json:"where"`
	Filter   string          `json:"filter"`
}

// MeshCells is the answer: how many there are, and the places of those that are
// drawn.
type MeshCells struct {
	Cells int      `json:"cells"`
	Drawn []uint32 `json:"drawn"`
}

// MeshBrushAsk asks for the cells in a rectangle of the plot of a relation, ends
// included, or for those of a category.
type MeshBrushAsk struct {
	MeshRelateAsk
	Category    *float64 `json:"category,omitempty"` // value of by; takes the place of the ends
	Low         float64  `json:"low"`                // of the performance field
	High        float64  `json:"high"`
	AgainstLow  float64  `json:"against_low"`
	AgainstHigh float64  `json:"against_high"`
}

// MeshBrush is the selection of their samples; empty if there are no cells.
type MeshBrush struct {
	Cells int    `json:"cells"`
	Where string `json:"where"`
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
	// Edges of the plot's bins, of the field and of the variable, in place of bins that
	// the program chooses; both or none.
	Edges        []float64 `json:"edges,omitempty"`
	AgainstEdges []float64 `json:"against_edges,omitempty"`
	Least        int       `json:"least"` // samples a cell must have
	// Permute asks for p-values too, which take a while.
	Permute bool `json:"permute"`
}

// MeshRelation is the answer: what could not be computed is null and problem
// says why.
type MeshRelation struct {
	Correlation *mesh.Correlation    `json:"correlation"`
	Density     *mesh.Density        `json:"density"`
	Categories  []mesh.CategoryStats `json:"categories"`
	// Picked are x and y of selected cells, some of them if there are many.
	Picked  []MeshPoint `json:"picked"`
	Problem string      `json:"problem"`
}

// MeshPoint is a place in the plot of a relation; y is the performance field.
type MeshPoint struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// MeshOverTimeAsk asks for a performance field at every dump; its step is the one whose
// cells are picked. By is a variable whose values are the regions; empty for none.
type MeshOverTimeAsk struct {
	MeshFieldAsk
	By string `json:"by"`
}

// MeshOverTime is the answer: all cells, the picked ones (null without any), and the
// regions. Problem says why there is none.
type MeshOverTime struct {
	Iterations []int64        `json:"iterations"` // of the dumps
	All        *mesh.TimeRow  `json:"all"`
	Picked     *mesh.TimeRow  `json:"picked"`
	Regions    []mesh.TimeRow `json:"regions"`
	After      int            `json:"after"` // samples later than the last dump
	Problem    string         `json:"problem"`
}

// MeshTimeBrushAsk asks for the samples in the regions of a variable whose values lie
// between two ends, both included, at the dumps from first to last.
type MeshTimeBrushAsk struct {
	By    string  `json:"by"` // empty: all cells
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	First int     `json:"first"`
	Last  int     `json:"last"`
}

// MeshWhere is a selection; empty if it would hold nothing.
type MeshWhere struct {
	Where string `json:"where"`
}

// MeshRankAsk asks which variables of the simulation go with a performance field.
type MeshRankAsk struct {
	MeshFieldAsk
	Least int `json:"least"` // samples a cell must have
}

// MeshRanked are the variables, those that explain most first.
type MeshRanked struct {
	mesh.RankedVariables
}

// MeshLineAsk asks for a performance field and a variable along a straight line; an
// empty name asks for neither.
type MeshLineAsk struct {
	MeshFieldAsk
	Against string     `json:"against"`
	Start   [3]float64 `json:"start" ts:"readonly [number, number, number]"`
	End     [3]float64 `json:"end" ts:"readonly [number, number, number]"`
}

// MeshLine are the cells that the line passes through, in its order.
type MeshLine struct {
	Length float64         `json:"length"`
	Unit   string          `json:"unit"` // of the performance field
	Pieces []MeshLinePiece `json:"pieces"`
}

// MeshLinePiece is a part of a line in one cell, with what is known of the cell; null
// without a value.
type MeshLinePiece struct {
	mesh.LinePiece
	Value   *float64 `json:"value"`
	Samples uint32   `json:"samples"`
	Against *float64 `json:"against"`
}

// MeshAttach puts a mesh under the samples of this run: that of another run, or
// dumps on the server's machine.
type MeshAttach struct {
	Mesh  string   `json:"mesh"`  // run that has it
	Paths []string `json:"paths"` // files, patterns or folders
}

// MeshLink is where viewers connect to, and the file that tells them so.
type MeshLink struct {
	Address string `json:"address"`
	File    string `json:"file"`
}

// MeshSelect is what a page has selected, for viewers and other pages.
type MeshSelect struct {
	Where  string `json:"where"`
	Filter string `json:"filter"`
	Origin string `json:"origin"` // name of the page, so that it knows its own changes
}

// MeshViewers is who is connected, and the selection that all share.
type MeshViewers struct {
	Viewers []string `json:"viewers"` // programs
	Where   string   `json:"where"`
	Rev     int64    `json:"rev"`
	Origin  string   `json:"origin"` // who made the selection
}
