// What goes wrong in real life: two runs of one name, answers that do not come, a
// server that goes, a range of addresses.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, fixture, start, type Browser } from './harness';
import { counted, everything } from './page';
import { show } from './suite';

const table = (rows: number): string =>
  'cpu,latency,addr\n' +
  Array.from({ length: rows }, (_, i) => `${i % 4},${10 + i},0x${(4096 + 64 * i).toString(16)}`).join('\n') +
  '\n';

describe('two runs of one file name', () => {
  let page: Page;
  let problems: string[];
  const folder = mkdtempSync(join(tmpdir(), 'isobath-faults-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function files(): string[] {
    return [20, 30].map((rows) => {
      const under = join(folder, String(rows));
      mkdirSync(under, { recursive: true });
      writeFileSync(join(under, 'samples.csv'), table(rows));
      return join(under, 'samples.csv');
    });
  }
  // Either may be read first.
  const ready = (p: Page): Promise<void> =>
    p
      .getByRole('status', { name: 'Samples selected' })
      .filter({ hasText: /Everything (20|30) samples/ })
      .waitFor();
  show({ serve: () => ['open', ...files()], ready }, (s) => ({ page, problems } = s));

  it('are two items of the menu, each can be shown, and undo ends with its run', async () => {
    for (const rows of [30, 20]) {
      await page.getByRole('button', { name: /^Runs/ }).click();
      const items = page.getByRole('menuitemradio', { name: /^samples/ });
      expect(await items.count()).toBe(2);
      await items.nth(rows === 20 ? 0 : 1).click();
      await everything(page, rows);
    }
    await page.keyboard.press('Control+KeyZ');
    await everything(page, 20);
    expect(problems).toEqual([]);
  });

  it('keep a range of addresses on one axis', async () => {
    await page.evaluate(() => {
      const link = new URLSearchParams(location.hash.slice(1));
      link.set('s', 'addr in 0x1000..0x10ff');
      link.set('bottom', 'axis');
      link.set('axis', 'addr');
      location.hash = link.toString();
    });
    await counted(page, 4, 20);
    await page.waitForFunction(() => performance.getEntriesByName('draw One axis').length > 0);
    expect(problems).toEqual([]);
  });

  it('have menus, tabs and choices that arrow keys walk through, and a button closes its menu', async () => {
    const runs = page.getByRole('button', { name: /^Runs/ });
    await runs.focus();
    await page.keyboard.press('ArrowDown');
    const focused = (): Promise<string> =>
      page.evaluate(() => (document.activeElement as HTMLElement).innerText.trim());
    const first = await focused();
    await page.keyboard.press('ArrowDown');
    expect(await focused()).not.toBe(first);
    await page.keyboard.press('Home');
    expect(await focused()).toBe(first);
    await page.keyboard.press('Escape');
    await runs.click();
    await page.getByRole('menu').waitFor();
    await runs.click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'One axis' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toBe('Categories');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    expect(await focused()).toBe('Parallel coordinates');
  });
});

interface Asking {
  readonly name: string;
  readonly serve: () => readonly string[];
  readonly asks: RegExp; // addresses of its questions
  readonly view: string;
  readonly change: (page: Page) => Promise<void>; // something that asks the server anew
}

const choose =
  (menu: RegExp, item: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: menu }).first().click();
    await page.getByRole('menuitemradio', { name: item }).first().click();
  };

/** Pages that ask for themselves. */
const PAGES: readonly Asking[] = [
  {
    name: 'mesh',
    serve: () => ['demo'],
    asks: /\/mesh/,
    view: 'Mesh',
    change: (page) => page.getByText('Slice', { exact: true }).click(),
  },
  {
    name: 'cycles',
    serve: () => ['demo', 'cycles'],
    asks: /\/cycles/,
    view: 'Spiral',
    change: (page) => page.getByRole('tab', { name: 'Projection' }).click(),
  },
  {
    name: 'trace',
    serve: () => ['open', fixture('otf2/ring16')],
    asks: /\/trace/,
    view: 'Logical timeline',
    change: choose(/^Rows/, 'by communicator'),
  },
];

describe.each(PAGES)('on the page of $name', ({ name, serve, asks, view, change }) => {
  let browser: Browser;
  const folder = mkdtempSync(join(tmpdir(), 'isobath-gone-'));
  beforeAll(async () => {
    browser = await browse({ width: 1440, height: 900 });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const REST = 1500; // ms in which it was hundreds of questions
  const MOST = 12; // each of a page's questions, once or twice

  it('a question that failed is not asked again at once; a server that goes is said, and its return', async () => {
    const args = [...serve(), '--token-file', join(folder, 'token')];
    const first = await start(...args);
    const page = await browser.context.newPage();
    let asked = 0;
    await page.route(asks, (route) => {
      asked++;
      return route.fulfill({ status: 500, contentType: 'application/json', body: '{"error":"broken"}' });
    });
    await page.goto(`${first.url.replace(/&.*/, '')}&v=1&page=${name}`);
    await page.getByText('broken').first().waitFor();
    await page.waitForTimeout(REST);
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(MOST);

    await page.unroute(asks);
    await page.getByRole('button', { name: 'Retry' }).first().click();
    await page.waitForFunction((v) => performance.getEntriesByName(`draw ${v}`).length > 0, view);
    await first.stop();
    const banner = page.locator('.banner').filter({ hasText: 'isobath has stopped' });
    await change(page);
    await banner.waitFor();
    const again = await start(...args, '--port', new URL(first.origin).port);
    await banner.waitFor({ state: 'detached' });
    await page.close();
    await again.stop();
  });
});
