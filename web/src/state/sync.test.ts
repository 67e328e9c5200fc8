import { expect, it } from 'vitest';
import type { Api } from '../api/client';
import { parse } from './language';
import { text } from './selection';
import type { Snapshot, Store } from './store';
import type { MeshSelect, MeshViewers } from '../api/wire';
import { follow } from './sync';

/** A page with nothing but a selection. */
function page(where: string): { store: Store; select: (where: string) => void } {
  let select = parse(where);
  const listeners = new Set<(s: Snapshot) => void>();
  const set = (w: string): void => {
    select = parse(w);
    for (const l of listeners) l(store.snapshot);
  };
  const store = {
    get snapshot() {
      return { info: { id: 'run' }, state: { select, filter: [] } } as unknown as Snapshot;
    },
    selectText: set,
    subscribe: (l: (s: Snapshot) => void) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
  } as unknown as Store;
  return { store, select: set };
}

/** A server that keeps one selection, as ours does. */
function server(): { api: Api; told: string[]; say: (news: Partial<MeshViewers>) => void } {
  let state: MeshViewers = { viewers: [], where: '', rev: 1, origin: '' };
  const told: string[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const push = (): void =>
    controller.enqueue(new TextEncoder().encode(`event: viewers\ndata: ${JSON.stringify(state)}\n\n`));
  const api = {
    request: (method: string, _: string, init?: RequestInit) => {
      if (method === 'POST') {
        const s = JSON.parse(init!.body as string) as MeshSelect;
        told.push(s.where);
        state = { ...state, where: s.where, rev: state.rev + 1, origin: s.origin };
        push();
        return Promise.resolve(new Response('{}'));
      }
      const body = new ReadableStream<Uint8Array>({
        start: (c) => {
          controller = c;
          push();
        },
      });
      return Promise.resolve(new Response(body));
    },
  } as unknown as Api;
  return {
    api,
    told,
    say: (news) => {
      state = { ...state, ...news, rev: state.rev + 1 };
      push();
    },
  };
}

/** Time for what must not happen. */
const settle = (): Promise<void> => new Promise((done) => setTimeout(done, 30));

it('brings its selection, tells every change once, and takes those of viewers', async () => {
  const [p, s] = [page('cpu = 3'), server()];
  const seen: (readonly string[])[] = [];
  const stop = follow(s.api, p.store, 'run', (v) => seen.push(v));
  await expect.poll(() => s.told).toEqual(['cpu = 3']);
  p.select('cpu = 3 & latency > 9');
  await expect.poll(() => s.told).toEqual(['cpu = 3', 'cpu = 3 & latency > 9']);
  s.say({ where: 'cpu in 0..4 & rows "cells 3-5"', origin: 'c1', viewers: ['paraview'] });
  await expect.poll(() => text(p.store.snapshot.state.select)).toBe('cpu in 0..4 & rows "cells 3-5"');
  await expect.poll(() => seen.at(-1)).toEqual(['paraview']);
  await settle();
  expect(s.told).toHaveLength(2); // no echo
  s.say({ viewers: [] }); // a viewer goes: nothing is selected anew
  await expect.poll(() => seen.at(-1)).toEqual([]);
  expect(text(p.store.snapshot.state.select)).toBe('cpu in 0..4 & rows "cells 3-5"');
  p.select('');
  await expect.poll(() => s.told.at(-1)).toBe('');
  stop();
});

it('takes what there is when it comes without a selection', async () => {
  const [p, s] = [page(''), server()];
  const stop = follow(s.api, p.store, 'run', () => {});
  await settle();
  s.say({ where: 'latency > 7', origin: 'c1' });
  await expect.poll(() => text(p.store.snapshot.state.select)).toBe('latency > 7');
  expect(s.told).toEqual([]);
  stop();
});
