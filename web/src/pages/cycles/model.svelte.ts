// What the cycles page shows, derived from the link and the answers: the class,
// the part of the trace, the loops, the source. It changes nothing but the
// questions it asks; what is drawn of it is in drawn.svelte.ts.
import type { ClassAsk, CyclesClass, CyclesInfo, CyclesNamed } from '../../api/wire';
import type { Size } from '../../base/geometry';
import type { Desk } from '../../frame/context';
import { earlierRun, earlierRuns } from '../../state/before';
import { selectedLines, selectedLoop, selectedStretch, withoutStretch } from '../../state/references';
import { text } from '../../state/selection';
import { askOfThread, pixelsOf, sectorAsk } from './asks';
import type { Lit } from './colours';
import { loopLines, sameFile, type Earlier } from './loops';
import { isWhole, partText, SYMBOLS } from './menus';
import type { Drawing } from './picture';
import { Plane } from './plane';
import { readCycles, type Colouring, type CyclesState } from './state';
import type { CyclesSnapshot, CyclesStore } from './store';
import { stretchName } from './stretches';
import { byPass, classNames } from './words';

const MOST_REFERENCES = 20_000; // that are fetched for words and tables
const SLOW = 300; // ms after which the end of an answer is offered
const NOWHERE: Size = { w: 0, h: 0 };
const BESIDE_LOOPS: Size = { w: 400, h: 400 }; // pixels of a spiral that is not shown

export class CyclesModel {
  data = $state.raw<CyclesSnapshot>()!;
  live = $state.raw<CyclesState | undefined>(); // while something moves
  hovered = $state(-1); // window
  line = $state(-1); // hovered colour of the code or legend
  dot = $state(-1); // hovered mark of the persistence diagram
  spot = $state(-1); // and of the projection
  pointed = $state(-1); // loop of the code under the pointer
  stage = $state.raw(NOWHERE); // sizes of what is drawn
  strip = $state.raw(NOWHERE);
  square = $state.raw(NOWHERE);
  playing = $state(false); // the morph
  exporting = $state(false); // its frames
  wanted = $state.raw<CyclesNamed | undefined>(); // a named structure whose settings are being asked for
  slow = $state(false); // an answer takes long enough to offer its end

  readonly linked = $derived(readCycles(this.desk.snap.state.options));
  readonly select = $derived(this.desk.snap.state.select);
  readonly info = $derived<CyclesInfo | undefined>(this.data.info);

  // ---- the selection of all pages ----

  /** Whether windows of the analysis are counted as references of the trace are. */
  readonly counted = $derived(isWhole(this.linked.ask) && this.info?.threads.length === 1);
  /** The stretch that is selected on all pages, where it can be shown as one. */
  readonly stretch = $derived(this.counted ? selectedStretch(this.select) : undefined);
  readonly kept = $derived<CyclesState>({
    ...this.linked,
    ...this.stretch,
    ask: askOfThread(this.linked.ask, this.select),
  });
  readonly now = $derived(this.live ?? this.kept);
  /** What is selected beside the stretch. */
  readonly others = $derived(this.stretch ? withoutStretch(this.select) : this.select);
  /** References with another colour than grey. */
  readonly where = $derived(text([...this.desk.snap.state.filter, ...this.others]));

  // ---- answers ----

  readonly drawing = $derived<Drawing | undefined>(this.data.drawing);
  readonly windows = $derived(this.info?.windows ?? 0);

  // ---- the class, and the one it turns into ----

  readonly names = $derived(this.info ? classNames(this.info) : []);
  readonly class = $derived(Math.min(this.now.class, Math.max(0, (this.info?.classes.length ?? 1) - 1)));
  readonly active = $derived<CyclesClass | undefined>(this.info?.classes[this.class]);
  readonly other = $derived.by(() => {
    const turning = (this.info?.classes ?? []).flatMap((c, i) =>
      c.turns !== 0 && i !== this.class ? [i] : [],
    );
    return turning.includes(this.now.other) ? this.now.other : (turning[0] ?? -1);
  });

  /** What people called the structure of a class. */
  namesOf(i: number): string {
    return (this.info?.named ?? []).filter((n) => n.class === i).map((n) => n.name)[0] ?? '';
  }

  // ---- the part of the trace ----

  readonly shown = $derived.by(() => {
    const { info, now } = this;
    return now.last > now.first && info && now.first < info.windows
      ? { first: now.first, last: Math.min(now.last, info.windows) }
      : { first: 0, last: 0 };
  });
  readonly magnified = $derived(this.now.zoom.k > 1 || this.shown.last > 0);
  readonly chosen = $derived(this.now.to > this.now.from ? this.now.to - this.now.from : 0);
  readonly chosenName = $derived(
    this.chosen === 0 ? '' : stretchName(this.now.from, this.now.to, this.drawing, this.windows),
  );
  readonly chosenReferences = $derived(
    this.data.references.slice(
      Math.max(0, this.now.from - this.data.referencesFrom),
      Math.max(0, this.now.to - this.data.referencesFrom),
    ),
  );
  readonly whole = $derived(isWhole(this.kept.ask));
  readonly part = $derived(partText(this.kept.ask));
  readonly symbolName = $derived(
    SYMBOLS.find((s) => s.id === this.info?.symbol)?.label ?? this.info?.symbol ?? '',
  );
  readonly sums = $derived(this.drawing ? byPass(this.drawing.byPass) : '');

  /** The place of a window's first reference in the whole trace. */
  orderOf(t: number): number {
    const { references, referencesFrom } = this.data;
    const { from, every } = this.kept.ask;
    return references[t - referencesFrom]?.order ?? from + t * Math.max(1, every);
  }

  /** Longer traces are drawn by the server, the morph included. */
  readonly pixels = $derived(this.drawing?.polar !== undefined);
  private readonly colouring = $derived<Exclude<Colouring, 'coordinate'>>(
    this.now.colour === 'coordinate' ? 'line' : this.now.colour,
  );

  classAsk(part: number): ClassAsk {
    return {
      ...this.kept.ask,
      class: this.class,
      other: this.other,
      part,
      epsilon: this.now.epsilon,
      colour: this.colouring,
      toggled: this.now.toggled,
      where: this.where,
    };
  }

  // ---- loops of the code ----

  /** Where there is no circle the loops of the code tell what repeats. */
  readonly looped = $derived(
    this.now.view === 'loops' || (this.info !== undefined && this.info.classes.length === 0),
  );
  /** Other runs with references, to compare loops with. */
  readonly runs = $derived(earlierRuns(this.desk.snap.home?.runs ?? [], this.desk.snap.info?.id));
  readonly before = $derived(earlierRun(this.desk.snap.state.options, this.runs));
  readonly earlier = $derived.by<Earlier | undefined>(() => {
    const { before, data } = this;
    // Until it has answered there is only what another one said.
    if (!before || data.before?.run !== before.id) return undefined;
    return { name: before.name, info: data.before.info };
  });
  /** The line of the code that a loop begins at: the one pointed at, else the chosen one. */
  readonly loopLine = $derived.by(() => {
    const { file } = this;
    const l = this.data.loops?.loops[this.pointed >= 0 ? this.pointed : this.loop];
    return l && file && sameFile(l.file, file.name) ? l.line : -1;
  });

  /** The loop that is selected on all pages, by its number in the list; -1 for none. */
  readonly loopName = $derived(selectedLoop(this.select));
  readonly loop = $derived(
    this.loopName === '' ? -1 : (this.data.loops?.loops.findIndex((l) => l.name === this.loopName) ?? -1),
  );
  readonly chosenLines = $derived(this.data.loops ? loopLines(this.data.loops, this.loop) : []);
  /** Colours that stand out: of what is pointed at. */
  readonly lit = $derived<Lit>(this.line >= 0 ? new Set([this.line]) : undefined);

  /** The source with the most references of its own, by its name in the trace and on the server. */
  readonly file = $derived.by(() => {
    const found = (this.desk.snap.info?.sources ?? []).filter((s) => s.found).map((s) => s.file);
    const own = new Map<string, number>();
    for (const l of this.info?.lines ?? []) if (l.line > 0) own.set(l.file, (own.get(l.file) ?? 0) + l.count);
    const most = [...own]
      .toSorted((a, b) => b[1] - a[1])
      .map(([name]) => ({ name, file: found.find((f) => f === name || f.endsWith(`/${name}`)) }));
    return most.find((m): m is { name: string; file: string } => m.file !== undefined);
  });

  /** Lines of that source that are selected on all pages. */
  readonly selectedLines = $derived.by(() => {
    const { file, select } = this;
    return file ? selectedLines(select).flatMap((p) => (sameFile(p.file, file.file) ? [p.line] : [])) : [];
  });

  // ---- the memory views ----

  hasColumn(name: string): boolean {
    const columns = this.desk.snap.info?.columns ?? [];
    return columns.some((c) => c.name === name && c.provenance !== 'absent');
  }

  /** Why the selected references cannot be shown in the memory views; empty if they can. */
  readonly memory = $derived(
    (this.desk.snap.info?.columns ?? []).length === 0
      ? 'This run has no samples: the memory views need a run of isobath record.'
      : this.kept.ask.folds > 0
        ? 'One turn of a folded trace stands for many.'
        : !this.hasColumn('order') && !this.hasColumn('line')
          ? 'The samples of this run have no source lines to be found by.'
          : '',
  );

  constructor(
    private readonly props: () => { readonly desk: Desk },
    readonly store: CyclesStore,
  ) {
    this.data = store.snapshot;
  }

  get desk(): Desk {
    return this.props().desk;
  }

  // ---- questions ----

  /** Asks for what is shown, as long as the component lives that calls it. */
  ask(): void {
    const { store } = this;
    $effect(() => store.wantInfo(this.kept.ask));
    $effect(() => this.askDrawing());
    $effect(() => this.askSector());
    $effect(() => this.askReferences());
    $effect(() => {
      if (this.info?.hasCode !== false && (this.looped || this.loopName !== '')) store.wantLoops();
    });
    $effect(() => store.wantBefore(this.looped ? this.before?.id : undefined));
    $effect(() => {
      if (this.now.view === 'projection' && this.info && this.info.classes.length > 0)
        store.wantProjection({ ...this.classAsk(0), method: this.now.method });
    });
    $effect(() => {
      if (this.file) store.wantSource(this.file.file);
    });
    $effect(() => {
      if (!this.data.busy && !this.data.analysing) {
        this.slow = false;
        return;
      }
      const id = setTimeout(() => (this.slow = true), SLOW);
      return () => clearTimeout(id);
    });
  }

  private askDrawing(): void {
    const { info, strip } = this;
    // Beside the loops there is no spiral, but the strip is there, and the selection.
    const stage = this.looped ? BESIDE_LOOPS : this.stage;
    if (!info || info.classes.length === 0 || stage.w === 0 || strip.w === 0) return;
    this.store.wantDrawing(
      { ...this.classAsk(this.pixels ? this.now.part : 0), ...this.shown, ...pixelsOf(stage, strip.w) },
      this.live !== undefined,
    );
  }

  /** What is seen of a magnified spiral is asked for again, in more detail. */
  private askSector(): void {
    const { drawing, now, stage } = this;
    if (!drawing?.polar || now.view !== 'spiral' || now.zoom.k <= 1 || stage.w === 0) return;
    const ask = sectorAsk(this.classAsk(now.part), new Plane(stage, now.zoom), drawing, this.data.sector);
    if (ask) this.store.wantSector(ask);
  }

  private askReferences(): void {
    const { info, kept } = this;
    if (!info || kept.ask.folds > 0) return;
    if (info.records <= MOST_REFERENCES) this.store.wantReferences(kept.ask, 0, info.records);
    else if (kept.to > kept.from)
      this.store.wantReferences(kept.ask, kept.from, Math.min(kept.to, kept.from + MOST_REFERENCES));
  }
}
