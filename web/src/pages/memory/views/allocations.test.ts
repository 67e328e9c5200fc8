import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Allocations, AllocationSite } from '../../../api/wire';
import { SvgRenderer } from '../../../base/svg';
import { roughMeasure } from '../../../base/text';
import { parseTokens } from '../../../base/theme';
import { ListView } from '../../../frame/list';
import { ALLOCATED, allocationList, callsOf, lifetime, termOfSite } from './allocations';

const theme = parseTokens(
  readFileSync(new URL('../../../base/tokens.css', import.meta.url), 'utf8'),
  'light',
);
const plain = (s: string): string => s.replaceAll('\u202f', ' ');

function site(some: Partial<AllocationSite>): AllocationSite {
  return {
    frames: [],
    symbols: [],
    processes: 1,
    calls: 0,
    bytes: 0,
    summed: 0,
    summed_bytes: 0,
    freed: 0,
    peak: 0,
    peak_calls: 0,
    peak_at_least: false,
    at_peak: 0,
    at_end: 0,
    lifetime: null,
    small_calls: 0,
    small_bytes: 0,
    small_seen: 0,
    samples: 0,
    reads: 0,
    writes: 0,
    cost: 0,
    share: 0,
    ...some,
  };
}
const kept = site({
  frames: [{ function: 'grab', file: 'a.c', line: 3 }, { function: 'main' }, { function: '_start' }],
  allocation: 'a.c:3',
  calls: 2,
  bytes: 8192,
  peak: 8192,
  at_end: 4096,
  samples: 9,
});
const short = site({
  frames: ['a', 'b', 'c', 'd', 'e'].map((f) => ({ function: f })),
  calls: 10,
  bytes: 2048,
  peak: 1024,
  peak_at_least: true,
  lifetime: 6_200_000,
});
const small = site({ small_calls: 5, small_bytes: 100, symbols: ['x', 'y'], samples: 1 });
const all: Allocations = {
  calls: 12,
  bytes: 10240,
  peak: 9000,
  small_calls: 5,
  small_bytes: 100,
  samples: 20,
  in_allocations: 10,
  cost_unit: 'ns',
  site_count: 3,
  sites: [kept, short, small],
};
const columns = [{ name: 'allocation' }, { name: 'symbol' }];

describe('allocations', () => {
  const view = new ListView(allocationList(all, columns), roughMeasure);

  it('are rows with the numbers of the answer', () => {
    expect(view.rows().rows.map((r) => r.slice(0, 7).map(plain))).toEqual([
      ['a.c:3', '8192', '4096', '2', '8192', '', '9'],
      ['a < b < c < d < …', '2048', '0', '10', '1024', '6200000', '0'],
      ['(not recorded)', '100', '0', '5', '', '', '1'],
    ]);
  });

  it('say what is not exact', () => {
    const cells = (s: AllocationSite): string[] => view.input.columns.map((c) => plain(c.text(s)));
    expect(cells(kept).slice(1, 6)).toEqual([
      '8.0 KiB',
      '4.0 KiB of 8.0 KiB never freed',
      '2',
      '8.0 KiB',
      'to the end',
    ]);
    expect(cells(short).slice(4, 6)).toEqual(['≥1.0 KiB', '6.2 ms']);
    expect(cells(small).slice(1, 6)).toEqual(['≈ 100 B', '0 B of 100 B never freed', '≈ 5', '–', '–']);
  });

  it('have bars as long as their bytes', () => {
    const bar = view.input.columns[2]!.picture!;
    const widths = (s: AllocationSite): number[] => {
      const r = new SvgRenderer(theme, roughMeasure);
      bar.draw(r, s, { x: 0, y: 0 });
      return [...r.fragment(bar.size).matchAll(/<(?:rect|path)[^>]* width="([\d.]+)"/g)].map((m) =>
        Number(m[1]),
      );
    };
    expect(widths(kept)).toEqual([ALLOCATED.w, ALLOCATED.w / 2]);
    expect(widths(short)).toEqual([ALLOCATED.w / 4]);
  });

  it('stop naming callers at main, or after four', () => {
    expect(callsOf(kept)).toBe('grab < main');
    expect(callsOf(short)).toBe('a < b < c < d < …');
    expect(lifetime(site({ lifetime: 12, peak: 1 }))).toBe('12\u202fns');
  });

  it('select the samples in their memory, where there are some', () => {
    expect(termOfSite(kept, columns)).toEqual({ kind: 'values', column: 'allocation', values: ['a.c:3'] });
    expect(termOfSite(small, columns)).toEqual({ kind: 'values', column: 'symbol', values: ['x', 'y'] });
    expect(termOfSite(short, columns)).toBeUndefined();
    expect(termOfSite(kept, [])).toBeUndefined();
  });
});
