// What the locality page asks, and what its selection means: from the link and
// the answers to the next question.
import { baseName } from '../../base/format';
import type {
  AdviseAsk,
  Info,
  LocalityAnswer,
  LocalityAsk,
  LocalityMapAsk,
  MachinesAsk,
  SharingAsk,
} from '../../api/wire';
import { selectedField, selectedLoop } from '../../state/references';
import { text, type Selection, type Term } from '../../state/selection';
import { laneRows, MARGIN } from './map';
import { termOf, type RowsInput } from './rows';
import type { LocalityState, TableTab } from './state';

/** What is selected, as the server understands it. */
export function whereOf(select: Selection, filter: Selection): string {
  return text([...filter, ...select]);
}

export function askOf(s: LocalityState, where: string): LocalityAsk {
  return {
    machine: s.machine,
    line: s.line,
    other: s.other,
    set: s.set,
    map: s.map,
    where,
    pair: s.pair.length === 2 ? s.pair : [],
    loops: s.table === 'loops',
    level: s.level,
    stack: s.stack,
  };
}

/** The question about the run that is compared with: what is tried is tried on this one alone. */
export const beforeAskOf = (ask: LocalityAsk): LocalityAsk => ({ ...ask, other: '', set: '', map: '' });

export const MOST_LANES = 12;

/** The map of the objects with the most misses at a level. */
export function mapAskOf(
  ask: LocalityAsk,
  answer: LocalityAnswer,
  room: { readonly w: number; readonly h: number },
): LocalityMapAsk {
  const objects = answer.now.objects
    .filter((o) => !o.object.startsWith('(') && (o.misses[ask.level] ?? 0) > 0 && o.bytes > 0)
    .slice(0, MOST_LANES);
  return {
    ...ask,
    other: '',
    set: '',
    map: '',
    loops: false,
    columns: Math.max(1, Math.min(4096, Math.floor((room.w - MARGIN - 12) / 2))),
    objects: objects.map((o) => o.object),
    rows: laneRows(objects, room.h),
    window: 0,
  };
}

export const adviseAskOf = (s: LocalityState): AdviseAsk => ({
  machine: s.machine,
  set: '',
  object: '',
  kinds: [],
  least: 0,
  reassociate: false,
});

/** Which lines threads fight for: all that are worth telling. */
export const sharingAskOf = (where: string): SharingAsk => ({ where, latency: 0, top: 64 });

const OTHERS = ['zen2', 'a64fx', 'zen4', 'm1'];

export const machinesAskOf = (s: LocalityState, wide: boolean): MachinesAsk => ({
  machines: OTHERS.slice(0, wide ? 4 : 2),
  map: s.map,
});

/** What the selection is called in sentences. */
export function selectionName(select: Selection, s: LocalityState): string {
  if (s.pair.length === 2) return `what ${s.pair[0]} lost to ${s.pair[1]}`;
  const [only] = select;
  const [term] = only?.terms ?? [];
  if (select.length !== 1 || !only || only.not || only.terms.length !== 1 || !term)
    return select.length === 0 ? '' : 'the selection';
  if (term.kind === 'values' && term.values.length === 1) return String(term.values[0]);
  if (term.kind === 'line') return `${baseName(term.file)}:${term.line}`;
  if (term.kind === 'rows') return selectedLoop(select) || selectedField(select) || 'the selection';
  return 'the selection';
}

/** Objects that are selected by name. */
export function selectedObjects(answer: LocalityAnswer | undefined): readonly string[] {
  return (answer?.now.objects ?? []).filter((o) => o.selected > 0).map((o) => o.object);
}

export const KINDS: Readonly<Record<TableTab, RowsInput['kind']>> = {
  objects: 'object',
  fields: 'field',
  lines: 'line',
  functions: 'function',
  loops: 'loop',
  threads: 'thread',
};

export function rowsOf(answer: LocalityAnswer, tab: TableTab): RowsInput['rows'] {
  const { now } = answer;
  const all = { objects: now.objects, fields: now.fields, lines: now.places, functions: now.functions };
  return { ...all, loops: answer.loops, threads: answer.byThread }[tab];
}

/** The term of a band of the curve. */
export function bandTerm(
  answer: LocalityAnswer,
  stack: LocalityState['stack'],
  name: string,
): Term | undefined {
  const kind = stack === 'none' ? undefined : stack;
  if (!kind || name === '' || name === 'other') return undefined;
  const rows = { object: answer.now.objects, line: answer.now.places, function: answer.now.functions }[kind];
  const row = rows.find((r) => r.name === name);
  return row && termOf(kind, row);
}

/** The source with the most misses that is at hand: by its name in the trace and on the server. */
export function fileOf(
  answer: LocalityAnswer | undefined,
  info: Info | undefined,
  level: number,
): { readonly name: string; readonly file: string } | undefined {
  const found = (info?.sources ?? []).filter((s) => s.found).map((s) => s.file);
  const sums = new Map<string, number>();
  for (const p of answer?.now.places ?? [])
    if (p.line > 0) sums.set(p.file, (sums.get(p.file) ?? 0) + (p.misses[level] ?? 0) + 1);
  return [...sums]
    .toSorted((a, b) => b[1] - a[1])
    .map(([name]) => ({ name, file: found.find((f) => f === name || f.endsWith(`/${baseName(name)}`)) }))
    .find((m): m is { name: string; file: string } => m.file !== undefined);
}
