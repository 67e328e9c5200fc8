// The mesh page: on the built-in run, on real samples with LULESH's dumps, and
// on mesh files alone. What it says is compared with `isobath mesh`. It also
// takes the pictures of the guide's chapter.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, isobath, ROOT, shared, start, type Browser, type Running } from './harness';
import { boxOf, counted, everything, linkOf, whereOf } from './page';

const PICTURES = process.env['ISOBATH_PICTURES'];
const DUMPS = shared('mesh/lulesh');
const SAMPLES = shared('samples/lulesh_legacy');
const CAN = shared('mesh/vtk/can.vtu');

let browser: Browser;
beforeAll(async () => {
  if (PICTURES) mkdirSync(join(ROOT, PICTURES), { recursive: true });
  browser = await browse({ width: 1440, height: 900 });
});
afterAll(() => browser.close());

const words = async (page: Page, selector: string): Promise<string> => (await page.locator(selector).innerText()).replace(/\s+/g, ' ').trim();
const written = (n: number): string => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
const option = async (page: Page, name: string): Promise<string | null> => (await linkOf(page)).get(`o.m.${name}`);

/** The samples that the legend counts, by the words before them. */
async function used(page: Page): Promise<Record<string, number>> {
  return page.getByRole('region', { name: /^Legend/ }).first().locator('dl').evaluate((dl) => {
    const texts = (tag: string): string[] => [...dl.querySelectorAll(tag)].map((e) => e.textContent ?? '');
    const numbers = texts('dd').map((t) => Number(t.replace(/\s/g, '')));
    return Object.fromEntries(texts('dt').map((t, i) => [t, numbers[i]!]));
  });
}

async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(() => performance.getEntriesByName('draw Mesh').length > 0);
}

/** Colours in the middle of the picture: one if nothing is drawn. */
async function colours(page: Page): Promise<number> {
  return page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('[data-view="Mesh"] canvas')!;
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const g = copy.getContext('2d')!;
    g.drawImage(canvas, 0, 0);
    const { data } = g.getImageData(copy.width / 4, copy.height / 4, copy.width / 2, copy.height / 2);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}

async function picture(page: Page, name: string): Promise<void> {
  await page.mouse.move(720, 12);
  await page.waitForTimeout(500);
  const shot = await page.screenshot(PICTURES ? { path: join(ROOT, PICTURES, `${name}.png`) } : {});
  expect(shot.length).toBeGreaterThan(20_000);
  expect(readFileSync(join(ROOT, 'docs/guide/mesh.md'), 'utf8')).toContain(`${name}.png`);
}

async function violations(page: Page): Promise<string[]> {
  const found = await new AxeBuilder({ page }).analyze();
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join('; ')}`);
}

describe('the mesh of the built-in run', () => {
  let server: Running;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    server = await start('demo');
    ({ page, problems } = await browser.open(server.url));
    page.setDefaultTimeout(20_000);
    await everything(page, 92_959);
    await page.getByRole('button', { name: 'Mesh' }).click();
    await drawn(page);
  });
  afterAll(async () => {
    await page.close();
    await server.stop();
  });
  afterEach(() => expect(problems).toEqual([]));

  it('shows its surface, and what became of the samples', async () => {
    await expect.poll(() => words(page, '[data-faces]')).toBe('58 560 faces'); // 2 (192·20 + 192·120 + 20·120)
    expect(await used(page)).toEqual({ 'on a cell': 92_882, 'no cell': 77, 'out of range': 0 });
    await expect.poll(() => colours(page)).toBeGreaterThan(20);
    await page.getByText(/Spearman ρ = /).waitFor();
  });

  it('selects the samples of a cell by its button, and the Memory page has them', async () => {
    const first = page.getByRole('button', { name: /^Select cell/ }).first();
    const cell = Number((await first.getAttribute('aria-label'))!.replace(/\D/g, ''));
    await first.click();
    await expect.poll(() => whereOf(page)).toBe(`x = ${cell % 192} & y = ${Math.floor(cell / 192) % 20} & z = ${Math.floor(cell / 3840)}`);
    const number = async (): Promise<number> => Number(await page.getByRole('status', { name: 'Samples selected' }).locator('b').innerText());
    await expect.poll(number).toBeGreaterThan(0);
    const chosen = await number();
    await counted(page, chosen, 92_959);
    expect(await used(page)).toMatchObject({ 'on a cell': 92_882 }); // the colours stay
    await page.getByRole('row', { name: /cells with samples/ }).getByText('1 of 1').waitFor();
    await page.goBack(); // one step
    await expect.poll(() => whereOf(page)).toBe('');
  });

  it('colours what is selected elsewhere', async () => {
    await page.evaluate(() => {
      const hash = new URLSearchParams(location.hash.slice(1));
      hash.set('s', 'node = 1');
      location.hash = hash.toString();
    });
    await expect.poll(async () => (await used(page))['on a cell']).toBeLessThan(92_882);
    await page.goBack();
    await expect.poll(async () => (await used(page))['on a cell']).toBe(92_882);
  });

  it('slices and cuts, and shows physics beside', async () => {
    await page.getByRole('radio', { name: 'Slice' }).click();
    await page.getByRole('button', { name: /^Axis/ }).click();
    await page.getByRole('menuitemradio', { name: 'y' }).or(page.getByRole('menuitem', { name: 'y', exact: true })).first().click();
    await page.getByRole('slider', { name: 'Place of the slice' }).fill('0.525'); // y 10.5
    await expect.poll(() => words(page, '[data-faces]')).toBe(`${written(192 * 120)} faces`);
    await page.getByRole('button', { name: /^Show/ }).click();
    await page.getByRole('menuitemradio', { name: /side by side/ }).or(page.getByRole('menuitem', { name: /side by side/ })).first().click();
    await expect.poll(() => page.getByRole('region', { name: /^Legend/ }).count()).toBe(2);
    await expect.poll(() => colours(page)).toBeGreaterThan(20);
    await picture(page, 'mesh-demo');
    await page.getByRole('radio', { name: 'Threshold' }).click();
    await expect.poll(() => words(page, '[data-faces]'), { timeout: 15_000 }).toMatch(/ faces of 84 134 cells$/);
    await page.getByRole('radio', { name: 'Surface' }).click(); // half a million faces take a software renderer seconds
    await expect.poll(() => words(page, '[data-faces]'), { timeout: 30_000 }).toBe('58 560 faces');
  });

  it('goes through time by keys, and a link brings it all back', async () => {
    await page.getByRole('application', { name: 'Mesh' }).focus();
    await page.keyboard.press(',');
    await expect.poll(() => option(page, 'step')).toBe('6');
    await page.getByRole('radio', { name: 'only since the last dump' }).click();
    await expect.poll(() => words(page, '[data-taken]')).toBe('samples with 5 < iteration ≤ 6 on the mesh of dump 6');
    await expect.poll(async () => (await used(page))['no iteration'], { timeout: 15_000 }).toBe(3864);
    const before = await used(page);
    await page.getByRole('application', { name: 'Mesh' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => option(page, 'eye')).not.toBe(null);
    const link = await page.evaluate(() => location.href);
    const again = await browser.open(link.replace('#', `#k=${server.token}&`));
    await again.page.getByRole('radio', { name: 'only since the last dump', checked: true }).waitFor();
    await expect.poll(() => used(again.page)).toEqual(before);
    expect(again.problems).toEqual([]);
    await again.page.close();
  });
});

describe.skipIf(!DUMPS || !SAMPLES || !CAN)('the mesh page on real data', () => {
  const pattern = join(DUMPS ?? '', 'lulesh_c*.vtk');

  it('says what the command says, in all three modes', async () => {
    const server = await start('open', SAMPLES!, '--mesh', pattern);
    const { page, problems } = await browser.open(server.url);
    await everything(page, 15_676);
    await page.getByRole('button', { name: 'Mesh' }).click();
    await drawn(page);
    for (const [mode, label] of [['all', 'all samples'], ['upto', 'up to this dump'], ['only', 'only since the last dump']] as const) {
      await page.getByRole('radio', { name: label }).click();
      for (let k = 0; k < 2; k++) await page.getByRole('button', { name: /^Previous/ }).click(); // dump 300
      await expect.poll(() => words(page, '[data-taken]')).toMatch(/on the mesh of dump 300, time 0\.00284/);
      type Report = { covered: number; cells: number; counts: { used: number; no_cell: number; out_of_range: number } };
      const want = JSON.parse(isobath('mesh', SAMPLES!, '--mesh', pattern, '--mode', mode, '--iteration', '300', '--json')) as Report;
      await expect.poll(() => used(page)).toMatchObject({ 'on a cell': want.counts.used, 'no cell': want.counts.no_cell, 'out of range': want.counts.out_of_range });
      await page.getByRole('row', { name: /cells with samples/ }).getByText(new RegExp(`^${written(want.covered).replace(' ', '\\s')} of 8\\s000$`)).waitFor();
      for (let k = 0; k < 2; k++) await page.getByRole('button', { name: /^Next/ }).click();
    }
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await violations(page)).toEqual([]);
    }
    await picture(page, 'mesh-dark');
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('shows a file alone, and the cell under the pointer', async () => {
    const server = await start('open', CAN!);
    const { page, problems } = await browser.open(server.url);
    await drawn(page);
    await page.getByRole('status', { name: 'Mesh size' }).getByText(/4\s800 cells/).waitFor();
    await expect.poll(() => words(page, '[data-faces]')).toBe('3 680 faces');
    const box = await boxOf(page, 'Mesh');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await expect.poll(() => words(page, '[data-status]')).toMatch(/^Cell [\d\s]+ EQPS [\d.]+$/);
    const cell = /^Cell ([\d\s]+) EQPS/.exec(await words(page, '[data-status]'))![1]!.replace(/\s/g, '');
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await expect.poll(() => option(page, 'cell')).toBe(cell);
    // Dragging turns, and is one step back.
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2 + 30, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => option(page, 'eye')).toMatch(/^-?[\d.]+(,-?[\d.]+){5}$/);
    await page.goBack();
    await expect.poll(() => option(page, 'eye')).toBe(null);
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('shows dumps alone, deformed over time', async () => {
    const server = await start('open', '--mesh', pattern);
    const { page, problems } = await browser.open(server.url);
    await drawn(page);
    await expect.poll(() => words(page, '[data-faces]')).toBe('2 400 faces');
    await page.getByRole('radio', { name: 'Threshold' }).click();
    await page.getByRole('button', { name: /^Threshold by/ }).click();
    await page.getByRole('menuitemradio', { name: 'index z' }).or(page.getByRole('menuitem', { name: 'index z' })).first().click();
    await page.getByRole('slider', { name: 'Upper end of the threshold' }).fill('0.53'); // k ≤ 10
    await expect.poll(() => words(page, '[data-faces]')).toBe(`${written(2 * 400 + 4 * 220)} faces of ${written(4400)} cells`);
    await picture(page, 'mesh-lulesh');
    await page.getByRole('button', { name: /^Previous/ }).click();
    await expect.poll(() => words(page, '[data-taken]')).toMatch(/dump 420/);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });
});
