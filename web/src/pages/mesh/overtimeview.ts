// A field in space and time: a row a region, a column a dump. Regions without samples
// before a dump have no colour there.
import type { TimeRow } from '../../api/wire';
import { count, exact, plural } from '../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { fit } from '../../base/text';
import type { KeptView, Said, Table } from '../../frame/view';
import type { Bin, Binned, Brushed } from './binbrush.svelte';
import type { Theme } from '../../base/theme';
import { meshColor } from './colours';
import { colourScale, scaleWords, type ColourScale } from './scales';

export interface OverTimeRow extends TimeRow {
  readonly region: boolean; // else all cells, or those that are selected
}

export interface OverTimeInput {
  readonly rows: readonly OverTimeRow[];
  readonly dumps: readonly string[]; // their names
  readonly iterations: readonly number[];
  readonly by: string; // what tells regions apart
  readonly field: string;
  readonly unit: string;
  readonly now: number; // the dump that is shown
  readonly size: Size;
  readonly brushed: Brushed | undefined;
  readonly cursor: Bin | undefined;
}

const PAD = { left: 132, right: 84, top: 22, below: 6 };
const FONT = { size: 11 };
const LINE = 12; // px a label needs
const APART = 44; // px between labels of dumps

export class OverTimeView implements KeptView<Bin>, Binned {
  readonly size: Size;
  readonly scale: ColourScale;
  private readonly plot: Rect;

  constructor(private readonly input: OverTimeInput) {
    this.size = input.size;
    this.plot = {
      x: PAD.left,
      y: PAD.top,
      w: Math.max(10, input.size.w - PAD.left - PAD.right),
      h: Math.max(10, input.size.h - PAD.top - PAD.below),
    };
    const spread = input.rows.flatMap((r) => r.values.filter((v) => v !== null)).sort((a, b) => a - b);
    this.scale = colourScale({ min: spread[0] ?? null, max: spread.at(-1) ?? null, spread }, 'auto');
  }

  get basis(): unknown {
    const { cursor: _, brushed: __, ...rest } = this.input;
    return rest;
  }

  get basisOver(): unknown {
    const { brushed, cursor } = this.input;
    return { brushed, cursor, basis: this.basis };
  }

  private rectangle({ from, to }: Brushed): Rect {
    const { plot } = this;
    const { dumps, rows } = this.input;
    const [x0, x1] = [Math.min(from.x, to.x), Math.max(from.x, to.x) + 1];
    const [y0, y1] = [Math.min(from.y, to.y), Math.max(from.y, to.y) + 1];
    return {
      x: plot.x + (x0 * plot.w) / dumps.length,
      y: plot.y + (y0 * plot.h) / rows.length,
      w: ((x1 - x0) * plot.w) / dumps.length,
      h: ((y1 - y0) * plot.h) / rows.length,
    };
  }

  draw(r: Renderer): void {
    const none = { line: r.theme['hair-strong'], width: 1, period: 5, ground: r.theme.surface };
    this.input.rows.forEach((row, y) =>
      row.values.forEach((v, x) => {
        const box = this.rectangle({ from: { x, y }, to: { x, y } });
        const gap = { ...box, w: box.w - (box.w > 6 ? 1 : 0), h: box.h - (box.h > 6 ? 1 : 0) };
        r.rect(gap, v === null ? { hatch: none } : { fill: this.colour(v, r.theme) });
      }),
    );
    this.drawLabels(r);
    this.drawLegend(r);
  }

  private colour(v: number, theme: Theme): string {
    return meshColor(clamp(this.scale.place(v), 0, 1), theme, this.scale);
  }

  private drawLabels(r: Renderer): void {
    const { by, dumps, iterations, now, rows } = this.input;
    const { plot } = this;
    const small = { font: FONT, fill: r.theme.muted };
    r.text(fit(by, PAD.left - 20, FONT, r.measure), 12, 11, small);
    const high = plot.h / rows.length;
    let last = -Infinity;
    rows.forEach((row, y) => {
      const at = plot.y + (y + 0.5) * high;
      if (at - last < LINE) return;
      last = at;
      const style = row.region ? small : { font: FONT, fill: r.theme.text };
      r.text(fit(row.label, PAD.left - 20, FONT, r.measure), plot.x - 8, at, { ...style, align: 'right' });
    });
    last = -Infinity;
    dumps.forEach((_, x) => {
      const at = plot.x + ((x + 0.5) * plot.w) / dumps.length;
      const here = x === now;
      if (at - last < APART && !here) return;
      last = at;
      r.text(count(iterations[x]!), at, 11, {
        font: here ? { ...FONT, weight: 600 } : FONT,
        fill: here ? r.theme.selected : r.theme.muted,
        align: 'center',
      });
    });
    const box = this.rectangle({ from: { x: now, y: 0 }, to: { x: now, y: rows.length - 1 } });
    r.rect(box, { stroke: r.theme.selected, width: 1.5 });
  }

  private drawLegend(r: Renderer): void {
    const { plot, scale } = this;
    const x = plot.x + plot.w + 14;
    const small = { font: FONT, fill: r.theme.muted };
    const steps = 48;
    for (let i = 0; i < steps; i++)
      r.rect(
        { x, y: plot.y + (i * plot.h) / steps, w: 10, h: plot.h / steps + 0.5 },
        { fill: meshColor(1 - (i + 0.5) / steps, r.theme, scale) },
      );
    for (const [v, y] of [
      [scale.max, plot.y + 5],
      [scale.value(0.5), plot.y + plot.h / 2],
      [scale.min, plot.y + plot.h - 5],
    ] as const)
      r.text(exact(Number(v.toPrecision(3))), x + 15, y, small);
    r.text(scale.name, x, 11, small);
  }

  drawHover(r: Renderer): void {
    const { brushed, cursor } = this.input;
    if (brushed) r.rect(this.rectangle(brushed), { stroke: r.theme.selected, width: 2 });
    else if (cursor)
      r.rect(this.rectangle({ from: cursor, to: cursor }), { stroke: r.theme.hover, width: 1.5 });
  }

  binAt(p: Point): Bin {
    const { dumps, rows } = this.input;
    return {
      x: clamp(Math.floor(((p.x - this.plot.x) / this.plot.w) * dumps.length), 0, dumps.length - 1),
      y: clamp(Math.floor(((p.y - this.plot.y) / this.plot.h) * rows.length), 0, rows.length - 1),
    };
  }

  hitTest(p: Point): Bin | undefined {
    const { x, y, w, h } = this.plot;
    return p.x >= x && p.x < x + w && p.y >= y && p.y < y + h ? this.binAt(p) : undefined;
  }

  step(from: Bin | undefined, dir: Dir): Bin {
    const { dumps, now, rows } = this.input;
    if (!from) return { x: now, y: 0 };
    const [dx, dy] = {
      left: [-1, 0],
      right: [1, 0],
      up: [0, -1],
      down: [0, 1],
      first: [-dumps.length, 0],
      last: [dumps.length, 0],
      previous: [-1, 0],
      next: [1, 0],
    }[dir] as [number, number];
    return { x: clamp(from.x + dx, 0, dumps.length - 1), y: clamp(from.y + dy, 0, rows.length - 1) };
  }

  describe({ x, y }: Bin): Said {
    const { by, dumps, field, rows, unit } = this.input;
    const row = rows[y]!;
    const v = row.values[x];
    const value =
      v === null || v === undefined
        ? 'no samples'
        : `${exact(v)}${unit && ` ${unit}`}, ${plural(row.samples[x] ?? 0, 'sample')}`;
    return {
      name: row.region ? `${by} ${row.label}` : row.label,
      more: `· ${dumps[x]} · ${field} ${value}`,
    };
  }

  /** Which samples these are the server knows; the pane asks it. */
  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { by, field, iterations, rows } = this.input;
    return {
      head: [by, 'dump', field, 'samples'],
      rows: rows.flatMap((row) =>
        row.values.map((v, x) => [
          row.label,
          String(iterations[x]),
          v === null ? '' : String(v),
          String(row.samples[x]),
        ]),
      ),
    };
  }

  summary(): string {
    const { by, dumps, field, rows } = this.input;
    return `${field} in ${plural(rows.length, 'row')} by ${by} at ${plural(dumps.length, 'dump')}, on a ${scaleWords(this.scale)}. A click goes to the dump; drag, or Shift and arrow keys, then Enter, selects the samples`;
  }
}
