// Cache lines of two runs, matched by their object and their place in it: an
// address means nothing in another run.
import { count, DASH } from '../../../base/format';
import type { CacheLine, CacheLines, ColumnInfo, LineOffset } from '../../../api/wire';
import type { ListColumn, ListInput } from '../../../frame/list';
import { clauseOf, type Term } from '../../../state/selection';
import { sideClause, type Side } from '../../../state/sides';
import { lineTerm } from '../lineterm';
import { signed } from '../views/changes';
import { changeOf, countVerdict, type Chance } from './verdict';

export interface LinePair {
  readonly name: string; // the object and the place in it, or an address
  readonly a: CacheLine | undefined;
  readonly b: CacheLine | undefined;
}

/** The object and the place in it; undefined where none is known. */
function placeOf(l: CacheLine): string | undefined {
  const offset = l.object_offset;
  return l.symbols.length === 1 && offset !== undefined ? `${l.symbols[0]} +${offset}` : undefined;
}

/** Those of both runs first, then the most contended, as in a list of one run. */
function order(p: LinePair, q: LinePair): number {
  const most = (r: LinePair, get: (l: CacheLine) => number): number =>
    Math.max(...[r.a, r.b].map((l) => (l ? get(l) : 0)));
  const by = (get: (l: CacheLine) => number): number => most(q, get) - most(p, get);
  const matched = Number(q.a && q.b ? 1 : 0) - Number(p.a && p.b ? 1 : 0);
  return matched || by((l) => l.hitm) || by((l) => l.contended) || by((l) => l.samples);
}

/** Lines of both sides, each once; what has no object stands alone. */
export function joinLines(a: readonly CacheLine[], b: readonly CacheLine[]): LinePair[] {
  const pairs = new Map<string, { name: string; a: CacheLine | undefined; b: CacheLine | undefined }>();
  for (const [side, lines] of [['a', a] as const, ['b', b] as const])
    for (const l of lines) {
      const place = placeOf(l);
      const key = place ?? `${side} ${l.addr} ${l.pid ?? ''} ${l.host ?? ''}`;
      const known = pairs.get(key) ?? { name: place ?? l.addr, a: undefined, b: undefined };
      known[side] ??= l; // instances of one object fold into the most contended
      pairs.set(key, known);
    }
  return [...pairs.values()].sort(order);
}

/** Of a line that only the other run has: its object, and nothing else. */
function none(of: CacheLine): CacheLine {
  const zero = { samples: 0, loads: 0, stores: 0, hitm: 0, remote: 0, valued: 0, latency: 0, contended: 0 };
  return { ...of, ...zero, addr: '', cpus: [], readers: [], writers: [], offsets: [] };
}

/** A line of one of two runs, in the place that it has beside the other. */
export interface PlacedLine {
  readonly line: CacheLine;
  readonly pair: LinePair;
  readonly lacks?: string; // that the run has no such line, or does not list it
}

/** The lines of one of two runs in the order of both, so that they replace each other. */
export function placedLines(a: CacheLines, b: CacheLines, side: Side, top: number): readonly PlacedLine[] {
  const own = side === 'A' ? a : b;
  const lacks = own.groups.length >= own.group_count ? `none in ${side}` : `not listed in ${side}`;
  return joinLines(a.groups, b.groups)
    .slice(0, top)
    .map((pair) => {
      const [mine, other] = side === 'A' ? [pair.a, pair.b] : [pair.b, pair.a];
      return mine ? { line: mine, pair } : { line: none(other!), pair, lacks };
    });
}

export interface LinesListInput {
  readonly a: CacheLines;
  readonly b: CacheLines;
  readonly chance: Chance;
  readonly columns: readonly ColumnInfo[];
  readonly top: number;
}

export function linesList({ a, b, chance, columns, top }: LinesListInput): ListInput<LinePair> {
  // A line that the other run's answer does not list may still be there, below its end.
  const whole = { a: a.groups.length >= a.group_count, b: b.groups.length >= b.group_count };
  const of = (p: LinePair, side: 'a' | 'b', get: (l: CacheLine) => number): number | undefined =>
    p[side] ? get(p[side]) : whole[side] ? 0 : undefined;
  const verdict = (p: LinePair): readonly string[] => {
    const [x, y] = [of(p, 'a', (l) => l.samples), of(p, 'b', (l) => l.samples)];
    return x === undefined || y === undefined ? ['', '', 'not tested'] : countVerdict(x, y, chance);
  };
  /** What one side lacks, if that is known: the other's answer may end before it. */
  const lonely = (p: LinePair): string => {
    if (p.a && p.b) return '';
    const [in1, not] = p.a ? (['A', 'b'] as const) : (['B', 'a'] as const);
    return whole[not] ? `only in ${in1} · ` : `listed in ${in1} alone · `;
  };
  const number = (
    head: string,
    tip: string,
    get: (p: LinePair) => number | undefined,
  ): ListColumn<LinePair> => ({
    head,
    tip,
    right: true,
    text: (p) => (get(p) === undefined ? DASH : count(get(p)!)),
    exact: (p) => String(get(p) ?? ''),
  });
  const sides = (
    head: string,
    tip: string,
    known: boolean,
    get: (l: CacheLine) => number,
  ): ListColumn<LinePair>[] =>
    known
      ? (['a', 'b'] as const).map((s) =>
          number(`${head} ${s.toUpperCase()}`, `${tip}, in ${s.toUpperCase()}`, (p) => of(p, s, get)),
        )
      : [];
  const change = (p: LinePair): number | undefined => {
    const [x, y] = [of(p, 'a', (l) => l.samples), of(p, 'b', (l) => l.samples)];
    return x === undefined || y === undefined ? undefined : changeOf(x, y);
  };
  const end = (k: 0 | 1, head: string): ListColumn<LinePair> => ({
    head,
    right: true,
    text: (p) => (verdict(p)[k] === '' ? '' : signed(Math.round(Number(verdict(p)[k])), count)),
    exact: (p) => verdict(p)[k]!,
  });
  const rows = joinLines(a.groups, b.groups);
  return {
    name: 'Cache lines',
    rows: rows.slice(0, top),
    listed: rows,
    term: (p) => pairTerm(p, columns, b),
    samples: (p) => (p.a?.samples ?? 0) + (p.b?.samples ?? 0),
    columns: [
      {
        head: 'object and offset',
        tip: 'Bytes behind the lowest line of the object that was sampled',
        link: true,
        mono: true,
        most: 260,
        text: (p) => p.name,
        title: (p) => `A ${p.a?.addr ?? 'none'}, B ${p.b?.addr ?? 'none'}`,
      },
      number('A', 'samples of A', (p) => of(p, 'a', (l) => l.samples)),
      number('B', 'samples of B', (p) => of(p, 'b', (l) => l.samples)),
      {
        head: 'change',
        right: true,
        text: (p) => (change(p) === undefined ? DASH : signed(change(p)!, count)),
        exact: (p) => String(change(p) ?? ''),
      },
      end(0, 'low'),
      end(1, 'high'),
      { head: 'verdict', text: (p) => lonely(p) + verdict(p)[2]! },
      ...sides(
        'HITM',
        'Loads that found the line modified in another cache',
        a.has_snoop || b.has_snoop,
        (l) => l.hitm,
      ),
      ...sides(
        'contended',
        'Samples of all threads but the busiest, where one writes',
        a.has_op || b.has_op,
        (l) => l.contended,
      ),
      ...sides(
        'threads',
        'Threads that use it',
        true,
        (l) => new Set([...l.readers, ...l.writers, ...l.offsets.flatMap((o) => o.threads)]).size,
      ),
    ],
  };
}

/** The samples of a line, or of some bytes of it, in each run at its own address. */
export function pairTerm(
  p: LinePair,
  columns: readonly ColumnInfo[],
  of: CacheLines,
  part?: LineOffset,
): Term | undefined {
  const terms = [['A', p.a] as const, ['B', p.b] as const].flatMap(([side, l]): Term[] =>
    l ? [{ kind: 'all', clauses: [sideClause(side), clauseOf(lineTerm(columns, of, l, part))] }] : [],
  );
  return terms.length < 2 ? terms[0] : { kind: 'all', clauses: [clauseOf(...terms)] };
}
