// Calls of two runs in one flame graph: a frame is as wide as what both weigh
// together, its colour is how much more or less it weighs in B.
import { changeColor } from '../../../base/change';
import { inkOn, mix } from '../../../base/color';
import { count, roughly } from '../../../base/format';
import type { Rect } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { numberScale } from '../../../base/scale';
import type { Theme } from '../../../base/theme';
import type { CallNode } from '../../../api/wire';
import { rampOf, type ViewLegend } from '../../../frame/legend';
import type { ListColumn } from '../../../frame/list';
import type { Said, Table } from '../../../frame/view';
import {
  CallsView,
  START,
  weightOf,
  type CallMark,
  type CallsInput,
  type CallValue,
  type Frame,
} from '../views/calls';
import type { CallRow } from '../views/calllist';
import { signed } from '../views/changes';
import { countVerdict, NOT_TESTED, VERDICT_HEAD } from './verdict';

/** The tree is of both runs, and what is selected in it are the samples of A. */
export interface ChangeCallsInput extends CallsInput {
  readonly allowance: number; // for how two runs of one program differ
}

interface Judged {
  readonly a: number;
  readonly b: number;
  readonly change: number;
  /** Low, high and verdict. */
  readonly verdict: readonly string[];
}

/** A path of calls in both runs. Sums of latencies are not tested: what they scatter by is not known. */
export function judgeCalls(node: CallNode, value: CallValue, allowance: number): Judged {
  const a = weightOf(node.selected, value);
  const b = weightOf(node.total, value) - a;
  const verdict = value === 'samples' ? countVerdict(a, b, { allowance }) : NOT_TESTED;
  return { a, b, change: b - a, verdict };
}

const PALE = 0.3; // of the colour of what noise may explain

export class ChangeCallsView extends CallsView {
  private readonly end: number;

  constructor(protected override readonly input: ChangeCallsInput) {
    super(input);
    this.end = this.frames.reduce((m, f) => Math.max(m, Math.abs(this.judged(f).change)), 1e-9);
  }

  private judged(f: Frame): Judged {
    return judgeCalls(f.node, this.input.value, this.input.allowance);
  }

  protected override fillFrame(r: Renderer, f: Frame, inner: Rect): string {
    const { a, b, change, verdict } = this.judged(f);
    const strong = changeColor(r.theme, Math.sign(change) * Math.sqrt(Math.abs(change) / this.end));
    const fill = verdict[2] === 'unsure' ? mix(r.theme.foot, strong, PALE) : strong;
    r.rect(inner, { fill });
    if (a === 0 || b === 0)
      r.rect(
        { x: inner.x + 1.5, y: inner.y + 1.5, w: Math.max(0, inner.w - 3), h: inner.h - 3 },
        { stroke: inkOn(fill), width: 1, dash: [1.5, 2.5] },
      );
    return inkOn(fill);
  }

  protected override labelOf(f: Frame): string {
    return `${this.nameOf(f)} ${this.write(this.judged(f).change)}`;
  }

  /** A change with its sign, and ~ where noise may explain it. */
  private write(change: number): string {
    return signed(change, (v) => this.amount(v));
  }

  private amount(v: number): string {
    return (this.input.value === 'latency' ? roughly(this.input.modelled) : '') + count(v);
  }

  private get unit(): string {
    return this.input.value === 'latency' ? this.input.unit : 'samples';
  }

  override describe(m: CallMark): Said {
    const f = this.frameOf(m);
    if (!f) return super.describe(m);
    const { a, b, change, verdict } = this.judged(f);
    const noise = verdict[2] === 'unsure' ? ' · within noise' : '';
    return {
      name: this.nameOf(f),
      more: `· A ${this.amount(a)} ${this.unit} · B ${this.amount(b)} · B − A ${this.write(change)}${noise}`,
      counted: f.node.total.samples,
    };
  }

  override rows(): Table {
    const { tree } = this.input;
    return {
      head: [`calls, ${this.unit}`, ...VERDICT_HEAD, 'direction', 'depth'],
      rows: this.frames
        .filter((f) => f.path.length > 0)
        .map((f) => {
          const { a, b, change, verdict } = this.judged(f);
          return [
            f.path.map((p) => p || START).join(';'),
            ...[a, b, change].map(String),
            ...verdict,
            tree.function === '' ? 'from the start' : f.part === 'callers' ? 'called by' : 'calls',
            String(f.node.depth),
          ];
        }),
    };
  }

  legendFor(theme: Theme): ViewLegend {
    const colour = (t: number): string => {
      const s = 2 * t - 1;
      return changeColor(theme, Math.sign(s) * Math.sqrt(Math.abs(s)));
    };
    return {
      ramp: rampOf(numberScale(-this.end, this.end, 'linear'), colour, (v) => this.write(v), 3),
      unit: `${this.unit}, B − A, √`,
    };
  }

  override summary(): string {
    return `${super.summary()}; of two runs, as wide as A and B together, B − A to ± ${this.amount(this.end)} ${this.unit}`;
  }
}

/** The columns of a list of calls of two runs, but for the name. */
export function changeColumns(value: CallValue, modelled: boolean, allowance: number): ListColumn<CallRow>[] {
  const about = value === 'latency' ? roughly(modelled) : '';
  const of = (r: CallRow): Judged => judgeCalls(r.node, value, allowance);
  const end = (k: 0 | 1, head: string): ListColumn<CallRow> => ({
    head,
    right: true,
    text: (r) => (of(r).verdict[k] === '' ? '' : signed(Math.round(Number(of(r).verdict[k])), count)),
    exact: (r) => of(r).verdict[k]!,
  });
  return [
    { head: 'A', right: true, text: (r) => about + count(of(r).a), exact: (r) => String(of(r).a) },
    { head: 'B', right: true, text: (r) => about + count(of(r).b), exact: (r) => String(of(r).b) },
    {
      head: 'change',
      right: true,
      text: (r) => signed(of(r).change, (v) => about + count(v)),
      exact: (r) => String(of(r).change),
    },
    end(0, 'low'),
    end(1, 'high'),
    { head: 'verdict', text: (r) => of(r).verdict[2]! },
  ];
}
