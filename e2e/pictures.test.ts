// A picture belongs to one answer: after any brush, key or hover the numbers on
// every canvas are those that drawing afresh gives, and those of the command line.
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { isobath, shared } from './harness';
import { boxOf, linkOf, opened, pixels, quiet } from './page';
import { show } from './suite';

const LULESH = shared('samples/lulesh_legacy');
const N = 15676;
const ACTIONS = Number(process.env['ISOBATH_ACTIONS'] ?? 20);
const SEED = Number(process.env['ISOBATH_SEED'] ?? 20);

const VIEWS = ['Top offenders', 'Topology', 'Statistics', 'Parallel coordinates'] as const;

/** Numbers that look random and are the same every time. */
function randomly(seed: number): (n: number) => number {
  let s = seed;
  return (n) => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return Math.floor((s / 2 ** 32) * n);
  };
}

/** Has every canvas remember the words that were written on it since it was cleared. */
async function recordText(page: Page): Promise<void> {
  await page.evaluate(() => {
    const words = new WeakMap<HTMLCanvasElement, string[]>();
    const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (...args) {
      words.get(this.canvas)?.push(args[0]);
      fillText.apply(this, args);
    };
    CanvasRenderingContext2D.prototype.clearRect = function (...args) {
      words.set(this.canvas, []);
      clearRect.apply(this, args);
    };
    (globalThis as { written?: unknown }).written = (view: string) =>
      words.get(document.querySelector<HTMLCanvasElement>(`[data-view="${view}"] canvas`)!) ?? [];
  });
}

const written = (page: Page, view: string): Promise<string[]> =>
  page.evaluate((v) => (globalThis as unknown as { written: (v: string) => string[] }).written(v), view);

/** Draws everything afresh: another theme is another picture. */
async function repaint(page: Page): Promise<void> {
  for (const _ of ['there', 'and back']) {
    await page.evaluate(() =>
      document.querySelector<HTMLElement>('[aria-label="Dark theme"], [aria-label="Light theme"]')!.click(),
    );
    await quiet(page);
  }
}

interface Seen {
  readonly words: readonly string[];
  readonly picture: string;
}

async function look(page: Page): Promise<Record<string, Seen>> {
  await quiet(page);
  const seen: Record<string, Seen> = {};
  for (const v of VIEWS) seen[v] = { words: await written(page, v), picture: await pixels(page, v, 0) };
  return seen;
}

describe.skipIf(!LULESH)('pictures', () => {
  let page: Page;
  show({ serve: () => ['open', LULESH!], each: true, ready: (p) => opened(p, N) }, (s) => ({ page } = s));

  /** What is on screen is what drawing it afresh gives. */
  async function fresh(after: string): Promise<void> {
    const was = await look(page);
    await repaint(page);
    const now = await look(page);
    for (const v of VIEWS) {
      expect(was[v]!.words, `words of ${v} after ${after}`).toEqual(now[v]!.words);
      expect(was[v]!.picture === now[v]!.picture, `the picture of ${v} after ${after}`).toBe(true);
    }
  }

  /** The shares of data objects on screen are those of the command line. */
  async function asReported(after: string): Promise<void> {
    const link = await linkOf(page);
    const where = [link.get('f'), link.get('s')]
      .filter(Boolean)
      .map((w) => `(${w})`)
      .join(' & ');
    const report = JSON.parse(
      isobath('report', LULESH!, '--by', 'symbol', '--where', where, '--json', '--top', '1000'),
    ) as { groups: { key: { symbol: string }; share: number }[] };
    const words = await written(page, 'Top offenders');
    const painted = words.flatMap((w, i) => {
      const g = report.groups.find((x) => x.key.symbol === w);
      return g ? [[w, words[i + 1]!, (100 * g.share).toFixed(1)] as const] : [];
    });
    for (const [name, ours, theirs] of painted)
      expect(
        Math.abs(Number(ours.replace('<', '')) - Number(theirs)),
        `${name} after ${after}: ${ours}, ${theirs}`,
      ).toBeLessThanOrEqual(0.1001);
    if (report.groups.length > 0) expect(painted.length, `objects after ${after}`).toBeGreaterThan(0);
  }

  /** Presses on a bar of an axis, moves, holds still until all is answered, and lets go. */
  async function brush(axis: number, from: number, to: number, look: () => Promise<void>): Promise<void> {
    const box = await boxOf(page, 'Parallel coordinates');
    const x = box.x + box.width * axis;
    await page.mouse.move(x, box.y + 60 + from * (box.height - 90));
    await page.mouse.down();
    await page.mouse.move(x, box.y + 60 + ((from + to) / 2) * (box.height - 90), { steps: 4 });
    await page.mouse.move(x, box.y + 60 + to * (box.height - 90), { steps: 4 });
    await look();
    await page.mouse.up();
  }

  it('of a brush that was held and released have the shares of its samples', async () => {
    await recordText(page);
    await repaint(page);
    for (const axis of [0.06, 0.2, 0.34, 0.48]) {
      await brush(axis, 0.2, 0.5, () => quiet(page));
      await quiet(page);
      await asReported(`a brush at ${axis}`);
      await fresh(`a brush at ${axis}`);
      await page.keyboard.press('Control+Shift+KeyA');
      await quiet(page);
    }
  });

  it.each(['One axis', 'Categories'])('of %s are those of its answer', async (tab) => {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('application', { name: tab }).waitFor();
    await recordText(page);
    await repaint(page);
    const b = await boxOf(page, tab);
    for (const at of [0.3, 0.5, 0.7]) {
      await page.mouse.move(b.x + b.width * at, b.y + b.height * 0.4);
      await quiet(page);
      await page.mouse.click(b.x + b.width * at, b.y + b.height * 0.4);
      await quiet(page);
      const was = [await written(page, tab), await pixels(page, tab, 0)];
      await repaint(page);
      expect([await written(page, tab), await pixels(page, tab, 0)]).toEqual(was);
    }
  });

  it('below a hover are not drawn again', async () => {
    await quiet(page);
    await page.evaluate(() => performance.clearMeasures());
    for (const v of VIEWS) {
      const b = await boxOf(page, v);
      for (const part of [0.3, 0.5, 0.7]) {
        await page.mouse.move(b.x + b.width * part, b.y + b.height * part);
        await quiet(page);
      }
    }
    const drawn = await page.evaluate(() => performance.getEntriesByType('measure').map((m) => m.name));
    expect(drawn.filter((n) => n.startsWith('draw ')).length).toBeGreaterThan(10);
    expect(drawn.filter((n) => n.startsWith('redraw '))).toEqual([]);
  });

  it(`stay true in ${ACTIONS} random brushes, keys and hovers`, async () => {
    await recordText(page);
    await repaint(page);
    const random = randomly(SEED);
    const done: string[] = [];
    const somewhere = async (view: string): Promise<[number, number]> => {
      const b = await boxOf(page, view);
      return [b.x + 6 + random(b.width - 12), b.y + 6 + random(b.height - 12)];
    };
    const keys = [
      'ArrowDown',
      'ArrowRight',
      'Shift+ArrowDown',
      'Shift+ArrowUp',
      'Enter',
      'Shift+Enter',
      '.',
      'Escape',
    ];
    const actions: [string, () => Promise<void>][] = [
      [
        'brush',
        () => brush(random(100) / 100, random(100) / 100, random(100) / 100, () => fresh('a held brush')),
      ],
      [
        'hover',
        async () => {
          await page.mouse.move(...(await somewhere(VIEWS[random(VIEWS.length)]!)));
        },
      ],
      [
        'click',
        async () => {
          const at = await somewhere(VIEWS[random(VIEWS.length)]!);
          await page.mouse.click(...at);
          await page.keyboard.press('Escape'); // a dialog that the click opened
        },
      ],
      [
        'keys',
        async () => {
          await page.keyboard.press(['Digit1', 'Digit3', 'Digit4', 'Digit6'][random(4)]!);
          for (let i = random(5) + 1; i > 0; i--) await page.keyboard.press(keys[random(keys.length)]!);
        },
      ],
      ['undo', () => page.keyboard.press('Control+KeyZ')],
      ['redo', () => page.keyboard.press('Control+KeyY')],
      ['invert', () => page.keyboard.press('KeyI')],
    ];
    for (let i = 0; i < ACTIONS; i++) {
      const [name, act] = actions[random(actions.length)]!;
      done.push(name);
      await act();
      const after = `${done.length} actions, at last ${done.slice(-4).join(', ')}`;
      await fresh(after);
      await asReported(after);
    }
  });
});
