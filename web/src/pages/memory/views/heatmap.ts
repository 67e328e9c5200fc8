// Time against CPUs, threads, objects or functions: a cell is coloured by its
// samples, their mean latency, or the share of them that went beyond L2. A cell
// without samples has no colour; stretches without recording are hatched.
import type { AxisAnswer } from '../../../api/decode';
import type { ColumnInfo, HeatRow } from '../../../api/wire';
import { parseColor, type AmountMap } from '../../../base/color';
import { count, decimal, percent, roughly, plural } from '../../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { amountFill, amountScale, numberScale, type AmountScale } from '../../../base/scale';
import { fit, type Font } from '../../../base/text';
import type { Theme } from '../../../base/theme';
import { rampOf, type ViewLegend } from '../../../frame/legend';
import type { KeptView, Said, Table } from '../../../frame/view';
import { clauseOf, type Term } from '../../../state/selection';
import { AxisLayout } from './axis';
import { drawGaps, sayGaps, type TimeGap } from './gaps';

export type HeatValue = 'samples' | 'mean' | 'deep';

/** The decoded answer; a cell is at row × windows + window. */
export interface HeatGrid {
  readonly by: string;
  readonly edges: Float64Array;
  readonly rows: readonly HeatRow[];
  readonly samples: Uint32Array;
  readonly sums: Float64Array; // empty where no latency was recorded
  readonly valued: Uint32Array;
  readonly levels: readonly string[];
  readonly mix: readonly Uint32Array[];
  readonly missing: number;
  readonly still: string; // which rows and which question it is about
}

export interface HeatmapInput {
  readonly grid: HeatGrid;
  readonly beside?: HeatGrid | undefined; // of the other of two runs: colours of both have one scale
  readonly value: HeatValue;
  readonly time: ColumnInfo;
  readonly by: ColumnInfo;
  readonly unit: string; // of latencies
  readonly modelled: boolean;
  readonly size: Size;
  readonly gaps: readonly TimeGap[];
  readonly brush: { readonly time: readonly Term[]; readonly rows: readonly Term[] };
  readonly map: AmountMap;
}

export interface HeatMark {
  readonly row: number;
  readonly window: number;
}

/** The levels that a core reaches without leaving its own caches, as in heatmap.go. */
const SHALLOW: ReadonlySet<string> = new Set(['L1', 'LFB', 'L2']);
const LEFT = 96;
const RIGHT = 14;
const TOP = 6;
const BOTTOM = 24;
const LABEL: Font = { size: 11 };

export class HeatmapView implements KeptView<HeatMark> {
  readonly size: Size;
  readonly layout: AxisLayout;
  readonly plot: Rect;
  protected readonly windows: number;
  private readonly scale: AmountScale | undefined;

  constructor(protected readonly input: HeatmapInput) {
    const { grid, size } = input;
    this.size = size;
    this.windows = grid.edges.length - 1;
    this.plot = {
      x: LEFT,
      y: TOP,
      w: Math.max(1, size.w - LEFT - RIGHT),
      h: Math.max(1, size.h - TOP - BOTTOM),
    };
    this.layout = new AxisLayout(
      { column: input.time, answer: axisOf(grid, input.time.name), subtitle: '', gaps: input.gaps },
      this.plot.w,
      true,
    );
    const values = [grid, ...(input.beside ? [input.beside] : [])].flatMap((g) =>
      Array.from(g.samples, (_, i) => this.valueOf(i, g)).filter((v) => v !== undefined),
    );
    this.scale = amountScale(values);
  }

  get basis(): unknown {
    return this.input;
  }

  /** What a cell is coloured by; undefined where it has no such sample. */
  valueOf(cell: number, grid = this.input.grid): number | undefined {
    const { value } = this.input;
    if (value === 'samples') return grid.samples[cell] ? grid.samples[cell] : undefined;
    if (value === 'mean') return grid.valued[cell] ? grid.sums[cell]! / grid.valued[cell] : undefined;
    let [known, beyond] = [0, 0];
    grid.levels.forEach((name, l) => {
      if (name === '') return;
      known += grid.mix[l]![cell]!;
      if (!SHALLOW.has(name)) beyond += grid.mix[l]![cell]!;
    });
    return known > 0 ? beyond / known : undefined;
  }

  private get rowHeight(): number {
    return this.plot.h / Math.max(1, this.input.grid.rows.length);
  }

  draw(r: Renderer): void {
    this.drawCells(r);
    drawGaps(r, this.layout, this.plot, true);
    r.rect(this.plot, { stroke: r.theme.line, width: 1 });
    this.drawLabels(r);
    this.drawTicks(r);
    this.drawBrush(r);
  }

  private drawCells(r: Renderer): void {
    const { grid } = this.input;
    const rgba = new Uint8ClampedArray(4 * grid.samples.length);
    const tones = new Map<string, readonly [number, number, number]>();
    grid.samples.forEach((_, i) => {
      const fill = this.fillOf(i, r.theme);
      if (fill === undefined) return;
      let rgb = tones.get(fill);
      if (!rgb) tones.set(fill, (rgb = parseColor(fill)));
      rgba.set([...rgb, 255], 4 * i);
    });
    r.cells({ columns: this.windows, rows: grid.rows.length, rgba, area: this.plot });
  }

  /** The colour of a cell; none where it has no value. */
  protected fillOf(cell: number, theme: Theme): string | undefined {
    const v = this.valueOf(cell);
    if (v === undefined || !this.scale) return undefined;
    const tone = Math.round(63 * clamp(this.scale.t(v), 0, 1));
    return amountFill(0.08 + (0.92 * tone) / 63, theme.dark, this.input.map);
  }

  /** As many names as there is room for. */
  private drawLabels(r: Renderer): void {
    const every = Math.max(1, Math.ceil(13 / this.rowHeight));
    this.input.grid.rows.forEach((row, i) => {
      if (i % every !== 0) return;
      const y = this.plot.y + (i + 0.5) * this.rowHeight;
      r.text(fit(this.nameOf(row), LEFT - 12, LABEL, r.measure), LEFT - 6, y, {
        font: LABEL,
        fill: r.theme.muted,
        align: 'right',
      });
    });
  }

  private drawTicks(r: Renderer): void {
    const y = this.plot.y + this.plot.h;
    for (const t of this.layout.ticks(70)) {
      const x = this.plot.x + t.at;
      r.line(x, y, x, y + 4, { stroke: r.theme.line, width: 1 });
      r.text(t.label, clamp(x, this.plot.x + 12, this.size.w - 24), y + 12, {
        font: LABEL,
        fill: r.theme.muted,
        align: 'center',
      });
    }
    r.text(this.layout.scale.unit, LEFT - 6, y + 12, { font: LABEL, fill: r.theme.muted, align: 'right' });
  }

  /** What is selected of both axes is framed. */
  private drawBrush(r: Renderer): void {
    const { brush, grid } = this.input;
    const { plot } = this;
    const times = brush.time.flatMap((t) =>
      t.kind === 'range'
        ? [
            [t.lo, t.hi].map((v, i) =>
              this.layout.positionOf(Number(v ?? (i === 0 ? grid.edges[0] : grid.edges.at(-1)))),
            ),
          ]
        : [],
    );
    const rows = grid.rows.flatMap((row, i) => (brush.rows.some((t) => this.holds(t, row)) ? [i] : []));
    if (times.length === 0 && rows.length === 0) return;
    const paint = { stroke: r.theme.selected, width: 2 };
    for (const [from, till] of times.length > 0 ? times : [[0, plot.w]])
      for (const [first, last] of rows.length > 0 ? stretches(rows) : [[0, grid.rows.length - 1] as const])
        r.rect(
          {
            x: plot.x + clamp(from!, 0, plot.w),
            y: plot.y + first * this.rowHeight,
            w: Math.max(2, clamp(till!, 0, plot.w) - clamp(from!, 0, plot.w)),
            h: (last - first + 1) * this.rowHeight,
          },
          paint,
        );
  }

  private holds(t: Term, row: HeatRow): boolean {
    if (t.kind === 'values') return !row.rest && t.values.some((v) => String(v) === row.name);
    if (t.kind !== 'range') return false;
    const v = Number(row.name);
    return v >= Number(t.lo ?? -Infinity) && v <= Number(t.hi ?? Infinity);
  }

  drawHover(): void {}

  hitTest(p: Point): HeatMark | undefined {
    const { plot } = this;
    if (p.x < plot.x || p.x >= plot.x + plot.w || p.y < plot.y || p.y >= plot.y + plot.h) return undefined;
    const row = Math.floor((p.y - plot.y) / this.rowHeight);
    const window = Math.floor(((p.x - plot.x) / plot.w) * this.windows);
    return row < this.input.grid.rows.length ? { row, window } : undefined;
  }

  step(before: HeatMark | undefined, dir: Dir): HeatMark | undefined {
    const { rows } = this.input.grid;
    if (rows.length === 0) return undefined;
    if (!before) return { row: 0, window: 0 };
    const from = {
      row: Math.min(before.row, rows.length - 1),
      window: Math.min(before.window, this.windows - 1),
    };
    const by = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] }[dir as 'up'];
    if (by)
      return {
        row: clamp(from.row + by[0]!, 0, rows.length - 1),
        window: clamp(from.window + by[1]!, 0, this.windows - 1),
      };
    if (dir === 'first' || dir === 'last') return { ...from, window: dir === 'first' ? 0 : this.windows - 1 };
    const step = dir === 'previous' ? -1 : 1;
    for (let i = from.row * this.windows + from.window + step; i >= 0; i += step) {
      if (i >= this.input.grid.samples.length) break;
      if (this.input.grid.samples[i]! > 0)
        return { row: Math.floor(i / this.windows), window: i % this.windows };
    }
    return from;
  }

  protected nameOf(row: HeatRow): string {
    return row.last === '' ? row.name : `${row.name} – ${row.last}`;
  }

  describe(m: HeatMark): Said {
    const { grid, by, unit, modelled } = this.input;
    const [row, i] = [grid.rows[m.row], m.row * this.windows + m.window];
    // The grid may have become smaller under a mark that was set before.
    if (!row || m.window >= this.windows) return { name: by.name, more: '· not in this picture' };
    const samples = grid.samples[i]!;
    const when = `${this.layout.say(grid.edges[m.window]!)} – ${this.layout.say(grid.edges[m.window + 1]!)} ${this.layout.scale.unit}`;
    const parts = [plural(samples, 'sample')];
    if (grid.valued[i])
      parts.push(`${roughly(modelled)}${decimal(grid.sums[i]! / grid.valued[i], 1)} ${unit} on average`);
    const mix = grid.levels.flatMap((name, l) => {
      const n = grid.mix[l]![i]!;
      return n > 0 ? [`${name || 'level not recorded'} ${percent(n, samples)}`] : [];
    });
    return {
      name: `${by.name} ${this.nameOf(row)}, ${when}`,
      more: `· ${[...parts, ...mix].join(' · ')}`,
      counted: samples,
    };
  }

  /** The samples of a row; those of "n more" cannot be named. */
  rowTerms(first: number, last: number): Term[] {
    const { grid, by } = this.input;
    const rows = grid.rows.slice(first, last + 1).filter((r) => !r.rest);
    if (rows.length === 0) return [];
    if (by.kind === 'category') return [{ kind: 'values', column: by.name, values: rows.map((r) => r.name) }];
    const [lo, hi] = [Number(rows[0]!.name), Number(rows.at(-1)!.last || rows.at(-1)!.name)];
    if (lo === hi) return [{ kind: 'values', column: by.name, values: [lo] }];
    return [{ kind: 'range', column: by.name, lo, hi }];
  }

  /** The stretch of some windows; the last one has its end. */
  timeTerms(first: number, last: number): Term[] {
    const { grid, time } = this.input;
    const end = last >= this.windows - 1;
    const [lo, hi] = [grid.edges[first]!, grid.edges[last + 1]!];
    return [{ kind: 'range', column: time.name, lo, hi, ...(!end && { open: true as const }) }];
  }

  wanted(m: HeatMark): Term | undefined {
    const rows = this.rowTerms(m.row, m.row);
    if (rows.length === 0 || m.window >= this.windows) return undefined;
    return {
      kind: 'all',
      clauses: [clauseOf(...this.timeTerms(m.window, m.window)), clauseOf(...rows)],
    };
  }

  rows(): Table {
    const { grid, by, time, unit } = this.input;
    const head = [
      by.name,
      `from ${time.unit}`.trim(),
      `to ${time.unit}`.trim(),
      'samples',
      ...(grid.sums.length > 0 ? [`sum ${unit}`.trim(), `mean ${unit}`.trim()] : []),
      ...grid.levels.map((l) => l || 'not recorded'),
    ];
    const rows: string[][] = [];
    grid.samples.forEach((n, i) => {
      if (n === 0) return;
      const [row, w] = [grid.rows[Math.floor(i / this.windows)]!, i % this.windows];
      rows.push([
        this.nameOf(row),
        String(grid.edges[w]),
        String(grid.edges[w + 1]),
        String(n),
        ...(grid.sums.length > 0
          ? [String(grid.sums[i]), grid.valued[i] ? String(grid.sums[i]! / grid.valued[i]) : '']
          : []),
        ...grid.mix.map((m) => String(m[i])),
      ]);
    });
    return { head, rows };
  }

  protected say(v: number): string {
    const { value } = this.input;
    return value === 'deep' ? percent(v, 1) : value === 'mean' ? decimal(v, 0) : count(v);
  }

  /** The legend of the header and of files. */
  legendFor(theme: Theme): ViewLegend | undefined {
    if (!this.scale) return undefined;
    const { lo, hi } = this.scale;
    const colour = (t: number): string => amountFill(0.08 + 0.92 * t, theme.dark, this.input.map);
    return { ramp: rampOf(numberScale(lo, hi, 'linear'), colour, (v) => this.say(v), 3), unit: this.unit };
  }

  get unit(): string {
    const { value, unit } = this.input;
    return value === 'mean' ? `mean ${unit}` : value === 'deep' ? 'beyond L2' : 'samples';
  }

  summary(): string {
    const { grid, by, gaps } = this.input;
    const missing =
      grid.missing > 0 ? `; ${plural(grid.missing, 'sample')} without a time or ${by.name}` : '';
    return `Heat map of ${this.unit} over ${this.input.time.name} and ${plural(grid.rows.length, 'row')} of ${by.name}${missing}${sayGaps(gaps)}`;
  }
}

/** Neighbouring rows as first and last. */
function stretches(rows: readonly number[]): (readonly [number, number])[] {
  const out: [number, number][] = [];
  for (const i of rows) {
    const last = out.at(-1);
    if (last && last[1] === i - 1) last[1] = i;
    else out.push([i, i]);
  }
  return out;
}

/** The windows as an axis, for its places and ticks. */
function axisOf(grid: HeatGrid, name: string): AxisAnswer {
  const [lo, hi, none] = [grid.edges[0] ?? 0, grid.edges.at(-1) ?? 0, new Uint32Array()];
  return {
    column: name,
    scale: 'linear',
    bins: grid.edges.length - 1,
    lo,
    hi,
    edges: grid.edges,
    labels: [],
    more: 0,
    missing: false,
    below: 0,
    above: 0,
    min: lo,
    max: hi,
    counts: [none, none, none],
    still: grid.still,
  };
}
