// The selection: the one shared object of all views, as clauses that can be
// shown as chips, changed one by one, and written in the selection language.
//
// A selection is clauses joined by "and"; a clause is terms joined by "or",
// possibly negated. No clause at all selects everything.

// A literal: a number, a name, or an address with all its 64 bits.
export type Value = number | string | bigint;
export type Quantity = number | bigint;
export type Op = '=' | '!=' | '<' | '<=' | '>' | '>=';

export type Term =
  // Both ends included unless open, which leaves out the upper one: what a
  // brush over bins means. A missing end is unbounded.
  | {
      readonly kind: 'range';
      readonly column: string;
      readonly lo?: Quantity;
      readonly hi?: Quantity;
      readonly open?: true;
    }
  | { readonly kind: 'compare'; readonly column: string; readonly op: Op; readonly value: Value }
  | { readonly kind: 'values'; readonly column: string; readonly values: readonly Value[] }
  | { readonly kind: 'match'; readonly column: string; readonly pattern: string }
  | { readonly kind: 'missing'; readonly column: string; readonly not: boolean }
  | { readonly kind: 'line'; readonly file: string; readonly line: number }
  | { readonly kind: 'resource'; readonly id: string }
  | { readonly kind: 'rows'; readonly name: string }
  // Clauses joined by "and", as one alternative of a clause.
  | { readonly kind: 'all'; readonly clauses: readonly Clause[] };

export interface Clause {
  readonly not: boolean;
  readonly terms: readonly Term[];
}

export type Selection = readonly Clause[];

export const EVERYTHING: Selection = [];

// How a new term meets the selection there is: it takes its place, joins it
// (union), narrows it (intersection), or is taken out of it.
export type Mode = 'replace' | 'add' | 'filter' | 'remove';

export function clauseOf(...terms: Term[]): Clause {
  return { not: false, terms };
}

export function apply(s: Selection, term: Term, mode: Mode): Selection {
  switch (mode) {
    case 'replace':
      return [clauseOf(term)];
    case 'add':
      return add(s, term);
    case 'filter':
      return has(s, term) ? s : [...s, clauseOf(term)];
    case 'remove':
      return remove(s, term);
    default:
      return mode satisfies never;
  }
}

function add(s: Selection, term: Term): Selection {
  // Adding to everything would change nothing; the first Shift+click selects.
  if (s.length === 0) return [clauseOf(term)];
  const folded = fold(s);
  if (folded.terms.some((t) => same(t, term))) return s;
  return [clauseOf(...folded.terms, term)];
}

function remove(s: Selection, term: Term): Selection {
  const [only] = s;
  if (s.length === 1 && only && !only.not && only.terms.some((t) => same(t, term))) {
    const rest = only.terms.filter((t) => !same(t, term));
    return rest.length > 0 ? [clauseOf(...rest)] : EVERYTHING;
  }
  const last = s.at(-1);
  if (last?.not && !last.terms.some((t) => t.kind === 'all')) {
    // !(a | b) takes out both.
    return has(s, term, true) ? s : [...s.slice(0, -1), { not: true, terms: [...last.terms, term] }];
  }
  return [...s, { not: true, terms: [term] }];
}

function has(s: Selection, term: Term, not = false): boolean {
  return s.some((c) => c.not === not && c.terms.length === 1 && same(c.terms[0]!, term));
}

// fold makes one positive clause of a whole selection.
function fold(s: Selection): Clause {
  const [only] = s;
  if (s.length === 1 && only && !only.not) return only;
  return clauseOf({ kind: 'all', clauses: s });
}

// invert selects what is not selected. Inverting twice gives the same clauses
// again, so that chips survive it.
export function invert(s: Selection): Selection {
  const [only] = s;
  if (!only) return s;
  if (s.length > 1) return [{ not: true, terms: [{ kind: 'all', clauses: s }] }];
  const [term] = only.terms;
  if (only.not && only.terms.length === 1 && term?.kind === 'all') return term.clauses;
  return [{ not: !only.not, terms: only.terms }];
}

// brush sets the ranges selected on one axis and leaves those of others. No
// range means no clause, not "nothing selected".
export function brush(s: Selection, column: string, terms: readonly Term[]): Selection {
  const at = s.findIndex((c) => brushes(c, column));
  const rest = s.filter((c) => !brushes(c, column));
  if (terms.length === 0) return rest;
  const clause = clauseOf(...terms);
  return at < 0 ? [...rest, clause] : [...rest.slice(0, at), clause, ...rest.slice(at)];
}

// brushed returns the terms that are brushes of an axis.
export function brushed(s: Selection, column: string): readonly Term[] {
  return s.find((c) => brushes(c, column))?.terms ?? [];
}

// without is the selection as if the axis were not brushed: what the axis shows
// behind its own brush.
export function without(s: Selection, column: string): Selection {
  return s.filter((c) => !brushes(c, column));
}

function brushes(c: Clause, column: string): boolean {
  return !c.not && c.terms.every((t) => columnOf(t) === column);
}

// columnOf names the one column a term is about, if there is one.
export function columnOf(t: Term): string | undefined {
  switch (t.kind) {
    case 'range':
    case 'compare':
    case 'values':
    case 'match':
    case 'missing':
      return t.column;
    case 'line':
    case 'resource':
    case 'rows':
    case 'all':
      return undefined;
    default:
      return t satisfies never;
  }
}

// removeClause takes a chip away.
export function removeClause(s: Selection, index: number): Selection {
  return s.filter((_, i) => i !== index);
}

export function same(a: Term, b: Term): boolean {
  return termText(a) === termText(b);
}

export function equal(a: Selection, b: Selection): boolean {
  return text(a) === text(b);
}

// ---- text form: the same as query.Expr's String in Go ----

// text writes a selection in the selection language; everything is empty.
export function text(s: Selection): string {
  return write(s).text;
}

export function clauseText(c: Clause): string {
  return writeClause(c).text;
}

export function termText(t: Term): string {
  return writeTerm(t).text;
}

// Binding strengths, for brackets.
const OR = 1;
const AND = 2;
const UNIT = 3;

interface Written {
  readonly text: string;
  readonly strength: number;
}

function write(s: Selection): Written {
  const [only] = s;
  if (s.length === 1 && only) return writeClause(only);
  return { text: s.map((c) => bracket(writeClause(c), UNIT)).join(' & '), strength: AND };
}

function writeClause(c: Clause): Written {
  const [only] = c.terms;
  const positive =
    c.terms.length === 1 && only
      ? writeTerm(only)
      : { text: c.terms.map((t) => bracket(writeTerm(t), AND)).join(' | '), strength: OR };
  return c.not ? { text: '!' + bracket(positive, UNIT), strength: UNIT } : positive;
}

function bracket(w: Written, least: number): string {
  return w.strength < least ? `(${w.text})` : w.text;
}

function writeTerm(t: Term): Written {
  switch (t.kind) {
    case 'range':
      return writeRange(t);
    case 'compare':
      return unit(`${word(t.column)} ${t.op} ${valueText(t.value)}`);
    case 'values':
      return unit(
        t.values.length === 1
          ? `${word(t.column)} = ${valueText(t.values[0]!)}`
          : `${word(t.column)} in (${t.values.map(valueText).join(', ')})`,
      );
    case 'match':
      return unit(`${word(t.column)} ~ ${quote(t.pattern)}`);
    case 'missing':
      return unit(`${word(t.column)} ${t.not ? '!=' : '='} none`);
    case 'line':
      return { text: `file = ${word(t.file)} & line = ${t.line}`, strength: AND };
    case 'resource':
      return unit(`at ${/^[A-Za-z_][\w.:/+@#-]*:\d+$/.test(t.id) ? t.id : word(t.id)}`);
    case 'rows':
      return unit(`rows ${word(t.name)}`);
    case 'all':
      return write(t.clauses);
    default:
      return t satisfies never;
  }
}

function writeRange(t: Term & { kind: 'range' }): Written {
  const column = word(t.column);
  if (t.open && t.hi !== undefined) {
    const upper = `${column} < ${valueText(t.hi)}`;
    return t.lo === undefined
      ? unit(upper)
      : { text: `${column} >= ${valueText(t.lo)} & ${upper}`, strength: AND };
  }
  return unit(
    `${column} in ${t.lo === undefined ? '' : valueText(t.lo)}..${t.hi === undefined ? '' : valueText(t.hi)}`,
  );
}

function unit(text: string): Written {
  return { text, strength: UNIT };
}

export function valueText(v: Value): string {
  if (typeof v === 'bigint') return '0x' + v.toString(16);
  return typeof v === 'number' ? String(v) : word(v);
}

const KEYWORDS: ReadonlySet<string> = new Set(['in', 'at', 'rows', 'none']);

// word writes a name, in quotes unless it is a plain word.
function word(s: string): string {
  return /^[A-Za-z_][\w.:/+@#-]*$/.test(s) && !s.includes('..') && !KEYWORDS.has(s) ? s : quote(s);
}

function quote(s: string): string {
  return `"${s.replace(/[\\"]/g, '\\$&')}"`;
}
