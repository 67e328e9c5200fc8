// A number stands beside a word in one way: plural, which knows that one sample is no
// "1 samples". What is counted elsewhere is listed by what it is.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = dirname(fileURLToPath(import.meta.url));
const SOURCES = /^(frame|state|pages)\/.*\.(ts|svelte)$/;
const NOUNS =
  'samples|rows|groups|lines|columns|names|values|clusters|windows|frames|hosts|records|paths|instructions|' +
  'operations|messages|processes|references|misses|sets|cells|objects|threads|pairs|files|steps';

/** Counts in a template or in markup whose noun is a fixed plural. */
function fixedPlurals(text: string): string[] {
  return text.match(new RegExp(`\\bcount\\([^\\x60{}]*\\)\\s*\\} (?:${NOUNS})\\b`, 'g')) ?? [];
}

it('is written beside a noun of its number', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
    (f) => SOURCES.test(f) && !f.includes('.test.'),
  );
  expect(files.length).toBeGreaterThan(150);
  expect(
    files.flatMap((f) => fixedPlurals(readFileSync(join(SRC, f), 'utf8')).map((p) => `${f}: ${p}`)),
  ).toEqual([]);
});

it('is found where it is not', () => {
  expect(fixedPlurals('`${count(a.counts[1])} of ${count(n)} samples`')).toEqual(['count(n)} samples']);
  expect(fixedPlurals('<b>{count(rows.length)} rows</b> {plural(n, "sample")}')).toHaveLength(1);
});
