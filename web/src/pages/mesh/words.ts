// Words for fields, cells and time.
import { count, plural, decimal, exact } from '../../base/format';
import type { Clause, Selection, Term } from '../../state/selection';
import type { MeshInfo, Mode, Separation } from '../../api/wire';
import type { Vec } from './camera';
import type { Field } from './picture';

const AGGREGATES: Readonly<Record<string, string>> = {
  avg: 'average',
  sum: 'sum',
  min: 'smallest',
  max: 'largest',
  std: 'deviation',
  median: 'median',
  p90: 'p90',
  p99: 'p99',
  distinct: 'distinct',
  dominant: 'most frequent',
};

const PER_ACCESS = '_per_access';

/** latency_avg becomes "latency, average", and samples_per_access "samples per access". */
export function fieldName(name: string): string {
  if (name.endsWith(PER_ACCESS)) return `${fieldName(name.slice(0, -PER_ACCESS.length))} per access`;
  const m = /^(.+)_([a-z0-9]+)$/.exec(name);
  const by = m && AGGREGATES[m[2]!];
  return by ? `${m[1]}, ${by}` : name;
}

/** What is shown of a field: "change of latency, average". */
export function fieldTitle(f: Pick<Field, 'name' | 'change'>): string {
  return f.change ? `change of ${fieldName(f.name.replace(/_change$/, ''))}` : fieldName(f.name);
}

/** The block, level and indices of a cell. */
export function cellPlace(info: MeshInfo, cell: number): string {
  const part = info.parts.find((p) => cell >= p.first && cell < p.first + p.cells);
  if (!part) return '';
  const inPart = cell - part.first;
  const words = info.parts.length > 1 ? [part.name || `block ${part.domain}`] : [];
  const [nx, ny] = part.dims;
  if (nx && ny)
    words.push(`i ${inPart % nx}, j ${Math.floor(inPart / nx) % ny}, k ${Math.floor(inPart / (nx * ny))}`);
  return words.join(', ');
}

/** Whether stored rows are those of a set of cells. */
export function isCells(name: string): boolean {
  return /^cells(@|\s|$)/.test(name);
}

/** Value of a drawn cell: "467.9 cycles, 6 samples", or that it has none. */
export function valueOf(f: Field, drawn: number): string {
  const v = f.values[drawn] ?? Number.NaN;
  const n = f.samples[drawn];
  if (Number.isNaN(v)) {
    if (n === 0) return 'no samples';
    return f.name.endsWith(PER_ACCESS) ? 'no access recorded' : 'no value';
  }
  const text = `${f.change && v > 0 ? '+' : ''}${exact(v)}${f.unit ? ` ${f.unit}` : ''}`;
  return n === undefined || f.name === 'samples'
    ? text
    : `${text}, ${count(n)} ${n === 1 ? 'sample' : 'samples'}`;
}

export function dumpName(info: MeshInfo, step: number): string {
  const s = info.steps[step];
  if (!s) return '';
  return s.from === 'ordinal' ? `dump ${step + 1}` : `dump ${count(s.iteration)}`;
}

/** Which samples are taken, on which mesh; values may be changes since another dump. */
export function taken(info: MeshInfo, mode: Mode, since?: number): string {
  const now = takenAt(info, mode);
  if (since === undefined) return now;
  const what = info.samples > 0 ? 'samples before both dumps' : 'a value in both dumps';
  return `${now}, less the same at ${dumpName(info, since)}; cells with ${what}`;
}

function takenAt(info: MeshInfo, mode: Mode): string {
  const s = info.steps[info.step]!;
  const time = s.time === null ? '' : `, time ${exact(s.time)}`;
  const mesh = `on the mesh of ${dumpName(info, info.step)}${time}`;
  if (info.samples === 0) return mesh.slice(3);
  const column = info.iterations?.column ?? 'iteration';
  const before = info.step > 0 ? info.steps[info.step - 1]!.iteration : undefined;
  switch (mode) {
    case 'all':
      return `samples of all iterations ${mesh}`;
    case 'upto':
      return `samples with ${column} ≤ ${count(s.iteration)} ${mesh}`;
    case 'only':
      return s.from === 'ordinal' || before === undefined
        ? `samples with ${column} ${s.from === 'ordinal' ? '=' : '≤'} ${count(s.iteration)} ${mesh}`
        : `samples with ${count(before)} < ${column} ≤ ${count(s.iteration)} ${mesh}`;
    default:
      return mode satisfies never;
  }
}

/** How the differences between cells divide into physics, placement and communication. */
export function separation(s: Separation): string {
  const part = (share: number): string => `${decimal(100 * Math.max(0, share), 0)} %`;
  const own = s.subjects.map((p) => `${part(p.own)} with ${p.subject} alone (${p.variable})`);
  return `Of the differences between ${plural(s.cells, 'cell')} go ${own.join(', ')}; ${part(s.common)} with several of these, which lie alike, and ${part(1 - s.together)} with none.`;
}

/** Three numbers; undefined for anything else. */
export function readPoint(text: string): Vec | undefined {
  const parts = text.split(',').map((s) => (s.trim() === '' ? Number.NaN : Number(s)));
  const [x, y, z] = parts;
  return parts.length === 3 && parts.every(Number.isFinite) ? [x!, y!, z!] : undefined;
}

/** Whether a clause is about the place of samples on the mesh only. */
export function aboutPlace(c: Clause, placing: readonly string[]): boolean {
  const term = (t: Term): boolean => {
    if (t.kind === 'all') return t.clauses.every((inner) => aboutPlace(inner, placing));
    if (t.kind === 'rows') return isCells(t.name);
    return 'column' in t && placing.includes(t.column);
  };
  return c.terms.every(term);
}

/** A selection in two parts: where on the mesh, and everything else. */
export function split(s: Selection, placing: readonly string[]): { place: Selection; rest: Selection } {
  return { place: s.filter((c) => aboutPlace(c, placing)), rest: s.filter((c) => !aboutPlace(c, placing)) };
}
