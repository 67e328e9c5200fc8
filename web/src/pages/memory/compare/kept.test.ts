import { expect, it } from 'vitest';
import type { Info } from '../../../api/wire';
import { keptFor } from './kept';

it('asks once for as long as the same pair is shown', async () => {
  const asked: number[] = [];
  const load = (n: number) => (): Promise<number> => {
    asked.push(n);
    return n < 0 ? Promise.reject(new Error('no')) : Promise.resolve(n);
  };
  const [pair, again] = [{ id: 'a,b' } as Info, { id: 'a,b' } as Info];
  expect(await keptFor(pair, 'compare', { by: 'line' }, load(1))).toBe(1);
  expect(await keptFor(pair, 'compare', { by: 'line' }, load(2))).toBe(1);
  expect(await keptFor(pair, 'changes', { by: 'line' }, load(3))).toBe(3);
  expect(await keptFor(again, 'compare', { by: 'line' }, load(4))).toBe(4); // read again
  await expect(keptFor(pair, 'compare', { by: 'bad' }, load(-1))).rejects.toThrow();
  expect(await keptFor(pair, 'compare', { by: 'bad' }, load(5))).toBe(5); // a failure is not kept
  for (let i = 0; i < 40; i++) await keptFor(pair, 'compare', i, load(100 + i));
  expect(await keptFor(pair, 'compare', { by: 'line' }, load(6))).toBe(6);
  expect(asked.slice(0, 5)).toEqual([1, 3, 4, -1, 5]);
});
