// What the stores of pages other than the memory page share: a snapshot that
// can be subscribed to, questions that are asked once, and failures.
import { ApiError, type Api } from '../api/client';
import type { Failure } from '../api/wire';

export abstract class Asker<S extends { readonly problem: Failure | undefined }> {
  private readonly listeners = new Set<(s: S) => void>();
  private readonly asked = new Map<string, string>(); // slot to its newest question

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

  protected set(patch: Partial<S>): void {
    this.snapshot = { ...this.snapshot, ...patch };
    for (const listener of this.listeners) listener(this.snapshot);
  }

  /** Asks unless this is what the slot was asked for last. */
  protected once(slot: string, question: unknown, ask: () => void): void {
    const text = JSON.stringify(question);
    if (this.asked.get(slot) === text) return;
    this.asked.set(slot, text);
    ask();
  }

  protected forget(slot: string): void {
    this.asked.delete(slot);
  }

  protected json<T>(path: string, ask: unknown, signal: AbortSignal): Promise<T> {
    return this.api.json('POST', this.path(path), body(ask), signal);
  }

  protected async binary(path: string, ask: unknown, signal: AbortSignal): Promise<ArrayBuffer> {
    const r = await this.api.request('POST', this.path(path), body(ask), signal);
    return r.arrayBuffer();
  }

  protected failed(error: unknown): void {
    this.asked.clear(); // so that the same question can be asked again
    const problem =
      error instanceof ApiError
        ? error.failure
        : { error: error instanceof Error ? error.message : String(error) };
    this.set({ problem } as unknown as Partial<S>);
  }

  private path(rest: string): string {
    return `runs/${encodeURIComponent(this.run)}/${rest}`;
  }
}

function body(ask: unknown): RequestInit {
  return { body: JSON.stringify(ask), headers: { 'Content-Type': 'application/json' } };
}
