// Made from the Go types of the messages by
// `go test ./internal/app/server -run WireTypes -update`. Do not edit.
import type { Axis, Column, ColumnRef, Group, Page, PerLayer, Scale, Stat } from './frame';

// Ask is one round of questions: the body of POST runs/{id}/ask. Filter, Where
// and Hover are texts of the selection language; empty means everything, and
// for Hover nothing.
export interface Ask {
  readonly filter?: string;
  readonly where?: string;
  readonly hover?: string;
  readonly axes?: readonly Axis[];
  readonly pairs?: readonly (readonly [number, number])[]; // indices into axes
  readonly groups?: readonly Group[];
  readonly stats?: readonly Stat[];
  readonly places?: boolean;
  readonly rows?: Page;
}

// Answer is the JSON header of the answer to an Ask; its columns follow it as
// binary data.
export interface Answer {
  readonly columns: readonly ColumnRef[];
  readonly where: string; // the selection in its standard form
  readonly filter: string; // and the filter
  // Counts is the rows in each layer; HoverAll those of the hover, selected
  // or not.
  readonly counts: readonly [number, number, number];
  readonly hoverAll: number;
  readonly took: number; // milliseconds the engine needed
  readonly axes: readonly AxisAnswer[];
  readonly pairs: readonly PairAnswer[];
  readonly groups: readonly GroupAnswer[];
  readonly stats: readonly StatAnswer[];
  readonly places: PlacesAnswer | null;
  readonly rows: RowsAnswer | null;
}

// AxisAnswer is the histogram of an axis. Numbers have Edges, one more than
// Bins; categories have Labels. Missing means that there is one more bin, the
// last, for rows without a value.
export interface AxisAnswer {
  readonly column: string;
  readonly scale: Scale;
  readonly bins: number;
  readonly lo: number;
  readonly hi: number;
  readonly edges: Column;
  readonly labels: readonly string[];
  readonly more: number; // names folded into the last label
  // Missing: see above. Below and Above are rows beyond Lo and Hi, counted in
  // the first and last bin.
  readonly missing: boolean;
  readonly below: number;
  readonly above: number;
  readonly min: number | null; // of all values; null if there are none
  readonly max: number | null;
  readonly counts: PerLayer; // u32
}

// PairAnswer is the cells of two axes that are not empty in layer All, by left,
// then right bin.
export interface PairAnswer {
  readonly left: Column; // u16
  readonly right: Column; // u16
  readonly counts: PerLayer; // u32
}

// GroupAnswer is ranked groups. Keys[i] holds the texts of column By[i], one a
// group; an empty text is a row without a value.
export interface GroupAnswer {
  readonly total: number; // groups before Top cut them
  readonly keys: readonly (readonly string[])[];
  readonly counts: PerLayer; // u32
  readonly sums: PerLayer; // f64
  readonly squares: PerLayer; // f64, sums of squares
  readonly valued: PerLayer; // u32, rows that have a value to sum
  readonly distinct: PerLayer; // u32
}

// StatAnswer is the distribution of a column. Each column of Quantiles has the
// quantiles asked for; the others have one value for each layer. Values of an
// empty layer are NaN.
export interface StatAnswer {
  readonly counts: Column; // u32
  readonly sums: Column; // f64
  readonly squares: Column; // f64
  readonly min: Column; // f64
  readonly max: Column; // f64
  readonly quantiles: PerLayer; // f64
}

// PlacesAnswer is the topology aggregate: a value for each resource, in the
// order of Topology.Resources. Samples, Latency and Valued are of all samples
// that belong to the resource, which is what `at NAME` selects: their path goes
// through it, or a CPU inside issued them. The Served ones are those it answered
// itself; caches and memory are coloured by these, what holds CPUs by the
// others. LinkSamples is the traffic between a resource and its parent.
export interface PlacesAnswer {
  readonly samples: PerLayer; // u32
  readonly latency: PerLayer; // f64
  readonly valued: PerLayer; // u32, samples with a latency
  readonly served: PerLayer; // u32
  readonly servedLatency: PerLayer; // f64
  readonly servedValued: PerLayer; // u32
  readonly linkSamples: PerLayer; // u32
  // Remote is traffic that left the CPU's own part of the machine: from the
  // last resource of its own to the one elsewhere, as resource indices.
  readonly remote: RemoteAnswer;
  // Unplaced are samples that have no place, with the reason.
  readonly unplaced: readonly Unplaced[];
  // Hosts are those of a cluster, the one most unlike the others first.
  readonly hosts: readonly HostDistance[];
}

// HostDistance is how far a host is from the median host in all its samples, in
// deviations of hosts, and the measure in which it is farthest.
export interface HostDistance {
  readonly resource: number;
  readonly distance: number;
  readonly measure: string;
}

// RemoteAnswer is one row for each pair of resources with such traffic.
export interface RemoteAnswer {
  readonly from: Column; // u32
  readonly to: Column; // u32
  readonly samples: PerLayer; // u32
  readonly latency: PerLayer; // f64
}

// Unplaced counts samples that cannot be placed on the topology.
export interface Unplaced {
  readonly reason: string;
  readonly counts: readonly [number, number, number];
}

// RowsAnswer is a page of the selected rows as texts.
export interface RowsAnswer {
  readonly columns: readonly string[];
  readonly index: readonly number[]; // row numbers
  readonly cells: readonly (readonly string[])[]; // one list a row
}

// Prepare is the body of POST runs/{id}/prepare: the axis about to be brushed,
// and what will be asked while the brush moves. Where of the Ask is the
// selection without that brush.
export interface Prepare {
  readonly axis: Axis;
  readonly ask: Ask;
}

// Search is the body of POST runs/{id}/search: an input of command search.
// Shown are the columns on the axes, which decides between show and hide. An
// empty text asks what is worth a look.
export interface Search {
  readonly text: string;
  readonly shown: readonly string[];
  readonly most?: number;
  // Filter is that of the page: counts are of the samples in it.
  readonly filter?: string;
  // Complete asks for every count, however long that takes.
  readonly complete?: boolean;
}

// Found is the answer to a Search, best first. Complete is false while a count
// is missing.
export interface Found {
  readonly suggestions: readonly Suggestion[];
  readonly complete: boolean;
}

// Why is the answer to GET runs/{id}/why?row=N: how the level of a sample was
// decided, in a sentence. With ?where=…&filter=… it is the first one that both
// match.
export interface Why {
  readonly row: number;
  readonly why: string;
}

// GuideInfo is what guided analysis can do for a run: metrics that its data
// supports, depths of its topology, and columns that can be an axis.
export interface GuideInfo {
  readonly metrics: readonly MetricInfo[];
  readonly depths: readonly string[];
  readonly axes: readonly string[];
  // MinSamples is the number of samples below which windows are not compared.
  readonly minSamples: number;
}

// MetricInfo describes a metric.
export interface MetricInfo {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly perDepth: boolean;
}

// AskStrip is the body of POST runs/{id}/metrics. Lo and Hi bound windows of
// equal width; both 0: all values of the column.
export interface AskStrip {
  readonly filter?: string;
  readonly where?: string;
  readonly axis: string;
  readonly metric: string;
  readonly depth?: string;
  readonly windows: number;
  readonly equalCount?: boolean;
  readonly lo?: number;
  readonly hi?: number;
}

// StripAnswer is a metric over windows of an axis.
export interface StripAnswer {
  readonly axis: string;
  readonly metric: string;
  readonly depth: string; // empty for a metric without
  readonly unit: string;
  readonly windows: readonly WindowAnswer[];
}

// WindowAnswer is one window; Value is null where no sample has one. Resources is
// how many resources of the depth have samples, and Few marks windows with too
// few samples to be compared.
export interface WindowAnswer {
  readonly from: number;
  readonly to: number;
  readonly samples: number;
  readonly value: number | null;
  readonly resources: number;
  readonly few: boolean;
  readonly where: string; // selects the window
}

// AskTree is the body of POST runs/{id}/clusters. The tree is cut into Cut
// clusters, or by Height, or Level merges below the root, where these are given.
export interface AskTree {
  readonly filter?: string;
  readonly where?: string;
  readonly axis: string;
  readonly metric: string;
  readonly depth?: string;
  readonly window?: number; // 0: the default
  readonly slide?: number; // 0: the default
  readonly cut?: number;
  readonly height?: number;
  readonly level?: number;
  // Top asks for the nodes that the last Top merges joined, in place of all
  // merges: enough to draw the upper part of a tree and to cut it again.
  readonly top?: number;
}

// TreeAnswer is a merge tree and its clusters. Leaves are numbered from 0 along
// the axis; merge i makes node Leaves+i.
export interface TreeAnswer {
  readonly axis: string;
  readonly metric: string;
  readonly depth: string;
  readonly unit: string;
  readonly window: number;
  readonly slide: number;
  readonly samples: number;
  readonly leaves: number;
  readonly merges: readonly MergeAnswer[];
  readonly clusters: readonly ClusterAnswer[];
  readonly nodes?: readonly NodeAnswer[]; // of the upper part, the root first
}

// NodeAnswer is a node of the upper part of a tree. A and B are the nodes it was
// merged from, -1 below that part; Height is null for leaves and where a part
// has no value.
export interface NodeAnswer extends ClusterAnswer {
  readonly a: number;
  readonly b: number;
  readonly height: number | null;
}

// MergeAnswer joins two neighbouring nodes. Distance is null where one has no
// value; Height is the largest distance in the subtree and never falls.
export interface MergeAnswer {
  readonly a: number;
  readonly b: number;
  readonly distance: number | null;
  readonly height: number | null;
}

// ClusterAnswer is one cluster: From and To are values of the axis, Begin and End
// positions in the sorted samples, End not included.
export interface ClusterAnswer {
  readonly from: number;
  readonly to: number;
  readonly samples: number;
  readonly value: number | null;
  readonly begin: number;
  readonly end: number;
  readonly node: number;
  readonly where: string;
}

// AskInsights is the body of POST runs/{id}/insights.
export interface AskInsights {
  readonly filter?: string;
  readonly where?: string;
}

// InsightsAnswer is what is worth a look, best first.
export interface InsightsAnswer {
  readonly insights: readonly InsightAnswer[];
}

// InsightAnswer is one finding. Stake, with its uncertainty, is what it is about and
// what people are shown; Score, stake × surprise × the weight of its kind, is what
// orders findings. View shows the evidence, set up by Axis, Metric and Depth.
export interface InsightAnswer {
  readonly kind: string;
  readonly text: string;
  readonly score: number;
  readonly where: string;
  readonly stake: number;
  readonly surprise: number;
  readonly weight: number;
  readonly view: 'topology' | 'code' | 'offenders' | 'axis' | 'parallel';
  readonly axis?: string;
  readonly metric?: string;
  readonly depth?: string;
  // Uncertainty is one standard deviation of the stake, which is a share of Of;
  // PartOf the kind of the nearest finding above without one, whose story this
  // one is a part of: both are about the same samples. Own is the part of the
  // stake that no finding above has.
  readonly uncertainty?: number;
  readonly partOf?: string;
  readonly of: string;
  readonly own: number;
}

// Action is what a suggestion does.
export type Action = 'select' | 'show' | 'hide' | 'correlate' | 'view' | 'color' | 'bins' | 'undo' | 'redo' | 'invert' | 'filter' | 'exclude' | 'export' | 'help' | 'open' | 'save' | 'link' | 'theme' | 'columns' | 'arrange';

// Suggestion is one thing to do.
export interface Suggestion {
  readonly text: string; // the command in full, as it could be typed
  readonly action: Action; // see Action
  readonly where: string; // what is selected, in the selection language; empty: everything, or nothing is selected
  readonly axes: readonly string[]; // the columns it is about
  readonly score: number; // 0 to 1
  readonly does: string; // a sentence of what will happen
  // Target is what a page action is about: a view, a metric, a number of
  // bins, a file format.
  readonly target?: string;
  // Selects says that running it changes the selection to Where.
  readonly selects: boolean;
  // Samples is how many samples Where selects; nil if it selects nothing or
  // they are not counted yet.
  readonly samples: number | null;
  // Missing says why the data cannot answer; such a suggestion does nothing.
  readonly missing?: string;
}

// Sharing says in which way a line is shared.
export type Sharing = 'private' | 'read only' | 'true' | 'false' | 'undecided';

// CacheLine is one cache line. Numbers count samples, not accesses.
export interface CacheLine {
  readonly addr: string; // of its first byte, as 0x…
  readonly pid: number | null; // null where addresses are physical or of one process
  readonly host?: string;
  readonly samples: number;
  readonly loads: number;
  readonly stores: number;
  readonly hitm: number; // loads that found the line modified elsewhere
  readonly remote: number; // served by another node
  readonly valued: number; // samples that have a latency
  readonly latency: number;
  // Contended counts the samples of all threads but the busiest one, if
  // several use the line and one of them writes.
  readonly contended: number;
  readonly cpus: readonly number[];
  readonly readers: readonly number[]; // threads
  readonly writers: readonly number[];
  readonly sharing: Sharing;
  readonly symbols: readonly string[];
  // ObjectOffset is how far the line lies behind the lowest one of its object that
  // was sampled, in bytes; null where nobody asked, or several objects share it.
  readonly object_offset?: number;
  readonly offsets: readonly LineOffset[];
}

// LineOffset is the samples at one place in a line.
export interface LineOffset {
  readonly offset: number;
  readonly width: number; // 0 if not known
  readonly samples: number;
  readonly loads: number;
  readonly stores: number;
  readonly hitm: number;
  readonly threads: readonly number[];
  readonly symbol?: string;
  readonly field?: string;
  readonly places: readonly string[]; // file:line of the code, most samples first
}

// CacheLines is the lines of a selection, the most contended first.
export interface CacheLines {
  readonly line_bytes: number;
  readonly physical: boolean; // addresses are physical
  readonly addressed: number; // samples with an address
  readonly group_count: number; // of all lines, listed or not
  readonly shared: number; // lines that several threads use
  readonly hitm: number;
  readonly has_snoop: boolean; // HITM was recorded
  readonly has_op: boolean; // loads and stores are told apart
  readonly groups: readonly CacheLine[];
}

// Spread is the distribution of one group.
export interface Spread {
  readonly label: readonly string[]; // one text a column; empty where a row has no value
  readonly samples: number;
  readonly levels: readonly LevelCount[]; // most samples first; none if none was recorded
  readonly distribution: Latencies | null; // null where no sample has one
}

// LevelCount is the samples with one name. Without a name none was recorded.
export interface LevelCount {
  readonly name: string;
  readonly samples: number;
}

// Latencies is a distribution. Quantiles are values of samples, never between
// two.
export interface Latencies {
  readonly samples: number;
  readonly sum: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  // Bins[k] counts latencies from 2^(k-1) up to but not including 2^k; the
  // first counts those below 1.
  readonly bins: readonly number[];
}

// Calls is what calls a function and what it calls, counted in samples. A
// function that is on a stack twice counts once.
export interface Calls {
  readonly function: string;
  // Total counts the samples in the function or in what it calls, Self those
  // in itself.
  readonly total: number;
  readonly self: number;
  readonly callers: readonly Call[];
  readonly callees: readonly Call[];
}

// Call is one of them. Function is empty at the bottom of the stack.
export interface Call {
  readonly function: string;
  readonly samples: number;
  readonly latency: number;
}

// CallWeight is what some samples weigh: their number, and the sum of the
// latencies of those that have one.
export interface CallWeight {
  readonly samples: number;
  readonly latency: number;
}

// CallNode is a function as it is reached by one path of calls. Nodes come depth
// first, the heaviest child first; Depth says whose child one is.
export interface CallNode {
  readonly function: string; // empty at the start of the stack
  readonly depth: number;
  readonly total: CallWeight; // in it and in what it calls
  readonly self: CallWeight;
  readonly selected: CallWeight; // of Total
  readonly hovered: CallWeight; // of Total
}

// CallFunction is a function wherever it is on a stack.
export interface CallFunction {
  readonly function: string;
  readonly total: CallWeight;
  readonly self: CallWeight;
}

// CallTree is where samples are by their call stacks. Without a function Callees
// are the paths from the start of the stack; with one they begin at it, and
// Callers are the paths that lead to it, its callers at depth 0.
//
// Below a function a sample counts once in each node that a part of its stack
// goes through, so with recursion children may weigh more than their parent.
export interface CallTree {
  readonly function: string;
  readonly path: readonly string[]; // the stacks below it are shown
  readonly value: string; // samples or latency: what nodes are ordered and left out by
  readonly total: CallWeight;
  readonly selected: CallWeight;
  readonly hovered: CallWeight;
  readonly callers: readonly CallNode[];
  readonly callees: readonly CallNode[];
  readonly left: number; // nodes that are too light to be listed
  readonly functions: readonly CallFunction[]; // the heaviest
}

// AskCallTree asks for samples by their call stacks: POST runs/{id}/calltree,
// answered by CallTree. Where are the samples of the picture, Select and Hover
// (nothing: none) those among them that are drawn as such.
export interface AskCallTree {
  readonly filter?: string;
  readonly where?: string;
  readonly select?: string;
  readonly hover?: string;
  readonly function?: string; // whose callers and callees; none: all calls
  readonly path?: readonly string[]; // only what is called through these
  readonly value: string; // samples or latency: the order, and what is too light
  readonly most: number; // nodes in each direction
}

// Gap is a stretch of time, or several close to each other.
export interface Gap {
  readonly kind: string; // lost, throttled, trace cut, multiplexed
  readonly from: number; // on the time axis of the samples
  readonly to: number;
  // Times is how often it happened; of a shared counter, how many samples say so.
  readonly times: number;
  // Records is how many were lost; 0 where that is not known.
  readonly records: number;
  readonly cpus: readonly number[]; // none if not said
  // Counting is the least share of the time in which a shared counter ran.
  readonly counting: number;
}

// Touched is how the pages of one data object came into memory. Objects of one name
// in several processes are several objects.
export interface Touched {
  readonly symbol: string;
  readonly pid: number | null; // null where all pages are of one process
  readonly host?: string;
  readonly pages: number;
  // Nodes and Threads count its pages by who touched them first.
  readonly nodes: readonly PageCount[];
  readonly threads: readonly PageCount[];
  // Samples are accesses to the object, those of a process that is not known
  // in none of several; Known those whose page was seen to
  // be touched, and Away those of them on another node than its page.
  readonly samples: number;
  readonly known: number;
  readonly away: number;
}

// PageCount is a number of pages.
export interface PageCount {
  readonly id: number;
  readonly pages: number;
}

// Allocations is what a program allocated.
export interface Allocations {
  // Calls and Bytes are all allocations that were counted, and Peak the most bytes
  // of them that lived at once in one process, as far as they were logged. Small
  // ones are an estimate and in neither.
  readonly calls: number;
  readonly bytes: number;
  readonly peak: number;
  readonly small_calls: number;
  readonly small_bytes: number;
  // Samples are those of the whole run; InAllocations are in memory of these places.
  readonly samples: number;
  readonly in_allocations: number;
  readonly cost_unit: string;
  readonly site_count: number;
  readonly sites: readonly AllocationSite[];
}

// AllocationSite is a place that allocates: a chain of calls.
export interface AllocationSite {
  // Frames are the calls, innermost first. Allocation is the line of the innermost
  // that has one; Symbols are names of objects that were made there.
  readonly frames: readonly AllocationFrame[];
  readonly allocation?: string;
  readonly symbols: readonly string[];
  readonly processes: number;
  // Calls and Bytes are measured; Summed of these were counted and not logged.
  readonly calls: number;
  readonly bytes: number;
  readonly summed: number;
  readonly summed_bytes: number;
  readonly freed: number; // of the logged ones
  // Peak is the most bytes that lived at once in one process, in PeakCalls
  // allocations; it may be more if PeakAtLeast. AtPeak are the bytes when the
  // program had most, AtEnd those that were never freed.
  readonly peak: number;
  readonly peak_calls: number;
  readonly peak_at_least: boolean;
  readonly at_peak: number;
  readonly at_end: number;
  // Lifetime is the median of the logged ones in ns; null if most of them were
  // never freed or none is logged.
  readonly lifetime: number | null;
  // SmallCalls and SmallBytes are allocations below the threshold, estimated from
  // SmallSeen that were looked at.
  readonly small_calls: number;
  readonly small_bytes: number;
  readonly small_seen: number;
  // Samples are accesses to what was logged, Share their share of all samples, and
  // Cost what they cost.
  readonly samples: number;
  readonly reads: number;
  readonly writes: number;
  readonly cost: number;
  readonly share: number;
}

// AllocationFrame is one call.
export interface AllocationFrame {
  readonly function: string;
  readonly file?: string;
  readonly line?: number;
}

// AskLines asks for the cache lines of a selection, most contended first:
// POST runs/{id}/cachelines. Side, of a pair, is the run that they are of: lines
// then have their place in their object, by which those of both runs are matched.
export interface AskLines {
  readonly filter?: string;
  readonly where?: string;
  readonly side?: string; // A or B
  readonly top?: number;
}

// AskSpread asks how groups spread over levels and latencies: POST
// runs/{id}/spread, answered by Spreads.
export interface AskSpread {
  readonly filter?: string;
  readonly where?: string;
  readonly by: readonly string[];
  readonly top?: number;
}

// Spreads is the answer to AskSpread. Provenance is that of the latencies.
export interface Spreads {
  readonly by: readonly string[];
  readonly unit: string;
  readonly provenance: string;
  readonly groups: readonly Spread[];
}

// AskCalls asks who calls a function and what it calls: POST runs/{id}/calls.
// Without a function it is the one with the most samples of its own.
export interface AskCalls {
  readonly filter?: string;
  readonly where?: string;
  readonly function?: string;
}

// AskAssembly asks for the machine code around a source line: POST
// runs/{id}/assembly.
export interface AskAssembly {
  readonly filter?: string;
  readonly where?: string;
  readonly file: string;
  readonly line: number;
  readonly function?: string; // of those that the line is in
}

// ObjectNames is the sentences that say what objects are: GET and PUT
// runs/{id}/names.
export interface ObjectNames {
  readonly text: string;
  // Saved is false where they cannot be kept.
  readonly saved: boolean;
}

// Gaps is the answer to GET runs/{id}/gaps: when samples are missing or stand
// for more than they count, in order of time.
export interface Gaps {
  readonly gaps: readonly Gap[];
}

// Touches is the answer to GET runs/{id}/touches: who touched the pages of each
// data object first, those with most pages first. Of the whole run, whatever is
// selected.
export interface Touches {
  readonly pages: number;
  readonly objects: readonly Touched[];
}

// HeatRow is a line of the grid: one value of the column, several neighbouring
// numbers, or the names that are not among the commonest.
export interface HeatRow {
  readonly name: string; // as the column has it; of several numbers the first
  readonly last: string; // of several numbers the last; otherwise empty
  readonly values: number; // that the row stands for
  readonly rest: boolean; // the names that have no row of their own
  readonly samples: number;
}

// AskHeatmap asks for samples over time and over the values of a column: POST
// runs/{id}/heatmap, answered by Heatmap. Lo = Hi = 0 is the whole time axis;
// values beyond Rows are joined. Along is a column in place of time. Side, of a
// pair, counts one run alone, in the rows that both have together; its windows of
// time are parts of that run.
export interface AskHeatmap {
  readonly filter?: string;
  readonly where?: string;
  readonly by: string;
  readonly along?: string;
  readonly side?: string; // A or B
  readonly windows: number;
  readonly rows: number;
  readonly lo?: number;
  readonly hi?: number;
}

// Heatmap is the JSON header of the answer to AskHeatmap. A cell is at
// row*windows+window of each column.
export interface Heatmap {
  readonly columns: readonly ColumnRef[];
  readonly by: string;
  readonly edges: Column; // f64, of windows, one more than there are
  readonly rows: readonly HeatRow[];
  readonly samples: Column; // u32
  readonly sums: Column; // f64, of latency; empty where none was recorded
  readonly valued: Column; // u32, samples with a latency
  readonly levels: readonly string[]; // an empty name is "not recorded"
  readonly mix: readonly Column[]; // u32, samples of each level
  readonly missing: number; // selected samples without a time or a value
}

// AskResources asks for a measure (sum, mean, deviation, largest, count or
// distinct) of any column over the samples of each resource: POST
// runs/{id}/resources, answered by ResourceAmounts.
export interface AskResources {
  readonly filter?: string;
  readonly where?: string;
  readonly column: string;
  readonly measure: string;
}

// ResourceAmounts is a number for each resource that the page has of the run's
// topology, in its order: of the samples that belong to it and of those that it served. Samples say
// how many values a number rests on, 0 where there is none; AtLeast that there were
// more distinct values than can be told apart.
export interface ResourceAmounts {
  readonly name: string;
  readonly unit: string;
  readonly provenance: string;
  readonly atLeast: boolean;
  readonly columns: readonly ColumnRef[];
  readonly passed: Column; // f64
  readonly passedSamples: Column; // u32
  readonly served: Column; // f64
  readonly servedSamples: Column; // u32
}

// AskCompare asks how this run, A, differs from another one that is open, B: POST
// runs/{id}/compare.
export interface AskCompare {
  readonly with: string; // the id of B; empty for a pair, whose runs are A and B
  // By are the columns of the groups; a line needs its file before it.
  readonly by: readonly string[];
  readonly metric?: string; // cost, share, samples, mean or a level; empty: cost
  readonly where?: string; // in both
  readonly top?: number; // the largest changes; 0: all
}

// Compared is how two runs differ. Absent numbers are not known.
export interface Compared {
  readonly sentence: string;
  readonly limits: string; // what could not have been seen
  readonly metric: string;
  readonly unit: string;
  readonly modelled: boolean; // costs and means rest on a model
  readonly design: string;
  // Of sides of several runs, what each run costs.
  readonly runsA?: readonly RunCost[];
  readonly runsB?: readonly RunCost[];
  readonly tested: number;
  readonly whole: ComparedRow;
  readonly small?: ComparedRow; // groups too small to be tested alone
  readonly groups: readonly ComparedRow[];
  readonly count: number; // of groups, before Top
  readonly warnings: readonly string[];
}

// RunCost is what one run of a side costs.
export interface RunCost {
  readonly name: string;
  readonly cost: number;
}

// ComparedRow is the same thing in both runs.
export interface ComparedRow {
  readonly label: string;
  readonly keyA?: readonly string[]; // as A calls it; absent where it has none
  readonly keyB?: readonly string[];
  readonly matched?: string; // equal, modified, moved, by number, only a, only b
  readonly a: ComparedCell;
  readonly b: ComparedCell;
  // Ratio is B ÷ A of what is compared, with its interval.
  readonly ratio?: number;
  readonly low?: number;
  readonly high?: number;
  readonly verdict: string; // more, less, same or unsure
  readonly mark?: string;
  readonly detectable?: number;
  readonly groups?: number; // that the row stands for
}

// ComparedCell is one group in one run.
export interface ComparedCell {
  readonly samples: number;
  readonly cost: number;
  readonly share: number;
  readonly mean?: number;
}

// AskChanges asks what changed between the runs of a pair: POST
// runs/{a},{b}/changes.
export interface AskChanges {
  readonly where?: string; // in common names
}

// WhatChanged is what changed, most important first.
export interface WhatChanged {
  readonly sentence: string; // about the whole runs
  readonly limits: string; // what could not have been seen
  readonly changes: readonly FoundChange[];
  readonly nothing: string; // said where there are none
  readonly modelled: boolean;
  readonly warnings: readonly string[];
}

// FoundChange is one finding of what changed.
export interface FoundChange {
  readonly kind: 'moved-level' | 'new' | 'gone' | 'dearer' | 'cheaper' | 'rebalanced' | 'placed';
  readonly by: readonly string[];
  readonly text: string;
  readonly share: number; // of all change of its kind
  readonly score: number;
  readonly sure: boolean;
  readonly where: string; // the samples; empty: all
}

// MatchedLines is which line of A each line of a source file was: GET
// runs/{a},{b}/matched. Without lines they were not matched by content.
export interface MatchedLines {
  readonly file: string;
  readonly fileA: string;
  readonly lines: readonly number[]; // by line of B; 0 has none
  readonly how: readonly string[];
  readonly gone: readonly GoneLine[];
  readonly from: readonly LineFrom[]; // lines that were in another file than FileA
  // TextA is the text of FileA as A has it; empty if that is not known.
  readonly textA: string;
  readonly left: readonly LineIn[]; // lines of FileA that are in another file of B
}

// LineIn is a line of A and the line of another file of B that it is now.
export interface LineIn {
  readonly line: number;
  readonly file: string;
  readonly in: number;
}

// LineFrom is a line of B and the file of A that it was in.
export interface LineFrom {
  readonly line: number;
  readonly file: string;
}

// GoneLine is a line that only A has, and the line of B that it stood before.
export interface GoneLine {
  readonly line: number;
  readonly before: number;
  readonly text: string;
}

// Assembly is the code of one function. Functions are all that the line is in:
// it may have been inlined into several. Partial says that only sampled
// instructions are known, because the program was not at hand at import.
export interface Assembly {
  readonly function: string;
  readonly functions: readonly string[];
  readonly module: string;
  readonly partial: boolean;
  readonly instructions: readonly Instruction[];
}

// Instruction is one line of assembly. Samples and Latency are of the
// selection.
export interface Instruction {
  readonly addr: string;
  readonly text: string;
  readonly file: string;
  readonly line: number; // 0 if not known
  readonly samples: number;
  readonly latency: number;
}
