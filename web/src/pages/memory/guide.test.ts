import { beforeEach, describe, expect, it } from 'vitest';
import { Api } from '../../api/client';
import { Guide, slotOf } from './guide';
import type { Clock } from '../../base/clock';

class TestClock implements Clock {
  waiting: (() => void)[] = [];
  after(_: number, f: () => void): () => void {
    this.waiting.push(f);
    return () => (this.waiting = this.waiting.filter((w) => w !== f));
  }
  pass(): void {
    const due = this.waiting;
    this.waiting = [];
    for (const f of due) f();
  }
}

interface Call {
  readonly url: string;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
  readonly events: ReadableStreamDefaultController<Uint8Array> | undefined;
  reply(value: unknown, status?: number): Promise<void>;
}

describe('Guide', () => {
  let calls: Call[];
  let clock: TestClock;
  let guide: Guide;
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
    await new Promise((done) => setTimeout(done));
  };

  beforeEach(async () => {
    calls = [];
    clock = new TestClock();
    const api = new Api(
      't',
      '/',
      (url, init) =>
        new Promise((resolve, reject) => {
          let events: ReadableStreamDefaultController<Uint8Array> | undefined;
          const streamed = new Headers(init.headers).get('Accept') === 'text/event-stream';
          init.signal?.addEventListener('abort', () => reject(new DOMException('taken back', 'AbortError')));
          if (streamed)
            resolve(
              new Response(
                new ReadableStream({
                  start: (c) => {
                    events = c;
                  },
                }),
              ),
            );
          calls.push({
            url,
            body: init.body ? JSON.parse(init.body as string) : undefined,
            signal: init.signal ?? undefined,
            events,
            reply: async (value, status = 200) => {
              resolve(new Response(JSON.stringify(value), { status }));
              await settle();
            },
          });
        }),
    );
    guide = new Guide(api, clock);
    guide.open('r');
    await calls[0]!.reply({ metrics: [], depths: ['CPU'], axes: ['time'], minSamples: 50 });
  });

  const ask = (metric: string) => ({ axis: 'time', metric, windows: 4 });
  const strip = () => slotOf(guide.snapshot, 'a', 'metrics');
  const send = (call: Call, text: string): void => call.events!.enqueue(new TextEncoder().encode(text));

  it('reads what a run supports, and forgets it with the run', () => {
    expect(calls[0]!.url).toBe('/runs/r/guide');
    expect(guide.snapshot.info?.depths).toEqual(['CPU']);
    guide.open('s');
    expect(guide.snapshot.info).toBeUndefined();
    expect(calls[1]!.url).toBe('/runs/s/guide');
  });

  it('asks once a question rests, and keeps the last answer until the next', async () => {
    guide.want('a', 'metrics', ask('mean'));
    guide.want('a', 'metrics', ask('dram'));
    expect(calls).toHaveLength(1);
    clock.pass();
    expect(calls).toHaveLength(2);
    expect(calls[1]!.body).toEqual(ask('dram'));
    await calls[1]!.reply({ metric: 'dram' });
    expect(strip()).toMatchObject({ value: { metric: 'dram' }, busy: false });
    guide.want('a', 'metrics', ask('tlb'));
    expect(strip()).toMatchObject({ value: { metric: 'dram' }, busy: true });
    expect(strip()!.answers).not.toBe(strip()!.asked);
  });

  it('remembers answers, and takes back a question that nobody waits for', async () => {
    guide.want('a', 'metrics', ask('mean'));
    clock.pass();
    await calls[1]!.reply({ metric: 'mean' });
    guide.want('a', 'metrics', ask('dram'));
    clock.pass();
    guide.want('a', 'metrics', ask('mean'));
    expect(calls[2]!.signal!.aborted).toBe(true);
    expect(strip()).toMatchObject({ value: { metric: 'mean' }, busy: false });
    expect(calls).toHaveLength(3);
    guide.want('a', 'metrics', undefined);
    expect(strip()).toBeUndefined();
  });

  it('tells progress, can be cancelled, and asked again', async () => {
    guide.want('t', 'clusters', { axis: 'time', metric: 'mean' });
    clock.pass();
    const tree = () => slotOf(guide.snapshot, 't', 'clusters');
    await settle();
    send(calls[1]!, 'event: progress\ndata: {"stage":"merging","done":3,"total":9}\n\n');
    await settle();
    expect(tree()).toMatchObject({ busy: true, progress: { stage: 'merging', done: 3, total: 9 } });
    guide.cancel('t');
    expect(calls[1]!.signal!.aborted).toBe(true);
    expect(tree()).toMatchObject({ busy: false, cancelled: true, value: undefined });
    send(calls[1]!, 'event: done\ndata: {"axis":"late"}\n\n');
    await settle();
    expect(tree()!.value).toBeUndefined();
    guide.again('t');
    await settle();
    send(calls[2]!, 'event: done\ndata: {"axis":"time"}\n\n');
    await settle();
    expect(tree()).toMatchObject({ busy: false, cancelled: false, value: { axis: 'time' } });
  });

  it('gives the sentence of the server, of a stream too', async () => {
    guide.want('a', 'metrics', ask('x'));
    guide.want('i', 'insights', { where: 'z' });
    clock.pass();
    await calls[1]!.reply({ error: 'no such metric' }, 400);
    expect(strip()).toMatchObject({ busy: false, problem: { error: 'no such metric' } });
    await settle();
    send(calls[2]!, 'event: failed\ndata: {"error":"no column z"}\n\n');
    await settle();
    expect(slotOf(guide.snapshot, 'i', 'insights')).toMatchObject({
      busy: false,
      problem: { error: 'no column z' },
    });
  });
});
