// Made from the Go types of the messages by
// `go test ./internal/app/server -run WireTypes -update`. Do not edit.
import type { Column, ColumnRef } from './frame';
import type { Bands } from './locality';

// Colour stands for a group of references: a source line, a function whose
// lines are folded into it, an object, or an operation.
export interface Colour {
  readonly label: string;
  readonly file: string;
  readonly line: number;
  readonly function: string; // set where lines are folded into it
  readonly count: number; // references
  readonly in: string; // function of a line
}

// Structure is a function of the program that can be folded to one colour or
// opened to its lines.
export interface Structure {
  readonly label: string;
  readonly function: string;
  readonly file: string;
  readonly count: number; // references
  readonly lines: number;
  readonly folded: boolean;
  readonly own: boolean; // in a file of the user's
}

// Reference is one record of the trace.
export interface Reference {
  readonly record: number; // among those that are analysed
  readonly order: number; // in the whole trace
  readonly op: string;
  readonly address: string;
  readonly size: number;
  readonly pc: string;
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly object: string;
  readonly offset: number; // into the object
}

// CyclesAsk says which analysis of a reference trace a question is about. Zero
// values are the defaults of `isobath cycles`; an empty symbol is chosen for
// the trace, and thread -1 is the busiest.
export interface CyclesAsk {
  readonly symbol: '' | 'pc' | 'line' | 'addr' | 'op+addr' | 'pc+addr' | 'cacheline' | 'object';
  readonly window: number;
  readonly cap: number;
  readonly every: number;
  readonly from: number; // records, half open; to 0 is the end
  readonly to: number;
  readonly folds: number; // innermost loops folded to one turn
  readonly thread: number;
}

// CyclesInfo describes the cycles of one thread of a reference trace.
export interface CyclesInfo {
  readonly records: number;
  readonly windows: number;
  readonly unique: number;
  readonly symbols: number;
  readonly symbol: string;
  readonly window: number;
  readonly cap: number;
  readonly thread: number;
  readonly threads: readonly CyclesThread[];
  readonly bars: readonly CyclesBars[];
  readonly classes: readonly CyclesClass[];
  readonly lines: readonly Colour[]; // every line, and functions of libraries
  readonly preamble: number;
  readonly postamble: number;
  readonly notes: readonly string[];
  readonly hasLines: boolean;
  readonly hasCode: boolean; // references have instructions: loops can be told apart
  readonly named: readonly CyclesNamed[];
  // Repeats are what recurs exactly, innermost first, where there is no class.
  readonly repeats: readonly CyclesRepeat[];
}

// CyclesRepeat is a stretch of references that recurs without a change: Period of
// them make a turn. Least and Most are turns of an entry.
export interface CyclesRepeat {
  readonly period: number;
  readonly entries: number;
  readonly turns: number;
  readonly least: number;
  readonly most: number;
  readonly place: string;
}

// CyclesNamed is a structure with a name of its own: what the turns of a class
// are, under which settings. Class is -1 if this analysis does not have them.
export interface CyclesNamed {
  readonly name: string;
  readonly symbol: string;
  readonly window: number;
  readonly class: number;
}

// CyclesThread is a thread that can be chosen.
export interface CyclesThread {
  readonly id: number;
  readonly records: number;
}

// CyclesBars are the bars of one birth and death.
export interface CyclesBars {
  readonly birth: number;
  readonly death: number;
  readonly alive: boolean;
  readonly count: number;
}

// CyclesClass is one circle and the walk around it.
export interface CyclesClass {
  readonly birth: number;
  readonly death: number;
  readonly alive: boolean;
  readonly epsilon: number;
  readonly turns: number;
  readonly exact: boolean;
  readonly stable: boolean; // shorter and longer windows count as many turns
  readonly sameLeast: number; // the shortest and the longest window that does; 0 if turns are not counted
  readonly sameMost: number;
  readonly combination: boolean;
  readonly name: string; // role in the nest of loops
  readonly parent: number;
  readonly passes: number;
  readonly dual: number;
  readonly whole: number;
  readonly sentence: string;
  readonly place: string;
  readonly turnAt: number; // windows of the shortest turn
  readonly turnLength: number;
  readonly residual: number;
  readonly lines: readonly CyclesLine[];
  readonly loop: number; // the loop of the code it goes around, in the list of loops; -1 if none is known
  readonly title: string; // of that loop
  readonly of: string; // what its turns are a part of; empty where they are all
}

// CyclesLine is a line's share of a turn.
export interface CyclesLine {
  readonly file: string;
  readonly line: number;
  readonly share: number;
}

// ClassAsk asks for a class in colours, or for the morph from it to another:
// part 0 is the one, 1 the other.
export interface ClassAsk extends CyclesAsk {
  readonly class: number;
  readonly other: number; // -1 for none
  readonly part: number;
  readonly epsilon: number; // 0: where the class was found
  readonly colour: '' | 'line' | 'function' | 'object' | 'op' | 'stride' | 'miss';
  readonly toggled: readonly string[]; // functions that are folded or opened by hand
  readonly where: string; // references that keep their colour; empty: all
}

// SpiralAsk asks for the drawing of a class. Windows from First to Last-1 are
// drawn; Last 0 is the end. Radii and Angles are the pixels there are, Columns
// those of the strip.
export interface SpiralAsk extends ClassAsk {
  readonly first: number;
  readonly last: number;
  readonly radii: number;
  readonly angles: number;
  readonly columns: number;
}

// SectorAsk asks for a part of a drawing in more detail: windows from First to
// Last-1 at angles from From on, over Span turns.
export interface SectorAsk extends ClassAsk {
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly span: number;
  readonly radii: number;
  readonly angles: number;
}

// Walked is the windows of a drawing one by one, if they can be told apart;
// otherwise polar is set.
export interface Walked {
  readonly first: number;
  readonly last: number;
  readonly whole: boolean;
  readonly lift: Column;
  readonly otherLift: Column; // of the class to morph to
  readonly colour: Column;
  readonly point: Column;
  readonly polar: SpiralPolar | null;
}

// SectorAnswer is a part of a drawing.
export interface SectorAnswer extends Walked {
  readonly columns: readonly ColumnRef[];
  readonly took: number;
}

// SpiralAnswer is a drawing.
export interface SpiralAnswer extends Walked {
  readonly columns: readonly ColumnRef[];
  readonly took: number;
  readonly turns: Column; // windows at which turns begin
  readonly every: number; // turns between two of them
  readonly passes: Column;
  readonly byPass: readonly number[]; // turns in each pass; empty if they cannot be counted
  readonly teeth: boolean;
  readonly strips: readonly SpiralStrip[]; // of the class and the others with turns
  readonly ribbon: Column;
  readonly ring: Column; // windows in the loop by angle
  readonly ringColour: Column; // and their most frequent colour
  readonly colours: readonly Colour[];
  readonly groups: readonly Colour[]; // all, those without a colour too
  readonly structures: readonly Structure[];
  readonly selected: number; // references that keep their colour
  readonly unknown: string; // why it is not known which are selected: all keep theirs
}

// SpiralPolar are pixels of radius and angle: colours, 0xffff for none. Angles
// begin at From and span Span turns.
export interface SpiralPolar {
  readonly from: number;
  readonly span: number;
  readonly radii: number;
  readonly angles: number;
  readonly colour: Column;
}

// SpiralStrip is the lift of a class over the whole trace.
export interface SpiralStrip {
  readonly class: number;
  readonly low: Column;
  readonly high: Column;
}

// ReferencesAsk asks for records of the trace.
export interface ReferencesAsk extends CyclesAsk {
  readonly first: number;
  readonly last: number;
}

// ProjectionAsk asks for the cloud of points in the plane.
export interface ProjectionAsk extends ClassAsk {
  readonly method: 'isomap' | 'mds';
}

// ProjectionAnswer is the cloud: a place, the coordinate of the class in turns
// and the number of visits for every distinct window.
export interface ProjectionAnswer {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly theta: readonly number[];
  readonly visits: readonly number[];
  readonly colour: readonly number[];
  readonly edges: readonly (readonly number[])[]; // steps of the trace: from, to, how often
  readonly note: string;
}

// LoopsAsk asks for the loops of a trace.
export interface LoopsAsk {
}

// LoopsInfo is the loops of the code of a trace, outer before inner.
export interface LoopsInfo {
  // Recorded says that the way through the code was recorded; else it was rebuilt
  // from the instructions that make references, and no count is exact.
  readonly recorded: boolean;
  readonly references: number;
  readonly outside: number; // references in no loop
  readonly lost: number;
  readonly notes: readonly string[];
  readonly machine: string; // that misses are modelled on; empty if none
  readonly model: string; // what they rest on
  readonly levels: readonly string[]; // of its caches
  readonly misses: readonly number[]; // of everything, by level
  readonly bands: Bands; // that they lie in
  readonly loops: readonly LoopRow[];
}

// LoopRow is one loop. References, bytes, lines and misses include inner loops and
// calls.
export interface LoopRow {
  readonly kind: 'loop' | 'recursion';
  readonly title: string; // short: "for j, lu.c:12"
  readonly name: string; // unlike that of all others: selections know it by this
  readonly text: string;
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly depth: number;
  readonly parent: number; // -1 for none
  readonly entries: number;
  readonly trips: number; // over all entries
  readonly min: number;
  readonly median: number;
  readonly max: number;
  readonly skipped: number; // entries without a turn
  readonly unknown: LoopUnknown;
  readonly exact: boolean;
  readonly atLeast: boolean; // the recording ended while it was under way: not exact
  readonly why: string; // it is not exact
  readonly factor: number;
  readonly irreducible: boolean;
  readonly references: number;
  readonly own: number;
  readonly loads: number;
  readonly stores: number;
  readonly modifies: number;
  readonly bytes: number;
  readonly lines: number; // distinct, of 64 bytes
  readonly linesExact: boolean;
  readonly caption: string;
  readonly exits: string; // where it is left if not by its condition alone; empty if it is not, or not known
  readonly course: readonly number[]; // turns of entries in order, one in courseEvery
  readonly courseEvery: number;
  readonly objects: readonly LoopObject[];
  readonly strides: readonly LoopStride[]; // of its own instructions
  readonly misses: readonly number[]; // modelled, by level; empty if not known
  readonly bands: Bands; // that they lie in
}

// LoopUnknown says which counts of a loop are not known; they are 0.
export interface LoopUnknown {
  readonly entries: boolean;
  readonly trips: boolean;
  readonly spread: boolean; // min, median, max and skipped
}

// LoopObject is what a loop refers to.
export interface LoopObject {
  readonly name: string;
  readonly references: number;
}

// LoopStride is how the address of an instruction moves.
export interface LoopStride {
  readonly line: number;
  readonly op: string;
  readonly width: number;
  readonly references: number;
  readonly text: string;
}
