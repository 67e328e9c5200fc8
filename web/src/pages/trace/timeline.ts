// What the logical and the physical timeline share: lines of processes, marks
// that are operations, colours, the chain of a delay, and level of detail.
import type { Dir, Point, Rect, Size } from '../../base/geometry';
import { clamp, HIT_SLOP } from '../../base/geometry';
import { plural } from '../../base/format';
import type { Paint, Renderer } from '../../base/renderer';
import { circle } from '../../base/renderer';
import type { Theme } from '../../base/theme';
import { inkOn } from '../../base/color';
import type { Place } from '../../api/wire';
import type { ViewLegend } from '../../frame/legend';
import type { KeptView, Said, Table } from '../../frame/view';
import { timelineLegend } from './legend';
import { NONE, type Cells, type Messages, type Ops, type Timeline } from './picture';
import { amountPixels, groupColor, latenessColor, partitionColor, time, type Write } from './scale';
import { changeColor } from '../../base/change';
import { isKind, type Colour } from './state';

export const GUTTER = 56;
export const EDGE = 14;
/** From this height on groups have lines between them. */
const GROUP_LEAST = 7;
const LABEL_HALF = 6; // px
export const KINDS = ['send', 'receive', 'collective'] as const;

/** A numbered disc at the operation where a delay began. */
export interface Disc {
  readonly op: number;
  readonly process: number;
  readonly step: number;
  readonly time: number; // where a computation began, or the call; -1 if not known
  readonly number: number;
  readonly active: boolean;
  readonly computation: boolean;
}

/** A message of a selected or hovered operation. */
export interface Partner {
  readonly from: Place;
  readonly to: Place;
  readonly hover: boolean;
}

export interface TimelineInput {
  readonly picture: Timeline;
  /** The window on screen; the picture may still be of the one before. */
  readonly from: number;
  readonly to: number;
  readonly size: Size;
  readonly colour: Colour;
  readonly top: number; // end of the scale, ns or the unit of a measure
  readonly signed: boolean; // values are differences
  readonly write: Write; // amounts in words
  readonly unit: string; // of a measure; empty for times
  readonly word: string; // of the metric: "late"
  readonly groups: readonly string[];
  readonly groupOf: readonly number[]; // by name
  readonly pixel: 'most' | 'mean'; // of cells
  readonly marked: number; // name of the function that stands out, -1 for none
  readonly names: readonly string[];
  readonly selected: number; // operation, -1 for none
  readonly hovered: number;
  readonly chain: readonly Place[];
  /** Senders of a selected operation that has no chain. */
  readonly senders: readonly Place[];
  /** Operations that the selected and the hovered one exchange messages with, where the picture has no lines. */
  readonly partners: readonly Partner[];
  readonly discs: readonly Disc[];
  /** The run with changes in the same window, drawn over the recorded one. */
  readonly ghost: Timeline | undefined;
  /** How long the two runs take, ns; undefined without changes. */
  readonly ends: { readonly recorded: number; readonly predicted: number } | undefined;
  /** The picture itself is of the changed run. */
  readonly predicted: boolean;
  readonly messages: 'none' | 'selected' | 'in view';
  readonly computation: boolean;
  /** Steps of the logical window; operations outside are grey in the physical one. */
  readonly steps: readonly [number, number];
  /** What the selected computation's peers needed, in words. */
  readonly note: string;
  /** How far the physical timeline has gone towards the steps, 0 … 1. */
  readonly morph: number;
}

/** Marks are operations, by number. */
export abstract class TimelineView implements KeptView<number> {
  readonly size: Size;
  protected readonly plot: Rect;
  protected readonly row: number; // height of a line
  private readonly starts: Int32Array; // first operation of each line
  private readonly index = new Map<number, number>();

  constructor(
    protected readonly input: TimelineInput,
    top: number,
    bottom: number,
    rowMost: number,
  ) {
    this.size = input.size;
    const lines = Math.max(1, input.picture.lines.length);
    const room = Math.max(1, input.size.h - top - bottom);
    this.row = Math.min(rowMost, room / lines);
    this.plot = { x: GUTTER, y: top, w: Math.max(1, input.size.w - GUTTER - EDGE), h: this.row * lines };
    this.starts = lineStarts(input.picture.ops, lines);
    input.picture.ops?.id.forEach((id, i) => this.index.set(id, i));
  }

  get basis(): unknown {
    const { hovered: _, partners, ...drawn } = this.input;
    return { ...drawn, partners: partners.filter((p) => !p.hover) };
  }

  abstract draw(r: Renderer): void;
  legendFor(theme: Theme): ViewLegend | undefined {
    return timelineLegend(theme, this.input);
  }

  protected abstract boxOf(i: number): Rect; // of the operation at an index
  protected abstract placeBox(p: Place): Rect | undefined;
  protected abstract messageLine(m: Messages, i: number): readonly [number, number, number, number];
  protected abstract position(i: number): number;

  protected x(v: number): number {
    const { from, to } = this.input;
    return this.plot.x + ((v - from) / (to - from)) * this.plot.w;
  }

  protected y(line: number): number {
    return this.plot.y + (line + 0.5) * this.row;
  }

  /** The line of a process; undefined if it is not drawn. */
  protected lineOf(process: number): number | undefined {
    const line = this.input.picture.lineOf[process];
    return line === undefined || line === NONE ? undefined : line;
  }

  // ---- colours ----

  protected colourOf(theme: Theme, value: number, part: number, name: number): string {
    if (this.input.marked >= 0 && name !== this.input.marked) return theme['hair-strong'];
    switch (this.input.colour) {
      case 'partition':
        return partitionColor(theme, part);
      case 'function':
        return partitionColor(theme, name);
      case 'group':
        return groupColor(theme, this.input.groupOf[name] ?? 0);
      default:
        if (Number.isNaN(value)) return theme.bg;
        return this.input.signed
          ? changeColor(theme, value / this.input.top)
          : latenessColor(theme, value / this.input.top);
    }
  }

  protected cellEdge(theme: Theme, value: number): Paint {
    if (isKind(this.input.colour)) return {};
    // Without a value, such as an operation that the other run does not have.
    if (Number.isNaN(value)) return { stroke: theme.line, width: 1, dash: [2, 2] };
    return Math.abs(value) / this.input.top < 0.3 ? { stroke: theme['cell-edge'], width: 1 } : {};
  }

  // ---- layers ----

  protected drawGutter(r: Renderer): void {
    const { picture, selected } = this.input;
    const chosen = this.lineOfOp(selected);
    // As many labels as fit, always a power of two apart.
    let every = 1;
    while (every * this.row < 12) every *= 2;
    picture.lines.forEach((_, i) => {
      const clear = i === 0 || this.y(i) >= LABEL_HALF + 12; // of the first, which is kept whole
      if (clear && i % every === 0 && (chosen < 0 || Math.abs(i - chosen) >= every / 2))
        this.label(r, i, r.theme.muted, 400);
    });
    if (chosen >= 0) this.label(r, chosen, r.theme.selected, 600);
  }

  /** Where rows of another host or communicator begin, and its name; over the cells. */
  protected drawGroups(r: Renderer): void {
    const { lines } = this.input.picture;
    const begins = lines.flatMap((l, i) => (l.group !== '' && lines[i - 1]?.group !== l.group ? [i] : []));
    const y = (line: number): number => this.plot.y + line * this.row;
    const right = this.plot.x + this.plot.w;
    const height = Math.min(...begins.slice(1).map((line, i) => y(line) - y(begins[i]!)));
    // Many thin groups would be nothing but lines: their borders are ticks.
    const end = height >= GROUP_LEAST ? right : this.plot.x;
    for (const line of begins)
      if (line > 0) r.line(GUTTER - 8, y(line), end, y(line), { stroke: r.theme.line, width: 1 });
    const font = { size: 10.5, weight: 500 };
    let free = -Infinity;
    for (const line of begins) {
      const { group } = lines[line]!;
      if (y(line) < free) continue;
      free = y(line) + 14;
      const w = r.measure(group, font) + 8;
      r.rect({ x: right - w, y: y(line) + 1, w, h: 13 }, { fill: r.theme.bg, alpha: 0.9 }, 3);
      r.text(group, right - 4, y(line) + 8, { font, fill: r.theme.muted, align: 'right' });
    }
  }

  private label(r: Renderer, line: number, fill: string, weight: number): void {
    const l = this.input.picture.lines[line]!;
    const whole = lineLabel(l);
    const fits = r.measure(whole, { size: 11, weight }) <= GUTTER - 12;
    const y = Math.max(LABEL_HALF, this.y(line)); // the first of many rows is lower than its label
    r.text(fits ? whole : l.thread > 0 ? `·${l.thread}` : `${l.rank} …`, GUTTER - 10, y, {
      font: { size: 11, weight },
      fill,
      align: 'right',
    });
  }

  protected drawCells(r: Renderer): void {
    const { cells, window, lines } = this.input.picture;
    if (!cells) return;
    // The upper half of each line is the recorded run, the lower the changed one.
    const parts = [
      cells,
      ...(this.input.ghost?.cells?.most.length === cells.most.length ? [this.input.ghost.cells] : []),
    ];
    const painted = parts.map((k) => this.pixelsOf(r.theme, k));
    const rgba = painted.length === 1 ? painted[0]! : interleave(painted[0]!, painted[1]!, cells.count);
    const [x0, x1] = [this.x(window.from), this.x(window.to)];
    r.clip(this.plot, () =>
      r.cells({
        columns: cells.count,
        rows: lines.length * painted.length,
        rgba: new Uint8ClampedArray(rgba.buffer),
        area: { x: x0, y: this.plot.y, w: x1 - x0, h: this.plot.h },
      }),
    );
  }

  private pixelsOf(theme: Theme, k: Cells): Uint32Array<ArrayBuffer> {
    const { colour, signed, groupOf, marked } = this.input;
    const grey = pack(theme['hair-strong']);
    const shown = this.input.pixel === 'mean' ? k.mean : k.most;
    const flat = isKind(colour);
    const kind = (i: number): number => {
      if (colour === 'group') return groupOf[k.name[i]!] ?? 0;
      return (colour === 'function' ? k.name[i]! : k.part[i]!) % 7;
    };
    const out = new Uint32Array(k.most.length);
    const table = amountPixels(theme, signed);
    const zero = signed ? (table.length - 1) / 2 : 0;
    const scale = (table.length - 1 - zero) / this.input.top;
    const cats = flat
      ? Array.from({ length: 16 }, (_, i) =>
          pack(colour === 'group' ? groupColor(theme, i) : partitionColor(theme, i)),
        )
      : [];
    for (let i = 0; i < out.length; i++) {
      const v = shown[i]!;
      if (Number.isNaN(v)) continue;
      if (marked >= 0 && k.name[i] !== marked) {
        out[i] = grey;
        continue;
      }
      out[i] = flat
        ? cats[kind(i)]!
        : table[Math.max(0, Math.min(table.length - 1, Math.round(zero + v * scale)))]!;
    }
    return out;
  }

  /** Messages of the selected or the hovered operation where there are no lines of messages. */
  protected drawPartners(r: Renderer, hover: boolean): void {
    for (const p of this.input.partners) {
      if (p.hover !== hover) continue;
      const [a, b] = [this.placeBox(p.from), this.placeBox(p.to)];
      if (a && b)
        this.halo(
          r,
          a.x + a.w,
          a.y + a.h / 2,
          b.x,
          b.y + b.h / 2,
          hover ? r.theme.hover : r.theme.selected,
          hover ? [5, 2.5] : undefined,
        );
    }
  }

  protected drawMessages(r: Renderer, alpha: number): void {
    const { picture, messages } = this.input;
    const m = picture.messages;
    if (!m || messages !== 'in view') return;
    const faded = alpha * this.fade(m);
    // Late ones last, so that no other lies over them.
    for (const late of [0, 1]) {
      for (let i = 0; i < m.from.length; i++) {
        if (m.late[i] !== late || m.fromLine[i] === NONE || m.toLine[i] === NONE) continue;
        const [x0, y0, x1, y1] = this.messageLine(m, i);
        r.line(
          x0,
          y0,
          x1,
          y1,
          late
            ? { stroke: r.theme.muted, width: 1.25, alpha: Math.min(1, faded + 0.1) }
            : { stroke: r.theme.rest, width: 1, alpha: faded },
        );
      }
    }
  }

  /** How much of their strength lines keep: together they may cover a tenth of the plot. */
  private fade(m: Messages): number {
    let ink = 0;
    const every = Math.max(1, Math.floor(m.from.length / 500));
    for (let i = 0; i < m.from.length; i += every) {
      if (m.fromLine[i] === NONE || m.toLine[i] === NONE) continue;
      const [x0, y0, x1, y1] = this.messageLine(m, i);
      ink += every * Math.min(Math.hypot(x1 - x0, y1 - y0), this.plot.w);
    }
    const room = 0.1 * this.plot.w * this.plot.h;
    return Math.max(0.15, Math.min(1, room / Math.max(1, ink)));
  }

  /** More messages than lines can show: how many arrive in each column. */
  protected drawFlow(r: Renderer, y: number, h: number): void {
    const { flow } = this.input.picture;
    if (flow.length === 0 || this.input.messages !== 'in view') return;
    const most = flow.reduce((a, b) => Math.max(a, b), 1);
    const w = this.plot.w / flow.length;
    flow.forEach((n, i) => {
      const bar = (n / most) * h;
      if (n > 0) r.rect({ x: this.plot.x + i * w, y: y + h - bar, w, h: bar }, { fill: r.theme.rest });
    });
  }

  protected halo(
    r: Renderer,
    x0: number,
    y0: number,
    x1: number,
    y1: number,
    stroke: string,
    dash?: readonly number[],
  ): void {
    r.line(x0, y0, x1, y1, { stroke: r.theme.bg, width: 5 });
    r.line(x0, y0, x1, y1, { stroke, width: 2, ...(dash && { dash }) });
  }

  /** Messages of one operation, drawn over the rest. */
  protected drawOwnMessages(r: Renderer, op: number, stroke: string, dash?: readonly number[]): void {
    const m = this.input.picture.messages;
    if (!m) return;
    for (let i = 0; i < m.from.length; i++) {
      if ((m.from[i] !== op && m.to[i] !== op) || m.fromLine[i] === NONE || m.toLine[i] === NONE) continue;
      const [x0, y0, x1, y1] = this.messageLine(m, i);
      this.halo(r, x0, y0, x1, y1, stroke, dash);
    }
  }

  protected drawDisc(r: Renderer, at: Point, number: number, active: boolean): void {
    const radius = 9;
    // Whole at every height: the first and last of many rows are lower than it.
    const c = { x: at.x, y: clamp(at.y, radius + 2, this.size.h - radius - 2) };
    r.path(circle(c, radius + 1.5), { fill: r.theme.bg });
    if (active) r.path(circle(c, radius), { fill: r.theme.selected });
    else r.path(circle(c, radius - 0.5), { fill: r.theme.bg, stroke: r.theme.line, width: 1 });
    r.text(String(number), c.x, c.y, {
      font: { size: 11, weight: 600 },
      fill: active ? (r.theme.dark ? r.theme.bg : inkOn(r.theme.selected)) : r.theme.muted,
      align: 'center',
    });
  }

  protected drawSelected(r: Renderer): void {
    const box = this.find(this.input.selected);
    if (!box) return;
    r.rect(grow(box, 1.5), { stroke: r.theme.bg, width: 2 }, 3);
    r.rect(grow(box, 2.5), { stroke: r.theme.selected, width: 2.5 }, 4);
  }

  drawHover(r: Renderer): void {
    const { hovered } = this.input;
    const box = this.find(hovered);
    if (!box) return;
    const line = this.lineOfOp(hovered);
    if (line >= 0) {
      // Over the label below, which may be that of a neighbour.
      r.rect({ x: 4, y: this.y(line) - 8, w: GUTTER - 6, h: 16 }, { fill: r.theme.bg });
      this.label(r, line, r.theme.hover, 600);
    }
    r.clip({ x: this.plot.x, y: 0, w: this.plot.w + EDGE, h: this.size.h }, () => {
      this.drawOwnMessages(r, hovered, r.theme.hover, [5, 2.5]);
      this.drawPartners(r, true);
      r.rect(grow(box, 2), { stroke: r.theme.bg, width: 5 }, 3);
      r.rect(grow(box, 2), { stroke: r.theme.hover, width: 2.5, dash: [5, 2.5] }, 3);
    });
  }

  // ---- marks ----

  protected lineOfOp(op: number): number {
    const i = this.index.get(op);
    return i === undefined ? -1 : this.input.picture.ops!.line[i]!;
  }

  protected at(op: number): number | undefined {
    return this.index.get(op);
  }

  protected find(op: number): Rect | undefined {
    const i = this.index.get(op);
    if (i !== undefined) return this.boxOf(i);
    const k = this.input.picture.cells?.op.indexOf(op) ?? -1;
    return op >= 0 && k >= 0 ? this.cellBox(k) : undefined;
  }

  private cellBox(k: number): Rect {
    const { cells, window } = this.input.picture;
    const n = cells!.count;
    const w = (this.x(window.to) - this.x(window.from)) / n;
    return {
      x: this.x(window.from) + (k % n) * w,
      y: this.plot.y + Math.floor(k / n) * this.row,
      w: Math.max(2, w),
      h: this.row,
    };
  }

  hitTest(p: Point): number | undefined {
    const { picture } = this.input;
    const line = Math.floor((p.y - this.plot.y) / this.row);
    if (
      line < 0 ||
      line >= picture.lines.length ||
      p.x < this.plot.x - HIT_SLOP ||
      p.x > this.plot.x + this.plot.w + HIT_SLOP
    )
      return undefined;
    if (picture.cells) {
      const { window, cells } = picture;
      const c = Math.floor(
        ((p.x - this.x(window.from)) / (this.x(window.to) - this.x(window.from))) * cells.count,
      );
      const op = c >= 0 && c < cells.count ? cells.op[line * cells.count + c]! : NONE;
      return op === NONE ? undefined : op;
    }
    if (!picture.ops) return undefined;
    let best: number | undefined;
    let distance = HIT_SLOP + 0.01;
    for (let i = this.starts[line]!; i < this.starts[line + 1]!; i++) {
      const b = this.boxOf(i);
      const d = Math.max(b.x - p.x, p.x - b.x - b.w, 0);
      if (d < distance) [best, distance] = [picture.ops.id[i]!, d];
    }
    return best;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const { ops } = this.input.picture;
    if (!ops || ops.id.length === 0) return undefined;
    const i = from === undefined ? undefined : this.index.get(from);
    if (i === undefined) return ops.id[dir === 'last' ? ops.id.length - 1 : 0];
    const line = ops.line[i]!;
    const [a, b] = [this.starts[line]!, this.starts[line + 1]! - 1];
    switch (dir) {
      case 'left':
      case 'previous':
        return ops.id[Math.max(a, i - 1)];
      case 'right':
      case 'next':
        return ops.id[Math.min(b, i + 1)];
      case 'first':
        return ops.id[a];
      case 'last':
        return ops.id[b];
      case 'up':
        return this.nearest(line, -1, i);
      case 'down':
        return this.nearest(line, 1, i);
    }
  }

  /** The operation of the next line that lies nearest. */
  private nearest(line: number, by: number, i: number): number {
    const ops = this.input.picture.ops!;
    const x = this.position(i);
    for (let l = line + by; l >= 0 && l < this.starts.length - 1; l += by) {
      let best = -1;
      for (let k = this.starts[l]!; k < this.starts[l + 1]!; k++) {
        if (best < 0 || Math.abs(this.position(k) - x) < Math.abs(this.position(best) - x)) best = k;
      }
      if (best >= 0) return ops.id[best]!;
    }
    return ops.id[i]!;
  }

  describe(op: number): Said {
    const { picture, names } = this.input;
    const i = this.index.get(op);
    if (i === undefined) return this.describeCell(op);
    const o = picture.ops!;
    const rank = picture.lines[o.line[i]!]!.rank;
    const m = picture.messages;
    const partners: string[] = [];
    if (m) {
      for (let k = 0; k < m.from.length && partners.length < 4; k++) {
        const [other, word] =
          m.from[k] === op ? [m.toLine[k]!, 'to'] : m.to[k] === op ? [m.fromLine[k]!, 'from'] : [NONE, ''];
        if (other !== NONE) partners.push(`${word} rank ${picture.lines[other]!.rank}`);
      }
    }
    const parts = [
      ...(this.input.predicted ? ['≈ predicted'] : []),
      `step ${o.step[i]}, ${names[o.name[i]!] ?? ''}`,
      this.valueWords(o.value[i]!, o.name[i]!),
      `${time(o.enter[i]!)} – ${time(o.exit[i]!)}`,
      ...partners,
      `partition ${o.part[i]}`,
    ];
    return { name: `Rank ${rank}`, more: parts.join(' · ') };
  }

  private describeCell(op: number): Said {
    const { picture, names } = this.input;
    const k = picture.cells?.op.indexOf(op) ?? -1;
    if (k < 0) return { name: `Operation ${op}`, more: '' };
    const c = picture.cells!;
    const line = picture.lines[Math.floor(k / c.count)]!;
    return {
      name: line.count > 1 ? `Ranks ${lineLabel(line)}` : `Rank ${line.rank}`,
      more: [
        `largest ${this.valueWords(c.most[k]!, c.name[k]!)} in ${names[c.name[k]!] ?? ''}`,
        `mean ${this.input.write(c.mean[k]!)}`,
        `partition ${c.part[k]}`,
      ].join(' · '),
    };
  }

  private valueWords(value: number, name: number): string {
    const { colour, groups, groupOf, write } = this.input;
    if (colour === 'group') return groups[groupOf[name] ?? 0] ?? '';
    return `${write(value)} ${this.metricWord()}`.trim();
  }

  protected metricWord(): string {
    if (this.input.signed && !this.input.colour.startsWith('metric:'))
      return this.input.colour === 'duration'
        ? 'longer than in the other run'
        : 'later than in the other run';
    switch (this.input.colour) {
      case 'differential':
        return 'late, new here';
      case 'partition-lateness':
        return 'late in its partition';
      case 'partition-differential':
        return 'late in its partition, new here';
      case 'duration':
        return 'long';
      default:
        return this.input.colour.startsWith('metric:') ? this.input.colour.slice(7) : 'late';
    }
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { picture, names } = this.input;
    const o = picture.ops;
    if (o) {
      return {
        head: [
          'rank',
          'step',
          'partition',
          'operation',
          'kind',
          'enter ns',
          'exit ns',
          this.columnName(),
          this.columnName('before it'),
        ],
        rows: Array.from(o.id, (_, i) => [
          String(picture.lines[o.line[i]!]!.rank),
          String(o.step[i]),
          String(o.part[i]),
          names[o.name[i]!] ?? '',
          KINDS[o.kind[i]!] ?? '',
          String(o.enter[i]),
          String(o.exit[i]),
          String(o.value[i]),
          String(o.before[i]),
        ]),
      };
    }
    const c = picture.cells;
    const rows: string[][] = [];
    c?.most.forEach((v, k) => {
      if (!Number.isNaN(v))
        rows.push([
          lineLabel(picture.lines[Math.floor(k / c.count)]!),
          String(k % c.count),
          String(v),
          String(c.mean[k]),
        ]);
    });
    return { head: ['ranks', 'column', this.columnName('largest'), this.columnName('mean')], rows };
  }

  /** A column of amounts: its unit, and what it is a difference from. */
  private columnName(what = ''): string {
    const { colour, signed } = this.input;
    const metric = isKind(colour) ? 'lateness' : colour.startsWith('metric:') ? colour.slice(7) : colour;
    return [
      what || metric,
      colour.startsWith('metric:') ? (what ? metric : '') : 'ns',
      signed ? 'more than in the other run' : '',
    ]
      .filter(Boolean)
      .join(' ');
  }

  protected shownText(): string {
    const { picture } = this.input;
    const shown = picture.ops
      ? `${plural(picture.ops.id.length, 'operation')}`
      : `${plural(picture.lines.length, 'line')} of pixels, each the largest of its operations`;
    return `${plural(picture.rows, 'row')}; ${shown}; ${plural(picture.sent, 'message')}`;
  }

  abstract summary(): string;
}

export function lineLabel(l: {
  readonly count: number;
  readonly rank: number;
  readonly members: number;
  readonly last: number;
  readonly thread: number;
  readonly name: string;
}): string {
  if (l.thread > 0) return l.name || `thread ${l.thread}`;
  // Ranks of a group need not follow each other.
  if (l.count > 1) return l.last - l.rank === l.count - 1 ? `${l.rank}–${l.last}` : `${l.rank} … ${l.last}`;
  if (l.members > 1) return `▸${l.rank}·${l.members}`;
  return l.name || String(l.rank); // a thread that sends and receives has its name, below its rank
}

function lineStarts(ops: Ops | undefined, lines: number): Int32Array {
  const starts = new Int32Array(lines + 1);
  ops?.line.forEach((l) => starts[l + 1]!++);
  for (let i = 0; i < lines; i++) starts[i + 1]! += starts[i]!;
  return starts;
}

function pack(color: string): number {
  const n = Number.parseInt(color.slice(1), 16);
  return ((255 << 24) | ((n & 255) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
}

/** Two pictures line by line, one under the other. */
function interleave(a: Uint32Array, b: Uint32Array, columns: number): Uint32Array<ArrayBuffer> {
  const out = new Uint32Array(2 * a.length);
  for (let y = 0; y * columns < a.length; y++) {
    out.set(a.subarray(y * columns, (y + 1) * columns), 2 * y * columns);
    out.set(b.subarray(y * columns, (y + 1) * columns), (2 * y + 1) * columns);
  }
  return out;
}

export function grow(b: Rect, by: number): Rect {
  return { x: b.x - by, y: b.y - by, w: b.w + 2 * by, h: b.h + 2 * by };
}

/** The window after zooming about a position, kept inside the whole. */
export function zoomed(
  from: number,
  to: number,
  at: number,
  factor: number,
  whole: number,
  least: number,
): readonly [number, number] {
  const span = clamp((to - from) * factor, Math.min(least, whole), whole);
  const share = to > from ? (at - from) / (to - from) : 0.5;
  const start = clamp(at - share * span, 0, whole - span);
  return [start, start + span];
}

/** The window moved, kept inside the whole. */
export function panned(from: number, to: number, by: number, whole: number): readonly [number, number] {
  const span = to - from;
  const start = clamp(from + by, 0, Math.max(0, whole - span));
  return [start, start + span];
}
