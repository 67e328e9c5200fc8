// A, B and their difference replace each other in place: nothing moves but marks.
// Every word of the drawings, of their legends and of the lists stands where it stood,
// and so do the panes; lists that are ranked by the change are others.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { BrowserContext, Page } from 'playwright-core';
import { isobath, shared } from './harness';
import { quiet } from './page';
import { show } from './suite';

const RUNS = shared('compare/runs');

interface Word {
  readonly text: string; // with the size of its letters: ticks are small
  readonly x: number;
  readonly y: number;
}

interface Hooked {
  writtenAt: WeakMap<HTMLCanvasElement, Word[]>;
}

/** Makes every canvas remember what is written on it, and where. */
function rememberPlaces(context: BrowserContext): Promise<unknown> {
  return context.addInitScript(() => {
    const own = window as unknown as Hooked;
    own.writtenAt = new WeakMap();
    const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...at) {
      own.writtenAt.set(this.canvas, []);
      clearRect.apply(this, at);
    };
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
      const p = this.getTransform().transformPoint({ x, y });
      own.writtenAt
        .get(this.canvas)
        ?.push({ text: `${text} ${/\d+(\.\d+)?px/.exec(this.font)?.[0]}`, x: p.x, y: p.y });
      fillText.call(this, text, x, y, ...more);
    };
  });
}

type Places = ReadonlyMap<string, string>;

/** Where words are that a pane has once, and where the panes are. */
async function placesOf(page: Page): Promise<Places> {
  await quiet(page);
  const found = await page.evaluate(() => {
    const own = window as unknown as Hooked;
    const at = (x: number, y: number): string => `${Math.round(x)}, ${Math.round(y)}`;
    const list: [string, string][] = [];
    for (const pane of document.querySelectorAll('section.pane')) {
      const name = pane.getAttribute('aria-label') ?? '';
      const { left, top, right, bottom } = pane.getBoundingClientRect();
      list.push([`${name} from`, at(left, top)], [`${name} to`, at(right, bottom)]);
      for (const canvas of pane.querySelectorAll('canvas'))
        for (const w of own.writtenAt.get(canvas) ?? []) list.push([`${name}: ${w.text}`, at(w.x, w.y)]);
      const walk = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
      for (let n = walk.nextNode(); n; n = walk.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(n);
        const box = range.getBoundingClientRect();
        if (n.textContent!.trim() && box.width > 0)
          list.push([`${name}, ${n.textContent!.trim()}`, at(box.left, box.top)]);
      }
    }
    return list;
  });
  const times = new Map<string, number>();
  for (const [key] of found) times.set(key, (times.get(key) ?? 0) + 1);
  return new Map(found.filter(([key]) => times.get(key) === 1));
}

/** The places once nothing changes any more. */
async function settled(page: Page): Promise<Places> {
  let now = await placesOf(page);
  for (let again = 0; again < 40; again++) {
    const before = now;
    await page.waitForTimeout(100);
    now = await placesOf(page);
    if (JSON.stringify([...before]) === JSON.stringify([...now])) break;
  }
  return now;
}

function moved(from: Places, to: Places, marks: RegExp): string[] {
  return [...from].flatMap(([key, at]) =>
    to.has(key) && to.get(key) !== at && !marks.test(key) ? [`${key}: ${at} → ${to.get(key)}`] : [],
  );
}

// Findings are those of a run; clusters are marks with their number beside them, and
// the number of one row of a list may be that of another row of the other run.
const OF_A_RUN =
  /^(Insights|What changed)\b|^Axes: \d+\.\d \S+px$|^Top offenders: [≈<]?\s?[\d.\s]+ \S+px$|^Axes, [≈<]?\s?[\d.\s]+$|^Statistics: [≈<]?\s?\d[\d.\s]*( ?[kM%])? 12px$/u;
// Ranked by the change; numbers beside other numbers, and what has another room for them.
const OF_A_CHANGE =
  /^(Insights|What changed)\b|^Top offenders: (?!data object|line in)|^Statistics: [≈<]?\s?\d[^p]* 12px$/u;

// What code used a cache line is told of the run, as its samples are; the row is its object's.
const CODE_OF_A_LINE = /^Axes, [^\s:]+:\d+(, [^\s:]+:\d+)*$/u;
const either = (...of: RegExp[]): RegExp => new RegExp(of.map((r) => r.source).join('|'), 'u');

const folder = mkdtempSync(join(tmpdir(), 'isobath-sides-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A program of 300 lines before and after an edit: a stretch is new above most of it,
 * some lines are gone, some are written anew, and the hottest line is another.
 */
function edited(): readonly string[] {
  const lines = (from: number, to: number, word: string): string[] =>
    Array.from({ length: to - from }, (_, i) => `  ${word}[${from + i}] = step(${word}, ${7 * (from + i)});`);
  const texts = {
    a: [
      'void work(void)',
      '{',
      ...lines(2, 150, 'u'),
      ...lines(0, 20, 'only_before'),
      ...lines(150, 300, 'u'),
      '}',
    ],
    b: [
      '/* notes */',
      ...lines(0, 40, 'static_table'),
      'void work(void)',
      '{',
      ...lines(2, 150, 'u'),
      ...lines(150, 300, 'u').map((l, i) => (i % 9 === 0 ? l.replace('step(', 'faststep(') : l)),
      '}',
    ],
  };
  return (['a', 'b'] as const).map((side) => {
    const own = join(folder, side);
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'work.c'), texts[side].join('\n'));
    const hot = texts[side].findIndex((l) => l.includes(side === 'a' ? 'only_before[7]' : 'u[260]')) + 1;
    const rows = texts[side].flatMap((_, i) =>
      i % 5 === 0 ? [`${i},0,${20 + (i % 90)},work.c,${i + 1}`] : [],
    );
    const more = Array.from({ length: 40 }, (_, i) => `${1000 + i},0,90,work.c,${hot}`);
    const csv = join(folder, `${side}.csv`);
    writeFileSync(csv, ['time,cpu,latency,file,line', ...rows, ...more].join('\n') + '\n');
    const run = join(folder, `${side}.isobath`);
    isobath('import', csv, '--sources', own, '-o', run, '--force');
    return run;
  });
}

interface Pair {
  readonly name: string;
  readonly serve: () => readonly string[];
  readonly tabs: readonly string[];
}

/** The line at the top of the code, whatever its number, and where it stands. */
async function topOfCode(page: Page): Promise<string> {
  await page.locator('[data-view="Code"] .cm-line').first().waitFor();
  const read = (): Promise<string> =>
    page.locator('[data-view="Code"]').evaluate((host) => {
      const scroller = host.shadowRoot!.querySelector('.cm-scroller')!;
      const { top } = scroller.getBoundingClientRect();
      for (const line of scroller.querySelectorAll('.cm-line')) {
        const box = line.getBoundingClientRect();
        if (box.bottom > top + 1)
          return `${Math.round(box.left)}, ${Math.round(box.top)}: ${line.textContent}`;
      }
      return 'no line';
    });
  let now = await read();
  for (let same = 0; same < 3;) {
    await quiet(page);
    const before = now;
    now = await read();
    same = now === before ? same + 1 : 0;
  }
  return now;
}

const PAIRS: readonly Pair[] = [
  {
    name: 'the example',
    serve: () => ['demo', 'compare'],
    tabs: ['Parallel coordinates', 'One axis', 'Categories', 'Heat map', 'Spread', 'Cache lines'],
  },
  ...(RUNS
    ? [
        {
          name: 'recordings before and after an edit',
          serve: () => ['open', `${RUNS}/join-a.isobath`, `${RUNS}/join-b.isobath`],
          tabs: ['Parallel coordinates', 'Categories'],
        },
      ]
    : []),
  { name: 'a program before and after an edit', serve: () => ['open', ...edited()], tabs: [] },
];

describe.each(PAIRS)('A, B and the difference of $name', ({ serve, tabs }) => {
  let page: Page;
  show(
    {
      serve,
      ready: async (p) => {
        await rememberPlaces(p.context());
        await p.reload();
        await p.getByRole('radio', { name: 'Difference' }).waitFor();
      },
    },
    (s) => {
      page = s.page;
    },
  );

  // The text of a run is its own: of a line that the other has written anew its number stays.
  it('have the same line of code at the top', async () => {
    const code = page.locator('[data-view="Code"]');
    const scrolled = (to: number): Promise<void> =>
      code.evaluate((host, part) => {
        const scroller = host.shadowRoot!.querySelector('.cm-scroller')!;
        scroller.scrollTop = Math.round(part * (scroller.scrollHeight - scroller.clientHeight));
      }, to);
    for (const part of tabs.length > 0 ? [undefined, 0.31] : [undefined, 0.31, 0.52, 0.97]) {
      await page.keyboard.press('Shift+A');
      await quiet(page);
      if (part !== undefined) await scrolled(part);
      const before = await topOfCode(page);
      expect(before).toMatch(/^\d+, \d+: /);
      for (const sides of ['BDA', 'DBA']) {
        const seen: string[] = [];
        for (const side of sides) {
          await page.keyboard.press(`Shift+${side}`);
          seen.push(await topOfCode(page));
        }
        // A text that ends sooner, or lacks the line, has another one; back in A it is the same.
        expect(seen.at(-1), `from A to ${sides}, ${part}: ${seen.join(' | ')}`).toBe(before);
        if (part !== undefined && part < 0.5)
          expect(new Set([before, ...seen]), `from A to ${sides}, ${part}`).toEqual(new Set([before]));
      }
    }
  });

  it.each(tabs)('stand in the same places: %s', async (tab) => {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    const at = async (side: string): Promise<Places> => {
      await page.keyboard.press(`Shift+${side}`);
      return settled(page);
    };
    await at('A'); // what is loaded with a side is there from then on
    await at('D');
    const [a, b, change] = [await at('A'), await at('B'), await at('D')];
    expect(a.size, [...a.keys()].join('\n')).toBeGreaterThan(60);
    const ofARun = tab === 'Cache lines' ? either(OF_A_RUN, CODE_OF_A_LINE) : OF_A_RUN;
    expect(moved(a, b, ofARun), 'from A to B').toEqual([]);
    // A list of changes has other columns than one of a run.
    const listed = ['Spread', 'Cache lines'].includes(tab);
    const marks = listed ? either(OF_A_CHANGE, /^Axes, /u) : OF_A_CHANGE;
    expect(moved(b, change, marks), 'from B to the difference').toEqual([]);
    expect(moved(a, await at('A'), ofARun), 'and back').toEqual([]);
  });
});
