// A field and a variable along a straight line through the mesh: a step a cell.
import type { MeshLine, MeshLinePiece } from '../../api/wire';
import { exact, plural } from '../../base/format';
import { clamp, stepIndex, type Dir, type Point, type Rect, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { linearTicks, numberScale, placeOn, ticksOf, type NumberScale } from '../../base/scale';
import type { KeptView, Said, Table } from '../../frame/view';

export interface LineInput {
  readonly line: MeshLine;
  readonly field: string; // names in words; empty: not asked for
  readonly variable: string;
  readonly size: Size;
  readonly cursor: number | undefined;
}

/** One curve over the line. */
interface Curve {
  readonly name: string;
  readonly of: (p: MeshLinePiece) => number | null;
  readonly plot: Rect;
  readonly scale: NumberScale;
}

const PAD = { left: 64, right: 16, top: 18, below: 20, between: 22 };
const FONT = { size: 11 };

export class LineView implements KeptView<number> {
  readonly size: Size;
  private readonly curves: readonly Curve[];

  constructor(private readonly input: LineInput) {
    const { field, line, size, variable } = input;
    this.size = size;
    const asked = [
      { name: field, of: (p: MeshLinePiece) => p.value },
      { name: variable, of: (p: MeshLinePiece) => p.against },
    ].filter((c) => c.name !== '');
    const room = Math.max(10, size.h - PAD.top - PAD.below - PAD.between * (asked.length - 1));
    const h = room / Math.max(1, asked.length);
    this.curves = asked.map((c, i) => {
      const values = line.pieces.map(c.of).filter((v) => v !== null);
      return {
        ...c,
        plot: {
          x: PAD.left,
          y: PAD.top + i * (h + PAD.between),
          w: Math.max(10, size.w - PAD.left - PAD.right),
          h,
        },
        scale: numberScale(Math.min(...values), Math.max(...values), 'auto'),
      };
    });
  }

  get basis(): unknown {
    const { cursor: _, ...rest } = this.input;
    return rest;
  }

  get basisOver(): unknown {
    return { cursor: this.input.cursor, basis: this.basis };
  }

  private px(t: number): number {
    const { x, w } = this.curves[0]!.plot;
    return x + t * w;
  }

  draw(r: Renderer): void {
    for (const c of this.curves) this.drawCurve(r, c);
    const last = this.curves.at(-1);
    if (!last) return;
    const { length } = this.input.line;
    const small = { font: FONT, fill: r.theme.muted };
    for (const t of linearTicks(0, length, 8))
      r.text(exact(t), this.px(length > 0 ? t / length : 0), last.plot.y + last.plot.h + 10, {
        ...small,
        align: 'center',
      });
  }

  private drawCurve(r: Renderer, { name, of, plot, scale }: Curve): void {
    const small = { font: FONT, fill: r.theme.muted };
    r.text(`${name}${scale.log ? ', log' : ''}`, 12, plot.y - 9, small);
    const { pieces } = this.input.line;
    if (pieces.every((p) => of(p) === null)) {
      r.text('no cell on the line has a value', plot.x + 8, plot.y + plot.h / 2, small);
      return;
    }
    const y = (v: number): number => plot.y + (1 - clamp(placeOn(scale, v), 0, 1)) * plot.h;
    for (const t of ticksOf(scale, 3)) {
      r.line(plot.x, y(t), plot.x + plot.w, y(t), { stroke: r.theme.hair, width: 1 });
      r.text(exact(Number(t.toPrecision(3))), plot.x - 6, y(t), { ...small, align: 'right' });
    }
    r.line(plot.x, plot.y + plot.h, plot.x + plot.w, plot.y + plot.h, { stroke: r.theme.line, width: 1 });
    pieces.forEach((p, i) => {
      const v = of(p);
      if (v === null) return;
      const paint = { stroke: r.theme.text, width: 1.5 };
      r.line(this.px(p.from), y(v), this.px(p.to), y(v), paint);
      const before = pieces[i - 1];
      const was = before ? of(before) : null;
      // A step joins cells that touch; beside cells without a value the line is open.
      if (before && was !== null && before.to === p.from)
        r.line(this.px(p.from), y(was), this.px(p.from), y(v), { ...paint, width: 1 });
    });
  }

  drawHover(r: Renderer): void {
    const p = this.input.line.pieces[this.input.cursor ?? -1];
    if (!p) return;
    for (const { plot } of this.curves)
      r.rect(
        { x: this.px(p.from), y: plot.y, w: Math.max(1, this.px(p.to) - this.px(p.from)), h: plot.h },
        { stroke: r.theme.hover, width: 1.5 },
      );
  }

  hitTest(p: Point): number | undefined {
    const first = this.curves[0]?.plot;
    const last = this.curves.at(-1)?.plot;
    if (!first || !last || p.y < first.y || p.y > last.y + last.h) return undefined;
    const t = (p.x - first.x) / first.w;
    const i = this.input.line.pieces.findIndex((o) => t >= o.from && t < o.to);
    return i < 0 ? undefined : i;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const n = this.input.line.pieces.length;
    const by = { left: -1, right: 1, up: 1, down: -1, first: -n, last: n, previous: -1, next: 1 }[dir];
    return stepIndex(from, by, n);
  }

  describe(i: number): Said {
    const { field, line, variable } = this.input;
    const p = line.pieces[i]!;
    const at = (t: number): string => exact(Number((t * line.length).toPrecision(4)));
    const value =
      p.value === null
        ? 'no samples'
        : `${exact(p.value)}${line.unit && ` ${line.unit}`}, ${plural(p.samples, 'sample')}`;
    const parts = [
      `${at(p.from)} to ${at(p.to)} from the start`,
      ...(field ? [`${field} ${value}`] : []),
      ...(variable ? [`${variable} ${p.against === null ? 'no value' : exact(p.against)}`] : []),
    ];
    return { name: `Cell ${exact(p.cell)}`, more: `· ${parts.join(' · ')}` };
  }

  /** Which samples these are the server knows; the pane asks it. */
  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { field, line, variable } = this.input;
    return {
      head: ['cell', 'from', 'to', ...(field ? [field, 'samples'] : []), ...(variable ? [variable] : [])],
      rows: line.pieces.map((p) => [
        String(p.cell),
        String(p.from * line.length),
        String(p.to * line.length),
        ...(field ? [p.value === null ? '' : String(p.value), String(p.samples)] : []),
        ...(variable ? [p.against === null ? '' : String(p.against)] : []),
      ]),
    };
  }

  summary(): string {
    const { field, line, variable } = this.input;
    return `${[field, variable].filter(Boolean).join(' and ')} along a line through ${plural(line.pieces.length, 'cell')}. Arrow keys go from cell to cell, Enter selects the samples of one`;
  }
}
