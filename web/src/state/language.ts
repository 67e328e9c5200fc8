// Reads the selection language into clauses. The grammar is that of
// query.Parse in Go; this one knows no columns, so it accepts names that the
// server may refuse. Both are run over testdata/selections.json.

import {
  EVERYTHING,
  clauseOf,
  type Clause,
  type Op,
  type Quantity,
  type Selection,
  type Term,
  type Value,
} from './selection';

export class SyntaxProblem extends Error {
  constructor(
    readonly position: number,
    problem: string,
  ) {
    super(problem);
    this.name = 'SyntaxProblem';
  }
}

type Token =
  | { readonly kind: 'word' | 'text' | 'sign' | 'end'; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly text: string; readonly at: number; readonly value: Quantity };

const SPACE = /[ \t\r\n]*/y;
const HEX = /0[xX][0-9a-fA-F]+/y;
const NUMBER = /([-+]?(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][-+]?\d+)?)([A-Za-zµ]*)/y;
const WORD = /[A-Za-z_](?:(?!\.\.)[\w.:/+@#-])*/y;
// Either kind of quote: a shell keeps one for itself.
const TEXT = /"((?:[^"\\]|\\[^])*)"|'((?:[^'\\]|\\[^])*)'/y;
const SIGN = /!=|<=|>=|\.\.|==?|<|>|~|&&?|\|\|?|!|\(|\)|,/y;

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
};

const MAX_DEPTH = 200;

// parse reads a selection; it throws a SyntaxProblem. Empty text is everything.
export function parse(text: string): Selection {
  const p = new Parser(text);
  if (p.done()) return EVERYTHING;
  const s = p.or(0);
  if (!p.done()) throw p.problem('expected & or | or the end here');
  return s;
}

class Parser {
  private token: Token;
  private at = 0;

  constructor(private readonly source: string) {
    this.token = this.next();
  }

  done(): boolean {
    return this.token.kind === 'end';
  }

  problem(what: string, at = this.token.at): SyntaxProblem {
    return new SyntaxProblem(at, what);
  }

  or(depth: number): Selection {
    const parts = [this.and(depth)];
    while (this.accept('|')) parts.push(this.and(depth));
    const [only] = parts;
    return parts.length === 1 && only ? only : [clauseOf(...parts.flatMap(alternatives))];
  }

  private and(depth: number): Selection {
    const parts = [this.unary(depth)];
    while (this.accept('&')) parts.push(this.unary(depth));
    const [only] = parts;
    return parts.length === 1 && only ? only : foldPairs(parts.flat());
  }

  private unary(depth: number): Selection {
    if (depth > MAX_DEPTH) throw this.problem(`nested more than ${MAX_DEPTH} deep`);
    if (this.accept('!')) return [negated(this.unary(depth + 1))];
    if (this.accept('(')) {
      const s = this.or(depth + 1);
      if (!this.accept(')')) throw this.problem('expected )');
      return s;
    }
    if (this.token.kind === 'word' && this.token.text === 'at') {
      return [clauseOf({ kind: 'resource', id: this.nameAfter('a resource such as L3:1') })];
    }
    if (this.token.kind === 'word' && this.token.text === 'rows') {
      return [clauseOf({ kind: 'rows', name: this.nameAfter('the name of a stored set') })];
    }
    if (this.token.kind === 'word' || this.token.kind === 'text') return [clauseOf(this.term())];
    throw this.problem('expected a column name, !, ( or at');
  }

  private nameAfter(what: string): string {
    this.advance();
    return this.name(what);
  }

  private name(what: string): string {
    if (this.token.kind !== 'word' && this.token.kind !== 'text') throw this.problem(`expected ${what}`);
    return this.advance().text;
  }

  private term(): Term {
    const column = this.name('a column name');
    if (this.token.kind === 'word' && this.token.text === 'in') {
      this.advance();
      return this.accept('(') ? this.set(column) : this.interval(column);
    }
    if (this.accept('~')) {
      if (this.token.kind === 'sign' || this.token.kind === 'end') {
        throw this.problem('expected a regular expression in quotes');
      }
      return { kind: 'match', column, pattern: this.advance().text };
    }
    if (this.token.kind === 'sign' && /^(!=|<=|>=|=|<|>)$/.test(this.token.text)) {
      return this.comparison(column, this.advance().text as Op);
    }
    // A column alone is a flag that is set.
    return { kind: 'values', column, values: [1] };
  }

  private comparison(column: string, op: Op): Term {
    if (this.token.kind === 'word' && this.token.text === 'none' && (op === '=' || op === '!=')) {
      this.advance();
      return { kind: 'missing', column, not: op === '!=' };
    }
    const value = this.value(column);
    return op === '=' ? { kind: 'values', column, values: [value] } : { kind: 'compare', column, op, value };
  }

  private set(column: string): Term {
    const values = [this.value(column)];
    while (this.accept(',')) values.push(this.value(column));
    if (!this.accept(')')) throw this.problem('expected , or ) in the list of values');
    return { kind: 'values', column, values };
  }

  private interval(column: string): Term {
    const lo = this.token.kind === 'number' ? this.quantity() : undefined;
    if (!this.accept('..')) throw this.problem(`expected .. and the upper end, as in ${column} in 0..10`);
    const hi = this.token.kind === 'number' ? this.quantity() : undefined;
    if (lo === undefined && hi === undefined) throw this.problem('a range needs at least one end');
    return { kind: 'range', column, ...(lo !== undefined && { lo }), ...(hi !== undefined && { hi }) };
  }

  private quantity(): Quantity {
    const token = this.advance();
    if (token.kind !== 'number') throw this.problem('expected a number', token.at);
    return token.value;
  }

  private value(column: string): Value {
    switch (this.token.kind) {
      case 'number':
        return this.quantity();
      case 'word':
      case 'text':
        return this.advance().text;
      default:
        throw this.problem(`expected a value for ${column}`);
    }
  }

  private accept(sign: string): boolean {
    if (this.token.kind !== 'sign' || this.token.text !== sign) return false;
    this.advance();
    return true;
  }

  private advance(): Token {
    const was = this.token;
    this.token = this.next();
    return was;
  }

  private match(re: RegExp): RegExpExecArray | undefined {
    re.lastIndex = this.at;
    const m = re.exec(this.source);
    if (!m) return undefined;
    this.at += m[0].length;
    return m;
  }

  private next(): Token {
    this.match(SPACE);
    const at = this.at;
    if (at >= this.source.length) return { kind: 'end', text: '', at };
    let m = this.match(HEX);
    if (m) return { kind: 'number', text: m[0], at, value: BigInt(m[0]) };
    m = this.match(NUMBER);
    if (m) return this.number(m[0], m[1] ?? '', m[2] ?? '', at);
    m = this.match(WORD);
    if (m) return { kind: 'word', text: m[0], at };
    m = this.match(TEXT);
    if (m) {
      const text = m[1]?.replace(/\\(["\\])/g, '$1') ?? (m[2] ?? '').replace(/\\(['\\])/g, '$1');
      return { kind: 'text', text, at };
    }
    m = this.match(SIGN);
    // Doubled forms are what programmers type.
    if (m) return { kind: 'sign', text: /^(&&|\|\||==)$/.test(m[0]) ? m[0].slice(1) : m[0], at };
    throw this.source[at] === '"' || this.source[at] === "'"
      ? this.problem('the closing quote is missing', at)
      : this.problem('unexpected character; names with other characters go in quotes', at);
  }

  private number(text: string, digits: string, suffix: string, at: number): Token {
    const factor = UNITS[suffix];
    if (factor === undefined) {
      throw this.problem(
        `unknown unit "${suffix}"; want ns, us, ms, s, k, M, G, Ki, Mi or Gi, or put a name in quotes`,
        at,
      );
    }
    const value = Number(digits) * factor;
    // Whole numbers beyond 2^53 are addresses and keep all their bits.
    const exact = factor === 1 && /^\d+$/.test(digits) && !Number.isSafeInteger(value);
    return { kind: 'number', text, at, value: exact ? BigInt(digits) : value };
  }
}

// alternatives are the terms that a part of an "or" contributes.
function alternatives(s: Selection): readonly Term[] {
  const [only] = s;
  if (s.length === 1 && only && !only.not && only.terms.length === 1) return only.terms;
  return [{ kind: 'all', clauses: s }];
}

function negated(s: Selection): Clause {
  const [only] = s;
  if (s.length === 1 && only && !only.not) return { not: true, terms: only.terms };
  return { not: true, terms: [{ kind: 'all', clauses: s }] };
}

// foldPairs joins what belongs together: a file and a line are one source line,
// a lower and an upper bound of one column one range.
function foldPairs(clauses: readonly Clause[]): Selection {
  const out: Clause[] = [];
  for (const c of clauses) {
    const last = out.at(-1);
    const joined = last && pair(last, c);
    if (joined) out.splice(-1, 1, clauseOf(joined));
    else out.push(c);
  }
  return out;
}

function pair(a: Clause, b: Clause): Term | undefined {
  if (a.not || b.not || a.terms.length !== 1 || b.terms.length !== 1) return undefined;
  const [x] = a.terms;
  const [y] = b.terms;
  if (!x || !y) return undefined;
  if (x.kind === 'values' && y.kind === 'values') return sourceLine(x, y);
  if (x.kind === 'compare' && y.kind === 'compare') return bounds(x, y);
  return undefined;
}

function sourceLine(x: Term & { kind: 'values' }, y: Term & { kind: 'values' }): Term | undefined {
  const [file, ...files] = x.values;
  const [line, ...lines] = y.values;
  if (x.column !== 'file' || y.column !== 'line' || files.length > 0 || lines.length > 0) return undefined;
  return typeof file === 'string' && typeof line === 'number' ? { kind: 'line', file, line } : undefined;
}

function bounds(x: Term & { kind: 'compare' }, y: Term & { kind: 'compare' }): Term | undefined {
  if (x.column !== y.column || x.op !== '>=' || y.op !== '<') return undefined;
  if (typeof x.value === 'string' || typeof y.value === 'string') return undefined;
  return { kind: 'range', column: x.column, lo: x.value, hi: y.value, open: true };
}
