// One axis, large: a histogram of three layers with a brush. Room below the
// ticks is left for metric strips and cluster markers (see `below`).
import { count, exact } from '../../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { mix } from '../../../base/color';
import type { Font, Measure } from '../../../base/text';
import { ALL, HOVERED, SELECTED } from '../../../api/decode';
import type { Term } from '../../../state/selection';
import { titleOf } from '../../../state/axes';
import { drawGaps, sayGaps } from './gaps';
import { AxisLayout, type AxisInput } from './axis';
import { brushOf, type Brush } from './parallel';
import { linearTicks } from '../../../base/scale';
import type { Said, Table, View } from '../../../frame/view';

export interface HistogramInput {
  readonly axis: AxisInput;
  readonly size: Size;
  readonly brushes: readonly Term[];
  readonly hovered?: number | undefined; // bin
  /** Pixels below the ticks that belong to others. */
  readonly below: number;
  /** The axis alone: others draw above it. */
  readonly bare?: boolean;
}

export interface HistogramMark {
  readonly bin: number;
}

export const GUTTER = 168;
const RIGHT = 16;
const TICKS = 18;
const SMALL: Font = { size: 11 };

export function plotWidth(width: number): number {
  return Math.max(60, width - GUTTER - RIGHT);
}

/** Bars of 9 px and 1 px between them. */
export function binsFor(width: number): number {
  return clamp(Math.floor(plotWidth(width) / 10), 20, 400);
}

export class HistogramView implements View<HistogramMark> {
  readonly size: Size;
  readonly plot: Rect;
  readonly layout: AxisLayout;
  readonly brushes: readonly Brush[];
  protected readonly most: number;

  constructor(protected readonly input: HistogramInput) {
    this.size = input.size;
    this.plot = {
      x: GUTTER,
      y: 8,
      w: plotWidth(input.size.w),
      h: Math.max(30, input.size.h - 8 - TICKS - 4 - input.below),
    };
    this.layout = new AxisLayout(input.axis, this.plot.w, true);
    this.brushes = input.brushes.flatMap((t) => brushOf(this.layout, t));
    this.most = this.mostOf();
  }

  protected mostOf(): number {
    return Math.max(1, ...this.input.axis.answer.counts[ALL]);
  }

  /** The part of the plot that bars stand in. */
  protected get tall(): number {
    return this.plot.h;
  }

  draw(r: Renderer): void {
    const { theme } = r;
    for (const b of this.brushes) {
      r.rect(
        { x: this.plot.x + b.from, y: 0, w: b.till - b.from, h: this.plot.y + this.plot.h },
        { fill: mix(theme.bg, theme.selected, theme.dark ? 0.16 : 0.1) },
      );
    }
    if (!this.input.bare) this.drawAmounts(r);
    drawGaps(r, this.layout, { ...this.plot, y: 0, h: this.plot.y + this.plot.h }, true);
    this.drawAxis(r);
  }

  protected drawAmounts(r: Renderer): void {
    const { theme } = r;
    const { answer } = this.input.axis;
    r.text('samples', 12, this.plot.y + 6, { font: { size: 12, weight: 600 }, fill: theme.text });
    const lines = [...this.binLines(r.measure), ...this.notes];
    lines.forEach((line, i) =>
      r.text(line, 12, this.plot.y + 22 + 14 * i, { font: SMALL, fill: theme.muted }),
    );
    const values = linearTicks(0, this.most, 5);
    for (const v of values) {
      const y = this.y(v);
      r.line(this.plot.x, y, this.plot.x + this.plot.w, y, { stroke: theme.hair, width: 1 });
      if (v > 0) r.text(count(v), this.plot.x - 8, y, { font: SMALL, fill: theme.muted, align: 'right' });
    }
    this.drawLayers(r);
    if (answer.below + answer.above > 0) {
      const text = `${count(answer.below + answer.above)} beyond the range`;
      r.text(text, 12, this.plot.y + 24 + 14 * lines.length, { font: SMALL, fill: theme.muted });
    }
  }

  /** Lines below the number of bins. */
  protected get notes(): readonly string[] {
    return [];
  }

  protected drawLayers(r: Renderer): void {
    this.drawBars(r, ALL, r.theme['rest-bar']);
    this.drawBars(r, SELECTED, r.theme.selected);
  }

  private drawAxis(r: Renderer): void {
    const { theme } = r;
    const { column } = this.input.axis;
    const base = this.plot.y + this.plot.h;
    r.line(this.plot.x, base, this.plot.x + this.plot.w, base, { stroke: theme.line, width: 1 });
    r.text(titleOf(column), 12, base + 12, { font: { size: 12, weight: 600 }, fill: theme.text });
    r.text(this.input.axis.subtitle, 18 + r.measure(titleOf(column), { size: 12, weight: 600 }), base + 12, {
      font: SMALL,
      fill: theme.muted,
    });
    this.drawTicks(r, base);
    for (const b of this.brushes) this.drawBrush(r, b, base);
  }

  /** How many bins, and how wide: on two lines where one would meet the numbers beside the axis. */
  private binLines(measure: Measure): string[] {
    const { answer: a } = this.input.axis;
    const bins = `${count(a.bins)} bins`;
    if (this.layout.named || a.scale === 'log') return [bins];
    const width = (a.edges[a.bins]! - a.edges[0]!) / a.bins / this.layout.scale.factor;
    const of = `of ${exact(Number(width.toPrecision(3)))} ${this.layout.scale.unit}`.trim();
    return measure(`${bins} ${of}`, SMALL) <= GUTTER - 52 ? [`${bins} ${of}`] : [bins, of];
  }

  protected y(n: number): number {
    return this.plot.y + this.tall * (1 - n / (this.most * 1.04));
  }

  protected drawBars(r: Renderer, layer: 0 | 1 | 2, fill: string): void {
    const counts = this.input.axis.answer.counts[layer];
    if (counts.length === 0) return;
    const base = this.plot.y + this.tall;
    for (const s of this.layout.slots) {
      const n = counts[s.bin] ?? 0;
      if (n === 0) continue;
      const y = Math.min(this.y(n), base - (layer === HOVERED ? 2 : 1));
      const w = s.till - s.from;
      const gap = w > 3 ? Math.min(1, w * 0.1) : 0;
      r.rect({ x: this.plot.x + s.from, y, w: w - gap, h: base - y }, { fill });
    }
  }

  private drawTicks(r: Renderer, base: number): void {
    if (this.layout.named) {
      let last = -Infinity;
      for (const s of this.layout.slots) {
        const x = this.plot.x + (s.from + s.till) / 2;
        const w = r.measure(s.label ?? '', SMALL);
        if (x - w / 2 < last + 6) continue;
        last = x + w / 2;
        r.text(s.label ?? '', x, base + 12, { font: SMALL, fill: r.theme.muted, align: 'center' });
      }
      return;
    }
    for (const t of this.layout.ticks(64)) {
      const x = this.plot.x + t.at;
      r.line(x, base, x, base + 4, { stroke: r.theme.line, width: 1 });
      r.text(t.label, x, base + 12, { font: SMALL, fill: r.theme.muted, align: 'center' });
    }
  }

  private drawBrush(r: Renderer, b: Brush, base: number): void {
    const { selected, bg } = r.theme;
    for (const at of [b.from, b.till]) {
      const x = this.plot.x + at;
      r.line(x, 0, x, base, { stroke: selected, width: 1.5 });
      r.rect({ x: x - 2.5, y: base / 2 - 8, w: 5, h: 16 }, { fill: selected, stroke: bg, width: 1 }, 2.5);
    }
    if (!b.tags) return;
    const font: Font = { size: 11, weight: 600 };
    b.tags.forEach((text, i) => {
      const w = r.measure(text, font) + 8;
      const x = this.plot.x + (i === 0 ? b.from : b.till) - (i === 0 ? w : 0);
      r.rect({ x, y: base + 4, w, h: 16 }, { fill: selected }, 3);
      r.text(text, x + w / 2, base + 12, {
        font,
        fill: r.theme.dark ? '#000000' : '#ffffff',
        align: 'center',
      });
    });
  }

  drawHover(r: Renderer): void {
    this.drawBars(r, HOVERED, r.theme.hover);
    const s = this.input.hovered === undefined ? undefined : this.layout.slot(this.input.hovered);
    if (!s) return;
    r.rect(
      { x: this.plot.x + s.from - 1, y: this.plot.y, w: s.till - s.from + 1, h: this.plot.h },
      { stroke: r.theme.hover, width: 1.5, dash: [4, 2] },
    );
  }

  hitTest(p: Point): HistogramMark | undefined {
    if (p.x < this.plot.x || p.x > this.plot.x + this.plot.w || p.y > this.plot.y + this.plot.h + TICKS)
      return undefined;
    const s = this.layout.slotAt(p.x - this.plot.x);
    return s && { bin: s.bin };
  }

  brushAt(p: Point): { index: number; part: 'low' | 'high' | 'body' } | undefined {
    const x = p.x - this.plot.x;
    for (const [index, b] of this.brushes.entries()) {
      if (Math.abs(x - b.from) <= 6) return { index, part: 'low' };
      if (Math.abs(x - b.till) <= 6) return { index, part: 'high' };
    }
    return undefined;
  }

  step(from: HistogramMark | undefined, dir: Dir): HistogramMark | undefined {
    const n = this.layout.slots.length;
    if (n === 0) return undefined;
    if (!from) return { bin: this.layout.slots[0]!.bin };
    const at = this.layout.slots.findIndex((s) => s.bin === from.bin);
    const by = { left: -1, up: -1, previous: -1, right: 1, down: 1, next: 1, first: -n, last: n }[dir];
    return { bin: this.layout.slots[clamp(at + by, 0, n - 1)]!.bin };
  }

  describe(m: HistogramMark): Said {
    return this.layout.saySamples(m.bin);
  }

  wanted(m: HistogramMark): Term | undefined {
    return this.layout.binTerm(m.bin);
  }

  rows(): Table {
    return this.layout.table(this.layout.slots.map((s) => s.bin));
  }

  summary(): string {
    const { column, answer } = this.input.axis;
    return `Histogram of ${titleOf(column)}, ${count(answer.bins)} bins${sayGaps(this.input.axis.gaps)}`;
  }
}
