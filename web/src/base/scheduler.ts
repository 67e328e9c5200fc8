// One requestAnimationFrame for the whole page: whatever changed is drawn once
// per frame, and nothing runs when nothing changed.

export class Scheduler {
  private readonly waiting = new Set<() => void>();
  private frame = 0;

  constructor(private readonly request: (run: () => void) => number = (run) => requestAnimationFrame(run)) {}

  /** Runs a job in the next frame; asking twice runs it once. */
  ask(job: () => void): void {
    this.waiting.add(job);
    if (this.frame === 0) this.frame = this.request(() => this.run());
  }

  forget(job: () => void): void {
    this.waiting.delete(job);
  }

  private run(): void {
    this.frame = 0;
    const jobs = [...this.waiting];
    this.waiting.clear();
    for (const job of jobs) job();
  }
}

export const scheduler = new Scheduler();
