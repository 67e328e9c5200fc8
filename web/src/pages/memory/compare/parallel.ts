// Parallel coordinates of two runs: bars from a centre line and lines between
// cells say what B has more or less of, each run scaled to 100 000 samples.
import { barPaint } from '../../../base/change';
import { mix, parseColor } from '../../../base/color';
import { count, plural } from '../../../base/format';
import type { Renderer, Strokes } from '../../../base/renderer';
import type { Theme } from '../../../base/theme';
import { HOVERED, SELECTED, type PairAnswer } from '../../../api/decode';
import { titleOf } from '../../../state/axes';
import type { Said, Table } from '../../../frame/view';
import { signed } from '../views/changes';
import { positions, type LineLayer } from '../views/density';
import {
  ParallelView,
  type AxisColumn,
  type BinMark,
  type ParallelInput,
  type ParallelMark,
} from '../views/parallel';
import type { WindowMark } from '../views/axisstrip';
import { beyondNoise, changeOf, countVerdict, NOT_COMPARED, VERDICT_HEAD, type Chance } from './verdict';

const EACH = 100_000; // samples that each run is scaled to
const GRID = 65_536;

/** Counts of both runs on an axis, and between it and the next. */
export interface AxisSides {
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  readonly why?: string | undefined; // they do not compare: both are shown, no difference
}

export interface ChangeParallelInput extends ParallelInput {
  readonly bars: readonly AxisSides[]; // of the selected samples, by axis
  readonly cells: readonly (readonly [a: PairAnswer, b: PairAnswer] | undefined)[];
  readonly totals: readonly [a: number, b: number]; // samples of the selection
  readonly allowance: number; // for how two runs of one program differ
}

interface Cell {
  readonly left: number;
  readonly right: number;
  readonly a: number;
  readonly b: number;
}

const merged = new WeakMap<Uint32Array, { readonly b: Uint32Array; readonly cells: readonly Cell[] }>();

/** The cells of two answers; those of the same counts, as after a hover, are known. */
function cellsOf(a: PairAnswer, b: PairAnswer): readonly Cell[] {
  const [of, and] = [a.counts[SELECTED], b.counts[SELECTED]];
  const known = merged.get(of);
  if (known?.b === and) return known.cells;
  const cells = mergeCells(a, b);
  merged.set(of, { b: and, cells });
  return cells;
}

/** The cells of two answers, each once. */
export function mergeCells(a: PairAnswer, b: PairAnswer): Cell[] {
  const found = new Map<number, { left: number; right: number; a: number; b: number }>();
  for (const [p, side] of [[a, 'a'] as const, [b, 'b'] as const]) {
    for (let i = 0; i < p.left.length; i++) {
      const n = p.counts[SELECTED][i]!;
      if (n === 0) continue;
      const key = p.left[i]! * GRID + p.right[i]!;
      const cell = found.get(key) ?? { left: p.left[i]!, right: p.right[i]!, a: 0, b: 0 };
      cell[side] += n;
      found.set(key, cell);
    }
  }
  return [...found.values()];
}

export class ChangeParallelView extends ParallelView {
  private readonly chance: Chance & { readonly scaleA: number; readonly scaleB: number };
  private readonly cells: readonly (readonly Cell[])[];
  private readonly top1: number; // the largest change of a cell
  private readonly ends: readonly number[]; // the largest change of each axis

  constructor(
    protected override readonly input: ChangeParallelInput,
    laid?: ParallelView,
  ) {
    super(input, laid);
    this.chance = {
      scaleA: EACH / Math.max(1, input.totals[0]),
      scaleB: EACH / Math.max(1, input.totals[1]),
      allowance: input.allowance,
    };
    const before = laid instanceof ChangeParallelView ? laid : undefined;
    this.cells = before?.cells ?? input.cells.map((p) => (p ? cellsOf(...p) : []));
    this.top1 = before?.top1 ?? Math.max(1e-9, ...this.cells.flatMap((c) => [this.largestOf(c)]));
    this.ends =
      before?.ends ??
      input.bars.map(({ a, b }) => {
        let most = 1e-9;
        b.forEach((n, i) => (most = Math.max(most, Math.abs(this.change(a[i] ?? 0, n)))));
        return most;
      });
  }

  private change(a: number, b: number): number {
    return changeOf(a, b, this.chance);
  }

  private largestOf(cells: readonly Cell[]): number {
    let most = 0;
    for (const c of cells) most = Math.max(most, Math.abs(this.change(c.a, c.b)));
    return most;
  }

  override get basisUnder(): unknown {
    return { plain: super.basisUnder, bars: this.input.bars, cells: this.input.cells };
  }

  /** The largest change that a line stands for. */
  override get largest(): number {
    return this.top1;
  }

  override pointedAt(hovered: BinMark | undefined, window: WindowMark | undefined): ChangeParallelView {
    const { strips } = this.input;
    return new ChangeParallelView(
      { ...this.input, hovered, strips: strips && { ...strips, hovered: window } },
      this,
    );
  }

  override *lines(layer: LineLayer, theme: Theme): Generator<Strokes> {
    if (layer !== 'selection') return;
    for (const [i, cells] of this.cells.entries()) {
      const [left, right] = [this.columns[i], this.columns[i + 1]];
      const area = this.gap(i);
      if (!left || !right || !area || this.isConstant(i) || this.isConstant(i + 1)) continue;
      const make = (): Strokes => this.strokesOf(cells, left, right, area, theme);
      // The difference of all samples comes back with each change of side.
      const { kept, selected } = this.input;
      yield kept && !selected ? kept.keep(`${i} change`, this.drawnFrom(i, area, theme), make) : make();
    }
  }

  /** All that the strokes of a gap depend on. */
  private drawnFrom(i: number, area: Strokes['area'], theme: Theme): (ArrayLike<number> | string)[] {
    const { scaleA, scaleB, allowance } = this.chance;
    const scales = [area.x, area.y, area.w, area.h, this.top1, scaleA, scaleB, allowance];
    const inks = [theme.bg, theme.rest, theme.more, theme.less];
    const places = (side: number, of: Uint16Array): Float64Array =>
      positions(of, (bin) => this.top + this.columns[i + side]!.layout.middle(bin));
    const of = this.input.cells[i]?.flatMap((p) => [
      ...[p.left, p.right, p.counts[SELECTED]],
      ...[places(0, p.left), places(1, p.right)],
    ]);
    return [[...scales, ...inks].join(), ...(of ?? [])];
  }

  /** Weak changes first; what noise explains lies beneath, thin and grey. */
  private strokesOf(
    cells: readonly Cell[],
    left: AxisColumn,
    right: AxisColumn,
    area: Strokes['area'],
    theme: Theme,
  ): Strokes {
    const order = cells
      .map((c) => ({ c, d: this.change(c.a, c.b), sure: beyondNoise(c.a, c.b, this.chance) }))
      .sort((x, y) => Number(x.sure) - Number(y.sure) || Math.abs(x.d) - Math.abs(y.d));
    const f = (): Float32Array => new Float32Array(order.length);
    const [x0, y0, x1, y1, width, alpha] = [f(), f(), f(), f(), f(), f()];
    const rgb = new Uint32Array(order.length);
    const grey = packed(mix(theme.bg, theme.rest, 0.3));
    order.forEach(({ c, d, sure }, i) => {
      const [p, q] = [left.layout.middle(c.left), right.layout.middle(c.right)];
      const share = Math.sqrt(Math.min(1, Math.abs(d) / this.top1));
      x0[i] = area.x;
      x1[i] = area.x + area.w;
      const placed = p === p && q === q;
      y0[i] = placed ? this.top + p : 0;
      y1[i] = placed ? this.top + q : 0;
      width[i] = !placed ? 0 : sure ? 0.8 + 5.2 * share : 0.6;
      rgb[i] = sure ? packed(mix(theme.bg, d > 0 ? theme.more : theme.less, 0.3 + 0.6 * share)) : grey;
      alpha[i] = placed ? (sure ? 0.55 + 0.45 * share : 0.6) : 0;
    });
    return { n: order.length, x0, y0, x1, y1, width, rgb, alpha, area };
  }

  protected override drawBars(r: Renderer, c: AxisColumn, layer: 0 | 1 | 2, fill: string): void {
    const i = this.columns.indexOf(c);
    const sides = this.input.bars[i];
    if (!sides || layer === HOVERED) {
      if (layer === HOVERED) this.drawHovered(r, c, fill);
      return;
    }
    if (layer !== SELECTED) return;
    if (sides.why) {
      this.drawBoth(r, c, sides);
      return;
    }
    const middle = this.middleOf(c);
    r.line(middle, this.top, middle, this.top + this.height, { stroke: r.theme.line, width: 1 });
    const end = this.ends[i]!;
    for (const s of c.layout.slots) {
      const [a, b] = [sides.a[s.bin] ?? 0, sides.b[s.bin] ?? 0];
      const d = this.change(a, b);
      if (d === 0) continue;
      const w = Math.max(0.8, (Math.abs(d) / end) * (c.barW / 2 - 3));
      const { y, h } = this.barRect(c, s, 0);
      const x = d > 0 ? middle + 0.5 : middle - 0.5 - w;
      r.rect({ x, y, w, h }, barPaint(r.theme, d, beyondNoise(a, b, this.chance)));
    }
    r.text(`±${count(Math.round(end))}`, c.x + c.w, this.top - 7, {
      font: { size: 10.5 },
      fill: r.theme.muted,
      align: 'right',
    });
  }

  /** A outlined and B filled on one scale, where they do not compare. */
  private drawBoth(r: Renderer, c: AxisColumn, { a, b }: AxisSides): void {
    const per = (n: number | undefined, scale: number): number => (n ?? 0) * scale;
    const amounts = c.layout.slots.map((s) => ({
      s,
      a: per(a[s.bin], this.chance.scaleA),
      b: per(b[s.bin], this.chance.scaleB),
    }));
    const most = Math.max(1e-9, ...amounts.flatMap((n) => [n.a, n.b]));
    for (const n of amounts) {
      const { x, y, h } = this.barRect(c, n.s, 0);
      const w = (amount: number): number => Math.max(0.8, (amount / most) * (c.barW - 4));
      if (n.b > 0) r.rect({ x, y, w: w(n.b), h }, { fill: r.theme['rest-bar'] });
      if (n.a > 0) r.rect({ x, y, w: w(n.a), h }, { stroke: r.theme.text, width: 1 });
    }
    r.text('A □ B ■', c.x + c.w, this.top - 7, { font: { size: 10.5 }, fill: r.theme.muted, align: 'right' });
  }

  private middleOf(c: AxisColumn): number {
    return c.axisX + 1 + c.barW / 2;
  }

  /** What is hovered has its place marked at the centre line: its change is in the status line. */
  private drawHovered(r: Renderer, c: AxisColumn, fill: string): void {
    const counts = c.layout.input.answer.counts[HOVERED];
    const x = this.middleOf(c);
    for (const s of c.layout.slots) {
      if ((counts[s.bin] ?? 0) === 0) continue;
      const { y, h } = this.barRect(c, s, 0);
      r.rect({ x: x - 1.5, y, w: 3, h: Math.max(1, h) }, { fill });
    }
  }

  override describe(m: ParallelMark): Said {
    const plain = super.describe(m);
    const sides = this.input.bars[m.axis];
    if (m.kind !== 'bin' || !sides) return plain;
    const [a, b] = [sides.a[m.bin] ?? 0, sides.b[m.bin] ?? 0];
    if (sides.why)
      return {
        name: plain.name,
        more: `· A ${plural(a, 'sample')} · B ${count(b)} · no difference: ${sides.why}`,
      };
    const d = this.change(a, b);
    const noise = beyondNoise(a, b, this.chance) ? '' : ' · within noise';
    const each = `B − A ${signed(Math.round(d), (v) => count(v))} of each ${count(EACH)}${noise}`;
    return { name: plain.name, more: `· A ${plural(a, 'sample')} · B ${count(b)} · ${each}` };
  }

  override rows(): Table {
    const rows = this.columns.flatMap((c, i) =>
      c.layout.slots.map((s) => {
        const sides = this.input.bars[i];
        const [a, b] = [sides?.a[s.bin] ?? 0, sides?.b[s.bin] ?? 0];
        const { column } = c.layout.input;
        return [
          ...[column.name, ...c.layout.cells(s.bin), column.unit],
          String(a * this.chance.scaleA),
          String(b * this.chance.scaleB),
          ...(sides?.why ? NOT_COMPARED : [String(this.change(a, b)), ...countVerdict(a, b, this.chance)]),
        ];
      }),
    );
    const head = [`samples of each ${EACH}: axis`, 'value', 'from', 'to', 'unit'];
    return { head: [...head, ...VERDICT_HEAD], rows };
  }

  override summary(): string {
    const titles = this.input.axes.map((a) => titleOf(a.column)).join(', ');
    return `Parallel coordinates of ${titles}: B − A, each run scaled to ${plural(EACH, 'sample')}; largest change of a cell ${count(Math.round(this.top1))}`;
  }
}

function packed(color: string): number {
  const [r, g, b] = parseColor(color);
  return (Math.round(r) << 16) | (Math.round(g) << 8) | Math.round(b);
}
