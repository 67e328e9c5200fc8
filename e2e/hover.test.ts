// Pointing at a mark of any view previews its samples in every other: what the
// page asks about is what the status line counts and what the command line
// counts for the same words. And what screen readers are told.

import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { isobath, samples, shared } from './harness';
import { counted, drawn, everything, find, opened } from './page';
import { show } from './suite';

const LULESH = shared('samples/lulesh_legacy');
const N = 15676;
const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');

describe.skipIf(!LULESH)('hovering', () => {
  let page: Page;
  let hover = ''; // the newest one that the page asked about

  async function ready(): Promise<void> {
    page.on('request', (r) => {
      // Questions beside the pictures go without a hover.
      if (r.url().endsWith('/ask'))
        hover = (JSON.parse(r.postData() ?? '{}') as { hover?: string }).hover || hover;
    });
    hover = '';
    await opened(page, N);
  }
  show({ serve: () => ['open', LULESH!], each: true, ready }, (s) => ({ page } = s));

  const said = async (): Promise<string> =>
    (await page.locator('[data-status]').innerText()).replace(/\s+/g, ' ').trim();

  const marks: [
    what: string,
    view: string,
    tab: string | undefined,
    mark: RegExp,
    where: string | RegExp,
    from?: number,
  ][] = [
    [
      'a source line',
      'Top offenders',
      undefined,
      /^LULESH_OMP\.cc:2035 /,
      'file = "LULESH_OMP.cc" & line = 2035',
    ],
    ['a data object', 'Top offenders', undefined, /^m_xd /, 'symbol = m_xd'],
    ['a resource', 'Topology', undefined, /^L3 #1 /, 'at L3:1'],
    ['a level', 'Statistics', undefined, /^Served by L3 /, 'level = L3'],
    ['a name on an axis', 'Parallel coordinates', undefined, /^CPU 6 /, 'cpu = 6'],
    [
      'a bin of an axis',
      'Parallel coordinates',
      undefined,
      /^latency 9\d/,
      /^latency >= [\d.]+ & latency < [\d.]+$/,
    ],
    ['a bin of one axis', 'One axis', 'One axis', /^time 6\d/, /^time >= \d+(\.\d+)? & time < \d+(\.\d+)?$/],
    ['a window of a metric', 'One axis', 'One axis', /^Window 4\d of /, /^time /, 0.5],
    ['a cluster', 'One axis', 'One axis', /^Cluster 4 of 6 /, /^time in /, 0.8],
    ['a category', 'Categories', 'Categories', /^m_xd .*of its/, 'symbol = m_xd'],
  ];

  it.each(marks)(
    '%s counts its samples as the command line does',
    async (_, view, tab, mark, where, from) => {
      if (tab === 'Categories') {
        await page.getByRole('tab', { name: tab }).click();
        await page.getByRole('button', { name: /^Axis:/ }).click();
        await page.getByRole('menuitemradio', { name: /^symbol/ }).click();
      } else if (tab) {
        await page.getByRole('tab', { name: tab }).click();
      }
      await find(page, view, mark, from ?? 0);
      if (typeof where === 'string')
        await expect.poll(() => hover.replace('/', '')).toContain(where.split(' & ').at(-1)!);
      else await expect.poll(() => hover).toMatch(where);
      // The pointer passes over other marks on its way, some of them without samples; the last
      // question counts.
      let n = 0;
      await expect
        .poll(async () => {
          n = samples(LULESH!, hover);
          return n > 0 && (await said()).includes(`${grouped(n)} `);
        })
        .toBe(true);
      expect(n).toBeGreaterThan(0);
      expect(n).toBeLessThan(N);
      // Other views draw the hovered samples.
      for (const other of ['Top offenders', 'Statistics', 'Topology']) await drawn(page, other, true);
      // What they cost is said once the answer is about them.
      const { latency } = JSON.parse(isobath('report', LULESH!, '--where', hover, '--json')) as {
        latency: number;
      };
      await expect.poll(said).toContain(`${grouped(latency)} cycles`);
      await page.mouse.move(720, 20);
      await drawn(page, 'Statistics', false);
    },
  );

  it('tells screen readers the selection and the mark: after a click, an undo, a command, and keys', async () => {
    // Both are live regions that stay in the document: only their text changes.
    const count = page.getByRole('status', { name: 'Samples selected' });
    const mark = page.getByRole('status', { name: 'Mark' });
    expect(await mark.getAttribute('aria-live')).toBe('polite');
    const region = await count.elementHandle();
    const told = async (): Promise<string> =>
      ((await region!.textContent()) ?? '').replace(/\s+/g, ' ').trim();
    const spoken = async (): Promise<string> =>
      ((await mark.textContent()) ?? '').replace(/\s+/g, ' ').trim();
    expect(await told()).toMatch(/^Everything 15 676 samples/);

    const p = await find(page, 'Top offenders', /^m_xd /);
    await expect.poll(spoken).toMatch(/^m_xd · 2 339 of its 2 339 samples selected/);
    await page.mouse.click(p.x, p.y);
    await counted(page, 2339, N);
    expect(await told()).toMatch(/^2 339 of 15 676 samples \(14\.9 %\) · [\d.]+ % of cycles$/);
    await page.mouse.move(720, 20);
    await expect.poll(spoken).toBe('');

    await page.keyboard.press('Control+KeyZ');
    await everything(page, N);
    expect(await told()).toMatch(/^Everything 15 676 samples/);

    await page.keyboard.press('Control+KeyK');
    await page.keyboard.type('l2 misses slow');
    const list = page.locator('#command-list[data-about="l2 misses slow"][data-complete="true"]');
    await list.waitFor();
    // The list says which suggestion is marked, and each how many samples it selects.
    const box = page.getByRole('combobox', { name: 'Command' });
    const active = page.locator(`#${await box.getAttribute('aria-activedescendant')}`);
    expect(await active.getAttribute('aria-selected')).toBe('true');
    expect((await active.innerText()).replace(/\s+/g, ' ')).toMatch(
      /select L2 misses and slowest 1 %.* \d+ of 15 676/,
    );
    await page.keyboard.press('Enter');
    await expect.poll(told).toMatch(/^\d+ of 15 676 samples/);
    const n = Number((await told()).split(' ')[0]);
    const where = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)).get('s')!;
    expect(where).toContain(' & ');
    expect(n).toBe(samples(LULESH!, where));

    await page.keyboard.press('Digit3');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(spoken).toMatch(/^NUMA 0 /);
    await page.keyboard.press('Escape');
    await expect.poll(spoken).toBe('');
  });
});
