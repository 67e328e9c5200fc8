import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../api/wire';
import { comparedWith, earlierRun, earlierRuns, opening } from './before';

const run = (id: string, kind: string, parts: readonly string[]): RunSummary =>
  ({ id, name: id, kind, rows: 1, trace: false, parts }) as RunSummary;
const runs = [
  run('a', 'refs', ['memory', 'references']),
  run('b', 'refs', ['memory', 'references']),
  run('s', 'samples', ['memory']),
];

describe('runs of references', () => {
  it('open as the later one beside the earlier one', () => {
    const first = opening('a,b', runs);
    expect(first).toEqual({ run: 'b', page: 'locality', options: { 'c.before': 'a', 'c.view': 'loops' } });
    expect(earlierRun(first.options, earlierRuns(runs, 'b'))?.id).toBe('a');
  });

  it('open by their loops when alone, samples as a pair', () => {
    expect(opening('a', runs)).toEqual({ run: 'a', page: 'cycles', options: {} });
    expect(opening('s,a', runs)).toEqual({ run: 's,a', page: 'memory', options: {} });
  });

  it('are compared with none that is not open', () => {
    expect(earlierRuns(runs, 'a').map((r) => r.id)).toEqual(['b']);
    expect(earlierRun({ 'c.before': 'gone' }, runs)).toBeUndefined();
    expect(comparedWith({ 'c.before': 'a', 'l.y': 'share' }, '')).toEqual({ 'l.y': 'share' });
  });
});
