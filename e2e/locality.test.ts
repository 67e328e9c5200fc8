// The locality page on the built-in recording: selection, what if, advice, keys,
// tables. That its numbers are those of the verbs is a test of the server.

import { AxeBuilder } from '@axe-core/playwright';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { boxOf, find, linkOf, picture, quiet } from './page';
import { show } from './suite';

const REFERENCES = '2 304 023';

describe('the locality page', () => {
  let page: Page;

  async function ready(p: Page): Promise<void> {
    await p.waitForFunction(() => performance.getEntriesByName('draw Misses over time').length > 0);
    await p.getByRole('button', { name: 'Try advice 1', exact: true }).waitFor();
    await quiet(p);
  }
  show({ serve: () => ['demo', 'locality'], ready }, (s) => ({ page } = s));

  const option = async (name: string): Promise<string | null> => (await linkOf(page)).get(`o.l.${name}`);
  const selected = (): Promise<string> =>
    page
      .getByRole('status', { name: 'References selected' })
      .innerText()
      .then((t) => t.replace(/\s+/g, ' ').trim());
  const status = (): Promise<string> =>
    page
      .locator('[data-status]')
      .innerText()
      .then((t) => t.replace(/\s+/g, ' ').trim());

  it('opens on everything', async () => {
    expect(await selected()).toBe(`Everything ${REFERENCES} references · 65 410 lines`);
    expect(
      await page.getByRole('button', { name: 'Locality', exact: true }).getAttribute('aria-current'),
    ).toBe('page');
  });

  it('selects an object by keys, for all pages', async () => {
    await page.locator('[data-view="Objects"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await status()).toMatch(/^p · 360 350 references · 98 304 L1 misses/);
    await page.keyboard.press('Enter');
    await expect
      .poll(selected)
      .toMatch(/^360 350 of 2 304 023 references \(15\.6 %\) · 15\.1 % of L1 misses/);
    expect((await linkOf(page)).get('s')).toBe('symbol = p');
    await quiet(page);
  });

  it('says every size by keys on the curve', async () => {
    await page.locator('[data-view="Miss curve"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    expect(await status()).toMatch(
      /^Cache of 9 KiB · LRU over 64-byte lines: [\d ]+ misses, [\d.]+ % of references.*; p [\d ]+; from here a doubling saves/,
    );
  });

  it('makes a cache larger by dragging its triangle below the curve', async () => {
    const box = await boxOf(page, 'Miss curve');
    const row = box.y + box.height - 13; // of the machine's triangles, the last one
    const from = await find(page, 'Miss curve', /^Cache of (48|52)\sKiB/);
    const to = await find(page, 'Miss curve', /^Cache of (88|96|104)\sKiB/);
    await page.mouse.move(from.x, row);
    await page.mouse.down();
    await page.mouse.move(to.x, row, { steps: 6 });
    await page.mouse.up();
    await expect.poll(async () => (await option('set')) ?? '').toMatch(/^L1\.size=(88|96|104)K/);
    await page.getByRole('button', { name: 'Remove the what if' }).click();
    await expect.poll(() => option('set')).toBeNull();
    await quiet(page);
  });

  it('shows a view as a table', async () => {
    await page.locator('[data-view="Miss curve"]').focus();
    await page.keyboard.press('t');
    const dialog = page.getByRole('dialog');
    await dialog.locator('th', { hasText: 'misses' }).first().waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('tries an advice, keeps it in the link, and takes it back', async () => {
    await page.getByRole('button', { name: 'Try advice 1', exact: true }).click();
    await page.getByRole('button', { name: 'Undo advice 1', exact: true }).waitFor();
    expect(await option('map')).toMatch(/^object p /);
    await quiet(page);
    await page.locator('[data-view="What if"]').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(status).toMatch(/^L2 2 MiB, 16 ways · 167 595 misses, .* · what if 8\d \d{3}/);
    await page.mouse.move(720, 12);
    await picture(page, 'locality', 'docs/guide/locality.md');
    await page.reload();
    await page.getByRole('button', { name: 'Undo advice 1', exact: true }).click();
    await page.getByRole('button', { name: 'Try advice 1', exact: true }).waitFor();
    expect(await option('map')).toBeNull();
  });

  it('selects a stretch of time by dragging, and undoes it', async () => {
    await quiet(page);
    const box = await boxOf(page, 'Misses over time');
    const y = box.y + 60;
    await page.mouse.move(box.x + 200, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, y, { steps: 4 });
    await page.mouse.up();
    await expect
      .poll(async () => (await linkOf(page)).get('s') ?? '')
      .toMatch(/^symbol = p & \(order >= \d+ & order < \d+\)$/);
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await expect.poll(async () => (await linkOf(page)).get('s')).toBe('symbol = p');
  });

  it('has nothing that axe finds', async () => {
    await quiet(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map((v) => `${v.id}: ${v.nodes[0]?.html ?? ''}`)).toEqual([]);
  });
});
