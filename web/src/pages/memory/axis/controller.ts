// What people do with the single axis: zooming, brushing, cutting the tree. Zoom
// and cut are part of the link.
import { clamp, type Point } from '../../../base/geometry';
import type { Gesture } from '../../../frame/context';
import type { Action } from '../../../frame/keymap';
import type { MenuItem } from '../../../frame/PopMenu.svelte';
import { brushed, type Selection } from '../../../state/selection';
import type { MemoryDesk } from '../desk';
import type { GuidedMark, GuidedView } from '../views/guided';
import type { AxisModel } from './model.svelte';

export class AxisControl {
  constructor(private readonly model: Pick<AxisModel, 'column' | 'desk' | 'dragged' | 'range' | 'view'>) {}

  private get desk(): MemoryDesk {
    return this.model.desk;
  }

  private get select(): Selection {
    return this.desk.snap.state.select;
  }

  // ---- zoom and pan ----

  private zoomTo(lo: number, hi: number): void {
    const { column } = this.model;
    if (column && hi > lo) this.desk.store.option('axis.zoom', `${column.name} ${lo} ${hi}`);
  }

  private zoom(by: number, at: Point | undefined): boolean {
    const { column, view } = this.model;
    if (!view || view.histogram.layout.named) return false;
    const l = view.histogram.layout;
    const x = at ? clamp(at.x - view.plot.x, 0, view.plot.w) : view.plot.w / 2;
    if (by < 1) {
      this.zoomTo(l.valueAt(x - x * by), l.valueAt(x + (view.plot.w - x) * by));
      return true;
    }
    const { lo, hi } = l.input.answer;
    const full = { lo: Number(column?.min ?? lo), hi: Number(column?.max ?? hi) };
    const grow = (hi - lo) * (by - 1);
    const next = {
      lo: Math.max(full.lo, lo - grow * (x / view.plot.w)),
      hi: Math.min(full.hi, hi + grow * (1 - x / view.plot.w)),
    };
    if (next.lo <= full.lo && next.hi >= full.hi) this.showAll();
    else this.zoomTo(next.lo, next.hi);
    return true;
  }

  private pan(part: number): boolean {
    const { range, view } = this.model;
    if (!view || !range) return false;
    const step = (range.hi - range.lo) * part;
    this.zoomTo(range.lo + step, range.hi + step);
    return true;
  }

  private showAll(): void {
    this.desk.store.option('axis.zoom', undefined);
  }

  /** Zooms to the brush, if there is one. */
  private fit(): boolean {
    const { column } = this.model;
    const [t] = column ? brushed(this.select, column.name) : [];
    if (t?.kind === 'range' && t.lo !== undefined && t.hi !== undefined)
      this.zoomTo(Number(t.lo), Number(t.hi));
    return t !== undefined;
  }

  readonly act = (action: Action, mark: GuidedMark | undefined, at: Point | undefined): boolean => {
    switch (action) {
      case 'zoom-in':
        return this.zoom(0.5, at ?? this.middle(mark));
      case 'zoom-out':
        return this.zoom(2, at ?? this.middle(mark));
      case 'pan-left':
        return this.pan(-0.25);
      case 'pan-right':
        return this.pan(0.25);
      case 'reset':
        this.showAll();
        return true;
      case 'fit':
        return this.fit();
      default:
        return false;
    }
  };

  private middle(mark: GuidedMark | undefined): Point | undefined {
    const { view } = this.model;
    if (!mark || !view) return undefined;
    if ('bin' in mark) return { x: view.plot.x + view.histogram.layout.middle(mark.bin), y: 0 };
    return 'cluster' in mark ? view.anchor(mark.cluster) : undefined;
  }

  // ---- the cut of the tree ----

  private setHeight(height: number): void {
    const { ['cluster.cut']: _, ...rest } = this.desk.snap.state.options;
    this.desk.store.change({ options: { ...rest, 'cluster.height': String(height) } });
  }

  readonly items = (m: GuidedMark | undefined): readonly MenuItem[] => {
    if (!m || !('merge' in m)) return [];
    const height = this.model.view?.tree?.node(m.merge)?.height ?? 0;
    return [{ label: 'Cut below this merge', run: () => this.setHeight(Math.max(0, height * (1 - 1e-9))) }];
  };

  // ---- gestures ----

  readonly grab = (p: Point, e: PointerEvent): Gesture | undefined => {
    const { column, view } = this.model;
    if (!view || !column) return undefined;
    if (view.heightAt(p) !== undefined) return this.cutGesture(p);
    const hit = view.hitTest(p);
    if (hit === undefined || 'cluster' in hit) return undefined;
    return this.brushGesture(view, column.name, p, e.shiftKey);
  };

  private cutGesture(p: Point): Gesture {
    const { model } = this;
    const at = (q: Point): number | undefined => {
      const { view } = model;
      return view?.heightAt({ x: p.x, y: clamp(q.y, 0, view.axisY) });
    };
    return {
      move: (q) => (model.dragged = at(q)),
      end: (q) => {
        const h = at(q);
        model.dragged = undefined;
        if (h !== undefined) this.setHeight(h);
      },
      cancel: () => (model.dragged = undefined),
    };
  }

  private brushGesture(v: GuidedView, name: string, p: Point, adding: boolean): Gesture {
    const { store } = this.desk;
    const all = brushed(this.select, name);
    const kept = adding ? all : [];
    const edge = v.brushAt(p);
    const old = edge && all[edge.index];
    let start = p.x - v.plot.x;
    if (edge && old?.kind === 'range') {
      const fixed = edge.part === 'low' ? old.hi : old.lo;
      if (fixed !== undefined) start = v.histogram.layout.positionOf(Number(fixed));
    }
    const set = (q: Point, moving: boolean): void => {
      const { view } = this.model;
      if (!view) return;
      const to = clamp(q.x - view.plot.x, 0, view.plot.w);
      store.brush(name, [...kept, ...view.histogram.layout.brushTerms(start, to)], moving);
    };
    return {
      begin: () => store.prepare(v.histogram.layout.input.answer),
      move: (q) => set(q, true),
      end: (q) => set(q, false),
      cancel: () => store.cancelMove(),
    };
  }

  readonly cursorAt = (p: Point): string => {
    const { view } = this.model;
    if (view?.brushAt(p)) return 'ew-resize';
    const hit = view?.hitTest(p);
    if (hit && !('bin' in hit)) return 'pointer';
    return view?.heightAt(p) !== undefined ? 'ns-resize' : 'crosshair';
  };
}
