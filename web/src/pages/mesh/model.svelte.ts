// What the mesh page shows, derived from the link, the selection and the answers:
// which field and geometry are asked for, on which scales they are drawn, and the
// statistics beside them. It changes nothing but the questions it asks.
import { untrack } from 'svelte';
import type {
  MeshFieldAsk,
  MeshGeometryAsk,
  MeshInfo,
  MeshPlane,
  MeshRelateAsk,
  MeshRelation,
  MeshSummed,
  MeshSummedAsk,
} from '../../api/wire';
import { colourScale, edgesOf, plotScale, wholeScale, type ColourScale } from './scales';
import type { Desk } from '../../frame/context';
import { termText, text } from '../../state/selection';
import type { Vec } from './camera';
import { Body, type Line, type Pane } from './drawer';
import type { Field, Geometry, Picture } from './picture';
import {
  readClip,
  readMesh,
  type Below,
  type ClipPlane,
  type MeshState,
  type MeshView,
  type Show,
} from './state';
import type { PlotScales } from './relationview';
import type { MeshSnapshot, MeshStore } from './store';
import { fieldTitle, readPoint, split } from './words';

export const BINS = 40; // of the relation, each way
const PARTS = 40; // of the legend's histogram
const TEST_REST = 400; // ms before p-values are asked for

/** A question about values where the page shows changes. */
function withoutSince({ since: _, ...ask }: MeshFieldAsk): MeshFieldAsk {
  return ask;
}

export class MeshModel {
  data = $state.raw<MeshSnapshot>()!;
  live = $state.raw<MeshState | undefined>(); // while a slider is dragged
  hovered = $state(-1); // place of the cell in the geometry

  readonly kept = $derived(readMesh(this.desk.snap.state.options));
  readonly now = $derived(this.live ?? this.kept);
  readonly info = $derived<MeshInfo | undefined>(this.data.info);
  readonly picture = $derived<Picture | undefined>(this.data.picture);
  readonly geometry = $derived<Geometry | undefined>(this.picture?.geometry);
  readonly sampled = $derived((this.info?.samples ?? 0) > 0);
  readonly step = $derived.by(() => {
    const { info, kept } = this;
    if (!info) return kept.step;
    return Math.min(kept.step < 0 ? info.steps.length - 1 : kept.step, info.steps.length - 1);
  });
  readonly ready = $derived(this.info !== undefined && this.info.step === this.step);

  // ---- what is shown of it ----

  // A field that was typed into a link may be any COLUMN_AGGREGATE.
  readonly field = $derived(
    this.kept.field !== ''
      ? this.kept.field
      : (this.info?.fields.find((f) => f === 'latency_avg') ?? this.info?.fields[0] ?? ''),
  );
  readonly variables = $derived((this.info?.values ?? []).map((v) => v.name));
  readonly variable = $derived(
    this.variables.includes(this.kept.variable) ? this.kept.variable : (this.variables[0] ?? ''),
  );
  /** The vectors that are drawn as arrows; empty: none. */
  readonly arrows = $derived(this.info?.vectors.includes(this.kept.arrows) ? this.kept.arrows : '');
  readonly show = $derived<Show>(
    !this.sampled ? 'physics' : this.variable === '' ? 'performance' : this.kept.show,
  );
  readonly categories = $derived((this.info?.values ?? []).filter((v) => v.few).map((v) => v.name));
  readonly category = $derived(
    this.kept.category === 'none'
      ? ''
      : this.categories.includes(this.kept.category)
        ? this.kept.category
        : (this.categories[0] ?? ''),
  );

  // Where a selection says where on the mesh, it is outlined; the colours stay
  // those of all its other clauses.
  readonly parts = $derived(split(this.desk.snap.state.select, this.info?.placing ?? []));
  readonly filter = $derived(text(this.desk.snap.state.filter));
  readonly chosen = $derived(this.parts.place.length > 0 ? text(this.desk.snap.state.select) : '');

  /** The dump that values are changes since; undefined: they are no changes. */
  readonly since = $derived.by((): number | undefined => {
    const { info, now, sampled, step } = this;
    const other = now.since >= 0 && now.since < (info?.steps.length ?? 0) && now.since !== step;
    return other && (!sampled || now.mode === 'only') ? now.since : undefined;
  });
  private readonly sinceAsk = $derived(this.since === undefined ? {} : { since: this.since });
  /** The performance field in words. */
  readonly fieldTitle = $derived(fieldTitle({ name: this.field, change: this.since !== undefined }));
  /** The variable of the simulation in words. */
  readonly variableTitle = $derived(fieldTitle({ name: this.variable, change: this.since !== undefined }));

  readonly performanceAsk = $derived<MeshFieldAsk>({
    ...this.sinceAsk,
    step: this.step,
    field: this.field,
    variable: '',
    mode: this.now.mode,
    where: text(this.parts.rest),
    filter: this.filter,
    picked: this.chosen,
  });
  readonly physicsAsk = $derived<MeshFieldAsk>({
    ...this.sinceAsk,
    step: this.step,
    field: '',
    variable: this.variable,
    mode: 'all',
    where: '',
    filter: '',
    picked: '',
  });
  /** The scales of the plot of both, each chosen by its cells. */
  readonly plotScales = $derived.by((): PlotScales | undefined => {
    const { performance, physics } = this.picture ?? {};
    return performance && physics && { x: plotScale(physics), y: plotScale(performance) };
  });
  readonly relateAsk = $derived<MeshRelateAsk>({
    ...this.performanceAsk,
    ...(this.plotScales && {
      edges: edgesOf(this.plotScales.y, BINS),
      against_edges: edgesOf(this.plotScales.x, BINS),
    }),
    against: this.variable,
    by: this.category,
    bins: BINS,
    least: this.now.least,
    permute: false,
  });

  // ---- below the mesh ----

  readonly below = $derived.by((): Below => {
    const { info, kept } = this;
    const dated = info?.iterations !== null && (info?.steps.length ?? 0) > 1;
    if (kept.below === 'overtime' && !(this.sampled && dated)) return 'iterations';
    if (kept.below === 'ranked' && !(this.sampled && this.variable !== '')) return 'iterations';
    return kept.below;
  });
  /** What tells regions over time apart; empty: nothing does. */
  readonly region = $derived(
    this.kept.regions === 'none'
      ? ''
      : this.variables.includes(this.kept.regions)
        ? this.kept.regions
        : this.category || (this.variables.find((v) => v === 'index z') ?? this.variable),
  );
  readonly line = $derived.by((): { readonly start: Vec; readonly end: Vec } => {
    const [start, end] = this.kept.line.split(':').map(readPoint);
    if (start && end) return { start, end };
    return {
      start: (this.info?.low ?? [0, 0, 0]) as unknown as Vec,
      end: (this.info?.high ?? [1, 1, 1]) as unknown as Vec,
    };
  });
  /** The clauses that say neither where nor when: those that a picture of space and time follows. */
  readonly timeless = $derived(
    split(this.desk.snap.state.select, [
      ...(this.info?.placing ?? []),
      ...(this.info?.iterations ? [this.info.iterations.column] : []),
    ]),
  );

  // ---- geometry ----

  /** What the threshold is by. */
  readonly by = $derived(
    this.now.by !== '' ? this.now.by : this.show === 'physics' ? `v:${this.variable}` : `f:${this.field}`,
  );
  private readonly byScale = $derived.by((): ColourScale | undefined => {
    const { by, info } = this;
    const v = by.startsWith('v:') ? info?.values.find((o) => o.name === by.slice(2)) : undefined;
    const f = by === `f:${this.field}` ? this.picture?.performance : undefined;
    const of = v ?? f;
    if (!of || of.min === null || of.max === null) return undefined;
    return wholeScale(of);
  });

  /** The value at a part of the threshold's range. */
  cut(t: number): number {
    const s = this.byScale;
    if (!s) return 0;
    // The ends are exact: a cell that has the largest value is kept.
    return t <= 0 ? s.min : t >= 1 ? s.max : s.value(t);
  }

  readonly view = $derived<MeshView>(
    (this.info?.flat && (this.now.view === 'slice' || this.now.view === 'contour')) ||
      ((this.now.view === 'threshold' || this.now.view === 'contour') && !this.byScale)
      ? 'surface'
      : this.now.view,
  );
  /** Planes that cut parts of the mesh away. */
  readonly clip = $derived<readonly ClipPlane[]>(readClip(this.now.clip));

  /** Where a part of the bounds lies on an axis. */
  along(axis: 0 | 1 | 2, at: number): number {
    const { info } = this;
    return info ? info.low[axis]! + at * (info.high[axis]! - info.low[axis]!) : 0;
  }

  private halfSpace({ axis, below, at }: ClipPlane): MeshPlane {
    const normal: [number, number, number] = [0, 0, 0];
    normal[axis] = below ? 1 : -1;
    return { normal, end: normal[axis] * this.along(axis, at) };
  }

  readonly level = $derived(this.info && this.now.level < this.info.levels ? this.now.level : -1);
  readonly geometryAsk = $derived.by((): MeshGeometryAsk => {
    const { by, info, now, view } = this;
    const level = (info?.levels ?? 1) > 1 ? this.level : -1;
    const clip = this.clip.map((p) => this.halfSpace(p));
    const base = {
      step: this.step,
      view,
      axis: 2,
      at: 0.5,
      level,
      low: 0,
      high: 0,
      ...(clip.length > 0 && { clip }),
    };
    if (view === 'slice') return { ...base, axis: now.axis, at: now.at };
    if (view === 'surface') return base;
    const ask = by.startsWith('v:')
      ? { ...withoutSince(this.physicsAsk), variable: by.slice(2) } // the range is that of values
      : { ...this.performanceAsk, picked: '' };
    if (view === 'contour') return { ...base, low: this.cut(now.iso), by: ask };
    return { ...base, low: this.cut(now.from), high: this.cut(now.to), by: ask };
  });

  private readonly middle = $derived<Vec>(
    this.info ? (this.info.low.map((l, i) => (l + this.info!.high[i]!) / 2) as unknown as Vec) : [0, 0, 0],
  );
  private readonly radius = $derived(
    this.info ? Math.max(1e-30, Math.hypot(...this.info.high.map((h, i) => h - this.info!.low[i]!)) / 2) : 1,
  );
  readonly body = $derived.by(() => {
    const { geometry, middle, radius } = this;
    return geometry ? untrack(() => new Body(geometry, middle, radius)) : undefined;
  });
  /** The line whose cells are listed below, as it is drawn. */
  readonly drawnLine = $derived.by((): Line | undefined => {
    const { line, middle, radius } = this;
    const scaled = (p: Vec): Vec => p.map((v, a) => (v - middle[a]!) / radius) as unknown as Vec;
    return this.below === 'line' ? { from: scaled(line.start), to: scaled(line.end) } : undefined;
  });
  /** The edges of the box around the mesh, where only a part of it is drawn. */
  readonly box = $derived.by((): readonly Line[] => {
    const { info, middle, radius } = this;
    if (!info || (this.view === 'surface' && this.clip.length === 0)) return [];
    const corner = (k: number): Vec =>
      [0, 1, 2].map(
        (a) => ((k & (1 << a) ? info.high : info.low)[a]! - middle[a]!) / radius,
      ) as unknown as Vec;
    const out: Line[] = [];
    for (let a = 0; a < 8; a++)
      for (const bit of [1, 2, 4]) if (!(a & bit)) out.push({ from: corner(a), to: corner(a | bit) });
    return out;
  });

  // ---- fields and their scales ----

  readonly shown = $derived<readonly Field[]>(
    [
      this.show !== 'physics' ? this.picture?.performance : undefined,
      this.show !== 'performance' ? this.picture?.physics : undefined,
    ].filter((f) => f !== undefined),
  );
  readonly main = $derived(this.shown[0]);

  scaleOf(f: Field): ColourScale {
    // A range that was typed is about the first picture.
    const { scale, min, max } = this.now;
    const own = f === this.main;
    return colourScale(f, scale, own ? min : '', own ? max : '');
  }

  readonly scales = $derived(this.shown.map((f) => this.scaleOf(f)));
  readonly panes = $derived<readonly Pane[]>(
    this.shown.map((f, i) => ({
      values: f.values,
      scale: this.scales[i]!,
      ...(f.uncertain && this.now.few > 1 && { samples: f.samples, few: this.now.few }),
    })),
  );
  readonly picked = $derived(
    this.picture?.performance && this.chosen !== '' ? this.picture.performance.picked : new Uint32Array(),
  );
  readonly clicked = $derived(
    this.now.cell >= 0 && this.geometry ? this.geometry.cells.indexOf(this.now.cell) : -1,
  );
  readonly marked = $derived(this.data.hovered?.drawn ?? []);

  summed(f: Field): MeshSummed | undefined {
    const { summary } = this.data;
    return (f === this.picture?.performance ? summary?.performance : summary?.physics) ?? undefined;
  }

  readonly relation = $derived<MeshRelation | undefined>(this.data.summary?.relation ?? undefined);
  /** The relation with p-values, once they are there. */
  readonly tested = $derived.by((): MeshRelation | undefined => {
    const { tested } = this.data;
    const asked = JSON.stringify({ ...this.relateAsk, picked: '' });
    return tested && JSON.stringify(tested.ask) === asked ? tested.relation : undefined;
  });

  constructor(
    private readonly props: () => { readonly desk: Desk },
    readonly store: MeshStore,
    private readonly has: boolean, // a mesh
  ) {
    this.data = store.snapshot;
  }

  get desk(): Desk {
    return this.props().desk;
  }

  // ---- questions ----

  /** Asks for what is shown, as long as the component lives that calls it. */
  ask(): void {
    $effect(() => {
      if (this.has) this.store.wantInfo(this.kept.step);
    });
    $effect(() => this.askPicture());
    // Numbers follow the picture: it does not wait for them.
    $effect(() => this.askSummary());
    $effect(() => {
      if (!this.relation?.correlation || this.data.busy || this.live !== undefined) return;
      const ask = untrack(() => this.relateAsk);
      const id = setTimeout(() => this.store.wantTest({ ...ask, picked: '' }), TEST_REST);
      return () => clearTimeout(id);
    });
    $effect(() => this.askBelow());
    // Whatever is hovered elsewhere is marked on the mesh; the cell under the
    // pointer is marked already.
    $effect(() => {
      const h = this.desk.snap.hover;
      const own = this.hovered >= 0 || !this.ready || !this.sampled || !h;
      this.store.wantHovered(
        own ? undefined : { geometry: this.geometryAsk, where: termText(h), filter: this.filter },
      );
    });
  }

  private askPicture(): void {
    if (!this.ready) return;
    const ask = {
      geometry: this.geometryAsk,
      ...(this.sampled && { performance: this.performanceAsk }),
      ...(this.variable !== '' && { physics: this.physicsAsk }),
      ...(this.arrows !== '' && { arrows: this.arrows }),
    };
    this.store.wantPicture(ask, this.live !== undefined);
  }

  private askBelow(): void {
    const { below, performanceAsk, store } = this;
    if (!this.ready || !this.picture) return;
    if (below === 'overtime')
      store.wantOver({
        ...withoutSince(performanceAsk),
        where: text(this.timeless.rest),
        mode: 'only',
        by: this.region,
      });
    else if (below === 'ranked') store.wantRanked({ ...performanceAsk, picked: '', least: this.now.least });
    else if (below === 'line')
      store.wantLine({
        ...performanceAsk,
        field: this.sampled ? this.field : '',
        picked: '',
        against: this.variable,
        ...this.line,
      });
  }

  private askSummary(): void {
    const { picture, sampled } = this;
    if (!this.ready || this.data.busy || !picture || this.live !== undefined) return;
    const of = (f: Field | undefined, ask: MeshFieldAsk): MeshSummedAsk | undefined => {
      const s = f && this.scaleOf(f);
      return s && { ...ask, edges: edgesOf(s, PARTS), few: this.now.few };
    };
    const performance = sampled ? of(picture.performance, this.performanceAsk) : undefined;
    const physics = of(picture.physics, this.physicsAsk);
    this.store.wantSummary({
      ...(performance && { performance }),
      ...(physics && { physics }),
      ...(sampled && this.variable !== '' && { relate: this.relateAsk }),
      picked: this.chosen,
      filter: this.filter,
    });
  }
}
