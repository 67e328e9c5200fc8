// The columns of a study as axes: where a run lies on one, and which runs a brush
// keeps.
import type { StudyAnswer, StudyColumn } from '../../api/wire';
import { placeOn, ticksOf, type NumberScale } from '../../base/scale';
import { scaleOver } from './plot';
import { value } from './words';

export interface Axis {
  readonly name: string;
  readonly parameter: boolean;
  /** 0 … 1 of each run; NaN where it has no value. */
  readonly places: readonly number[];
  readonly texts: readonly string[];
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
  readonly scale: NumberScale | undefined; // of numbers
}

const FIRST_METRICS = 7;

/** Whether a column tells runs apart, and at least half of them have it. */
function varies(c: StudyColumn): boolean {
  const all: readonly (string | number | null)[] = c.texts.length > 0 ? c.texts : c.numbers;
  const known = all.filter((v) => v !== null && v !== '');
  return 2 * known.length >= all.length && new Set(known).size > 1;
}

const MOST_TICKS = 6;

/** The values themselves where they are few. */
function ticksAlong(numbers: readonly number[], scale: NumberScale): Axis['ticks'] {
  const values = [...new Set(numbers.filter(Number.isFinite))];
  const at = values.length <= MOST_TICKS ? values : ticksOf(scale, MOST_TICKS);
  return at.map((v) => ({ at: placeOn(scale, v), text: value(v) }));
}

/** The axes that a study begins with. */
export function firstAxes(study: StudyAnswer): readonly string[] {
  const shown = study.columns.filter(varies);
  return [
    ...shown.filter((c) => c.parameter).slice(0, 4),
    ...shown.filter((c) => !c.parameter).slice(0, FIRST_METRICS),
  ].map((c) => c.name);
}

export function axisOf(c: StudyColumn): Axis {
  const { name, parameter } = c;
  if (c.texts.length > 0) {
    const names = [...new Set(c.texts)].sort();
    const at = (t: string): number => (names.indexOf(t) + 0.5) / names.length;
    const every = Math.ceil(names.length / 12);
    return {
      name,
      parameter,
      places: c.texts.map(at),
      texts: c.texts,
      ticks: names.filter((_, i) => i % every === 0).map((text) => ({ at: at(text), text })),
      scale: undefined,
    };
  }
  const numbers = c.numbers.map((v) => v ?? Number.NaN);
  const scale = scaleOver(numbers, true);
  return {
    name,
    parameter,
    places: numbers.map((v) => placeOn(scale, v)),
    texts: c.numbers.map(value),
    ticks: ticksAlong(numbers, scale),
    scale,
  };
}

export interface Brush {
  readonly axis: string;
  readonly low: number; // places, 0 … 1
  readonly high: number;
}

export const writeBrush = (b: Brush): string => `${b.axis}\t${b.low.toFixed(4)}\t${b.high.toFixed(4)}`;

export function readBrush(text: string): Brush | undefined {
  const [axis = '', low, high] = text.split('\t');
  const [l, h] = [Number(low), Number(high)];
  return l >= 0 && h <= 1 && l < h ? { axis, low: l, high: h } : undefined;
}

/** Whether each run is inside every brush. */
export function kept(axes: readonly Axis[], brushes: readonly Brush[], runs: number): readonly boolean[] {
  const by = new Map(axes.map((a) => [a.name, a]));
  return Array.from({ length: runs }, (_, i) =>
    brushes.every((b) => {
      const at = by.get(b.axis)?.places[i];
      return at === undefined || (at >= b.low && at <= b.high);
    }),
  );
}
