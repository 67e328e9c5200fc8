// Colours of lateness, and times in words; look-pages.md gives the formula.
import { decimal, short, THIN } from '../../base/format';
import { mapColor, mix, parseColor } from '../../base/color';
import { changeTable, smooth } from '../../base/change';
import type { Theme } from '../../base/theme';

const STEPS = 256;
const tables = new WeakMap<Theme, readonly string[]>();

function table(theme: Theme): readonly string[] {
  let known = tables.get(theme);
  if (!known) {
    known = Array.from({ length: STEPS + 1 }, (_, i) => {
      const t = i / STEPS;
      return mix(theme.foot, mapColor('viridis', theme.dark ? 0.12 + 0.88 * t : 1 - t), smooth(0, 0.28, t));
    });
    tables.set(theme, known);
  }
  return known;
}

/** The colour of a lateness t in 0 … 1: pale on time, so that colour means late. */
export function latenessColor(theme: Theme, t: number): string {
  return table(theme)[Math.round(STEPS * Math.max(0, Math.min(1, t)))]!;
}

const packed = new WeakMap<Theme, Uint32Array>();

/** The same colours as RGBA for little-endian pixels. */
export function latenessPixels(theme: Theme): Uint32Array {
  let known = packed.get(theme);
  if (!known) {
    known = Uint32Array.from(table(theme), pack);
    packed.set(theme, known);
  }
  return known;
}

/** Colours of amounts from the low end of the scale to its top, for pixels. */
export function amountPixels(theme: Theme, signed: boolean): Uint32Array {
  return signed ? Uint32Array.from(changeTable(theme), pack) : latenessPixels(theme);
}

function pack(color: string): number {
  const [r, g, b] = parseColor(color);
  return (255 << 24) | (b << 16) | (g << 8) | r;
}

const GROUP_TOKENS = [
  'rest-bar',
  'cat-1',
  'cat-6',
  'cat-3',
  'cat-4',
  'cat-2',
  'cat-7',
  'cat-5',
  'rest',
] as const;

/** The colour of a kind of work; computing is grey, so that colour means calls. */
export function groupColor(theme: Theme, group: number): string {
  return theme[GROUP_TOKENS[group] ?? 'rest'];
}

export function partitionColor(theme: Theme, part: number): string {
  return [
    theme['cat-1'],
    theme['cat-2'],
    theme['cat-3'],
    theme['cat-4'],
    theme['cat-5'],
    theme['cat-6'],
    theme['cat-7'],
  ][part % 7]!;
}

/** A time with three digits and its unit: 3.45 ms. */
export function time(ns: number): string {
  const size = Math.abs(ns);
  const [scale, unit] =
    size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const v = ns / scale;
  const digits = unit === 'ns' ? 0 : Math.abs(v) >= 99.95 ? 0 : Math.abs(v) >= 9.995 ? 1 : 2;
  return `${decimal(v, digits)}${THIN}${unit}`;
}

/** Milliseconds alone, for columns whose head has the unit. */
export function milliseconds(ns: number): string {
  return decimal(ns / 1e6, 2);
}

/** A unit that suits values up to the largest, and the divisor for it. */
export function timeUnit(largest: number): { readonly factor: number; readonly unit: string } {
  if (largest >= 1e9) return { factor: 1e9, unit: 's' };
  if (largest >= 1e6) return { factor: 1e6, unit: 'ms' };
  if (largest >= 1e3) return { factor: 1e3, unit: 'µs' };
  return { factor: 1, unit: 'ns' };
}

/** How amounts of a metric are written: times, or numbers with the unit of a measure. */
export type Write = (v: number) => string;

/** A measure of the trace: 1.02 M cycles. */
export function measured(unit: string): Write {
  return (v) =>
    Number.isNaN(v)
      ? 'no value'
      : `${Math.abs(v) < 1000 && !Number.isInteger(v) ? decimal(v, 2) : short(v)}${unit ? THIN + unit : ''}`;
}

/** A time with its sign: +3.45 ms. */
export function change(ns: number): string {
  return Number.isNaN(ns) ? 'no partner' : `${ns > 0 ? '+' : ''}${time(ns)}`;
}
