// The cycles page on the built-in recordings: what it says is compared with
// `isobath cycles` and with what the programs do. It also takes the pictures of
// the guide's chapter on loops.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { violations } from './axe';
import { browse, isobath, ROOT, samples, start, type Browser, type Running } from './harness';
import { boxOf, counted, find, linkOf, picture as pictureOf, pixels, plain, quiet } from './page';
import { show } from './suite';

const RECORDINGS = join(ROOT, 'internal/app/demo/data/cycles');

interface Report {
  readonly records: number;
  readonly classes: readonly { readonly turns: number }[];
}

function report(name: string, ...flags: string[]): Report {
  return JSON.parse(isobath('cycles', join(RECORDINGS, `${name}.csv.gz`), '--json', ...flags)) as Report;
}

/** A line of a source that the recordings were made of. */
function lineOf(file: string, line: number): string {
  return readFileSync(join(ROOT, 'examples/loops', file), 'utf8').split('\n')[line - 1]!;
}

describe('the cycles page', () => {
  let server: Running;
  let browser: Browser;
  let page: Page;

  async function ready(): Promise<void> {
    await page.waitForFunction(() => performance.getEntriesByName('draw Spiral').length > 0);
  }
  show({ serve: () => ['demo', 'cycles'], ready }, (s) => ({ server, browser, page } = s));

  const option = async (name: string): Promise<string | null> => (await linkOf(page)).get(`o.c.${name}`);
  /** The stretch of references that is selected, half open; null if there is none. */
  const stretch = async (): Promise<string | null> => {
    const s = /^order in (\d+)\.\.(\d+)$/.exec((await linkOf(page)).get('s') ?? '');
    return s && `${s[1]}..${Number(s[2]) + 1}`;
  };
  const status = (): Promise<string> => page.locator('[data-status]').innerText();
  const entries = (): Promise<string[]> =>
    page.getByRole('list', { name: 'Classes' }).locator('button[aria-pressed]').allInnerTexts();

  async function picture(name: string): Promise<void> {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.mouse.move(720, 12);
    await pictureOf(page, name, 'docs/guide/loops.md');
  }

  async function open(run: string, references: number): Promise<void> {
    await page.getByRole('button', { name: /^Runs/ }).click();
    await page.getByRole('menu').getByText(run, { exact: true }).click();
    await page
      .getByRole('status', { name: 'References' })
      .filter({ hasText: new RegExp(String(references).replace(/\B(?=(\d{3})+$)/, '\\s')) })
      .waitFor();
    await quiet(page);
  }

  it('shows the classes that the command finds', async () => {
    const { classes, records } = report('bubble-sort-reversed');
    expect(records).toBe(297);
    await expect.poll(async () => (await entries()).length).toBe(classes.length);
    const turns = (await entries()).map((e) => Number(/(\d+) turns?/.exec(e)?.[1] ?? 0));
    expect(turns).toEqual(classes.map((c) => c.turns));
    await page
      .getByRole('region', { name: 'Walk' })
      .getByText('10 turns in 4 passes', { exact: true })
      .waitFor();
    await page.getByText('4 + 3 + 2 + 1 turns').waitFor();
    await picture('cycles-bubble');
  });

  it('names a reference and its line, in the spiral and in the code', async () => {
    await find(page, 'Spiral', /^Reference \d+ (L|load) .*bubble_array\.c:14 /);
    expect(await status()).toMatch(/turn \d+ at 0\.\d\d · pass \d · this window is visited \d+ times/);
    const marked = page.locator('.cm-line.pointed');
    await expect.poll(() => marked.innerText()).toBe(lineOf('bubble_array.c', 14));
    // The other way: a line of the code leaves only its own arcs in colour.
    const before = await page.screenshot();
    await page
      .locator('.cm-line', { hasText: lineOf('bubble_array.c', 14).trim() })
      .first()
      .hover();
    await expect.poll(async () => Buffer.compare(before, await page.screenshot())).not.toBe(0);
  });

  it('selects a turn by a click, its pass by another, and lists references', async () => {
    await find(page, 'Spiral', /pass 2 /);
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(stretch).toMatch(/^\d+\.\.\d+$/);
    const [from, to] = (await stretch())!.split('..').map(Number) as [number, number];
    await page
      .getByRole('status', { name: 'References' })
      .filter({ hasText: `${to - from} of 297 references` })
      .waitFor();
    const list = page.getByRole('region', { name: 'Selected references' });
    await list
      .getByRole('cell', { name: String(from), exact: true })
      .first()
      .waitFor();
    await list.getByRole('cell', { name: 'stack', exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Show in Memory' }).isDisabled()).toBe(true); // this run has no samples
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(async () => (await stretch())!.split('..').map(Number)).not.toEqual([from, to]);
    const [first, last] = (await stretch())!.split('..').map(Number) as [number, number];
    expect(last - first).toBeGreaterThan(to - from);
    expect(first < to && last > from).toBe(true); // turns and passes begin at windows of their own
    await page.getByText('pass 2', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Select all references' }).click();
    await expect.poll(stretch).toBe(null);
  });

  it('brushes the unwrapped walk', async () => {
    const box = await boxOf(page, 'Unwrapped');
    await page.mouse.move(box.x + 200, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 50, { steps: 4 });
    await page.mouse.up();
    await expect.poll(stretch).toMatch(/^\d+\.\.\d+$/);
    await page.goBack();
    await expect.poll(stretch).toBe(null);
  });

  it('turns to another class, morphs between the two, and back', async () => {
    await page
      .getByRole('list', { name: 'Classes' })
      .getByRole('button', { name: /4 turns/ })
      .click();
    await page.getByRole('region', { name: 'Walk' }).getByText('4 turns', { exact: true }).first().waitFor();
    const slider = page.getByRole('slider', { name: /morph/ });
    await slider.focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
    await expect.poll(() => option('part')).toBe('0.05');
    await page.keyboard.press('Home');
    await expect.poll(() => option('part')).toBe(null);
    await page.getByRole('button', { name: 'Play' }).click(); // a cut, for motion is reduced
    await expect.poll(() => option('part')).toBe('1');
    await page.keyboard.press('Control+z'); // undo is this page's own
    await expect.poll(() => option('part')).toBe(null);
    await page.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => option('part')).toBe('1');
    await page.goBack();
    await expect.poll(() => option('part')).toBe(null);
    await picture('cycles-outer');
  });

  it('smooths a class at another ε', async () => {
    const knob = page.getByRole('slider', { name: /^ε of/ });
    await knob.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => option('epsilon')).toBe('3');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => option('epsilon')).toBe(null);
  });

  it('looks at addresses instead of instructions', async () => {
    await page.getByRole('button', { name: /^Symbol/ }).click();
    await page.getByRole('menu').getByText('address', { exact: true }).click();
    const { classes } = report('bubble-sort-reversed', '--symbol', 'addr');
    // Some are parts of another one, and folded under it.
    const folded = page.getByRole('button', { name: /^Show \d+ more paths?: / });
    await expect.poll(() => folded.count()).toBeGreaterThan(0);
    expect((await entries()).length).toBeLessThan(classes.length);
    for (let n = await folded.count(); n > 0; n--) await folded.first().click();
    await expect.poll(async () => (await entries()).length).toBe(classes.length);
    await page.goBack();
    await expect.poll(() => option('symbol')).toBe(null);
  });

  it('walks by keys alone', async () => {
    await page.getByRole('application', { name: 'Spiral' }).focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    await expect.poll(status).toMatch(/^\s*Reference \d+/);
    await page.keyboard.press('.');
    await page.keyboard.press('Enter');
    await expect.poll(stretch).toMatch(/^\d+\.\.\d+$/);
    await page.goBack();
  });

  it('restores the picture from a link', async () => {
    await page.getByRole('tab', { name: 'Torus' }).click();
    const link = await page.evaluate(() => location.href);
    const again = await browser.open(link.replace('#', `#k=${server.token}&`));
    await again.page.getByRole('application', { name: 'Torus' }).waitFor();
    expect(await again.page.evaluate(() => location.hash)).toBe(new URL(link).hash);
    expect(again.problems).toEqual([]);
    await again.page.close();
    await page.getByRole('tab', { name: 'Projection' }).click();
    await page.waitForFunction(() => performance.getEntriesByName('draw Projection').length > 0);
    await page.getByRole('button', { name: /^Colour/ }).click();
    await page.getByRole('menu').getByText('coordinate').click();
    await picture('cycles-projection');
    await page.getByRole('tab', { name: 'Circle' }).click();
    await page.getByRole('tab', { name: 'Spiral' }).click();
  });

  it('colours by function, object, operation and coordinate', async () => {
    const legend = page.getByRole('region', { name: 'Groups' });
    const colour = async (label: string): Promise<void> => {
      await page.getByRole('button', { name: /^Colour/ }).click();
      await page.getByRole('menu').getByText(label, { exact: true }).click();
    };
    await colour('object');
    await expect
      .poll(async () =>
        (await legend.getByRole('listitem').allInnerTexts()).map((t) => t.replace(/\s+/g, ' ').trim()),
      )
      .toEqual(['stack 237', 'value 60']);
    await quiet(page);
    const byObject = await pixels(page, 'Spiral', 0);
    await colour('load or store');
    await expect
      .poll(async () =>
        (await legend.getByRole('listitem').allInnerTexts()).map((t) => t.replace(/\s+/g, ' ').trim()),
      )
      .toEqual(['load 229', 'store 44', 'modify 24']);
    await expect.poll(() => pixels(page, 'Spiral', 0)).not.toBe(byObject);
    await colour('function');
    const fold = legend.getByRole('button', { name: 'Open sort' });
    await fold.waitFor();
    await quiet(page);
    const folded = await pixels(page, 'Spiral', 0);
    await fold.click();
    await expect.poll(() => option('toggled')).toBe('sort');
    await legend.getByRole('button', { name: 'Fold sort' }).waitFor();
    await expect.poll(() => pixels(page, 'Spiral', 0)).not.toBe(folded);
    await colour('coordinate');
    await expect.poll(() => option('colour')).toBe('coordinate');
    await colour('source line');
    await legend.getByRole('button', { name: 'Open sort' }).click();
    await expect.poll(() => option('toggled')).toBe(null);
  });

  it('zooms, pans, and shows a stretch of time', async () => {
    const box = await boxOf(page, 'Spiral');
    await page.mouse.move(2, 2);
    await quiet(page); // the answer to the colours of before
    const before = await pixels(page, 'Spiral', 0);
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.4 * box.height);
    await page.mouse.wheel(0, -300);
    await expect.poll(() => option('zoom')).toMatch(/^2\.7\d*,/);
    const zoomed = await option('zoom');
    await page.mouse.down();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.5 * box.height, { steps: 3 });
    await page.mouse.up();
    await expect.poll(() => option('zoom')).not.toBe(zoomed);
    await page.getByRole('application', { name: 'Spiral' }).focus();
    await page.keyboard.press('0');
    await expect.poll(() => option('zoom')).toBe(null);
    await page.keyboard.press('+');
    await expect.poll(() => option('zoom')).toMatch(/^1\.5,/);
    await page.keyboard.press('-');
    await expect.poll(() => option('zoom')).toBe(null);
    await page.mouse.move(2, 2);
    await expect.poll(() => pixels(page, 'Spiral', 0)).toBe(before);
    // Time: brush, then show only that.
    const strip = await boxOf(page, 'Unwrapped');
    await page.mouse.move(strip.x + 300, strip.y + 50);
    await page.mouse.down();
    await page.mouse.move(strip.x + 600, strip.y + 50, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Show only these' }).click();
    await expect.poll(() => option('time')).toBe(await stretch());
    await page.getByRole('button', { name: 'Show all references' }).click();
    await expect.poll(() => option('time')).toBe(null);
    await page.getByRole('button', { name: 'Select all references' }).click();
    await expect.poll(() => pixels(page, 'Spiral', 0)).toBe(before);
  });

  it('draws outlines of density on the circle', async () => {
    await page.getByRole('tab', { name: 'Circle' }).click();
    await expect.poll(() => option('view')).toBe('circle');
    await picture('cycles-circle');
    await page.getByRole('tab', { name: 'Spiral' }).click();
  });

  it('exports every view, and the morph as numbered frames', async () => {
    const started: number[] = [];
    const save = async (view: string, item: string): Promise<string> => {
      // Chromium drops a page's eleventh download in a second without a word.
      await new Promise((done) => setTimeout(done, 1100 - (Date.now() - (started.at(-8) ?? 0))));
      started.push(Date.now());
      await page.getByRole('application', { name: view }).focus();
      await page.keyboard.press('Shift+F10');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item }).click(),
      ]);
      return readFileSync(await download.path(), 'utf8');
    };
    for (const view of ['Spiral', 'Unwrapped', 'Persistence']) {
      expect(await save(view, 'Export SVG')).toContain('<svg');
      expect((await save(view, 'Export PNG')).slice(1, 4)).toBe('PNG');
      expect((await save(view, 'Export CSV')).split('\n').length).toBeGreaterThan(5);
    }
    for (const view of ['Torus', 'Projection']) {
      await page.evaluate(() => performance.clearMeasures()); // of an earlier visit
      await page.getByRole('tab', { name: view }).click();
      await page.waitForFunction((v) => performance.getEntriesByName(`draw ${v}`).length > 0, view);
      expect(await save(view, 'Export SVG')).toContain('<svg');
      expect((await save(view, 'Export CSV')).split('\n').length).toBeGreaterThan(40);
    }
    await page.getByRole('tab', { name: 'Spiral' }).click();
    await page.getByRole('button', { name: /^Export the morph/ }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Frames as SVG' }).click(),
    ]);
    const bytes = readFileSync(await download.path());
    const names = [...bytes.toString('latin1').matchAll(/PK\x01\x02[\s\S]{42}([\w.-]+?\.svg)/g)].map(
      (m) => m[1],
    );
    expect(names).toHaveLength(25);
    expect(names[24]).toMatch(/-025\.svg$/);
    expect(bytes.toString('latin1')).toContain('morph 50 %');
  });

  it('goes to what has a name, under other settings too', async () => {
    await open('bubble sort of a vector, sorted', 183);
    await expect.poll(async () => (await entries()).join(' ')).toContain('4 comparisons');
    await page.getByRole('button', { name: '8 lookups, two a comparison' }).click();
    await page
      .getByRole('region', { name: 'Walk' })
      .getByText('8 turns in 4 passes', { exact: true })
      .waitFor();
    await expect.poll(() => option('symbol')).toBe('line');
    await picture('cycles-lookups');
    await open('bubble sort, shuffled', 234);
    await page.getByRole('button', { name: '6 comparisons with a swap' }).click();
    await page
      .getByRole('region', { name: 'Walk' })
      .getByText(/^6 turns/)
      .first()
      .waitFor();
    await page.getByRole('list', { name: 'Classes' }).getByText('4 comparisons without, the dual').waitFor();
    await open('bubble sort, reversed', 297);
  });

  it('analyses anew with other settings, and takes it back', async () => {
    await page.getByRole('button', { name: /^Classes/ }).click();
    await page.getByRole('menuitem', { name: 'Settings …' }).click();
    const form = page.getByRole('form', { name: 'Analysis' });
    await form.getByLabel('every n-th reference').fill('2');
    await form.getByLabel('references a window').fill('8');
    await form.getByRole('button', { name: 'Analyse' }).click();
    await page.getByRole('status', { name: 'References' }).filter({ hasText: '149 references' }).waitFor();
    const { classes } = report('bubble-sort-reversed', '--every', '2', '--window', '8');
    await expect
      .poll(async () => (await entries()).map((e) => Number(/(\d+) turns?/.exec(e)?.[1] ?? 0)))
      .toEqual(classes.map((c) => c.turns));
    await page.goBack();
    await expect.poll(() => option('every')).toBe(null);
    // An answer that does not come can be taken back, and asked for again.
    let release = (): void => {};
    const held = new Promise<void>((done) => (release = done));
    await page.route('**/cycles', async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    await page.getByRole('button', { name: /^Window/ }).click();
    await page.getByRole('menu').getByText('7', { exact: true }).click();
    const cycles = page.getByRole('region', { name: 'Cycles' });
    await cycles.getByRole('progressbar', { name: 'Analysis' }).waitFor();
    await cycles.getByRole('button', { name: 'Cancel' }).click();
    await cycles.getByText('Cancelled').waitFor();
    release();
    await page.unroute('**/cycles');
    await cycles.getByRole('button', { name: 'Start again' }).click();
    await page.getByRole('button', { name: /^Window: window 7/ }).waitFor();
    await page.goBack();
    await expect.poll(() => option('window')).toBe(null);
    await page.getByRole('status', { name: 'References' }).filter({ hasText: '297 references' }).waitFor();
  });

  it('has room for twelve classes with long names and a million turns at 1280 × 720', async () => {
    const title = (i: number): string => `for accumulated_offset, interpolation_kernels.cpp:${1200 + i}`;
    const small = await browser.context.newPage();
    try {
      await small.setViewportSize({ width: 1280, height: 720 });
      await small.route('**/cycles', async (route) => {
        const answer = await route.fetch();
        const [before, data] = (await answer.text()).split('event: done\ndata: ') as [string, string];
        const info = JSON.parse(data) as { classes: object[]; named: unknown[] };
        const classes = Array.from({ length: 12 }, (_, i) => ({
          ...info.classes[0],
          title: title(i),
          loop: -1,
          whole: -1,
          parent: -1,
          exact: i % 2 === 0,
          turns: 1_234_567 * (i + 1),
          of: i === 3 ? 'one path of the 12 345 678 turns of interpolation_kernels.cpp:1200' : '',
        }));
        const body = `${before}event: done\ndata: ${JSON.stringify({ ...info, classes, named: [] })}\n\n`;
        await route.fulfill({ response: answer, body });
      });
      await small.goto(server.url);
      const list = small.getByRole('list', { name: 'Classes' });
      await expect.poll(() => list.locator('button[aria-pressed]').count()).toBe(12);
      expect(await list.locator('button[aria-pressed]').nth(3).innerText()).toMatch(/≈ 4\.94\s?M turns/);
      /** Parts of a box that cover each other, or are cut. */
      const wrong = (box: Locator, selector: string, mayCut = ''): Promise<string[]> =>
        box.evaluate(
          (e, [selector, mayCut]) => {
            const found: string[] = [];
            if (e.scrollWidth > e.clientWidth) found.push(`${e.className} is ${e.scrollWidth} wide`);
            const parts = [...e.querySelectorAll(selector)];
            for (const [i, a] of parts.entries()) {
              const r = a.getBoundingClientRect();
              const cut = a.scrollWidth > a.clientWidth + 1 && getComputedStyle(a).display !== 'inline';
              if (cut && !(mayCut && a.matches(mayCut))) found.push(`cut: ${a.textContent}`);
              for (const b of parts.slice(i + 1)) {
                const o = b.getBoundingClientRect();
                if (
                  r.left < o.right - 1 &&
                  o.left < r.right - 1 &&
                  r.top < o.bottom - 1 &&
                  o.top < r.bottom - 1
                )
                  found.push(`${a.textContent} covers ${b.textContent}`);
              }
            }
            return found;
          },
          [selector, mayCut] as const,
        );
      for (const row of await list.locator(':scope > li').all())
        expect(await wrong(row, '.disc, .entry > b, .track, .line > span, .of')).toEqual([]);
      const walk = small.getByRole('region', { name: 'Walk' });
      const morph = walk.getByRole('slider').locator('xpath=ancestor::*[contains(@class, "bar")]');
      expect(await wrong(morph, 'b, .value, .end .muted, label, .thumb', 'b, .value')).toEqual([]);
      const heading = walk.getByRole('heading', { name: title(0) });
      expect(await heading.evaluate((h) => h.scrollWidth <= h.clientWidth)).toBe(true);
    } finally {
      await small.close();
    }
  });

  it('has no accessibility violations, light and dark', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await violations(page, scheme === 'dark' ? { colours: true } : {})).toEqual([]);
    }
  });

  it('shows the three loops of a matrix multiplication', async () => {
    await open('matrix multiplication', 983);
    await expect
      .poll(async () => (await entries()).join(' '))
      .toMatch(/64 turns[\s\S]*16 turns[\s\S]*4 turns/);
    await picture('cycles-matmul-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await open('particles to grid', 12923);
    await picture('cycles-particles');
  });
});

// Runs that were recorded here and now: references with objects, the same
// references as samples in the memory views, and the way through the code.
describe('recorded runs', () => {
  let folder: string;
  let reversed: string;
  let sorted: string;

  function record(run: string, ...numbers: string[]): string {
    const path = join(folder, run);
    const how = ['--refs', '--backend', 'step', '--function', 'sort'];
    isobath('record', ...how, '-o', path, '--', join(folder, 'sort'), ...numbers);
    return path;
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'isobath-cycles-'));
    const sources = ['bubble_array.c', 'region.c'].map((f) => join(ROOT, 'examples/loops', f));
    execFileSync('cc', ['-g', '-O0', '-o', join(folder, 'sort'), ...sources]);
    reversed = record('reversed.isobath', '5', '4', '3', '2', '1');
    sorted = record('sorted.isobath', '1', '2', '3', '4', '5');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('shows the references of a turn in the memory views', async () => {
    const run = reversed;
    const [server, browser] = await Promise.all([start('open', run), browse({ width: 1440, height: 900 })]);
    try {
      const { page, problems } = await browser.open(`${server.url}&v=1&page=cycles`);
      const walk = page.getByRole('region', { name: 'Walk' });
      await walk.getByText('10 turns in 4 passes', { exact: true }).waitFor();
      await page.getByRole('region', { name: 'Code' }).getByText('bubble_array.c').first().waitFor();
      await page.locator('.numbers .number').first().waitFor();
      await page.getByRole('application', { name: 'Spiral' }).focus();
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
      const stretch = async (): Promise<string[]> =>
        /^order in (\d+)\.\.(\d+)$/.exec((await linkOf(page)).get('s') ?? '')?.slice(1) ?? [];
      await expect.poll(stretch).toHaveLength(2);
      const [from, last] = (await stretch()).map(Number) as [number, number];
      const to = last + 1;
      const records = (JSON.parse(isobath('cycles', run, '--json')) as Report).records;
      await page.getByRole('button', { name: 'Show in Memory' }).click();
      await counted(page, to - from, records);
      expect((await linkOf(page)).get('s')).toBe(`order in ${from}..${to - 1}`);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
      await server.stop();
    }
  });

  it('tells what recurs where there is no circle, as the command does', async () => {
    // Two addresses in turn, too few to make a circle, and no instructions.
    const turn = '0x1000 READ 0\n0x2000 WRITE 0\n';
    const path = join(folder, 'short.trc');
    writeFileSync(path, [0, 1, 2].map((i) => `${turn.repeat(400)}0x${9000 + 64 * i} READ 0\n`).join(''));
    const { classes, folded } = JSON.parse(isobath('cycles', path, '--json')) as {
      classes: unknown[];
      folded: { period: number; turns: number; entries: number; least: number }[];
    };
    expect(classes).toEqual([]);
    expect(folded[0]).toMatchObject({ period: 2, turns: 1200, entries: 3, least: 400 });
    const [server, browser] = await Promise.all([start('open', path), browse({ width: 1280, height: 720 })]);
    try {
      const { page, problems } = await browser.open(`${server.url}&v=1&page=cycles`);
      const table = page.getByRole('region', { name: 'Repetitions' });
      await plain(table.getByRole('row').nth(1), '2 1 200 3 400');
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
      await server.stop();
    }
  });

  it('starts on cycles, and shares a chosen loop with every view', async () => {
    interface Loop {
      readonly text: string;
      readonly entries: number;
      readonly trips: number;
      readonly exact: boolean;
      readonly references: number;
    }
    const loops = (run: string): readonly Loop[] =>
      (JSON.parse(isobath('loops', run, '--json')) as { loops: Loop[] }).loops;
    const [outer, inner] = loops(reversed) as [Loop, Loop];
    expect([outer.trips, inner.entries, inner.trips]).toEqual([4, 4, 10]);
    const [server, browser] = await Promise.all([
      start('serve', reversed, sorted), // each by itself
      browse({ width: 1280, height: 720 }),
    ]);
    try {
      const { page, problems } = await browser.open(server.url);
      await expect
        .poll(() => page.getByRole('button', { name: 'Cycles', exact: true }).getAttribute('aria-current'))
        .toBe('page');
      await page.waitForFunction(() => performance.getEntriesByName('draw Unwrapped').length > 0);
      await quiet(page);
      const before = await pixels(page, 'Unwrapped', 0);
      await page.getByRole('tab', { name: 'Loops' }).click();
      const row = page.getByRole('row', { name: /for i, bubble_array\.c:13/ });
      await plain(row.getByRole('cell').nth(0), String(inner.entries));
      await plain(row.getByRole('cell').nth(1), String(inner.trips));
      await plain(row.getByRole('cell').nth(3), String(inner.references));
      await row.click();
      const where = async (): Promise<string> => (await linkOf(page)).get('s') ?? '';
      await expect.poll(where).toBe('rows "loop bubble_array.c:13 sort"');
      const chosen = page.getByRole('region', { name: 'The chosen loop' });
      await chosen.getByText('4 entries of 4 … 1 turns: they grow shorter').waitFor();
      await chosen.getByRole('img', { name: 'Turns of each entry, in order' }).waitFor();
      // The other views follow: the strip, the spiral, the code, and locality.
      await expect.poll(() => pixels(page, 'Unwrapped', 0)).not.toBe(before);
      await plain(page.locator('.cm-line.here'), /^for \(int i = 0; i < count - 1 - pass; i\+\+\)/);
      await page.getByRole('tab', { name: 'Spiral' }).click();
      await page
        .getByRole('region', { name: 'Walk' })
        .getByRole('heading', { name: 'for i, bubble_array.c:13' })
        .waitFor();
      await page.getByRole('tab', { name: 'Loops' }).click();
      await chosen.getByRole('button', { name: 'Its lines in Locality' }).click();
      await expect.poll(where).toMatch(/line = /);
      const picked = samples(reversed, await where());
      expect(picked).toBeGreaterThanOrEqual(inner.references);
      await page.getByText(`${picked} of 294 references`).waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Cycles', exact: true }).click();
      // Beside the other run: a sorted array needs one pass, which goes back nowhere.
      const once = loops(sorted).find((l) => l.text === outer.text)!;
      expect(once.trips).toBe(1);
      await page.getByRole('button', { name: /^Compare/ }).click();
      await page.getByRole('menu').getByText('sorted.isobath').click();
      await plain(
        page
          .getByRole('row', { name: /for pass, bubble_array\.c:11/ })
          .getByRole('cell')
          .nth(1),
        `${outer.trips} ${once.exact ? '' : '≈ '}${once.trips}`,
      );
      await page.getByRole('button', { name: /^Remove / }).click(); // the lines in place of the loop
      await expect.poll(where).toBe('');
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
      await server.stop();
    }
  });

  it('opens two records as the later one beside the earlier one', async () => {
    interface Misses {
      readonly references: number;
      readonly levels: readonly { readonly level: string; readonly misses: number }[];
    }
    const misses = (run: string): Misses => JSON.parse(isobath('reuse', run, '--json')) as Misses;
    const [a, b] = [misses(reversed), misses(sorted)];
    const [server, browser] = await Promise.all([
      start('open', reversed, sorted),
      browse({ width: 1440, height: 900 }),
    ]);
    try {
      const { page, problems } = await browser.open(server.url);
      await page.waitForFunction(() => performance.getEntriesByName('draw Miss curve').length > 0);
      await page.getByRole('button', { name: /^Compare.*reversed\.isobath/ }).waitFor();
      const curve = page.locator('[data-view="Miss curve"]');
      await expect
        .poll(async () =>
          page.locator(`[id="${await curve.getAttribute('aria-describedby')}"]`).textContent(),
        )
        .toContain(`references ${a.references} → ${b.references}`);
      await quiet(page);
      await curve.focus();
      await page.keyboard.press('Home');
      await plain(page.locator('[data-status]'), /misses.*; in A \d+ \(/);
      await page.keyboard.press('t');
      const table = page.getByRole('dialog');
      await plain(table.getByRole('row').first(), /bytes B misses A misses change/);
      await page.keyboard.press('Escape');
      // The loops of both, without another choice.
      await page.getByRole('button', { name: 'Cycles', exact: true }).click();
      const row = page.getByRole('row', { name: /for pass, bubble_array\.c:11/ });
      await plain(row.getByRole('cell').nth(1), /1 4$/);
      await plain(
        page.getByRole('region', { name: 'Loops of the code' }),
        new RegExp(`that of A, reversed.isobath;.*References ${a.references} → ${b.references}`),
      );
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
      await server.stop();
    }
  });
});
