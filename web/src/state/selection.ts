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

// How a mark meets the selection there is, the same in every view. Marks of one
// kind are a dimension: set takes the place of its dimension's clause, add joins
// it, remove takes out of it, and the clauses of other dimensions stay; only
// clears those too.
export type Mode = 'set' | 'add' | 'remove' | 'only';

export function clauseOf(...terms: Term[]): Clause {
  return { not: false, terms };
}

export function apply(s: Selection, term: Term, mode: Mode): Selection {
  switch (mode) {
    case 'set':
      return put(s, dimensionsOf(term), clauseOf(term));
    case 'add':
      return add(s, term);
    case 'remove':
      return remove(s, term);
    case 'only':
      return [clauseOf(term)];
    default:
      return mode satisfies never;
  }
}

function add(s: Selection, term: Term): Selection {
  const dimensions = dimensionsOf(term);
  const taken = s.findIndex((c) => c.not && c.terms.some((t) => same(t, term)));
  if (taken >= 0) return takeOut(s, taken, term);
  const at = s.findIndex((c) => !c.not && isOf(c, dimensions));
  // With nothing to join, all of the dimension is selected: the first one narrows it.
  if (at < 0) return put(s, dimensions, clauseOf(term));
  const { terms } = s[at]!;
  return terms.some((t) => same(t, term)) ? s : s.with(at, clauseOf(...terms, term));
}

function remove(s: Selection, term: Term): Selection {
  const dimensions = dimensionsOf(term);
  const at = s.findIndex((c) => !c.not && isOf(c, dimensions) && c.terms.some((t) => same(t, term)));
  if (at >= 0) return takeOut(s, at, term);
  const out = s.findIndex((c) => c.not && isOf(c, dimensions));
  if (out < 0) return [...s, { not: true, terms: [term] }];
  const { terms } = s[out]!;
  // !(a | b) takes out both.
  return terms.some((t) => same(t, term)) ? s : s.with(out, { not: true, terms: [...terms, term] });
}

// takeOut takes one term from a clause, and the clause with its last.
function takeOut(s: Selection, at: number, term: Term): Selection {
  const { not, terms } = s[at]!;
  const rest = terms.filter((t) => !same(t, term));
  return rest.length > 0 ? s.with(at, { not, terms: rest }) : removeClause(s, at);
}

// put makes a clause the only one of its dimension, in the place of the first.
function put(s: Selection, dimensions: readonly string[], clause: Clause): Selection {
  const at = s.findIndex((c) => isOf(c, dimensions));
  const rest = s.filter((c) => !isOf(c, dimensions));
  if (s.length === rest.length + 1 && clauseText(s[at]!) === clauseText(clause)) return s;
  return at < 0 ? [...rest, clause] : [...rest.slice(0, at), clause, ...rest.slice(at)];
}

// dimensionsOf says what a mark is one of. A CPU in the picture of the machine
// is one of its places and one of the CPUs of an axis; a line in the list of
// files and lines is one of the axis of lines too.
export function dimensionsOf(t: Term): readonly string[] {
  switch (t.kind) {
    case 'line':
      return ['code', 'line'];
    case 'resource':
      return t.id.startsWith('CPU:') ? ['place', 'cpu'] : ['place'];
    case 'rows':
      // Cells, or a loop; a field is one of the data, as objects are.
      return [t.name.startsWith('field ') ? 'symbol' : t.name.split(' ')[0]!];
    case 'all': {
      const each = t.clauses.flatMap((c) => c.terms).map(dimensionsOf);
      const common = (each[0] ?? []).filter((d) => each.every((o) => o.includes(d)));
      // A member of an object, a cell of time and CPU: a kind of its own.
      return common.length > 0 ? common : [[...new Set(each.map((d) => d[0]))].sort().join(' & ')];
    }
    default:
      return [t.column];
  }
}

// isOf reports whether a clause is about one of these dimensions and nothing else.
export function isOf(c: Clause, dimensions: readonly string[]): boolean {
  return c.terms.length > 0 && c.terms.every((t) => dimensionsOf(t).some((d) => dimensions.includes(d)));
}

// negated is a clause for what another leaves out, without "not not".
export function negated(c: Clause): Clause {
  const [term] = c.terms;
  const inner = c.terms.length === 1 && term?.kind === 'all' && term.clauses.length === 1 && term.clauses[0];
  return inner ? (c.not ? inner : negated(inner)) : { not: !c.not, terms: c.terms };
}

// invert selects what is not selected. Inverting twice gives the same clauses
// again, so that chips survive it, and nothing is negated twice: not (not a and
// not b) is a or b.
export function invert(s: Selection): Selection {
  const [only] = s;
  if (!only) return s;
  if (s.length > 1) {
    if (s.every((c) => !c.not)) return [{ not: true, terms: [{ kind: 'all', clauses: s }] }];
    return [clauseOf(...s.map(complement))];
  }
  const [term] = only.terms;
  if (only.not && only.terms.length === 1 && term?.kind === 'all') return term.clauses;
  if (!only.not && only.terms.some((t) => t.kind === 'all' && t.clauses.length === 1))
    return only.terms.map((t) =>
      t.kind === 'all' && t.clauses.length === 1 ? negated(t.clauses[0]!) : { not: true, terms: [t] },
    );
  return [{ not: !only.not, terms: only.terms }];
}

// complement is one alternative: the rows that a clause leaves out.
function complement(c: Clause): Term {
  const [only] = c.terms;
  return c.not && c.terms.length === 1 && only ? only : { kind: 'all', clauses: [negated(c)] };
}

// joinNext makes one clause, by "or", of a clause and the one behind it; split
// makes one of each alternative, joined by "and".
export function joinNext(s: Selection, at: number): Selection {
  const [a, b] = [s[at], s[at + 1]];
  if (!a || !b) return s;
  return [...s.slice(0, at), clauseOf(...alternativesOf(a), ...alternativesOf(b)), ...s.slice(at + 2)];
}

function alternativesOf(c: Clause): readonly Term[] {
  return c.not ? [{ kind: 'all', clauses: [c] }] : c.terms;
}

export function split(s: Selection, at: number): Selection {
  const c = s[at];
  if (!c || c.not || c.terms.length < 2) return s;
  const each = c.terms.flatMap((t) => (t.kind === 'all' ? t.clauses : [clauseOf(t)]));
  return [...s.slice(0, at), ...each, ...s.slice(at + 1)];
}

// brush sets the ranges selected on one axis and leaves those of others. No
// range means no clause, not "nothing selected".
export function brush(s: Selection, column: string, terms: readonly Term[]): Selection {
  if (terms.length === 0) return s.filter((c) => !isOf(c, [column]));
  return put(s, [column], clauseOf(...terms));
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

// replaceClause puts other clauses in the place of a chip.
export function replaceClause(s: Selection, index: number, by: Selection): Selection {
  return [...s.slice(0, index), ...by, ...s.slice(index + 1)];
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
