// The topology of two runs: the fill of a resource is how much more or less it
// costs in B, on a symmetric scale for each ring.
import { changeBar, changeColor } from '../../../base/change';
import { mix } from '../../../base/color';
import { count, plural, mean as formatMean, short } from '../../../base/format';
import { clamp, type Rect } from '../../../base/geometry';
import type { Path, Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import type { Theme } from '../../../base/theme';
import { SELECTED, type PlacesAnswer } from '../../../api/decode';
import type { Said, Table } from '../../../frame/view';
import { signed } from '../views/changes';
import type { Sunburst } from '../views/sunburst';
import { emptyHatch, ringName, TopologyView, type RingScale, type TopologyInput } from '../views/topology';
import { sayPath, sayResource, type Node } from '../views/tree';
import { countVerdict, NOT_TESTED, VERDICT_HEAD } from './verdict';

export interface ChangeTopologyInput extends TopologyInput {
  readonly before: PlacesAnswer; // A; `places` is B
  readonly allowance: number; // for how two runs of one program differ
}

const SMALL: Font = { size: 11 };
const TINY: Font = { size: 10.5 };

export class ChangeTopologyView extends TopologyView {
  constructor(protected override readonly input: ChangeTopologyInput) {
    super(input);
  }

  private of(p: PlacesAnswer, what: 'samples' | 'latency' | 'valued', i: number): number {
    const served = { samples: p.served, latency: p.servedLatency, valued: p.servedValued }[what];
    return (this.issues(i) ? p[what] : served)[SELECTED][i] ?? 0;
  }

  private amount(p: PlacesAnswer, i: number): number {
    const { metric } = this.input;
    if (metric === 'mean') return this.of(p, 'latency', i) / Math.max(1, this.of(p, 'valued', i));
    return this.of(p, metric, i);
  }

  /** A, B of a resource in what the colours show. */
  sides(i: number): readonly [a: number, b: number] {
    return [this.amount(this.input.before, i), this.amount(this.input.places, i)];
  }

  override samples(i: number, layer: 0 | 1 | 2 = SELECTED): number {
    if (layer !== SELECTED) return super.samples(i, layer);
    return Math.max(super.samples(i), this.of(this.input.before, 'samples', i));
  }

  override link(i: number): number {
    return Math.max(super.link(i), this.input.before.linkSamples[SELECTED][i] ?? 0);
  }

  /** What crosses nodes changes with the nodes' own rings, which show it. */
  protected override remoteLinks(): { from: number; to: number; samples: number }[] {
    return [];
  }

  override value(i: number): number {
    const [a, b] = this.sides(i);
    return b - a;
  }

  protected override ringScale(type: string, ring: number): RingScale {
    const own = super.ringScale(type, ring);
    const nodes = this.tree.nodes.filter((n) => n.ring === ring);
    const most = Math.max(0, ...nodes.map((n) => Math.abs(this.value(n.index))));
    if (most === 0) return { ...own, amounts: undefined };
    // The square root: a ring whose parts change unevenly still shows the small ones.
    const t = (v: number): number => clamp(0.5 + 0.5 * Math.sign(v) * Math.sqrt(Math.abs(v) / most), 0, 1);
    return { ...own, amounts: { ...own.amounts!, lo: -most, hi: most, t } };
  }

  protected override fillOf(node: Node, theme: Theme): { fill?: string; t: number } {
    const scale = this.scales[node.ring]?.amounts;
    if (this.samples(node.index) === 0) return { t: 0 };
    const t = scale ? 2 * scale.t(this.value(node.index)) - 1 : 0;
    return { fill: changeColor(theme, t), t: Math.abs(t) };
  }

  protected override linkInk(i: number, theme: Theme): string {
    const change =
      (this.input.places.linkSamples[SELECTED][i] ?? 0) - (this.input.before.linkSamples[SELECTED][i] ?? 0);
    return change === 0 ? mix(theme.bg, theme.text, 0.4) : changeBar(theme, change);
  }

  /** A dotted line inside what one of the runs has not. */
  protected override drawInner(r: Renderer, outline: Path, i: number): void {
    const a = this.of(this.input.before, 'samples', i);
    const b = this.of(this.input.places, 'samples', i);
    if ((a === 0) !== (b === 0)) r.path(outline, { stroke: r.theme.text, width: 1.2, dash: [1.5, 2.5] });
  }

  private write(v: number): string {
    const { metric } = this.input;
    return metric === 'samples' ? count(v) : metric === 'mean' ? formatMean(v) : short(v);
  }

  protected override drawDisc(r: Renderer, s: Sunburst): void {
    r.path([{ to: 'arc', c: s.center, r: s.disc, from: 0, till: 2 * Math.PI }], { fill: r.theme.surface });
    if (s.disc < 24) return;
    const name: Font = { size: 12, weight: 600 };
    const { x, y } = s.center;
    const room = 1.8 * s.disc;
    r.text('B − A', x, y - 8, { font: name, fill: r.theme.text, align: 'center' });
    const total = signed(this.value(this.tree.root), (v) => this.write(v));
    r.text(fit(total, room, TINY, r.measure), x, y + 8, {
      font: TINY,
      fill: r.theme.muted,
      align: 'center',
    });
  }

  protected override metricTitle(): string {
    const { metric, unit } = this.input;
    const what = metric === 'samples' ? 'Samples' : metric === 'mean' ? `Mean ${unit}` : unit;
    return `${what.slice(0, 1).toUpperCase()}${what.slice(1)} of a resource, B − A`;
  }

  protected override drawLegend(r: Renderer, box: Rect): void {
    const { top, row, rampX, rampW } = this.legendRows(box);
    const { theme } = r;
    const strong: Font = { size: 12, weight: 600 };
    r.text(fit(this.metricTitle(), box.w, strong, r.measure), box.x, top + 8, {
      font: strong,
      fill: theme.text,
    });
    r.text('each ring on its own scale, √', box.x, top + 23, { font: SMALL, fill: theme.muted });
    let y = top + 44;
    for (let ring = this.scales.length - 1; ring > 0; ring--, y += row)
      this.drawRamp(r, this.scales[ring]!, box.x, rampX, rampW, y);
    y += 4;
    const keys: readonly (readonly [string, (at: Rect) => void])[] = [
      ['▼ less in B', (at) => r.rect(at, { fill: theme.less }, 2)],
      ['▲ more in B', (at) => r.rect(at, { fill: theme.more }, 2)],
      ['none in the other run', (at) => r.rect(at, { stroke: theme.text, width: 1.2, dash: [1.5, 2.5] }, 2)],
      [
        'no samples in either',
        (at) => r.rect(at, { hatch: emptyHatch(theme), stroke: theme.line, width: 1 }, 2),
      ],
    ];
    for (const [text, swatch] of keys) {
      if (y > box.y + box.h - 20) return;
      swatch({ x: box.x, y: y - 5, w: 10, h: 10 });
      r.text(text, box.x + 16, y, { font: SMALL, fill: theme.text });
      y += 17;
    }
    if (y > box.y + box.h - 24) return;
    r.text('links: width the larger, colour B − A', box.x, y + 2, { font: SMALL, fill: theme.muted });
  }

  protected override drawRamp(
    r: Renderer,
    s: RingScale,
    x: number,
    rampX: number,
    w: number,
    y: number,
  ): void {
    const { theme } = r;
    r.text(ringName(s.type), x, y, { font: { size: 11.5 }, fill: theme.text });
    const left = Math.round(rampX);
    for (let i = 0; i < w; i += 2)
      r.rect(
        { x: left + i, y: Math.round(y - 4.5), w: Math.min(2, w - i), h: 9 },
        { fill: changeColor(theme, (2 * (i + 1)) / w - 1) },
      );
    r.line(left + w / 2, y - 6, left + w / 2, y + 6, { stroke: theme.text, width: 1 });
    const most = s.amounts?.hi ?? 0;
    const say = (v: number): string => signed(v, (n) => this.write(n));
    r.text(say(-most), rampX, y + 13, { font: TINY, fill: theme.muted });
    r.text('0', left + w / 2, y + 13, { font: TINY, fill: theme.muted, align: 'center' });
    r.text(say(most), rampX + w, y + 13, { font: TINY, fill: theme.muted, align: 'right' });
  }

  override describe(m: { readonly resource: number }): Said {
    const { resources } = this.input.topology;
    const where = sayPath(resources, m.resource);
    const [a, b] = this.sides(m.resource);
    const [na, nb] = [this.input.before, this.input.places].map((p) => this.of(p, 'samples', m.resource));
    const unit = this.input.metric === 'samples' ? '' : ` ${this.input.unit}`;
    const change = a > 0 ? ` (${signed((100 * (b - a)) / a, (v) => v.toFixed(1))} %)` : '';
    const parts = [
      `A ${plural(na!, 'sample')}, ${this.write(a)}${unit}`,
      `B ${count(nb!)}, ${this.write(b)}`,
      `B − A ${signed(b - a, (v) => this.write(v))}${change}`,
    ];
    return {
      name: sayResource(resources[m.resource]!),
      more: `${where ? `(${where}) ` : ''}· ${parts.join(' · ')}`,
    };
  }

  override rows(): Table {
    const { resources } = this.input.topology;
    const rows = this.tree.nodes.map(({ index: i }) => {
      const [a, b] = this.sides(i);
      const counted = this.input.metric === 'samples' ? countVerdict(a, b, this.input) : NOT_TESTED;
      return [
        `${sayResource(resources[i]!)} ${sayPath(resources, i)}`.trim(),
        String(a),
        String(b),
        String(b - a),
        ...counted,
      ];
    });
    return { head: ['resource', ...VERDICT_HEAD], rows };
  }

  override summary(): string {
    const [a, b] = this.sides(this.tree.root);
    return `Hardware topology, B − A: ${this.write(a)} → ${this.write(b)} ${this.input.unit}`;
  }
}
