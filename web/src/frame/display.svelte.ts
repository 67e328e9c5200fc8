// How many device pixels a CSS pixel has, now: zooming the browser or moving its
// window to another screen changes it.

class Display {
  ratio = $state(globalThis.devicePixelRatio || 1);

  constructor() {
    this.watch();
  }

  // A media query is about one ratio: the next one needs a query of its own.
  private watch(): void {
    const query = globalThis.matchMedia?.(`(resolution: ${this.ratio}dppx)`);
    query?.addEventListener(
      'change',
      () => {
        this.ratio = globalThis.devicePixelRatio || 1;
        this.watch();
      },
      { once: true },
    );
  }
}

export const display = new Display();
