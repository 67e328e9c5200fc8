import { describe, expect, it } from 'vitest';
import { codec, flag, lines, oneOf, real, span, typed, whole, words } from './link';

const LINK = codec('x.', {
  step: whole(-1, { least: -1, most: 1000 }),
  part: real(0.5, { least: 0, most: 1 }),
  view: oneOf(['surface', 'slice'] as const, 'surface'),
  edges: flag(true, 'off'),
  range: span(),
  names: lines(),
  field: words(),
  min: typed(),
});

/** Texts that a link may hold, few of which mean something. */
const TEXTS = [
  '',
  ' ',
  '0',
  '1',
  '-1',
  '7',
  '0.25',
  '-0',
  '1e3',
  '1e16',
  '-1e16',
  '1e999',
  'NaN',
  'off',
  'on',
].concat(['slice', '3..9', '9..3', '-5..5', '1e999..2', '..', 'a\nb', '0x10', '\u{1f4a3}', 'x'.repeat(5000)]);

describe('codec', () => {
  it('leaves out what is as at first, and what belongs to others', () => {
    const options = { 'y.step': '3', 'x.step': '9' };
    expect(LINK.write(LINK.initial, options)).toEqual({ 'y.step': '3' });
    expect(LINK.write({ ...LINK.initial, step: 4, edges: false, range: [3, 9] }, options)).toEqual({
      'y.step': '3',
      'x.step': '4',
      'x.edges': 'off',
      'x.range': '3..9',
    });
  });

  it('reads what it wrote, whatever the link said before', () => {
    for (const key of Object.keys(LINK.initial))
      for (const text of TEXTS) {
        const state = LINK.read({ [`x.${key}`]: text });
        expect(LINK.read(LINK.write(state, {})), `${key} ${text.slice(0, 20)}`).toEqual(state);
        expect(state.step).toBeGreaterThanOrEqual(-1);
        expect(state.step).toBeLessThanOrEqual(1000);
        expect(state.part >= 0 && state.part <= 1).toBe(true);
        expect(state.range[0] >= 0 && state.range.every(Number.isFinite)).toBe(true);
        expect(state.field.length).toBeLessThan(5000);
      }
  });
});
