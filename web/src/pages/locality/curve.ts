// Misses by size of a fully associative cache: one curve answers every size. A
// machine is marks on it; only a layout or a line size makes a second curve.
import { change, count, plural, percent, short, THIN } from '../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../base/geometry';
import { circle, polygon, type Path, type Renderer } from '../../base/renderer';
import { linearTicks } from '../../base/scale';
import type { LocalityAnswer, MissBand } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';
import { missesAt, size as sizeText, type Earlier, type Headline } from './words';

export type CurveMark =
  | { readonly on: 'size'; readonly at: number } // index of a size
  | { readonly on: 'band'; readonly band: number; readonly at: number };

export interface CurveInput {
  readonly answer: LocalityAnswer;
  readonly before: Earlier | undefined; // A, where this run is B
  readonly size: Size;
  readonly y: 'misses' | 'share' | 'bytes';
  readonly headline: Headline;
  readonly selection: string; // its name; empty if nothing is selected
  readonly hovered: number; // index of a size, -1 for none
  readonly band: string; // hovered name
  readonly dragged: Dragged | undefined; // a cache whose size is being changed
}

/** A cache of the machine with another size. */
export interface Dragged {
  readonly level: string;
  readonly bytes: number;
}

const LEFT = 52;
const RIGHT = 16;
const TOP = 26;
const NARROW = 700; // px: the headline then has lines of its own
const ROW = 18; // of a machine
const LEAST = 8 * 1024;

export class CurveView implements KeptView<CurveMark> {
  readonly size: Size;
  private readonly plot: Rect;
  private readonly from: number; // first size shown
  private readonly most: number;
  /** Bands from the bottom: the selection, then the others, the largest on top. */
  private readonly bands: readonly MissBand[];
  private readonly tops: readonly (readonly number[])[];

  constructor(private readonly input: CurveInput) {
    this.size = input.size;
    const { curve } = input.answer.now;
    this.from = Math.max(
      0,
      curve.sizes.findIndex((s) => s >= LEAST),
    );
    const rows = input.answer.then && input.answer.then.machine.name !== input.answer.machine.name ? 2 : 1;
    // Two curves fill the room that one leaves at the right.
    const above = input.size.w < NARROW || input.before !== undefined;
    const top = above ? TOP + 15 * input.headline.more.length + 4 : TOP;
    this.plot = {
      x: LEFT,
      y: top,
      w: Math.max(10, this.size.w - LEFT - RIGHT),
      h: Math.max(10, this.size.h - top - 20 - rows * ROW - 4),
    };
    const chosen = curve.selected.length > 0 ? [{ name: input.selection, misses: curve.selected }] : [];
    this.bands = [...chosen, ...curve.bands.toReversed()];
    let below: readonly number[] = curve.sizes.map(() => 0);
    this.tops = this.bands.map((b) => (below = below.map((v, i) => v + (b.misses[i] ?? 0))));
    const levels = input.answer.now.levels.filter((l) => l.bytes >= LEAST);
    this.most = Math.max(
      1,
      curve.total[this.from] ?? 0,
      input.answer.then?.total[this.from] ?? 0,
      ...this.earlier().map((p) => p.misses),
      ...this.earlierLevels().map((l) => l.misses),
      ...levels.filter((l) => l.bytes <= (curve.sizes.at(-1) ?? 0)).map((l) => l.misses),
    );
  }

  get basis(): unknown {
    const { hovered: _h, band: _b, dragged: _d, ...drawn } = this.input;
    return drawn;
  }

  private x(bytes: number): number {
    const { sizes } = this.input.answer.now.curve;
    const [lo, hi] = [Math.log2(sizes[this.from] ?? LEAST), Math.log2(sizes.at(-1) ?? 2 * LEAST)];
    return this.plot.x + (this.plot.w * (Math.log2(bytes) - lo)) / Math.max(1e-9, hi - lo);
  }

  private y(misses: number): number {
    return this.plot.y + this.plot.h * (1 - misses / (1.06 * this.most));
  }

  private shown(misses: number): string {
    const { now } = this.input.answer;
    if (this.input.y === 'share') return percent(misses, now.references);
    if (this.input.y === 'bytes') return sizeText(misses * (now.levels[0]?.line_bytes ?? 64));
    return short(misses);
  }

  private outline(values: readonly number[]): Point[] {
    const { sizes } = this.input.answer.now.curve;
    return sizes.slice(this.from).map((s, i) => ({ x: this.x(s), y: this.y(values[this.from + i] ?? 0) }));
  }

  /** The curve of A from the first size shown on, in misses of B's axis. */
  private earlier(): readonly { readonly bytes: number; readonly misses: number }[] {
    const { answer, before } = this.input;
    if (!before) return [];
    const { sizes } = answer.now.curve;
    const [least, most] = [sizes[this.from] ?? LEAST, sizes.at(-1) ?? LEAST];
    const { curve } = before.answer.now;
    const own = curve.sizes
      .map((bytes, i) => ({ bytes, misses: this.asOfB(curve.total[i] ?? 0) }))
      .filter((p) => p.bytes >= least && p.bytes <= most);
    const end = missesAt(curve, most);
    return end === undefined || own.at(-1)?.bytes === most
      ? own
      : [...own, { bytes: most, misses: this.asOfB(end) }];
  }

  /** The caches that A and B share, with what A misses there and what B does. */
  private earlierLevels(): readonly {
    readonly bytes: number;
    readonly misses: number;
    readonly of: number;
  }[] {
    const { now } = this.input.answer;
    const last = now.curve.sizes.at(-1) ?? 0;
    return now.levels.flatMap((l, i) => {
      const was = this.input.before?.answer.now.levels[i];
      const shared = was?.level === l.level && was.bytes === l.bytes && l.bytes >= LEAST && l.bytes <= last;
      return shared ? [{ bytes: l.bytes, misses: this.asOfB(was.misses), of: l.misses }] : [];
    });
  }

  /** Misses of A where B's stand: shares are each of its own run's references. */
  private asOfB(misses: number): number {
    const { answer, before, y } = this.input;
    if (!before || y !== 'share') return misses;
    return (misses * answer.now.references) / Math.max(1, before.answer.now.references);
  }

  draw(r: Renderer): void {
    this.drawAxes(r);
    this.drawBands(r);
    const { curve } = this.input.answer.now;
    r.path(open(this.outline(curve.total)), { stroke: r.theme.line, width: 1.25 });
    if (curve.selected.length > 0)
      r.path(open(this.outline(curve.selected)), { stroke: r.theme.selected, width: 2 });
    const { then } = this.input.answer;
    if (then) r.path(open(this.outline(then.total)), { stroke: r.theme.text, width: 1.5, dash: [5, 3] });
    this.drawEarlier(r);
    this.drawLevels(r);
    this.drawMachines(r);
    this.drawHeadline(r);
  }

  private drawAxes(r: Renderer): void {
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    const { plot } = this;
    for (const v of linearTicks(0, this.most, Math.max(3, Math.floor(plot.h / 44)))) {
      r.line(plot.x, this.y(v), plot.x + plot.w, this.y(v), { stroke: r.theme.hair, width: 1 });
      r.text(this.shown(v), plot.x - 6, this.y(v), { ...muted, align: 'right' });
    }
    const what = { misses: 'misses', share: 'of the references', bytes: 'moved' }[this.input.y];
    r.text(what, 8, 12, muted);
    const { sizes } = this.input.answer.now.curve;
    const last = sizes.at(-1) ?? LEAST;
    const room = this.plot.w / Math.max(1, Math.log2(last / (sizes[this.from] ?? LEAST)));
    const every = room < 26 ? 2 : 1;
    let unit = '';
    for (let k = 13, i = 0; 2 ** k <= last; k++, i++) {
      if (i % every !== 0) continue;
      const [value = '', own = ''] = sizeText(2 ** k).split(THIN);
      r.text(own === unit ? value : `${value} ${own}`, this.x(2 ** k), plot.y + plot.h + 11, {
        ...muted,
        align: i === 0 ? 'left' : 'center',
      });
      unit = own;
    }
    r.line(plot.x, this.y(0), plot.x + plot.w, this.y(0), { stroke: r.theme.line, width: 1 });
  }

  private drawBands(r: Renderer): void {
    const chosen = this.input.answer.now.curve.selected.length > 0;
    this.bands.forEach((band, i) => {
      const below = i === 0 ? this.input.answer.now.curve.sizes.map(() => 0) : this.tops[i - 1]!;
      const [top, foot] = [this.outline(this.tops[i]!), this.outline(below)];
      r.path(polygon([...top, ...foot.toReversed()]), {
        fill: chosen && i === 0 ? r.theme['selected-bar'] : r.theme['rest-bar'],
        alpha: chosen && i === 0 ? 1 : i % 2 === 0 ? 0.9 : 0.62,
      });
      if (i > 0) r.path(open(foot), { stroke: r.theme.bg, width: 1 });
      const at = Math.min(2, top.length - 1);
      const thick = (foot[at]?.y ?? 0) - (top[at]?.y ?? 0);
      if (thick >= 13)
        r.text(band.name, this.plot.x + 8, ((foot[at]?.y ?? 0) + (top[at]?.y ?? 0)) / 2, {
          font: { size: 11.5, mono: true, weight: chosen && i === 0 ? 600 : 400 },
          fill: r.theme.text,
        });
    });
  }

  /** The real, set-associative counts; what lies above the curve are conflicts. */
  private drawLevels(r: Renderer): void {
    const { now, then } = this.input.answer;
    const last = now.curve.sizes.at(-1) ?? 0;
    now.levels.forEach((l, i) => {
      if (l.bytes < LEAST || l.bytes > last) return;
      const [x, disc, full] = [this.x(l.bytes), this.y(l.misses), this.y(l.full)];
      const conflict = l.misses - l.full;
      r.line(x, this.y(0), x, Math.min(disc, full), { stroke: r.theme.line, width: 1 });
      if (conflict > 0.01 * now.references) {
        r.line(x, disc, x, full, { stroke: r.theme.text, width: 3 });
        r.line(x - 5, full, x + 5, full, { stroke: r.theme.text, width: 2 });
        if (full - disc > 44) {
          r.text(`${this.shown(conflict)} conflict`, x + 11, (disc + full) / 2, {
            font: { size: 12, weight: 600 },
            fill: r.theme.text,
          });
          r.text('would fit, but meet in the same sets', x + 11, (disc + full) / 2 + 14, {
            font: { size: 11 },
            fill: r.theme.muted,
          });
        }
      }
      r.path(circle({ x, y: disc }, 5), { fill: r.theme.text });
      const strong = { size: 12, weight: 600 };
      const label = `${this.shown(l.misses)} with ${l.ways} ways`;
      const fits = x + 11 + r.measure(label, strong) < this.size.w;
      r.text(label, fits ? x + 11 : x + 6, fits ? disc - 1 : disc - 12, {
        font: strong,
        fill: r.theme.text,
        align: fits ? 'left' : 'right',
      });
      const other = then?.levels[i];
      if (other && other.bytes === l.bytes && other.misses !== l.misses) {
        const y = this.y(other.misses);
        r.path(circle({ x, y }, 5), { fill: r.theme.bg, stroke: r.theme.text, width: 1.5, dash: [2.5, 2] });
        if (Math.abs(y - disc) > 13)
          r.text(`${this.shown(other.misses)} what if`, x + 11, y, {
            font: { size: 12 },
            fill: r.theme.text,
          });
      }
    });
  }

  /** A is hollow: a line without a band, and rings where its caches miss; B is what is filled. */
  private drawEarlier(r: Renderer): void {
    const { answer, before } = this.input;
    if (!before) return;
    const line = this.earlier().map((p) => ({ x: this.x(p.bytes), y: this.y(p.misses) }));
    r.path(open(line), { stroke: r.theme.text, width: 1.5 });
    const font = { size: 11.5, weight: 600 };
    const names = [
      { name: `A ${before.name}`, fill: r.theme.bg },
      { name: `B ${answer.then ? 'this run, recorded' : 'this run'}`, fill: r.theme['rest-bar'] },
    ];
    names.forEach(({ name, fill }, i) => {
      const y = 36 + 15 * i;
      r.rect({ x: this.plot.x + 8, y: y - 4.5, w: 9, h: 9 }, { fill, stroke: r.theme.text, width: 1 });
      r.text(name, this.plot.x + 23, y, { font, fill: r.theme.text });
    });
    for (const l of this.earlierLevels()) {
      const at = { x: this.x(l.bytes), y: this.y(l.misses) };
      r.path(circle(at, 5), { fill: r.theme.bg, stroke: r.theme.text, width: 1.5 });
      if (Math.abs(at.y - this.y(l.of)) > 13)
        r.text(`A ${this.shown(l.misses)}`, at.x - 9, at.y, {
          font: { size: 12 },
          fill: r.theme.text,
          align: 'right',
        });
    }
  }

  private drawMachines(r: Renderer): void {
    const { answer } = this.input;
    const { then } = answer;
    const rows = [{ name: answer.machine.name, levels: answer.machine.levels, filled: true }];
    if (then && then.machine.name !== answer.machine.name)
      rows.push({ name: then.machine.name, levels: then.machine.levels, filled: false });
    const last = answer.now.curve.sizes.at(-1) ?? 0;
    rows.forEach((m, k) => {
      const y = this.plot.y + this.plot.h + 20 + ROW * k + ROW / 2;
      const ink = m.filled ? r.theme.text : r.theme.muted;
      r.text(m.name, 8, y, { font: { size: 11.5, weight: m.filled ? 600 : 400 }, fill: ink });
      const font = { size: 11.5, weight: m.filled ? 600 : 400 };
      // What lies beyond the axis is named at the edge; labels before it make room.
      const beyond = m.levels
        .filter((l) => l.size > last)
        .map((l) => `${l.level} ${sizeText(l.size)} ›`)
        .join('  ');
      const edge = this.plot.x + this.plot.w;
      const free = edge - (beyond ? r.measure(beyond, font) + 8 : 0);
      if (beyond) r.text(beyond, edge, y, { font, fill: ink, align: 'right' });
      const after = 8 + r.measure(m.name, { size: 11.5, weight: 600 }) + 6;
      for (const l of m.levels) {
        const label = `${l.level} ${sizeText(l.size)}`;
        if (l.size > last) continue;
        const x = Math.max(after + 5, this.x(Math.max(l.size, LEAST)));
        const tip = polygon([
          { x, y: y - 5 },
          { x: x + 5, y: y + 4 },
          { x: x - 5, y: y + 4 },
        ]);
        r.path(tip, m.filled ? { fill: ink } : { stroke: ink, width: 1 });
        const fits = x + 9 + r.measure(label, font) <= free;
        r.text(label, fits ? x + 9 : x - 9, y, { font, fill: ink, align: fits ? 'left' : 'right' });
      }
    });
  }

  private drawHeadline(r: Renderer): void {
    const { headline, answer } = this.input;
    const x = this.plot.x + this.plot.w;
    const h = { font: { size: 16, weight: 600 }, fill: r.theme.text, align: 'right' as const };
    r.text(headline.head, x, 16, h);
    headline.more.forEach((line, i) =>
      r.text(line, x, 36 + 15 * i, {
        font: { size: 11.5 },
        fill: i === headline.more.length - 1 ? r.theme.text : r.theme.muted,
        align: 'right',
      }),
    );
    if (this.size.w < 1100 || this.plot.h < 260) return;
    const top = 36 + 15 * headline.more.length + 14;
    const columns = answer.then ? [x - 150, x - 70, x] : [x - 80, x];
    const muted = { font: { size: 11 }, fill: r.theme.muted, align: 'right' as const };
    ['hit ratio', 'needs', 'what if']
      .slice(0, columns.length)
      .forEach((t, i) => r.text(t, columns[i]!, top, muted));
    answer.now.needs.forEach((n, i) => {
      const y = top + 15 * (i + 1);
      const other = answer.then?.needs[i];
      const cells = [
        `${Math.round(100 * n.hits)}${THIN}%`,
        n.bytes > 0 ? sizeText(n.bytes) : 'no size',
        ...(other ? [other.bytes > 0 ? sizeText(other.bytes) : 'no size'] : []),
      ];
      cells.forEach((t, k) =>
        r.text(t, columns[k]!, y, { font: { size: 11.5 }, fill: r.theme.text, align: 'right' }),
      );
    });
  }

  drawHover(r: Renderer): void {
    const { curve } = this.input.answer.now;
    const at = this.input.hovered;
    if (this.input.dragged) this.drawDragged(r, this.input.dragged);
    const bytes = curve.sizes[at];
    const i = this.bands.findIndex((b) => b.name === this.input.band);
    if (i >= 0)
      r.path(open(this.outline(this.tops[i]!)), { stroke: r.theme.hover, width: 1.5, dash: [4, 2.5] });
    if (bytes === undefined || at < this.from) return;
    const [x, y] = [this.x(bytes), this.y(curve.total[at] ?? 0)];
    r.line(x, 18, x, this.y(0), { stroke: r.theme.hover, width: 1.5, dash: [5, 3] });
    r.path(circle({ x, y }, 5), { fill: r.theme.bg, stroke: r.theme.hover, width: 2 });
    const label = sizeText(bytes);
    const w = r.measure(label, { size: 11, weight: 600 }) + 12;
    r.rect({ x: x - w / 2, y: 2, w, h: 16 }, { fill: r.theme.hover }, 3);
    r.text(label, x, 10, { font: { size: 11, weight: 600 }, fill: r.theme.bg, align: 'center' });
    r.text(this.shown(curve.total[at] ?? 0), x + 9, y - 11, {
      font: { size: 12, weight: 600 },
      fill: r.theme.hover,
    });
  }

  /** The cache whose triangle is at a place: of the what if first, which is below. */
  triangleAt(p: Point): string | undefined {
    const { answer } = this.input;
    const { then } = answer;
    const other = then && then.machine.name !== answer.machine.name ? [then.machine.levels] : [];
    const rows = [answer.machine.levels, ...other];
    const row = Math.floor((p.y - (this.plot.y + this.plot.h + 20)) / ROW);
    return rows[row]?.find((l) => Math.abs(this.x(Math.max(l.size, LEAST)) - p.x) <= 8)?.level;
  }

  private drawDragged(r: Renderer, d: Dragged): void {
    const x = this.x(d.bytes);
    const y = this.plot.y + this.plot.h + 20 + ROW / 2;
    r.line(x, this.plot.y, x, y - 5, { stroke: r.theme.text, width: 1, dash: [5, 3] });
    const tip = polygon([
      { x, y: y - 5 },
      { x: x + 5, y: y + 4 },
      { x: x - 5, y: y + 4 },
    ]);
    r.path(tip, { fill: r.theme.bg, stroke: r.theme.text, width: 1 });
    const at = this.input.answer.now.curve.sizes.indexOf(d.bytes);
    const misses =
      at < 0 ? '' : `, ${this.shown(this.input.answer.now.curve.total[at] ?? 0)} fully associative`;
    r.text(`${d.level} ${sizeText(d.bytes)}${misses}`, x + 9, this.plot.y + 12, {
      font: { size: 12, weight: 600 },
      fill: r.theme.text,
    });
  }

  /** The index of the size nearest to a place. */
  sizeAt(x: number): number {
    const { sizes } = this.input.answer.now.curve;
    let best = this.from;
    for (let i = this.from; i < sizes.length; i++)
      if (Math.abs(this.x(sizes[i]!) - x) < Math.abs(this.x(sizes[best]!) - x)) best = i;
    return best;
  }

  hitTest(p: Point): CurveMark | undefined {
    const { plot } = this;
    if (p.x < plot.x - 4 || p.x > plot.x + plot.w + 4 || p.y > plot.y + plot.h + 18) return undefined;
    const at = this.sizeAt(p.x);
    const misses = (1 - (p.y - plot.y) / plot.h) * 1.06 * this.most;
    const band = misses < 0 ? -1 : this.tops.findIndex((t) => misses <= (t[at] ?? 0));
    return band >= 0 ? { on: 'band', band, at } : { on: 'size', at };
  }

  step(from: CurveMark | undefined, dir: Dir): CurveMark | undefined {
    const { sizes } = this.input.answer.now.curve;
    const at = from?.at ?? this.from;
    const move = (by: number): number => clamp(at + by, this.from, sizes.length - 1);
    const band = from?.on === 'band' ? from.band : -1;
    const on = (b: number, a: number): CurveMark =>
      b >= 0 ? { on: 'band', band: b, at: a } : { on: 'size', at: a };
    switch (dir) {
      case 'left':
        return on(band, move(-1));
      case 'right':
        return on(band, move(1));
      case 'up':
        return on(Math.min(this.bands.length - 1, band + 1), at);
      case 'down':
        return on(Math.max(-1, band - 1), at);
      case 'first':
        return on(band, this.from);
      case 'last':
        return on(band, sizes.length - 1);
      case 'next':
      case 'previous': {
        // From one cache of the machine to the next.
        const marks = this.input.answer.now.levels.map((l) => this.sizeAt(this.x(Math.max(LEAST, l.bytes))));
        const next = dir === 'next' ? marks.find((m) => m > at) : marks.toReversed().find((m) => m < at);
        return on(band, next ?? at);
      }
    }
  }

  /** The name of a band; empty for the selection. */
  bandOf(m: CurveMark): string {
    if (m.on !== 'band') return '';
    const chosen = this.input.answer.now.curve.selected.length > 0;
    return chosen && m.band === 0 ? '' : (this.bands[m.band]?.name ?? '');
  }

  describe(m: CurveMark): Said {
    const { now } = this.input.answer;
    const { curve } = now;
    const total = curve.total[m.at] ?? 0;
    const twice = curve.sizes.findIndex((s) => s >= 2 * (curve.sizes[m.at] ?? 0));
    const saves = twice < 0 ? '' : `; from here a doubling saves ${count(total - (curve.total[twice] ?? 0))}`;
    const chosen =
      curve.selected.length > 0 ? `; ${this.input.selection} ${count(curve.selected[m.at] ?? 0)}` : '';
    const band = m.on === 'band' ? this.bands[m.band] : undefined;
    const was = this.input.before && missesAt(this.input.before.answer.now.curve, curve.sizes[m.at] ?? 0);
    const earlier = was === undefined ? '' : `; in A ${count(was)} (${change(was, total)})`;
    return {
      name: `Cache of ${sizeText(curve.sizes[m.at] ?? 0)}`,
      more: `· LRU over ${now.levels[0]?.line_bytes ?? 64}-byte lines: ${plural(total, 'miss', 'misses')}, ${percent(total, now.references)} of references${earlier}${band && band.name !== this.input.selection ? `; ${band.name} ${count(band.misses[m.at] ?? 0)}` : ''}${chosen}${saves}`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { curve } = this.input.answer.now;
    const { then } = this.input.answer;
    const before = this.input.before?.answer.now.curve;
    const earlier = (bytes: number, misses: number): readonly string[] => {
      const was = before && missesAt(before, bytes);
      return was === undefined ? ['', ''] : [String(was), change(was, misses)];
    };
    return {
      head: [
        'bytes',
        before ? 'B misses' : 'misses',
        ...(before ? ['A misses', 'change'] : []),
        ...this.bands.map((b) => b.name),
        ...(then ? ['what if'] : []),
      ],
      rows: curve.sizes.map((s, i) => [
        String(s),
        String(curve.total[i] ?? 0),
        ...(before ? earlier(s, curve.total[i] ?? 0) : []),
        ...this.bands.map((b) => String(b.misses[i] ?? 0)),
        ...(then ? [String(then.total[i] ?? 0)] : []),
      ]),
    };
  }

  summary(): string {
    return [this.input.headline.head, ...this.input.headline.more].join('. ');
  }
}

function open(points: readonly Point[]): Path {
  return points.map((p, i) => ({ to: i === 0 ? 'move' : 'line', x: p.x, y: p.y }) as const);
}
