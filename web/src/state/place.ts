// Where the state is kept between visits: the browser's history, or a test's.
import type { Clock } from '../base/clock';

export interface Place {
  fragment(): string;
  push(fragment: string): void;
  replace(fragment: string): void;
  onPop(changed: () => void): void;
}

/** Safari throws at the hundredth change of the address in 30 s, Firefox at the 200th in 10 s. */
const PACE = 350; // ms

/** A place that is written to no more often than browsers allow: a brush calls it at every move. */
export class PacedPlace implements Place {
  private wanted: string | undefined; // not written yet
  private cancel: (() => void) | undefined; // while it is too early to write

  constructor(
    private readonly inner: Place,
    private readonly clock: Clock,
  ) {}

  fragment(): string {
    return this.wanted ?? this.inner.fragment();
  }

  replace(fragment: string): void {
    this.wanted = fragment;
    if (!this.cancel) this.flush();
  }

  push(fragment: string): void {
    this.flush(); // the entry that is left keeps its own state
    try {
      this.inner.push(fragment);
    } catch {
      this.wanted = fragment; // too often all the same: what is shown is written later
    }
    this.rest();
  }

  onPop(changed: () => void): void {
    this.inner.onPop(() => {
      this.wanted = undefined;
      changed();
    });
  }

  /** Writes what waits, because the page is left, or time has passed. */
  flush(): void {
    const { wanted } = this;
    if (wanted === undefined) return;
    this.wanted = undefined;
    try {
      if (wanted !== this.inner.fragment()) this.inner.replace(wanted);
    } catch {
      this.wanted = wanted;
    }
    this.rest();
  }

  private rest(): void {
    this.cancel?.();
    this.cancel = this.clock.after(PACE, () => {
      this.cancel = undefined;
      this.flush();
    });
  }
}
