// Made from the Go types of the messages by
// `go test ./internal/app/server -run WireTypes -update`. Do not edit.
import type { Column, ColumnRef } from './frame';

// Machine is M of the answers: what a modelled number belongs to.
export interface Machine {
  readonly name: string;
  readonly levels: readonly MachineLevel[];
  readonly tlb: readonly MachineTLB[];
  readonly page_bytes: number;
  readonly walk_cycles: number;
  readonly remote_cycles: number; // of a line from another memory node, beyond one from the own
  readonly queue_cycles: number; // of a line beyond the even share of the node that serves it
  readonly nodes: number;
  readonly assumed: readonly string[];
  // Model says what every number of the machine rests on.
  readonly model: string;
}

// MachineLevel is one level of a machine.
export interface MachineLevel {
  readonly level: string;
  readonly size: number;
  readonly ways: number;
  readonly line_bytes: number;
  readonly policy: string;
  readonly shared: boolean;
  readonly step_cycles: number;
  readonly assumed: readonly string[];
}

// MachineTLB is one level of translation.
export interface MachineTLB {
  readonly entries: number;
  readonly ways: number;
}

// Bands is what misses may be elsewhere, by level.
export interface Bands {
  readonly frames: ReadonlyArray<readonly [number, number]>; // least and most with pages in random frames
  readonly prefetch: ReadonlyArray<readonly [number, number]>; // with an ideal prefetcher, and with none
}

// Advise is the answer of `isobath advise`.
export interface Advise {
  readonly records: number;
  readonly references: number;
  readonly provenance: string;
  readonly machine: Machine;
  readonly cost: Cost;
  readonly tried: number;
  readonly silence: string | null;
  readonly advice: readonly Advice[];
  readonly proof?: Proof; // made now
  // Proofs are kept ones of changes that are not in the list as they were proven.
  readonly proofs: readonly Proof[];
  readonly notes: readonly string[];
}

// Cost is what advice is ranked by.
export interface Cost {
  readonly now: number;
  readonly steps: readonly number[]; // cycles of a miss at each level, then of a walk
}

// Advice is one change.
export interface Advice {
  readonly kind: string;
  readonly object: string;
  readonly type: string;
  readonly evidence: string; // how element and fields are known
  readonly change: string;
  readonly text: string;
  readonly code: string;
  readonly map: string;
  readonly gain: readonly [number, number] | null; // least and most over placements, without prefetching
  readonly gain_prefetched: readonly [number, number] | null; // the same with an ideal prefetcher
  readonly levels: readonly LevelChange[];
  readonly placements: readonly PlacementCounts[];
  readonly legal: string;
  readonly spanning: number;
  readonly cycles: readonly [number, number] | null;
  readonly coherence?: Coherence;
  readonly assumes: readonly string[];
  readonly instead: readonly Instead[];
  readonly together: number;
  readonly where: string;
  readonly place: string; // file:line of the outermost loop, or of its body; empty for objects
  readonly line: string; // file:line where the object costs most or a thread uses the line most; empty for loops
  readonly why: string; // which loop carries the reuse that a change of order brings nearer
  readonly carried: readonly Carried[]; // reuses in the nest, those beyond the first level first
  readonly memory?: MemoryChange;
  readonly proof: Proof | null; // kept with the run; null if there is none
}

// Carried is the reuses of the lines of an object that one loop carries.
export interface Carried {
  readonly object: string;
  readonly loop: string;
  readonly reuses: number;
  readonly mean_distance: number; // in lines
  readonly far: number; // at or beyond the lines of the first level
}

// MemoryChange is the lines from memory by node, of advice that places pages.
export interface MemoryChange {
  readonly now: NodeLines;
  readonly then: NodeLines;
}

// NodeLines is lines from memory.
export interface NodeLines {
  readonly local: number;
  readonly remote: number;
  readonly busiest: number; // of the node that serves most
}

// LevelChange is the misses of a level before and after.
export interface LevelChange {
  readonly level: string;
  readonly now: number;
  readonly then: readonly [number, number]; // least and most over where the memory may come to lie
  // ThenIdeal is Then with an ideal prefetcher. The least of Prefetch is with one,
  // the most without. Frames are the least and most with pages in random frames of
  // memory.
  readonly then_ideal: readonly [number, number];
  readonly now_prefetch: readonly [number, number];
  readonly then_prefetch: readonly [number, number];
  readonly now_frames: readonly [number, number];
  readonly then_frames: readonly [number, number];
}

// PlacementCounts is a change with its memory in one place.
export interface PlacementCounts {
  readonly placement: string;
  readonly misses: readonly number[];
  readonly dtlb_misses: number;
  readonly walks: number;
  readonly gain: number;
}

// Instead is another change of the same object.
export interface Instead {
  readonly kind: string;
  readonly change: string;
  readonly gain: readonly [number, number];
  readonly gain_prefetched: readonly [number, number];
  readonly map: string;
  readonly code: string;
  readonly proof: Proof | null;
}

// Coherence is the misses that threads cause each other, of advice that parts
// them.
export interface Coherence {
  readonly now: readonly [number, number]; // least and most over schedules
  readonly clocked: number;
  readonly then: number; // at most
}

// Proof is what was predicted against what the changed program did.
export interface Proof {
  readonly command: readonly string[]; // the changed program
  readonly kind: string;
  readonly object: string;
  readonly change: string;
  readonly map: string; // of the advice: which change it is a proof of
  readonly provenance: string; // of the misses
  readonly machine: Machine; // that both programs were replayed on
  readonly references: number; // that the prediction is of
  readonly recorded: string; // when the run was made that it is of
  readonly made: string;
  readonly programs: readonly ProofProgram[]; // those that are files: as recorded, and changed
  readonly levels: readonly ProofLevel[];
  readonly holds: boolean; // every level within 2 % of the range predicted; never of pages, which references do not show
  readonly saves: Saves;
  readonly time: ProofTime | null; // null if the programs were not timed
  readonly text: string;
  readonly stale: readonly string[]; // why it does not speak for the advice as it is now; empty if it does
}

// Saves is what the changed program saved.
export type Saves = 'time' | 'misses' | 'untimed' | 'nothing' | 'unknown';

// ProofProgram is a program as it was when it was run.
export interface ProofProgram {
  readonly file: string;
  readonly bytes: number;
  readonly sum: string; // SHA-256
}

// ProofLevel is one level of a proof.
export interface ProofLevel {
  readonly level: string;
  readonly now: number;
  readonly predicted: readonly [number, number];
  readonly recorded: number; // of the changed program, replayed on the machine
  readonly inside: boolean;
}

// ProofTime is the processor time of both programs, measured in turn.
export interface ProofTime {
  readonly rounds: number;
  readonly before_s: number; // median
  readonly after_s: number;
  readonly faster: number; // rounds in which the changed program was faster
  readonly provenance: string;
  readonly output: Output;
}

// Output is whether both programs printed and returned the same.
export type Output = 'same' | 'differs' | 'varies';

// SharedLines is the answer of `isobath sharing`.
export interface SharedLines {
  readonly records: number;
  readonly threads: number;
  readonly provenance: string;
  readonly line_bytes: readonly number[];
  readonly schedules: readonly ScheduleCount[];
  readonly lines: readonly SharedLine[];
  readonly line_count: number;
  readonly notes: readonly string[];
}

// ScheduleCount is the coherence misses of one schedule.
export interface ScheduleCount {
  readonly schedule: string;
  readonly misses: Misses; // lines of 64 bytes
  readonly wider: Misses; // lines of 128 bytes
}

// SharedLine is a line that threads share or may come to share.
export interface SharedLine {
  readonly addr: string;
  readonly bytes: number;
  readonly object: string;
  readonly field: string;
  readonly sharing: string;
  readonly threads: readonly SharedThread[];
  readonly misses: SharedMisses;
  readonly wider: Misses;
  readonly moved: readonly SharedMoved[];
  readonly separate: SharedApart;
  readonly pairs: readonly SharedPair[]; // by the clock, most misses first
  readonly text: string;
}

// SharedThread is what one thread does to a line.
export interface SharedThread {
  readonly tid: number;
  readonly bytes: ReadonlyArray<readonly [number, number]>;
  readonly loads: number;
  readonly stores: number;
  readonly places: readonly string[];
}

// SharedApart is the misses with each thread's own bytes in lines of their own.
export interface SharedApart {
  readonly most: number;
}

// SharedPair is how often a thread lost the line to another and missed it later.
export interface SharedPair {
  readonly tid: number;
  readonly to: number;
  readonly misses: number;
}

// SharedMisses is the range over the schedules.
export interface SharedMisses {
  readonly least: number;
  readonly most: number;
  readonly recorded: number;
  readonly clocked: number;
  readonly true: number; // of the clocked schedule
  readonly false: number;
}

// SharedMoved is the misses if the object started later.
export interface SharedMoved {
  readonly bytes: number;
  readonly most: number;
}

// Misses are the coherence misses of one schedule.
export interface Misses {
  readonly coherence: number;
  readonly true: number;
  readonly false: number;
}

// MissRow is some of the references: those of an object, a field, a line, a
// function, a loop or a thread.
export interface MissRow extends Bands {
  readonly name: string;
  readonly object: string;
  readonly field: string;
  readonly file: string;
  readonly line: number;
  readonly function: string;
  readonly loop: string;
  readonly thread: number;
  readonly bytes: number; // of an object or a field
  readonly offset: number; // of a field
  readonly references: number;
  readonly selected: number;
  readonly misses: readonly number[]; // by level
  readonly chosen: readonly number[]; // of them those of selected references
  readonly chosenBands: Bands; // empty if nothing is selected
  readonly fetched: number;
  readonly used: number; // bytes, of the lines fetched into the first level
  readonly reuse: readonly number[]; // references by octave of distance; first touches last
  readonly first: number;
}

// MissLevel is what happened at one level.
export interface MissLevel {
  readonly level: string;
  readonly bytes: number;
  readonly ways: number;
  readonly line_bytes: number;
  readonly misses: number;
  readonly chosen: number;
  readonly first: number;
  readonly full: number; // of a fully associative cache of this size
  readonly hidden: number; // misses that an ideal stride prefetcher hides
  // Frames and Prefetch are as those of rows.
  readonly frames: readonly [number, number];
  readonly prefetch: readonly [number, number];
  readonly chosenFrames: readonly [number, number];
  readonly chosenPrefetch: readonly [number, number];
}

// MissCurve is misses by size of a fully associative cache.
export interface MissCurve {
  readonly sizes: readonly number[]; // bytes
  readonly total: readonly number[];
  readonly selected: readonly number[]; // empty if nothing is selected
  // Bands are the references that are not selected, those with the most misses
  // at the first level first.
  readonly bands: readonly MissBand[];
}

// MissBand is a part of a curve.
export interface MissBand {
  readonly name: string;
  readonly misses: readonly number[];
}

// SizeNeed is the smallest cache with a share of hits; 0 where no cache has it.
export interface SizeNeed {
  readonly hits: number;
  readonly bytes: number;
}

// MissCounts is everything a page shows of a study but its map.
export interface MissCounts {
  readonly references: number;
  readonly selected: number;
  readonly lines: number;
  readonly footprint: number;
  readonly levels: readonly MissLevel[];
  readonly curve: MissCurve;
  readonly needs: readonly SizeNeed[];
  // ReusedFrom is the size from which on the selection, or everything, misses
  // at most a twentieth of the repeats that it misses at the first level; 0 if
  // it has none.
  readonly reused_from: number;
  readonly first_above: number; // first touches of the selection, which no size saves
  readonly at_first: number; // misses of the selection in a fully associative first level
  readonly objects: readonly MissRow[];
  readonly fields: readonly MissRow[];
  readonly places: readonly MissRow[];
  readonly functions: readonly MissRow[];
}

// Evictions says at one level who lost lines to whom, and why lines were missed.
export interface Evictions {
  readonly level: number;
  readonly names: readonly string[]; // of objects; the last may be all others
  // Lost is misses of the row's object on lines that the column's had pushed out.
  readonly lost: readonly (readonly number[])[];
  readonly causes: readonly MissCause[];
}

// MissCause is the misses of an object by cause; they add up to its misses.
export interface MissCause {
  readonly first: number;
  readonly capacity: number;
  readonly conflict: number;
}

// StructUse is an element of an object to scale: how much of each line that is
// fetched of it is used.
export interface StructUse {
  readonly object: string;
  readonly type: string;
  readonly evidence: string;
  readonly element: number;
  readonly elements: number;
  readonly parts: readonly StructPart[];
  readonly moved: number; // bytes
  readonly used: number;
}

// StructPart is an array that holds all or some of the fields.
export interface StructPart {
  readonly name: string;
  readonly stride: number;
  readonly fields: readonly StructField[];
  readonly lines: readonly StructLine[];
}

// StructField is a field at its place. Share is of the lines fetched that hold
// it: those in which it was touched; null if none was fetched.
export interface StructField {
  readonly name: string;
  readonly offset: number;
  readonly bytes: number;
  readonly share: number | null;
}

// StructLine is the fetches of one line of an element, and the bytes used in all
// of them.
export interface StructLine {
  readonly fetched: number;
  readonly used: number;
}

// SetUse is the lines that one pass of an innermost loop puts into each set of a
// level.
export interface SetUse {
  readonly level: number;
  readonly ways: number;
  readonly counts: readonly number[]; // distinct lines by set
  readonly lines: number;
  readonly used: number; // sets with at least one line
  readonly place: string;
  readonly from: number; // references of the pass
  readonly to: number;
  readonly stride: number; // bytes between turns, of the instruction with the largest
  readonly why: string; // why there is no pass; empty if there is
}

// AdviseAsk asks what to change, as `isobath advise` does.
export interface AdviseAsk {
  readonly machine: string;
  readonly set: string;
  readonly object: string;
  readonly kinds: readonly string[];
  readonly least: number; // 0 is the default
  readonly reassociate: boolean;
}

// SharingAsk asks which lines threads fight for, as `isobath sharing` does.
export interface SharingAsk {
  readonly where: string;
  readonly latency: number;
  readonly top: number;
}

// MachineAsk says what references are replayed on: the machine that is there and
// the one asked about, with a change of layout or order.
export interface MachineAsk {
  readonly machine: string; // empty: that of the run, else this one
  readonly line: number; // bytes of every line; 0: those of the machine
  readonly other: string; // empty: the same
  readonly set: string; // changes of the other machine
  readonly map: string; // change of layout or order; see 'isobath advise --show map'
}

// LocalityAsk asks for what the locality page shows. Level counts from 0.
export interface LocalityAsk extends MachineAsk {
  readonly where: string;
  readonly pair: readonly string[]; // objects: which lost a line, and to which; empty for none
  readonly loops: boolean; // whether rows of loops are wanted: they take another look at the trace
  readonly level: number;
  readonly stack: 'object' | 'line' | 'function' | 'none';
}

// LocalityAnswer is what the locality page shows of one selection.
export interface LocalityAnswer {
  readonly took: number;
  readonly machine: Machine;
  readonly whole: boolean; // these are all references of the trace
  readonly threads: number;
  readonly notes: readonly string[];
  // Presets are the machines built in.
  readonly presets: readonly string[];
  readonly now: MissCounts;
  readonly loops: readonly MissRow[]; // every reference with its innermost loop; empty unless asked for
  readonly byThread: readonly MissRow[];
  readonly evictions: Evictions;
  readonly struct: StructUse | null; // of the one selected object; null if it has no known fields
  readonly sets: SetUse;
  readonly then: LocalityThen | null; // null without a what if
}

// LocalityThen is the same references on the other machine or with the change.
export interface LocalityThen {
  readonly machine: Machine;
  readonly levels: readonly MissLevel[];
  // Placements is the least and most misses of each level over the places where
  // changed objects may come to lie.
  readonly placements: ReadonlyArray<readonly [number, number]>;
  readonly total: readonly number[]; // at the sizes of the curve
  readonly needs: readonly SizeNeed[];
  readonly reused_from: number;
  readonly struct: StructUse | null;
  readonly sets: SetUse | null;
}

// LocalityMapAsk asks for misses over time and addresses. Rows are slices of
// addresses for the objects named, in the same order.
export interface LocalityMapAsk extends LocalityAsk {
  readonly columns: number;
  readonly objects: readonly string[];
  readonly rows: readonly number[];
  readonly window: number; // references of the set in use
}

// LocalityMap is misses over time and addresses.
export interface LocalityMap {
  readonly columns: readonly ColumnRef[];
  readonly took: number;
  readonly width: number; // columns of cells
  readonly window: number;
  readonly lanes: readonly LocalityLane[];
  readonly set: Column; // distinct lines at the end of each column
  readonly chosen: Column; // of the selection
  readonly functions: Column;
  readonly names: readonly string[];
}

// LocalityLane is one object: misses by row and column, row by row.
export interface LocalityLane {
  readonly object: string;
  readonly bytes: number;
  readonly rows: number;
  readonly all: Column;
  readonly selected: Column;
}

// MachinesAsk asks for the misses on several machines, with and without a
// change.
export interface MachinesAsk {
  readonly machines: readonly string[];
  readonly map: string;
}

// MachineMisses is one machine.
export interface MachineMisses {
  readonly name: string;
  readonly model: string; // what its numbers rest on
  readonly levels: readonly MachineLevels[];
}

// MachineLevels is the misses of a level, recorded and with the change; equal
// without one.
export interface MachineLevels {
  readonly level: string;
  readonly bytes: number;
  readonly line_bytes: number;
  readonly now: number;
  readonly then: number;
  // The least and most with pages in random frames, and misses with an ideal
  // prefetcher and with none.
  readonly nowFrames: readonly [number, number];
  readonly nowPrefetch: readonly [number, number];
  readonly thenFrames: readonly [number, number];
  readonly thenPrefetch: readonly [number, number];
}

// PairedAsk asks which rows of two runs are of the same place: A is an earlier
// run, and the run that is asked is B.
export interface PairedAsk {
  readonly before: string; // the run A
  readonly a: readonly PlaceKey[];
  readonly b: readonly PlaceKey[];
}

// PlaceKey is what a row is about: a line, else a function, else an object. Other
// is what two rows of one such place must have alike, as the name of a field.
export interface PlaceKey {
  readonly file: string;
  readonly line: number;
  readonly function: string;
  readonly object: string;
  readonly other: string;
}

// Paired is for each row of A the index of the row of B that it is, −1 for none.
export interface Paired {
  readonly rows: readonly number[];
  // Unmatched are files whose lines could not be compared by their text.
  readonly unmatched: readonly string[];
}
