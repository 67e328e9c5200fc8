// What changed most, in two lists: a bar from a centre line, a whisker for its
// interval, the number with its sign. What noise explains is hatched.
import { barPaint } from '../../../base/change';
import { clamp, type Dir, type Point, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import type { Term } from '../../../state/selection';
import type { Compared, ComparedRow } from '../../../api/wire';
import type { KeptView, Said, Table } from '../../../frame/view';
import {
  changeText,
  difference,
  intervalText,
  rowName,
  valueOf,
  verdictText,
  writeValue,
  type Metric,
} from '../views/changes';
import { VERDICT_HEAD } from './verdict';

export type Order = 'largest' | 'sure' | 'a' | 'b';

export interface ChangeList {
  readonly title: string;
  readonly found: Compared | undefined;
  readonly problem: string;
  readonly term: (row: ComparedRow) => Term | undefined;
}

export interface ListsInput {
  readonly lists: readonly ChangeList[];
  readonly metric: Metric;
  readonly order: Order;
  readonly size: Size;
  readonly scroll: readonly number[];
  readonly hovered: string | undefined; // text of the term under the pointer, anywhere
  readonly chosen: readonly string[]; // texts of the terms that are selected
  readonly textOf: (t: Term) => string;
}

export interface ListMark {
  readonly list: number;
  readonly row: number;
}

const NARROW = 200; // px of a list on a small screen
const ROW = 20;
const HEAD = 22;
const PAD = 12;
const BODY: Font = { size: 12 };
const SMALL: Font = { size: 11 };

/** The rows of a list in an order. */
export function ordered(found: Compared | undefined, order: Order): readonly ComparedRow[] {
  const rows = found?.groups ?? [];
  switch (order) {
    case 'sure':
      return [...rows].sort((x, y) => Number(isSure(y)) - Number(isSure(x)));
    case 'a':
      return rows.filter((r) => r.b.samples === 0);
    case 'b':
      return rows.filter((r) => r.a.samples === 0);
    default:
      return rows;
  }
}

export function isSure(r: ComparedRow): boolean {
  return r.verdict === 'more' || r.verdict === 'less';
}

function deltaOf(r: ComparedRow, metric: Metric): number {
  return (valueOf(r.b, metric) ?? 0) - (valueOf(r.a, metric) ?? 0);
}

/** Names without the file that all of them have. */
export function shortNames(rows: readonly ComparedRow[]): {
  readonly file: string;
  readonly of: (r: ComparedRow) => string;
} {
  const files = new Set(rows.map((r) => /^(.+):[^:]*$/.exec(r.label)?.[1] ?? ''));
  const [file = ''] = files;
  if (files.size !== 1 || file === '') return { file: '', of: rowName };
  return { file, of: (r) => rowName(r).slice(file.length + 1) };
}

export class ChangeListsView implements KeptView<ListMark> {
  readonly size: Size;
  readonly rowsOf: readonly (readonly ComparedRow[])[];

  constructor(private readonly input: ListsInput) {
    this.size = input.size;
    this.rowsOf = input.lists.map((l) => ordered(l.found, input.order));
  }

  get basis(): unknown {
    const { hovered: _, lists, textOf: __, ...rest } = this.input;
    return { ...rest, found: lists.map((l) => l.found ?? l.problem) };
  }

  visibleRows(): number {
    return Math.max(1, Math.floor((this.size.h - HEAD) / ROW));
  }

  private left(list: number): number {
    return (list * this.size.w) / this.input.lists.length;
  }

  /** Where the text of a list begins, as in the ranking of one run. */
  private from(list: number): number {
    return this.left(list) + (list === 0 ? PAD : PAD / 2);
  }

  private get width(): number {
    return this.size.w / this.input.lists.length;
  }

  draw(r: Renderer): void {
    this.input.lists.forEach((l, i) => this.drawList(r, l, i));
  }

  private drawList(r: Renderer, l: ChangeList, list: number): void {
    const { theme } = r;
    const x = this.from(list);
    const right = this.left(list) + this.width - (list + 1 === this.input.lists.length ? PAD : 6);
    const names = shortNames(this.rowsOf[list]!);
    const title = names.file ? `line in ${names.file}` : l.title;
    r.text(fit(title, right - x - 44, SMALL, r.measure), x, 10, { font: SMALL, fill: theme.muted });
    r.text('B − A', right, 10, { font: SMALL, fill: theme.muted, align: 'right' });
    const rows = this.rowsOf[list]!;
    if (rows.length === 0) {
      const text = l.problem || (l.found ? 'nothing here' : '');
      wrapped(text, right - x, r).forEach((line, k) =>
        r.text(line, x, HEAD + 9 + 15 * k, { font: SMALL, fill: theme.muted }),
      );
      return;
    }
    const first = this.input.scroll[list] ?? 0;
    const shown = rows.slice(first, first + this.visibleRows());
    const changes = rows.map((row) => deltaOf(row, this.input.metric));
    const [less, more] = [Math.max(0, ...changes.map((d) => -d)), Math.max(0, ...changes)];
    const numbers = Math.min(74, 0.33 * this.width);
    const end = right - numbers - 6;
    const room = (this.width < NARROW ? 0.2 : 0.28) * this.width; // names need some of it too
    // Both sides of the centre line on one scale, which ends before the numbers.
    const scale = room / Math.max(1e-9, less + more);
    const zero = end - more * scale;
    r.line(zero + 0.5, HEAD, zero + 0.5, HEAD + shown.length * ROW, {
      stroke: theme['hair-strong'],
      width: 1,
    });
    shown.forEach((row, k) =>
      this.drawRow(r, list, row, {
        name: names.of(row),
        k,
        x,
        right,
        zero,
        scale,
        left: end - room,
        end,
      }),
    );
  }

  private drawRow(
    r: Renderer,
    list: number,
    row: ComparedRow,
    at: {
      name: string;
      k: number;
      x: number;
      right: number;
      zero: number;
      scale: number;
      left: number;
      end: number;
    },
  ): void {
    const { theme } = r;
    const { metric } = this.input;
    const y = HEAD + at.k * ROW + ROW / 2;
    const term = this.input.lists[list]!.term(row);
    const chosen = term !== undefined && this.input.chosen.includes(this.input.textOf(term));
    if (chosen)
      r.rect(
        { x: at.x - 5, y: y - ROW / 2 + 1, w: at.right - at.x + 8, h: ROW - 2 },
        { fill: theme['selected-tint'] },
        3,
      );
    const font: Font = { size: 12, weight: isSure(row) && at.k < 3 ? 600 : 400 };
    r.text(fit(at.name, at.left - at.x - 4, font, r.measure), at.x, y, { font, fill: theme.text });
    const d = deltaOf(row, metric);
    const w = Math.max(0.8, Math.abs(d) * at.scale);
    const paint = barPaint(theme, d, isSure(row));
    if (d !== 0) r.rect({ x: d > 0 ? at.zero + 1 : at.zero - w, y: y - 6, w, h: 12 }, paint);
    const a = valueOf(row.a, metric);
    if (row.low !== undefined && row.high !== undefined && a !== undefined && metric !== 'share') {
      const clip = (v: number): number => clamp(at.zero + v * at.scale, at.left - 4, at.end + 2);
      r.line(clip(a * (row.low - 1)), y, clip(a * (row.high - 1)), y, { stroke: theme.text, width: 1 });
    }
    const mark = row.mark ? `${row.mark} ` : isSure(row) ? '' : '· ';
    r.text(mark + difference(row, metric), at.right, y, {
      font: { size: 12, weight: isSure(row) ? 600 : 400 },
      fill: isSure(row) ? theme.text : theme.muted,
      align: 'right',
    });
  }

  drawHover(r: Renderer): void {
    const { hovered, textOf, scroll } = this.input;
    if (hovered === undefined) return;
    this.rowsOf.forEach((rows, list) => {
      const first = scroll[list] ?? 0;
      rows.slice(first, first + this.visibleRows()).forEach((row, k) => {
        const term = this.input.lists[list]!.term(row);
        if (!term || textOf(term) !== hovered) return;
        r.rect(
          { x: this.from(list) - 5, y: HEAD + k * ROW + 0.5, w: this.width - PAD - 2, h: ROW - 1 },
          { stroke: r.theme.hover, width: 1.5, dash: [4, 2] },
          3,
        );
      });
    });
  }

  hitTest(p: Point): ListMark | undefined {
    const list = clamp(Math.floor(p.x / this.width), 0, this.input.lists.length - 1);
    const k = Math.floor((p.y - HEAD) / ROW);
    const row = k + (this.input.scroll[list] ?? 0);
    return p.y >= HEAD && k < this.visibleRows() && this.rowsOf[list]?.[row] ? { list, row } : undefined;
  }

  step(from: ListMark | undefined, dir: Dir): ListMark | undefined {
    const lists = this.rowsOf.length;
    if (!from) return this.rowsOf.flatMap((rows, list) => (rows.length > 0 ? [{ list, row: 0 }] : []))[0];
    const rows = this.rowsOf[from.list]!.length;
    const to = (list: number, row: number): ListMark => {
      const last = (this.rowsOf[list]?.length ?? 0) - 1;
      return last < 0 ? from : { list, row: clamp(row, 0, last) }; // an empty list has no row to go to
    };
    switch (dir) {
      case 'left':
        return to(clamp(from.list - 1, 0, lists - 1), from.row);
      case 'right':
        return to(clamp(from.list + 1, 0, lists - 1), from.row);
      case 'up':
      case 'previous':
        return to(from.list, from.row - 1);
      case 'first':
        return to(from.list, 0);
      case 'last':
        return to(from.list, rows - 1);
      default:
        return to(from.list, from.row + 1);
    }
  }

  describe(m: ListMark): Said {
    const row = this.rowsOf[m.list]![m.row]!;
    const { metric } = this.input;
    const say = (c: ComparedRow['a']): string => writeValue(valueOf(c, metric), metric);
    return {
      name: rowName(row),
      more: `· A ${say(row.a)} · B ${say(row.b)} · B − A ${difference(row, metric)} (${[changeText(row), intervalText(row)].filter(Boolean).join(', ')}) · ${verdictText(row)}`,
    };
  }

  wanted(m: ListMark): Term | undefined {
    const row = this.rowsOf[m.list]?.[m.row];
    return row && this.input.lists[m.list]!.term(row);
  }

  rows(): Table {
    const { metric } = this.input;
    const number = (v: number | undefined): string => (v === undefined ? '' : String(v));
    const rows = this.rowsOf.flatMap((list) =>
      list.map((row) => {
        const [a, b] = [valueOf(row.a, metric), valueOf(row.b, metric)];
        const change = a === undefined || b === undefined ? undefined : b - a;
        const end = (ratio: number | undefined): number | undefined =>
          ratio === undefined || a === undefined ? undefined : a * (ratio - 1);
        return [
          rowName(row),
          number(a),
          number(b),
          number(change),
          number(end(row.low)),
          number(end(row.high)),
          row.verdict,
        ];
      }),
    );
    return { head: ['key', ...VERDICT_HEAD], rows };
  }

  summary(): string {
    return this.input.lists
      .map(
        (l, i) =>
          `${l.title}: ${this.rowsOf[i]!.slice(0, 2)
            .map((r) => `${rowName(r)} ${difference(r, this.input.metric)}`)
            .join(', ')}`,
      )
      .join('; ');
  }
}

function wrapped(text: string, width: number, r: Renderer): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)!} ${word}`.trim();
    if (r.measure(line, BODY) <= width || lines.at(-1) === '') lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines;
}
