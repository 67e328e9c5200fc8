// What a page asks the server for, once for all pages: the newest question wins,
// the same question is asked once, answers are kept, a failed question is not
// asked again by drawing its failure, and leaving the page takes it back.
import { ApiError, Gone } from '../api/client';
import { backOff, type Connection } from '../api/connection';
import type { Failure } from '../api/wire';
import { browserClock, type Clock } from '../base/clock';
import { Latest } from '../base/latest';

export interface ResourceUse<Q, A> {
  readonly connection: Connection;
  readonly load: (question: Q, signal: AbortSignal) => Promise<A>;
  readonly show: (answer: A, question: Q) => void;
  /** Why there is no answer. That the server is gone is said for all pages at once, not here. */
  readonly fail: (problem: Problem) => void;
  readonly busy?: (busy: boolean) => void;
  /** What tells questions apart, where that is not all of them. */
  readonly key?: (question: Q) => string;
  readonly keep?: number; // answers that are remembered
  /** Which of them are worth it; without it, all. */
  readonly keeps?: (question: Q) => boolean;
  readonly clock?: Clock;
}

const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]); // failures that time may cure
const UNAVAILABLE = 503; // what the server asks is down; it comes back when it does
const TRIES = 5;

/** A failure, and whether the question is asked again by itself. */
export type Problem = Failure & { readonly again?: boolean };

export class Resource<Q, A> {
  private asked: string | undefined; // key of the newest question
  private question: Q | undefined;
  private failed = false;
  private tries = 0;
  private cancelAgain: (() => void) | undefined;
  private readonly kept = new Map<string, A>();
  private readonly latest: Latest<{ readonly key: string; readonly question: Q; readonly answer: A }>;
  private readonly unsubscribe: () => void;

  constructor(private readonly use: ResourceUse<Q, A>) {
    this.latest = new Latest(
      ({ key, question, answer }) => this.answered(key, question, answer),
      (error) => this.refused(error as Refused),
      use.busy,
    );
    this.unsubscribe = use.connection.subscribe((gone) => {
      if (!gone) this.retry();
    });
  }

  /**
   * Says what is wanted from now on; undefined for nothing. While something moves,
   * the question under way is let through.
   */
  want(question: Q | undefined, moving = false): void {
    const key = question === undefined ? undefined : this.keyOf(question);
    if (key === this.asked) return;
    this.rest();
    this.asked = key;
    this.question = question;
    if (question === undefined || key === undefined) return this.latest.stop();
    const known = this.kept.get(key);
    if (known === undefined) return this.ask(question, key, moving);
    this.latest.stop();
    this.use.show(known, question);
  }

  /** Asks again if the newest question failed. */
  retry(): void {
    if (!this.failed || this.question === undefined) return;
    this.rest();
    this.ask(this.question, this.asked!, false);
  }

  /** Takes back what is under way, for the user: wanting the same again asks nothing. */
  cancel(): void {
    this.rest();
    this.latest.stop();
  }

  /** Takes back what is under way; the same question can be wanted again. */
  stop(): void {
    this.rest();
    this.asked = undefined;
    this.question = undefined;
    this.latest.stop();
  }

  /** For good: the page is left. */
  close(): void {
    this.unsubscribe();
    this.stop();
    this.kept.clear();
  }

  private keyOf(question: Q): string {
    return this.use.key?.(question) ?? JSON.stringify(question);
  }

  private ask(question: Q, key: string, moving: boolean): void {
    const load = async (signal: AbortSignal) => {
      try {
        return { key, question, answer: await this.use.load(question, signal) };
      } catch (error) {
        throw new Refused(key, error);
      }
    };
    if (moving) this.latest.follow(load);
    else this.latest.run(load);
  }

  private answered(key: string, question: Q, answer: A): void {
    this.tries = 0;
    const { keep = 0, keeps = () => true } = this.use;
    if (keep > 0 && keeps(question)) {
      this.kept.set(key, answer);
      for (const oldest of this.kept.keys()) {
        if (this.kept.size <= keep) break;
        this.kept.delete(oldest);
      }
    }
    this.use.show(answer, question);
  }

  private refused({ key, cause }: Refused): void {
    if (key !== this.asked) return; // of a drag; the newest one is next
    this.failed = true;
    if (cause instanceof Gone) return this.use.connection.lost();
    const again =
      cause instanceof ApiError &&
      PASSING.has(cause.status) &&
      (cause.status === UNAVAILABLE || this.tries < TRIES);
    if (again) {
      const { clock = browserClock } = this.use;
      const n = this.tries++;
      this.cancelAgain = clock.after(backOff(n), () => {
        this.cancelAgain = undefined;
        if (this.failed) this.ask(this.question!, key, false);
      });
    }
    this.use.fail({ ...failureOf(cause), ...(again && { again }) });
  }

  private rest(): void {
    this.failed = false;
    this.tries = 0;
    this.cancelAgain?.();
    this.cancelAgain = undefined;
  }
}

class Refused {
  constructor(
    readonly key: string,
    readonly cause: unknown,
  ) {}
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return error.failure;
  return { error: error instanceof Error ? error.message : String(error) };
}
