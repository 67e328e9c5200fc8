// Command search by keyboard only, with counts equal to the command line's;
// choosing the columns of a file, the assumed L1 latency, and why a sample has
// its level. Pictures for the guide's chapter "Commands" are written into the
// folder named by ISOBATH_PICTURES.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { isobath } from './harness';
import { counted, everything, find, linkOf, opened, picture, whereOf } from './page';
import { show } from './suite';

const CHAPTER = 'docs/guide/commands.md';

interface Suggestion {
  readonly text: string;
  readonly action: string;
  readonly where: string;
  readonly samples: number | null;
}

// An IBS op file as Mitos writes it (the fields that the tests look at), and a
// row for every way to be served.
const HEADER =
  'source,line,instruction,variable,time,addr,cpu,tid,latency,ibs_op_brn_misp,ibs_op_brn_taken,' +
  'ibs_nb_req_src,ibs_nb_req_dst_node,ibs_ld_op,ibs_st_op,' +
  'ibs_dc_l1_tlb_miss,ibs_dc_l2_tlb_miss,ibs_dc_miss,ibs_dc_uc_mem_acc,ibs_dc_locked_op,' +
  'ibs_dc_no_mab_alloc,ibs_lin_addr_valid,ibs_l2_miss,ibs_sw_pf,ibs_dc_miss_lat';
const ROWS = 400;

function ibs(): string {
  const lines = [HEADER];
  for (let i = 0; i < ROWS; i++) {
    const miss = i % 4 > 0 ? 1 : 0;
    const l2 = i % 4 > 1 ? 1 : 0;
    lines.push(
      [
        `/src/${['sweep', 'gather'][i % 2]}.c`,
        10 + (i % 7),
        'mov',
        ['grid_new', 'grid_old', 'halo'][i % 3],
        6_045_777_543_909_725 + 1000 * i,
        (0x7f0000001000 + 8 * i).toString(16),
        i % 8,
        4000 + (i % 8),
        0,
        i % 5 === 0 ? 1 : 0,
        i % 3 === 0 ? 1 : 0,
        l2 ? 3 : 0,
        i % 8 === 3 ? 1 : 0,
        i % 10 === 9 ? 0 : 1,
        i % 10 === 9 ? 1 : 0,
        i % 6 === 0 ? 1 : 0,
        i % 12 === 0 ? 1 : 0,
        miss,
        0,
        i % 50 === 0 ? 1 : 0,
        0,
        1,
        l2,
        0,
        miss ? 20 + 3 * (i % 100) : 0,
      ].join(','),
    );
  }
  return lines.join('\n') + '\n';
}

describe('commands', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-commands-'));
  const file = join(folder, 'ibs.csv');
  let page: Page;

  beforeAll(() => writeFileSync(file, ibs()));
  afterAll(() => rmSync(folder, { recursive: true }));
  show({ serve: () => ['open', file], ready: (p) => opened(p, ROWS) }, (s) => ({ page } = s));

  const box = (): Locator => page.getByRole('combobox', { name: 'Command' });
  const options = (): Locator =>
    page.getByRole('listbox', { name: 'Commands' }).locator('[role=option]:not(.told)');
  /** What the guide says about a text, after the rest. */
  const told = (): Locator => page.locator('#command-list .told');

  /** What the command line suggests for the same text. */
  function cli(text: string, ...flags: string[]): Suggestion[] {
    return (JSON.parse(isobath('search', file, text, '--json', ...flags)) as { suggestions: Suggestion[] })
      .suggestions;
  }

  /** Types into the box and waits for the whole answer. */
  async function type(text: string): Promise<void> {
    await page.keyboard.press('Control+KeyK');
    await expect.poll(() => box().evaluate((e) => e === document.activeElement)).toBe(true);
    await page.keyboard.type(text);
    await page.locator(`#command-list[data-about="${text}"][data-complete="true"]`).waitFor();
  }

  async function enter(text: string): Promise<void> {
    await type(text);
    await page.keyboard.press('Enter');
  }

  it.each([
    'miss L1',
    'brn misp',
    'remote memory',
    'slowest 10 %',
    'high latency',
    'halo',
    'latency 50 100',
    'locked accesses',
    'cpu 3',
  ])('selects "%s" with the samples of the command line', async (text) => {
    const want = cli(text, '--shown', 'time,symbol,line,latency,level,cpu')[0]!;
    expect(want.action).toBe('select');
    await type(text);
    const first = (await options().first().innerText()).replace(/\s+/g, ' ');
    expect(first).toContain(`${want.samples} of ${ROWS}`);
    await page.keyboard.press('Enter');
    await counted(page, want.samples!, ROWS);
    expect(await whereOf(page)).toBe(want.where);
    const report = JSON.parse(isobath('report', file, '--where', want.where, '--json')) as {
      samples: number;
    };
    expect(report.samples).toBe(want.samples);
  });

  it.each(['dram and remote', 'l2 misses slow', 'stores or mispredicted branches', 'halo and latency > 100'])(
    'joins "%s" into one selection',
    async (text) => {
      const want = cli(text, '--shown', 'time,symbol,line,latency,level,cpu')[0]!;
      expect(want.where).toMatch(/ [&|] /);
      await enter(text);
      await counted(page, want.samples!, ROWS);
      expect(
        (JSON.parse(isobath('report', file, '--where', await whereOf(page), '--json')) as { samples: number })
          .samples,
      ).toBe(want.samples);
      // Names for people on the chips; what the file calls them in their tooltips.
      if (text.includes('mispredicted')) {
        const chip = page.locator('.chip').first();
        expect((await chip.innerText()).replace(/\s+/g, ' ')).toContain('mispredicted branch');
        expect(await chip.getAttribute('title')).toContain('ibs_op_brn_misp = 1');
      }
    },
  );

  it('orders the axes by correlation', async () => {
    await enter('everything');
    const before = (await linkOf(page)).get('axes') ?? '';
    await enter('order axes by correlation');
    await expect.poll(async () => (await linkOf(page)).get('axes') ?? '').not.toBe(before);
    const axes = (await linkOf(page)).get('axes')!.split(',');
    expect([...axes].sort()).toEqual(['cpu', 'latency', 'level', 'line', 'symbol', 'time']);
    // The level follows from the latency in these rows: nothing says more.
    expect(Math.abs(axes.indexOf('level') - axes.indexOf('latency'))).toBe(1);
    await page.keyboard.press('Control+KeyZ');
  });

  it('says in the tooltip of a level how it was decided', async () => {
    await find(page, 'Parallel coordinates', /^L2 /);
    const tip = page.locator('.tip');
    await tip.filter({ hasText: /e\.g\. sample \d+, L2: it missed L1 \(ibs_dc_miss\) but not L2/ }).waitFor();
    await page.mouse.move(2, 2);
  });

  it('explains axes, statistics and heads by the glossary', async () => {
    await find(page, 'Parallel coordinates', /^latency · .*distinct values/);
    await page.locator('.tip').filter({ hasText: 'What to do: Select the slowest tenth' }).waitFor();
    await find(page, 'Statistics', /^mean ·/);
    await page.locator('.tip').filter({ hasText: '= Σ v / n' }).waitFor();
    await page.mouse.move(2, 2);
    await enter('open samples');
    const head = page.getByRole('dialog').locator('th', { hasText: 'latency' }).first();
    await head.hover();
    await expect.poll(() => head.getAttribute('title')).toContain('What to do: Select the slowest tenth');
    await page.keyboard.press('Escape');
  });

  it('offers terms and headings of the guide after the rest, and leads to them', async () => {
    await type('imbalance');
    const texts = (await told().allInnerTexts()).map((t) => t.replace(/\s+/g, ' '));
    expect(texts[0]).toMatch(/^load imbalance glossary How far/);
    expect(texts.some((t) => t.includes(' guide '))).toBe(true);
    const opens = page.context().waitForEvent('page');
    await page.keyboard.press('ArrowDown');
    await told().first().click();
    const book = await opens;
    await book.locator('#load-imbalance').waitFor();
    expect(book.url()).toContain('/guide/glossary#load-imbalance');
    await book.close();
  });

  it('lists what the command line lists, in the same order', async () => {
    await type('l1 tlb');
    const want = cli('l1 tlb', '--shown', 'time,symbol,line,latency,level,cpu').map((s) => s.text);
    const got = await options().locator('.text').allInnerTexts();
    expect(got).toEqual(want);
    await page.keyboard.press('Escape');
  });

  it('moves with the arrows, previews what is marked, and leaves no trace', async () => {
    await enter('everything');
    await everything(page, ROWS);
    await type('tlb misses');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => options().nth(1).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowUp');
    expect(await options().nth(0).getAttribute('aria-selected')).toBe('true');
    // The preview is a hover, which the server is asked about with all views.
    const where = cli('tlb misses')[0]!.where;
    const asked = page.waitForRequest(
      (r) =>
        r.url().endsWith('/ask') && (JSON.parse(r.postData() ?? '{}') as { hover?: string }).hover === where,
    );
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await asked;
    await page.keyboard.press('Escape');
    await everything(page, ROWS);
    expect(await whereOf(page)).toBe('');
  });

  it('shows, hides and correlates axes', async () => {
    const axes = async (): Promise<string[]> => ((await linkOf(page)).get('axes') ?? '').split(',');
    await enter('show branch taken axis');
    await expect.poll(axes).toContain('ibs_op_brn_taken');
    await enter('timestamp');
    await expect.poll(axes).not.toContain('time');
    await enter('timestamp');
    await expect.poll(axes).toContain('time');
    await enter('correlate latency with source line');
    await expect.poll(async () => (await axes()).join(',')).toContain('latency,line');
    await enter('L2 TLB with latency');
    await expect.poll(async () => (await axes()).join(',')).toContain('ibs_dc_l2_tlb_miss,latency');
    await expect.poll(() => whereOf(page)).toBe('ibs_dc_l2_tlb_miss = 1');
  });

  it('undoes, sets bins and colour, opens views and help', async () => {
    await enter('undo');
    await everything(page, ROWS);
    await enter('bins 50');
    await expect.poll(async () => (await linkOf(page)).get('bins')).toBe('50');
    await enter('colour by samples');
    await expect.poll(async () => (await linkOf(page)).get('color')).toBe('samples');
    await enter('histogram of latency');
    await expect.poll(async () => (await linkOf(page)).get('bottom')).toBe('axis');
    await enter('parallel coordinates');
    await expect.poll(async () => (await linkOf(page)).get('bottom') ?? 'parallel').toBe('parallel');
    await enter('keyboard shortcuts');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    const saved = page.waitForEvent('download');
    await enter('export samples');
    expect((await saved).suggestedFilename()).toMatch(/\.csv$/);
  });

  it('says what the data cannot answer, and does nothing', async () => {
    await type('false sharing');
    const all = async (): Promise<string[]> =>
      (await options().allInnerTexts()).map((o) => o.replace(/\s+/g, ' '));
    const impossible = 'not possible: the data does not say what snooping found';
    await expect.poll(async () => (await all()).some((o) => o.includes(impossible))).toBe(true);
    const before = (await all()).findIndex((o) => o.includes(impossible));
    for (let i = 0; i < before; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await whereOf(page)).toBe('');
    await page.keyboard.press('Escape');
  });

  it('runs what was typed last, however fast Enter follows', async () => {
    await page.keyboard.press('Control+KeyK');
    await page.keyboard.type('select stores');
    await page.keyboard.press('Enter');
    await expect.poll(() => whereOf(page)).toBe(cli('select stores')[0]!.where);
    await enter('everything');
    await everything(page, ROWS);
  });

  it('says why a sample has its level', async () => {
    await enter('open samples');
    const dialog = page.getByRole('dialog', { name: 'Samples' });
    await dialog.getByRole('button', { name: 'Why sample 3 has its level' }).click();
    await expect
      .poll(() => dialog.getByRole('status', { name: 'Why this level' }).innerText())
      .toBe(
        'Remote RAM: it missed L1 and L2, and source 3 (ibs_nb_req_src) is Remote RAM on Zen ' +
          '1 to 3, of another node (ibs_nb_req_dst_node).',
      );
    await picture(page, 'commands-why', CHAPTER);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('assumes another L1 latency', async () => {
    await enter('assumed L1 latency');
    const field = page.getByRole('textbox', { name: 'Assumed L1 latency' });
    expect(await field.inputValue()).toBe('4');
    await field.fill('9');
    await field.press('Enter');
    await everything(page, ROWS);
    const sum = (l1: number): number =>
      (JSON.parse(isobath('report', file, '--l1-latency', String(l1), '--json')) as { latency: number })
        .latency;
    expect(sum(9)).toBeGreaterThan(sum(4));
    await enter('latency < 10');
    const want = JSON.parse(
      isobath('report', file, '--l1-latency', '9', '--where', 'latency < 10', '--json'),
    ) as { samples: number };
    await counted(page, want.samples, ROWS);
    await enter('everything');
    await everything(page, ROWS);
  });

  it('keeps micro-ops that access no memory, if asked to', async () => {
    const branches = join(folder, 'branches.csv');
    const rows = ibs().trim().split('\n');
    const [ld, st] = ['ibs_ld_op', 'ibs_st_op'].map((n) => HEADER.split(',').indexOf(n)) as [number, number];
    // Every fourth micro-op accesses nothing.
    writeFileSync(
      branches,
      rows
        .map((l, i) =>
          i === 0 || i % 4 > 0
            ? l
            : l
                .split(',')
                .map((c, k) => (k === ld || k === st ? '0' : c))
                .join(','),
        )
        .join('\n') + '\n',
    );
    await page.keyboard.press('Control+KeyO');
    await page.getByRole('textbox', { name: 'Path' }).fill(branches);
    await page.keyboard.press('Enter');
    await everything(page, 300);
    await type('mispredicted branches');
    expect(await options().first().innerText()).toContain('import with --all-ops to keep the others');
    await page.keyboard.press('Escape');
    await enter('choose columns');
    await page.getByRole('checkbox', { name: 'Keep micro-ops that access no memory' }).check();
    await page.getByRole('button', { name: 'Read the file again' }).click();
    await everything(page, 400);
    await enter('mispredicted branches');
    const want = (
      JSON.parse(isobath('report', branches, '--all-ops', '--where', 'ibs_op_brn_misp = 1', '--json')) as {
        samples: number;
      }
    ).samples;
    expect(want).toBe(80);
    await counted(page, want, 400);
    // What accesses nothing has no level: it is not counted as a hit in L1.
    const levels = (
      JSON.parse(isobath('report', branches, '--all-ops', '--by', 'level', '--json')) as {
        groups: { key: { level: string | null }; samples: number }[];
      }
    ).groups;
    const known = levels.filter((g) => g.key.level).reduce((n, g) => n + g.samples, 0);
    expect(known).toBe(300);
  });

  it('finds axes by readable names', async () => {
    await page.getByRole('button', { name: /Axis/ }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Axes' });
    await dialog.getByRole('searchbox', { name: 'Find a column' }).fill('mispredicted');
    expect((await dialog.getByRole('listitem').allInnerTexts()).join(' ').replace(/\s+/g, ' ')).toContain(
      'mispredicted branch ibs_op_brn_misp',
    );
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('refuses a file without known columns and lets one choose them', async () => {
    const foreign = join(folder, 'foreign.csv');
    writeFileSync(
      foreign,
      'source,line,timestamp,core,cost,level,hit_type\na.c,1,1000000,0,5,L1,Hit\na.c,2,1000001,1,7,L2,Hit\na.c,2,1000002,3,9,L2,Hit\n',
    );
    await page.keyboard.press('Control+KeyO');
    await page.getByRole('textbox', { name: 'Path' }).fill(foreign);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Choose columns …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Columns of the file' });
    const cpu = dialog.getByRole('combobox', { name: 'Column for cpu' });
    await cpu.waitFor(); // the dialog is loaded when it is first shown
    const choices = await cpu.locator('option').allInnerTexts();
    expect(choices[0]).toBe('missing');
    expect(choices).toContain('core: 0, 1, 3');
    await dialog.getByRole('combobox', { name: 'Column for time' }).selectOption('timestamp');
    await cpu.selectOption('core');
    await dialog.getByRole('combobox', { name: 'Column for latency' }).selectOption('cost');
    await picture(page, 'commands-columns', CHAPTER);
    await dialog.getByRole('button', { name: 'Read the file again' }).click();
    await everything(page, 3);
    await enter('latency above 6');
    await counted(page, 2, 3);
    const report = JSON.parse(
      isobath(
        'report',
        foreign,
        '--map',
        'time=timestamp',
        '--map',
        'cpu=core',
        '--map',
        'latency=cost',
        '--where',
        'latency > 6',
        '--json',
      ),
    ) as { samples: number };
    expect(report.samples).toBe(2);
  });

  it('lets one say what an unknown level is', async () => {
    const file = join(folder, 'words.csv');
    writeFileSync(file, 'time,cpu,level\n1000,0,HBM\n2000,1,L2\n3000,0,HBM\n4000,1,L1\n');
    await page.keyboard.press('Control+KeyO');
    await page.getByRole('textbox', { name: 'Path' }).fill(file);
    await page.keyboard.press('Enter');
    await everything(page, 4);
    await enter('choose columns');
    const dialog = page.getByRole('dialog', { name: 'Columns of the file' });
    await dialog.getByRole('combobox', { name: 'level HBM is' }).selectOption('Local RAM');
    await dialog.getByRole('button', { name: 'Read the file again' }).click();
    await everything(page, 4);
    await enter('dram');
    await counted(page, 2, 4);
  });
});

describe('commands of the demo', () => {
  let page: Page;
  show({ serve: () => ['demo'], ready: (p) => opened(p, 92959) }, (s) => ({ page } = s));

  it('proposes what is worth a look when nothing is typed', async () => {
    await page.keyboard.press('/');
    await page.locator('#command-list[data-about=""][data-complete="true"]').waitFor();
    const first = page.getByRole('listbox', { name: 'Commands' }).getByRole('option').first();
    expect((await first.innerText()).length).toBeGreaterThan(20);
    await picture(page, 'commands-empty', CHAPTER);
    await page.keyboard.press('Enter');
    await expect.poll(() => whereOf(page)).not.toBe('');
  });

  it('finds words in any order', async () => {
    await page.keyboard.press('Control+KeyK');
    await page.keyboard.type('miss L3');
    await page.locator('#command-list[data-about="miss L3"][data-complete="true"]').waitFor();
    expect(
      await page
        .getByRole('listbox', { name: 'Commands' })
        .getByRole('option')
        .first()
        .locator('.text')
        .innerText(),
    ).toBe('select L3 misses');
    await picture(page, 'commands-search', CHAPTER);
    await page.keyboard.press('Escape');
  });
});
