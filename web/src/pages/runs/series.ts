// One metric of all runs against a parameter with its growth law, or along the
// order with its change points.
import type { StudyChange, StudyLaw } from '../../api/wire';
import { stepIndex, type Dir, type Point, type Size } from '../../base/geometry';
import { circle, polygon, type Renderer } from '../../base/renderer';
import type { KeptView, Said, Table } from '../../frame/view';
import { Plot, scaleOver } from './plot';
import { between, signed, value } from './words';

export interface SeriesPoint {
  readonly run: number;
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly odd: boolean;
}

export interface SeriesInput {
  readonly points: readonly SeriesPoint[];
  readonly law: StudyLaw | undefined;
  readonly changes: readonly StudyChange[]; // along the order
  readonly xName: string;
  readonly yName: string;
  readonly kept: readonly boolean[];
  readonly size: Size;
  readonly hovered: number; // run
  readonly marked: number;
}

export class SeriesView implements KeptView<number> {
  readonly size: Size;
  private readonly plot: Plot;

  constructor(private readonly input: SeriesInput) {
    const { law, points, size, xName, yName } = input;
    this.size = size;
    this.plot = new Plot({
      size,
      x: scaleOver(
        points.map((p) => p.x),
        law !== undefined,
      ),
      y: scaleOver([...points.map((p) => p.y), ...(law?.y ?? [])], law !== undefined),
      xName,
      yName,
      xText: value,
      yText: value,
    });
  }

  get basis(): unknown {
    const { points, law, changes, size, kept, marked } = this.input;
    return { points, law, changes, size, kept, marked };
  }

  draw(r: Renderer): void {
    const { changes, law, points } = this.input;
    const { area } = this.plot;
    this.plot.draw(r);
    r.clip(area, () => {
      if (law) this.drawLaw(r, law);
      for (const c of changes) this.drawChange(r, c);
      for (const p of points) this.drawPoint(r, p);
    });
  }

  private drawLaw(r: Renderer, law: StudyLaw): void {
    const side = (k: number): Point[] => law.x.map((x, i) => this.plot.at(x, law.y[i]! * k));
    r.path(polygon([...side(1 + law.error), ...side(1 / (1 + law.error)).reverse()]), { fill: r.theme.band });
    const curve = side(1);
    curve.forEach((p, i) => {
      const q = curve[i - 1];
      if (q) r.line(q.x, q.y, p.x, p.y, { stroke: r.theme.text, width: 1.5 });
    });
  }

  private drawChange(r: Renderer, c: StudyChange): void {
    const { area } = this.plot;
    const x = this.plot.x(c.at + 0.5);
    const stroke = c.step > 0 ? r.theme.more : r.theme.less;
    r.line(x, area.y, x, area.y + area.h, {
      stroke,
      width: c.drift ? 1 : 2,
      ...(c.drift ? { dash: [4, 3] } : {}),
    });
    const text = `${c.step > 0 ? '▲' : '▼'} ${signed(c.step)}${c.drift ? ' drift?' : ''}`;
    r.text(text, x + 4, area.y + 8, { font: { size: 10.5 }, fill: stroke, align: 'left' });
  }

  private drawPoint(r: Renderer, p: SeriesPoint): void {
    const { kept, marked } = this.input;
    const fill = p.run === marked ? r.theme.selected : kept[p.run] ? r.theme.rest : r.theme.hair;
    const at = circle(this.plot.at(p.x, p.y), p.run === marked ? 5 : 3.5);
    r.path(at, p.odd ? { fill: r.theme.bg, stroke: fill, width: 1.8 } : { fill, stroke: r.theme.bg });
  }

  drawHover(r: Renderer): void {
    const p = this.input.points.find((o) => o.run === this.input.hovered);
    if (p) r.path(circle(this.plot.at(p.x, p.y), 6), { stroke: r.theme.hover, width: 2 });
  }

  hitTest(p: Point): number | undefined {
    let [best, run]: [number, number | undefined] = [10, undefined];
    for (const o of this.input.points) {
      const at = this.plot.at(o.x, o.y);
      const d = Math.hypot(at.x - p.x, at.y - p.y);
      if (d < best) [best, run] = [d, o.run];
    }
    return run;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const { points } = this.input;
    if (dir === 'first' || dir === 'last') return (dir === 'first' ? points[0] : points.at(-1))?.run;
    const at = points.findIndex((p) => p.run === from);
    const back = dir === 'left' || dir === 'down' || dir === 'previous';
    const next = stepIndex(at < 0 ? undefined : at, back ? -1 : 1, points.length);
    return next === undefined ? undefined : points[next]!.run;
  }

  describe(run: number): Said {
    const { points, xName, yName } = this.input;
    const p = points.find((o) => o.run === run);
    if (!p) return { name: '', more: '' };
    return {
      name: p.name,
      more: `· ${yName} ${value(p.y)} at ${xName} ${value(p.x)}${p.odd ? ' · odd' : ''}`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { points, xName, yName } = this.input;
    return {
      head: ['run', xName, yName, 'odd'],
      rows: points.map((p) => [p.name, String(p.x), String(p.y), p.odd ? 'yes' : '']),
    };
  }

  summary(): string {
    const { changes, law, yName } = this.input;
    if (law)
      return `${yName} grows as ${law.law}: exponent ${value(law.exponent)}, ${value(law.low)} to ${value(law.high)}`;
    if (changes.length === 0) return `${yName}: no change point`;
    return changes
      .map((c) => `${yName} ${signed(c.step)} (${between(c.low, c.high)}) from ${c.after} on`)
      .join('; ');
  }
}
