// Menus, tabs and radio groups by keyboard, as WAI-ARIA has them.
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { show } from './suite';

describe('groups of choices', () => {
  let page: Page;
  show(
    { serve: () => ['demo'], ready: (p) => p.getByRole('tab', { name: 'Insights' }).waitFor(), each: true },
    (s) => {
      page = s.page;
    },
  );
  const focused = (): Promise<string> =>
    page.evaluate(
      () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
    );

  it('a menu is closed by its button, and Escape gives the focus back', async () => {
    const button = page.locator('button[aria-haspopup="menu"]').first();
    const menu = page.getByRole('menu');
    await button.click();
    await menu.waitFor();
    await button.click();
    await expect.poll(() => menu.count()).toBe(0);
    await button.click();
    await menu.waitFor();
    const first = await focused();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Home');
    expect(first).not.toBe('');
    await page.keyboard.press('Escape');
    await expect.poll(() => menu.count()).toBe(0);
    expect(await focused()).toBe(await button.getAttribute('aria-label'));
  });

  it('arrows choose tabs, whose pane may bring its own, and a row is one stop', async () => {
    const tab = (name: string) => page.getByRole('tab', { name, exact: true });
    await tab('Insights').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => tab('Selection').getAttribute('aria-selected')).toBe('true');
    await expect.poll(focused).toBe('Selection');
    expect(await tab('Insights').getAttribute('tabindex')).toBe('-1');
    await page.keyboard.press('ArrowRight');
    await expect.poll(focused).toBe('Insights');
  });

  it('arrows choose among radio buttons', async () => {
    await page.evaluate(() => (location.hash += '&page=mesh'));
    const shape = (name: string) => page.getByRole('radio', { name, exact: true });
    await shape('Surface').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => shape('Slice').getAttribute('aria-checked')).toBe('true');
    await expect.poll(focused).toBe('Slice');
  });
});
