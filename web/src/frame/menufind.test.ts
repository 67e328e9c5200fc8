import { expect, it, vi } from 'vitest';
import { inMenus, type NamedMenu } from './menufind';

const stride = vi.fn();
const MENUS: NamedMenu[] = [
  {
    name: 'Colour by',
    items: [
      { label: 'source line', run: () => {}, checked: true },
      { label: 'stride', note: 'since the instruction ran last', run: stride },
    ],
  },
  {
    name: 'Symbol',
    items: [
      { label: 'cache line', run: () => {} },
      { label: 'line', run: () => {} },
      { label: 'address', run: () => {}, disabled: true },
    ],
  },
];
const texts = (typed: string): string[] => inMenus(typed, MENUS).map((f) => f.text);

it('finds choices by their words and those of their menu, in any order', () => {
  expect(texts('colour by stride')).toEqual(['Colour by: stride']);
  expect(texts('stri col')).toEqual(['Colour by: stride']);
  inMenus('stride', MENUS)[0]!.run();
  expect(stride).toHaveBeenCalledOnce();
});

it('has what is named in full first', () => {
  expect(texts('line')).toEqual(['Symbol: line', 'Colour by: source line', 'Symbol: cache line']);
});

it('finds nothing for other words, for a menu alone, and what cannot be chosen', () => {
  for (const typed of ['', 'colour', 'stride of main', 'address']) expect(texts(typed)).toEqual([]);
});
