// The hardware topology: which resources served or issued the accesses, how
// much crossed each link. Drawn as a sunburst or an icicle; both share data,
// colours and legend.
import { inkOn, mix, type AmountMap } from '../../../base/color';
import { short, count, mean as formatMean, percent, roughly, THIN, plural } from '../../../base/format';
import { clamp, contains, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Hatch, Paint, Path, Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import type { Theme } from '../../../base/theme';
import { ALL, HOVERED, SELECTED, type PlacesAnswer } from '../../../api/decode';
import type { Term } from '../../../state/selection';
import type { Topology } from '../../../api/wire';
import { amountFill, amountScale, PALE, type AmountScale } from '../../../base/scale';
import {
  arcLength,
  at,
  blockAt,
  laySunburst,
  middleAngle,
  outline,
  spanAt,
  type Block,
  type Sunburst,
} from './sunburst';
import { childLists, layTree, pathOf, sayPath, sayResource, type Node, type Tree } from './tree';
import type { KeptView, Said, Table } from '../../../frame/view';

export type TopologyMetric = 'latency' | 'samples' | 'mean';
/** A box is so many times as wide as its outline, at least. */
const EDGES = 6;

export type TopologyLayout = 'sunburst' | 'icicle';

/** A measure of a column over the selected samples of each resource. */
export interface TopologyAmounts {
  readonly of: string; // the question it answers
  readonly name: string; // "largest of width"
  readonly unit: string;
  readonly modelled: boolean;
  /** There are more distinct values than could be told apart. */
  readonly atLeast: boolean;
  /** A mean or a deviation: of few samples it is uncertain, where a sum or a count is not. */
  readonly mean: boolean;
  readonly passed: Float64Array;
  readonly passedSamples: Uint32Array;
  readonly served: Float64Array;
  readonly servedSamples: Uint32Array;
}

export interface TopologyInput {
  readonly topology: Topology;
  readonly places: PlacesAnswer;
  readonly metric: TopologyMetric;
  /** Colours resources in place of the metric. */
  readonly amounts?: TopologyAmounts | undefined;
  readonly layout: TopologyLayout;
  readonly map?: AmountMap;
  readonly root: number; // zoomed into this subtree
  readonly size: Size;
  /** Resources named in a chip. */
  readonly chosen: readonly string[];
  /** The resource under the pointer, here or in another view. */
  readonly hovered?: number | undefined;
  /** A hover that is not one resource: its share of each block is drawn. */
  readonly preview: boolean;
  readonly unit: string; // of the metric's sums
  /** Small pictures (cards) have no labels and no legend. */
  readonly bare?: boolean;
  /** Where a small picture stands in a larger one. */
  readonly origin?: Point;
  /** Amounts of other pictures by ring, which the colours of this one are compared with. */
  readonly among?: ReadonlyMap<string, readonly number[]> | undefined;
}

export interface ResourceMark {
  readonly resource: number;
}

export interface RingScale {
  readonly type: string;
  readonly amounts: AmountScale | undefined;
  readonly links: AmountScale | undefined; // to the ring below
  readonly parentType: string;
}

const LEGEND_MIN = 196;
const LEGEND_MAX = 250;
const LEGEND_GAP = 28;
/** Below this a mean is uncertain: what guided analysis takes for too few to be compared. */
const FEW = 50;

/** What an answer does not change: where each resource is drawn. */
interface Laid {
  readonly of: string;
  readonly tree: Tree;
  shape: Sunburst | undefined;
  key: string; // what shape was laid for
}

// The last layout of each machine: most views differ only in what they count.
const layouts = new WeakMap<Topology, Laid>();

function layoutOf({ topology, places, root }: TopologyInput): Laid {
  // Resources that only stand for an unnamed server are drawn where samples are.
  const drawn = (i: number): boolean => !topology.resources[i]!.virtual || (places.samples[ALL][i] ?? 0) > 0;
  const of = [root, ...topology.resources.flatMap((r, i) => (r.virtual && drawn(i) ? [i] : []))].join();
  const before = layouts.get(topology);
  if (before?.of === of) return before;
  const tree = layTree(
    topology.resources,
    root,
    topology.levels.map((l) => l.type),
    drawn,
  );
  const laid: Laid = { of, tree, shape: undefined, key: '' };
  layouts.set(topology, laid);
  return laid;
}

export class TopologyView implements KeptView<ResourceMark> {
  readonly size: Size;
  readonly tree: Tree;
  readonly scales: readonly RingScale[]; // by ring, the root's is unused
  private readonly shape: Sunburst | undefined;
  private readonly boxes: ReadonlyMap<number, Rect>;
  private readonly legend: Rect | undefined;

  constructor(protected readonly input: TopologyInput) {
    this.size = input.size;
    const laid = layoutOf(input);
    this.tree = laid.tree;
    this.scales = this.tree.rings.map((type, ring) => this.ringScale(type, ring));
    const { group, legend } = this.place();
    this.legend = legend;
    if (input.layout === 'sunburst') {
      const radius = Math.max(10, Math.min(group.w, group.h) / 2 - (input.bare ? 1 : 10));
      const center = { x: group.x + group.w / 2, y: group.y + group.h / 2 };
      const key = [center.x, center.y, radius, input.bare].join();
      if (laid.key !== key) laid.shape = laySunburst(this.tree, center, radius, !input.bare);
      laid.key = key;
      this.shape = laid.shape;
      this.boxes = new Map();
    } else {
      this.boxes = layIcicle(this.tree, group);
    }
  }

  get basis(): unknown {
    const { hovered: _, preview: __, ...drawn } = this.input;
    return drawn;
  }

  /** The picture's square (or box) and the legend beside it, centred as one group. */
  protected place(): { group: Rect; legend: Rect | undefined } {
    const { w, h } = this.size;
    if (this.input.bare) return { group: { x: 0, y: 0, ...this.input.origin, w, h }, legend: undefined };
    const legendW = clamp(0.28 * w, LEGEND_MIN, LEGEND_MAX);
    const room = w - 24 - legendW - LEGEND_GAP;
    const pictureW = this.input.layout === 'sunburst' ? Math.min(room, h) : room;
    const left = (w - pictureW - LEGEND_GAP - legendW) / 2;
    return {
      group: { x: left, y: 0, w: pictureW, h },
      legend: { x: left + pictureW + LEGEND_GAP, y: 0, w: legendW, h },
    };
  }

  protected ringScale(type: string, ring: number): RingScale {
    const nodes = this.tree.nodes.filter((n) => n.ring === ring);
    const values = this.input.among?.get(type) ?? this.amountsOf(nodes);
    const links = nodes.map((n) => this.link(n.index)).filter((v) => v > 0);
    const parent = nodes[0] ? this.input.topology.resources[nodes[0].parent] : undefined;
    return {
      type,
      amounts: amountScale(values),
      links: ring > 0 ? amountScale(links) : undefined,
      parentType: parent?.type ?? '',
    };
  }

  /**
   * The amounts that make the scale of a ring. Means of few samples do not stretch it, nor do
   * resources that only stand for an unnamed server: caches of others are no memory nodes.
   */
  protected amountsOf(nodes: readonly Node[]): number[] {
    const counted = nodes.filter((n) => this.has(n.index));
    const named = counted.filter((n) => !this.input.topology.resources[n.index]!.virtual);
    const of = named.length > 0 ? named : counted;
    const firm = of.filter((n) => !this.uncertain(n.index));
    return (firm.length > 0 ? firm : of).map((n) => this.value(n.index));
  }

  /** Whether the number of a resource is a mean of so few samples that one of them moves it. */
  private uncertain(i: number): boolean {
    const amounts = this.input.amounts;
    if (!(amounts ? amounts.mean : this.input.metric === 'mean')) return false;
    const n = this.columnAmount(i)?.samples ?? this.valued(i);
    return n > 0 && n < FEW;
  }

  /** The amounts of each ring, for a scale that several pictures share. */
  amounts(): Map<string, number[]> {
    return new Map(
      this.tree.rings.map((type, ring) => [
        type,
        this.amountsOf(this.tree.nodes.filter((n) => n.ring === ring)),
      ]),
    );
  }

  /** What holds CPUs issues accesses, caches and memory serve them; what only passes is in the links. */
  protected issues(i: number): boolean {
    return /^(CPU|Core|Die|Package|Group|Host|Machine|Cluster)$/.test(this.input.topology.resources[i]!.type);
  }

  samples(i: number, layer: 0 | 1 | 2 = SELECTED): number {
    const p = this.input.places;
    return (this.issues(i) ? p.samples : p.served)[layer][i] ?? 0;
  }

  latency(i: number, layer: 0 | 1 | 2 = SELECTED): number {
    const p = this.input.places;
    return (this.issues(i) ? p.latency : p.servedLatency)[layer][i] ?? 0;
  }

  valued(i: number, layer: 0 | 1 | 2 = SELECTED): number {
    const p = this.input.places;
    return (this.issues(i) ? p.valued : p.servedValued)[layer][i] ?? 0;
  }

  link(i: number): number {
    return this.input.places.linkSamples[SELECTED][i] ?? 0;
  }

  /** The measure of the chosen column, where there is one. */
  private columnAmount(i: number): { value: number; samples: number } | undefined {
    const a = this.input.amounts;
    if (!a) return undefined;
    return this.issues(i)
      ? { value: a.passed[i] ?? 0, samples: a.passedSamples[i] ?? 0 }
      : { value: a.served[i] ?? 0, samples: a.servedSamples[i] ?? 0 };
  }

  /** Whether there is a number to colour a resource by. */
  private has(i: number): boolean {
    return (this.columnAmount(i)?.samples ?? this.samples(i)) > 0;
  }

  value(i: number): number {
    const amount = this.columnAmount(i);
    if (amount) return amount.value;
    switch (this.input.metric) {
      case 'samples':
        return this.samples(i);
      case 'latency':
        return this.latency(i);
      case 'mean':
        return this.latency(i) / Math.max(1, this.valued(i));
    }
  }

  private say(v: number): string {
    const a = this.input.amounts;
    if (a)
      return `${a.atLeast ? '≥' : ''}${roughly(a.modelled)}${Number.isInteger(v) ? count(v) : formatMean(v)}`;
    return this.input.metric === 'samples'
      ? count(v)
      : this.input.metric === 'mean'
        ? formatMean(v)
        : short(v);
  }

  protected fillOf(node: Node, theme: Theme): { fill?: string; t: number } {
    const scale = this.scales[node.ring]?.amounts;
    if (!scale || !this.has(node.index)) return { t: 0 };
    const t = clamp(scale.t(this.value(node.index)), 0, 1);
    return { fill: amountFill(t, theme.dark, this.input.map), t };
  }

  /** Lines over a block whose mean is uncertain, a second way to tell beside its colour. */
  private doubt(i: number, theme: Theme): Paint | undefined {
    return this.uncertain(i) ? { hatch: { line: theme.bg, width: 1.2, period: 4 } } : undefined;
  }

  draw(r: Renderer): void {
    if (this.shape) this.drawSunburst(r, this.shape);
    else this.drawIcicle(r);
    if (this.legend) this.drawLegend(r, this.legend);
  }

  private drawSunburst(r: Renderer, s: Sunburst): void {
    const byIndex = new Map(s.blocks.map((b) => [b.node.index, b]));
    for (const b of s.blocks) this.drawLink(r, s, b, byIndex.get(b.node.parent), false);
    for (const b of s.blocks) {
      const { fill, t } = this.fillOf(b.node, r.theme);
      const path = outline(s, b);
      if (fill) r.path(path, { fill, ...(t < PALE && { stroke: r.theme.line, width: 1 }) });
      else r.path(path, { hatch: emptyHatch(r.theme), stroke: r.theme.line, width: 1 });
      const doubt = this.doubt(b.node.index, r.theme);
      if (doubt) r.path(path, doubt);
      this.drawInner(r, outline(s, b, 2), b.node.index);
      if (this.isChosen(b.node.index)) r.path(outline(s, b, 1), { stroke: r.theme.selected, width: 2 });
    }
    if (this.input.bare) return;
    this.drawDisc(r, s);
    this.drawRemote(r, this.bow(s, byIndex));
    for (const b of s.blocks) this.drawBlockLabel(r, s, b);
    s.rings.forEach((ring, i) => {
      const y = s.center.y - (ring.inner + ring.outer) / 2;
      const text = ringName(this.tree.rings[i + 1]!);
      const font = [11, 10.5, 10, 9]
        .map((size): Font => ({ size, weight: 600 }))
        .find((f) => r.measure(text, f) <= s.slot - 3) ?? { size: 9, weight: 600 };
      r.text(fit(text, s.slot, font, r.measure), s.center.x, y, {
        font,
        fill: r.theme.muted,
        align: 'center',
      });
    });
  }

  /** What a block says besides its fill. */
  protected drawInner(_r: Renderer, _outline: Path, _resource: number): void {}

  private drawLink(r: Renderer, s: Sunburst, b: Block, parent: Block | undefined, hovered: boolean): void {
    const inner = parent?.ring.outer ?? s.disc;
    if (b.node.parent < 0 || (!parent && b.node.ring > 1)) return;
    if (!parent) return; // the first ring stands on the machine itself
    const angle = middleAngle(b);
    const [p, q] = [at(s, inner, angle), at(s, b.ring.inner, angle)];
    const scale = this.scales[b.node.ring]?.links;
    const traffic = this.link(b.node.index);
    if (traffic === 0 || !scale) {
      if (!hovered) r.line(p.x, p.y, q.x, q.y, { stroke: r.theme.line, width: 1, dash: [2, 2] });
      return;
    }
    const thick = Math.min(1.1 * b.ring.gap, 0.055 * s.radius, Math.max(1.5, 0.8 * arcLength(b)));
    const width = 1.5 + Math.max(0, thick - 1.5) * scale.t(traffic);
    r.line(p.x, p.y, q.x, q.y, {
      stroke: hovered ? r.theme.hover : this.linkInk(b.node.index, r.theme),
      width,
    });
  }

  protected linkInk(_resource: number, theme: Theme): string {
    return mix(theme.bg, theme.text, 0.62);
  }

  /** Traffic served by another part of the machine, in the order of the answer. */
  protected remoteLinks(layer: 0 | 1 | 2 = SELECTED): { from: number; to: number; samples: number }[] {
    const { remote } = this.input.places;
    return Array.from(remote.from, (from, i) => ({
      from,
      to: remote.to[i]!,
      samples: remote.samples[layer][i] ?? 0,
    }));
  }

  /**
   * A line from where accesses leave their own part of the machine to the node
   * that served them; all of them, or those of the hovered resource.
   */
  private drawRemote(
    r: Renderer,
    way: (from: number, to: number, lane: number) => readonly Point[] | undefined,
    hovered?: number,
  ): void {
    const links = this.remoteLinks();
    const most = Math.max(1, ...links.map((l) => l.samples));
    const color = hovered === undefined ? mix(r.theme.bg, r.theme.text, 0.62) : r.theme.hover;
    links.forEach((l, i) => {
      if (l.samples === 0 || (hovered !== undefined && hovered !== l.from && hovered !== l.to)) return;
      const points = way(l.from, l.to, (i + 1) / (links.length + 1));
      const tip = points?.at(-1);
      if (!points || !tip) return;
      const line = points.map((p, k) => ({ to: k === 0 ? 'move' : 'line', ...p }) as const);
      const width = remoteWidth(l.samples / most, links.length);
      r.path(line, { stroke: r.theme.bg, width: width + 3 });
      r.path(line, { stroke: color, width });
      r.path([{ to: 'arc', c: tip, r: width / 2 + 2.5, from: 0, till: 2 * Math.PI }], {
        fill: color,
        stroke: r.theme.bg,
        width: 1.5,
      });
    });
  }

  /** In a sunburst: a bow around the middle. */
  private bow(
    s: Sunburst,
    byIndex: ReadonlyMap<number, Block>,
  ): (from: number, to: number, lane: number) => readonly Point[] | undefined {
    return (i, j, lane) => {
      const [from, to] = [byIndex.get(i), byIndex.get(j)];
      return from && to && bowOf(s, from, to, lane);
    };
  }

  /** In an icicle: up, across between the rows, and to the lower edge of the node. */
  private readonly detour = (i: number, j: number, lane: number): readonly Point[] | undefined => {
    const [from, to] = [this.boxes.get(i), this.boxes.get(j)];
    if (!from || !to) return undefined;
    const share = 0.15 + 0.2 * lane;
    const right = to.x > from.x;
    const x0 = from.x + from.w * (right ? 1 - share : share);
    const x1 = to.x + to.w * (right ? share : 1 - share);
    const [y0, y1] = [from.y + 2, to.y + to.h];
    const y = (y0 + y1) / 2;
    return [
      { x: x0, y: y0 },
      { x: x0, y },
      { x: x1, y },
      { x: x1, y: y1 },
    ];
  };

  protected drawDisc(r: Renderer, s: Sunburst): void {
    const root = this.input.topology.resources[this.tree.root]!;
    r.path([{ to: 'arc', c: s.center, r: s.disc, from: 0, till: 2 * Math.PI }], { fill: r.theme.surface });
    if (s.disc < 24) return;
    const said = sayResource(root);
    const room = 1.7 * s.disc;
    const large: Font = { size: 12, weight: 600 };
    const small: Font = { size: 10.5 };
    const name: Font = r.measure(said, large) <= room ? large : { ...small, weight: 600 };
    const { x, y } = s.center;
    r.text(fit(said, room, name, r.measure), x, y - 13, {
      font: name,
      fill: r.theme.text,
      align: 'center',
    });
    r.text(count(this.total()), x, y + 2, { font: small, fill: r.theme.muted, align: 'center' });
    r.text('samples', x, y + 16, { font: small, fill: r.theme.muted, align: 'center' });
  }

  /** Samples of the root, whether or not it is known what served them. */
  total(layer: 0 | 1 | 2 = SELECTED): number {
    return this.input.places.samples[layer][this.tree.root] ?? 0;
  }

  private drawBlockLabel(r: Renderer, s: Sunburst, b: Block): void {
    const resource = this.input.topology.resources[b.node.index]!;
    const font: Font = { size: clamp(s.radius / 20, 10.5, 12) };
    const leaf = resource.type === 'CPU';
    const text = leaf ? String(resource.id) : sayResource(resource);
    const along = arcLength(b);
    const need = r.measure(text, font);
    const depth = b.ring.outer - b.ring.inner;
    const roomy = /^(L3|L4|NUMA|Package|Host)$/.test(resource.type) ? 0.9 : 0.5;
    if (depth < font.size + 2 || need > (leaf ? along - 4 : roomy * along)) return;
    const { fill } = this.fillOf(b.node, r.theme);
    const ink = fill ? inkOn(fill) : r.theme.muted;
    const angle = middleAngle(b);
    const middle = (b.ring.inner + b.ring.outer) / 2;
    if (leaf) {
      const p = at(s, middle, angle);
      r.text(text, p.x, p.y, { font, fill: ink, align: 'center' });
    } else {
      textAlongArc(r, s.center, middle, angle, text, font, ink, fill ? undefined : r.theme.bg);
    }
  }

  private drawIcicle(r: Renderer): void {
    for (const node of this.tree.nodes) {
      const box = this.boxes.get(node.index)!;
      if (node.parent >= 0) this.drawIcicleLink(r, node, box, r.theme);
      const root = node.index === this.tree.root;
      const { fill, t } = root ? { fill: r.theme.surface, t: 1 } : this.fillOf(node, r.theme);
      // Of hundreds of CPUs each is two pixels wide: outlines would be all that is seen.
      const edge = { stroke: r.theme.line, width: Math.min(1, box.w / EDGES) };
      if (fill) r.rect(box, { fill, ...(t < PALE && edge) });
      else r.rect(box, { hatch: emptyHatch(r.theme), ...edge });
      const doubt = root ? undefined : this.doubt(node.index, r.theme);
      if (doubt) r.rect(box, doubt);
      if (this.isChosen(node.index)) r.rect(grow(box, 1), { stroke: r.theme.selected, width: 2 });
      this.drawIcicleLabel(r, node, box, fill);
    }
    this.drawRemote(r, this.detour);
    this.tree.rings.forEach((type, ring) => {
      const box = this.boxes.get(this.tree.nodes.find((n) => n.ring === ring)!.index)!;
      const font: Font = { size: 11, weight: 600 };
      r.text(type, box.x - 8, box.y + box.h / 2, { font, fill: r.theme.muted, align: 'right' });
    });
  }

  private drawIcicleLink(r: Renderer, node: Node, box: Rect, theme: Theme): void {
    const parent = this.boxes.get(node.parent);
    const scale = this.scales[node.ring]?.links;
    if (!parent || node.ring <= 1) return;
    const traffic = this.link(node.index);
    const x = box.x + box.w / 2;
    const from = parent.y + parent.h;
    if (traffic === 0 || !scale) {
      r.line(x, from, x, box.y, { stroke: theme.line, width: Math.min(1, box.w / EDGES), dash: [2, 2] });
      return;
    }
    const thickest = Math.min(12, 0.8 * box.w);
    const thinnest = Math.min(1.5, thickest / 4);
    const width = thinnest + (thickest - thinnest) * scale.t(traffic);
    r.line(x, from, x, box.y, { stroke: this.linkInk(node.index, theme), width });
  }

  private drawIcicleLabel(r: Renderer, node: Node, box: Rect, fill: string | undefined): void {
    const resource = this.input.topology.resources[node.index]!;
    const font: Font = { size: 11 };
    const full = sayResource(resource);
    const text = (resource.virtual ? [full] : [full, String(resource.id)]).find(
      (t) => r.measure(t, font) < box.w - 6,
    );
    if (!text || box.h < 13) return;
    const ink = fill ? inkOn(fill) : r.theme.muted;
    r.text(text, box.x + box.w / 2, box.y + box.h / 2, { font, fill: ink, align: 'center' });
  }

  private isChosen(index: number): boolean {
    return this.input.chosen.includes(this.input.topology.resources[index]!.name);
  }

  drawHover(r: Renderer): void {
    const { hovered } = this.input;
    const path = hovered === undefined ? [] : this.hoverPath(hovered);
    if (path.length === 0 && this.input.preview) this.drawPreview(r);
    if (this.shape) this.hoverBlocks(r, this.shape, path);
    else this.hoverBoxes(r, path);
    if (this.legend && hovered !== undefined) this.hoverLegend(r, this.legend, hovered);
  }

  /** The mark itself first, then the resources above it that have samples. */
  private hoverPath(hovered: number): number[] {
    const path = pathOf(this.input.topology.resources, hovered).filter(
      (i) => this.tree.byIndex.has(i) && i !== this.tree.root,
    );
    return path.filter((i, k) => k === 0 || this.samples(i) > 0);
  }

  private hoverBlocks(r: Renderer, s: Sunburst, path: readonly number[]): void {
    const byIndex = new Map(s.blocks.map((b) => [b.node.index, b]));
    for (const [k, i] of path.entries()) {
      const b = byIndex.get(i);
      if (!b) continue;
      this.drawLink(r, s, b, byIndex.get(b.node.parent), true);
      const width = k === 0 ? 2.5 : 1.5;
      r.path(outline(s, b, 1.5), { stroke: r.theme.bg, width: width + 2 });
      r.path(outline(s, b, 1.5), { stroke: r.theme.hover, width, dash: [5, 2.5] });
    }
    if (path[0] !== undefined) this.drawRemote(r, this.bow(s, byIndex), path[0]);
  }

  private hoverBoxes(r: Renderer, path: readonly number[]): void {
    for (const [k, i] of path.entries()) {
      const box = this.boxes.get(i);
      if (!box) continue;
      const width = k === 0 ? 2.5 : 1.5;
      r.rect(grow(box, 1.5), { stroke: r.theme.bg, width: width + 2 });
      r.rect(grow(box, 1.5), { stroke: r.theme.hover, width, dash: [5, 2.5] });
    }
    if (path[0] !== undefined) this.drawRemote(r, this.detour, path[0]);
  }

  /** A strip at the inner edge of each block: the hovered part of its selected samples. */
  private drawPreview(r: Renderer): void {
    const part = (i: number): number =>
      this.samples(i) > 0 ? this.samples(i, HOVERED) / this.samples(i) : 0;
    for (const b of this.shape?.blocks ?? []) {
      const p = part(b.node.index);
      if (p === 0) continue;
      const radius = b.ring.inner + 2.5;
      const [from, till] = spanAt(b, radius);
      const c = this.shape!.center;
      const reach = from + Math.max((till - from) * p, 2 / radius);
      r.path([{ to: 'arc', c, r: radius, from, till: reach }], { stroke: r.theme.bg, width: 6 });
      r.path([{ to: 'arc', c, r: radius, from, till: reach }], { stroke: r.theme.hover, width: 4 });
    }
    for (const [i, box] of this.boxes) {
      const p = part(i);
      if (p > 0 && i !== this.tree.root)
        r.rect({ x: box.x, y: box.y + box.h - 4, w: Math.max(2, box.w * p), h: 4 }, { fill: r.theme.hover });
    }
  }

  // ---- legend ----

  protected legendRows(box: Rect): { top: number; row: number; two: boolean; rampX: number; rampW: number } {
    const rings = this.tree.rings.length - 1;
    const two = box.h >= 380;
    const row = box.h < 320 ? 26 : 32;
    const links = this.linkRows().length;
    const remote = this.remoteLinks().some((l) => l.samples > 0) ? 1 : 0;
    const content = 40 + rings * row + (two ? 44 + (links + remote) * 21 + 50 : 20);
    return {
      top: Math.max(4, box.y + (box.h - content) / 2),
      row,
      two,
      rampX: box.x + 44,
      rampW: Math.round(Math.min(148, box.w - 48)),
    };
  }

  private linkRows(): RingScale[] {
    return this.scales.filter((s, ring) => ring > 1 && s.links).reverse();
  }

  protected metricTitle(): string {
    const a = this.input.amounts;
    if (a) return capital(a.unit ? `${a.name}, ${a.unit}` : a.name);
    if (this.input.metric === 'samples') return 'Samples served or issued';
    return this.input.metric === 'mean'
      ? `Mean ${this.input.unit} per sample`
      : `${capital(this.input.unit)} served or issued`;
  }

  protected drawLegend(r: Renderer, box: Rect): void {
    const { top, row, two, rampX, rampW } = this.legendRows(box);
    const strong: Font = { size: 12, weight: 600 };
    const small: Font = { size: 11 };
    const { theme } = r;
    r.text(this.metricTitle(), box.x, top + 8, { font: strong, fill: theme.text });
    if (two) r.text('each ring on its own scale', box.x, top + 23, { font: small, fill: theme.muted });
    let y = top + (two ? 44 : 28);
    for (let ring = this.scales.length - 1; ring > 0; ring--, y += row)
      this.drawRamp(r, this.scales[ring]!, box.x, rampX, rampW, y);
    if (!two) {
      this.drawUnplaced(r, box, y + 6);
      return;
    }
    y += 8;
    const links = this.linkRows();
    if (links.length > 0) {
      r.text('Accesses per link', box.x, y, { font: strong, fill: theme.text });
      r.text('each level on its own scale', box.x, y + 15, { font: small, fill: theme.muted });
      y += 38;
      for (const s of links) {
        this.drawLinkRow(r, s, box.x, y);
        y += 21;
      }
    }
    const remote = this.remoteLinks()
      .map((l) => l.samples)
      .filter((n) => n > 0);
    if (remote.length > 0) {
      this.drawWidths(
        r,
        'remote',
        Math.min(...remote),
        Math.max(...remote),
        remoteWidth(1, this.remoteLinks().length),
        box.x,
        y,
      );
      y += 21;
    }
    this.drawUnplaced(r, box, y + 6);
  }

  protected drawRamp(r: Renderer, s: RingScale, x: number, rampX: number, w: number, y: number): void {
    const { theme } = r;
    const tiny: Font = { size: 10.5 };
    r.text(ringName(s.type), x, y, { font: { size: 11.5 }, fill: theme.text });
    if (!s.amounts) {
      r.rect(
        { x: rampX, y: y - 4.5, w, h: 9 },
        { hatch: emptyHatch(theme), stroke: theme.line, width: 1 },
        2,
      );
      r.text('no samples placed', rampX, y + 13, { font: tiny, fill: theme.muted });
      return;
    }
    // Whole pixels, or the seams between the steps show.
    const left = Math.round(rampX);
    for (let i = 0; i < w; i += 2) {
      const h = { x: left + i, y: Math.round(y - 4.5), w: Math.min(2, w - i), h: 9 };
      r.rect(h, { fill: amountFill((i + 1) / w, theme.dark, this.input.map) });
    }
    r.text(this.say(s.amounts.lo), rampX, y + 13, { font: tiny, fill: theme.muted });
    r.text(this.say(s.amounts.hi), rampX + w, y + 13, { font: tiny, fill: theme.muted, align: 'right' });
  }

  private drawLinkRow(r: Renderer, s: RingScale, x: number, y: number): void {
    this.drawWidths(
      r,
      `${ringName(s.parentType)}${THIN}–${THIN}${ringName(s.type)}`,
      this.least(s),
      s.links!.hi,
      11,
      x,
      y,
    );
  }

  /** What the thinnest and the thickest stroke of a kind stand for. */
  private drawWidths(
    r: Renderer,
    name: string,
    least: number,
    most: number,
    thickest: number,
    x: number,
    y: number,
  ): void {
    const { theme } = r;
    const stroke = mix(theme.bg, theme.text, 0.62);
    r.text(name, x, y, { font: { size: 11.5 }, fill: theme.text });
    r.line(x + 72, y, x + 88, y, { stroke, width: 1.5 });
    r.text(count(least), x + 94, y, { font: { size: 11 }, fill: theme.text });
    r.line(x + 138, y, x + 154, y, { stroke, width: thickest });
    r.text(count(most), x + 160, y, { font: { size: 11 }, fill: theme.text });
  }

  /** Smallest traffic drawn; the scale may start at 0 though. */
  private least(s: RingScale): number {
    const ring = this.scales.indexOf(s);
    const values = this.tree.nodes
      .filter((n) => n.ring === ring)
      .map((n) => this.link(n.index))
      .filter((v) => v > 0);
    return Math.min(...values);
  }

  unplacedText(): string {
    const some = this.input.places.unplaced.filter((u) => u.counts[SELECTED] > 0);
    if (some.length === 1) return some[0]!.reason; // of all that are not placed
    return some.map((u) => `${count(u.counts[SELECTED])}: ${u.reason}`).join('; ');
  }

  private drawUnplaced(r: Renderer, box: Rect, y: number): void {
    const total = this.input.places.unplaced.reduce((n, u) => n + u.counts[SELECTED], 0);
    if (total === 0) return;
    const font: Font = { size: 11 };
    const head = `${count(total)} not placed`;
    r.text(head, box.x, y, { font: { size: 11, weight: 600 }, fill: r.theme.text });
    const x = box.x + r.measure(head, { size: 11, weight: 600 });
    const lines = wrap(` · ${this.unplacedText()}`, font, r, box.x + box.w - x, box.w);
    lines.forEach((line, i) => r.text(line, i === 0 ? x : box.x, y + i * 14, { font, fill: r.theme.muted }));
  }

  private hoverLegend(r: Renderer, box: Rect, hovered: number): void {
    const { top, row, two, rampX, rampW } = this.legendRows(box);
    const first = top + (two ? 44 : 28);
    for (const i of this.hoverPath(hovered)) {
      const ring = this.tree.byIndex.get(i)!.ring;
      const scale = this.scales[ring]?.amounts;
      if (!scale || this.samples(i) === 0) continue;
      const y = first + (this.scales.length - 1 - ring) * row;
      const x = rampX + clamp(scale.t(this.value(i)), 0, 1) * rampW;
      r.rect({ x: x - 2.5, y: y - 8.5, w: 5, h: 17 }, { fill: r.theme.bg });
      r.rect({ x: x - 1.5, y: y - 7.5, w: 3, h: 15 }, { fill: r.theme.hover });
    }
  }

  // ---- marks ----

  hitTest(p: Point): ResourceMark | undefined {
    if (this.shape) {
      const i = blockAt(this.shape, this.tree, p);
      return i === undefined ? undefined : { resource: i };
    }
    for (const [i, box] of this.boxes) if (contains(box, p, 1)) return { resource: i };
    return undefined;
  }

  step(from: ResourceMark | undefined, dir: Dir): ResourceMark | undefined {
    const { nodes } = this.tree;
    const node = from && this.tree.byIndex.get(from.resource);
    if (!node) return nodes[0] && { resource: nodes[0].index };
    const ring = nodes.filter((n) => n.ring === node.ring);
    const k = ring.indexOf(node);
    const turn = (by: number): ResourceMark => ({
      resource: ring[(k + by + ring.length) % ring.length]!.index,
    });
    switch (dir) {
      case 'left':
      case 'previous':
        return turn(-1);
      case 'right':
      case 'next':
        return turn(1);
      case 'first':
        return { resource: ring[0]!.index };
      case 'last':
        return { resource: ring[ring.length - 1]!.index };
      case 'up':
        return node.parent >= 0 ? { resource: node.parent } : from;
      case 'down': {
        const child = childLists(this.input.topology.resources)[node.index]!.find((c) =>
          this.tree.byIndex.has(c),
        );
        return child === undefined ? from : { resource: child };
      }
    }
  }

  describe(m: ResourceMark): Said {
    const { resources } = this.input.topology;
    const r = resources[m.resource]!;
    const where = sayPath(resources, m.resource);
    const name = sayResource(r) + (where ? ` (${where})` : '');
    const p = this.input.places;
    // What `at NAME` selects: also what passed it on the way.
    const selected = p.samples[SELECTED][m.resource] ?? 0;
    const all = p.samples[ALL][m.resource] ?? 0;
    if (all === 0)
      return {
        name: sayResource(r),
        more: `${where ? `(${where}) ` : ''}· no samples placed here${r.note ? ` · ${r.note}` : ''}`,
      };
    const parts = [`${count(selected)} of its ${plural(all, 'sample')} selected`];
    const latency = this.latency(m.resource);
    if (!this.issues(m.resource)) parts.push(`${count(this.samples(m.resource))} served here`);
    if (latency > 0) {
      parts.push(`${count(latency)} ${this.input.unit}`);
      parts.push(`${percent(latency, this.whole())} of the selection`);
    }
    const amount = this.columnAmount(m.resource);
    if (amount && amount.samples > 0)
      parts.push(
        `${this.input.amounts!.name} ${this.say(amount.value)} ${this.input.amounts!.unit}`.trimEnd(),
      );
    if (this.uncertain(m.resource)) parts.push(`a mean of fewer than ${FEW} samples, uncertain`);
    const over = this.link(m.resource);
    if (over > 0 && r.parent > 0) parts.push(`${count(over)} over its link`);
    const remote = this.remoteOf(m.resource);
    if (remote.in > 0) parts.push(`${count(remote.in)} for other nodes`);
    if (remote.out > 0) parts.push(`${count(remote.out)} served by another node`);
    return {
      name: sayResource(r),
      more: `${name.slice(sayResource(r).length + 1)}${where ? ' ' : ''}· ${parts.join(' · ')}`,
    };
  }

  /** Selected accesses that a resource served for other parts, or sent to them. */
  private remoteOf(i: number): { in: number; out: number } {
    const sum = (of: 'from' | 'to'): number =>
      this.remoteLinks().reduce((n, l) => n + (l[of] === i ? l.samples : 0), 0);
    return { in: sum('to'), out: sum('from') };
  }

  /** Latency of the whole selection. */
  private whole(): number {
    return this.input.places.latency[SELECTED][0] ?? 0;
  }

  wanted(m: ResourceMark): Term | undefined {
    const r = this.input.topology.resources[m.resource]!;
    return r.parent < 0 ? undefined : { kind: 'resource', id: r.name };
  }

  rows(): Table {
    const { resources } = this.input.topology;
    const head = [
      'resource',
      'inside',
      'samples',
      'of all',
      this.input.unit,
      `mean ${this.input.unit}`,
      'over link',
      'for other nodes',
      'by other nodes',
      ...(this.input.amounts ? [this.metricTitle(), 'values'] : []),
    ];
    const rows = this.tree.nodes.map(({ index: i }) => {
      const [valued, latency, remote] = [this.valued(i), this.latency(i), this.remoteOf(i)];
      return [
        sayResource(resources[i]!),
        sayPath(resources, i),
        String(this.samples(i)),
        String(this.samples(i, ALL)),
        String(latency),
        valued > 0 ? String(latency / valued) : '',
        String(this.link(i)),
        String(remote.in),
        String(remote.out),
        ...amountCells(this.columnAmount(i)),
      ];
    });
    return { head, rows };
  }

  summary(): string {
    const rings = this.tree.rings
      .slice(1)
      .map((type, i) => `${this.tree.nodes.filter((n) => n.ring === i + 1).length} ${type}`);
    return `Hardware topology: ${rings.join(', ')}; ${plural(this.total(), 'sample')}`;
  }
}

function amountCells(a: { value: number; samples: number } | undefined): string[] {
  return a ? [a.samples > 0 ? String(a.value) : '', String(a.samples)] : [];
}

/** Short enough for the slot at 12 o'clock. */
export function ringName(type: string): string {
  return type === 'Package' ? 'Pkg' : type;
}

export function emptyHatch(theme: Theme): Hatch {
  return { line: theme.line, width: 1, period: 5, alpha: 0.45 };
}

function layIcicle(tree: Tree, area: Rect): Map<number, Rect> {
  const names = 56;
  const n = tree.rings.length;
  const u = (area.h - 8) / n;
  const gap = clamp(0.3 * u, Math.min(3, u / 4), 18);
  const boxes = new Map<number, Rect>();
  for (const node of tree.nodes) {
    const span = (area.w - names) * (node.till - node.from);
    const between = Math.min(3, span / 4);
    const x = area.x + names + (area.w - names) * node.from;
    boxes.set(node.index, {
      x: x + between / 2,
      y: area.y + node.ring * u,
      w: Math.max(0.5, span - between),
      h: u - gap,
    });
  }
  return boxes;
}

function grow(b: Rect, by: number): Rect {
  return { x: b.x - by, y: b.y - by, w: b.w + 2 * by, h: b.h + 2 * by };
}

function capital(s: string): string {
  return s.slice(0, 1).toUpperCase() + s.slice(1);
}

/** Many lines share little room, so they are thinner. */
function remoteWidth(share: number, lines: number): number {
  return 1 + Math.min(4, 12 / lines) * Math.sqrt(share);
}

/**
 * Points from one block to another the shorter way round, in the gap beside
 * the middle disc; `lane` (0 … 1) keeps several apart. It begins and ends away
 * from the middle of the blocks, where their names are.
 */
function bowOf(s: Sunburst, from: Block, to: Block, lane: number): Point[] {
  const [a, b] = [middleAngle(from), middleAngle(to)];
  const way = Math.atan2(Math.sin(b - a), Math.cos(b - a)) || Math.PI;
  const reach = (block: Block): number =>
    Math.sign(way) * (0.2 + 0.15 * lane) * (arcLength(block) / ((block.ring.inner + block.ring.outer) / 2));
  const [begin, end] = [a + reach(from), a + way - reach(to)];
  const [r0, r1] = [from.ring.inner, (to.ring.inner + to.ring.outer) / 2];
  const low = s.disc + (s.rings[0]!.inner - s.disc) * (0.3 + 0.5 * lane);
  return Array.from({ length: 49 }, (_, i) => {
    const t = i / 48;
    const edge = (2 * t - 1) ** 4; // leaves the gap only near the ends
    return at(s, low + ((t < 0.5 ? r0 : r1) - low) * edge, begin + t * (end - begin));
  });
}

/** Text that follows a circle, always upright: letters in the lower half run the other way. */
function textAlongArc(
  r: Renderer,
  c: Point,
  radius: number,
  angle: number,
  text: string,
  font: Font,
  fill: string,
  halo: string | undefined,
): void {
  const width = r.measure(text, font);
  const turn = ((angle % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI);
  const below = turn > 0.02 && turn < Math.PI - 0.02;
  const direction = below ? -1 : 1;
  let a = angle - (direction * width) / 2 / radius;
  if (halo) {
    const half = (width / 2 + 5) / radius;
    r.path([{ to: 'arc', c, r: radius, from: angle - half, till: angle + half }], {
      stroke: halo,
      width: font.size + 3,
    });
  }
  for (const letter of text) {
    const w = r.measure(letter, font);
    a += (direction * w) / 2 / radius;
    r.text(letter, c.x + radius * Math.cos(a), c.y + radius * Math.sin(a), {
      font,
      fill,
      align: 'center',
      turn: a + (direction * Math.PI) / 2,
    });
    a += (direction * w) / 2 / radius;
  }
}

function wrap(text: string, font: Font, r: Renderer, first: number, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(/(?<= )/)) {
    const line = lines[lines.length - 1]! + word;
    if (r.measure(line.trimEnd(), font) <= (lines.length === 1 ? first : width))
      lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines;
}
