// The two answers of a comparison, and what both have in common.
import type { AxisAnswer, Layered } from '../../../api/decode';
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
