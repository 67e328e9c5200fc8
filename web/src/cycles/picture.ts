// Reads the binary drawing of a class.
import { Columns, header } from '../model/decode';
import type * as wire from '../model/wire';

export const EMPTY = 0xffff;

export interface Strip {
  readonly class: number;
  readonly low: Float32Array;
  readonly high: Float32Array;
}

export interface Drawing {
  readonly took: number;
  readonly first: number;
  readonly last: number;
  readonly whole: boolean;
  readonly lift: Float32Array;
  readonly other: Float32Array;
  readonly colour: Uint16Array;
  readonly point: Uint32Array;
  readonly polar: { readonly radii: number; readonly angles: number; readonly colour: Uint16Array } | undefined;
  readonly turns: Uint32Array;
  readonly every: number;
  readonly passes: Uint32Array;
  readonly byPass: readonly number[];
  readonly teeth: boolean;
  readonly strips: readonly Strip[];
  readonly ribbon: Uint16Array;
}

export function decodeDrawing(buffer: ArrayBuffer): Drawing {
  const { json, start } = header(buffer);
  const a = json as wire.SpiralAnswer;
  const c = new Columns(buffer, start, a.columns);
  return {
    took: a.took, first: a.first, last: a.last, whole: a.whole, every: a.every, byPass: a.byPass, teeth: a.teeth,
    lift: c.f32(a.lift), other: c.f32(a.otherLift), colour: c.u16(a.colour), point: c.u32(a.point),
    polar: a.polar ? { radii: a.polar.radii, angles: a.polar.angles, colour: c.u16(a.polar.colour) } : undefined,
    turns: c.u32(a.turns), passes: c.u32(a.passes),
    strips: a.strips.map((s) => ({ class: s.class, low: c.f32(s.low), high: c.f32(s.high) })),
    ribbon: c.u16(a.ribbon),
  };
}
