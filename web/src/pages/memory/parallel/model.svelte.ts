// What the parallel coordinates show: axes as answered and folded to what fits,
// the metric strips beside them, and the view made of both. It changes nothing
// but the questions it asks.
import { onDestroy, untrack } from 'svelte';
import { ALL, SELECTED, selectionHovered, type PairAnswer } from '../../../api/decode';
import type { Axis, Info } from '../../../api/wire';
import { layerRatio, pictureOf } from '../../../base/canvas';
import { baseName } from '../../../base/format';
import { clamp, type Size } from '../../../base/geometry';
import { whenIdle } from '../../../base/idle';
import { pageMeasure } from '../../../base/measure';
import { display } from '../../../frame/display.svelte';
import { axisQuestion, columnOf, cpuGroups, defaultAxes, isFolded, valueColumn } from '../../../state/axes';
import { brushed, same, text, without, type Term } from '../../../state/selection';
import { shownFilter } from '../../../state/sides';
import type { State } from '../../../state/url';
import type { MemoryDesk } from '../desk';
import { slotOf } from '../guide';
import { guideOptions } from '../guideoptions';
import { subtitle, type AxisInput } from '../views/axis';
import type { AxisStrips, WindowMark } from '../views/axisstrip';
import { KeptLines, linesWide, type Strength } from '../views/density';
import { addAxes, besideAxis, comparable, showsChange, unlike } from '../compare/sides';
import type * as ChangeParallel from '../compare/parallel';
import { foldAxis, foldCounts, KeptFolds } from '../views/fold';
import type { TimeGap } from '../views/gaps';
import { binOf } from '../views/link';
import { ParallelView, type BinMark } from '../views/parallel';
import type { Strip } from '../views/strip';
import { sayPath, sayResource } from '../views/tree';

const kept = new KeptLines(); // longer than a pane: another tab and back shows the same lines
const folds = new KeptFolds();
const SLOT = 15; // px a name needs
const MOST_STRIP_WINDOWS = 32; // of a strip beside an axis
const NOWHERE: Size = { w: 0, h: 0 };

/** An axis that is being moved, and the order it would give. */
export interface AxisDrag {
  readonly column: string;
  readonly x: number;
  readonly order: readonly string[];
}

/** Axes and pairs of an answer, folded to what fits. */
interface Folded {
  readonly sides: ReadonlyMap<string, ChangeParallel.AxisSides>; // of two runs, by axis
  readonly cells: ReadonlyMap<string, readonly [a: PairAnswer, b: PairAnswer]>;
  readonly beside: ReadonlyMap<string, PairAnswer>; // of the other of two runs
  readonly inputs: ReadonlyMap<string, AxisInput>;
  readonly order: readonly string[];
  readonly pairs: ReadonlyMap<string, PairAnswer>;
}

export class ParallelModel {
  size = $state.raw(NOWHERE);
  drag = $state.raw<AxisDrag | undefined>();
  private weighed: readonly string[] = []; // columns whose names' weights are asked for
  private striped: readonly string[] = []; // columns whose strips are

  readonly info = $derived<Info | undefined>(this.desk.snap.info);
  readonly link = $derived<State>(this.desk.snap.state);
  private readonly answers = $derived(this.desk.snap.answers);
  private readonly options = $derived(this.link.options);
  private readonly selected = $derived(this.desk.snap.answer?.where !== '');
  private readonly strength = $derived<Strength>(
    this.options['pc.strength'] === 'left'
      ? 'left'
      : this.options['pc.strength'] === 'right'
        ? 'right'
        : 'pair',
  );
  private readonly lines = $derived(this.options['pc.lines'] !== 'off');
  private readonly restAlpha = $derived(clamp(Number(this.options['pc.rest'] ?? 100) / 100, 0, 1));

  readonly axes = $derived.by((): readonly Axis[] => {
    const { info, link, size } = this;
    if (!info || size.w === 0) return [];
    const chosen: readonly Axis[] =
      link.axes.length > 0
        ? link.axes
        : defaultAxes(info.pair ? comparable(info) : info, size.w).map((column) => ({ column }));
    return chosen.filter((a) => columnOf(info, a.column));
  });

  /** Names are shown by their share of all cycles. */
  private readonly folded = $derived.by(() => {
    const { info } = this;
    return info ? this.axes.map((a) => a.column).filter((c) => isFolded(columnOf(info, c)!)) : [];
  });

  private readonly data = $derived.by((): Folded | undefined => {
    const { info, size } = this;
    const mine = this.answers.get('parallel');
    if (!mine || !info || size.h === 0) return undefined;
    const groups = cpuGroups(info);
    const most = Math.max(3, Math.floor((size.h - 56) / SLOT));
    const other = this.desk.snap.other?.parts.get('parallel'); // of two runs
    const before = showsChange(this.desk.snap) ? other : undefined;
    const parts = mine.axes.flatMap((own, k) => {
      const column = columnOf(info, own.column);
      if (!column) return [];
      const a = before?.axes[k];
      const beside = other?.axes[k];
      const raw = a ? addAxes(a, own) : beside ? besideAxis(own, beside) : own;
      const fold = isFolded(column) ? foldAxis(raw, this.weights(column.name), most) : undefined;
      const answer = fold?.answer ?? raw;
      const input: AxisInput = {
        column,
        answer,
        subtitle: this.lineSubtitle(column.name) ?? subtitle(column, answer, groups),
        ...(column.name === 'cpu' && groups && { groups, sayValue: (v) => this.sayCpu(v) }),
        ...(column.name === 'line' && { sayValue: (v) => this.sayLine(v) }),
        ...(column.name === 'time' && this.gaps.length > 0 && { gaps: this.gaps }),
      };
      const counted = (c: Uint32Array): Uint32Array => (fold ? foldCounts(c, fold.map, answer.bins + 1) : c);
      const why = a && unlike(info, column.name)?.why;
      const sides = a && { a: counted(a.counts[SELECTED]), b: counted(own.counts[SELECTED]), why };
      return [{ input, map: fold?.map, sides }];
    });
    const pairs = new Map<string, PairAnswer>();
    const [mineOf, otherOf] = this.link.cmp === 'a' ? ['A', 'B'] : ['B', 'A']; // kept for when it is shown again
    const cells = new Map<string, readonly [a: PairAnswer, b: PairAnswer]>();
    const beside = new Map<string, PairAnswer>();
    mine.pairs.forEach((p, i) => {
      const [l, r] = [parts[i], parts[i + 1]];
      if (!l || !r) return;
      const between = `${l.input.column.name} ${r.input.column.name}`;
      pairs.set(between, folds.pair(`${between} ${mineOf}`, p, l.map, r.map));
      const o = other?.pairs[i];
      if (!o) return;
      beside.set(between, folds.pair(`${between} ${otherOf}`, o, l.map, r.map));
      if (before && !l.sides?.why && !r.sides?.why)
        cells.set(between, [beside.get(between)!, pairs.get(between)!]);
    });
    return {
      sides: new Map(parts.flatMap((p) => (p.sides ? [[p.input.column.name, p.sides] as const] : []))),
      cells,
      beside,
      inputs: new Map(parts.map((p) => [p.input.column.name, p.input])),
      order: parts.map((p) => p.input.column.name),
      pairs,
    };
  });

  /** Of two runs what both weigh: names stay where they are when A and B replace each other. */
  private weights(column: string): ReadonlyMap<string, number> | undefined {
    const { info } = this;
    const runs = [this.answers, this.desk.snap.other?.parts].flatMap(
      (parts) => parts?.get(`weight:${column}`)?.groups[0] ?? [],
    );
    if (runs.length === 0 || !info) return undefined;
    const sum = new Map<string, number>();
    for (const g of runs) {
      const values = valueColumn(info) ? g.sums[ALL] : g.counts[ALL];
      g.keys[0]!.forEach((k, i) => sum.set(k, (sum.get(k) ?? 0) + (values[i] ?? 0)));
    }
    return sum;
  }

  // ---- words ----

  /** "CPU 7" and the core, cache and node it belongs to. */
  private sayCpu(value: string | number): { name: string; inside: string } | undefined {
    const resources = this.info?.topology?.resources ?? [];
    const i = resources.findIndex((r) => r.name === `CPU:${value}`);
    return i < 0 ? undefined : { name: sayResource(resources[i]!), inside: sayPath(resources, i) };
  }

  /** "stencil.c:104", or the number of files that have such a line. */
  private sayLine(value: string | number): { name: string; inside: string } | undefined {
    const lines = this.answers.get('lines')?.groups[0];
    if (lines?.keys.length !== 2) return undefined;
    const files = lines.keys[0]!.filter((_, i) => lines.keys[1]![i] === String(value));
    return files.length === 1
      ? { name: `${baseName(files[0]!)}:${value}`, inside: '' }
      : files.length > 1
        ? { name: `line ${value}`, inside: `in ${files.length} files` }
        : undefined;
  }

  /** With one source file, its name says more than "source line". */
  private lineSubtitle(column: string): string | undefined {
    if (column !== 'line') return undefined;
    const files = this.info?.sources.map((s) => s.file) ?? [];
    return files.length === 1 ? files[0]!.slice(files[0]!.lastIndexOf('/') + 1) : undefined;
  }

  // ---- metric strips ----

  private readonly strip = $derived(
    this.desk.guided.info && guideOptions(this.options, this.desk.guided.info),
  );
  private readonly stripped = $derived.by(() => {
    const { data } = this;
    if (!this.strip?.onAxes || !data) return [];
    const has = this.desk.guided.info!.axes;
    return data.order.filter((c) => has.includes(c) && data.inputs.get(c)!.answer.labels.length === 0);
  });
  private readonly axisStrips = $derived.by((): AxisStrips | undefined => {
    const { strip, options } = this;
    const answers = new Map(
      this.stripped.flatMap((c) => {
        const a = slotOf(this.desk.guided, `pc.${c}`, 'metrics')?.value;
        return a && a.metric === strip!.onAxes!.name && a.depth === strip!.onAxes!.depth
          ? [[c, a] as const]
          : [];
      }),
    );
    if (answers.size === 0) return undefined;
    return { answers, least: strip!.least, map: options['map'] === 'cividis' ? 'cividis' : 'viridis' };
  });

  // ---- the view ----

  private readonly brushes = $derived(
    new Map(this.axes.map((a) => [a.column, brushed(this.link.select, a.column)])),
  );

  private readonly plain = $derived.by(() => {
    const { data, drag, size } = this;
    if (!data || size.w === 0) return undefined;
    const order = drag?.order ?? data.order;
    const inputs = order.flatMap((c) => data.inputs.get(c) ?? []);
    const between = inputs.slice(1).map((a, i) => `${inputs[i]!.column.name} ${a.column.name}`);
    const input = {
      axes: inputs,
      pairs: between.map((b) => data.pairs.get(b)),
      beside: between.map((b) => data.beside.get(b)),
      size,
      measure: pageMeasure(),
      selected: this.selected,
      selectionHovered: selectionHovered(this.desk.snap.answer),
      lines: this.lines,
      strength: this.strength,
      ownHoverScale: this.options['pc.hover'] === 'own',
      restAlpha: this.restAlpha,
      kept,
      brushes: this.brushes,
      strips: this.axisStrips,
      moving: drag && { axis: order.indexOf(drag.column), x: drag.x },
    };
    const { answer, other } = this.desk.snap;
    if (!showsChange(this.desk.snap) || !answer || !other) return new ParallelView(input);
    if (!this.change) return undefined;
    const none = new Uint32Array();
    return new this.change.ChangeParallelView({
      ...input,
      strips: undefined,
      bars: inputs.map((a) => data.sides.get(a.column.name) ?? { a: none, b: none }),
      cells: between.map((b) => data.cells.get(b)),
      totals: [other.answer.counts[SELECTED], answer.counts[SELECTED]],
      allowance: this.info?.pair?.allowance ?? 0,
    });
  });
  private change = $state.raw<typeof ChangeParallel | undefined>();

  /** What is hovered here or elsewhere, where an axis shows it; text, so that it changes only with the mark. */
  private readonly marked = $derived.by((): string => {
    const { hover } = this.desk.snap;
    for (const [axis, c] of this.plain?.columns.entries() ?? []) {
      const bin = binOf(hover, c.layout);
      const window = windowOf(c.strip, hover);
      if (bin !== undefined || window !== undefined) return [axis, bin ?? '', window ?? ''].join();
    }
    return '';
  });

  readonly view = $derived.by(() => {
    const { marked, plain } = this;
    if (!plain || marked === '') return plain;
    const [axis, bin, window] = marked.split(',');
    const mark: BinMark | undefined =
      bin === '' ? undefined : { kind: 'bin', axis: Number(axis), bin: Number(bin) };
    const over: WindowMark | undefined =
      window === '' ? undefined : { kind: 'window', axis: Number(axis), window: Number(window) };
    return plain.pointedAt(mark, over);
  });

  /** Columns of pixels that lines are drawn with as one. */
  readonly wide = $derived(
    this.data && this.lines ? linesWide(this.data.pairs.values(), this.selected && this.restAlpha > 0) : 1,
  );
  readonly empty = $derived(
    this.desk.snap.answer !== undefined && this.desk.snap.answer.counts[SELECTED] === 0,
  );

  constructor(
    private readonly props: () => { readonly desk: MemoryDesk; readonly gaps: readonly TimeGap[] },
  ) {}

  get desk(): MemoryDesk {
    return this.props().desk;
  }

  private get gaps(): readonly TimeGap[] {
    return this.props().gaps;
  }

  // ---- questions ----

  /** Asks for what is shown, as long as the component lives that calls it. */
  ask(): void {
    $effect(() => this.askAxes());
    $effect(() => {
      if (showsChange(this.desk.snap) && !this.change)
        void import('../compare/parallel').then((m) => (this.change = m));
    });
    $effect(() => this.askWeights());
    $effect(() => this.askStrips());
    $effect(() => this.drawRestWhenIdle());
    onDestroy(() => {
      const { store, guide } = this.desk;
      store.want('parallel', undefined);
      for (const c of this.weighed) store.want(`weight:${c}`, undefined);
      for (const c of this.striped) guide.want(`pc.${c}`, 'metrics', undefined);
    });
  }

  private askAxes(): void {
    const { axes, info, lines, link } = this;
    if (!info || axes.length === 0) return;
    const asked = axes.map((a) => axisQuestion(columnOf(info, a.column)!, link.bins, a));
    const pairs = lines ? asked.slice(1).map((_, i) => [i, i + 1] as const) : [];
    this.desk.store.want('parallel', { axes: asked, pairs });
  }

  private askWeights(): void {
    const { folded, info } = this;
    const { store } = this.desk;
    const sum = (info && valueColumn(info)?.name) ?? '';
    for (const c of this.weighed) if (!folded.includes(c)) store.want(`weight:${c}`, undefined);
    this.weighed = folded;
    for (const c of folded) store.want(`weight:${c}`, { groups: [{ by: [c], sum, top: 2000 }] });
  }

  private askStrips(): void {
    const { data, link, strip, stripped } = this;
    const m = strip?.onAxes;
    const asks = stripped.map((c) => {
      const a = data!.inputs.get(c)!.answer;
      const part = a.below + a.above > 0 ? { lo: a.edges[0]!, hi: a.edges[a.bins]! } : {};
      const by = (strip!.equalCount ?? a.scale !== 'linear') ? { equalCount: true } : part;
      return {
        axis: c,
        metric: m!.name,
        ...(m!.depth && { depth: m!.depth }),
        windows: Math.min(strip!.windows, MOST_STRIP_WINDOWS),
        ...by,
        where: text(without(link.select, c)),
        filter: shownFilter(this.desk.snap),
      };
    });
    untrack(() => {
      const { guide } = this.desk;
      for (const c of this.striped) if (!stripped.includes(c)) guide.want(`pc.${c}`, 'metrics', undefined);
      this.striped = stripped;
      for (const a of asks) guide.want(`pc.${a.axis}`, 'metrics', a);
    });
  }

  /**
   * The lines behind a selection are made while nothing is selected and nothing
   * else is to be done: the first click then waits for its own lines alone.
   */
  private drawRestWhenIdle(): (() => void) | undefined {
    const [v, theme] = [this.plain, this.desk.theme];
    if (!v || !this.lines || this.restAlpha === 0 || this.drag || this.selected) return undefined;
    const ratio = layerRatio(display.ratio);
    return whenIdle(() => {
      for (const s of v.lines('rest', theme)) pictureOf(s, ratio);
    });
  }
}

/** The window of a strip that a term is. */
function windowOf(s: Strip | undefined, term: Term | undefined): number | undefined {
  if (!s || term?.kind !== 'range') return undefined;
  return s.blocks.find((b) => same(s.term(b.window)!, term))?.window;
}
