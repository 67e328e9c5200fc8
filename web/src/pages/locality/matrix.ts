// Who evicts whom: the row lost a line and missed it later, the column brought
// the line that pushed it out. Beside it the misses by cause.
import { inkOn } from '../../base/color';
import { plural, short } from '../../base/format';
import { clamp, type Dir, type Point, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { amountFill } from '../../base/scale';
import type { Evictions } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';
import { cutInside } from '../../base/text';

export interface MatrixInput {
  readonly evictions: Evictions;
  readonly level: string;
  readonly selected: readonly string[]; // objects
  readonly size: Size;
  readonly hovered: number;
}

const FEW = 50; // fewer than this is an empty outline
const HEAD = 22;
const FOOT = 22;

export class MatrixView implements KeptView<number> {
  readonly size: Size;
  private readonly n: number;
  private readonly most: number;
  private readonly left: number;
  private readonly cell: Size;

  constructor(private readonly input: MatrixInput) {
    this.size = input.size;
    this.n = input.evictions.names.length;
    this.most = Math.max(1, ...input.evictions.lost.flat());
    this.left = 44;
    const causes = Math.min(130, this.size.w * 0.3);
    this.cell = {
      w: Math.max(8, (this.size.w - this.left - causes - 24) / Math.max(1, this.n)),
      h: Math.max(8, Math.min(30, (this.size.h - HEAD - FOOT) / Math.max(1, this.n))),
    };
  }

  get basis(): unknown {
    const { hovered: _, ...drawn } = this.input;
    return drawn;
  }

  private box(i: number): { x: number; y: number; w: number; h: number } {
    const [row, column] = [Math.floor(i / this.n), i % this.n];
    return {
      x: this.left + column * this.cell.w,
      y: HEAD + row * this.cell.h,
      w: this.cell.w - 1.5,
      h: this.cell.h - 1.5,
    };
  }

  draw(r: Renderer): void {
    const { evictions: e, selected } = this.input;
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    r.text('of', 12, 11, muted);
    e.names.forEach((name, i) => {
      const font = { size: 11, mono: true, weight: selected.includes(name) ? 600 : 400 };
      r.text(cutInside(name, this.cell.w - 2, font, r.measure), this.left + (i + 0.5) * this.cell.w, 11, {
        font,
        fill: r.theme.text,
        align: 'center',
      });
      r.text(
        cutInside(name, this.left - 10, font, r.measure),
        this.left - 6,
        HEAD + (i + 0.5) * this.cell.h,
        {
          font,
          fill: r.theme.text,
          align: 'right',
        },
      );
    });
    for (let i = 0; i < this.n * this.n; i++) this.drawCell(r, i);
    e.names.forEach((name, i) => {
      if (selected.includes(name))
        r.rect(
          { x: this.left - 1, y: HEAD + i * this.cell.h - 1, w: this.n * this.cell.w, h: this.cell.h },
          { stroke: r.theme.selected, width: 2 },
        );
    });
    this.drawCauses(r);
  }

  private drawCell(r: Renderer, i: number): void {
    const n = this.input.evictions.lost[Math.floor(i / this.n)]?.[i % this.n] ?? 0;
    const b = this.box(i);
    if (n < FEW) {
      r.rect(b, { fill: n > 0 ? r.theme.band : undefined, stroke: r.theme.hair, width: 1 });
      return;
    }
    const fill = amountFill(n / this.most, r.theme.dark);
    r.rect(b, { fill });
    const text = n < 1000 ? '<1' : String(Math.round(n / 1000));
    if (b.w > 14 && b.h > 10)
      r.text(text, b.x + b.w / 2, b.y + b.h / 2, { font: { size: 11 }, fill: inkOn(fill), align: 'center' });
  }

  private drawCauses(r: Renderer): void {
    const { causes } = this.input.evictions;
    const x = this.left + this.n * this.cell.w + 10;
    const w = this.size.w - 12 - x;
    const total = (c: (typeof causes)[number]): number =>
      c.first + Math.max(0, c.capacity) + Math.max(0, c.conflict);
    const most = Math.max(1, ...causes.map(total));
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    r.text('cause of misses', x, 11, muted);
    causes.forEach((c, i) => {
      let at = x;
      const y = HEAD + (i + 0.5) * this.cell.h - 5;
      const bar = (n: number, paint: Parameters<Renderer['rect']>[1]): void => {
        const part = (w * Math.max(0, n)) / most;
        if (part > 0) r.rect({ x: at, y, w: part, h: 10 }, paint);
        at += part;
      };
      bar(c.first, { hatch: { line: r.theme.rest, width: 1, period: 3 } });
      bar(c.capacity, { fill: r.theme.rest });
      bar(c.conflict, { fill: r.theme.text });
    });
    const y = this.size.h - 9;
    let at = 12;
    for (const [name, paint] of [
      ['first touch', { hatch: { line: r.theme.rest, width: 1, period: 3 } }],
      ['capacity', { fill: r.theme.rest }],
      ['conflict', { fill: r.theme.text }],
    ] as const) {
      r.rect({ x: at, y: y - 4, w: 8, h: 8 }, paint);
      r.text(name, at + 12, y, muted);
      at += 24 + r.measure(name, { size: 11 });
    }
    r.text('thousand misses', this.size.w - 12, y, { ...muted, align: 'right' });
  }

  drawHover(r: Renderer): void {
    if (this.input.hovered >= 0 && this.input.hovered < this.n * this.n)
      r.rect(this.box(this.input.hovered), { stroke: r.theme.hover, width: 2, dash: [4, 2.5] });
  }

  hitTest(p: Point): number | undefined {
    const [column, row] = [
      Math.floor((p.x - this.left) / this.cell.w),
      Math.floor((p.y - HEAD) / this.cell.h),
    ];
    return column >= 0 && column < this.n && row >= 0 && row < this.n ? row * this.n + column : undefined;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    if (this.n === 0) return undefined;
    if (from === undefined) return 0;
    const by = {
      left: -1,
      right: 1,
      up: -this.n,
      down: this.n,
      previous: -1,
      next: 1,
      first: -from,
      last: 1e6,
    }[dir];
    return clamp(from + by, 0, this.n * this.n - 1);
  }

  /** The objects of a cell: which lost a line, and to which. */
  pairOf(i: number): readonly [string, string] {
    const { names } = this.input.evictions;
    return [names[Math.floor(i / this.n)] ?? '', names[i % this.n] ?? ''];
  }

  describe(i: number): Said {
    const [lost, to] = this.pairOf(i);
    const n = this.input.evictions.lost[Math.floor(i / this.n)]?.[i % this.n] ?? 0;
    return {
      name: `${lost} lost ${plural(n, 'line')} to ${to}`,
      more: `· and missed them again in ${this.input.level}`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { names, lost, causes } = this.input.evictions;
    return {
      head: ['lost by', ...names.map((n) => `to ${n}`), 'first touch', 'capacity', 'conflict'],
      rows: names.map((n, i) => [
        n,
        ...(lost[i] ?? []).map(String),
        String(causes[i]?.first ?? 0),
        String(causes[i]?.capacity ?? 0),
        String(causes[i]?.conflict ?? 0),
      ]),
    };
  }

  summary(): string {
    let best = 0;
    const flat = this.input.evictions.lost.flat();
    flat.forEach((n, i) => (best = n > flat[best]! ? i : best));
    if (flat.length === 0) return 'Nothing was evicted.';
    const [lost, to] = this.pairOf(best);
    return `${lost} lost most lines, ${short(flat[best]!)}, to ${to} at ${this.input.level}.`;
  }
}
