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

/** Serves and opens the page for the tests of a block; take gets what they use. */
export function show(how: How, take: (shown: Shown) => void): void {
  let server: Running;
  let browser: Browser;
  let page: Page;
  let problems: string[] = [];

  async function open(): Promise<void> {
    ({ page, problems } = await browser.open(server.url + (how.link ?? '')));
    take({ server, browser, page, problems });
    await how.ready(page);
  }

  beforeAll(async () => {
    [server, browser] = await Promise.all([start(...how.serve()), browse({ width: 1440, height: 900 })]);
    if (!how.each) await open();
  });
  if (how.each) beforeEach(open);
  afterEach(async () => {
    if (how.each) await page.close();
    expect(problems).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });
}
