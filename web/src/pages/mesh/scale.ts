// The colours of values on a mesh: a range, linear or logarithmic, on viridis
// without a pale foot (look-pages: a closed surface beside grey).
import { mapColor, parseColor } from '../../base/color';
import type { ScaleKind } from './state';

export interface Scale {
  readonly min: number;
  readonly max: number;
  readonly log: boolean;
}

export const STEPS = 256; // colours of the ramp

/** Logarithmic by itself where values span more than 30 : 1. */
export function makeScale(lo: number, hi: number, kind: ScaleKind, min = '', max = ''): Scale {
  let a = min === '' ? lo : Number(min);
  let b = max === '' ? hi : Number(max);
  if (!Number.isFinite(a)) a = 0;
  if (!Number.isFinite(b)) b = a + 1;
  if (a > b) [a, b] = [b, a];
  const log = a > 0 && (kind === 'log' || (kind === 'auto' && b > 30 * a));
  if (a === b) b = a === 0 ? 1 : a + Math.abs(a) * 1e-6;
  return { min: a, max: b, log };
}

/** Where a value lies on the scale: 0 … 1, NaN without a value. */
export function place(s: Scale, v: number): number {
  const t = s.log ? Math.log(v / s.min) / Math.log(s.max / s.min) : (v - s.min) / (s.max - s.min);
  return Number.isNaN(v) ? Number.NaN : v <= s.min ? 0 : v >= s.max ? 1 : t;
}

export function valueAt(s: Scale, t: number): number {
  return s.log ? s.min * (s.max / s.min) ** t : s.min + t * (s.max - s.min);
}

/** The colour at 0 … 1. */
export function meshColor(t: number, dark: boolean): string {
  return mapColor('viridis', dark ? 0.06 + 0.94 * t : 1 - t);
}

/** The ramp as bytes, for the graphics card. */
export function ramp(dark: boolean): Uint8Array {
  const out = new Uint8Array(4 * STEPS);
  for (let i = 0; i < STEPS; i++) out.set([...parseColor(meshColor(i / (STEPS - 1), dark)), 255], 4 * i);
  return out;
}

/** 1-3-10 on a logarithmic scale, 1-2-5 on a linear one. */
export function ticks(s: Scale, most = 8): number[] {
  const out: number[] = [];
  if (s.log) {
    const decades = Math.log10(s.max / s.min);
    for (let e = Math.floor(Math.log10(s.min)); e <= Math.ceil(Math.log10(s.max)); e++) {
      for (const m of decades <= 3.5 ? [1, 3] : [1]) {
        const v = m * 10 ** e;
        if (v >= s.min * 0.999 && v <= s.max * 1.001) out.push(v);
      }
    }
    const every = Math.max(1, Math.ceil(out.length / most));
    if (out.length > 1) return out.filter((_, i) => i % every === 0);
    out.length = 0;
  }
  const raw = (s.max - s.min) / 5;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((v) => v >= raw)!;
  for (let i = Math.ceil(s.min / step - 1e-9); i * step <= s.max + step * 1e-9; i++) out.push(i * step + 0); // never -0
  return out;
}
