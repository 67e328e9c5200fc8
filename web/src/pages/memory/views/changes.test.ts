import { describe, expect, it } from 'vitest';
import { changeText, difference, intervalText, rowName, signed, verdictText } from './changes';
import type { ComparedRow } from '../../../api/wire';

const row = (r: Partial<ComparedRow>): ComparedRow => ({
  label: 'stencil.c:104',
  a: { samples: 10, cost: 958676, share: 0.267, mean: 72 },
  b: { samples: 10, cost: 452280, share: 0.2026, mean: 34 },
  verdict: 'unsure',
  ...r,
});

describe('changes', () => {
  it('writes signs as signs', () => {
    expect(signed(-2, String)).toBe('−2');
    expect(signed(2, String)).toBe('+2');
    expect(signed(0, String)).toBe('0');
  });

  it('says what changed in the measure asked for', () => {
    const r = row({ ratio: 0.4718, low: 0.45, high: 0.49, verdict: 'less', detectable: 0.07 });
    expect(difference(r, 'cost')).toBe('−506\u202fk');
    expect(difference(r, 'mean')).toBe('−38.0');
    expect(difference(r, 'share')).toBe('−6.4 points');
    expect(changeText(r)).toBe('▼ −52.8 %');
    expect(intervalText(r)).toBe('−55.0 % … −51.0 %');
    expect(verdictText(r)).toBe('sure: less in B');
  });

  it('marks what noise explains', () => {
    const r = row({ ratio: 1.2, low: 0.8, high: 1.8, mark: '?', detectable: 0.9 });
    expect(changeText(r)).toBe('+20.0 % ?');
    expect(verdictText(r)).toContain('runs of one program differ as much; a change of 90 % would show');
    expect(changeText(row({ a: { samples: 0, cost: 0, share: 0 } }))).toBe('new');
    expect(changeText(row({ b: { samples: 0, cost: 0, share: 0 } }))).toBe('gone');
    expect(verdictText(row({}))).toBe('too small to be tested alone');
  });

  it('names both where a name changed', () => {
    expect(rowName(row({ keyA: ['aggregate'], keyB: ['summarise'], label: 'summarise' }))).toBe(
      'summarise (was aggregate)',
    );
    expect(rowName(row({ keyA: ['f'], keyB: ['f'], label: 'f' }))).toBe('f');
  });
});
