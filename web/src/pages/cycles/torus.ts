// Two classes at once: coordinate against coordinate, on a square whose
// opposite sides are the same. The trace is a path on it.
import type { Dir, Point, Rect, Size } from '../../base/geometry';
import { stepIndex } from '../../base/geometry';
import { count } from '../../base/format';
import { circle, type Renderer, type Segment } from '../../base/renderer';
import type { Theme } from '../../base/theme';
import type { KeptView, Said, Table } from '../../frame/view';
import { isLit, lineColor, type Lit, phaseColor } from './colours';
import type { Drawing } from './picture';
import type { Colouring } from './state';

export interface TorusInput {
  readonly drawing: Drawing;
  readonly size: Size;
  readonly names: readonly [string, string];
  readonly colour: Colouring;
  readonly from: number;
  readonly to: number;
  readonly lit: Lit;
  readonly hovered: number;
}

const turn = (v: number): number => v - Math.floor(v);

/** Marks are windows. */
export class TorusView implements KeptView<number> {
  readonly size: Size;
  private readonly plot: Rect;

  constructor(private readonly input: TorusInput) {
    this.size = input.size;
    const side = Math.max(60, Math.min(input.size.h - 62, input.size.w - 270));
    this.plot = { x: (input.size.w - side) / 2 + 90, y: 16, w: side, h: side };
  }

  get basis(): unknown {
    const { hovered: _, ...drawn } = this.input;
    return drawn;
  }

  private at(i: number): Point {
    const { lift, other } = this.input.drawing;
    return this.place(turn(lift[i]!), turn(other[i]!));
  }

  private place(a: number, b: number): Point {
    return { x: this.plot.x + a * this.plot.w, y: this.plot.y + (1 - b) * this.plot.h };
  }

  draw(r: Renderer): void {
    const { drawing, names } = this.input;
    const p = this.plot;
    r.rect(p, { fill: r.theme.bg, stroke: r.theme['hair-strong'], width: 1 });
    for (const t of [0.25, 0.5, 0.75]) {
      const q = this.place(t, t);
      r.line(q.x, p.y, q.x, p.y + p.h, { stroke: r.theme.hair, width: 1 });
      r.line(p.x, q.y, p.x + p.w, q.y, { stroke: r.theme.hair, width: 1 });
    }
    const muted = { font: { size: 11 }, fill: r.theme.muted, align: 'center' as const };
    ['0', '¼', '½', '¾', '0'].forEach((label, i) => {
      const q = this.place(i / 4, i / 4);
      r.text(label, q.x, p.y + p.h + 11, muted);
      r.text(label, p.x - 11, q.y, muted);
    });
    r.text(`turn of ${names[0]}; the right side is the left one`, p.x + p.w / 2, p.y + p.h + 28, muted);
    r.text(`turn of ${names[1]}; the top is the bottom`, p.x - 28, p.y + p.h / 2, {
      ...muted,
      turn: -Math.PI / 2,
    });
    r.clip(p, () => {
      for (const over of [false, true]) this.drawWalk(r, over);
    });
    if (drawing.lift.length > 0)
      r.path(circle(this.at(drawing.lift.length - 1), 3.5), {
        fill: r.theme.bg,
        stroke: r.theme.text,
        width: 1.5,
      });
  }

  private isOver(i: number): boolean {
    const { from, to, lit, drawing } = this.input;
    const t = drawing.first + i;
    return (to <= from || (t >= from && t < to)) && isLit(lit, drawing.colour[i]!);
  }

  private paintOf(theme: Theme, i: number): string {
    const { colour, drawing } = this.input;
    return colour === 'coordinate'
      ? phaseColor(theme, Math.round(drawing.lift[i]! * 72) / 72)
      : lineColor(theme, drawing.colour[i]!);
  }

  private drawWalk(r: Renderer, over: boolean): void {
    const { lift } = this.input.drawing;
    for (let i = 0; i + 1 < lift.length;) {
      const paint = this.paintOf(r.theme, i);
      let j = i + 1;
      while (j + 1 < lift.length && this.isOver(j) === this.isOver(i) && this.paintOf(r.theme, j) === paint)
        j++;
      if (this.isOver(i) === over) {
        const path: Segment[] = [];
        for (let k = i; k < j; k++) this.addStep(path, k);
        r.path(
          path,
          over ? { stroke: paint, width: 2, alpha: 0.85 } : { stroke: r.theme.rest, width: 1, alpha: 0.6 },
        );
      }
      i = j;
    }
  }

  /** A step over a side leaves there and comes in at the opposite one: it is drawn once for each copy of the square. */
  private addStep(path: Segment[], k: number): void {
    const { lift, other } = this.input.drawing;
    const [a0, a1, b0, b1] = [lift[k]!, lift[k + 1]!, other[k]!, other[k + 1]!];
    for (let u = Math.floor(Math.min(a0, a1)); u <= Math.floor(Math.max(a0, a1)); u++) {
      for (let v = Math.floor(Math.min(b0, b1)); v <= Math.floor(Math.max(b0, b1)); v++) {
        path.push(
          { to: 'move', ...this.place(a0 - u, b0 - v) },
          { to: 'line', ...this.place(a1 - u, b1 - v) },
        );
      }
    }
  }

  drawHover(r: Renderer): void {
    const { drawing, hovered } = this.input;
    const i = hovered - drawing.first;
    if (i < 0 || i >= drawing.lift.length) return;
    const p = this.at(i);
    r.path(circle(p, 8), { stroke: r.theme.bg, width: 5 });
    r.path(circle(p, 8), { stroke: r.theme.hover, width: 2.5, dash: [4, 2.5] });
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
    const i = stepIndex(
      from === undefined ? undefined : from - first,
      dir === 'left' || dir === 'up' || dir === 'previous' ? -1 : 1,
      lift.length,
    );
    return i === undefined ? undefined : first + i;
  }

  describe(t: number): Said {
    const { lift, other, first, colours, colour } = this.input.drawing;
    const part = (v: number): string => turn(v).toFixed(2);
    const i = t - first;
    return {
      name: `Reference ${count(t)}`,
      more: [
        `${this.input.names[0]} at ${part(lift[i]!)}`,
        `${this.input.names[1]} at ${part(other[i]!)}`,
        colours[colour[i]!]?.label ?? 'other',
      ].join(' · '),
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { lift, other, first } = this.input.drawing;
    return {
      head: ['reference', ...this.input.names],
      rows: Array.from(lift, (l, i) => [String(first + i), l.toFixed(6), other[i]!.toFixed(6)]),
    };
  }

  summary(): string {
    return `The trace on the torus of ${this.input.names[0]} and ${this.input.names[1]}.`;
  }
}
