import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../api/wire';
import { beside } from './beside';

function run(id: string, parts: readonly string[], kind = 'samples'): RunSummary {
  return { id, name: `${id}.isobath`, kind, rows: 1, trace: parts.includes('messages'), parts };
}

describe('a file to compare with', () => {
  const samples = run('a', ['memory']);
  const traced = run('t', ['memory', 'messages']);
  it('is B beside samples', () => {
    expect(beside(samples, run('b', ['memory']), 'memory')).toEqual({ pair: 'a,b' });
    expect(beside(samples, traced, 'trace')).toEqual({ pair: 'a,t' });
  });
  it('is what a trace is compared with, where traces are shown', () => {
    const other = run('u', ['memory', 'messages']);
    expect(beside(traced, other, 'trace')).toEqual({ against: 'u' });
    expect(beside(traced, other, 'memory')).toEqual({ pair: 't,u' });
    expect(beside(run('m', ['messages']), run('n', ['messages']), 'trace')).toEqual({ against: 'n' });
  });
  it('is the later of two records of references', () => {
    const [r, s] = [run('r', ['references'], 'refs'), run('s', ['references'], 'refs')];
    expect(beside(r, s, 'cycles')).toEqual({ pair: 'r,s' });
  });
  it('is not compared if it holds something else, and the sentence says what', () => {
    expect(beside(samples, run('m', ['messages']), 'memory')).toEqual({
      why: 'm.isobath is not compared with a.isobath: it holds messages, the other memory.',
    });
    expect(beside(samples, samples, 'memory')).toEqual({
      why: 'a.isobath is the run that was shown: a run is not compared with itself.',
    });
  });
});
