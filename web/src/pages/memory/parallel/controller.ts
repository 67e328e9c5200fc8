// What people do with parallel coordinates: moving axes, brushing them with
// pointer and keys, picking marks.
import type { Axis } from '../../../api/wire';
import { clamp, type Point } from '../../../base/geometry';
import type { Gesture } from '../../../frame/context';
import type { Action } from '../../../frame/keymap';
import { axisQuestion, moveAxis } from '../../../state/axes';
import { brushed, type Term } from '../../../state/selection';
import type { MemoryDesk } from '../desk';
import type { BinMark, ParallelMark, ParallelView } from '../views/parallel';
import type { ParallelModel } from './model.svelte';

export class ParallelControl {
  /** A brush that Shift+arrows stretch from a mark. */
  private extending: { axis: number; bin: number; reach: number; terms: readonly Term[] } | undefined;

  constructor(
    private readonly model: Pick<ParallelModel, 'axes' | 'desk' | 'drag' | 'link' | 'view'>,
    /** Opens the menu of an axis; undefined closes it. */
    private readonly openHead: (axis: number | undefined) => void,
  ) {}

  private get desk(): MemoryDesk {
    return this.model.desk;
  }

  // ---- axes ----

  setAxes(order: readonly string[]): void {
    const own = new Map(this.model.axes.map((a) => [a.column, a]));
    this.desk.store.change({ axes: order.map((column) => own.get(column) ?? { column }) });
  }

  changeAxis(axis: Axis, patch: Partial<Axis>): void {
    const axes = this.model.axes.map((x) => (x === axis ? { ...x, ...patch } : x));
    this.desk.store.change({ axes });
  }

  // ---- gestures ----

  readonly grab = (p: Point, e: PointerEvent): Gesture | undefined => {
    const { view } = this.model;
    const hit = view?.hitTest(p);
    this.openHead(undefined);
    if (!view || !hit || hit.kind === 'window') return undefined;
    return hit.kind === 'head'
      ? this.moveGesture(view, hit.axis, p)
      : this.brushGesture(view, hit.axis, p, e.shiftKey);
  };

  private moveGesture(v: ParallelView, axis: number, p: Point): Gesture {
    const { model } = this;
    const c = v.columns[axis]!;
    const column = c.layout.input.column.name;
    const offset = p.x - c.x;
    const place = (q: Point): { x: number; order: readonly string[] } => {
      const now = model.view!;
      const order = names(now);
      const at = order.indexOf(column);
      return { x: q.x - offset, order: moveAxis(order, at, now.placeFor(q.x - offset + c.w / 2, at)) };
    };
    return {
      move: (q) => (model.drag = { column, ...place(q) }),
      end: () => {
        const order = model.drag?.order ?? names(v);
        model.drag = undefined;
        this.setAxes(order);
      },
      cancel: () => (model.drag = undefined),
    };
  }

  private brushGesture(v: ParallelView, axis: number, p: Point, adding: boolean): Gesture {
    const { axes, link } = this.model;
    const { store } = this.desk;
    const { layout, brushes } = v.columns[axis]!;
    const name = layout.input.column.name;
    const all = brushed(link.select, name);
    const hit = v.brushAt(p);
    const old = hit && brushes[hit.index];
    const others = old ? all.filter((t) => t !== old.term) : adding ? all : [];
    const y = p.y - v.top;
    // An end that is dragged leaves the other one where it is.
    const fixed = !old ? y : (hit.part === 'low') === layout.up ? old.from : old.till;
    const terms = (q: Point): Term[] => {
      const to = clamp(q.y - v.top, 0, v.height);
      if (old && hit.part === 'body') {
        const by = clamp(to - y, -old.from, v.height - old.till);
        return layout.brushTerms(old.from + by, old.till + by);
      }
      return layout.brushTerms(fixed, to);
    };
    const asked = axes.find((a) => a.column === name);
    return {
      begin: () => store.prepare(axisQuestion(layout.input.column, link.bins, asked)),
      move: (q) => store.brush(name, [...others, ...terms(q)], true),
      end: (q) => store.brush(name, [...others, ...terms(q)]),
      cancel: () => store.cancelMove(),
    };
  }

  readonly cursorAt = (p: Point): string | undefined => {
    const { view } = this.model;
    const hit = view?.hitTest(p);
    if (hit?.kind === 'head') return 'grab';
    const b = view?.brushAt(p);
    return b ? (b.part === 'body' ? 'move' : 'ns-resize') : hit ? 'crosshair' : undefined;
  };

  // ---- picking ----

  readonly pick = (m: ParallelMark): boolean => {
    if (m.kind === 'head') this.openHead(m.axis);
    else if (m.kind === 'bin' && this.extending) this.commitExtended();
    else return false;
    return true;
  };

  // ---- keys ----

  readonly act = (
    action: Action,
    mark: ParallelMark | undefined,
    _at: Point | undefined,
    e?: Event,
  ): boolean => {
    if (action === 'close' && this.extending) {
      this.extending = undefined;
      this.desk.store.cancelMove();
      return true;
    }
    const { view } = this.model;
    if (action !== 'extend' || !mark || !view || !(e instanceof KeyboardEvent)) return false;
    if (mark.kind === 'window') return false;
    if (mark.kind === 'bin') return this.extend(view, mark, e.key);
    const to = mark.axis + (e.key === 'ArrowLeft' ? -1 : e.key === 'ArrowRight' ? 1 : 0);
    const order = this.model.axes.map((a) => a.column);
    this.setAxes(moveAxis(order, mark.axis, to));
    return true;
  };

  /** Shift+arrows stretch a brush from the cursor mark; Enter commits it. */
  private extend(v: ParallelView, mark: BinMark, key: string): boolean {
    if (key !== 'ArrowUp' && key !== 'ArrowDown') return false;
    const { layout } = v.columns[mark.axis]!;
    const slots = layout.slots.toSorted((a, b) => a.from - b.from);
    const at = slots.findIndex((s) => s.bin === mark.bin);
    if (at < 0) return false; // the axis has other bins by now
    const x = this.extending;
    const goes = x?.axis === mark.axis && x.bin === mark.bin ? x.reach : at;
    const reach = clamp(goes + (key === 'ArrowUp' ? -1 : 1), 0, slots.length - 1);
    const [a, b] = [Math.min(at, reach), Math.max(at, reach)];
    const terms = layout.brushTerms(slots[a]!.from + 0.01, slots[b]!.till - 0.01);
    this.extending = { axis: mark.axis, bin: mark.bin, reach, terms };
    this.desk.store.brush(layout.input.column.name, terms, true);
    return true;
  }

  private commitExtended(): void {
    const { axis, terms } = this.extending!;
    this.extending = undefined;
    this.desk.store.brush(this.model.view!.columns[axis]!.layout.input.column.name, terms);
  }
}

function names(v: ParallelView): string[] {
  return v.columns.map((k) => k.layout.input.column.name);
}
