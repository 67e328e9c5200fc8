// The cycles page on the built-in recordings: what it says is compared with
// `isobath cycles` and with what the programs do. It also takes the pictures of
// the guide's chapter on loops.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, isobath, ROOT, start, type Browser, type Running } from './harness';
import { boxOf, find, linkOf } from './page';

const PICTURES = process.env['ISOBATH_PICTURES'];
const RECORDINGS = join(ROOT, 'internal/demo/data/cycles');

interface Report {
  readonly records: number;
  readonly classes: readonly { readonly turns: number }[];
}

function report(name: string, ...flags: string[]): Report {
  return JSON.parse(isobath('cycles', join(RECORDINGS, `${name}.csv.gz`), '--json', ...flags)) as Report;
}

describe('the cycles page', () => {
  let server: Running;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    if (PICTURES) mkdirSync(join(ROOT, PICTURES), { recursive: true });
    [server, browser] = await Promise.all([start('demo', 'cycles'), browse({ width: 1440, height: 900 })]);
    ({ page, problems } = await browser.open(server.url));
    page.setDefaultTimeout(15_000);
    await page.waitForFunction(() => performance.getEntriesByName('draw Spiral').length > 0);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });
  afterEach(() => expect(problems).toEqual([]));

  const option = async (name: string): Promise<string | null> => (await linkOf(page)).get(`o.c.${name}`);
  const status = (): Promise<string> => page.locator('[data-status]').innerText();
  const entries = (): Promise<string[]> => page.getByRole('list', { name: 'Classes' }).locator('button[aria-pressed]').allInnerTexts();

  async function picture(name: string): Promise<void> {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.mouse.move(720, 12);
    await page.waitForTimeout(300);
    const shot = await page.screenshot(PICTURES ? { path: join(ROOT, PICTURES, `${name}.png`) } : {});
    expect(shot.length).toBeGreaterThan(20_000);
    expect(readFileSync(join(ROOT, 'docs/guide/loops.md'), 'utf8')).toContain(`${name}.png`);
  }

  async function open(run: string, references: number): Promise<void> {
    await page.getByRole('button', { name: /^Runs/ }).click();
    await page.getByRole('menu').getByText(run, { exact: true }).click();
    await page.getByRole('status', { name: 'References' }).filter({ hasText: new RegExp(String(references).replace(/\B(?=(\d{3})+$)/, '\\s')) }).waitFor();
    await page.waitForTimeout(300);
  }

  it('shows the classes that the command finds', async () => {
    const { classes, records } = report('bubble-sort-reversed');
    expect(records).toBe(297);
    await expect.poll(async () => (await entries()).length).toBe(classes.length);
    const turns = (await entries()).map((e) => Number(/(\d+) turns?/.exec(e)?.[1] ?? 0));
    expect(turns).toEqual(classes.map((c) => c.turns));
    await page.getByRole('region', { name: 'Walk' }).getByText('10 turns in 4 passes', { exact: true }).waitFor();
    await page.getByText('4 + 3 + 2 + 1 turns').waitFor();
    await picture('cycles-bubble');
  });

  it('names a reference and its line, in the spiral and in the code', async () => {
    await find(page, 'Spiral', /^Reference \d+ (L|load) .*bubble_array\.c:14 /);
    expect(await status()).toMatch(/turn \d+ at 0\.\d\d · pass \d · this window is visited \d+ times/);
    await page.locator('.row.current[data-line="14"]').waitFor();
    // The other way: a line of the code leaves only its own arcs in colour.
    const before = await page.screenshot();
    await page.locator('[data-line="14"]').hover();
    await page.waitForTimeout(200);
    expect(Buffer.compare(before, await page.screenshot())).not.toBe(0);
  });

  it('selects a pass by a click, and lists its references', async () => {
    await find(page, 'Spiral', /pass 2 /);
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(() => option('refs')).toMatch(/^\d+\.\.\d+$/);
    const [from, to] = (await option('refs'))!.split('..').map(Number) as [number, number];
    await page.getByRole('status', { name: 'References' }).filter({ hasText: `${to - from} of 297 references` }).waitFor();
    await page.getByRole('region', { name: 'Selected references' }).getByRole('cell', { name: String(from), exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Select all references' }).click();
    await expect.poll(() => option('refs')).toBe(null);
  });

  it('brushes the unwrapped walk', async () => {
    const box = await boxOf(page, 'Unwrapped');
    await page.mouse.move(box.x + 200, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 50, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => option('refs')).toMatch(/^\d+\.\.\d+$/);
    await page.goBack();
    await expect.poll(() => option('refs')).toBe(null);
  });

  it('turns to another class, morphs between the two, and back', async () => {
    await page.getByRole('list', { name: 'Classes' }).getByRole('button', { name: /4 turns/ }).click();
    await page.getByRole('region', { name: 'Walk' }).getByText('4 turns', { exact: true }).first().waitFor();
    const slider = page.getByRole('slider', { name: /morph/ });
    await slider.focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
    await expect.poll(() => option('part')).toBe('0.05');
    await page.keyboard.press('Home');
    await expect.poll(() => option('part')).toBe(null);
    await page.getByRole('button', { name: 'Play' }).click(); // a cut, for motion is reduced
    await expect.poll(() => option('part')).toBe('1');
    await page.keyboard.press('Control+z');
    await page.goBack();
    await expect.poll(() => option('part')).toBe(null);
    await picture('cycles-outer');
  });

  it('smooths a class at another ε', async () => {
    const knob = page.getByRole('slider', { name: /^ε of/ });
    await knob.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => option('epsilon')).toBe('3');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => option('epsilon')).toBe(null);
  });

  it('looks at addresses instead of instructions', async () => {
    await page.getByRole('button', { name: /^Symbol/ }).click();
    await page.getByRole('menu').getByText('address', { exact: true }).click();
    const { classes } = report('bubble-sort-reversed', '--symbol', 'addr');
    await expect.poll(async () => (await entries()).length).toBe(classes.length);
    await page.goBack();
    await expect.poll(() => option('symbol')).toBe(null);
  });

  it('walks by keys alone', async () => {
    await page.getByRole('application', { name: 'Spiral' }).focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    await expect.poll(status).toMatch(/^\s*Reference \d+/);
    await page.keyboard.press('.');
    await page.keyboard.press('Enter');
    await expect.poll(() => option('refs')).toMatch(/^\d+\.\.\d+$/);
    await page.goBack();
  });

  it('restores the picture from a link', async () => {
    await page.getByRole('tab', { name: 'Torus' }).click();
    const link = await page.evaluate(() => location.href);
    const again = await browser.open(link.replace('#', `#k=${server.token}&`));
    await again.page.getByRole('application', { name: 'Torus' }).waitFor();
    expect(await again.page.evaluate(() => location.hash)).toBe(new URL(link).hash);
    expect(again.problems).toEqual([]);
    await again.page.close();
    await page.getByRole('tab', { name: 'Projection' }).click();
    await page.waitForFunction(() => performance.getEntriesByName('draw Projection').length > 0);
    await page.getByRole('button', { name: /^Colour/ }).click();
    await page.getByRole('menu').getByText('coordinate').click();
    await picture('cycles-projection');
    await page.getByRole('tab', { name: 'Circle' }).click();
    await page.getByRole('tab', { name: 'Spiral' }).click();
  });

  it('has no accessibility violations, light and dark', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join('; ')}`)).toEqual([]);
    }
  });

  it('shows the three loops of a matrix multiplication', async () => {
    await open('matrix multiplication', 983);
    await expect.poll(async () => (await entries()).join(' ')).toMatch(/64 turns[\s\S]*16 turns[\s\S]*4 turns/);
    await picture('cycles-matmul-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await open('particles to grid', 12923);
    await picture('cycles-particles');
  });
});
