// Top offenders: source lines grouped by file, and data objects, ranked. A bar
// behind the text shows the amount; rows without debug information come last
// and never pose as a file.
import { baseName, count, DASH, mean, percent, share, roughly, plural } from '../../../base/format';
import { contains, stepIndex, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import { ALL, HOVERED, SELECTED, type GroupAnswer } from '../../../api/decode';
import type { Answers } from '../../../state/questions';
import { same, type Term } from '../../../state/selection';
import type { KeptView, Said, Table } from '../../../frame/view';

export type RankBy = 'latency' | 'samples' | 'mean';

/** One of the two lists: how its groups are named and selected. */
export interface RankedList {
  readonly title: string; // "data object"
  readonly groups: GroupAnswer | undefined;
  /** Two keys: file and line. One: a name. */
  readonly keys: 'line' | 'name';
  readonly column: string;
  /** Says why there is no list. */
  readonly empty: string;
  /** Text of the row for groups without a name; its action is the shell's. */
  readonly nameless: string;
  /** What else is known of a name, for its tooltip. */
  readonly note?: (name: string) => string | undefined;
}

export interface OffendersInput {
  readonly lists: readonly RankedList[];
  readonly by: RankBy;
  readonly unit: string;
  readonly size: Size;
  readonly scroll: readonly number[]; // first row shown of each list
  readonly chosen: readonly Term[];
  /**
   * Of the whole selection: shares are of these, whatever the lists leave out.
   * Unknown while they are those of another selection.
   */
  readonly whole: { readonly latency: number | undefined; readonly samples: number };
  /** Estimates carry ≈. */
  readonly modelled: boolean;
}

export interface OffenderMark {
  readonly list: number;
  readonly row: number;
}

export interface Row {
  readonly kind: 'file' | 'group' | 'nameless';
  readonly text: string;
  readonly group: number; // index in the answer; of a file, -1
  readonly term: Term | undefined;
  readonly values: readonly [all: number, selected: number, hovered: number];
  readonly samples: readonly [number, number, number];
  readonly beside: number; // of the other of two runs, selected
}

const PAD = 12;
const HEAD = 20;
export const ROW = 21; // 20 and 1 between
const UNKNOWN = '…'; // a share of what is not known yet
const BODY: Font = { size: 12 };
const SMALL: Font = { size: 11 };

export class OffendersView implements KeptView<OffenderMark> {
  readonly size: Size;
  readonly lists: readonly (readonly Row[])[];
  private readonly boxes: readonly Rect[];
  private readonly largest: readonly number[];
  private readonly whole: number | undefined;

  constructor(private readonly input: OffendersInput) {
    this.size = input.size;
    this.lists = input.lists.map((l) => (l.groups ? rowsOf(l, l.groups, input.by) : []));
    const n = Math.max(1, input.lists.length);
    const w = (input.size.w - 2 * PAD - 12 * (n - 1)) / n;
    this.boxes = input.lists.map((_, i) => ({ x: PAD + i * (w + 12), y: 2, w, h: input.size.h - 2 }));
    this.largest = this.lists.map((rows) =>
      Math.max(0, ...rows.filter((r) => r.kind === 'group').flatMap((r) => [r.values[SELECTED], r.beside])),
    );
    this.whole = input.by === 'samples' ? input.whole.samples : input.whole.latency;
  }

  get basis(): unknown {
    const { lists, ...rest } = this.input;
    return { ...rest, lists: lists.map(({ note: _, ...list }) => list) }; // notes are said, not drawn
  }

  visibleRows(): number {
    return Math.max(1, Math.floor((this.size.h - 2 - HEAD) / ROW));
  }

  draw(r: Renderer): void {
    this.input.lists.forEach((list, i) => {
      const box = this.boxes[i]!;
      this.drawHead(r, list, i, box);
      if (this.lists[i]!.length === 0) this.drawEmpty(r, list, box);
      this.eachVisible(i, (row, y, k) => this.drawRow(r, i, row, k, box, y));
    });
  }

  private eachVisible(list: number, f: (row: Row, y: number, index: number) => void): void {
    for (const [place, k] of this.places(list).entries())
      f(this.lists[list]![k]!, this.boxes[list]!.y + HEAD + place * ROW, k);
  }

  /** The rows on screen from the top down. What has no name stays in sight as the last. */
  private places(list: number): number[] {
    const first = this.input.scroll[list] ?? 0;
    const rows = this.lists[list]!;
    const end = Math.min(rows.length, first + this.visibleRows());
    const shown = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
    if (end < rows.length && rows[rows.length - 1]!.kind === 'nameless')
      shown[shown.length - 1] = rows.length - 1;
    return shown;
  }

  private drawHead(r: Renderer, list: RankedList, i: number, box: Rect): void {
    const files = this.lists[i]!.filter((row) => row.kind === 'file');
    const only = list.keys === 'line' && files.length === 0 ? onlyFile(list) : undefined;
    const title = only ? `line in ${only}` : list.title;
    const right = this.input.by === 'mean' ? this.input.unit : '%';
    r.text(fit(title, box.w - 44, SMALL, r.measure), box.x, box.y + 8, { font: SMALL, fill: r.theme.muted });
    r.text(right, box.x + box.w, box.y + 8, { font: SMALL, fill: r.theme.muted, align: 'right' });
  }

  private drawEmpty(r: Renderer, list: RankedList, box: Rect): void {
    const words = list.empty.split(' ');
    let line = '';
    let y = box.y + HEAD + 10;
    for (const word of [...words, '\n']) {
      if (word !== '\n' && r.measure(`${line} ${word}`, BODY) <= box.w) {
        line = line ? `${line} ${word}` : word;
        continue;
      }
      r.text(line, box.x, y, { font: BODY, fill: r.theme.muted });
      y += 16;
      line = word;
    }
  }

  private drawRow(r: Renderer, list: number, row: Row, index: number, box: Rect, y: number): void {
    const { theme } = r;
    const middle = y + 10;
    const value = this.valueText(row);
    if (row.kind !== 'group') {
      const fill = row.kind === 'file' ? theme.text : theme.muted;
      const font: Font = row.kind === 'file' ? { size: 11, weight: 600 } : BODY;
      r.text(fit(row.text, box.w - 52, font, r.measure), box.x + 6, middle, { font, fill });
      r.text(value, box.x + box.w - 5, middle, { font, fill: theme.muted, align: 'right' });
      return;
    }
    const w = this.barWidth(list, row.values[SELECTED], box);
    if (w > 0) r.rect({ x: box.x, y, w, h: 20 }, { fill: theme['selected-bar'] }, 2);
    const other = this.barWidth(list, row.beside, box);
    if (other > 0)
      r.rect({ x: box.x + 0.5, y: y + 0.5, w: other, h: 19 }, { stroke: theme.muted, width: 1 }, 2);
    if (row.term && this.input.chosen.some((c) => same(c, row.term!)))
      r.rect({ x: box.x, y: y + 0.5, w: box.w, h: 19 }, { stroke: theme.selected, width: 1.5 }, 2);
    const first = index === this.lists[list]!.findIndex((x) => x.kind === 'group');
    const font: Font = { size: 12, ...(first && { weight: 600 }) };
    const live = row.values[SELECTED] > 0;
    const room = box.w - 16 - r.measure(value, font);
    r.text(fit(row.text, room, font, r.measure), box.x + 6, middle, {
      font,
      fill: live ? theme.text : theme.muted,
    });
    r.text(value, box.x + box.w - 5, middle, { font, fill: live ? theme.text : theme.muted, align: 'right' });
  }

  private barWidth(list: number, value: number, box: Rect): number {
    const most = this.largest[list]!;
    return most > 0 && value > 0 ? Math.max(1, (box.w * value) / most) : 0;
  }

  private valueText(row: Row): string {
    const v = row.values[SELECTED];
    const about = roughly(this.input.modelled && this.input.by !== 'samples').trimEnd();
    if (this.input.by === 'mean') return row.samples[SELECTED] > 0 ? about + mean(v) : DASH;
    return this.whole === undefined ? UNKNOWN : about + share(v, this.whole);
  }

  drawHover(r: Renderer): void {
    this.input.lists.forEach((_, i) => {
      this.eachVisible(i, (row, y) => {
        const v = row.values[HOVERED];
        if (row.kind !== 'group' || !(row.samples[HOVERED] > 0)) return;
        const w = Math.max(2, this.barWidth(i, Math.max(v, 0), this.boxes[i]!));
        r.rect({ x: this.boxes[i]!.x, y: y + 16, w, h: 4 }, { fill: r.theme.hover });
      });
    });
  }

  hitTest(p: Point): OffenderMark | undefined {
    const list = this.boxes.findIndex((b) => contains(b, p));
    if (list < 0 || p.y < this.boxes[list]!.y + HEAD) return undefined;
    const row = this.places(list)[Math.floor((p.y - this.boxes[list]!.y - HEAD) / ROW)];
    return row === undefined ? undefined : { list, row };
  }

  step(from: OffenderMark | undefined, dir: Dir): OffenderMark | undefined {
    const list = from?.list ?? 0;
    const n = this.lists[list]?.length ?? 0;
    const to = (l: number, row: number | undefined): OffenderMark | undefined =>
      row === undefined || !this.lists[l]?.length
        ? from
        : { list: l, row: Math.min(row, this.lists[l].length - 1) };
    switch (dir) {
      case 'up':
      case 'previous':
        return to(list, stepIndex(from?.row, -1, n));
      case 'down':
      case 'next':
        return to(list, stepIndex(from?.row, 1, n));
      case 'left':
        return to(Math.max(0, list - 1), from?.row ?? 0);
      case 'right':
        return to(Math.min(this.lists.length - 1, list + 1), from?.row ?? 0);
      case 'first':
        return to(list, 0);
      case 'last':
        return to(list, n - 1);
    }
  }

  row(m: OffenderMark): Row | undefined {
    return this.lists[m.list]?.[m.row];
  }

  describe(m: OffenderMark): Said {
    const row = this.row(m);
    if (!row) return { name: '', more: '' };
    const parts = [`${count(row.samples[SELECTED])} of its ${plural(row.samples[ALL], 'sample')} selected`];
    if (this.input.by !== 'samples') {
      const v =
        this.input.by === 'mean'
          ? `${mean(row.values[SELECTED])} ${this.input.unit} on average`
          : `${count(row.values[SELECTED])} ${this.input.unit}`;
      parts.push(roughly(this.input.modelled) + v);
    }
    if (this.input.by !== 'mean' && this.whole !== undefined)
      parts.push(`${percent(row.values[SELECTED], this.whole)} of the selection`);
    const list = this.input.lists[m.list]!;
    const note = row.kind === 'group' ? list.note?.(row.text) : undefined;
    if (note) parts.push(note);
    const keys = list.groups?.keys;
    const file = row.group >= 0 && list.keys === 'line' ? keys?.[0]?.[row.group] : undefined;
    return { name: file ? `${file}:${row.text}` : row.text, more: `· ${parts.join(' · ')}` };
  }

  wanted(m: OffenderMark): Term | undefined {
    return this.row(m)?.term;
  }

  rows(): Table {
    const { unit } = this.input;
    const head = ['kind', 'file', 'name', 'samples', 'of all', unit, `mean ${unit}`, 'share %'];
    const rows = this.input.lists.flatMap((list) => {
      const g = list.groups;
      if (!g) return [];
      return Array.from(g.counts[SELECTED], (n, i) => {
        const valued = g.valued[SELECTED][i] ?? 0;
        const sum = g.sums[SELECTED][i] ?? 0;
        const two = list.keys === 'line';
        const name = two ? g.keys[1]![i]! : g.keys[0]![i]!;
        return [
          two ? 'line' : list.title,
          two ? g.keys[0]![i]! : '',
          name || list.nameless,
          String(n),
          String(g.counts[ALL][i]),
          String(sum),
          valued ? String(sum / valued) : '',
          this.input.whole.latency ? String((100 * sum) / this.input.whole.latency) : '',
        ];
      }).filter((_, i) => g.counts[ALL][i]! > 0); // others are only in the other of two runs
    });
    return { head, rows };
  }

  summary(): string {
    const tops = this.lists.map((rows, i) => {
      const first = rows.find((r) => r.kind === 'group');
      return first ? `${this.input.lists[i]!.title} ${first.text} ${this.valueText(first)}` : '';
    });
    return `Top offenders by ${this.input.by === 'latency' ? this.input.unit : this.input.by}: ${tops.filter(Boolean).join('; ')}`;
  }
}

/**
 * The sum over the selected rows. While a brush moves, the statistic is that of
 * another selection: then it is added up from a list that has every group.
 */
export function wholeOf(lists: readonly RankedList[], totals: Answers | undefined): number | undefined {
  if (totals && !totals.stale) return totals.stats[0]?.sums[SELECTED];
  const whole = lists.find((l) => l.groups && l.groups.total <= l.groups.counts[ALL].length)?.groups;
  return whole?.sums[SELECTED].reduce((a, b) => a + b, 0);
}

/** The amounts of group i in each layer. */
export function amounts(
  g: Pick<GroupAnswer, 'counts' | 'sums' | 'valued'>,
  i: number,
  by: RankBy,
): [number, number, number] {
  const one = (l: 0 | 1 | 2): number => {
    if (by === 'samples') return g.counts[l][i] ?? 0;
    const sum = g.sums[l][i] ?? 0;
    return by === 'latency' ? sum : sum / Math.max(1, g.valued[l][i] ?? 0);
  };
  return [one(ALL), one(SELECTED), one(HOVERED)];
}

function samplesOf(g: GroupAnswer, i: number): [number, number, number] {
  return [g.counts[ALL][i] ?? 0, g.counts[SELECTED][i] ?? 0, g.counts[HOVERED][i] ?? 0];
}

function onlyFile(list: RankedList): string | undefined {
  const files = new Set((list.groups?.keys[0] ?? []).filter(Boolean));
  return files.size === 1 ? baseName([...files][0]!) : undefined;
}

/** The commonest group of the hovered samples and its share of them: "mostly stencil.c:104, 83 %". */
export function commonest(g: GroupAnswer | undefined): string | undefined {
  const hovered = g?.counts[HOVERED];
  if (!g || !hovered || hovered.length === 0) return undefined;
  let top = 0;
  let all = 0;
  for (let i = 0; i < hovered.length; i++) {
    all += hovered[i]!;
    if (hovered[i]! > hovered[top]!) top = i;
  }
  const names = g.keys.map((k) => k[top] ?? '');
  if (all === 0 || names[0] === '') return undefined; // the commonest has no name
  const name = names.length === 2 ? `${baseName(names[0]!)}:${names[1]}` : names[0];
  return hovered[top] === all ? `all ${name}` : `mostly ${name}, ${percent(hovered[top]!, all)}`;
}

/** Rows in the order shown: with several files, each file's lines under its name. */
function rowsOf(list: RankedList, g: GroupAnswer, by: RankBy): Row[] {
  const groups = Array.from(g.counts[ALL], (_, i) => groupRow(list, g, i, by));
  // What the selection leaves out follows in the order of everything, so that it can still be added.
  const named = groups
    .filter((r) => r.kind === 'group')
    .sort((p, q) => weight(q) - weight(p) || q.values[ALL] - p.values[ALL]);
  const nameless = merged(
    groups.filter((r) => r.kind === 'nameless'),
    list.nameless,
  );
  if (list.keys === 'name') return [...named, ...nameless];
  const files = new Map<string, Row[]>();
  for (const row of named) {
    const file = g.keys[0]![row.group]!;
    files.set(file, [...(files.get(file) ?? []), row]);
  }
  if (files.size <= 1) return [...named, ...nameless];
  const heads = [...files].map(([file, rows]) => ({ head: fileRow(file, rows, by), rows }));
  heads.sort((p, q) => weight(q.head) - weight(p.head));
  return [...heads.flatMap(({ head, rows }) => [head, ...rows]), ...nameless];
}

/** What a row is ranked by: of two runs by both, so that it stays where it is. */
function weight(r: Row): number {
  return r.values[SELECTED] + r.beside;
}

function groupRow(list: RankedList, g: GroupAnswer, i: number, by: RankBy): Row {
  const name = list.keys === 'line' ? g.keys[1]![i]! : g.keys[0]![i]!;
  const file = list.keys === 'line' ? g.keys[0]![i]! : '';
  const missing = list.keys === 'line' ? file === '' || file === '??' : name === '' || name === '??';
  const term: Term = missing
    ? { kind: 'missing', column: list.keys === 'line' ? 'file' : list.column, not: false }
    : list.keys === 'line'
      ? { kind: 'line', file, line: Number(name) }
      : { kind: 'values', column: list.column, values: [name] };
  return {
    kind: missing ? 'nameless' : 'group',
    text: name,
    group: i,
    term,
    values: amounts(g, i, by),
    samples: samplesOf(g, i),
    beside: g.beside ? amounts(g.beside, i, by)[SELECTED] : 0,
  };
}

function fileRow(file: string, rows: readonly Row[], by: RankBy): Row {
  const summed = sumRows(rows, by);
  return {
    kind: 'file',
    text: baseName(file),
    group: -1,
    term: { kind: 'values', column: 'file', values: [file] },
    ...summed,
  };
}

function merged(rows: readonly Row[], text: string): Row[] {
  const first = rows[0];
  return first ? [{ ...first, text, ...sumRows(rows, 'latency') }] : [];
}

function sumRows(rows: readonly Row[], by: RankBy): Pick<Row, 'values' | 'samples' | 'beside'> {
  const values: [number, number, number] = [0, 0, 0];
  const samples: [number, number, number] = [0, 0, 0];
  for (const r of rows) {
    for (const l of [0, 1, 2] as const) {
      values[l] += by === 'mean' ? r.values[l] * r.samples[l] : r.values[l];
      samples[l] += r.samples[l];
    }
  }
  if (by === 'mean') for (const l of [0, 1, 2] as const) values[l] /= Math.max(1, samples[l]);
  const beside = rows.reduce((sum, r) => sum + r.beside, 0);
  return { values, samples, beside: by === 'mean' ? beside / Math.max(1, rows.length) : beside };
}
