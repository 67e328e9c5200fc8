// The scales of amounts, and the ticks of axes.
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

/** 1, 2, 5 times powers of ten; fewer kinds when there is less room. */
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
  }
  return [];
}
