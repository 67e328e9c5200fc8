import { expect, it } from 'vitest';
import { column } from '../api/fixture';
import { sayDistinct } from './axes';

it('says how many values a column has, and where counting ended', () => {
  const said = (distinct: number): string => sayDistinct(column('addr', { distinct }), 'value');
  expect([1, 2, 65_535, 65_536].map((n) => said(n).replaceAll('\u202f', ' '))).toEqual([
    '1 value',
    '2 values',
    '65 535 values',
    '65 536 or more values',
  ]);
});
