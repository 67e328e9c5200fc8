// The client of /api/v1; docs/formats.md describes the routes.

import { decode, type Answer } from './decode';
import { browserClock, type Clock } from '../base/clock';
import { Connection } from './connection';
import type * as wire from './wire';

// An answer that is not a success: the server's own sentence and what to do.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly failure: wire.Failure,
  ) {
    super(failure.error);
    this.name = 'ApiError';
  }
}

// The server cannot be reached at all.
export class Gone extends Error {
  constructor() {
    super('isobath has stopped, or the connection to it is closed');
    this.name = 'Gone';
  }
}

/** A file by the run that was made of it, or by the job that failed to. */
export type FileOf = { readonly run: string } | { readonly job: string };

/** The named selections of a run, and which version of them. */
export interface Selections {
  readonly list: readonly wire.NamedSelection[];
  readonly version: string;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export class Api {
  readonly connection: Connection;

  constructor(
    readonly token: string,
    private readonly base = '/api/v1/',
    private readonly fetch: Fetch = (url, init) => globalThis.fetch(url, init),
    clock: Clock = browserClock,
  ) {
    this.connection = new Connection(() => this.home(), clock);
  }

  home(signal?: AbortSignal): Promise<wire.Home> {
    return this.json('GET', 'runs', undefined, signal);
  }

  info(run: string, signal?: AbortSignal): Promise<wire.Info> {
    return this.json('GET', runPath(run), undefined, signal);
  }

  async ask(run: string, ask: wire.Ask, signal?: AbortSignal): Promise<Answer> {
    const r = await this.request('POST', runPath(run, 'ask'), json(ask), signal);
    return decode(await r.arrayBuffer());
  }

  async prepare(run: string, prepare: wire.Prepare, signal?: AbortSignal): Promise<void> {
    await this.request('POST', runPath(run, 'prepare'), json(prepare), signal);
  }

  /** The glossary, or what of the guide has some words. */
  guide(find = '', signal?: AbortSignal): Promise<wire.Book> {
    return this.json('GET', `guide?find=${encodeURIComponent(find)}`, undefined, signal);
  }

  search(run: string, search: wire.Search, signal?: AbortSignal): Promise<wire.Found> {
    return this.json('POST', runPath(run, 'search'), json(search), signal);
  }

  /** Why a sample has its level: that of a row, or the first one that a selection matches. */
  why(
    run: string,
    of: { readonly row: number } | { readonly where: string; readonly filter: string },
    signal?: AbortSignal,
  ): Promise<wire.Why> {
    const query = 'row' in of ? `row=${of.row}` : new URLSearchParams(of).toString();
    return this.json('GET', `${runPath(run, 'why')}?${query}`, undefined, signal);
  }

  // The columns of the file behind a run or a failed import; reading it again.
  columns(of: FileOf): Promise<wire.Columns> {
    return this.json('GET', `${filePath(of)}/columns`);
  }

  again(of: FileOf, how: wire.Reading): Promise<wire.Job> {
    return this.json('POST', `${filePath(of)}/again`, json(how));
  }

  source(run: string, file: string, signal?: AbortSignal): Promise<wire.SourceText> {
    return this.json('GET', `${runPath(run, 'source')}?file=${encodeURIComponent(file)}`, undefined, signal);
  }

  addSources(run: string, folder: string): Promise<wire.Info> {
    const body: wire.AddSources = { folder };
    return this.json('POST', runPath(run, 'sources'), json(body));
  }

  selections(run: string): Promise<Selections> {
    return this.versioned('GET', runPath(run, 'selections'));
  }

  // Replaces a version of the list; an ApiError of status 409 if there is another by now.
  saveSelections(run: string, { list, version }: Selections): Promise<Selections> {
    const headers = { 'Content-Type': 'application/json', 'If-Match': `"${version}"` };
    return this.versioned('PUT', runPath(run, 'selections'), { body: JSON.stringify(list), headers });
  }

  private async versioned(method: string, path: string, init?: RequestInit): Promise<Selections> {
    const r = await this.request(method, path, init);
    const version = (r.headers.get('ETag') ?? '').replace(/^W\//, '').replaceAll('"', '');
    return { version, list: (await r.json()) as wire.NamedSelection[] };
  }

  // keepLink stores a link that is too long to pass on; link brings it back.
  keepLink(fragment: string): Promise<wire.Link> {
    const body: wire.Link = { id: '', fragment };
    return this.json('POST', 'links', json(body));
  }

  link(id: string): Promise<wire.Link> {
    return this.json('GET', `links/${encodeURIComponent(id)}`);
  }

  // The selected rows as CSV. The body is a stream: it need not fit in memory.
  rows(run: string, where: string, filter: string, columns: readonly string[] = []): Promise<Response> {
    const q = new URLSearchParams({ where, filter, columns: columns.join(',') });
    return this.request('GET', `${runPath(run, 'rows.csv')}?${q.toString()}`);
  }

  async close(run: string): Promise<void> {
    await this.request('DELETE', runPath(run));
  }

  open(path: string): Promise<wire.Job> {
    const body: wire.Open = { path };
    return this.json('POST', 'open', json(body));
  }

  upload(name: string, content: Blob, signal?: AbortSignal): Promise<wire.Job> {
    return this.json('POST', `upload?name=${encodeURIComponent(name)}`, { body: content }, signal);
  }

  async cancel(job: string): Promise<void> {
    await this.request('DELETE', `jobs/${encodeURIComponent(job)}`);
  }

  // Follows a job to its end; progress is called for every event before that.
  async follow(job: string, progress: (job: wire.Job) => void, signal?: AbortSignal): Promise<wire.Job> {
    const r = await this.request('GET', `jobs/${encodeURIComponent(job)}/events`, undefined, signal);
    if (!r.body) throw new Gone();
    for await (const data of events(r.body)) {
      const now = JSON.parse(data) as wire.Job;
      if (now.state !== 'running') return now;
      progress(now);
    }
    throw new Gone();
  }

  // Asks for something that takes a while: progress is called until the answer
  // is there; taking the request back ends the work.
  async watch<T>(
    path: string,
    body: unknown,
    progress: (p: wire.Progress) => void,
    signal?: AbortSignal,
  ): Promise<T> {
    const headers = { 'Content-Type': 'application/json', Accept: 'text/event-stream' };
    const r = await this.request('POST', path, { body: JSON.stringify(body), headers }, signal);
    if (!r.body) throw new Gone();
    for await (const { event, data } of namedEvents(r.body)) {
      if (event === 'done') return JSON.parse(data) as T;
      if (event === 'failed') throw new ApiError(400, JSON.parse(data) as wire.Failure);
      progress(JSON.parse(data) as wire.Progress);
    }
    throw new Gone();
  }

  // For routes that later pages add: JSON in, JSON out.
  async json<T>(method: string, path: string, init?: RequestInit, signal?: AbortSignal): Promise<T> {
    const r = await this.request(method, path, init, signal);
    return (await r.json()) as T;
  }

  // For routes that later pages add.
  async request(
    method: string,
    path: string,
    init: RequestInit = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('X-Isobath-Token', this.token);
    let r: Response;
    try {
      r = await this.fetch(this.base + path, { ...init, method, headers, ...(signal && { signal }) });
    } catch (error) {
      if (signal?.aborted) throw error;
      this.connection.lost();
      throw new Gone();
    }
    this.connection.reached();
    if (!r.ok) throw new ApiError(r.status, await failure(r));
    return r;
  }
}

export function runPath(run: string, rest?: string): string {
  const path = `runs/${encodeURIComponent(run)}`;
  return rest === undefined ? path : `${path}/${rest}`;
}

function filePath(of: FileOf): string {
  return 'run' in of ? runPath(of.run) : `jobs/${encodeURIComponent(of.job)}`;
}

function json(body: unknown): RequestInit {
  return { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
}

async function failure(r: Response): Promise<wire.Failure> {
  const text = await r.text();
  try {
    return JSON.parse(text) as wire.Failure;
  } catch {
    return { error: `the server answered ${r.status} ${r.statusText}`, hint: text.slice(0, 200) };
  }
}

// events yields the data of each server-sent event of a stream.
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  for await (const e of namedEvents(body)) yield e.data;
}

export interface NamedEvent {
  readonly event: string;
  readonly data: string;
}

export async function* namedEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<NamedEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const field = (name: string): string[] =>
          part
            .split('\n')
            .filter((line) => line.startsWith(`${name}:`))
            .map((line) => line.slice(name.length + 1).trimStart());
        const data = field('data');
        if (data.length > 0) yield { event: field('event')[0] ?? 'message', data: data.join('\n') };
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}
