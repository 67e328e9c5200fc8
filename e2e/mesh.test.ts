// The mesh page: on the built-in run, on real samples with LULESH's dumps, and
// on mesh files alone. What it says is compared with `isobath mesh`. It also
// takes the pictures of the guide's chapter.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './axe';
import { browse, fixture, isobath, shared, start, type Browser, type Running } from './harness';
import { boxOf, counted, everything, linkOf, picture, whereOf } from './page';

const CHAPTER = 'docs/guide/mesh.md';
const DUMPS = fixture('mesh/lulesh');
const SAMPLES = shared('samples/lulesh_legacy');
const CAN = shared('mesh/vtk/can.vtu');
const AMR = shared('mesh/vtk/AMR/HierarchicalBoxDataset.v1.1.vthb');

let browser: Browser;
beforeAll(async () => {
  browser = await browse({ width: 1440, height: 900 });
});
afterAll(() => browser.close());

const words = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).innerText()).replace(/\s+/g, ' ').trim();
const written = (n: number): string => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
const option = async (page: Page, name: string): Promise<string | null> =>
  (await linkOf(page)).get(`o.m.${name}`);

/** The samples that the legend counts, by the words before them. */
async function used(page: Page): Promise<Record<string, number>> {
  return page
    .getByRole('region', { name: /^Legend/ })
    .first()
    .locator('dl')
    .evaluate((dl) => {
      const texts = (tag: string): string[] => [...dl.querySelectorAll(tag)].map((e) => e.textContent ?? '');
      const numbers = texts('dd').map((t) => Number(t.replace(/\s/g, '')));
      return Object.fromEntries(texts('dt').map((t, i) => [t, numbers[i]!]));
    });
}

async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(() => performance.getEntriesByName('draw Mesh').length > 0);
}

/** Colours in the middle of the picture: one if nothing is drawn. */
async function colours(page: Page): Promise<number> {
  return page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('[data-view="Mesh"] canvas')!;
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const g = copy.getContext('2d')!;
    g.drawImage(canvas, 0, 0);
    const { data } = g.getImageData(copy.width / 4, copy.height / 4, copy.width / 2, copy.height / 2);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}

/** The samples of a cell of the built-in run, whose cells are 24 × 1 × 12 of the program. */
function placeOf(cell: number): string {
  const [x, z] = [24 * (cell % 8), 12 * Math.floor(cell / 160)];
  return `x in ${x}..${x + 23} & y = ${Math.floor(cell / 8) % 20} & z in ${z}..${z + 11}`;
}

describe('the mesh of the built-in run', () => {
  let server: Running;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    server = await start('demo');
    ({ page, problems } = await browser.open(server.url));
    await everything(page, 92_959);
    await page.getByRole('button', { name: 'Mesh' }).click();
    await drawn(page);
  });
  afterAll(async () => {
    await page.close();
    await server.stop();
  });
  afterEach(() => expect(problems).toEqual([]));

  it('shows its surface, and what became of the samples', async () => {
    await expect.poll(() => words(page, '[data-faces]')).toBe('880 faces'); // 2 (8·20 + 8·10 + 20·10)
    expect(await used(page)).toEqual({ 'on a cell': 92_882, 'no cell': 77, 'out of range': 0 });
    await expect.poll(() => colours(page)).toBeGreaterThan(20);
    await page.getByText(/Spearman ρ = /).waitFor();
  });

  it('selects the samples of a cell by its button, and the Memory page has them', async () => {
    const first = page.getByRole('button', { name: /^Select cell/ }).first();
    const cell = Number((await first.getAttribute('aria-label'))!.replace(/\D/g, ''));
    await first.click();
    await expect.poll(() => whereOf(page)).toBe(placeOf(cell));
    const number = async (): Promise<number> =>
      Number(await page.getByRole('status', { name: 'Samples selected' }).locator('b').innerText());
    await expect.poll(number).toBeGreaterThan(0);
    const chosen = await number();
    await counted(page, chosen, 92_959);
    expect(await used(page)).toMatchObject({ 'on a cell': 92_882 }); // the colours stay
    await page
      .getByRole('row', { name: /cells with samples/ })
      .getByText('1 of 1')
      .waitFor();
    await page.goBack(); // one step
    await expect.poll(() => whereOf(page)).toBe('');
  });

  it('colours what is selected elsewhere', async () => {
    await page.evaluate(() => {
      const hash = new URLSearchParams(location.hash.slice(1));
      hash.set('s', 'node = 1');
      location.hash = hash.toString();
    });
    await expect.poll(async () => (await used(page))['on a cell']).toBeLessThan(92_882);
    await page.goBack();
    await expect.poll(async () => (await used(page))['on a cell']).toBe(92_882);
  });

  it('slices and cuts, and shows physics beside', async () => {
    await page.getByRole('radio', { name: 'Slice' }).click();
    await page.getByRole('button', { name: /^Axis/ }).click();
    await page
      .getByRole('menuitemradio', { name: 'y' })
      .or(page.getByRole('menuitem', { name: 'y', exact: true }))
      .first()
      .click();
    await page.getByRole('slider', { name: 'Place of the slice' }).fill('0.525'); // y 10.5
    await expect.poll(() => words(page, '[data-faces]')).toBe(`${written(8 * 10)} faces`);
    await page.getByRole('button', { name: /^Show/ }).click();
    await page
      .getByRole('menuitemradio', { name: /side by side/ })
      .or(page.getByRole('menuitem', { name: /side by side/ }))
      .first()
      .click();
    await expect.poll(() => page.getByRole('region', { name: /^Legend/ }).count()).toBe(2);
    await expect.poll(() => colours(page)).toBeGreaterThan(20);
    await page.mouse.move(720, 12);
    await picture(page, 'mesh-demo', CHAPTER);
    await page.getByRole('radio', { name: 'Threshold' }).click();
    await expect.poll(() => words(page, '[data-faces]')).toBe('880 faces'); // all cells have samples
    const lower = page.getByRole('slider', { name: 'Lower end of the threshold' });
    await lower.fill('0.5');
    // The late half of the scale: some cells of the walls.
    await expect.poll(() => words(page, '[data-faces]')).toMatch(/^[\d\s]+ faces of \d{2,3} cells$/);
    await lower.fill('0');
    await expect.poll(() => words(page, '[data-faces]')).toBe('880 faces');
    await page.getByRole('radio', { name: 'Surface' }).click();
    await expect.poll(() => words(page, '[data-faces]')).toBe('880 faces');
  });

  it('says why there is no picture, and keeps the one before, marked', async () => {
    const at = await browser.context.newPage();
    const asks = '**/mesh/picture';
    const refuse = (): Promise<unknown> =>
      at.route(asks, (route) =>
        route.fulfill({ status: 500, contentType: 'application/json', body: '{"error":"the dump is gone"}' }),
      );
    await refuse();
    await at.goto(`${server.url.replace(/&.*/, '')}&v=1&page=mesh`);
    const alert = at.getByRole('alert').filter({ hasText: 'the dump is gone' });
    await alert.waitFor();
    const canvas = at.locator('[data-view="Mesh"] canvas').first();
    const look = (name: 'visibility' | 'filter'): Promise<string> =>
      canvas.evaluate((c, n) => getComputedStyle(c)[n], name);
    expect(await look('visibility')).toBe('hidden'); // nothing was drawn on it
    await at.unroute(asks);
    await at.getByRole('button', { name: 'Retry' }).click();
    await drawn(at);
    await expect.poll(() => look('visibility')).toBe('visible');
    await expect.poll(() => colours(at)).toBeGreaterThan(20);

    await refuse();
    const old = at.getByText('No answer; this is the picture before.');
    await at.getByRole('application', { name: 'Mesh' }).focus();
    await at.keyboard.press(',');
    await alert.waitFor();
    await old.waitFor();
    expect(await look('filter')).toBe('grayscale(1)');
    expect(await colours(at)).toBeGreaterThan(20);
    await at.unroute(asks);
    await at.getByRole('button', { name: 'Retry' }).click();
    await old.waitFor({ state: 'detached' });
    expect(await look('filter')).toBe('none');
    await at.close();
  });

  it('goes through time by keys, and a link brings it all back', async () => {
    await page.getByRole('application', { name: 'Mesh' }).focus();
    await page.keyboard.press(',');
    await expect.poll(() => option(page, 'step')).toBe('6');
    await page.getByRole('radio', { name: 'only since the last dump' }).click();
    await expect
      .poll(() => words(page, '[data-taken]'))
      .toBe('samples with 5 < iteration ≤ 6 on the mesh of dump 6');
    await expect.poll(async () => (await used(page))['no iteration']).toBe(3864);
    const before = await used(page);
    await page.getByRole('application', { name: 'Mesh' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => option(page, 'eye')).not.toBe(null);
    const link = await page.evaluate(() => location.href);
    const again = await browser.open(link.replace('#', `#k=${server.token}&`));
    await again.page.getByRole('radio', { name: 'only since the last dump', checked: true }).waitFor();
    await expect.poll(() => used(again.page)).toEqual(before);
    expect(again.problems).toEqual([]);
    await again.page.close();
  });
});

/** A choice in a menu of the mesh page. */
async function choose(page: Page, menu: RegExp, item: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: menu }).click();
  const exact = typeof item === 'string';
  await page
    .getByRole('menuitemradio', { name: item, exact })
    .or(page.getByRole('menuitem', { name: item, exact }))
    .first()
    .click();
}

describe('selecting on the mesh', () => {
  let server: Running;
  let page: Page;
  let problems: string[];
  beforeAll(async () => {
    server = await start('demo');
    ({ page, problems } = await browser.open(`${server.url}&v=1&page=mesh`));
    await everything(page, 92_959);
    await drawn(page);
    await page.getByText(/Spearman ρ = /).waitFor();
  });
  afterAll(async () => {
    await page.close();
    await server.stop();
  });
  afterEach(() => expect(problems).toEqual([]));
  const number = async (): Promise<number> =>
    Number(
      (await page.getByRole('status', { name: 'Samples selected' }).locator('b').innerText()).replace(
        /\s/g,
        '',
      ),
    );
  const clear = async (): Promise<void> => {
    await page.keyboard.press('Control+Shift+KeyA');
    await everything(page, 92_959);
  };

  /** Points of the picture under which lie cells with samples, by what the status line says. */
  interface Spot {
    readonly x: number;
    readonly y: number;
    readonly cell: number;
  }
  async function sampled(n: number): Promise<Spot[]> {
    const box = await boxOf(page, 'Mesh');
    const out: Spot[] = [];
    for (let i = 0; i < 240 && out.length < n; i++) {
      const p = {
        x: box.x + box.width * (0.35 + 0.005 * (i % 60)),
        y: box.y + box.height * (0.5 + 0.04 * Math.floor(i / 60)),
      };
      await page.mouse.move(p.x, p.y);
      const said = await words(page, '[data-status]');
      const m = /^Cell ([\d\s]+) .* samples?/.exec(said);
      const cell = m ? Number(m[1]!.replace(/\s/g, '')) : -1;
      if (m && !/no samples/.test(said) && !out.some((o) => o.cell === cell)) out.push({ ...p, cell });
    }
    expect(out.length).toBe(n);
    return out;
  }

  it('by click, Shift and Alt, with a tooltip that has the exact values', async () => {
    const [a, b] = (await sampled(2)) as [Spot, Spot];
    await page.mouse.move(a.x, a.y);
    await expect
      .poll(() => words(page, '.tip'))
      .toMatch(
        new RegExp(
          `^cell ${written(a.cell)} i \\d+, j \\d+, k \\d+ latency, average [\\d.]+ cycles, \\d+ samples? u [\\d.]+$`,
        ),
      );
    await page.mouse.click(a.x, a.y);
    await expect.poll(() => whereOf(page)).toBe(placeOf(a.cell));
    await expect.poll(number).toBeLessThan(92_959);
    const one = await number();
    await page.keyboard.down('Shift');
    await page.mouse.click(b.x, b.y);
    await page.keyboard.up('Shift');
    await expect.poll(number).toBeGreaterThan(one);
    const two = await number();
    await page.keyboard.down('Alt');
    await page.mouse.click(b.x, b.y);
    await page.keyboard.up('Alt');
    await expect.poll(number).toBe(one);
    expect(two).toBeGreaterThan(one);
    await clear();
  });

  it('tells the other views what is hovered, and marks what they point at', async () => {
    const a = (await sampled(1))[0]!;
    const asked = page.waitForRequest(
      (r) =>
        r.url().endsWith('/ask') &&
        /"hover":"x in \d+\.\.\d+ & y = \d+ & z in \d+\.\.\d+"/.test(r.postData() ?? ''),
    );
    await page.mouse.move(a.x + 1, a.y);
    await page.mouse.move(a.x, a.y);
    await asked;
    // A bar of the time strip is pointed at: the cells of its samples are marked on the mesh.
    const cells = page.waitForResponse((r) => r.url().endsWith('/mesh/cells'));
    await page.locator('.track rect[opacity]').nth(3).hover();
    const answer = (await (await cells).json()) as { cells: number; drawn: number[] };
    expect(answer.cells).toBeGreaterThan(0);
    expect(answer.drawn.length).toBeGreaterThan(0);
    await page.mouse.move(720, 12);
  });

  it('by a rectangle over the plot, by pointer and by keys', async () => {
    const plot = await boxOf(page, 'Relation');
    await page.mouse.move(plot.x + 60, plot.y + 10);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width - 20, plot.y + plot.height / 2, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => whereOf(page)).toMatch(/^rows "cells [\d -]+"$/);
    await expect.poll(number).toBeGreaterThan(0);
    const some = await number();
    expect(some).toBeLessThan(92_959);
    expect(samplesOf(await whereOf(page))).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Memory' }).click();
    await counted(page, some, 92_959); // the same on the other page, and a chip for it
    await page.getByRole('button', { name: /^Remove rows "cells/ }).click();
    await everything(page, 92_959);
    await page.getByRole('button', { name: 'Mesh' }).click();
    await page.getByText(/Spearman ρ = /).waitFor();
    await page.getByRole('application', { name: 'Relation' }).focus();
    for (let i = 0; i < 12; i++) await page.keyboard.press('Shift+ArrowDown');
    for (let i = 0; i < 12; i++) await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    await expect.poll(() => whereOf(page)).toMatch(/^rows "cells [\d -]+"$/);
    await clear();
  });

  const samplesOf = (where: string): number =>
    [...where.matchAll(/(\d+)(?:-(\d+))?(?=[ "])/g)].reduce(
      (n, m) => n + Number(m[2] ?? m[1]) - Number(m[1]) + 1,
      0,
    );

  it('exports the picture and its numbers, and shows them as a table', async () => {
    await page.getByRole('application', { name: 'Mesh' }).focus();
    const rows = Number((await words(page, '[data-faces]')).replace(/\D/g, ''));
    for (const [format, head] of [
      ['CSV', 'cell,place,latency_avg,samples,u\n'],
      ['SVG', '<svg'],
      ['PNG', '\u0089PNG'],
    ] as const) {
      await page.getByRole('button', { name: /^Export/ }).click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: `Mesh as ${format}` }).click(),
      ]);
      const content = readFileSync((await file.path())!);
      expect(content.toString('latin1').startsWith(head) || content.toString('utf8').includes(head)).toBe(
        true,
      );
      if (format === 'CSV')
        expect(content.toString().trim().split('\n').length - 1).toBeLessThanOrEqual(rows);
      if (format === 'SVG')
        expect(content.toString()).toMatch(/latency, average.*cycles, (log|linear) scale/s);
    }
    await page.getByRole('application', { name: 'Mesh' }).focus();
    await page.keyboard.press('t');
    await page
      .getByRole('dialog', { name: 'Mesh' })
      .getByRole('button', { name: 'Sort by latency_avg' })
      .click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Turn the mesh').waitFor();
    await page.keyboard.press('Escape');
  });

  it('without edges, and the same by WebGL', async () => {
    const size = async (): Promise<number> => (await page.locator('[data-view="Mesh"]').screenshot()).length;
    const before = await size();
    await choose(page, /^Edges/, 'off');
    await expect.poll(() => option(page, 'edges')).toBe('off');
    expect(before).toBeGreaterThan(1000);
    const gl = await browser.open(`${server.url}&v=1&page=mesh&o.m.renderer=webgl`);
    await drawn(gl.page);
    const box = await boxOf(gl.page, 'Mesh');
    const at = { x: box.x + box.width * 0.5, y: box.y + box.height * 0.55 };
    await gl.page.mouse.move(at.x, at.y);
    await expect.poll(() => words(gl.page, '[data-status]')).toMatch(/^Cell /);
    await page.mouse.move(at.x, at.y);
    const said = /^Cell [\d\s]+/.exec(await words(gl.page, '[data-status]'))![0];
    await expect.poll(async () => /^Cell [\d\s]+/.exec(await words(page, '[data-status]'))?.[0]).toBe(said); // both see the same cell there
    expect(gl.problems).toEqual([]);
    await gl.page.close();
  });
});

describe('in a small window', () => {
  it('every menu and slider can be clicked, and the sentence about samples is whole', async () => {
    const server = await start('demo');
    const { page, problems } = await browser.open(
      `${server.url}&v=1&page=mesh&o.m.clip=x<0.5,y>0.5,z<0.8&o.m.view=threshold&o.m.show=both`,
    );
    await page.setViewportSize({ width: 1280, height: 720 });
    await everything(page, 92_959);
    await drawn(page);
    for (const pane of ['Picture', 'Time']) {
      // The slider of dumps is for keys alone: the picture above it takes clicks.
      const covered = await page.getByRole('region', { name: pane, exact: true }).evaluate((e) =>
        [...e.querySelectorAll('button, input:not([aria-label="Dump"])')].flatMap((b) => {
          const r = b.getBoundingClientRect();
          const top = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
          return top && b.contains(top) ? [] : [b.getAttribute('aria-label') ?? b.textContent];
        }),
      );
      expect(covered, `covered or cut off in ${pane}`).toEqual([]);
    }
    const cut = await page.locator('[data-taken]').evaluate((e) => e.scrollWidth > e.clientWidth);
    expect(cut).toBe(false);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });
});

describe('cutting the mesh', () => {
  it('by several planes, and along a value', async () => {
    const server = await start('demo');
    const { page, problems } = await browser.open(`${server.url}&v=1&page=mesh`);
    await everything(page, 92_959);
    await drawn(page);
    const faces = (): Promise<string> => words(page, '[data-faces]');
    await choose(page, /^Clip/, 'below a plane across x');
    await expect.poll(faces).toBe('640 faces of 800 cells'); // 4 of 8 × 20 × 10: 2 (4·20 + 4·10 + 20·10)
    await choose(page, /^Clip/, 'above a plane across y');
    await expect.poll(faces).toBe('360 faces of 400 cells');
    const plane = page.getByRole('slider', { name: 'Plane across x, below' });
    await plane.focus();
    await page.keyboard.press('End');
    await expect.poll(faces).toBe('520 faces of 800 cells'); // 2 (8·10 + 8·10 + 10·10)
    expect(await option(page, 'clip')).toBe('x<1,y>0.5');
    await choose(page, /^Clip/, 'everything');
    await expect.poll(faces).toBe('880 faces');
    await page.getByRole('radio', { name: 'Contour' }).click();
    await choose(page, /^Contour of/, 'index z');
    await expect.poll(() => words(page, '[data-iso]')).toBe('= 4.5');
    await expect.poll(faces).toBe('160 faces'); // the plane between the fifth layer and the sixth
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });
});

describe('below the mesh', () => {
  let server: Running;
  let page: Page;
  let problems: string[];
  beforeAll(async () => {
    server = await start('demo');
    ({ page, problems } = await browser.open(`${server.url}&v=1&page=mesh`));
    await everything(page, 92_959);
    await drawn(page);
  });
  afterAll(async () => {
    await page.close();
    await server.stop();
  });
  afterEach(() => expect(problems).toEqual([]));

  /** What the status line says of the mark in a view: its name, its dump and how many samples it has. */
  const said = async (): Promise<{ name: string; dump: number; samples: number }> => {
    const m = /^(.+?) · dump (\d+) · .*, ([\d\s]+) samples?/.exec(await words(page, '[data-status]'));
    return { name: m?.[1] ?? '', dump: Number(m?.[2]), samples: Number((m?.[3] ?? '').replace(/\s/g, '')) };
  };

  it('shows regions over time: a dump by Enter, the samples of a part by a rectangle', async () => {
    await page.getByRole('radio', { name: 'Regions over time' }).click();
    const map = page.getByRole('application', { name: 'Regions over time' });
    await choose(page, /^Regions over time/, 'index z');
    await expect.poll(() => option(page, 'regions')).toBe('index z');
    await map.focus();
    await page.keyboard.press('ArrowLeft'); // the first key marks all cells at the dump that is shown
    await expect.poll(async () => (await said()).name).toBe('all cells');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(async () => (await said()).dump).toBe(6);
    await page.keyboard.press('Enter');
    await expect.poll(() => option(page, 'step')).toBe('6');
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown');
    await expect.poll(async () => (await said()).name).toBe('index z 2');
    const part = await said();
    await page.keyboard.press('Shift+Enter');
    await expect.poll(() => whereOf(page)).toBe('iteration = 6 & rows "cells 320-479"');
    await counted(page, part.samples, 92_959);
    // A rectangle takes the place of the part before.
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    await expect.poll(() => whereOf(page)).toBe('iteration in 5..6 & rows "cells 320-639"');
    const box = await boxOf(page, 'Regions over time');
    await page.mouse.move(box.x + 140, box.y + 0.4 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 90, box.y + 0.6 * box.height, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => whereOf(page)).toMatch(/^iteration <= 7 & rows "cells \d+-\d+"$/);
    await page.goBack();
    await expect.poll(() => whereOf(page)).toMatch(/^iteration in 5/);
    await page.keyboard.press('Control+Shift+KeyA');
    await everything(page, 92_959);
    await choose(page, /^Regions over time/, 'u');
    await expect.poll(() => option(page, 'regions')).toBe('u');
    await map.focus();
    await page.keyboard.press('t');
    await page
      .getByRole('dialog', { name: 'Regions over time' })
      .getByRole('button', { name: 'Sort by dump' })
      .waitFor();
    await page.keyboard.press('Escape');
    expect(await violations(page)).toEqual([]);
  });

  it('lists the cells on a line, and one of them is selected by Enter', async () => {
    await page.getByRole('radio', { name: 'Along a line' }).click();
    const end = page.getByRole('textbox', { name: 'End of the line' });
    const corner = (await end.inputValue()).split(',').map(Number);
    const start = page.getByRole('textbox', { name: 'Start of the line' });
    const low = (await start.inputValue()).split(',').map(Number);
    const middle = corner.map((v, k) => (v + low[k]!) / 2 + 0.01);
    await start.fill([middle[0], low[1], middle[2]].join(', '));
    await start.press('Enter');
    await end.fill([middle[0], corner[1], middle[2]].join(', '));
    await end.press('Enter');
    await expect.poll(() => words(page, '[role=status][aria-label=Line]')).toMatch(/^20 cells on /);
    await page.getByRole('application', { name: 'Along the line' }).focus();
    await page.keyboard.press('Home');
    await expect.poll(() => words(page, '[data-status]')).toMatch(/^Cell \d+ · 0 to .* samples? · u /);
    const cell = Number(/^Cell (\d+)/.exec(await words(page, '[data-status]'))![1]);
    await page.keyboard.press('Enter');
    await expect.poll(() => whereOf(page)).toBe(placeOf(cell));
    await start.fill('nowhere');
    await start.press('Enter');
    await page.getByText('“nowhere” is no point; want three numbers, as 0, 0, 1.5').waitFor();
    await page.keyboard.press('Control+Shift+KeyA');
    expect(await violations(page)).toEqual([]);
  });

  it('ranks what explains the field, and a click shows the variable', async () => {
    await page.getByRole('radio', { name: 'What explains it' }).click();
    const row = page
      .getByRole('region', { name: 'Variables by explained cost' })
      .locator('tr[data-key="index y"]');
    await expect.poll(() => row.innerText()).toMatch(/^index y\s+layers\s+\d+\.\d %/);
    await page.getByRole('button', { name: 'Show index y' }).click();
    await expect.poll(() => option(page, 'variable')).toBe('index y');
    expect(await violations(page)).toEqual([]);
  });
});

describe.skipIf(!SAMPLES || !CAN || !AMR)('the mesh page on real data', () => {
  const pattern = join(DUMPS, 'lulesh_c*.vtk');

  it('says what the command says, in all three modes', async () => {
    const server = await start('open', SAMPLES!, '--mesh', pattern);
    const { page, problems } = await browser.open(server.url);
    await everything(page, 15_676);
    await page.getByRole('button', { name: 'Mesh' }).click();
    await drawn(page);
    for (const [mode, label] of [
      ['all', 'all samples'],
      ['upto', 'up to this dump'],
      ['only', 'only since the last dump'],
    ] as const) {
      await page.getByRole('radio', { name: label }).click();
      for (let k = 0; k < 2; k++) await page.getByRole('button', { name: /^Previous/ }).click(); // dump 300
      await expect.poll(() => words(page, '[data-taken]')).toMatch(/on the mesh of dump 300, time 0\.00284/);
      type Report = {
        covered: number;
        cells: number;
        counts: { used: number; no_cell: number; out_of_range: number };
      };
      const want = JSON.parse(
        isobath('mesh', SAMPLES!, '--mesh', pattern, '--mode', mode, '--iteration', '300', '--json'),
      ) as Report;
      await expect
        .poll(() => used(page))
        .toMatchObject({
          'on a cell': want.counts.used,
          'no cell': want.counts.no_cell,
          'out of range': want.counts.out_of_range,
        });
      await page
        .getByRole('row', { name: /cells with samples/ })
        .getByText(new RegExp(`^${written(want.covered).replace(' ', '\\s')} of 8\\s000$`))
        .waitFor();
      for (let k = 0; k < 2; k++) await page.getByRole('button', { name: /^Next/ }).click();
    }
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await violations(page)).toEqual([]);
    }
    await page.mouse.move(720, 12);
    await picture(page, 'mesh-dark', CHAPTER);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('has room in a small window for what became of samples, and in the plot for decades', async () => {
    const server = await start('open', SAMPLES!, '--mesh', pattern);
    const { page, problems } = await browser.open('about:blank');
    await page.setViewportSize({ width: 1280, height: 720 });
    type Summary = { relation?: { density: { x: number[]; y: number[]; counts: number[] } } };
    const plotted = page.waitForResponse((r) => r.url().endsWith('/mesh/summary'));
    await page.goto(`${server.url}&v=1&page=mesh&o.m.show=both&o.m.variable=e`);
    const { counts, y } = ((await (await plotted).json()) as Summary).relation!.density;
    // Energies go from 0 over ten decades: on a linear axis five of forty columns have cells.
    const columns = y.slice(1).filter((_, k) => counts.slice(40 * k, 40 * k + 40).some((n) => n > 0));
    expect(columns.length).toBeGreaterThan(20);
    expect(counts.reduce((a, n) => a + n)).toBe(800);
    const plot = page.getByRole('application', { name: 'Relation' });
    await expect
      .poll(() => plot.locator('.sr').first().innerText())
      .toMatch(/^latency, average, log against e, symlog/);
    await page.getByRole('region', { name: 'Legend of latency, average' }).locator('[data-few]').waitFor();
    const room = await page.locator('.legends').first().boundingBox();
    const list = await page.getByLabel('Samples used').boundingBox();
    expect(list!.y + list!.height).toBeLessThanOrEqual(room!.y + room!.height);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('shows the change between two dumps, and stripes what few samples make', async () => {
    const server = await start('open', SAMPLES!, '--mesh', pattern);
    const { page, problems } = await browser.open(`${server.url}&v=1&page=mesh`);
    await everything(page, 15_676);
    await drawn(page);
    const ask = ['mesh', SAMPLES!, '--mesh', pattern, '--mode', 'only', '--iteration', '540', '--json'];
    type Report = { covered: number; few: number; min: number; max: number };
    const before = JSON.parse(isobath(...ask)) as Report;
    await page.getByRole('radio', { name: 'only since the last dump' }).click();
    const few = (): Promise<string> => words(page, '[data-few]');
    await expect.poll(few).toBe(`${written(before.few)} cells`);
    const striped = await colours(page);
    await choose(page, /^Few samples/, 'none');
    await expect.poll(() => colours(page)).not.toBe(striped);
    await page.goBack();

    const want = JSON.parse(isobath(...ask, '--change-from', '180')) as Report;
    await choose(page, /^Change since/, 'dump 180');
    const legend = page.getByRole('region', { name: 'Legend of change of latency, average' });
    await expect.poll(() => legend.innerText()).toMatch(/since dump 180\s+no change in the middle/);
    expect(await words(page, '[data-taken]')).toContain('less the same at dump 180');
    for (const [name, value] of [
      ['smallest', want.min],
      ['largest', want.max],
    ] as const) {
      const row = page.getByRole('row', { name: new RegExp(`^${name}`) });
      await expect
        .poll(async () => (await row.innerText()).replace(/\s/g, '').replace('−', '-'))
        .toBe(`${name}${value}`);
    }
    await expect.poll(few).toBe(`${written(want.few)} cells`);
    expect(await option(page, 'since')).toBe('1');
    await page.getByRole('radio', { name: 'all samples' }).click(); // which are those of both dumps
    await page.getByRole('region', { name: 'Legend of latency, average' }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('shows a file alone, and the cell under the pointer', async () => {
    const server = await start('open', CAN!);
    const { page, problems } = await browser.open(server.url);
    await drawn(page);
    await page
      .getByRole('status', { name: 'Mesh size' })
      .getByText(/4\s800 cells/)
      .waitFor();
    await expect.poll(() => words(page, '[data-faces]')).toBe('3 680 faces');
    const box = await boxOf(page, 'Mesh');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await expect.poll(() => words(page, '[data-status]')).toMatch(/^Cell [\d\s]+ EQPS [\d.]+$/);
    const cell = /^Cell ([\d\s]+) EQPS/.exec(await words(page, '[data-status]'))![1]!.replace(/\s/g, '');
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await expect.poll(() => option(page, 'cell')).toBe(cell);
    // Dragging turns, and is one step back.
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2 + 30, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => option(page, 'eye')).toMatch(/^-?[\d.]+(,-?[\d.]+){5}$/);
    await page.goBack();
    await expect.poll(() => option(page, 'eye')).toBe(null);
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('shows vectors as arrows: by the menu and by a key, with their numbers', async () => {
    const server = await start('open', CAN!);
    const { page, problems } = await browser.open(server.url);
    await drawn(page);
    const box = await boxOf(page, 'Mesh');
    const dark = (): Promise<number> =>
      page.evaluate(() => {
        const above = document.querySelectorAll<HTMLCanvasElement>('[data-view="Mesh"] canvas')[1]!;
        const { data } = above.getContext('2d')!.getImageData(0, 0, above.width - 120, above.height);
        let n = 0;
        for (let i = 3; i < data.length; i += 4) if (data[i]! > 0) n++;
        return n;
      });
    expect(await dark()).toBe(0);
    await choose(page, /^Arrows/, 'VEL');
    await expect.poll(() => words(page, '[data-arrows]')).toMatch(/^arrows: VEL, longest 5 160;/);
    await expect.poll(dark).toBeGreaterThan(1000);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await expect
      .poll(() => words(page, '[data-status]'))
      .toMatch(/^Cell [\d\s]+ EQPS [\d.]+ · VEL \(−?[\d. ]+, −?[\d. ]+, −?[\d. ]+\)$/);
    await page.getByRole('application', { name: 'Mesh' }).focus();
    await page.keyboard.press('t');
    await page.getByRole('dialog', { name: 'Mesh' }).getByRole('button', { name: 'Sort by VEL z' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('application', { name: 'Mesh' }).focus();
    for (const name of ['ACCL', null, 'DISPL', 'VEL']) {
      await page.keyboard.press('v');
      await expect.poll(() => option(page, 'arrows')).toBe(name);
    }
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('shows dumps alone, deformed over time', async () => {
    const server = await start('open', '--mesh', pattern);
    const { page, problems } = await browser.open(server.url);
    await drawn(page);
    await expect.poll(() => words(page, '[data-faces]')).toBe('2 400 faces');
    await page.getByRole('radio', { name: 'Threshold' }).click();
    await page.getByRole('button', { name: /^Threshold by/ }).click();
    await page
      .getByRole('menuitemradio', { name: 'index z' })
      .or(page.getByRole('menuitem', { name: 'index z' }))
      .first()
      .click();
    await page.getByRole('slider', { name: 'Upper end of the threshold' }).fill('0.53'); // k ≤ 10
    await expect
      .poll(() => words(page, '[data-faces]'))
      .toBe(`${written(2 * 400 + 4 * 220)} faces of ${written(4400)} cells`);
    await page.mouse.move(720, 12);
    await picture(page, 'mesh-lulesh', CHAPTER);
    await page.getByRole('button', { name: /^Previous/ }).click();
    await expect.poll(() => words(page, '[data-taken]')).toMatch(/dump 420/);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('shows one refinement level or the finest of all', async () => {
    const server = await start('open', AMR!);
    const { page, problems } = await browser.open(server.url);
    await drawn(page);
    await page
      .getByRole('status', { name: 'Mesh size' })
      .getByText(/2\s556 cells/)
      .waitFor();
    await expect.poll(() => words(page, '[data-faces]')).toMatch(/ faces of 2 241 cells$/); // those not covered by finer ones
    for (const [level, cells] of [
      ['level 0', 36],
      ['level 1', 288],
      ['level 3', 864],
    ] as const) {
      await choose(page, /^Refinement level/, level);
      await expect.poll(() => words(page, '[data-faces]')).toMatch(new RegExp(` faces of ${cells} cells$`));
    }
    expect(await option(page, 'level')).toBe('3');
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
  });

  it('puts a mesh under samples that are open', async () => {
    const server = await start('open', SAMPLES!);
    const { page, problems } = await browser.open(server.url);
    await everything(page, 15_676);
    await page.getByRole('button', { name: 'Mesh' }).click();
    const files = page.getByRole('textbox', { name: 'Mesh files' });
    await files.fill('/nowhere/*.vtk');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await files.fill(pattern);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await drawn(page);
    await expect.poll(async () => (await used(page))['on a cell']).toBe(993);
    // Region 11 of the plot's categories selects the samples on its cells.
    await page.getByRole('button', { name: /^Select region 11/ }).click();
    await expect.poll(() => whereOf(page)).toMatch(/^rows "cells [\d -]+"$/);
    expect(problems.filter((p) => !p.includes('400'))).toEqual([]);
    await page.close();
    await server.stop();
  });
});

describe('cost per access', () => {
  // Cell c is touched 1 + c % 3 times and has a sample; cell 5 is never touched.
  const CELLS = 24;
  const PROGRAM = `#include <stdlib.h>
__attribute__((noinline)) static void sweep(volatile double *energy) {
  for (int c = 0; c < ${CELLS}; c++)
    for (int k = 0; k < (c == 5 ? 0 : 1 + c % 3); k++)
      energy[c] = k;
}
int main(void) {
  double *energy = malloc(${CELLS} * sizeof *energy);
  sweep(energy);
  free(energy);
}
`;

  it('has its unit, its references, and the cells without any', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'isobath-e2e-accesses-'));
    const file = (name: string): string => join(dir, name);
    writeFileSync(file('sweep.c'), PROGRAM);
    execFileSync('gcc', ['-O1', '-g', '-o', file('sweep'), file('sweep.c')]);
    const record = ['record', '--refs', '--function', 'sweep', '--backend', 'step'];
    isobath(...record, '-o', file('refs.isobath'), '--', file('sweep'));
    const samples = Array.from({ length: CELLS }, (_, c) => `${c},60`);
    writeFileSync(file('samples.csv'), `cell,latency (cycles)\n${samples.join('\n')}\n`);
    const mesh = 'DATASET STRUCTURED_POINTS\nDIMENSIONS 7 5 2\nORIGIN 0 0 0\nSPACING 1 1 1\n';
    writeFileSync(file('mesh.vtk'), `# vtk DataFile Version 3.0\ncells\nASCII\n${mesh}`);
    const accesses = ['--accesses', file('refs.isobath'), '--cell-bytes', 'energy=8'];
    const server = await start('open', file('samples.csv'), '--mesh', file('mesh.vtk'), ...accesses);
    const { page, problems } = await browser.open(
      `${server.url}&v=1&page=mesh&o.m.field=latency_sum_per_access&o.m.show=both&o.m.variable=accesses`,
    );
    await drawn(page);
    const legend = page.getByRole('region', { name: 'Legend of latency, sum per access' });
    await expect.poll(() => legend.innerText()).toMatch(/cycles per access/);
    expect(await legend.innerText()).toMatch(/no access recorded\s+1 cell\b/);
    // Eight times 1 + 2 + 3, without the three of cell 5; and what the program keeps on its stack.
    expect(await legend.getByLabel('References recorded').innerText()).toMatch(
      /^on a cell\s+45\s+other data/,
    );
    const row = async (name: RegExp): Promise<string> =>
      (await page.getByRole('row', { name }).innerText()).replace(/\s+/g, ' ');
    await expect.poll(() => row(/^cells with a value/)).toBe('cells with a value 23 of 24');
    expect([await row(/^smallest/), await row(/^largest/)]).toEqual(['smallest 20', 'largest 60']);
    // The words beside the pointer are whole, wherever it is.
    const stage = await boxOf(page, 'Mesh');
    const card = page.locator('[data-view="Mesh"] .tip');
    for (let k = 1; k < 12; k++) {
      await page.mouse.move(stage.x + (stage.width * k) / 12, stage.y + stage.height / 2);
      if (!(await card.isVisible())) continue;
      const inside = await card.evaluate((e) => {
        const [a, b] = [e.getBoundingClientRect(), e.parentElement!.getBoundingClientRect()];
        return e.scrollWidth <= e.clientWidth && a.left >= b.left && a.right <= b.right;
      });
      expect(inside).toBe(true);
    }
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
    await server.stop();
    rmSync(dir, { recursive: true });
  });
});
