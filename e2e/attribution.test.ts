// Cache lines, spread, callers, assembly and names of objects, on samples whose
// answers are known: two threads that count in neighbouring members.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { isobath } from './harness';
import { counted, everything, opened, whereOf } from './page';
import { show } from './suite';

const HEAD = [
  'addr',
  'tid',
  'cpu',
  'op',
  'snoop',
  'latency (cycles)',
  'level',
  'symbol',
  'allocation',
  'offset',
  'field',
  'file',
  'line',
  'function',
  'ip',
  'instruction',
  'caller',
  'stack',
].join('\t');
const SOURCE = [
  'static long counters[8];',
  '',
  'void bump(int i)',
  '{',
  '\tcounters[i]++;',
  '}',
  '',
  'int main(void)',
  '{',
  '\tbump(0);',
  '}',
  '',
].join('\n');

/** 40 samples: threads 1 and 2 write bytes 0 and 8 of one line; thread 3 reads another line. */
function samples(): string {
  const rows = [HEAD];
  for (let i = 0; i < 32; i++) {
    const t = 1 + (i % 2);
    const load = i % 4 >= 2;
    rows.push(
      [
        `0x10${t === 1 ? '00' : '08'}`,
        t,
        t - 1,
        load ? 'load' : 'store',
        load ? 'hit modified' : 'none',
        load ? 300 : 5,
        load ? 'Remote Cache' : 'L1',
        'heat.c:3 64 B',
        'heat.c:3',
        t === 1 ? 0 : 8,
        t === 1 ? 'a' : 'b',
        'heat.c',
        5,
        'bump',
        load ? '0x401000' : '0x401004',
        load ? 'mov (%rdi) %rax' : 'mov %rax (%rdi)',
        'main (heat.c:10)',
        'main (heat.c:10);bump (heat.c:5)',
      ].join('\t'),
    );
  }
  for (let i = 0; i < 8; i++) {
    rows.push(
      [
        '0x2000',
        3,
        2,
        'load',
        'none',
        5,
        'L1',
        'other',
        '',
        '',
        '',
        'heat.c',
        10,
        'main',
        '0x401010',
        'call bump',
        '',
        'main (heat.c:10)',
      ].join('\t'),
    );
  }
  return rows.join('\n') + '\n';
}

describe('what addresses mean', () => {
  let folder: string;
  let page: Page;
  let problems: string[];

  function heat(): string {
    folder = mkdtempSync(join(tmpdir(), 'isobath-attribution-'));
    writeFileSync(join(folder, 'samples.tsv'), samples());
    writeFileSync(join(folder, 'heat.c'), SOURCE);
    isobath('import', join(folder, 'samples.tsv'), '--sources', folder, '-o', join(folder, 'heat.isobath'));
    return join(folder, 'heat.isobath');
  }
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  show({ serve: () => ['open', heat()], ready: (p) => opened(p, 40) }, (s) => ({ page, problems } = s));

  const cells = async (row: RegExp): Promise<string[]> => {
    const found = page.getByRole('row').filter({ hasText: row }).first();
    await found.waitFor();
    return found.locator('td').allInnerTexts();
  };

  it('ranks cache lines by contention and selects one', async () => {
    await page.getByRole('tab', { name: 'Cache lines' }).click();
    const line = await cells(/^.*0x1000/);
    expect(line.slice(1, 9)).toEqual(['0x1000', '16', '16', '16', '16', '2', '2', 'false sharing']);
    await page.getByRole('button', { name: 'Bytes of 0x1000' }).click();
    expect((await cells(/\+8/)).slice(1, 7)).toEqual(['+8', '8', '', '8', '8', '1']);
    await page.getByRole('button', { name: '0x1000', exact: true }).click();
    await counted(page, 32, 40);
    expect(await whereOf(page)).toBe('addr in 0x1000..0x103f');
    const report = JSON.parse(
      isobath('report', join(folder, 'heat.isobath'), '--by', 'cacheline', '--json'),
    ) as { groups: { hitm: number; sharing: string }[] };
    expect(report.groups[0]).toMatchObject({ hitm: 16, sharing: 'false' });
    await page.keyboard.press('Control+KeyZ');
    await everything(page, 40);
  });

  it('shows levels and latencies of lines, objects and members', async () => {
    await page.getByRole('tab', { name: 'Spread' }).click();
    expect((await cells(/heat\.c:5/)).at(-1)).toBe('300');
    await page.getByRole('img', { name: 'L1 50.0 %, Remote Cache 50.0 %' }).first().waitFor();
    await page.getByRole('button', { name: /Spread by/ }).click();
    await page.getByRole('menuitemradio', { name: 'member' }).click();
    await page.getByRole('button', { name: 'heat.c:3 64 B.b' }).click();
    await counted(page, 16, 40);
    await page.keyboard.press('Control+KeyZ');
    await everything(page, 40);
  });

  it('shows assembly and calls beside the source', async () => {
    await page.getByRole('button', { name: 'Assembly' }).click();
    await page.getByText('Only sampled instructions').waitFor();
    const code = page.getByRole('group', { name: 'Assembly' });
    await code
      .locator('.cm-line', { hasText: /mov\s+%rax/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Calls' }).click();
    await page.getByText('32 samples in it and what it calls, 32 in itself').waitFor();
    await page.getByRole('region', { name: 'Called by' }).getByRole('button', { name: 'main' }).click();
    const calls = page.getByText('40 samples in it and what it calls, 8 in itself');
    await calls.waitFor();
    await page.getByRole('button', { name: 'Calls' }).click();
    await calls.waitFor({ state: 'detached' });
  });

  it('has room for all that the code pane offers at 1280 × 720', async () => {
    const before = page.viewportSize()!;
    await page.setViewportSize({ width: 1280, height: 720 });
    const pane = page.getByRole('region', { name: 'Code', exact: true });
    const inner = (await pane.boundingBox())!;
    for (const control of [
      pane.getByRole('button', { name: 'Assembly' }),
      pane.getByRole('button', { name: 'Calls' }),
      pane.getByRole('button', { name: 'Places' }),
      pane.getByRole('switch', { name: 'Follow hover' }),
    ]) {
      const box = (await control.boundingBox())!;
      expect(box.x + box.width).toBeLessThanOrEqual(inner.x + inner.width);
    }
    // And the name of the file is still read.
    expect((await pane.getByRole('heading').boundingBox())!.width).toBeGreaterThan(30);
    await page.setViewportSize(before);
  });

  /** Opens the table of a pane by its menu, and its CSV; both have the same rows. */
  async function tableOf(pane: string): Promise<string[][]> {
    const host = page.locator(`[data-view="${pane}"]`);
    await host.click({ button: 'right', position: { x: 40, y: 10 } });
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export CSV' }).click(),
    ]);
    const csv = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n')
      .map((l) => l.split(','));
    await host.click({ button: 'right', position: { x: 40, y: 10 } });
    await page.getByRole('menuitem', { name: 'Show as table' }).click();
    const dialog = page.getByRole('dialog', { name: pane });
    await dialog.getByText('of 40 samples').waitFor();
    expect(await dialog.getByRole('row').count()).toBe(csv.length);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    for (const [format, head] of [
      ['SVG', '<svg'],
      ['PNG', '\x89PNG'],
    ] as const) {
      await host.click({ button: 'right', position: { x: 40, y: 10 } });
      const [picture] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: `Export ${format}` }).click(),
      ]);
      expect(readFileSync(await picture.path(), 'latin1').slice(0, head.length)).toBe(head);
    }
    return csv;
  }

  it('gives every list as a table and as files', async () => {
    await page.getByRole('tab', { name: 'Cache lines' }).click();
    const lines = await tableOf('Cache lines');
    expect(lines[0]!.slice(0, 3)).toEqual(['line', 'HITM', 'contended']);
    expect(lines[1]!.slice(0, 7)).toEqual(['0x1000', '16', '16', '16', '16', '2', '2']);
    expect(lines.some((l) => l[0] === '0x1000+8')).toBe(true); // members are listed also where they are folded away
    await page.getByRole('tab', { name: 'Spread' }).click();
    await page.getByRole('button', { name: /Spread by/ }).click();
    await page.getByRole('menuitemradio', { name: 'source line' }).click();
    await page.getByRole('button', { name: 'heat.c:5' }).waitFor();
    const spread = await tableOf('Spread');
    expect(spread[0]!.slice(0, 2)).toEqual(['file:line', 'samples']);
    const report = JSON.parse(isobath('report', join(folder, 'heat.isobath'), '--by', 'line', '--json')) as {
      groups: { key: { file: string; line: number }; samples: number }[];
    };
    expect(new Map(spread.slice(1).map((r) => [r[0], Number(r[1])]))).toEqual(
      new Map(report.groups.map((g) => [`${g.key.file}:${g.key.line}`, g.samples])),
    );
    const code = await tableOf('Code');
    expect(code[0]).toEqual(['line', 'samples', 'of all', 'cycles', 'cycles of the most', 'source']);
    expect(code.slice(1).map((r) => [r[0], r[1]])).toEqual([
      ['5', '32'],
      ['10', '8'],
    ]);
    await page.getByRole('button', { name: 'Assembly' }).click();
    expect((await tableOf('Assembly')).slice(1).map((r) => r[1])).toEqual(['16', '16']);
    await page.getByRole('button', { name: 'Calls' }).click();
    expect((await tableOf('Called by'))[1]).toEqual(['1', '32', '4880', 'main']);
    await page.getByRole('button', { name: 'Calls' }).click();
  });

  it('previews and selects rows of lists by keys', async () => {
    await page.getByRole('tab', { name: 'Cache lines' }).click();
    await page.getByRole('button', { name: '0x1000', exact: true }).focus();
    await expect
      .poll(async () => (await page.locator('[data-status]').innerText()).replace(/\s+/g, ' '))
      .toContain('0x1000 · 16 HITM');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(async () => (await page.locator('[data-status]').innerText()).trim()).toContain('+8');
    await page.keyboard.press('Enter');
    await counted(page, 16, 40);
    await page.keyboard.press('Control+KeyZ');
    await everything(page, 40);
    // The code pane: from one line with samples to the next.
    await page.keyboard.press('2');
    await page.keyboard.press('Home');
    await expect
      .poll(async () => (await page.locator('[data-status]').innerText()).trim())
      .toContain('heat.c:5');
    await page.keyboard.press('ArrowDown');
    await expect
      .poll(async () => (await page.locator('[data-status]').innerText()).trim())
      .toContain('heat.c:10');
    await page.keyboard.press('Enter');
    await counted(page, 8, 40);
    expect(await whereOf(page)).toBe('file = heat.c & line = 10');
    await page.keyboard.press('Control+KeyZ');
    await everything(page, 40);
  });

  it('names an object, and the run keeps the name', async () => {
    await page.getByRole('tab', { name: 'Spread' }).click();
    await page.getByRole('button', { name: /Spread by/ }).click();
    await page.getByRole('menuitemradio', { name: 'member' }).click();
    await page.getByRole('button', { name: 'Name objects …' }).click();
    const field = page.getByRole('textbox', { name: 'Names of objects' });
    await field.fill('allocation at heat.c:3 is counters quux[8]');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').filter({ hasText: 'is not known' }).waitFor();
    problems.length = 0; // the browser reports the refused request
    await field.fill('allocation at heat.c:3 is counters long[8]');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'counters.b' }).waitFor();
    expect(isobath('report', join(folder, 'heat.isobath'), '--by', 'symbol,index')).toContain('counters:1');
  });
});

// 24 samples: three processes use address 0x1000, which is other memory in each; the
// first two are on one host, the third has the number of the first on another.
describe('addresses of several processes', () => {
  let folder: string;
  let page: Page;

  function processes(): string {
    folder = mkdtempSync(join(tmpdir(), 'isobath-processes-'));
    const rows = ['addr\ttid\tpid\thost\top\tlatency\tlevel\tsymbol'];
    for (const [pid, host, n] of [
      [7, 'a', 12],
      [8, 'a', 8],
      [7, 'b', 4],
    ] as const)
      for (let i = 0; i < n; i++)
        rows.push(['0x1000', pid + (i % 2), pid, host, i % 2 ? 'load' : 'store', 5, 'L1', 'u'].join('\t'));
    writeFileSync(join(folder, 'samples.tsv'), rows.join('\n') + '\n');
    return join(folder, 'samples.tsv');
  }
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  show({ serve: () => ['open', processes()], ready: (p) => opened(p, 24) }, (s) => ({ page } = s));

  it('are selected in their own', async () => {
    await page.getByRole('tab', { name: 'Cache lines' }).click();
    for (const [pid, host, n] of [
      [7, 'a', 12],
      [8, 'a', 8],
      [7, 'b', 4],
    ] as const) {
      await page.getByRole('button', { name: `0x1000 in process ${pid} on ${host}`, exact: true }).click();
      await counted(page, n, 24);
      expect(await whereOf(page)).toBe(`pid = ${pid} & host = ${host} & addr in 0x1000..0x103f`);
      await page.keyboard.press('Control+KeyZ');
      await everything(page, 24);
    }
  });
});
