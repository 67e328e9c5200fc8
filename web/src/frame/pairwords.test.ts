import { expect, it } from 'vitest';
import { reachWords } from './pairwords';

it('says how far a change may be off by what it covers, with both ends where they differ', () => {
  expect(reachWords({ ratio: 0.622, low: 0.609, high: 0.635 }, 0)).toEqual([
    '± 1.3 sampling',
    'one run a side, run to run not known',
  ]);
  // Latencies may be modelled in a run that was measured: how runs differ is allowed for all the same.
  expect(reachWords({ ratio: 1.02, low: 0.97, high: 1.07 }, 0.15)).toEqual([
    '± 5.0 runs differ',
    'one run a side',
  ]);
  expect(reachWords({ ratio: 1.1, low: 0.6, high: 2.02 }, 0.3)[0]).toBe('−40.0 to +102.0 % as runs differ');
  expect(reachWords({ ratio: 1.02, low: 0.97, high: 1.07 }, 0.15, 'sides', [3, 3])).toEqual([
    '± 5.0',
    '3 runs a side',
  ]);
  expect(reachWords({ ratio: 1.02, low: 0.97, high: 1.07 }, 0.15, 'sides', [1, 3])[1]).toBe('1 and 3 runs');
  expect(reachWords({ ratio: 1.02, low: 0.97, high: 1.07 }, 0, 'pairs', [8, 8])[1]).toBe('8 pairs');
});
