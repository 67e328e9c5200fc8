// A trial pair by pair: the change of each with the estimate at every look, the
// score against its bounds, or the times of both sides.
import type { TrialAnswer } from '../../api/wire';
import { changeBar } from '../../base/change';
import { stepIndex, type Dir, type Point, type Size } from '../../base/geometry';
import { circle, type Renderer } from '../../base/renderer';
import { numberScale } from '../../base/scale';
import type { KeptView, Said, Table } from '../../frame/view';
import { Plot, scaleOver } from './plot';
import { between, seconds, signed } from './words';

export const SHOWS = ['change', 'score', 'times'] as const;
export type Shows = (typeof SHOWS)[number];

export interface PairsInput {
  readonly trial: TrialAnswer;
  readonly shows: Shows;
  readonly size: Size;
  readonly hovered: number;
}

const RADIUS = 3.5;

export class PairsView implements KeptView<number> {
  readonly size: Size;
  private readonly plot: Plot;
  private readonly changes: readonly number[];

  constructor(private readonly input: PairsInput) {
    const { trial, shows, size } = input;
    this.size = size;
    this.changes = trial.values.map((v) => (v.a > 0 ? v.b / v.a - 1 : 0));
    const y = {
      change: () =>
        scaleOver([0, ...this.changes, ...trial.bounds.filter((b) => b.taken).map((b) => b.change)]),
      score: () =>
        scaleOver([...trial.values.map((v) => v.score), ...trial.bounds.flatMap((b) => [b.bound, -b.bound])]),
      times: () => scaleOver([0, ...trial.values.flatMap((v) => [v.a, v.b])]),
    }[shows]();
    this.plot = new Plot({
      size,
      x: numberScale(0, trial.values.length + 1, 'linear'),
      y,
      xName: 'pair',
      yName: {
        change: `change of ${trial.metric} time, B against A`,
        score: 'score; beyond a bound it is no chance',
        times: `${trial.metric} time`,
      }[shows],
      xText: (v) => (Number.isInteger(v) && v > 0 ? String(v) : ''),
      yText: shows === 'times' ? seconds : shows === 'score' ? (v) => v.toFixed(1) : signed,
    });
  }

  get basis(): unknown {
    const { trial, shows, size } = this.input;
    return { trial, shows, size };
  }

  private yOf(i: number): number {
    const v = this.input.trial.values[i]!;
    return { change: this.changes[i]!, score: v.score, times: v.b }[this.input.shows];
  }

  draw(r: Renderer): void {
    this.plot.draw(r);
    const { area } = this.plot;
    r.clip(area, () => {
      if (this.input.shows === 'change') this.drawChange(r);
      else if (this.input.shows === 'score') this.drawScore(r);
      else this.drawTimes(r);
    });
  }

  private zero(r: Renderer): void {
    const { area } = this.plot;
    r.line(area.x, this.plot.y(0), area.x + area.w, this.plot.y(0), { stroke: r.theme.muted });
  }

  private drawChange(r: Renderer): void {
    const { plot } = this;
    let from = 0;
    for (const look of this.input.trial.bounds.filter((b) => b.taken)) {
      const [x0, x1] = [plot.x(from + 0.5), plot.x(look.pairs + 0.5)];
      const [top, bottom] = [plot.y(look.high), plot.y(look.low)];
      r.rect({ x: x0, y: top, w: x1 - x0, h: bottom - top }, { fill: r.theme.band });
      r.line(x0, plot.y(look.change), x1, plot.y(look.change), { stroke: r.theme.text, width: 1.5 });
      r.line(x1, plot.area.y, x1, plot.area.y + plot.area.h, { stroke: r.theme.line, dash: [3, 3] });
      from = look.pairs;
    }
    this.zero(r);
    this.changes.forEach((c, i) => {
      r.path(circle(plot.at(i + 1, c), RADIUS), {
        fill: changeBar(r.theme, Math.sign(c)),
        stroke: r.theme.bg,
      });
    });
  }

  private drawScore(r: Renderer): void {
    const { plot } = this;
    const { bounds, values } = this.input.trial;
    for (const sign of [1, -1])
      bounds.forEach((b, i) => {
        const from = bounds[i - 1]?.pairs ?? 0;
        const y = plot.y(sign * b.bound);
        r.line(plot.x(from + 0.5), y, plot.x(b.pairs + 0.5), y, { stroke: r.theme.text, dash: [5, 3] });
      });
    this.zero(r);
    values.forEach((v, i) => {
      const before = values[i - 1];
      const [p, q] = [before && plot.at(i, before.score), plot.at(i + 1, v.score)];
      if (p) r.line(p.x, p.y, q.x, q.y, { stroke: r.theme.rest, width: 1.5 });
    });
    values.forEach((v, i) => {
      r.path(circle(plot.at(i + 1, v.score), RADIUS), {
        fill: changeBar(r.theme, Math.sign(v.score)),
        stroke: r.theme.bg,
      });
    });
  }

  private drawTimes(r: Renderer): void {
    const { plot } = this;
    this.input.trial.values.forEach((v, i) => {
      const [a, b] = [plot.at(i + 1, v.a), plot.at(i + 1, v.b)];
      r.line(a.x, a.y, b.x, b.y, { stroke: changeBar(r.theme, Math.sign(v.b - v.a)), width: 2 });
      const side = (p: Point) => ({ x: p.x - 3, y: p.y - 3, w: 6, h: 6 });
      r.rect(side(a), { fill: r.theme.bg, stroke: r.theme.text, width: 1.2 });
      r.rect(side(b), { fill: r.theme.text });
    });
  }

  drawHover(r: Renderer): void {
    const { hovered, trial } = this.input;
    if (!trial.values[hovered]) return;
    const { area } = this.plot;
    const p = this.plot.at(hovered + 1, this.yOf(hovered));
    r.line(p.x, area.y, p.x, area.y + area.h, { stroke: r.theme.hover, dash: [4, 2.5] });
    r.path(circle(p, RADIUS + 2), { stroke: r.theme.hover, width: 2 });
  }

  hitTest(p: Point): number | undefined {
    const { values } = this.input.trial;
    const step = this.plot.x(2) - this.plot.x(1);
    const i = Math.round((p.x - this.plot.x(1)) / step);
    return i >= 0 && i < values.length && Math.abs(p.x - this.plot.x(i + 1)) < Math.max(6, step / 2)
      ? i
      : undefined;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const n = this.input.trial.values.length;
    if (dir === 'first') return n > 0 ? 0 : undefined;
    if (dir === 'last') return n > 0 ? n - 1 : undefined;
    return stepIndex(from, dir === 'left' || dir === 'up' || dir === 'previous' ? -1 : 1, n);
  }

  describe(i: number): Said {
    const v = this.input.trial.values[i]!;
    const recorded = v.pathA && v.pathB ? ' · Enter compares the recordings' : '';
    return {
      name: `Pair ${i + 1}`,
      more:
        `· A ${seconds(v.a)}, B ${seconds(v.b)}, ${signed(this.changes[i]!)} · ${v.first.toUpperCase()} ran first` +
        ` · score so far ${v.score.toFixed(2)}${recorded}`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { bounds, metric, values } = this.input.trial;
    return {
      head: [
        'pair',
        'first',
        `A ${metric} s`,
        `B ${metric} s`,
        'A wall s',
        'B wall s',
        'change',
        'score',
        'look',
      ],
      rows: values.map((v, i) => {
        const look = bounds.find((b) => b.taken && b.pairs === i + 1);
        return [
          String(i + 1),
          v.first.toUpperCase(),
          String(v.a),
          String(v.b),
          String(v.wallA),
          String(v.wallB),
          signed(this.changes[i]!),
          v.score.toFixed(3),
          look ? `${signed(look.change)} (${between(look.low, look.high)}), ${look.verdict}` : '',
        ];
      }),
    };
  }

  summary(): string {
    return this.input.trial.sentence;
  }
}
