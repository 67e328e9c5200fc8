// What the locality page asks, and what its selection means: from the link and
// the answers to the next question.
import { baseName, plural } from '../../base/format';
import type {
  AdviseAsk,
  Info,
  LocalityAnswer,
  LocalityAsk,
  LocalityMapAsk,
  MachinesAsk,
  SharingAsk,
} from '../../api/wire';
import { rowsNamed } from '../../state/references';
import { text, type Selection, type Term } from '../../state/selection';
import { laneRows, lanesIn, MARGIN } from './map';
import { termOf, type RowsInput } from './rows';
import type { LocalityState, TableTab } from './state';
import type { Called } from './words';

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

/** Of a map in px: the server counts 2048 rows of 2 px at most. */
const HIGHEST = 4096;

/** The objects that a map may have lanes of: those with misses at its level. */
export const lanesOf = (answer: LocalityAnswer, level: number): LocalityAnswer['now']['objects'] =>
  answer.now.objects.filter((o) => !o.object.startsWith('(') && (o.misses[level] ?? 0) > 0 && o.bytes > 0);

/** The map of the objects with the most misses at a level. */
export function mapAskOf(
  ask: LocalityAsk,
  answer: LocalityAnswer,
  room: { readonly w: number; readonly h: number },
): LocalityMapAsk {
  const objects = lanesOf(answer, ask.level).slice(0, Math.min(MOST_LANES, lanesIn(room.h)));
  return {
    ...ask,
    other: '',
    set: '',
    map: '',
    loops: false,
    columns: Math.max(1, Math.min(4096, Math.floor((room.w - MARGIN - 12) / 2))),
    objects: objects.map((o) => o.object),
    rows: laneRows(objects, Math.min(room.h, HIGHEST)),
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

const THE_SELECTION: Called = { name: 'the selection', several: false };
const MOST_NAMED = 3; // more are counted

/** What the selection is called in sentences. */
export function selectionName(select: Selection, s: LocalityState): Called {
  if (s.pair.length === 2) return { name: `what ${s.pair[0]} lost to ${s.pair[1]}`, several: false };
  const [only] = select;
  if (!only) return { name: '', several: false };
  if (select.length !== 1 || only.not) return THE_SELECTION;
  const named = only.terms.map(namesOf);
  const kinds = new Set(named.map((n) => n?.kind));
  const names = named.flatMap((n) => n?.names ?? []);
  if (names.length === 0 || kinds.has(undefined)) return THE_SELECTION;
  if (names.length === 1) return { name: names[0]!, several: false };
  if (names.length <= MOST_NAMED)
    return { name: `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`, several: true };
  const [kind] = kinds;
  return kinds.size === 1 ? { name: plural(names.length, kind!), several: true } : THE_SELECTION;
}

const COLUMNS: Readonly<Record<string, string>> = { symbol: 'object', function: 'function', tid: 'thread' };

/** What a term selects, and of which kind that is; undefined where sentences have no word for it. */
function namesOf(term: Term): { readonly kind: string; readonly names: readonly string[] } | undefined {
  switch (term.kind) {
    case 'values': {
      const kind = COLUMNS[term.column];
      if (kind === undefined) return undefined;
      return { kind, names: term.values.map((v) => (kind === 'thread' ? `thread ${v}` : String(v))) };
    }
    case 'line':
      return { kind: 'line', names: [`${baseName(term.file)}:${term.line}`] };
    case 'rows':
      return rowsNamed(term.name);
    default:
      return undefined;
  }
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
