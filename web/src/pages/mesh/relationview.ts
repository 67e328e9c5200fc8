// Performance against physics: how many cells have which pair of values. A
// rectangle over it names the cells between its values.
import type { MeshRelation } from '../../api/wire';
import { exact, plural } from '../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../base/geometry';
import { circle, type Renderer } from '../../base/renderer';
import type { KeptView, Said, Table } from '../../frame/view';
import type { Bin, Binned, Brushed } from './binbrush.svelte';
import type { ColourScale } from './scales';

/** Ends of a rectangle, in values, both included. */
export interface Area {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

/** The scales of the variable and the field, whose equal parts the bins are. */
export interface PlotScales {
  readonly x: ColourScale;
  readonly y: ColourScale;
}

export interface RelationInput {
  readonly relation: MeshRelation;
  readonly bins: number;
  readonly scales: PlotScales;
  readonly x: string; // the variable
  readonly y: string; // the field
  readonly size: Size;
  readonly at: Point | undefined; // values of the hovered cell
  readonly brushed: Brushed | undefined;
  readonly cursor: Bin | undefined;
}

const PAD = { left: 56, right: 20, top: 20, below: 34 };
const APART = { x: 34, y: 12 }; // px between the words of ticks

export class RelationView implements KeptView<Bin>, Binned {
  readonly size: Size;
  private readonly plot: Rect;
  // Edges of the bins, which are equally wide in the plot.
  private readonly ex: readonly number[];
  private readonly ey: readonly number[];
  private readonly counts: readonly number[];

  constructor(private readonly input: RelationInput) {
    const density = input.relation.density!;
    this.size = input.size;
    this.counts = density.counts;
    // In the answer x is the performance field; here it goes up.
    this.ex = density.y;
    this.ey = density.x;
    this.plot = {
      x: PAD.left,
      y: PAD.top,
      w: Math.max(10, input.size.w - PAD.left - PAD.right),
      h: Math.max(10, input.size.h - PAD.top - PAD.below),
    };
  }

  get basis(): unknown {
    const { relation, bins, scales, x, y, size } = this.input;
    return { relation, bins, scales, x, y, size };
  }

  get basisOver(): unknown {
    const { at, brushed, cursor } = this.input;
    return { at, brushed, cursor, basis: this.basis };
  }

  private px(v: number): number {
    return this.plot.x + placeAmong(this.ex, v) * this.plot.w;
  }

  private py(v: number): number {
    return this.plot.y + (1 - placeAmong(this.ey, v)) * this.plot.h;
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
    const { x, y, scales } = this.input;
    r.text(named(y, scales.y), 12, 8, small);
    r.text(named(x, scales.x), plot.x + plot.w, this.size.h - 7, { ...small, align: 'right' });
    let last = Infinity;
    for (const t of ticksWithin(scales.y, this.ey)) {
      const at = this.py(t);
      r.line(plot.x, at, plot.x + plot.w, at, { stroke: r.theme.hair, width: 1 });
      if (last - at < APART.y) continue;
      last = at;
      r.text(tickText(t), plot.x - 6, at, { ...small, align: 'right' });
    }
    last = -Infinity;
    for (const t of ticksWithin(scales.x, this.ex)) {
      const at = this.px(t);
      r.line(at, plot.y, at, plot.y + plot.h, { stroke: r.theme.hair, width: 1 });
      if (at - last < APART.x) continue;
      last = at;
      const align = at + APART.x / 2 > this.size.w ? 'right' : 'center';
      r.text(tickText(t), align === 'right' ? this.size.w - 4 : at, plot.y + plot.h + 11, {
        ...small,
        align,
      });
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

  /** The values that these bins and those between them count: an edge belongs to the bin above it. */
  area(a: Bin, b: Bin): Area {
    const { x, y } = this.between(a, b);
    const [lastX, lastY] = [Math.max(a.x, b.x) + 1, Math.max(a.y, b.y) + 1].map((i) => i === this.input.bins);
    return { x: [x[0], lastX ? x[1] : below(x[1])], y: [y[0], lastY ? y[1] : below(y[1])] };
  }

  /** The edges around these bins. */
  private between(a: Bin, b: Bin): Area {
    return {
      x: [this.ex[Math.min(a.x, b.x)]!, this.ex[Math.max(a.x, b.x) + 1]!],
      y: [this.ey[Math.min(a.y, b.y)]!, this.ey[Math.max(a.y, b.y) + 1]!],
    };
  }

  cellsIn(bin: Bin): number {
    return this.counts[bin.x * this.input.bins + bin.y] ?? 0;
  }

  describe(bin: Bin): Said {
    const { x, y } = this.between(bin, bin);
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
      const a = this.between(bin, bin);
      return [[...a.x, ...a.y, n].map(String)];
    });
    return { head: [`${x} from`, `${x} to`, `${y} from`, `${y} to`, 'cells'], rows };
  }

  summary(): string {
    const { x, y, scales } = this.input;
    return `${named(y, scales.y)} against ${named(x, scales.x)}. Drag over cells to select their samples; arrow keys move, Shift and arrow keys take more, Enter selects`;
  }
}

function named(name: string, s: ColourScale): string {
  return s.name === 'linear' ? name : `${name}, ${s.name}`;
}

/** Where a value lies among edges that are equally far apart in the plot, 0 … 1. */
function placeAmong(edges: readonly number[], v: number): number {
  const last = edges.length - 2;
  let i = 0;
  while (i < last && edges[i + 1]! <= v) i++;
  const [from, to] = [edges[i]!, edges[i + 1]!];
  return (i + (to > from ? clamp((v - from) / (to - from), 0, 1) : 0.5)) / (last + 1);
}

function ticksWithin(s: ColourScale, edges: readonly number[]): readonly number[] {
  return s.ticks(6).filter((t) => t >= edges[0]! && t <= edges.at(-1)!);
}

/** The largest number below another one. */
function below(v: number): number {
  if (v === 0) return -Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([v]).buffer);
  bits[0]! += v > 0 ? -1n : 1n;
  return new Float64Array(bits.buffer)[0]!;
}

function tickText(v: number): string {
  return Math.abs(v) >= 1e4 || (v !== 0 && Math.abs(v) < 1e-3)
    ? v.toExponential(0).replace('e+', 'e')
    : exact(Number(v.toPrecision(3)));
}
