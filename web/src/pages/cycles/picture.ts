// Reads the binary drawings of a class.
import { Columns, header } from '../../api/decode';
import type * as wire from '../../api/wire';

export const EMPTY = 0xffff;

export interface Strip {
  readonly class: number;
  readonly low: Float32Array;
  readonly high: Float32Array;
}

/** Pixels of radius and angle: windows from first to last − 1, angles over span turns. */
export interface Pixels {
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly span: number;
  readonly radii: number;
  readonly angles: number;
  readonly colour: Uint16Array;
}

/** Windows one by one, or as pixels. */
export interface Walked {
  readonly first: number;
  readonly last: number;
  readonly lift: Float32Array;
  readonly other: Float32Array;
  readonly colour: Uint16Array;
  readonly point: Uint32Array;
  readonly polar: Pixels | undefined;
}

export interface Drawing extends Walked {
  readonly took: number;
  readonly turns: Uint32Array;
  readonly every: number;
  readonly passes: Uint32Array;
  readonly byPass: readonly number[];
  readonly teeth: boolean;
  readonly strips: readonly Strip[];
  readonly ribbon: Uint16Array;
  /** Windows of the loop by angle, and their most frequent colour. */
  readonly ring: Uint32Array;
  readonly ringColour: Uint16Array;
  readonly colours: readonly wire.Colour[];
  readonly groups: readonly wire.Colour[];
  readonly structures: readonly wire.Structure[];
  readonly selected: number; // references that keep their colour
  readonly unknown: string; // why it is not known which are selected
}

function walked(a: wire.Walked, c: Columns): Walked {
  const p = a.polar;
  return {
    first: a.first,
    last: a.last,
    lift: c.f32(a.lift),
    other: c.f32(a.otherLift),
    colour: c.u16(a.colour),
    point: c.u32(a.point),
    polar: p
      ? {
          first: a.first,
          last: a.last,
          from: p.from,
          span: p.span,
          radii: p.radii,
          angles: p.angles,
          colour: c.u16(p.colour),
        }
      : undefined,
  };
}

export function decodeSector(buffer: ArrayBuffer): Walked {
  const { json, start } = header(buffer);
  const a = json as wire.SectorAnswer;
  return walked(a, new Columns(buffer, start, a.columns));
}

export function decodeDrawing(buffer: ArrayBuffer): Drawing {
  const { json, start } = header(buffer);
  const a = json as wire.SpiralAnswer;
  const c = new Columns(buffer, start, a.columns);
  return {
    ...walked(a, c),
    took: a.took,
    every: a.every,
    byPass: a.byPass,
    teeth: a.teeth,
    colours: a.colours,
    groups: a.groups,
    structures: a.structures,
    selected: a.selected,
    unknown: a.unknown,
    turns: c.u32(a.turns),
    passes: c.u32(a.passes),
    strips: a.strips.map((s) => ({ class: s.class, low: c.f32(s.low), high: c.f32(s.high) })),
    ribbon: c.u16(a.ribbon),
    ring: c.u32(a.ring),
    ringColour: c.u16(a.ringColour),
  };
}
