// Work for when nothing else is to be done.

interface Idle {
  readonly requestIdleCallback?: (f: () => void, options: { timeout: number }) => number;
  readonly cancelIdleCallback?: (id: number) => void;
}

const LATER = 200; // ms; Safari cannot say when it is idle
const LATEST = 1000; // ms; Chromium may not say so as long as it has no frame to draw

/** Runs f when the browser is idle, or a little later where it cannot say; returns what cancels it. */
export function whenIdle(f: () => void, browser: Idle = globalThis as Idle): () => void {
  if (browser.requestIdleCallback && browser.cancelIdleCallback) {
    const id = browser.requestIdleCallback(f, { timeout: LATEST });
    return () => browser.cancelIdleCallback!(id);
  }
  const id = setTimeout(f, LATER);
  return () => clearTimeout(id);
}
