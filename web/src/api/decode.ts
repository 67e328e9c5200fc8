// Reads the binary answers of the server; docs/formats.md gives the layout.

import type * as wire from './wire';

export type Data = Uint16Array | Uint32Array | BigUint64Array | Float64Array;

// What PerLayer becomes: all, selected, hovered. A layer that was not asked for
// is empty.
export type Layered<T extends Data> = readonly [T, T, T];

export const ALL = 0;
export const SELECTED = 1;
export const HOVERED = 2;

/**
 * Every part of an answer says by a text which rows and which question it is
 * about, the hover left out: two parts with the same text have the same numbers in
 * the layers "all" and "selected". The store writes it.
 */
export interface Part {
  readonly still?: string;
}

export interface AxisAnswer extends Omit<wire.AxisAnswer, 'edges' | 'counts'>, Part {
  readonly edges: Float64Array;
  readonly counts: Layered<Uint32Array>;
  /** What the other of two runs has in the same bins; the page puts it there. */
  readonly beside?: Layered<Uint32Array>;
}

export interface PairAnswer extends Part {
  readonly left: Uint16Array;
  readonly right: Uint16Array;
  readonly counts: Layered<Uint32Array>;
}

export interface GroupAnswer extends Part {
  readonly total: number;
  readonly keys: readonly (readonly string[])[];
  readonly counts: Layered<Uint32Array>;
  readonly sums: Layered<Float64Array>;
  readonly squares: Layered<Float64Array>;
  readonly valued: Layered<Uint32Array>;
  readonly distinct: Layered<Uint32Array>;
  /** What the other of two runs has of the same groups; the page puts it there. */
  readonly beside?: Pick<GroupAnswer, 'counts' | 'sums' | 'valued'>;
}

export interface StatAnswer extends Part {
  readonly counts: Uint32Array;
  readonly sums: Float64Array;
  readonly squares: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly quantiles: Layered<Float64Array>;
}

export interface PlacesAnswer extends Part {
  readonly samples: Layered<Uint32Array>;
  readonly latency: Layered<Float64Array>;
  readonly valued: Layered<Uint32Array>;
  readonly served: Layered<Uint32Array>;
  readonly servedLatency: Layered<Float64Array>;
  readonly servedValued: Layered<Uint32Array>;
  readonly linkSamples: Layered<Uint32Array>;
  readonly remote: {
    readonly from: Uint32Array;
    readonly to: Uint32Array;
    readonly samples: Layered<Uint32Array>;
    readonly latency: Layered<Float64Array>;
  };
  readonly unplaced: readonly wire.Unplaced[];
  /** Of a cluster, the one most unlike the others first. */
  readonly hosts: readonly wire.HostDistance[];
}

export interface Answer extends Omit<
  wire.Answer,
  'columns' | 'axes' | 'pairs' | 'groups' | 'stats' | 'places'
> {
  readonly axes: readonly AxisAnswer[];
  readonly pairs: readonly PairAnswer[];
  readonly groups: readonly GroupAnswer[];
  readonly stats: readonly StatAnswer[];
  readonly places: PlacesAnswer | undefined;
}

/** Whether a selection and the hover are the same samples, as after a click: nothing to tell apart. */
export function selectionHovered(a: Answer | undefined): boolean {
  return a !== undefined && a.where !== '' && a.counts[HOVERED] === a.counts[SELECTED];
}

const MAGIC = 0x424f5349; // "ISOB", little-endian

// The columns of one message. Typed arrays share its buffer: nothing is copied.
export class Columns {
  constructor(
    private readonly buffer: ArrayBuffer,
    private readonly start: number,
    private readonly refs: readonly wire.ColumnRef[],
  ) {}

  u16(c: wire.Column): Uint16Array {
    return new Uint16Array(this.buffer, this.at(c, 'u16'), this.refs[c]!.length);
  }
  /** Numbers that fit may travel in two bytes. */
  u32(c: wire.Column): Uint32Array {
    if (this.refs[c]?.type === 'u16') return new Uint32Array(this.u16(c));
    return new Uint32Array(this.buffer, this.at(c, 'u32'), this.refs[c]!.length);
  }
  f32(c: wire.Column): Float32Array {
    return new Float32Array(this.buffer, this.at(c, 'f32'), this.refs[c]!.length);
  }
  f64(c: wire.Column): Float64Array {
    return new Float64Array(this.buffer, this.at(c, 'f64'), this.refs[c]!.length);
  }
  u32s([a, b, c]: wire.PerLayer): Layered<Uint32Array> {
    const all = this.u32(a);
    const selected = b === a ? all : this.u32(b);
    return [all, selected, c === b ? selected : this.u32(c)];
  }
  f64s([a, b, c]: wire.PerLayer): Layered<Float64Array> {
    return [this.f64(a), this.f64(b), this.f64(c)];
  }

  private at(c: wire.Column, type: string): number {
    const ref = this.refs[c];
    if (ref?.type !== type)
      throw new Error(`answer: column ${c} is ${ref?.type ?? 'missing'}, expected ${type}`);
    return this.start + ref.offset;
  }
}

// header splits a message into its JSON header and the start of its columns.
export function header(buffer: ArrayBuffer): { readonly json: unknown; readonly start: number } {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8 || view.getUint32(0, true) !== MAGIC) {
    throw new Error('answer: it does not start with ISOB; is this an isobath server?');
  }
  const length = view.getUint32(4, true);
  if (8 + length > buffer.byteLength) throw new Error('answer: it ends inside its header');
  const json: unknown = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  return { json, start: (8 + length + 7) & ~7 };
}

// decode reads the answer to an Ask.
export function decode(buffer: ArrayBuffer): Answer {
  const { json, start } = header(buffer);
  const { columns: refs, ...rest } = json as wire.Answer;
  const columns = new Columns(buffer, start, refs);
  return {
    ...rest,
    axes: rest.axes.map((a) => ({ ...a, edges: columns.f64(a.edges), counts: columns.u32s(a.counts) })),
    pairs: rest.pairs.map((p) => ({
      left: columns.u16(p.left),
      right: columns.u16(p.right),
      counts: columns.u32s(p.counts),
    })),
    groups: rest.groups.map((g) => ({
      ...g,
      counts: columns.u32s(g.counts),
      sums: columns.f64s(g.sums),
      squares: columns.f64s(g.squares),
      valued: columns.u32s(g.valued),
      distinct: columns.u32s(g.distinct),
    })),
    stats: rest.stats.map((s) => ({
      counts: columns.u32(s.counts),
      sums: columns.f64(s.sums),
      squares: columns.f64(s.squares),
      min: columns.f64(s.min),
      max: columns.f64(s.max),
      quantiles: columns.f64s(s.quantiles),
    })),
    places: rest.places ? places(columns, rest.places) : undefined,
  };
}

function places(columns: Columns, p: wire.PlacesAnswer): PlacesAnswer {
  return {
    samples: columns.u32s(p.samples),
    latency: columns.f64s(p.latency),
    valued: columns.u32s(p.valued),
    served: columns.u32s(p.served),
    servedLatency: columns.f64s(p.servedLatency),
    servedValued: columns.u32s(p.servedValued),
    linkSamples: columns.u32s(p.linkSamples),
    remote: {
      from: columns.u32(p.remote.from),
      to: columns.u32(p.remote.to),
      samples: columns.u32s(p.remote.samples),
      latency: columns.f64s(p.remote.latency),
    },
    unplaced: p.unplaced,
    hosts: p.hosts,
  };
}
