// What every view owes its users, and the ways of the parallel coordinates, on
// the real LULESH samples and the demo.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Download, Page } from 'playwright-core';
import type { Ask } from '../web/src/api/wire';
import { browse, isobath, samples, shared, type Browser, type Running } from './harness';
import { counted, drawn, everything, find, firstLoad, linkOf, opened, plain, pixels, whereOf } from './page';
import { show } from './suite';

const LULESH = shared('samples/lulesh_legacy');
const N = 15676;

describe.skipIf(!LULESH)('every view', () => {
  let server: Running;
  let browser: Browser;
  let page: Page;

  async function ready(): Promise<void> {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await counted(page, 2147, N);
  }
  show(
    { serve: () => ['open', LULESH!], link: '&v=1&s=latency+in+100..1790', each: true, ready },
    (s) => ({ server, browser, page } = s),
  );

  const views: [name: string, tab: string | undefined][] = [
    ['Top offenders', undefined],
    ['Topology', undefined],
    ['Statistics', undefined],
    ['Parallel coordinates', 'Parallel coordinates'],
    ['One axis', 'One axis'],
    ['Categories', 'Categories'],
  ];

  it('colours the topology by any measure of any column', async () => {
    const pane = page.getByRole('region', { name: 'Topology' });
    await pane.getByRole('button', { name: /^Colour by/ }).click();
    await page.getByRole('menuitemradio', { name: /^line/ }).click();
    await pane.getByRole('button', { name: /^Measure/ }).click();
    await page.getByRole('menuitemradio', { name: 'largest' }).click();
    await expect.poll(() => page.evaluate(() => location.hash)).toContain('line:largest');
    type Node = { id: string; type: string; value?: number; served_value?: number; children: Node[] };
    const tree = JSON.parse(
      isobath('topology', LULESH!, '--where', 'latency in 100..1790', '--by', 'line:largest', '--json'),
    ) as Node;
    const want: string[] = [];
    const walk = (n: Node): void => {
      if (n.type === 'CPU') want.push(n.value === undefined ? '' : String(n.value));
      n.children.forEach(walk);
    };
    walk(tree);
    await page.getByRole('application', { name: 'Topology' }).focus();
    await page.getByRole('button', { name: /^Export/ }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: /CSV/ }).first().click(),
    ]);
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines[0]).toContain('Largest of line');
    const got = lines.filter((l) => l.startsWith('CPU')).map((l) => l.split(',').at(-2)!);
    expect(got.sort()).toEqual(want.sort());
  });

  it.each(views)('%s has a cursor, words, a table and exports', async (name, tab) => {
    if (tab) await page.getByRole('tab', { name: tab }).click();
    const view = page.getByRole('application', { name });
    await view.waitFor();
    // Words for the whole: what it is, and n of N.
    await expect
      .poll(async () => (await view.locator('.sr').first().textContent())?.replace(/\s/g, ' '))
      .toContain('2 147 of 15 676 samples selected');
    // The cursor moves by keys and says where it is, to eyes and to screen readers.
    await view.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const words = async (): Promise<string> => (await page.locator('[data-status]').innerText()).trim();
    await expect.poll(words).not.toBe('');
    const plain = (s: string | null): string => (s ?? '').replace(/\s+/g, ' ').trim();
    const spoken = page.getByRole('status', { name: 'Mark' });
    await expect.poll(async () => plain(await spoken.textContent()) === plain(await words())).toBe(true);
    expect(plain(await spoken.textContent())).not.toBe('');
    const save = async (item: RegExp): Promise<Buffer> => {
      await view.focus();
      await page.getByRole('button', { name: /^Export/ }).click();
      const [file] = (await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item }).click(),
      ])) as [Download, void];
      return readFileSync((await file.path())!);
    };
    const tableRows = async (): Promise<number> => {
      await view.focus();
      await page.keyboard.press('KeyT');
      const table = page.getByRole('dialog', { name });
      await table.waitFor();
      await expect
        .poll(async () => (await table.innerText()).replace(/\s/g, ' '))
        .toContain('2 147 of 15 676 samples');
      const rows = Number(await table.getByRole('table').getAttribute('aria-rowcount'));
      await page.keyboard.press('Escape');
      await table.waitFor({ state: 'detached' });
      return rows;
    };
    // The table has the rows of the CSV, once all that belongs to the view, such
    // as its strip of windows, has been answered.
    await expect
      .poll(async () => {
        const rows = await tableRows();
        const csv = (await save(new RegExp(`^${name} as CSV`))).toString().trim().split('\n');
        return rows > 2 && csv.length === rows + 1;
      })
      .toBe(true);
    expect(
      [...(await save(new RegExp(`^${name} as PNG`))).subarray(1, 4)]
        .map((c) => String.fromCharCode(c))
        .join(''),
    ).toBe('PNG');
    const svg = (await save(new RegExp(`^${name} as SVG`))).toString();
    expect(svg).toMatch(/^<svg[^]*<\/svg>\s*$/);
    expect(svg.replaceAll('\u202f', ' ')).toContain('2 147 of 15 676 samples');
  });

  it('colours lines by the pair, the first or the second axis, hovers on their own scale, and fades the rest', async () => {
    const choose = async (item: RegExp): Promise<void> => {
      await page.getByRole('button', { name: /^Strength of lines/ }).click();
      await page
        .getByRole('menuitemradio', { name: item })
        .or(page.getByRole('menuitemcheckbox', { name: item }))
        .or(page.getByRole('menuitem', { name: item }))
        .first()
        .click();
    };
    const still = (): Promise<string> => pixels(page, 'Parallel coordinates', 2);
    const seen = new Set([await still()]);
    for (const mode of [/^first axis/, /^second axis/]) {
      await choose(mode);
      await expect.poll(async () => seen.has(await still())).toBe(false);
      seen.add(await still());
    }
    expect((await linkOf(page)).get('o.pc.strength')).toBe('right');
    await choose(/^pair/);
    await expect.poll(still).toBe([...seen][0]);

    await find(page, 'Parallel coordinates', /^CPU 6 /);
    await drawn(page, 'Parallel coordinates', true);
    const commonScale = await pixels(page, 'Parallel coordinates', 1);
    await choose(/^hover on its own scale/);
    await find(page, 'Parallel coordinates', /^CPU 6 /);
    await expect.poll(() => pixels(page, 'Parallel coordinates', 1)).not.toBe(commonScale);

    const slider = page.getByRole('slider', { name: 'Opacity of the rest' });
    await page.mouse.move(2, 2);
    const before = await still();
    await slider.focus();
    for (let i = 0; i < 8; i++) await page.keyboard.press('ArrowLeft');
    await expect.poll(async () => (await linkOf(page)).get('o.pc.rest')).toBe('60');
    await expect.poll(still).not.toBe(before);
    await page.keyboard.press('Home');
    await expect.poll(async () => (await linkOf(page)).get('o.pc.rest')).toBe('0');
  });

  it('names the value under the pointer: file and line, object, and what its samples are', async () => {
    const tip = async (mark: RegExp): Promise<string> => {
      await find(page, 'Parallel coordinates', mark);
      await page.locator('.tip').waitFor();
      await expect.poll(() => page.locator('.tip').innerText()).toContain('\n');
      return (await page.locator('.tip').innerText()).replace(/\s+/g, ' ');
    };
    expect(await tip(/^LULESH_OMP\.cc:2035 /)).toContain('all LULESH_OMP.cc:2035');
    await expect
      .poll(() => tip(/^Beyond L3 /))
      .toMatch(/mostly LULESH_OMP\.cc:\d+, [\d.]+ %.* mostly m_\w+, [\d.]+ %/);
  });

  it('jumps to the line most correlated with the hovered bin, unless told not to', async () => {
    const top = (where: string): number => {
      const report = JSON.parse(
        isobath('report', LULESH!, '--by', 'line', '--where', where, '--top', '1', '--json'),
      ) as { groups: { key: { line: number } }[] };
      return report.groups[0]!.key.line;
    };
    const [selected, hovered] = [top('latency in 100..1790'), top('latency in 100..1790 & level = L3')];
    expect(hovered).not.toBe(selected);
    const shown = page.getByRole('region', { name: 'Code' }).getByText(/^line \d+$/);
    await plain(shown, `line ${selected}`);
    await find(page, 'Parallel coordinates', /^L3 /);
    await plain(shown, `line ${hovered}`);
    await page.mouse.move(2, 2);
    await plain(shown, `line ${selected}`);
    await page.getByRole('switch', { name: 'Follow hover' }).click();
    await find(page, 'Parallel coordinates', /^L3 /);
    await drawn(page, 'Parallel coordinates', true);
    await plain(shown, `line ${selected}`);
  });

  it('passes on a long selection by a short link', async () => {
    await page.getByRole('tab', { name: 'Selection' }).click();
    const field = page.getByRole('textbox', { name: 'Selection as text' });
    const parts = Array.from({ length: 120 }, (_, i) => `latency in ${i * 15}..${i * 15 + 7}`);
    await field.fill(parts.join(' | '));
    await field.press('Enter');
    const n = samples(LULESH!, parts.join(' | '));
    await counted(page, n, N);
    expect((await page.evaluate(() => location.href)).length).toBeGreaterThan(2000);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Link copied' }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    // As it is, in another tab: the key is part of it.
    expect(link.length).toBeLessThan(100 + server.token.length);
    expect(link).toContain(`k=${server.token}&`);
    const other = await browser.open(link);
    await counted(other.page, n, N);
    expect(await whereOf(other.page)).toBe(await whereOf(page));
    await other.page.close();
    await page.getByRole('button', { name: 'Links' }).click();
    await page.getByRole('menuitem', { name: 'Copy link without key' }).click();
    await page.getByRole('button', { name: 'Link copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      link.replace(`k=${server.token}&`, ''),
    );
  });

  it('loads at most 110 KiB before the first picture, without the code view', async () => {
    // These samples come without sources, so the code view is not loaded. A new
    // profile: nothing of the page is in its cache.
    const fresh = await browse({ width: 1440, height: 900 });
    try {
      const first = await fresh.open(server.url);
      await opened(first.page, N);
      expect((await firstLoad(first.page)) / 1024).toBeLessThanOrEqual(110);
    } finally {
      await fresh.close();
    }
  });

  it('loads no more before the first picture if that comes long after the first answer', async () => {
    const fresh = await browse({ width: 1440, height: 900 });
    try {
      const { page } = await fresh.open('about:blank');
      // The code of the panes is there after an answer about totals alone, and what
      // they ask then takes two seconds.
      const totals = page.waitForResponse((r) => r.url().endsWith('/ask'));
      await page.route('**/assets/chunk-*.js', async (route) => {
        const code = await (await route.fetch()).text();
        if (code.includes('Height of top offenders')) await totals;
        await route.continue();
      });
      await page.route('**/ask', async (route) => {
        const { pairs } = JSON.parse(route.request().postData() ?? '{}') as Ask;
        if (pairs?.length) await new Promise((done) => setTimeout(done, 2000));
        await route.continue();
      });
      await page.goto(server.url);
      await opened(page, N);
      expect((await firstLoad(page)) / 1024).toBeLessThanOrEqual(110);
      await page.getByRole('region', { name: 'Insights' }).waitFor(); // and the rest follows
    } finally {
      await fresh.close();
    }
  });

  it('has the panes that come later without a first picture too', async () => {
    const { page } = await browser.open('about:blank');
    await page.route('**/ask', (route) =>
      route.fulfill({ status: 500, json: { error: 'the disk is full', hint: '' } }),
    );
    await page.goto(server.url);
    await page.getByRole('region', { name: 'Code' }).waitFor();
    expect(await page.evaluate(() => performance.getEntriesByName('draw Parallel coordinates').length)).toBe(
      0,
    );
    await page.close();
  });

  it('finds selections of a file again that is no run of ours', async () => {
    await page.keyboard.press('Control+KeyS');
    await page.getByText('The file itself is not changed').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('slow ones');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('tab', { name: 'Selection' }).click();
    await page.getByRole('heading', { name: 'Saved for this file' }).waitFor();
    await page.reload();
    await page.getByRole('tab', { name: 'Selection' }).click();
    await page.getByRole('button', { name: 'slow ones', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove slow ones' }).click();
  });
});

describe('the demo', () => {
  let page: Page;
  const ALL = 92959;
  show({ serve: () => ['demo'], ready: (p) => opened(p, ALL) }, (s) => ({ page } = s));

  it('previews a line of the source pane everywhere, without moving the text', async () => {
    const line = page.locator('.code').getByText('double d = unew[i] - u[i];').first();
    const box = (await line.boundingBox())!;
    await page.mouse.move(box.x + 20, box.y + box.height / 2);
    await expect
      .poll(async () => (await page.locator('[data-status]').innerText()).replace(/\s+/g, ' '))
      .toContain('stencil.c:104 · 13 359 samples selected');
    for (const view of ['Top offenders', 'Parallel coordinates', 'Statistics', 'Topology'])
      await drawn(page, view, true);
    expect((await line.boundingBox())!.y).toBe(box.y);
    await page.mouse.move(2, 2);
    await drawn(page, 'Parallel coordinates', false);
  });

  it('folds the code to the lines with samples, and opens what is asked for', async () => {
    const code = page.getByRole('region', { name: 'Code' });
    const folds = code.getByRole('button', { name: /^Show lines/ });
    expect(await folds.count()).toBe(0);
    await code.getByRole('button', { name: 'Places' }).click();
    await folds.first().waitFor();
    const label = (await folds.first().getAttribute('aria-label'))!;
    const [from, to] = label.match(/\d+/g)!.map(Number) as [number, number];
    expect(await folds.first().innerText()).toBe(`⋯ ${to - from + 1} lines`);
    await folds.first().click();
    await code.getByRole('button', { name: label }).waitFor({ state: 'detached' });
    await code.getByRole('button', { name: 'Places' }).click();
    await expect.poll(() => folds.count()).toBe(0);
  });

  it('previews a category', async () => {
    await page.getByRole('tab', { name: 'Categories' }).click();
    await find(page, 'Categories', /^\S+ .*of its/);
    for (const view of ['Top offenders', 'Statistics', 'Topology']) await drawn(page, view, true);
    await page.getByRole('tab', { name: 'Parallel coordinates' }).click();
    await everything(page, ALL);
  });

  it('draws remote traffic to the node that served it', async () => {
    await find(page, 'Topology', /^NUMA 0 /);
    await expect
      .poll(async () => (await page.locator('[data-status]').innerText()).replace(/\s+/g, ' '))
      .toMatch(/[\d ]+ for other nodes/);
  });
});
