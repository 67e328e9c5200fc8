// The trace page on real traces: what it says is compared with `isobath steps`.
// It also takes the pictures of the guide's chapter on late ranks.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './axe';
import { fixture, isobath, ROOT, samples, type Browser, type Running } from './harness';
import { boxOf, counted, find, linkOf, picture, pixels, plain } from './page';
import { show } from './suite';

const CHAPTER = 'docs/guide/late-ranks.md';
const RING = fixture('otf2/ring16');
const TREE = fixture('otf2/binomial16');

interface Gain {
  readonly gain: number;
  readonly text: string;
  readonly instances: readonly { readonly process: number; readonly step: number; readonly op: number }[];
}

describe('the trace page', () => {
  let server: Running;
  let browser: Browser;
  let page: Page;
  let first: Gain;

  beforeAll(() => {
    first = (JSON.parse(isobath('steps', RING, '--json')) as { gains: Gain[] }).gains[0]!;
  });
  show({ serve: () => ['open', RING], ready: drawn }, (s) => ({ server, browser, page } = s));

  const option = async (name: string): Promise<string | null> => (await linkOf(page)).get(`o.t.${name}`);
  const operations = (): Promise<string> => page.getByRole('status', { name: 'Operations' }).innerText();

  async function drawn(): Promise<void> {
    await page.waitForFunction(() => performance.getEntriesByName('draw Logical timeline').length > 0);
    await page.waitForFunction(() => performance.getEntriesByName('draw Physical timeline').length > 0);
  }

  it('opens on the trace, with the same counts as the command', async () => {
    const report = JSON.parse(isobath('steps', RING, '--json')) as {
      operations: number;
      processes: number;
      messages: number;
      partitions: number;
    };
    expect(report.operations).toBe(512);
    await expect.poll(operations).toMatch(/512 operations · 16 processes · 240 messages · 17 partitions/);
    await expect
      .poll(() => page.getByRole('button', { name: 'Trace' }).getAttribute('aria-current'))
      .toBe('page');
    await expect
      .poll(() => page.getByRole('button', { name: 'Memory' }).getAttribute('aria-disabled'))
      .toBe('true');
  });

  it('leads with the mouse to the injected delay, as the command has it', async () => {
    // The last barrier is left out by dragging the window's edge.
    const box = await boxOf(page, 'Overview');
    const plot = { x: box.x + 56, w: box.width - 70 };
    await page.mouse.move(plot.x + plot.w, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(plot.x + (plot.w * 31) / 32, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => option('steps')).toBe('0..31');

    const entry = page
      .getByRole('region', { name: 'Causes' })
      .getByRole('button', { name: /Rank 11 before MPI_Isend/ });
    await entry.click();
    await expect.poll(() => option('entry')).toBe('1');
    const [at] = first.instances;
    expect(at!.process).toBe(11);
    const shown = (await entry.innerText()).replace(/\s+/g, ' ');
    expect(shown).toContain(`−${(100 * first.gain).toFixed(1)} %`);
    expect(shown.toLowerCase()).toContain(first.text.split('; ')[0]!.toLowerCase());
    const details = page.getByRole('region', { name: 'Details' });
    await details.getByText(`rank 11 · step ${at!.step} · partition`).waitFor();
    await details.getByText('started here').waitFor();
  });

  it('says how much later computations could end, as the command does', async () => {
    interface Op {
      readonly process: number;
      readonly step: number;
      readonly slack: number;
    }
    const { ops } = JSON.parse(isobath('steps', RING, '--json', '--ops')) as { ops: Op[] };
    const details = page.getByRole('region', { name: 'Details' });
    const slack = details.locator('dt', { hasText: /^slack$/ }).locator('xpath=following-sibling::dd[1]');
    const [at] = first.instances;
    expect(ops.find((o) => o.process === 11 && o.step === at!.step)!.slack).toBe(0);
    await expect.poll(() => slack.innerText()).toMatch(/^none/);
    await page.getByRole('button', { name: /^\d+ instances?$/ }).click();
    const row = page.getByRole('table', { name: 'Instances of cause 1' }).locator('tbody tr').first();
    await expect.poll(async () => (await row.locator('td').allInnerTexts())[4]).toBe('none');
    await page.getByRole('button', { name: /^\d+ instances?$/ }).click();
    await find(page, 'Logical timeline', /^Rank 4 step 18, MPI_Recv/);
    await page.mouse.down();
    await page.mouse.up();
    const other = ops.find((o) => o.process === 4 && o.step === 18)!.slack;
    const [scale, unit] = other >= 1e6 ? [1e6, 'ms'] : [1e3, 'µs'];
    const words = `≈ ${(other / scale).toPrecision(3)} ${unit}`;
    await expect.poll(async () => (await slack.innerText()).replace(/\s+/g, ' ')).toContain(words);
    await page.getByRole('button', { name: 'Select no operation' }).click();
  });

  it('shows the run without a cause over the recorded one, as the command predicts it', async () => {
    interface WhatIf {
      readonly span_ns: number;
      readonly recorded_ns: number;
      readonly low_ns: number;
      readonly high_ns: number;
    }
    const predicted = (...changes: string[]): WhatIf =>
      (
        JSON.parse(isobath('steps', RING, '--json', ...changes.flatMap((c) => ['--whatif', c]))) as {
          whatif: WhatIf;
        }
      ).whatif;
    const ms = (ns: number): string => `${(ns / 1e6).toFixed(1)} ms`;
    const before = await pixels(page, 'Physical timeline', 0);
    await page.getByRole('button', { name: 'What if it were gone' }).click();
    await expect.poll(() => option('changes')).toBe('cause 1');
    const pane = page.getByRole('region', { name: 'What if' });
    const without = predicted('cause 1');
    expect(without.span_ns).toBeLessThan(without.recorded_ns);
    await pane.getByText(`≈ ${ms(without.span_ns)}`.replace(' ms', '\u202fms')).waitFor();
    await expect
      .poll(async () => (await pane.innerText()).replace(/\s+/g, ' '))
      .toContain(`nothing disturbs it and ${ms(without.high_ns)}`);
    await expect.poll(() => pixels(page, 'Physical timeline', 0)).not.toBe(before);
    // What was clicked has room below the panel.
    const about = (await page.getByRole('region', { name: 'About the selection' }).boundingBox())!;
    expect(about.height).toBeGreaterThan(120);
    // The changed run alone: its operations are described as predicted.
    await pane.getByRole('button', { name: 'predicted' }).click();
    await find(page, 'Physical timeline', /^Rank 11 ≈ predicted/);
    // A change can be written; one that selects nothing says so and changes nothing.
    await pane.getByRole('textbox', { name: 'Change' }).fill('rank 99 = median');
    await page.keyboard.press('Enter');
    await pane.getByRole('alert').filter({ hasText: 'no rank 99' }).waitFor();
    await pane.getByRole('button', { name: 'Take back rank 99 = median' }).click();
    await pane.getByRole('textbox', { name: 'Change' }).fill('rank 11 * 0.5');
    await page.keyboard.press('Enter');
    const both = predicted('cause 1', 'rank 11 * 0.5');
    await pane.getByText(`≈ ${ms(both.span_ns)}`.replace(' ms', '\u202fms')).waitFor();
    await pane.getByRole('slider', { name: 'Factor of the change' }).waitFor();
    for (const change of ['cause 1', 'rank 11 * 0.5'])
      await pane.getByRole('button', { name: `Take back ${change}` }).click();
    await expect.poll(() => option('changes')).toBe(null);
    await expect.poll(() => pixels(page, 'Physical timeline', 0)).toBe(before);
  });

  it('follows the chain of a late receive, linked in both timelines', async () => {
    await find(page, 'Logical timeline', /^Rank 4 step 18, MPI_Recv/);
    await page.mouse.down();
    await page.mouse.up();
    const details = page.getByRole('region', { name: 'Details' });
    await details.getByText('inherited by message').waitFor();
    const ranks = details.locator('tbody tr td:first-child');
    await expect.poll(async () => (await ranks.allInnerTexts())[0]).toBe('11');
    await expect.poll(async () => (await ranks.allInnerTexts()).at(-1)).toBe('4');
    await page.mouse.move(720, 12);
    await picture(page, 'trace-ring', CHAPTER);
    // The same operation is found in the physical timeline, and selects there too.
    const op = await option('op');
    await page.getByRole('button', { name: 'Select no operation' }).click();
    await find(page, 'Physical timeline', /^Rank 4 step 18, MPI_Recv/);
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(() => option('op')).toBe(op);
  });

  it('goes back one step at a time, and a copied link restores everything', async () => {
    const link = await page.evaluate(() => location.href);
    const again = await browser.open(link.replace('#', `#k=${server.token}&`));
    await again.page.getByRole('region', { name: 'Details' }).getByText('inherited by message').waitFor();
    expect(await again.page.evaluate(() => location.hash)).toBe(new URL(link).hash);
    expect(again.problems).toEqual([]);
    await again.page.close();
    await page.goBack();
    await expect.poll(() => option('op')).toBe(null);
    await page.goForward();
    await expect.poll(() => option('op')).not.toBe(null);
  });

  it('walks by keys alone from the cause to its victims', async () => {
    await page.getByRole('button', { name: 'Select no operation' }).click();
    await page
      .getByRole('region', { name: 'Causes' })
      .getByRole('button', { name: /Rank 11 before MPI_Isend/ })
      .focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('region', { name: 'Details' })
      .getByText(`rank 11 · step ${first.instances[0]!.step} · partition`)
      .waitFor();
    await page.getByRole('application', { name: 'Logical timeline' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.locator('[data-status]').innerText()).toMatch(/Rank 0\s+step 0/);
    for (const key of ['ArrowDown', 'ArrowRight', '.']) await page.keyboard.press(key);
    await expect.poll(() => page.locator('[data-status]').innerText()).toMatch(/Rank 1\s+step 2/);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Details' }).getByText('rank 1 · step 2 · partition').waitFor();
    await page.keyboard.press('w');
    await expect.poll(() => option('steps')).not.toBe('0..31');
    await page.keyboard.press('0');
    await expect.poll(() => option('steps')).toBe(null);
  });

  it('brushes time, and the steps follow', async () => {
    const box = await boxOf(page, 'Physical timeline');
    await page.mouse.move(box.x + 60, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 100, box.y + 100, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => option('time')).toMatch(/^\d+\.\.\d+$/);
    // The logical timeline shows the steps that ran then, as the command counts them.
    const [from, to] = (await option('time'))!.split('..').map(Number) as [number, number];
    const { ops } = JSON.parse(isobath('steps', RING, '--json', '--ops')) as {
      ops: { enter: number; exit: number; step: number }[];
    };
    const start = Math.min(...ops.map((o) => o.enter)); // near the first event: every rank begins with a call
    const then = ops.filter((o) => o.exit - start >= from && o.enter - start < to).map((o) => o.step);
    const chip = page.locator('.chip').filter({ hasText: /steps \d+–\d+/ });
    await chip.waitFor();
    const [a, b] = /steps (\d+)–(\d+)/
      .exec(await chip.innerText())!
      .slice(1)
      .map(Number) as [number, number];
    expect(a).toBeLessThanOrEqual(Math.min(...then) + 1);
    expect(b).toBeGreaterThanOrEqual(Math.max(...then) - 1);
    expect(b - a).toBeLessThan(31);
    await page.getByRole('button', { name: 'Show the time of the steps' }).click();
    await expect.poll(() => option('time')).toBe(null);
  });

  it('morphs from time to steps and back', async () => {
    await page.getByRole('button', { name: 'Morph' }).click(); // a cut, for motion is reduced
    const slider = page.getByRole('slider', { name: 'Morph from time to steps' });
    await expect.poll(() => slider.inputValue()).toBe('1');
    await find(page, 'Physical timeline', /^Rank 4 step 18, MPI_Recv/);
    await slider.focus();
    await page.keyboard.press('Home');
    await expect.poll(() => slider.inputValue()).toBe('0');
  });

  it('analyses again with other options, and says what they did', async () => {
    await page.getByRole('tab', { name: 'Structure' }).click();
    const details = page.getByRole('region', { name: 'Details' });
    await details.getByRole('checkbox', { name: /Merge until each leap/ }).check();
    const leaps = JSON.parse(isobath('steps', RING, '--json', '--leaps')) as { partitions: number };
    await expect.poll(operations).toContain(`${leaps.partitions} partitions`);
    const merges = (
      JSON.parse(isobath('steps', RING, '--json', '--leaps')) as {
        merges: { name: string; before: number; after: number }[];
      }
    ).merges;
    const did = merges.find((m) => m.name === 'leaps')!;
    expect(did.after).toBe(leaps.partitions);
    await plain(
      details.getByRole('row', { name: /^leaps completed/ }),
      `leaps completed ${did.before} ${did.after === did.before ? 'same' : did.after}`,
    );
    await details.getByRole('button', { name: 'Back to what suits this trace' }).click();
    await expect.poll(() => option('structure')).toBe(null);
  });

  it('makes a phase of what was brushed', async () => {
    await page.getByRole('tab', { name: 'Structure' }).click();
    const box = await boxOf(page, 'Logical timeline');
    const w = (box.width - 70) / 32;
    await page.mouse.move(box.x + 56 + 8.1 * w, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(box.x + 56 + 19.9 * w, box.y + 200, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => option('steps')).toBe('8..20');
    await page.getByRole('button', { name: 'Make the window a phase' }).click();
    await expect.poll(() => option('structure')).toMatch(/step:8,step:20$/);
    const phased = JSON.parse(isobath('steps', RING, '--json', '--phases', 'step:8,step:20')) as {
      partitions: number;
    };
    await expect.poll(operations).toContain(`${phased.partitions} partitions`);
    await page.getByRole('button', { name: 'Remove the phase at step 20' }).click();
    const fewer = JSON.parse(isobath('steps', RING, '--json', '--phases', 'step:8')) as {
      partitions: number;
    };
    await expect.poll(operations).toContain(`${fewer.partitions} partitions`);
    await page.getByRole('button', { name: 'Back to what suits this trace' }).click();
    await expect.poll(() => option('structure')).toBe(null);
  });

  it('lists functions, messages and clusters', async () => {
    await page.getByRole('tab', { name: 'Functions' }).click();
    const profile = (
      JSON.parse(isobath('steps', RING, '--json', '--profile')) as {
        profile: { regions: { name: string; calls: number }[]; matrix: unknown[] };
      }
    ).profile;
    const recv = profile.regions.find((r) => r.name === 'MPI_Recv')!;
    await plain(
      page
        .getByRole('row', { name: /^MPI_Recv/ })
        .locator('td')
        .nth(1),
      String(recv.calls),
    );
    // A click lets the operations of a function stand out, in both timelines.
    const before = await pixels(page, 'Physical timeline', 0);
    await page
      .getByRole('row', { name: /^MPI_Recv/ })
      .getByRole('button')
      .click();
    await expect.poll(() => option('function')).toBe('MPI_Recv');
    await expect.poll(async () => (await pixels(page, 'Physical timeline', 0)) === before).toBe(false);
    await page.getByRole('button', { name: 'Show all functions' }).click();
    await expect.poll(() => option('function')).toBe(null);
    await page.getByRole('tab', { name: 'Ranks' }).click();
    await page.getByRole('img', { name: new RegExp(`${profile.matrix.length} pairs`) }).waitFor();
    await page
      .getByRole('button', { name: /rank \d+ and \d+ other/ })
      .first()
      .click();
    await expect.poll(() => option('order')).toMatch(/^cluster:\d/);
    // Two groups, as the command makes them: a tree of one joint, a row each; a click on its label opens one.
    await page.getByRole('combobox', { name: 'Number of clusters' }).selectOption('2');
    await expect.poll(() => option('order')).toBe('cluster::2');
    const groups = (
      JSON.parse(isobath('steps', RING, '--json', '--clusters', '--k', '2')) as {
        clusters: { list: { medoid: number; size: number }[]; merges: unknown[] };
      }
    ).clusters;
    expect(groups.merges).toHaveLength(1);
    await page.getByRole('img', { name: /Dendrogram of 2 clusters/ }).waitFor();
    for (const g of groups.list)
      await page.getByRole('button', { name: new RegExp(`rank ${g.medoid}\\b`) }).waitFor();
    const rows = async (): Promise<number> =>
      Number(
        /(\d+) rows/.exec(
          await page
            .getByRole('application', { name: 'Logical timeline' })
            .evaluate(
              (e) => document.getElementById(e.getAttribute('aria-describedby') ?? '')?.textContent ?? '',
            ),
        )?.[1],
      );
    await expect.poll(rows).toBe(2);
    const box = await boxOf(page, 'Logical timeline');
    await page.mouse.click(box.x + 30, box.y + 44);
    await expect.poll(() => option('order')).toBe('cluster:0:2');
    await expect.poll(rows).toBe(1 + groups.list[0]!.size);
    await page.getByRole('button', { name: /^Rows/ }).click();
    await page
      .getByRole('menuitemradio', { name: /by rank/ })
      .or(page.getByRole('menuitem', { name: /by rank/ }))
      .click();
    await page.getByRole('tab', { name: 'Operation' }).click();
  });

  it('exports pictures and numbers', async () => {
    await page.getByRole('application', { name: 'Logical timeline' }).focus();
    for (const [format, least] of [
      ['PNG', 10_000],
      ['SVG', 10_000],
      ['CSV', 5_000],
    ] as const) {
      await page.getByRole('button', { name: /^Export/ }).click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: `Logical timeline as ${format}` }).click(),
      ]);
      const text = readFileSync(await file.path());
      expect(text.length).toBeGreaterThan(least);
      if (format === 'CSV') expect(text.toString().split('\n').length).toBe(512 + 2);
    }
  });

  it('has no accessibility violations, light and dark', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await violations(page, scheme === 'dark' ? { colours: true } : {})).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('shows the levels of a tree', async () => {
    await page.keyboard.press('Control+o');
    await page.getByRole('dialog').getByRole('textbox').fill(TREE);
    await page.keyboard.press('Enter');
    await expect.poll(operations).toMatch(/92 operations · 16 processes · 30 messages · 32 partitions/);
    await page.mouse.move(720, 12);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await picture(page, 'trace-tree', CHAPTER);
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'trace-dark', CHAPTER);
  });
});

// A simulated program whose answers are known: rank 3 sweeps 2 ms longer in one
// of eight iterations, or not; a counter; samples every 10 µs of a sweep.
describe('two runs, samples and counters', () => {
  let folder: string;
  let server: Running;
  let browser: Browser;
  let page: Page;
  const file = (name: string): string => join(folder, name);

  function simulated(): string[] {
    folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-trace-'));
    execFileSync('go', ['run', './internal/messages/mpiprog/fixture', folder], {
      cwd: ROOT,
      stdio: 'inherit',
    });
    isobath('import', file('late.otf2'), file('late.csv'), '-o', file('both.isobath'));
    return [file('late.otf2'), file('even.otf2'), file('both.isobath')];
  }
  afterAll(() => rmSync(folder, { recursive: true }));
  show(
    { serve: () => ['open', ...simulated()], ready: () => turnTo('late.otf2') },
    (s) => ({ server, browser, page } = s),
  );

  const option = async (name: string): Promise<string | null> => (await linkOf(page)).get(`o.t.${name}`);

  async function turnTo(run: string): Promise<void> {
    await page.getByRole('button', { name: /^Runs/ }).click();
    await page
      .getByRole('menuitemradio', { name: new RegExp(`^${run}`) })
      .or(page.getByRole('menuitem', { name: new RegExp(`^${run}`) }))
      .click();
    if (run.endsWith('.isobath')) await page.getByRole('button', { name: 'Trace', exact: true }).click();
    await page.getByRole('status', { name: 'Operations' }).filter({ hasText: '144 operations' }).waitFor();
  }

  async function choose(menu: RegExp, item: string): Promise<void> {
    await page.getByRole('button', { name: menu }).click();
    await page
      .getByRole('menuitemradio', { name: item, exact: true })
      .or(page.getByRole('menuitem', { name: item, exact: true }))
      .click();
  }

  it('compares two runs, as the command does', async () => {
    interface Compare {
      readonly matched: number;
      readonly top: { process: number; step: number; amount: number; op: number }[];
    }
    const { compare } = JSON.parse(
      isobath('steps', file('late.otf2'), '--json', '--compare', file('even.otf2')),
    ) as { compare: Compare };
    expect(compare.top[0]).toMatchObject({ process: 3, step: 12, amount: 2_000_000 });
    const before = await pixels(page, 'Logical timeline', 0);
    await choose(/^Compare/, 'even.otf2');
    const changes = page.getByRole('region', { name: 'Changes' });
    const first = changes.getByRole('button', {
      name: /Rank 3 computed 2.00\sms longer before MPI_Sendrecv at step 12/,
    });
    await first.waitFor();
    await plain(changes.locator('dd').nth(3), String(compare.matched));
    await expect.poll(() => pixels(page, 'Logical timeline', 0)).not.toBe(before);
    await first.click();
    await expect.poll(() => option('op')).toBe(String(compare.top[0]!.op));
    await page.getByRole('region', { name: 'Details' }).getByText('+2.00\u202fms before it').waitFor();
    await find(
      page,
      'Logical timeline',
      /^Rank 4 step 13, MPI_Sendrecv · \+2.00\sms later than in the other run/,
    );
    await page.mouse.move(720, 12);
    await picture(page, 'trace-compare', CHAPTER);
    // A link restores it, and the chip ends it.
    const link = await page.evaluate(() => location.href);
    const again = await browser.open(link.replace('#', `#k=${server.token}&`));
    await again.page
      .getByRole('region', { name: 'Changes' })
      .getByRole('button', { name: /Rank 3 computed/ })
      .waitFor();
    await again.page.close();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Compare with nothing' }).click();
    await page.getByRole('region', { name: 'Causes' }).waitFor();
  });

  it('colours by a counter of the trace', async () => {
    await choose(/^Colour/, 'L3 misses misses');
    await find(page, 'Logical timeline', /^Rank 2 step 1, MPI_Sendrecv · 3\smisses L3 misses/);
    await page.getByRole('application', { name: 'Logical timeline' }).focus();
    await page.getByRole('button', { name: /^Export/ }).click();
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Logical timeline as CSV' }).click(),
    ]);
    const lines = readFileSync(await csv.path())
      .toString()
      .trim()
      .split('\n');
    const head = lines.find((l) => l.startsWith('rank,'))!.split(',');
    const slow = lines.filter((l) => l.startsWith('3,12,')).map((l) => l.split(','));
    // 2,100 µs of sweeping at one miss a µs, before the send.
    expect(slow.map((l) => l[head.findIndex((h) => h.startsWith('before it'))])).toEqual(['2100']);
    await choose(/^Colour/, 'kind of work');
    await page.getByText('point to point').waitFor();
    await find(page, 'Logical timeline', /^Rank 2 step 2, MPI_Allreduce · collective/);
    await choose(/^Colour/, 'lateness');
  });

  it('nests call stacks in the physical timeline', async () => {
    await page.getByRole('button', { name: 'Call stacks' }).click();
    await page.getByRole('button', { name: 'Call stacks ×' }).waitFor();
    await page.getByRole('application', { name: 'Physical timeline' }).focus();
    await page.getByRole('button', { name: /^Export/ }).click();
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Physical timeline as SVG' }).click(),
    ]);
    const text = readFileSync(await svg.path()).toString();
    for (const name of ['main', 'sweep', 'MPI_Allreduce']) expect(text).toContain(`>${name}</text>`);
    await page.getByRole('button', { name: 'Call stacks ×' }).click();
  });

  it('shows the code of an operation', async () => {
    await page
      .getByRole('region', { name: 'Causes' })
      .getByRole('button', { name: /Rank 3 before MPI_Sendrecv/ })
      .click();
    await page.getByRole('region', { name: 'Details' }).getByRole('button', { name: 'heat.c:10' }).click();
    await page
      .getByLabel('Source of heat.c')
      .locator('.here')
      .filter({ hasText: 'static void exchange' })
      .waitFor();
  });

  it('shows memory samples beside the lines of a cause, and functions of the window', async () => {
    await turnTo('both.isobath');
    await page
      .getByRole('region', { name: 'Causes' })
      .getByRole('button', { name: /Rank 3 before MPI_Sendrecv/ })
      .click();
    await page.getByRole('tab', { name: 'Window' }).click();
    // Eight sweeps of six ranks of 100 µs, and 2 ms more of one.
    await plain(
      page.getByRole('table', { name: 'Time in the window' }).getByRole('row', { name: /^sweep/ }),
      /^sweep 48 6\.80 ms/,
    );
    await page.getByRole('tab', { name: 'Code' }).click();
    const details = page.getByRole('region', { name: 'Details' });
    await details.locator('.number').filter({ hasText: /^680$/ }).waitFor();
    await page.getByLabel('Source of heat.c').locator('.cm-line').filter({ hasText: 'u[i - 1]' }).click();
    await counted(page, 680, 680);
    expect(samples(file('both.isobath'), (await linkOf(page)).get('s')!)).toBe(680);
    await page.goBack();
    await page.goBack();
    await page.getByRole('tab', { name: 'Code' }).waitFor();
    await page.getByRole('tab', { name: 'Operation' }).click();
  });

  it('finds operations from the command field, and lists its keys first', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('MPI_Allreduce', { delay: 20 });
    const found = page.getByRole('option', { name: /^Find MPI_Allreduce/ });
    await plain(found, /48 operations/);
    await found.click();
    await expect.poll(() => option('find')).toBe('MPI_Allreduce');
    await page.getByRole('region', { name: 'Details' }).getByText('rank 0 · step 2 · partition').waitFor();
    await page.getByRole('application', { name: 'Logical timeline' }).focus();
    await page.keyboard.press('.');
    await page.getByRole('region', { name: 'Details' }).getByText('rank 1 · step 2 · partition').waitFor();
    await page.keyboard.press(',');
    await page.getByRole('region', { name: 'Details' }).getByText('rank 0 · step 2 · partition').waitFor();
    // Questions of texts that were typed on are no failures.
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keys and pointer' });
    await plain(keys.getByRole('heading', { level: 3 }).first(), 'Trace page');
    expect(await keys.getByText('Go to Topology').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Find nothing' }).click();
    await expect.poll(() => option('find')).toBe(null);
  });

  it('exports pictures with their legend, and rows with the name of their group', async () => {
    await choose(/^Rows/, 'by communicator');
    for (const view of ['Logical timeline', 'Physical timeline']) {
      await page.getByRole('application', { name: view }).focus();
      await page.getByRole('button', { name: /^Export/ }).click();
      const [svg] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: `${view} as SVG` }).click(),
      ]);
      const text = readFileSync(await svg.path()).toString();
      expect(text).toContain('>ms late</text>');
      expect(text).toContain('>in no smaller communicator</text>');
      // Over the cells, not below them.
      expect(text.indexOf('in no smaller communicator')).toBeGreaterThan(text.lastIndexOf('<clipPath'));
    }
    await choose(/^Rows/, 'by rank');
  });

  it('leads from an operation to its samples, and back', async () => {
    await turnTo('both.isobath');
    await page
      .getByRole('region', { name: 'Causes' })
      .getByRole('button', { name: /Rank 3 before MPI_Sendrecv/ })
      .click();
    const link = page.getByRole('button', { name: /samples in the computation before it/ });
    const shown = Number(/^(\d+)/.exec(await link.innerText())![1]);
    await link.click();
    await counted(page, 210, 680); // 2,100 µs at one sample every 10
    const where = (await linkOf(page)).get('s')!;
    expect(where).toMatch(/^rank = 3 & time in \d+\.\.\d+$/);
    expect(samples(file('both.isobath'), where)).toBe(shown);
    expect(shown).toBe(210);
    // Back: the selected samples are marked at their rank and time.
    await page.getByRole('button', { name: 'Trace', exact: true }).click();
    const chip = page.getByRole('button', { name: '210 selected' });
    await chip.click();
    const [lo, hi] = /(\d+)\.\.(\d+)/.exec(where)!.slice(1).map(Number) as [number, number];
    await expect.poll(async () => /^\d+\.\.\d+$/.test((await option('time')) ?? '')).toBe(true);
    const [from, to] = (await option('time'))!.split('..').map(Number) as [number, number];
    expect(to - from).toBe(hi - lo - 10_000); // the last sample is 10 µs before the end
    await page.mouse.move(720, 12);
    await picture(page, 'trace-samples', CHAPTER);
    // What the window holds is what the report counts.
    const all = page.getByRole('button', { name: /^\d+ samples$/ });
    await expect.poll(() => all.innerText()).not.toBe('620 samples');
    const inWindow = Number.parseInt(await all.innerText(), 10);
    await all.click();
    expect(samples(file('both.isobath'), (await linkOf(page)).get('s')!)).toBe(inWindow);
    await counted(page, inWindow, 680);
    await page.getByRole('button', { name: 'Trace', exact: true }).click();
    await page.getByRole('button', { name: 'Select no samples' }).click();
    await expect.poll(async () => (await linkOf(page)).get('s')).toBe(null);
  });

  it('says above the picture how little of the time in MPI is explained', async () => {
    await page.keyboard.press('Control+o');
    await page.getByRole('dialog').getByRole('textbox').fill(file('partly.otf2'));
    await page.keyboard.press('Enter');
    const note = page.getByRole('note').filter({ hasText: 'of the time in MPI is analysed' });
    await plain(
      note,
      /^\d\.\d % of the time in MPI is analysed\. Not MPI_File_write_at \(4 calls, 8(\.0+)? ms\)/,
    );
    const [said, drawn] = [await note.boundingBox(), await boxOf(page, 'Logical timeline')];
    expect(said!.y + said!.height).toBeLessThanOrEqual(drawn.y);
  });

  it('opens a trace without messages on its functions, threads below their process', async () => {
    await page.keyboard.press('Control+o');
    await page.getByRole('dialog').getByRole('textbox').fill(file('silent.otf2'));
    await page.keyboard.press('Enter');
    const times = page.getByRole('table', { name: 'Time by function' });
    await times.getByRole('row', { name: /^stencil/ }).waitFor();
    const physical = page.getByRole('application', { name: 'Physical timeline' });
    await expect
      .poll(() =>
        physical.evaluate(
          (e) => document.getElementById(e.getAttribute('aria-describedby') ?? '')?.textContent ?? '',
        ),
      )
      .toMatch(/6 rows/); // two processes, four more threads
    expect(await page.getByRole('application', { name: 'Logical timeline' }).count()).toBe(0);
  });
});
