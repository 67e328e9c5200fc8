// Pictures of all pages, light and dark, on a laptop and on a large screen. The
// browser draws without a GPU and with one font, so that machines agree.
// ISOBATH_SCREENS=update npx vitest run screens.test.ts makes them anew.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { study, trial } from './executions';
import { browse, fixture, ROOT, start, type Browser, type Running } from './harness';
import { quiet } from './page';
import { decode, encode, widthOf, type Picture } from './png';
import { difference, differing, screen } from './screens';

const FONTS = join(ROOT, 'e2e', 'fonts.conf');
const SIZES = { laptop: { width: 1280, height: 720 }, large: { width: 2560, height: 1440 } };

interface Shot {
  readonly name: string;
  readonly serve: () => readonly string[];
  readonly link?: string;
  readonly drawn: string; // the view that is drawn last
  readonly go?: (page: Page) => Promise<void>; // to what is shown
  readonly small?: true; // on the laptop only
}

const tab =
  (name: string) =>
  (page: Page): Promise<void> =>
    page.getByRole('tab', { name, exact: true }).click();
async function mesh(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Mesh', exact: true }).click();
  await page.waitForFunction(() => performance.getEntriesByName('draw Mesh').length > 0);
  await permutations(page);
}

/** The permutations behind a coefficient take a moment longer than it does. */
async function permutations(page: Page): Promise<void> {
  await page
    .getByText(/\bp [<]?\s?0\.\d+/)
    .first()
    .waitFor();
}
/** Two recordings of one program, before and after a change. */
const two = (): string[] => [
  'open',
  ...['a', 'b'].map((v) => join(fixture('compare'), 'runs', `stencil-${v}.isobath`)),
];
const demo = (): string[] => ['demo'];
const cycles = (): string[] => ['demo', 'cycles'];
const locality = (): string[] => ['demo', 'locality'];
/** Advice comes after everything else. */
async function advised(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Try advice 1', exact: true }).waitFor();
  await quiet(page);
}
const ring = (): string[] => ['open', fixture('otf2/ring16')];

const SHOTS: readonly Shot[] = [
  { name: 'memory', serve: demo, drawn: 'Parallel coordinates' },
  {
    name: 'memory-selected',
    serve: demo,
    link: '&v=1&s=latency+%3E+200',
    drawn: 'Parallel coordinates',
    small: true,
  },
  { name: 'one-axis', serve: demo, drawn: 'Parallel coordinates', go: tab('One axis'), small: true },
  { name: 'categories', serve: demo, drawn: 'Parallel coordinates', go: tab('Categories'), small: true },
  { name: 'cache-lines', serve: demo, drawn: 'Parallel coordinates', go: tab('Cache lines'), small: true },
  { name: 'spread', serve: demo, drawn: 'Parallel coordinates', go: tab('Spread'), small: true },
  { name: 'compare', serve: () => ['demo', 'compare'], drawn: 'Parallel coordinates', small: true },
  { name: 'changes', serve: two, drawn: 'Parallel coordinates', go: tab('Changes'), small: true },
  { name: 'trace', serve: ring, drawn: 'Logical timeline' },
  { name: 'cycles', serve: cycles, drawn: 'Spiral' },
  { name: 'cycles-torus', serve: cycles, drawn: 'Spiral', go: tab('Torus'), small: true },
  { name: 'cycles-loops', serve: cycles, drawn: 'Spiral', go: tab('Loops'), small: true },
  { name: 'locality', serve: locality, drawn: 'Misses over time', go: advised },
  { name: 'trial', serve: () => ['open', trial()], drawn: 'Change by pair', small: true },
  { name: 'study', serve: () => ['open', study()], drawn: 'Metric', small: true },
  { name: 'mesh', serve: demo, drawn: 'Parallel coordinates', go: mesh },
  {
    name: 'mesh-slice',
    serve: demo,
    drawn: 'Parallel coordinates',
    go: async (page) => {
      await mesh(page);
      await page.getByText('Slice', { exact: true }).click();
      await permutations(page);
    },
    small: true,
  },
];

// What is served is the same for every scheme and size: it is read and analysed once.
const servers = new Map<string, Running>();
afterAll(async () => {
  for (const s of servers.values()) await s.stop();
});

async function serving(args: readonly string[]): Promise<Running> {
  const key = args.join(' ');
  const known = servers.get(key) ?? (await start(...args));
  servers.set(key, known);
  return known;
}

for (const scheme of ['light', 'dark'] as const)
  for (const [size, look] of Object.entries(SIZES))
    describe(`${scheme}, ${size}`, () => {
      let browser: Browser;
      beforeAll(async () => {
        browser = await browse({ ...look, scheme, fonts: FONTS });
      });
      afterAll(async () => {
        await browser?.close();
      });

      it.each(SHOTS.filter((s) => size === 'laptop' || !s.small))('$name', async (shot) => {
        const server = await serving(shot.serve());
        const { page, problems } = await browser.open(server.url + (shot.link ?? ''));
        await page.waitForFunction(
          (view) => performance.getEntriesByName(`draw ${view}`).length > 0,
          shot.drawn,
        );
        await quiet(page);
        await shot.go?.(page);
        await page.mouse.move(0, 0);
        await screen(page, `${shot.name}-${scheme}-${size}`);
        expect(problems).toEqual([]);
        await page.close();
      });
    });

describe('comparing pictures', () => {
  const plain = (f: (x: number, y: number) => number[]): Picture => {
    const [width, height] = [40, 30];
    const rgb = Uint8Array.from(
      Array.from({ length: width * height }, (_, i) => f(i % width, Math.floor(i / width))).flat(),
    );
    return { width, height, rgb };
  };

  it('finds what moved, and nothing else', () => {
    const before = plain((x, y) => (x === 5 && y < 10 ? [0, 0, 0] : [250, 250, 250]));
    const after = plain((x, y) => (x === 6 && y < 10 ? [0, 0, 0] : [245, 250, 250]));
    expect(differing(before, before)).toBe(0);
    expect(differing(before, after)).toBe(20 / 1200);
    expect(differing({ ...before, width: 30, height: 40 }, after)).toBe(1);
    const red = difference(before, after).rgb.filter((v, i) => i % 3 === 2 && v === 40);
    expect(red).toHaveLength(20);
  });

  it('keeps up to 256 colours as they are, and more of them nearly so', () => {
    const few = plain((x, y) => [x * 6, y * 8 > 100 ? 7 : 9, 31]);
    expect(decode(encode(few))).toEqual(few);
    const many = plain((x, y) => [x * 6, y * 8, (x * y) % 256]);
    expect(differing(many, decode(encode(many)))).toBe(0);
  });

  it('has a picture for every shot, all of them small', () => {
    const folder = join(ROOT, 'e2e', 'screens');
    const files = existsSync(folder) ? readdirSync(folder) : [];
    const named = SHOTS.flatMap((s) =>
      ['light', 'dark'].flatMap((scheme) =>
        (s.small ? ['laptop'] : ['laptop', 'large']).map((size) => `${s.name}-${scheme}-${size}.png`),
      ),
    );
    expect([...files].sort()).toEqual(named.sort());
    const bytes = files.reduce((sum, f) => sum + statSync(join(folder, f)).size, 0);
    expect(bytes).toBeLessThan(4 << 20);
    // Each is read whole where it is compared.
    for (const f of files) expect(widthOf(readFileSync(join(folder, f)))).toBeGreaterThan(1000);
  });
});
