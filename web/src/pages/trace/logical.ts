// Processes by steps: one cell an operation, its computation before it, the
// messages between, and the depth line around what a delay reached.
import type { Point, Rect } from '../../base/geometry';
import type { Renderer, Segment } from '../../base/renderer';
import type { Place } from '../../api/wire';
import { NONE, type Messages } from './picture';
import { partitionColor } from './scale';
import { isKind } from './state';
import { grow, TimelineView, type TimelineInput } from './timeline';

export const AXIS = 34;
const FLOW = 12;
const ROW_MOST = 96; // px: a few ranks use the height there is

export class LogicalView extends TimelineView {
  private readonly w: number; // of a step, pixels

  constructor(input: TimelineInput) {
    super(input, AXIS + (input.picture.flow.length > 0 ? FLOW : 0), 2, ROW_MOST);
    this.w = this.plot.w / Math.max(1e-9, input.to - input.from);
  }

  protected boxOf(i: number): Rect {
    const o = this.input.picture.ops!;
    return this.cell(o.step[i]!, o.line[i]!);
  }

  private cell(step: number, line: number): Rect {
    const x = this.x(step);
    const flat = this.row < 12;
    const h = flat ? Math.max(1, this.row - 1) : this.row - 4;
    const y = this.y(line) - h / 2;
    if (this.w < 5) return { x, y, w: Math.max(1, this.w - 1), h };
    return { x: x + 0.4 * this.w, y, w: 0.52 * this.w, h };
  }

  protected placeBox(p: Place): Rect | undefined {
    const line = this.lineOf(p.process);
    return line === undefined ? undefined : this.cell(p.step, line);
  }

  protected position(i: number): number {
    return this.input.picture.ops!.step[i]!;
  }

  protected messageLine(m: Messages, i: number): readonly [number, number, number, number] {
    const a = this.cell(m.fromStep[i]!, m.fromLine[i]!);
    const b = this.cell(m.toStep[i]!, m.toLine[i]!);
    return [a.x + a.w, this.y(m.fromLine[i]!), b.x, this.y(m.toLine[i]!)];
  }

  draw(r: Renderer): void {
    this.drawBands(r);
    this.drawAxis(r);
    this.drawGutter(r);
    this.drawFlow(r, AXIS, FLOW - 2);
    r.clip({ x: this.plot.x, y: this.plot.y, w: this.plot.w, h: this.plot.h + 2 }, () => {
      if (this.input.picture.cells) this.drawCells(r);
      this.drawMessages(r, this.w < 12 ? 0.25 : 0.5);
      this.drawOps(r);
      this.drawGhost(r);
      this.drawReach(r);
    });
    r.clip({ x: this.plot.x - 12, y: this.plot.y - 12, w: this.plot.w + 24, h: this.plot.h + 24 }, () => {
      this.drawChain(r);
      this.drawPartners(r, false);
      this.drawSelected(r);
      this.drawDiscs(r);
    });
    this.drawGroups(r);
  }

  private drawBands(r: Renderer): void {
    const bands = this.input.picture.ops?.bands;
    if (!bands || this.w < 2) return;
    r.clip({ ...this.plot, h: this.plot.h + 1 }, () => {
      for (let i = 0; i < bands.length; i += 4) {
        const [line, part, first, steps] = [bands[i]!, bands[i + 1]!, bands[i + 2]!, bands[i + 3]!];
        const y = this.plot.y + line * this.row;
        if (part % 2 === 0)
          r.rect({ x: this.x(first), y, w: steps * this.w, h: this.row }, { fill: r.theme.band });
        r.line(this.x(first), y, this.x(first), y + this.row, { stroke: r.theme.hair, width: 1 });
      }
    });
  }

  private drawAxis(r: Renderer): void {
    const { from, to, picture, selected } = this.input;
    const style = { font: { size: 10.5 }, fill: r.theme.muted };
    if (picture.ops) r.text('partition', this.plot.x - 10, 9, { ...style, align: 'right' });
    r.text('step', this.plot.x - 10, 25, { ...style, align: 'right' });
    r.line(this.plot.x, 17, this.plot.x + this.plot.w, 17, { stroke: r.theme.hair, width: 1 });
    const every = tickEvery(this.w, 6 * String(Math.ceil(to)).length + 6);
    const chosen = this.stepOf(selected);
    for (let s = Math.ceil(from / every) * every; s < to; s += every) {
      if (chosen < 0 || Math.abs(s - chosen) * this.w >= 12) this.stepLabel(r, s, r.theme.muted, 400);
    }
    if (chosen >= from && chosen < to) this.stepLabel(r, chosen, r.theme.selected, 600);
    this.drawPartitions(r);
    this.drawRibbon(r);
  }

  /** Partitions where a step is too narrow for grounds and numbers: a ribbon on the axis. */
  private drawRibbon(r: Renderer): void {
    const { ribbon, window } = this.input.picture;
    if (ribbon.length === 0) return;
    r.text('partition', this.plot.x - 10, 9, { font: { size: 10.5 }, fill: r.theme.muted, align: 'right' });
    const x = (c: number): number => this.x(window.from + ((window.to - window.from) * c) / ribbon.length);
    r.clip({ x: this.plot.x, y: 0, w: this.plot.w, h: AXIS }, () => {
      for (let i = 0; i < ribbon.length;) {
        let j = i + 1;
        while (j < ribbon.length && ribbon[j] === ribbon[i]) j++;
        const part = ribbon[i]!;
        if (part !== NONE) {
          const fill =
            this.input.colour === 'partition'
              ? partitionColor(r.theme, part)
              : part % 2 === 0
                ? r.theme.rest
                : r.theme['hair-strong'];
          r.rect({ x: x(i), y: 11, w: Math.max(0.5, x(j) - x(i)), h: 3 }, { fill });
        }
        i = j;
      }
    });
  }

  private stepOf(op: number): number {
    const i = this.at(op);
    return i === undefined ? -1 : this.input.picture.ops!.step[i]!;
  }

  override drawHover(r: Renderer): void {
    const under = this.stepOf(this.input.hovered);
    if (under >= this.input.from && under < this.input.to) {
      const x = this.x(under + 0.5);
      r.rect({ x: x - 10, y: 18, w: 20, h: 14 }, { fill: r.theme.bg });
      this.stepLabel(r, under, r.theme.hover, 600);
    }
    super.drawHover(r);
  }

  private stepLabel(r: Renderer, s: number, fill: string, weight: number): void {
    r.text(String(s), this.x(s + (this.w < 5 ? 0.5 : 0.66)), 25, {
      font: { size: 10.5, weight },
      fill,
      align: 'center',
    });
  }

  /** Each partition once, centred over its steps; numbers that would touch are left out. */
  private drawPartitions(r: Renderer): void {
    const bands = this.input.picture.ops?.bands;
    if (!bands) return;
    const seen = new Map<number, readonly [number, number]>();
    for (let i = 0; i < bands.length; i += 4) seen.set(bands[i + 1]!, [bands[i + 2]!, bands[i + 3]!]);
    const chosen = this.at(this.input.selected);
    const bold = chosen === undefined ? -1 : this.input.picture.ops!.part[chosen]!;
    let free = -Infinity;
    for (const [part, [first, steps]] of [...seen].sort((a, b) => a[1][0] - b[1][0])) {
      const [x0, x1] = [
        Math.max(this.plot.x, this.x(first)),
        Math.min(this.plot.x + this.plot.w, this.x(first + steps)),
      ];
      if (x1 <= x0) continue;
      if (this.w >= 2) r.line(x0, 4, x0, 14, { stroke: r.theme['hair-strong'], width: 1 });
      const font = { size: 10.5, ...(part === bold && { weight: 600 }) };
      const label = String(part);
      const half = r.measure(label, font) / 2;
      const x = (x0 + x1) / 2;
      if (x - half < free || x + half > this.plot.x + this.plot.w) continue;
      free = x + half + 6;
      r.text(label, x, 9, { font, fill: part === bold ? r.theme.text : r.theme.muted, align: 'center' });
    }
  }

  private drawOps(r: Renderer): void {
    const o = this.input.picture.ops;
    if (!o) return;
    const radius = this.w >= 12 && this.row >= 12 ? 2 : 0;
    for (let i = 0; i < o.id.length; i++) {
      const [line, step] = [o.line[i]!, o.step[i]!];
      const box = this.cell(step, line);
      if (box.x > this.plot.x + this.plot.w || box.x + box.w < this.plot.x - this.w) continue;
      if (this.input.computation) this.drawBefore(r, step, line, o.before[i]!, o.value[i]!);
      const value = o.value[i]!;
      const edge = this.row >= 12 && this.w >= 5 ? this.cellEdge(r.theme, value) : {};
      r.rect(
        edge.stroke ? grow(box, -0.5) : box,
        { fill: this.colourOf(r.theme, value, o.part[i]!, o.name[i]!), ...edge },
        radius,
      );
    }
  }

  /** The lower half of a cell is the lateness of the changed run. */
  private drawGhost(r: Renderer): void {
    const o = this.input.ghost?.ops;
    if (!o || !this.input.picture.ops) return;
    for (let i = 0; i < o.id.length; i++) {
      const box = this.cell(o.step[i]!, o.line[i]!);
      if (box.x > this.plot.x + this.plot.w || box.x + box.w < this.plot.x - this.w) continue;
      const h = Math.ceil(box.h / 2);
      const y = box.y + box.h - h;
      r.rect({ ...box, y, h }, { fill: this.colourOf(r.theme, o.value[i]!, o.part[i]!, o.name[i]!) });
      if (this.row >= 8) r.rect({ ...box, y: y - 0.5, h: 1 }, { fill: r.theme.bg });
    }
  }

  /** The computation before an operation, as a bar of its own lateness. */
  private drawBefore(r: Renderer, step: number, line: number, before: number, value: number): void {
    if (Number.isNaN(before)) return;
    const t = Math.abs(before) / this.input.top;
    if (this.w < 5) {
      if (Math.abs(before) > Math.abs(value))
        r.rect(
          { ...this.cell(step, line), w: Math.max(1, this.w / 3) },
          { fill: this.colourOf(r.theme, before, 0, this.input.marked) },
        );
      return;
    }
    const x = this.x(step) + 0.04 * this.w;
    const w = 0.36 * this.w;
    if (t < 0.12) {
      if (this.w >= 12) r.rect({ x, y: this.y(line) - 0.5, w, h: 1 }, { fill: r.theme['hair-strong'] });
      return;
    }
    const h = Math.min(5, this.row - 2);
    const flat = isKind(this.input.colour);
    r.rect(
      { x, y: this.y(line) - h / 2, w, h },
      { fill: flat ? r.theme['rest-bar'] : this.colourOf(r.theme, before, 0, this.input.marked) },
    );
  }

  /**
   * The outline of the operations a delay reached, along cell borders: an edge
   * is drawn where exactly one of the cells beside it belongs to the reach. A
   * step without an operation belongs if both its neighbours on the line do.
   */
  private drawReach(r: Renderer): void {
    const o = this.input.picture.ops;
    if (!o || !o.reach.some((v) => v === 1)) return;
    const spans = reachSpans(o.line, o.step, o.reach, this.input.picture.lines.length);
    const path: Segment[] = [];
    const edge = (x0: number, y0: number, x1: number, y1: number): void => {
      path.push({ to: 'move', x: x0, y: y0 }, { to: 'line', x: x1, y: y1 });
    };
    const x = (s: number): number => this.x(s);
    for (let line = 0; line <= spans.length; line++) {
      const y = this.plot.y + line * this.row;
      for (const [a, b] of spans[line] ?? []) {
        edge(x(a), y, x(a), y + this.row);
        edge(x(b), y, x(b), y + this.row);
      }
      for (const [a, b] of difference(spans[line - 1] ?? [], spans[line] ?? [])) edge(x(a), y, x(b), y);
    }
    r.path(path, { stroke: r.theme.text, width: 1.25, alpha: 0.8 });
  }

  private drawChain(r: Renderer): void {
    const { chain, senders, selected } = this.input;
    const boxes = chain.map((p) => this.placeBox(p));
    for (let i = 1; i < chain.length; i++) {
      const [a, b] = [boxes[i - 1], boxes[i]];
      if (!a || !b) continue;
      this.halo(r, a.x + a.w, a.y + a.h / 2, b.x, b.y + b.h / 2, r.theme.selected);
    }
    for (const b of boxes) if (b) r.rect(b, { stroke: r.theme.selected, width: 1.5 }, 2);
    const end = this.find(selected);
    if (chain.length > 1 || !end) return;
    for (const s of senders) {
      const b = this.placeBox(s);
      if (b) this.halo(r, b.x + b.w, b.y + b.h / 2, end.x, end.y + end.h / 2, r.theme.selected);
    }
  }

  private drawDiscs(r: Renderer): void {
    for (const d of this.input.discs.toReversed()) {
      const line = this.lineOf(d.process);
      if (line === undefined || d.step < 0) continue;
      const box = this.cell(d.step, line);
      if (box.x < this.plot.x - 1 || box.x > this.plot.x + this.plot.w) continue;
      if (d.active && d.computation && this.w >= 5) {
        const h = Math.min(5, this.row - 2);
        r.rect(
          { x: this.x(d.step) + 0.04 * this.w, y: this.y(line) - h / 2, w: 0.36 * this.w, h },
          { stroke: r.theme.selected, width: 1.5 },
        );
      }
      const c: Point = {
        x: Math.max(this.plot.x + 2, box.x - 0.36 * this.w + (this.w < 24 ? -9 : 0)),
        y: this.y(line),
      };
      this.drawDisc(r, c, d.number, d.active);
    }
  }

  /** The step under a position. */
  valueAt(x: number): number {
    return this.input.from + (x - this.plot.x) / this.w;
  }

  lineAt(y: number): number {
    return Math.floor((y - this.plot.y) / this.row);
  }

  summary(): string {
    return `Logical timeline, steps ${Math.floor(this.input.from)} to ${Math.ceil(this.input.to) - 1}: ${this.shownText()}.`;
  }
}

/** Every so many steps there is room for a number. */
export function tickEvery(w: number, room: number): number {
  for (let k = 1; ; k *= 10) {
    for (const m of [1, 5]) if (w * m * k >= room) return m * k;
    if (k > 1e9) return k;
  }
}

type Span = readonly [number, number];

/** For each line the stretches of steps that belong to the reach. */
export function reachSpans(
  line: Uint32Array,
  step: Uint32Array,
  reach: Uint16Array,
  lines: number,
): Span[][] {
  const out: [number, number][][] = Array.from({ length: lines }, () => []);
  for (let i = 0; i < line.length; i++) {
    if (reach[i] !== 1) continue;
    const spans = out[line[i]!]!;
    const last = spans.at(-1);
    // Operations come line by line in order of steps: the one before this is its
    // neighbour, and what lies between the two has no operation.
    if (last && i > 0 && reach[i - 1] === 1 && line[i - 1] === line[i]) last[1] = step[i]! + 1;
    else spans.push([step[i]!, step[i]! + 1]);
  }
  return out;
}

/** Where exactly one of two sets of stretches lies. */
export function difference(a: readonly Span[], b: readonly Span[]): Span[] {
  const ends = [...a.flat(), ...b.flat()].sort((p, q) => p - q);
  const out: [number, number][] = [];
  for (let i = 0; i + 1 < ends.length; i += 2)
    if (ends[i]! < ends[i + 1]!) out.push([ends[i]!, ends[i + 1]!]);
  return out;
}
