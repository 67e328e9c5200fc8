import { beforeEach, describe, expect, it } from 'vitest';
import { History } from './history';
import { parse } from './language';
import { text } from './selection';
import { INITIAL, type State } from './url';

const at = (where: string, options: Record<string, string> = {}, run = 'r'): State => ({
  ...INITIAL,
  run,
  select: parse(where),
  options,
});

describe('History', () => {
  let history: History;
  beforeEach(() => (history = new History()));

  it('undoes on each page what belongs to it', () => {
    history.went(at(''), at('cpu = 1'));
    history.went(at('cpu = 1'), at('cpu = 1', { 't.op': '7', 't.pane': 'code' }));
    const now = at('cpu = 1', { 't.op': '7', 't.pane': 'code' });
    const trace = history.undo('trace', now)!;
    expect([text(trace.select), trace.options]).toEqual(['cpu = 1', { 't.pane': 'code' }]);
    expect(history.undo('trace', trace)).toBeUndefined();
    const samples = history.undo('samples', now)!;
    expect([text(samples.select), samples.options]).toEqual(['', now.options]);
    expect(history.redo('trace', trace)!.options).toEqual({ 't.op': '7', 't.pane': 'code' });
    // References are selected for all pages: what selects them undoes it.
    expect(text(history.undo('cycles', now)!.select)).toBe('');
    expect(history.undo('cycles', now)).toBeUndefined();
  });

  it('does not go on across runs', () => {
    history.went(at(''), at('symbol = m_x'));
    history.went(at('symbol = m_x'), at('', {}, 'other'));
    expect(history.can('samples')).toEqual({ undo: false, redo: false });
    history.went(at('', {}, 'other'), at('cpu = 1', {}, 'other'));
    history.followed(at('cpu = 1', {}, 'other'), at('symbol = m_x'));
    expect(history.can('samples')).toEqual({ undo: false, redo: false });
  });

  it('follows Back and Forward', () => {
    history.went(at(''), at('cpu = 1'));
    history.went(at('cpu = 1'), at('cpu = 2'));
    history.followed(at('cpu = 2'), at('cpu = 1'));
    expect(text(history.undo('samples', at('cpu = 1'))!.select)).toBe('');
    history.followed(at(''), at('cpu = 1'));
    expect(history.can('samples')).toEqual({ undo: true, redo: true });
  });
});
