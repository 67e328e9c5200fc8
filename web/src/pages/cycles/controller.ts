// What people do on the cycles page: settings, selecting, zooming, the morph, and
// the way to the memory views. It knows no markup: model.svelte.ts says what is
// shown, drawn.svelte.ts how.
import type { CyclesAsk, CyclesNamed } from '../../api/wire';
import type { Point } from '../../base/geometry';
import type { Gesture } from '../../frame/context';
import type { Action } from '../../frame/keymap';
import { csv } from '../../frame/view';
import { loopTerm, ORDER, stretchTerm } from '../../state/references';
import {
  apply,
  brush,
  dimensionsOf,
  isOf,
  type Mode,
  type Selection,
  type Term,
} from '../../state/selection';
import { pixelsOf } from './asks';
import type { CyclesDrawn } from './drawn.svelte';
import { loopTable } from './loops';
import type { CyclesModel } from './model.svelte';
import { NO_ZOOM } from './plane';
import { writeCycles, type CyclesState } from './state';
import { picked } from './stretches';

const ZOOM_STEP = 1.5; // of a key
const ZOOM_REST = 250; // ms after the last turn of a wheel: then the link has the zoom
const MORPH_TAKES = 1600; // ms

export class CyclesControl {
  private resting: ReturnType<typeof setTimeout> | undefined;
  private left = false; // for another page, which would get this one's zoom

  constructor(
    private readonly model: CyclesModel,
    private readonly drawn: Pick<CyclesDrawn, 'spiral' | 'unwrapped' | 'diagram'>,
  ) {}

  close(): void {
    this.left = true;
    clearTimeout(this.resting);
  }

  // ---- settings ----

  readonly commit = (patch: Partial<CyclesState>): void => {
    this.put(patch, this.model.select);
  };

  /** A state and a selection of all pages, as one step back. */
  private put(patch: Partial<CyclesState>, select: Selection): void {
    const { desk, linked, now, stretch } = this.model;
    this.model.live = undefined;
    clearTimeout(this.resting);
    // What the selection says is not said again in the page's own part of the link.
    const own = { ...now, ...(stretch && { from: 0, to: 0 }), ask: linked.ask, ...patch };
    desk.store.go({ options: writeCycles(own, desk.snap.state.options), select });
  }

  /** Selects a stretch: on all pages where they count as this one does. */
  readonly selectStretch = ({ from, to }: { readonly from: number; readonly to: number }): void => {
    const { counted, select } = this.model;
    if (!counted) return this.commit({ from, to });
    this.put({ from: 0, to: 0 }, brush(select, ORDER, to > from ? [stretchTerm(from, to)] : []));
  };

  /** Selects a loop on all pages, in place of another; none if it is undefined. */
  private withLoop(loop: number): Selection {
    const name = this.model.data.loops?.loops[loop]?.name;
    const { select } = this.model;
    return name === undefined
      ? select.filter((c) => !isOf(c, dimensionsOf(loopTerm(''))))
      : apply(select, loopTerm(name), 'set');
  }

  /** Selects a line of the code on all pages. */
  readonly selectLine = (line: number, mode: Mode | undefined): void => {
    const { desk, file } = this.model;
    if (file) desk.store.select({ kind: 'line', file: file.file, line }, mode);
  };

  /** A state while something moves: not in the link yet. */
  readonly move = (patch: Partial<CyclesState>): void => {
    this.model.live = { ...this.model.now, ...patch };
  };

  private readonly still = (): void => {
    this.model.live = undefined;
  };

  /** Another analysis: what was chosen of the last one is let go. */
  readonly again = (patch: Partial<CyclesAsk>): void => {
    this.commit({
      ask: { ...this.model.linked.ask, ...patch },
      class: 0,
      other: -1,
      part: 0,
      epsilon: 0,
      from: 0,
      to: 0,
      first: 0,
      last: 0,
      zoom: NO_ZOOM,
    });
  };

  // ---- classes and loops ----

  readonly choose = (i: number): void => {
    const { now } = this.model;
    const other = i === now.other ? this.model.class : now.other;
    // A chosen loop goes with the class; what goes around none lets it go.
    const loop = this.model.loop < 0 ? -1 : (this.model.info?.classes[i]?.loop ?? -1);
    const select = this.model.loop < 0 ? this.model.select : this.withLoop(loop);
    this.put({ class: i, part: 0, epsilon: 0, other, zoom: NO_ZOOM }, select);
  };

  /** Chooses the class of a mark of the persistence diagram, if it has one. */
  readonly chooseDot = (mark: number): boolean => {
    const c = this.drawn.diagram?.classOf(mark) ?? -1;
    if (c >= 0) this.choose(c);
    return true;
  };

  /** Chooses a loop of the code, and the class that goes around it. */
  readonly chooseLoop = (loop: number): void => {
    const around = this.model.info?.classes.findIndex((c) => c.loop === loop && c.turns !== 0) ?? -1;
    this.put(around >= 0 ? { class: around, part: 0, epsilon: 0 } : {}, this.withLoop(loop));
  };

  /** Folds functions in the code and its colours, or opens them. */
  readonly toggle = (functions: readonly string[]): void => {
    const { toggled } = this.model.now;
    this.commit({
      toggled: [
        ...toggled.filter((f) => !functions.includes(f)),
        ...functions.filter((f) => !toggled.includes(f)),
      ],
    });
  };

  /** Goes to a structure that has a name: its settings, then its class. */
  readonly show = (n: CyclesNamed): void => {
    if (n.class >= 0) this.choose(n.class);
    else {
      this.model.wanted = n;
      this.again({ symbol: n.symbol as CyclesAsk['symbol'], window: n.window });
    }
  };

  /** Chooses the structure that was gone to, once the analysis has its class. */
  arrive(): void {
    const { data, info, wanted } = this.model;
    const there = info?.named.find((n) => n.name === wanted?.name);
    if (!wanted || !there || there.class < 0 || data.analysing) return;
    this.model.wanted = undefined;
    this.choose(there.class);
  }

  // ---- selecting ----

  readonly pick = (t: number, mode?: string): boolean => {
    const { drawing, now, windows } = this.model;
    const to = picked(t, now, drawing, windows, mode === 'add');
    if (to) this.selectStretch(to);
    return true;
  };

  /** A drag along the unwrapped walk, or of an end of what is selected. */
  readonly grabStrip = (p: Point): Gesture | undefined => {
    const v = this.drawn.unwrapped;
    if (!v) return undefined;
    const { now } = this.model;
    const edge = v.edgeAt(p.x);
    const start = edge === 'from' ? now.to : edge === 'to' ? now.from : v.referenceAt(p.x);
    const range = (q: Point): { from: number; to: number } => {
      const t = v.referenceAt(q.x);
      return { from: Math.min(start, t), to: Math.max(start, t) };
    };
    return { move: (q) => this.move(range(q)), end: (q) => this.selectStretch(range(q)), cancel: this.still };
  };

  // ---- zoom, pan, time ----

  /** Moves at once; the link follows when it rests. */
  private zoomTo(zoom: CyclesState['zoom']): void {
    this.move({ zoom });
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.commit({}), ZOOM_REST);
  }

  readonly wheel = (e: WheelEvent, p: Point): void => {
    const { spiral } = this.drawn;
    if (!spiral || this.model.now.view !== 'spiral') return;
    e.preventDefault();
    this.zoomTo(spiral.plane.zoomed(p, Math.exp(-e.deltaY / 300)));
  };

  readonly grabPlane = (): Gesture | undefined => {
    const plane = this.drawn.spiral?.plane;
    const { now } = this.model;
    if (!plane || now.view !== 'spiral' || now.zoom.k <= 1) return undefined;
    let start: Point | undefined;
    const moved = (q: Point): CyclesState['zoom'] => plane.moved(q.x - (start ??= q).x, q.y - start.y);
    return {
      move: (q) => this.move({ zoom: moved(q) }),
      end: (q) => this.commit({ zoom: moved(q) }),
      cancel: this.still,
      cursor: 'grabbing',
    };
  };

  /** Shows only the selected time. */
  readonly fit = (): void => {
    const { chosen, now } = this.model;
    if (chosen > 1) this.commit({ first: now.from, last: now.to, zoom: NO_ZOOM });
  };

  readonly reset = (): void => this.commit({ first: 0, last: 0, zoom: NO_ZOOM });

  /** Keys of the walk. */
  readonly steer = (action: Action, mark: number | undefined, at: Point | undefined): boolean => {
    const v = this.drawn.spiral;
    const { now, stage } = this.model;
    if (!v || now.view !== 'spiral') return false;
    const p = at ?? (mark === undefined ? undefined : v.place(mark)) ?? { x: stage.w / 2, y: stage.h / 2 };
    switch (action) {
      case 'zoom-in':
        this.zoomTo(v.plane.zoomed(p, ZOOM_STEP));
        return true;
      case 'zoom-out':
        this.zoomTo(v.plane.zoomed(p, 1 / ZOOM_STEP));
        return true;
      case 'pan-left':
        this.zoomTo(v.plane.moved(stage.w / 6, 0));
        return true;
      case 'pan-right':
        this.zoomTo(v.plane.moved(-stage.w / 6, 0));
        return true;
      default:
        return this.steerTime(action);
    }
  };

  /** Keys that change what time is shown. */
  readonly steerTime = (action: Action): boolean => {
    if (action === 'fit') this.fit();
    else if (action === 'reset') this.reset();
    else return false;
    return true;
  };

  /** The keyboard's mark comes into view. */
  readonly reveal = (t: number): void => {
    const { spiral } = this.drawn;
    const p = spiral?.place(t);
    if (spiral && p && this.model.now.zoom.k > 1 && !spiral.plane.sees(p, -10))
      this.zoomTo(spiral.plane.centred(p));
  };

  // ---- the morph ----

  /** The morph as a movie, or its end; those who want no motion get the cut. */
  readonly play = (): void => {
    const { model } = this;
    if (model.playing) {
      model.playing = false;
      return;
    }
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.commit({ part: model.now.part < 0.5 ? 1 : 0 });
      return;
    }
    const [from, to] = model.now.part < 0.5 ? [0, 1] : [1, 0];
    const began = performance.now();
    model.playing = true;
    const frame = (t: number): void => {
      if (this.left) return;
      const s = Math.min(1, (t - began) / MORPH_TAKES);
      const eased = s * s * (3 - 2 * s);
      if (!model.playing || s >= 1) {
        model.playing = false;
        this.commit({ part: s >= 1 ? to : model.now.part });
        return;
      }
      this.move({ part: from + (to - from) * eased });
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  };

  // ---- files ----

  async saveFrames(format: 'png' | 'svg'): Promise<void> {
    const { active, desk, drawing, info, names, now, stage, store } = this.model;
    if (!info || !active || !drawing) return;
    this.model.exporting = true;
    try {
      const { saveMorph } = await import('./save');
      const circle = now.view === 'circle';
      await saveMorph(
        {
          look: {
            info,
            class: active,
            size: stage,
            zoom: circle ? NO_ZOOM : now.zoom,
            colour: now.colour,
            shape: circle ? 'circle' : 'spiral',
            from: now.from,
            to: now.to,
          },
          drawing,
          draw: (part) =>
            store.draw(
              { ...this.model.classAsk(part), ...this.model.shown, ...pixelsOf(stage, 8) },
              new AbortController().signal,
            ),
          run: desk.snap.info?.name ?? 'isobath',
          names: [names[this.model.class] ?? '', names[this.model.other] ?? ''],
          theme: desk.theme,
        },
        format,
      );
    } finally {
      this.model.exporting = false;
    }
  }

  async saveText(name: string, text: string): Promise<void> {
    const { download } = await import('../../frame/export');
    const run = this.model.desk.snap.info?.name ?? 'isobath';
    download({
      name: `${run.replace(/[^\w.-]+/g, '-').toLowerCase()}-${name}.csv`,
      blob: new Blob([text], { type: 'text/csv' }),
    });
  }

  async saveLoops(): Promise<void> {
    const { data, earlier } = this.model;
    if (data.loops) await this.saveText('loops', csv(loopTable(data.loops, earlier?.info)));
  }

  // ---- the memory views ----

  /** Selects the same references, or else the samples of their lines, and turns to the memory page. */
  readonly toMemory = (): void => {
    const { desk, info } = this.model;
    this.memoryTerms().forEach((t, i) => desk.store.select(t, i === 0 ? 'only' : 'add'));
    if (this.model.hasColumn('order') && info && info.threads.length > 1)
      desk.store.select({ kind: 'compare', column: 'tid', op: '=', value: info.thread });
    desk.store.change({ page: 'memory' });
  };

  /** Selects the lines of the chosen loop on all pages, and turns to one. */
  readonly toLines = (page: 'memory' | 'locality'): void => {
    const { desk } = this.model;
    this.model.chosenLines.forEach((p, i) =>
      desk.store.select({ kind: 'line', ...p }, i === 0 ? 'only' : 'add'),
    );
    desk.store.change({ page });
  };

  private memoryTerms(): readonly Term[] {
    const { chosenReferences, now } = this.model;
    if (this.model.hasColumn('order')) {
      const [lo, hi] = [this.model.orderOf(now.from), this.model.orderOf(now.to - 1)];
      return [{ kind: 'range', column: 'order', lo, hi }];
    }
    const lines = chosenReferences
      .filter((r) => r.line > 0)
      .map((r) => [`${r.file}:${r.line}`, { kind: 'line', file: r.file, line: r.line } as const] as const);
    return [...new Map(lines).values()];
  }
}
