// How long people wait for the spiral of three million windows, in a real
// browser without a GPU. `make bench` runs it (bench/cycles.go), with a run in
// the folder that ISOBATH_BENCH names, and reads the results it writes there.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, start } from './harness';

const FOLDER = process.env['ISOBATH_BENCH'];

interface Measured {
  readonly name: string;
  readonly ours: number;
  readonly limit: number;
  readonly unit: string;
}

const results: Measured[] = [];
const FRAME = 1000 / 30; // ms; 30 frames a second

describe.skipIf(!FOLDER)('benchmark of the cycles page', () => {
  afterAll(() => writeFileSync(join(FOLDER!, 'page.json'), JSON.stringify(results)));

  for (const [name, width, height] of [
    ['', 1440, 900],
    ['-2560', 2560, 1440],
  ] as const) {
    it(`draws three million windows at ${width} × ${height}`, { timeout: 300_000 }, async () => {
      const server = await start('open', join(FOLDER!, 'bubble.isobath'));
      const browser = await browse({ width, height });
      try {
        const { page, problems } = await browser.open(`${server.url}&v=1&page=cycles`);
        // The first one analyses the trace as well.
        results.push({
          name: `cycles-page-3M-first-picture${name}`,
          ours: await drawn(page),
          limit: 2000,
          unit: 'ms',
        });
        await page.reload();
        results.push({
          name: `cycles-page-3M-again${name}`,
          ours: await drawn(page),
          limit: 2000,
          unit: 'ms',
        });
        await page.waitForTimeout(500);
        const zoom = await frames(page, (i) => ({
          kind: 'wheel',
          x: 0.6,
          y: 0.4,
          by: i % 40 < 20 ? -60 : 60,
        }));
        results.push({ name: `cycles-page-3M-zoom-frame${name}`, ours: zoom, limit: FRAME, unit: 'ms' });
        await frames(page, (i) => ({ kind: 'wheel', x: 0.6, y: 0.4, by: i < 12 ? -60 : i % 2 ? 1 : -1 }));
        await page.waitForTimeout(800);
        const pan = await frames(page, (i) => ({
          kind: i === 0 ? 'pointerdown' : 'pointermove',
          x: 0.5 + 0.15 * Math.sin(i / 9),
          y: 0.5 + 0.1 * Math.cos(i / 7),
          by: 0,
        }));
        results.push({ name: `cycles-page-3M-pan-frame${name}`, ours: pan, limit: FRAME, unit: 'ms' });
        expect(problems).toEqual([]);
      } finally {
        await browser.close();
        await server.stop();
      }
    });
  }
});

/** Milliseconds from the navigation to the first spiral with windows in it. */
async function drawn(page: Page): Promise<number> {
  await page.waitForFunction(() => performance.getEntriesByName('draw Spiral').length > 0, undefined, {
    timeout: 60_000,
  });
  return page.evaluate(() => {
    const e = performance.getEntriesByName('draw Spiral')[0]!;
    return e.startTime + e.duration;
  });
}

interface Event {
  readonly kind: 'wheel' | 'pointerdown' | 'pointermove';
  readonly x: number; // parts of the view
  readonly y: number;
  readonly by: number;
}

/**
 * Milliseconds a redrawn frame, while an event comes with every frame: by the
 * clock, or, on a busy machine, what the page's thread took of the processor.
 */
async function frames(page: Page, event: (i: number) => Event): Promise<number> {
  const list = Array.from({ length: 90 }, (_, i) => event(i));
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const used = async (): Promise<number> =>
    1000 * (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration')!.value;
  const before = await used();
  const { took, redrawn } = await page.evaluate(async (events) => {
    const host = document.querySelector<HTMLElement>('[data-view="Spiral"]')!;
    host.setPointerCapture = () => {};
    const box = host.getBoundingClientRect();
    const frame = (): Promise<void> => new Promise((done) => requestAnimationFrame(() => done()));
    await frame();
    performance.clearMeasures();
    const began = performance.now();
    for (const e of events) {
      const at = {
        bubbles: true,
        cancelable: true,
        clientX: box.x + e.x * box.width,
        clientY: box.y + e.y * box.height,
      };
      if (e.kind === 'wheel') host.dispatchEvent(new WheelEvent('wheel', { ...at, deltaY: e.by }));
      else host.dispatchEvent(new PointerEvent(e.kind, { ...at, button: 0, pointerId: 1 }));
      await frame();
    }
    const took = performance.now() - began;
    host.dispatchEvent(
      new PointerEvent('pointerup', {
        bubbles: true,
        button: 0,
        pointerId: 1,
        clientX: box.x,
        clientY: box.y,
      }),
    );
    return { took, redrawn: performance.getEntriesByName('redraw Spiral').length };
  }, list);
  expect(redrawn).toBeGreaterThan(5);
  return Math.min(took, (await used()) - before) / redrawn;
}
