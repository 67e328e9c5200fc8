// The walk of a trace around a circle: angle is how far it has turned, radius
// is time. Also the circle alone, on which members lie and the rest spirals out.
import type { Dir, Point, Size } from '../base/geometry';
import { parseColor } from '../base/color';
import { count } from '../base/format';
import { circle, type Renderer, type Segment } from '../base/renderer';
import type { Theme } from '../base/theme';
import type { CyclesClass, CyclesInfo, Reference } from '../model/wire';
import type { Said, Table, View } from '../views/view';
import { lineColor, phaseColor } from './colours';
import { EMPTY, type Drawing } from './picture';
import type { Colouring } from './state';

export interface SpiralInput {
  readonly info: CyclesInfo;
  readonly class: CyclesClass;
  readonly drawing: Drawing;
  /** How far the morph to the other class has gone. */
  readonly part: number;
  readonly size: Size;
  readonly colour: Colouring;
  readonly shape: 'spiral' | 'circle';
  /** Selected references, half open; all if equal. */
  readonly from: number;
  readonly to: number;
  readonly hovered: number; // window, -1 for none
  readonly line: number; // hovered colour of the code pane, -1 for none
  readonly references: readonly Reference[];
  readonly referencesFrom: number;
}

const TAU = 2 * Math.PI;

/** Marks are windows, by number. */
export class SpiralView implements View<number> {
  readonly size: Size;
  private readonly c: Point;
  private readonly R: number;
  private readonly r0: number;
  private readonly lift: Float32Array;
  private visitsOf: ReadonlyMap<number, number[]> | undefined;

  constructor(private readonly input: SpiralInput) {
    this.size = input.size;
    const { w, h } = input.size;
    this.R = Math.max(40, Math.min((h - 24 - 44) / 2, w / 2 - 60));
    this.c = { x: w / 2 + Math.min(34, w / 20), y: 24 + this.R };
    this.r0 = 0.1 * this.R;
    const { lift, other } = input.drawing;
    this.lift = input.part > 0 && other.length === lift.length
      ? Float32Array.from(lift, (a, i) => (1 - input.part) * a + input.part * other[i]!)
      : lift;
  }

  // ---- geometry ----

  private get n(): number {
    return Math.max(1, this.input.drawing.last - this.input.drawing.first);
  }

  private radius(t: number): number {
    const { info, shape, drawing } = this.input;
    const share = (t - drawing.first) / Math.max(1, this.n - 1);
    if (shape === 'spiral') return this.r0 + (this.R - this.r0) * share;
    // Members on one circle; what comes before and after spirals outward.
    const [a, b] = [info.preamble, info.windows - info.postamble];
    const inner = 0.72 * this.R;
    if (t < a) return inner + (this.R - inner) * (1 - t / Math.max(1, a));
    if (t >= b) return inner + (this.R - inner) * ((t - b + 1) / Math.max(1, info.postamble));
    return inner;
  }

  private at(t: number): Point {
    const a = TAU * this.lift[t - this.input.drawing.first]!;
    const r = this.radius(t);
    return { x: this.c.x + r * Math.sin(a), y: this.c.y - r * Math.cos(a) };
  }

  private polar(a: number, r: number): Point {
    return { x: this.c.x + r * Math.sin(a), y: this.c.y - r * Math.cos(a) };
  }

  private width(): number {
    const { class: k, drawing } = this.input;
    if (drawing.teeth) return 4;
    return Math.min(10, Math.max(2.5, (0.46 * (this.R - this.r0)) / Math.max(1, k.turns)));
  }

  private selected(t: number): boolean {
    const { from, to } = this.input;
    return to <= from || (t >= from && t < to);
  }

  private member(t: number): boolean {
    return t >= this.input.info.preamble && t < this.input.info.windows - this.input.info.postamble;
  }

  // ---- drawing ----

  draw(r: Renderer): void {
    this.drawGround(r);
    if (this.input.drawing.polar) this.drawPolar(r);
    else this.drawWalk(r);
    this.drawPills(r);
    this.drawEnd(r);
    this.drawPassAxis(r);
  }

  private drawGround(r: Renderer): void {
    const { passes } = this.input.drawing;
    if (this.input.shape === 'spiral') {
      const ends = this.passEnds();
      for (let i = ends.length - 1; i > 0; i--) {
        const chosen = this.input.to > this.input.from && passes[i - 1]! >= this.input.from && passes[i - 1]! < this.input.to;
        const fill = chosen ? r.theme['selected-tint'] : i % 2 === 1 ? r.theme.surface : r.theme.bg;
        r.path(circle(this.c, this.radius(ends[i]!)), { fill });
      }
      if (ends.length > 0) r.path(circle(this.c, this.radius(ends[0]!)), { fill: r.theme.bg });
      for (const e of ends) r.path(circle(this.c, this.radius(e)), { stroke: r.theme['hair-strong'], width: 1 });
    }
    r.path(circle(this.c, this.R), { stroke: r.theme['hair-strong'], width: 1 });
    for (let i = 0; i < 8; i++) {
      const [a, b] = [this.polar((i * TAU) / 8, this.r0 / 2), this.polar((i * TAU) / 8, this.R)];
      r.line(a.x, a.y, b.x, b.y, { stroke: r.theme['hair-strong'], width: 1 });
    }
    ['0', '¼', '½', '¾'].forEach((label, i) => {
      const p = this.polar((i * TAU) / 4, this.R + 14);
      r.text(label, p.x, p.y, { font: { size: 11 }, fill: r.theme.muted, align: 'center' });
    });
  }

  /** First windows of the passes in view, and the end. */
  private passEnds(): readonly number[] {
    const { passes, first, last } = this.input.drawing;
    const inside = [...passes].filter((t) => t >= first && t < last);
    return inside.length > 0 && inside.length <= 60 ? [...inside, last - 1] : [];
  }

  /** Runs of one colour are one path; what is not selected lies under the rest. */
  private drawWalk(r: Renderer): void {
    const { drawing } = this.input;
    const n = drawing.last - drawing.first;
    const main = this.width();
    for (const layer of ['under', 'over'] as const) {
      for (let i = 0; i + 1 < n; ) {
        const over = this.isOver(drawing.first + i);
        const paint = this.paintOf(r.theme, i);
        let j = i + 1;
        while (j + 1 < n && this.isOver(drawing.first + j) === over && this.paintOf(r.theme, j) === paint) j++;
        if (over === (layer === 'over')) {
          r.path(this.arc(drawing.first + i, drawing.first + j), over ? { stroke: paint, width: main } : { stroke: r.theme.rest, width: 1.5 });
        }
        i = j;
      }
    }
  }

  private isOver(t: number): boolean {
    const { line, drawing } = this.input;
    return this.selected(t) && this.member(t) && (line < 0 || drawing.colour[t - drawing.first] === line);
  }

  private paintOf(theme: Theme, i: number): string {
    if (this.input.colour === 'coordinate') return phaseColor(theme, Math.round(this.lift[i]! * 72) / 72);
    return lineColor(theme, this.input.drawing.colour[i]!);
  }

  /** Angle and radius both linear between neighbours: never the shorter way. */
  private arc(a: number, b: number): Segment[] {
    const first = this.input.drawing.first;
    const path: Segment[] = [{ to: 'move', ...this.at(a) }];
    for (let t = a; t < b; t++) {
      const [l0, l1] = [this.lift[t - first]!, this.lift[t + 1 - first]!];
      const [r0, r1] = [this.radius(t), this.radius(t + 1)];
      const steps = Math.max(1, Math.ceil(Math.abs(l1 - l0) * 90));
      for (let s = 1; s <= steps; s++) {
        const f = s / steps;
        path.push({ to: 'line', ...this.polar(TAU * (l0 + f * (l1 - l0)), r0 + f * (r1 - r0)) });
      }
    }
    return path;
  }

  /** A spiral with more turns than pixels: the most frequent colour of each. */
  private drawPolar(r: Renderer): void {
    const p = this.input.drawing.polar!;
    const side = Math.ceil(2 * this.R);
    const rgba = new Uint8ClampedArray(4 * side * side);
    const out = new Uint32Array(rgba.buffer);
    const pack = (c: string): number => {
      const [red, green, blue] = parseColor(c);
      return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    };
    const lines = Array.from({ length: 8 }, (_, i) => pack(lineColor(r.theme, i)));
    const phases = Array.from({ length: 361 }, (_, i) => pack(phaseColor(r.theme, i / 360)));
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const [dx, dy] = [x + 0.5 - this.R, this.R - y - 0.5];
        const ring = (Math.hypot(dx, dy) - this.r0) / (this.R - this.r0);
        if (ring < 0 || ring >= 1) continue;
        const turn = (Math.atan2(dx, dy) / TAU + 1) % 1;
        const k = p.colour[Math.floor(ring * p.radii) * p.angles + Math.floor(turn * p.angles)]!;
        if (k === EMPTY) continue;
        out[y * side + x] = this.input.colour === 'coordinate' ? phases[Math.round(360 * turn)]! : lines[k]!;
      }
    }
    r.cells({ columns: side, rows: side, rgba, area: { x: this.c.x - this.R, y: this.c.y - this.R, w: side, h: side } });
  }

  private drawPills(r: Renderer): void {
    const { turns, every, first, last, polar } = this.input.drawing;
    if (this.input.shape !== 'spiral' || this.input.part > 0) return;
    let free = -Infinity;
    for (let k = 0; k < turns.length; k++) {
      const t = turns[k]!;
      if (t < first || t >= last) continue;
      const radius = polar ? this.radius(t) : this.radius(t);
      if (radius - free < 17) continue;
      free = radius;
      const p = this.polar(0, radius);
      r.rect({ x: p.x - 9, y: p.y - 8, w: 18, h: 16 }, { fill: r.theme.bg, stroke: r.theme.line, width: 1 }, 8);
      r.text(String(k * every + 1), p.x, p.y, { font: { size: 10.5, weight: 600 }, fill: r.theme.text, align: 'center' });
    }
  }

  private drawEnd(r: Renderer): void {
    if (this.input.drawing.polar || this.lift.length === 0) return;
    const p = this.at(this.input.drawing.last - 1);
    r.path(circle(p, 3.5), { fill: r.theme.bg, stroke: r.theme.text, width: 1.5 });
  }

  private drawPassAxis(r: Renderer): void {
    const ends = this.passEnds();
    if (this.input.shape !== 'spiral' || ends.length < 2) return;
    const y = this.c.y + this.R + 28;
    const x = (t: number): number => this.c.x + this.radius(t);
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    r.text('radius = time', x(ends[0]!) - 10, y, { ...muted, align: 'right' });
    r.line(x(ends[0]!), y, x(ends.at(-1)!), y, { stroke: r.theme.line, width: 1 });
    let free = -Infinity;
    ends.forEach((e, i) => {
      r.line(x(e), y - 3, x(e), y + 3, { stroke: r.theme.line, width: 1 });
      if (i + 1 >= ends.length) return;
      const middle = (x(e) + x(ends[i + 1]!)) / 2;
      const label = i === 0 ? 'pass 1' : String(i + 1);
      const half = r.measure(label, { size: 11 }) / 2;
      if (middle - half < free) return;
      free = middle + half + 4;
      r.text(label, middle, y + 11, { ...muted, align: 'center' });
    });
  }

  /** The window and all its visits: recurrence is seen at once. */
  drawHover(r: Renderer): void {
    const { hovered, drawing } = this.input;
    if (hovered < drawing.first || hovered >= drawing.last || this.lift.length === 0) return;
    for (const t of this.visits(hovered)) {
      const p = this.at(t);
      const own = t === hovered;
      r.path(circle(p, own ? 9 : 7), { stroke: r.theme.bg, width: own ? 5 : 3.5 });
      r.path(circle(p, own ? 9 : 7), { stroke: r.theme.hover, width: own ? 2.5 : 1.75, dash: [4, 2.5] });
    }
  }

  // ---- marks ----

  visits(t: number): readonly number[] {
    const { drawing } = this.input;
    if (!this.visitsOf) {
      const map = new Map<number, number[]>();
      drawing.point.forEach((p, i) => {
        const list = map.get(p);
        if (list) list.push(drawing.first + i);
        else map.set(p, [drawing.first + i]);
      });
      this.visitsOf = map;
    }
    return this.visitsOf.get(drawing.point[t - drawing.first]!) ?? [];
  }

  hitTest(p: Point): number | undefined {
    const { drawing } = this.input;
    const d = Math.hypot(p.x - this.c.x, p.y - this.c.y);
    if (d > this.R + 10 || this.lift.length === 0) return undefined;
    let best: number | undefined;
    let distance = 14;
    for (let t = drawing.first; t < drawing.last; t++) {
      const q = this.at(t);
      const e = Math.hypot(q.x - p.x, q.y - p.y);
      if (e < distance) [best, distance] = [t, e];
    }
    return best;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const { first, last, turns } = this.input.drawing;
    if (this.lift.length === 0) return undefined;
    if (from === undefined) return dir === 'last' ? last - 1 : first;
    switch (dir) {
      case 'left': return Math.max(first, from - 1);
      case 'right': return Math.min(last - 1, from + 1);
      case 'first': return first;
      case 'last': return last - 1;
      case 'next': case 'previous': {
        const visits = this.visits(from);
        const i = visits.indexOf(from) + (dir === 'next' ? 1 : -1);
        return visits[i] ?? from;
      }
      case 'up': return [...turns].reverse().find((t) => t < from) ?? first;
      case 'down': return [...turns].find((t) => t > from) ?? last - 1;
    }
  }

  describe(t: number): Said {
    const { info, drawing, references, referencesFrom } = this.input;
    const lift = this.lift[t - drawing.first]!;
    const turn = Math.floor(lift + 1e-4) + 1;
    const pass = [...drawing.passes].filter((p) => p <= t).length;
    const ref = references[t - referencesFrom];
    const parts = [
      ref ? `${ref.op} of ${ref.size} B at ${ref.address}` : '',
      ref?.file ? `${ref.file.split('/').at(-1)}:${ref.line}` : (info.colours[drawing.colour[t - drawing.first]!]?.label ?? ''),
      `turn ${turn} at ${(lift - Math.floor(lift)).toFixed(2)}`,
      pass > 0 ? `pass ${pass}` : '',
      `this window is visited ${count(this.visits(t).length)} times`,
    ];
    return { name: `Reference ${count(t)}`, more: parts.filter(Boolean).join(' · ') };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { drawing, info } = this.input;
    return {
      head: ['reference', 'turns', 'line', 'window'],
      rows: Array.from(this.lift, (l, i) => [String(drawing.first + i), l.toFixed(6), info.colours[drawing.colour[i]!]?.label ?? 'other', String(drawing.point[i])]),
    };
  }

  summary(): string {
    const { class: k, info } = this.input;
    return `${k.sentence}. ${count(info.windows)} windows of ${info.window} references.`;
  }
}
