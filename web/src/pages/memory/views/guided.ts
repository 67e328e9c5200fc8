// One axis with its guides: above it the histogram, the merge tree or a glyph
// for each cluster; below it metric strips and cluster markers. All share the
// axis, and every part can be pointed at, walked to, and listed.
import type { AmountMap } from '../../../base/color';
import { count, plural } from '../../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import { same, type Term } from '../../../state/selection';
import type { NodeAnswer, StripAnswer, TreeAnswer } from '../../../api/wire';
import type { Brush } from './parallel';
import { Clusters, CLUSTERS_HEIGHT } from './clusters';
import { GUTTER, HistogramView, type HistogramInput, type HistogramMark } from './histogram';
import { drawTree, MergeTree, placeTree, type TreePlaces } from './mergetree';
import { metricEnd, metricSaid, metricTitle } from './metrics';
import { amountFill, type AmountScale } from '../../../base/scale';
import { Strip, type AxisPlaces } from './strip';
import { axisBasis } from './axis';
import type { KeptView, Said, Table } from '../../../frame/view';

export type Upper = 'histogram' | 'tree' | 'glyphs';

export type GuidedMark =
  | HistogramMark
  | { readonly strip: number; readonly window: number }
  | { readonly cluster: number }
  | { readonly merge: number };

export interface Glyph {
  draw(r: Renderer): void;
}

export interface GuidedInput {
  readonly histogram: Omit<HistogramInput, 'below' | 'bare'>;
  readonly strips: readonly StripAnswer[];
  /** Sentences in place of strips that could not be had. */
  readonly notes: readonly string[];
  readonly least: number;
  readonly tree?: TreeAnswer | undefined;
  readonly cut: { readonly count: number } | { readonly height: number };
  readonly upper: Upper;
  /** The picture of a cluster's samples on the machine, in a box; undefined until it is known. */
  readonly glyph?: (cluster: number, box: Rect) => Glyph | undefined;
  /** What those pictures are drawn from. */
  readonly glyphBasis?: () => unknown;
  readonly hover?: GuidedMark | undefined;
  readonly map?: AmountMap;
}

const STRIP = 18;
const STRIP_STEP = 37;
const AXIS_ROOM = 22; // ticks, which the histogram leaves room for
const LEAST_UPPER = 100; // of a merge tree or glyphs that say something
const FIRST_ROW = 31; // from the axis to the first strip
const SMALL: Font = { size: 11 };
const STRONG: Font = { size: 12, weight: 600 };

/** Pixels that strips and clusters take below the ticks. */
export function belowAxis(strips: number, clusters: boolean): number {
  return (
    (strips > 0 || clusters ? FIRST_ROW - AXIS_ROOM : 0) +
    strips * STRIP_STEP +
    (clusters ? CLUSTERS_HEIGHT + 4 : 0)
  );
}

export class GuidedView implements KeptView<GuidedMark> {
  readonly size: Size;
  readonly histogram: HistogramView;
  /** Those on screen; a low pane has room for the merge tree or glyphs only without them. */
  readonly strips: readonly Strip[];
  protected readonly measured: readonly Strip[]; // all, for table and summary
  readonly clusters: Clusters | undefined;
  readonly tree: MergeTree | undefined;
  private readonly places: TreePlaces | undefined;
  private readonly rowsTop: number; // of the first strip

  constructor(protected readonly input: GuidedInput) {
    this.size = input.histogram.size;
    const above = (strips: number): number =>
      this.size.h - 8 - AXIS_ROOM - belowAxis(strips, input.tree !== undefined) - input.notes.length * 16;
    const crowded = input.upper !== 'histogram' && above(input.strips.length) < LEAST_UPPER;
    const below =
      belowAxis(crowded ? 0 : input.strips.length, input.tree !== undefined) + input.notes.length * 16;
    this.histogram = this.makeHistogram({ ...input.histogram, below, bare: input.upper !== 'histogram' });
    const { layout, plot } = this.histogram;
    const axis = {
      length: plot.w,
      positionOf: (v: number) => layout.positionOf(v),
      say: (v: number) => layout.say(v),
      unit: layout.scale.unit,
    };
    this.measured = input.strips.map((_, i) => this.makeStrip(i, axis));
    this.strips = crowded ? [] : this.measured;
    this.rowsTop = plot.y + plot.h + FIRST_ROW;
    if (input.tree) {
      this.tree = new MergeTree(input.tree);
      const list =
        'height' in input.cut ? this.tree.cutHeight(input.cut.height) : this.tree.cutCount(input.cut.count);
      this.clusters = new Clusters(input.tree, list, axis, this.scaleFor(input.tree));
      this.places = placeTree(this.tree, { ...plot, y: plot.y + 4, h: plot.h - 4 }, axis.positionOf);
    }
  }

  protected makeHistogram(input: HistogramInput): HistogramView {
    return new HistogramView(input);
  }

  protected makeStrip(i: number, axis: AxisPlaces): Strip {
    return new Strip(this.input.strips[i]!, this.input.least, axis);
  }

  get basis(): unknown {
    const { hover: _, glyph: __, glyphBasis, histogram, ...drawn } = this.input;
    const { hovered: ___, ...lower } = histogram;
    return { ...drawn, glyphs: glyphBasis?.(), histogram: { ...lower, axis: axisBasis(histogram.axis) } };
  }

  /** The scale of the strip that shows the metric of the clusters. */
  private scaleFor(tree: TreeAnswer): AmountScale | undefined {
    return this.measured.find((s) => s.metric.name === tree.metric && s.metric.depth === tree.depth)?.scale;
  }

  get plot(): Rect {
    return this.histogram.plot;
  }

  get axisY(): number {
    return this.plot.y + this.plot.h;
  }

  protected stripBox(i: number): Rect {
    return { x: this.plot.x, y: this.rowsTop + i * STRIP_STEP, w: this.plot.w, h: STRIP };
  }

  private get clusterBox(): Rect {
    return {
      x: this.plot.x,
      y: this.rowsTop + this.strips.length * STRIP_STEP + 4,
      w: this.plot.w,
      h: CLUSTERS_HEIGHT,
    };
  }

  /** Where the card of a cluster points to. */
  anchor(cluster: number): Point | undefined {
    return (
      this.clusters?.markers[cluster] && {
        x: this.clusters.center(this.clusterBox, cluster).x,
        y: this.axisY,
      }
    );
  }

  // ---- drawing ----

  draw(r: Renderer): void {
    this.histogram.draw(r);
    if (this.input.upper === 'tree') this.drawTreeAbove(r);
    if (this.input.upper === 'glyphs') this.drawGlyphs(r);
    this.strips.forEach((s, i) => this.drawStrip(r, s, i));
    if (this.clusters) this.drawClusters(r, this.clusters);
    const end = this.clusters
      ? this.clusterBox.y + CLUSTERS_HEIGHT
      : this.rowsTop + this.strips.length * STRIP_STEP;
    this.input.notes.forEach((n, i) =>
      r.text(fit(n, this.size.w - 28, SMALL, r.measure), 12, end + 8 + 16 * i, {
        font: SMALL,
        fill: r.theme.muted,
      }),
    );
  }

  protected drawStrip(r: Renderer, s: Strip, i: number): void {
    const box = this.stripBox(i);
    r.text(fit(s.title, GUTTER - 22, STRONG, r.measure), 12, box.y + 3, { font: STRONG, fill: r.theme.text });
    this.drawRamp(r, s.scale, s.answer.unit, box.y + 18);
    s.draw(r, (b) => stripRect(box, b.from, b.till), this.input.map);
  }

  protected drawRamp(r: Renderer, scale: AmountScale | undefined, unit: string, y: number): void {
    const { muted } = r.theme;
    if (!scale) {
      r.text('too few samples a window', 12, y, { font: SMALL, fill: muted });
      return;
    }
    const low = metricEnd(scale.lo, unit);
    r.text(low, 12, y, { font: SMALL, fill: muted });
    const x = 12 + r.measure(low, SMALL) + 5;
    for (let k = 0; k < 22; k++)
      r.rect(
        { x: x + 2 * k, y: y - 4, w: 2.5, h: 8 },
        { fill: amountFill(k / 21, r.theme.dark, this.input.map) },
      );
    const high = `${metricEnd(scale.hi, unit)}${unit && unit !== 'share' ? ` ${unit}` : ''}`;
    r.text(high, x + 44 + 5, y, { font: SMALL, fill: muted });
  }

  private drawClusters(r: Renderer, c: Clusters): void {
    const box = this.clusterBox;
    r.text('clusters', 12, box.y + 6, { font: STRONG, fill: r.theme.text });
    r.text(
      fit(
        `${count(c.list.length)}, by ${metricTitle(c.metric).replace('average ', '')}`,
        GUTTER - 22,
        SMALL,
        r.measure,
      ),
      12,
      box.y + 22,
      { font: SMALL, fill: r.theme.muted },
    );
    r.clip({ x: this.plot.x - 12, y: box.y - 2, w: this.plot.w + 28, h: CLUSTERS_HEIGHT + 2 }, () =>
      c.draw(r, box, this.input.map),
    );
  }

  /** The cluster that a node of the tree lies in, or -1 above the cut. */
  private clusterOf(n: NodeAnswer): number {
    return (
      this.clusters?.list.findIndex((c) => n.begin >= c.begin && n.end <= c.end && n.node <= c.node) ?? -1
    );
  }

  private drawTreeAbove(r: Renderer): void {
    const { tree, places, clusters } = this;
    if (!tree || !places || !clusters) return;
    const { theme } = r;
    r.text('merge tree', 12, this.plot.y + 6, { font: STRONG, fill: theme.text });
    const room = GUTTER - 52;
    r.text(fit('√ difference of', room, SMALL, r.measure), 12, this.plot.y + 22, {
      font: SMALL,
      fill: theme.muted,
    });
    if (this.plot.h > 60)
      r.text(fit(metricTitle(clusters.metric), room, SMALL, r.measure), 12, this.plot.y + 36, {
        font: SMALL,
        fill: theme.muted,
      });
    for (const v of [0, 0.25, 1]) {
      const h = v * tree.height;
      const y = places.y(h);
      r.line(this.plot.x, y, this.plot.x + this.plot.w, y, { stroke: theme.hair, width: 1 });
      r.text(h === 0 ? '0' : metricEnd(h, tree.answer.unit), this.plot.x - 8, y, {
        font: SMALL,
        fill: theme.muted,
        align: 'right',
      });
    }
    r.clip(this.plot, () => {
      drawTree(r, tree, places, (n) => {
        const i = this.clusterOf(n);
        return i < 0
          ? { color: theme.rest, width: 1 }
          : { color: clusters.fill(i, theme.dark, this.input.map) ?? theme.rest, width: 1.5 };
      });
      const h = this.cutHeight();
      if (h !== undefined)
        r.line(this.plot.x, places.y(h), this.plot.x + this.plot.w, places.y(h), {
          stroke: theme.text,
          width: 1,
          dash: [5, 3],
        });
    });
  }

  /** The height of the cut on screen; undefined where no one height gives these clusters. */
  cutHeight(): number | undefined {
    if ('height' in this.input.cut) return this.input.cut.height;
    return this.clusters && this.tree?.heightOf(this.clusters.list);
  }

  /** The height under a point of the merge tree. */
  heightAt(p: Point): number | undefined {
    const { tree, places, plot } = this;
    if (
      this.input.upper !== 'tree' ||
      !tree ||
      !places ||
      p.x < plot.x ||
      p.x > plot.x + plot.w ||
      p.y > plot.y + plot.h
    )
      return undefined;
    return Number(places.heightAt(p.y).toPrecision(4));
  }

  /** Boxes of the glyphs: as large as fit side by side, in the order of the clusters. */
  glyphBoxes(): Rect[] {
    const n = this.clusters?.list.length ?? 0;
    const room = this.plot.w / Math.max(1, n);
    const side = Math.max(12, Math.min(this.plot.h - 22, room - 8));
    return Array.from({ length: n }, (_, i) => ({
      x: this.plot.x + i * room + (room - side) / 2,
      y: this.plot.y + 2,
      w: side,
      h: side,
    }));
  }

  private drawGlyphs(r: Renderer): void {
    const { theme } = r;
    r.text('glyphs', 12, this.plot.y + 6, { font: STRONG, fill: theme.text });
    r.text(fit('a topology for each cluster', GUTTER - 22, SMALL, r.measure), 12, this.plot.y + 22, {
      font: SMALL,
      fill: theme.muted,
    });
    this.glyphBoxes().forEach((box, i) => {
      const c = this.clusters!.list[i]!;
      const glyph = this.input.glyph?.(i, box);
      if (glyph) glyph.draw(r);
      else r.rect(box, { stroke: theme.hair, width: 1 }, 4);
      const text = fit(
        `${i + 1} · ${metricSaid(c.value, this.input.tree!.unit)}`,
        this.plot.w / this.clusters!.list.length - 4,
        SMALL,
        r.measure,
      );
      r.text(text, box.x + box.w / 2, box.y + box.h + 10, { font: SMALL, fill: theme.text, align: 'center' });
    });
  }

  drawHover(r: Renderer): void {
    const { hover } = this.input;
    const { theme } = r;
    const range = hover && this.rangeOf(hover);
    if (range) {
      const box = { x: this.plot.x + range[0], y: 0, w: range[1] - range[0], h: this.axisY };
      r.rect(box, { fill: theme.hover, alpha: 0.08 });
    }
    if (this.input.upper === 'histogram') this.histogram.drawHover(r);
    if (!hover) return;
    if ('cluster' in hover && this.clusters) {
      this.clusters.drawHover(r, this.clusterBox, hover.cluster, this.axisY, this.input.map);
      const box = this.input.upper === 'glyphs' ? this.glyphBoxes()[hover.cluster] : undefined;
      if (box)
        r.rect(
          { x: box.x - 3, y: box.y - 2, w: box.w + 6, h: box.h + 20 },
          { stroke: theme.hover, width: 1.5, dash: [5, 2.5] },
          4,
        );
    } else if ('strip' in hover) {
      // Strips of one axis have the same windows: the samples are hovered in all.
      this.strips.forEach((s, i) => {
        const b = s.blocks.find((k) => k.window === hover.window);
        if (b)
          r.rect(grown(stripRect(this.stripBox(i), b.from, b.till)), {
            stroke: theme.hover,
            width: 2,
            dash: [5, 2.5],
          });
      });
    } else if ('merge' in hover) {
      this.drawMergeHover(r, hover.merge);
    }
  }

  private drawMergeHover(r: Renderer, id: number): void {
    const [n, { tree, places }] = [this.tree?.node(id), this];
    if (!n || !tree || !places) return;
    const [a, b] = [tree.node(n.a), tree.node(n.b)];
    const y = places.y(tree.level(n));
    const [x0, x1] = a && b ? [places.x(a), places.x(b)] : [places.x(n) - 4, places.x(n) + 4];
    r.line(x0, y, x1, y, { stroke: r.theme.hover, width: 3 });
  }

  /** The part of the axis a mark stands for. */
  private rangeOf(m: GuidedMark): readonly [number, number] | undefined {
    const { layout } = this.histogram;
    const ends = (from: number, to: number): readonly [number, number] => {
      const [p, q] = [layout.positionOf(from), layout.positionOf(to)];
      return [Math.min(p, q), Math.max(p, q)];
    };
    if ('cluster' in m) {
      const c = this.clusters?.list[m.cluster];
      return c && ends(c.from, c.to);
    }
    if ('strip' in m) {
      const w = this.strips[m.strip]?.window(m.window);
      return w && ends(w.from, w.to);
    }
    if ('merge' in m) {
      const n = this.tree?.node(m.merge);
      return n && ends(n.from, n.to);
    }
    return undefined;
  }

  /** The mark that a hovered term stands for, wherever the hover began. */
  markOf(term: Term | undefined): GuidedMark | undefined {
    if (term?.kind !== 'range') return undefined;
    const is = (t: Term | undefined): boolean => t !== undefined && same(t, term);
    const cluster = this.clusters?.list.findIndex((_, i) => is(this.clusters!.term(i))) ?? -1;
    if (cluster >= 0) return { cluster };
    for (const [strip, s] of this.strips.entries()) {
      const b = s.blocks.find((k) => is(s.term(k.window)));
      if (b) return { strip, window: b.window };
    }
    const n =
      this.input.upper === 'tree'
        ? (this.tree?.answer.nodes ?? []).find((k) => k.a >= 0 && is(this.wanted({ merge: k.node })))
        : undefined;
    return n && { merge: n.node };
  }

  // ---- marks ----

  hitTest(p: Point): GuidedMark | undefined {
    if (this.clusters) {
      const cluster = this.clusters.at(this.clusterBox, p) ?? this.glyphAt(p);
      if (cluster !== undefined) return { cluster };
    }
    for (const [strip, s] of this.strips.entries()) {
      const box = this.stripBox(strip);
      if (p.y < box.y - 3 || p.y > box.y + box.h + 3) continue;
      const b = p.x >= box.x && p.x <= box.x + box.w ? s.at(p.x - box.x) : undefined;
      return b && { strip, window: b.window };
    }
    if (this.input.upper === 'histogram') return this.histogram.hitTest(p);
    if (this.input.upper === 'tree' && p.y <= this.axisY) return this.mergeAt(p);
    return p.y > this.axisY ? this.histogram.hitTest(p) : undefined;
  }

  private glyphAt(p: Point): number | undefined {
    if (this.input.upper !== 'glyphs' || p.y > this.axisY) return undefined;
    const i = this.glyphBoxes().findIndex(
      (b) => p.x >= b.x && p.x <= b.x + b.w && p.y >= b.y && p.y <= b.y + b.h + 18,
    );
    return i < 0 ? undefined : i;
  }

  /** The merge whose bracket is nearest, within 6 px. */
  private mergeAt(p: Point): GuidedMark | undefined {
    const { tree, places } = this;
    if (!tree || !places) return undefined;
    let best: number | undefined;
    let least = 7;
    for (const n of tree.answer.nodes ?? []) {
      const [a, b] = [tree.node(n.a), tree.node(n.b)];
      if (!a || !b) continue;
      const [x0, x1] = [places.x(a), places.x(b)];
      const dx = p.x < x0 ? x0 - p.x : p.x > x1 ? p.x - x1 : 0;
      const d = Math.hypot(dx, p.y - places.y(tree.level(n)));
      if (d < least) [best, least] = [n.node, d];
    }
    return best === undefined ? undefined : { merge: best };
  }

  /** Left and right walk along a row, up and down from row to row at the same place. */
  step(from: GuidedMark | undefined, dir: Dir): GuidedMark | undefined {
    const rows = this.rowCount();
    if (!from) return this.markAt(this.firstRow(), 0);
    const row = this.rowOf(from);
    const along = {
      left: -1,
      previous: -1,
      right: 1,
      next: 1,
      first: -Infinity,
      last: Infinity,
      up: 0,
      down: 0,
    }[dir];
    if (along !== 0) return this.along(from, along) ?? from;
    const at = this.placeOf(from);
    for (let k = row + (dir === 'up' ? -1 : 1); k >= 0 && k < rows; k += dir === 'up' ? -1 : 1) {
      const m = this.markAt(k, at);
      if (m) return m;
    }
    return from;
  }

  /** Row 0 is above the axis, then the strips, then the clusters. */
  private rowCount(): number {
    return 1 + this.strips.length + (this.clusters ? 1 : 0);
  }

  private firstRow(): number {
    return this.input.upper === 'histogram' ? 0 : this.rowCount() - 1;
  }

  private rowOf(m: GuidedMark): number {
    if ('strip' in m) return 1 + m.strip;
    if ('cluster' in m) return 1 + this.strips.length;
    return 0;
  }

  private placeOf(m: GuidedMark): number {
    if ('bin' in m) return this.histogram.layout.middle(m.bin);
    const range = this.rangeOf(m);
    return range ? (range[0] + range[1]) / 2 : 0;
  }

  /** The mark of a row nearest to a position along the axis. */
  private markAt(row: number, at: number): GuidedMark | undefined {
    const strip = row - 1;
    if (strip >= 0 && strip < this.strips.length) {
      const window = nearest(this.strips[strip]!.blocks, at);
      return window && { strip, window: window.window };
    }
    if (row > 0) {
      const m = this.clusters && nearest(this.clusters.markers, at);
      return m && { cluster: this.clusters!.markers.indexOf(m) };
    }
    if (this.input.upper === 'histogram') {
      const s = this.histogram.layout.slotAt(at) ?? this.histogram.layout.slots[0];
      return s && { bin: s.bin };
    }
    return this.input.upper === 'tree' && this.tree?.root ? { merge: this.tree.root.node } : undefined;
  }

  private along(m: GuidedMark, by: number): GuidedMark | undefined {
    if ('bin' in m)
      return this.histogram.step(
        m,
        by === -Infinity ? 'first' : by === Infinity ? 'last' : by < 0 ? 'left' : 'right',
      );
    if ('strip' in m) {
      const { blocks } = this.strips[m.strip]!;
      const next = blocks[clamp(blocks.findIndex((b) => b.window === m.window) + by, 0, blocks.length - 1)];
      return next && { strip: m.strip, window: next.window };
    }
    if ('cluster' in m) return { cluster: clamp(m.cluster + by, 0, this.clusters!.list.length - 1) };
    const order = (this.tree?.answer.nodes ?? []).filter((n) => n.a >= 0).map((n) => n.node);
    const next = order[clamp(order.indexOf(m.merge) + by, 0, order.length - 1)];
    return next === undefined ? undefined : { merge: next };
  }

  describe(m: GuidedMark): Said {
    if ('bin' in m) return this.histogram.describe(m);
    if ('strip' in m) return this.strips[m.strip]!.describe(m.window);
    if ('cluster' in m) return this.clusters!.describe(m.cluster);
    return this.describeMerge(this.tree!.node(m.merge)!);
  }

  private describeMerge(n: NodeAnswer): Said {
    const tree = this.tree!;
    const { unit } = tree.answer;
    const { layout } = this.histogram;
    const [a, b] = [tree.node(n.a), tree.node(n.b)];
    const parts = [
      `${tree.answer.axis} ${layout.say(n.from)} – ${layout.say(n.to)} ${layout.scale.unit}`.trim(),
      plural(n.samples, 'sample'),
      a && b
        ? `joins ${metricSaid(a.value, unit)} and ${metricSaid(b.value, unit)} to ${metricSaid(n.value, unit)}`
        : metricSaid(n.value, unit),
      `farthest difference inside ${n.height === null ? 'unknown: a part has no value' : metricSaid(n.height, unit)}`,
    ];
    return {
      name: `Merge ${n.node - tree.answer.leaves + 1} of ${tree.answer.leaves - 1}`,
      more: `· ${parts.join(' · ')}`,
      counted: n.samples,
    };
  }

  wanted(m: GuidedMark): Term | undefined {
    if ('bin' in m) return this.histogram.wanted(m);
    if ('strip' in m) return this.strips[m.strip]?.term(m.window);
    if ('cluster' in m) return this.clusters?.term(m.cluster);
    const n = this.tree?.node(m.merge);
    return n && { kind: 'range', column: this.tree!.answer.axis, lo: n.from, hi: n.to };
  }

  brushAt(p: Point): { index: number; part: 'low' | 'high' | 'body' } | undefined {
    return p.y <= this.axisY ? this.histogram.brushAt(p) : undefined;
  }

  get brushes(): readonly Brush[] {
    return this.histogram.brushes;
  }

  rows(): Table {
    const { column, gaps } = this.input.histogram.axis;
    const unit = (end: string): string => `${end} ${column.unit}`.trim();
    const head = [
      ...['part', column.name, unit('from'), unit('to'), 'samples', 'selected'],
      ...['value', 'unit', 'note'],
    ];
    const { layout } = this.histogram;
    const [all, selected] = layout.input.answer.counts;
    const bins = layout.slots.map(({ bin }) => [
      'bin',
      ...layout.cells(bin),
      ...[all, selected].map((layer) => String(layer[bin] ?? 0)),
      ...['', '', ''],
    ]);
    const number = (v: number | null): string => (v === null ? '' : String(v));
    const windows = this.measured.flatMap((s) =>
      s.answer.windows.map((w) => [
        ...[s.title, '', String(w.from), String(w.to), String(w.samples), ''],
        ...[number(w.value), s.answer.unit, s.few(w) ? 'too few to compare' : ''],
      ]),
    );
    const clusters = (this.clusters?.list ?? []).map((c, i) => [
      ...[this.clusters!.name(i), '', String(c.from), String(c.to), String(c.samples), ''],
      ...[number(c.value), this.input.tree!.unit, metricTitle(this.clusters!.metric)],
    ]);
    const missing = (gaps ?? []).map((g) => [
      ...[g.kind, '', String(g.from), String(g.to), '', ''],
      ...(g.kind === 'lost' ? [String(g.records), 'records'] : ['', '']),
      g.says,
    ]);
    return { head, rows: [...clusters, ...windows, ...missing, ...bins] };
  }

  summary(): string {
    const parts = [this.histogram.summary()];
    for (const s of this.measured) parts.push(`${s.title} over ${plural(s.answer.windows.length, 'window')}`);
    if (this.clusters)
      parts.push(
        `${plural(this.clusters.list.length, 'cluster')} by ${metricTitle(this.clusters.metric)}: ` +
          this.clusters.list.map((c) => metricSaid(c.value, this.input.tree!.unit)).join(', '),
      );
    return parts.join('; ');
  }
}

function stripRect(box: Rect, from: number, till: number): Rect {
  const w = till - from;
  const gap = w > 8 ? 2 : w > 3 ? 1 : 0;
  return { x: box.x + from, y: box.y, w: Math.max(1, w - gap), h: box.h };
}

function grown(b: Rect): Rect {
  return { x: b.x - 2, y: b.y - 2, w: b.w + 4, h: b.h + 4 };
}

function nearest<T extends { readonly from: number; readonly till: number }>(
  list: readonly T[],
  at: number,
): T | undefined {
  let best: T | undefined;
  let least = Infinity;
  for (const b of list) {
    const d = Math.abs((b.from + b.till) / 2 - at);
    if (d < least) [best, least] = [b, d];
  }
  return best;
}
