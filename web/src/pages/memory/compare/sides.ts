// The two answers of a comparison, and what both have in common.
import { ALL, type AxisAnswer, type GroupAnswer, type Layered } from '../../../api/decode';
import type { Info, Unlike } from '../../../api/wire';
import type { Snapshot } from '../../../state/store';

/** Whether the difference of two runs is shown. */
export function showsChange(snap: Snapshot): boolean {
  return snap.info?.pair !== undefined && snap.state.cmp === 'diff';
}

/** Why a column of two runs does not compare; undefined if it does. */
export function unlike(info: Info | undefined, column: string): Unlike | undefined {
  return info?.pair?.unlike.find((u) => u.column === column);
}

/** An axis with the samples of both runs: what is shown of it is decided over both. */
export function addAxes(a: AxisAnswer, b: AxisAnswer): AxisAnswer {
  const sum = (x: Uint32Array, y: Uint32Array): Uint32Array => x.map((n, i) => n + (y[i] ?? 0));
  const counts: Layered<Uint32Array> = [
    sum(b.counts[0], a.counts[0]),
    sum(b.counts[1], a.counts[1]),
    sum(b.counts[2], a.counts[2]),
  ];
  return { ...b, counts, ...(b.still !== undefined && { still: `${b.still}\nboth` }) };
}

/** An axis of one of two runs: places and scales are those of both, so that A and B replace each other. */
export function besideAxis(own: AxisAnswer, other: AxisAnswer): AxisAnswer {
  return { ...own, beside: other.counts, ...(own.still !== undefined && { still: `${own.still}\nbeside` }) };
}

type Numbers = Uint32Array | Float64Array;
type From = readonly (number | undefined)[];

/** Layers with their numbers in other places, 0 where there is none; those that were not asked for stay empty. */
function placed<T extends Numbers>(layers: Layered<T>, from: From): Layered<T> {
  const one = (l: T): T => {
    if (l.length === 0) return l;
    const out = new (l.constructor as new (n: number) => T)(from.length);
    from.forEach((i, k) => (out[k] = i === undefined ? 0 : (l[i] ?? 0)));
    return out;
  };
  return [one(layers[0]), one(layers[1]), one(layers[2])];
}

/** The groups of one of two runs, those that only the other has as well, and what that has of each. */
export function besideGroups(own: GroupAnswer, other: GroupAnswer): GroupAnswer {
  const text = (g: GroupAnswer, i: number): string => g.keys.map((k) => k[i]).join('\n');
  const places = (g: GroupAnswer): ReadonlyMap<string, number> =>
    new Map(Array.from(g.counts[ALL], (_, i) => [text(g, i), i]));
  const [inOwn, inOther] = [places(own), places(other)];
  const only = [...inOther.keys()].filter((key) => !inOwn.has(key));
  const keys = [...inOwn.keys(), ...only];
  const [ofOwn, ofOther]: From[] = [keys.map((k) => inOwn.get(k)), keys.map((k) => inOther.get(k))];
  const of = (g: GroupAnswer, from: From): NonNullable<GroupAnswer['beside']> => ({
    counts: placed(g.counts, from),
    sums: placed(g.sums, from),
    valued: placed(g.valued, from),
  });
  return {
    ...own,
    ...(own.still !== undefined && { still: `${own.still}\nbeside` }),
    ...of(own, ofOwn!),
    keys: own.keys.map((k, d) => [...k, ...only.map((key) => other.keys[d]![inOther.get(key)!]!)]),
    beside: of(other, ofOther!),
  };
}

/** The groups of both runs together: what is meant by a view is decided over both. */
export function addGroups(own: GroupAnswer, other: GroupAnswer): GroupAnswer {
  const joined = besideGroups(own, other);
  const sum = <T extends Numbers>(x: Layered<T>, y: Layered<T>): Layered<T> => {
    const one = (l: 0 | 1 | 2): T => x[l].map((n, i) => n + (y[l][i] ?? 0)) as T;
    return [one(0), one(1), one(2)];
  };
  const { counts, sums } = joined.beside!;
  return { ...joined, counts: sum(joined.counts, counts), sums: sum(joined.sums, sums) };
}

/**
 * A run without the axes on which its two runs do not compare, such as addresses, or
 * by chance only: clocks tell nothing where one ends sooner, iterations do.
 */
export function comparable(info: Info): Info {
  const usual = info.columns.find((c) => c.name === 'time');
  const columns = info.columns
    .filter((c) => c.name !== 'time' && c.name !== 'side' && !unlike(info, c.name))
    .map((c) =>
      c.name === 'iteration' && usual ? { ...c, axis: usual.axis, axisPlace: usual.axisPlace } : c,
    );
  return { ...info, columns };
}
