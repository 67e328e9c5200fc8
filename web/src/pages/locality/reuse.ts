// How many references come back after how many other lines: the histogram
// behind the curve, on the same octaves, with first touches apart.
import { plural, percent, short } from '../../base/format';
import { stepIndex, type Dir, type Point, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import type { MissCounts } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';
import { size as sizeText } from './words';

export interface ReuseInput {
  readonly now: MissCounts;
  readonly size: Size;
  readonly hovered: number;
}

export class ReuseView implements KeptView<number> {
  readonly size: Size;
  private readonly all: readonly number[];

  constructor(private readonly input: ReuseInput) {
    this.size = input.size;
    const octaves = input.now.objects[0]?.reuse.length ?? 0;
    this.all = Array.from({ length: octaves }, (_, i) =>
      input.now.objects.reduce((sum, o) => sum + (o.reuse[i] ?? 0), 0),
    );
  }

  get basis(): unknown {
    return { now: this.input.now, size: this.size };
  }

  private box(i: number): { x: number; y: number; w: number; h: number } {
    const w = (this.size.w - 68) / Math.max(1, this.all.length);
    const h = ((this.size.h - 60) * (this.all[i] ?? 0)) / Math.max(1, ...this.all);
    return { x: 52 + i * w, y: this.size.h - 34 - h, w: w - 2, h };
  }

  private label(i: number): string {
    if (i === this.all.length - 1) return 'first';
    return sizeText((i === 0 ? 1 : 2 ** i) * (this.input.now.levels[0]?.line_bytes ?? 64));
  }

  draw(r: Renderer): void {
    const muted = { font: { size: 10.5 }, fill: r.theme.muted, align: 'center' as const };
    const { levels } = this.input.now;
    r.text('references by the smallest cache in which they hit', 52, 14, { ...muted, align: 'left' });
    this.all.forEach((n, i) => {
      const b = this.box(i);
      const first = i === this.all.length - 1;
      const fits = levels.findIndex((l) => (i === 0 ? 1 : 2 ** i) * l.line_bytes <= l.bytes);
      if (first) r.rect(b, { hatch: { line: r.theme.rest, width: 1, period: 4 }, stroke: r.theme.rest });
      else r.rect(b, { fill: fits === 0 ? r.theme['rest-bar'] : fits === 1 ? r.theme.rest : r.theme.text });
      if (n > 0 && b.w > 26) r.text(short(n), b.x + b.w / 2, b.y - 8, muted);
      if (b.w > 26 || i % 2 === 0) r.text(this.label(i), b.x + b.w / 2, this.size.h - 22, muted);
    });
  }

  drawHover(r: Renderer): void {
    const b = this.box(this.input.hovered);
    if (this.all[this.input.hovered] !== undefined)
      r.rect(b, { stroke: r.theme.hover, width: 2, dash: [4, 2.5] });
  }

  hitTest(p: Point): number | undefined {
    const i = this.all.findIndex((_, k) => p.x >= this.box(k).x && p.x <= this.box(k).x + this.box(k).w + 2);
    return i < 0 ? undefined : i;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    return stepIndex(from, dir === 'left' || dir === 'up' || dir === 'previous' ? -1 : 1, this.all.length);
  }

  describe(i: number): Said {
    const n = this.all[i] ?? 0;
    const what = i === this.all.length - 1 ? 'First touches' : `Hit from ${this.label(i)} on`;
    return { name: what, more: `· ${plural(n, 'reference')}, ${percent(n, this.input.now.references)}` };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { objects } = this.input.now;
    return {
      head: ['hits from', 'references', ...objects.map((o) => o.name)],
      rows: this.all.map((n, i) => [
        this.label(i),
        String(n),
        ...objects.map((o) => String(o.reuse[i] ?? 0)),
      ]),
    };
  }

  summary(): string {
    return `${percent(this.all.at(-1) ?? 0, this.input.now.references)} of the references are first touches.`;
  }
}
