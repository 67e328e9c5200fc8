// What a selection of all pages says about references: the stretch of the trace,
// the thread, the loop, the field and the lines that it names. Loops and fields
// are no columns, so that selections name them as rows.
import type { Clause, Selection, Term } from './selection';

const LOOP = 'loop ';
const FIELD = 'field ';

export const loopTerm = (name: string): Term => ({ kind: 'rows', name: LOOP + name });
export const fieldTerm = (object: string, field: string): Term => ({
  kind: 'rows',
  name: `${FIELD}${object}.${field}`,
});
export const threadTerm = (thread: number): Term => ({ kind: 'values', column: 'tid', values: [thread] });

/** The terms of a clause that selects and leaves nothing out. */
const plain = (c: Clause): readonly Term[] => (c.not ? [] : c.terms);

/** The term of a clause that has but one. */
function alone(select: Selection, is: (t: Term) => boolean): Term | undefined {
  const found = select.filter((c) => plain(c).length === 1 && is(c.terms[0]!));
  return found.length === 1 ? found[0]!.terms[0] : undefined;
}

function named(select: Selection, kind: string): string {
  const t = alone(select, (t) => t.kind === 'rows' && t.name.startsWith(kind));
  return t?.kind === 'rows' ? t.name.slice(kind.length) : '';
}

/** The one loop that is selected; empty if none is. */
export const selectedLoop = (select: Selection): string => named(select, LOOP);

/** The fields that are selected, as OBJECT.FIELD. */
export const selectedFields = (select: Selection): readonly string[] =>
  select
    .flatMap(plain)
    .flatMap((t) => (t.kind === 'rows' && t.name.startsWith(FIELD) ? [t.name.slice(FIELD.length)] : []));

/** What the name of rows is of, and its own name there; undefined if it is neither loop nor field. */
export function rowsNamed(
  name: string,
): { readonly kind: 'loop' | 'field'; readonly names: readonly string[] } | undefined {
  if (name.startsWith(LOOP)) return { kind: 'loop', names: [name.slice(LOOP.length)] };
  if (name.startsWith(FIELD)) return { kind: 'field', names: [name.slice(FIELD.length)] };
  return undefined;
}

/** The threads that are selected, in the order in which they were. */
export function selectedThreads(select: Selection): readonly number[] {
  return select
    .flatMap(plain)
    .flatMap((t) =>
      t.kind === 'values' && t.column === 'tid' ? t.values.filter((v) => typeof v === 'number') : [],
    );
}

export const ORDER = 'order';

/** A stretch of the trace, half open, as a term of all pages. */
export const stretchTerm = (from: number, to: number): Term => ({
  kind: 'range',
  column: ORDER,
  lo: from,
  hi: to - 1,
});

/** The one stretch of the trace that is selected, half open; undefined if none is. */
export function selectedStretch(
  select: Selection,
): { readonly from: number; readonly to: number } | undefined {
  const t = alone(select, (t) => t.kind === 'range' && t.column === ORDER);
  if (t?.kind !== 'range' || typeof t.lo !== 'number' || typeof t.hi !== 'number') return undefined;
  const [from, to] = [Math.ceil(t.lo), t.open ? Math.ceil(t.hi) : Math.floor(t.hi) + 1];
  return to > from ? { from, to } : undefined;
}

/** The selection without its stretch of the trace. */
export const withoutStretch = (select: Selection): Selection =>
  select.filter((c) => !c.terms.every((t) => t.kind === 'range' && t.column === ORDER));

/** Lines that are selected one by one. */
export function selectedLines(
  select: Selection,
): readonly { readonly file: string; readonly line: number }[] {
  return select.flatMap(plain).flatMap((t) => (t.kind === 'line' ? [{ file: t.file, line: t.line }] : []));
}
