// The help of every page leads to its chapter of the guide, which is there, and every
// column of its tables is in the glossary.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Term } from '../web/src/api/wire';
import { termOf } from '../web/src/frame/glossary';
import { study, trial } from './executions';
import { api, browse, start, type Browser, type Running } from './harness';
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

/** Heads that are names of the data: levels, runs, ranks, objects and variables. */
const OF_DATA: Readonly<Record<string, readonly string[]>> = {
  Memory: ['L1', 'LFB', 'L2', 'L3', 'Local RAM', 'Remote RAM'],
  Cycles: ['Inner loop 1'],
  Locality: ['rho', 'phi', 'ex', 'ey', '(no object)'],
  Mesh: ['u'],
};

/** The heads of the columns on the screen. */
const heads = (page: Page): Promise<string[]> =>
  page
    .locator('th:not([scope=row])')
    .evaluateAll((all) => all.map((e) => (e as HTMLElement).dataset['term'] ?? e.textContent.trim()));

/** Tabs, and choices of what is below a mesh, which are tabs by another look. */
const TABS =
  '[role=tab]:not(:disabled), [role=radiogroup][aria-label="Below the mesh"] [role=radio]:not(:disabled)';

/** The heads of the page and of the table of each of its views, also of those behind tabs. */
async function everyHead(page: Page): Promise<Set<string>> {
  const found = new Set<string>();
  const [views, tabs] = [new Set<string>(), new Set<string>()];
  const look = async (): Promise<void> => {
    for (const head of await heads(page)) found.add(head);
    // A view that has nothing to show has no table.
    const shown = await page
      .locator('[data-view]')
      .evaluateAll((all) =>
        all
          .filter((e) => document.getElementById(e.getAttribute('aria-describedby') ?? '')?.textContent)
          .map((e) => (e as HTMLElement).dataset['view']!),
      );
    for (const view of shown) {
      if (views.has(view)) continue;
      views.add(view);
      await page.locator(`[data-view="${view}"]`).first().focus();
      await page.keyboard.press('t');
      const table = page.getByRole('dialog');
      await table.locator('th').first().waitFor();
      for (const head of await heads(page)) found.add(head);
      await page.keyboard.press('Escape');
      await table.waitFor({ state: 'detached' });
    }
  };
  await look();
  // What is behind a tab comes with its code when it is first opened: once for that,
  // once to look.
  const first = await page.locator(TABS).count();
  for (let i = 0; i < first; i++) {
    await page.locator(TABS).nth(i).click();
    await quiet(page);
  }
  for (;;) {
    const names = await page.locator(TABS).allTextContents();
    const next = names.findIndex((n) => !tabs.has(n));
    if (next < 0) return found;
    tabs.add(names[next]!);
    await page.locator(TABS).nth(next).click();
    await quiet(page);
    await look();
  }
}

describe.each(PAGES)('the %s page', (name, chapter, serve) => {
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

  it('has every column of its tables in the glossary', async () => {
    const { terms } = (await (await api(server, 'GET', 'guide')).json()) as { terms: Term[] };
    const data = OF_DATA[name] ?? [];
    const wanted = [...(await everyHead(page))].filter((h) => h !== '' && !data.includes(h));
    expect(wanted.length).toBeGreaterThan(3);
    const unknown = wanted.filter((h) => !termOf(terms, h));
    expect(unknown).toEqual([]);
  });
});
