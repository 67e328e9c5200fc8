// The frame of a plot: where values lie, ticks and names.
import type { Point, Rect, Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { numberScale, placeOn, ticksOf, type NumberScale } from '../../base/scale';

const LEFT = 62;
const RIGHT = 14;
const TOP = 24;
const BOTTOM = 30;

export interface PlotInput {
  readonly size: Size;
  readonly x: NumberScale;
  readonly y: NumberScale;
  readonly xName: string;
  readonly yName: string;
  readonly xText: (v: number) => string;
  readonly yText: (v: number) => string;
}

export class Plot {
  readonly area: Rect;

  constructor(private readonly input: PlotInput) {
    const { w, h } = input.size;
    this.area = { x: LEFT, y: TOP, w: Math.max(1, w - LEFT - RIGHT), h: Math.max(1, h - TOP - BOTTOM) };
  }

  x(v: number): number {
    return this.area.x + placeOn(this.input.x, v) * this.area.w;
  }

  y(v: number): number {
    return this.area.y + (1 - placeOn(this.input.y, v)) * this.area.h;
  }

  at(x: number, y: number): Point {
    return { x: this.x(x), y: this.y(y) };
  }

  draw(r: Renderer): void {
    const { area, input } = this;
    const muted = { font: { size: 10.5 }, fill: r.theme.muted };
    r.text(input.yName, area.x, 10, { ...muted, align: 'left' });
    r.text(input.xName, area.x + area.w, area.y + area.h + 22, { ...muted, align: 'right' });
    for (const v of ticksOf(input.y, Math.max(2, Math.floor(area.h / 34)))) {
      const y = this.y(v);
      r.line(area.x, y, area.x + area.w, y, { stroke: r.theme.hair });
      r.text(input.yText(v), area.x - 6, y, { ...muted, align: 'right' });
    }
    for (const v of ticksOf(input.x, Math.max(2, Math.floor(area.w / 90))))
      r.text(input.xText(v), this.x(v), area.y + area.h + 10, { ...muted, align: 'center' });
    r.line(area.x, area.y + area.h, area.x + area.w, area.y + area.h, { stroke: r.theme.line });
  }
}

/** A scale over values, with a little room; logarithmic where they span more than a factor of 30. */
export function scaleOver(values: readonly number[], log = false): NumberScale {
  const known = values.filter((v) => Number.isFinite(v));
  let [lo, hi] = [Math.min(...known), Math.max(...known)];
  if (known.length === 0) [lo, hi] = [0, 1];
  if (log && lo > 0 && hi / lo > 30) {
    const factor = (hi / lo) ** 0.06;
    return numberScale(lo / factor, hi * factor, 'log');
  }
  const room = (hi - lo) * 0.06 || Math.abs(hi) * 0.1 || 1;
  return numberScale(lo - room, hi + room, 'linear');
}
