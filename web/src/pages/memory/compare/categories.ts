// Names of two runs: samples of A outlined and of B filled on one scale, then the
// difference from a centre line.
import { barPaint } from '../../../base/change';
import { count, plural } from '../../../base/format';
import type { Rect } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import type { Font } from '../../../base/text';
import { SELECTED, type AxisAnswer } from '../../../api/decode';
import type { Said, Table } from '../../../frame/view';
import { titleOf } from '../../../state/axes';
import { BODY, CategoriesView, NAME, type CategoriesInput, type CategoryMark } from '../views/categories';
import { signed } from '../views/changes';
import { beyondNoise, countVerdict, NOT_COMPARED, VERDICT_HEAD } from './verdict';

export interface ChangeCategoriesInput extends CategoriesInput {
  readonly before: AxisAnswer; // of A, in the same bins
  readonly allowance: number; // for how two runs of one program differ
  readonly why?: string | undefined; // names of A and B do not compare: both are shown, no difference
}

const HEAD: Font = { size: 10.5 };
const NUMBERS = 104; // px of A and B
const BARS = 96;
const CHANGE = 92; // px of the bar from the centre line
const SIGNED = 64;

/** Rows lie where they do in the difference, whichever run is shown. */
abstract class PairCategoriesView extends CategoriesView {
  protected override get width(): number {
    return NAME + NUMBERS + BARS + CHANGE + SIGNED + 16;
  }

  protected override get top(): number {
    return 20;
  }

  override draw(r: Renderer): void {
    super.draw(r);
    let above = -1; // the column of rows that has its head
    this.visible((_, box) => {
      if (box.x === above) return;
      above = box.x;
      this.drawHead(box, (text, x, align) => r.text(text, x, 10, { font: HEAD, fill: r.theme.muted, align }));
    });
  }

  protected abstract drawHead(box: Rect, put: Put): void;
}

type Put = (text: string, x: number, align: 'left' | 'right') => void;

/** One of two runs, the other as outlines. */
export class SideCategoriesView extends PairCategoriesView {
  constructor(
    input: CategoriesInput,
    private readonly side: 'A' | 'B',
  ) {
    super(input);
  }

  protected override drawHead(box: Rect, put: Put): void {
    const head = this.side === 'A' ? 'A filled, B outlined, one scale' : 'B filled, A outlined, one scale';
    put(this.side, this.numberX(box), 'right');
    put(head, this.barsOf(box).x, 'left');
  }

  /** Each run has its numbers where the difference has them. */
  protected override numberX(box: Rect): number {
    return box.x + NAME + (this.side === 'A' ? NUMBERS / 2 : NUMBERS) - 4;
  }

  protected override barsOf(box: Rect): { readonly x: number; readonly w: number } {
    return { x: box.x + NAME + NUMBERS + 4, w: BARS + CHANGE + SIGNED };
  }
}

export class ChangeCategoriesView extends PairCategoriesView {
  constructor(protected override readonly input: ChangeCategoriesInput) {
    super(input);
  }

  protected override drawHead(box: Rect, put: Put): void {
    const x = box.x + NAME;
    put('A', x + NUMBERS / 2 - 4, 'right');
    put('B', x + NUMBERS - 4, 'right');
    put('A □ B ■ one scale', x + NUMBERS + 4, 'left');
    put(this.input.why ? 'not compared' : `B − A ± ${count(this.end)}`, box.x + box.w, 'right');
  }

  private sides(bin: number): readonly [a: number, b: number] {
    const { axis, before } = this.input;
    return [before.counts[SELECTED][bin] ?? 0, axis.answer.counts[SELECTED][bin] ?? 0];
  }

  protected override mostOf(): number {
    return this.layout.slots.reduce((m, s) => Math.max(m, ...this.sides(s.bin)), 1);
  }

  private get end(): number {
    return this.layout.slots.reduce((m, s) => {
      const [a, b] = this.sides(s.bin);
      return Math.max(m, Math.abs(b - a));
    }, 1);
  }

  protected override drawRow(r: Renderer, bin: number, box: Rect): void {
    const { theme } = r;
    const [a, b] = this.sides(bin);
    this.drawName(r, bin, box, a + b > 0 ? theme.text : theme.muted);
    let x = box.x + NAME;
    const number = { font: BODY, align: 'right' } as const;
    r.text(count(a), x + NUMBERS / 2 - 4, box.y + 10, { ...number, fill: theme.muted });
    r.text(count(b), x + NUMBERS - 4, box.y + 10, { ...number, fill: theme.text });
    x += NUMBERS + 4;
    const long = (n: number): number => (n / this.most) * BARS;
    if (b > 0) r.rect({ x, y: box.y + 5, w: Math.max(1, long(b)), h: 10 }, { fill: theme['rest-bar'] });
    if (a > 0)
      r.rect({ x, y: box.y + 3.5, w: Math.max(1, long(a)), h: 13 }, { stroke: theme.text, width: 1 });
    if (this.input.why) return;
    x += BARS + 4 + CHANGE / 2;
    r.line(x, box.y, x, box.y + box.h, { stroke: theme.line, width: 1 });
    const d = b - a;
    const sure = beyondNoise(a, b, this.input);
    if (d !== 0) {
      const w = Math.max(0.8, (Math.abs(d) / this.end) * (CHANGE / 2 - 2));
      r.rect({ x: d > 0 ? x : x - w, y: box.y + 4, w, h: 12 }, barPaint(theme, d, sure));
    }
    const ink = !sure || d === 0 ? theme.muted : d > 0 ? theme.more : theme.less;
    r.text(`${sure ? '' : '~ '}${signed(d, count)}`, box.x + box.w, box.y + 10, { ...number, fill: ink });
  }

  override drawHover(r: Renderer): void {
    const hovered = this.input.axis.answer.counts[2];
    this.visible((bin, box) => {
      if ((hovered[bin] ?? 0) > 0)
        r.rect(
          { x: box.x - 3, y: box.y + 0.5, w: box.w + 6, h: box.h - 1 },
          { stroke: r.theme.hover, width: 1.5, dash: [4, 2] },
          2,
        );
    });
  }

  override describe(m: CategoryMark): Said {
    const [a, b] = this.sides(m.bin);
    const { why } = this.input;
    const noise = beyondNoise(a, b, this.input) ? '' : ' · within noise';
    const change = why ? `no difference: ${why}` : `B − A ${signed(b - a, count)}${noise}`;
    return {
      name: this.layout.saySamples(m.bin).name,
      more: `· A ${plural(a, 'sample')} · B ${count(b)} · ${change}`,
    };
  }

  override rows(): Table {
    const rows = this.shown.map((bin) => {
      const [a, b] = this.sides(bin);
      const judged = [String(b - a), ...countVerdict(a, b, this.input)];
      return [
        ...this.layout.binCells(bin),
        String(a),
        String(b),
        ...(this.input.why ? NOT_COMPARED : judged),
      ];
    });
    return { head: [...this.layout.binHead, ...VERDICT_HEAD], rows };
  }

  override summary(): string {
    const { why } = this.input;
    const change = why ? `no difference: ${why}` : `B − A to ± ${count(this.end)}`;
    return `${plural(this.shown.length, 'name')} of ${titleOf(this.input.axis.column)}: samples of A outlined, of B filled, one scale to ${count(this.most)}; ${change}`;
  }
}
