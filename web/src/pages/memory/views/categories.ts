// Any axis of names, as many of them as fit, in columns of rows: name, bar,
// samples. In order of appearance, of rank, or of the names themselves.
import { count, plural } from '../../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Paint, Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import { ALL, HOVERED, SELECTED } from '../../../api/decode';
import { same, type Term } from '../../../state/selection';
import { titleOf } from '../../../state/axes';
import { axisBasis, AxisLayout, extent, type AxisInput } from './axis';
import type { KeptView, Said, Table } from '../../../frame/view';

export interface CategoriesInput {
  readonly axis: AxisInput;
  readonly size: Size;
  readonly find: string; // shows only names that contain this
  readonly scroll: number; // columns scrolled out at the left
  readonly chosen: readonly Term[];
}

export interface CategoryMark {
  readonly bin: number;
}

const ROW = 21;
const PAD = 12;
export const NAME = 118;
export const BODY: Font = { size: 12 };

export class CategoriesView implements KeptView<CategoryMark> {
  readonly size: Size;
  readonly shown: readonly number[]; // bins
  protected readonly layout: AxisLayout;
  private readonly perColumn: number;
  protected readonly most: number;

  constructor(protected readonly input: CategoriesInput) {
    this.size = input.size;
    this.layout = new AxisLayout(input.axis, 1000);
    const wanted = input.find.trim().toLowerCase();
    this.shown = this.layout.slots
      .filter((s) => (s.label ?? '').toLowerCase().includes(wanted))
      .map((s) => s.bin);
    this.perColumn = Math.max(1, Math.floor((input.size.h - 6 - this.top) / ROW));
    this.most = this.mostOf();
  }

  protected mostOf(): number {
    return Math.max(1, ...extent(this.input.axis.answer));
  }

  /** Px above the rows. */
  protected get top(): number {
    return 6;
  }

  /** Of a column of rows. */
  protected get width(): number {
    return 268;
  }

  get basis(): unknown {
    return { ...this.input, axis: axisBasis(this.input.axis) };
  }

  columnsInAll(): number {
    return Math.ceil(this.shown.length / this.perColumn);
  }

  private box(k: number): Rect {
    const column = Math.floor(k / this.perColumn) - this.input.scroll;
    return {
      x: PAD + column * (this.width + 16),
      y: this.top + (k % this.perColumn) * ROW,
      w: this.width,
      h: 20,
    };
  }

  protected visible(f: (bin: number, box: Rect) => void): void {
    this.shown.forEach((bin, k) => {
      const box = this.box(k);
      if (box.x >= 0 && box.x < this.size.w) f(bin, box);
    });
  }

  draw(r: Renderer): void {
    if (this.shown.length === 0) {
      r.text(`No ${titleOf(this.input.axis.column)} contains “${this.input.find}”.`, PAD, 16, {
        font: BODY,
        fill: r.theme.muted,
      });
      return;
    }
    this.visible((bin, box) => {
      this.drawRow(r, bin, box);
      const term = this.layout.binTerm(bin);
      if (term && this.input.chosen.some((c) => same(c, term)))
        r.rect({ x: box.x - 4, y: box.y, w: box.w + 8, h: 20 }, { stroke: r.theme.selected, width: 1.5 }, 2);
    });
  }

  protected drawRow(r: Renderer, bin: number, box: Rect): void {
    const { beside, counts } = this.input.axis.answer;
    const [all, selected] = [counts[ALL][bin] ?? 0, counts[SELECTED][bin] ?? 0];
    const ink = selected > 0 ? r.theme.text : r.theme.muted;
    this.drawName(r, bin, box, ink);
    this.bar(r, box, all, { fill: r.theme['rest-bar'] });
    this.bar(r, box, selected, { fill: r.theme.selected });
    this.bar(r, box, beside?.[SELECTED][bin] ?? 0, { stroke: r.theme.muted, width: 1 });
    r.text(count(selected), this.numberX(box), box.y + 10, { font: BODY, fill: ink, align: 'right' });
  }

  protected drawName(r: Renderer, bin: number, box: Rect, ink: string): void {
    const label = this.layout.slot(bin)!.label ?? '';
    r.text(fit(label, NAME - 6, BODY, r.measure), box.x, box.y + 10, { font: BODY, fill: ink });
  }

  private bar(r: Renderer, box: Rect, n: number, paint: Paint, least = 0): void {
    const { x, w } = this.barsOf(box);
    if (n > 0) r.rect({ x, y: box.y + 3, w: Math.max(least, (w * n) / this.most), h: 14 }, paint);
  }

  /** Where the number of a row ends. */
  protected numberX(box: Rect): number {
    return box.x + box.w;
  }

  /** The room for the bars of a row. */
  protected barsOf(box: Rect): { readonly x: number; readonly w: number } {
    return { x: box.x + NAME, w: box.w - NAME - 52 };
  }

  drawHover(r: Renderer): void {
    const hovered = this.input.axis.answer.counts[HOVERED];
    this.visible((bin, box) => this.bar(r, box, hovered[bin] ?? 0, { fill: r.theme.hover }, 2));
  }

  hitTest(p: Point): CategoryMark | undefined {
    const k = this.shown.findIndex((_, i) => {
      const b = this.box(i);
      return p.x >= b.x && p.x <= b.x + b.w && p.y >= b.y && p.y < b.y + ROW;
    });
    return k < 0 ? undefined : { bin: this.shown[k]! };
  }

  step(from: CategoryMark | undefined, dir: Dir): CategoryMark | undefined {
    const n = this.shown.length;
    if (n === 0) return undefined;
    const at = from ? this.shown.indexOf(from.bin) : -1;
    if (at < 0) return { bin: this.shown[0]! };
    const by = {
      up: -1,
      previous: -1,
      down: 1,
      next: 1,
      left: -this.perColumn,
      right: this.perColumn,
      first: -n,
      last: n,
    }[dir];
    return { bin: this.shown[clamp(at + by, 0, n - 1)]! };
  }

  /** The column a mark is in, so that the shell can scroll to it. */
  columnOf(m: CategoryMark): number {
    return Math.floor(Math.max(0, this.shown.indexOf(m.bin)) / this.perColumn);
  }

  columnsVisible(): number {
    return Math.max(1, Math.floor((this.size.w - PAD) / (this.width + 16)));
  }

  describe(m: CategoryMark): Said {
    return this.layout.saySamples(m.bin);
  }

  wanted(m: CategoryMark): Term | undefined {
    return this.layout.binTerm(m.bin);
  }

  rows(): Table {
    return this.layout.table(this.shown);
  }

  summary(): string {
    return `${plural(this.shown.length, 'name')} of ${titleOf(this.input.axis.column)}`;
  }
}
