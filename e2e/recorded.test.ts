// What a recorder says beside its samples: when some were lost, throttled or
// stand for more, on every time axis; who touched pages first, as a
// statistic of data objects; and what each place allocates.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { isobath, ROOT } from './harness';
import { counted, everything, find, opened, whereOf } from './page';
import { rowsOf } from './painted';
import { show } from './suite';

/** Made by the tests of internal/data/gaps, which say what is in it. */
const LOSSY = join(ROOT, 'internal/data/gaps/testdata/lossy.data');

interface Gap {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly records: number;
}

describe('gaps in a recording', () => {
  let page: Page;
  const gaps = (JSON.parse(isobath('info', LOSSY, '--json')) as { gaps: Gap[] }).gaps;
  show({ serve: () => ['open', LOSSY], ready: (p) => opened(p, 400) }, (s) => ({ page } = s));

  const said = async (): Promise<string> =>
    (await page.locator('[data-status]').innerText()).replace(/\s+/g, ' ').trim();
  const summary = async (view: string): Promise<string> =>
    (
      (await page.getByRole('application', { name: view }).locator('.sr').first().textContent()) ?? ''
    ).replace(/\s+/g, ' ');

  /** The kinds of gap that the stretch of time in a status line overlaps. */
  const overlapping = (text: string): string[] => {
    const stretch = /^time ([\d.]+)–([\d.]+) ms/.exec(text);
    expect(stretch, text).not.toBeNull();
    const [from, to] = [1e6 * Number(stretch![1]), 1e6 * Number(stretch![2])];
    return gaps.filter((g) => g.from <= to && g.to >= from).map((g) => g.kind);
  };

  it.each([['Parallel coordinates'], ['One axis']])('are hatched, said and listed: %s', async (view) => {
    expect(gaps.map((g) => g.kind)).toEqual(['lost', 'throttled', 'lost', 'multiplexed']);
    await page.getByRole('tab', { name: view }).click();
    // The legend says what the hatch stands for, in words of its own the amounts.
    const legend = page.locator('.legend [title]', { hasText: /gaps/ });
    await legend.waitFor();
    expect((await legend.getAttribute('title'))!.replace(/\s+/g, ' ')).toContain(
      '42 records lost (the ring buffer was full, CPU 0)',
    );
    // To people who do not see it.
    await expect
      .poll(() => summary(view))
      .toContain(
        'samples are missing: 42 records lost (the ring buffer was full, CPU 0); throttled once ' +
          '(the kernel slowed sampling down, CPU 1); 7 records lost',
      );
    // Under the pointer, where it lies and nowhere else.
    await find(page, view, /records lost/);
    expect(await said()).toMatch(/ (42|7) records lost \(the ring buffer was full/);
    expect(overlapping(await said())).toContain('lost');
    await find(page, view, /throttled once/);
    expect(overlapping(await said())).toContain('throttled');
    await find(page, view, /^time 1\d\d[^]*of its/);
    expect(await said()).not.toMatch(/lost|throttled|counters/);
  });

  it('are drawn in the colour of doubt, in both themes', async () => {
    /** Pixels of exactly this colour in the lower layer: the edges of bands are solid. */
    const painted = (view: string, rgb: readonly number[]): Promise<number> =>
      page.evaluate(
        ([name, want]) => {
          const canvas = document.querySelectorAll<HTMLCanvasElement>(`[data-view="${name}"] canvas`)[0]!;
          const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
          let n = 0;
          for (let i = 0; i < data.length; i += 4)
            if (
              data[i] === want[0] &&
              data[i + 1] === want[1] &&
              data[i + 2] === want[2] &&
              data[i + 3] === 255
            )
              n++;
          return n;
        },
        [view, rgb] as const,
      );
    const [light, dark] = [
      [0x8a, 0x5a, 0x00],
      [0xe8, 0xb0, 0x4a],
    ] as const;
    for (const view of ['One axis', 'Parallel coordinates']) {
      await page.getByRole('tab', { name: view }).click();
      await expect.poll(() => painted(view, light)).toBeGreaterThan(100);
      expect(await painted(view, dark)).toBe(0);
      await page.getByRole('button', { name: 'Dark theme' }).click();
      await expect.poll(() => painted(view, dark)).toBeGreaterThan(100);
      await page.getByRole('button', { name: 'Light theme' }).click();
      await expect.poll(() => painted(view, light)).toBeGreaterThan(100);
    }
  });

  it('are rows of the table, as the command line lists them', async () => {
    await page.getByRole('tab', { name: 'One axis' }).click();
    const view = page.getByRole('application', { name: 'One axis' });
    await view.click({ button: 'right' });
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export CSV' }).click(),
    ]);
    const rows = rowsOf(readFileSync(await file.path(), 'utf8'));
    for (const g of gaps)
      expect(
        rows.some(
          (r) => r['part'] === g.kind && Number(r['from ns']) === g.from && Number(r['to ns']) === g.to,
        ),
        `${g.kind} from ${g.from}`,
      ).toBe(true);
  });
});

describe('first touch', () => {
  let folder: string;
  let page: Page;

  /** A run of our own with the page faults of a recording: thread 7 touched all of u, threads 7 and 8 half of v each. */
  function touches(): string {
    folder = mkdtempSync(join(tmpdir(), 'isobath-touch-'));
    const at = (name: string): string => join(folder, name);
    const samples = ['time\taddr\tcpu\tnode\ttid\tlatency\tsymbol\ttouch_node'];
    for (let i = 0; i < 40; i++)
      samples.push(
        [
          i,
          `0x${(0x10000 + 4096 * (i % 8)).toString(16)}`,
          i % 2,
          i % 2,
          7 + (i % 2),
          10,
          i % 4 < 3 ? 'u' : 'v',
          0,
        ].join('\t'),
      );
    const touches = ['time\tcpu\tnode\tpid\ttid\taddr\tsymbol'];
    for (let i = 0; i < 8; i++)
      touches.push([i, 0, 0, 1, 7, `0x${(0x10000 + 4096 * i).toString(16)}`, 'u'].join('\t'));
    for (let i = 0; i < 4; i++)
      touches.push(
        [8 + i, i % 2, i % 2, 1, 7 + (i % 2), `0x${(0x90000 + 4096 * i).toString(16)}`, 'v'].join('\t'),
      );
    writeFileSync(at('samples.tsv'), samples.join('\n') + '\n');
    writeFileSync(at('touches.tsv'), touches.join('\n') + '\n');
    isobath('import', at('samples.tsv'), '-o', at('run.isobath'));
    isobath('import', at('touches.tsv'), '-o', at('touches.isobath'));
    // A table knows its name; this one is as long as the other.
    writeFileSync(
      at('run.isobath/touches.arrow'),
      Buffer.from(
        readFileSync(at('touches.isobath/samples.arrow')).toString('latin1').replaceAll('samples', 'touches'),
        'latin1',
      ),
    );
    const manifest = JSON.parse(readFileSync(at('run.isobath/manifest.json'), 'utf8')) as {
      tables: object[];
    };
    manifest.tables.push({ name: 'touches', file: 'touches.arrow', rows: 12 });
    writeFileSync(at('run.isobath/manifest.json'), JSON.stringify(manifest));
    return at('run.isobath');
  }
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  show({ serve: () => ['open', touches()], ready: (p) => opened(p, 40) }, (s) => ({ page } = s));

  it('is a list of objects, as the command line prints it', async () => {
    await page.getByRole('tab', { name: 'First touch' }).click();
    const list = page.getByRole('region', { name: 'First touch' });
    await list.getByText('12 pages touched first').waitFor();
    const report = JSON.parse(isobath('report', join(folder, 'run.isobath'), '--touches', '--json')) as {
      objects: { symbol: string; pages: number; samples: number; known: number; away: number }[];
    };
    for (const o of report.objects) {
      const cells = await list
        .getByRole('row')
        .filter({ has: page.getByRole('button', { name: o.symbol, exact: true }) })
        .locator('td')
        .allInnerTexts();
      expect([cells[0]!.trim(), cells[1], cells[4], cells[5]!.replace(/\s+/g, ' ')]).toEqual([
        o.symbol,
        String(o.pages),
        String(o.samples),
        `${((100 * o.away) / o.known).toFixed(1)} %`,
      ]);
    }
    await list.getByText('node 0: 8').waitFor();
    await list.getByText('thread 7: 2, thread 8: 2').waitFor();
    await list.getByRole('button', { name: 'v', exact: true }).click();
    await counted(page, 10, 40);
    expect(await whereOf(page)).toBe('symbol = v');
    await page.keyboard.press('Control+KeyZ');
    await everything(page, 40);
  });

  it('stands in the words of a data object', async () => {
    await find(
      page,
      'Top offenders',
      /^u .*8 pages first touched by thread 7 \(all\) on node 0 \(all\).*measured/,
    );
  });
});

describe('allocations', () => {
  interface Site {
    readonly frames: { readonly function: string }[];
    readonly allocation: string;
    readonly bytes: number;
    readonly calls: number;
    readonly samples: number;
  }
  const folder = mkdtempSync(join(tmpdir(), 'isobath-allocations-'));
  const run = join(folder, 'run.isobath');
  let page: Page;
  let sites: Site[];
  let rows: number;

  /** A program with two places of 4 MiB, of which one is used, and one whose 200 blocks come and go. */
  function record(): string {
    const program = join(folder, 'allocates');
    const source = join(ROOT, 'cmd/isobath/testdata/record/allocates.c');
    execFileSync('gcc', ['-O1', '-g', '-o', program, source]);
    isobath('record', '--rate', '2000', '-o', run, '--', program);
    const report = JSON.parse(isobath('report', run, '--allocations', '--json')) as {
      samples: number;
      sites: Site[];
    };
    ({ sites, samples: rows } = report);
    return run;
  }
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  show({ serve: () => ['open', record()], ready: (p) => opened(p, rows) }, (s) => ({ page } = s));

  const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();

  it('are a row a place, as the command line prints them', async () => {
    await page.getByRole('tab', { name: 'Allocations' }).click();
    const list = page.getByRole('region', { name: 'Allocations' });
    await list.getByText(`by ${sites.length} places`).waitFor();
    const told = await list
      .locator('tbody tr')
      .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)));
    expect(told).toHaveLength(sites.length);
    const called = (f: string): number => sites.findIndex((s) => s.frames[1]?.function === f);
    const [cold, hot, come] = [called('cold'), called('hot'), called('main')].map((i) => told[i]!.map(plain));
    expect([cold![1], cold![3], cold![4], cold![5]]).toEqual(['4.0 MiB', '1', '4.0 MiB', 'to the end']);
    expect([hot![1], hot![6]]).toEqual([
      '4.0 MiB',
      plain(sites[called('hot')]!.samples.toLocaleString('fr')),
    ]);
    expect([come![3], come![4]]).toEqual(['200', '8.8 KiB']);
    expect(come![7]).toBe('grab < main');
  });

  it('select the samples in their memory, by pointer and by keys', async () => {
    const list = page.getByRole('region', { name: 'Allocations' });
    const place = sites.find((s) => s.frames[1]?.function === 'hot')!;
    const inside = sites.filter((s) => s.allocation === place.allocation).reduce((n, s) => n + s.samples, 0);
    const name = list.getByRole('button', { name: place.allocation, exact: true }).first();
    await name.click();
    await counted(page, inside, rows);
    expect(await whereOf(page)).toContain('allocation = ');
    await page.keyboard.press('Control+KeyZ');
    await everything(page, rows);
    await name.focus();
    await page.keyboard.press('Home');
    const at = (): Promise<string | null | undefined> =>
      page.evaluate(() => document.activeElement?.closest('[data-row]')?.getAttribute('data-row'));
    expect(await at()).toBe('0');
    await page.keyboard.press('ArrowDown');
    expect(await at()).toBe('1');
  });
});
