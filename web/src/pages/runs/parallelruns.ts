// Parallel coordinates of runs: one line a run through its parameters and metrics.
import { amountColor } from '../../base/color';
import { clamp, stepIndex, type Dir, type Point, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import type { KeptView, Said, Table } from '../../frame/view';
import type { Axis, Brush } from './columns';

export interface ParallelInput {
  readonly names: readonly string[];
  readonly odd: readonly (readonly string[])[];
  readonly axes: readonly Axis[];
  readonly colour: Axis | undefined;
  readonly brushes: readonly Brush[];
  readonly kept: readonly boolean[];
  readonly size: Size;
  readonly hovered: number;
  readonly marked: number;
}

const TOP = 44;
const BOTTOM = 14;
const SIDE = 60;
const NEAR = 7; // px from a line

export class ParallelRuns implements KeptView<number> {
  readonly size: Size;

  constructor(private readonly input: ParallelInput) {
    this.size = input.size;
  }

  get basis(): unknown {
    const { names, axes, colour, brushes, kept, size, marked } = this.input;
    return { names, axes, colour, brushes, kept, size, marked };
  }

  private x(k: number): number {
    const n = this.input.axes.length;
    return n < 2 ? this.size.w / 2 : SIDE + (k * (this.size.w - 2 * SIDE)) / (n - 1);
  }

  private y(at: number): number {
    return TOP + (1 - at) * (this.size.h - TOP - BOTTOM);
  }

  /** The axis under a point, for brushes. */
  axisAt(p: Point): number {
    return this.input.axes.findIndex((_, k) => Math.abs(p.x - this.x(k)) < 12 && p.y > TOP - 8);
  }

  placeAt(p: Point): number {
    return clamp(1 - (p.y - TOP) / (this.size.h - TOP - BOTTOM), 0, 1);
  }

  draw(r: Renderer): void {
    const { axes, brushes, kept, marked, names } = this.input;
    for (const pass of [false, true])
      names.forEach((_, i) => {
        if (kept[i] === pass && i !== marked)
          this.line(r, i, pass ? this.colourOf(r, i) : r.theme.hair, pass ? 1.2 : 1);
      });
    if (names[marked] !== undefined) this.line(r, marked, r.theme.selected, 3);
    const muted = { font: { size: 10.5 }, fill: r.theme.muted };
    const room = Math.max(4, Math.floor((this.x(1) - this.x(0) - 12) / 6.2)) || 20;
    axes.forEach((a, k) => {
      const x = this.x(k);
      const name = a.name.length > room ? `${a.name.slice(0, room - 1)}…` : a.name;
      r.text(name, x, 10, { font: { size: 11.5, weight: 600 }, fill: r.theme.text, align: 'center' });
      r.text(a.parameter ? 'parameter' : 'metric', x, 25, { ...muted, align: 'center' });
      r.line(x, TOP, x, this.y(0), { stroke: r.theme.muted });
      for (const t of a.ticks) this.tick(r, t.text, x - 5, this.y(t.at));
      for (const b of brushes.filter((o) => o.axis === a.name)) {
        const y = this.y(b.high);
        r.rect(
          { x: x - 5, y, w: 10, h: this.y(b.low) - y },
          { fill: r.theme['selected-tint'], stroke: r.theme.selected },
        );
      }
    });
  }

  // Lines end at the values that are written: on ground of its own a label stays readable.
  private tick(r: Renderer, text: string, x: number, y: number): void {
    const font = { size: 10.5 };
    const w = r.measure(text, font);
    r.rect({ x: x - w - 2, y: y - 7, w: w + 3, h: 14 }, { fill: r.theme.bg });
    r.text(text, x, y, { font, fill: r.theme.muted, align: 'right' });
  }

  private colourOf(r: Renderer, i: number): string {
    const at = this.input.colour?.places[i];
    return at === undefined || Number.isNaN(at) ? r.theme.rest : amountColor(at, r.theme.dark);
  }

  private line(r: Renderer, i: number, stroke: string, width: number): void {
    const { axes, odd } = this.input;
    for (let k = 1; k < axes.length; k++) {
      const [a, b] = [axes[k - 1]!.places[i]!, axes[k]!.places[i]!];
      if (Number.isNaN(a) || Number.isNaN(b)) continue;
      const dash = odd[i]!.length > 0 ? { dash: [5, 3] } : {};
      r.line(this.x(k - 1), this.y(a), this.x(k), this.y(b), { stroke, width, ...dash });
    }
  }

  drawHover(r: Renderer): void {
    if (this.input.names[this.input.hovered] !== undefined)
      this.line(r, this.input.hovered, r.theme.hover, 2.5);
  }

  hitTest(p: Point): number | undefined {
    const { axes, kept, names } = this.input;
    const k = axes.findIndex((_, i) => i > 0 && p.x >= this.x(i - 1) && p.x <= this.x(i));
    if (k < 1 || p.y < TOP - NEAR) return undefined;
    const t = (p.x - this.x(k - 1)) / (this.x(k) - this.x(k - 1));
    let [best, at]: [number, number | undefined] = [NEAR, undefined];
    names.forEach((_, i) => {
      if (!kept[i]) return;
      const y = this.y(axes[k - 1]!.places[i]! * (1 - t) + axes[k]!.places[i]! * t);
      if (Math.abs(y - p.y) < best) [best, at] = [Math.abs(y - p.y), i];
    });
    return at;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const shown = this.input.names.map((_, i) => i).filter((i) => this.input.kept[i]);
    if (dir === 'first' || dir === 'last') return dir === 'first' ? shown[0] : shown.at(-1);
    const at = from === undefined ? undefined : shown.indexOf(from);
    const next = stepIndex(at, dir === 'left' || dir === 'up' || dir === 'previous' ? -1 : 1, shown.length);
    return next === undefined ? undefined : shown[next];
  }

  describe(i: number): Said {
    const { axes, names, odd } = this.input;
    const values = axes.map((a) => `${a.name} ${a.texts[i]}`).join(', ');
    return {
      name: names[i]!,
      more: `· ${values}${odd[i]!.length > 0 ? ` · odd in ${odd[i]!.join(', ')}` : ''}`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { axes, kept, names, odd } = this.input;
    return {
      head: ['run', ...axes.map((a) => a.name), 'odd in', 'kept'],
      rows: names.map((name, i) => [
        name,
        ...axes.map((a) => a.texts[i]!),
        odd[i]!.join(', '),
        kept[i] ? 'yes' : 'no',
      ]),
    };
  }

  summary(): string {
    const { axes, kept, names } = this.input;
    return `${kept.filter(Boolean).length} of ${names.length} runs along ${axes.map((a) => a.name).join(', ')}`;
  }
}
