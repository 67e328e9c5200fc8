// The locality page on the built-in recording: selection, what if, advice, keys,
// tables. That its numbers are those of the verbs is a test of the server.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './axe';
import { browse, isobath, ROOT, samples, start } from './harness';
import { boxOf, find, linkOf, picture, plain, quiet } from './page';
import { show } from './suite';

const REFERENCES = '2 304 023';

describe('the locality page', () => {
  let page: Page;

  async function ready(p: Page): Promise<void> {
    await p.waitForFunction(() => performance.getEntriesByName('draw Misses over time').length > 0);
    await p.getByRole('button', { name: 'Try advice 1', exact: true }).waitFor();
    await quiet(p);
  }
  show({ serve: () => ['demo', 'locality'], ready }, (s) => ({ page } = s));

  const option = async (name: string): Promise<string | null> => (await linkOf(page)).get(`o.l.${name}`);
  const selected = (): Promise<string> =>
    page
      .getByRole('status', { name: 'References selected' })
      .innerText()
      .then((t) => t.replace(/\s+/g, ' ').trim());
  const status = (): Promise<string> =>
    page
      .locator('[data-status]')
      .innerText()
      .then((t) => t.replace(/\s+/g, ' ').trim());

  it('opens on everything', async () => {
    expect(await selected()).toBe(`Everything ${REFERENCES} references · 65 411 lines`);
    expect(
      await page.getByRole('button', { name: 'Locality', exact: true }).getAttribute('aria-current'),
    ).toBe('page');
  });

  it('selects an object by keys, for all pages', async () => {
    await page.locator('[data-view="Objects"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await status()).toMatch(/^p · 360 350 references · 98 304 L1 misses/);
    await page.keyboard.press('Enter');
    await expect
      .poll(selected)
      .toMatch(/^360 350 of 2 304 023 references \(15\.6 %\) · 15\.1 % of L1 misses/);
    expect((await linkOf(page)).get('s')).toBe('symbol = p');
    await quiet(page);
  });

  it('says every size by keys on the curve', async () => {
    await page.locator('[data-view="Miss curve"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    expect(await status()).toMatch(
      /^Cache of 9 KiB · LRU over 64-byte lines: [\d ]+ misses, [\d.]+ % of references.*; p [\d ]+; from here a doubling saves/,
    );
  });

  it('makes a cache larger by dragging its triangle below the curve', async () => {
    const box = await boxOf(page, 'Miss curve');
    const row = box.y + box.height - 13; // of the machine's triangles, the last one
    const from = await find(page, 'Miss curve', /^Cache of (48|52)\sKiB/);
    const to = await find(page, 'Miss curve', /^Cache of (88|96|104)\sKiB/);
    await page.mouse.move(from.x, row);
    await page.mouse.down();
    await page.mouse.move(to.x, row, { steps: 6 });
    await page.mouse.up();
    await expect.poll(async () => (await option('set')) ?? '').toMatch(/^L1\.size=(88|96|104)K/);
    await page.getByRole('button', { name: 'Remove the what if' }).click();
    await expect.poll(() => option('set')).toBeNull();
    await quiet(page);
  });

  it('shows a view as a table', async () => {
    await page.locator('[data-view="Miss curve"]').focus();
    await page.keyboard.press('t');
    const dialog = page.getByRole('dialog');
    await dialog.locator('th', { hasText: 'misses' }).first().waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('tries an advice, keeps it in the link, and takes it back', async () => {
    await page.getByRole('button', { name: 'Try advice 1', exact: true }).click();
    await page.getByRole('button', { name: 'Undo advice 1', exact: true }).waitFor();
    expect(await option('map')).toMatch(/^object p /);
    await quiet(page);
    await page.locator('[data-view="What if"]').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(status).toMatch(/^L2 2 MiB, 16 ways · 167 603 misses, .* · what if 8\d \d{3}/);
    await page.mouse.move(720, 12);
    await picture(page, 'locality', 'docs/guide/locality.md');
    await page.reload();
    await page.getByRole('button', { name: 'Undo advice 1', exact: true }).click();
    await page.getByRole('button', { name: 'Try advice 1', exact: true }).waitFor();
    expect(await option('map')).toBeNull();
  });

  it('selects a stretch of time by dragging, and undoes it', async () => {
    await quiet(page);
    const box = await boxOf(page, 'Misses over time');
    const y = box.y + 60;
    await page.mouse.move(box.x + 200, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, y, { steps: 4 });
    await page.mouse.up();
    await expect
      .poll(async () => (await linkOf(page)).get('s') ?? '')
      .toMatch(/^symbol = p & \(order >= \d+ & order < \d+\)$/);
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await expect.poll(async () => (await linkOf(page)).get('s')).toBe('symbol = p');
  });

  it('calls two fields that are selected together by their names', async () => {
    await page.getByRole('tab', { name: 'Fields', exact: true }).first().click();
    await quiet(page);
    for (const [name, key] of [
      ['p.x ·', 'Enter'],
      ['p.y ·', 'Shift+Enter'],
    ] as const) {
      await page.getByLabel('Ranked').locator('[data-view]').focus();
      await page.keyboard.press('Home');
      for (let i = 0; i < 20 && !(await status()).startsWith(name); i++)
        await page.keyboard.press('ArrowDown');
      await page.keyboard.press(key);
      await quiet(page);
    }
    await expect.poll(async () => (await linkOf(page)).get('s')).toBe('rows "field p.x" | rows "field p.y"');
    await quiet(page);
    await page.locator('[data-view="Miss curve"]').focus();
    await page.keyboard.press('Home');
    await expect.poll(status).toMatch(/; p\.x and p\.y [\d ]+/);
    await page.keyboard.press('Control+Shift+A');
    await page.getByRole('tab', { name: 'Objects', exact: true }).click();
  });

  it('has nothing that axe finds', async () => {
    await quiet(page);
    expect(await violations(page)).toEqual([]);
  });
});

// A run that was recorded here: its references are samples of the memory page too.
// What is selected on one page is selected on the others.
describe('one selection for locality, cycles and memory', () => {
  let folder: string;
  let run: string;
  let total: number;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'isobath-locality-'));
    run = join(folder, 'sort.isobath');
    const sources = ['bubble_array.c', 'region.c'].map((f) => join(ROOT, 'examples/loops', f));
    execFileSync('cc', ['-g', '-O0', '-o', join(folder, 'sort'), ...sources]);
    const how = ['--refs', '--backend', 'step', '--function', 'sort'];
    isobath('record', ...how, '-o', run, '--', join(folder, 'sort'), '5', '4', '3', '2', '1');
    total = samples(run, '');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('selects a line, an object, a loop, a thread and a stretch on each and finds them on the others', async () => {
    interface Loop {
      readonly title: string;
      readonly references: number;
    }
    const { loops } = JSON.parse(isobath('loops', run, '--json')) as { loops: Loop[] };
    const [server, browser] = await Promise.all([start('open', run), browse({ width: 1440, height: 900 })]);
    try {
      const { page, problems } = await browser.open(`${server.url}&v=1&page=locality`);
      const where = async (): Promise<string> => (await linkOf(page)).get('s') ?? '';
      const turnTo = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
      /** Every page says how many references are selected. */
      const everywhere = async (n: number): Promise<void> => {
        const says = `${n} of ${total}`;
        await turnTo('Locality');
        await plain(
          page.getByRole('status', { name: 'References selected' }),
          new RegExp(`^${says} references`),
        );
        await turnTo('Cycles');
        await plain(
          page.getByRole('status', { name: 'References', exact: true }),
          new RegExp(`^${says} references`),
        );
        await turnTo('Memory');
        await plain(page.getByRole('status', { name: 'Samples selected' }), new RegExp(`^${says} samples`));
      };
      const clear = async (): Promise<void> => {
        await page.keyboard.press('Control+Shift+A');
        await expect.poll(where).toBe('');
      };

      // Locality: a row of each table.
      const inner = 'bubble_array.c:13 sort';
      for (const [tab, name, want] of [
        ['Objects', 'value', 'symbol = value'],
        ['Lines', 'bubble_array.c:14', /^file = .*bubble_array\.c.* & line = 14$/],
        ['Loops', inner, `rows "loop ${inner}"`],
      ] as const) {
        await turnTo('Locality');
        await page.getByRole('tab', { name: tab, exact: true }).click();
        await quiet(page);
        await page.locator(`[data-view="${tab}"]`).focus();
        await page.keyboard.press('Home');
        const status = (): Promise<string> => page.locator('[data-status]').innerText();
        for (let i = 0; i < 8 && !(await status()).includes(name); i++)
          await page.keyboard.press('ArrowDown');
        expect(await status()).toContain(name);
        await page.keyboard.press('Enter');
        await expect.poll(where).toMatch(want);
        await everywhere(tab === 'Loops' ? loops[1]!.references : samples(run, await where()));
        await clear();
      }

      // Cycles: a line of the code, the loop inside, a stretch.
      await turnTo('Cycles');
      await page.locator('.cm-line', { hasText: 'for (int i = 0; i < count - 1 - pass' }).click();
      await expect.poll(where).toMatch(/^file = .*bubble_array\.c.* & line = 13$/);
      await everywhere(samples(run, await where()));
      await clear();
      await turnTo('Cycles');
      await page.getByRole('tab', { name: 'Loops' }).click();
      await page.getByRole('row', { name: /for i, bubble_array\.c:13/ }).click();
      await expect.poll(where).toBe('rows "loop bubble_array.c:13 sort"');
      await everywhere(loops[1]!.references);
      await clear();

      // Memory: typed, and undone on another page.
      const thread = (
        JSON.parse(isobath('reuse', run, '--by', 'thread', '--json')) as {
          groups: { key: { thread: number } }[];
        }
      ).groups[0]!.key.thread;
      for (const [text, n] of [
        ['order in 100..149', 50],
        [`tid = ${thread}`, total],
      ] as const) {
        await page.goto(server.url + `&v=1&page=memory&s=${encodeURIComponent(text)}`);
        await everywhere(n);
      }
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
      await server.stop();
    }
  });
});

describe('two records of references', () => {
  let folder: string;
  const runs: string[] = [];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'isobath-lines-'));
    const examples = join(ROOT, 'examples/loops');
    const text = readFileSync(join(examples, 'bubble_array.c'), 'utf8');
    // Two lines more before everything: no line keeps its number.
    [text, `/* longer */\n/* than before */\n${text}`].forEach((source, i) => {
      const own = join(folder, String(i));
      mkdirSync(own);
      const c = join(own, 'bubble_array.c');
      writeFileSync(c, source);
      const program = join(own, 'sort');
      execFileSync('cc', ['-g', '-O0', '-I', examples, '-o', program, c, join(examples, 'region.c')]);
      const run = join(own, `sort${i}.isobath`);
      const how = ['--refs', '--backend', 'step', '--function', 'sort', '-o', run];
      isobath('record', ...how, '--', program, '5', '4', '3', '2', '1');
      runs.push(run);
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['lines', 'loops'])('has %s of A beside those of B, matched by their text', async (tab) => {
    const [server, browser] = await Promise.all([
      start('open', ...runs),
      browse({ width: 1440, height: 900 }),
    ]);
    try {
      const { page, problems } = await browser.open(`${server.url}&v=1&page=locality&o.l.table=${tab}`);
      await expect
        .poll(
          async () => {
            await page.locator(`[data-view="${tab === 'lines' ? 'Lines' : 'Loops'}"]`).focus();
            await page.keyboard.press('t');
            const dialog = page.getByRole('dialog');
            // A view that is replaced by that of both records takes the key with it.
            const there = await dialog.waitFor({ timeout: 2_000 }).then(
              () => true,
              () => false,
            );
            if (!there) return undefined;
            const head = await dialog.locator('th').allInnerTexts();
            const change = await dialog.locator('tbody tr td:last-child').allInnerTexts();
            await page.keyboard.press('Escape');
            await dialog.waitFor({ state: 'detached' });
            return {
              compared: head.includes('A L1 misses'),
              new: change.includes('new'),
              rows: change.length > 1,
            };
          },
          { timeout: 60_000 },
        )
        .toEqual({ compared: true, new: false, rows: true });
      expect(problems).toEqual([]);
    } finally {
      await Promise.all([server.stop(), browser.close()]);
    }
  });
});

// A program, the same with another layout, and one that computes something else:
// what `advise --prove` found of each stands in the list, with what it comes from.
describe('the proof of an advice', () => {
  let folder: string;
  let run: string;
  const at = (name: string): string => join(folder, name);
  const compile = (name: string, ...defines: string[]): void => {
    execFileSync('cc', ['-O1', '-g', '-fno-inline', ...defines, '-o', at(name), at('cells.c')]);
  };
  const prove = (): string =>
    isobath(
      ...['advise', run, '--prove', '--function', 'work', '--backend', 'step', '--rounds', '3'],
      ...['--', at('changed')],
    );
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'isobath-proof-'));
    run = at('sweep.isobath');
    writeFileSync(
      at('cells.c'),
      `#include <stdio.h>
#ifdef APART
double x[4000];
#define X(i) x[i]
#else
struct cell { double x, cold[7]; } cells[4000];
#define X(i) cells[i].x
#endif
#ifndef ADD
#define ADD 1
#endif
__attribute__((noinline)) void work(void) {
  for (int step = 0; step < 4; step++)
    for (int i = 0; i < 4000; i++) X(i) += ADD;
}
int main(void) {
  work();
  printf("%g\\n", X(1) + X(3999));
}
`,
    );
    compile('sweep');
    compile('changed', '-DAPART');
    isobath('record', '--refs', '--backend', 'step', '--function', 'work', '-o', run, '--', at('sweep'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is kept with the run, says what is modelled and what measured, and when it is out of date', async () => {
    const [server, browser] = await Promise.all([start('open', run), browse({ width: 1440, height: 900 })]);
    try {
      const { page, problems } = await browser.open(`${server.url}&v=1&page=locality`);
      const first = page.getByRole('list', { name: 'Changes' }).getByRole('listitem').first();
      const says = (): Promise<string> => first.innerText().then((t) => t.replace(/\s+/g, ' '));
      await expect.poll(says, { timeout: 60_000 }).toMatch(/no re-run/);

      expect(prove()).toMatch(/the changed program misses as predicted/);
      await page.reload();
      await expect
        .poll(says, { timeout: 60_000 })
        .toMatch(/re-run as predicted: L1 1?\d(\.\d)? ?k → \d.* timed(:| \d)/);
      expect(await first.getByTitle('measured').count()).toBe(1);
      expect(await first.getByTitle('modelled').count()).toBe(2);
      await first.getByRole('button', { name: 'Why' }).click();
      const table = first.getByRole('table', { name: 'Predicted and recorded misses' });
      expect((await table.innerText()).replace(/\s+/g, ' ')).toMatch(/now predicted changed L1 [\d ]+/);
      expect(await says()).toContain('To prove it again');
      await quiet(page);
      expect(await violations(page)).toEqual([]);

      // Another program of that name: the proof is of one that is gone.
      compile('changed', '-DAPART', '-DADD=2');
      await page.reload();
      await expect.poll(says, { timeout: 60_000 }).toMatch(/out of date/);
      await first.getByRole('button', { name: 'Why' }).click();
      expect(await says()).toContain('changed is another program now');

      // That one does not compute the same, whatever it saves.
      expect(prove()).toMatch(/printed another result/);
      await page.reload();
      await expect.poll(says, { timeout: 60_000 }).toMatch(/printed another result/);
      expect(await says()).not.toMatch(/timed|out of date/);
      expect(problems).toEqual([]);
    } finally {
      await Promise.all([server.stop(), browser.close()]);
    }
  });
});
