// How long people wait for the trace page, in a real browser without a GPU. `make
// bench` runs it (bench/tracepage.go) with two traces in the folder that
// ISOBATH_TRACE_BENCH names, and reads the results it writes there.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, start } from './harness';
import { boxOf } from './page';

const FOLDER = process.env['ISOBATH_TRACE_BENCH'];
const results: { name: string; ours: number; limit: number; unit: string }[] = [];

/** 30 frames a second, as the time of one. */
const FRAME = 1000 / 30;

describe.skipIf(!FOLDER)('benchmark of the trace page', () => {
  const paths = FOLDER
    ? (JSON.parse(readFileSync(join(FOLDER, 'traces.json'), 'utf8')) as { halo64: string; many: string })
    : { halo64: '', many: '' };
  afterAll(() => writeFileSync(join(FOLDER!, 'tracepage.json'), JSON.stringify(results)));

  it('opens halo64_big', { timeout: 120_000 }, async () => {
    // From the command to both timelines on screen; the browser runs already.
    const browser = await browse({ width: 1440, height: 900 });
    const took: number[] = [];
    for (let i = 0; i < 3; i++) {
      const began = performance.now();
      const server = await start('open', paths.halo64);
      const { page, problems } = await browser.open(server.url);
      await drawn(page);
      took.push(performance.now() - began);
      expect(problems).toEqual([]);
      await page.close();
      await server.stop();
    }
    results.push({
      name: 'trace-page-halo64-open',
      ours: took.toSorted((a, b) => a - b)[1]!,
      limit: 2000,
      unit: 'ms',
    });
    await browser.close();
  });

  it('pans and zooms over 4,096 processes', { timeout: 600_000 }, async () => {
    const server = await start('open', paths.many);
    const browser = await browse({ width: 1440, height: 900 });
    try {
      const { page } = await browser.open(server.url);
      page.setDefaultTimeout(300_000);
      await drawn(page);
      await page
        .getByRole('status', { name: 'Operations' })
        .filter({ hasText: /4\s096 processes/ })
        .waitFor();
      const box = await boxOf(page, 'Logical timeline');
      const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      await page.mouse.move(middle.x, middle.y);
      await wheel(page, -1); // a part of the steps, so that there is somewhere to go
      await page.waitForTimeout(1000);
      const pan = await frames(page, async () => {
        await page.keyboard.down('Shift');
        await page.mouse.down();
        for (let i = 1; i <= 90; i++) await page.mouse.move(middle.x + 200 * Math.sin(i / 12), middle.y);
        await page.mouse.up();
        await page.keyboard.up('Shift');
      });
      results.push({ name: 'trace-page-4096x10M-pan', ours: pan, limit: FRAME, unit: 'ms/frame' });
      await page.waitForTimeout(1000);
      const zoom = await frames(page, async () => {
        for (let i = 0; i < 60; i++) await wheel(page, i % 8 < 4 ? -1 : 1);
      });
      results.push({ name: 'trace-page-4096x10M-zoom', ours: zoom, limit: FRAME, unit: 'ms/frame' });
    } finally {
      await browser.close();
      await server.stop();
    }
  });
});

async function wheel(page: Page, by: number): Promise<void> {
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, 100 * by);
  await page.keyboard.up('Control');
}

async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      ['Logical timeline', 'Physical timeline'].every(
        (v) => performance.getEntriesByName(`draw ${v}`).length > 0,
      ),
    undefined,
    { timeout: 300_000 },
  );
}

/** Milliseconds a frame while something moves, from the first redraw to the last, over all frames that the browser showed. */
async function frames(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    performance.clearMeasures();
    const seen = { on: true, times: [] as number[] };
    Object.assign(window, { seen });
    const frame = (t: number): void => {
      seen.times.push(t);
      if (seen.on) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await act();
  const { times, redraws } = await page.evaluate(() => {
    const { seen } = window as unknown as { seen: { on: boolean; times: number[] } };
    seen.on = false;
    return {
      times: seen.times,
      redraws: performance.getEntriesByName('redraw Logical timeline').map((e) => e.startTime + e.duration),
    };
  });
  expect(redraws.length).toBeGreaterThan(10); // something moved
  const inside = times.filter((t) => t >= redraws[0]! && t <= redraws.at(-1)!);
  return (inside.at(-1)! - inside[0]!) / (inside.length - 1);
}
