import { expect, it } from 'vitest';
import { parse } from '../state/language';
import type { Mode, Term } from '../state/selection';
import { clickWords } from './clickwords';

const cpu6: Term = { kind: 'values', column: 'cpu', values: [6] };
const cases: readonly [where: string, mode: Mode | undefined, words: string][] = [
  ['', undefined, 'click selects cpu 6'],
  ['cpu = 3', undefined, 'click selects cpu 6 in place of cpu 3'],
  ['latency in 1..9', undefined, 'click selects cpu 6, keeps latency 1 – 9'],
  ['cpu = 6', undefined, 'cpu 6 is selected; Alt+click takes it out'],
  ['cpu = 3 & latency in 1..9', 'add', 'Shift+click adds cpu 6 to cpu 3, keeps latency 1 – 9'],
  ['latency in 1..9', 'add', 'Shift+click selects cpu 6, keeps latency 1 – 9'],
  ['!cpu = 6', 'add', 'Shift+click puts cpu 6 back'],
  ['cpu = 3', 'remove', 'Alt+click takes cpu 6 out'],
  ['cpu = 3 & latency in 1..9', 'only', 'Ctrl+click selects cpu 6 alone, clears latency 1 – 9'],
];

it.each(cases)('of "%s" with %s', (where, mode, words) => {
  expect(clickWords(parse(where), cpu6, mode, [])).toBe(words);
});
