// Birth against death: what lies far from the diagonal lasts. And the barcode as
// a picture of its own, for files.
import type { Dir, Point, Rect, Size } from '../../base/geometry';
import { stepIndex } from '../../base/geometry';
import { plural, short, roughly } from '../../base/format';
import { circle, polygon, type Renderer } from '../../base/renderer';
import type { CyclesBars, CyclesClass, CyclesInfo } from '../../api/wire';
import type { KeptView, Said, Table, View } from '../../frame/view';
import { turnsText } from './words';

export interface PersistenceInput {
  readonly info: CyclesInfo;
  readonly names: readonly string[];
  readonly active: number;
  readonly size: Size;
  readonly hovered: number; // mark, -1 for none
}

/** The largest ε that is drawn. */
export function capOf(info: CyclesInfo): number {
  return Math.max(2, info.cap, ...info.bars.map((b) => b.death));
}

/** Bars as rows of a table. */
export function barRows(info: CyclesInfo, names: readonly string[]): Table {
  const classes = info.classes.map((c, i) => [
    String(c.birth),
    String(c.death),
    '1',
    names[i] ?? '',
    c.turns === 0 ? '0' : String(c.turns),
    c.exact ? 'yes' : 'no',
    c.place,
  ]);
  const rest = shortBars(info).map((b) => [
    String(b.birth),
    String(b.death),
    String(b.count),
    '',
    '',
    '',
    '',
  ]);
  return {
    head: ['birth', 'death', 'bars', 'class', 'turns', 'exact', 'lines'],
    rows: [...classes, ...rest],
  };
}

/** Bars that are no classes. */
function shortBars(info: CyclesInfo): readonly CyclesBars[] {
  return info.bars.filter(
    (b) => !info.classes.some((c) => !c.combination && c.birth === b.birth && c.death === b.death),
  );
}

interface Dot {
  readonly at: Point;
  readonly r: number;
  readonly class: number; // -1 for bars without one
  readonly bars: CyclesBars | undefined;
}

interface Label {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly bars: boolean; // it counts short bars
}

/** Marks are dots: classes first, then groups of short bars. */
export class PersistenceView implements KeptView<number> {
  readonly size: Size;
  private readonly side: number;
  private readonly cap: number;
  private readonly dots: readonly Dot[];

  constructor(private readonly input: PersistenceInput) {
    this.size = input.size;
    this.side = Math.max(60, Math.min(input.size.w - 62, input.size.h - 40));
    this.cap = capOf(input.info);
    const { info } = input;
    const classes = info.classes.flatMap((c, i) =>
      c.combination
        ? []
        : [{ at: { x: this.x(c.birth), y: this.y(c.death) }, r: 6, class: i, bars: undefined }],
    );
    const rest = shortBars(info).map((b) => ({
      at: { x: this.x(b.birth), y: this.y(b.death) },
      r: Math.max(2.5, Math.min(10, 2.2 * Math.sqrt(b.count))),
      class: -1,
      bars: b,
    }));
    this.dots = [...classes, ...rest];
  }

  get basis(): unknown {
    const { hovered: _, ...drawn } = this.input;
    return drawn;
  }

  private x(e: number): number {
    return 44 + (e / (this.cap + 0.6)) * this.side;
  }

  private y(e: number): number {
    return 6 + this.side - (e / (this.cap + 0.6)) * this.side;
  }

  draw(r: Renderer): void {
    const end = this.cap + 0.6;
    const muted = { font: { size: 10.5 }, fill: r.theme.muted };
    r.path(
      polygon([
        { x: this.x(0), y: this.y(0) },
        { x: this.x(end), y: this.y(0) },
        { x: this.x(end), y: this.y(end) },
      ]),
      { fill: r.theme.surface },
    );
    r.line(this.x(0), this.y(0), this.x(end), this.y(end), { stroke: r.theme['hair-strong'], width: 1 });
    r.line(this.x(0), this.y(3), this.x(end - 3), this.y(end), {
      stroke: r.theme.line,
      width: 1,
      dash: [2, 3],
    });
    r.line(this.x(0), this.y(0), this.x(0), this.y(end), { stroke: r.theme.line, width: 1 });
    r.line(this.x(0), this.y(0), this.x(end), this.y(0), { stroke: r.theme.line, width: 1 });
    for (let e = 2; e <= this.cap; e += 2) {
      r.text(String(e), this.x(0) - 6, this.y(e), { ...muted, align: 'right' });
      r.text(String(e), this.x(e), this.y(0) + 12, { ...muted, align: 'center' });
    }
    r.text('birth ε', Math.min(this.size.w - 4, this.x(end) + 42), this.y(0) + 12, {
      ...muted,
      align: 'right',
    });
    r.text('death ε', 14, this.y(this.cap), { ...muted, align: 'right', turn: -Math.PI / 2 });
    if (this.side > 150) {
      r.text('dashed: lasts 3 or more', this.x(end) - 6, this.y(0) - 26, { ...muted, align: 'right' });
      r.text('dot area: number of bars', this.x(end) - 6, this.y(0) - 12, { ...muted, align: 'right' });
    }
    for (const d of this.dots.toReversed()) this.drawDot(r, d);
    for (const l of this.labels())
      r.text(l.text, l.x, l.y, { font: { size: 10.5 }, fill: l.bars ? r.theme.muted : r.theme.text });
  }

  private drawDot(r: Renderer, d: Dot): void {
    const { active } = this.input;
    if (d.class < 0) {
      r.path(circle(d.at, d.r), { fill: r.theme.rest });
      return;
    }
    if (d.class === active) r.path(circle(d.at, 9.5), { stroke: r.theme.selected, width: 1.5 });
    r.path(circle(d.at, 6), { fill: d.class === active ? r.theme.selected : r.theme.text });
  }

  /** Labels of the dots, each where it hides neither a dot nor another label. */
  private labels(): readonly Label[] {
    const taken: Rect[] = this.dots.map((d) => ({
      x: d.at.x - d.r,
      y: d.at.y - d.r,
      w: 2 * d.r,
      h: 2 * d.r,
    }));
    if (this.side > 150) {
      const end = this.x(this.cap + 0.6);
      taken.push({ x: end - 140, y: this.y(0) - 32, w: 140, h: 26 }); // what dots and dashes mean
    }
    const { classes } = this.input.info;
    const out: Label[] = [];
    const at = new Map<string, Dot[]>();
    for (const d of this.dots)
      if (d.class >= 0) at.set(`${d.at.x} ${d.at.y}`, [...(at.get(`${d.at.x} ${d.at.y}`) ?? []), d]);
    for (const here of at.values()) {
      const text = labelOf(here.map((d) => classes[d.class]!));
      const w = text.length * LABEL_CHAR;
      const { x, y } = here[0]!.at;
      const places = [0, -14, 14, -26, 26].flatMap((dy) => [
        { x: x + 14, y: y + dy },
        { x: x - 14 - w, y: y + dy },
      ]);
      const free = places.find((p) => {
        const box = { x: p.x, y: p.y - 6, w, h: 12 };
        return p.x > 46 && p.x + w < this.size.w && box.y >= 0 && !taken.some((o) => overlap(box, o));
      });
      if (!free) continue; // said when it is pointed at
      taken.push({ x: free.x, y: free.y - 6, w, h: 12 });
      out.push({ text, ...free, bars: false });
    }
    for (const d of this.dots) {
      // Beside a dot of a class a count would read as that of the class.
      const beside = this.dots.some(
        (o) => o.class >= 0 && Math.abs(o.at.y - d.at.y) < 12 && o.at.x < d.at.x + 60 && o.at.x > d.at.x - 70,
      );
      if (!d.bars || d.bars.count < 8 || beside) continue;
      const text = `× ${d.bars.count}`;
      const box = { x: d.at.x + d.r + 5, y: d.at.y - 6, w: text.length * LABEL_CHAR, h: 12 };
      if (box.x + box.w > this.size.w || taken.some((o) => overlap(box, o))) continue;
      taken.push(box);
      out.push({ text, x: box.x, y: d.at.y, bars: true });
    }
    return out;
  }

  drawHover(r: Renderer): void {
    const d = this.dots[this.input.hovered];
    if (d) r.path(circle(d.at, d.r + 4), { stroke: r.theme.hover, width: 2, dash: [4, 2.5] });
  }

  hitTest(p: Point): number | undefined {
    const i = this.dots.findIndex((d) => Math.hypot(d.at.x - p.x, d.at.y - p.y) <= d.r + 4);
    return i < 0 ? undefined : i;
  }

  /** The class of a dot; -1 for short bars. */
  classOf(mark: number): number {
    return this.dots[mark]?.class ?? -1;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    return stepIndex(from, dir === 'left' || dir === 'up' || dir === 'previous' ? -1 : 1, this.dots.length);
  }

  describe(mark: number): Said {
    const d = this.dots[mark];
    if (!d) return { name: '', more: '' };
    if (d.bars)
      return { name: plural(d.bars.count, 'bar'), more: `from ε = ${d.bars.birth} to ${d.bars.death}` };
    const c = this.input.info.classes[d.class]!;
    return {
      name: this.input.names[d.class] ?? '',
      more: `from ε = ${c.birth} to ${c.death} · ${c.sentence}`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    return barRows(this.input.info, this.input.names);
  }

  summary(): string {
    return `${plural(
      this.input.info.bars.reduce((n, b) => n + b.count, 0),
      'bar',
    )}, ${plural(this.input.info.classes.length, 'class', 'classes')} that last.`;
  }
}

const LABEL_CHAR = 5.8; // width of a character at 10.5 px, on the safe side

function overlap(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** What classes on one dot are called there: their turns. */
function labelOf(classes: readonly CyclesClass[]): string {
  const turning = classes.filter((c) => c.turns !== 0);
  if (turning.length === 0) return 'no turns';
  if (turning.length === 1) return turnsText(turning[0]!);
  const first = turning.slice(0, 3).map((c) => `${roughly(!c.exact)}${short(c.turns)}`);
  return `${first.join(', ')}${turning.length > 3 ? ' …' : ''} turns`;
}

/** The barcode for a file; on screen it is a list of buttons. */
export class BarcodeView implements View<never> {
  readonly size: Size;

  constructor(
    private readonly info: CyclesInfo,
    private readonly names: readonly string[],
    private readonly active: number,
  ) {
    this.size = { w: 420, h: 30 + info.classes.length * 34 + shortBars(info).length * 13 + 10 };
  }

  draw(r: Renderer): void {
    const cap = capOf(this.info);
    const x = (e: number): number => 40 + ((Math.min(e, cap) - 1) / (cap - 1)) * 260;
    const muted = { font: { size: 10.5 }, fill: r.theme.muted };
    r.text('ε', 16, 14, muted);
    for (let e = 1; e <= cap; e++) r.text(String(e), x(e), 14, { ...muted, align: 'center' });
    let y = 30;
    this.info.classes.forEach((c, i) => {
      const strong = {
        font: { size: 12, weight: 600 as const },
        fill: c.turns === 0 ? r.theme.muted : r.theme.text,
      };
      r.text(`${i + 1}  ${this.names[i]}`, 16, y + 6, strong);
      r.text(turnsText(c), 404, y + 6, { ...strong, align: 'right' });
      r.rect(
        { x: x(c.birth), y: y + 17, w: x(c.death) - x(c.birth), h: 7 },
        { fill: i === this.active ? r.theme.selected : c.turns === 0 ? r.theme.rest : r.theme.line },
      );
      r.text(c.alive ? `lasts ≥ ${c.death - c.birth}` : `lasts ${c.death - c.birth}`, 404, y + 21, {
        ...muted,
        align: 'right',
      });
      y += 34;
    });
    for (const b of shortBars(this.info)) {
      r.rect({ x: x(b.birth), y: y + 5, w: x(b.death) - x(b.birth), h: 4 }, { fill: r.theme.rest });
      r.text(`× ${b.count}`, 404, y + 7, { ...muted, align: 'right' });
      y += 13;
    }
  }

  drawHover(): void {}

  hitTest(): undefined {
    return undefined;
  }

  step(): undefined {
    return undefined;
  }

  describe(): Said {
    return { name: '', more: '' };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    return barRows(this.info, this.names);
  }

  summary(): string {
    return `${plural(this.info.classes.length, 'class', 'classes')}.`;
  }
}
