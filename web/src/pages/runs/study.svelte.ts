// What the page of a study shows, derived from the link and the answer.
import type { StudyAnswer } from '../../api/wire';
import type { Point, Size } from '../../base/geometry';
import type { Desk, Gesture } from '../../frame/context';
import { axisOf, firstAxes, kept, readBrush, writeBrush, type Brush } from './columns';
import { ParallelRuns } from './parallelruns';
import { SeriesView, type SeriesPoint } from './series';
import { readRuns, writeRuns, type RunsState } from './state';
import type { RunsSnapshot, RunsStore } from './store';

/** The axis of the order of the runs, in a link. */
const ALONG = 'order';
const NOWHERE: Size = { w: 0, h: 0 };

export class StudyModel {
  data = $state.raw<RunsSnapshot>()!;
  parallelSize = $state.raw(NOWHERE);
  seriesSize = $state.raw(NOWHERE);
  hovered = $state(-1);
  dragged = $state.raw<Brush | undefined>();

  readonly now = $derived(readRuns(this.desk.snap.state.options));
  readonly study = $derived<StudyAnswer | undefined>(this.data.study);
  readonly columns = $derived((this.study?.columns ?? []).map(axisOf));
  readonly metrics = $derived(this.columns.filter((c) => !c.parameter).map((c) => c.name));
  readonly parameters = $derived(this.columns.filter((c) => c.parameter && c.scale).map((c) => c.name));
  readonly shown = $derived(
    this.now.axes.length > 0 ? this.now.axes : this.study ? firstAxes(this.study) : [],
  );
  readonly axes = $derived(this.shown.flatMap((name) => this.columns.filter((c) => c.name === name)));
  readonly y = $derived(
    this.now.y || (this.study?.laws[0]?.metric ?? this.study?.changes[0]?.metric ?? this.metrics[0] ?? ''),
  );
  readonly x = $derived(
    this.now.x || (this.study?.laws.find((l) => l.metric === this.y)?.parameter ?? ALONG),
  );
  readonly along = $derived(this.x === ALONG || !this.parameters.includes(this.x));
  readonly colour = $derived(this.columns.find((c) => c.name === (this.now.colour || this.y)));
  readonly brushes = $derived([
    ...this.now.brush.flatMap((b) => readBrush(b) ?? []).filter((b) => b.axis !== this.dragged?.axis),
    ...(this.dragged ? [this.dragged] : []),
  ]);
  readonly kept = $derived(kept(this.columns, this.brushes, this.study?.runs.length ?? 0));

  readonly parallel = $derived.by(() => {
    const { axes, brushes, colour, hovered, kept, now, parallelSize, study } = this;
    if (!study || parallelSize.w === 0) return undefined;
    return new ParallelRuns({
      names: study.runs.map((r) => r.name),
      odd: study.runs.map((r) => r.odd),
      axes,
      colour,
      brushes,
      kept,
      size: parallelSize,
      hovered,
      marked: now.marked,
    });
  });

  private readonly points = $derived.by((): readonly SeriesPoint[] => {
    const { along, study, x, y } = this;
    const ys = study?.columns.find((c) => c.name === y)?.numbers ?? [];
    const xs = study?.columns.find((c) => c.name === x && c.parameter)?.numbers ?? [];
    return (study?.series ?? []).flatMap((run, i) => {
      const [at, v] = [along ? i + 1 : xs[run], ys[run]];
      const r = study!.runs[run]!;
      if (at === null || at === undefined || v === null || v === undefined) return [];
      return [{ run, name: r.name, x: at, y: v, odd: r.odd.includes(y) }];
    });
  });

  readonly series = $derived.by(() => {
    const { along, hovered, kept, now, points, seriesSize, study, x, y } = this;
    if (!study || seriesSize.w === 0) return undefined;
    return new SeriesView({
      points,
      law: along ? undefined : study.laws.find((l) => l.metric === y && l.parameter === x),
      changes: along ? study.changes.filter((c) => c.metric === y) : [],
      xName: along ? `run, in the order ${study.order || 'given'}` : x,
      yName: y,
      kept,
      size: seriesSize,
      hovered,
      marked: now.marked,
    });
  });

  constructor(
    private readonly props: () => { readonly desk: Desk },
    readonly store: RunsStore,
  ) {
    this.data = store.snapshot;
  }

  get desk(): Desk {
    return this.props().desk;
  }

  askServer(): void {
    $effect(() => this.store.wantStudy({ order: this.now.order }));
  }

  readonly commit = (patch: Partial<RunsState>): void => {
    const { desk, now } = this;
    desk.store.change({ options: writeRuns({ ...now, ...patch }, desk.snap.state.options) });
  };

  /** A click marks a run, one on the marked run opens it; with Shift it is compared with the marked one. */
  readonly pick = (run: number, shift = false): boolean => {
    const { marked } = this.now;
    if (shift && marked >= 0 && marked !== run) this.compare(marked, run);
    else if (marked === run) this.open(run);
    else this.commit({ marked: run });
    return true;
  };

  readonly open = (run: number): void => {
    const path = this.study?.runs[run]?.path;
    if (path) void this.desk.store.open(path);
  };

  readonly compare = (a: number, b: number): void => {
    const [x, y] = [this.study?.runs[a]?.path, this.study?.runs[b]?.path];
    if (x && y) void this.store.compare(this.desk.store, x, y);
  };

  /** A drag along an axis keeps the runs inside it. */
  readonly grab = (from: Point): Gesture | undefined => {
    const { parallel } = this;
    const axis = this.axes[parallel?.axisAt(from) ?? -1]?.name;
    if (!parallel || axis === undefined) return undefined;
    const brush = (p: Point): Brush => {
      const [a, b] = [parallel.placeAt(from), parallel.placeAt(p)];
      return { axis, low: Math.min(a, b), high: Math.max(a, b) };
    };
    return {
      move: (p) => (this.dragged = brush(p)),
      end: (p) => {
        this.dragged = undefined;
        const rest = this.now.brush.filter((b) => readBrush(b)?.axis !== axis);
        this.commit({ brush: [...rest, writeBrush(brush(p))] });
      },
      cancel: () => (this.dragged = undefined),
    };
  };
}
