// One axis of two runs: one filled, the other as a line of steps on one scale, the
// difference below; of every metric A, B and B − A. Whether A, B or the difference
// is shown, all have the same places and scales.
import { barPaint, changeColor } from '../../../base/change';
import { count, plural } from '../../../base/format';
import type { Rect } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { amountScale, PALE, type AmountScale } from '../../../base/scale';
import { fit, type Font } from '../../../base/text';
import type { AmountMap } from '../../../base/color';
import { ALL, SELECTED, type AxisAnswer } from '../../../api/decode';
import type { StripAnswer, WindowAnswer } from '../../../api/wire';
import type { Said, Table } from '../../../frame/view';
import { titleOf } from '../../../state/axes';
import { signed } from '../views/changes';
import { GuidedView, type GuidedInput } from '../views/guided';
import { GUTTER, HistogramView, type HistogramInput, type HistogramMark } from '../views/histogram';
import { metricEnd, metricSaid } from '../views/metrics';
import { Strip, type AxisPlaces, type Block } from '../views/strip';
import { emptyHatch } from '../views/topology';
import { beyondNoise, countVerdict, NOT_COMPARED, NOT_TESTED, VERDICT_HEAD } from './verdict';

const UNDER = 24; // px of the difference below the bars
const SMALL: Font = { size: 11 };
const STRONG: Font = { size: 12, weight: 600 };
const TINY: Font = { size: 8.5 };

/** The other run on the same bins, and how much runs of one program differ. */
export interface Before {
  readonly answer: AxisAnswer; // of A, or of B if A is shown
  readonly shown: 'a' | 'b' | 'diff';
  readonly strips: readonly (StripAnswer | undefined)[];
  readonly allowance: number;
  readonly why?: string | undefined; // values of A and B do not compare: both are shown, no difference
}

export class ChangeHistogramView extends HistogramView {
  constructor(protected override readonly input: HistogramInput & { readonly before: Before }) {
    super(input);
  }

  private get sides(): readonly [a: Uint32Array, b: Uint32Array] {
    const { axis, before } = this.input;
    const [own, other] = [axis.answer.counts[SELECTED], before.answer.counts[SELECTED]];
    return before.shown === 'a' ? [own, other] : [other, own];
  }

  private get alone(): boolean {
    return this.input.before.shown !== 'diff';
  }

  protected override mostOf(): number {
    const { axis, before } = this.input;
    return [axis.answer, before.answer].reduce(
      (most, { counts }) => counts[ALL].reduce((m, n) => Math.max(m, n), most),
      1,
    );
  }

  protected override get notes(): readonly string[] {
    return [this.input.before.shown === 'b' ? 'B filled, A line' : 'A filled, B line'];
  }

  protected override get tall(): number {
    return Math.max(20, this.plot.h - UNDER - 3);
  }

  protected override drawLayers(r: Renderer): void {
    const { theme } = r;
    const [a, b] = this.sides;
    const base = this.plot.y + this.tall;
    const middle = base + 2 + UNDER / 2;
    const steps: { to: 'move' | 'line'; x: number; y: number }[] = [];
    const { shown } = this.input.before;
    const outlined = shown === 'b' ? a : b;
    if (this.alone) super.drawLayers(r);
    r.line(this.plot.x, base, this.plot.x + this.plot.w, base, { stroke: theme.hair, width: 1 });
    r.line(this.plot.x, middle, this.plot.x + this.plot.w, middle, { stroke: theme.line, width: 1 });
    const end = this.largest;
    for (const s of this.layout.slots) {
      const [na, nb] = [a[s.bin] ?? 0, b[s.bin] ?? 0];
      const [x, w] = [this.plot.x + s.from, s.till - s.from];
      const inner = w - (w > 3 ? Math.min(1, w * 0.1) : 0);
      if (na > 0 && !this.alone)
        r.rect({ x, y: this.y(na), w: inner, h: base - this.y(na) }, { fill: theme['rest-bar'] });
      const y = outlined[s.bin] ? this.y(outlined[s.bin]!) : base;
      const joined = Math.abs((steps.at(-1)?.x ?? -1) - x) < 1;
      steps.push({ to: joined ? 'line' : 'move', x, y }, { to: 'line', x: x + w, y });
      const d = nb - na;
      if (d === 0 || this.input.before.why) continue;
      const h = Math.max(0.8, (Math.abs(d) / end) * (UNDER / 2 - 1));
      const paint = barPaint(theme, d, beyondNoise(na, nb, this.input.before));
      r.rect({ x, y: d > 0 ? middle - h : middle, w: inner, h }, paint);
    }
    if (steps.length > 0) r.path(steps, { stroke: theme.text, width: 1.3 });
    const below = this.input.before.why ? 'not compared' : `B − A ± ${count(end)}`;
    r.text(below, this.plot.x - 8, middle, {
      font: SMALL,
      fill: theme.muted,
      align: 'right',
    });
  }

  /** The largest difference of a bin. */
  private get largest(): number {
    const [a, b] = this.sides;
    return b.reduce((most, n, i) => Math.max(most, Math.abs(n - (a[i] ?? 0))), 1);
  }

  override describe(m: HistogramMark): Said {
    if (this.alone) return super.describe(m);
    const [na, nb] = this.sides.map((s) => s[m.bin] ?? 0) as [number, number];
    const { why } = this.input.before;
    const noise = beyondNoise(na, nb, this.input.before) ? '' : ' · within noise';
    const change = why ? `no difference: ${why}` : `B − A ${signed(nb - na, count)}${noise}`;
    return {
      name: this.layout.saySamples(m.bin).name,
      more: `· A ${plural(na, 'sample')} · B ${count(nb)} · ${change}`,
    };
  }

  override rows(): Table {
    if (this.alone) return super.rows();
    const [a, b] = this.sides;
    const rows = this.layout.slots.map(({ bin }) => {
      const [na, nb] = [a[bin] ?? 0, b[bin] ?? 0];
      const judged = [String(nb - na), ...countVerdict(na, nb, this.input.before)];
      return [
        ...this.layout.binCells(bin),
        String(na),
        String(nb),
        ...(this.input.before.why ? NOT_COMPARED : judged),
      ];
    });
    return { head: [...this.layout.binHead, ...VERDICT_HEAD], rows };
  }

  override summary(): string {
    if (this.alone) return super.summary();
    const { answer, column } = this.input.axis;
    const { why } = this.input.before;
    const end = why ? `no difference: ${why}` : `largest difference ${plural(this.largest, 'sample')}`;
    return `Histogram of ${titleOf(column)} in A and B, ${count(answer.bins)} bins on one scale; ${end}`;
  }
}

/** A metric of one of two runs, on the scale of both. */
class SideStrip extends Strip {
  override readonly scale: AmountScale | undefined;

  constructor(
    answer: StripAnswer,
    protected readonly before: StripAnswer | undefined,
    least: number,
    axis: AxisPlaces,
  ) {
    super(answer, least, axis);
    const windows = [...answer.windows, ...(before?.windows ?? [])];
    this.scale = amountScale(windows.flatMap((w) => (w.value === null || this.few(w) ? [] : [w.value])));
  }
}

/** A metric of both runs over the same windows: A, B, and the difference below. */
class ChangeStrip extends SideStrip {
  readonly end: number; // the largest difference of a window

  constructor(answer: StripAnswer, before: StripAnswer | undefined, least: number, axis: AxisPlaces) {
    super(answer, before, least, axis);
    this.end = Math.max(1e-9, ...answer.windows.map((_, i) => Math.abs(this.change(i) ?? 0)));
  }

  /** The window of A that lies where one of B does. */
  private inA(i: number): WindowAnswer | undefined {
    const [w, a] = [this.answer.windows[i], this.before?.windows[i]];
    return w && a && a.from === w.from && a.to === w.to ? a : undefined;
  }

  change(i: number): number | undefined {
    const [a, b] = [this.inA(i), this.answer.windows[i]];
    if (!a || !b || this.few(a) || this.few(b)) return undefined;
    return b.value! - a.value!;
  }

  override draw(r: Renderer, box: (b: Block) => Rect, map?: AmountMap): void {
    for (const b of this.blocks) {
      const whole = box(b);
      [this.inA(b.window), this.answer.windows[b.window]].forEach((w, side) => {
        const paint = w && this.fill(w, r.theme.dark, map);
        const band = { ...whole, y: whole.y - 3 + 9 * side, h: 8 };
        if (!paint) r.rect(band, { hatch: emptyHatch(r.theme), stroke: r.theme.line, width: 1 });
        else r.rect(band, { fill: paint.fill, ...(paint.t < PALE && { stroke: r.theme.line, width: 1 }) });
      });
      const d = this.change(b.window);
      const band = { ...whole, y: whole.y + 15, h: 8 };
      if (d === undefined) r.rect(band, { hatch: emptyHatch(r.theme), stroke: r.theme.line, width: 1 });
      else r.rect(band, { fill: changeColor(r.theme, d / this.end), stroke: r.theme.line, width: 0.5 });
    }
  }

  override describe(i: number): Said {
    const { unit } = this.answer;
    const [a, b, d] = [this.inA(i), this.answer.windows[i]!, this.change(i)];
    const place = `${this.axis.say(b.from)}–${this.axis.say(b.to)} ${this.axis.unit}`.trim();
    const change =
      d === undefined ? 'too few samples to compare' : `B − A ${signed(d, (v) => metricSaid(v, unit))}`;
    return {
      name: `${this.title}, ${this.answer.axis} ${place}`,
      more: `· A ${metricSaid(a?.value, unit)} of ${plural(a?.samples ?? 0, 'sample')} · B ${metricSaid(b.value, unit)} of ${count(b.samples)} · ${change}`,
      counted: b.samples,
    };
  }

  table(): string[][] {
    const number = (v: number | null | undefined): string => String(v ?? '');
    return this.answer.windows.map((w, i) => [
      this.title,
      String(w.from),
      String(w.to),
      number(this.inA(i)?.value),
      number(w.value),
      number(this.change(i)),
      ...NOT_TESTED,
    ]);
  }

  get legend(): string {
    const { unit } = this.answer;
    return `B − A ± ${metricEnd(this.end, unit)}${unit && unit !== 'share' ? ` ${unit}` : ''}`;
  }
}

export class ChangeGuidedView extends GuidedView {
  constructor(protected override readonly input: GuidedInput & { readonly before: Before }) {
    super(input);
  }

  protected override makeHistogram(input: HistogramInput): HistogramView {
    return new ChangeHistogramView({ ...input, before: this.input.before });
  }

  protected override makeStrip(i: number, axis: AxisPlaces): Strip {
    const { before, least, strips } = this.input;
    const Shown = before.shown === 'diff' ? ChangeStrip : SideStrip;
    return new Shown(strips[i]!, before.strips[i], least, axis);
  }

  protected override drawStrip(r: Renderer, s: Strip, i: number): void {
    const box = this.stripBox(i);
    const { muted, text } = r.theme;
    r.text(fit(s.title, GUTTER - 22, STRONG, r.measure), 12, box.y, { font: STRONG, fill: text });
    this.drawRamp(r, s.scale, s.answer.unit, box.y + 12);
    s.draw(
      r,
      (b) => ({ x: box.x + b.from, y: box.y, w: Math.max(1, b.till - b.from - 1), h: box.h }),
      this.input.map,
    );
    if (!(s instanceof ChangeStrip)) return;
    ['A', 'B', 'Δ'].forEach((letter, k) =>
      r.text(letter, box.x - 4, box.y + 1 + 9 * k, { font: TINY, fill: muted, align: 'right' }),
    );
    r.text(s.legend, 12, box.y + 24, { font: SMALL, fill: muted });
  }

  override rows(): Table {
    if (this.input.before.shown !== 'diff') return super.rows();
    const bins = this.histogram.rows();
    const windows = this.measured.flatMap((s) => (s instanceof ChangeStrip ? s.table() : []));
    return { head: bins.head, rows: [...windows, ...bins.rows] };
  }
}
