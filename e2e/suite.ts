// The page as a block of tests sees it: a server and a browser for all of them,
// and in the end no problems.

import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, start, type Browser, type Running } from './harness';

export interface Shown {
  readonly server: Running;
  readonly browser: Browser;
  readonly page: Page;
  readonly problems: string[];
}

interface How {
  /** A verb and its arguments; makes the files they name, if it has to. */
  readonly serve: () => readonly string[];
  /** Waits until the page shows what the tests begin with. */
  readonly ready: (page: Page) => Promise<void>;
  readonly link?: string; // behind the address
  readonly each?: true; // every test has a page of its own, rather than all one
}

/** Serves for the tests of a block, with a browser in which they open pages; take gets both. */
export function serving(
  serve: () => readonly string[],
  take: (server: Running, browser: Browser) => void,
): void {
  let server: Running | undefined;
  let browser: Browser | undefined;
  beforeAll(async () => {
    [server, browser] = await Promise.all([start(...serve()), browse({ width: 1440, height: 900 })]);
    take(server, browser);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });
}

/** Serves and opens the page for the tests of a block; take gets what they use. */
export function show(how: How, take: (shown: Shown) => void): void {
  let server: Running;
  let browser: Browser;
  let page: Page | undefined;
  let problems: string[] = [];
  let ready = false;

  // A page that does not get ready is a failure of the test that needs it, which is
  // tried once more with another page as any test.
  async function open(): Promise<void> {
    if (ready) return;
    await page?.close();
    ({ page, problems } = await browser.open(server.url + (how.link ?? '')));
    take({ server, browser, page, problems });
    await how.ready(page);
    ready = true;
  }

  serving(how.serve, (s, b) => {
    server = s;
    browser = b;
  });
  beforeEach(open);
  afterEach(async ({ task }) => {
    if (how.each) {
      ready = false;
      await page?.close();
      page = undefined;
    } else if (task.result?.state === 'fail' && page && !page.isClosed()) {
      // What a test that failed left open would keep its second try from the page.
      for (let i = 0; i < 3 && (await page.getByRole('dialog').count()) > 0; i++)
        await page.keyboard.press('Escape');
    }
    expect(problems).toEqual([]);
  });
}
