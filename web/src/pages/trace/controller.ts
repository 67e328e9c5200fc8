// What the trace page does: every way to move, zoom, select and follow, for the
// pointer, the keys and the panes. It knows no framework: the page gives it what
// is shown and takes what is to be shown next.
import type { Point, Size } from '../../base/geometry';
import type { Gesture } from '../../frame/context';
import type { Action } from '../../frame/keymap';
import type { LogicalView } from './logical';
import type { OverviewView } from './overview';
import type { PhysicalView } from './physical';
import { NONE } from './picture';
import type { Scene } from './scene';
import type { TraceState } from './state';
import { EDGE, GUTTER, panned, zoomed } from './timeline';

export interface Views {
  readonly logical: LogicalView | undefined;
  readonly physical: PhysicalView | undefined;
  readonly overview: OverviewView | undefined;
}

export interface Brush {
  readonly view: 'logical' | 'physical';
  readonly from: number; // px
  readonly to: number;
}

/** Where an operation is. */
export interface Spot {
  readonly id: number;
  readonly step: number;
  readonly process: number;
}

/** What the page keeps. */
export interface Held {
  readonly scene: () => Scene;
  readonly views: () => Views;
  readonly size: (of: 'logical' | 'physical') => Size;
  /** A state for the link; undefined ends a movement without one. */
  readonly save: (s: TraceState | undefined) => void;
  /** A state while something moves. */
  readonly show: (s: TraceState) => void;
  readonly brush: (b: Brush | undefined) => void;
  /** Looks for the next operation of a text, or the one before. */
  readonly find: (text: string, from: number, back: boolean) => Promise<Spot | undefined>;
}

const WHEEL_REST = 150; // ms after which a movement by the wheel has ended

export class TraceControl {
  private wheelEnd: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly held: Held) {}

  close(): void {
    clearTimeout(this.wheelEnd);
  }

  private get scene(): Scene {
    return this.held.scene();
  }

  readonly commit = (patch: Partial<TraceState>): void => {
    this.held.save({ ...this.scene.now, ...patch });
  };

  private move(patch: Partial<TraceState>): void {
    this.held.show({ ...this.scene.now, ...patch });
  }

  readonly pick = (op: number): boolean => {
    this.commit({ op, pane: 'operation' });
    return true;
  };

  // ---- going somewhere ----

  /** The windows that show a place: those on screen, or as wide ones about it. */
  private revealing(step: number, process: number): Partial<TraceState> {
    const { from, to, steps, now, picture } = this.scene;
    const span = to - from;
    const start = Math.max(0, Math.min(steps - span, Math.floor(step - span / 2)));
    const rows = now.rowTo - now.rowFrom;
    // In the order of ranks a row is a process; in others it may not be there at all.
    const above = rows > 0 && now.order.by === 'rank' && (process < now.rowFrom || process >= now.rowTo);
    const first = Math.max(
      0,
      Math.min((picture?.logical?.rows ?? rows) - rows, process - Math.floor(rows / 2)),
    );
    return {
      ...(!(step >= from && step < to) && { from: start, to: start + span, timeFrom: 0, timeTo: 0 }),
      ...(above && { rowFrom: first, rowTo: first + rows }),
    };
  }

  /** Selects an operation and brings it into view. */
  readonly goTo = (spot: Spot): void => {
    const { now } = this.scene;
    this.commit({
      op: spot.id,
      pane: now.pane === 'code' ? 'code' : 'operation',
      ...this.revealing(spot.step, spot.process),
    });
  };

  /** Makes a cause the active one, and shows one of its instances. */
  readonly follow = (entry: number, at: Spot | undefined): void => {
    const { now } = this.scene;
    this.commit({
      entry,
      ...(at && at.id >= 0
        ? {
            op: at.id,
            pane: now.pane === 'code' ? ('code' as const) : ('operation' as const),
            ...this.revealing(at.step, at.process),
          }
        : { op: -1 }),
    });
  };

  /** A column of the overview: its latest operation, brought into view. */
  readonly pickColumn = (i: number): boolean => {
    const { picture, steps, now } = this.scene;
    const o = picture?.overview;
    // Its rank is not known here: rows stay as they are.
    if (o && o.op[i] !== NONE)
      this.goTo({ id: o.op[i]!, step: Math.floor((i * steps) / o.most.length), process: now.rowFrom });
    return true;
  };

  // ---- windows ----

  setSteps(a: number, b: number): void {
    const { steps } = this.scene;
    const [lo, hi] = [Math.max(0, Math.floor(a)), Math.min(steps, Math.ceil(b))];
    if (hi - lo < 1) return;
    const whole = hi - lo >= steps;
    this.commit({ from: whole ? 0 : lo, to: whole ? 0 : hi, timeFrom: 0, timeTo: 0 });
  }

  private zoomSteps(at: number, factor: number): void {
    const { from, to, steps } = this.scene;
    const [a, b] = zoomed(from, to, at, factor, steps, 4);
    this.setSteps(Math.round(a), Math.max(Math.round(a) + 1, Math.round(b)));
  }

  private zoomTime(at: number, factor: number): void {
    const { timeFrom, timeTo, span } = this.scene;
    const [a, b] = zoomed(timeFrom, timeTo, at, factor, span, 1000);
    this.commit({ timeFrom: Math.round(a), timeTo: Math.round(b) });
  }

  zoomRows(line: number, factor: number): void {
    const { picture, now } = this.scene;
    const all = picture?.logical?.rows ?? 1;
    const [a, b] = [now.rowFrom, now.rowTo > now.rowFrom ? now.rowTo : all];
    const [lo, hi] = zoomed(a, b, a + line, factor, all, 4);
    this.commit(
      hi - lo >= all ? { rowFrom: 0, rowTo: 0 } : { rowFrom: Math.round(lo), rowTo: Math.round(hi) },
    );
  }

  private panSteps(quarters: number): void {
    const { from, to, steps } = this.scene;
    this.setSteps(...panned(from, to, quarters * Math.max(1, Math.round((to - from) / 4)), steps));
  }

  private panTime(quarters: number): void {
    const { timeFrom, timeTo, span } = this.scene;
    const [a, b] = panned(timeFrom, timeTo, (quarters / 4) * (timeTo - timeFrom), span);
    this.commit({ timeFrom: Math.round(a), timeTo: Math.round(b) });
  }

  /** Ends a movement on whole steps. */
  private settle(): void {
    const { now, steps } = this.scene;
    if (now.to > now.from) {
      const span = Math.round(now.to - now.from);
      const a = Math.max(0, Math.min(steps - span, Math.round(now.from)));
      this.commit(span >= steps ? { from: 0, to: 0 } : { from: a, to: a + span });
    } else {
      this.commit({});
    }
  }

  // ---- keys ----

  readonly actSteps = (
    action: Action,
    mark: number | undefined,
    at: Point | undefined,
    e?: Event,
  ): boolean => {
    const v = this.held.views().logical;
    if (!v) return false;
    const { from, to, chain, trace } = this.scene;
    switch (action) {
      case 'zoom-in':
      case 'zoom-out': {
        const factor = action === 'zoom-in' ? 0.5 : 2;
        if (e instanceof WheelEvent && e.shiftKey && at) this.zoomRows(v.lineAt(at.y), factor);
        else this.zoomSteps(at ? v.valueAt(at.x) : (this.middleOf(mark) ?? (from + to) / 2), factor);
        return true;
      }
      case 'pan-left':
        this.panSteps(-1);
        return true;
      case 'pan-right':
        this.panSteps(1);
        return true;
      case 'fit': {
        const places = chain.length > 0 ? chain : trace.selected ? [trace.selected] : [];
        const at = places.map((p) => p.step);
        if (at.length > 0) this.setSteps(Math.min(...at) - 1, Math.max(...at) + 2);
        return true;
      }
      case 'reset':
        this.commit({ from: 0, to: 0, timeFrom: 0, timeTo: 0, rowFrom: 0, rowTo: 0 });
        return true;
      default:
        return this.findNext(action);
    }
  };

  readonly actTime = (action: Action, _: number | undefined, at: Point | undefined): boolean => {
    const v = this.held.views().physical;
    if (!v) return false;
    const { timeFrom, timeTo } = this.scene;
    const x = at ? v.valueAt(at.x) : (timeFrom + timeTo) / 2;
    switch (action) {
      case 'zoom-in':
        this.zoomTime(x, 0.5);
        return true;
      case 'zoom-out':
        this.zoomTime(x, 2);
        return true;
      case 'pan-left':
        this.panTime(-1);
        return true;
      case 'pan-right':
        this.panTime(1);
        return true;
      case 'reset':
      case 'fit':
        this.commit({ timeFrom: 0, timeTo: 0 });
        return true;
      default:
        return this.findNext(action);
    }
  };

  private middleOf(op: number | undefined): number | undefined {
    const o = this.scene.picture?.logical?.ops;
    const i = op === undefined ? -1 : (o?.id.indexOf(op) ?? -1);
    return i >= 0 ? o!.step[i]! + 0.5 : undefined;
  }

  // ---- pointer ----

  readonly wheelSteps = (e: WheelEvent): void => {
    const { now, from, to, steps, picture } = this.scene;
    if (now.rowTo > now.rowFrom && !e.shiftKey && Math.abs(e.deltaY) > Math.abs(e.deltaX)) {
      const by = Math.sign(e.deltaY) * Math.max(1, Math.round((now.rowTo - now.rowFrom) / 10));
      const [a, b] = panned(now.rowFrom, now.rowTo, by, picture?.logical?.rows ?? 0);
      this.move({ rowFrom: a, rowTo: b });
    } else {
      const by = ((e.deltaX || e.deltaY) / Math.max(1, this.held.size('logical').w)) * (to - from);
      const [a, b] = panned(from, to, by, steps);
      this.move({ from: a, to: b, timeFrom: 0, timeTo: 0 });
    }
    clearTimeout(this.wheelEnd);
    this.wheelEnd = setTimeout(() => {
      if (this.scene.moving) this.settle();
    }, WHEEL_REST);
  };

  /** A drag that marks a stretch of a timeline. */
  private brushing(view: Brush['view'], p: Point, done: (to: Point) => void): Gesture {
    return {
      move: (q) => this.held.brush({ view, from: Math.min(p.x, q.x), to: Math.max(p.x, q.x) }),
      end: (q) => {
        this.held.brush(undefined);
        done(q);
      },
      cancel: () => this.held.brush(undefined),
    };
  }

  readonly grabSteps = (p: Point, e: PointerEvent): Gesture | undefined => {
    const v = this.held.views().logical;
    if (!v) return undefined;
    if (p.x < GUTTER) return this.toggleRow(v.lineAt(p.y));
    if (e.shiftKey) return this.dragSteps(p);
    const start = v.valueAt(p.x);
    return this.brushing('logical', p, (q) => {
      const end = v.valueAt(q.x);
      this.setSteps(Math.min(start, end), Math.max(start, end));
    });
  };

  private dragSteps(p: Point): Gesture {
    const { from: a, to: b, steps } = this.scene;
    const w = this.held.size('logical').w - GUTTER - EDGE;
    return {
      move: (q) => {
        const [lo, hi] = panned(a, b, ((p.x - q.x) / w) * (b - a), steps);
        this.move({ from: lo, to: hi, timeFrom: 0, timeTo: 0 });
      },
      end: () => this.settle(),
      cancel: () => this.held.save(undefined),
      cursor: 'grabbing',
    };
  }

  readonly grabTime = (p: Point, e: PointerEvent): Gesture | undefined => {
    const v = this.held.views().physical;
    if (!v) return undefined;
    if (e.shiftKey) return this.dragTime(p);
    const start = v.valueAt(p.x);
    return this.brushing('physical', p, (q) => {
      const ends = [start, v.valueAt(q.x)];
      this.commit({
        timeFrom: Math.round(Math.min(...ends)),
        timeTo: Math.round(Math.max(...ends)),
        from: 0,
        to: 0,
      });
    });
  };

  private dragTime(p: Point): Gesture {
    const { timeFrom: a, timeTo: b, span } = this.scene;
    const w = this.held.size('physical').w - GUTTER - EDGE;
    return {
      move: (q) => {
        const [lo, hi] = panned(a, b, ((p.x - q.x) / w) * (b - a), span);
        this.move({ timeFrom: lo, timeTo: hi });
      },
      end: () => {
        const { now } = this.scene;
        this.commit({ timeFrom: Math.round(now.timeFrom), timeTo: Math.round(now.timeTo) });
      },
      cancel: () => this.held.save(undefined),
      cursor: 'grabbing',
    };
  }

  /** A click on the label of a row opens its cluster, or closes it. */
  private toggleRow(index: number): Gesture | undefined {
    const { picture } = this.scene;
    const line = picture?.logical?.lines[index];
    if (!line || line.cluster < 0) return undefined;
    return {
      move: () => {},
      end: () => {},
      cancel: () => this.toggleCluster(line.cluster, line.members > 1),
    };
  }

  toggleCluster(cluster: number, open: boolean): void {
    const { order } = this.scene.now;
    this.commit({
      order: {
        ...order,
        open: open ? [...order.open, cluster].sort((a, b) => a - b) : order.open.filter((c) => c !== cluster),
      },
      rowFrom: 0,
      rowTo: 0,
    });
  }

  readonly grabOverview = (p: Point): Gesture | undefined => {
    const v = this.held.views().overview;
    if (!v) return undefined;
    const { from: a, to: b, steps } = this.scene;
    const edge = v.edgeAt(p.x);
    const start = v.stepAt(p.x);
    const inside = !edge && start > a && start < b && b - a < steps;
    const at = (q: Point): readonly [number, number] => {
      const s = v.stepAt(q.x);
      if (edge === 'from') return [Math.min(s, b - 1), b];
      if (edge === 'to') return [a, Math.max(s, a + 1)];
      return inside ? panned(a, b, s - start, steps) : [Math.min(start, s), Math.max(start, s)];
    };
    return {
      move: (q) => {
        const [lo, hi] = at(q);
        const from = Math.floor(lo);
        if (hi > lo) this.move({ from, to: Math.max(from + 1, Math.ceil(hi)), timeFrom: 0, timeTo: 0 });
      },
      end: (q) => {
        const [lo, hi] = at(q);
        this.setSteps(Math.round(lo), Math.max(Math.round(lo) + 1, Math.round(hi)));
      },
      cancel: () => this.held.save(undefined),
    };
  };

  // ---- finding ----

  /** Goes to the next operation that a text means, from the selected one on. */
  readonly find = async (text: string, back = false): Promise<void> => {
    const at = await this.held.find(text, this.scene.kept.op, back);
    if (at) this.commit({ find: text, op: at.id, pane: 'operation', ...this.revealing(at.step, at.process) });
  };

  private findNext(action: Action): boolean {
    const { find } = this.scene.kept;
    if (find === '' || (action !== 'next' && action !== 'previous')) return false;
    void this.find(find, action === 'previous');
    return true;
  }

  // ---- changes ----

  /** Another change on top of those that are made. */
  readonly whatIf = (text: string): void => {
    const { kept } = this.scene;
    const change = text.trim();
    if (change !== '' && !kept.changes.includes(change)) this.commit({ changes: [...kept.changes, change] });
  };
}
