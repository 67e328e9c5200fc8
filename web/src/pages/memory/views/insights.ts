// The list of what is worth a look, as a view: for the table and for export.
// On screen the pane shows it as a list of real buttons.
import { clamp, type Dir, type Point, type Size } from '../../../base/geometry';
import { decimal, percent, share } from '../../../base/format';
import type { Renderer } from '../../../base/renderer';
import { fit, type Font, type Measure } from '../../../base/text';
import { parse } from '../../../state/language';
import type { Term } from '../../../state/selection';
import type { InsightAnswer } from '../../../api/wire';
import type { Said, Table, View } from '../../../frame/view';

export interface InsightMark {
  readonly insight: number;
}

const TEXT: Font = { size: 12 };
const SMALL: Font = { size: 11 };
const BAR = 44; // px of all of the cost

/** A sentence in three parts: the first number that says how much stands out. A latency may have no unit. */
export function emphasis(text: string): readonly [before: string, bold: string, after: string] {
  const m =
    /(?:≈ )?(?:\d{1,3}(?:[ \u202f]\d{3})+|\d[\d\u202f.,]*)(?:e[+-]?\d+)? ?(?:%|σ|times|cycles|CPUs?\b|samples)|(?<=latency (?:≈ )?)\d[\d.]*(?: [nµm]s\b)?/.exec(
      text,
    ) ?? /\b\d[\d.]*\b/.exec(text);
  return m ? [text.slice(0, m.index), m[0], text.slice(m.index + m[0].length)] : [text, '', ''];
}

/** Whether another run has no finding of a kind at all; not of one that has not been searched. */
export function lacking(in_: InsightAnswer, other: readonly InsightAnswer[] | undefined): boolean {
  return other !== undefined && !other.some((o) => o.kind === in_.kind);
}

/** What a finding is about: the share of the cost at stake, with its uncertainty. */
export function stakeText(in_: InsightAnswer): string {
  return in_.uncertainty ? `${share(in_.stake, 1)} ± ${percent(in_.uncertainty, 1)}` : percent(in_.stake, 1);
}

/** What is at stake, and why a finding stands where it does: the three factors in words. */
export function reason(in_: InsightAnswer): string {
  const weight =
    in_.weight === 1
      ? 'a cause with a known cure'
      : in_.weight === 0.5
        ? 'a pattern that may be inherent'
        : 'only says where the cost is';
  const stake = `${stakeText(in_)} of the ${in_.of} is at stake${in_.uncertainty ? ' (± one standard deviation)' : ''}`;
  const order = [
    `ordered by ${significant(in_.score)} = stake`,
    `${decimal(in_.surprise, 2)} surprise (0 is chance, 1 as far as can be)`,
    `weight ${in_.weight} (${weight})`,
  ].join(' × ');
  const story = in_.partOf
    ? `, at most that of ${in_.partOf}, whose samples these are: ${percent(in_.own, 1)} of the ${in_.of} is counted in no finding above`
    : '';
  return `${stake}; ${order}${story}`;
}

/** The bar of a finding: the stake of the whole, and what it may be off by. */
export function stakeBar(in_: InsightAnswer, width: number): { bar: number; from: number; to: number } {
  const at = (v: number): number => width * clamp(v, 0, 1);
  const off = in_.uncertainty ?? 0;
  return { bar: Math.max(1, at(in_.stake)), from: at(in_.stake - off), to: at(in_.stake + off) };
}

/** The kind of a finding, and of the one whose story it is a part of. */
export function kindText(in_: InsightAnswer): string {
  return in_.partOf ? `${in_.kind} · part of ${in_.partOf}` : in_.kind;
}

/** What orders findings spans orders of magnitude: two digits that matter. */
function significant(v: number): string {
  return v >= 0.1 ? decimal(v, 2) : v >= 0.01 ? decimal(v, 3) : decimal(v, 4);
}

export function wrapText(text: string, width: number, font: Font, measure: Measure): string[] {
  const lines = [''];
  for (const word of text.split(/(?<= )/)) {
    const line = lines[lines.length - 1]! + word;
    if (lines[lines.length - 1] === '' || measure(line.trimEnd(), font) <= width)
      lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.map((l) => l.trimEnd());
}

export class InsightsView implements View<InsightMark> {
  readonly size: Size;
  private readonly lines: readonly (readonly string[])[];
  private readonly tops: readonly number[];

  constructor(
    readonly list: readonly InsightAnswer[],
    private readonly over: string,
    width: number,
    measure: Measure,
  ) {
    this.lines = list.map((i) => wrapText(`${i.text}.`, width - 12 - 18 - 12, TEXT, measure));
    const tops: number[] = [];
    let y = 30;
    for (const l of this.lines) {
      tops.push(y);
      y += l.length * 16 + 24;
    }
    this.tops = tops;
    this.size = { w: width, h: y };
  }

  draw(r: Renderer): void {
    const { theme } = r;
    r.text('Insights', 12, 14, { font: { size: 12, weight: 600 }, fill: theme.text });
    r.text(`over ${this.over}`, 12 + r.measure('Insights', { size: 12, weight: 600 }) + 8, 14, {
      font: SMALL,
      fill: theme.muted,
    });
    this.list.forEach((in_, i) => {
      const y = this.tops[i]!;
      r.text(String(i + 1), 12, y + 8, { font: TEXT, fill: theme.muted });
      this.lines[i]!.forEach((line, k) => r.text(line, 30, y + 8 + 16 * k, { font: TEXT, fill: theme.text }));
      const below = y + this.lines[i]!.length * 16 + 8;
      const right = this.size.w - 12;
      const stake = `${stakeText(in_)} of the ${in_.of}`;
      const room = right - 30 - BAR - 24 - r.measure(stake, SMALL);
      r.text(fit(`${kindText(in_)} · ${in_.where}`, room, SMALL, r.measure), 30, below, {
        font: SMALL,
        fill: theme.muted,
      });
      r.text(stake, right - BAR - 8, below, { font: SMALL, fill: theme.muted, align: 'right' });
      const { bar, from, to } = stakeBar(in_, BAR);
      r.rect({ x: right - BAR, y: below - 2, w: BAR, h: 4 }, { fill: theme.hair }, 2);
      r.rect({ x: right - BAR, y: below - 2, w: bar, h: 4 }, { fill: theme.rest }, 2);
      r.rect({ x: right - BAR + from, y: below - 0.5, w: to - from, h: 1 }, { fill: theme.text });
    });
    if (this.list.length === 0)
      r.text('Nothing stands out from what chance would give.', 12, 40, { font: TEXT, fill: theme.text });
  }

  drawHover(): void {}

  hitTest(p: Point): InsightMark | undefined {
    const i = this.tops.findLastIndex((y) => p.y >= y);
    return i < 0 ? undefined : { insight: i };
  }

  step(from: InsightMark | undefined, dir: Dir): InsightMark | undefined {
    const n = this.list.length;
    if (n === 0) return undefined;
    const by = { up: -1, left: -1, previous: -1, down: 1, right: 1, next: 1, first: -n, last: n }[dir];
    return { insight: from ? clamp(from.insight + by, 0, n - 1) : 0 };
  }

  describe(m: InsightMark): Said {
    const in_ = this.list[m.insight]!;
    return { name: `Insight ${m.insight + 1}, ${in_.kind}`, more: `· ${in_.text} · ${reason(in_)}` };
  }

  wanted(m: InsightMark): Term | undefined {
    return whereTerm(this.list[m.insight]?.where ?? '');
  }

  rows(): Table {
    const head = [
      ...['rank', 'kind', 'stake', 'uncertainty', 'of', 'own', 'surprise', 'weight', 'score'],
      ...['finding', 'where', 'evidence', 'part of'],
    ];
    const rows = this.list.map((i, k) => [
      String(k + 1),
      i.kind,
      String(i.stake),
      i.uncertainty === undefined ? '' : String(i.uncertainty),
      i.of,
      String(i.own),
      String(i.surprise),
      String(i.weight),
      String(i.score),
      i.text,
      i.where,
      [i.view, i.axis, i.metric, i.depth].filter(Boolean).join(' '),
      i.partOf ?? '',
    ]);
    return { head, rows };
  }

  summary(): string {
    return this.list.length === 0
      ? 'Nothing stands out'
      : `${this.list.length} insights over ${this.over}, best first`;
  }
}

/** A selection as one term, for a preview; undefined if this page cannot read it. */
export function whereTerm(where: string): Term | undefined {
  try {
    const clauses = parse(where);
    const [only] = clauses;
    if (clauses.length === 1 && only && !only.not && only.terms.length === 1) return only.terms[0];
    return clauses.length > 0 ? { kind: 'all', clauses } : undefined;
  } catch {
    return undefined;
  }
}
