// Ranked objects, fields, lines, functions, loops or threads: misses as bars, bytes used of a
// fetched line, and distances of reuse as small histograms.
import { change, count, plural, percent, short } from '../../base/format';
import { stepIndex, type Dir, type Point, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { cutInside, fit } from '../../base/text';
import type { MissLevel, MissRow, PlaceKey } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';
import { fieldTerm, loopTerm, threadTerm } from '../../state/references';
import type { Term } from '../../state/selection';
import { size as sizeText } from './words';

export interface RowsInput {
  readonly kind: 'object' | 'field' | 'line' | 'function' | 'loop' | 'thread';
  readonly rows: readonly MissRow[];
  readonly before: ReadonlyMap<string, MissRow> | undefined; // of the run that is compared with, by the name here
  readonly levels: readonly MissLevel[];
  readonly by: number; // level ranked by
  readonly selecting: boolean;
  readonly size: Size;
  readonly hovered: string;
  readonly key: boolean; // what the bars mean, below the last row
}

const ROW = 20;
const SPARK = 70;
const USED = 50;
const NUMBER = 48;

/** The selection of a row; undefined where it is of what has no name. */
export function termOf(kind: RowsInput['kind'], row: MissRow): Term | undefined {
  switch (kind) {
    case 'object':
      return row.object.startsWith('(')
        ? undefined
        : { kind: 'values', column: 'symbol', values: [row.object] };
    case 'line':
      return row.line > 0 ? { kind: 'line', file: row.file, line: row.line } : undefined;
    case 'function':
      return row.function ? { kind: 'values', column: 'function', values: [row.function] } : undefined;
    case 'field':
      return row.object.startsWith('(') || row.field === '' ? undefined : fieldTerm(row.object, row.field);
    case 'loop':
      return row.loop.startsWith('(') ? undefined : loopTerm(row.loop);
    case 'thread':
      return threadTerm(row.thread);
  }
}

const HEADER = /^(.*):(\d+)(?: .*)?$/; // of a loop: file:line function
const COPY = /(?: \(recursion\))?(?: \(\d+\))?$/; // which of several that a compiler made of one

/** What a row is about, for the server to find it in another run; undefined for threads and what has no name. */
export function placeOf(kind: RowsInput['kind'], row: MissRow): PlaceKey | undefined {
  const none = { file: '', line: 0, function: '', object: '', other: '' };
  switch (kind) {
    case 'line':
      return row.line > 0 ? { ...none, file: row.file, line: row.line } : undefined;
    case 'function':
      return row.function ? { ...none, function: row.function } : undefined;
    case 'object':
      return { ...none, object: row.object };
    case 'field':
      return { ...none, object: row.object, other: row.field };
    case 'loop': {
      const [, file, line] = HEADER.exec(row.loop) ?? [];
      if (file === undefined) return undefined;
      return { ...none, file: row.file || file, line: Number(line), other: COPY.exec(row.loop)?.[0] ?? '' };
    }
    case 'thread':
      return undefined;
  }
}

/** Rows of another run by their names in this one; a name that both have pairs until it is known better, but not
 * that of a line or loop, which moves with every edit. */
export function byNameHere(
  kind: RowsInput['kind'],
  rows: readonly MissRow[],
  here: ReadonlyMap<string, string> | undefined,
): ReadonlyMap<string, MissRow> | undefined {
  if (!here && (kind === 'line' || kind === 'loop')) return undefined;
  const named = rows.flatMap((row): readonly (readonly [string, MissRow])[] => {
    const known = here && placeOf(kind, row) !== undefined;
    const name = known ? here.get(row.name) : row.name;
    return name === undefined ? [] : [[name, row]];
  });
  return new Map(named);
}

export class RowsView implements KeptView<number> {
  readonly size: Size;
  readonly ranked: readonly MissRow[];
  private readonly shown: number;
  private readonly third: boolean;
  private readonly most: number;
  private readonly earlier: ReadonlyMap<string, MissRow> | undefined; // by the name here

  constructor(private readonly input: RowsInput) {
    this.size = input.size;
    const { by } = input;
    this.ranked = input.rows.toSorted((a, b) => (b.misses[by] ?? 0) - (a.misses[by] ?? 0));
    this.shown = Math.max(
      0,
      Math.min(this.ranked.length, Math.floor((input.size.h - ROW - (input.key ? 20 : 0)) / ROW)),
    );
    const l3 = input.levels[2];
    this.third = l3 !== undefined && l3.misses > l3.first && input.size.w > 420;
    this.earlier = input.before;
    const all = [...this.ranked, ...(this.earlier?.values() ?? [])];
    this.most = Math.max(1, ...all.map((r) => r.misses[by] ?? 0));
  }

  get basis(): unknown {
    const { hovered: _, ...drawn } = this.input;
    return drawn;
  }

  private columns(): { name: number; first: number; others: readonly number[]; used: number; spark: number } {
    const spark = this.size.w - 12 - SPARK;
    const used = spark - 8 - USED;
    const others = this.third ? [used - 8 - NUMBER, used - 8] : [used - 7];
    return { name: 12, first: others[0]! - NUMBER, others, used, spark };
  }

  private otherLevels(): readonly number[] {
    const rest = this.input.levels.map((_, i) => i).filter((i) => i !== this.input.by);
    return rest.slice(0, this.third ? 2 : 1);
  }

  draw(r: Renderer): void {
    const c = this.columns();
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    const { levels, by, kind } = this.input;
    const left = this.ranked.length - this.shown;
    r.text(left > 0 && !this.input.key ? `${kind}, ${count(left)} more: T` : kind, c.name, 10, muted);
    r.text(`${levels[by]?.level ?? ''} misses`, c.first, 10, { ...muted, align: 'right' });
    this.otherLevels().forEach((l, i) =>
      r.text(levels[l]!.level, c.others[i]!, 10, { ...muted, align: 'right' }),
    );
    r.text(`used/${levels[0]?.line_bytes ?? 64}`, c.used, 10, muted);
    r.text('reuse dist.', c.spark, 10, muted);
    for (let i = 0; i < this.shown; i++) this.drawRow(r, i, ROW * (i + 1));
    if (this.input.key) this.drawKey(r);
  }

  private drawRow(r: Renderer, i: number, y: number): void {
    const row = this.ranked[i]!;
    const c = this.columns();
    const { by, kind, selecting } = this.input;
    const chosen = selecting && row.selected > 0;
    if (chosen && row.selected === row.references)
      r.rect({ x: 0, y, w: this.size.w, h: ROW }, { fill: r.theme['selected-tint'] });
    const bar = 66;
    const part = (n: number): number => (bar * n) / this.most;
    const n = row.misses[by] ?? 0;
    r.rect({ x: c.first - part(n), y: y + 2, w: part(n), h: ROW - 4 }, { fill: r.theme['rest-bar'] });
    if (chosen) {
      const w = part(row.chosen[by] ?? 0);
      r.rect({ x: c.first - w, y: y + 2, w, h: ROW - 4 }, { fill: r.theme['selected-bar'] });
    }
    const was = this.earlier?.get(row.name)?.misses[by];
    if (was !== undefined)
      r.rect(
        { x: c.first - part(was), y: y + 2.5, w: part(was), h: ROW - 5 },
        { stroke: r.theme.text, width: 1 },
      );
    const mid = y + ROW / 2;
    const name = { font: { size: 11.5, mono: true, weight: chosen ? 600 : 400 }, fill: r.theme.text };
    const room = c.first - bar - c.name - 6;
    const text = cutInside(kind === 'field' ? row.field : row.name, Math.max(40, room), name.font, r.measure);
    r.text(text, c.name, mid, name);
    const beside =
      kind === 'object'
        ? row.bytes > 0
          ? sizeText(row.bytes)
          : ''
        : kind === 'field'
          ? `${row.object} +${row.offset}`
          : kind === 'line'
            ? row.function
            : '';
    const at = c.name + r.measure(text, name.font) + 8;
    if (beside && at < c.first - bar - 20)
      r.text(fit(beside, c.first - bar - at - 4, { size: 11 }, r.measure), at, mid, {
        font: { size: 11 },
        fill: r.theme.muted,
      });
    const number = { font: { size: 12 }, fill: r.theme.text, align: 'right' as const };
    r.text(short(n), c.first, mid, number);
    this.otherLevels().forEach((l, k) => r.text(short(row.misses[l] ?? 0), c.others[k]!, mid, number));
    this.drawUsed(r, row, c.used, mid);
    this.drawSpark(r, row, c.spark, y);
  }

  private drawUsed(r: Renderer, row: MissRow, x: number, y: number): void {
    if (row.fetched === 0) return;
    const line = this.input.levels[0]?.line_bytes ?? 64;
    const used = row.used / row.fetched;
    r.text(String(Math.round(used)), x + 19, y, { font: { size: 12 }, fill: r.theme.text, align: 'right' });
    r.rect({ x: x + 24, y: y - 4, w: 25, h: 8 }, { fill: r.theme['rest-bar'] });
    r.rect({ x: x + 24, y: y - 4, w: Math.min(25, (25 * used) / line), h: 8 }, { fill: r.theme.text });
  }

  private drawSpark(r: Renderer, row: MissRow, x: number, y: number): void {
    const most = Math.max(1, ...row.reuse);
    const w = SPARK / row.reuse.length;
    const fits = (octave: number): number => {
      const lines = octave === 0 ? 1 : 2 ** octave; // distances below this
      return this.input.levels.findIndex((l) => lines <= l.bytes / l.line_bytes);
    };
    row.reuse.forEach((n, i) => {
      if (n === 0) return;
      const h = Math.max(1, 16 * Math.sqrt(n / most));
      const box = { x: x + i * w, y: y + ROW - 2 - h, w: Math.max(1, w - 1), h };
      if (i === row.reuse.length - 1)
        r.rect(box, { hatch: { line: r.theme.rest, width: 1, period: 3 }, stroke: r.theme.rest, width: 0.5 });
      else {
        const level = fits(i);
        r.rect(box, {
          fill: level === 0 ? r.theme['rest-bar'] : level === 1 ? r.theme.rest : r.theme.text,
        });
      }
    });
  }

  private drawKey(r: Renderer): void {
    const y = this.size.h - 10;
    let x = 12;
    const { levels } = this.input;
    const left = this.ranked.length - this.shown;
    const say = (text: string, fill: string | undefined): void => {
      if (fill) r.rect({ x, y: y - 4, w: 8, h: 8 }, { fill });
      else r.rect({ x, y: y - 4, w: 8, h: 8 }, { hatch: { line: r.theme.rest, width: 1, period: 3 } });
      r.text(text, x + 12, y, { font: { size: 11 }, fill: r.theme.muted });
      x += 24 + r.measure(text, { size: 11 });
    };
    say(`fits ${levels[0]?.level ?? 'L1'}`, r.theme['rest-bar']);
    if (levels[1]) say(`fits ${levels[1].level}`, r.theme.rest);
    say('beyond', r.theme.text);
    say('first touch', undefined);
    r.text(left > 0 ? `${count(left)} more: T` : '√ references', this.size.w - 12, y, {
      font: { size: 11 },
      fill: r.theme.muted,
      align: 'right',
    });
  }

  drawHover(r: Renderer): void {
    const i = this.ranked.findIndex((row) => row.name === this.input.hovered);
    if (i < 0 || i >= this.shown) return;
    r.rect(
      { x: 1, y: ROW * (i + 1) + 1, w: this.size.w - 2, h: ROW - 2 },
      { stroke: r.theme.hover, width: 1.5, dash: [4, 2.5] },
    );
  }

  hitTest(p: Point): number | undefined {
    const i = Math.floor(p.y / ROW) - 1;
    return i >= 0 && i < this.shown ? i : undefined;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    if (dir === 'first' || dir === 'last')
      return this.shown === 0 ? undefined : dir === 'first' ? 0 : this.shown - 1;
    return stepIndex(from, dir === 'up' || dir === 'left' || dir === 'previous' ? -1 : 1, this.shown);
  }

  describe(i: number): Said {
    const row = this.ranked[i];
    if (!row) return { name: '', more: '' };
    const { levels } = this.input;
    const was = this.earlier && (this.earlier.get(row.name)?.misses ?? levels.map(() => 0));
    const misses = levels
      .map((l, k) => {
        const n = row.misses[k] ?? 0;
        const before = was ? ` (A ${count(was[k] ?? 0)}, ${change(was[k] ?? 0, n)})` : '';
        return `${count(n)} ${l.level} misses${before}`;
      })
      .join(' · ');
    const used =
      row.fetched > 0
        ? ` · ${(row.used / row.fetched).toFixed(1)} of ${levels[0]?.line_bytes ?? 64} bytes used of each line fetched`
        : '';
    return {
      name: row.name,
      more: `· ${plural(row.references, 'reference')} · ${misses}${used} · ${plural(row.first, 'first touch', 'first touches')}`,
    };
  }

  wanted(i: number): Term | undefined {
    const row = this.ranked[i];
    return row && termOf(this.input.kind, row);
  }

  rows(): Table {
    const { levels } = this.input;
    return {
      head: [
        this.input.kind,
        'bytes',
        'references',
        'selected',
        ...levels.map((l) => `${l.level} misses`),
        'bytes used of a line',
        'first touches',
        ...(this.earlier ? levels.flatMap((l) => [`A ${l.level} misses`, `${l.level} change`]) : []),
      ],
      rows: this.ranked.map((r) => [
        r.name,
        String(r.bytes),
        String(r.references),
        String(r.selected),
        ...levels.map((_, k) => String(r.misses[k] ?? 0)),
        r.fetched > 0 ? (r.used / r.fetched).toFixed(2) : '',
        String(r.first),
        ...(this.earlier ? levels.flatMap((_, k) => this.wasAndChange(r, k)) : []),
      ]),
    };
  }

  private wasAndChange(row: MissRow, level: number): readonly string[] {
    const was = this.earlier?.get(row.name)?.misses[level] ?? 0;
    return [String(was), change(was, row.misses[level] ?? 0)];
  }

  summary(): string {
    const top = this.ranked[0];
    const all = this.input.levels[this.input.by];
    return top && all
      ? `${plural(this.ranked.length, 'row')}; ${top.name} has ${percent(top.misses[this.input.by] ?? 0, all.misses)} of the ${all.level} misses.`
      : 'Nothing was referenced.';
  }
}
