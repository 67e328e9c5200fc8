import { describe, expect, it } from 'vitest';
import { parse } from '../state/language';
import { EVERYTHING, text, type Selection } from '../state/selection';
import type { Store } from '../state/store';
import { INITIAL, type State } from '../state/url';
import type { Suggestion } from '../api/wire';
import { column, info } from '../api/fixture';
import { preview, run, type Hands } from './commands';

/** A store that only remembers what it is told. */
function store(axes: readonly string[]): { store: Store; state: () => State } {
  let state: State = { ...INITIAL, axes: axes.map((c) => ({ column: c })) };
  const rows = (select: Selection): void => void (state = { ...state, select });
  const fake = {
    get snapshot() {
      return {
        info: info([column('time'), column('cpu'), column('level', { kind: 'category' }), column('latency')]),
        state,
      };
    },
    change: (patch: Partial<State>) => void (state = { ...state, ...patch }),
    selectText: (t: string) => rows(parse(t)),
    selectAll: () => rows(EVERYTHING),
  };
  return { store: fake as unknown as Store, state: () => state };
}

function suggestion(s: Partial<Suggestion>): Suggestion {
  return {
    text: '',
    action: 'select',
    where: '',
    axes: [],
    score: 1,
    does: '',
    selects: false,
    samples: null,
    ...s,
  };
}

function carry(s: Partial<Suggestion>, axes = ['time', 'cpu', 'latency']): { state: State; said: string[] } {
  const said: string[] = [];
  const hands: Hands = {
    act: (a) => said.push(a),
    exportAs: (f) => said.push(`export ${f}`),
    openDialog: (d) => said.push(`dialog ${d}`),
    width: 1440,
  };
  const t = store(axes);
  run(suggestion(s), t.store, hands);
  return { state: t.state(), said };
}

const names = (s: State): string[] => s.axes.map((a) => a.column);

describe('run', () => {
  it('selects', () =>
    expect(text(carry({ where: 'latency > 20', selects: true }).state.select)).toBe('latency > 20'));
  it('shows', () =>
    expect(names(carry({ action: 'show', axes: ['level'] }).state)).toEqual([
      'time',
      'cpu',
      'latency',
      'level',
    ]));
  it('shows several', () =>
    expect(names(carry({ action: 'show', axes: ['level', 'line'] }).state)).toEqual([
      'time',
      'cpu',
      'latency',
      'level',
      'line',
    ]));
  it('hides', () =>
    expect(names(carry({ action: 'hide', axes: ['cpu'] }).state)).toEqual(['time', 'latency']));
  it('hides several', () =>
    expect(names(carry({ action: 'hide', axes: ['time', 'cpu'] }).state)).toEqual(['latency']));
  it('never hides the last axis', () =>
    expect(names(carry({ action: 'hide', axes: ['cpu'] }, ['cpu']).state)).toEqual(['cpu']));
  it('correlates and selects', () => {
    const { state } = carry({
      action: 'correlate',
      axes: ['latency', 'level'],
      where: 'level = L2',
      selects: true,
    });
    expect(names(state).join(' ')).toContain('latency level');
    expect(text(state.select)).toBe('level = L2');
  });
  it('keeps the selection when only axes are correlated', () =>
    expect(carry({ action: 'correlate', axes: ['cpu', 'time'] }).state.select).toBe(EVERYTHING));
  it('opens one axis, or a category', () => {
    expect(carry({ action: 'view', target: 'axis', axes: ['latency'] }).state).toMatchObject({
      bottom: 'axis',
      axis: 'latency',
    });
    expect(carry({ action: 'view', target: 'axis', axes: ['level'] }).state).toMatchObject({
      bottom: 'category',
      category: 'level',
    });
  });
  it('sets colour and bins', () => {
    expect(carry({ action: 'color', target: 'mean' }).state.color).toBe('mean');
    expect(carry({ action: 'bins', target: '250' }).state.bins).toBe(250);
  });
  it.each([
    [{ action: 'undo' }, 'undo'],
    [{ action: 'exclude' }, 'hide'],
    [{ action: 'view', target: 'topology' }, 'view-3'],
    [{ action: 'export', target: 'svg' }, 'export svg'],
    [{ action: 'view', target: 'rows' }, 'dialog samples'],
    [{ action: 'columns' }, 'dialog columns'],
    [{ action: 'help' }, 'help'],
  ] as const)('hands %j over', (s, want) => expect(carry(s).said).toEqual([want]));
  it('does nothing where the data has no answer', () => {
    const { state, said } = carry({ where: 'latency > 1', missing: 'no latency' });
    expect([state.select, said]).toEqual([EVERYTHING, []]);
  });
});

describe('preview', () => {
  it('is the term of a plain selection', () =>
    expect(preview(suggestion({ where: 'latency > 20', selects: true }))).toMatchObject({
      column: 'latency',
    }));
  it('is all clauses of a longer one', () =>
    expect(preview(suggestion({ where: 'latency > 20 & cpu = 1', selects: true }))).toMatchObject({
      kind: 'all',
    }));
  it('is nothing for axes and everything', () => {
    expect(preview(suggestion({ action: 'show', axes: ['cpu'] }))).toBeUndefined();
    expect(preview(suggestion({ selects: true }))).toBeUndefined();
  });
});
