// Where samples are by their call stacks: a flame graph whose frames are as wide
// as what they weigh, what a function calls below it. Around one function it has
// the paths that lead to it above and those that begin at it below.
import type { CallNode, CallTree, CallWeight } from '../../../api/wire';
import { count, percent, roughly, plural } from '../../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import type { KeptView, Said, Table } from '../../../frame/view';
import { pathTerm } from '../../../state/callpath';
import { termText, type Term } from '../../../state/selection';

export type CallValue = 'samples' | 'latency';
export type CallPart = 'callees' | 'callers';

/** A frame by its path, which outlives an answer; the empty one stands for everything. */
export interface CallMark {
  readonly part: CallPart;
  readonly path: readonly string[]; // of callers: from the function outwards
}

export interface CallsInput {
  readonly tree: CallTree;
  readonly value: CallValue;
  readonly unit: string; // of latencies
  readonly timed: boolean; // whether there are any
  readonly modelled: boolean;
  readonly size: Size;
  readonly top: number; // px that are scrolled away
  readonly brush: readonly Term[]; // of the stacks
  readonly hover: Term | undefined;
}

export interface Frame extends CallMark {
  readonly node: CallNode;
  readonly parent: Frame | undefined;
  readonly x: number; // shares of the width
  readonly w: number;
  readonly row: number; // from the function, upwards negative
}

export const START = '(start of the stack)';
export const ROW = 18;
const PAD = 12;
const STRIP = 4; // px of the hovered part
const LEAST = 0.4; // px; narrower frames are not drawn
const LABEL: Font = { size: 11 };

export function weightOf(w: CallWeight, value: CallValue): number {
  return value === 'latency' ? w.latency : w.samples;
}

/** The samples of a frame; undefined for everything. */
export function termOf(tree: CallTree, { part, path }: CallMark): Term | undefined {
  if (path.length === 0) return undefined;
  if (part === 'callees') return pathTerm(path, tree.function === '');
  const fromStart = path.at(-1) === '';
  return pathTerm([...path.filter((f) => f !== '').toReversed(), tree.function], fromStart);
}

/** Places frames under their parents. With recursion children can weigh more than what they share; then they are drawn narrower. */
export function frames(tree: CallTree, value: CallValue): Frame[] {
  const whole = Math.max(weightOf(tree.total, value), Number.MIN_VALUE);
  const root: Frame = {
    part: 'callees',
    path: [],
    node: {
      function: '',
      depth: -1,
      total: tree.total,
      self: ZERO,
      selected: tree.selected,
      hovered: tree.hovered,
    },
    parent: undefined,
    x: 0,
    w: 1,
    row: 0,
  };
  const around = tree.function !== '';
  const out: Frame[] = around ? [] : [root];
  const place = (part: CallPart, nodes: readonly CallNode[]): void => {
    const children = sumsOfChildren(nodes, value);
    const open: { frame: Frame; next: number; scale: number }[] = [
      { frame: root, next: 0, scale: 1 / Math.max(whole, children.get(-1) ?? 0) },
    ];
    nodes.forEach((node, i) => {
      open.length = node.depth + 1;
      const above = open.at(-1)!;
      const w = weightOf(node.total, value) * above.scale;
      const frame: Frame = {
        part,
        path: [...above.frame.path, node.function],
        node,
        parent: above.frame === root && around ? undefined : above.frame,
        x: above.next,
        w,
        row: part === 'callers' ? -1 - node.depth : node.depth + (around ? 0 : 1),
      };
      above.next += w;
      out.push(frame);
      const own = Math.max(weightOf(node.total, value), children.get(i) ?? 0);
      open.push({ frame, next: frame.x, scale: own > 0 ? w / own : 0 });
    });
  };
  place('callers', tree.callers);
  place('callees', tree.callees);
  return out;
}

const ZERO: CallWeight = { samples: 0, latency: 0 };

/** What the children of each node weigh together; −1 is above all. */
function sumsOfChildren(nodes: readonly CallNode[], value: CallValue): Map<number, number> {
  const out = new Map<number, number>();
  const path: number[] = [];
  nodes.forEach((n, i) => {
    path.length = n.depth;
    const parent = path.at(-1) ?? -1;
    out.set(parent, (out.get(parent) ?? 0) + weightOf(n.total, value));
    path.push(i);
  });
  return out;
}

export class CallsView implements KeptView<CallMark> {
  readonly size: Size;
  readonly frames: readonly Frame[];
  private readonly byKey: ReadonlyMap<string, Frame>;
  private readonly rise: number; // rows of callers

  constructor(protected readonly input: CallsInput) {
    this.size = input.size;
    this.frames = frames(input.tree, input.value);
    this.byKey = new Map(this.frames.map((f) => [keyOf(f), f]));
    this.rise = -Math.min(0, ...this.frames.map((f) => f.row));
  }

  get basis(): unknown {
    return { ...this.input, hover: undefined };
  }

  get basisOver(): unknown {
    return [this.basis, this.input.hover];
  }

  private get wide(): number {
    return Math.max(1, this.size.w - 2 * PAD);
  }

  /** px of all rows. */
  get high(): number {
    return (this.rise + 1 + Math.max(0, ...this.frames.map((f) => f.row))) * ROW;
  }

  rectOf(f: Frame): Rect {
    return {
      x: PAD + f.x * this.wide,
      y: (f.row + this.rise) * ROW - this.input.top,
      w: f.w * this.wide,
      h: ROW - 1,
    };
  }

  draw(r: Renderer): void {
    const { brush, tree, value } = this.input;
    const chosen = new Set(brush.map(termText));
    for (const f of this.frames) {
      const box = this.rectOf(f);
      if (box.w < LEAST || box.y + box.h < 0 || box.y > this.size.h) continue;
      const gap = box.w > 4 ? 1 : 0;
      const inner = { ...box, w: box.w - gap };
      const part = (w: CallWeight): number =>
        inner.w * clamp(weightOf(w, value) / Math.max(weightOf(f.node.total, value), Number.MIN_VALUE), 0, 1);
      const ink = this.fillFrame(r, f, inner, part);
      if (weightOf(f.node.hovered, value) > 0)
        r.rect(
          { ...inner, y: box.y + box.h - STRIP, h: STRIP, w: Math.max(2, part(f.node.hovered)) },
          { fill: r.theme.hover },
        );
      if (box.w > 26)
        r.text(fit(this.labelOf(f), box.w - 8, LABEL, r.measure), box.x + 4, box.y + box.h / 2, {
          font: LABEL,
          fill: ink,
        });
      const term = termOf(tree, f);
      if (term && chosen.has(termText(term)))
        r.rect({ ...inner, h: inner.h - 1 }, { stroke: r.theme.selected, width: 2 });
    }
    this.drawScroll(r);
  }

  /** Fills a frame and returns the colour of what is written on it; part is how wide a part of it is. */
  protected fillFrame(r: Renderer, f: Frame, inner: Rect, part: (w: CallWeight) => number): string {
    r.rect(inner, { fill: r.theme['rest-bar'] });
    r.rect({ ...inner, w: part(f.node.selected) }, { fill: r.theme['selected-bar'] });
    return r.theme.text;
  }

  protected labelOf(f: Frame): string {
    return this.nameOf(f);
  }

  private drawScroll(r: Renderer): void {
    if (this.high <= this.size.h) return;
    const { h } = this.size;
    r.rect(
      {
        x: this.size.w - 6,
        y: (this.input.top / this.high) * h,
        w: 3,
        h: Math.max(12, (h / this.high) * h),
      },
      { fill: r.theme.line },
      1.5,
    );
  }

  drawHover(r: Renderer): void {
    const { hover, tree } = this.input;
    if (hover?.kind !== 'match') return;
    const wanted = termText(hover);
    for (const f of this.frames) {
      const term = termOf(tree, f);
      if (!term || termText(term) !== wanted) continue;
      const box = this.rectOf(f);
      r.rect({ x: box.x - 0.5, y: box.y - 0.5, w: Math.max(3, box.w), h: box.h + 1 }, HALO(r));
      r.rect(
        { x: box.x - 0.5, y: box.y - 0.5, w: Math.max(3, box.w), h: box.h + 1 },
        { stroke: r.theme.hover, width: 2, dash: [5, 2.5] },
      );
    }
  }

  nameOf(f: CallMark & { readonly node?: CallNode }): string {
    const { path } = this.input.tree;
    if (f.path.length === 0) return path.length > 0 ? `all below ${path.at(-1)!}` : 'all stacks';
    return f.path.at(-1) || START;
  }

  frameOf(m: CallMark): Frame | undefined {
    return this.byKey.get(keyOf(m));
  }

  hitTest(p: Point): CallMark | undefined {
    const row = Math.floor((p.y + this.input.top) / ROW) - this.rise;
    const x = (p.x - PAD) / this.wide;
    const f = this.frames.find(
      (g) =>
        g.row === row && x >= g.x && x < g.x + Math.max(g.w, LEAST / this.wide) && g.w * this.wide >= LEAST,
    );
    return f && { part: f.part, path: f.path };
  }

  step(from: CallMark | undefined, dir: Dir): CallMark | undefined {
    const mark = (f: Frame | undefined): CallMark | undefined => f && { part: f.part, path: f.path };
    const here = from && this.frameOf(from);
    const first = this.frames.find((f) => f.row === 0);
    if (!here) return mark(first);
    const outwards = here.part === 'callers' ? 'up' : 'down';
    if (dir === 'next' || dir === 'previous') {
      const at = this.frames.indexOf(here) + (dir === 'next' ? 1 : -1);
      return mark(this.frames[clamp(at, 0, this.frames.length - 1)]);
    }
    if (dir === 'up' || dir === 'down') {
      const child = this.frames.find((f) => f.parent === here);
      if (dir === outwards) return mark(child ?? here);
      // From the function itself the callers are the other way.
      const other = here.row === 0 ? this.frames.find((f) => f.part === 'callers' && f.row === -1) : first;
      return mark(here.parent ?? other ?? here);
    }
    const line = this.frames.filter((f) => f.row === here.row).toSorted((a, b) => a.x - b.x);
    const to = { left: line.indexOf(here) - 1, right: line.indexOf(here) + 1, first: 0, last: line.length }[
      dir
    ];
    return mark(line[clamp(to, 0, line.length - 1)]);
  }

  describe(m: CallMark): Said {
    const f = this.frameOf(m);
    if (!f) return { name: m.path.at(-1) ?? '', more: '· not in this picture' };
    const { modelled, timed, tree, unit, value } = this.input;
    const { total, self, selected, hovered } = f.node;
    const about = roughly(modelled);
    const whole = weightOf(tree.total, value);
    const parts = [plural(total.samples, 'sample')];
    if (m.path.length > 0 && f.part === 'callees') parts.push(`${count(self.samples)} in itself`);
    if (timed) parts.push(`${about}${count(total.latency)} ${unit}`);
    parts.push(`${percent(weightOf(total, value), whole)} of ${value === 'latency' ? unit : 'samples'}`);
    if (selected.samples < total.samples) parts.push(`${count(selected.samples)} selected`);
    if (hovered.samples > 0 && hovered.samples < total.samples)
      parts.push(`${count(hovered.samples)} hovered`);
    return { name: this.nameOf(f), more: `· ${parts.join(' · ')}`, counted: total.samples };
  }

  wanted(m: CallMark): Term | undefined {
    return termOf(this.input.tree, m);
  }

  rows(): Table {
    const { timed, tree, unit } = this.input;
    const latency = timed ? [`latency ${unit}`.trim(), `own latency ${unit}`.trim()] : [];
    return {
      head: [
        'direction',
        'depth',
        'function',
        'samples',
        'own samples',
        'selected samples',
        ...latency,
        'path',
      ],
      rows: this.frames
        .filter((f) => f.path.length > 0)
        .map((f) => [
          tree.function === '' ? 'from the start' : f.part === 'callers' ? 'called by' : 'calls',
          String(f.node.depth),
          this.nameOf(f),
          ...[f.node.total, f.node.self, f.node.selected].map((w) => String(w.samples)),
          ...(timed ? [String(f.node.total.latency), String(f.node.self.latency)] : []),
          f.path.map((p) => p || START).join(';'),
        ]),
    };
  }

  summary(): string {
    const { tree, value } = this.input;
    const of = tree.function ? `to and from ${tree.function}` : 'of all calls';
    const left = tree.left > 0 ? `; ${plural(tree.left, 'path')} too light to be drawn` : '';
    return `Flame graph ${of} by ${value}: ${plural(tree.total.samples, 'sample')} in ${plural(this.frames.length, 'frame')}${left}`;
  }
}

const HALO = (r: Renderer): { stroke: string; width: number } => ({ stroke: r.theme.bg, width: 4 });

function keyOf(m: CallMark): string {
  return JSON.stringify([m.part, m.path]);
}
