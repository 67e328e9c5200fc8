// Never a stale number: random brushes, clicks, keys and hovers drive the real
// page, and after each everything that it has painted is what its views would
// paint now, and their tables are the engine's answer for the selection in the
// address. make test has a share; ISOBATH_INTERACTIONS=1000 does them all, and
// ISOBATH_SEED others.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { decode, type Answer, type AxisAnswer } from '../web/src/api/decode';
import type { Ask, Info } from '../web/src/api/wire';
import { sayResource } from '../web/src/pages/memory/views/tree';
import { Firefox, hasFirefox } from './firefox';
import { Hands, randomOf, screenOf, type Screen } from './hands';
import { api, browse, shared, start, type Running } from './harness';
import {
  askedLast,
  paintedViews,
  remember,
  rowsOf,
  textsOf,
  type PaintedView,
  type Questions,
} from './painted';

const INTERACTIONS = Number(process.env['ISOBATH_INTERACTIONS'] ?? 20);
const SEED = Number(process.env['ISOBATH_SEED'] ?? 20);
const LULESH = shared('samples/lulesh_legacy');

const numbers = (list: ArrayLike<number> | undefined): number[] => Array.from(list ?? []);
const sum = (list: ArrayLike<number> | undefined): number => numbers(list).reduce((a, b) => a + b, 0);

/** A table against the answer: what differs, in words. */
const CHECKS: Readonly<Record<string, (v: PaintedView, a: Answer, q: Questions, info: Info) => string[]>> = {
  'Top offenders': (v, a, q) => {
    const wrong: string[] = [];
    const known = new Map<string, readonly [number, number, number]>();
    (q.groups ?? []).forEach((asked, k) => {
      const g = a.groups[k]!;
      const [file, name] = asked.by.length === 2 ? [g.keys[0]!, g.keys[1]!] : [undefined, g.keys[0]!];
      if (asked.sum || !a.stats.length)
        name.forEach((n, i) =>
          known.set(`${file?.[i] ?? ''}\n${n}`, [g.counts[1][i]!, g.counts[0][i]!, g.sums[1][i] ?? 0]),
        );
    });
    for (const row of rowsOf(v.csv)) {
      const want = known.get(`${row['file']}\n${row['name']}`);
      const value = Object.values(row)[5];
      if (
        want &&
        (Number(row['samples']) !== want[0] || Number(row['of all']) !== want[1] || Number(value) !== want[2])
      )
        wrong.push(`${row['file']}:${row['name']} ${row['samples']}, ${value} for ${want.join()}`);
    }
    return wrong;
  },
  // CPUs count what they asked for, caches and memory what they answered.
  Topology: (v, a, _, info) => {
    const places = a.places!;
    const known = new Map((info.topology?.resources ?? []).map((r, i) => [sayResource(r), i]));
    return rowsOf(v.csv).flatMap((row) => {
      const i = known.get(row['resource']!);
      if (i === undefined) return [];
      const right = [places.samples, places.served].some(
        (s) => Number(row['samples']) === s[1][i] && Number(row['of all']) === s[0][i],
      );
      return right ? [] : [`${row['resource']} ${row['samples']} of ${row['of all']}`];
    });
  },
  Statistics: (v, a) => {
    const row = rowsOf(v.csv).find((r) => Object.values(r)[0] === 'samples');
    const said = Number(row?.['selection']?.replace(/\s/g, ''));
    return said === a.counts[1] ? [] : [`samples ${said} for ${a.counts[1]}`];
  },
  'Parallel coordinates': (v, a) => {
    const rows = rowsOf(v.csv);
    const bins = rows.filter((r) => r['part'] === 'bin');
    const axes = [...new Set(bins.map((r) => r['axis']))];
    return [
      ...axes.flatMap((axis) =>
        sameAxis(
          axis,
          bins.filter((r) => r['axis'] === axis),
          a,
        ),
      ),
      ...axes.flatMap((axis) => sameLines(rows, axis!)),
    ];
  },
  'One axis': (v, a) => {
    const rows = rowsOf(v.csv);
    return sameAxis(
      Object.keys(rows[0] ?? {})[1],
      rows.filter((r) => r['part'] === 'bin').map((r) => ({ ...r, all: r['samples']! })),
      a,
    );
  },
  Categories: (v, a) => {
    const rows = rowsOf(v.csv);
    return sameAxis(Object.keys(rows[0] ?? {})[0], rows, a);
  },
};

function sameAxis(name: string | undefined, rows: readonly Record<string, string>[], a: Answer): string[] {
  const answers = a.axes.filter((x) => x.column === name);
  return rows.length === 0 || answers.length === 0 || answers.some((x) => sameBins(rows, x))
    ? []
    : [`axis ${name} is of no answer`];
}

/** The lines that leave an axis are as many samples as its bins, layer by layer. */
function sameLines(rows: readonly Record<string, string>[], axis: string): string[] {
  const lines = rows.filter((r) => r['part'] === 'line' && r['axis'] === axis);
  const bins = rows.filter((r) => r['part'] === 'bin' && r['axis'] === axis);
  return ['all', 'selected'].flatMap((layer) => {
    const [n, want] = [lines, bins].map((list) => sum(list.map((r) => Number(r[layer]))));
    return lines.length === 0 || n === want ? [] : [`lines of ${axis} are ${n} ${layer} for ${want}`];
  });
}

/** Whether rows count what an axis does: bin by bin, or in sum where names are folded into "n more". */
function sameBins(rows: readonly Record<string, string>[], a: AxisAnswer): boolean {
  const pairs = (all: readonly number[], selected: readonly number[]): string =>
    all
      .map((n, i) => `${n}/${selected[i] ?? 0}`)
      .filter((p) => !p.startsWith('0/'))
      .sort()
      .join(' ');
  const [all, selected] = ['all', 'selected'].map((layer) => rows.map((r) => Number(r[layer])));
  if (pairs(all!, selected!) === pairs(numbers(a.counts[0]), numbers(a.counts[1]))) return true;
  const folds = rows.length < numbers(a.counts[0]).filter((n) => n > 0).length;
  return folds && sum(all) === sum(a.counts[0]) && sum(selected) === sum(a.counts[1]);
}

function wrongTexts(v: PaintedView): string[] {
  if (v.canvases === 0 || v.svg === '') return [];
  const now = textsOf(v.svg).sort();
  const painted = [...v.texts].sort();
  const missing = now.filter((t) => !painted.includes(t));
  const stale = painted.filter((t) => !now.includes(t));
  return missing.length + stale.length === 0 && now.length === painted.length
    ? []
    : [`painted ${JSON.stringify(stale.slice(0, 8))} in place of ${JSON.stringify(missing.slice(0, 8))}`];
}

/** A browser with the page in it. */
interface Shown {
  readonly screen: Screen;
  readonly problems: readonly string[];
  readonly page?: Page; // of Chromium
  close(): Promise<void>;
}

async function inChromium(url: string): Promise<Shown> {
  const browser = await browse({ width: 1440, height: 900 });
  await browser.context.addInitScript(remember);
  const { page, problems } = await browser.open(url);
  page.setDefaultTimeout(30_000); // what is not there will not come
  return { screen: screenOf(page), problems, page, close: () => browser.close() };
}

async function inFirefox(url: string): Promise<Shown> {
  const firefox = await Firefox.start(1440, 900);
  await firefox.before(remember);
  await firefox.open(url);
  return { screen: firefox, problems: firefox.problems, close: () => firefox.close() };
}

/** What is served, its samples, in which browser, and how many interactions of all it has. */
const runs: [
  name: string,
  serve: readonly string[],
  samples: number,
  open: typeof inChromium,
  part: number,
][] = [
  ['the demo', ['demo'], 92959, inChromium, 1],
  ...(LULESH ? [['LULESH', ['open', LULESH], 15676, inChromium, 1] as (typeof runs)[0]] : []),
  ...(hasFirefox() ? [['the demo in Firefox', ['demo'], 92959, inFirefox, 0.5] as (typeof runs)[0]] : []),
];

describe.each(runs)('painted numbers of %s', (_, serve, samples, open, part) => {
  const interactions = Math.ceil(part * INTERACTIONS);
  let server: Running;
  let shown: Shown;
  let screen: Screen;
  let info: Info;

  beforeAll(async () => {
    server = await start(...serve);
    shown = await open(server.url);
    ({ screen } = shown);
    const drawn = (): Promise<boolean> =>
      screen.evaluate(() => performance.getEntriesByName('draw Parallel coordinates').length > 0);
    while ((await counter()) !== samples || !(await drawn()))
      await new Promise((done) => setTimeout(done, 100));
    const { runs } = (await (await api(server, 'GET', 'runs')).json()) as { runs: { id: string }[] };
    const id = (await link()).get('run') ?? runs[0]!.id;
    info = (await (await api(server, 'GET', `runs/${id}`)).json()) as Info;
  });
  afterAll(async () => {
    await shown?.close();
    await server?.stop();
  });

  const link = async (): Promise<URLSearchParams> =>
    new URLSearchParams((await screen.evaluate(() => location.hash)).slice(1));

  /** The first number of the bar: how many samples are selected. */
  async function counter(): Promise<number> {
    const text = await screen.evaluate(
      () => document.querySelector('[role="status"][aria-label="Samples selected"]')?.textContent ?? '',
    );
    return Number(/\d[\d\u202f]*/.exec(text)?.[0].replace(/\s/g, ''));
  }

  async function settled(): Promise<void> {
    do {
      await screen.quiet();
      await new Promise((done) => setTimeout(done, 80)); // a hover that rests, and what waits for it
      await screen.quiet();
    } while (await screen.evaluate(() => document.querySelector('[aria-busy="true"]') !== null));
    await screen.quiet();
  }

  async function engine(questions: Questions): Promise<Answer> {
    const at = await link();
    const { axes, groups, stats, places } = questions;
    const ask = {
      axes,
      groups,
      stats,
      places,
      where: at.get('s') ?? '',
      filter: at.get('f') ?? '',
      hover: '',
    };
    const r = await api(server, 'POST', `runs/${info.id}/ask`, ask);
    if (!r.ok) throw new Error(await r.text());
    return decode(await r.arrayBuffer());
  }

  /** What is painted and is not the engine's answer for the selection in the address. */
  async function wrongNow(): Promise<string[]> {
    await settled();
    let views = await paintedViews(screen);
    // A busy machine may save a file of a view too late for this.
    const late = (v: PaintedView): boolean => v.texts.length > 0 && v.csv === '';
    for (let again = 0; again < 3 && views.some(late); again++) views = await paintedViews(screen);
    const questions = await askedLast(screen);
    const answer = await engine(questions);
    const wrong = views.flatMap((v) =>
      [...wrongTexts(v), ...(CHECKS[v.name]?.(v, answer, questions, info) ?? [])].map(
        (w) => `${v.name}: ${w}`,
      ),
    );
    const said = await counter();
    if (said !== answer.counts[1]) wrong.push(`the counter says ${said} for ${answer.counts[1]}`);
    return wrong;
  }

  it(
    `are the engine's after each of ${interactions} interactions`,
    { timeout: 600_000 + 5_000 * interactions },
    async () => {
      const hands = new Hands(screen, randomOf(SEED));
      const done: string[] = [];
      for (let i = 0; i < interactions; i++) {
        done.push(await hands.next());
        const wrong = await wrongNow();
        const at = await screen.evaluate(() => location.hash);
        expect(wrong, `seed ${SEED}, step ${i + 1}: ${done.slice(-6).join('; ')}\n${at}`).toEqual([]);
      }
      expect(shown.problems).toEqual([]);
    },
  );

  // The check itself: numbers of another selection, which the page was given for its own, are seen.
  it.skipIf(open !== inChromium)('would be seen if they were of another selection', async () => {
    const page = shown.page!;
    await page.route('**/ask', (route) => {
      const ask = JSON.parse(route.request().postData() ?? '{}') as Ask;
      return route.continue({ postData: JSON.stringify({ ...ask, where: ask.where ? 'cpu = 3' : '' }) });
    });
    await page.goto('about:blank');
    await page.goto(`${server.url}&v=1&s=${encodeURIComponent('cpu = 0')}`);
    await page.getByRole('status', { name: 'Samples selected' }).waitFor();
    const wrong = await wrongNow();
    await page.unroute('**/ask');
    for (const view of ['Top offenders', 'Topology', 'Statistics', 'Parallel coordinates'])
      expect(
        wrong.filter((w) => w.startsWith(view)),
        `${view} of\n${wrong.join('\n')}`,
      ).not.toEqual([]);
  });
});
