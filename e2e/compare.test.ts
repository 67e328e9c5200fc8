// Two runs in one page: the built-in example and its repaired form.
import { AxeBuilder } from '@axe-core/playwright';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { linkOf } from './page';
import { show } from './suite';

describe('two runs', () => {
  let page: Page;
  const status = () => page.getByRole('status', { name: 'Samples selected' });
  show(
    {
      serve: () => ['demo', 'compare'],
      ready: (p) => p.getByRole('radio', { name: 'Difference' }).waitFor(),
      each: true,
    },
    (s) => {
      page = s.page;
    },
  );

  it('opens with the difference, its totals and what changed', async () => {
    await status()
      .filter({ hasText: /A 92.959 · B 92.955/ })
      .waitFor();
    await status().filter({ hasText: '▼ −37.8 %' }).waitFor();
    expect((await linkOf(page)).get('run')).toMatch(/^stencil-\w+,stencil-fixed-\w+$/);
    await page.getByRole('heading', { name: 'What changed' }).waitFor();
    await page
      .getByText(/104 costs ≈ 52.8 % less/)
      .first()
      .waitFor();
    await page.locator('[data-view="Changes"]').waitFor();
    await page.getByText('each run scaled to 100 000').first().waitFor();
  });

  it('lists the changes between the two, not of both together', async () => {
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText(/^B costs ≈ 37\.8 % less/).waitFor();
    expect(await page.getByRole('button', { name: /^Compare with/ }).count()).toBe(0);
  });

  it('one selection holds for both, and a link brings back side, measure and selection', async () => {
    const finding = page.locator('li', { hasText: '104 costs' }).first();
    await finding.getByRole('button', { name: 'Select' }).click();
    await status()
      .filter({ hasText: /A 13.359 of 92.959 · B 13.361 of 92.955/ })
      .waitFor();
    await page.keyboard.press('Shift+A');
    await expect
      .poll(() => page.getByRole('radio', { name: 'A', exact: true }).getAttribute('aria-checked'))
      .toBe('true');
    await page.getByRole('button', { name: /^Compare:/ }).click();
    await page.getByRole('menuitemradio', { name: 'share' }).click();
    await expect.poll(async () => (await linkOf(page)).get('by')).toBe('share');
    const link = await linkOf(page);
    expect([link.get('cmp'), link.get('by'), link.get('s')]).toEqual([
      'a',
      'share',
      'file = stencil.c & line = 104',
    ]);
    await page.reload();
    await status()
      .filter({ hasText: /A 13.359 of 92.959 · B 13.361 of 92.955/ })
      .waitFor();
    expect(await page.getByRole('radio', { name: 'A', exact: true }).getAttribute('aria-checked')).toBe(
      'true',
    );
  });

  it('tables have A, B, change, low, high and verdict', async () => {
    for (const view of ['Changes', 'Topology', 'Statistics', 'Parallel coordinates']) {
      const host = page.locator(`[data-view="${view}"]`);
      await host.waitFor();
      await host.focus();
      await page.keyboard.press('t');
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await expect
        .poll(async () => (await dialog.locator('th').allInnerTexts()).slice(1))
        .toEqual(['A', 'B', 'change', 'low', 'high', 'verdict']);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
    }
  });

  it('ends in one run, and another run is compared from the menu', async () => {
    await page.getByRole('button', { name: /^End the comparison/ }).click();
    await status()
      .filter({ hasText: /Everything 92.955 samples/ })
      .waitFor();
    await page.getByRole('button', { name: /^Runs/ }).click();
    await page.getByRole('menu').getByText('Compare with stencil', { exact: false }).first().click();
    await status().filter({ hasText: '▲' }).waitFor(); // the other way round
  });

  it.each(['light', 'dark'])('has nothing for axe to find, %s', async (theme) => {
    await status().filter({ hasText: '▼ −37.8 %' }).waitFor();
    await page
      .getByText(/104 costs ≈ 52.8 % less/)
      .first()
      .waitFor();
    const now = await page.locator('[data-theme]').first().getAttribute('data-theme');
    if (now !== theme) await page.getByRole('button', { name: /theme$/ }).click();
    const found = await new AxeBuilder({ page }).analyze();
    expect(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`)).toEqual([]);
  });
});
