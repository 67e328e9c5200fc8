// Which axes a run shows, and how each is asked for.
import { count, plural } from '../base/format';
import { clamp } from '../base/geometry';
import type { Axis, ColumnInfo, Info } from '../api/wire';

const USUAL_AXES = 6;
const WIDE = 2000; // px from which there is room for more
const MOST_VALUES = 4000; // bins of an axis that gives each value its own; the engine's limit is 4096
const MOST_NAMES = 256;

/** How an axis is called for people: its label where its name is a field of a register. */
export function titleOf(c: ColumnInfo): string {
  return c.label || c.name;
}

/** The name in the file, for tooltips, where people see another. */
export function rawName(c: ColumnInfo): { readonly raw?: string } {
  return c.label && c.label !== c.name ? { raw: c.name } : {};
}

/** How far the server counts different values of a column. */
const DISTINCT_MOST = 65_536;

/** How many different values a column has, as far as they were counted. */
export function sayDistinct(c: ColumnInfo, noun: string): string {
  return c.distinct >= DISTINCT_MOST ? `${count(c.distinct)} or more ${noun}s` : plural(c.distinct, noun);
}

/** Whether an axis can show anything: two values at least. */
export function isConstant(c: ColumnInfo): boolean {
  return c.provenance === 'absent' || c.distinct + (c.missing > 0 ? 1 : 0) < 2;
}

/** Axes shown unless the link says otherwise. */
export function defaultAxes(info: Info, width: number): string[] {
  const varied = info.columns.filter((c) => !isConstant(c) && !c.idLike);
  // Of one sample, and of samples that are all alike, constants are all there is to show.
  const usable = varied.length > 0 ? varied : info.columns.filter((c) => c.provenance !== 'absent');
  const placed = usable.filter((c) => c.axisPlace > 0).sort((a, b) => a.axisPlace - b.axisPlace);
  const wanted = placed.filter((c) => c.axis === 'usual' || (c.axis === 'wide' && width > WIDE));
  const spare = placed.filter((c) => c.axis === 'spare');
  const others = [...new Set([...spare, ...usable])].filter((c) => !wanted.includes(c));
  return [...wanted, ...others.slice(0, Math.max(0, USUAL_AXES - wanted.length))].map((c) => c.name);
}

/** Whether each value of a number column stands for itself. */
export function isNaming(c: ColumnInfo): boolean {
  if (c.kind === 'flag') return true;
  if (c.kind !== 'number' || typeof c.min !== 'number' || typeof c.max !== 'number') return false;
  return c.names && c.max - c.min < MOST_VALUES;
}

/** Whether an axis is folded to the heaviest names; CPUs always are all shown. */
export function isFolded(c: ColumnInfo): boolean {
  return c.kind === 'category' ? c.name !== 'level' : isNaming(c) && c.name !== 'cpu' && c.kind !== 'flag';
}

/** The question for an axis. Own settings (scale, range, bins) win over the column's nature. */
export function axisQuestion(c: ColumnInfo, bins: number, own: Partial<Axis> = {}): Axis {
  const base: Axis = { column: c.name };
  if (c.kind === 'category') return { ...base, scale: own.scale ?? 'rank', bins: MOST_NAMES };
  if (isNaming(c) && !own.scale && own.lo === undefined) {
    const [lo, hi] = c.kind === 'flag' ? [0, 1] : [Number(c.min), Number(c.max)];
    return { ...base, scale: 'linear', bins: hi - lo + 1, lo, hi: hi + 1 };
  }
  return {
    ...base,
    bins: own.bins ?? bins,
    ...(own.scale && { scale: own.scale }),
    ...(own.lo !== undefined && own.hi !== undefined && { lo: own.lo, hi: own.hi }),
  };
}

/** CPUs in the order of the topology, a list for each memory node. */
export function cpuGroups(info: Info): number[][] | undefined {
  const resources = info.topology?.resources;
  if (!resources) return undefined;
  const groups = new Map<number, number[]>();
  resources.forEach((r, i) => {
    if (r.type !== 'CPU') return;
    let node = i;
    while (node > 0 && resources[node]!.type !== 'NUMA' && resources[node]!.parent > 0)
      node = resources[node]!.parent;
    groups.set(node, [...(groups.get(node) ?? []), r.id]);
  });
  return [...groups.values()];
}

/** Moves an axis to another place in the order. */
export function moveAxis<T>(axes: readonly T[], from: number, to: number): T[] {
  const rest = axes.filter((_, i) => i !== from);
  rest.splice(clamp(to, 0, rest.length), 0, axes[from]!);
  return rest;
}

/** Brings two axes together: the second becomes the right neighbour of the first. */
export function correlate(axes: readonly string[], a: string, b: string): string[] {
  const rest = axes.filter((x) => x !== b);
  if (!rest.includes(a)) rest.push(a);
  rest.splice(rest.indexOf(a) + 1, 0, b);
  return rest;
}

/**
 * An order in which neighbours say most about each other: starts at the
 * strongest pair and grows at both ends. information[i][j] is in bits.
 */
export function orderByCorrelation(
  axes: readonly string[],
  information: (a: string, b: string) => number,
): string[] {
  if (axes.length < 3) return [...axes];
  let best: [string, string] = [axes[0]!, axes[1]!];
  for (const a of axes)
    for (const b of axes) if (a < b && information(a, b) > information(...best)) best = [a, b];
  const chain = [...best];
  const rest = new Set(axes.filter((a) => !chain.includes(a)));
  while (rest.size > 0) {
    const ends = [...rest].flatMap((a) => [
      { a, front: true, bits: information(a, chain[0]!) },
      { a, front: false, bits: information(chain[chain.length - 1]!, a) },
    ]);
    const next = ends.reduce((p, q) => (q.bits > p.bits ? q : p));
    if (next.front) chain.unshift(next.a);
    else chain.push(next.a);
    rest.delete(next.a);
  }
  return chain;
}

/** The axes on screen: those of the link, or those that suit the run. */
export function axesShown(info: Info | undefined, axes: readonly Axis[], width: number): readonly Axis[] {
  if (axes.length > 0) return axes;
  return info ? defaultAxes(info, width).map((column) => ({ column })) : [];
}

/** The column whose sums rank things: latency where there is one. */
export function valueColumn(info: Info): ColumnInfo | undefined {
  const [best] = info.columns
    .filter((c) => c.cost > 0 && c.provenance !== 'absent')
    .sort((a, b) => a.cost - b.cost);
  return best;
}

/** What sums and means of a column are in: its unit, or its name where nobody knows the unit. */
export function costWord(value: ColumnInfo | undefined): string {
  return value ? value.unit || value.name : 'latency';
}

export function columnOf(info: Info, name: string): ColumnInfo | undefined {
  return info.columns.find((c) => c.name === name);
}
