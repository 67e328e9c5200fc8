// One thing, many views: which resource or bin a hovered or selected term is
// about, wherever it came from.
import type { Clause, Selection, Term } from '../../../state/selection';
import type { Topology } from '../../../api/wire';
import type { AxisLayout } from './axis';

/** The resource a term stands for, if it is exactly one. */
export function resourceOf(term: Term | undefined, topology: Topology): number | undefined {
  if (!term) return undefined;
  const find = (name: string): number | undefined => {
    const i = topology.resources.findIndex((r) => r.name === name);
    return i < 0 ? undefined : i;
  };
  if (term.kind === 'resource') return find(term.id);
  const [only, ...others] = term.kind === 'values' ? term.values : [];
  if (only === undefined || others.length > 0 || term.kind !== 'values') return undefined;
  if (term.column === 'host') {
    const i = topology.resources.findIndex((r) => r.type === 'Host' && r.label === String(only));
    return i < 0 ? undefined : i;
  }
  if (term.column === 'cpu') return find(`CPU:${String(only)}`);
  return term.column === 'node' ? find(`NUMA:${String(only)}`) : undefined;
}

/** The bin of an axis that a term stands for. */
export function binOf(term: Term | undefined, layout: AxisLayout): number | undefined {
  if (!term) return undefined;
  const { column, answer } = layout.input;
  const byValue = (v: string): number | undefined =>
    layout.slots.find((s) => s.kind === 'name' && String(s.value) === v)?.bin;
  if (term.kind === 'resource') {
    const cpu = /^CPU:(\d+)$/.exec(term.id)?.[1];
    return cpu !== undefined && column.name === 'cpu' ? byValue(cpu) : undefined;
  }
  if (term.kind === 'line') return column.name === 'line' ? byValue(String(term.line)) : undefined;
  if (term.kind === 'missing')
    return term.column === column.name && !term.not
      ? layout.slots.find((s) => s.kind === 'absent')?.bin
      : undefined;
  if (term.kind === 'values')
    return term.column === column.name && term.values.length === 1
      ? byValue(String(term.values[0]))
      : undefined;
  if (term.kind !== 'range' || term.column !== column.name || layout.named) return undefined;
  const bin = answer.edges.findIndex(
    (e, i) => i < answer.bins && (e === term.lo || (i === 0 && term.lo === undefined)),
  );
  const end = bin < 0 ? undefined : answer.edges[bin + 1];
  return bin >= 0 && (term.hi === end || (term.hi === undefined && bin === answer.bins - 1))
    ? bin
    : undefined;
}

/** Every term of a selection that is not negated. */
export function positiveTerms(s: Selection): Term[] {
  const of = (c: Clause): Term[] =>
    c.not ? [] : c.terms.flatMap((t) => (t.kind === 'all' ? t.clauses.flatMap(of) : [t]));
  return s.flatMap(of);
}
