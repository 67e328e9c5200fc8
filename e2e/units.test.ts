// The word for what a latency is counted in: its unit, and no more than "latency" where
// nobody knows the unit. The same samples are opened with three units, and everything
// that the page writes is read: what is on screen, in titles, for screen readers, in tables.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browse, isobath, ROOT, start, type Browser } from './harness';
import { everything, quiet } from './page';

const ROWS = 600;
const CPUS = 8;
const BOTTOMS = ['axis', 'category', 'heat', 'calls', 'spread', 'lines', 'parallel'];
const MACHINE = join(ROOT, 'internal/formats/hwloc/testdata/version2.xml');

/** Samples of one file, in which one line and one CPU are dear. */
function drawnSamples(): string {
  const lines = ['time,cpu,tid,latency,level,op,file,line,function,symbol'];
  for (let i = 0; i < ROWS; i++) {
    const [cpu, line] = [i % CPUS, 10 + ((i * 7) % 5)];
    const latency = 50 + ((i * 37) % 21) + (line === 12 ? 400 : 0) + (cpu === 3 ? 150 : 0);
    const level = latency > 300 ? 'Local RAM' : 'L2';
    lines.push(`${1000 * i},${cpu},${70 + cpu},${latency},${level},load,${SOURCE},${line},work,u`);
  }
  return lines.join('\n') + '\n';
}

/** A source that is there, so that its code is shown. */
const SOURCE = join(ROOT, 'examples', 'stencil', 'stencil.c');

describe('the unit of a latency', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-units-'));
  let browser: Browser;

  beforeAll(async () => {
    writeFileSync(join(folder, 'samples.csv'), drawnSamples());
    browser = await browse({ width: 1440, height: 900 });
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  /** All words of the page as it is: on screen, and in titles and labels. */
  const words = (page: Page): Promise<string> =>
    page.evaluate(() =>
      [
        document.body.textContent,
        ...[...document.querySelectorAll('*')].flatMap((e) =>
          ['title', 'aria-label', 'placeholder'].map((a) => e.getAttribute(a)),
        ),
      ].join('\n'),
    );

  /** The views on screen that have something to show. */
  const viewsOf = (page: Page): Promise<string[]> =>
    page
      .getByRole('application')
      .evaluateAll((all) => all.map((e) => e.closest<HTMLElement>('[data-view]')?.dataset['view'] ?? ''));

  /** What a view writes in its picture, and in its table. */
  async function written(page: Page, view: string): Promise<string> {
    const files: string[] = [];
    for (const item of [/SVG/, /CSV/]) {
      let file: Download | undefined;
      while (!file) {
        // A view that has not drawn yet has nothing to export.
        await quiet(page);
        await page.locator(`[data-view="${view}"]`).first().focus();
        await page.getByRole('button', { name: /^Export/ }).click();
        [file] = await Promise.all([
          page.waitForEvent('download', { timeout: 10_000 }).catch(() => undefined),
          page.getByRole('menuitem', { name: item }).first().click(),
        ]);
      }
      files.push(readFileSync((await file.path())!, 'utf8'));
    }
    return files.join('\n');
  }

  /** What the page writes of a run, tab by tab and view by view. */
  async function everyWord(unit: string): Promise<string> {
    const run = join(folder, `run-${unit}.isobath`);
    const flags = ['--force', '--topology', MACHINE, ...(unit ? ['--map', `latency=latency:${unit}`] : [])];
    isobath('import', join(folder, 'samples.csv'), '-o', run, ...flags);
    const server = await start('open', run);
    const { page, problems } = await browser.open(server.url);
    await everything(page, ROWS);
    let all = '';
    const exported = new Set<string>();
    for (const bottom of BOTTOMS) {
      await page.evaluate((b) => {
        const link = new URLSearchParams(location.hash.slice(1));
        link.set('bottom', b);
        location.hash = `#${link}`;
      }, bottom);
      await quiet(page);
      all += await words(page);
      for (const view of await viewsOf(page)) {
        if (!exported.has(view)) all += await written(page, view);
        exported.add(view);
      }
    }
    for (const menu of [/^Rank by/, /^Colour by/]) {
      await page.getByRole('button', { name: menu }).first().click();
      all += await words(page);
      await page.keyboard.press('Escape');
    }
    // A selection, for what it costs.
    await page.evaluate(() => (location.hash += '&s=line+%3D+12'));
    await quiet(page);
    all += await words(page);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
    // The page about loops of a program is called Cycles, and so is its entry in menus.
    return all.replace(/\bCycles\b/g, '');
  }

  const found = (all: string): string[] => [...all.matchAll(/.{0,60}\bcycles\b.{0,40}/gi)].map((m) => m[0]);

  it('is cycles where the run says cycles', async () => {
    const all = await everyWord('cycles');
    expect(found(all).length).toBeGreaterThan(20);
  });

  it.each(['ns', ''])('is never cycles of a run in "%s"', async (unit) => {
    const all = await everyWord(unit);
    expect(found(all)).toEqual([]);
    expect(all).toMatch(unit === 'ns' ? /\d\sns\b/ : /of latency/);
  });
});
