// The walk of a trace around a circle: angle is how far it has turned, radius
// is time. Also the circle alone, on which members lie and the rest spirals out.
import type { Dir, Point, Size } from '../../base/geometry';
import { clamp } from '../../base/geometry';
import { count, plural } from '../../base/format';
import { circle, type Renderer, type Segment } from '../../base/renderer';
import type { Theme } from '../../base/theme';
import type { CyclesClass, CyclesInfo, Reference } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';
import { isLit, lineColor, type Lit, phaseColor } from './colours';
import { Density } from './contour';
import type { Drawing, Walked } from './picture';
import { Plane, TAU, type Zoom } from './plane';
import { polarCells, type PolarPaint } from './polar';
import type { Colouring } from './state';

export interface SpiralInput {
  readonly info: CyclesInfo;
  readonly class: CyclesClass;
  readonly drawing: Drawing;
  /** What is seen of a magnified drawing, in more detail. */
  readonly sector: Walked | undefined;
  /** How far the morph to the other class has gone. */
  readonly part: number;
  readonly size: Size;
  readonly zoom: Zoom;
  readonly moving: boolean; // a coarser picture will do
  readonly colour: Colouring;
  readonly shape: 'spiral' | 'circle';
  /** Selected references, half open; all if equal. */
  readonly from: number;
  readonly to: number;
  readonly hovered: number; // window, -1 for none
  readonly lit: Lit; // by the pointer on code and legend, or by the chosen loop
  readonly references: readonly Reference[];
  readonly referencesFrom: number;
}

const PHASES = 360;
/** Members of a circle lie at this part of the radius. */
const MEMBERS = 0.72;
/** Outlines of the density, as parts of its largest value. */
const LEVELS = [
  { at: 0.06, alpha: 1 },
  { at: 0.3, alpha: 0.55 },
  { at: 0.65, alpha: 0.35 },
] as const;

/** The lift of every window of a walk, part of the way to the other class. */
function mixed(w: Walked, part: number): Float32Array {
  if (part <= 0 || w.other.length !== w.lift.length) return w.lift;
  return Float32Array.from(w.lift, (a, i) => (1 - part) * a + part * w.other[i]!);
}

/** Marks are windows, by number. */
export class SpiralView implements KeptView<number> {
  readonly size: Size;
  readonly plane: Plane;
  /** The windows that can be told apart: all, or those of the sector. */
  private readonly walk: Walked;
  private readonly lift: Float32Array;
  private visitsOf: ReadonlyMap<number, number[]> | undefined;

  constructor(private readonly input: SpiralInput) {
    this.size = input.size;
    this.plane = new Plane(input.size, input.zoom);
    this.walk =
      input.drawing.polar && input.shape === 'spiral' && input.sector && !input.sector.polar
        ? input.sector
        : input.drawing;
    this.lift = mixed(this.walk, input.part);
  }

  get basis(): unknown {
    const { hovered: _, references: __, referencesFrom: ___, ...drawn } = this.input;
    return drawn;
  }

  // ---- geometry ----

  private radius(t: number): number {
    const { info, shape, drawing } = this.input;
    const { R, r0 } = this.plane;
    if (shape === 'spiral')
      return r0 + (R - r0) * ((t - drawing.first) / Math.max(1, drawing.last - drawing.first - 1));
    // Members on one circle; what comes before and after spirals outward.
    const [a, b] = [info.preamble, info.windows - info.postamble];
    const inner = MEMBERS * R;
    if (t < a) return inner + (R - inner) * (1 - t / Math.max(1, a));
    if (t >= b) return inner + (R - inner) * ((t - b + 1) / Math.max(1, info.postamble));
    return inner;
  }

  private at(t: number): Point {
    return this.plane.at(this.lift[t - this.walk.first]!, this.radius(t));
  }

  private width(): number {
    const { class: k, drawing, zoom } = this.input;
    if (drawing.teeth) return Math.min(10, 4 * Math.sqrt(zoom.k));
    const shown = k.turns * ((drawing.last - drawing.first) / Math.max(1, this.input.info.windows));
    return clamp((0.46 * (this.plane.R - this.plane.r0)) / Math.max(1, shown), 2.5, 10);
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
    r.clip({ x: 0, y: 0, ...this.size }, () => {
      this.drawGround(r);
      if (this.input.shape === 'circle') this.drawCircle(r);
      else this.drawSpiral(r);
      this.drawPills(r);
      this.drawEnd(r);
      this.drawPassAxis(r);
    });
    if (this.input.colour === 'coordinate') drawPhases(r, this.size);
  }

  private drawSpiral(r: Renderer): void {
    const { drawing, sector } = this.input;
    for (const pixels of [drawing.polar, sector?.polar]) {
      if (!pixels || (pixels === drawing.polar && sector && covers(sector, this.plane, drawing))) continue;
      const cells = polarCells(
        this.plane,
        drawing.first,
        drawing.last,
        pixels,
        this.polarPaint(r.theme),
        this.input.moving,
      );
      if (cells) r.cells(cells);
    }
    if (!this.walk.polar) this.drawWalk(r);
  }

  private polarPaint(theme: Theme): PolarPaint {
    const { from, to, lit, colour } = this.input;
    return {
      colours: Array.from({ length: 8 }, (_, i) => lineColor(theme, i)),
      rest: theme.rest,
      from,
      to,
      only: lit,
      phases:
        colour === 'coordinate'
          ? Array.from({ length: PHASES }, (_, i) => phaseColor(theme, i / PHASES))
          : undefined,
    };
  }

  private drawGround(r: Renderer): void {
    const { c, R, r0 } = this.plane;
    const { passes } = this.input.drawing;
    if (this.input.shape === 'spiral') {
      const ends = this.passEnds();
      for (let i = ends.length - 1; i > 0; i--) {
        const chosen =
          this.input.to > this.input.from &&
          passes[i - 1]! >= this.input.from &&
          passes[i - 1]! < this.input.to;
        const fill = chosen ? r.theme['selected-tint'] : i % 2 === 1 ? r.theme.surface : r.theme.bg;
        r.path(circle(c, this.radius(ends[i]!)), { fill });
      }
      if (ends.length > 0) r.path(circle(c, this.radius(ends[0]!)), { fill: r.theme.bg });
      for (const e of ends) r.path(circle(c, this.radius(e)), { stroke: r.theme['hair-strong'], width: 1 });
    }
    r.path(circle(c, R), { stroke: r.theme['hair-strong'], width: 1 });
    for (let i = 0; i < 8; i++) {
      const [a, b] = [this.plane.at(i / 8, r0 / 2), this.plane.at(i / 8, R)];
      r.line(a.x, a.y, b.x, b.y, { stroke: r.theme['hair-strong'], width: 1 });
    }
    ['0', '¼', '½', '¾'].forEach((label, i) => {
      const p = this.plane.at(i / 4, R + 14);
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
    const { first, last } = this.walk;
    const main = this.width();
    const seen = this.seen(main);
    for (const layer of ['under', 'over'] as const) {
      for (let t = first; t + 1 < last;) {
        const over = this.isOver(t);
        const paint = this.paintOf(r.theme, t);
        let u = t + 1;
        while (u + 1 < last && this.isOver(u) === over && this.paintOf(r.theme, u) === paint) u++;
        if (over === (layer === 'over')) {
          const path = this.arcs(t, u, seen);
          if (path.length > 0)
            r.path(path, over ? { stroke: paint, width: main } : { stroke: r.theme.rest, width: 1.5 });
        }
        t = u;
      }
    }
  }

  /** Which windows begin an arc that may be on screen. */
  private seen(width: number): Uint8Array | undefined {
    if (this.input.zoom.k <= 1) return undefined;
    const { first, last } = this.walk;
    const out = new Uint8Array(last - first);
    let before = false;
    for (let t = last - 1; t >= first; t--) {
      // An arc between two points off screen can still cross it.
      const slack =
        width +
        (t + 1 < last
          ? TAU * this.radius(t) * Math.min(0.5, Math.abs(this.lift[t + 1 - first]! - this.lift[t - first]!))
          : 0);
      const now = this.plane.sees(this.at(t), slack);
      if (now || before) out[t - first] = 1;
      before = now;
    }
    return out;
  }

  private isOver(t: number): boolean {
    const colour = this.walk.colour[t - this.walk.first]!;
    return this.selected(t) && this.member(t) && isLit(this.input.lit, colour);
  }

  private paintOf(theme: Theme, t: number): string {
    const i = t - this.walk.first;
    if (this.input.colour === 'coordinate') return phaseColor(theme, Math.round(this.lift[i]! * 72) / 72);
    return lineColor(theme, this.walk.colour[i]!);
  }

  /** Angle and radius both linear between neighbours: never the shorter way. */
  private arcs(a: number, b: number, seen: Uint8Array | undefined): Segment[] {
    const first = this.walk.first;
    const path: Segment[] = [];
    let drawn = false;
    for (let t = a; t < b; t++) {
      if (seen && seen[t - first] === 0) {
        drawn = false;
        continue;
      }
      if (!drawn) path.push({ to: 'move', ...this.at(t) });
      drawn = true;
      this.arc(path, t, this.radius(t), this.radius(t + 1));
    }
    return path;
  }

  private arc(path: Segment[], t: number, r0: number, r1: number): void {
    const first = this.walk.first;
    const [l0, l1] = [this.lift[t - first]!, this.lift[t + 1 - first]!];
    const steps = Math.max(1, Math.ceil(Math.abs(l1 - l0) * 90));
    for (let s = 1; s <= steps; s++) {
      const f = s / steps;
      path.push({ to: 'line', ...this.plane.at(l0 + f * (l1 - l0), r0 + f * (r1 - r0)) });
    }
  }

  // ---- the circle ----

  /** Every distinct step once, the stronger the more often it is made; outlines of the density over them. */
  private drawCircle(r: Renderer): void {
    if (this.walk.polar) this.drawRing(r);
    else this.drawSteps(r);
    const density = this.density();
    const most = density.most;
    if (most <= 0) return;
    const { c, R } = this.plane;
    for (const { at, alpha } of LEVELS) {
      r.path(
        density.outline(at * most, (p) => ({ x: c.x + R * p.x, y: c.y + R * p.y })),
        { stroke: r.theme.text, width: 1.25, alpha },
      );
    }
  }

  private drawSteps(r: Renderer): void {
    const { first, last, point } = this.walk;
    const steps = new Map<string, { t: number; n: number }>();
    for (let t = first; t + 1 < last; t++) {
      const key = `${this.isOver(t)}|${this.member(t) ? `${point[t - first]}>${point[t + 1 - first]}` : t}`;
      const known = steps.get(key);
      if (known) known.n++;
      else steps.set(key, { t, n: 1 });
    }
    const most = Math.max(1, ...[...steps.values()].map((s) => s.n));
    const main = this.width();
    for (const layer of [false, true]) {
      for (const { t, n } of steps.values()) {
        const over = this.isOver(t);
        if (over !== layer) continue;
        const path: Segment[] = [{ to: 'move', ...this.at(t) }];
        this.arc(path, t, this.radius(t), this.radius(t + 1));
        r.path(
          path,
          over
            ? { stroke: this.paintOf(r.theme, t), width: Math.max(main, 6), alpha: 0.25 + (0.75 * n) / most }
            : { stroke: r.theme.rest, width: 1.5 },
        );
      }
    }
  }

  /** The members of a long trace by angle, as the server counted them. */
  private drawRing(r: Renderer): void {
    const { ring, ringColour } = this.input.drawing;
    const most = ring.reduce((a, b) => Math.max(a, b), 1);
    ring.forEach((n, i) => {
      if (n === 0) return;
      const [a, b] = [(i - 0.1) / ring.length, (i + 1.1) / ring.length];
      const colour =
        this.input.colour === 'coordinate' ? phaseColor(r.theme, a) : lineColor(r.theme, ringColour[i]!);
      const [p, q] = [this.plane.at(a, MEMBERS * this.plane.R), this.plane.at(b, MEMBERS * this.plane.R)];
      const lit = isLit(this.input.lit, ringColour[i]!);
      r.line(p.x, p.y, q.x, q.y, {
        stroke: lit ? colour : r.theme.rest,
        width: 8,
        alpha: 0.25 + (0.75 * n) / most,
      });
    });
  }

  private density(): Density {
    const d = new Density(112, 1.15);
    const { ring } = this.input.drawing;
    const put = (turns: number, r: number, weight: number): void =>
      d.add(r * Math.sin(TAU * turns), -r * Math.cos(TAU * turns), weight);
    if (this.walk.polar) {
      ring.forEach((n, i) => put((i + 0.5) / ring.length, MEMBERS, n));
    } else {
      for (let t = this.walk.first; t + 1 < this.walk.last; t++) {
        const [l0, l1] = [this.lift[t - this.walk.first]!, this.lift[t + 1 - this.walk.first]!];
        const [r0, r1] = [this.radius(t) / this.plane.R, this.radius(t + 1) / this.plane.R];
        const steps = Math.max(1, Math.ceil(Math.abs(l1 - l0) * 72));
        for (let s = 0; s < steps; s++)
          put(l0 + (s / steps) * (l1 - l0), r0 + (s / steps) * (r1 - r0), 1 / steps);
      }
    }
    d.smooth(0.035);
    return d;
  }

  // ---- labels ----

  private drawPills(r: Renderer): void {
    const { turns, every, first, last } = this.input.drawing;
    if (this.input.shape !== 'spiral' || this.input.part > 0) return;
    let free = -Infinity;
    for (let k = 0; k < turns.length; k++) {
      const t = turns[k]!;
      if (t < first || t >= last) continue;
      const radius = this.radius(t);
      const p = this.plane.at(0, radius);
      if (radius - free < 17 || !this.plane.sees(p, 10)) continue;
      free = radius;
      const label = String(k * every + 1);
      const half = Math.max(9, r.measure(label, { size: 10.5, weight: 600 }) / 2 + 4);
      r.rect(
        { x: p.x - half, y: p.y - 8, w: 2 * half, h: 16 },
        { fill: r.theme.bg, stroke: r.theme.line, width: 1 },
        8,
      );
      r.text(label, p.x, p.y, { font: { size: 10.5, weight: 600 }, fill: r.theme.text, align: 'center' });
    }
  }

  private drawEnd(r: Renderer): void {
    if (this.walk.polar || this.lift.length === 0 || this.walk.last < this.input.info.windows) return;
    r.path(circle(this.at(this.walk.last - 1), 3.5), { fill: r.theme.bg, stroke: r.theme.text, width: 1.5 });
  }

  private drawPassAxis(r: Renderer): void {
    const ends = this.passEnds();
    if (this.input.shape !== 'spiral' || ends.length < 2 || this.input.zoom.k > 1) return;
    const { passes, first } = this.input.drawing;
    const number = [...passes].filter((t) => t < first).length; // of the passes before those in view
    const y = this.plane.c.y + this.plane.R + 26;
    const x = (t: number): number => this.plane.c.x + this.radius(t);
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    r.text('radius = time', x(ends[0]!) - 10, y, { ...muted, align: 'right' });
    r.line(x(ends[0]!), y, x(ends.at(-1)!), y, { stroke: r.theme.line, width: 1 });
    let free = -Infinity;
    ends.forEach((e, i) => {
      r.line(x(e), y - 3, x(e), y + 3, { stroke: r.theme.line, width: 1 });
      if (i + 1 >= ends.length) return;
      const middle = (x(e) + x(ends[i + 1]!)) / 2;
      const chosen = this.input.to > this.input.from && e >= this.input.from && e < this.input.to;
      const label = i === 0 ? `pass ${number + 1}` : String(number + i + 1);
      const half = r.measure(label, { size: 11 }) / 2;
      if (middle - half < free) return;
      free = middle + half + 4;
      r.text(
        label,
        middle,
        y + 11,
        chosen
          ? { font: { size: 11, weight: 600 }, fill: r.theme.selected, align: 'center' }
          : { ...muted, align: 'center' },
      );
    });
  }

  /** The window and all its visits: recurrence is seen at once. */
  drawHover(r: Renderer): void {
    const { hovered } = this.input;
    if (hovered < this.walk.first || hovered >= this.walk.last || this.lift.length === 0) return;
    for (const t of this.visits(hovered)) {
      const p = this.at(t);
      if (!this.plane.sees(p, 12)) continue;
      const own = t === hovered;
      r.path(circle(p, own ? 9 : 7), { stroke: r.theme.bg, width: own ? 5 : 3.5 });
      r.path(circle(p, own ? 9 : 7), { stroke: r.theme.hover, width: own ? 2.5 : 1.75, dash: [4, 2.5] });
    }
  }

  // ---- marks ----

  visits(t: number): readonly number[] {
    const { first, point } = this.walk;
    if (!this.visitsOf) {
      const map = new Map<number, number[]>();
      point.forEach((p, i) => {
        const list = map.get(p);
        if (list) list.push(first + i);
        else map.set(p, [first + i]);
      });
      this.visitsOf = map;
    }
    return this.visitsOf.get(point[t - first]!) ?? [];
  }

  hitTest(p: Point): number | undefined {
    const { r } = this.plane.polar(p);
    if (r > this.plane.R + 10) return undefined;
    if (this.lift.length === 0) return this.pixelAt(p);
    let best: number | undefined;
    let distance = 14;
    // Members of a circle all have its radius; on a spiral only near radii count.
    const [lo, hi] =
      this.input.shape === 'spiral' ? this.windowsNear(r, distance) : [this.walk.first, this.walk.last];
    for (let t = lo; t < hi; t++) {
      const q = this.at(t);
      const e = Math.hypot(q.x - p.x, q.y - p.y);
      if (e < distance) [best, distance] = [t, e];
    }
    return best;
  }

  /** The windows whose radius is within some pixels of one. */
  private windowsNear(r: number, slack: number): readonly [number, number] {
    const { drawing } = this.input;
    const { R, r0 } = this.plane;
    const at = (d: number): number => drawing.first + ((d - r0) / (R - r0)) * (drawing.last - drawing.first);
    return [
      Math.max(this.walk.first, Math.floor(at(r - slack))),
      Math.min(this.walk.last, Math.ceil(at(r + slack)) + 1),
    ];
  }

  /** Some window of the pixel row of a long trace. */
  private pixelAt(p: Point): number | undefined {
    const { drawing, shape } = this.input;
    const { R, r0 } = this.plane;
    const { r } = this.plane.polar(p);
    if (shape === 'circle' || r < r0 || r >= R) return undefined;
    return drawing.first + Math.floor(((r - r0) / (R - r0)) * (drawing.last - drawing.first));
  }

  /** Where a window is on screen; undefined if it cannot be told apart. */
  place(t: number): Point | undefined {
    return t >= this.walk.first && t < this.walk.last && this.lift.length > 0 ? this.at(t) : undefined;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const { turns } = this.input.drawing;
    const { first, last } = this.lift.length > 0 ? this.walk : this.input.drawing;
    if (from === undefined) return dir === 'last' ? last - 1 : first;
    switch (dir) {
      case 'left':
        return Math.max(first, from - 1);
      case 'right':
        return Math.min(last - 1, from + 1);
      case 'first':
        return first;
      case 'last':
        return last - 1;
      case 'next':
      case 'previous': {
        const visits = this.visits(from);
        const i = visits.indexOf(from) + (dir === 'next' ? 1 : -1);
        return visits[i] ?? from;
      }
      case 'up':
        return turns.findLast((t) => t < from && t >= first) ?? first;
      case 'down':
        return turns.find((t) => t > from && t < last) ?? last - 1;
    }
  }

  describe(t: number): Said {
    const { drawing, references, referencesFrom } = this.input;
    if (this.lift.length === 0) return this.describePixel(t);
    const i = t - this.walk.first;
    const lift = this.lift[i] ?? 0;
    const turn = Math.floor(lift + 1e-4) + 1;
    const pass = drawing.passes.findLastIndex((p) => p <= t) + 1;
    const ref = references[t - referencesFrom];
    const visits = this.visits(t).length;
    const parts = [
      ref ? `${ref.op} of ${ref.size} B at ${ref.address}` : '',
      ref?.object ? `in ${ref.object}` : '',
      ref?.file
        ? `${ref.file.split('/').at(-1)}:${ref.line}`
        : (drawing.colours[this.walk.colour[i]!]?.label ?? ''),
      `turn ${turn} at ${(lift - Math.floor(lift)).toFixed(2)}`,
      pass > 0 ? `pass ${pass}` : '',
      this.walk === drawing && drawing.last - drawing.first === this.input.info.windows
        ? `this window is visited ${count(visits)} times`
        : '',
    ];
    return { name: `Reference ${count(t)}`, more: parts.filter(Boolean).join(' · ') };
  }

  private describePixel(t: number): Said {
    const { drawing } = this.input;
    const per = Math.max(
      1,
      Math.round((drawing.last - drawing.first) / Math.max(1, drawing.polar?.radii ?? 1)),
    );
    const turn = (drawing.turns.findLastIndex((a) => a <= t) + 1) * drawing.every;
    return {
      name: `Reference ${count(t)}`,
      more: [
        `about turn ${count(turn)}`,
        `${plural(per, 'window')} a pixel of radius`,
        'zoom in to tell them apart',
      ].join(' · '),
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { drawing } = this.input;
    if (this.lift.length === 0) {
      const n = drawing.strips[0]?.high.length ?? 0;
      const windows = this.input.info.windows;
      return {
        head: ['reference', 'turns'],
        rows: Array.from({ length: n }, (_, i) => [
          String(Math.floor((i / n) * windows)),
          drawing.strips[0]!.high[i]!.toFixed(4),
        ]),
      };
    }
    return {
      head: ['reference', 'turns', 'colour', 'window'],
      rows: Array.from(this.lift, (l, i) => [
        String(this.walk.first + i),
        l.toFixed(6),
        drawing.colours[this.walk.colour[i]!]?.label ?? 'other',
        String(this.walk.point[i]),
      ]),
    };
  }

  summary(): string {
    const { class: k, info } = this.input;
    return `${k.sentence}. ${plural(info.windows, 'window')} of ${info.window} references.`;
  }
}

/** Whether a sector holds everything that is on screen. */
export function covers(sector: Walked, plane: Plane, drawing: Walked): boolean {
  const v = plane.visible();
  const n = drawing.last - drawing.first;
  if (
    sector.first > drawing.first + Math.floor(v.from * n) ||
    sector.last < Math.min(drawing.last, drawing.first + Math.ceil(v.to * n))
  )
    return false;
  if (!sector.polar || sector.polar.span >= 1) return true;
  const off = v.angle - sector.polar.from;
  return off - Math.floor(off) + v.span <= sector.polar.span + 1e-9;
}

/** The ring of colours, for the coordinate. */
export function drawPhases(r: Renderer, size: Size): void {
  const c = { x: size.w - 34, y: 34 };
  for (let i = 0; i < 36; i++) {
    const a = (i / 36 - 0.25) * TAU;
    r.path([{ to: 'arc', c, r: 14, from: a, till: a + TAU / 36 + 0.02 }], {
      stroke: phaseColor(r.theme, (i + 0.5) / 36),
      width: 7,
    });
  }
  r.text('turn', c.x, c.y, { font: { size: 10 }, fill: r.theme.muted, align: 'center' });
}
