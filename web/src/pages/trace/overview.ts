// The metric over all steps, with the window that the timelines show.
import type { Dir, Point, Rect, Size } from '../../base/geometry';
import { clamp, stepIndex } from '../../base/geometry';
import { luminance } from '../../base/color';
import type { Renderer } from '../../base/renderer';
import type { KeptView, Said, Table } from '../../frame/view';
import { NONE, type Overview } from './picture';
import { latenessColor, type Write } from './scale';
import { changeColor } from '../../base/change';
import { EDGE, GUTTER } from './timeline';

export interface OverviewInput {
  readonly overview: Overview;
  readonly steps: number;
  readonly from: number;
  readonly to: number;
  readonly top: number; // end of the colours
  readonly highest: number; // what bars reach at most; those above are cut
  readonly size: Size;
  readonly word: string; // of the metric: "late"
  readonly signed: boolean; // values are differences: bars go up and down
  readonly write: Write;
  readonly label: Write; // short, for the gutter
}

const GRIP = { w: 5, h: 14 };

/** Marks are columns. */
export class OverviewView implements KeptView<number> {
  readonly size: Size;
  private readonly plot: Rect;
  private readonly w: number; // of a column
  private readonly largest: number; // in the window, or what the bars reach at most

  constructor(private readonly input: OverviewInput) {
    this.size = input.size;
    this.plot = {
      x: GUTTER,
      y: 4,
      w: Math.max(1, input.size.w - GUTTER - EDGE),
      h: Math.max(1, input.size.h - 8),
    };
    this.w = this.plot.w / Math.max(1, input.overview.most.length);
    let most = 0;
    input.overview.most.forEach((v, i) => {
      if (this.inside(i)) most = Math.max(most, Math.abs(v));
    });
    this.largest = Math.min(most, input.highest) || 1;
  }

  get basis(): unknown {
    return this.input;
  }

  private first(i: number): number {
    return (i * this.input.steps) / this.input.overview.most.length;
  }

  private inside(i: number): boolean {
    return this.first(i + 1) > this.input.from && this.first(i) < this.input.to;
  }

  x(step: number): number {
    return this.plot.x + (step / Math.max(1, this.input.steps)) * this.plot.w;
  }

  stepAt(x: number): number {
    return clamp(((x - this.plot.x) / this.plot.w) * this.input.steps, 0, this.input.steps);
  }

  /** Which edge of the window is under a position. */
  edgeAt(x: number): 'from' | 'to' | undefined {
    if (Math.abs(x - this.x(this.input.from)) <= 6) return 'from';
    return Math.abs(x - this.x(this.input.to)) <= 6 ? 'to' : undefined;
  }

  draw(r: Renderer): void {
    const { overview, from, to, top } = this.input;
    const [x0, x1] = [this.x(from), this.x(to)];
    const { y, h } = this.plot;
    r.rect({ x: x0, y, w: x1 - x0, h }, { fill: r.theme['selected-tint'] });
    const inset = this.w > 8 ? 2 : this.w > 3 ? 0.5 : 0;
    if (this.input.signed) {
      this.drawSigned(r, inset);
      this.drawFrame(r, x0, x1);
      return;
    }
    overview.most.forEach((v, i) => {
      if (overview.op[i] === NONE) return;
      const inside = this.inside(i);
      const part = v / this.largest;
      const bar = Math.min(1, part) * (h - 4);
      const box = {
        x: this.plot.x + i * this.w + inset,
        y: y + h - 2 - bar,
        w: Math.max(1, this.w - 2 * inset),
        h: bar,
      };
      const fill = inside ? latenessColor(r.theme, v / top) : r.theme.rest;
      if (part > 1) this.cutBar(r, box, fill);
      else r.rect(box, { fill });
      if (part < 0.06) r.rect({ ...box, y: y + h - 3, h: 1 }, { fill: r.theme.rest });
      const mean = Math.min(1, overview.mean[i]! / this.largest) * (h - 4);
      if (bar > 5 && this.w >= 3) {
        const pale = Math.abs(luminance(fill) - luminance(r.theme.bg)) < 0.35;
        r.rect(
          { x: box.x, y: y + h - 2 - mean - 1, w: box.w, h: pale ? 1 : 2 },
          { fill: pale ? r.theme.text : r.theme.bg },
        );
      }
    });
    this.drawFrame(r, x0, x1);
    r.text('0', GUTTER - 10, y + h - 5, { font: { size: 11 }, fill: r.theme.muted, align: 'right' });
  }

  private drawFrame(r: Renderer, x0: number, x1: number): void {
    const { y, h } = this.plot;
    r.rect({ x: x0, y, w: x1 - x0, h }, { stroke: r.theme.selected, width: 1 });
    for (const x of [x0, x1])
      r.rect(
        { x: x - GRIP.w / 2, y: y + (h - GRIP.h) / 2, w: GRIP.w, h: GRIP.h },
        { fill: r.theme.selected },
        2,
      );
    r.text(this.input.label(this.largest), GUTTER - 10, y + 6, {
      font: { size: 11 },
      fill: r.theme.muted,
      align: 'right',
    });
  }

  /** Differences: more than in the other run above the middle, less below it. */
  private drawSigned(r: Renderer, inset: number): void {
    const { overview, top } = this.input;
    const { y, h } = this.plot;
    const zero = y + h / 2;
    r.line(this.plot.x, zero, this.plot.x + this.plot.w, zero, { stroke: r.theme['hair-strong'], width: 1 });
    overview.most.forEach((v, i) => {
      if (overview.op[i] === NONE) return;
      const bar = Math.max(0.5, Math.min(1, Math.abs(v) / this.largest) * (h / 2 - 2));
      const fill = this.inside(i) ? changeColor(r.theme, v / top) : r.theme.rest;
      r.rect(
        {
          x: this.plot.x + i * this.w + inset,
          y: v >= 0 ? zero - bar : zero,
          w: Math.max(1, this.w - 2 * inset),
          h: bar,
        },
        { fill },
      );
    });
  }

  /** A bar above the scale ends in a slant. */
  private cutBar(r: Renderer, b: Rect, fill: string): void {
    const notch = Math.min(8, b.w / 2, b.h / 2);
    r.path(
      [
        { to: 'move', x: b.x, y: b.y + notch },
        { to: 'line', x: b.x + b.w, y: b.y },
        { to: 'line', x: b.x + b.w, y: b.y + b.h },
        { to: 'line', x: b.x, y: b.y + b.h },
        { to: 'close' },
      ],
      { fill },
    );
  }

  drawHover(): void {}

  hitTest(p: Point): number | undefined {
    const i = Math.floor((p.x - this.plot.x) / this.w);
    return i >= 0 && i < this.input.overview.most.length ? i : undefined;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const n = this.input.overview.most.length;
    switch (dir) {
      case 'left':
      case 'up':
      case 'previous':
        return stepIndex(from, -1, n);
      case 'right':
      case 'down':
      case 'next':
        return stepIndex(from, 1, n);
      case 'first':
        return n > 0 ? 0 : undefined;
      case 'last':
        return n > 0 ? n - 1 : undefined;
    }
  }

  describe(i: number): Said {
    const { overview, word, write } = this.input;
    const [a, b] = [
      Math.floor(this.first(i)),
      Math.max(Math.floor(this.first(i)), Math.ceil(this.first(i + 1)) - 1),
    ];
    const name = a === b ? `Step ${a}` : `Steps ${a}–${b}`;
    if (overview.op[i] === NONE) return { name, more: 'no operation' };
    return { name, more: `largest ${write(overview.most[i]!)} ${word} · mean ${write(overview.mean[i]!)}` };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { overview } = this.input;
    return {
      head: ['first step', 'largest', 'mean'],
      rows: Array.from(overview.most, (v, i) => [
        String(Math.floor(this.first(i))),
        String(v),
        String(overview.mean[i]),
      ]),
    };
  }

  summary(): string {
    const { steps, from, to } = this.input;
    return `Largest and mean over ${steps} steps; the window is steps ${Math.floor(from)} to ${Math.ceil(to) - 1}.`;
  }
}
