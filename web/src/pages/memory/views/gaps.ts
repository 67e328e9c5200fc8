// Stretches of time in which samples are missing or stand for more than they
// count: hatched over the time axis, so that a hole is not read as idleness.
import type { Rect } from '../../../base/geometry';
import type { Paint, Renderer } from '../../../base/renderer';
import type { Theme } from '../../../base/theme';
import type { AxisLayout } from './axis';

const LEAST = 3; // px; a shorter gap would not be seen

/** A gap on the time axis, with what is said of it. */
export interface TimeGap {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
  readonly says: string;
  readonly records: number;
}

/** All of them in a sentence for people who do not see the hatch. */
export function sayGaps(gaps: readonly TimeGap[] | undefined): string {
  if (!gaps?.length) return '';
  const more = gaps.length > 3 ? `; ${gaps.length - 3} more` : '';
  return `; samples are missing: ${gaps
    .slice(0, 3)
    .map((g) => g.says)
    .join('; ')}${more}`;
}

export function gapPaint(theme: Theme): Paint {
  return { hatch: { line: theme.warn, width: 1, period: 5, alpha: 0.75 } };
}

/** Those that a stretch of the axis holds a part of. */
export function gapsWithin(gaps: readonly TimeGap[] | undefined, lo: number, hi: number): readonly TimeGap[] {
  return gaps?.filter((g) => g.to >= lo && g.from <= hi) ?? [];
}

/** Hatches the gaps over an area whose axis runs to the right or down. */
export function drawGaps(r: Renderer, layout: AxisLayout, area: Rect, lying: boolean): void {
  const { gaps, answer: a } = layout.input;
  const [lo, hi] = [a.edges[0]!, a.edges[a.bins]!];
  for (const g of gapsWithin(gaps, lo, hi)) {
    const ends = [layout.positionOf(Math.max(lo, g.from)), layout.positionOf(Math.min(hi, g.to))].sort(
      (p, q) => p - q,
    ) as [number, number];
    const spare = Math.max(0, LEAST - (ends[1] - ends[0])) / 2;
    const [from, size] = [ends[0] - spare, ends[1] - ends[0] + 2 * spare];
    const box = lying ? { ...area, x: area.x + from, w: size } : { ...area, y: area.y + from, h: size };
    r.rect(box, gapPaint(r.theme));
    // The edge on the axis is solid: it is seen where the band is a hair wide.
    r.rect(lying ? { ...box, y: area.y + area.h - 3, h: 3 } : { ...box, w: 3 }, { fill: r.theme.warn });
  }
}
