// Call stacks as a flame graph and a tree, on samples whose numbers are known: 60
// in a leaf below two functions, 20 below a recursion, 20 in main itself.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { isobath } from './harness';
import { counted, everything, linkOf, opened, whereOf } from './page';
import { show } from './suite';

const STACKS: readonly (readonly [string, number, number])[] = [
  ['main (a.c:9);solve (a.c:5);leaf (b.c:3)', 40, 10],
  ['main (a.c:10);check (a.c:7);leaf (b.c:3)', 20, 100],
  ['main (a.c:11);walk (c.c:2);walk (c.c:2);leaf (b.c:4)', 20, 5],
  ['main (a.c:12)', 20, 1],
];

/** One sample a microsecond; latencies by stack. */
function samples(): string {
  const rows = ['time\tcpu\tlatency (cycles)\tfunction\tstack'];
  STACKS.forEach(([stack, n, latency], s) => {
    const leaf = stack.split(';').at(-1)!.split(' ')[0]!;
    for (let i = 0; i < n; i++) rows.push([1000 * (rows.length - 1), s % 2, latency, leaf, stack].join('\t'));
  });
  return rows.join('\n') + '\n';
}

async function enter(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+KeyK');
  await page.keyboard.type(text);
  await page.locator(`#command-list[data-about="${text}"][data-complete="true"]`).waitFor();
  await page.keyboard.press('Enter');
}

describe('calls', () => {
  let folder: string;
  let page: Page;
  let problems: string[];

  function recorded(): string {
    folder = mkdtempSync(join(tmpdir(), 'isobath-calls-'));
    writeFileSync(join(folder, 'samples.tsv'), samples());
    isobath('import', join(folder, 'samples.tsv'), '-o', join(folder, 'nested.isobath'));
    return join(folder, 'nested.isobath');
  }
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  show({ serve: () => ['open', recorded()], ready: (p) => opened(p, 100) }, (s) => ({ page, problems } = s));

  const status = async (): Promise<string> =>
    (await page.getByRole('contentinfo').innerText()).trim().replaceAll('\u202f', ' ');
  const graph = () => page.getByRole('application', { name: 'Calls' });
  const summary = (text: RegExp) => expect.poll(() => graph().innerText()).toMatch(text);
  const choose = async (menu: RegExp, item: string): Promise<void> => {
    await page.getByRole('button', { name: menu }).click();
    await page
      .getByRole('menuitem')
      .or(page.getByRole('menuitemradio'))
      .getByText(item, { exact: true })
      .click();
  };

  it('draws all calls, walks through them by keys and says what they weigh', async () => {
    await page.getByRole('tab', { name: 'Calls' }).click();
    await summary(/Flame graph of all calls by samples: 100 samples in 9 frames/);
    await graph().focus();
    for (const [key, words] of [
      ['ArrowDown', /^all stacks · 100 samples/],
      ['ArrowDown', /^main · 100 samples · 20 in itself · 2 520 cycles · 100\.0 % of samples/],
      ['ArrowDown', /^solve · 40 samples · 0 in itself · 400 cycles · 40\.0 % of samples/],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(status).toMatch(words);
    }
    expect(await whereOf(page)).toBe('');
  });

  it('selects a path, frames it, and keeps what lies beside it', async () => {
    await page.keyboard.press('Enter');
    await counted(page, 40, 100);
    await page.getByText('main › solve', { exact: true }).first().waitFor();
    await summary(/100 samples in 9 frames; 40 of 100 samples selected/);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+Enter');
    await counted(page, 60, 100);
    await page.keyboard.press('Control+KeyZ');
    await counted(page, 40, 100);
    await page.keyboard.press('Control+KeyZ');
    await everything(page, 100);
  });

  it('shows a selection made elsewhere', async () => {
    await enter(page, 'cpu 1');
    await counted(page, 40, 100);
    await summary(/by samples: 40 samples in 4 frames/);
    await page.getByRole('button', { name: /^Undo/ }).click();
    await everything(page, 100);
  });

  it('turns round a function, as a graph and as lists', async () => {
    await choose(/^Calls around/, 'leaf');
    await summary(/Flame graph to and from leaf by samples: 80 samples/);
    expect((await linkOf(page)).toString()).toContain('calls.of');
    await choose(/^Calls as/, 'call tree');
    const row = page
      .getByRole('region', { name: 'Callers of leaf' })
      .getByRole('row')
      .filter({ hasText: 'solve' })
      .first();
    await row.waitFor();
    const cells = (await row.locator('td').allInnerTexts()).map((c) => c.replaceAll('\u202f', ' '));
    expect(cells.slice(1, 4)).toEqual(['50.0 %', '40', '0']);
    await row.getByRole('button', { name: 'solve', exact: true }).click();
    await counted(page, 40, 100);
    await page.getByText('… solve › leaf', { exact: true }).first().waitFor();
    const printed = JSON.parse(
      isobath('callers', join(folder, 'nested.isobath'), '--tree', '--function', 'leaf', '--json'),
    ) as { callers: { function: string; total: { samples: number } }[] };
    expect(printed.callers[0]).toMatchObject({ function: 'solve', total: { samples: 40 } });
    await page.getByRole('button', { name: /^Undo/ }).click();
    await choose(/^Calls as/, 'flame graph');
    await choose(/^Calls around/, 'all calls');
    await summary(/Flame graph of all calls/);
  });

  it('exports itself, and the stacks for speedscope', async () => {
    const save = async (item: string): Promise<string> => {
      await graph().click({ button: 'right', position: { x: 60, y: 8 } });
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item }).click(),
      ]);
      return readFileSync(await download.path(), 'utf8');
    };
    expect(await save('Export SVG')).toMatch(/<svg[^]*leaf/);
    expect((await save('Export CSV')).split('\n')[0]).toMatch(
      /^direction,depth,function,samples,own samples/,
    );
    const file = JSON.parse(await save('Export for speedscope')) as { profiles: { endValue: number }[] };
    expect(file.profiles.map((p) => p.endValue)).toEqual([100, 40 * 10 + 20 * 100 + 20 * 5 + 20]);
    expect(problems).toEqual([]);
  });
});
