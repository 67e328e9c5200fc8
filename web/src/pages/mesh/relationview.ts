// Performance against physics: how many cells have which pair of values. A
// rectangle over it names the cells between its values.
import type { MeshRelation } from '../../api/wire';
import { exact, plural } from '../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../base/geometry';
import { circle, type Renderer } from '../../base/renderer';
import { placeOn, ticksOf, valueAt, type NumberScale } from '../../base/scale';
import type { KeptView, Said, Table } from '../../frame/view';
import type { Bin, Binned, Brushed } from './binbrush.svelte';

/** Ends of a rectangle, in values, both included. */
export interface Area {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

export interface RelationInput {
  readonly relation: MeshRelation;
  readonly bins: number;
  readonly x: string; // the variable
  readonly y: string; // the field
  readonly size: Size;
  readonly at: Point | undefined; // values of the hovered cell
  readonly brushed: Brushed | undefined;
  readonly cursor: Bin | undefined;
}

const PAD = { left: 56, right: 20, top: 20, below: 34 };
const APART = 34; // px between the ticks below

export class RelationView implements KeptView<Bin>, Binned {
  readonly size: Size;
  private readonly plot: Rect;
  private readonly sx: NumberScale;
  private readonly sy: NumberScale;
  private readonly counts: readonly number[];

  constructor(private readonly input: RelationInput) {
    const density = input.relation.density!;
    this.size = input.size;
    this.counts = density.counts;
    // In the answer x is the performance field; here it goes up.
    this.sx = scaleOf(density.y, density.log);
    this.sy = scaleOf(density.x, density.log);
    this.plot = {
      x: PAD.left,
      y: PAD.top,
      w: Math.max(10, input.size.w - PAD.left - PAD.right),
      h: Math.max(10, input.size.h - PAD.top - PAD.below),
    };
  }

  get basis(): unknown {
    const { relation, bins, x, y, size } = this.input;
    return { relation, bins, x, y, size };
  }

  get basisOver(): unknown {
    const { at, brushed, cursor } = this.input;
    return { at, brushed, cursor, basis: this.basis };
  }

  private px(v: number): number {
    return this.plot.x + placeOn(this.sx, v) * this.plot.w;
  }

  private py(v: number): number {
    return this.plot.y + (1 - placeOn(this.sy, v)) * this.plot.h;
  }

  draw(r: Renderer): void {
    this.drawAxes(r);
    const most = Math.log1p(this.counts.reduce((a, b) => Math.max(a, b), 1));
    this.counts.forEach((n, k) => {
      if (n === 0) return;
      const bin = { x: Math.floor(k / this.input.bins), y: k % this.input.bins };
      const box = this.rectangle(bin, bin);
      const alpha = 0.18 + (0.82 * Math.log1p(n)) / most;
      r.rect(
        { ...box, w: Math.max(1.5, box.w - 0.5), h: Math.max(1.5, box.h - 0.5) },
        { fill: r.theme.rest, alpha },
        1.5,
      );
    });
    for (const o of this.input.relation.picked)
      r.path(circle({ x: this.px(o.x), y: this.py(o.y) }, 3.5), {
        fill: r.theme.selected,
        stroke: r.theme.bg,
        width: 1,
      });
  }

  private drawAxes(r: Renderer): void {
    const { plot } = this;
    const small = { font: { size: 11 }, fill: r.theme.muted };
    const log = this.sx.log ? ', log' : '';
    r.text(`${this.input.y}${log}`, 12, 8, small);
    r.text(`${this.input.x}${log}`, plot.x + plot.w, this.size.h - 7, { ...small, align: 'right' });
    for (const t of ticksOf(this.sy)) {
      r.line(plot.x, this.py(t), plot.x + plot.w, this.py(t), { stroke: r.theme.hair, width: 1 });
      r.text(tickText(t), plot.x - 6, this.py(t), { ...small, align: 'right' });
    }
    let last = -Infinity;
    for (const t of ticksOf(this.sx)) {
      const x = this.px(t);
      r.line(x, plot.y, x, plot.y + plot.h, { stroke: r.theme.hair, width: 1 });
      if (x - last < APART) continue;
      last = x;
      r.text(tickText(t), x, plot.y + plot.h + 11, { ...small, align: 'center' });
    }
    r.line(plot.x, plot.y, plot.x, plot.y + plot.h, { stroke: r.theme.line, width: 1 });
    r.line(plot.x, plot.y + plot.h, plot.x + plot.w, plot.y + plot.h, { stroke: r.theme.line, width: 1 });
  }

  drawHover(r: Renderer): void {
    const { at, brushed, cursor } = this.input;
    if (at && !Number.isNaN(at.x) && !Number.isNaN(at.y))
      r.path(circle({ x: this.px(at.x), y: this.py(at.y) }, 6), {
        stroke: r.theme.hover,
        width: 2,
        dash: [3, 2],
      });
    if (brushed) r.rect(this.rectangle(brushed.from, brushed.to), { stroke: r.theme.selected, width: 1.5 });
    else if (cursor) r.rect(this.rectangle(cursor, cursor), { stroke: r.theme.hover, width: 1 });
  }

  private rectangle(a: Bin, b: Bin): Rect {
    const { bins } = this.input;
    const { plot } = this;
    const [x0, x1] = [Math.min(a.x, b.x), Math.max(a.x, b.x) + 1];
    const [y0, y1] = [Math.min(a.y, b.y), Math.max(a.y, b.y) + 1];
    return {
      x: plot.x + (x0 * plot.w) / bins,
      y: plot.y + plot.h - (y1 * plot.h) / bins,
      w: ((x1 - x0) * plot.w) / bins,
      h: ((y1 - y0) * plot.h) / bins,
    };
  }

  binAt(p: Point): Bin {
    const { bins } = this.input;
    return {
      x: clamp(Math.floor(((p.x - this.plot.x) / this.plot.w) * bins), 0, bins - 1),
      y: clamp(Math.floor((1 - (p.y - this.plot.y) / this.plot.h) * bins), 0, bins - 1),
    };
  }

  hitTest(p: Point): Bin | undefined {
    const { x, y, w, h } = this.plot;
    return p.x >= x && p.x < x + w && p.y >= y && p.y < y + h ? this.binAt(p) : undefined;
  }

  step(from: Bin | undefined, dir: Dir): Bin {
    const { bins } = this.input;
    const middle = Math.floor(bins / 2);
    const at = from ?? { x: middle, y: middle };
    const [dx, dy] = {
      left: [-1, 0],
      right: [1, 0],
      up: [0, 1],
      down: [0, -1],
      first: [-bins, 0],
      last: [bins, 0],
      previous: [-1, 0],
      next: [1, 0],
    }[dir] as [number, number];
    return { x: clamp(at.x + dx, 0, bins - 1), y: clamp(at.y + dy, 0, bins - 1) };
  }

  area(a: Bin, b: Bin): Area {
    const { bins } = this.input;
    const end = (s: NumberScale, i: number): number =>
      i === 0 ? s.min : i === bins ? s.max : valueAt(s, i / bins);
    return {
      x: [end(this.sx, Math.min(a.x, b.x)), end(this.sx, Math.max(a.x, b.x) + 1)],
      y: [end(this.sy, Math.min(a.y, b.y)), end(this.sy, Math.max(a.y, b.y) + 1)],
    };
  }

  cellsIn(bin: Bin): number {
    return this.counts[bin.x * this.input.bins + bin.y] ?? 0;
  }

  describe(bin: Bin): Said {
    const { x, y } = this.area(bin, bin);
    return {
      name: 'Cells',
      more: `${plural(this.cellsIn(bin), 'cell')} · ${this.input.x} ${tickText(x[0])} to ${tickText(x[1])} · ${this.input.y} ${tickText(y[0])} to ${tickText(y[1])}`,
    };
  }

  /** Which cells these are the server knows; the pane asks it. */
  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { bins, x, y } = this.input;
    const rows = this.counts.flatMap((n, k) => {
      if (n === 0) return [];
      const bin = { x: Math.floor(k / bins), y: k % bins };
      const a = this.area(bin, bin);
      return [[...a.x, ...a.y, n].map(String)];
    });
    return { head: [`${x} from`, `${x} to`, `${y} from`, `${y} to`, 'cells'], rows };
  }

  summary(): string {
    return `${this.input.y} against ${this.input.x}. Drag over cells to select their samples; arrow keys move, Shift and arrow keys take more, Enter selects`;
  }
}

function scaleOf(edges: readonly number[], log: boolean): NumberScale {
  return { min: edges[0]!, max: Math.max(edges.at(-1)!, edges[0]! + 1e-300), log };
}

function tickText(v: number): string {
  return Math.abs(v) >= 1e4 || (v !== 0 && Math.abs(v) < 1e-3)
    ? v.toExponential(0).replace('e+', 'e')
    : exact(Number(v.toPrecision(3)));
}
