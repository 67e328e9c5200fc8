import { expect, test } from 'vitest';
import { placeAfter, tabStop } from './roving';

test('arrows go round, Home and End to the ends', () => {
  expect(placeAfter('ArrowDown', 0, 3, 'down')).toBe(1);
  expect(placeAfter('ArrowDown', 2, 3, 'down')).toBe(0);
  expect(placeAfter('ArrowUp', 0, 3, 'down')).toBe(2);
  expect(placeAfter('ArrowRight', 2, 3, 'across')).toBe(0);
  expect(placeAfter('ArrowLeft', 0, 3, 'across')).toBe(2);
  expect(placeAfter('Home', 2, 3, 'across')).toBe(0);
  expect(placeAfter('End', 0, 3, 'down')).toBe(2);
});

test('without a place the first or the last is next', () => {
  expect(placeAfter('ArrowDown', -1, 3, 'down')).toBe(0);
  expect(placeAfter('ArrowUp', -1, 3, 'down')).toBe(2);
});

test('other keys, the other direction and empty lists lead nowhere', () => {
  expect(placeAfter('a', 0, 3, 'down')).toBeUndefined();
  expect(placeAfter('ArrowRight', 0, 3, 'down')).toBeUndefined();
  expect(placeAfter('ArrowDown', 0, 3, 'across')).toBeUndefined();
  expect(placeAfter('Home', -1, 0, 'down')).toBeUndefined();
});

test('a group is one stop of Tab', () => {
  const stops = (chosen: number): number[] =>
    [0, 1, 2].map((i) => tabStop(i === chosen, i === 0, chosen >= 0));
  expect(stops(1)).toEqual([-1, 0, -1]);
  expect(stops(-1)).toEqual([0, -1, -1]);
});
