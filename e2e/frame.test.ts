// What all pages share: requests that fail, a server that goes and comes back,
// keys and undo of the page they are pressed on, links that make no sense.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Page, Route } from 'playwright-core';
import { browse, fixture, shared, start, type Browser, type Running } from './harness';
import { boxOf, find, linkOf, opened, plain, quiet, whereOf } from './page';
import { show } from './suite';

const RING = fixture('otf2/ring16');
const LULESH = shared('samples/lulesh_legacy');
const N = 15676;

const seen = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('alert').filter({ hasText: text }).first().waitFor();

/** Answers as a handler does that failed. */
const broken = (route: Route): Promise<void> =>
  route.fulfill({
    status: 500,
    contentType: 'application/json',
    body: JSON.stringify({ error: 'the server failed at this question', hint: 'its log says where' }),
  });

const PAGES: readonly [title: string, serve: readonly string[], asked: RegExp][] = [
  ['Trace', ['open', RING], /\/trace/],
  ['Cycles', ['demo', 'cycles'], /\/cycles/],
  ['Mesh', ['demo', 'mesh'], /\/mesh(\/|$)/],
];

describe.each(PAGES)('the page %s', (title, serve, asked) => {
  let server: Running;
  let browser: Browser;
  let open = async (): Promise<Page> => {
    [server, browser] = await Promise.all([start(...serve), browse()]);
    open = async () => (await browser.open(server.url)).page;
    return open();
  };
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });
  const turn = async (page: Page): Promise<void> => {
    const tab = page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: title });
    await tab.click();
    await expect.poll(() => tab.getAttribute('aria-current')).toBe('page');
  };

  it('says a failure as a sentence, asks once, and again when told to', async () => {
    const page = await open();
    await turn(page);
    await quiet(page);
    let requests = 0;
    await page.route(asked, async (route) => {
      requests++;
      await broken(route);
    });
    await page.reload();
    await seen(page, 'the server failed at this question its log says where');
    await new Promise((done) => setTimeout(done, 1500));
    expect(requests).toBeLessThan(12);
    await page.unroute(asked);
    await page.getByRole('button', { name: 'Retry' }).first().click();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.close();
  });

  it('says that the server is gone, and comes back by itself', async () => {
    const page = await open();
    await turn(page);
    await quiet(page);
    let requests = 0;
    await page.route('**/api/v1/**', async (route) => {
      requests++;
      await route.abort();
    });
    await page.keyboard.press('Control+KeyK'); // something that asks
    await page.keyboard.type('loop');
    await seen(page, 'isobath has stopped');
    const before = requests;
    await new Promise((done) => setTimeout(done, 3000));
    expect(requests - before).toBeLessThan(8);
    await page.unroute('**/api/v1/**');
    await page.getByText('isobath has stopped').waitFor({ state: 'detached' });
    await page.close();
  });

  it('can be loaded again if its code did not come', async () => {
    const page = await open();
    await page.route(new RegExp(`assets/${title}Page`), (route) => route.abort());
    await turn(page).catch(() => {});
    await page.reload();
    if ((await page.getByRole('navigation', { name: 'Pages' }).count()) > 0) await turn(page);
    await seen(page, 'This page could not be loaded');
    await page.unroute(new RegExp(`assets/${title}Page`));
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.close();
  });
});

describe('two runs of one name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isobath-twice-'));
  let page: Page;
  afterAll(() => rmSync(folder, { recursive: true }));
  show(
    {
      serve: () => {
        for (const when of ['before', 'after']) cpSync(RING, join(folder, when, 'ring'), { recursive: true });
        return ['open', join(folder, 'before', 'ring'), join(folder, 'after', 'ring')];
      },
      ready: async (p) => {
        await p.getByRole('button', { name: /^Runs/ }).waitFor();
      },
    },
    (s) => ({ page } = s),
  );

  it('are both in the menu', async () => {
    await page.getByRole('button', { name: /^Runs/ }).click();
    const items = page.getByRole('menuitemradio');
    await expect.poll(() => items.count()).toBeGreaterThan(0);
    const words = await items.allInnerTexts();
    if (words.length === 2) {
      expect(words.join()).toMatch(/1 of 2[^]*2 of 2/);
      await items.nth(1).click();
      await expect.poll(async () => (await linkOf(page)).get('run')).toBeTruthy();
    }
    expect(words.length).toBe(2);
  });
});

describe('the trace page', () => {
  let page: Page;
  show(
    {
      serve: () => ['open', RING],
      ready: async (p) => {
        await p.waitForFunction(() => performance.getEntriesByName('draw Logical timeline').length > 0);
      },
    },
    (s) => ({ page } = s),
  );

  it('zooms rows with Ctrl+Shift+wheel', async () => {
    const b = await boxOf(page, 'Logical timeline');
    await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2);
    await page.keyboard.down('Control');
    await page.keyboard.down('Shift');
    await page.mouse.wheel(0, -120);
    await page.keyboard.up('Shift');
    await page.keyboard.up('Control');
    await expect.poll(async () => (await linkOf(page)).get('o.t.rows')).toMatch(/^\d+\.\.\d+$/);
    expect((await linkOf(page)).get('o.t.steps')).toBeNull();
  });

  it('undoes its own steps, and keys of the selection do nothing on it', async () => {
    await page.mouse.move(2, 2);
    await page.keyboard.press('KeyI');
    await page.keyboard.press('KeyH');
    expect(await whereOf(page)).toBe('');
    expect((await linkOf(page)).get('f')).toBeNull();
    await page.keyboard.press('Control+KeyZ');
    await expect.poll(async () => (await linkOf(page)).get('o.t.rows')).toBeNull();
    await page.keyboard.press('Control+KeyY');
    await expect.poll(async () => (await linkOf(page)).get('o.t.rows')).toMatch(/\.\./);
  });
});

describe.skipIf(!LULESH)('the memory page', () => {
  let page: Page;
  let server: Running;
  show({ serve: () => ['open', LULESH!], each: true, ready: (p) => opened(p, N) }, (s) => {
    ({ page, server } = s);
  });

  it('gives up a brush on Escape', async () => {
    const b = await boxOf(page, 'Parallel coordinates');
    const x = b.x + b.width * 0.06;
    await page.mouse.move(x, b.y + 80);
    await page.mouse.down();
    await page.mouse.move(x, b.y + 120, { steps: 3 });
    await page.mouse.move(x, b.y + 150, { steps: 3 });
    await expect.poll(() => whereOf(page)).not.toBe('');
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await expect.poll(() => whereOf(page)).toBe('');
    await quiet(page);
    await plain(page.getByRole('status', { name: 'Samples selected' }), 'Everything 15 676 samples');
  });

  it('starts the second brush by keys at its own mark', async () => {
    const brushed = async (down: number): Promise<string> => {
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Digit6');
      for (let i = 0; i < down; i++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Shift+ArrowDown');
      await page.keyboard.press('Enter');
      await quiet(page);
      return whereOf(page);
    };
    const first = await brushed(3);
    expect(first).not.toBe('');
    await brushed(8);
    await page.keyboard.press('Control+Shift+KeyA');
    expect(await brushed(3)).toBe(first);
  });

  it.each(['v=-1e16', 'v=1&s=addr+in+0x7f0000000000..0x7fffffffffff&bottom=axis&axis=addr'])(
    'opens on #%s',
    async (link) => {
      await page.goto('about:blank');
      await page.goto(`${server.url}&${link}`);
      await page.getByRole('status', { name: 'Samples selected' }).waitFor();
      await quiet(page);
      await find(page, 'Top offenders', /^m_/);
    },
  );

  it('writes the address seldom while a brush moves, and in the end what is selected', async () => {
    await page.evaluate(() => {
      const { replaceState } = history;
      (globalThis as { writes?: number }).writes = 0;
      history.replaceState = function (...args) {
        (globalThis as { writes?: number }).writes!++;
        replaceState.apply(this, args);
      };
    });
    const b = await boxOf(page, 'Parallel coordinates');
    await page.mouse.move(b.x + b.width * 0.06, b.y + 70);
    await page.mouse.down();
    const began = Date.now();
    for (let i = 0; i < 150; i++) await page.mouse.move(b.x + b.width * 0.06, b.y + 76 + i);
    const seconds = (Date.now() - began) / 1000;
    await page.mouse.up();
    await quiet(page);
    const writes = await page.evaluate(() => (globalThis as unknown as { writes: number }).writes);
    expect(writes).toBeLessThan(4 + 3 * seconds);
    expect(await whereOf(page)).not.toBe('');
  });
});
