import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiError } from '../api/client';
import { Api } from '../api/client';
import type { Failure } from '../api/wire';
import type { Clock } from '../base/clock';
import { PageStore } from './pagestore';
import { Resource } from './resource';

class TestClock implements Clock {
  waiting: { ms: number; f: () => void }[] = [];
  after(ms: number, f: () => void): () => void {
    const entry = { ms, f };
    this.waiting.push(entry);
    return () => (this.waiting = this.waiting.filter((e) => e !== entry));
  }
  /** Lets what waits happen; how long it waited. */
  pass(): number[] {
    const due = this.waiting;
    this.waiting = [];
    for (const { f } of due) f();
    return due.map((e) => e.ms);
  }
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 4; i++) await new Promise((done) => setTimeout(done));
};

let clock: TestClock;
let asked: string[]; // paths
let status: number; // of the answers; 0: the server is gone
let signals: AbortSignal[];
let api: Api;

beforeEach(() => {
  clock = new TestClock();
  [asked, signals, status] = [[], [], 200];
  api = new Api(
    't',
    '/',
    (url, init) => {
      asked.push(url);
      if (init.signal) signals.push(init.signal);
      if (status === 0) return Promise.reject(new TypeError('failed to fetch'));
      const body = status === 200 ? { url } : { error: 'the mesh is torn', hint: 'mend it' };
      return Promise.resolve(new Response(JSON.stringify(body), { status }));
    },
    clock,
  );
});

describe('Resource', () => {
  let shown: string[];
  let failures: string[];
  let cells: Resource<{ step: number }, { url: string }>;

  beforeEach(() => {
    [shown, failures] = [[], []];
    cells = new Resource({
      connection: api.connection,
      clock,
      keep: 2,
      load: ({ step }, signal) => api.json('GET', `cells/${step}`, undefined, signal),
      show: (a) => shown.push(a.url),
      fail: (f) => failures.push(f.error),
    });
  });

  it('asks once, and remembers', async () => {
    cells.want({ step: 1 });
    cells.want({ step: 1 });
    await settle();
    cells.want({ step: 2 });
    await settle();
    cells.want({ step: 1 });
    await settle();
    expect(asked).toEqual(['/cells/1', '/cells/2']);
    expect(shown).toEqual(['/cells/1', '/cells/2', '/cells/1']);
  });

  it('takes back the question before', async () => {
    cells.want({ step: 1 });
    cells.want({ step: 2 });
    await settle();
    expect(signals[0]!.aborted).toBe(true);
    expect(shown).toEqual(['/cells/2']);
  });

  it('says why there is no answer, and asks again when told to, not by itself', async () => {
    status = 500;
    cells.want({ step: 1 });
    for (let i = 0; i < 50; i++) cells.want({ step: 1 }); // as an effect does that draws the failure
    await settle();
    clock.pass();
    await settle();
    expect(asked.length).toBe(1);
    expect(failures).toEqual(['the mesh is torn']);
    status = 200;
    cells.retry();
    await settle();
    expect(shown).toEqual(['/cells/1']);
  });

  it('does not give up on a database that is down, and says so', async () => {
    status = 503;
    cells.want({ step: 1 });
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      await settle();
      waits.push(...clock.pass());
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    status = 200;
    await settle();
    clock.pass();
    await settle();
    expect(shown).toEqual(['/cells/1']);
  });

  it('waits longer and longer for a server that is busy, and gives up', async () => {
    status = 429;
    cells.want({ step: 1 });
    const waits: number[] = [];
    for (let i = 0; i < 10; i++) {
      await settle();
      waits.push(...clock.pass());
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000]);
    expect(asked.length).toBe(6);
  });

  it('leaves no trace when the page is left', async () => {
    status = 503;
    cells.want({ step: 1 });
    await settle();
    cells.close();
    expect(clock.waiting).toEqual([]);
    cells.want({ step: 2 });
    cells.close();
    await settle();
    expect(signals.at(-1)!.aborted).toBe(true);
    expect(shown).toEqual([]);
  });

  it('asks again when the server is back, and meanwhile tries less and less often', async () => {
    const said: boolean[] = [];
    api.connection.subscribe((gone) => said.push(gone));
    status = 0;
    cells.want({ step: 1 });
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      await settle();
      waits.push(...clock.pass());
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    expect(asked.slice(1).every((url) => url === '/runs')).toBe(true);
    expect([said, failures]).toEqual([[true], []]); // one banner says it for all
    status = 200;
    await settle();
    clock.pass();
    await settle();
    expect(said).toEqual([true, false]);
    expect(shown).toEqual(['/cells/1']);
  });
});

describe('PageStore', () => {
  interface Shown {
    readonly mesh: string;
    readonly cells: string;
    readonly problem: Failure | undefined;
  }

  class TestStore extends PageStore<Shown> {
    private readonly meshes = this.resource<number, { url: string }>({
      load: (n, signal) => this.json(`mesh/${n}`, n, signal),
      show: ({ url }) => ({ mesh: url }),
    });
    private readonly cells = this.resource<number, { url: string }>({
      load: (n, signal) => this.json(`cells/${n}`, n, signal),
      show: ({ url }) => ({ cells: url }),
    });
    want(n: number): void {
      this.meshes.want(n);
      this.cells.want(n);
    }
    once(): Promise<unknown> {
      return this.attempt((signal) => this.json('once', {}, signal));
    }
  }
  const fresh = (): TestStore => new TestStore(api, 'r', { mesh: '', cells: '', problem: undefined });

  it('does not ask again for showing what failed', async () => {
    const store = fresh();
    status = 500;
    store.subscribe(() => store.want(1)); // an effect of the page
    await settle();
    expect(asked).toEqual(['/runs/r/mesh/1', '/runs/r/cells/1']);
    expect(store.snapshot.problem).toEqual({ error: 'the mesh is torn', hint: 'mend it' });
    status = 200;
    store.retry();
    await settle();
    expect(store.snapshot).toEqual({
      mesh: '/runs/r/mesh/1',
      cells: '/runs/r/cells/1',
      problem: undefined,
    });
  });

  it('says the failure of what the user did', async () => {
    const store = fresh();
    status = 422;
    expect(await store.once()).toBeUndefined();
    expect(store.snapshot.problem?.error).toBe('the mesh is torn');
  });

  it('is silent once it is closed', async () => {
    const store = fresh();
    let heard = 0;
    store.subscribe(() => heard++);
    store.want(1);
    store.close();
    await settle();
    expect(heard).toBe(1);
    expect(signals.every((s) => s.aborted)).toBe(true);
  });
});

it('an answer of 500 without our words is a sentence too', async () => {
  const plain = new Api('t', '/', () =>
    Promise.resolve(new Response('goroutine 7', { status: 500, statusText: 'Internal Server Error' })),
  );
  const error = (await plain.home().catch((e: unknown) => e)) as ApiError;
  expect(error.failure.error).toMatch(/^the server answered 500/);
});
