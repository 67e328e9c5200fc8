// What goes wrong in real life: two runs of one name, answers that do not come, a
// server that goes, a range of addresses.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { browse, fixture, start, unanswered, type Browser, type Running } from './harness';
import { counted, everything, frames, linkOf, quiet, shown, whereOf } from './page';
import { serving, show } from './suite';

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
  // Two files are shown as a pair once both have been read; these tests are about each.
  const ready = async (p: Page): Promise<void> => {
    await p.getByRole('button', { name: 'End the comparison, show B alone' }).click();
    await everything(p, 30);
  };
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
    await shown(page, 'One axis');
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
    const wanted = page.getByRole('menuitemradio', { name: item }).first();
    // What the page draws anew meanwhile can close the menu.
    await expect
      .poll(async () => {
        if (!(await wanted.isVisible())) await page.getByRole('button', { name: menu }).first().click();
        return wanted.click({ timeout: 2000 }).then(
          () => true,
          () => false,
        );
      })
      .toBe(true);
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
    name: 'locality',
    serve: () => ['demo', 'cycles'],
    asks: /\/runs\/[^/]+\/locality/,
    view: 'Miss curve',
    change: choose(/^Machine/, 'present with L2.size=1M'),
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
    await shown(page, view);
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

describe('parts of the page whose code does not come', () => {
  let server: Running;
  let browser: Browser;
  serving(
    () => ['demo'],
    (s, b) => ([server, browser] = [s, b]),
  );

  const said = (page: Page): Locator =>
    page.getByRole('alert').filter({ hasText: /could not be loaded; is isobath still running/ });

  /** The button loads the page anew: what the old one has drawn does not count. */
  async function loadAgain(page: Page): Promise<void> {
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Load again' }).click()]);
  }

  async function opened(): Promise<Page> {
    const page = await browser.context.newPage();
    await page.goto(server.url);
    await shown(page, 'Parallel coordinates');
    await page.locator('.cm-content').waitFor(); // code that comes late says so by itself
    await quiet(page);
    return page;
  }

  /** From now on no code comes; returns what ends that. */
  async function without(page: Page): Promise<() => Promise<void>> {
    const assets = /\/assets\//;
    await page.route(assets, (route) => route.abort());
    return () => page.unroute(assets);
  }

  it('a page that is gone to says so, and loads again', async () => {
    const page = await opened();
    const come = await without(page);
    await page.getByRole('button', { name: 'Mesh', exact: true }).click();
    await said(page).first().waitFor();
    expect(await said(page).count()).toBe(1);
    await come();
    await loadAgain(page);
    await shown(page, 'Mesh');
    expect(await said(page).count()).toBe(0);
    await page.close();
  });

  it('the first code says so, and loads again', async () => {
    const page = await browser.context.newPage();
    const come = await without(page);
    await page.goto(server.url);
    await said(page).waitFor();
    await come();
    await loadAgain(page);
    await shown(page, 'Parallel coordinates');
    await page.close();
  });

  it('a page that a link names says so, and loads again', async () => {
    const first = await browser.context.newPage();
    const known = new Set<string>();
    first.on('request', (r) => known.add(r.url()));
    await first.goto(server.url);
    await shown(first, 'Parallel coordinates');
    await first.close();
    const page = await browser.context.newPage();
    let refused = true;
    await page.route(/\/assets\//, (route) =>
      refused && !known.has(route.request().url()) ? route.abort() : route.continue(),
    );
    await page.goto(`${server.url}&v=1&page=mesh`);
    await said(page).waitFor();
    refused = false;
    await loadAgain(page);
    await shown(page, 'Mesh');
    await page.close();
  });

  it('a pane says so, and loads again', async () => {
    const page = await opened();
    const come = await without(page);
    await page.getByRole('tab', { name: 'One axis' }).click();
    await said(page).waitFor();
    await come();
    await loadAgain(page);
    await shown(page, 'One axis');
    await page.close();
  });

  it('a dialog says so, and loads again', async () => {
    const page = await opened();
    const come = await without(page);
    await page.keyboard.press('?');
    await said(page).waitFor();
    await come();
    await loadAgain(page);
    await shown(page, 'Parallel coordinates');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.close();
  });
});

describe('a page that is left', () => {
  let server: Running;
  let browser: Browser;
  serving(
    () => ['demo'],
    (s, b) => ([server, browser] = [s, b]),
  );

  /** Remembers what waits for later: timers, and listeners of the window and the document. */
  function rememberWaiting(): void {
    const timers = new Set<number>();
    const listeners: { type: string; f: unknown; capture: boolean }[] = [];
    const later = window.setTimeout.bind(window);
    const never = window.clearTimeout.bind(window);
    window.setTimeout = ((f: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      const id: number = later(() => {
        timers.delete(id);
        f(...args);
      }, ms);
      timers.add(id);
      return id;
    }) as typeof window.setTimeout;
    window.clearTimeout = (id) => {
      timers.delete(id as number);
      never(id);
    };
    for (const target of [window, document] as EventTarget[]) {
      const [add, remove] = [target.addEventListener.bind(target), target.removeEventListener.bind(target)];
      type Args = Parameters<EventTarget['addEventListener']>;
      const find = ([type, f, how]: Args): (typeof listeners)[number] => {
        const capture = typeof how === 'object' ? how.capture === true : how === true;
        return (
          listeners.find((l) => l.type === type && l.f === f && l.capture === capture) ?? { type, f, capture }
        );
      };
      const forget = (l: (typeof listeners)[number]): void => {
        if (listeners.includes(l)) listeners.splice(listeners.indexOf(l), 1);
      };
      target.addEventListener = (...args: Args) => {
        const l = find(args);
        const how = typeof args[2] === 'object' ? args[2] : {};
        if (!listeners.includes(l)) listeners.push(l);
        if (how.once) add(args[0], () => forget(l), { once: true, capture: l.capture });
        how.signal?.addEventListener('abort', () => forget(l));
        add(...args);
      };
      target.removeEventListener = (...args: Args) => {
        forget(find(args));
        remove(...args);
      };
    }
    const waiting = (): Waiting => ({ timers: timers.size, listeners: listeners.map((l) => l.type).sort() });
    Object.assign(window, { waiting });
  }

  interface Waiting {
    readonly timers: number;
    readonly listeners: readonly string[];
  }

  it('leaves no timer, listener or stream behind', async () => {
    await browser.context.addInitScript(rememberWaiting);
    const { page, problems } = await browser.open(`${server.url}&v=1`);
    const at = async (name: string, view: string): Promise<void> => {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name }).click();
      await shown(page, view);
      await quiet(page);
    };
    const waiting = (): Promise<Waiting> =>
      page.evaluate(() => (window as unknown as { waiting(): Waiting }).waiting());
    const round = async (): Promise<void> => {
      await at('Mesh', 'Mesh');
      await page.mouse.move(600, 400, { steps: 3 }); // a hover that is about to be answered
      await at('Memory', 'Parallel coordinates');
      await page.locator('.cm-editor').waitFor(); // comes last, with listeners of its own
    };
    await round(); // loads code, which stays
    await page.evaluate(() => {
      addEventListener('resize', () => {});
      setTimeout(() => {}, 1e9);
    });
    const before = await waiting();
    expect([before.timers > 0, before.listeners.includes('resize')]).toEqual([true, true]); // it would be seen
    for (let i = 0; i < 3; i++) await round();
    await expect.poll(async () => (await waiting()).listeners).toEqual(before.listeners);
    await expect.poll(async () => (await waiting()).timers).toBeLessThanOrEqual(before.timers);
    await expect.poll(() => unanswered(page)).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe('a browser that zooms after the page is there', () => {
  let server: Running;
  let browser: Browser;
  serving(
    () => ['demo'],
    (s, b) => ([server, browser] = [s, b]),
  );

  it.each([
    ['memory', 'Parallel coordinates'],
    ['mesh', 'Mesh'],
  ])('has pictures of its new pixels on the page of %s', async (name, view) => {
    const { page, problems } = await browser.open(`${server.url}&v=1&page=${name}`);
    await shown(page, view);
    const devtools = await browser.context.newCDPSession(page);
    // A window of as many pixels of the screen holds fewer of the page.
    for (const ratio of [1.5, 1.25, 1]) {
      await devtools.send('Emulation.setDeviceMetricsOverride', {
        width: 1920 / ratio,
        height: 1200 / ratio,
        deviceScaleFactor: ratio,
        mobile: false,
      });
      // Every canvas of a view has a pixel for each of the screen.
      await page.waitForFunction((r) => {
        const all = [...document.querySelectorAll<HTMLCanvasElement>('[data-view] canvas')];
        return (
          devicePixelRatio === r &&
          all.length > 0 &&
          all.every(
            // The mesh that the page draws itself has two points of its own for each pixel.
            (c) => c.width >= c.clientWidth * r - 2 && c.width <= c.clientWidth * Math.ceil(r) + 2,
          )
        );
      }, ratio);
    }
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe('keys of the selection on pages that do not show it', () => {
  const QUIET_PAGES: readonly (readonly [name: string, serve: () => string[], view: string])[] = [
    ['trace', () => ['open', fixture('otf2/ring16')], 'Logical timeline'],
    ['cycles', () => ['demo', 'cycles'], 'Spiral'],
    ['locality', () => ['demo', 'cycles'], 'Misses over time'],
  ];
  let browser: Browser;
  beforeAll(async () => {
    browser = await browse({ width: 1440, height: 900 });
  });
  afterAll(() => browser?.close());

  it.each(QUIET_PAGES)('change nothing on the page of %s', async (name, serve, view) => {
    const server = await start(...serve());
    const { page } = await browser.open(`${server.url.replace(/&.*/, '')}&v=1&page=${name}&s=symbol+%3D+p`);
    await shown(page, view);
    await quiet(page);
    for (const key of ['i', 'k', 'h', 'Control+Shift+KeyA', 'Control+KeyZ', 'Control+KeyY']) {
      await page.keyboard.press(key);
      await frames(page);
      const link = await linkOf(page);
      expect([key, link.get('s'), link.get('f')]).toEqual([key, 'symbol = p', null]);
    }
    await page.close();
    await server.stop();
  });

  it('change what the bar shows on the page of the mesh, and undo there', async () => {
    const server = await start('demo');
    const { page } = await browser.open(`${server.url}&v=1&page=mesh&s=latency+%3E+200`);
    await shown(page, 'Mesh');
    const chip = page.getByRole('button', { name: /^Remove / });
    await chip.waitFor();
    await page.keyboard.press('i');
    await expect.poll(() => whereOf(page)).toBe('!latency > 200');
    await page.getByRole('button', { name: 'Remove !latency > 200' }).waitFor();
    await page.keyboard.press('Control+KeyZ');
    await expect.poll(() => whereOf(page)).toBe('latency > 200');
    await page.close();
    await server.stop();
  });
});
