import { describe, expect, it } from 'vitest';
import { Api, ApiError, events, Gone } from './client';

function stream(...parts: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(c) {
      for (const p of parts) c.enqueue(new TextEncoder().encode(p));
      c.close();
    },
  });
}

describe('Api', () => {
  it('sends the token as a header and escapes names', async () => {
    const sent: { url: string; init: RequestInit }[] = [];
    const api = new Api('secret', '/api/v1/', (url, init) => {
      sent.push({ url, init });
      return Promise.resolve(new Response('{}'));
    });
    await api.source('a/b', '../x y.c');
    expect(sent[0]!.url).toBe('/api/v1/runs/a%2Fb/source?file=..%2Fx%20y.c');
    expect(new Headers(sent[0]!.init.headers).get('X-Isobath-Token')).toBe('secret');
  });

  it('gives the sentence of the server', async () => {
    const body = { error: 'column "latancy" does not exist', field: 'where', position: 4, length: 7 };
    const api = new Api('t', '/', () => Promise.resolve(new Response(JSON.stringify(body), { status: 400 })));
    const error = await api.home().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).failure).toEqual(body);
  });

  it('tells a stopped server from a request taken back', async () => {
    const refuse = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'));
    await expect(new Api('t', '/', refuse).home()).rejects.toBeInstanceOf(Gone);
    const taken = new AbortController();
    taken.abort();
    await expect(new Api('t', '/', refuse).home(taken.signal)).rejects.not.toBeInstanceOf(Gone);
  });

  it('follows a job to its end', async () => {
    const body = stream(
      'event: progress\ndata: {"state":"running","progress":{"rows":1}}\n\nevent: do',
      'ne\ndata: {"state":"done","run":"r"}\n\n',
    );
    const api = new Api('t', '/', () => Promise.resolve(new Response(body)));
    const seen: number[] = [];
    const end = await api.follow('1', (j) => seen.push(j.progress.rows));
    expect(seen).toEqual([1]);
    expect(end.run).toBe('r');
    const cut = new Api('t', '/', () =>
      Promise.resolve(new Response(stream('data: {"state":"running","progress":{}}\n\n'))),
    );
    await expect(cut.follow('1', () => {})).rejects.toBeInstanceOf(Gone);
  });
});

describe('events', () => {
  it('joins pieces and lines, and skips comments', async () => {
    const got: string[] = [];
    for await (const e of events(stream(': hello\n\nda', 'ta: a\ndata: b\n', '\nevent: x\ndata:c\n\n')))
      got.push(e);
    expect(got).toEqual(['a\nb', 'c']);
  });
});
