// Parallel histograms and coordinates: a column for each axis, with labels,
// bars and brushes; lines only between columns, so that text, bars and lines
// never overlap.
import { inkOn, mix } from '../../../base/color';
import { plural } from '../../../base/format';
import { clamp, HIT_SLOP, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Renderer, Strokes } from '../../../base/renderer';
import { fit, fitApart, type Font, type Measure } from '../../../base/text';
import type { Theme } from '../../../base/theme';
import { ALL, HOVERED, SELECTED, type PairAnswer } from '../../../api/decode';
import type { Term } from '../../../state/selection';
import { rawName, sayDistinct, titleOf } from '../../../state/axes';
import { drawGaps, sayGaps } from './gaps';
import { axisBasis, AxisLayout, extent, type AxisInput, type Slot } from './axis';
import { drawGlyph } from '../../../frame/badge';
import { densityStrokes, inkOf, KeptLines, largestCell, type LineLayer, type Strength } from './density';
import {
  drawAxisStrip,
  drawWindowHover,
  STRIP_HEAD,
  STRIP_ZONE,
  stepStrip,
  stripArea,
  stripOf,
  stripRows,
  type AxisStrips,
  type WindowMark,
} from './axisstrip';
import type { Strip } from './strip';
import type { KeptView, Said, Table } from '../../../frame/view';

/** What a line leads to, in the table. */
const BESIDE_HEAD = ['next axis', 'next value', 'next from', 'next to', 'next unit'];

const layersOf = (counts: PairAnswer['counts'], at: number): string[] =>
  counts.map((layer) => String(layer[at] ?? 0));

export interface Brush {
  readonly term: Term;
  readonly from: number; // positions along the axis
  readonly till: number;
  readonly tags: readonly [low: string, high: string] | undefined;
}

export interface ParallelInput {
  readonly axes: readonly AxisInput[];
  readonly pairs: readonly (PairAnswer | undefined)[]; // pair i lies between axes i and i + 1
  readonly beside?: readonly (PairAnswer | undefined)[]; // of the other of two runs: lines of both have one scale
  readonly size: Size;
  readonly measure: Measure;
  readonly selected: boolean; // something is selected: the rest is context
  readonly selectionHovered?: boolean; // the hover's lines would only hide the selection's
  readonly lines: boolean;
  readonly strength: Strength;
  readonly ownHoverScale: boolean;
  readonly restAlpha: number;
  readonly kept?: KeptLines; // lines of pictures before this one
  readonly brushes: ReadonlyMap<string, readonly Term[]>;
  readonly hovered?: BinMark | undefined;
  /** Metric strips by axis, and the scale they share. */
  readonly strips?: AxisStrips | undefined;
  /** The axis being moved, and where its column's left edge is. */
  readonly moving?: { readonly axis: number; readonly x: number } | undefined;
}

export interface BinMark {
  readonly kind: 'bin';
  readonly axis: number;
  readonly bin: number;
}

export type ParallelMark = BinMark | WindowMark | { readonly kind: 'head'; readonly axis: number };

export interface BrushHit {
  readonly axis: number;
  readonly index: number;
  readonly part: 'low' | 'high' | 'body';
}

export interface AxisColumn {
  readonly x: number;
  readonly w: number;
  readonly axisX: number; // of the axis line
  readonly barW: number;
  readonly layout: AxisLayout;
  readonly brushes: readonly Brush[];
  readonly most: number; // rows of the largest bin
  readonly strip: Strip | undefined; // at its right edge
}

const PAD = 16;
const HEAD = 46;
const FOOT = 10;
const MIN_GAP = 36;
const SHORT_COLUMN = 96; // of an axis without data
const TEXT: Font = { size: 11 };
const STRONG: Font = { size: 12, weight: 600 };

const LABEL_ZONE: Readonly<Record<string, number>> = { time: 30, latency: 44, cpu: 26, line: 64, level: 74 };

export function barZone(width: number): number {
  return width < 1400 ? 44 : width > 2000 ? 72 : 52;
}

export class ParallelView implements KeptView<ParallelMark> {
  readonly size: Size;
  readonly columns: readonly AxisColumn[];
  readonly top = HEAD;
  readonly height: number;
  private readonly most: number; // largest selected cell of all pairs

  constructor(
    protected readonly input: ParallelInput,
    laid?: ParallelView,
  ) {
    this.size = input.size;
    this.height = Math.max(40, input.size.h - HEAD - FOOT);
    this.columns = laid?.columns ?? layColumns(input, this.height);
    this.most = laid?.most ?? largestCell(this.scaled, SELECTED);
  }

  get basis(): unknown {
    return { under: this.basisUnder, brushes: this.input.brushes };
  }

  /** Lines depend on the answer, not on where a brush is while it waits for one. */
  get basisUnder(): unknown {
    const { axes, pairs, size, selected, lines, strength, restAlpha, moving, strips } = this.input;
    const drawn = strips && { ...strips, hovered: undefined };
    return {
      axes: axes.map(axisBasis),
      strips: drawn,
      ...{ pairs, size, selected, lines, strength, restAlpha, moving },
    };
  }

  /** The hover's lines cost as much as the others, and a brush does not change them. */
  get basisOver(): unknown {
    const { axes, pairs, hovered, strips, ownHoverScale, selectionHovered } = this.input;
    return {
      under: this.basisUnder,
      bars: axes.map((a) => a.answer.counts[HOVERED]),
      cells: pairs.map((p) => p?.counts[HOVERED]),
      ...{ hovered, window: strips?.hovered, ownHoverScale, selectionHovered },
    };
  }

  /** The same picture with another mark under the pointer. */
  pointedAt(hovered: BinMark | undefined, window: WindowMark | undefined): ParallelView {
    const { strips } = this.input;
    return new ParallelView(
      { ...this.input, hovered, strips: strips && { ...strips, hovered: window } },
      this,
    );
  }

  private get scaled(): readonly (PairAnswer | undefined)[] {
    return [...this.input.pairs, ...(this.input.beside ?? [])];
  }

  /** The largest number of samples a line stands for; the legend's right end. */
  get largest(): number {
    return this.most;
  }

  drawUnder(r: Renderer): void {
    if (this.input.lines)
      this.drawLines(
        r,
        this.input.selected && this.input.restAlpha > 0 ? ['rest', 'selection'] : ['selection'],
      );
  }

  draw(r: Renderer): void {
    this.columns.forEach((c, i) => this.drawColumn(r, c, i));
  }

  private drawLines(r: Renderer, layers: readonly LineLayer[]): void {
    for (const layer of layers) for (const s of this.lines(layer, r.theme)) r.strokes(s);
  }

  /** The lines of a layer, gap by gap. */
  *lines(layer: LineLayer, theme: Theme): Generator<Strokes> {
    const { pairs, strength, ownHoverScale, restAlpha, selected, kept = new KeptLines() } = this.input;
    const ink = inkOf(layer, theme, restAlpha);
    const most = layer === 'rest' ? largestCell(this.scaled, ALL) : this.most;
    // Lines of all samples, which lie behind the selection's or are all there is.
    const lasting = layer === 'rest' || (layer === 'selection' && !selected);
    for (const [i, pair] of pairs.entries()) {
      const [left, right] = [this.columns[i], this.columns[i + 1]];
      const area = this.gap(i);
      if (!pair || !left || !right || !area || this.isConstant(i) || this.isConstant(i + 1)) continue;
      const input = {
        pair,
        area,
        strength,
        ownHoverScale,
        most,
        leftY: (bin: number) => this.top + left.layout.middle(bin),
        rightY: (bin: number) => this.top + right.layout.middle(bin),
      };
      yield lasting ? kept.strokes(i, input, ink) : densityStrokes(input, ink);
    }
  }

  /** The room between two columns; none while one of them is being moved over it. */
  protected gap(i: number): Rect | undefined {
    const { moving } = this.input;
    if (moving && (moving.axis === i || moving.axis === i + 1)) return undefined;
    const [l, r] = [this.columns[i]!, this.columns[i + 1]!];
    const x = l.x + l.w;
    return r.x > x + 2 ? { x, y: this.top, w: r.x - x, h: this.height } : undefined;
  }

  isConstant(i: number): boolean {
    const c = this.input.axes[i]?.column;
    return c !== undefined && (c.provenance === 'absent' || (c.distinct <= 1 && c.missing === 0));
  }

  private drawColumn(r: Renderer, c: AxisColumn, i: number): void {
    const { theme } = r;
    this.drawHead(r, c, i);
    if (this.isConstant(i)) {
      this.drawConstant(r, c);
      return;
    }
    r.rect({ x: c.x, y: this.top, w: c.w, h: this.height }, { fill: theme.surface }, 3);
    for (const b of c.brushes) this.drawBrushGround(r, c, b);
    this.drawBars(r, c, ALL, theme['rest-bar']);
    this.drawBars(r, c, SELECTED, theme.selected);
    this.drawBeside(r, c);
    r.line(c.axisX, this.top, c.axisX, this.top + this.height, { stroke: theme.line, width: 1 });
    drawGaps(r, c.layout, { x: c.axisX, y: this.top, w: c.x + c.w - c.axisX, h: this.height }, false);
    if (c.strip) drawAxisStrip(r, c.strip, stripArea(c, this.top, this.height), this.input.strips?.map);
    for (const b of c.brushes) this.drawBrush(r, c, b);
    this.drawLabels(r, c);
    for (const b of c.brushes) this.drawTags(r, c, b, theme.selected);
  }

  private drawHead(r: Renderer, c: AxisColumn, i: number): void {
    const { column, subtitle } = this.input.axes[i]!;
    const room = (this.columns[i + 1]?.x ?? this.size.w - 4) - c.x - 12;
    const name = fit(titleOf(column), room - 18, STRONG, r.measure);
    r.text(name, c.x + 1, 10, { font: STRONG, fill: r.theme.text });
    drawGlyph(r, c.x + 1 + r.measure(name, STRONG) + 7, 10, column.provenance);
    r.text(fit(subtitle, room, TEXT, r.measure), c.x + 1, 26, { font: TEXT, fill: r.theme.muted });
  }

  private drawConstant(r: Renderer, c: AxisColumn): void {
    const { column } = c.layout.input;
    const text =
      column.provenance === 'absent' ? ['not recorded', 'by this tool'] : ['constant:', constantText(c)];
    r.rect(
      { x: c.x, y: this.top, w: c.w, h: Math.min(SHORT_COLUMN, this.height) },
      { fill: r.theme.surface },
      3,
    );
    text.forEach((t, i) =>
      r.text(fit(t, c.w - 8, TEXT, r.measure), c.x + 6, this.top + 14 + 15 * i, {
        font: TEXT,
        fill: r.theme.muted,
      }),
    );
  }

  protected drawBars(r: Renderer, c: AxisColumn, layer: 0 | 1 | 2, fill: string): void {
    const { counts } = c.layout.input.answer;
    if (counts[layer].length === 0 || c.most === 0) return;
    const modelled = c.layout.input.column.provenance === 'modelled';
    for (const s of c.layout.slots) {
      const n = counts[layer][s.bin] ?? 0;
      if (n === 0) continue;
      const bar = this.barRect(c, s, n);
      r.rect(layer === HOVERED ? { ...bar, w: Math.max(2, bar.w) } : bar, { fill });
      if (modelled && layer === ALL && bar.h > 3)
        r.line(bar.x + bar.w, bar.y, bar.x + bar.w, bar.y + bar.h, {
          stroke: r.theme.warn,
          width: 1,
          dash: [2, 2],
        });
    }
  }

  /** The other of two runs is an outline, which bars of names have to themselves. */
  private drawBeside(r: Renderer, c: AxisColumn): void {
    const beside = c.layout.input.answer.beside?.[SELECTED];
    if (!beside || c.most === 0) return;
    const paint = { stroke: r.theme.muted, width: 1 };
    const bars = c.layout.slots.map((s) => ({ s, bar: this.barRect(c, s, beside[s.bin] ?? 0) }));
    const apart = ({ s }: (typeof bars)[number]): boolean => c.layout.named || s.kind === 'absent';
    for (const b of bars) if (apart(b) && b.bar.w > 0) r.rect(b.bar, paint);
    const steps = bars
      .filter((b) => !apart(b))
      .sort((p, q) => p.s.from - q.s.from)
      .flatMap(({ s, bar }) => [s.from, s.till].map((at) => ({ x: bar.x + bar.w, y: this.top + at })));
    if (steps.length > 0)
      r.path(
        steps.map((p, i) => ({ to: i === 0 ? ('move' as const) : ('line' as const), ...p })),
        paint,
      );
  }

  protected barRect(c: AxisColumn, s: Slot, n: number): Rect {
    const thick = s.till - s.from;
    const named = c.layout.named && thick > 9;
    const inset = named ? Math.min(3, thick * 0.12) : thick < 2.2 ? 0 : clamp(thick * 0.08, 0.35, 0.75) / 2;
    const tall = named ? Math.min(thick - 2 * inset, 26) : thick - 2 * inset;
    return {
      x: c.axisX + 1,
      y: this.top + (s.from + s.till - tall) / 2,
      w: ((c.barW - 2) * n) / c.most,
      h: tall,
    };
  }

  private drawLabels(r: Renderer, c: AxisColumn): void {
    const room = c.axisX - c.x - 8;
    const tags = this.tagPositions(c);
    const clear = (at: number): boolean => tags.every((t) => Math.abs(t - at) >= 14);
    if (c.layout.named) {
      this.drawNames(r, c, room, clear);
    } else {
      for (const t of c.layout.ticks(26)) {
        r.line(c.axisX - 3, this.top + t.at, c.axisX, this.top + t.at, { stroke: r.theme.line, width: 1 });
        const y = clamp(t.at, 5, this.height - 5);
        if (clear(t.at))
          r.text(fit(t.label, room, TEXT, r.measure), c.axisX - 6, this.top + y, {
            font: TEXT,
            fill: r.theme.muted,
            align: 'right',
          });
      }
      const absent = c.layout.slots.find((s) => s.kind === 'absent');
      if (absent)
        r.text('absent', c.axisX - 6, this.top + (absent.from + absent.till) / 2, {
          font: TEXT,
          fill: r.theme.muted,
          align: 'right',
        });
    }
  }

  private drawNames(r: Renderer, c: AxisColumn, room: number, clear: (at: number) => boolean): void {
    const { counts } = c.layout.input.answer;
    let place = 0; // within a run of touching slots
    let end = -Infinity;
    const font: Font = { size: 11 };
    const { slots } = c.layout;
    const texts = fitApart(
      slots.map((s) => s.label ?? ''),
      room,
      font,
      r.measure,
    );
    for (const [i, s] of slots.entries()) {
      const y = (s.from + s.till) / 2;
      place = s.from - end > 1 ? 0 : place + 1;
      end = s.till;
      if (place % labelStride(s.till - s.from) !== 0 || !clear(y)) continue;
      const live = (counts[SELECTED][s.bin] ?? 0) > 0;
      r.text(texts[i]!, c.axisX - 6, this.top + y, {
        font,
        fill: live ? r.theme.text : r.theme.muted,
        align: 'right',
      });
    }
  }

  private tagPositions(c: AxisColumn): number[] {
    return c.brushes.flatMap((b) => (b.tags ? [b.from, b.till] : []));
  }

  private drawBrushGround(r: Renderer, c: AxisColumn, b: Brush): void {
    const fill = mix(r.theme.surface, r.theme.selected, r.theme.dark ? 0.16 : 0.1);
    r.rect({ x: c.x, y: this.top + b.from, w: c.w, h: b.till - b.from }, { fill });
  }

  private drawBrush(r: Renderer, c: AxisColumn, b: Brush): void {
    const { selected } = r.theme;
    r.line(c.axisX, this.top + b.from, c.axisX, this.top + b.till, { stroke: selected, width: 3 });
    for (const at of [b.from, b.till]) {
      r.line(c.x, this.top + at, c.x + c.w, this.top + at, { stroke: selected, width: 1.5 });
      const grip = { x: c.axisX + (c.x + c.w - c.axisX) / 2 - 8, y: this.top + at - 2.5, w: 16, h: 5 };
      r.rect(grip, { fill: selected, stroke: r.theme.bg, width: 1 }, 2.5);
    }
  }

  private drawTags(r: Renderer, c: AxisColumn, b: Brush, fill: string): void {
    if (!b.tags) return;
    const [low, high] = c.layout.up ? [b.till, b.from] : [b.from, b.till];
    drawTag(r, c, this.top + low, b.tags[0], fill);
    drawTag(r, c, this.top + high, b.tags[1], fill);
  }

  drawHover(r: Renderer): void {
    if (this.input.lines && !this.input.selectionHovered) this.drawLines(r, ['hover']);
    for (const [i, c] of this.columns.entries())
      if (!this.isConstant(i)) this.drawBars(r, c, HOVERED, r.theme.hover);
    const w = this.input.strips?.hovered;
    const stripped = w && this.columns[w.axis];
    if (w && stripped?.strip)
      drawWindowHover(r, stripped.strip, w.window, stripArea(stripped, this.top, this.height));
    const h = this.input.hovered;
    const c = h && this.columns[h.axis];
    const s = h && c?.layout.slot(h.bin);
    if (!c || !s) return;
    const pad = s.till - s.from < 6 ? 1.5 : 0;
    r.rect(
      { x: c.x + 0.5, y: this.top + s.from - pad, w: c.w - 1, h: s.till - s.from + 2 * pad },
      { stroke: r.theme.hover, width: 1.5, dash: [4, 2] },
      2,
    );
    const label = s.label ?? c.layout.say(c.layout.input.answer.edges[s.bin]!);
    drawTag(r, c, this.top + (s.from + s.till) / 2, label, r.theme.hover);
  }

  // ---- marks ----

  hitTest(p: Point): ParallelMark | undefined {
    const axis = this.axisAt(p.x);
    if (axis === undefined) return undefined;
    const c = this.columns[axis]!;
    if (p.y < this.top - 4) return { kind: 'head', axis };
    if (p.x > c.x + c.w + HIT_SLOP || this.isConstant(axis)) return undefined;
    if (c.strip && p.x >= c.x + c.w - STRIP_ZONE) {
      const b = c.strip.at(p.y - this.top);
      return b && { kind: 'window', axis, window: b.window };
    }
    const s = c.layout.slotAt(p.y - this.top);
    return s && { kind: 'bin', axis, bin: s.bin };
  }

  /** The axis whose column, or head, is at x. */
  axisAt(x: number): number | undefined {
    const i = this.columns.findIndex((c) => x >= c.x - HIT_SLOP && x <= c.x + c.w + HIT_SLOP);
    return i < 0 ? undefined : i;
  }

  /** The part of a brush under a point; edges can be dragged within 6 px. */
  brushAt(p: Point): BrushHit | undefined {
    const axis = this.axisAt(p.x);
    if (axis === undefined) return undefined;
    const c = this.columns[axis]!;
    const y = p.y - this.top;
    for (const [index, b] of c.brushes.entries()) {
      const [low, high] = c.layout.up ? [b.till, b.from] : [b.from, b.till];
      if (Math.abs(y - low) <= 6) return { axis, index, part: 'low' };
      if (Math.abs(y - high) <= 6) return { axis, index, part: 'high' };
      if (y > b.from && y < b.till) return { axis, index, part: 'body' };
    }
    return undefined;
  }

  /** Where in the order an axis goes whose column is dropped with its middle at x. */
  placeFor(x: number, moved: number): number {
    const middles = this.columns.map((c) => c.x + c.w / 2).filter((_, i) => i !== moved);
    const at = middles.findIndex((m) => x < m);
    return at < 0 ? middles.length : at;
  }

  step(from: ParallelMark | undefined, dir: Dir): ParallelMark | undefined {
    const axes = this.columns.length;
    if (axes === 0) return undefined;
    if (!from) return this.firstBin(0);
    const c = this.columns[clamp(from.axis, 0, axes - 1)]!;
    const strip = c.strip && stepStrip(c.strip, c.layout, from, dir);
    if (strip) return strip;
    const order = c.layout.slots.toSorted((a, b) => a.from - b.from);
    const at = from.kind === 'bin' ? order.findIndex((s) => s.bin === from.bin) : -1;
    const bin = (k: number): ParallelMark => ({
      kind: 'bin',
      axis: from.axis,
      bin: order[clamp(k, 0, order.length - 1)]!.bin,
    });
    switch (dir) {
      case 'left':
        return this.sideways(from, clamp(from.axis - 1, 0, axes - 1));
      case 'right':
        return this.sideways(from, clamp(from.axis + 1, 0, axes - 1));
      case 'up':
        return at <= 0 ? { kind: 'head', axis: from.axis } : bin(at - 1);
      case 'down':
        return bin(at + 1);
      case 'next':
        return bin(nextFilled(c, order, at, 1));
      case 'previous':
        return bin(nextFilled(c, order, at, -1));
      case 'first':
        return bin(0);
      case 'last':
        return bin(order.length - 1);
    }
  }

  private firstBin(axis: number): ParallelMark {
    const s = this.columns[axis]!.layout.slots[0];
    return s ? { kind: 'bin', axis, bin: s.bin } : { kind: 'head', axis };
  }

  private sideways(from: ParallelMark, axis: number): ParallelMark {
    if (from.kind === 'head') return { kind: 'head', axis };
    const s =
      from.kind === 'bin'
        ? this.columns[from.axis]!.layout.slot(from.bin)
        : this.columns[from.axis]!.strip?.blocks.find((b) => b.window === from.window);
    const next = s && this.columns[axis]!.layout.slotAt((s.from + s.till) / 2);
    return next ? { kind: 'bin', axis, bin: next.bin } : this.firstBin(axis);
  }

  describe(m: ParallelMark): Said {
    const c = this.columns[m.axis]!;
    const { column, subtitle } = c.layout.input;
    if (m.kind === 'window') return c.strip?.describe(m.window) ?? { name: titleOf(column), more: '' };
    if (m.kind === 'head') {
      const more = [subtitle, column.provenance, column.note, sayDistinct(column, 'distinct value')];
      if (column.missing > 0) more.push(`${plural(column.missing, 'sample')} without a value`);
      return {
        name: titleOf(column),
        more: `· ${more.filter(Boolean).join(' · ')}`,
        term: column.name,
        ...rawName(column),
      };
    }
    return c.layout.saySamples(m.bin);
  }

  wanted(m: ParallelMark): Term | undefined {
    if (m.kind === 'window') return this.columns[m.axis]?.strip?.term(m.window);
    return m.kind === 'bin' ? this.columns[m.axis]?.layout.binTerm(m.bin) : undefined;
  }

  /** Bins of every axis, the lines between neighbours, and the windows of strips. */
  rows(): Table {
    const strips = this.columns.flatMap((c) => (c.strip ? stripRows(c.strip, c.layout.input.column) : []));
    const measured = strips.length > 0 ? STRIP_HEAD : [];
    const side = ({ layout }: AxisColumn, bin: number): string[] => {
      const { column } = layout.input;
      return [column.name, ...layout.cells(bin), column.unit];
    };
    const row = (part: string, one: string[], n: readonly string[], two: string[]): string[] => [
      part,
      ...one,
      ...n,
      ...(two.length > 0 ? two : BESIDE_HEAD.map(() => '')),
      ...measured.map(() => ''),
    ];
    const bins = this.columns.flatMap((c) =>
      c.layout.slots.map(({ bin }) =>
        row('bin', side(c, bin), layersOf(c.layout.input.answer.counts, bin), []),
      ),
    );
    const lines = this.input.pairs.flatMap((pair, i) => {
      const [one, two] = [this.columns[i], this.columns[i + 1]];
      if (!pair || !one || !two) return [];
      return Array.from(pair.left, (left, k) =>
        row('line', side(one, left), layersOf(pair.counts, k), side(two, pair.right[k]!)),
      );
    });
    const windows = strips.map(({ part, one, samples, value }) => [
      ...[part, ...one, samples, '', ''],
      ...BESIDE_HEAD.map(() => ''),
      ...value,
    ]);
    return {
      head: [
        ...['part', 'axis', 'value', 'from', 'to', 'unit', 'all', 'selected', 'hovered'],
        ...BESIDE_HEAD,
        ...measured,
      ],
      rows: [...bins, ...lines, ...windows],
    };
  }

  summary(): string {
    const { lines, axes } = this.input;
    const titles = axes.map((a) => titleOf(a.column)).join(', ');
    return `Parallel ${lines ? 'coordinates' : 'histograms'} of ${titles}${sayGaps(axes.flatMap((a) => a.gaps ?? []))}`;
  }
}

/** Widths of all columns; what is left is shared by the gaps. */
export function layColumns(input: ParallelInput, height: number): AxisColumn[] {
  const layouts = input.axes.map((a) => new AxisLayout(a, height));
  const n = layouts.length;
  const labels = layouts.map((l) => labelZone(l, input.measure, widestName(input.size.w, n)));
  const room = input.size.w - 2 * PAD - Math.max(0, n - 1) * MIN_GAP;
  let bars = barZone(input.size.w);
  const extra = layouts.map((l) => (stripOf(l, input.strips) ? STRIP_ZONE : 0));
  const need = (b: number): number => labels.reduce((s, w, i) => s + w + b + extra[i]!, 0);
  // Bars get narrower before the gaps close; a still larger set scrolls.
  if (need(bars) > room) bars = Math.max(20, bars - (need(bars) - room) / Math.max(1, n));
  const gap = n > 1 ? (input.size.w - 2 * PAD - need(bars)) / (n - 1) : 0;
  let x = PAD;
  return layouts.map((layout, i): AxisColumn => {
    const w = labels[i]! + bars + extra[i]!;
    const at = input.moving?.axis === i ? input.moving.x : x;
    x += w + Math.max(gap, 8);
    const most = Math.max(0, ...extent(layout.input.answer));
    const brushes = (input.brushes.get(layout.input.column.name) ?? []).flatMap((t) => brushOf(layout, t));
    return {
      x: at,
      w,
      axisX: at + labels[i]!,
      barW: bars,
      layout,
      brushes,
      most,
      strip: stripOf(layout, input.strips),
    };
  });
}

/** Every how many slots a label has room: all of them, or a power of two. */
function labelStride(thick: number): number {
  return thick >= 13 ? 1 : 2 ** Math.ceil(Math.log2(20 / Math.max(0.1, thick)));
}

/** The least width at which n axes are still legible. */
export function leastWidth(n: number): number {
  return 2 * PAD + n * 74 + Math.max(0, n - 1) * MIN_GAP;
}

/** Names may be long where there is room for them. */
function widestName(width: number, axes: number): number {
  return width < 1600 ? 124 : clamp(width / (2 * Math.max(1, axes)), 124, 240);
}

function labelZone(l: AxisLayout, measure: Measure, most: number): number {
  const { column } = l.input;
  const fixed = LABEL_ZONE[column.name];
  const widest = Math.max(20, ...l.slots.map((s) => measure(s.label ?? '', TEXT))) + 14;
  // Levels must not be cut: "Remote RAM" and "Remote Cache" begin alike.
  // Nor may CPUs: 100 and 101 do. Nor may ticks: "1 000" would be "1 …".
  if (fixed !== undefined && l.named)
    return column.name === 'level' || column.name === 'cpu' ? clamp(widest, fixed, 100) : fixed;
  if (l.named) {
    return column.kind === 'category' ? clamp(widest, 84, most) : clamp(widest, 26, 84);
  }
  const absent = l.slots.some((s) => s.kind === 'absent') ? measure('absent', TEXT) : 0;
  const ticks = Math.max(20, absent, ...l.ticks(26).map((t) => measure(t.label, TEXT)));
  return clamp(ticks + 12, fixed ?? 30, 104);
}

/** Where a term of the selection lies on its axis. */
export function brushOf(l: AxisLayout, t: Term): Brush[] {
  const { answer: a } = l.input;
  if (t.kind === 'range' && !l.named) {
    const lo = t.lo === undefined ? a.edges[0]! : Number(t.lo);
    const hi = t.hi === undefined ? a.edges[a.bins]! : Number(t.hi);
    const [p, q] = [l.positionOf(lo), l.positionOf(hi)];
    const [from, till] = atLeast(Math.min(p, q), Math.max(p, q), l.length);
    return [{ term: t, from, till, tags: [l.say(lo), l.say(hi)] }];
  }
  if (t.kind === 'compare' && typeof t.value === 'number' && !l.named) {
    if (t.op === '=' || t.op === '!=') return [];
    const below = t.op.startsWith('<');
    return brushOf(l, { kind: 'range', column: t.column, ...(below ? { hi: t.value } : { lo: t.value }) });
  }
  if (!l.named) return [];
  const names =
    t.kind === 'values'
      ? t.values.map(String)
      : t.kind === 'compare' && t.op === '='
        ? [String(t.value)]
        : [];
  const inRange = (s: Slot): boolean =>
    t.kind === 'range' &&
    typeof s.value === 'number' &&
    (t.lo === undefined || s.value >= Number(t.lo)) &&
    (t.hi === undefined || s.value <= Number(t.hi));
  const hit = l.slots.filter((s) => s.kind === 'name' && (inRange(s) || names.includes(String(s.value))));
  return runs(hit).map(([from, till]) => ({ term: t, from, till, tags: undefined }));
}

/** A brush is never thinner than a pointer can grab. */
function atLeast(from: number, till: number, length: number): [number, number] {
  const MIN = 12;
  if (till - from >= MIN) return [from, till];
  const middle = clamp((from + till) / 2, MIN / 2, Math.max(MIN / 2, length - MIN / 2));
  return [middle - MIN / 2, middle + MIN / 2];
}

/** Joins slots that touch. */
function runs(slots: readonly Slot[]): [number, number][] {
  const out: [number, number][] = [];
  for (const s of slots.toSorted((a, b) => a.from - b.from)) {
    const last = out[out.length - 1];
    if (last && s.from - last[1] < 1) last[1] = s.till;
    else out.push([s.from, s.till]);
  }
  return out;
}

function nextFilled(c: AxisColumn, order: readonly Slot[], from: number, by: 1 | -1): number {
  const counts = c.layout.input.answer.counts[SELECTED];
  for (let k = from + by; k >= 0 && k < order.length; k += by) if ((counts[order[k]!.bin] ?? 0) > 0) return k;
  return from;
}

function drawTag(r: Renderer, c: AxisColumn, y: number, text: string, fill: string): void {
  const font: Font = { size: 11, weight: 600 };
  const w = Math.max(20, r.measure(text, font) + 8);
  const right = c.axisX - 3;
  r.rect({ x: right - w, y: y - 8, w, h: 16 }, { fill }, 3);
  r.text(text, right - w / 2, y, { font, fill: inkOnTag(fill, r.theme), align: 'center' });
}

function inkOnTag(fill: string, theme: Theme): string {
  return theme.dark ? '#000000' : inkOn(fill);
}

function constantText(c: AxisColumn): string {
  const { column, answer } = c.layout.input;
  if (answer.labels[0] !== undefined) return answer.labels[0];
  return column.min === null
    ? 'no value'
    : typeof column.min === 'string'
      ? column.min
      : c.layout.say(column.min);
}
