// The one module of scales and ticks: where a value lies between two ends, linear
// or logarithmic, round ends, and the values worth writing beside an axis or a
// ramp. Colours of amounts are in color.ts.
import { amountColor, type AmountMap } from './color';

/** Maps the amounts of one ring, strip or level to 0 … 1. */
export interface AmountScale {
  readonly lo: number;
  readonly hi: number;
  readonly t: (v: number) => number;
}

/**
 * A scale over the values of marks that have samples. If they differ by less
 * than a fifth it starts at 0, so that nearly equal resources look equal.
 */
export function amountScale(values: readonly number[]): AmountScale | undefined {
  if (values.length === 0) return undefined;
  let lo = Infinity;
  let hi = -Infinity;
  for (const v of values) {
    lo = Math.min(lo, v);
    hi = Math.max(hi, v);
  }
  if (hi > 0 && (hi - lo) / hi < 0.2) lo = 0;
  const span = hi - lo;
  return { lo, hi, t: (v) => (span > 0 ? (v - lo) / span : 1) };
}

export function amountFill(t: number, dark: boolean, map: AmountMap = 'viridis'): string {
  return amountColor(t, dark, map);
}

/** Amounts this low are nearly the background and get an outline. */
export const PALE = 0.14;

/** Round values (1, 2 or 5 times a power of ten apart), at most `most` of them, in lo … hi. */
export function linearTicks(lo: number, hi: number, most: number): number[] {
  if (!(hi > lo)) return [lo];
  const least = (hi - lo) / Math.max(1, most);
  for (let e = Math.floor(Math.log10(least)); ; e++) {
    for (const k of [1, 2, 5]) {
      // Whole multiples of the inverse keep 0.1 steps free of rounding dust.
      const step = e < 0 ? 10 ** -e / k : k * 10 ** e;
      const at = (i: number): number => (e < 0 ? i / step : i * step);
      const units = (v: number): number => (e < 0 ? v * step : v / step);
      const [first, last] = [Math.ceil(units(lo) - 1e-9), Math.floor(units(hi) + 1e-9)];
      if (last - first + 1 <= most)
        return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => at(first + i));
    }
  }
}

/** 1, 2, 5 times powers of ten; fewer kinds, then fewer powers, when there is less room. */
export function logTicks(lo: number, hi: number, most: number): number[] {
  if (!(lo > 0) || !(hi > lo)) return [];
  for (const kinds of [[1, 2, 5], [1, 3], [1]]) {
    const found: number[] = [];
    for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++) {
      for (const k of kinds) {
        const v = k * 10 ** e;
        if (v >= lo * (1 - 1e-9) && v <= hi * (1 + 1e-9)) found.push(Number(v.toPrecision(6)));
      }
    }
    if (found.length <= most) return found;
    if (kinds.length === 1) return everyNth(found, Math.ceil(found.length / Math.max(1, most)));
  }
  return [];
}

function everyNth(values: readonly number[], n: number): number[] {
  return values.filter((_, i) => i % n === 0);
}

/** Values between two ends: of a ramp, or of an axis of a plot. */
export interface NumberScale {
  readonly min: number;
  readonly max: number;
  readonly log: boolean;
}

export type ScaleKind = 'auto' | 'linear' | 'log';

/**
 * A scale from lo to hi; ends that were typed win. By itself it is logarithmic
 * where values span more than 30 : 1, and never where they reach zero.
 */
export function numberScale(lo: number, hi: number, kind: ScaleKind, min = '', max = ''): NumberScale {
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
export function placeOn(s: NumberScale, v: number): number {
  const t = s.log ? Math.log(v / s.min) / Math.log(s.max / s.min) : (v - s.min) / (s.max - s.min);
  return Number.isNaN(v) ? Number.NaN : v <= s.min ? 0 : v >= s.max ? 1 : t;
}

export function valueAt(s: NumberScale, t: number): number {
  return s.log ? s.min * (s.max / s.min) ** t : s.min + t * (s.max - s.min);
}

/** Round values inside the scale; a logarithmic one too short for two has linear ones. */
export function ticksOf(s: NumberScale, most = 6): number[] {
  const found = s.log ? logTicks(s.min, s.max, most) : [];
  return found.length > 1 ? found : linearTicks(s.min, s.max, most);
}

/** The end of a scale that begins at 0: the next round number over the largest value, at most a third above it. */
export function roundTop(largest: number): number {
  if (!(largest > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  for (const m of [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10]) {
    if (m * power >= largest * (1 - 1e-9)) return m * power;
  }
  return 10 * power;
}
