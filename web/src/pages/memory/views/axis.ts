// One axis of a histogram: its slots along the length, its ticks, and the way
// between values, bins and positions. Every histogram is built on it.
import { atStep, count, decimal, exact, unitScale, plural, type UnitScale } from '../../../base/format';
import { clamp } from '../../../base/geometry';
import { ALL, SELECTED, type AxisAnswer } from '../../../api/decode';
import type { Term } from '../../../state/selection';
import type { ColumnInfo } from '../../../api/wire';
import { isNaming, rawName, titleOf } from '../../../state/axes';
import { gapsWithin, type TimeGap } from './gaps';
import { levelRank } from './levels';
import { linearTicks, logTicks } from '../../../base/scale';
import type { Said, Table } from '../../../frame/view';

export interface AxisInput {
  readonly column: ColumnInfo;
  readonly answer: AxisAnswer;
  /** For axes whose bins stand for CPUs: their order in the topology, a list for each node. */
  readonly groups?: readonly (readonly number[])[];
  readonly subtitle: string;
  /** When samples are missing; of a time axis only. */
  readonly gaps?: readonly TimeGap[];
  /** A fuller name of a value: "CPU 7", and where it lies. */
  readonly sayValue?: (
    value: string | number,
  ) => { readonly name: string; readonly inside: string } | undefined;
}

/** What an axis is drawn from; fuller names are said, not drawn. */
export function axisBasis({ sayValue: _, ...drawn }: AxisInput): unknown {
  return drawn;
}

export interface Slot {
  readonly bin: number;
  readonly from: number; // position along the axis, pixels
  readonly till: number;
  readonly label?: string; // named slots only
  readonly value?: string | number; // what the label stands for
  readonly kind: 'bin' | 'name' | 'more' | 'absent';
}

export interface Tick {
  readonly at: number;
  readonly label: string;
}

const ABSENT_GAP = 12; // between the last slot and that of rows without a value
const ABSENT_SLOT = 12;
const GROUP_GAP = 6; // between the CPUs of two nodes

export class AxisLayout {
  readonly slots: readonly Slot[];
  readonly named: boolean;
  readonly scale: UnitScale;
  /** Large values up: amounts. Time and indices run down, as text does. */
  readonly up: boolean;
  private readonly byBin: ReadonlyMap<number, Slot>;

  constructor(
    readonly input: AxisInput,
    readonly length: number,
    /** Lying axes grow to the right whatever they show. */
    lying = false,
  ) {
    const { answer: a, column } = input;
    this.scale = unitScale(column.unit, Math.max(Math.abs(a.lo), Math.abs(a.hi)));
    this.up = !lying && (a.scale === 'log' || column.unit === 'cycles');
    this.named = a.labels.length > 0 || (isNaming(column) && oneValueBins(a));
    this.slots = this.lay();
    this.byBin = new Map(this.slots.map((s) => [s.bin, s]));
  }

  private lay(): Slot[] {
    const { answer: a } = this.input;
    const absent = a.missing && (extent(a)[a.bins] ?? 0) > 0;
    const room = Math.max(1, this.length - (absent ? ABSENT_GAP + ABSENT_SLOT : 0));
    const slots = this.named ? this.layNames(room) : this.layBins(room);
    if (absent) {
      slots.push({
        bin: a.bins,
        from: this.length - ABSENT_SLOT,
        till: this.length,
        label: 'absent',
        kind: 'absent',
      });
    }
    return slots;
  }

  private layBins(room: number): Slot[] {
    const { bins } = this.input.answer;
    const h = room / bins;
    return Array.from({ length: bins }, (_, bin) => {
      const k = this.up ? bins - 1 - bin : bin;
      return { bin, from: k * h, till: (k + 1) * h, kind: 'bin' as const };
    });
  }

  private layNames(room: number): Slot[] {
    const groups = this.nameGroups();
    const n = groups.reduce((sum, g) => sum + g.length, 0);
    const gaps =
      Math.max(0, groups.length - 1) * Math.min(GROUP_GAP, room / (4 * Math.max(1, groups.length)));
    const gap = groups.length > 1 ? gaps / (groups.length - 1) : 0;
    const h = (room - gaps) / Math.max(1, n);
    const slots: Slot[] = [];
    let at = 0;
    for (const group of groups) {
      for (const bin of group) {
        slots.push({ bin, from: at, till: at + h, ...this.nameOf(bin) });
        at += h;
      }
      at += gap;
    }
    return slots;
  }

  /** Bins in the order they are shown: CPUs by node, levels by distance, others as the engine ranked them. */
  private nameGroups(): number[][] {
    const { answer: a, groups, column } = this.input;
    const all = Array.from({ length: a.bins }, (_, i) => i);
    if (groups && a.labels.length === 0) {
      const binOf = new Map(all.map((bin) => [valueOfBin(a, bin), bin]));
      const known = groups
        .map((g) => g.map((v) => binOf.get(v)).filter((b) => b !== undefined))
        .filter((g) => g.length > 0);
      const seen = new Set(known.flat());
      const rest = all.filter((b) => !seen.has(b) && (extent(a)[b] ?? 0) > 0);
      return rest.length > 0 ? [...known, rest] : known;
    }
    if (column.name === 'level') {
      const rank = (bin: number): number => levelRank(a.labels[bin] ?? '');
      return [all.toSorted((p, q) => rank(p) - rank(q))];
    }
    return [all];
  }

  private nameOf(bin: number): Pick<Slot, 'label' | 'value' | 'kind'> {
    const { answer: a, column } = this.input;
    const flag = column.kind === 'flag';
    if (a.labels.length === 0) {
      const v = valueOfBin(a, bin);
      return { label: flag ? (v === 0 ? 'no' : 'yes') : exact(v), value: v, kind: 'name' };
    }
    if (a.more > 0 && bin === a.bins - 1) return { label: `${count(a.more)} more`, kind: 'more' };
    const name = a.labels[bin]!;
    if (flag) return { label: name === '0' ? 'no' : 'yes', value: Number(name), kind: 'name' };
    if (column.kind === 'number' || column.kind === 'time')
      return { label: name, value: Number(name), kind: 'name' };
    return { label: name, value: name, kind: 'name' };
  }

  slot(bin: number): Slot | undefined {
    return this.byBin.get(bin);
  }

  /** The middle of a bin along the axis. */
  middle(bin: number): number {
    const s = this.byBin.get(bin);
    return s ? (s.from + s.till) / 2 : NaN;
  }

  slotAt(position: number): Slot | undefined {
    let best: Slot | undefined;
    let distance = Infinity;
    for (const s of this.slots) {
      const d = Math.abs(position - (s.from + s.till) / 2);
      if (position >= s.from && position < s.till) return s;
      if (d < distance) [best, distance] = [s, d];
    }
    return distance < 24 ? best : undefined;
  }

  /** Position of a value on a numeric axis. */
  positionOf(v: number): number {
    const { edges, bins } = this.input.answer;
    const at = clamp(binOfValue(this.input.answer, v), 0, bins - 1);
    const [lo, hi] = [edges[at]!, edges[at + 1]!];
    const part = clamp(
      this.input.answer.scale === 'log' && lo > 0
        ? Math.log(v / lo) / Math.log(hi / lo)
        : (v - lo) / (hi - lo),
      0,
      1,
    );
    const s = this.byBin.get(at)!;
    const p = Number.isFinite(part) ? part : 0;
    return this.up ? s.till - p * (s.till - s.from) : s.from + p * (s.till - s.from);
  }

  /** The value at a position of a numeric axis. */
  valueAt(position: number): number {
    const { edges, bins, scale } = this.input.answer;
    const room = this.byBin.get(this.up ? 0 : bins - 1)!.till;
    const share = clamp(position / room, 0, 1);
    const at = (this.up ? 1 - share : share) * bins;
    const bin = Math.min(bins - 1, Math.floor(at));
    const [lo, hi] = [edges[bin]!, edges[bin + 1]!];
    const part = at - bin;
    return scale === 'log' && lo > 0 ? lo * (hi / lo) ** part : lo + part * (hi - lo);
  }

  ticks(apart: number): Tick[] {
    if (this.named) return [];
    const { answer: a } = this.input;
    const most = Math.max(2, Math.floor(this.length / apart));
    const lo = a.edges[0]!;
    const hi = a.edges[a.bins]!;
    const f = this.scale.factor;
    const values =
      a.scale === 'log' ? logTicks(lo, hi, most) : linearTicks(lo / f, hi / f, most).map((v) => v * f);
    const step = values.length > 1 ? (values[1]! - values[0]!) / f : 1;
    return values.map((v) => ({
      at: this.positionOf(v),
      label: this.tickLabel(v, a.scale === 'log' ? v : step),
    }));
  }

  private tickLabel(v: number, step: number): string {
    if (this.input.column.kind === 'address') return `0x${Math.round(v).toString(16)}`;
    return atStep(v / this.scale.factor, Math.abs(step));
  }

  /** A value as it is written beside the axis, without unit. */
  say(v: number): string {
    if (this.input.column.kind === 'address') return `0x${Math.round(v).toString(16)}`;
    const scaled = v / this.scale.factor;
    if (scaled === 0) return '0';
    if (this.scale.factor !== 1) return decimal(scaled, Math.abs(scaled) < 1 ? 4 : 2);
    return exact(Math.abs(scaled) >= 100 ? Math.round(scaled) : Number(scaled.toPrecision(3)));
  }

  /** A bin in words: "m_x", "latency 97.3–105", "no value". */
  sayBin(bin: number): string {
    const s = this.byBin.get(bin);
    const { column, answer: a } = this.input;
    if (s?.kind === 'absent') return `${titleOf(column)} absent`;
    if (s?.kind === 'more') return `${s.label} of ${titleOf(column)}`;
    if (s?.label !== undefined)
      return column.kind === 'number' || column.kind === 'flag' ? `${titleOf(column)} ${s.label}` : s.label;
    const unit = this.scale.unit ? ` ${this.scale.unit}` : '';
    return `${titleOf(column)} ${this.say(a.edges[bin]!)}–${this.say(a.edges[bin + 1]!)}${unit}`;
  }

  /**
   * A bin as a program reads it: its words, and its ends in the unit of the column
   * with all digits; empty where a bin has none.
   */
  cells(bin: number): readonly [value: string, from: string, to: string] {
    const s = this.byBin.get(bin);
    const { answer: a } = this.input;
    const value = s?.value;
    if (typeof value === 'number') return [this.sayBin(bin), String(value), String(value)];
    if (s?.kind !== 'bin') return [this.sayBin(bin), '', ''];
    const from = bin === 0 && a.below > 0 ? a.min : a.edges[bin];
    const to = bin === a.bins - 1 && a.above > 0 ? a.max : a.edges[bin + 1];
    return [this.sayBin(bin), String(from ?? ''), String(to ?? '')];
  }

  /** Whether bins have ends: names have none. */
  private get numeric(): boolean {
    return this.input.column.kind !== 'category';
  }

  /** The heads of the cells that say in a table which bin a row is of. */
  get binHead(): string[] {
    const { column } = this.input;
    const unit = (end: string): string => `${end} ${column.unit}`.trim();
    return [column.name, ...(this.numeric ? [unit('from'), unit('to')] : [])];
  }

  /** Those cells: the ends of a bin are numbers. */
  binCells(bin: number): string[] {
    return this.cells(bin).slice(0, this.numeric ? 3 : 1);
  }

  /** A table of all bins shown: what each is, and its samples by layer. */
  table(bins: readonly number[]): Table {
    return {
      head: [...this.binHead, 'all', 'selected', 'hovered'],
      rows: bins.map((bin) => [
        ...this.binCells(bin),
        ...this.input.answer.counts.map((layer) => String(layer[bin] ?? 0)),
      ]),
    };
  }

  /** A bin in words, with where it lies if that is known. */
  sayMark(bin: number): { name: string; inside: string } {
    const value = this.byBin.get(bin)?.value;
    const fuller = value === undefined ? undefined : this.input.sayValue?.(value);
    return fuller
      ? { name: fuller.name, inside: fuller.inside ? `(${fuller.inside}) ` : '' }
      : { name: this.sayBin(bin), inside: '' };
  }

  /** What is said of a bin, the name it has in the file for the tooltip. */
  saySamples(bin: number): Said {
    const { answer, column } = this.input;
    const [all, selected] = [answer.counts[ALL][bin] ?? 0, answer.counts[SELECTED][bin] ?? 0];
    const about = this.named ? '' : column.about;
    const { name, inside } = this.sayMark(bin);
    const missing =
      this.named || answer.edges.length === 0
        ? []
        : gapsWithin(this.input.gaps, answer.edges[bin] ?? NaN, answer.edges[bin + 1] ?? NaN);
    const more = [
      `${inside}· ${count(selected)} of its ${plural(all, 'sample')} selected`,
      ...missing.map((g) => g.says),
    ];
    return { name: about + name, more: more.join(' · '), counted: selected, ...rawName(column) };
  }

  /** The samples of a bin. */
  binTerm(bin: number): Term | undefined {
    const { column: c, answer: a } = this.input;
    const s = this.byBin.get(bin);
    if (!s) return undefined;
    switch (s.kind) {
      case 'absent':
        return { kind: 'missing', column: c.name, not: false };
      case 'name':
        return valuesTerm(c, [s.value!]);
      case 'more':
        return this.moreTerm();
      case 'bin':
        return rangeOfBins(c.name, a, bin, bin);
    }
  }

  /** Everything that the named slots leave out. */
  private moreTerm(): Term {
    const { column: c, answer: a } = this.input;
    const listed = valuesTerm(
      c,
      this.slots.filter((s) => s.kind === 'name').map((s) => s.value!),
    );
    const clauses = [{ not: true, terms: [listed] }];
    if (a.missing) clauses.push({ not: false, terms: [{ kind: 'missing', column: c.name, not: true }] });
    return { kind: 'all', clauses };
  }

  /**
   * The terms of a brush between two positions: names for named slots, otherwise
   * a range whose ends are as round as the pixels allow; past the axis' end it
   * reaches the last value there is.
   */
  brushTerms(p: number, q: number): Term[] {
    const [from, till] = p < q ? [p, q] : [q, p];
    const { column: c, answer: a } = this.input;
    if (this.named) {
      const hit = this.slots.filter((s) => s.till > from && s.from < till);
      const terms: Term[] = [];
      const names = hit.filter((s) => s.kind === 'name').map((s) => s.value!);
      if (names.length > 0) terms.push(valuesTerm(c, names));
      for (const s of hit) if (s.kind !== 'name') terms.push(this.binTerm(s.bin)!);
      return terms;
    }
    const [lo, hi] = this.up ? [till, from] : [from, till];
    const room = this.slots.filter((s) => s.kind === 'bin').reduce((m, s) => Math.max(m, s.till), 0);
    const atLow = this.up ? lo >= room - 0.5 : lo <= 0.5;
    const atHigh = this.up ? hi <= 0.5 : hi >= room - 0.5;
    const range = {
      kind: 'range' as const,
      column: c.name,
      ...(a.min !== null && { lo: atLow ? a.min : this.round(lo) }),
      ...(a.max !== null && { hi: atHigh ? a.max : this.round(hi) }),
    };
    return [range];
  }

  /** The roundest value within one pixel of a position. */
  private round(position: number): number {
    const v = this.valueAt(position);
    const step = Math.abs(this.valueAt(position + 1) - v) || Math.abs(v - this.valueAt(position - 1)) || 1;
    const unit = 10 ** Math.floor(Math.log10(Math.max(step, 1e-12)));
    const whole =
      this.input.column.kind === 'number' &&
      Number.isInteger(this.input.answer.min) &&
      Number.isInteger(this.input.answer.max);
    const grain = whole || this.input.column.kind === 'time' ? Math.max(1, unit) : unit;
    return Number((Math.round(v / grain) * grain).toPrecision(15));
  }
}

/** Samples of each bin: of two runs the larger number, for places and scales of both. */
export function extent(a: AxisAnswer): Uint32Array {
  const [own, other] = [a.counts[ALL], a.beside?.[ALL]];
  return other ? own.map((n, i) => Math.max(n, other[i] ?? 0)) : own;
}

/** Whether each bin holds exactly one whole value, as CPUs do. */
export function oneValueBins(a: AxisAnswer): boolean {
  return a.labels.length === 0 && a.bins > 0 && a.edges[a.bins]! - a.edges[0]! === a.bins;
}

export function valueOfBin(a: AxisAnswer, bin: number): number {
  return Math.floor((a.edges[bin]! + a.edges[bin + 1]!) / 2);
}

export function binOfValue(a: AxisAnswer, v: number): number {
  let lo = 0;
  let hi = a.bins - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (a.edges[mid]! <= v) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}

export function valuesTerm(c: ColumnInfo, values: readonly (string | number)[]): Term {
  return { kind: 'values', column: c.name, values };
}

/** Exactly the rows counted in bins from … till: the outermost bins also hold what lies beyond. */
export function rangeOfBins(column: string, a: AxisAnswer, from: number, till: number): Term {
  const lo = from === 0 && a.below > 0 ? undefined : a.edges[from]!;
  const last = till >= a.bins - 1;
  const hi = last ? (a.above > 0 ? undefined : a.edges[a.bins]!) : a.edges[till + 1]!;
  return {
    kind: 'range',
    column,
    ...(lo !== undefined && { lo }),
    ...(hi !== undefined && { hi }),
    ...(!last && { open: true as const }),
  };
}

/** The second line of an axis head: unit and scale, or what the values are. */
export function subtitle(c: ColumnInfo, a: AxisAnswer, groups?: readonly unknown[]): string {
  if (c.kind === 'time') return `${unitScale(c.unit, a.hi).unit} from start`;
  const unit = c.unit ? unitScale(c.unit, Math.max(Math.abs(a.lo), Math.abs(a.hi))).unit : '';
  const scale = a.scale === 'log' ? 'log' : a.scale === 'quantile' ? 'quantiles' : '';
  // CPUs are in the order of their nodes, if there are any.
  const head = c.name === 'cpu' && (groups?.length ?? 0) < 2 ? '' : c.head;
  const known = unit || head || (c.kind === 'flag' ? 'no or yes' : c.kind);
  return [known, scale].filter(Boolean).join(' · ');
}
