// Whether the server answers: one truth for all pages. Every request tells of it;
// while nobody hears from the server it is asked again, less and less often.
import { browserClock, type Clock } from '../base/clock';

const FIRST = 1000; // ms until a server that is gone is asked again
const LONGEST = 30_000;

/** How long to wait before try n, counted from 0. */
export function backOff(n: number): number {
  return Math.min(LONGEST, FIRST * 2 ** n);
}

export class Connection {
  gone = false;
  private tries = 0;
  private cancel: (() => void) | undefined;
  private readonly listeners = new Set<(gone: boolean) => void>();

  constructor(
    private readonly probe: () => Promise<unknown>,
    private readonly clock: Clock = browserClock,
  ) {}

  /** Calls the listener when the server goes, and when it is back. */
  subscribe(listener: (gone: boolean) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** A request did not reach the server. */
  lost(): void {
    if (this.gone) return;
    this.gone = true;
    this.tries = 0;
    this.later();
    this.tell();
  }

  /** The server answered, whatever it said. */
  reached(): void {
    if (!this.gone) return;
    this.gone = false;
    this.cancel?.();
    this.cancel = undefined;
    this.tell();
  }

  private later(): void {
    this.cancel?.();
    this.cancel = this.clock.after(backOff(this.tries++), () => {
      this.probe().then(
        () => this.reached(),
        () => {
          if (this.gone) this.later();
        },
      );
    });
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener(this.gone);
  }
}
