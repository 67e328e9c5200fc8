import { describe, expect, it } from 'vitest';
import { parse } from './language';
import { INITIAL, read, VERSION, write, type State } from './url';

const full: State = {
  run: 'a3f1',
  cmp: 'b',
  by: 'share',
  page: 'memory',
  select: parse('latency in 200..2300 & (file = LULESH_OMP.cc & line = 2035) & level in (L3, "Local RAM")'),
  filter: parse('cpu != 3 & symbol ~ "m_[x&y]+%"'),
  axes: [
    { column: 'time' },
    { column: 'latency', scale: 'log', bins: 200, lo: 3, hi: 1.5e4 },
    { column: 'odd:name, really@%', scale: 'rank' },
    { column: 'x', lo: -2.5, hi: 1e-3 },
    { column: 'y', bins: 64 },
  ],
  bins: 250,
  axis: 'time',
  category: 'symbol',
  rank: 'samples',
  color: 'mean',
  shape: 'icicle',
  zoom: 'L3:1',
  bottom: 'category',
  options: { strength: 'left bin', 'trace.color': 'lateness' },
};

describe('link', () => {
  it('restores every part of the state', () => {
    const link = write(full);
    expect(read(link)).toEqual({ state: full, problems: [], token: undefined });
    expect(write(read(link).state)).toBe(link);
  });

  it('leaves out defaults and keeps the readable readable', () => {
    expect(write(INITIAL)).toBe('#v=1');
    expect(
      write({
        ...INITIAL,
        run: 'a3f1',
        select: parse('latency in 200..2300 & at L3:1'),
        axes: [{ column: 'latency', scale: 'log' }, { column: 'cpu' }],
      }),
    ).toBe('#v=1&run=a3f1&s=latency+in+200..2300+%26+at+L3:1&axes=latency:log,cpu');
  });

  // A link of every version ever written stays here.
  it.each([
    [
      '#v=1&run=lulesh-a3f1&s=latency+in+200..2300+%26+(file+=+LULESH_OMP.cc+%26+line+=+2035)&f=level+in+(L3,' +
        '+%22Local+RAM%22)&axes=line,latency:log:50,level,cpu&bins=200&color=samples',
      {
        ...INITIAL,
        run: 'lulesh-a3f1',
        select: parse('latency in 200..2300 & (file = LULESH_OMP.cc & line = 2035)'),
        filter: parse('level in (L3, "Local RAM")'),
        axes: [
          { column: 'line' },
          { column: 'latency', scale: 'log', bins: 50 },
          { column: 'level' },
          { column: 'cpu' },
        ],
        bins: 200,
        color: 'samples',
      },
    ],
  ])('version %#', (link, state) => {
    expect(read(link)).toEqual({ state, problems: [], token: undefined });
  });

  it('upgrades step by step', () => {
    const upgraders = {
      1: (p: URLSearchParams) => p.set('b', p.get('a') ?? ''),
      2: (p: URLSearchParams) => p.set('bins', p.get('b') ?? ''),
    };
    expect(read('#v=1&a=333', upgraders, 3).state.bins).toBe(333);
    expect(read('#v=2&a=333&b=444', upgraders, 3).state.bins).toBe(444);
  });

  it('says what it did not understand and keeps the rest', () => {
    const newer = read(`#v=${VERSION + 1}&bins=77&future=1`);
    expect(newer.state.bins).toBe(77);
    expect(newer.problems).toEqual([expect.stringContaining('newer Isobath')]);
    const broken = read('#v=1&s=latency+in&f=cpu+=+1&bins=x&color=red&page=none&axes=,:log,cpu');
    expect(broken.problems).toEqual([expect.stringContaining('selection was not understood')]);
    expect(broken.state).toEqual({ ...INITIAL, filter: parse('cpu = 1'), axes: [{ column: 'cpu' }] });
  });

  it('never writes the token it reads', () => {
    const { token, state } = read('#k=secret&v=1&bins=50');
    expect(token).toBe('secret');
    expect(write(state)).toBe('#v=1&bins=50');
  });

  it('survives any fragment', () => {
    for (const fragment of ['', '#', '#%', '#v=&s=%E0%A4%A', '#axes=%25zz', '#v=abc'])
      expect(() => read(fragment)).not.toThrow();
  });
});

describe('a hostile link', () => {
  it.each(['-1e16', '-9007199254740993', '0', 'x', '', '1.5', 'Infinity', '1e308'])(
    'with version %s is read at once, and said',
    (v) => {
      const { state, problems } = read(`#v=${v}&bins=50`);
      expect(state.bins).toBe(50);
      expect(problems.length).toBe(1);
    },
  );

  it('has numbers only as they may be', () => {
    expect(read('#bins=1e9').state.bins).toBe(100);
    expect(read('#bins=9999999').state.bins).toBe(1000);
    expect(read('#axes=time@1e999..2e999').state.axes).toEqual([{ column: 'time' }]);
    expect(read('#axes=time@-5..1.7e18').state.axes).toEqual([{ column: 'time', lo: -5, hi: 1.7e18 }]);
  });
});
