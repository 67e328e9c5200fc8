// What a person sees who opens the page for the first time: three hints in the
// status line, once.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { browse, start, type Browser, type Running } from './harness';
import { find, opened, plain } from './page';

const N = 92959;
const HINTS = [
  /^Drag along an axis, or click any mark/,
  /^Shift adds .* Alt takes out/,
  /^Type what you look for/,
];

describe('first use', () => {
  let server: Running;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  beforeAll(async () => {
    [server, browser] = await Promise.all([start('demo'), browse({ width: 1440, height: 900, tour: true })]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** Opens the page in a browser that never had it. */
  async function visit(): Promise<Page> {
    ({ page, problems } = await browser.open(server.url));
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await opened(page, N);
    return page;
  }
  const hint = (n: number): Locator => page.getByRole('note', { name: `Hint ${n} of 3` });

  it('gives three hints, and none the next time', async () => {
    await visit();
    for (const [i, text] of HINTS.entries()) {
      await plain(hint(i + 1), text);
      await hint(i + 1)
        .getByRole('button', { name: /^(Next|Done)/ })
        .click();
    }
    await expect.poll(() => page.getByRole('note', { name: /^Hint/ }).count()).toBe(0);
    await page.reload();
    await opened(page, N);
    // Where a hint would be is what a click would do, and nothing else.
    await find(page, 'Top offenders', /^stencil\.c:104 /);
    await page.mouse.move(720, 20);
    await expect.poll(() => page.locator('[data-click]').count()).toBe(0);
    expect(await page.getByRole('note', { name: /^Hint/ }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('gives way to what a click would do, comes back, and can be sent away', async () => {
    await visit();
    await plain(hint(1), HINTS[0]!);
    await find(page, 'Top offenders', /^stencil\.c:104 /);
    await page.locator('[data-click]').waitFor();
    expect(await page.getByRole('note', { name: /^Hint/ }).count()).toBe(0);
    await page.mouse.move(720, 20);
    await hint(1).getByRole('button', { name: 'No more' }).click();
    await expect.poll(() => page.getByRole('note', { name: /^Hint/ }).count()).toBe(0);
    expect(await page.evaluate(() => localStorage.getItem('isobath-tour'))).toBe('done');
    expect(problems).toEqual([]);
    await page.close();
  });
});
