// The selection against everything: counts, sums, percentiles, where it was
// served. Three columns, one scale: selection, hover, all.
import { mix } from '../../../base/color';
import { count, DASH, exact, mean, percent, short, plural } from '../../../base/format';
import { clamp, type Dir, type Point, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import { ALL, HOVERED, SELECTED, type Answer, type AxisAnswer, type StatAnswer } from '../../../api/decode';
import type { Term } from '../../../state/selection';
import { QUANTILES } from '../../../state/totals';
import type { ColumnInfo } from '../../../api/wire';
import { AxisLayout } from './axis';
import { levelPaint, levelRank, shortLevel } from './levels';
import { drawGlyph } from '../../../frame/badge';
import type { KeptView, Said, Table } from '../../../frame/view';

export const SPARK_BINS = 72;

export interface StatisticsInput {
  readonly counts: Answer['counts'];
  readonly column: ColumnInfo | undefined; // whose distribution is shown
  readonly stat: StatAnswer | undefined;
  readonly spark: AxisAnswer | undefined;
  readonly level: { readonly column: ColumnInfo; readonly answer: AxisAnswer } | undefined;
  /** Names and numbers of distinct things in each layer: lines, objects, CPUs. */
  readonly distinct: readonly { readonly name: string; readonly counts: readonly [number, number, number] }[];
  readonly selected: boolean;
  readonly hoverName: string | undefined;
  /** Sums and percentiles are those of a moment ago: a brush is moving. */
  readonly stale?: boolean;
  readonly size: Size;
  /** Of one of two runs: as many lines as their change has, and all where it has it. */
  readonly pairLines?: number | undefined;
}

/** Where the parts stand, from the top. */
interface Room {
  readonly lines: number;
  readonly sparkTop: number;
  readonly sparkHeight: number; // 0: there is no room
  readonly under: number; // between the distribution and its ticks
  readonly mixTop: number;
}

/** Of two runs: samples, five numbers of a column, and how long each took. */
export function pairLines(column: ColumnInfo | undefined, time: ColumnInfo | undefined): number {
  return 1 + (column ? 5 : 0) + (time ? 1 : 0);
}

/** The room of two runs: A, B and their change replace each other in it. */
export function pairRoom({ h }: Size, lines: number, levels: boolean): Room {
  const mixTop = levels ? h - 62 : h;
  const shown = Math.min(lines, Math.max(4, Math.floor((mixTop - 24) / ROW)));
  const sparkTop = 24 + shown * ROW;
  const room = mixTop - sparkTop - 22;
  const under = room < 70 ? 12 : 24;
  return {
    lines: shown,
    sparkTop,
    sparkHeight: room > 18 ? 10 + clamp(room - under - 12, 12, 60) : 0,
    under,
    mixTop,
  };
}

/** The room of one run: what the distribution and the levels leave is for lines. */
function ownRoom({ h }: Size, lines: number, levels: boolean, sparks: boolean): Room {
  const mix = levels ? 76 : 0;
  const sparkHeight = h >= 240 && sparks ? clamp(h - 20 - 6 * ROW - mix - 26, 34, 70) : 0;
  const room = h - 20 - mix - (sparkHeight ? sparkHeight + 24 : 6);
  const shown = Math.min(lines, Math.max(4, Math.floor(room / ROW)));
  const sparkTop = 20 + shown * ROW + 6;
  return {
    lines: shown,
    sparkTop,
    sparkHeight,
    under: 0,
    mixTop: sparkTop + (sparkHeight ? sparkHeight + 20 : 4),
  };
}

/** Tops and heights of the bars of levels below their head, and the top of their names. */
const OWN_MIX = { [SELECTED]: [18, 14], [HOVERED]: [35, 9], [ALL]: [47, 9], names: 61 } as const;
const PAIR_MIX = { [SELECTED]: [16, 11], [HOVERED]: [28, 6], [ALL]: [36, 8], names: 49 } as const;

export type StatisticsMark = { readonly row: number } | { readonly level: number };

interface Line {
  readonly name: string;
  readonly exact?: boolean; // is not of a moment ago
  readonly values: readonly [all: string, selected: string, hovered: string];
  readonly exactly: readonly [all: string, selected: string, hovered: string]; // for tables: all digits
  readonly unit: string;
}

const PAD = 12;
const ROW = 17;
const BODY: Font = { size: 12 };
const SMALL: Font = { size: 11 };
const LAYERS = [SELECTED, HOVERED, ALL] as const;

export class StatisticsView implements KeptView<StatisticsMark> {
  readonly size: Size;
  readonly lines: readonly Line[];
  private readonly levels: readonly number[]; // bins of the level axis, nearest first
  private readonly room: Room;

  constructor(private readonly input: StatisticsInput) {
    this.size = input.size;
    const { level, size } = input;
    const a = level?.answer;
    this.levels = a
      ? Array.from({ length: a.bins }, (_, i) => i)
          .filter((i) => a.counts[ALL][i]! > 0)
          .sort((p, q) => levelRank(a.labels[p]!) - levelRank(a.labels[q]!))
      : [];
    const all = this.allLines();
    const { pairLines, spark } = input;
    const levels = this.levels.length > 0;
    this.room =
      pairLines === undefined
        ? ownRoom(size, all.length, levels, spark !== undefined)
        : pairRoom(size, pairLines, level !== undefined);
    this.lines = all.slice(0, this.room.lines);
  }

  private get mix(): typeof OWN_MIX | typeof PAIR_MIX {
    return this.input.pairLines === undefined ? OWN_MIX : PAIR_MIX;
  }

  get basis(): unknown {
    const { hoverName: _, counts, distinct, ...drawn } = this.input;
    const lower = (c: readonly number[]): readonly number[] => [c[ALL]!, c[SELECTED]!];
    return {
      ...drawn,
      counts: lower(counts),
      distinct: distinct.map((d) => [d.name, lower(d.counts)]),
    };
  }

  /** Everything there is to say; the picture shows as much as fits, the table all. */
  private allLines(): Line[] {
    const { counts, stat, column } = this.input;
    const about = column?.about.trim() ?? '';
    const unit = column?.unit ?? '';
    const each = (f: (layer: 0 | 1 | 2) => string): Line['values'] => [f(ALL), f(SELECTED), f(HOVERED)];
    const counted = (name: string, n: readonly number[]): Line => ({
      name,
      unit: '',
      exact: true,
      values: each((l) => count(n[l]!)),
      exactly: each((l) => String(n[l])),
    });
    const valued = (name: string, f: (layer: 0 | 1 | 2) => number, say: (v: number) => string): Line => {
      const has = (l: 0 | 1 | 2): boolean => stat !== undefined && stat.counts[l]! > 0;
      return {
        name,
        unit: name === unit ? '' : unit,
        values: each((l) => (has(l) ? about + say(f(l)) : DASH)),
        exactly: each((l) => (has(l) ? String(f(l)) : '')),
      };
    };
    const say = (v: number): string => (Math.abs(v) < 1e6 ? exact(v) : short(v));
    const lines: Line[] = [counted('samples', counts)];
    if (stat && column) {
      // The sum of moments in time is no number of anything.
      if (column.kind !== 'time') lines.push(valued(unit || 'sum', (l) => stat.sums[l]!, short));
      lines.push(
        valued(
          'mean',
          (l) => stat.sums[l]! / stat.counts[l]!,
          (v) => (Math.abs(v) < 1e6 ? mean(v) : short(v)),
        ),
      );
      QUANTILES.forEach((q, i) =>
        lines.push(valued(`p${Math.round(q * 100)}`, (l) => stat.quantiles[l][i]!, say)),
      );
    }
    for (const d of this.input.distinct) lines.push(counted(d.name, d.counts));
    if (stat) {
      const whole = stat.sums[ALL]!;
      const share: Line = {
        ...valued(
          'share',
          (l) => stat.sums[l]!,
          (v) => percent(v, whole),
        ),
        unit: '%',
        exactly: each((l) => (stat.counts[l]! > 0 ? String((100 * stat.sums[l]!) / whole) : '')),
      };
      const most = valued('max', (l) => stat.max[l]!, say);
      lines.splice(6, 0, most, ...(whole > 0 && column?.kind !== 'time' ? [share] : []));
    }
    return lines;
  }

  private columnX(k: number): number {
    const right = this.size.w - PAD;
    const step = (this.size.w - 2 * PAD - 52) / 3;
    return right - (2 - k) * step;
  }

  private get hovering(): boolean {
    return this.input.hoverName !== undefined;
  }

  draw(r: Renderer): void {
    const { theme } = r;
    this.drawHead(r, 0, 'Selection', false);
    this.drawHead(r, 2, 'All', false);
    this.lines.forEach((line, i) => {
      const y = 20 + i * ROW + 8;
      r.text(fit(line.name, 60, BODY, r.measure), PAD, y, { font: BODY, fill: theme.muted });
      // An old value keeps its place in a pale ink until the new one is known.
      const ink = this.input.stale && !line.exact ? mix(theme.bg, theme.muted, 0.55) : theme.text;
      r.text(line.values[SELECTED], this.columnX(0), y, {
        font: { size: 12, weight: 600 },
        fill: ink,
        align: 'right',
      });
      r.text(line.values[ALL], this.columnX(2), y, { font: BODY, fill: theme.muted, align: 'right' });
    });
    this.drawSpark(r, [ALL, SELECTED]);
    if (this.levels.length > 0) this.drawMix(r);
  }

  private drawHead(r: Renderer, k: number, text: string, hover: boolean): void {
    const { theme } = r;
    const room = (this.size.w - 2 * PAD - 52) / 3 - (k === 0 ? 6 : 16);
    const shown = fit(text, room, SMALL, r.measure);
    const x = this.columnX(k) - r.measure(shown, SMALL);
    r.text(shown, x, 8, { font: SMALL, fill: hover ? theme.hover : theme.text });
    const box = { x: x - 13, y: 4, w: 8, h: 8 };
    if (hover)
      r.rect({ x: box.x + 0.5, y: 4.5, w: 7, h: 7 }, { stroke: theme.hover, width: 1.2, dash: [2, 1.4] }, 2);
    else r.rect(box, { fill: k === 0 ? theme.selected : theme.rest }, 2);
  }

  private drawSpark(r: Renderer, layers: readonly (0 | 1 | 2)[]): void {
    const a = this.input.spark;
    const { sparkTop, sparkHeight, under } = this.room;
    if (!a || sparkHeight === 0) return;
    const { theme } = r;
    const w = this.size.w - 2 * PAD;
    if (a.counts[ALL].filter((n) => n > 0).length === 1 && this.input.column!.distinct === 1) {
      const { min, unit } = this.input.column!;
      const text = `constant: ${exact(Number(min))} ${unit}`;
      if (layers.includes(ALL)) r.text(text, PAD, sparkTop + 6, { font: { size: 10.5 }, fill: theme.muted });
      return; // one bar as wide as the view would say no more
    }
    const base = sparkTop + sparkHeight;
    const most = Math.sqrt(Math.max(1, ...a.counts[ALL], ...(a.beside?.[ALL] ?? [])));
    const step = w / a.bins;
    for (const l of layers) {
      const fill = l === ALL ? theme['rest-bar'] : l === SELECTED ? theme.selected : theme.hover;
      a.counts[l].forEach((n, i) => {
        if (n === 0 || i >= a.bins) return;
        const h = Math.max(1, (Math.sqrt(n) / most) * (sparkHeight - 4));
        r.rect({ x: PAD + i * step, y: base - h, w: step - 0.6, h }, { fill });
      });
    }
    if (!layers.includes(ALL)) return;
    r.line(PAD, base + 0.5, PAD + w, base + 0.5, { stroke: theme.line, width: 1 });
    r.text('√ samples', PAD + w, sparkTop + 4, {
      font: { size: 10.5 },
      fill: theme.muted,
      align: 'right',
    });
    const layout = new AxisLayout({ column: this.input.column!, answer: a, subtitle: '' }, w, true);
    for (const t of layout.ticks(48)) {
      const x = clamp(PAD + t.at, PAD + 6, PAD + w - 8);
      r.text(t.label, x, base + under + 9, { font: { size: 10.5 }, fill: theme.muted, align: 'center' });
    }
  }

  private drawMix(r: Renderer): void {
    const { theme } = r;
    const { column, answer: a } = this.input.level!;
    const { mixTop } = this.room;
    const { names } = this.mix;
    r.text('Served by', PAD, mixTop + 7, { font: { size: 12, weight: 600 }, fill: theme.text });
    const word = column.provenance;
    const x = this.size.w - PAD - r.measure(word, SMALL);
    r.text(word, x, mixTop + 7, { font: SMALL, fill: word === 'modelled' ? theme.warn : theme.muted });
    drawGlyph(r, x - 14, mixTop + 7, word);
    this.mixBar(r, SELECTED);
    this.mixBar(r, ALL);
    let at = PAD;
    const sum = a.counts[SELECTED].reduce((n, c) => n + c, 0);
    for (const bin of this.levels) {
      const n = a.counts[SELECTED][bin]!;
      const part = sum > 0 ? (100 * n) / sum : 0;
      if (part < 0.5) continue;
      const text = `${shortLevel(a.labels[bin]!)} ${Math.round(part)}`;
      const w = r.measure(text, { size: 10.5 });
      if (at + 12 + w > this.size.w - PAD + 4) break;
      r.rect({ x: at, y: mixTop + names, w: 8, h: 8 }, levelPaint(a.labels[bin]!, theme));
      r.text(text, at + 12, mixTop + names + 4, { font: { size: 10.5 }, fill: theme.text });
      at += 12 + w + 10;
    }
  }

  private mixBar(r: Renderer, layer: 0 | 1 | 2): void {
    const { theme } = r;
    const [below, h] = this.mix[layer];
    const y = this.room.mixTop + below;
    const { answer: a } = this.input.level!;
    const middle = y + h / 2;
    if (layer === HOVERED)
      r.rect(
        { x: PAD + 0.5, y: middle - 3.5, w: 7, h: 7 },
        { stroke: theme.hover, width: 1.2, dash: [2, 1.4] },
        2,
      );
    else
      r.rect(
        { x: PAD, y: middle - 4, w: 8, h: 8 },
        { fill: layer === SELECTED ? theme.selected : theme.rest },
        2,
      );
    const counts = a.counts[layer];
    let sum = 0;
    for (const bin of this.levels) sum += counts[bin] ?? 0;
    if (sum === 0) return;
    const left = PAD + 13;
    const w = this.size.w - PAD - left;
    let x = left;
    for (const bin of this.levels) {
      const part = ((counts[bin] ?? 0) / sum) * w;
      if (part <= 0) continue;
      r.rect({ x, y, w: Math.max(0.5, part - 1), h }, levelPaint(a.labels[bin]!, theme));
      x += part;
    }
  }

  drawHover(r: Renderer): void {
    if (!this.hovering) return;
    this.drawHead(r, 1, this.input.hoverName!, true);
    this.lines.forEach((line, i) => {
      const y = 20 + i * ROW + 8;
      r.text(line.values[HOVERED], this.columnX(1), y, { font: BODY, fill: r.theme.hover, align: 'right' });
    });
    this.drawSpark(r, [HOVERED]);
    if (this.levels.length > 0) this.mixBar(r, HOVERED);
  }

  hitTest(p: Point): StatisticsMark | undefined {
    const row = Math.floor((p.y - 20) / ROW);
    if (row >= 0 && row < this.lines.length) return { row };
    const a = this.input.level?.answer;
    const y = p.y - this.room.mixTop;
    if (!a || y < this.mix[SELECTED][0] || y > this.mix[ALL][0] + this.mix[ALL][1] + 2) return undefined;
    const layer = y < this.mix[HOVERED][0] - 1 ? SELECTED : y < this.mix[ALL][0] - 2 ? HOVERED : ALL;
    const sum = this.levels.reduce((n, b) => n + (a.counts[layer][b] ?? 0), 0);
    const left = PAD + 13;
    let at = ((p.x - left) / (this.size.w - PAD - left)) * sum;
    for (const bin of this.levels) {
      if (at >= 0 && at < (a.counts[layer][bin] ?? 0)) return { level: bin };
      at -= a.counts[layer][bin] ?? 0;
    }
    return undefined;
  }

  step(from: StatisticsMark | undefined, dir: Dir): StatisticsMark | undefined {
    const marks: StatisticsMark[] = [
      ...this.lines.map((_, row) => ({ row })),
      ...this.levels.map((level) => ({ level })),
    ];
    const at = from ? marks.findIndex((m) => JSON.stringify(m) === JSON.stringify(from)) : -1;
    const n = marks.length;
    const by = { up: -1, left: -1, previous: -1, down: 1, right: 1, next: 1, first: -n, last: n }[dir];
    return marks[clamp(at + by, 0, n - 1)];
  }

  describe(m: StatisticsMark): Said {
    if ('row' in m) {
      const line = this.lines[m.row]!;
      const parts = LAYERS.filter((l) => l !== HOVERED || this.hovering).map(
        (l) =>
          `${line.values[l]} ${l === SELECTED ? 'in the selection' : l === ALL ? 'in all' : `in ${this.input.hoverName}`}`,
      );
      return { name: line.name, more: `· ${parts.join(' · ')}`, term: line.name };
    }
    const a = this.input.level!.answer;
    const counted = a.counts[SELECTED][m.level] ?? 0;
    return {
      name: `Served by ${a.labels[m.level]}`,
      more: `· ${count(counted)} of its ${plural(a.counts[ALL][m.level] ?? 0, 'sample')} selected`,
      counted,
    };
  }

  wanted(m: StatisticsMark): Term | undefined {
    if ('row' in m) return undefined;
    const { column, answer } = this.input.level!;
    return { kind: 'values', column: column.name, values: [answer.labels[m.level]!] };
  }

  rows(): Table {
    const rows = this.allLines().map((l) => [
      l.unit ? `${l.name} ${l.unit}` : l.name,
      l.exactly[SELECTED],
      this.hovering ? l.exactly[HOVERED] : '',
      l.exactly[ALL],
    ]);
    const a = this.input.level?.answer;
    if (a)
      for (const b of this.levels)
        rows.push([
          `served by ${a.labels[b]}`,
          ...[SELECTED, HOVERED, ALL].map((l) => String(a.counts[l as 0][b] ?? 0)),
        ]);
    return { head: ['', 'selection', this.input.hoverName ?? 'hover', 'all'], rows };
  }

  summary(): string {
    return `Statistics: ${this.lines
      .slice(0, 3)
      .map((l) => `${l.name} ${l.values[SELECTED]} of ${l.values[ALL]}`)
      .join(', ')}`;
  }
}

/** Distinct values of an axis in each layer, if every value has its own bin. */
export function distinctOf(a: AxisAnswer | undefined): [number, number, number] | undefined {
  if (!a || a.more > 0) return undefined;
  const n = (l: 0 | 1 | 2): number =>
    a.counts[l].subarray(0, a.bins).reduce((sum, c) => sum + (c > 0 ? 1 : 0), 0);
  return [n(ALL), n(SELECTED), n(HOVERED)];
}
