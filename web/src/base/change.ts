// Colours of a difference: green is less, purple is more, pale in the middle. A
// sign or a side of a centre line always says the same.
import { mix } from './color';
import type { Hatch, Paint } from './renderer';
import type { Theme } from './theme';

export function smooth(a: number, b: number, t: number): number {
  const x = Math.max(0, Math.min(1, (t - a) / (b - a)));
  return x * x * (3 - 2 * x);
}

const STEPS = 256;
const tables = new WeakMap<Theme, readonly string[]>();

/** From the most less to the most more. */
export function changeTable(theme: Theme): readonly string[] {
  let known = tables.get(theme);
  if (!known) {
    known = Array.from({ length: 2 * STEPS + 1 }, (_, i) => {
      const t = i / STEPS - 1;
      const size = Math.abs(t);
      return mix(theme.foot, t > 0 ? theme.more : theme.less, smooth(0, 0.28, size) * (0.35 + 0.65 * size));
    });
    tables.set(theme, known);
  }
  return known;
}

/** The fill of a difference t in −1 … 1. */
export function changeColor(theme: Theme, t: number): string {
  return changeTable(theme)[Math.round(STEPS * (1 + Math.max(-1, Math.min(1, t))))]!;
}

/** The fill of a bar whose side says how much. */
export function changeBar(theme: Theme, sign: number): string {
  return mix(theme.bg, sign > 0 ? theme.more : theme.less, 0.75);
}

/** A bar that noise may explain: hatched, not hidden. */
export function noiseHatch(theme: Theme, sign: number): Hatch {
  return { line: changeBar(theme, sign), width: 1.1, period: 4, ground: theme.bg };
}

export function barPaint(theme: Theme, sign: number, sure: boolean): Paint {
  if (sure) return { fill: changeBar(theme, sign) };
  return { hatch: noiseHatch(theme, sign), stroke: changeBar(theme, sign), width: 1 };
}
