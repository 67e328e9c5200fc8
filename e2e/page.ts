// What tests do with the page: through the words and counts that users see.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { ROOT, unanswered } from './harness';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The parameters of the link in the address bar, as the page has it now:
 * page.url() learns of a change only some time after the gesture.
 */
export async function linkOf(page: Page): Promise<URLSearchParams> {
  return new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
}

export async function whereOf(page: Page): Promise<string> {
  return (await linkOf(page)).get('s') ?? '';
}

function counter(page: Page): Locator {
  return page.getByRole('status', { name: 'Samples selected' });
}

const written = (n: number): string => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\\s');

export async function everything(page: Page, n: number): Promise<void> {
  await counter(page)
    .filter({ hasText: new RegExp(`^\\s*Everything ${written(n)} samples`) })
    .waitFor();
}

/** Waits until a view has drawn. */
export function shown(page: Page, view: string): Promise<unknown> {
  return page.waitForFunction((v) => performance.getEntriesByName(`draw ${v}`).length > 0, view);
}

/** Waits for "n of N samples". */
export async function counted(page: Page, n: number, of: number): Promise<void> {
  await counter(page)
    .filter({ hasText: new RegExp(`^\\s*${written(n)} of ${written(of)} samples`) })
    .waitFor();
}

/** Waits until a run is drawn: its count, and a mark under the pointer has words. */
export async function opened(page: Page, n: number): Promise<void> {
  await everything(page, n);
  await page.waitForFunction(() => performance.getEntriesByName('draw Parallel coordinates').length > 0);
}

/**
 * Bytes of the page itself that were asked for before its first picture, as they
 * travelled. Samples that name no source load no code view.
 */
export async function firstLoad(page: Page): Promise<number> {
  const bytes = await page.evaluate(() => {
    const drawn = performance.getEntriesByName('draw Parallel coordinates')[0]!.startTime;
    return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .map((e) => e as PerformanceResourceTiming)
      .filter((e) => !e.name.includes('/api/') && e.startTime < drawn)
      .reduce((sum, e) => sum + e.encodedBodySize, 0);
  });
  expect(bytes).toBeGreaterThan(10_000);
  return bytes;
}

export async function clauses(page: Page): Promise<string[]> {
  return page
    .getByRole('button', { name: /^Remove (?!the)/ })
    .evaluateAll((all) => all.map((b) => b.getAttribute('aria-label') ?? ''));
}

export async function boxOf(
  page: Page,
  view: string,
): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await page.getByRole('application', { name: view }).boundingBox();
  if (!box) throw new Error(`${view} is not on screen`);
  return box;
}

/**
 * Moves the pointer over a view until the status line names the mark, as a
 * person would, and leaves it there. A view may still wait for its answer, or
 * draw a newer one under the pointer: then it looks again. From is the part of
 * the height to begin at.
 */
export async function find(page: Page, view: string, mark: RegExp, from = 0): Promise<Point> {
  await page.getByRole('application', { name: view }).waitFor();
  const said = async (): Promise<string> => (await page.locator('[data-status]').innerText()).trim();
  let p: Point | undefined;
  await expect
    .poll(
      async () => {
        await page.mouse.move(2, 2); // a mark that stays under the pointer would keep the status line
        p = await scan(page, view, mark, from);
        if (!p) return `no mark of ${view} matches ${mark}`;
        await page.mouse.move(p.x, p.y);
        for (let i = 0; i < 20 && !mark.test(await said()); i++) await frames(page);
        return said();
      },
      { interval: 500 },
    )
    .toMatch(mark);
  return p!;
}

/**
 * A point of a view whose mark has the words: a coarse grid first, then what lies
 * between its points, so that a large mark is found in a tenth of the moves and a
 * small one in as many as a plain search needs. Asking the page itself is quicker
 * than a thousand pointer moves: the words of every mark are the same that a move
 * would show.
 */
async function scan(page: Page, view: string, mark: RegExp, from: number): Promise<Point | undefined> {
  return page.evaluate(
    async ([name, source, b, from]) => {
      const host = document.querySelector<HTMLElement>(`[data-view="${name}"]`)!;
      const status = document.querySelector<HTMLElement>('[data-status]')!;
      const wanted = new RegExp(source);
      const channel = new MessageChannel();
      const tick = (): Promise<void> =>
        new Promise((done) => {
          channel.port1.onmessage = () => done();
          channel.port2.postMessage(0);
        });
      const grids: number[][][] = [[], [], []];
      const top = 3 + Math.floor(from * b.height);
      for (let row = 0; top + 6 * row < b.height; row++)
        for (let column = 0; 3 + 9 * column < b.width; column++) {
          const between = (step: number): boolean => (row % step) + (column % step) > 0;
          grids[between(4) ? (between(2) ? 2 : 1) : 0]!.push([3 + 9 * column, top + 6 * row]);
        }
      const steps = grids.flat();
      for (const [x, y] of steps) {
        host.dispatchEvent(
          new PointerEvent('pointermove', { bubbles: true, clientX: b.x + x!, clientY: b.y + y! }),
        );
        await tick();
        if (wanted.test((status.textContent ?? '').trim())) return { x: b.x + x!, y: b.y + y! };
      }
      return undefined;
    },
    [view, mark.source, await boxOf(page, view), from] as const,
  );
}

/** Two frames: what was asked for is drawn in the next one. */
export async function frames(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Waits until the page has the answers to its questions, and has drawn them. */
export async function quiet(page: Page): Promise<void> {
  do {
    while (unanswered(page) > 0) await new Promise((done) => setTimeout(done, 20));
    await frames(page);
  } while (unanswered(page) > 0);
}

/** Opens the table of a view with its key, which does nothing until the view has an answer. */
export async function openTable(page: Page, view: string): Promise<Locator> {
  const dialog = page.getByRole('dialog');
  await expect
    .poll(async () => {
      if ((await dialog.count()) === 0) {
        await page.locator(`[data-view="${view}"]`).focus();
        await page.keyboard.press('t');
        await frames(page);
      }
      return dialog.locator('tbody tr').count();
    })
    .toBeGreaterThan(0);
  return dialog;
}

export async function closeTable(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

const PICTURES = process.env['ISOBATH_PICTURES'];

/**
 * Takes a picture of the guide into the folder named by ISOBATH_PICTURES, or
 * checks that it could be taken. One of the documents shows it.
 */
export async function picture(page: Page, name: string, ...documents: string[]): Promise<void> {
  await quiet(page);
  if (PICTURES) mkdirSync(join(ROOT, PICTURES), { recursive: true });
  const shot = await page.screenshot(PICTURES ? { path: join(ROOT, PICTURES, `${name}.png`) } : {});
  expect(shot.length).toBeGreaterThan(20_000);
  expect(documents.map((d) => readFileSync(join(ROOT, d), 'utf8')).join('')).toContain(`${name}.png`);
}

/** Waits for the exact words of the status line. */
export async function status(page: Page, text: string): Promise<void> {
  await plain(page.locator('[data-status]'), text);
}

/** Waits for the text of an element, narrow spaces taken for spaces. */
export async function plain(at: Locator, text: string | RegExp): Promise<void> {
  const shown = expect.poll(async () => (await at.innerText()).replace(/\s+/g, ' ').trim());
  await (typeof text === 'string' ? shown.toBe(text) : shown.toMatch(text));
}

/** Waits until the upper layer of a view has, or has not, something on it. */
export async function drawn(page: Page, view: string, yes: boolean): Promise<void> {
  await page.waitForFunction(
    ([name, wanted]) => {
      const canvas = document.querySelectorAll<HTMLCanvasElement>(`[data-view="${name}"] canvas`)[1];
      if (!canvas || canvas.width === 0) return false;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return data.some((v) => v !== 0) === wanted;
    },
    [view, yes] as const,
  );
}

/** What a layer of a view shows, to be compared: 0 is the lower, 1 the upper, 2 the one with lines. */
export async function pixels(page: Page, view: string, layer: 0 | 1 | 2): Promise<string> {
  await frames(page);
  return page.evaluate(
    ([name, k]) =>
      document.querySelectorAll<HTMLCanvasElement>(`[data-view="${name}"] canvas`)[k]!.toDataURL(),
    [view, layer] as const,
  );
}
