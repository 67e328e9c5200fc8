// A run of 256 hosts, two of which are odd by construction: each host has its small
// picture, the odd ones first, and is selected as any other resource.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { isobath, ROOT, samples } from './harness';
import { counted, everything, find, linkOf, quiet, whereOf } from './page';
import { show } from './suite';

const HOSTS = 256;
const EACH = 200; // samples
const ODD = ['node0037', 'node0200']; // synth.OddHosts
const VIEW = 'Topology';

describe('a run of many hosts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-hosts-'));
  const run = join(folder, 'all.isobath');
  let page: Page;

  show(
    {
      serve: () => {
        execFileSync(
          'go',
          ['run', './bench/gen', '-format', 'hosts', '-hosts', `${HOSTS}`, '-rows', `${EACH}`, folder],
          { cwd: ROOT },
        );
        isobath('import', folder, '-o', run);
        return ['open', run];
      },
      ready: (p) => everything(p, HOSTS * EACH),
    },
    (s) => (page = s.page),
  );
  afterAll(() => rmSync(folder, { recursive: true }));

  it('shows the odd ones first, in the order that topology prints', async () => {
    await quiet(page);
    await page.locator(`[data-view="${VIEW}"]`).focus();
    await page.keyboard.press('t');
    const dialog = page.getByRole('dialog');
    await dialog.locator('tbody tr').first().waitFor();
    const names = await dialog
      .locator('tbody tr')
      .evaluateAll((trs) =>
        trs.slice(0, 2).map((tr) => tr.querySelector('td, th')?.textContent?.trim() ?? ''),
      );
    await page.keyboard.press('Escape');
    expect(names.toSorted()).toEqual(ODD);
    const printed = isobath('topology', run).matchAll(/^├ (node\d+)/gm);
    expect(names).toEqual([...printed].map((m) => m[1]));
  });

  it('has the hosts as an axis as any other', async () => {
    await page.keyboard.press('Control+KeyK');
    await page.keyboard.type('histogram of host');
    await page.locator('#command-list[data-about="histogram of host"][data-complete="true"]').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await linkOf(page)).get('bottom')).toBe('category');
    await page.getByRole('application', { name: 'Categories' }).focus();
    await quiet(page);
    await page.keyboard.press('t');
    const table = page.getByRole('dialog');
    await table.getByText(`${HOSTS} rows`).waitFor();
    const third = table.locator('tbody tr').filter({ hasText: 'node0002' }).locator('td, th');
    expect((await third.allTextContents()).map((x) => x.trim())).toEqual([
      'node0002',
      `${EACH}`,
      `${EACH}`,
      '0',
    ]);
    await page.keyboard.press('Escape');
  });

  it('selects one by its picture as any other resource', async () => {
    const at = await find(page, VIEW, new RegExp(`${ODD[1]}.*deviations from the median host`));
    await page.mouse.click(at.x, at.y);
    await expect.poll(() => whereOf(page)).toBe('at Host:200');
    await counted(page, samples(run, 'at Host:200'), HOSTS * EACH);
    expect(samples(run, 'at Host:200')).toBe(EACH);
  });

  it('names the two in its first insights', async () => {
    await page.getByRole('tab', { name: 'Insights' }).click();
    const list = page.getByRole('region', { name: 'Insights' });
    for (const name of ODD) await list.getByText(name).first().waitFor();
  });
});
