// The lines that one pass of an innermost loop puts into each set of a level:
// above the dashed line they push each other out.
import { count, plural } from '../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { fit } from '../../base/text';
import type { SetUse } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';

export interface SetsInput {
  readonly now: SetUse;
  readonly then: SetUse | undefined;
  readonly level: string;
  readonly size: Size;
  readonly hovered: number;
}

const NARROW = 640; // px: narrower and taller views have both below each other
const TALL = 220;

export class SetsView implements KeptView<number> {
  readonly size: Size;
  private readonly most: number;

  constructor(private readonly input: SetsInput) {
    this.size = input.size;
    this.most = Math.max(input.now.ways * 1.3, ...input.now.counts, ...(input.then?.counts ?? []));
  }

  get basis(): unknown {
    const { hovered: _, ...drawn } = this.input;
    return drawn;
  }

  /** Where the sets are drawn: both side by side, below each other where that is too narrow for their words
   * and there is the height. */
  private area(then: boolean): Rect {
    const { w, h } = this.size;
    if (this.input.then && w < NARROW && h > TALL) {
      const half = (h - 20) / 2;
      return { x: 12, y: (then ? half : 0) + 24, w: w - 24, h: half - 24 - 24 };
    }
    const each = this.input.then ? (w - 64) / 2 : w - 24;
    return { x: then ? 12 + each + 40 : 12, y: 24, w: each, h: h - 24 - 44 };
  }

  private y(a: Rect, n: number): number {
    return a.y + a.h - a.h * Math.sqrt(n / this.most);
  }

  draw(r: Renderer): void {
    this.drawSide(r, this.input.now, false);
    if (this.input.then) this.drawSide(r, this.input.then, true);
    const { now } = this.input;
    const stride = Math.abs(now.stride);
    const over = now.counts.filter((n) => n > now.ways).length;
    const text =
      over > 0
        ? `References ${count(now.from)} to ${count(now.to)}, one pass${now.place ? ` of ${now.place}` : ''}, steps of ${count(stride)} B: ${count(over)} of ${plural(now.counts.length, 'set')} hold more than ${now.ways} lines.`
        : 'Every pass fits its sets.';
    const foot = { size: 11 };
    r.text(fit(text, this.size.w - 74, foot, r.measure), 12, this.size.h - 9, {
      font: { size: 11 },
      fill: r.theme.text,
    });
    r.text('√ lines', this.size.w - 12, this.size.h - 9, {
      font: { size: 11 },
      fill: r.theme.muted,
      align: 'right',
    });
  }

  private drawSide(r: Renderer, s: SetUse, then: boolean): void {
    const a = this.area(then);
    r.text(
      `${then ? 'what if' : 'as recorded'}: ${plural(s.lines, 'line')} in ${count(s.used)} of ${plural(s.counts.length, 'set')} of ${this.input.level}`,
      a.x,
      a.y - 15,
      {
        font: { size: 12 },
        fill: r.theme.text,
      },
    );
    const w = a.w / Math.max(1, s.counts.length);
    s.counts.forEach((n, i) => {
      if (n === 0) return;
      const y = this.y(a, n);
      r.rect(
        { x: a.x + i * w, y, w: Math.max(1, w - (w > 3 ? 1 : 0)), h: a.y + a.h - y },
        { fill: n > s.ways ? r.theme.selected : r.theme['selected-bar'] },
      );
    });
    r.line(a.x, a.y + a.h, a.x + a.w, a.y + a.h, { stroke: r.theme.line, width: 1 });
    const ways = this.y(a, s.ways);
    r.line(a.x, ways, a.x + a.w, ways, { stroke: r.theme.text, width: 1, dash: [5, 3] });
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    r.text(`${s.ways} ways`, a.x + a.w, ways - 8, { ...muted, align: 'right' });
    r.text('set 0', a.x, a.y + a.h + 10, muted);
    r.text(String(s.counts.length - 1), a.x + a.w, a.y + a.h + 10, { ...muted, align: 'right' });
  }

  drawHover(r: Renderer): void {
    const n = this.input.now.counts.length;
    const i = this.input.hovered;
    if (i < 0 || i >= n) return;
    const a = this.area(false);
    r.rect(
      { x: a.x + (i * a.w) / n - 1, y: a.y, w: Math.max(3, a.w / n + 2), h: a.h },
      { stroke: r.theme.hover, width: 1.5, dash: [4, 2.5] },
    );
  }

  hitTest(p: Point): number | undefined {
    const a = this.area(false);
    const n = this.input.now.counts.length;
    if (n === 0 || p.x < a.x || p.x > a.x + a.w || p.y < a.y || p.y > a.y + a.h) return undefined;
    return clamp(Math.floor(((p.x - a.x) / a.w) * n), 0, n - 1);
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const n = this.input.now.counts.length;
    if (n === 0) return undefined;
    return clamp((from ?? -1) + (dir === 'left' || dir === 'up' || dir === 'previous' ? -1 : 1), 0, n - 1);
  }

  describe(i: number): Said {
    const { now, then } = this.input;
    return {
      name: `Set ${i} of ${this.input.level}`,
      more: `· ${plural(now.counts[i] ?? 0, 'line')} of one pass in ${now.ways} ways${then ? `; what if ${count(then.counts[i] ?? 0)}` : ''}`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { now, then } = this.input;
    return {
      head: ['set', 'lines', ...(then ? ['what if'] : [])],
      rows: now.counts.map((n, i) => [String(i), String(n), ...(then ? [String(then.counts[i] ?? 0)] : [])]),
    };
  }

  summary(): string {
    const { now } = this.input;
    return (
      now.why || `${plural(now.lines, 'line')} in ${count(now.used)} of ${plural(now.counts.length, 'set')}.`
    );
  }
}
