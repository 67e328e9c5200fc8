// The page on real samples: every way to select in every view gives the rows
// that `isobath report --where` counts for the selection in the address.

import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Download, Locator, Page, Request } from 'playwright-core';
import type { Ask } from '../web/src/api/wire';
import {
  ROOT,
  browse,
  isobath,
  samples,
  shared,
  start,
  startBehind,
  type Browser,
  type Running,
} from './harness';
import {
  boxOf,
  clauses,
  counted,
  drawn,
  everything,
  find,
  linkOf,
  opened,
  plain,
  quiet,
  shown,
  status,
  whereOf,
} from './page';
import { violations } from './axe';
import { show } from './suite';

const LULESH = shared('samples/lulesh_legacy');
const N = 15676;

describe.skipIf(!LULESH)('the page on the LULESH samples', () => {
  let server: Running;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  show(
    { serve: () => ['open', LULESH!], each: true, ready: (p) => opened(p, N) },
    (s) => ({ server, browser, page, problems } = s),
  );

  /** The count on the page is that of the command line for the selection in the link. */
  async function agrees(expected?: number): Promise<number> {
    const where = await whereOf(page);
    expect(where).not.toBe('');
    const n = samples(LULESH!, where);
    if (expected !== undefined) expect(n).toBe(expected);
    await counted(page, n, N);
    return n;
  }

  async function click(
    view: string,
    mark: RegExp,
    keys: ('Shift' | 'Alt' | 'Control')[] = [],
  ): Promise<void> {
    const p = await find(page, view, mark);
    for (const k of keys) await page.keyboard.down(k);
    await page.mouse.click(p.x, p.y);
    for (const k of keys) await page.keyboard.up(k);
  }

  describe('selects', () => {
    it('a source line, adds another, takes it out again', async () => {
      await click('Top offenders', /^LULESH_OMP\.cc:2035 /);
      await agrees(4061);
      await click('Top offenders', /^LULESH_OMP\.cc:2056 /, ['Shift']);
      await agrees(4061 + 2106);
      await click('Top offenders', /^LULESH_OMP\.cc:2056 /, ['Alt']);
      await agrees(4061);
    });

    it('a data object', async () => {
      await click('Top offenders', /^m_xd /);
      await agrees(2339);
    });

    it('a resource of the sunburst and of the icicle', async () => {
      await click('Topology', /^CPU 7 /);
      expect(await whereOf(page)).toBe('at CPU:7');
      await agrees(566);
      await page.getByRole('button', { name: /^Layout/ }).click();
      await page.getByRole('menuitemradio', { name: 'Icicle' }).click();
      await click('Topology', /^L3 #1 /);
      expect(await whereOf(page)).toBe('at L3:1');
      await agrees();
    });

    it('ranges on several axes at once, by dragging', async () => {
      const latency = await find(page, 'Parallel coordinates', /^latency 9\d/);
      await page.mouse.move(latency.x, latency.y);
      await page.mouse.down();
      await page.mouse.move(latency.x, latency.y - 80, { steps: 6 });
      await page.mouse.up();
      expect(await whereOf(page)).toMatch(/^latency in \d+\.\.\d+$/);
      const first = await agrees();
      const line = await find(page, 'Parallel coordinates', /^LULESH_OMP\.cc:2035 /);
      await page.mouse.move(line.x + 3, line.y + 6);
      await page.mouse.down();
      await page.mouse.move(line.x + 3, line.y + 18, { steps: 4 });
      await page.mouse.up();
      expect(await whereOf(page)).toMatch(/^latency in \S+ & line in \(2035, 2056\)$/);
      expect(await agrees()).toBeLessThan(first);
      expect(await clauses(page)).toHaveLength(2);
    });

    it('a bin, a name, "n more" and what has no value', async () => {
      await click('Parallel coordinates', /^L2 /);
      await agrees(6085);
      await click('Parallel coordinates', /^CPU 6 /, ['Control']);
      await agrees(768);
      await click('Parallel coordinates', /^\d+ more of symbol/, ['Control']);
      await agrees();
      await click('Parallel coordinates', /^line absent/, ['Control']);
      await agrees(36);
      await click('Parallel coordinates', /^time \d/, ['Control']);
      await agrees();
    });

    it('by one rule: its own kind is set, others stay, and the status line says so first', async () => {
      const will = async (): Promise<string> =>
        (await page.locator('[data-click]').innerText()).replace(/\s+/g, ' ');
      await click('Parallel coordinates', /^L2 /);
      await find(page, 'Parallel coordinates', /^CPU 6 /);
      await expect.poll(will).toBe('click selects cpu 6, keeps level L2');
      await page.keyboard.down('Control');
      await expect.poll(will).toBe('Ctrl+click selects cpu 6 alone, clears level L2');
      await page.keyboard.up('Control');
      await click('Parallel coordinates', /^CPU 6 /);
      expect(await whereOf(page)).toBe('level = L2 & cpu = 6');
      const both = await agrees();
      await click('Parallel coordinates', /^CPU 7 /, ['Shift']);
      expect(await whereOf(page)).toMatch(/^level = L2 & \(cpu = 6 \| cpu = 7\)$/);
      await agrees();
      await click('Parallel coordinates', /^CPU 7 /, ['Alt']);
      await agrees(both);
      await click('Topology', /^CPU 7 /);
      expect(await whereOf(page)).toBe('level = L2 & at CPU:7');
      await click('Parallel coordinates', /^L3 /);
      expect(await whereOf(page)).toBe('level = L3 & at CPU:7');
    });

    it('and chips switch between and, or, not, and are edited in place', async () => {
      await click('Parallel coordinates', /^L2 /);
      await click('Parallel coordinates', /^CPU 6 /);
      const both = await agrees();
      await page.getByRole('button', { name: 'and: join with or' }).click();
      expect(await whereOf(page)).toBe('level = L2 | cpu = 6');
      expect(await agrees()).toBeGreaterThan(6085);
      await page.getByRole('button', { name: 'or: split into and' }).click();
      await agrees(both);
      await page.getByRole('button', { name: 'Not cpu = 6' }).click();
      await agrees(6085 - both);
      await page.getByRole('button', { name: 'Not cpu = 6' }).click();
      await agrees(both);
      await page.getByRole('button', { name: 'Edit level = L2' }).click();
      const field = page.getByRole('textbox', { name: 'Clause as text' });
      await field.fill('level = ');
      await field.press('Enter');
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      await field.fill('level = L3');
      await field.press('Enter');
      await expect.poll(() => whereOf(page)).toBe('level = L3 & cpu = 6');
      await agrees();
    });

    it('and a name that the run has not stays in the chip, with the reason', async () => {
      await click('Parallel coordinates', /^L2 /);
      const n = await agrees();
      const where: string[] = [];
      const asked = (r: Request): void => {
        if (r.url().endsWith('/ask')) where.push((JSON.parse(r.postData() ?? '{}') as Ask).where ?? '');
      };
      page.on('request', asked);
      await page.getByRole('button', { name: 'Edit level = L2' }).click();
      const field = page.getByRole('textbox', { name: 'Clause as text' });
      const refusal = page.locator('.chip').getByRole('alert');
      for (const leave of [() => field.press('Enter'), () => field.blur()]) {
        await field.fill('levvel = L2');
        await leave();
        await refusal.filter({ hasText: 'levvel' }).waitFor();
        expect(await field.inputValue()).toBe('levvel = L2');
        expect(await whereOf(page)).toBe('level = L2');
      }
      // Asked about once a time, and by no hover.
      await find(page, 'Topology', /^CPU 7 /);
      await agrees(n);
      page.off('request', asked);
      expect(where.filter((w) => w.includes('levvel'))).toHaveLength(2);
      expect(where.filter((w) => w === 'level = L2')).not.toEqual([]);
      await field.press('Escape');
      await field.waitFor({ state: 'detached' });
      // A refused question is answered with 400, which the browser logs.
      problems.splice(0, problems.length, ...problems.filter((p) => !p.includes('400')));
    });

    it('a range of one large axis, and zooms into it', async () => {
      await page.getByRole('tab', { name: 'One axis' }).click();
      const p = await find(page, 'One axis', /^time 6\d/);
      await page.mouse.move(p.x, p.y);
      await page.mouse.down();
      await page.mouse.move(p.x + 200, p.y, { steps: 6 });
      await page.mouse.up();
      await agrees();
      await page.getByRole('application', { name: 'One axis' }).focus();
      await page.keyboard.press('KeyF');
      await page.getByRole('button', { name: 'whole axis' }).waitFor();
      expect((await linkOf(page)).get('o.axis.zoom')).toMatch(/^time /);
      await agrees();
    });

    it('a category, found by its name', async () => {
      await page.getByRole('tab', { name: 'Categories' }).click();
      await page.getByRole('button', { name: /^Axis:/ }).click();
      await page.getByRole('menuitemradio', { name: /^symbol/ }).click();
      await page.getByRole('searchbox', { name: 'Find a name' }).fill('delv_zeta');
      await click('Categories', /^m_delv_zeta /);
      await agrees();
    });

    it('a level in the statistics', async () => {
      await click('Statistics', /^Served by L3 /);
      await agrees(1512);
    });

    it('what is typed, and says where a text is wrong', async () => {
      await page.getByRole('tab', { name: 'Selection' }).click();
      const field = page.getByRole('textbox', { name: 'Selection as text' });
      await field.fill('latency > 200 & level in (L3, "Beyond L3")');
      await field.press('Enter');
      await expect.poll(() => whereOf(page)).not.toBe(''); // once the server has taken it
      await agrees();
      await field.fill('latency >');
      await field.press('Enter');
      await page.getByRole('alert').waitFor();
      await field.fill('lattency > 5');
      await field.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'latency' }).waitFor();
      await agrees(); // of what was selected before
      await field.fill('');
      await field.press('Enter');
      // A refused question is answered with 400, which the browser logs.
      problems.splice(0, problems.length, ...problems.filter((p) => !p.includes('400')));
    });
  });

  it('shows what the picture of the look shows', async () => {
    await page.evaluate(() => (location.hash += '&s=latency+in+100..1790'));
    await counted(page, 2147, N);
    await plain(
      page.getByRole('status', { name: 'Samples selected' }),
      '2 147 of 15 676 samples (13.7 %) · 57.4 % of cycles',
    );
    await find(page, 'Parallel coordinates', /^CPU 7 /);
    await status(
      page,
      'CPU 7 (core 11, L3 #1, NUMA 1) · 98 of its 566 samples selected · 28 240 cycles · 4.8 % of the selection',
    );
    await page.getByRole('application', { name: 'Statistics' }).focus();
    await page.keyboard.press('KeyT');
    const table = page.getByRole('dialog', { name: 'Statistics' });
    await table.waitFor();
    const cells = await table
      .locator('tbody tr')
      .evaluateAll((rows) =>
        rows.map((r) =>
          [...r.children].map((c) => (c.textContent ?? '').replaceAll('\u202f', ' ')).join('|'),
        ),
      );
    for (const row of [
      'samples|2147||15676',
      'cycles|586879||1022618',
      'mean cycles|273.34839310666047||65.234626180148',
      'p50 cycles|242||30',
      'p90 cycles|376||228',
      'p99 cycles|831||390',
      'max cycles|1790||1790',
    ]) {
      expect(cells.map((c) => c.replace(/^((?:[^|]*\|){2})[^|]*/, '$1'))).toContain(row);
    }
  });

  it('previews a hover everywhere and leaves no trace of it', async () => {
    const before = page.url();
    const marks: [string, RegExp][] = [
      ['Top offenders', /^m_xd /],
      ['Topology', /^L2 #3 /],
      ['Parallel coordinates', /^L3 /],
      ['Statistics', /^Served by L2 /],
    ];
    for (const [view, mark] of marks) {
      await find(page, view, mark);
      // Every other view draws the hovered samples: their upper layer is not empty.
      for (const other of ['Top offenders', 'Parallel coordinates', 'Statistics'])
        await drawn(page, other, true);
    }
    expect(page.url()).toBe(before);
    await page.mouse.move(720, 20);
    await drawn(page, 'Parallel coordinates', false);
  });

  it('goes back, undoes, redoes, inverts, filters and hides', async () => {
    await click('Top offenders', /^m_xd /);
    await agrees(2339);
    await click('Top offenders', /^m_x /);
    await agrees(6535);
    await page.goBack();
    await agrees(2339);
    await page.keyboard.press('Control+KeyZ');
    await everything(page, N);
    await page.keyboard.press('Control+Shift+KeyZ');
    await agrees(2339);
    await page.getByRole('button', { name: 'Invert' }).first().click();
    await agrees(N - 2339);
    await page.getByRole('button', { name: 'Invert' }).first().click();
    await page.getByRole('button', { name: 'Filter' }).click();
    await page
      .getByRole('status', { name: 'Samples selected' })
      .filter({ hasText: /^Everything 2\s339 samples/ })
      .waitFor();
    await page.keyboard.press('Control+KeyZ');
    await agrees(2339);
    await page.getByRole('tab', { name: 'Selection' }).click();
    await page.getByRole('button', { name: 'Hide', exact: true }).click();
    await page
      .getByRole('status', { name: 'Samples selected' })
      .filter({ hasText: /^Everything 13\s337 samples/ })
      .waitFor();
    await page.getByRole('button', { name: /^Remove the filter/ }).click();
    await everything(page, N);
  });

  it('is restored by a copied link: rows, axes, colours, layout', async () => {
    await click('Parallel coordinates', /^CPU 6 /);
    await page.getByRole('button', { name: /^Colour by/ }).click();
    await page.getByRole('menuitemradio', { name: 'samples' }).click();
    await page.getByRole('button', { name: /^Number of bins/ }).click();
    await page.getByRole('menuitemradio', { name: '50', exact: true }).click();
    await page.getByRole('button', { name: '+ Axis' }).click();
    await page.getByRole('checkbox', { name: /^iteration/ }).check();
    await page.getByRole('button', { name: 'Close' }).click();
    await agrees(768);
    const link = page.url();
    expect(link).not.toContain(server.token);
    const other = await browser.open(`${server.url}&${link.slice(link.indexOf('#') + 1)}`);
    await counted(other.page, 768, N);
    await expect.poll(() => other.page.url()).toBe(link);
    await find(other.page, 'Parallel coordinates', /^iteration \d/);
    await other.page
      .getByRole('button', { name: /^Colour by/ })
      .filter({ hasText: 'samples' })
      .waitFor();
    expect(other.problems).toEqual([]);
    await other.page.close();
  });

  it('moves an axis by its head, correlates two, orders all, and removes one', async () => {
    const order = async (): Promise<string> => (await linkOf(page)).get('axes') ?? '';
    const head = await find(page, 'Parallel coordinates', /^cpu · by node/);
    await page.mouse.move(head.x, head.y);
    await page.mouse.down();
    await page.mouse.move(head.x - 500, head.y, { steps: 10 });
    await page.mouse.move(100, head.y, { steps: 5 });
    await page.mouse.up();
    await expect.poll(order).toMatch(/^(time,)?cpu,/);
    await click('Parallel coordinates', /^level · /);
    await page.getByRole('menuitem', { name: 'Correlate with symbol' }).click();
    await expect.poll(order).toContain('symbol,level');
    await page.getByRole('button', { name: /^Axes:/ }).click();
    await page.getByRole('menuitem', { name: /^Order by correlation/ }).click();
    await expect.poll(order).toMatch(/symbol,line|line,symbol/);
    await click('Parallel coordinates', /^level · /);
    await page.getByRole('menuitem', { name: 'Remove the axis' }).click();
    await expect.poll(order).not.toContain('level');
    for (const mode of ['first axis', 'second axis', 'pair']) {
      await page.getByRole('button', { name: /^Strength of lines/ }).click();
      await page.getByRole('menuitemradio', { name: new RegExp(`^${mode}`) }).click();
      await page
        .getByRole('button', { name: /^Strength of lines/ })
        .filter({ hasText: mode })
        .waitFor();
    }
  });

  it('works from the keyboard alone', async () => {
    await page.keyboard.press('Digit3');
    await page.keyboard.press('ArrowDown'); // onto the machine
    await page.keyboard.press('ArrowDown'); // into NUMA 0
    await page.keyboard.press('ArrowDown'); // L3 #0
    await page.getByText('L3 #0', { exact: true }).first().waitFor();
    await page.keyboard.press('Enter');
    expect(await whereOf(page)).toBe('at L3:0');
    await agrees();
    await page.keyboard.press('Control+KeyZ');
    await page.keyboard.press('Digit6');
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight'])
      await page.keyboard.press(key);
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Enter');
    expect(await whereOf(page)).toBe('level in (L1, LFB)');
    await agrees(4101 + 1057);
    await page.keyboard.press('KeyI');
    await agrees(N - 4101 - 1057);
    await page.keyboard.press('Control+KeyK');
    await page.keyboard.type('select latency > 500');
    await page.keyboard.press('Enter');
    await expect.poll(() => whereOf(page)).toBe('latency > 500');
    await agrees();
    await page.keyboard.press('Shift+Slash');
    await page.getByRole('dialog', { name: 'Keys and pointer' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Digit1');
    await page.keyboard.press('KeyT');
    await page.getByRole('dialog', { name: 'Top offenders' }).getByRole('cell', { name: '2035' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('KeyB');
    await page.getByRole('region', { name: 'Statistics' }).waitFor({ state: 'detached' });
    await page.keyboard.press('KeyB');
    await page.getByRole('region', { name: 'Statistics' }).waitFor();
  });

  it('keeps a selection under a name', async () => {
    await click('Top offenders', /^m_xd /);
    await agrees(2339);
    await page.keyboard.press('Control+KeyS');
    await page.getByRole('textbox', { name: 'Name' }).fill('velocities');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('tab', { name: 'Selection' }).click();
    await page.getByRole('button', { name: 'Select all' }).click();
    await everything(page, N);
    await page.getByRole('button', { name: 'velocities', exact: true }).click();
    await agrees(2339);
    await page.getByRole('button', { name: 'Remove velocities' }).click();
    await page.getByRole('button', { name: 'velocities', exact: true }).waitFor({ state: 'detached' });
  });

  it('exports what it shows', async () => {
    const save = async (item: RegExp): Promise<{ name: string; bytes: Buffer }> => {
      await page.getByRole('button', { name: /^Export/ }).click();
      const [file] = (await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item }).click(),
      ])) as [Download, void];
      return { name: file.suggestedFilename(), bytes: readFileSync((await file.path())!) };
    };
    await page.keyboard.press('Digit3');
    const png = await save(/Topology as PNG/);
    expect([...png.bytes.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
    const svg = await save(/Topology as SVG/);
    const kinds = await page.evaluate((text) => {
      const doc = new DOMParser().parseFromString(text, 'image/svg+xml');
      return { error: doc.querySelector('parsererror') !== null, paths: doc.querySelectorAll('path').length };
    }, svg.bytes.toString());
    expect(kinds.error).toBe(false);
    expect(kinds.paths).toBeGreaterThan(60);
    await page.keyboard.press('Digit1');
    const csv = (await save(/Top offenders as CSV/)).bytes.toString();
    expect(csv).toMatch(/^line,LULESH_OMP.cc,2035,4061,4061,307110,75\.62\d+,30\.03\d+$/m);
    await click('Top offenders', /^m_xd /);
    await agrees(2339);
    const rows = (await save(/Selected samples as CSV/)).bytes.toString().trim().split('\n');
    expect(rows).toHaveLength(2339 + 1);
  });

  it.each(['light', 'dark'] as const)('has no accessibility violation in the %s theme', async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme });
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe(scheme);
    await click('Top offenders', /^m_xd /);
    await agrees(2339);
    const check = async (within?: string): Promise<void> =>
      expect(
        await violations(page, { ...(within && { within }), ...(scheme === 'dark' && { colours: true }) }),
      ).toEqual([]);
    await check();
    for (const [open, dialog] of [
      ['Shift+Slash', 'Keys and pointer'],
      ['Control+KeyO', 'Open'],
      ['Control+KeyS', 'Save the selection'],
    ] as const) {
      await page.keyboard.press(open);
      await page.getByRole('dialog', { name: dialog }).waitFor();
      await check('dialog[open]');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.getByRole('button', { name: '+ Axis' }).click();
    await page.getByRole('dialog', { name: 'Axes' }).waitFor();
    await check('dialog[open]');
    await page.keyboard.press('Escape');
    for (const tab of ['One axis', 'Categories']) {
      await page.getByRole('tab', { name: tab }).click();
      await check('section:has([role=tab][aria-selected=true])');
    }
  });

  it('says that sources are missing and looks where it is told', async () => {
    await page.getByText('The source of LULESH_OMP.cc is not here.').waitFor();
    await page.getByRole('textbox', { name: 'Folder with the sources' }).fill('/does/not/exist');
    await page.getByRole('button', { name: 'Look there' }).click();
    await page.getByRole('alert').waitFor();
    problems.length = 0; // the refused folder is a 4xx, which the browser logs
  });

  it('fits small and large windows', async () => {
    for (const [width, height] of [
      [1280, 720],
      [2560, 1440],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const view of ['Top offenders', 'Topology', 'Statistics', 'Parallel coordinates']) {
        const box = await boxOf(page, view);
        expect(box.x + box.width).toBeLessThanOrEqual(width + 1);
        expect(box.y + box.height).toBeLessThanOrEqual(height);
      }
      await find(page, 'Parallel coordinates', width > 2000 ? /^iteration \d/ : /^m_x /);
    }
    await page.setViewportSize({ width: 900, height: 600 });
    await page.getByRole('tab', { name: 'Top offenders' }).click();
    await find(page, 'Top offenders', /^m_x /);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});

describe('opening', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await browse({ width: 1280, height: 720 });
  });
  afterAll(() => browser.close());

  async function drop(page: Page, files: readonly { name: string; text: string }[]): Promise<void> {
    const data = await page.evaluateHandle((list) => {
      const t = new DataTransfer();
      for (const f of list) t.items.add(new File([f.text], f.name));
      return t;
    }, files);
    await page.dispatchEvent('body', 'dragover', { dataTransfer: data });
    await page.dispatchEvent('body', 'drop', { dataTransfer: data });
  }

  /** A run of a few samples, as teams serve them. */
  async function savedRun(): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-run-'));
    writeFileSync(join(folder, 'few.csv'), 'cpu,latency\n1,20\n2,30\n1,25\n');
    isobath('import', join(folder, 'few.csv'), '-o', join(folder, 'few.isobath'));
    return join(folder, 'few.isobath');
  }

  it('opens an example with one click, from the start page and from the dialog', async () => {
    const server = await start('open');
    const { page, problems } = await browser.open(server.url);
    await page.getByRole('main').getByRole('button', { name: 'fixed', exact: true }).click();
    await everything(page, samples('demo:fixed', 'cpu >= 0'));
    await page.keyboard.press('Control+KeyO');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'messages', exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'compare', exact: true }).click();
    await page.getByRole('radio', { name: 'Difference' }).waitFor();
    await page.keyboard.press('Control+KeyO');
    await dialog.getByRole('button', { name: 'stencil', exact: true }).click();
    await page.getByRole('radio', { name: 'Difference' }).waitFor({ state: 'detached' });
    await page.locator('nav button[aria-disabled="false"]', { hasText: 'Mesh' }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('says why the topology is empty where samples have no CPU', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-nocpu-'));
    const file = join(folder, 'nocpu.csv');
    writeFileSync(file, 'latency,level\n20,L1\n30,L2\n25,L1\n');
    const server = await start(
      'open',
      file,
      '--topology',
      join(ROOT, 'internal/formats/hwloc/testdata/version2.xml'),
    );
    const { page, problems } = await browser.open(server.url);
    const pane = page.getByRole('region', { name: 'Topology' });
    await pane.getByText('The samples do not say on which CPU they were taken').waitFor();
    await pane.getByText('--map cpu=NAME').waitFor();
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('imports a dropped file, and says why another is not understood', async () => {
    const server = await start('open');
    const { page, problems } = await browser.open(server.url);
    await page.getByRole('heading', { name: 'Nothing is open' }).waitFor();
    const csv =
      'cpu,latency,level\n' +
      Array.from({ length: 500 }, (_, i) => `${i % 4},${10 + i},L${1 + (i % 3)}\n`).join('');
    await drop(page, [{ name: 'dropped.csv', text: csv }]);
    await everything(page, 500);
    await page.locator('section[aria-label="Topology"] .empty').getByText('--topology').first().waitFor();
    await find(page, 'Parallel coordinates', /^L1 /);
    await page.getByText('These samples name no source lines.').waitFor();
    await drop(page, [{ name: 'odd.bin', text: '\x01\x02\x03' }]);
    await page.getByRole('alert').filter({ hasText: 'unknown format' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await everything(page, 500);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('opens by path, and shows the sentence of a failure', async () => {
    const server = await start('open');
    const { page } = await browser.open(server.url);
    await page.keyboard.press('Control+KeyO');
    await page.getByRole('textbox', { name: 'Path' }).fill('/does/not/exist.csv');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'exist.csv' }).waitFor();
    await page.close();
    await server.stop();
  });

  it('says where the key is when the address has none', async () => {
    const server = await start('demo');
    const { page } = await browser.open(server.origin);
    await page.getByRole('heading', { name: 'This address has no key' }).waitFor();
    await page.close();
    await server.stop();
  });

  /** What the page says above everything; a pane that waits for an answer says the like for itself. */
  const stopped = (page: Page): Locator => page.locator('.banner').filter({ hasText: 'isobath has stopped' });

  /** Waits until the page has all of its code and pictures: what is missing cannot come from a server that is gone. */
  async function whole(page: Page): Promise<void> {
    await everything(page, 92959);
    await shown(page, 'Topology');
    await shown(page, 'Parallel coordinates');
    await quiet(page);
  }

  it('keeps the picture when the server stops, and says so', async () => {
    const server = await start('demo');
    const { page } = await browser.open(server.url);
    await whole(page);
    await server.stop();
    await page.getByRole('button', { name: /^Colour by/ }).focus();
    await find(page, 'Topology', /^CPU /).catch(() => undefined);
    await stopped(page).waitFor();
    expect(await page.evaluate(() => performance.getEntriesByName('draw Topology').length)).toBeGreaterThan(
      0,
    );
    await page.close();
  });

  it('reconnects by itself when the server returns', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-token-'));
    const args = ['demo', '--token-file', join(folder, 'token')];
    const first = await start(...args);
    const { page } = await browser.open(first.url);
    await whole(page);
    await first.stop();
    await find(page, 'Topology', /^CPU 3 /).catch(() => undefined);
    await stopped(page).waitFor();
    // Code that is asked for meanwhile comes with the server.
    await page.getByRole('tab', { name: 'Categories' }).click();
    await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor();
    const again = await start(...args, '--port', new URL(first.origin).port);
    await stopped(page).waitFor({ state: 'detached' });
    await shown(page, 'Categories');
    await shown(page, 'Topology');
    const p = await find(page, 'Topology', /^CPU 3 /);
    await page.mouse.click(p.x, p.y);
    await page
      .getByRole('status', { name: 'Samples selected' })
      .filter({ hasText: / of 92\s959 samples/ })
      .waitFor();
    await page.close();
    await again.stop();
    rmSync(folder, { recursive: true });
  });

  it('shows how far an import is, and cancels it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-large-'));
    const file = join(folder, 'large.csv');
    const block = Array.from(
      { length: 20_000 },
      (_, i) => `${i * 997},${i % 64},${10 + (i % 700)},L${1 + (i % 3)}\n`,
    ).join('');
    writeFileSync(file, 'time,cpu,latency,level\n');
    for (let i = 0; i < 1000; i++) appendFileSync(file, block); // about 400 MB
    const server = await startBehind('open'); // or a busy machine might have it read before the click
    const { page, problems } = await browser.open(server.url);
    await page.keyboard.press('Control+KeyO');
    await page.getByRole('textbox', { name: 'Path' }).fill(file);
    await page.keyboard.press('Enter');
    const bar = page.getByRole('status').filter({ hasText: 'large.csv' });
    await bar.getByRole('progressbar', { name: 'Import' }).waitFor();
    await bar.filter({ hasText: /\d.* of .*MiB/ }).waitFor();
    await bar.getByRole('button', { name: 'Cancel' }).click();
    await bar.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Nothing is open' }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it.skipIf(!LULESH)('imports a dropped folder', async () => {
    const server = await start('open');
    const { page, problems } = await browser.open(server.url);
    await page.getByRole('heading', { name: 'Nothing is open' }).waitFor();
    // A folder of the file system, as a desktop would drop it.
    const cdp = await page.context().newCDPSession(page);
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      await cdp.send('Input.dispatchDragEvent', {
        type,
        x: 300,
        y: 300,
        data: { items: [], files: [LULESH!], dragOperationsMask: 1 },
      });
    }
    await everything(page, N);
    await find(page, 'Topology', /^CPU 7 /);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('opens nothing for others on a shared server, says so, and links to it by its name', async () => {
    const server = await start('serve', await savedRun(), '--allow-host', 'lab.example');
    const { page } = await browser.open(server.url);
    await page.getByRole('button', { name: 'Runs' }).click();
    await page.getByRole('menuitem', { name: /^Open a file/ }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+KeyO');
    await page.getByRole('alert').filter({ hasText: 'This server is shared' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('button', { name: 'Close' }).click();
    await drop(page, [{ name: 'mine.csv', text: 'cpu,latency\n1,2\n' }]);
    await page.getByRole('alert').filter({ hasText: 'isobath open FILE' }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Link copied' }).waitFor();
    const port = new URL(server.origin).port;
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
      `http://lab.example:${port}/#k=${server.token}&`,
    );
    await page.close();
    await server.stop();
  });

  it('has room for pages and commands beside a long name of a run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-long-'));
    const file = join(folder, `${'stencil-of-the-third-try-'.repeat(8)}.csv`);
    writeFileSync(file, 'cpu,latency\n1,20\n2,30\n');
    const server = await start('open', file);
    const { page, problems } = await browser.open(server.url);
    await everything(page, 2);
    const right = async (what: Locator): Promise<number> => {
      const box = (await what.boundingBox())!;
      return box.x + box.width;
    };
    const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('button');
    for (const what of [...(await pages.all()), page.getByRole('button', { name: 'Export' })])
      expect(await right(what)).toBeLessThanOrEqual(1280);
    expect(await right(page.getByRole('button', { name: 'Runs' }))).toBeLessThan(1280 / 3);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  });
});
