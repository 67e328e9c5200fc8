// The samples of a cache line: of its own process and host, where there are others.
// The same address is other memory there.
import type { CacheLine, CacheLines, ColumnInfo, LineOffset } from '../../api/wire';
import { clauseOf, type Clause, type Term, type Value } from '../../state/selection';

/** Whose memory something is in; `pid` is null where addresses are physical or of one process. */
interface Owned {
  readonly pid: number | null;
  readonly host?: string;
}

/** Whether samples are of several processes, or hosts. */
export function several(columns: readonly ColumnInfo[], name: 'pid' | 'host'): boolean {
  return (columns.find((c) => c.name === name)?.distinct ?? 0) > 1;
}

/** Clauses for the process and the host of something, as far as there are others. */
function ownClauses(columns: readonly ColumnInfo[], { pid, host }: Owned): Clause[] {
  const of = (column: 'pid' | 'host', value: Value | null | undefined): Clause[] =>
    value !== null && value !== undefined && several(columns, column)
      ? [clauseOf({ kind: 'values', column, values: [value] })]
      : [];
  return [...of('pid', pid), ...of('host', host)];
}

/** A term, within the process and the host of something. */
export function ownTerm(columns: readonly ColumnInfo[], of: Owned, term: Term): Term {
  const own = ownClauses(columns, of);
  return own.length === 0 ? term : { kind: 'all', clauses: [...own, clauseOf(term)] };
}

/** A line, or some bytes of it. */
export function lineTerm(
  columns: readonly ColumnInfo[],
  { physical, line_bytes }: Pick<CacheLines, 'physical' | 'line_bytes'>,
  line: CacheLine,
  part?: LineOffset,
): Term {
  const lo = BigInt(line.addr) + BigInt(part?.offset ?? 0);
  const bytes = part ? Math.max(part.width, 1) : line_bytes;
  const column = physical ? 'phys' : 'addr';
  return ownTerm(columns, line, { kind: 'range', column, lo, hi: lo + BigInt(bytes) - 1n });
}

/** " in process 7 on node3": what tells things of one name or address apart. */
export function ownWords(columns: readonly ColumnInfo[], { pid, host }: Owned): string {
  const process = pid !== null && several(columns, 'pid') ? ` in process ${pid}` : '';
  return process + (host !== undefined && several(columns, 'host') ? ` on ${host}` : '');
}
