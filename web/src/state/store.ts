// The one store of the page: what is shown, what is selected, what is hovered,
// and the answers to what the views ask. Views get parts of its snapshot; they
// keep no selection of their own.
//
// subscribe follows Svelte's store contract, so a component can read $store.

import { ApiError, Gone, type Api, type FileOf } from '../api/client';
import type { Answer } from '../api/decode';
import type { Clock } from '../base/clock';
import { parse } from './language';
import { History, type Undoes } from './history';
import { columnsOf, merge, type Answers, type Questions } from './questions';
import type { Place } from './place';
import { failureOf, Resource, type Problem } from './resource';
import * as sel from './selection';
import type { Mode, Selection, Term } from './selection';
import { filterOf } from './sides';
import { opening } from './before';
import { INITIAL, keptLink, LONGEST, read, sameRows, sameState, write, type State } from './url';
import type { Ask, Axis, Home, Info, Job, NamedSelection, Reading } from '../api/wire';

/** What is done with a run that was opened. */
export type Then = (run: string) => void;

export interface Snapshot {
  readonly home: Home | undefined;
  readonly info: Info | undefined; // of state.run
  readonly state: State;
  readonly hover: Term | undefined;
  readonly answer: Answer | undefined; // the newest, with its counts
  readonly answered: Term | undefined; // the hover it is about
  readonly answers: ReadonlyMap<string, Answers>; // by view
  // Of two runs, what the other one answers: A, unless A is what is shown.
  readonly other: Side | undefined;
  readonly busy: boolean; // an answer is under way; the shown one is older
  readonly behind: boolean; // and about other rows, for so long that people wait for it
  readonly problem: Problem | undefined; // why the newest question has no answer
  readonly gone: boolean; // the server does not answer
  readonly notes: readonly string[]; // sentences about the link
  readonly job: Job | undefined; // an import under way, or failed
  readonly undo: boolean;
  readonly redo: boolean;
}

const PATIENCE = 60; // ms that views wait for the answer to a click before they draw without it
const WAITED = 400; // ms without the answer to a selection, after which the page says that it is counted
const CONFLICTS = 5; // times that another page may be quicker in saving
const KEPT = 6; // answers about two runs that are remembered
const HOVER_REST = 30; // ms; a pointer passing over costs the server nothing

// Side is what one of two runs answers.
export interface Side {
  readonly answer: Answer;
  readonly parts: ReadonlyMap<string, Answers>;
}

// Rows is which samples are selected, and which are shown at all.
interface Rows {
  readonly select: Selection;
  readonly filter: Selection;
}

// Round is an answer, its parts for the views, and the hover it was asked for.
interface Round extends Side {
  readonly hover: Term | undefined;
  readonly about: string; // the rows it is about
  readonly before: Side | undefined; // A, of two runs
}

// Wanted is what is asked for everything on screen, and how its answer is taken apart.
interface Wanted {
  readonly epoch: number;
  readonly run: string;
  readonly ask: Ask;
  readonly views: string; // who wants which part: equal questions may be of other views
  readonly split: (answer: Answer, side?: 'A' | 'B') => ReadonlyMap<string, Answers>;
  readonly sides: readonly [a: string, b: string] | undefined; // filters of two runs
  readonly moving: boolean; // its statistics are those of a moment ago
  readonly hover: Term | undefined;
  readonly about: string; // the rows
}

/** Rows of one of two runs. */

// Another run may lack a column that a view asked about and will not ask about
// again: until then the question waits.
function answerable(views: ReadonlyMap<string, Questions>, info: Info): ReadonlyMap<string, Questions> {
  const known = new Set(info.columns.map((c) => c.name));
  return new Map([...views].filter(([, q]) => columnsOf(q).every((name) => known.has(name))));
}

export class Store {
  private snap: Snapshot;
  private readonly listeners = new Set<(s: Snapshot) => void>();
  private readonly views = new Map<string, Questions>();
  private readonly answers: Resource<Wanted, Round>;
  private readonly infos: Resource<{ readonly epoch: number; readonly run: string }, Info>;
  private readonly history = new History();
  private shown: Round | undefined; // the newest
  private cancelHover: (() => void) | undefined;
  private asked = ''; // the rows that the newest question is about
  private waited: (() => void) | undefined; // cancels what says that it takes long
  private owed: (() => void) | undefined; // listeners have not heard of the newest snapshot; cancels what tells them
  private scheduled: 'now' | 'follow' | undefined;
  private dragStart: State | undefined;
  private preparing: AbortController | undefined;
  private turning = ''; // the run that was chosen last
  private epoch = 0; // of the run as it was read last: other data may have the same name

  constructor(
    private readonly api: Api,
    private readonly place: Place,
    private readonly clock: Clock,
  ) {
    const { state, problems } = read(place.fragment());
    this.snap = {
      home: undefined,
      info: undefined,
      state,
      hover: undefined,
      answer: undefined,
      answered: undefined,
      answers: new Map(),
      other: undefined,
      busy: false,
      behind: false,
      problem: undefined,
      gone: false,
      notes: problems,
      job: undefined,
      undo: false,
      redo: false,
    };
    const { connection } = api;
    const fail = (problem: Problem): void => this.set({ problem });
    this.answers = new Resource<Wanted, Round>({
      connection,
      clock,
      fail,
      key: ({ epoch, run, ask, views }) => JSON.stringify([epoch, run, ask, views]),
      load: (wanted, signal) => this.round(wanted, signal),
      show: (round) => {
        this.shown = round;
        this.stopWaiting();
        this.set({
          ...this.sideOf(this.snap.state),
          answered: round.hover,
          problem: undefined,
          behind: false,
        });
      },
      busy: (busy) => this.waits(busy),
      // A, B and their difference ask for other lists: who goes back and forth
      // between them sees what was answered.
      keep: KEPT,
      keeps: ({ sides, moving }) => sides !== undefined && !moving,
    });
    this.infos = new Resource<{ readonly epoch: number; readonly run: string }, Info>({
      connection,
      clock,
      fail,
      load: ({ run }, signal) => this.api.info(run, signal),
      show: (info) => this.opened(info),
    });
    connection.subscribe((gone) => {
      this.set({ gone });
      if (!gone && !this.snap.home) void this.start();
    });
    place.onPop(() => this.restored());
  }

  get snapshot(): Snapshot {
    return this.snap;
  }

  subscribe(listener: (s: Snapshot) => void): () => void {
    this.listeners.add(listener);
    listener(this.snap);
    return () => this.listeners.delete(listener);
  }

  // start reads what is open and shows the run of the link, or the first.
  async start(): Promise<void> {
    try {
      await this.unfold();
      const home = await this.api.home();
      this.set({ home });
      this.choose(home);
      // A file given on the command line may still be being read.
      const [job] = home.jobs;
      if (job && !this.snap.job) void this.follow(() => Promise.resolve(job));
    } catch (error) {
      this.failed(error);
    }
  }

  // address is a link to what is shown, short enough to be passed on: the
  // server keeps one that is not.
  async address(base: string): Promise<string> {
    const fragment = write(this.snap.state);
    if (base.length + fragment.length <= LONGEST) return base + fragment;
    return base + keptLink((await this.api.keepLink(fragment)).id);
  }

  // ---- selecting ----

  select(term: Term, mode: Mode = 'set'): void {
    this.rows({ select: sel.apply(this.snap.state.select, term, mode) });
  }

  // brush sets the ranges on an axis; while the pointer moves nothing is
  // committed, so one drag is one step back.
  brush(column: string, terms: readonly Term[], moving = false): void {
    this.rows({ select: sel.brush(this.snap.state.select, column, terms) }, moving);
  }

  // cancelMove puts back what was selected before a drag that is given up.
  cancelMove(): void {
    if (this.dragStart) this.commit(this.dragStart, false);
  }

  // prepare tells the server which axis is being brushed. Getting ready is worth
  // it for a drag only, and takes both processors: the end of the drag ends it.
  prepare(axis: Axis): void {
    const { info, state } = this.snap;
    if (!info || info.pair) return;
    const where = sel.text(sel.without(state.select, axis.column));
    const ask = { ...merge(this.views).ask, where, filter: sel.text(state.filter) };
    this.preparing?.abort();
    this.preparing = new AbortController();
    // Failing to prepare only makes the drag slower.
    this.api.prepare(info.id, { axis, ask }, this.preparing.signal).catch(() => {});
  }

  // selectText takes a selection as the user typed it; it throws a
  // SyntaxProblem.
  selectText(text: string): void {
    this.rows({ select: parse(text) });
  }

  removeClause(index: number): void {
    this.rows({ select: sel.removeClause(this.snap.state.select, index) });
  }

  // changeClause puts what the user made of a chip in its place.
  changeClause(change: (s: Selection) => Selection, moving = false): void {
    this.rows({ select: change(this.snap.state.select) }, moving);
  }

  removeFilter(index: number): void {
    this.rows({ filter: sel.removeClause(this.snap.state.filter, index) });
  }

  selectAll(): void {
    this.rows({ select: sel.EVERYTHING });
  }

  invert(): void {
    this.rows({ select: sel.invert(this.snap.state.select) });
  }

  // showSelected leaves only the selected rows; hideSelected leaves them out.
  // Both turn the selection into a filter.
  showSelected(): void {
    const { select, filter } = this.snap.state;
    this.rows({ filter: [...filter, ...select], select: sel.EVERYTHING });
  }

  hideSelected(): void {
    const { select, filter } = this.snap.state;
    if (select.length === 0) return;
    this.rows({ filter: [...filter, ...sel.invert(select)], select: sel.EVERYTHING });
  }

  // undo goes one step back in what a page undoes; redo forward again.
  undo(what: Undoes): void {
    this.travel(this.history.undo(what, this.snap.state));
  }

  redo(what: Undoes): void {
    this.travel(this.history.redo(what, this.snap.state));
  }

  // hover previews a term in all views; it leaves no trace in link or history.
  hover(term: Term | undefined): void {
    const was = this.snap.hover;
    if (was === term || (was && term && sel.same(was, term))) return;
    // A pointer that rested until now is answered at once; one that passes over
    // marks, when it rests again.
    const atOnce = this.cancelHover === undefined && !this.snap.busy;
    this.cancelHover?.();
    if (atOnce) this.refresh('now');
    this.set({ hover: term });
    this.cancelHover = this.clock.after(HOVER_REST, () => {
      this.cancelHover = undefined;
      if (!atOnce) this.refresh('now');
    });
  }

  // ---- view settings ----

  // change sets what a link restores besides the rows: axes, colours, layout.
  change(patch: Partial<Omit<State, 'select' | 'filter' | 'run'>>, moving = false): void {
    this.commit({ ...this.snap.state, ...patch }, moving);
  }

  // go sets rows and what else a link restores, as one step back.
  go(patch: Partial<Pick<State, 'select' | 'options' | 'page'>>): void {
    this.commit({ ...this.snap.state, ...patch }, false);
  }

  option(name: string, value: string | undefined, moving = false): void {
    const { [name]: _, ...rest } = this.snap.state.options;
    this.change({ options: value === undefined ? rest : { ...rest, [name]: value } }, moving);
  }

  // ---- asking ----

  // want says what a view wants to know from now on; undefined when it closes.
  want(view: string, questions: Questions | undefined): void {
    const was = this.views.get(view);
    if (JSON.stringify(was) === JSON.stringify(questions)) return;
    if (questions) this.views.set(view, questions);
    else this.views.delete(view);
    if (questions) this.refresh('now');
  }

  // foresee has the server work out what a view is about to ask about the same
  // rows. Nobody waits for the answer.
  foresee(questions: Questions): void {
    const { info, state, busy } = this.snap;
    if (!info || info.pair || busy) return;
    const rows = { where: sel.text(state.select), filter: sel.text(state.filter), hover: '' };
    this.api.ask(info.id, { ...questions, ...rows }, new AbortController().signal).catch(() => {});
  }

  // retry asks again after a failure.
  retry(): void {
    this.set({ problem: undefined });
    this.answers.retry();
    this.infos.retry();
    if (!this.snap.home) void this.start();
  }

  // ---- runs ----

  // show opens a run that the server has.
  show(run: string): void {
    const first = opening(run, this.snap.home?.runs ?? []);
    this.commit({ ...INITIAL, ...first }, false);
    this.load(first.run);
  }

  // compare shows two runs as one.
  compare(a: string, b: string): void {
    this.commit({ ...this.snap.state, run: `${a},${b}` }, false);
    this.load(this.snap.state.run);
  }

  // turn shows another run, or two as one, in place of what is shown. What is
  // selected and shown stays, as far as that has it.
  async turn(run: string): Promise<void> {
    this.turning = run;
    try {
      const { fitted } = await import('./turning');
      const now = await fitted(this.api, this.snap, run);
      if (this.turning !== run) return;
      if (!now) return this.show(run);
      this.set({ notes: now.notes });
      this.commit(now.state, false);
      this.load(run);
    } catch (error) {
      this.failed(error);
    }
  }

  // reload asks again what there is to know about the run.
  reload(): void {
    if (this.snap.info) this.load(this.snap.info.id);
  }

  // renew shows what a run has become: what is selected and shown stays.
  renew(now: Pick<Snapshot, 'state' | 'info' | 'home'>): void {
    this.epoch++;
    this.refresh('now');
    this.set(now);
  }

  // open imports a file on the server's machine, upload one of the browser's. Its
  // run is shown, or given to what follows.
  open(path: string, then?: Then): Promise<void> {
    return this.follow(() => this.api.open(path), then);
  }

  upload(name: string, content: Blob, then?: Then): Promise<void> {
    return this.follow(() => this.api.upload(name, content), then);
  }

  // again reads the file behind a run or a failed import in another way. What is
  // selected and shown stays, as far as the new data has it.
  again(of: FileOf, how: Reading): Promise<void> {
    const inPlace = (run: string): void => {
      this.commit({ ...this.snap.state, run }, false);
      this.load(run);
    };
    // A run of the two that the page began with stays one of them.
    const alone = 'run' in of && !this.snap.home?.compare.split(',').includes(of.run);
    return this.follow(() => this.api.again(of, how), alone ? inPlace : undefined);
  }

  async cancelJob(): Promise<void> {
    const { job } = this.snap;
    if (job?.state === 'running') await this.api.cancel(job.id).catch(() => {});
  }

  dismissJob(): void {
    this.set({ job: undefined });
  }

  async addSources(folder: string): Promise<void> {
    const { info } = this.snap;
    if (info) this.set({ info: await this.api.addSources(info.id, folder) });
  }

  // note says a sentence about what is shown.
  note(text: string): void {
    this.set({ notes: [text] });
  }

  // saveSelection keeps the selected rows in the run under a name, what is
  // filtered out left out; removeSelection forgets the name.
  async saveSelection(name: string): Promise<void> {
    const { select, filter } = this.snap.state;
    const entry: NamedSelection = { name, where: sel.text([...filter, ...select]) };
    await this.saveAll((list) => [...list.filter((s) => s.name !== name), entry]);
  }

  async removeSelection(name: string): Promise<void> {
    await this.saveAll((list) => list.filter((s) => s.name !== name));
  }

  // recall selects what was kept under a name.
  recall(named: NamedSelection): void {
    this.rows({ select: parse(named.where) });
  }

  // ---- the inside ----

  // unfold replaces a link that the server keeps by the state it stands for.
  private async unfold(): Promise<void> {
    const { kept } = read(this.place.fragment());
    if (kept === undefined) return;
    try {
      this.place.replace((await this.api.link(kept)).fragment);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.place.replace('#');
      this.set({ notes: [`${error.failure.error}; ${error.failure.hint ?? ''}`] });
      return;
    }
    const { state, problems } = read(this.place.fragment());
    this.set({ state, notes: problems });
  }

  private set(patch: Partial<Snapshot>): void {
    this.owed?.();
    this.owed = undefined;
    this.snap = { ...this.snap, ...patch };
    for (const listener of this.listeners) listener(this.snap);
  }

  // later changes the snapshot at once and tells of it with the next change, which
  // is the answer if it comes soon. A picture with the new selection and the old
  // numbers would cost a frame, and the answer would wait for it.
  private later(patch: Partial<Snapshot>): void {
    this.snap = { ...this.snap, ...patch };
    this.owed ??= this.clock.after(PATIENCE, () => this.set({}));
  }

  private async saveAll(edit: (list: readonly NamedSelection[]) => readonly NamedSelection[]): Promise<void> {
    const { info } = this.snap;
    if (!info) return;
    let known = { list: info.selections, version: info.selectionsVersion };
    for (let tries = 0; ; tries++) {
      try {
        known = await this.api.saveSelections(info.id, { ...known, list: edit(known.list) });
        break;
      } catch (error) {
        // Another page saved meanwhile: the change is made to what is there now.
        if (!(error instanceof ApiError) || error.status !== 409 || tries === CONFLICTS) throw error;
        known = await this.api.selections(info.id);
      }
    }
    const now = this.snap.info;
    if (now?.id !== info.id) return;
    this.set({ info: { ...now, selections: known.list, selectionsVersion: known.version } });
  }

  // rows changes which rows are selected or shown at all.
  private rows(patch: Partial<Rows>, moving = false): void {
    this.commit({ ...this.snap.state, ...patch }, moving);
  }

  private commit(state: State, moving: boolean): void {
    const was = this.snap.state;
    const start = this.dragStart ?? was;
    // The moves of a drag asked only for what is cheap; its end asks for all.
    const ended = this.dragStart !== undefined && !moving;
    this.dragStart = moving ? start : undefined;
    if (ended) {
      this.preparing?.abort();
      this.refresh('now');
    }
    if (sameState(was, state) && (moving || sameState(start, state))) return;
    if (!this.sameAnswer(was, state)) this.refresh(moving ? 'follow' : 'now');
    if (moving) {
      this.place.replace(write(state));
    } else {
      // The moves of a drag replaced the entry it began on: put that back.
      if (start !== was) this.place.replace(write(start));
      if (!sameState(start, state)) {
        this.place.push(write(state));
        this.history.went(start, state);
      }
    }
    this.enter(state, moving);
  }

  // sameAnswer reports whether what was answered will do for another state. A hover
  // over a difference was answered without the lines that A and B have of it.
  private sameAnswer(was: State, state: State): boolean {
    return sameRows(was, state) && (was.cmp === state.cmp || this.snap.hover === undefined);
  }

  // enter shows a state. Other rows can wait for their answer; what follows the
  // pointer cannot, nor what opens a view, which has to ask first.
  private enter(state: State, moving: boolean): void {
    const { select, filter } = this.snap.state;
    const onlyRows = sameState(this.snap.state, { ...state, select, filter });
    const now = { state, ...this.history.can('samples'), ...this.sideOf(state) };
    if (this.scheduled !== undefined && onlyRows && !moving) this.later(now);
    else this.set(now);
  }

  private travel(state: State | undefined): void {
    if (!state) return;
    this.arrive(state);
    this.place.push(write(this.snap.state));
  }

  // arrive shows a state without writing history.
  private arrive(state: State): void {
    const was = this.snap.state;
    this.dragStart = undefined;
    const other = was.run !== state.run && state.run !== '';
    if (!other && !this.sameAnswer(was, state)) this.refresh('now');
    this.enter(state, false);
    if (other) this.load(state.run);
  }

  // restored follows Back, Forward and a link pasted into the address bar.
  private restored(): void {
    if (read(this.place.fragment()).kept !== undefined) {
      void this.unfold().then(
        () => this.choose(this.snap.home ?? { runs: [], compare: '' }),
        (error: unknown) => this.failed(error),
      );
      return;
    }
    const { state, problems } = read(this.place.fragment());
    const now = this.snap.state;
    this.history.followed(now, state.run === '' ? { ...state, run: now.run } : state);
    this.set({ notes: problems });
    this.arrive(state.run === '' ? { ...state, run: now.run } : state);
  }

  private choose(home: Pick<Home, 'runs' | 'compare'>): void {
    const { run } = this.snap.state;
    const open = (id: string): boolean => home.runs.some((r) => r.id === id);
    const id = home.compare || home.runs[0]?.id;
    if (run !== '' && run.split(',').every(open)) return this.load(run);
    if (!id) return;
    const notes =
      run === ''
        ? this.snap.notes
        : [...this.snap.notes, 'The link is about other data than this run; only what fits is shown.'];
    const named = this.snap.state.page !== INITIAL.page;
    const now = this.snap.state;
    const first = opening(id, home.runs);
    const state = {
      ...now,
      run: first.run,
      page: run === '' && !named ? first.page : now.page,
      options: { ...first.options, ...now.options },
    };
    this.place.replace(write(state));
    this.set({ state, notes });
    this.load(first.run);
  }

  private load(run: string): void {
    this.epoch++;
    this.shown = undefined;
    this.set({
      info: undefined,
      answer: undefined,
      answers: new Map(),
      other: undefined,
      problem: undefined,
    });
    this.infos.want({ epoch: this.epoch, run });
  }

  private opened(info: Info): void {
    this.set({ info });
    this.refresh('now');
  }

  // refresh asks for everything on screen, once per turn of the event loop. It
  // goes before set: then the question is on its way before views are redrawn.
  private refresh(how: 'now' | 'follow'): void {
    const waiting = this.scheduled;
    this.scheduled = waiting === 'now' ? 'now' : how;
    if (waiting === undefined) queueMicrotask(() => this.send());
  }

  // round asks for everything on screen: once, or once of each of two runs.
  private async round({ run, ask, split, hover, about, sides }: Wanted, signal: AbortSignal): Promise<Round> {
    if (!sides) {
      const answer = await this.api.ask(run, ask, signal);
      return { answer, parts: split(answer), hover, about, before: undefined };
    }
    const [a, b] = await Promise.all(sides.map((filter) => this.api.ask(run, { ...ask, filter }, signal)));
    return {
      answer: b!,
      parts: split(b!, 'B'),
      hover,
      about,
      before: { answer: a!, parts: split(a!, 'A') },
    };
  }

  // waits follows whether an answer is under way. One about other rows than are shown
  // takes a moment at most of a run that is here, and longer of one that is elsewhere.
  private waits(busy: boolean): void {
    if (busy) {
      this.waited ??= this.clock.after(WAITED, () => {
        this.waited = undefined;
        if (this.shown && this.shown.about !== this.asked) this.set({ behind: true });
      });
      this.later({ busy });
      return;
    }
    this.stopWaiting();
    this.set({ busy, behind: false });
  }

  private stopWaiting(): void {
    this.waited?.();
    this.waited = undefined;
  }

  // sideOf is the part of the newest answers that a state shows.
  private sideOf(state: State): Partial<Snapshot> {
    const round = this.shown;
    if (!round) return {};
    const { before } = round;
    const [own, other] = before && state.cmp === 'a' ? [before, round] : [round, before];
    return { answer: own.answer, answers: own.parts, other };
  }

  private send(): void {
    const how = this.scheduled;
    this.scheduled = undefined;
    const { info, state, hover } = this.snap;
    if (!info || info.columns.length === 0) return; // a run without samples
    const { ask, light, split, hasPairs, withPairs } = merge(answerable(this.views, info));
    const rows = {
      where: sel.text(state.select),
      filter: sel.text(state.filter),
      hover: hover ? sel.termText(hover) : '',
    };
    const { epoch } = this;
    const moving = how === 'follow';
    const old = (side?: 'A' | 'B'): ReadonlyMap<string, Answers> | undefined =>
      side === 'A' ? this.shown?.before?.parts : this.shown?.parts;
    const about = `${epoch}\n${rows.where}\n${rows.filter}`;
    this.asked = about;
    const aboutSide = (side?: 'A' | 'B'): string => (side ? `${about}\n${side}` : about);
    // The difference of two runs draws no lines for a hover: pairs are those of the same rows.
    const still =
      !moving && hover && info.pair && state.cmp === 'diff'
        ? { A: old('A') ?? new Map<string, Answers>(), B: old('B') ?? new Map<string, Answers>() }
        : undefined;
    const paired = still && (['A', 'B'] as const).every((side) => hasPairs(aboutSide(side), still[side]));
    this.answers.want(
      {
        epoch,
        run: info.id,
        ask: { ...(moving ? light : ask), ...rows, ...(paired && { pairs: [] }) },
        views: JSON.stringify([...this.views]),
        split: (answer, side) =>
          paired && side
            ? withPairs(answer, aboutSide(side), still[side])
            : split(answer, aboutSide(side), moving ? (old(side) ?? new Map()) : undefined),
        sides: info.pair && [filterOf(state, 'A'), filterOf(state, 'B')],
        moving,
        hover,
        about,
      },
      moving,
    );
  }

  private failed(error: unknown): void {
    if (error instanceof Gone) this.api.connection.lost();
    else this.set({ problem: failureOf(error) });
  }

  private async follow(begin: () => Promise<Job>, then?: Then): Promise<void> {
    try {
      const job = await begin();
      this.set({ job });
      const end = await this.api.follow(job.id, (now) => this.set({ job: now }));
      if (end.state !== 'done') {
        this.set({ job: end.state === 'failed' ? end : undefined });
        return;
      }
      const home = await this.api.home();
      this.set({ job: undefined, home });
      const next = home.jobs.find((j) => j.state === 'running' && j.id !== end.id);
      if (then) {
        then(end.run);
      } else if (home.compare.split(',').includes(end.run)) {
        this.show(home.compare);
      } else {
        this.show(end.run);
        if (next) void this.follow(() => Promise.resolve(next)); // the other of two runs
      }
    } catch (error) {
      this.set({ job: undefined });
      this.failed(error);
    }
  }
}
