// One slot per picture: the newest question wins, whatever order answers
// arrive in.

export class Latest<T> {
  private current: AbortController | undefined;
  private waiting: ((signal: AbortSignal) => Promise<T>) | undefined;

  constructor(
    private readonly show: (value: T) => void,
    private readonly fail: (error: unknown) => void,
    private readonly busy: (busy: boolean) => void = () => {},
  ) {}

  // run starts a question and takes back the one under way.
  run(load: (signal: AbortSignal) => Promise<T>): void {
    this.current?.abort();
    this.waiting = undefined;
    void this.start(load);
  }

  // follow lets the question under way finish and keeps only the newest of those
  // asked meanwhile. For drags: taking back each question when the pointer moves
  // on would show nothing until the pointer rests.
  follow(load: (signal: AbortSignal) => Promise<T>): void {
    if (this.current) this.waiting = load;
    else void this.start(load);
  }

  // stop takes back whatever is under way.
  stop(): void {
    this.current?.abort();
    this.current = undefined;
    this.waiting = undefined;
    this.busy(false);
  }

  private async start(load: (signal: AbortSignal) => Promise<T>): Promise<void> {
    const mine = (this.current = new AbortController());
    this.busy(true);
    try {
      const value = await load(mine.signal);
      if (this.current === mine) this.show(value);
    } catch (error) {
      if (this.current === mine) this.fail(error);
    }
    if (this.current !== mine) return;
    this.current = undefined;
    const next = this.waiting;
    this.waiting = undefined;
    if (next) void this.start(next);
    else this.busy(false);
  }
}
