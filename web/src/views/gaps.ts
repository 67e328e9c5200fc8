// Stretches of time in which samples are missing or stand for more than they
// count: hatched over the time axis, so that a hole is not read as idleness.
import { count, percent } from '../base/format';
import type { Rect } from '../base/geometry';
import type { Paint, Renderer } from '../base/renderer';
import type { Theme } from '../base/theme';
import type { Gap } from '../model/wire';
import type { AxisLayout } from './axis';

const LEAST = 3; // px; a shorter gap would not be seen

const REASONS: Readonly<Record<string, string>> = {
  lost: 'the ring buffer was full', throttled: 'the kernel slowed sampling down', 'trace cut': 'the trace buffer was full', multiplexed: 'events shared a counter',
};

/** One gap in words: how much, of what, why, where. */
export function sayGap(g: Gap): string {
  const why = REASONS[g.kind] ?? g.kind;
  const cpus = g.cpus.length === 0 ? '' : g.cpus.length > 8 ? `, ${g.cpus.length} CPUs` : `, CPU ${g.cpus.join(', ')}`;
  if (g.kind === 'multiplexed') return `${count(g.times)} samples of counters that ran ${percent(g.counting, 1)} of the time or more (${why}${cpus})`;
  if (g.kind === 'lost') return `${count(g.records)} records lost (${why}${cpus})`;
  return `${g.kind} ${g.times === 1 ? 'once' : `${count(g.times)} times`} (${why}${cpus})`;
}

/** All of a recording, a sentence for each kind. */
export function sayGaps(gaps: readonly Gap[]): string {
  const kinds = [...new Set(gaps.map((g) => g.kind))];
  return kinds.map((kind) => {
    const own = gaps.filter((g) => g.kind === kind);
    const sum = (of: (g: Gap) => number): number => own.reduce((n, g) => n + of(g), 0);
    const all: Gap = { ...own[0]!, times: sum((g) => g.times), records: sum((g) => g.records), cpus: [...new Set(own.flatMap((g) => g.cpus))].sort((a, b) => a - b), counting: Math.min(...own.map((g) => g.counting)) };
    return sayGap(all);
  }).join('; ');
}

export function gapPaint(theme: Theme): Paint {
  return { hatch: { line: theme.warn, width: 1, period: 5, alpha: 0.75 } };
}

/** Those that a stretch of the axis holds a part of. */
export function gapsWithin(gaps: readonly Gap[] | undefined, lo: number, hi: number): readonly Gap[] {
  return gaps?.filter((g) => g.to >= lo && g.from <= hi) ?? [];
}

/** Hatches the gaps over an area whose axis runs to the right or down. */
export function drawGaps(r: Renderer, layout: AxisLayout, area: Rect, lying: boolean): void {
  const { gaps, answer: a } = layout.input;
  const [lo, hi] = [a.edges[0]!, a.edges[a.bins]!];
  for (const g of gapsWithin(gaps, lo, hi)) {
    const ends = [layout.positionOf(Math.max(lo, g.from)), layout.positionOf(Math.min(hi, g.to))].sort((p, q) => p - q) as [number, number];
    const spare = Math.max(0, LEAST - (ends[1] - ends[0])) / 2;
    const [from, size] = [ends[0] - spare, ends[1] - ends[0] + 2 * spare];
    const box = lying ? { ...area, x: area.x + from, w: size } : { ...area, y: area.y + from, h: size };
    r.rect(box, gapPaint(r.theme));
    // The edge on the axis is solid: it is seen where the band is a hair wide.
    r.rect(lying ? { ...box, y: area.y + area.h - 3, h: 3 } : { ...box, w: 3 }, { fill: r.theme.warn });
  }
}
