// Processes by time: the same operations where the clock puts them.
import type { Rect } from '../base/geometry';
import type { Renderer, Segment } from '../base/renderer';
import type { Place } from '../model/wire';
import { atStep } from '../base/format';
import { linearTicks } from '../views/scale';
import type { Messages } from './picture';
import { time, timeUnit } from './scale';
import { TimelineView, type TimelineInput } from './timeline';

const AXIS = 24;

export class PhysicalView extends TimelineView {
  constructor(input: TimelineInput) {
    super(input, 2, AXIS, 18);
  }

  /**
   * A position on the way from the clock to the steps: share is where in its
   * step a thing lies, as the logical timeline draws it.
   */
  private along(time: number, step: number, share: number): number {
    const x = this.x(time);
    const { morph, steps } = this.input;
    if (morph <= 0) return x;
    const logical = this.plot.x + ((step + share - steps[0]) / Math.max(1, steps[1] - steps[0])) * this.plot.w;
    return x + morph * (logical - x);
  }

  private box(enter: number, exit: number, step: number, line: number): Rect {
    const h = this.row < 12 ? Math.max(1, this.row - 1) : this.row - 5;
    const x = this.along(enter, step, 0.4);
    return { x, y: this.y(line) - h / 2, w: Math.max(1, this.along(exit, step, 0.92) - x), h };
  }

  protected boxOf(i: number): Rect {
    const o = this.input.picture.ops!;
    return this.box(o.enter[i]!, o.exit[i]!, o.step[i]!, o.line[i]!);
  }

  protected placeBox(p: Place): Rect | undefined {
    const line = this.input.lineOf.get(p.process);
    return line === undefined ? undefined : this.box(p.enter, p.exit, p.step, line);
  }

  protected position(i: number): number {
    return this.input.picture.ops!.enter[i]!;
  }

  protected messageLine(m: Messages, i: number): readonly [number, number, number, number] {
    return [
      this.along(m.fromExit[i]!, m.fromStep[i]!, 0.92), this.y(m.fromLine[i]!),
      this.along(m.toExit[i]!, m.toStep[i]!, this.input.morph > 0 ? 0.92 - 0.52 * this.input.morph : 0.92), this.y(m.toLine[i]!),
    ];
  }

  draw(r: Renderer): void {
    this.drawGrid(r);
    this.drawGutter(r);
    r.clip({ x: this.plot.x, y: 0, w: this.plot.w, h: this.plot.y + this.plot.h + 2 }, () => {
      if (this.input.picture.cells) this.drawCells(r);
      this.drawOps(r);
      this.drawMessages(r, 0.25);
      this.drawChain(r);
      this.drawSelected(r);
      this.drawDiscs(r);
    });
  }

  private drawGrid(r: Renderer): void {
    const { from, to, picture, morph } = this.input;
    const { factor, unit } = timeUnit(to - from > 0 ? to : 1);
    const ticks = linearTicks(from / factor, to / factor, Math.max(2, Math.floor(this.plot.w / 90)));
    const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
    const bottom = this.plot.y + this.plot.h;
    // On the way to the steps the clock has no axis.
    if (morph <= 0) ticks.forEach((t, i) => {
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

  private drawOps(r: Renderer): void {
    const o = this.input.picture.ops;
    if (!o) return;
    const [s0, s1] = this.input.steps;
    for (let i = 0; i < o.id.length; i++) {
      const line = o.line[i]!;
      const inside = o.step[i]! >= s0 && o.step[i]! < s1;
      const before = o.before[i]!;
      if (this.input.computation && inside && before / this.input.top >= 0.12) {
        const x = this.along(o.began[i]!, o.step[i]!, 0.04);
        const h = Math.min(5, this.row - 2);
        r.rect({ x, y: this.y(line) - h / 2, w: Math.max(1, this.along(o.enter[i]!, o.step[i]!, 0.4) - x), h }, { fill: this.colourOf(r.theme, before, 0, 0) });
      }
      const box = this.boxOf(i);
      const value = o.value[i]!;
      const edge = this.row >= 12 && box.w >= 3 && inside ? this.cellEdge(r.theme, value) : {};
      const shape = edge.stroke ? { x: box.x + 0.5, y: box.y + 0.5, w: box.w - 1, h: box.h - 1 } : box;
      r.rect(shape, { fill: inside ? this.colourOf(r.theme, value, o.part[i]!, o.name[i]!) : r.theme['hair-strong'], ...edge });
    }
  }

  private drawChain(r: Renderer): void {
    const { chain, senders, selected } = this.input;
    const points = chain.flatMap((p) => {
      const line = this.input.lineOf.get(p.process);
      return line === undefined ? [] : [{ x: this.along(p.exit, p.step, 0.92), y: this.y(line) }];
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
      const line = this.input.lineOf.get(s.process);
      if (line !== undefined) this.halo(r, this.along(s.exit, s.step, 0.92), this.y(line), end.x + end.w, end.y + end.h / 2, r.theme.selected);
    }
  }

  private drawDiscs(r: Renderer): void {
    const d = this.input.discs.find((e) => e.active);
    if (!d || d.line < 0) return;
    const x = this.along(d.time, d.step, 0.04);
    const y = this.y(d.line);
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
    if (x >= this.plot.x && x <= this.plot.x + this.plot.w) this.drawDisc(r, { x: Math.max(this.plot.x + 10, x), y }, d.number, true);
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
