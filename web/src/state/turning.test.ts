import { describe, expect, it } from 'vitest';
import { ApiError, Gone, type Api } from '../api/client';
import type { Answer } from '../api/decode';
import type { Ask, Info, RunSummary } from '../api/wire';
import { parse } from './language';
import { text } from './selection';
import type { Snapshot } from './store';
import { fitted } from './turning';
import { INITIAL, type State } from './url';

const COLUMNS = ['latency', 'cpu', 'symbol'];
const THERE: Readonly<Record<string, number>> = { 'symbol = u': 3, 'cpu = 9': 0, 'latency > 900': 0 };

/** A server with one run: it refuses columns and resources that the run has not. */
const api = {
  info: (id: string) =>
    Promise.resolve({ id, name: 'two', columns: COLUMNS.map((name) => ({ name })) } as unknown as Info),
  ask: (_: string, { where = '' }: Ask) =>
    where in THERE
      ? Promise.resolve({ counts: [10, THERE[where], 0] } as unknown as Answer)
      : Promise.reject(new ApiError(400, { error: 'no column' })),
} as unknown as Api;

function shown(state: Partial<State>, kind = 'samples'): Snapshot {
  const run = (id: string, kind: string): RunSummary => ({ id, kind }) as RunSummary;
  return {
    home: { runs: [run('r1', kind), run('r2', 'samples')] },
    info: { columns: [{}] },
    state: { ...INITIAL, run: 'r1', ...state },
  } as unknown as Snapshot;
}

describe('fitted', () => {
  it('keeps what the other run has', async () => {
    const axes = COLUMNS.map((column) => ({ column }));
    const now = await fitted(api, shown({ select: parse('symbol = u'), axes, axis: 'cpu' }), 'r2');
    expect(now?.notes).toEqual([]);
    expect(now?.state).toMatchObject({ run: 'r2', axes, axis: 'cpu' });
    expect(text(now!.state.select)).toBe('symbol = u');
  });

  it('leaves out and says columns, names and places that it has not, not ranges without samples', async () => {
    const now = await fitted(
      api,
      shown({
        select: parse('latency > 900 & !(cpu = 9) & at L3:7'),
        filter: parse('symbol = u & x > 3'),
        axes: [{ column: 'x' }, { column: 'latency' }],
        category: 'x',
        zoom: 'L3:7',
      }),
      'r2',
    );
    expect([text(now!.state.select), text(now!.state.filter)]).toEqual(['latency > 900', 'symbol = u']);
    expect(now?.state).toMatchObject({ axes: [{ column: 'latency' }], category: '', zoom: '' });
    const [note] = now!.notes;
    for (const what of ['cpu = 9', 'at L3:7', 'x > 3', '; x', 'L3:7']) expect(note).toContain(what);
    expect(note).not.toContain('latency');
  });

  it('begins anew where the other run is of another kind, and on other pages', async () => {
    expect(await fitted(api, shown({}, 'refs'), 'r2')).toBeUndefined();
    expect(await fitted(api, shown({ page: 'trace' }), 'r2')).toBeUndefined();
  });

  it('keeps nothing by guesses: a server that is gone is no answer', async () => {
    const away = { ...api, ask: () => Promise.reject(new Gone()) } as unknown as Api;
    await expect(fitted(away, shown({ select: parse('symbol = u') }), 'r2')).rejects.toBeInstanceOf(Gone);
  });
});
