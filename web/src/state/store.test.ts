import { beforeEach, describe, expect, it } from 'vitest';
import { ApiError, Gone, type Api, type Selections } from '../api/client';
import type { Answer } from '../api/decode';
import { text, type Term } from './selection';
import { Connection } from '../api/connection';
import type { Clock } from '../base/clock';
import type { Place } from './place';
import { Store } from './store';
import type { Ask, Home, Info, Job, NamedSelection } from '../api/wire';

// A browser history of our own.
class TestPlace implements Place {
  entries = ['#'];
  at = 0;
  private changed = (): void => {};
  fragment(): string {
    return this.entries[this.at]!;
  }
  push(fragment: string): void {
    this.entries = [...this.entries.slice(0, this.at + 1), fragment];
    this.at++;
  }
  replace(fragment: string): void {
    this.entries[this.at] = fragment;
  }
  onPop(changed: () => void): void {
    this.changed = changed;
  }
  go(by: number): void {
    this.at += by;
    this.changed();
  }
}

class TestClock implements Clock {
  waiting: { ms: number; f: () => void }[] = [];
  after(ms: number, f: () => void): () => void {
    const entry = { ms, f };
    this.waiting.push(entry);
    return () => (this.waiting = this.waiting.filter((e) => e !== entry));
  }
  pass(): void {
    const due = this.waiting;
    this.waiting = [];
    for (const { f } of due) f();
  }
}

interface Question {
  readonly ask: Ask;
  readonly signal: AbortSignal;
  answer(all: number, selected?: number): Promise<void>;
  fail(error: Error): Promise<void>;
}

// A server whose answers the test gives, in any order.
class TestApi {
  readonly connection = new Connection(() => this.home(), { after: (ms, f) => clock.after(ms, f) });
  questions: Question[] = [];
  prepared: unknown[] = [];
  preparing: AbortSignal | undefined;
  kept: readonly NamedSelection[] = [];
  homes: Home = {
    version: 't',
    runs: [{ id: 'r1', name: 'one', kind: 'samples', rows: 10, trace: false, parts: ['memory'] }],
    jobs: [],
    recent: [],
    examples: [],
    record: '',
    formats: [],
    uploadLimit: 1,
    shared: false,
    address: '',
    compare: '',
  };
  down = false;
  jobEnd: Partial<Job> = { state: 'done', run: 'r2' };

  home(): Promise<Home> {
    return this.down ? Promise.reject(new Gone()) : Promise.resolve(this.homes);
  }
  info(id: string): Promise<Info> {
    return Promise.resolve({
      ...this.homes.runs[0]!,
      id,
      columns: ['time', 'latency', 'cpu', 'level', 'line', 'file', 'symbol'].map((name) => ({ name })),
      selections: this.kept,
      selectionsVersion: this.keptVersion(),
    } as unknown as Info);
  }
  ask(_run: string, ask: Ask, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      this.questions.push({
        ask,
        signal,
        answer: (all, selected = all) => {
          resolve({
            counts: [all, selected, 0],
            axes: (ask.axes ?? []).map((a) => ({ column: a.column })),
            pairs: (ask.pairs ?? []).map(() => ({ of: all })),
            groups: [],
            stats: (ask.stats ?? []).map(() => ({ of: all })),
          } as unknown as Answer);
          return settle();
        },
        fail: (error) => {
          reject(error);
          return settle();
        },
      });
    });
  }
  prepare(_run: string, p: unknown, signal: AbortSignal): Promise<void> {
    this.prepared.push(p);
    this.preparing = signal;
    return Promise.reject(new Gone());
  }
  selections(): Promise<Selections> {
    return Promise.resolve({ list: this.kept, version: this.keptVersion() });
  }
  saveSelections(_run: string, { list, version }: Selections): Promise<Selections> {
    if (version !== this.keptVersion())
      return Promise.reject(new ApiError(409, { error: 'changed meanwhile' }));
    this.kept = list;
    return this.selections();
  }
  private keptVersion(): string {
    return this.kept.map((s) => s.name).join();
  }
  open(path: string): Promise<Job> {
    return Promise.resolve({ id: '1', name: path, state: 'running' } as Job);
  }
  follow(id: string, progress: (j: Job) => void): Promise<Job> {
    progress({ id, state: 'running', progress: { rows: 5 } } as Job);
    return Promise.resolve({ id, ...this.jobEnd } as Job);
  }
  get last(): Question {
    return this.questions.at(-1)!;
  }
}

const settle = (): Promise<void> => new Promise((r) => setTimeout(r));
const slow: Term = { kind: 'compare', column: 'latency', op: '>', value: 200 };
const cpu = (n: number): Term => ({ kind: 'values', column: 'cpu', values: [n] });
const range = (lo: number, hi: number): Term => ({ kind: 'range', column: 'latency', lo, hi });

let api: TestApi;
let place: TestPlace;
let clock: TestClock;
let store: Store;

async function open(fragment = '#'): Promise<void> {
  api = new TestApi();
  place = new TestPlace();
  place.entries = [fragment];
  clock = new TestClock();
  store = new Store(api as unknown as Api, place, clock);
  await store.start();
  await settle();
}

const selected = (): string => text(store.snapshot.state.select);

beforeEach(() => open());

describe('a long link', () => {
  it('is kept by the server, and stands for the state again', async () => {
    const links = new Map<string, string>();
    const api = Object.assign(new TestApi(), {
      keepLink: (fragment: string) => Promise.resolve({ id: links.set('abc', fragment) && 'abc', fragment }),
      link: (id: string) => {
        const fragment = links.get(id);
        return fragment
          ? Promise.resolve({ id, fragment })
          : Promise.reject(new ApiError(404, { error: `there is no link "${id}"`, hint: 'ask again' }));
      },
    });
    const place = new TestPlace();
    const store = new Store(api as unknown as Api, place, new TestClock());
    await store.start();
    expect(await store.address('http://x/')).toMatch(/^http:\/\/x\/#v=1&run=r1$/);
    store.selectText(
      Array.from({ length: 300 }, (_, i) => `latency in ${i * 10}..${i * 10 + 1}`).join(' | '),
    );
    const long = place.fragment();
    expect(await store.address('http://x/')).toBe('http://x/#v=1&l=abc');

    const other = new TestPlace();
    other.replace('#v=1&l=abc');
    const again = new Store(api as unknown as Api, other, new TestClock());
    await again.start();
    expect(other.fragment()).toBe(long);
    expect(text(again.snapshot.state.select)).toBe(text(store.snapshot.state.select));

    const lost = new TestPlace();
    lost.replace('#v=1&l=gone');
    const missing = new Store(api as unknown as Api, lost, new TestClock());
    await missing.start();
    expect(missing.snapshot.notes.join()).toContain('there is no link "gone"');
  });
});

describe('asking', () => {
  it('puts the questions of all views into one request, equal ones once', async () => {
    store.want('parallel', { axes: [{ column: 'time' }, { column: 'latency' }], pairs: [[0, 1]] });
    store.want('axis', { axes: [{ column: 'latency' }] });
    await settle();
    const { ask } = api.last;
    expect(ask.axes).toEqual([{ column: 'time' }, { column: 'latency' }]);
    expect(ask.pairs).toEqual([[0, 1]]);
    expect(api.questions).toHaveLength(2); // one at the start, one for both
  });

  it('asks both runs of a pair, and nothing twice on the way back', async () => {
    const whole = api.info.bind(api);
    api.info = async (id) =>
      ({ ...(await whole(id)), pair: { a: {}, b: {}, unlike: [] } }) as unknown as Info;
    store.compare('r1', 'r2');
    store.want('changes', { axes: [{ column: 'latency' }] });
    await settle();
    const asked = (): readonly string[] => api.questions.slice(from).map((q) => q.ask.filter ?? '');
    const from = api.questions.length - 2;
    expect(asked()).toEqual(['side = A', 'side = B']);
    await api.questions.at(-2)!.answer(10);
    await api.last.answer(20);
    expect(store.snapshot.answer?.counts[0]).toBe(20);
    store.want('changes', undefined); // a list that only the difference has
    store.want('offenders', { axes: [{ column: 'cpu' }] });
    await settle();
    expect(asked()).toHaveLength(4);
    await api.questions.at(-2)!.answer(11);
    await api.last.answer(21);
    store.want('offenders', undefined);
    store.want('changes', { axes: [{ column: 'latency' }] });
    await settle();
    expect(asked()).toHaveLength(4);
    expect(store.snapshot.answer?.counts[0]).toBe(20);
  });

  it('asks for the lines of a hover over A or B, not over their difference', async () => {
    const whole = api.info.bind(api);
    api.info = async (id) =>
      ({ ...(await whole(id)), pair: { a: {}, b: {}, unlike: [] } }) as unknown as Info;
    store.compare('r1', 'r2');
    store.want('parallel', { axes: [{ column: 'time' }, { column: 'latency' }], pairs: [[0, 1]] });
    await settle();
    const answered = async (a: number, b: number): Promise<unknown> => {
      await settle();
      const asked = api.questions.slice(-2).map((q) => q.ask.pairs?.length);
      await api.questions.at(-2)!.answer(a);
      await api.last.answer(b);
      return asked;
    };
    const lines = (): unknown =>
      [store.snapshot.answers, store.snapshot.other!.parts].map((p) => p.get('parallel')!.pairs);
    expect(await answered(10, 20)).toEqual([1, 1]);
    const before = lines();
    store.hover(cpu(1));
    expect(await answered(11, 21)).toEqual([0, 0]);
    expect(store.snapshot.answer?.counts[0]).toBe(21);
    expect(lines()).toEqual(before);
    store.change({ cmp: 'a' }); // whose lines are drawn
    expect(await answered(12, 22)).toEqual([1, 1]);
    expect(store.snapshot.answers.get('parallel')!.pairs).toMatchObject([{ of: 12 }]);
    store.change({ cmp: 'diff' });
    store.select(slow); // other rows: their lines are not known
    expect(await answered(13, 23)).toEqual([1, 1]);
  });

  it('gives each view its own answers', async () => {
    store.want('a', { axes: [{ column: 'time' }] });
    store.want('b', { axes: [{ column: 'cpu' }, { column: 'time' }] });
    await settle();
    await api.last.answer(10);
    const { answers } = store.snapshot;
    expect(answers.get('a')!.axes.map((x) => x.column)).toEqual(['time']);
    expect(answers.get('b')!.axes.map((x) => x.column)).toEqual(['cpu', 'time']);
  });

  it('gives a view its answers also where another has asked the same', async () => {
    store.want('a', { axes: [{ column: 'time' }, { column: 'cpu' }] });
    store.want('b', { axes: [{ column: 'cpu' }] });
    await settle();
    await api.last.answer(10);
    store.want('b', { axes: [{ column: 'time' }] });
    await settle();
    await api.last.answer(10);
    expect(store.snapshot.answers.get('b')!.axes.map((x) => x.column)).toEqual(['time']);
  });

  it('does not ask a run about a column that only another run has', async () => {
    store.want('a', { axes: [{ column: 'time' }] });
    store.want('b', { axes: [{ column: 'name of another run' }] });
    await settle();
    expect(api.last.ask.axes).toEqual([{ column: 'time' }]);
  });

  it('shows the second of two quick selections, whatever order answers come in', async () => {
    store.select(slow);
    await settle();
    const first = api.last;
    store.select(cpu(1));
    await settle();
    expect(first.signal.aborted).toBe(true);
    await api.last.answer(10, 4);
    await first.answer(10, 9);
    expect(store.snapshot.answer!.counts[1]).toBe(4);
    expect(store.snapshot.busy).toBe(false);
  });

  it('keeps the old picture and gives the sentence when a question fails', async () => {
    await api.last.answer(10);
    store.select(slow);
    await settle();
    expect(store.snapshot.busy).toBe(true);
    await api.last.fail(new ApiError(400, { error: 'no such column', hint: 'try another' }));
    expect(store.snapshot.problem).toEqual({ error: 'no such column', hint: 'try another' });
    expect(store.snapshot.answer!.counts[0]).toBe(10);
    expect(store.snapshot.busy).toBe(false);
  });

  it('says of an answer that takes long that what is shown is about other rows', async () => {
    await api.last.answer(10);
    store.select(slow);
    await settle();
    expect(store.snapshot.behind).toBe(false);
    clock.pass();
    expect(store.snapshot.behind).toBe(true);
    await api.last.answer(10, 4);
    expect(store.snapshot.behind).toBe(false);
    // A hover asks about the same rows: what is shown of them is right.
    store.hover(cpu(1));
    await settle();
    expect(store.snapshot.busy).toBe(true);
    clock.pass();
    expect(store.snapshot.behind).toBe(false);
    // Another selection, before that is answered.
    store.select(cpu(1));
    await settle();
    clock.pass();
    expect(store.snapshot.behind).toBe(true);
    await api.last.fail(new ApiError(400, { error: 'no such column', hint: '' }));
    expect(store.snapshot.behind).toBe(false);
  });

  it('comes back by itself when the server was gone', async () => {
    store.select(slow);
    await settle();
    await api.last.fail(new Gone());
    expect(store.snapshot.gone).toBe(true);
    const before = api.questions.length;
    clock.pass();
    await settle();
    expect(api.questions.length).toBe(before + 1);
    await api.last.answer(10, 3);
    expect(store.snapshot.gone).toBe(false);
    expect(store.snapshot.answer!.counts[1]).toBe(3);
  });
});

describe('hover', () => {
  it('answers a resting pointer at once, a passing one when it rests, and leaves no trace', async () => {
    await api.last.answer(10);
    const before = api.questions.length;
    store.hover(cpu(1));
    await settle();
    expect(api.questions.length).toBe(before + 1);
    store.hover(cpu(2));
    store.hover(cpu(3));
    await settle();
    expect(api.questions.length).toBe(before + 1);
    expect(store.snapshot.hover).toEqual(cpu(3));
    clock.pass();
    await settle();
    expect(api.questions.length).toBe(before + 2);
    expect(api.last.ask.hover).toBe('cpu = 3');
    expect(place.entries).toEqual(['#v=1&run=r1']);
    expect(store.snapshot.undo).toBe(false);
  });
});

describe('history', () => {
  it('undoes and redoes', () => {
    store.select(slow);
    store.select(cpu(1));
    store.invert();
    expect(selected()).toBe('!(latency > 200 & cpu = 1)');
    store.undo('samples');
    expect(selected()).toBe('latency > 200 & cpu = 1');
    store.undo('samples');
    store.undo('samples');
    expect(selected()).toBe('');
    expect(store.snapshot.undo).toBe(false);
    store.undo('samples');
    store.redo('samples');
    store.redo('samples');
    expect(selected()).toBe('latency > 200 & cpu = 1');
    store.select(cpu(2));
    expect(store.snapshot.redo).toBe(false);
  });

  it('Back undoes one step, and Ctrl+Z after it the step before', () => {
    store.select(slow);
    store.select(cpu(1));
    place.go(-1);
    expect(selected()).toBe('latency > 200');
    expect(store.snapshot.redo).toBe(true);
    store.undo('samples');
    expect(selected()).toBe('');
  });

  it('Back and Forward restore axes and colours without touching undo', () => {
    store.select(slow);
    store.change({ color: 'samples' });
    expect(place.entries).toHaveLength(3);
    place.go(-1);
    expect(store.snapshot.state.color).toBe('latency');
    expect(selected()).toBe('latency > 200');
    place.go(1);
    expect(store.snapshot.state.color).toBe('samples');
    store.undo('samples');
    expect(selected()).toBe('');
    expect(store.snapshot.state.color).toBe('samples');
  });

  it('a drag is one step', async () => {
    await api.last.answer(10);
    store.select(cpu(1));
    await settle();
    await api.last.answer(10, 5);
    const entries = place.entries.length;
    for (const hi of [210, 220, 230, 240]) store.brush('latency', [range(200, hi)], true);
    expect(place.entries).toHaveLength(entries);
    store.brush('latency', [range(200, 240)]);
    expect(place.entries).toHaveLength(entries + 1);
    expect(selected()).toBe('cpu = 1 & latency in 200..240');
    store.undo('samples');
    expect(selected()).toBe('cpu = 1');
    place.go(-1);
    place.go(-1);
    expect(selected()).toBe('cpu = 1');
  });

  it('a drag that ends where it began is no step', () => {
    store.brush('latency', [range(1, 2)]);
    const { entries } = place;
    const before = [...entries];
    store.brush('latency', [range(1, 3)], true);
    store.brush('latency', [range(1, 2)], true);
    store.brush('latency', [range(1, 2)]);
    expect(place.entries).toEqual(before);
    store.undo('samples');
    expect(selected()).toBe('');
  });
});

describe('dragging', () => {
  it('does not take back the question under way: the picture follows', async () => {
    await api.last.answer(10);
    store.brush('latency', [range(1, 2)], true);
    await settle();
    const first = api.last;
    store.brush('latency', [range(1, 3)], true);
    store.brush('latency', [range(1, 4)], true);
    await settle();
    expect(api.last).toBe(first);
    expect(first.signal.aborted).toBe(false);
    await first.answer(10, 2);
    expect(store.snapshot.answer!.counts[1]).toBe(2);
    expect(api.last.ask.where).toBe('latency in 1..4');
  });

  it('leaves out what is dear while the pointer moves, and asks for it at the end', async () => {
    store.want('statistics', { stats: [{ column: 'latency', quantiles: [0.5] }], axes: [{ column: 'cpu' }] });
    await settle();
    await api.last.answer(10);
    expect(store.snapshot.answers.get('statistics')!.stats).toHaveLength(1);
    store.brush('latency', [range(1, 3)], true);
    await settle();
    expect(api.last.ask.stats).toBeUndefined();
    expect(api.last.ask.axes).toHaveLength(1);
    await api.last.answer(10, 2);
    expect(store.snapshot.answers.get('statistics')).toMatchObject({ stale: true, stats: [{ of: 10 }] });
    store.brush('latency', [range(1, 3)]);
    await settle();
    expect(api.last.ask.stats).toHaveLength(1);
    await api.last.answer(10, 2);
    expect(store.snapshot.answers.get('statistics')).toMatchObject({ stale: false });
  });

  it('asks before anyone redraws', async () => {
    for (const act of [
      () => store.select(slow),
      () => store.undo('samples'),
      () => store.select(slow),
      () => store.hover(cpu(1)),
    ]) {
      const before = api.questions.length;
      const seen: number[] = [];
      // Views are redrawn in a turn of their own, as Svelte does it.
      const stop = store.subscribe(() => queueMicrotask(() => seen.push(api.questions.length - before)));
      await settle();
      seen.length = 0;
      act();
      await settle();
      clock.pass();
      await settle();
      stop();
      expect(seen).not.toHaveLength(0);
      expect(seen).not.toContain(0);
      await api.last.answer(10, 2);
      clock.pass();
    }
  });
  it('shows a selection with its answer, or without it when that takes its time', async () => {
    const seen: [selected: number, of: number | undefined][] = [];
    const stop = store.subscribe((s) => seen.push([s.state.select.length, s.answer?.counts[1]]));
    seen.length = 0;
    store.select(slow);
    await settle();
    expect(store.snapshot.state.select).toHaveLength(1); // known to what comes next
    expect(seen).toEqual([]);
    await api.last.answer(10, 2);
    expect(seen[0]).toEqual([1, 2]);
    seen.length = 0;
    store.undo('samples');
    await settle();
    expect(seen).toEqual([]);
    clock.pass();
    expect(seen[0]).toEqual([0, 2]);
    stop();
  });
  it('opens a view at once, whatever was selected with it', () => {
    const seen: string[] = [];
    const stop = store.subscribe((s) => seen.push(s.state.bottom));
    seen.length = 0;
    store.select(slow);
    store.change({ bottom: 'axis' });
    expect(seen).toEqual(['axis']);
    stop();
  });
  it('shows a brush that follows the pointer at once', () => {
    const seen: number[] = [];
    const stop = store.subscribe((s) => seen.push(s.state.select.length));
    seen.length = 0;
    store.brush('latency', [range(1, 2)], true);
    expect(seen).toEqual([1]);
    stop();
  });
  it('stops preparing when the drag ends', async () => {
    store.prepare({ column: 'latency' });
    store.brush('latency', [range(1, 2)], true);
    await settle();
    expect(api.preparing?.aborted).toBe(false);
    store.brush('latency', [range(1, 3)]);
    await settle();
    expect(api.preparing?.aborted).toBe(true);
  });
  it('tells the server the axis, and does not mind if that fails', async () => {
    store.select(cpu(1));
    store.brush('latency', [range(1, 2)]);
    store.want('parallel', { axes: [{ column: 'cpu' }, { column: 'latency' }], pairs: [[0, 1]] });
    store.prepare({ column: 'latency' });
    await settle();
    expect(api.prepared).toEqual([
      {
        axis: { column: 'latency' },
        ask: expect.objectContaining({
          where: 'cpu = 1',
          filter: '',
          axes: [{ column: 'cpu' }, { column: 'latency' }],
          pairs: [[0, 1]],
        }),
      },
    ]);
    expect(store.snapshot.problem).toBeUndefined();
  });
});

describe('filter', () => {
  it('shows only the selected, or all but them', () => {
    store.select(slow);
    store.showSelected();
    expect(text(store.snapshot.state.filter)).toBe('latency > 200');
    expect(selected()).toBe('');
    store.select(cpu(1));
    store.hideSelected();
    expect(text(store.snapshot.state.filter)).toBe('latency > 200 & !cpu = 1');
    store.removeFilter(0);
    expect(text(store.snapshot.state.filter)).toBe('!cpu = 1');
    store.undo('samples');
    store.undo('samples');
    expect(selected()).toBe('cpu = 1');
  });
});

describe('links', () => {
  it('opens the run and the selection of a link', async () => {
    await open('#v=1&run=r1&s=cpu+=+3&color=mean');
    expect(selected()).toBe('cpu = 3');
    expect(api.last.ask.where).toBe('cpu = 3');
    expect(store.snapshot.state.color).toBe('mean');
    expect(store.snapshot.notes).toEqual([]);
  });

  it('says when the link is about other data', async () => {
    await open('#v=1&run=other&s=cpu+=+3');
    expect(store.snapshot.state.run).toBe('r1');
    expect(store.snapshot.notes).toEqual([expect.stringContaining('other data')]);
  });
});

describe('runs', () => {
  it('shows an import until it ends, then the new run', async () => {
    const states: (string | undefined)[] = [];
    store.subscribe((s) => states.push(s.job?.state));
    await store.open('/x.csv');
    await settle();
    expect(states).toContain('running');
    expect(store.snapshot.job).toBeUndefined();
    expect(store.snapshot.state.run).toBe('r2');
    expect(store.snapshot.info!.id).toBe('r2');
  });

  it('begins a run of references on its loops, unless the link names a page', async () => {
    const refs = { id: 'r3', name: 'refs', kind: 'refs', rows: 9, trace: false, parts: ['references'] };
    api.homes = { ...api.homes, runs: [refs] };
    for (const [hash, page] of [
      ['#v=1', 'cycles'],
      ['#v=1&page=locality', 'locality'],
      ['#v=1&run=r3', 'memory'],
    ] as const) {
      const link = new TestPlace();
      link.replace(hash);
      store = new Store(api as unknown as Api, link, clock);
      await store.start();
      await settle();
      expect(store.snapshot.state.page).toBe(page);
    }
  });

  it('follows an import that began before the page', async () => {
    api.homes = { ...api.homes, runs: [], jobs: [{ id: '7', name: 'big.csv', state: 'running' } as Job] };
    store = new Store(api as unknown as Api, place, clock);
    await store.start();
    await settle();
    expect(store.snapshot.state.run).toBe('r2');
  });

  it('keeps a failed import with its sentence', async () => {
    api.jobEnd = { state: 'failed', failure: { error: 'unknown format', hint: 'see help' } };
    await store.open('/x.bin');
    expect(store.snapshot.job!.failure!.error).toBe('unknown format');
    expect(store.snapshot.state.run).toBe('r1');
    store.dismissJob();
    expect(store.snapshot.job).toBeUndefined();
  });

  it('keeps named selections in the run and recalls them', async () => {
    store.select(cpu(1));
    store.hideSelected();
    store.select(slow);
    await store.saveSelection('slow ones');
    store.selectAll();
    store.removeFilter(0);
    store.recall(store.snapshot.info!.selections[0]!);
    expect(selected()).toBe('!cpu = 1 & latency > 200');
    await store.removeSelection('slow ones');
    expect(api.kept).toEqual([]);
  });
});

it('a name that another page saved meanwhile is not lost', async () => {
  await store.saveSelection('mine');
  api.kept = [...api.kept, { name: 'theirs', where: 'cpu = 2' }];
  await store.saveSelection('also mine');
  expect(api.kept.map((s) => s.name)).toEqual(['mine', 'theirs', 'also mine']);
  expect(store.snapshot.info!.selections).toEqual(api.kept);
  await store.removeSelection('theirs');
  expect(api.kept.map((s) => s.name)).toEqual(['mine', 'also mine']);
});

describe('giving up and leaving', () => {
  it('puts back what was selected before a drag that is cancelled', async () => {
    await api.last.answer(10);
    store.select(cpu(1));
    await settle();
    const [entries, fragment] = [place.entries.length, place.fragment()];
    store.brush('latency', [range(1, 5)], true);
    store.brush('latency', [range(1, 9)], true);
    store.cancelMove();
    await settle();
    expect(selected()).toBe('cpu = 1');
    expect([place.entries.length, place.fragment()]).toEqual([entries, fragment]);
    expect(api.last.ask.where).toBe('cpu = 1');
    store.cancelMove(); // there is none
    store.undo('samples');
    expect(selected()).toBe('');
  });

  it('undoes nothing of another run', async () => {
    store.select(slow);
    await settle();
    store.show('r2');
    await settle();
    store.undo('samples');
    expect(selected()).toBe('');
    expect(store.snapshot.state.run).toBe('r2');
    expect(store.snapshot.undo).toBe(false);
  });
});
