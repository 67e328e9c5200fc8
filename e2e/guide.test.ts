// Walks the guide's chapter "Find out why a stencil is slow" on the demo run,
// so that the chapter stays true, and takes its pictures. They are written into
// the folder named by ISOBATH_PICTURES (docs/guide/pictures to renew them).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { ROOT } from './harness';
import { counted, everything, find, opened, picture, status } from './page';
import { show } from './suite';

const N = 92959;
const CHAPTERS = ['docs/guide/slow-stencil.md', 'docs/guide/parallel-coordinates.md'];
const DOCUMENTS = [...CHAPTERS, 'README.md'];
const CHAPTER = CHAPTERS.map((name) => readFileSync(join(ROOT, name), 'utf8'))
  .join('')
  .replaceAll('\u202f', ' ');

describe('find out why a stencil is slow', () => {
  let page: Page;
  show({ serve: () => ['demo'], ready: (p) => opened(p, N) }, (s) => ({ page } = s));

  async function says(text: string): Promise<void> {
    await status(page, text);
    expect(CHAPTER).toContain(text);
  }

  it('opens with the hottest line in sight', async () => {
    await find(page, 'Top offenders', /^stencil\.c:104 /);
    await says(
      'stencil.c:104 · 13 359 of its 13 359 samples selected · ≈ 958 676 cycles · 26.7 % of the selection',
    );
    await page.locator('.code').getByText('double d = unew[i] - u[i];').first().waitFor();
    await page.mouse.move(720, 20);
    await picture(page, 'memory-light', ...DOCUMENTS);
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'memory-dark', ...DOCUMENTS);
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('shows a memory node that serves nothing', async () => {
    await find(page, 'Topology', /^NUMA 1 /);
    await says('NUMA 1 (Package 1) · no samples placed here');
    await picture(page, 'stencil-topology', ...DOCUMENTS);
  });

  it('selects what came from the other node', async () => {
    const p = await find(page, 'Parallel coordinates', /^Remote RAM /);
    await page.mouse.click(p.x, p.y);
    await counted(page, 1536, N);
    expect(CHAPTER).toContain('1 536 of 92 959 samples (1.7 %) · 15.9 % of cycles');
    const text = (await page.getByRole('status', { name: 'Samples selected' }).innerText()).replace(
      /\s+/g,
      ' ',
    );
    expect(text).toBe('1 536 of 92 959 samples (1.7 %) · 15.9 % of cycles');
    await page.mouse.move(720, 20);
    await picture(page, 'stencil-remote', ...DOCUMENTS);
  });

  it('shows strengths by the first axis, and a hover with what its samples are', async () => {
    await page.getByRole('button', { name: /^Strength of lines/ }).click();
    await page.getByRole('menuitemradio', { name: /^first axis/ }).click();
    await page.mouse.move(720, 20);
    await picture(page, 'parallel-strength', ...DOCUMENTS);
    await page.getByRole('button', { name: /^Strength of lines/ }).click();
    await page.getByRole('menuitemradio', { name: /^pair/ }).click();
    await find(page, 'Parallel coordinates', /^CPU 9 /);
    await page.locator('.tip').filter({ hasText: 'mostly' }).waitFor();
    await picture(page, 'parallel-hover', ...DOCUMENTS);
    await page.mouse.move(720, 20);
  });

  it('shows that only one thread touched the pages first', async () => {
    await page.keyboard.press('Control+KeyZ');
    await everything(page, N);
    await page.getByRole('tab', { name: 'One axis' }).click();
    await page.getByRole('tab', { name: 'Selection' }).click();
    const field = page.getByRole('textbox', { name: 'Selection as text' });
    await field.fill('time < 5ms');
    await field.press('Enter');
    await counted(page, 3780, N);
    await find(page, 'Topology', /^CPU 0 /);
    await expect
      .poll(async () => (await page.locator('[data-status]').innerText()).replace(/\s+/g, ' '))
      .toContain('3 780 of its');
    await picture(page, 'stencil-first-touch', ...DOCUMENTS);
    expect(CHAPTER).toContain('3 780 samples');
  });

  it.each([
    [1280, 720],
    [1440, 900],
    [2560, 1440],
  ])('is drawn whole at %i × %i in both themes', async (width, height) => {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expect
        .poll(() => page.evaluate(() => document.documentElement.dataset['theme']))
        .toBe(colorScheme);
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
