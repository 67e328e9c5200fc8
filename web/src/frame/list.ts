// A list with columns as a view: what a pane shows as a real table on screen is
// drawn from the same columns into a picture, and listed for table and CSV.
import { plural } from '../base/format';
import { clamp, stepIndex, type Dir, type Point, type Size } from '../base/geometry';
import type { Renderer } from '../base/renderer';
import { fit, type Font, type Measure } from '../base/text';
import type { Term } from '../state/selection';
import type { Said, Table, View } from './view';

export interface ListColumn<R> {
  readonly head: string;
  readonly tip?: string; // what the head means
  readonly right?: boolean;
  readonly mono?: boolean;
  readonly link?: true; // choosing it selects the row's samples
  readonly spoken?: (row: R) => string; // the name of a link, where its text alone says too little
  readonly most?: number; // px; longer texts are cut
  readonly text: (row: R) => string;
  /** What tables and files get; the text without the spaces that group digits, if not said. */
  readonly exact?: (row: R) => string;
  /** More than the text says, for the tooltip of a cell. */
  readonly title?: (row: R) => string;
  /** A drawing in place of the text, which then is its description. */
  readonly picture?: { readonly size: Size; readonly draw: (r: Renderer, row: R, at: Point) => void };
}

export interface ListInput<R> {
  readonly name: string;
  readonly columns: readonly ListColumn<R>[];
  readonly rows: readonly R[];
  readonly term: (row: R) => Term | undefined;
  readonly samples: (row: R) => number;
  /** Rows of tables and files, if they are not those of the picture. */
  readonly listed?: readonly R[];
}

/** Which column rows are ordered by. */
export interface ListOrder {
  readonly column: number;
  readonly down: boolean;
}

/** The same list in the order of a column: by number if all of it are numbers; what is empty comes last. */
export function inOrder<R>(input: ListInput<R>, { column, down }: ListOrder): ListInput<R> {
  const c = input.columns[column];
  if (!c) return input;
  const keys = new Map(input.rows.map((r) => [r, c.exact ? c.exact(r) : plain(c.text(r))]));
  const numbers = [...keys.values()].every((k) => k === '' || !Number.isNaN(Number(k)));
  const compare = (a: string, b: string): number =>
    numbers ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });
  const rows = input.rows.toSorted((p, q) => {
    const [a, b] = [keys.get(p)!, keys.get(q)!];
    if (a === '' || b === '') return Number(a === '') - Number(b === '');
    return down ? compare(b, a) : compare(a, b);
  });
  return { ...input, rows };
}

const ROW = 20;
const GAP = 12;
const PAD = 12;
const HEAD: Font = { size: 11 };
const MOST = 420;

export class ListView<R> implements View<number> {
  readonly size: Size;
  private readonly widths: readonly number[];

  constructor(
    readonly input: ListInput<R>,
    measure: Measure,
  ) {
    this.widths = input.columns.map((c) => {
      if (c.picture) return Math.max(c.picture.size.w, measure(c.head, HEAD));
      const widest = input.rows.reduce(
        (w, r) => Math.max(w, measure(c.text(r), fontOf(c))),
        measure(c.head, HEAD),
      );
      return Math.min(Math.ceil(widest) + 1, c.most ?? MOST);
    });
    this.size = {
      w: 2 * PAD + this.widths.reduce((a, w) => a + w + GAP, -GAP),
      h: PAD + ROW * (input.rows.length + 1),
    };
  }

  draw(r: Renderer): void {
    this.input.columns.forEach((c, k) => {
      const x = PAD + this.widths.slice(0, k).reduce((a, w) => a + w + GAP, 0);
      const w = this.widths[k]!;
      const put = (text: string, y: number, font: Font, fill: string): void =>
        r.text(fit(text, w, font, r.measure), c.right ? x + w : x, y, {
          font,
          fill,
          align: c.right ? 'right' : 'left',
        });
      put(c.head, ROW / 2, HEAD, r.theme.muted);
      this.input.rows.forEach((row, i) => {
        const y = ROW * (i + 1);
        if (c.picture) c.picture.draw(r, row, { x, y: y + (ROW - c.picture.size.h) / 2 });
        else put(c.text(row), y + ROW / 2, fontOf(c), r.theme.text);
      });
    });
  }

  drawHover(): void {}

  hitTest(p: Point): number | undefined {
    const i = Math.floor(p.y / ROW) - 1;
    return this.input.rows[i] === undefined ? undefined : i;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const n = this.input.rows.length;
    const by = { up: -1, left: -1, previous: -1, down: 1, right: 1, next: 1, first: -n, last: n }[dir];
    return stepIndex(from, by, n);
  }

  describe(i: number): Said {
    const row = this.input.rows[clamp(i, 0, this.input.rows.length - 1)]!;
    const named = this.input.columns.find((c) => c.link) ?? this.input.columns[0]!;
    const parts = this.input.columns.flatMap((c) => {
      const text = c.text(row);
      return c === named || text === ''
        ? []
        : [c.picture ? text : c.right ? `${text} ${c.head}`.trim() : text];
    });
    return { name: named.text(row), more: `· ${parts.join(' · ')}`, counted: this.input.samples(row) };
  }

  wanted(i: number): Term | undefined {
    const row = this.input.rows[i];
    return row && this.input.term(row);
  }

  rows(): Table {
    const { columns, rows, listed } = this.input;
    return {
      head: columns.map((c) => c.head),
      rows: (listed ?? rows).map((row) => columns.map((c) => (c.exact ? c.exact(row) : plain(c.text(row))))),
    };
  }

  summary(): string {
    return `${this.input.name}: ${plural(this.input.rows.length, 'row')} of ${this.input.columns
      .map((c) => c.head)
      .filter(Boolean)
      .join(', ')}`;
  }
}

/** A number as files have it: no spaces in it, nothing for a dash. */
function plain(text: string): string {
  return text === '–' ? '' : text.replace(/(?<=\d)\u202f(?=\d)/g, '');
}

function fontOf(c: { readonly mono?: boolean }): Font {
  return c.mono ? { size: 11, mono: true } : { size: 12 };
}
