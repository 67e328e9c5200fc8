// What the single axis shows: its histogram, metric strips, clusters and their
// glyphs. Strips and clusters are about what is selected on other axes: the axis'
// own brush would leave only itself. It changes nothing but the questions it asks.
import { onDestroy, untrack } from 'svelte';
import type { AxisAnswer } from '../../../api/decode';
import type { ColumnInfo, Info, StripAnswer } from '../../../api/wire';
import type { Rect, Size } from '../../../base/geometry';
import { costWord, valueColumn } from '../../../state/axes';
import { brushed, clauseOf, text, without } from '../../../state/selection';
import { filterOf, shownFilter } from '../../../state/sides';
import type * as ChangeAxis from '../compare/axis';
import { unlike } from '../compare/sides';
import type { MemoryDesk } from '../desk';
import { slotOf, type Guided } from '../guide';
import { guideOptions, TOP } from '../guideoptions';
import { subtitle } from '../views/axis';
import type { TimeGap } from '../views/gaps';
import { glyph, sharedAmounts, type GlyphStyle } from '../views/glyph';
import { GuidedView, type GuidedInput, type GuidedMark } from '../views/guided';
import { binOf } from '../views/link';
import { question, shownColumn, zoomOf } from './question';

const MOST_CARD_METRICS = 8;
/** The strip of the other of two runs. */
const ofOther = (name: string): string => `${name}.other`;
const NOWHERE: Size = { w: 0, h: 0 };

export interface AxisProps {
  readonly desk: MemoryDesk;
  readonly gaps: readonly TimeGap[];
  readonly cutting: number | undefined; // clusters while the slider in the header moves
}

export class AxisModel {
  size = $state.raw(NOWHERE);
  dragged = $state.raw<number | undefined>(); // height while the cut line moves
  private change = $state.raw<typeof ChangeAxis | undefined>(); // once two runs are compared
  private askedStrips: readonly string[] = [];
  private askedGlyphs: readonly string[] = [];

  readonly info = $derived<Info | undefined>(this.desk.snap.info);
  readonly guided = $derived<Guided>(this.desk.guided);
  private readonly options = $derived(this.desk.snap.state.options);
  readonly column = $derived<ColumnInfo | undefined>(shownColumn(this.info, this.desk.snap.state));
  readonly range = $derived(zoomOf(this.column, this.desk.snap.state));
  readonly asked = $derived(this.guided.info && guideOptions(this.options, this.guided.info));
  readonly answer = $derived.by((): AxisAnswer | undefined => {
    const a = this.desk.snap.answers.get('axis')?.axes[0];
    return a && a.column === this.column?.name ? a : undefined;
  });

  // ---- what the guide is asked about ----

  /** Values have places along the axis; names have not. */
  private readonly ordered = $derived(
    this.answer !== undefined &&
      this.answer.labels.length === 0 &&
      this.guided.info?.axes.includes(this.answer.column) === true,
  );
  private readonly elsewhere = $derived(without(this.desk.snap.state.select, this.column?.name ?? ''));
  private readonly rows = $derived({
    where: text(this.elsewhere),
    filter: shownFilter(this.desk.snap),
  });
  /** Bounds of the windows, where the axis does not show all values. */
  private readonly bounds = $derived.by(() => {
    const { answer, range } = this;
    if (!answer || (range === undefined && answer.below + answer.above === 0)) return undefined;
    return { lo: answer.edges[0]!, hi: answer.edges[answer.bins]! };
  });
  private readonly equalCount = $derived(this.asked?.equalCount ?? this.answer?.scale !== 'linear');
  private readonly stripNames = $derived(
    (this.ordered ? (this.asked?.metrics ?? []) : []).map((_, i) => `axis.strip.${i}`),
  );

  readonly strips = $derived<readonly StripAnswer[]>(this.stripsOf(this.stripNames));
  private readonly pair = $derived(this.info?.pair !== undefined);
  /** Of two runs, the other one. */
  private readonly before = $derived.by(() => {
    const answer = this.desk.snap.other?.parts.get('axis')?.axes[0];
    if (!answer || answer.column !== this.column?.name) return undefined;
    const strips = this.stripsOf(this.stripNames.map(ofOther));
    return {
      answer,
      shown: this.desk.snap.state.cmp,
      strips: this.strips.map((s) => strips.find((a) => a.metric === s.metric && a.depth === s.depth)),
      allowance: this.info?.pair?.allowance ?? 0,
      why: unlike(this.info, answer.column)?.why,
    };
  });
  private readonly treeSlot = $derived(slotOf(this.guided, 'axis.tree', 'clusters'));
  private readonly tree = $derived.by(() => {
    const t = this.treeSlot?.value;
    return this.ordered && this.asked?.cluster && t && t.axis === this.column?.name && t.leaves > 0
      ? t
      : undefined;
  });
  private readonly notes = $derived.by(() => {
    const { answer, guided, stripNames, strips, treeSlot } = this;
    const problems = [
      ...stripNames.map((n) => slotOf(guided, n, 'metrics')?.problem),
      treeSlot?.problem,
    ].flatMap((p) => (p ? [`${p.error}${p.hint ? `; ${p.hint}` : ''}`] : []));
    if (treeSlot?.cancelled) problems.push('The clusters were cancelled; "Cluster again" is in the header.');
    if (answer && guided.info && !this.ordered)
      problems.push(
        `${answer.column} has names, not an order: metrics and clusters need a column of numbers, times or addresses.`,
      );
    if (strips.length > 0 && strips.every((s) => s.windows.length === 0))
      problems.push('No sample is selected, so there is nothing to measure.');
    return [...new Set(problems)];
  });

  // ---- the view ----

  private readonly cut = $derived(
    this.cutting !== undefined
      ? { count: this.cutting }
      : this.dragged !== undefined
        ? { height: this.dragged }
        : (this.asked?.cut ?? { count: 1 }),
  );
  readonly view = $derived.by(() => {
    const plain = this.viewWith(undefined, undefined);
    if (!plain) return undefined;
    const { hover } = this.desk.snap;
    const [bin, mark] = [binOf(hover, plain.histogram.layout), plain.markOf(hover)];
    return bin === undefined && mark === undefined ? plain : this.viewWith(bin, mark);
  });

  private viewWith(hovered: number | undefined, hover: GuidedMark | undefined): GuidedView | undefined {
    const { answer, asked, column, size, tree } = this;
    if (!answer || !column || size.w === 0) return undefined;
    const input = {
      histogram: {
        axis: {
          column,
          answer,
          subtitle: subtitle(column, answer),
          ...(column.name === 'time' && this.gaps.length > 0 && { gaps: this.gaps }),
        },
        size,
        brushes: brushed(this.desk.snap.state.select, column.name),
        hovered,
      },
      strips: this.strips,
      notes: this.notes,
      least: asked?.least ?? 0,
      tree,
      cut: this.cut,
      upper: tree ? (asked?.upper ?? 'histogram') : 'histogram',
      hover,
      map: this.map,
      // Later: which glyphs there are depends on this view.
      glyphBasis: () => ({ style: this.style, glyphPlaces: this.glyphPlaces, among: this.among }),
      glyph: (i: number, box: Rect) => {
        const places = this.glyphPlaces[i];
        return this.style && places ? glyph(this.style, places, box, box, this.among) : undefined;
      },
    } satisfies GuidedInput;
    if (!this.pair) return new GuidedView(input);
    return this.change && this.before && new this.change.ChangeGuidedView({ ...input, before: this.before });
  }

  private stripsOf(names: readonly string[]): StripAnswer[] {
    return names
      .flatMap((n) => slotOf(this.guided, n, 'metrics')?.value ?? [])
      .filter((s) => s.axis === this.column?.name);
  }

  // ---- glyphs ----

  private readonly map = $derived(this.options['map'] === 'cividis' ? 'cividis' : 'viridis');
  readonly style = $derived.by((): GlyphStyle | undefined => {
    const { info } = this;
    if (!info?.topology) return undefined;
    const value = valueColumn(info);
    return {
      topology: info.topology,
      metric: value?.name === 'latency' ? this.desk.snap.state.color : 'samples',
      unit: costWord(value),
      map: this.map,
    };
  });
  readonly hoverCluster = $derived.by(() => {
    const m = this.view?.markOf(this.desk.snap.hover);
    return m && 'cluster' in m ? m.cluster : undefined;
  });
  private readonly wantedGlyphs = $derived.by(() => {
    const list = this.view?.clusters?.list ?? [];
    if (!this.style || this.asked?.upper !== 'glyphs') return [];
    return list.map((_, i) => ({ name: `axis.glyph.${i}`, body: this.subset(i) }));
  });
  private readonly glyphPlaces = $derived(
    this.wantedGlyphs.map((g) => slotOf(this.guided, g.name, 'places')?.value),
  );
  private readonly among = $derived(this.style && sharedAmounts(this.style, this.glyphPlaces));

  /** The samples of one cluster. */
  private subset(i: number): { readonly where: string; readonly filter: string } {
    const here = clauseOf(this.view!.clusters!.term(i)!);
    return { ...this.rows, where: text([...this.elsewhere, here]) };
  }

  constructor(private readonly props: () => AxisProps) {}

  get desk(): MemoryDesk {
    return this.props().desk;
  }

  private get gaps(): readonly TimeGap[] {
    return this.props().gaps;
  }

  private get cutting(): number | undefined {
    return this.props().cutting;
  }

  // ---- questions ----

  /** Asks for what is shown, as long as the component lives that calls it. */
  ask(): void {
    $effect(() => {
      const axis = this.size.w > 0 ? question(this.info, this.desk.snap.state, this.size.w) : undefined;
      if (axis) this.desk.store.want('axis', { axes: [axis] });
    });
    $effect(() => {
      if (this.pair && !this.change) void import('../compare/axis').then((m) => (this.change = m));
    });
    $effect(() => this.askStrips());
    $effect(() => this.askTree());
    $effect(() => this.askGlyphs());
    $effect(() => this.askCard());
    onDestroy(() => {
      const { guide, guided, store } = this.desk;
      store.want('axis', undefined);
      for (const name of [...guided.slots.keys()])
        if (name.startsWith('axis.')) guide.want(name, 'metrics', undefined);
    });
  }

  private askStrips(): void {
    const { answer, asked, bounds, equalCount, pair, rows, stripNames } = this;
    const { state } = this.desk.snap;
    const other = pair ? filterOf(state, state.cmp === 'a' ? 'B' : 'A') : undefined;
    const names = other === undefined ? stripNames : [...stripNames, ...stripNames.map(ofOther)];
    // Windows of two runs are compared one by one, so they are cut at the same values.
    const same = answer && { lo: answer.edges[0]!, hi: answer.edges[answer.bins]! };
    untrack(() => {
      const { guide } = this.desk;
      for (const old of this.askedStrips) if (!names.includes(old)) guide.want(old, 'metrics', undefined);
      this.askedStrips = names;
      names.forEach((name, i) => {
        const m = asked!.metrics[i % stripNames.length]!;
        guide.want(name, 'metrics', {
          axis: answer!.column,
          metric: m.name,
          ...(m.depth && { depth: m.depth }),
          windows: pair ? Math.min(asked!.windows, answer!.bins) : asked!.windows,
          ...(pair ? same : equalCount ? { equalCount: true } : bounds),
          ...rows,
          ...(i >= stripNames.length && other !== undefined && { filter: other }),
        });
      });
    });
  }

  private askTree(): void {
    const { answer, asked, rows } = this;
    const m = this.ordered ? asked?.cluster : undefined;
    untrack(() =>
      this.desk.guide.want(
        'axis.tree',
        'clusters',
        m && answer && asked
          ? {
              axis: answer.column,
              metric: m.name,
              ...(m.depth && { depth: m.depth }),
              top: TOP,
              ...(asked.window && { window: asked.window }),
              ...(asked.slide && { slide: asked.slide }),
              ...rows,
            }
          : undefined,
      ),
    );
  }

  private askGlyphs(): void {
    const all = this.wantedGlyphs;
    untrack(() => {
      const { guide } = this.desk;
      for (const old of this.askedGlyphs)
        if (!all.some((g) => g.name === old)) guide.want(old, 'places', undefined);
      this.askedGlyphs = all.map((g) => g.name);
      for (const g of all) guide.want(g.name, 'places', g.body);
    });
  }

  /** The card asks for the hovered cluster alone, and for the metrics on screen. */
  private askCard(): void {
    const i = this.hoverCluster;
    const rows = i === undefined ? undefined : this.subset(i);
    const [style, strips] = [this.style, this.strips];
    untrack(() => {
      const { guide } = this.desk;
      guide.want('axis.card', 'places', style && rows);
      for (let k = 0; k < MOST_CARD_METRICS; k++) {
        const s = strips[k];
        const depth = s?.depth ? { depth: s.depth } : {};
        guide.want(
          `axis.card.${k}`,
          'metrics',
          s && rows && { axis: s.axis, metric: s.metric, ...depth, windows: 1, ...rows },
        );
      }
    });
  }
}
