// Two classes at once: coordinate against coordinate, on a square whose
// opposite sides are the same. The trace is a path on it.
import type { Dir, Point, Rect, Size } from '../base/geometry';
import { stepIndex } from '../base/geometry';
import { count } from '../base/format';
import { circle, type Renderer } from '../base/renderer';
import type { Said, Table, View } from '../views/view';
import { lineColor } from './colours';
import type { Drawing } from './picture';

export interface TorusInput {
  readonly drawing: Drawing;
  readonly size: Size;
  readonly names: readonly [string, string];
  readonly hovered: number;
}

/** Marks are windows. */
export class TorusView implements View<number> {
  readonly size: Size;
  private readonly plot: Rect;

  constructor(private readonly input: TorusInput) {
    this.size = input.size;
    const side = Math.max(60, Math.min(input.size.h - 70, input.size.w - 120));
    this.plot = { x: (input.size.w - side) / 2 + 20, y: 20, w: side, h: side };
  }

  private at(i: number): Point {
    const { lift, other } = this.input.drawing;
    const turn = (v: number): number => v - Math.floor(v);
    return { x: this.plot.x + turn(lift[i]!) * this.plot.w, y: this.plot.y + (1 - turn(other[i]!)) * this.plot.h };
  }

  draw(r: Renderer): void {
    const { drawing, names } = this.input;
    r.rect(this.plot, { stroke: r.theme.line, width: 1 });
    for (const t of [0.25, 0.5, 0.75]) {
      r.line(this.plot.x + t * this.plot.w, this.plot.y, this.plot.x + t * this.plot.w, this.plot.y + this.plot.h, { stroke: r.theme.hair, width: 1 });
      r.line(this.plot.x, this.plot.y + t * this.plot.h, this.plot.x + this.plot.w, this.plot.y + t * this.plot.h, { stroke: r.theme.hair, width: 1 });
    }
    for (let i = 1; i < drawing.lift.length; i++) {
      const [a, b] = [this.at(i - 1), this.at(i)];
      // A step over the seam leaves at one side and comes in at the other.
      if (Math.abs(a.x - b.x) > this.plot.w / 2 || Math.abs(a.y - b.y) > this.plot.h / 2) continue;
      r.line(a.x, a.y, b.x, b.y, { stroke: lineColor(r.theme, drawing.colour[i - 1]!), width: 2, alpha: 0.8 });
    }
    const muted = { font: { size: 11 }, fill: r.theme.muted, align: 'center' as const };
    r.text(`turn of ${names[0]}`, this.plot.x + this.plot.w / 2, this.plot.y + this.plot.h + 18, muted);
    r.text(`turn of ${names[1]}`, this.plot.x - 18, this.plot.y + this.plot.h / 2, { ...muted, turn: -Math.PI / 2 });
  }

  drawHover(r: Renderer): void {
    const i = this.input.hovered - this.input.drawing.first;
    if (i < 0 || i >= this.input.drawing.lift.length) return;
    r.path(circle(this.at(i), 8), { stroke: r.theme.hover, width: 2.5, dash: [4, 2.5] });
  }

  hitTest(p: Point): number | undefined {
    let best: number | undefined;
    let distance = 12;
    for (let i = 0; i < this.input.drawing.lift.length; i++) {
      const q = this.at(i);
      const d = Math.hypot(q.x - p.x, q.y - p.y);
      if (d < distance) [best, distance] = [this.input.drawing.first + i, d];
    }
    return best;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const { first, lift } = this.input.drawing;
    const i = stepIndex(from === undefined ? undefined : from - first, dir === 'left' || dir === 'up' || dir === 'previous' ? -1 : 1, lift.length);
    return i === undefined ? undefined : first + i;
  }

  describe(t: number): Said {
    const { lift, other, first } = this.input.drawing;
    const turn = (v: number): string => (v - Math.floor(v)).toFixed(2);
    return { name: `Reference ${count(t)}`, more: `${this.input.names[0]} at ${turn(lift[t - first]!)} · ${this.input.names[1]} at ${turn(other[t - first]!)}` };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { lift, other, first } = this.input.drawing;
    return { head: ['reference', ...this.input.names], rows: Array.from(lift, (l, i) => [String(first + i), l.toFixed(6), other[i]!.toFixed(6)]) };
  }

  summary(): string {
    return `The trace on the torus of ${this.input.names[0]} and ${this.input.names[1]}.`;
  }
}
