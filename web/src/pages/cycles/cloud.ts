// The distinct windows laid out in the plane by their distances.
import type { Dir, Point, Size } from '../../base/geometry';
import { stepIndex } from '../../base/geometry';
import { count } from '../../base/format';
import { circle, type Renderer } from '../../base/renderer';
import type { ProjectionAnswer } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';
import { isLit, lineColor, type Lit, phaseColor } from './colours';
import { drawPhases } from './spiral';
import type { Colouring } from './state';

export interface CloudInput {
  readonly answer: ProjectionAnswer;
  readonly size: Size;
  readonly colour: Colouring;
  readonly labels: readonly string[];
  readonly lit: Lit;
  readonly hovered: number; // point, -1 for none
}

/** Marks are points of the cloud. */
export class CloudView implements KeptView<number> {
  readonly size: Size;
  private readonly scale: number;
  private readonly middle: Point;

  constructor(private readonly input: CloudInput) {
    this.size = input.size;
    const { x, y } = input.answer;
    const span = (v: readonly number[]): readonly [number, number] => [Math.min(0, ...v), Math.max(0, ...v)];
    const [x0, x1] = span(x);
    const [y0, y1] = span(y);
    this.scale = Math.min(
      (input.size.w - 60) / Math.max(1e-9, x1 - x0),
      (input.size.h - 70) / Math.max(1e-9, y1 - y0),
    );
    this.middle = { x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  }

  get basis(): unknown {
    const { hovered: _, ...drawn } = this.input;
    return drawn;
  }

  private at(i: number): Point {
    const { x, y } = this.input.answer;
    return {
      x: this.size.w / 2 + (x[i]! - this.middle.x) * this.scale,
      y: this.size.h / 2 - (y[i]! - this.middle.y) * this.scale + 8,
    };
  }

  draw(r: Renderer): void {
    const { edges, theta, colour, visits } = this.input.answer;
    const most = Math.max(1, ...edges.map((e) => e[2]!));
    for (const e of edges) {
      const [a, b] = [this.at(e[0]!), this.at(e[1]!)];
      r.line(a.x, a.y, b.x, b.y, {
        stroke: r.theme.rest,
        width: 0.5 + 2.5 * Math.sqrt(e[2]! / most),
        alpha: 0.6,
      });
    }
    const top = Math.max(1, ...visits);
    theta.forEach((t, i) => {
      const own =
        this.input.colour === 'coordinate' ? phaseColor(r.theme, t) : lineColor(r.theme, colour[i]!);
      const fill = isLit(this.input.lit, colour[i]!) ? own : r.theme.rest;
      r.path(circle(this.at(i), 3 + 4 * Math.sqrt(visits[i]! / top)), { fill, stroke: r.theme.bg, width: 1 });
    });
    if (this.input.colour === 'coordinate') drawPhases(r, this.size);
  }

  drawHover(r: Renderer): void {
    const { hovered, answer } = this.input;
    if (hovered < 0 || hovered >= answer.x.length) return;
    for (const e of answer.edges) {
      if (e[0] !== hovered && e[1] !== hovered) continue;
      const [a, b] = [this.at(e[0]!), this.at(e[1]!)];
      r.line(a.x, a.y, b.x, b.y, { stroke: r.theme.hover, width: 1.5 });
    }
    r.path(circle(this.at(hovered), 9), { stroke: r.theme.hover, width: 2.5, dash: [4, 2.5] });
  }

  hitTest(p: Point): number | undefined {
    let best: number | undefined;
    let distance = 12;
    this.input.answer.x.forEach((_, i) => {
      const q = this.at(i);
      const d = Math.hypot(q.x - p.x, q.y - p.y);
      if (d < distance) [best, distance] = [i, d];
    });
    return best;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    return stepIndex(
      from,
      dir === 'left' || dir === 'up' || dir === 'previous' ? -1 : 1,
      this.input.answer.x.length,
    );
  }

  describe(i: number): Said {
    const { theta, visits, colour } = this.input.answer;
    return {
      name: `Window ${count(i)}`,
      more: [
        `at ${(theta[i]! - Math.floor(theta[i]!)).toFixed(2)} of a turn`,
        `visited ${count(visits[i]!)} times`,
        this.input.labels[colour[i]!] ?? 'other',
      ].join(' · '),
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { x, y, theta, visits } = this.input.answer;
    return {
      head: ['window', 'x', 'y', 'turn', 'visits'],
      rows: x.map((v, i) => [
        String(i),
        v.toFixed(4),
        y[i]!.toFixed(4),
        theta[i]!.toFixed(4),
        String(visits[i]),
      ]),
    };
  }

  summary(): string {
    return `${count(this.input.answer.x.length)} distinct windows in the plane.`;
  }
}
