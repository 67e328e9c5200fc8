// Processes by time: the same operations where the clock puts them.
import type { Rect } from '../../base/geometry';
import type { Renderer, Segment } from '../../base/renderer';
import type { Place } from '../../api/wire';
import { atStep } from '../../base/format';
import { linearTicks } from '../../base/scale';
import type { Messages } from './picture';
import { groupColor, partitionColor, time, timeUnit } from './scale';
import { isKind } from './state';
import { TimelineView, type TimelineInput } from './timeline';

const AXIS = 24;
const ROW_MOST = 84; // px
const STACKED = 38; // px, with call stacks: operations are as high as a level
const GHOST = 3; // px that the changed run lies below the recorded one
const LANE = { least: 3, most: 12, name: 9 }; // px, of a level of the call stack

export class PhysicalView extends TimelineView {
  private readonly lane: number; // height of a level; 0 without call stacks
  private readonly levels: number;

  constructor(input: TimelineInput) {
    const levels = input.morph > 0 ? 0 : (input.picture.stack?.levels ?? 0);
    super(input, 2, AXIS, levels > 0 ? Math.max(STACKED, (levels + 1) * LANE.most + 3) : ROW_MOST);
    const lane = Math.min(LANE.most, (this.row - 3) / (levels + 1));
    this.lane = levels > 0 && lane >= LANE.least ? lane : 0;
    this.levels = this.lane > 0 ? levels : 0;
  }

  /** Whether call stacks are shown; they were asked for in vain where rows are too low. */
  get stacked(): boolean {
    return this.lane > 0;
  }

  /** The middle of a line's operations: below its call stack, if it has one. */
  private middle(line: number): number {
    if (this.lane === 0) return this.y(line);
    return this.plot.y + line * this.row + 1.5 + (this.levels + 0.5) * this.lane;
  }

  /**
   * A position on the way from the clock to the steps: share is where in its
   * step a thing lies, as the logical timeline draws it.
   */
  private along(time: number, step: number, share: number): number {
    const x = this.x(time);
    const { morph, steps } = this.input;
    if (morph <= 0) return x;
    const logical =
      this.plot.x + ((step + share - steps[0]) / Math.max(1, steps[1] - steps[0])) * this.plot.w;
    return x + morph * (logical - x);
  }

  private box(enter: number, exit: number, step: number, line: number): Rect {
    const h = this.lane > 0 ? this.lane : this.row < 12 ? Math.max(1, this.row - 1) : this.row - 5;
    const x = this.along(enter, step, 0.4);
    return { x, y: this.middle(line) - h / 2, w: Math.max(1, this.along(exit, step, 0.92) - x), h };
  }

  protected boxOf(i: number): Rect {
    const o = this.input.picture.ops!;
    return this.box(o.enter[i]!, o.exit[i]!, o.step[i]!, o.line[i]!);
  }

  protected placeBox(p: Place): Rect | undefined {
    const line = this.lineOf(p.process);
    return line === undefined ? undefined : this.box(p.enter, p.exit, p.step, line);
  }

  protected position(i: number): number {
    return this.input.picture.ops!.enter[i]!;
  }

  protected messageLine(m: Messages, i: number): readonly [number, number, number, number] {
    return [
      this.along(m.fromExit[i]!, m.fromStep[i]!, 0.92),
      this.middle(m.fromLine[i]!),
      this.along(m.toExit[i]!, m.toStep[i]!, this.input.morph > 0 ? 0.92 - 0.52 * this.input.morph : 0.92),
      this.middle(m.toLine[i]!),
    ];
  }

  draw(r: Renderer): void {
    this.drawGrid(r);
    this.drawGutter(r);
    r.clip({ x: this.plot.x, y: 0, w: this.plot.w, h: this.plot.y + this.plot.h + 2 }, () => {
      this.drawStacks(r);
      this.drawTrack(r);
      if (this.input.picture.cells && this.lane === 0) this.drawCells(r);
      this.drawBefore(r);
      this.drawOthers(r);
      this.drawOps(r);
      this.drawGhost(r);
      this.drawMarks(r);
      this.drawMessages(r, 0.25);
      this.drawChain(r);
      this.drawPartners(r, false);
      this.drawSelected(r);
      this.drawDiscs(r);
      this.drawEnds(r);
    });
    this.drawGroups(r);
  }

  /** Calls that are no operations, as outlines: they are not late. */
  private drawOthers(r: Renderer): void {
    const o = this.input.picture.others;
    if (!o || this.input.morph > 0 || this.lane > 0) return;
    for (let i = 0; i < o.line.length; i++) {
      const box = this.box(o.enter[i]!, o.exit[i]!, 0, o.line[i]!);
      if (box.w < 2) continue;
      const inner = { x: box.x + 0.5, y: box.y + 0.5, w: box.w - 1, h: Math.max(1, box.h - 1) };
      r.rect(inner, { fill: r.theme.surface, stroke: r.theme['hair-strong'], width: 1 });
      const name = this.input.names[o.name[i]!] ?? '';
      const font = { size: 10 };
      if (box.h >= 11 && r.measure(name, font) < box.w - 8)
        r.text(name, box.x + 4, this.middle(o.line[i]!), { font, fill: r.theme.muted });
    }
  }

  /** The changed run, a little below the recorded one, which is grey under it. */
  private drawGhost(r: Renderer): void {
    const o = this.input.ghost?.ops;
    if (!o || !this.input.picture.ops || this.input.morph > 0) return;
    for (let i = 0; i < o.id.length; i++) {
      const box = this.box(o.enter[i]!, o.exit[i]!, o.step[i]!, o.line[i]!);
      const h = Math.max(1, box.h - GHOST);
      r.rect(
        { ...box, y: box.y + box.h - h + (this.row >= 12 ? 1 : 0), h },
        {
          fill: this.colourOf(r.theme, o.value[i]!, o.part[i]!, o.name[i]!),
          ...(this.row >= 12 && box.w >= 3 && { stroke: r.theme.line, width: 1 }),
        },
      );
    }
  }

  /** When the recorded and the changed run end. */
  private drawEnds(r: Renderer): void {
    const { ends, from, to } = this.input;
    if (!ends || this.input.morph > 0) return;
    const bottom = this.plot.y + this.plot.h;
    const font = { size: 11, weight: 600 };
    const one = (at: number, label: string, stroke: string, y: number, dash?: readonly number[]): void => {
      if (at < from || at > to * 1.001) return;
      const x = Math.min(this.x(at), this.plot.x + this.plot.w - 1);
      r.line(x, this.plot.y, x, bottom, { stroke, width: 1.5, ...(dash && { dash }) });
      const w = r.measure(label, font) + 8;
      r.rect({ x: x - w - 2, y: y - 8, w, h: 16 }, { fill: r.theme.bg }, 3);
      r.text(label, x - 6, y, { font, fill: stroke, align: 'right' });
    };
    one(ends.recorded, `recorded ${time(ends.recorded)}`, r.theme.muted, bottom - 28);
    one(ends.predicted, `≈ ${time(ends.predicted)}`, r.theme.selected, bottom - 10, [5, 3]);
  }

  private drawGrid(r: Renderer): void {
    const { from, to, picture, morph } = this.input;
    const { factor, unit } = timeUnit(to - from > 0 ? to : 1);
    const ticks = linearTicks(from / factor, to / factor, Math.max(2, Math.floor(this.plot.w / 90)));
    const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
    const bottom = this.plot.y + this.plot.h;
    // On the way to the steps the clock has no axis.
    if (morph <= 0)
      ticks.forEach((t, i) => {
        const x = this.x(t * factor);
        if (x < this.plot.x - 0.5 || x > this.plot.x + this.plot.w + 0.5) return;
        r.line(x, this.plot.y, x, bottom + 4, { stroke: r.theme.hair, width: 1 });
        const label = atStep(t, step) + (i === 0 ? ` ${unit}` : '');
        r.text(label, x, bottom + 13, { font: { size: 10.5 }, fill: r.theme.muted, align: 'center' });
      });
    if (this.row >= 6) {
      picture.lines.forEach((_, i) => {
        const y = this.plot.y + (i + 1) * this.row;
        r.line(this.plot.x, y, this.plot.x + this.plot.w, y, { stroke: r.theme.hair, width: 1 });
      });
    }
  }

  /** Regions nested by depth, the outermost on top; names where there is room. */
  private drawStacks(r: Renderer): void {
    const s = this.input.picture.stack;
    if (!s || this.lane === 0) return;
    const { names, groupOf, colour, marked } = this.input;
    const font = { size: 10 };
    for (let i = 0; i < s.line.length; i++) {
      const x0 = Math.max(this.plot.x, this.x(s.enter[i]!));
      const w = Math.min(this.plot.x + this.plot.w, this.x(s.exit[i]!)) - x0;
      const y = this.plot.y + s.line[i]! * this.row + 1.5 + s.depth[i]! * this.lane;
      const fill =
        colour === 'function'
          ? partitionColor(r.theme, s.region[i]!)
          : groupColor(r.theme, groupOf[s.region[i]!] ?? 0);
      const aside = marked >= 0 && s.region[i] !== marked;
      r.rect(
        { x: x0, y, w: Math.max(0.5, w - (w > 3 ? 0.5 : 0)), h: Math.max(1, this.lane - 0.5) },
        { fill: aside ? r.theme['hair-strong'] : fill, alpha: aside || marked < 0 ? 0.55 : 0.9 },
      );
      const name = names[s.region[i]!] ?? '';
      if (this.lane >= LANE.name && w > 24 && r.measure(name, font) < w - 6) {
        r.text(name, x0 + 3, y + this.lane / 2, { font, fill: r.theme.text, align: 'left' });
      }
    }
  }

  /** A recorded measure over time, as an area at the foot of each row. */
  private drawTrack(r: Renderer): void {
    const { track, window, lines } = this.input.picture;
    if (track.length === 0 || this.input.morph > 0) return;
    const n = track.length / lines.length;
    let most = 0;
    for (const v of track) if (v > most) most = v;
    if (most === 0) return;
    const high = Math.max(2, Math.min(12, this.row * 0.4));
    const column = (window.to - window.from) / n;
    for (let i = 0; i < track.length; i++) {
      const v = track[i]!;
      if (!(v > 0)) continue;
      const h = Math.max(0.5, (v / most) * high);
      const x = this.x(window.from + (i % n) * column);
      const bottom = this.plot.y + (Math.floor(i / n) + 1) * this.row - 1;
      r.rect(
        { x, y: bottom - h, w: Math.max(1, this.plot.w / n), h },
        { fill: r.theme['cat-2'], alpha: 0.75 },
      );
    }
  }

  /** When samples of the selection were taken: ticks at the foot of their rank's row. */
  private drawMarks(r: Renderer): void {
    const { marks: m, window } = this.input.picture;
    if (!m || this.input.morph > 0) return;
    const most = m.count.reduce((a, b) => Math.max(a, b), 1);
    const column = (window.to - window.from) / Math.max(1, window.columns);
    const h = Math.max(2, Math.min(5, this.row / 3));
    for (let i = 0; i < m.line.length; i++) {
      const x = this.x(window.from + (m.at[i]! + 0.5) * column);
      const y = this.plot.y + (m.line[i]! + 1) * this.row - h;
      r.rect(
        { x: x - 0.5, y, w: 1, h },
        { fill: r.theme.selected, alpha: 0.45 + 0.55 * Math.sqrt(m.count[i]! / most) },
      );
    }
  }

  /** Computations before operations that were late; calls lie over them, for they are none. */
  private drawBefore(r: Renderer): void {
    const o = this.input.picture.ops;
    if (!o || !this.input.computation || this.input.ghost) return;
    const h = Math.min(5, this.row - 2, this.lane || 5);
    for (let i = 0; i < o.id.length; i++) {
      const [before, step] = [o.before[i]!, o.step[i]!];
      if (!this.inside(step) || Math.abs(before) / this.input.top < 0.12) continue;
      const x = this.along(o.began[i]!, step, 0.04);
      const fill = isKind(this.input.colour)
        ? r.theme['rest-bar']
        : this.colourOf(r.theme, before, 0, this.input.marked);
      const w = Math.max(1, this.along(o.enter[i]!, step, 0.4) - x);
      r.rect({ x, y: this.middle(o.line[i]!) - h / 2, w, h }, { fill });
    }
  }

  private inside(step: number): boolean {
    return step >= this.input.steps[0] && step < this.input.steps[1];
  }

  private drawOps(r: Renderer): void {
    const o = this.input.picture.ops;
    if (!o) return;
    for (let i = 0; i < o.id.length; i++) {
      const inside = this.inside(o.step[i]!);
      const box = this.boxOf(i);
      const value = o.value[i]!;
      const edge = this.row >= 12 && box.w >= 3 && inside ? this.cellEdge(r.theme, value) : {};
      const shape = edge.stroke ? { x: box.x + 0.5, y: box.y + 0.5, w: box.w - 1, h: box.h - 1 } : box;
      r.rect(shape, {
        fill:
          inside && !this.input.ghost
            ? this.colourOf(r.theme, value, o.part[i]!, o.name[i]!)
            : r.theme['hair-strong'],
        ...edge,
      });
    }
  }

  private drawChain(r: Renderer): void {
    const { chain, senders, selected, predicted } = this.input;
    if (predicted) return; // it stands at recorded times
    const points = chain.flatMap((p) => {
      const line = this.lineOf(p.process);
      return line === undefined ? [] : [{ x: this.along(p.exit, p.step, 0.92), y: this.middle(line) }];
    });
    if (points.length > 1) {
      const path: Segment[] = points.map((p, i) => ({ to: i === 0 ? 'move' : 'line', ...p }));
      r.path(path, { stroke: r.theme.bg, width: 5 });
      r.path(path, { stroke: r.theme.selected, width: 2 });
      return;
    }
    const end = this.find(selected);
    if (!end) return;
    for (const s of senders) {
      const line = this.lineOf(s.process);
      if (line !== undefined)
        this.halo(
          r,
          this.along(s.exit, s.step, 0.92),
          this.middle(line),
          end.x + end.w,
          end.y + end.h / 2,
          r.theme.selected,
        );
    }
  }

  private drawDiscs(r: Renderer): void {
    const d = this.input.discs.find((e) => e.active);
    const line = d && this.lineOf(d.process);
    if (!d || line === undefined || d.time < 0 || this.input.predicted) return;
    const x = this.along(d.time, d.step, 0.04);
    const y = this.middle(line);
    if (d.computation) {
      const i = this.at(d.op);
      const till = i === undefined ? x : this.along(this.input.picture.ops!.enter[i]!, d.step, 0.4);
      r.rect({ x, y: y - 3, w: Math.max(1, till - x), h: 6 }, { stroke: r.theme.selected, width: 1.5 });
      const font = { size: 11, weight: 500 };
      const w = r.measure(this.input.note, font) + 12;
      if (this.input.note && w < till - x - 24) {
        const middle = (x + till) / 2;
        r.rect({ x: middle - w / 2, y: y - 7, w, h: 14 }, { fill: r.theme.bg });
        r.text(this.input.note, middle, y, { font, fill: r.theme.text, align: 'center' });
      }
    }
    if (x >= this.plot.x && x <= this.plot.x + this.plot.w)
      this.drawDisc(r, { x: Math.max(this.plot.x + 10, x), y }, d.number, true);
  }

  valueAt(x: number): number {
    const { from, to } = this.input;
    return from + ((x - this.plot.x) / this.plot.w) * (to - from);
  }

  /** A pixel in time, for the header. */
  perPixel(): string {
    return time((this.input.to - this.input.from) / this.plot.w);
  }

  summary(): string {
    return `Physical timeline, ${time(this.input.from)} to ${time(this.input.to)}: ${this.shownText()}.`;
  }
}
