// A, B and their difference replace each other in place: nothing moves but marks.
// Every word of the drawings, of their legends and of the lists stands where it stood,
// and so do the panes; lists that are ranked by the change are others.
import { describe, expect, it } from 'vitest';
import type { BrowserContext, Page } from 'playwright-core';
import { shared } from './harness';
import { quiet } from './page';
import { show } from './suite';

const RUNS = shared('compare/runs');

interface Word {
  readonly text: string;
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
      own.writtenAt.get(this.canvas)?.push({ text, x: p.x, y: p.y });
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
const OF_A_RUN = /^(Insights|What changed)\b|^Axes: \d+\.\d$|^(Top offenders:|Axes,) [≈<]?\s?[\d.\s]+$/u;
// Ranked by the change; numbers beside other numbers, and what has another room for them.
const OF_A_CHANGE =
  /^(Insights|What changed)\b|^Top offenders: (?!data object|line in)|^Statistics: (\d|Served by|√)|^Axes: [\d.\s]+( \S+)?$/u;

interface Pair {
  readonly name: string;
  readonly serve: () => readonly string[];
  readonly tabs: readonly string[];
}

const PAIRS: readonly Pair[] = [
  {
    name: 'the example',
    serve: () => ['demo', 'compare'],
    tabs: ['Parallel coordinates', 'One axis', 'Categories', 'Heat map', 'Spread'],
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
    expect(moved(a, b, OF_A_RUN), 'from A to B').toEqual([]);
    // A list of changes has other columns than one of a run.
    const marks = tab === 'Spread' ? new RegExp(`${OF_A_CHANGE.source}|^Axes, `, 'u') : OF_A_CHANGE;
    expect(moved(b, change, marks), 'from B to the difference').toEqual([]);
    expect(moved(a, await at('A'), OF_A_RUN), 'and back').toEqual([]);
  });
});
