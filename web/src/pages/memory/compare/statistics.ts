// Two runs side by side: counts, sums and percentiles, their absolute change, the
// distribution of both with the difference below, and what each was served by on
// one scale.
import { barPaint } from '../../../base/change';
import { count, DASH, decimal, mean, short, roughly } from '../../../base/format';
import { clamp, type Dir, type Point, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import { SELECTED, type AxisAnswer, type GroupAnswer, type StatAnswer } from '../../../api/decode';
import { costWord } from '../../../state/axes';
import type { Term } from '../../../state/selection';
import type { ColumnInfo, ComparedRow } from '../../../api/wire';
import type { KeptView, Said, Table } from '../../../frame/view';
import { AxisLayout } from '../views/axis';
import { changeText, intervalText, signed, verdictText } from '../views/changes';
import { levelPaint, levelRank, shortLevel } from '../views/levels';
import { pairRoom } from '../views/statistics';
import { isSure } from './lists';
import { beyondNoise, NOT_TESTED, VERDICT_HEAD } from './verdict';

/** The whole runs as they were compared, by what was; none of what was not. */
export type Wholes = Readonly<Partial<Record<'samples' | 'cost' | 'mean', ComparedRow>>>;

/** What one run says. */
export interface SideNumbers {
  readonly samples: number;
  readonly stat: StatAnswer | undefined;
  readonly span: StatAnswer | undefined; // of time
  readonly spark: AxisAnswer | undefined;
  readonly levels: GroupAnswer | undefined;
}

export interface ChangeStatisticsInput {
  readonly a: SideNumbers;
  readonly b: SideNumbers;
  readonly column: ColumnInfo | undefined;
  readonly timeUnit: string; // of span
  readonly why: string | undefined; // the column does not compare
  readonly wholes: Wholes;
  readonly each: readonly [a: number, b: number]; // runs of a side
  readonly allowance: number; // for how two runs of one program differ
  readonly size: Size;
  readonly pairLines: number; // of A, B and their change alike
  readonly hasLevels: boolean; // A and B say what they were served by, compared or not
}

interface Line {
  readonly name: string;
  readonly a: number | undefined;
  readonly b: number | undefined;
  readonly write: (v: number) => string;
  readonly about?: string; // before a number that rests on a model
  /** The same as it was compared: what runs of one program differ by is known there. */
  readonly whole?: ComparedRow | undefined;
}

export type StatMark = { readonly row: number } | { readonly level: string; readonly side: 0 | 1 };

const PAD = 12;
const ROW = 17;
const BODY: Font = { size: 12 };
const SMALL: Font = { size: 11 };
const TINY: Font = { size: 10.5 };

export class ChangeStatisticsView implements KeptView<StatMark> {
  readonly size: Size;
  readonly lines: readonly Line[];
  readonly levels: readonly string[];
  private readonly room: ReturnType<typeof pairRoom>;

  constructor(private readonly input: ChangeStatisticsInput) {
    this.size = input.size;
    this.lines = linesOf(input);
    const names = new Set([...keys(input.a.levels), ...keys(input.b.levels)]);
    this.levels = [...names].filter((n) => n !== '').sort((p, q) => levelRank(p) - levelRank(q));
    this.room = pairRoom(input.size, input.pairLines, input.hasLevels);
  }

  /** As many lines as there is room for; the table has all. */
  private get shown(): readonly Line[] {
    return this.lines.slice(0, this.room.lines);
  }

  get basis(): unknown {
    return this.input;
  }

  private columnX(k: number): number {
    return this.size.w - PAD - ((2 - k) * (this.size.w - 2 * PAD - 52)) / 3;
  }

  draw(r: Renderer): void {
    const { theme } = r;
    ['A', 'B', 'B − A'].forEach((head, k) => {
      const x = this.columnX(k);
      r.text(head, x, 8, { font: SMALL, fill: theme.text, align: 'right' });
      const box = { x: x - r.measure(head, SMALL) - 13, y: 4, w: 8, h: 8 };
      if (k === 0) r.rect({ x: box.x + 0.5, y: 4.5, w: 7, h: 7 }, { stroke: theme.text, width: 1.2 });
      if (k === 1) r.rect(box, { fill: theme.text });
    });
    this.shown.forEach((line, i) => this.drawLine(r, line, 20 + i * ROW + 8));
    if (this.room.sparkHeight > 0) this.drawSpark(r);
    if (this.input.hasLevels) this.drawLevels(r);
  }

  private drawLine(r: Renderer, l: Line, y: number): void {
    const { theme } = r;
    const say = (v: number | undefined): string => (v === undefined ? DASH : (l.about ?? '') + l.write(v));
    const a = say(l.a);
    const room = this.columnX(0) - r.measure(a, BODY) - PAD - 6;
    r.text(fit(l.name, room, BODY, r.measure), PAD, y, { font: BODY, fill: theme.muted });
    r.text(a, this.columnX(0), y, { font: BODY, fill: theme.muted, align: 'right' });
    r.text(say(l.b), this.columnX(1), y, {
      font: { size: 12, weight: 600 },
      fill: theme.text,
      align: 'right',
    });
    const d = deltaOf(l);
    if (d === undefined) return;
    const fill = !l.whole || !isSure(l.whole) || d === 0 ? theme.muted : d > 0 ? theme.more : theme.less;
    r.text((l.about ?? '') + signed(d, l.write), this.columnX(2), y, { font: BODY, fill, align: 'right' });
  }

  /** A filled, B as a line of steps, the difference below. */
  private drawSpark(r: Renderer): void {
    const { a, b, column } = this.input;
    if (!a.spark || !b.spark || !column) return;
    const { theme } = r;
    const { sparkTop: top, sparkHeight, under } = this.room;
    const h = sparkHeight - 10;
    const base = top + sparkHeight;
    const w = this.size.w - 2 * PAD;
    const n = b.spark.bins;
    const step = w / n;
    const [ca, cb] = [a.spark.counts[SELECTED], b.spark.counts[SELECTED]];
    let most = 1;
    for (let i = 0; i < n; i++) most = Math.max(most, ca[i] ?? 0, cb[i] ?? 0);
    const tall = (v: number): number => Math.sqrt(v / most) * h;
    const path: { to: 'move' | 'line'; x: number; y: number }[] = [{ to: 'move', x: PAD, y: base }];
    for (let i = 0; i < n; i++) {
      const va = tall(ca[i] ?? 0);
      if (va > 0)
        r.rect({ x: PAD + i * step, y: base - va, w: step - 0.4, h: va }, { fill: theme['rest-bar'] });
      const y = base - tall(cb[i] ?? 0);
      path.push({ to: 'line', x: PAD + i * step, y }, { to: 'line', x: PAD + (i + 1) * step, y });
    }
    r.path(path, { stroke: theme.text, width: 1.3 });
    r.text('√ samples: A filled, B line', PAD + w, top + 4, {
      font: TINY,
      fill: theme.muted,
      align: 'right',
    });
    const zero = base + under / 2 + 1;
    r.line(PAD, zero, PAD + w, zero, { stroke: theme.line, width: 1 });
    for (let i = 0; i < n; i++) {
      const d = (cb[i] ?? 0) - (ca[i] ?? 0);
      if (d === 0) continue;
      const v = Math.max(0.8, Math.sqrt(Math.abs(d) / most) * (under / 2));
      const paint = barPaint(theme, d, beyondNoise(ca[i] ?? 0, cb[i] ?? 0, this.input));
      r.rect(
        { x: PAD + i * step, y: d > 0 ? zero - v : zero, w: Math.max(0.8, step - 0.4), h: v },
        { fill: paint.fill ?? paint.stroke },
      );
    }
    const layout = new AxisLayout({ column, answer: b.spark, subtitle: '' }, w, true);
    for (const t of layout.ticks(48)) {
      const x = clamp(PAD + t.at, PAD + 6, PAD + w - 8);
      r.text(t.label, x, base + under + 9, { font: TINY, fill: theme.muted, align: 'center' });
    }
  }

  private amount(side: 0 | 1, level: string): number {
    const g = (side === 0 ? this.input.a : this.input.b).levels;
    const i = g?.keys[0]?.indexOf(level) ?? -1;
    if (!g || i < 0) return 0;
    const sums = g.sums[SELECTED];
    return ((sums.some((v) => v > 0) ? sums[i] : g.counts[SELECTED][i]) ?? 0) / this.input.each[side];
  }

  private total(side: 0 | 1): number {
    return this.levels.reduce((n, l) => n + this.amount(side, l), 0);
  }

  private drawLevels(r: Renderer): void {
    const { theme } = r;
    const y = this.room.mixTop;
    const unit = this.input.column ? costWord(this.input.column) : 'samples';
    r.text('Served by', PAD, y + 7, { font: { size: 12, weight: 600 }, fill: theme.text });
    const how = this.levels.length > 0 ? `${unit}${aRun(this.input)}, one scale` : 'not compared';
    r.text(how, PAD + 70, y + 7, { font: SMALL, fill: theme.muted });
    if (this.levels.length === 0) return;
    const most = Math.max(1e-9, this.total(0), this.total(1));
    const left = PAD + 13;
    const w = this.size.w - PAD - left;
    for (const side of [0, 1] as const) {
      const top = y + 16 + side * 15;
      if (side === 0) r.rect({ x: PAD + 0.5, y: top + 2.5, w: 7, h: 7 }, { stroke: theme.text, width: 1.2 });
      else r.rect({ x: PAD, y: top + 2, w: 8, h: 8 }, { fill: theme.text });
      let x = left;
      for (const level of this.levels) {
        const part = (this.amount(side, level) / most) * w;
        if (part <= 0) continue;
        r.rect({ x, y: top, w: Math.max(0.5, part - 1), h: 12 }, levelPaint(level, theme));
        x += part;
      }
    }
    let at = PAD;
    const changed = [...this.levels].sort(
      (p, q) =>
        Math.abs(this.amount(1, q) - this.amount(0, q)) - Math.abs(this.amount(1, p) - this.amount(0, p)),
    );
    for (const level of changed) {
      const text = `${shortLevel(level)} ${signed(this.amount(1, level) - this.amount(0, level), short)}`;
      const need = 12 + r.measure(text, TINY) + 10;
      if (at + need > this.size.w - PAD + 8) break;
      r.rect({ x: at, y: y + 49, w: 8, h: 8 }, levelPaint(level, theme));
      r.text(text, at + 12, y + 53, { font: TINY, fill: theme.text });
      at += need;
    }
  }

  drawHover(): void {}

  hitTest(p: Point): StatMark | undefined {
    const row = Math.floor((p.y - 20) / ROW);
    if (row >= 0 && row < this.shown.length) return { row };
    const side = Math.floor((p.y - this.room.mixTop - 16) / 15);
    if (side !== 0 && side !== 1) return undefined;
    const most = Math.max(1e-9, this.total(0), this.total(1));
    const left = PAD + 13;
    let at = ((p.x - left) / (this.size.w - PAD - left)) * most;
    for (const level of this.levels) {
      const n = this.amount(side, level);
      if (at >= 0 && at < n) return { level, side };
      at -= n;
    }
    return undefined;
  }

  step(from: StatMark | undefined, dir: Dir): StatMark | undefined {
    const marks: StatMark[] = [
      ...this.shown.map((_, row) => ({ row })),
      ...this.levels.map((level) => ({ level, side: 1 as const })),
    ];
    const at = from
      ? marks.findIndex((m) =>
          'row' in m ? 'row' in from && m.row === from.row : 'level' in from && m.level === from.level,
        )
      : -1;
    const n = marks.length;
    const by = { up: -1, left: -1, previous: -1, down: 1, right: 1, next: 1, first: -n, last: n }[dir];
    return marks[clamp(at + by, 0, n - 1)];
  }

  describe(m: StatMark): Said {
    if ('row' in m) {
      const l = this.lines[m.row]!;
      const d = deltaOf(l);
      const say = (v: number | undefined): string =>
        v === undefined ? 'not known' : (l.about ?? '') + l.write(v);
      const tested = l.whole
        ? ` (${[changeText(l.whole), intervalText(l.whole)].filter(Boolean).join(', ')}) · ${verdictText(l.whole)}`
        : '';
      const change = d === undefined ? '' : ` · B − A ${signed(d, l.write)}${tested}`;
      return { name: l.name, more: `· A ${say(l.a)} · B ${say(l.b)}${change}` };
    }
    const [a, b] = [this.amount(0, m.level), this.amount(1, m.level)];
    return {
      name: `Served by ${m.level}`,
      more: `· A ${short(a)} · B ${short(b)} · B − A ${signed(b - a, short)}`,
    };
  }

  wanted(m: StatMark): Term | undefined {
    return 'level' in m ? { kind: 'values', column: 'level', values: [m.level] } : undefined;
  }

  rows(): Table {
    const number = (v: number | undefined): string => (v === undefined ? '' : String(v));
    const lines = this.lines.map((l) => {
      const d = deltaOf(l);
      const { low, high, verdict } = l.whole ?? {};
      const end = (ratio: number): string => number(l.a === undefined ? undefined : l.a * (ratio - 1));
      const known =
        low === undefined || high === undefined ? NOT_TESTED : [end(low), end(high), verdict ?? ''];
      return [l.name, number(l.a), number(l.b), number(d), ...known];
    });
    const levels = this.levels.map((level) => {
      const [a, b] = [this.amount(0, level), this.amount(1, level)];
      return [`served by ${level}`, String(a), String(b), String(b - a), '', '', 'not tested'];
    });
    return { head: ['', ...VERDICT_HEAD], rows: [...lines, ...levels] };
  }

  summary(): string {
    return `Statistics of A and B: ${this.lines
      .slice(0, 3)
      .map(
        (l) =>
          `${l.name} ${l.a === undefined ? DASH : l.write(l.a)} → ${l.b === undefined ? DASH : l.write(l.b)}`,
      )
      .join(', ')}`;
  }
}

function keys(g: GroupAnswer | undefined): readonly string[] {
  return g?.keys[0] ?? [];
}

function deltaOf(l: Line): number | undefined {
  return l.a === undefined || l.b === undefined ? undefined : l.b - l.a;
}

/** A span of time in the unit of its column. */
function spanIn(unit: string): (v: number) => string {
  if (unit !== 'ns') return (v) => `${short(v)} ${unit}`.trim();
  // Three digits: four such columns stand beside each other.
  const three = (v: number): string => decimal(v, v >= 100 ? 0 : v >= 10 ? 1 : 2);
  return (v) => (v >= 1e9 ? `${three(v / 1e9)} s` : v >= 1e6 ? `${three(v / 1e6)} ms` : `${short(v)} ns`);
}

/** Amounts of several runs a side are those of a run. */
function aRun({ each }: ChangeStatisticsInput): string {
  return Math.max(...each) > 1 ? ' a run' : '';
}

function linesOf(input: ChangeStatisticsInput): Line[] {
  const { a, b, column, timeUnit, why, each, wholes } = input;
  const about = roughly(column?.provenance === 'modelled');
  const samples: Line = {
    name: `samples${aRun(input)}`,
    a: a.samples / each[0],
    b: b.samples / each[1],
    write: (v) => count(Math.round(v)),
    whole: wholes.samples,
  };
  const span = (s: StatAnswer | undefined): number | undefined =>
    s && s.counts[SELECTED]! > 0 ? s.max[SELECTED]! - s.min[SELECTED]! : undefined;
  // Last: the others stand where they do in A and in B.
  const spans =
    a.span && b.span
      ? [{ name: 'time span', a: span(a.span), b: span(b.span), write: spanIn(timeUnit) }]
      : [];
  if (!column || !a.stat || !b.stat || why) return [samples, ...spans];
  const of = (
    name: string,
    get: (s: StatAnswer, side: 0 | 1) => number,
    write: (v: number) => string,
    whole?: ComparedRow,
  ): Line => ({
    name,
    a: a.stat!.counts[SELECTED]! > 0 ? get(a.stat!, 0) : undefined,
    b: b.stat!.counts[SELECTED]! > 0 ? get(b.stat!, 1) : undefined,
    write,
    about,
    whole,
  });
  const sum = `${column.unit || 'sum'}${aRun(input)}`;
  const sums =
    column.kind === 'time' ? [] : [of(sum, (s, side) => s.sums[SELECTED]! / each[side], short, wholes.cost)];
  const quantiles = ['p50', 'p90', 'p99'].map((name, i) =>
    of(
      name,
      (s) => s.quantiles[SELECTED]![i]!,
      (v) => (Number.isInteger(v) ? count(v) : decimal(v, 1)),
    ),
  );
  const means = of('mean', (s) => s.sums[SELECTED]! / s.counts[SELECTED]!, mean, wholes.mean);
  return [samples, ...sums, means, ...quantiles, ...spans];
}
