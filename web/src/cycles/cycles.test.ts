import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { roughMeasure } from '../base/text';
import { SvgRenderer } from '../base/svg';
import { parseTokens } from '../base/theme';
import type { CyclesClass, CyclesInfo } from '../model/wire';
import { phaseColor } from './colours';
import type { Drawing } from './picture';
import { SpiralView } from './spiral';
import { ASK, INITIAL, readCycles, writeCycles, type CyclesState } from './state';
import { TorusView } from './torus';
import { UnwrappedView } from './unwrapped';
import { byPass, classNames, headline } from './words';

const theme = parseTokens(readFileSync(new URL('../base/tokens.css', import.meta.url), 'utf8'), 'light');

function klass(more: Partial<CyclesClass> = {}): CyclesClass {
  return {
    birth: 2, death: 10, alive: false, epsilon: 2, turns: 2, exact: true, combination: false, name: 'inner loop', parent: -1, passes: 0, dual: -1,
    whole: -1, sentence: 'inner loop a.c:7', place: 'a.c:7', turnAt: 0, turnLength: 4, residual: 0, lines: [], ...more,
  };
}

const info: CyclesInfo = {
  records: 17, windows: 9, unique: 4, symbols: 4, symbol: 'pc', window: 4, cap: 4, thread: 0, threads: [], bars: [], preamble: 0, postamble: 0,
  notes: [], hasLines: true, classes: [klass(), klass({ name: 'outer loop', turns: 1 }), klass({ turns: 0, name: '' })],
  colours: [{ label: 'a.c:7', file: 'a.c', line: 7, function: '', count: 9 }, { label: 'a.c:8', file: 'a.c', line: 8, function: '', count: 8 }],
  lines: [],
};

/** Two turns of four windows each, and the window that closes them. */
const drawing: Drawing = {
  took: 1, first: 0, last: 9, whole: true, lift: Float32Array.from({ length: 9 }, (_, i) => i / 4), other: Float32Array.from({ length: 9 }, (_, i) => i / 8),
  colour: Uint16Array.from({ length: 9 }, (_, i) => i % 2), point: Uint32Array.from({ length: 9 }, (_, i) => i % 4), polar: undefined,
  turns: Uint32Array.of(0, 4), every: 1, passes: Uint32Array.of(0, 4), byPass: [1, 1], teeth: false,
  strips: [{ class: 0, low: Float32Array.of(0, 1, 2), high: Float32Array.of(0.5, 1.5, 2) }], ribbon: Uint16Array.of(0, 1, 0),
};

function spiral(more: object = {}): SpiralView {
  return new SpiralView({
    info, class: info.classes[0]!, drawing, part: 0, size: { w: 600, h: 468 }, colour: 'line', shape: 'spiral', from: 0, to: 0, hovered: -1, line: -1,
    references: [], referencesFrom: 0, ...more,
  });
}

describe('the spiral', () => {
  // R = (468 − 68) / 2 = 200, the centre at (330, 224), r0 = 20.
  it('puts a window at its angle and time', () => {
    expect(spiral().hitTest({ x: 330, y: 224 - 20 })).toBe(0);
    expect(spiral().hitTest({ x: 330 + 20 + 180 / 8, y: 224 })).toBe(1); // a quarter turn
    expect(spiral().hitTest({ x: 330, y: 224 - 200 })).toBe(8); // two turns, at the rim
    expect(spiral().hitTest({ x: 10, y: 10 })).toBeUndefined();
  });
  it('knows the visits of a window, and walks between them', () => {
    expect(spiral().visits(1)).toEqual([1, 5]);
    expect(spiral().step(1, 'next')).toBe(5);
    expect(spiral().step(5, 'next')).toBe(5);
    expect(spiral().step(6, 'up')).toBe(4);
    expect(spiral().step(1, 'down')).toBe(4);
  });
  it('says turn, pass and visits', () => {
    expect(spiral().describe(5)).toEqual({ name: 'Reference 5', more: 'a.c:8 · turn 2 at 0.25 · pass 2 · this window is visited 2 times' });
  });
  it('morphs along the unwrapped angle', () => {
    // Half way to a class of half the turns, window 4 has turned 0.75 times.
    const p = { x: 330 - (20 + 180 / 2), y: 224 };
    expect(spiral({ part: 0.5 }).hitTest(p)).toBe(4);
  });
  it('is drawn in the colours of its lines', () => {
    const r = new SvgRenderer(theme, roughMeasure);
    spiral().draw(r);
    expect(r.document({ w: 600, h: 468 }, '')).toContain(theme['cat-2']);
  });
});

describe('the strip and the torus', () => {
  it('find references by position', () => {
    const v = new UnwrappedView({ info, drawing, class: 0, size: { w: 970, h: 120 }, from: 2, to: 6, hovered: -1, visits: [] });
    expect(v.referenceAt(52 + 400)).toBe(5);
    expect(v.edgeAt(v.x(2))).toBe('from');
    expect(v.hitTest({ x: 4, y: 4 })).toBeUndefined();
  });
  it('shows two coordinates at once', () => {
    const v = new TorusView({ drawing, size: { w: 520, h: 470 }, names: ['a', 'b'], hovered: -1 });
    expect(v.describe(2).more).toBe('a at 0.50 · b at 0.25');
  });
});

describe('words', () => {
  it('name classes, and number those that share a name', () => {
    expect(classNames(info)).toEqual(['Inner loop', 'Outer loop', 'No turns']);
    expect(classNames({ ...info, classes: [klass(), klass()] })).toEqual(['Inner loop 1', 'Inner loop 2']);
  });
  it('count turns in passes', () => {
    expect(headline(klass({ turns: 10, passes: 4 }))).toBe('10 turns in 4 passes');
    expect(headline(klass({ turns: 4, exact: false }))).toBe('≈ 4 turns');
    expect(byPass([4, 3, 2, 1])).toBe('4 + 3 + 2 + 1 turns');
    expect(byPass([])).toBe('');
  });
});

describe('the link', () => {
  it('keeps every part of the state', () => {
    const s: CyclesState = {
      class: 2, other: 1, part: 0.25, view: 'torus', colour: 'coordinate', method: 'mds', epsilon: 4, from: 10, to: 20,
      ask: { symbol: 'pc+addr', window: 12, cap: 5, every: 2, from: 100, to: 900, folds: 1, thread: 3 },
    };
    expect(readCycles(writeCycles(s, { map: 'x' }))).toEqual(s);
    expect(writeCycles(INITIAL, { map: 'x', 'c.class': '3' })).toEqual({ map: 'x' });
  });
  it('takes what it understands of a damaged one', () => {
    expect(readCycles({ 'c.class': '-4', 'c.refs': '9..3', 'c.symbol': 'taste', 'c.window': 'x', 'c.part': '7' })).toEqual({ ...INITIAL, part: 1, ask: ASK });
  });
});

describe('the ring of phases', () => {
  it('closes', () => {
    expect(phaseColor(theme, 0)).toBe(phaseColor(theme, 1));
    expect(phaseColor(theme, 0)).not.toBe(phaseColor(theme, 0.5));
  });
});
