// What a link keeps about the locality page, in the options of the page's state
// under keys that begin with "l.". What is selected is the selection of all pages.
import { codec, lines, oneOf, whole, words, type Options } from '../../state/link';

export const TABLES = ['objects', 'fields', 'lines', 'functions', 'loops', 'threads'] as const;
export type TableTab = (typeof TABLES)[number];
export const STACKS = ['object', 'line', 'function', 'none'] as const;
export const AMOUNTS = ['misses', 'share', 'bytes'] as const;
export type Amount = (typeof AMOUNTS)[number];

export interface LocalityState {
  readonly table: TableTab;
  readonly by: number; // level that the table ranks by; counts from 0
  readonly level: number; // of layout, evictions and map
  readonly stack: (typeof STACKS)[number];
  readonly y: Amount;
  readonly curve: 'curve' | 'reuse';
  readonly layout: 'fields' | 'sets' | 'sharing' | 'evictions';
  readonly line: number; // bytes of a line; 0: the machine's
  readonly machine: string; // present; empty: that of the run
  readonly other: string; // what-if machine; empty: the same
  readonly set: string; // changes of its caches
  readonly map: string; // what-if change of layout or order
  readonly pair: readonly string[]; // objects: which lost a line, and to which
}

const LINK = codec<LocalityState>('l.', {
  table: oneOf(TABLES, 'objects'),
  by: whole(0, { least: 0, most: 4 }),
  level: whole(0, { least: 0, most: 4 }),
  stack: oneOf(STACKS, 'object'),
  y: oneOf(AMOUNTS, 'misses'),
  curve: oneOf(['curve', 'reuse'] as const, 'curve'),
  layout: oneOf(['fields', 'sets', 'sharing', 'evictions'] as const, 'fields'),
  line: whole(0, { least: 0, most: 1024 }),
  machine: words(),
  other: words(),
  set: words(),
  map: words(),
  pair: lines(),
});

export const readLocality = (o: Options): LocalityState => LINK.read(o);
export const writeLocality = (s: LocalityState, o: Options): Record<string, string> => LINK.write(s, o);
