// What people do on the mesh page: settings, selecting by place, pointing. It
// knows no markup.
import { count, plural } from '../../base/format';
import type { Mode, Clause, Selection, Term } from '../../state/selection';
import { termText, text } from '../../state/selection';
import { parse } from '../../state/language';
import type { Desk } from '../../frame/context';
import type { MeshModel } from './model.svelte';
import { colourScale, SCALE_CHOICES, type ColourScale } from './scales';
import { writeMesh, type MeshState } from './state';
import type { MeshStore } from './store';
import type { Area } from './relationview';
import type { MeshTimeBrushAsk } from '../../api/wire';
import type { Vec } from './camera';
import { vectorWords } from './arrows';
import { cellPlace, fieldTitle, valueOf } from './words';

const HOVER_REST = 60; // ms that the pointer rests before other views are told

/** Cells that a plot names: a rectangle of values, or a category. */
export type Cells = Area | { readonly category: number };

export class MeshControl {
  private rest: ReturnType<typeof setTimeout> | undefined;
  private told: Term | undefined; // what other views were told of
  private left = false;

  constructor(
    private readonly model: MeshModel,
    private readonly store: MeshStore,
  ) {}

  private get desk(): Desk {
    return this.model.desk;
  }

  // ---- settings ----

  commit(patch: Partial<MeshState>): void {
    const next = { ...this.model.now, ...patch };
    this.model.live = undefined;
    this.desk.store.change({ options: writeMesh(next, this.desk.snap.state.options) });
  }

  /** A setting while its slider moves: not in the link yet. */
  drag(patch: Partial<MeshState>): void {
    this.model.live = { ...this.model.now, ...patch };
  }

  /** The scale after the one that is seen; those that would look the same are left out. */
  nextScale(seen: ColourScale): void {
    const main = this.model.main;
    const names = SCALE_CHOICES.filter((s) => s !== 'auto');
    const at = names.indexOf(seen.name);
    const turned = [...names.slice(at + 1), ...names.slice(0, at)];
    const next = turned.find((s) => !main || colourScale(main, s).name === s);
    if (next) this.commit({ scale: next });
  }

  /** The vectors after those that are drawn as arrows; after the last of them none. */
  private nextArrows(): void {
    const { arrows, info } = this.model;
    const choices = ['', ...(info?.vectors ?? [])];
    this.commit({ arrows: choices[(choices.indexOf(arrows) + 1) % choices.length]! });
  }

  goTo(i: number): void {
    const { info } = this.model;
    if (info && i >= 0 && i < info.steps.length) this.commit({ step: i === info.steps.length - 1 ? -1 : i });
  }

  /** Whether the key was one of the picture's. */
  key(k: string): boolean {
    if (k === ',') this.goTo(this.model.step - 1);
    else if (k === '.') this.goTo(this.model.step + 1);
    else if (k === 'v') this.nextArrows();
    else if (k === 'Escape') this.commit({ cell: -1 });
    else return false;
    return true;
  }

  /** Puts the samples of another run on this mesh, and shows them. */
  async putSamples(id: string): Promise<void> {
    if (!(await this.store.attach(id))) return;
    this.desk.store.show(id);
    this.desk.store.change({ page: 'mesh' });
  }

  // ---- selecting ----

  /** Selects samples by place; clauses that are not about the place stay. */
  private choosePlace(here: Selection, asked: Mode | undefined, parts = this.model.parts): void {
    const { now } = this.model;
    const { snap, store } = this.desk;
    // Without a step of its own: going back takes both back.
    if (now.cell >= 0) store.change({ options: writeMesh({ ...now, cell: -1 }, snap.state.options) }, true);
    const mode = asked ?? 'set';
    const rest = mode === 'only' ? [] : parts.rest;
    store.selectText(text([...rest, ...placeAfter(parts.place, here, mode)]));
  }

  async choose(cell: number, mode: Mode | undefined): Promise<void> {
    const found = this.model.sampled ? await this.store.cell(this.model.step, cell) : undefined;
    if (!found || found.samples === 0)
      this.commit({ cell }); // nothing to select, but it is outlined
    else this.choosePlace(parse(found.where), mode);
  }

  async brush(cells: Cells, mode: Mode | undefined): Promise<void> {
    const found = await this.store.brush(this.brushAsk(cells));
    if (found && found.where !== '') this.choosePlace(parse(found.where), mode);
  }

  /** Selects the samples of regions at dumps in place of others by place or time. */
  async brushTime(ask: MeshTimeBrushAsk, mode: Mode | undefined): Promise<void> {
    const found = await this.store.brushTime(ask);
    if (found && found.where !== '') this.choosePlace(parse(found.where), mode, this.model.timeless);
  }

  setLine({ start, end }: { start: Vec; end: Vec }): void {
    this.commit({ line: `${start.join(',')}:${end.join(',')}` });
  }

  private brushAsk(a: Cells): Parameters<MeshStore['brush']>[0] {
    const ends =
      'category' in a
        ? { low: 0, high: 0, against_low: 0, against_high: 0, category: a.category }
        : { low: a.y[0], high: a.y[1], against_low: a.x[0], against_high: a.x[1] };
    return { ...this.model.relateAsk, picked: '', ...ends };
  }

  // ---- pointing: the mesh tells the other views, and they tell the mesh ----

  /** Tells other views what is pointed at, once the pointer rests. */
  private point(find: (() => Promise<Selection | undefined>) | undefined): void {
    clearTimeout(this.rest);
    if (!find) {
      if (this.told) this.desk.store.hover(undefined);
      this.told = undefined;
      return;
    }
    this.rest = setTimeout(() => {
      void find().then((s) => {
        if (this.left) return;
        this.told = s && s.length > 0 ? termOf(s) : undefined;
        this.desk.store.hover(this.told);
      });
    }, HOVER_REST);
  }

  cellOf(drawn: number): number {
    return this.model.geometry?.cells[drawn] ?? -1;
  }

  private fieldsOf(drawn: number): string[] {
    const { picture } = this.model;
    const values = [picture?.performance, picture?.physics].flatMap((f) =>
      f ? [`${fieldTitle(f)} ${valueOf(f, drawn)}`] : [],
    );
    return picture?.arrows ? [...values, vectorWords(picture.arrows, drawn)] : values;
  }

  hover(drawn: number): void {
    const { info, picture, sampled, step } = this.model;
    this.model.hovered = drawn;
    const cell = this.cellOf(drawn);
    if (drawn < 0 || cell < 0 || !info) {
      this.desk.say(undefined);
      this.point(undefined);
      return;
    }
    const where = cellPlace(info, cell);
    this.desk.say({
      name: `Cell ${count(cell)}`,
      more: [where && `(${where})`, ...this.fieldsOf(drawn)].filter(Boolean).join(' · '),
    });
    if (sampled && (picture?.performance?.samples[drawn] ?? 0) > 0)
      this.point(async () => parse((await this.store.cell(step, cell))?.where ?? ''));
    else this.point(undefined);
  }

  /** The words beside the pointer. */
  tip(): string[] {
    const { hovered, info } = this.model;
    if (hovered < 0 || !info) return [];
    const cell = this.cellOf(hovered);
    return [`cell ${count(cell)}`, cellPlace(info, cell), ...this.fieldsOf(hovered)];
  }

  hoverCells(cells: Cells | undefined): void {
    this.point(cells && (async () => parse((await this.store.brush(this.brushAsk(cells)))?.where ?? '')));
  }

  /** A cell that is pointed at beside the mesh; -1: none. */
  hoverCell(cell: number): void {
    this.point(
      cell >= 0 && this.model.sampled
        ? async () => parse((await this.store.cell(this.model.step, cell))?.where ?? '')
        : undefined,
    );
  }

  hoverTime(column: string, from: number, to: number, words: string): void {
    this.desk.say(words === '' ? undefined : { name: 'Iterations', more: words });
    this.point(
      words === ''
        ? undefined
        : () => Promise.resolve([{ not: false, terms: [{ kind: 'range', column, lo: from, hi: to }] }]),
    );
  }

  /** The page is left: nothing is told any more. */
  close(): void {
    this.left = true;
    clearTimeout(this.rest);
    if (this.told) this.desk.store.hover(undefined);
  }

  /** How large the mesh is, in words. */
  size(): string {
    const { info } = this.model;
    return info ? `${plural(info.points, 'point')} · ${plural(info.steps.length, 'dump')}` : '';
  }
}

/** The clauses about the place after a click: Shift on what is selected takes it out again. */
export function placeAfter(place: Selection, here: Selection, mode: Mode): Selection {
  if (mode === 'remove') return [...place, { not: true, terms: termsOf(here) }];
  if (mode !== 'add' || place.length === 0) return here;
  const clicked = new Set(termsOf(here).map(termText));
  const left = termsOf(place).filter((t) => !clicked.has(termText(t)));
  if (left.length === termsOf(place).length)
    return [{ not: false, terms: [...termsOf(place), ...termsOf(here)] }];
  return left.length === 0 ? [] : [{ not: false, terms: left }];
}

function termsOf(s: Selection): Clause['terms'] {
  const [only] = s;
  return s.length === 1 && only && !only.not ? only.terms : [{ kind: 'all', clauses: s }];
}

function termOf(s: Selection): Term {
  const terms = termsOf(s);
  return terms.length === 1 ? terms[0]! : { kind: 'all', clauses: s };
}
