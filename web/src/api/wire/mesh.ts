// Made from the Go types of the messages by
// `go test ./internal/app/server -run WireTypes -update`. Do not edit.
import type { Column, ColumnRef } from './frame';

// Mode says which iterations a field takes.
export type Mode = 'all' | 'upto' | 'only';

// Counts says what became of the selected samples. Selected is the sum of the
// others.
export interface Counts {
  readonly selected: number;
  readonly used: number;
  readonly no_cell: number;
  readonly out_of_range: number;
  readonly no_iteration: number;
  readonly no_level: number;
}

// Correlation relates a performance field to a variable of the simulation over
// the cells that have both. SpearmanP and MutualP come from permutations, which treat
// cells as independent; neighbours are alike, so these two are optimistic. SpatialP is
// the one to read.
export interface Correlation {
  readonly cells: number; // cells used
  readonly min_samples: number;
  readonly pearson: number;
  readonly spearman: number;
  readonly spearman_p: number;
  readonly mutual_information: number; // bits
  readonly mutual_information_p: number;
  readonly permutations: number; // 0: the p-values are not computed and 1
  // Effective is how many independent cells these are worth, at most 800; SpatialP the
  // p-value of Spearman's coefficient with so many. Zero: not computed.
  readonly effective_cells: number;
  readonly spatial_p: number;
}

// CategoryStats is the spread of the performance field in one category, such
// as a material, a region or a refinement level.
export interface CategoryStats {
  readonly value: number;
  readonly cells: number;
  readonly p10: number;
  readonly median: number;
  readonly p90: number;
  readonly correlation?: Correlation;
}

// Density counts pairs in a grid of bins: Counts[y*NX+x], x the performance
// field. A pair on an edge is counted above it, one beyond the ends in the bin
// at the end.
export interface Density {
  readonly x: readonly number[]; // NX+1 edges
  readonly y: readonly number[];
  readonly log: boolean; // whether the edges that nobody gave are logarithmic
  readonly counts: readonly number[];
}

// AccessCounts says what became of the recorded references. Recorded is the sum of the
// others.
export interface AccessCounts {
  readonly recorded: number;
  readonly on_cells: number;
  readonly other: number; // to data whose layout over cells is not known
  readonly out_of_range: number; // beyond the last cell
}

// TimeRow is one region: the cells whose variable lies between Low and High in the dump
// of the column. Where no sample is, there is no value.
export interface TimeRow {
  readonly label: string;
  readonly low: number;
  readonly high: number;
  readonly values: readonly (number | null)[];
  readonly samples: readonly number[];
}

// Explained says how much of a field's differences between cells goes with a variable.
export interface Explained {
  readonly variable: string;
  readonly subject: Subject;
  readonly cells: number;
  // Share of the variance of the field between cells that the means of the variable's
  // regions or bands explain, less what so many parts explain of anything by chance;
  // below zero: nothing.
  readonly share: number;
  readonly parts: number;
  // Spearman's coefficient with its p-value for cells whose neighbours are alike; none
  // where it cannot be computed.
  readonly spearman: number | null;
  readonly spatial_p: number | null;
}

// RankedVariables is what explains a field: each variable by itself, and the subjects together.
export interface RankedVariables {
  readonly ranked: readonly Explained[];
  // Separated is null unless variables of at least two subjects explain something.
  readonly separated: Separation | null;
}

// Separation says how the differences between cells divide into physics, placement and
// communication. Each subject stands for itself with the variable that explains most.
export interface Separation {
  readonly cells: number;
  readonly subjects: readonly SubjectsShare[];
  readonly together: number; // what all of them explain
  // Common is what more than one of them explains: owners that lie where the physics
  // differs, so that nobody can tell from this run which of the two it is.
  readonly common: number;
}

// SubjectsShare is one subject's part.
export interface SubjectsShare {
  readonly subject: Subject;
  readonly variable: string;
  readonly alone: number; // what it explains by itself
  readonly own: number; // what only it explains, of all of them
}

// Subject says what a variable is about, so that slow cells separate into physics,
// placement and communication.
export type Subject = 'physics' | 'placement' | 'communication' | 'layers' | 'work';

// LinePiece is a part of a line that lies in one cell: from and to are parts of its
// length, 0 to 1.
export interface LinePiece {
  readonly cell: number;
  readonly from: number;
  readonly to: number;
}

// MeshAsk asks about one dump of a mesh.
export interface MeshAsk {
  readonly step: number; // -1 for the last
}

// MeshInfo describes a mesh and one of its dumps.
export interface MeshInfo {
  readonly name: string;
  readonly format: string;
  readonly step: number;
  readonly steps: readonly MeshStep[];
  readonly cells: number;
  readonly points: number;
  readonly levels: number; // of refinement; 1 for other meshes
  readonly parts: readonly MeshPart[];
  readonly low: readonly number[]; // corner of the bounds
  readonly high: readonly number[];
  readonly flat: boolean; // no cell is solid: nothing to slice
  readonly values: readonly MeshVariable[];
  // Vectors are the variables of the simulation that have a direction.
  readonly vectors: readonly string[];
  // Fields are the performance fields that are offered; empty without
  // samples. Any other COLUMN_AGGREGATE can be asked for too.
  readonly fields: readonly string[];
  readonly samples: number;
  readonly placing: readonly string[]; // columns that decide a sample's cell
  // Iterations are the samples by iteration; null if they have none.
  readonly iterations: MeshIterations | null;
  readonly notes: readonly string[];
}

// MeshStep is one dump. From says where its iteration comes from.
export interface MeshStep {
  readonly iteration: number;
  readonly from: 'file' | 'name' | 'ordinal';
  readonly time: number | null;
}

// MeshPart is a block or a refinement level.
export interface MeshPart {
  readonly name: string;
  readonly domain: number;
  readonly level: number;
  readonly first: number;
  readonly cells: number;
  readonly dims: readonly number[]; // cells per axis; empty if they are not in rows
}

// MeshVariable is a variable of the simulation. Its range is that of cells.
export interface MeshVariable {
  readonly name: string;
  // Subject is what it is about: physics of the simulation, or placement,
  // communication and layers, which are derived from the samples and the mesh.
  readonly subject: Subject;
  readonly min: number | null;
  readonly max: number | null;
  readonly few: boolean; // whole numbers, few of them: categories
  readonly spread: readonly number[]; // as that of a field
}

// MeshIterations counts samples in equal ranges of iterations.
export interface MeshIterations {
  readonly column: string;
  readonly low: number;
  readonly high: number;
  readonly counts: readonly number[];
}

// MeshFieldAsk asks for a number per cell: a performance field of the selected
// samples, or a variable of the simulation if one is named.
export interface MeshFieldAsk {
  readonly step: number;
  readonly field: string;
  readonly variable: string;
  readonly mode: Mode;
  readonly where: string;
  readonly filter: string;
  // Picked is a selection whose cells are listed besides; empty for none.
  readonly picked: string;
  // Since is another dump: values are then the change since it, of performance fields in
  // mode only, and of the variables that they are related to.
  readonly since?: number;
}

// MeshFieldAnswer is a field: of all cells, or of those of a picture, and then
// Picked are places in its list of cells. Cells without a value are NaN.
export interface MeshFieldAnswer {
  readonly columns: readonly ColumnRef[]; // empty in a picture, which has its own
  readonly took: number;
  readonly name: string;
  readonly unit: string;
  readonly provenance: string;
  readonly values: Column;
  readonly samples: Column; // of each cell; empty for variables
  readonly picked: Column; // cells
  readonly min: number | null;
  readonly max: number | null;
  readonly sum: number;
  readonly covered: number;
  readonly counts: Counts | null; // null for variables
  readonly change: boolean; // values are changes since another dump
  // Accesses says what became of the recorded references, of a field that is shared out
  // over them and of their number; null for others. NoAccess counts cells with samples
  // that have no value, because no access to them was recorded.
  readonly accesses: AccessCounts | null;
  readonly no_access: number;
  // Uncertain says that a value rests on too little where the samples are few: it is
  // a mean, an order statistic or a change, and no count.
  readonly uncertain: boolean;
  // Spread are values between which lie equally many cells, from the smallest
  // to the largest; empty without values.
  readonly spread: readonly number[];
  // PickedCells counts all picked cells, also those that are not drawn.
  readonly picked_cells: number;
}

// MeshGeometryAsk asks for what is drawn of a dump: its surface, a slice across
// an axis at a part of the bounds, the surface of the cells whose value lies
// between low and high, or the contour where it is low.
export interface MeshGeometryAsk {
  readonly step: number;
  readonly view: 'surface' | 'slice' | 'threshold' | 'contour';
  readonly axis: number;
  readonly at: number;
  readonly level: number; // of refinement; -1 for all
  readonly by?: MeshFieldAsk;
  readonly low: number;
  readonly high: number;
  // Clip are planes: cells are drawn whose middle lies within all of them.
  readonly clip?: readonly MeshPlane[];
}

// MeshPlane bounds what is drawn: normal · point ≤ end.
export interface MeshPlane {
  readonly normal: readonly [number, number, number];
  readonly end: number;
}

// MeshPictureAsk asks for what is drawn: a geometry and the fields on it. The
// step is that of the geometry.
export interface MeshPictureAsk {
  readonly geometry: MeshGeometryAsk;
  readonly have: string; // key of the geometry that the page has
  readonly performance?: MeshFieldAsk;
  readonly physics?: MeshFieldAsk;
  readonly arrows?: string; // vectors to be drawn on the cells
}

// MeshPicture is the answer; geometry is null if the page has it.
export interface MeshPicture {
  readonly columns: readonly ColumnRef[];
  readonly took: number;
  readonly key: string; // of the geometry
  readonly geometry: MeshGeometry | null;
  readonly performance: MeshFieldAnswer | null;
  readonly physics: MeshFieldAnswer | null;
  readonly arrows: MeshArrows | null;
}

// MeshArrows are vectors on the cells that are drawn.
export interface MeshArrows {
  readonly name: string;
  readonly values: Column; // x, y, z of each cell that is drawn; NaN: it has none
}

// MeshGeometry are triangles that know their cell, and lines.
export interface MeshGeometry {
  readonly took: number;
  readonly positions: Column; // x, y, z of each vertex
  readonly triangles: Column; // three vertices each
  readonly of: Column; // each triangle's place in cells
  readonly cells: Column; // that are drawn, rising
  readonly edges: Column; // two vertices each
  readonly features: Column;
  readonly polygons: number;
  readonly kept: number; // cells that pass threshold and level
}

// MeshSummaryAsk asks what there is to say in numbers about the fields of a
// picture. Picked is the selection whose cells are described besides.
export interface MeshSummaryAsk {
  readonly performance?: MeshSummedAsk;
  readonly physics?: MeshSummedAsk;
  readonly relate?: MeshRelateAsk;
  readonly picked: string;
  readonly filter: string;
}

// MeshSummedAsk is a field and the parts of a scale in which its cells are
// counted: edges that do not fall, one more than parts.
export interface MeshSummedAsk extends MeshFieldAsk {
  readonly edges: readonly number[];
  readonly few: number; // fewer samples than these are few
}

// MeshSummary is the answer; what was not asked for is null.
export interface MeshSummary {
  readonly performance: MeshSummed | null;
  readonly physics: MeshSummed | null;
  readonly relation: MeshRelation | null;
}

// MeshSummed describes a field.
export interface MeshSummed {
  readonly histogram: readonly number[]; // cells in the parts of the scale
  readonly all: MeshStats;
  readonly picked: MeshStats | null;
  readonly highest: readonly MeshValue[];
  readonly marks: readonly number[]; // values of selected cells, some of them if there are many
  readonly few: number; // cells whose value rests on few samples
}

// MeshStats are order statistics over cells that have a value.
export interface MeshStats {
  readonly cells: number;
  readonly valued: number;
  readonly samples: number;
  readonly min: number | null;
  readonly median: number | null;
  readonly p90: number | null;
  readonly max: number | null;
}

// MeshValue is the value of a cell.
export interface MeshValue {
  readonly cell: number;
  readonly value: number;
}

// MeshCellsAsk asks which cells of a geometry have samples of a selection.
export interface MeshCellsAsk {
  readonly geometry: MeshGeometryAsk;
  readonly where: string;
  readonly filter: string;
}

// MeshCells is the answer: how many there are, and the places of those that are
// drawn.
export interface MeshCells {
  readonly cells: number;
  readonly drawn: readonly number[];
}

// MeshBrushAsk asks for the cells in a rectangle of the plot of a relation, ends
// included, or for those of a category.
export interface MeshBrushAsk extends MeshRelateAsk {
  readonly category?: number; // value of by; takes the place of the ends
  readonly low: number; // of the performance field
  readonly high: number;
  readonly against_low: number;
  readonly against_high: number;
}

// MeshBrush is the selection of their samples; empty if there are no cells.
export interface MeshBrush {
  readonly cells: number;
  readonly where: string;
}

// MeshCellAsk asks for the samples of a cell.
export interface MeshCellAsk {
  readonly step: number;
  readonly cell: number;
}

// MeshCell is a cell: where it is, and which selection has its samples.
export interface MeshCell {
  readonly cell: number;
  readonly part: string;
  readonly index: readonly number[]; // in its part; empty if cells are not in rows
  readonly where: string; // empty without samples
  readonly samples: number;
}

// MeshRelateAsk asks how a performance field and a variable go together, and
// how the field spreads over the values of another one.
export interface MeshRelateAsk extends MeshFieldAsk {
  readonly against: string;
  readonly by: string;
  readonly bins: number;
  // Edges of the plot's bins, of the field and of the variable, in place of bins that
  // the program chooses; both or none.
  readonly edges?: readonly number[];
  readonly against_edges?: readonly number[];
  readonly least: number; // samples a cell must have
  // Permute asks for p-values too, which take a while.
  readonly permute: boolean;
}

// MeshRelation is the answer: what could not be computed is null and problem
// says why.
export interface MeshRelation {
  readonly correlation: Correlation | null;
  readonly density: Density | null;
  readonly categories: readonly CategoryStats[];
  // Picked are x and y of selected cells, some of them if there are many.
  readonly picked: readonly MeshPoint[];
  readonly problem: string;
}

// MeshPoint is a place in the plot of a relation; y is the performance field.
export interface MeshPoint {
  readonly x: number;
  readonly y: number;
}

// MeshOverTimeAsk asks for a performance field at every dump; its step is the one whose
// cells are picked. By is a variable whose values are the regions; empty for none.
export interface MeshOverTimeAsk extends MeshFieldAsk {
  readonly by: string;
}

// MeshOverTime is the answer: all cells, the picked ones (null without any), and the
// regions. Problem says why there is none.
export interface MeshOverTime {
  readonly iterations: readonly number[]; // of the dumps
  readonly all: TimeRow | null;
  readonly picked: TimeRow | null;
  readonly regions: readonly TimeRow[];
  readonly after: number; // samples later than the last dump
  readonly problem: string;
}

// MeshTimeBrushAsk asks for the samples in the regions of a variable whose values lie
// between two ends, both included, at the dumps from first to last.
export interface MeshTimeBrushAsk {
  readonly by: string; // empty: all cells
  readonly low: number;
  readonly high: number;
  readonly first: number;
  readonly last: number;
}

// MeshWhere is a selection; empty if it would hold nothing.
export interface MeshWhere {
  readonly where: string;
}

// MeshRankAsk asks which variables of the simulation go with a performance field.
export interface MeshRankAsk extends MeshFieldAsk {
  readonly least: number; // samples a cell must have
}

// MeshRanked are the variables, those that explain most first.
export interface MeshRanked extends RankedVariables {
}

// MeshLineAsk asks for a performance field and a variable along a straight line; an
// empty name asks for neither.
export interface MeshLineAsk extends MeshFieldAsk {
  readonly against: string;
  readonly start: readonly [number, number, number];
  readonly end: readonly [number, number, number];
}

// MeshLine are the cells that the line passes through, in its order.
export interface MeshLine {
  readonly length: number;
  readonly unit: string; // of the performance field
  readonly pieces: readonly MeshLinePiece[];
}

// MeshLinePiece is a part of a line in one cell, with what is known of the cell; null
// without a value.
export interface MeshLinePiece extends LinePiece {
  readonly value: number | null;
  readonly samples: number;
  readonly against: number | null;
}

// MeshAttach puts a mesh under the samples of this run: that of another run, or
// dumps on the server's machine.
export interface MeshAttach {
  readonly mesh: string; // run that has it
  readonly paths: readonly string[]; // files, patterns or folders
}

// MeshLink is where viewers connect to, and the file that tells them so.
export interface MeshLink {
  readonly address: string;
  readonly file: string;
}

// MeshSelect is what a page has selected, for viewers and other pages.
export interface MeshSelect {
  readonly where: string;
  readonly filter: string;
  readonly origin: string; // name of the page, so that it knows its own changes
}

// MeshViewers is who is connected, and the selection that all share.
export interface MeshViewers {
  readonly viewers: readonly string[]; // programs
  readonly where: string;
  readonly rev: number;
  readonly origin: string; // who made the selection
}
