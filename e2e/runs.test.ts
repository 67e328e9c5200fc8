// Pages of many executions: a trial of two commands, and a study of many runs.
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './axe';
import { study, trial } from './executions';
import { linkOf } from './page';
import { show } from './suite';

describe('a trial', () => {
  let page: Page;
  show(
    {
      serve: () => ['open', '--no-browser', trial()],
      ready: (p) => p.locator('[data-view="Change by pair"]').waitFor(),
      each: true,
    },
    (s) => {
      page = s.page;
    },
  );

  it('says what it found, with its lanes, and has every pair as a table', async () => {
    await page
      .getByRole('status', { name: 'What the trial found' })
      .filter({ hasText: /^B costs 9\.\d % more cpu|^B costs 10\.\d % more cpu/ })
      .waitFor();
    const lane = page.getByRole('row', { name: /^cpu measured/ });
    await lane.filter({ hasText: 'more' }).waitFor();
    await page.getByText('after 12 of at most 60 pairs').waitFor();
    await page.locator('[data-view="Change by pair"]').focus();
    await page.keyboard.press('T');
    const table = page.getByRole('dialog');
    await table.getByRole('columnheader', { name: 'score' }).waitFor();
    expect(await table.getByRole('row').count()).toBe(13);
  });

  it('keeps what is shown in the link', async () => {
    await page.getByRole('tab', { name: 'Score' }).click();
    await page.locator('[data-view="Score"]').waitFor();
    await expect.poll(async () => (await linkOf(page)).toString()).toContain('score');
    await page.reload();
    await page.locator('[data-view="Score"]').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('compares the recordings of a pair', async () => {
    await page.locator('[data-view="Change by pair"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.getByRole('radio', { name: 'Difference' }).waitFor();
    expect((await linkOf(page)).get('run')).toMatch(/^p00a\S*,p00b/);
  });
});

describe('a study', () => {
  let page: Page;
  const status = () => page.getByRole('status', { name: 'Runs shown' });
  show(
    {
      serve: () => ['open', '--no-browser', study()],
      ready: (p) => p.locator('[data-view="Metric"]').waitFor(),
      each: true,
    },
    (s) => {
      page = s.page;
    },
  );

  it('shows runs as rows and how their metrics grow', async () => {
    await status().filter({ hasText: '12 of 12 runs' }).waitFor();
    const law = page.getByRole('listitem').filter({ hasText: 'cost of solve' });
    await law.getByText(/^c \+ n$/).waitFor();
    await law.getByRole('button', { name: 'cost of solve' }).click();
    await page.getByRole('button', { name: /^Metric: y cost of solve/ }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Metric: y cost of solve/ }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('a drag along an axis keeps some runs, and a chip takes that back', async () => {
    const box = (await page.locator('[data-view="Runs"]').boundingBox())!;
    const x = box.x + 60; // the first axis
    await page.mouse.move(x, box.y + 48);
    await page.mouse.down();
    await page.mouse.move(x, box.y + 48 + (box.height - 58) / 3, { steps: 4 });
    await page.mouse.up();
    await status()
      .filter({ hasText: /^[36] of 12 runs/ })
      .waitFor();
    await page.getByRole('button', { name: /^Remove the brush of/ }).click();
    await status().filter({ hasText: '12 of 12 runs' }).waitFor();
  });

  it('opens a run, and compares two', async () => {
    await page.getByRole('tab', { name: 'Runs' }).click();
    await page.getByRole('button', { name: 'grow-100-0.csv', exact: true }).click();
    await page.getByRole('button', { name: 'Compare grow-100-0.csv with grow-800-0.csv' }).click();
    await page.getByRole('radio', { name: 'Difference' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Open grow-200-0.csv' }).click();
    await expect.poll(async () => (await linkOf(page)).get('run')).toMatch(/^grow-200-0/);
  });
});
