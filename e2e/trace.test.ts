// The trace page on real traces: what it says is compared with `isobath steps`.
// It also takes the pictures of the guide's chapter on late ranks.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, isobath, ROOT, shared, start, type Browser, type Running } from './harness';
import { boxOf, find, linkOf, plain } from './page';

const PICTURES = process.env['ISOBATH_PICTURES'];
const RING = shared('otf2/ring16');
const TREE = shared('otf2/binomial16');
if (!RING) console.log('no shared data: the trace page is not tested');

interface Cause {
  readonly process: number;
  readonly operation: string;
  readonly step: number;
  readonly amount: number;
}

describe.skipIf(!RING || !TREE)('the trace page', () => {
  let server: Running;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let first: Cause;

  beforeAll(async () => {
    if (PICTURES) mkdirSync(join(ROOT, PICTURES), { recursive: true });
    first = (JSON.parse(isobath('steps', RING!, '--json', '--range', '0:31', '--threshold', '500us')) as { top: Cause[] }).top[0]!;
    [server, browser] = await Promise.all([start('open', RING!), browse({ width: 1440, height: 900 })]);
    ({ page, problems } = await browser.open(server.url));
    page.setDefaultTimeout(15_000);
    await drawn();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });
  afterEach(() => expect(problems).toEqual([]));

  const option = async (name: string): Promise<string | null> => (await linkOf(page)).get(`o.t.${name}`);
  const operations = (): Promise<string> => page.getByRole('status', { name: 'Operations' }).innerText();

  async function drawn(): Promise<void> {
    await page.waitForFunction(() => performance.getEntriesByName('draw Logical timeline').length > 0);
    await page.waitForFunction(() => performance.getEntriesByName('draw Physical timeline').length > 0);
  }

  async function picture(name: string): Promise<void> {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const shot = await page.screenshot(PICTURES ? { path: join(ROOT, PICTURES, `${name}.png`) } : {});
    expect(shot.length).toBeGreaterThan(20_000);
    expect(readFileSync(join(ROOT, 'docs/guide/late-ranks.md'), 'utf8')).toContain(`${name}.png`);
  }

  it('opens on the trace, with the same counts as the command', async () => {
    const report = JSON.parse(isobath('steps', RING!, '--json')) as { operations: number; processes: number; messages: number; partitions: number };
    expect(report.operations).toBe(512);
    await expect.poll(operations).toMatch(/512 operations · 16 processes · 240 messages · 17 partitions/);
    await expect.poll(() => page.getByRole('button', { name: 'Trace' }).getAttribute('aria-current')).toBe('page');
    await expect.poll(() => page.getByRole('button', { name: 'Memory' }).getAttribute('aria-disabled')).toBe('true');
  });

  it('leads with the mouse to the injected delay, as the command has it', async () => {
    // The last barrier is left out by dragging the window's edge.
    const box = await boxOf(page, 'Overview');
    const plot = { x: box.x + 56, w: box.width - 70 };
    await page.mouse.move(plot.x + plot.w, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(plot.x + (plot.w * 31) / 32, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => option('steps')).toBe('0..31');

    const entry = page.getByRole('region', { name: 'Causes' }).getByRole('button', { name: /Rank 11 entered/ });
    await entry.click();
    await expect.poll(() => option('cause')).toMatch(/^\d+$/);
    expect(first.process).toBe(11);
    await expect.poll(async () => (await entry.innerText()).replace(/\s+/g, ' ')).toContain(`${(first.amount / 1e6).toFixed(2)} ms`);
    const details = page.getByRole('region', { name: 'Details' });
    await details.getByText(`rank 11 · step ${first.step} · partition`).waitFor();
    await details.getByText('started here').waitFor();
  });

  it('follows the chain of a late receive, linked in both timelines', async () => {
    await find(page, 'Logical timeline', /^Rank 4 step 18, MPI_Recv/);
    await page.mouse.down();
    await page.mouse.up();
    const details = page.getByRole('region', { name: 'Details' });
    await details.getByText('inherited by message').waitFor();
    const ranks = details.locator('tbody tr td:first-child');
    await expect.poll(async () => (await ranks.allInnerTexts())[0]).toBe('11');
    await expect.poll(async () => (await ranks.allInnerTexts()).at(-1)).toBe('4');
    await page.mouse.move(720, 12);
    await picture('trace-ring');
    // The same operation is found in the physical timeline, and selects there too.
    const op = await option('op');
    await page.getByRole('button', { name: 'Select no operation' }).click();
    await find(page, 'Physical timeline', /^Rank 4 step 18, MPI_Recv/);
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(() => option('op')).toBe(op);
  });

  it('goes back one step at a time, and a copied link restores everything', async () => {
    const link = await page.evaluate(() => location.href);
    const again = await browser.open(link.replace('#', `#k=${server.token}&`));
    await again.page.getByRole('region', { name: 'Details' }).getByText('inherited by message').waitFor();
    expect(await again.page.evaluate(() => location.hash)).toBe(new URL(link).hash);
    expect(again.problems).toEqual([]);
    await again.page.close();
    await page.goBack();
    await expect.poll(() => option('op')).toBe(null);
    await page.goForward();
    await expect.poll(() => option('op')).not.toBe(null);
  });

  it('walks by keys alone from the cause to its victims', async () => {
    await page.getByRole('button', { name: 'Select no operation' }).click();
    await page.getByRole('region', { name: 'Causes' }).getByRole('button', { name: /Rank 11 entered/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Details' }).getByText(`rank 11 · step ${first.step} · partition`).waitFor();
    await page.getByRole('application', { name: 'Logical timeline' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.locator('[data-status]').innerText()).toMatch(/Rank 0\s+step 0/);
    for (const key of ['ArrowDown', 'ArrowRight', '.']) await page.keyboard.press(key);
    await expect.poll(() => page.locator('[data-status]').innerText()).toMatch(/Rank 1\s+step 2/);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Details' }).getByText('rank 1 · step 2 · partition').waitFor();
    await page.keyboard.press('w');
    await expect.poll(() => option('steps')).not.toBe('0..31');
    await page.keyboard.press('0');
    await expect.poll(() => option('steps')).toBe(null);
  });

  it('brushes time, and the steps follow', async () => {
    const box = await boxOf(page, 'Physical timeline');
    await page.mouse.move(box.x + 100, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 100, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => option('time')).toMatch(/^\d+\.\.\d+$/);
    await page.getByRole('button', { name: 'Show the time of the steps' }).click();
    await expect.poll(() => option('time')).toBe(null);
  });

  it('morphs from time to steps and back', async () => {
    await page.getByRole('button', { name: 'Morph' }).click(); // a cut, for motion is reduced
    const slider = page.getByRole('slider', { name: 'Morph from time to steps' });
    await expect.poll(() => slider.inputValue()).toBe('1');
    await find(page, 'Physical timeline', /^Rank 4 step 18, MPI_Recv/);
    await slider.focus();
    await page.keyboard.press('Home');
    await expect.poll(() => slider.inputValue()).toBe('0');
  });

  it('analyses again with other options, and says what they did', async () => {
    await page.getByRole('tab', { name: 'Structure' }).click();
    const details = page.getByRole('region', { name: 'Details' });
    await details.getByRole('checkbox', { name: /Merge until each leap/ }).check();
    const leaps = JSON.parse(isobath('steps', RING!, '--json', '--leaps')) as { partitions: number };
    await expect.poll(operations).toContain(`${leaps.partitions} partitions`);
    await details.getByRole('button', { name: 'Back to what suits this trace' }).click();
    await expect.poll(() => option('structure')).toBe(null);
  });

  it('lists functions, messages and clusters', async () => {
    await page.getByRole('tab', { name: 'Functions' }).click();
    const profile = (JSON.parse(isobath('steps', RING!, '--json', '--profile')) as { profile: { regions: { name: string; calls: number }[]; matrix: unknown[] } }).profile;
    const recv = profile.regions.find((r) => r.name === 'MPI_Recv')!;
    await plain(page.getByRole('row', { name: /^MPI_Recv/ }).locator('td').nth(1), String(recv.calls));
    await page.getByRole('tab', { name: 'Processes' }).click();
    await page.getByRole('img', { name: new RegExp(`${profile.matrix.length} pairs`) }).waitFor();
    await page.getByRole('button', { name: /rank \d+ and \d+ other/ }).first().click();
    await expect.poll(() => option('order')).toMatch(/^cluster:/);
    await page.getByRole('button', { name: /^Rows/ }).click();
    await page.getByRole('menuitemradio', { name: /by rank/ }).or(page.getByRole('menuitem', { name: /by rank/ })).click();
    await page.getByRole('tab', { name: 'Operation' }).click();
  });

  it('exports pictures and numbers', async () => {
    await page.getByRole('application', { name: 'Logical timeline' }).focus();
    for (const [format, least] of [['PNG', 10_000], ['SVG', 10_000], ['CSV', 5_000]] as const) {
      await page.getByRole('button', { name: /^Export/ }).click();
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: `Logical timeline as ${format}` }).click()]);
      const text = readFileSync(await file.path());
      expect(text.length).toBeGreaterThan(least);
      if (format === 'CSV') expect(text.toString().split('\n').length).toBe(512 + 2);
    }
  });

  it('has no accessibility violations, light and dark', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join('; ')}`)).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('shows the levels of a tree', async () => {
    await page.keyboard.press('Control+o');
    await page.getByRole('dialog').getByRole('textbox').fill(TREE!);
    await page.keyboard.press('Enter');
    await expect.poll(operations).toMatch(/92 operations · 16 processes · 30 messages · 32 partitions/);
    await page.mouse.move(720, 12);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.waitForTimeout(300);
    await picture('trace-tree');
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForTimeout(300);
    await picture('trace-dark');
  });
});
