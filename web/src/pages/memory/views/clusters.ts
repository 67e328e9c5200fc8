// Clusters along an axis: a bar for the range of each, a disc coloured by its
// metric, and the value beside it. Neighbours overlap, so bars take two lanes.
import { clamp, type Point, type Rect } from '../../../base/geometry';
import { count, percent, plural } from '../../../base/format';
import { circle, type Renderer } from '../../../base/renderer';
import type { AmountMap } from '../../../base/color';
import type { Font, Measure } from '../../../base/text';
import type { Term } from '../../../state/selection';
import type { NodeAnswer, TreeAnswer } from '../../../api/wire';
import { amountFill, amountScale, type AmountScale } from '../../../base/scale';
import { metricPhrase, metricSaid, metricValue, type Metric } from './metrics';
import type { AxisPlaces } from './strip';
import type { Said } from '../../../frame/view';

export const CLUSTERS_HEIGHT = 40;
export const DISC = 8;
const RING = 11; // of the hovered disc
const LANE = 5;
const BAR = 4;
const VALUE: Font = { size: 12, weight: 500 };

interface Marker {
  readonly from: number;
  readonly till: number;
  readonly middle: number;
  readonly hidden: boolean; // beyond the ends of a zoomed axis
}

export class Clusters {
  readonly metric: Metric;
  readonly scale: AmountScale | undefined;
  readonly markers: readonly Marker[];

  constructor(
    readonly tree: TreeAnswer,
    readonly list: readonly NodeAnswer[],
    private readonly axis: AxisPlaces,
    /** The scale of the strip with the same metric, so that equal values have one colour. */
    shared?: AmountScale | undefined,
  ) {
    this.metric = { name: tree.metric, depth: tree.depth };
    this.scale = shared ?? amountScale(list.flatMap((c) => c.value ?? []));
    this.markers = list.map((c) => {
      const [p, q] = [axis.positionOf(c.from), axis.positionOf(c.to)];
      const [from, till] = [Math.min(p, q), Math.max(p, q)];
      const hidden = till - from < 0.01 && (till <= 0 || from >= axis.length) && list.length > 1;
      return { from, till, middle: clamp((from + till) / 2, 0, axis.length), hidden };
    });
  }

  fill(i: number, dark: boolean, map?: AmountMap): string | undefined {
    const v = this.list[i]?.value;
    return v === null || v === undefined || !this.scale
      ? undefined
      : amountFill(clamp(this.scale.t(v), 0, 1), dark, map);
  }

  draw(r: Renderer, area: Rect, map?: AmountMap): void {
    const { theme } = r;
    this.markers.forEach((m, i) => {
      if (m.hidden) return;
      const lane = area.y + (i % 2) * LANE;
      r.rect(
        { x: area.x + m.from, y: lane, w: Math.max(2, m.till - m.from), h: BAR },
        { fill: theme.rest },
        2,
      );
      const c = this.center(area, i);
      r.line(c.x, lane + BAR, c.x, c.y - DISC, { stroke: theme.rest, width: 1 });
    });
    this.markers.forEach((m, i) => m.hidden || this.drawDisc(r, area, i, map));
    for (const i of this.labelled(r.measure)) this.drawValue(r, area, i, theme.text);
  }

  private drawDisc(r: Renderer, area: Rect, i: number, map?: AmountMap): void {
    const c = this.center(area, i);
    const fill = this.fill(i, r.theme.dark, map);
    r.path(circle(c, DISC), { fill: fill ?? r.theme.bg, stroke: r.theme.line, width: 1 });
  }

  private drawValue(r: Renderer, area: Rect, i: number, fill: string, hovered = false): void {
    const c = this.center(area, i);
    const font: Font = { ...VALUE, weight: hovered ? 600 : 500 };
    r.text(metricValue(this.list[i]!.value, this.tree.unit), c.x + (hovered ? RING + 5 : DISC + 5), c.y, {
      font,
      fill,
    });
  }

  /** The clusters whose value fits before the next disc. */
  private labelled(measure: Measure): number[] {
    return this.markers.flatMap((m, i) => {
      if (m.hidden) return [];
      const w =
        DISC + 5 + measure(metricValue(this.list[i]!.value, this.tree.unit), { ...VALUE, weight: 600 });
      const next = this.markers.slice(i + 1).find((n) => !n.hidden);
      return m.middle + w < (next ? next.middle - DISC - 4 : this.axis.length + 14) ? [i] : [];
    });
  }

  /** The hovered cluster: bar, ring and value in the hover colour, and a line up to the axis. */
  drawHover(r: Renderer, area: Rect, i: number, axisY: number, map?: AmountMap): void {
    const { hover, bg } = r.theme;
    const m = this.markers[i];
    if (!m) return;
    const c = this.center(area, i);
    r.line(c.x, axisY, c.x, c.y - RING, { stroke: hover, width: 1.5, dash: [4, 2] });
    r.rect(
      { x: area.x + m.from, y: area.y + (i % 2) * LANE, w: Math.max(3, m.till - m.from), h: BAR },
      { fill: hover },
      2,
    );
    r.path(circle(c, RING + 1.5), { fill: bg });
    this.drawDisc(r, area, i, map);
    r.path(circle(c, RING), { stroke: hover, width: 2, dash: [4, 2.5] });
    if (this.labelled(r.measure).includes(i)) {
      const w = r.measure(metricValue(this.list[i]!.value, this.tree.unit), { ...VALUE, weight: 600 });
      r.rect({ x: c.x + DISC + 5, y: c.y - 8, w: w + 6, h: 16 }, { fill: bg });
      r.path(circle(c, RING), { stroke: hover, width: 2, dash: [4, 2.5] });
      this.drawValue(r, area, i, hover, true);
    }
  }

  center(area: Rect, i: number): Point {
    return { x: area.x + this.markers[i]!.middle, y: area.y + 20 };
  }

  /** The disc under a point, else the bar. */
  at(area: Rect, p: Point): number | undefined {
    if (p.y < area.y - 4 || p.y > area.y + CLUSTERS_HEIGHT) return undefined;
    let best: number | undefined;
    let least = 12;
    this.markers.forEach((m, i) => {
      if (m.hidden) return;
      const c = this.center(area, i);
      const d = Math.hypot(p.x - c.x, p.y - c.y);
      if (d < least) [best, least] = [i, d];
    });
    if (best !== undefined || p.y > area.y + 12) return best;
    const x = p.x - area.x;
    const lane = p.y < area.y + LANE ? 0 : 1;
    const inside = this.markers.flatMap((m, i) =>
      !m.hidden && x >= m.from - 2 && x <= m.till + 2 ? [i] : [],
    );
    return inside.find((i) => i % 2 === lane) ?? inside[0];
  }

  term(i: number): Term | undefined {
    const c = this.list[i];
    return c && { kind: 'range', column: this.tree.axis, lo: c.from, hi: c.to };
  }

  name(i: number): string {
    return `Cluster ${i + 1} of ${this.list.length}`;
  }

  range(i: number): string {
    const c = this.list[i]!;
    return `${this.axis.say(c.from)} – ${this.axis.say(c.to)}${this.axis.unit ? ` ${this.axis.unit}` : ''}`;
  }

  describe(i: number): Said {
    const c = this.list[i]!;
    const shared = this.shared(i);
    const parts = [
      `${this.tree.axis} ${this.range(i)}`,
      `${plural(c.samples, 'sample')} (${percent(c.samples, this.tree.samples)})${shared ? `, ${shared}` : ''}`,
      `${metricPhrase(this.metric)} ${metricSaid(c.value, this.tree.unit)}`,
    ];
    return { name: this.name(i), more: `· ${parts.join(' · ')}`, counted: c.samples };
  }

  /** Windows overlap, so neighbours have samples in common. */
  private shared(i: number): string {
    const c = this.list[i]!;
    const before = Math.max(0, (this.list[i - 1]?.end ?? 0) - c.begin);
    const after = Math.max(0, c.end - (this.list[i + 1]?.begin ?? c.end));
    if (before > 0 && before === after) return `${count(before)} shared with each neighbour`;
    const parts = [
      before > 0 ? `${count(before)} shared with the one before` : '',
      after > 0 ? `${count(after)} with the one after` : '',
    ].filter(Boolean);
    return parts.join(', ').replace(/^(\S+) with/, '$1 shared with');
  }
}
