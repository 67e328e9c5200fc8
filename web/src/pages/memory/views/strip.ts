// A metric over windows of an axis, as coloured blocks along it. The blocks lie
// where the axis puts their ends, so that they fit any scale and zoom.
import { amountFill, amountScale, PALE, type AmountScale } from '../../../base/scale';
import type { Rect } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import type { AmountMap } from '../../../base/color';
import type { Term } from '../../../state/selection';
import type { StripAnswer, WindowAnswer } from '../../../api/wire';
import { count, plural } from '../../../base/format';
import { metricPhrase, metricSaid, metricTitle, type Metric } from './metrics';
import { emptyHatch } from './topology';
import type { Said } from '../../../frame/view';

export interface Block {
  readonly window: number;
  readonly from: number; // positions along the axis
  readonly till: number;
}

/** What a strip needs of an axis: where a value lies, and how a value is written. */
export interface AxisPlaces {
  readonly length: number;
  readonly positionOf: (v: number) => number;
  readonly say: (v: number) => string;
  readonly unit: string;
}

export class Strip {
  readonly metric: Metric;
  readonly blocks: readonly Block[];
  readonly scale: AmountScale | undefined;

  constructor(
    readonly answer: StripAnswer,
    /** Windows with fewer samples are drawn as empty and left out of the scale. */
    readonly least: number,
    protected readonly axis: AxisPlaces,
  ) {
    this.metric = { name: answer.metric, depth: answer.depth };
    this.scale = amountScale(comparable(answer, least));
    this.blocks = answer.windows.flatMap((w, window) => {
      const [p, q] = [axis.positionOf(w.from), axis.positionOf(w.to)];
      const [from, till] = [Math.min(p, q), Math.max(p, q)];
      // Windows beyond the ends of a zoomed axis fall together at its end.
      const outside = till - from < 0.01 && (till <= 0 || from >= axis.length) && answer.windows.length > 1;
      return outside ? [] : [{ window, from, till: Math.max(till, from + 1) }];
    });
  }

  get title(): string {
    return metricTitle(this.metric);
  }

  window(i: number): WindowAnswer | undefined {
    return this.answer.windows[i];
  }

  few(w: WindowAnswer): boolean {
    return w.value === null || w.samples < this.least;
  }

  /** The colour of a window; undefined where too few samples say nothing. */
  fill(w: WindowAnswer, dark: boolean, map?: AmountMap): { fill: string; t: number } | undefined {
    if (this.few(w) || !this.scale || w.value === null) return undefined;
    const t = this.scale.t(w.value);
    return { fill: amountFill(t, dark, map), t };
  }

  at(position: number): Block | undefined {
    return (
      this.blocks.find((b) => position >= b.from && position < b.till) ??
      this.blocks.find((b) => Math.abs(position - (b.from + b.till) / 2) < 3)
    );
  }

  draw(r: Renderer, box: (b: Block) => Rect, map?: AmountMap): void {
    for (const b of this.blocks) {
      const paint = this.fill(this.answer.windows[b.window]!, r.theme.dark, map);
      const rect = box(b);
      if (!paint) r.rect(rect, { hatch: emptyHatch(r.theme), stroke: r.theme.line, width: 1 });
      else r.rect(rect, { fill: paint.fill, ...(paint.t < PALE && { stroke: r.theme.line, width: 1 }) });
    }
  }

  /** The samples of a window: all but the last are open at their upper end, those of equal count closed. */
  term(i: number): Term | undefined {
    const w = this.answer.windows[i];
    return (
      w && {
        kind: 'range',
        column: this.answer.axis,
        lo: w.from,
        hi: w.to,
        ...(!/ in /.test(w.where) && { open: true as const }),
      }
    );
  }

  describe(i: number): Said {
    const w = this.answer.windows[i]!;
    const unit = this.axis.unit ? ` ${this.axis.unit}` : '';
    const where = `${this.answer.axis} ${this.axis.say(w.from)}–${this.axis.say(w.to)}${unit}`;
    const few = this.few(w)
      ? w.samples === 0
        ? 'nothing to measure'
        : `fewer than ${count(this.least)}: not compared`
      : '';
    const parts = [
      where,
      plural(w.samples, 'sample'),
      `${metricPhrase(this.metric)} ${metricSaid(w.value, this.answer.unit)}`,
    ];
    if (this.metric.depth && w.samples > 0)
      parts.push(`${count(w.resources)} ${this.metric.depth} with samples`);
    if (this.scale && !few)
      parts.push(
        `between ${metricSaid(this.scale.lo, this.answer.unit)} and ${metricSaid(this.scale.hi, this.answer.unit)} on this axis`,
      );
    return {
      name: `Window ${i + 1} of ${this.answer.windows.length}`,
      more: `· ${[...parts, few].filter(Boolean).join(' · ')}`,
      counted: w.samples,
    };
  }
}

/** The values that may be compared with each other. */
function comparable(answer: StripAnswer, least: number): number[] {
  return answer.windows.flatMap((w) => (w.value !== null && w.samples >= least ? [w.value] : []));
}
