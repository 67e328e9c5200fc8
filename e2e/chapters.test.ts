// The help of every page leads to its chapter of the guide, which is there.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { study, trial } from './executions';
import { browse, start, type Browser, type Running } from './harness';
import { quiet } from './page';

const PAGES: [page: string, chapter: string, serve: () => readonly string[]][] = [
  ['Memory', 'slow-stencil', () => ['demo']],
  ['Messages', 'late-ranks', () => ['demo', 'messages']],
  ['Cycles', 'loops', () => ['demo', 'cycles']],
  ['Locality', 'locality', () => ['demo', 'locality']],
  ['Mesh', 'mesh', () => ['demo', 'mesh']],
  ['Trial', 'did-it-help', () => ['open', trial()]],
  ['Study', 'did-it-help', () => ['open', study()]],
];

describe.each(PAGES)('the %s page', (_, chapter, serve) => {
  let server: Running;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    [server, browser] = await Promise.all([start(...serve()), browse({ width: 1440, height: 900 })]);
    ({ page } = await browser.open(server.url));
    await page.locator('[data-view], table').first().waitFor();
    await quiet(page);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  it('leads to its chapter', async () => {
    await page.keyboard.press('?');
    const link = page.getByRole('dialog').getByRole('link', { name: /^how to read the/ });
    const href = await link.getAttribute('href');
    expect(href).toBe(`/guide/${chapter}`);
    const answer = await page.request.get(new URL(href!, server.url).href);
    expect(answer.status()).toBe(200);
    expect(await answer.text()).toContain('<h1');
    await page.keyboard.press('Escape');
  });
});
