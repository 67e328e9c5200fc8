// The way of the physical timeline from the clock to the steps.

const TAKES = 1200; // ms

export class Morph {
  share = $state(0); // 0: the clock, 1: steps
  private playing = false;

  set(share: number): void {
    this.playing = false;
    this.share = share;
  }

  stop(): void {
    this.playing = false;
  }

  /** Carries the operations to the other end. */
  play(): void {
    const end = this.share < 0.5 ? 1 : 0;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.share = end;
      return;
    }
    const [start, began] = [this.share, performance.now()];
    this.playing = true;
    const frame = (t: number): void => {
      if (!this.playing) return;
      const s = Math.min(1, (t - began) / TAKES);
      this.share = start + (end - start) * s * s * (3 - 2 * s);
      if (s < 1) requestAnimationFrame(frame);
      else this.playing = false;
    };
    requestAnimationFrame(frame);
  }
}
