// What the stores of pages share: a snapshot that can be subscribed to, and
// resources that end with the page.
import type { Api } from '../api/client';
import type { Failure } from '../api/wire';
import { failureOf, Resource } from './resource';

export abstract class PageStore<S extends { readonly problem: Failure | undefined }> {
  private readonly listeners = new Set<(s: S) => void>();
  private readonly resources: Resource<never, unknown>[] = [];
  private readonly problems = new Map<unknown, Failure>();
  private readonly ended = new AbortController();

  constructor(
    protected readonly api: Api,
    protected readonly run: string,
    public snapshot: S,
  ) {}

  subscribe(listener: (s: S) => void): () => void {
    this.listeners.add(listener);
    listener(this.snapshot);
    return () => this.listeners.delete(listener);
  }

  /** Asks again what failed. */
  retry(): void {
    this.problems.clear();
    this.set({ problem: undefined } as Partial<S>);
    for (const r of this.resources) r.retry();
  }

  /** The page is left: nothing is asked any more, and nobody hears of what still arrives. */
  close(): void {
    this.listeners.clear();
    this.ended.abort();
    for (const r of this.resources) r.close();
  }

  protected set(patch: Partial<S>): void {
    this.snapshot = { ...this.snapshot, ...patch };
    for (const listener of this.listeners) listener(this.snapshot);
  }

  /** Something the page asks for. A failure is the page's, unless fail says what it means. */
  protected resource<Q, A>(use: {
    readonly load: (question: Q, signal: AbortSignal) => Promise<A>;
    readonly show: (answer: A, question: Q) => Partial<S>;
    readonly fail?: (failure: Failure) => Partial<S>;
    readonly busy?: (busy: boolean) => Partial<S>;
  }): Resource<Q, A> {
    const { fail, busy } = use;
    const made: Resource<Q, A> = new Resource<Q, A>({
      connection: this.api.connection,
      load: use.load,
      show: (answer, question) => {
        this.problems.delete(made);
        this.set({ ...use.show(answer, question), problem: this.problem() });
      },
      fail: (failure) => {
        if (fail) this.set(fail(failure));
        else this.failed(made, failure);
      },
      ...(busy && { busy: (b) => this.set(busy(b)) }),
    });
    this.resources.push(made as unknown as Resource<never, unknown>);
    return made;
  }

  /**
   * Asks once, for something that the user did; undefined if there is no answer,
   * and says why, unless it is not wanted any more.
   */
  protected async attempt<T>(
    ask: (signal: AbortSignal) => Promise<T>,
    wanted?: AbortSignal,
  ): Promise<T | undefined> {
    const signal = wanted ? AbortSignal.any([wanted, this.ended.signal]) : this.ended.signal;
    try {
      return await ask(signal);
    } catch (error) {
      if (!signal.aborted) this.failed(ask, failureOf(error));
      return undefined;
    }
  }

  protected json<T>(path: string, ask: unknown, signal: AbortSignal): Promise<T> {
    return this.api.json('POST', this.path(path), body(ask), signal);
  }

  protected async binary(path: string, ask: unknown, signal: AbortSignal): Promise<ArrayBuffer> {
    const r = await this.api.request('POST', this.path(path), body(ask), signal);
    return r.arrayBuffer();
  }

  protected path(rest: string): string {
    return `runs/${encodeURIComponent(this.run)}/${rest}`;
  }

  private failed(who: unknown, failure: Failure): void {
    this.problems.set(who, failure);
    this.set({ problem: this.problem() } as Partial<S>);
  }

  private problem(): Failure | undefined {
    return [...this.problems.values()].at(-1);
  }
}

function body(ask: unknown): RequestInit {
  return { body: JSON.stringify(ask), headers: { 'Content-Type': 'application/json' } };
}
