// Guided analysis in the page: strips, clusters, glyphs and insights show what
// `isobath metrics`, `clusters` and `insights` print, and what is clicked is what
// `report --where` counts. Takes the pictures of the chapter "Let it guide you"
// into the folder named by ISOBATH_PICTURES.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './axe';
import { browse, isobath, samples, shared, start, type Browser, type Running } from './harness';
import { boxOf, counted, everything, find, linkOf, opened, picture, whereOf } from './page';
import { rowsOf } from './painted';
import { show } from './suite';

const LULESH = shared('samples/lulesh_legacy');
const CHAPTER = 'docs/guide/let-it-guide-you.md';
const N = 15676;

interface Part {
  readonly from: number;
  readonly to: number;
  readonly samples: number;
  readonly value: number | null;
  readonly where: string;
}

const said = (page: Page): Promise<string> =>
  page
    .locator('[data-status]')
    .innerText()
    .then((t) => t.replace(/\s+/g, ' ').trim());

describe.skipIf(!LULESH)('guided analysis of the LULESH samples', () => {
  let server: Running;
  let browser: Browser;
  let page: Page;
  show(
    { serve: () => ['open', LULESH!], each: true, ready: (p) => opened(p, N) },
    (s) => ({ server, browser, page } = s),
  );

  const verb = <T>(name: string, ...args: string[]): T =>
    JSON.parse(isobath(name, LULESH!, ...args, '--json')) as T;
  const windows = (...args: string[]): readonly Part[] =>
    verb<{ windows: Part[] }>('metrics', '--axis', 'time', ...args).windows;
  const clusters = (...args: string[]): readonly Part[] =>
    verb<{ clusters: Part[] }>('clusters', '--axis', 'time', '--metric', 'latency', '--depth', 'L2', ...args)
      .clusters;

  async function agrees(expected?: number): Promise<void> {
    const n = samples(LULESH!, await whereOf(page));
    if (expected !== undefined) expect(n).toBe(expected);
    await counted(page, n, N);
  }

  /** Opens the single axis and waits for strips and clusters. */
  async function oneAxis(): Promise<void> {
    await page.getByRole('tab', { name: 'One axis' }).click();
    await page.getByRole('slider', { name: 'Number of clusters' }).waitFor();
    await summary(/6 clusters by average latency · L2/);
  }

  async function summary(text: RegExp): Promise<void> {
    const id = await page.getByRole('application', { name: 'One axis' }).getAttribute('aria-describedby');
    await page.locator(`[id="${id}"]`).filter({ hasText: text }).waitFor({ state: 'attached' });
  }

  async function choose(menu: RegExp, item: string | RegExp): Promise<void> {
    await page.getByRole('button', { name: menu }).click();
    await page
      .getByRole('menuitemradio', { name: item, ...(typeof item === 'string' && { exact: true }) })
      .click();
  }

  /** The rows of the view's CSV. */
  async function rows(view: string): Promise<Record<string, string>[]> {
    await page.getByRole('application', { name: view }).focus();
    await page.keyboard.press('Shift+F10');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export CSV' }).click(),
    ]);
    return rowsOf(readFileSync(await download.path(), 'utf8'));
  }

  function match(got: readonly Record<string, string>[], want: readonly Part[]): void {
    const ends = got.map((r) =>
      ['from', 'to'].map((end) => Object.entries(r).find(([n]) => n.startsWith(end))![1]),
    );
    expect(
      got.map((r, i) => [
        ...ends[i]!.map(Number),
        Number(r['samples']),
        r['value'] === '' ? null : Number(r['value']),
      ]),
    ).toEqual(want.map((w) => [w.from, w.to, w.samples, w.value]));
  }

  it('shows the windows and clusters that the verbs print', async () => {
    await oneAxis();
    const table = await rows('One axis');
    const part = (name: string): Record<string, string>[] => table.filter((r) => r['part'] === name);
    match(part('average latency · L2'), windows('--metric', 'latency', '--depth', 'L2', '--windows', '64'));
    match(part('imbalance · CPU'), windows('--metric', 'imbalance', '--depth', 'CPU', '--windows', '64'));
    match(
      table.filter((r) => /^Cluster \d of 6$/.test(r['part']!)),
      clusters('--cut', '6'),
    );
    await picture(page, 'guide-axis', CHAPTER);
  });

  it('selects a window; metric, number and kind of windows can be changed', async () => {
    await oneAxis();
    const [w] = windows('--metric', 'latency', '--depth', 'L2', '--windows', '64').slice(29);
    const p = await find(page, 'One axis', /^Window 30 of 64 /, 0.55);
    expect(await said(page)).toContain(
      `· ${w!.samples} samples · average latency at L2 ${w!.value!.toFixed(1)} cycles`,
    );
    await page.mouse.click(p.x, p.y);
    await agrees(w!.samples);
    expect(samples(LULESH!, w!.where)).toBe(w!.samples);
    await choose(/^Windows of the strips/, '16');
    await choose(/^Windows of the strips/, 'of equal numbers of samples');
    await choose(/^Metrics below the axis/, 'mean latency');
    await summary(/mean latency over 16 windows/);
    const link = await linkOf(page);
    expect([link.get('o.strip'), link.get('o.strip.windows'), link.get('o.strip.by')]).toEqual([
      'latency:L2,imbalance:CPU,mean',
      '16',
      'count',
    ]);
    // The strips are about everything but the brush of their own axis.
    match(
      (await rows('One axis')).filter((r) => r['part'] === 'mean latency'),
      windows('--metric', 'mean', '--windows', '16', '--equal-count'),
    );
  });

  it('previews a cluster with its glyph, and selects it', async () => {
    await oneAxis();
    const four = clusters('--cut', '6')[3]!;
    const p = await find(page, 'One axis', /^Cluster 4 of 6 /, 0.8);
    expect(await said(page)).toMatch(
      /^Cluster 4 of 6 · time 100\.44 – 107\.70 Gticks · 1 000 samples \(6\.4 %\), 400 shared with each neighbour · average latency at L2 79\.3 cycles/,
    );
    const card = page.locator('[data-glyph="Cluster 4 of 6"]');
    await card
      .filter({ hasText: /samples\s*1\s000/ })
      .filter({ hasText: /cycles\s*68\s998/ })
      .filter({ hasText: /latency · L2\s*79\.3/ })
      .filter({ hasText: /imbalance · CPU\s*2\.12/ })
      .waitFor();
    await expect
      .poll(() =>
        card.locator('canvas').evaluate((c: HTMLCanvasElement) =>
          c
            .getContext('2d')!
            .getImageData(0, 0, c.width, c.height)
            .data.some((v) => v > 0),
        ),
      )
      .toBe(true);
    const [box, view] = [(await card.boundingBox())!, await boxOf(page, 'One axis')];
    expect(box.y + box.height).toBeLessThan(p.y);
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(view.x + view.width);
    await picture(page, 'guide-cluster', CHAPTER);
    await page.mouse.click(p.x, p.y);
    expect(await whereOf(page)).toBe(four.where);
    await agrees(four.samples);
    await page.mouse.move(720, 20);
    await card.waitFor({ state: 'detached' });
  });

  it('cuts the tree by the slider, by keys, and by height', async () => {
    await oneAxis();
    const slider = page.getByRole('slider', { name: 'Number of clusters' });
    await slider.focus();
    for (const key of ['ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
    await summary(/4 clusters by/);
    match(
      (await rows('One axis')).filter((r) => r['part']!.startsWith('Cluster ')),
      clusters('--cut', '4'),
    );
    expect((await linkOf(page)).get('o.cluster.cut')).toBe('4');
    await choose(/^Above the axis/, 'merge tree');
    const box = await boxOf(page, 'One axis');
    await page.mouse.move(box.x + 700, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, box.y + 90, { steps: 5 });
    await page.mouse.up();
    const height = (await linkOf(page)).get('o.cluster.height');
    expect(Number(height)).toBeGreaterThan(0);
    expect((await linkOf(page)).get('o.cluster.cut')).toBeNull();
    const cut = clusters('--height', height!);
    await summary(new RegExp(`; ${cut.length} clusters by`));
    match(
      (await rows('One axis')).filter((r) => r['part']!.startsWith('Cluster ')),
      cut,
    );
    await find(page, 'One axis', /^Merge 24 of 24 · time 0 – 134\.97 Gticks · 15\s676 samples · joins /);
    await picture(page, 'guide-tree', CHAPTER);
  });

  it('compares clusters by glyphs, and other metrics make other clusters', async () => {
    await oneAxis();
    await choose(/^Above the axis/, 'glyphs');
    await expect
      .poll(() => page.evaluate(() => performance.getEntriesByName('redraw One axis').length))
      .toBeGreaterThan(2);
    await page.waitForLoadState('networkidle');
    const p = await find(page, 'One axis', /^Cluster 2 of 6 /);
    await picture(page, 'guide-glyphs', CHAPTER);
    await page.mouse.click(p.x, p.y);
    await agrees(4600);
    await choose(/^Metric of the clusters/, 'imbalance · CPU');
    await summary(/6 clusters by imbalance · CPU/);
    const want = verb<{ clusters: Part[] }>(
      'clusters',
      '--axis',
      'time',
      '--metric',
      'imbalance',
      '--depth',
      'CPU',
      '--cut',
      '6',
    ).clusters;
    match(
      (await rows('One axis')).filter((r) => r['part']!.startsWith('Cluster ')),
      want,
    );
  });

  it('works from the keyboard alone', async () => {
    await oneAxis();
    await page.keyboard.press('Digit6');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => said(page)).toMatch(/^time 0–/);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => said(page)).toMatch(/^Window 1 of 64 /);
    await page.keyboard.press('End');
    await expect.poll(() => said(page)).toMatch(/^Window 64 of 64 .* average latency at L2/);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => said(page)).toMatch(/^Window 64 of 64 .* imbalance at CPU/);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => said(page)).toMatch(/^Cluster 6 of 6 /);
    await page.keyboard.press('ArrowLeft');
    await page.locator('[data-glyph="Cluster 5 of 6"]').waitFor();
    await page.keyboard.press('Enter');
    await agrees(2800);
    await page.keyboard.press('KeyT');
    await page
      .getByRole('dialog', { name: 'One axis' })
      .getByRole('cell', { name: 'Cluster 5 of 6' })
      .waitFor();
    await page.keyboard.press('Escape');
  });

  it('shows strips beside parallel axes', async () => {
    await choose(/^Metric beside the axes/, 'average latency · L2');
    const p = await find(page, 'Parallel coordinates', /^Window 15 of 32 · time /);
    const [w] = windows('--metric', 'latency', '--depth', 'L2', '--windows', '32').slice(14);
    expect((await said(page)).replaceAll(' ', '')).toContain(
      `·${w!.samples}samples·averagelatencyatL2${w!.value!.toFixed(1)}cycles`,
    );
    await page.mouse.click(p.x, p.y);
    await agrees(w!.samples);
    await page.mouse.move(720, 20);
    await picture(page, 'guide-parallel', CHAPTER);
  });

  it('lists the insights that the verb prints; a click selects and shows the evidence', async () => {
    const { insights } = verb<{
      insights: {
        kind: string;
        text: string;
        where: string;
        view: string;
        axis?: string;
        stake: number;
        uncertainty?: number;
      }[];
    }>('insights');
    const pane = page.getByRole('region', { name: 'Insights' });
    await expect.poll(() => pane.locator('.sentence').allInnerTexts()).toEqual(insights.map((i) => i.text));
    await page.mouse.move(720, 20);
    await picture(page, 'guide-insights', CHAPTER);
    await pane.getByRole('button', { name: 'Why finding 1' }).click();
    await pane
      .getByText(/41\.6 ± 0\.7\s% of the latency is at stake .* ordered by 0\.099 = stake × 0\.95 surprise/)
      .waitFor();
    // The number and the bar of a finding are its stake, whatever orders the list.
    const shown = await pane.locator('.foot').evaluateAll((feet) =>
      feet.map((f) => ({
        stake: parseFloat(f.querySelector('.stake')!.textContent!),
        sure: !f.querySelector('.stake')!.textContent!.includes('±'),
        bar: Number(f.querySelector('.amount')!.getAttribute('width')),
      })),
    );
    for (const [i, { stake, uncertainty }] of insights.entries()) {
      expect(shown[i]!.sure).toBe(uncertainty === undefined); // of time it is not known
      expect(shown[i]!.stake).toBeCloseTo(100 * stake, 0);
      expect(shown[i]!.bar).toBeCloseTo(Math.max(1, 44 * stake), 3);
    }
    const phase = insights.findIndex((i) => i.kind === 'phase');
    await pane.locator('.sentence').nth(phase).click();
    expect(await whereOf(page)).toBe(insights[phase]!.where);
    await agrees(10331);
    const link = await linkOf(page);
    expect([link.get('bottom'), link.get('axis')]).toEqual(['axis', 'time']);
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toBe('One axis');
    for (const [i, in_] of insights.entries()) {
      await pane.getByRole('button', { name: `Select finding ${i + 1}`, exact: true }).click();
      await agrees(samples(LULESH!, in_.where));
    }
  });

  it('walks the insights by keys, and looks only into a selection', async () => {
    const pane = page.getByRole('region', { name: 'Insights' });
    await pane.locator('.sentence').first().waitFor();
    await page.keyboard.press('Digit5');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await whereOf(page)).toBe('file = LULESH_OMP.cc & line = 2035');
    await agrees(4061);
    await page.getByRole('button', { name: /^Insights over/ }).click();
    await page
      .getByRole('menuitem', { name: 'the selection as it is now' })
      .or(page.getByRole('menuitemradio', { name: 'the selection as it is now' }))
      .click();
    const { insights } = verb<{ insights: { text: string }[] }>(
      'insights',
      '--where',
      'file = LULESH_OMP.cc & line = 2035',
    );
    await expect.poll(() => pane.locator('.sentence').allInnerTexts()).toEqual(insights.map((i) => i.text));
    await page.getByRole('button', { name: /^Insights over/ }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export CSV' }).click(),
    ]);
    expect(
      readFileSync(await download.path(), 'utf8')
        .trim()
        .split('\n'),
    ).toHaveLength(1 + insights.length);
    await page.keyboard.press('Digit5');
    await page.keyboard.press('KeyT');
    await page
      .getByRole('dialog', { name: 'Insights' })
      .getByRole('cell', { name: insights[0]!.text })
      .waitFor();
    await page.keyboard.press('Escape');
    const link = page.url();
    const other = await browser.open(`${server.url}&${link.slice(link.indexOf('#') + 1)}`);
    await expect
      .poll(() => other.page.getByRole('region', { name: 'Insights' }).locator('.sentence').count())
      .toBe(insights.length);
    await other.page.close();
  });

  it('is restored by a link: metrics, windows, cut, what is above', async () => {
    const link =
      'v=1&bottom=axis&o.strip=mean&o.strip.windows=16&o.cluster=mean&o.cluster.cut=3&o.axis.show=tree&s=level+%3D+L2';
    const other = await browser.open(`${server.url}&${link}`);
    const host = other.page.getByRole('application', { name: 'One axis' });
    await host.waitFor();
    const id = await host.getAttribute('aria-describedby');
    await other.page
      .locator(`[id="${id}"]`)
      .filter({ hasText: /mean latency over 16 windows; 3 clusters by mean latency/ })
      .waitFor({ state: 'attached' });
    const want = verb<{ clusters: Part[] }>(
      'clusters',
      '--axis',
      'time',
      '--metric',
      'mean',
      '--cut',
      '3',
      '--where',
      'level = L2',
    ).clusters;
    const p = await find(other.page, 'One axis', /^Cluster 2 of 3 /, 0.8);
    await other.page.mouse.click(p.x, p.y);
    // The cluster is one of L2 samples: that clause stays.
    expect(await whereOf(other.page)).toBe(`level = L2 & ${want[1]!.where}`);
    await counted(other.page, want[1]!.samples, N);
    expect(other.problems).toEqual([]);
    await other.page.close();
  });

  it('says what it is doing, can be stopped, and begins again', async () => {
    const context = browser.context;
    const slow = await context.newPage();
    await slow.addInitScript(() => {
      const real = window.fetch.bind(window);
      let first = true;
      window.fetch = (input, init) => {
        if (!String(input).endsWith('/insights') || !first) return real(input, init);
        first = false;
        // A search that never ends by itself.
        return new Promise((resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
          resolve(
            new Response(
              new ReadableStream({
                start: (c) =>
                  c.enqueue(
                    new TextEncoder().encode(
                      'event: progress\ndata: {"stage":"looking for phases","done":7,"total":14}\n\n',
                    ),
                  ),
              }),
            ),
          );
        });
      };
    });
    await slow.goto(server.url);
    const pane = slow.getByRole('region', { name: 'Insights' });
    await pane
      .getByRole('status')
      .filter({ hasText: /looking for phases 50\.0\s%/ })
      .waitFor();
    await pane.getByRole('button', { name: 'Cancel' }).click();
    await pane.getByText('The search was cancelled.').waitFor();
    await pane.getByRole('button', { name: 'Look again' }).click();
    await pane.locator('.sentence').first().waitFor();
    await slow.close();
  });

  it('has no accessibility violations, in both themes', async () => {
    await oneAxis();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await find(page, 'One axis', /^Cluster 2 of 6 /, 0.8);
      await page.locator('[data-glyph]').waitFor();
      expect(await violations(page, colorScheme === 'dark' ? { colours: true } : {})).toEqual([]);
    }
  });

  it.each([
    [1280, 720],
    [2560, 1440],
  ])('is drawn whole at %i × %i in both themes', async (width, height) => {
    await page.setViewportSize({ width, height });
    const spare = (): Promise<number> =>
      page.locator('section[aria-label="Axes"] header').evaluate((h) => h.clientWidth - h.scrollWidth);
    await choose(/^Metric beside the axes/, 'average latency · L2');
    expect(await spare()).toBeGreaterThanOrEqual(0);
    await oneAxis();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expect
        .poll(() => page.evaluate(() => document.documentElement.dataset['theme']))
        .toBe(colorScheme);
      for (const above of ['merge tree', 'glyphs', 'histogram']) {
        await choose(/^Above the axis/, above);
        expect(await spare()).toBeGreaterThanOrEqual(0);
      }
      const overflow = await page.evaluate(
        () =>
          document.documentElement.scrollWidth > innerWidth ||
          document.documentElement.scrollHeight > innerHeight,
      );
      expect(overflow).toBe(false);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });
});

describe('guided analysis of data that has little', () => {
  it('says what is missing instead of showing nothing', async () => {
    const browser = await browse({ width: 1440, height: 900 });
    const server = await start('open');
    const { page, problems } = await browser.open(server.url);
    const csv =
      'cpu,latency,level\n' +
      Array.from({ length: 500 }, (_, i) => `${i % 4},${10 + (i % 7)},L${1 + (i % 3)}\n`).join('');
    await page.getByRole('heading', { name: 'Nothing is open' }).waitFor();
    const data = await page.evaluateHandle((text) => {
      const d = new DataTransfer();
      d.items.add(new File([text], 'little.csv'));
      return d;
    }, csv);
    await page.dispatchEvent('body', 'drop', { dataTransfer: data });
    await everything(page, 500);
    await page.getByText('Nothing stands out.').waitFor();
    await page.getByRole('tab', { name: 'One axis' }).click();
    await page.getByRole('button', { name: /^Metrics below the axis/ }).click();
    // No topology: no metric of a depth is offered.
    expect(await page.getByRole('menuitemradio').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringContaining('mean latency')]),
    );
    expect((await page.getByRole('menuitemradio').allInnerTexts()).join()).not.toContain('imbalance');
    await page.keyboard.press('Escape');
    const p = await find(page, 'One axis', /^Cluster 1 of /, 0.7);
    await page.mouse.move(p.x, p.y);
    await page.locator('[data-glyph]').getByText('no hardware topology in this run').waitFor();
    expect(problems).toEqual([]);
    await browser.close();
    await server.stop();
  });
});
