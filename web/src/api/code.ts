// Questions about what addresses mean: cache lines, distributions, calls,
// machine code, names of objects. Each pane asks its own: they are about one
// selection but not about every picture.
import { runPath, type Api } from './client';
import type * as wire from './wire';

export interface Rows {
  readonly where: string;
  readonly filter: string;
}

const post = (body: unknown): RequestInit => ({
  body: JSON.stringify(body),
  headers: { 'Content-Type': 'application/json' },
});

export class CodeApi {
  constructor(private readonly api: Api) {}

  cachelines(run: string, ask: wire.AskLines, signal: AbortSignal): Promise<wire.CacheLines> {
    return this.api.json('POST', runPath(run, 'cachelines'), post(ask), signal);
  }

  spread(run: string, ask: wire.AskSpread, signal: AbortSignal): Promise<wire.Spreads> {
    return this.api.json('POST', runPath(run, 'spread'), post(ask), signal);
  }

  compare(run: string, ask: wire.AskCompare, signal: AbortSignal): Promise<wire.Compared> {
    return this.api.json('POST', runPath(run, 'compare'), post(ask), signal);
  }

  changes(run: string, ask: wire.AskChanges, signal: AbortSignal): Promise<wire.WhatChanged> {
    return this.api.json('POST', runPath(run, 'changes'), post(ask), signal);
  }

  /** Which line of A each line of a source file of B was. */
  matched(run: string, file: string, signal: AbortSignal): Promise<wire.MatchedLines> {
    const path = `${runPath(run, 'matched')}?file=${encodeURIComponent(file)}`;
    return this.api.json('GET', path, undefined, signal);
  }

  calls(run: string, ask: wire.AskCalls, signal: AbortSignal): Promise<wire.Calls> {
    return this.api.json('POST', runPath(run, 'calls'), post(ask), signal);
  }

  callTree(run: string, ask: wire.AskCallTree, signal: AbortSignal): Promise<wire.CallTree> {
    return this.api.json('POST', runPath(run, 'calltree'), post(ask), signal);
  }

  /** The stacks of the selected samples, for speedscope. */
  speedscope(run: string, { where, filter }: Rows): Promise<Response> {
    const q = new URLSearchParams({ where, filter });
    return this.api.request('GET', `${runPath(run, 'speedscope')}?${q.toString()}`);
  }

  assembly(run: string, ask: wire.AskAssembly, signal: AbortSignal): Promise<wire.Assembly> {
    return this.api.json('POST', runPath(run, 'assembly'), post(ask), signal);
  }

  gaps(run: string, signal: AbortSignal): Promise<wire.Gaps> {
    return this.api.json('GET', runPath(run, 'gaps'), undefined, signal);
  }

  touches(run: string, signal: AbortSignal): Promise<wire.Touches> {
    return this.api.json('GET', runPath(run, 'touches'), undefined, signal);
  }

  allocations(run: string, signal: AbortSignal): Promise<wire.Allocations> {
    return this.api.json('GET', runPath(run, 'allocations'), undefined, signal);
  }

  names(run: string): Promise<wire.ObjectNames> {
    return this.api.json('GET', runPath(run, 'names'));
  }

  saveNames(run: string, text: string): Promise<wire.ObjectNames> {
    const body: wire.ObjectNames = { text, saved: true };
    return this.api.json('PUT', runPath(run, 'names'), post(body));
  }
}
