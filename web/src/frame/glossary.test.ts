import { describe, expect, it } from 'vitest';
import type { Term } from '../api/wire';
import { namesIn, termOf, words } from './glossary';

const term = (name: string, also: string[] = []): Term => ({
  name,
  kind: 'metric',
  also,
  unit: '',
  means: `What ${name} is.`,
  equation: 'a / b',
  advice: '',
  chapter: '',
  anchor: '',
});

describe('glossary', () => {
  const terms = [
    term('misses'),
    term('p90', ['p99']),
    term('lateness', ['late']),
    term('Differential lateness'),
  ];
  it.each([
    ['L2 misses (modelled)', 'misses'],
    ['P99 A', 'p90'],
    ['ms late', 'lateness'],
    ['differential lateness', 'Differential lateness'],
    ['misses · L3', 'misses'],
  ])('finds the term of %s', (text, want) => expect(termOf(terms, text)?.name).toBe(want));
  it('finds none for other words', () => expect(termOf(terms, 'nothing here')).toBeUndefined());
  it('tries the whole text first', () => expect(namesIn(' Mean latency · L2')[0]).toBe('mean latency · l2'));
  it('leaves out what a term has not', () => expect(words(term('x'))).toEqual(['What x is.', '= a / b']));
});
