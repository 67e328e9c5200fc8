// Turns over references: the active class in the colours of its lines, others
// grey, passes as bands, and a ribbon of line colours.
import type { Dir, Point, Rect, Size } from '../../base/geometry';
import { clamp, stepIndex } from '../../base/geometry';
import { count, plural } from '../../base/format';
import { fit } from '../../base/text';
import type { Renderer, Segment } from '../../base/renderer';
import type { CyclesInfo } from '../../api/wire';
import { linearTicks } from '../../base/scale';
import type { KeptView, Said, Table } from '../../frame/view';
import { isLit, lineColor, type Lit } from './colours';
import { EMPTY, type Drawing } from './picture';
import { classNames } from './words';

export interface UnwrappedInput {
  readonly info: CyclesInfo;
  readonly drawing: Drawing;
  readonly class: number;
  readonly size: Size;
  readonly from: number;
  readonly to: number;
  /** Windows that the view above shows, half open; all if equal. */
  readonly first: number;
  readonly last: number;
  readonly lit: Lit;
  readonly hovered: number;
  readonly visits: readonly number[];
}

const LEFT = 52;
const RIGHT = 118;
const RIBBON = 9;
const AXIS = 18;

/** Marks are columns. */
export class UnwrappedView implements KeptView<number> {
  readonly size: Size;
  readonly plot: Rect;
  private readonly top: number;

  constructor(private readonly input: UnwrappedInput) {
    this.size = input.size;
    this.plot = {
      x: LEFT,
      y: 18,
      w: Math.max(1, input.size.w - LEFT - RIGHT),
      h: Math.max(1, input.size.h - 18 - RIBBON - AXIS - 8),
    };
    this.top = Math.max(1, ...input.drawing.strips.map((s) => s.high.reduce((a, b) => Math.max(a, b), 0)));
  }

  get basis(): unknown {
    const { hovered: _, visits: __, ...drawn } = this.input;
    return drawn;
  }

  x(reference: number): number {
    return this.plot.x + (reference / Math.max(1, this.input.info.windows)) * this.plot.w;
  }

  referenceAt(x: number): number {
    return Math.round(clamp((x - this.plot.x) / this.plot.w, 0, 1) * this.input.info.windows);
  }

  private y(turns: number): number {
    return this.plot.y + this.plot.h * (1 - turns / this.top);
  }

  edgeAt(x: number): 'from' | 'to' | undefined {
    const { from, to } = this.input;
    if (to <= from) return undefined;
    if (Math.abs(x - this.x(from)) <= 6) return 'from';
    return Math.abs(x - this.x(to)) <= 6 ? 'to' : undefined;
  }

  draw(r: Renderer): void {
    this.drawPasses(r);
    const { drawing, from, to, info } = this.input;
    const muted = { font: { size: 10.5 }, fill: r.theme.muted };
    for (const t of linearTicks(0, this.top, 3)) {
      if (t > this.top) continue;
      r.line(this.plot.x, this.y(t), this.plot.x + this.plot.w, this.y(t), {
        stroke: r.theme.hair,
        width: 1,
      });
      r.text(String(t), this.plot.x - 8, this.y(t), { ...muted, align: 'right' });
    }
    drawing.strips.toReversed().forEach((s) => {
      if (s.class === this.input.class) this.drawActive(r, s.low, s.high);
      else r.path(this.curve(s.high), { stroke: r.theme.rest, width: 1.25 });
    });
    this.drawNames(r);
    this.drawRibbon(r);
    for (const t of linearTicks(0, info.windows, Math.max(2, Math.floor(this.plot.w / 90)))) {
      if (t > info.windows) continue;
      r.text(`${t === 0 ? 'reference ' : ''}${count(t)}`, this.x(t), this.size.h - 8, {
        ...muted,
        align: 'center',
      });
    }
    this.drawShown(r);
    if (to > from) {
      const [x0, x1] = [this.x(from), this.x(to)];
      r.rect(
        { x: x0, y: 2, w: x1 - x0, h: this.plot.y + this.plot.h },
        { stroke: r.theme.selected, width: 1 },
      );
      for (const x of [x0, x1])
        r.rect(
          { x: x - 2.5, y: this.plot.y + this.plot.h / 2 - 7, w: 5, h: 14 },
          { fill: r.theme.selected },
          2,
        );
    }
  }

  /** Names at the ends of the curves, moved apart and kept in the pane. */
  private drawNames(r: Renderer): void {
    const { drawing, info } = this.input;
    const names = classNames(info);
    const ends = drawing.strips
      .map((s) => ({ class: s.class, y: this.y(s.high.at(-1) ?? 0) }))
      .toSorted((a, b) => a.y - b.y);
    const bottom = this.plot.y + this.plot.h + RIBBON;
    for (let i = 1; i < ends.length; i++) ends[i]!.y = Math.max(ends[i]!.y, ends[i - 1]!.y + 13);
    for (let i = ends.length - 1, most = bottom; i >= 0; i--, most -= 13)
      ends[i]!.y = Math.min(ends[i]!.y, most);
    for (const e of ends) {
      const active = e.class === this.input.class;
      const font = { size: 11, ...(active && { weight: 600 as const }) };
      r.text(
        fit(`${names[e.class] ?? ''} ${info.classes[e.class]?.turns ?? ''}`, RIGHT - 10, font, r.measure),
        this.plot.x + this.plot.w + 6,
        e.y,
        { font, fill: active ? r.theme.text : r.theme.muted },
      );
    }
  }

  /** A bracket over the time that the spiral shows. */
  private drawShown(r: Renderer): void {
    const { first, last } = this.input;
    if (last <= first) return;
    const [x0, x1] = [this.x(first), this.x(last)];
    r.path(
      [
        { to: 'move', x: x0, y: 7 },
        { to: 'line', x: x0, y: 2 },
        { to: 'line', x: x1, y: 2 },
        { to: 'line', x: x1, y: 7 },
      ],
      { stroke: r.theme.text, width: 2 },
    );
  }

  private drawPasses(r: Renderer): void {
    const { passes } = this.input.drawing;
    const { from, to, info } = this.input;
    if (passes.length === 0 || passes.length > 200) return;
    passes.forEach((p, i) => {
      const end = passes[i + 1] ?? info.windows;
      const [x0, x1] = [this.x(p), this.x(end)];
      const chosen = to > from && p >= from && p < to;
      if (chosen || i % 2 === 0)
        r.rect(
          { x: x0, y: 2, w: x1 - x0, h: this.plot.y + this.plot.h },
          { fill: chosen ? r.theme['selected-tint'] : r.theme.surface },
        );
      const label = `pass ${i + 1}`;
      if (r.measure(label, { size: 11 }) < x1 - x0 - 8) {
        r.text(label, x0 + 5, 10, {
          font: { size: 11, ...(chosen && { weight: 600 }) },
          fill: chosen ? r.theme.selected : r.theme.muted,
        });
      }
    });
  }

  private curve(values: Float32Array): Segment[] {
    const n = values.length;
    return Array.from(
      values,
      (v, i) =>
        ({
          to: i === 0 ? 'move' : 'line',
          x: this.plot.x + ((i + 0.5) / n) * this.plot.w,
          y: this.y(v),
        }) as Segment,
    );
  }

  private drawActive(r: Renderer, low: Float32Array, high: Float32Array): void {
    const { ribbon } = this.input.drawing;
    const w = this.plot.w / Math.max(1, high.length);
    const { from, to, info } = this.input;
    r.path(this.curve(high), { stroke: r.theme.rest, width: 1.25 });
    high.forEach((v, i) => {
      const t = ((i + 0.5) / high.length) * info.windows;
      if (to > from && (t < from || t >= to)) return;
      const [y0, y1] = [this.y(v), this.y(low[i]!)];
      r.rect(
        { x: this.plot.x + i * w, y: y0 - 1.25, w: w + 0.3, h: Math.max(2.5, y1 - y0 + 2.5) },
        { fill: lineColor(r.theme, ribbon[i] ?? EMPTY) },
      );
    });
  }

  private drawRibbon(r: Renderer): void {
    const { ribbon } = this.input.drawing;
    const { from, to, info } = this.input;
    const y = this.plot.y + this.plot.h + 4;
    const w = this.plot.w / Math.max(1, ribbon.length);
    for (let i = 0; i < ribbon.length;) {
      let j = i + 1;
      while (j < ribbon.length && ribbon[j] === ribbon[i]) j++;
      const t = ((i + 0.5) / ribbon.length) * info.windows;
      const faint = (to > from && (t < from || t >= to)) || !isLit(this.input.lit, ribbon[i]!);
      r.rect(
        { x: this.plot.x + i * w, y, w: (j - i) * w, h: RIBBON },
        { fill: lineColor(r.theme, ribbon[i]!), ...(faint && { alpha: 0.28 }) },
      );
      i = j;
    }
  }

  drawHover(r: Renderer): void {
    const { hovered, visits } = this.input;
    if (hovered < 0) return;
    const bottom = this.plot.y + this.plot.h;
    for (const t of visits) {
      const x = this.x(t + 0.5);
      const [y0, y1] = t === hovered ? [2, bottom + RIBBON + 4] : [bottom - 20, bottom];
      r.line(x, y0, x, y1, { stroke: r.theme.hover, width: t === hovered ? 2 : 1.5, dash: [4, 2.5] });
    }
  }

  hitTest(p: Point): number | undefined {
    if (p.x < this.plot.x || p.x > this.plot.x + this.plot.w) return undefined;
    return Math.min(this.input.info.windows - 1, this.referenceAt(p.x));
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const n = this.input.info.windows;
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
        return 0;
      case 'last':
        return n - 1;
    }
  }

  describe(t: number): Said {
    const s = this.input.drawing.strips.find((e) => e.class === this.input.class);
    const i = s ? Math.min(s.high.length - 1, Math.floor((t / this.input.info.windows) * s.high.length)) : -1;
    return { name: `Reference ${count(t)}`, more: s && i >= 0 ? `${s.high[i]!.toFixed(2)} turns` : '' };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { strips } = this.input.drawing;
    const n = strips[0]?.high.length ?? 0;
    return {
      head: ['reference', ...strips.map((s) => `turns of class ${s.class + 1}`)],
      rows: Array.from({ length: n }, (_, i) => [
        String(Math.floor((i / n) * this.input.info.windows)),
        ...strips.map((s) => s.high[i]!.toFixed(4)),
      ]),
    };
  }

  summary(): string {
    return `Turns over ${plural(this.input.info.windows, 'reference')}, ${this.input.drawing.strips.length} classes.`;
  }
}
