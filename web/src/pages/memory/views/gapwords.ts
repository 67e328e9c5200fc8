// What is said of stretches in which samples are missing; loaded with the first
// run that has some.
import { count, percent, plural } from '../../../base/format';
import type { Api } from '../../../api/client';
import { CodeApi } from '../../../api/code';
import type { Gap } from '../../../api/wire';
import type { TimeGap } from './gaps';

export async function timeGaps(api: Api, run: string, signal: AbortSignal): Promise<readonly TimeGap[]> {
  const { gaps } = await new CodeApi(api).gaps(run, signal);
  return gaps.map((g) => ({ ...g, says: sayGap(g) }));
}

const REASONS: Readonly<Record<string, string>> = {
  lost: 'the ring buffer was full',
  throttled: 'the kernel slowed sampling down',
  'trace cut': 'the trace buffer was full',
  multiplexed: 'events shared a counter',
};

/** One gap in words: how much, of what, why, where. */
export function sayGap(g: Gap): string {
  const why = REASONS[g.kind] ?? g.kind;
  const cpus =
    g.cpus.length === 0 ? '' : g.cpus.length > 8 ? `, ${g.cpus.length} CPUs` : `, CPU ${g.cpus.join(', ')}`;
  if (g.kind === 'multiplexed')
    return `${plural(g.times, 'sample')} of counters that ran ${percent(g.counting, 1)} of the time or more (${why}${cpus})`;
  if (g.kind === 'lost') return `${plural(g.records, 'record')} lost (${why}${cpus})`;
  return `${g.kind} ${g.times === 1 ? 'once' : `${count(g.times)} times`} (${why}${cpus})`;
}
