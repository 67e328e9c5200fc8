// What the ranking says of samples that do not say where in the code they were taken,
// or say it in part.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browse, start, type Browser } from './harness';
import { everything, quiet } from './page';
import { paintedViews, rememberTexts } from './painted';

const ROWS = 60;

describe('the place in the code', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-places-'));
  let browser: Browser;

  beforeAll(async () => {
    browser = await browse({ width: 1440, height: 900 });
    await rememberTexts(browser.context);
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  /** The words of the ranking for samples that have these columns beside the usual ones. */
  async function ranking(columns: readonly string[]): Promise<string> {
    const of = (i: number): string[] =>
      columns.map((c) => ({ line: String(10 + (i % 7)), file: 'a.c', function: `f${i % 3}` })[c]!);
    const rows = Array.from({ length: ROWS }, (_, i) => [i % 4, 50 + (i % 9), `m_${i % 2}`, ...of(i)].join());
    const file = join(folder, `${columns.join('-') || 'none'}.csv`);
    writeFileSync(file, [['cpu', 'latency', 'symbol', ...columns].join(), ...rows].join('\n') + '\n');
    const server = await start('open', file);
    const { page, problems } = await browser.open(server.url);
    await everything(page, ROWS);
    let words = '';
    await expect
      .poll(async () => {
        await quiet(page);
        const view = (await paintedViews(page)).find((v) => v.name === 'Top offenders');
        return (words = view?.texts.join(' ') ?? '');
      })
      .toContain('m_1');
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
    return words;
  }

  it('is not said to be missing where lines have numbers', async () => {
    const words = await ranking(['line']);
    expect(words).toContain('The data has numbers of lines, but no files or functions');
    expect(words).not.toContain('no place in the code');
  });

  it('is said to be missing where there is none', async () => {
    expect(await ranking([])).toContain('This tool recorded no place in the code.');
  });

  it.each([[['file', 'line']], [['function', 'line']]])('is ranked by %s', async (columns) => {
    expect(await ranking(columns)).not.toMatch(/no place in the code|numbers of lines/);
  });
});
