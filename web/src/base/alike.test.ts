import { describe, expect, it, vi } from 'vitest';
import { alike } from './alike';
import { whenIdle } from './idle';

describe('alike', () => {
  it.each<[string, unknown, unknown, boolean]>([
    ['equal plain objects', { a: 1, b: [2, { c: 'x' }] }, { a: 1, b: [2, { c: 'x' }] }, true],
    ['another value deep inside', { b: [2, { c: 'x' }] }, { b: [2, { c: 'y' }] }, false],
    ['a field more', { a: 1 }, { a: 1, b: undefined }, false],
    ['a field of another name', { a: undefined }, { b: undefined }, false],
    ['not a number', Number.NaN, Number.NaN, true],
    ['addresses', { lo: 2n ** 60n }, { lo: 2n ** 60n + 1n }, false],
    ['typed arrays by what they hold', Uint32Array.of(1, 2), Uint32Array.of(1, 2), true],
    ['typed arrays that differ', Uint32Array.of(1, 2), Uint32Array.of(1, 3), false],
    ['maps', new Map([['a', [1]]]), new Map([['a', [1]]]), true],
    ['maps with another entry', new Map([['a', 1]]), new Map([['b', 1]]), false],
    ['functions', () => 1, () => 1, false],
    ['instances of classes', new Date(0), new Date(0), false],
    ['a list and an object', [], {}, false],
    ['nothing and null', undefined, null, false],
  ])('%s', (_, a, b, yes) => expect(alike(a, b)).toBe(yes));

  it('takes the name of an answer for its numbers: the hover may differ', () => {
    const part = (still: string, n: number): object => ({ still, counts: Uint32Array.of(n) });
    expect(alike(part('a', 1), part('a', 2))).toBe(true);
    expect(alike(part('a', 1), part('b', 1))).toBe(false);
  });
});

describe('whenIdle', () => {
  it('does without requestIdleCallback, which Safari does not have', () => {
    vi.useFakeTimers();
    let ran = 0;
    whenIdle(() => ran++, {});
    whenIdle(() => ran++, {})(); // taken back
    vi.runAllTimers();
    vi.useRealTimers();
    expect(ran).toBe(1);
  });
});
