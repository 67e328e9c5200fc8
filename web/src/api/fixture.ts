// Small answers made by hand, for the tests of views.
import { readFileSync } from 'node:fs';
import type { AxisAnswer, GroupAnswer, PairAnswer, PlacesAnswer } from './decode';
import type { ColumnInfo, Info, Resource, Topology } from './wire';

type Schema = Pick<ColumnInfo, 'title' | 'head' | 'names' | 'cost' | 'axis' | 'axisPlace'>;
/** What the server says of canonical columns, written by its own tests. */
const SCHEMA = JSON.parse(
  readFileSync(new URL('./testdata/schema.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Schema>>;
const FOREIGN: Schema = { title: '', head: '', names: false, cost: 0, axis: '', axisPlace: 0 };

export function column(name: string, more: Partial<ColumnInfo> = {}): ColumnInfo {
  return {
    ...(SCHEMA[name] ?? FOREIGN),
    about: more.provenance === 'modelled' ? '≈ ' : '',
    name,
    kind: 'number',
    unit: '',
    provenance: 'measured',
    label: '',
    note: '',
    distinct: 10,
    missing: 0,
    min: 0,
    max: 9,
    idLike: false,
    ...more,
  };
}

const u32 = (n: readonly number[]): Uint32Array => Uint32Array.from(n);

export function names(
  column: string,
  labels: readonly string[],
  all: readonly number[],
  selected = all,
  more = 0,
): AxisAnswer {
  return {
    column,
    scale: 'rank',
    bins: labels.length,
    lo: 0,
    hi: 0,
    edges: new Float64Array(),
    labels,
    more,
    missing: all.length > labels.length,
    below: 0,
    above: 0,
    min: null,
    max: null,
    counts: [u32(all), u32(selected), u32(all.map(() => 0))],
  };
}

export function numbers(
  column: string,
  edges: readonly number[],
  all: readonly number[],
  more: Partial<AxisAnswer> = {},
): AxisAnswer {
  return {
    column,
    scale: 'linear',
    bins: edges.length - 1,
    lo: edges[0]!,
    hi: edges[edges.length - 1]!,
    edges: Float64Array.from(edges),
    labels: [],
    more: 0,
    missing: all.length > edges.length - 1,
    below: 0,
    above: 0,
    min: edges[0]!,
    max: edges[edges.length - 1]!,
    counts: [u32(all), u32(all), u32(all.map(() => 0))],
    ...more,
  };
}

export function pair(
  cells: readonly (readonly [left: number, right: number, all: number, selected: number, hovered: number])[],
): PairAnswer {
  return {
    left: Uint16Array.from(cells, (c) => c[0]),
    right: Uint16Array.from(cells, (c) => c[1]),
    counts: [u32(cells.map((c) => c[2])), u32(cells.map((c) => c[3])), u32(cells.map((c) => c[4]))],
  };
}

export function groups(
  keys: readonly (readonly string[])[],
  samples: readonly number[],
  sums: readonly number[],
  hovered = samples.map(() => 0),
): GroupAnswer {
  const f = (n: readonly number[]): Float64Array => Float64Array.from(n);
  return {
    total: samples.length,
    keys,
    counts: [u32(samples), u32(samples), u32(hovered)],
    sums: [f(sums), f(sums), f(hovered.map((h) => 10 * h))],
    squares: [f(sums), f(sums), f(sums)],
    valued: [u32(samples), u32(samples), u32(hovered)],
    distinct: [u32([]), u32([]), u32([])],
  };
}

/** A machine given as a list of [type, id, parent]. */
export function machine(rows: readonly (readonly [type: string, id: number, parent: number])[]): Topology {
  const resources = rows.map(([type, id, parent]): Resource => ({
    name: parent < 0 ? type : `${type}:${id}`,
    type,
    id,
    label: parent < 0 ? 'box' : `${type} ${id}`,
    parent,
    size: 0,
    cpus: type === 'CPU' ? 1 : 2,
    aside: false,
    blocked: false,
    virtual: false,
    note: '',
  }));
  const types = [...new Set(rows.map((r) => r[0]))];
  return {
    resources,
    levels: types.map((type) => ({ type, count: rows.filter((r) => r[0] === type).length })),
    without: [],
  };
}

/** Two nodes; the second has no L2: its CPUs hang on the node. */
export const LOPSIDED = machine([
  ['Machine', 0, -1],
  ['NUMA', 0, 0],
  ['NUMA', 1, 0],
  ['L2', 0, 1],
  ['L2', 1, 1],
  ['CPU', 0, 3],
  ['CPU', 1, 3],
  ['CPU', 2, 4],
  ['CPU', 3, 2],
]);

export function places(samples: readonly number[], links: readonly number[] = samples): PlacesAnswer {
  const f = Float64Array.from(samples, (n) => 10 * n);
  const none = new Uint32Array(samples.length);
  const s = u32(samples);
  return {
    samples: [s, s, none],
    latency: [f, f, new Float64Array(samples.length)],
    valued: [s, s, none],
    served: [s, s, none],
    servedLatency: [f, f, new Float64Array(samples.length)],
    servedValued: [s, s, none],
    linkSamples: [u32(links), u32(links), none],
    remote: {
      from: u32([]),
      to: u32([]),
      samples: [u32([]), u32([]), u32([])],
      latency: [new Float64Array(), new Float64Array(), new Float64Array()],
    },
    unplaced: [],
    hosts: [],
  };
}

export function info(columns: readonly ColumnInfo[], topology: Topology | null = null): Info {
  return {
    id: 'x',
    name: 'x',
    kind: 'samples',
    trace: false,
    parts: ['memory'],
    selectionsVersion: '',
    rows: 100,
    path: '',
    format: 'test',
    columns,
    topology,
    topologyNote: '',
    sources: [],
    warnings: [],
    caveats: [],
    origin: { host: '', command: [], time: '', tool: '' },
    selections: [],
    foreign: false,
    saved: true,
    savedIn: 'run',
    mesh: false,
    refs: false,
    linked: false,
    gaps: false,
    touches: false,
    allocations: false,
  };
}
