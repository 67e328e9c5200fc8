// What the timelines of the trace page draw, read from the pictures they export:
// marks on their rows at every size, lines that leave the cells to be seen, scales
// that end near the data, the whole run.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, fixture, isobath, ROOT, start, type Browser, type Running } from './harness';
import { quiet } from './page';
import { paintedViews, rememberTexts, rowsOf, type PaintedView } from './painted';

/** Pixels that stay on the page. */
interface Kept {
  keptPixels?: Record<string, Uint8ClampedArray>;
}

interface Text {
  readonly x: number;
  readonly y: number; // of the middle of the letters
  readonly text: string;
  readonly bold: boolean;
}

/** The texts of a drawing with their places. */
function texts(svg: string): Text[] {
  return [
    ...svg.matchAll(/<text x="([^"]+)" y="([^"]+)"[^>]* font-size="([^"]+)"([^>]*)>([^<]*)<\/text>/g),
  ].map(([, x, y, size, more, text]) => ({
    x: Number(x),
    y: Number(y) - 0.36 * Number(size),
    text: text!,
    bold: more!.includes('font-weight="600"'),
  }));
}

/** Where rows of ranks have their middle: by the labels left of the plot. */
function rowAt(svg: string): (rank: number) => number {
  const labels = texts(svg)
    .filter((t) => t.x === 46 && /^\d+/.test(t.text))
    .map((t) => {
      const [first, last] = t.text.replace(' …', '').split('–').map(Number) as [number, number | undefined];
      return { rank: (first + (last ?? first)) / 2, y: t.y, whole: !t.text.includes('…') };
    })
    .filter((l) => l.whole || l.rank > 0);
  const [a, b] = [labels[1]!, labels.at(-1)!];
  return (rank) => a.y + ((rank - a.rank) * (b.y - a.y)) / (b.rank - a.rank);
}

interface Line {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly alpha: number;
}

/** Lines of messages: the only ones that are neither horizontal nor vertical. */
function messageLines(svg: string): Line[] {
  return [
    ...svg.matchAll(/<line x1="([^"]+)" y1="([^"]+)" x2="([^"]+)" y2="([^"]+)"[^>]* opacity="([^"]+)"\/>/g),
  ]
    .map((m) => m.slice(1).map(Number) as [number, number, number, number, number])
    .map(([x0, y0, x1, y1, alpha]) => ({ x: [x0, x1] as const, y: [y0, y1] as const, alpha }))
    .filter((l) => l.y[0] !== l.y[1]);
}

/** The value at the right end of the scale below a drawing. */
function scaleEnd(svg: string): number {
  const height = Number(/^<svg[^>]* height="([\d.]+)"/.exec(svg)![1]);
  const ramp = [...svg.matchAll(/<rect x="([^"]+)" y="([^"]+)" width="([^"]+)" height="7"/g)].filter(
    ([, , y]) => Number(y) > height - 26,
  );
  const [from, to] = [Number(ramp[0]![1]), Number(ramp.at(-1)![1]) + Number(ramp.at(-1)![3])];
  const ticks = texts(svg).filter((t) => t.y > height - 14 && t.x >= from - 1 && /^[\d.]+$/.test(t.text));
  const last = ticks.at(-1)!;
  return (Number(last.text) * (to - from)) / (last.x - from);
}

/** The right end of the plots at this width of the page. */
const RIGHT = 900;

const NS = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 } as const;

describe('the timelines', () => {
  let folder: string;
  let server: Running;
  let browser: Browser;
  let page: Page;
  let problems: string[] = [];
  const file = (name: string): string => join(folder, `${name}.otf2`);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-timelines-'));
    execFileSync('go', ['run', './internal/messages/mpiprog/fixture', folder, 'sizes'], {
      cwd: ROOT,
      stdio: 'inherit',
    });
    [server, browser] = await Promise.all([
      start('open', ...['few', 'crossing', 'whole', 'many'].map(file), fixture('otf2/ring16')),
      browse({ width: 1280, height: 720 }),
    ]);
    await rememberTexts(browser.context);
  });
  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  /** Opens a trace with some settings, and waits until it is drawn. */
  async function open(name: string, settings = ''): Promise<void> {
    ({ page, problems } = await browser.open(server.url));
    await page.getByRole('button', { name: /^Runs/ }).click();
    await page
      .getByRole('menuitemradio', { name: new RegExp(`^${name}`) })
      .or(page.getByRole('menuitem', { name: new RegExp(`^${name}`) }))
      .click();
    await page.getByRole('region', { name: 'Causes' }).getByRole('button').first().waitFor();
    await quiet(page);
    if (settings) {
      await page.evaluate((more) => (location.hash += `&${more}`), settings);
      await quiet(page);
    }
  }

  async function view(name: string): Promise<PaintedView> {
    await quiet(page);
    return (await paintedViews(page)).find((v) => v.name === name)!;
  }

  /** Chooses the first cause, so that it is marked in both timelines. */
  async function chooseCause(): Promise<{ process: number; step: number }> {
    const cause = page.getByRole('region', { name: 'Causes' }).getByRole('button').first();
    await cause.click();
    await page
      .getByRole('region', { name: 'Details' })
      .getByText(/^rank \d+ · step/)
      .waitFor();
    const said = await page
      .getByRole('region', { name: 'Details' })
      .getByText(/^rank \d+ · step/)
      .innerText();
    const [, process, step] = /rank (\d+) · step (\d+)/.exec(said)!.map(Number) as [number, number, number];
    return { process, step };
  }

  it.each(['few', 'many'])('mark a cause and messages on their rows: %s ranks', async (name) => {
    await open(name);
    const { gains } = JSON.parse(isobath('steps', file(name), '--json')) as {
      gains: { instances: { process: number; step: number }[] }[];
    };
    const cause = await chooseCause();
    const [first] = gains[0]!.instances;
    expect(cause).toEqual({ process: first!.process, step: first!.step });
    for (const timeline of ['Logical timeline', 'Physical timeline']) {
      const { svg } = await view(timeline);
      const y = rowAt(svg);
      const [disc] = texts(svg).filter((t) => t.text === '1' && t.bold && t.x > 50);
      expect(Math.abs(disc!.y - y(cause.process))).toBeLessThan(2.5);
      for (const l of messageLines(svg).slice(0, 200)) {
        // Neighbours of a grid of four columns, by rank.
        const [from, to] = l.y.map((at) => Math.round((at - y(0)) / (y(1) - y(0)))) as [number, number];
        expect([1, 4]).toContain(Math.abs(from - to));
        expect(Math.abs(y(from) - l.y[0]) + Math.abs(y(to) - l.y[1])).toBeLessThan(1);
      }
      if (name === 'few' && timeline === 'Logical timeline') expect(messageLines(svg)).not.toEqual([]);
    }
  });

  it('lets cells be seen through messages', async () => {
    await open('crossing');
    const { svg } = await view('Physical timeline');
    const many = messageLines(svg);
    expect(many.length).toBeGreaterThan(1500);
    expect(Math.max(...many.map((l) => l.alpha))).toBeLessThan(0.15);
    // On screen: few of the pixels that have the colour of a late call change much.
    await keepPixels('none');
    await keepPixels('in view');
    const [late, hidden] = await page.evaluate(() => {
      const { none: bare, 'in view': covered } = (window as unknown as Kept).keptPixels!;
      if (covered!.length !== bare!.length) throw new Error('the canvas changed its size');
      let [late, hidden] = [0, 0];
      for (let i = 0; i < bare!.length; i += 4) {
        const rgb = [bare![i]!, bare![i + 1]!, bare![i + 2]!];
        if (Math.max(...rgb) - Math.min(...rgb) < 60) continue; // grey
        late++;
        if (Math.max(...rgb.map((v, k) => Math.abs(v - covered![i + k]!))) > 48) hidden++;
      }
      return [late, hidden] as const;
    });
    expect(late).toBeGreaterThan(2000);
    expect(hidden / late).toBeLessThan(0.05);
  });

  /** Keeps the pixels of the physical timeline, with messages or without, on the page:
   * millions of numbers take half a minute to come over. */
  async function keepPixels(messages: 'none' | 'in view'): Promise<void> {
    await page.getByRole('button', { name: /^Messages/i }).click();
    await page
      .getByRole('menuitemradio', { name: messages, exact: true })
      .or(page.getByRole('menuitem', { name: messages, exact: true }))
      .click();
    await quiet(page);
    await page.evaluate((name) => {
      const canvas = document.querySelector<HTMLCanvasElement>('[data-view="Physical timeline"] canvas')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      const own = window as unknown as Kept;
      own.keptPixels = { ...own.keptPixels, [name]: data };
    }, messages);
  }

  it.each([
    ['few', ''],
    ['few', 'o.t.colour=duration'],
    ['few', 'o.t.colour=differential'],
    ['crossing', ''],
    ['crossing', 'o.t.steps=20..40'],
    ['whole', ''],
    ['many', ''],
    ['ring16', ''], // whose last barrier lets ranks go five times as late as any delay
  ])('end their scale near the data: %s %s', async (name, settings) => {
    await open(name, settings);
    const { svg, csv } = await view('Logical timeline');
    const all = rowsOf(csv.slice(csv.indexOf('rank')));
    const rows = name === 'ring16' ? all.filter((r) => Number(r.step) < 31) : all;
    if (name === 'ring16') expect(all.length - rows.length).toBe(16);
    const columns = Object.keys(rows[0]!).slice(name === 'many' ? 2 : 7);
    const largest = Math.max(...rows.flatMap((r) => columns.map((c) => Math.abs(Number(r[c])) || 0)));
    const unit = texts(svg)
      .find((t) => /^(ns|µs|ms|s) (late|long)$/.test(t.text))!
      .text.split(' ')[0]!;
    const end = scaleEnd(svg) * NS[unit as keyof typeof NS];
    expect(largest).toBeGreaterThan(0);
    expect(end).toBeGreaterThan(0.98 * largest);
    expect(end).toBeLessThan(1.36 * largest);
  });

  it('show the whole run, from MPI_Init on', async () => {
    await open('whole');
    const { span_ns: span } = JSON.parse(isobath('info', file('whole'), '--json')) as { span_ns: number };
    expect(span).toBeGreaterThan(9e6);
    const { svg } = await view('Physical timeline');
    const all = texts(svg);
    expect(all.filter((t) => t.text === 'MPI_Init')).toHaveLength(4);
    expect(all.filter((t) => t.text === 'MPI_Finalize')).toHaveLength(4);
    // The axis begins and ends with the run.
    const { y } = all.find((t) => t.text === '0 ms')!;
    const ticks = all.filter((t) => t.y === y);
    expect(ticks[0]).toMatchObject({ x: 56, text: '0 ms' });
    const [a, b] = [ticks[0]!, ticks.at(-1)!];
    const perMs = (b.x - a.x) / Number(b.text);
    expect(Math.abs(a.x + (span / 1e6) * perMs - RIGHT)).toBeLessThan(2);
    // What one rank does between MPI_Init and its first operation is its cause.
    expect(await chooseCause()).toEqual({ process: 2, step: 0 });
  });
});
