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
import { api, browse, shared, start, type Browser, type Running } from './harness';
import { frames, linkOf, opened, quiet } from './page';
import { paintedViews, rememberTexts, rowsOf, textsOf, type PaintedView } from './painted';

const INTERACTIONS = Number(process.env['ISOBATH_INTERACTIONS'] ?? 20);
const SEED = Number(process.env['ISOBATH_SEED'] ?? 20);
const LULESH = shared('samples/lulesh_legacy');

/** mulberry32: a seed names a whole run of the test. */
function randomOf(seed: number): () => number {
  let s = seed;
  return () => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a person may do next; each says in words what it did. */
class Hands {
  constructor(
    private readonly page: Page,
    private readonly random: () => number,
  ) {}

  private pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)]!;
  }

  private async place(): Promise<{ name: string; x: number; y: number; w: number; h: number }> {
    const hosts = await this.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('[data-view]')].flatMap((e) => {
        const b = e.getBoundingClientRect();
        return e.querySelector('canvas') && b.width > 0
          ? [{ name: e.dataset['view']!, x: b.x, y: b.y, w: b.width, h: b.height }]
          : [];
      }),
    );
    return this.pick(hosts);
  }

  private async pointer(): Promise<string> {
    const v = await this.place();
    const [x, y] = [v.x + this.random() * v.w, v.y + this.random() * v.h];
    await this.page.mouse.move(x, y, { steps: 1 + Math.floor(this.random() * 4) });
    return `${v.name} ${Math.round(x)},${Math.round(y)}`;
  }

  private async click(): Promise<string> {
    const at = await this.pointer();
    const key = this.pick([undefined, undefined, 'Shift', 'Alt', 'Control'] as const);
    if (key) await this.page.keyboard.down(key);
    await this.page.mouse.down();
    await this.page.mouse.up();
    if (key) await this.page.keyboard.up(key);
    return `${key ?? ''} click ${at}`;
  }

  private async brush(): Promise<string> {
    const tab = this.page.locator('[data-view="Parallel coordinates"], [data-view="One axis"]').first();
    const box = (await tab.count()) > 0 ? await tab.boundingBox() : null;
    if (!box) return this.click();
    const name = await tab.getAttribute('data-view');
    const x = box.x + this.random() * box.width;
    const [from, to] = [0.2 + this.random() * 0.7, 0.2 + this.random() * 0.7].map(
      (p) => box.y + p * box.height,
    );
    const across = name === 'One axis' ? this.random() * box.width : x - box.x;
    if (this.random() < 0.2) await this.page.keyboard.down('Shift');
    await this.page.mouse.move(x, from!);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + across, to!, { steps: 2 + Math.floor(this.random() * 6) });
    if (this.random() < 0.4) await this.page.waitForTimeout(this.random() * 500); // held, then released
    await this.page.mouse.up();
    await this.page.keyboard.up('Shift');
    return `brush ${name} ${Math.round(x)},${Math.round(from!)} to ${Math.round(box.x + across)},${Math.round(to!)}`;
  }

  private async keys(): Promise<string> {
    const { name } = await this.place();
    await this.page.locator(`[data-view="${name}"]`).focus();
    const pressed: string[] = [];
    for (let i = 0; i < 1 + this.random() * 5; i++)
      pressed.push(
        this.pick([
          'ArrowDown',
          'ArrowUp',
          'ArrowRight',
          'ArrowLeft',
          'Shift+ArrowDown',
          '.',
          ',',
          'End',
          'Home',
        ]),
      );
    pressed.push(this.pick(['Enter', 'Enter', 'Shift+Enter', 'Alt+Enter', 'Escape', 'ArrowDown']));
    for (const k of pressed) await this.page.keyboard.press(k);
    return `keys ${name} ${pressed.join(' ')}`;
  }

  private async travel(): Promise<string> {
    const key = this.pick([
      'Control+KeyZ',
      'Control+KeyZ',
      'Control+Shift+KeyZ',
      'KeyI',
      'Control+Shift+KeyA',
    ]);
    await this.page.keyboard.press(key);
    return key;
  }

  private async other(): Promise<string> {
    const name = this.pick(['Parallel coordinates', 'One axis', 'Categories', 'Heat map', 'Spread']);
    await this.page.getByRole('tab', { name, exact: true }).click();
    return `tab ${name}`;
  }

  private async rank(): Promise<string> {
    await this.page
      .getByRole('button', { name: /^(Rank by|Colour by)/ })
      .nth(this.random() < 0.5 ? 0 : 1)
      .click();
    const items = this.page.getByRole('menuitemradio');
    await items.nth(Math.floor(this.random() * Math.min(3, await items.count()))).click();
    return 'another measure';
  }

  private async scroll(): Promise<string> {
    const at = await this.pointer();
    await this.page.mouse.wheel(0, this.pick([-300, 300, 900]));
    return `wheel ${at}`;
  }

  async next(): Promise<string> {
    const r = this.random();
    const did = await (r < 0.25
      ? this.pointer()
      : r < 0.45
        ? this.click()
        : r < 0.62
          ? this.brush()
          : r < 0.78
            ? this.keys()
            : r < 0.88
              ? this.travel()
              : r < 0.93
                ? this.other()
                : r < 0.96
                  ? this.rank()
                  : this.scroll());
    // What a click has opened is no part of this.
    if (await this.page.locator('dialog[open], [role="menu"]').count())
      await this.page.keyboard.press('Escape');
    return did;
  }
}

/** What the page asked last for its pictures, beside the rows they are about. */
type Questions = Pick<Ask, 'axes' | 'groups' | 'stats' | 'places'>;

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
    return [...new Set(rows.map((r) => r['axis']))].flatMap((axis) => {
      const answers = a.axes.filter((x) => x.column === axis);
      return answers.length === 0 ||
        answers.some((x) =>
          sameBins(
            rows.filter((r) => r['axis'] === axis),
            x,
          ),
        )
        ? []
        : [`axis ${axis} is of no answer`];
    });
  },
  'One axis': (v, a) => sameAxis(v, a),
  Categories: (v, a) => sameAxis(v, a),
};

function sameAxis(v: PaintedView, a: Answer): string[] {
  const rows = rowsOf(v.csv).filter((r) => r['selected'] !== '');
  const name = Object.keys(rows[0] ?? {})[0];
  const answers = a.axes.filter((x) => x.column === name);
  return rows.length === 0 || answers.length === 0 || answers.some((x) => sameBins(rows, x))
    ? []
    : [`axis ${name} is of no answer`];
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

const runs: [name: string, serve: readonly string[], samples: number][] = [
  ['the demo', ['demo'], 92959],
  ...(LULESH ? [['LULESH', ['open', LULESH], 15676] as [string, string[], number]] : []),
];

describe.each(runs)('painted numbers of %s', (_, serve, samples) => {
  let server: Running;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let questions: Questions = {};
  let info: Info;

  beforeAll(async () => {
    [server, browser] = await Promise.all([start(...serve), browse({ width: 1440, height: 900 })]);
    await rememberTexts(browser.context);
    ({ page, problems } = await browser.open('about:blank'));
    page.on('request', (r) => {
      if (!r.url().endsWith('/ask')) return;
      const ask = JSON.parse(r.postData() ?? '{}') as Ask;
      if (ask.places && ask.stats?.length) questions = ask;
    });
    await page.goto(server.url);
    await opened(page, samples);
    page.setDefaultTimeout(30_000); // what is not there will not come
    const { runs } = (await (await api(server, 'GET', 'runs')).json()) as { runs: { id: string }[] };
    const id = (await linkOf(page)).get('run') ?? runs[0]!.id;
    info = (await (await api(server, 'GET', `runs/${id}`)).json()) as Info;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  async function settled(): Promise<void> {
    do {
      await quiet(page);
      await page.waitForTimeout(80); // a hover that rests, and what waits for it
      await frames(page);
    } while (await page.evaluate(() => document.querySelector('[aria-busy="true"]') !== null));
    await quiet(page);
  }

  async function engine(): Promise<Answer> {
    const link = await linkOf(page);
    const { axes, groups, stats, places } = questions;
    const ask = {
      axes,
      groups,
      stats,
      places,
      where: link.get('s') ?? '',
      filter: link.get('f') ?? '',
      hover: '',
    };
    const r = await api(server, 'POST', `runs/${info.id}/ask`, ask);
    if (!r.ok) throw new Error(await r.text());
    return decode(await r.arrayBuffer());
  }

  /** What is painted and is not the engine's answer for the selection in the address. */
  async function wrongNow(): Promise<string[]> {
    await settled();
    let views = await paintedViews(page);
    // A busy machine may save a file of a view too late for this.
    const late = (v: PaintedView): boolean => v.texts.length > 0 && v.csv === '';
    for (let again = 0; again < 3 && views.some(late); again++) views = await paintedViews(page);
    const answer = await engine();
    const wrong = views.flatMap((v) =>
      [...wrongTexts(v), ...(CHECKS[v.name]?.(v, answer, questions, info) ?? [])].map(
        (w) => `${v.name}: ${w}`,
      ),
    );
    const counter = await page.getByRole('status', { name: 'Samples selected' }).innerText();
    const shown = Number(/[\d\u202f]+/.exec(counter)?.[0].replace(/\s/g, ''));
    if (shown !== answer.counts[1]) wrong.push(`the counter says ${counter}`);
    return wrong;
  }

  it(
    `are the engine's after each of ${INTERACTIONS} interactions`,
    { timeout: 600_000 + 5_000 * INTERACTIONS },
    async () => {
      const hands = new Hands(page, randomOf(SEED));
      const done: string[] = [];
      for (let i = 0; i < INTERACTIONS; i++) {
        done.push(await hands.next());
        const wrong = await wrongNow();
        const link = await page.evaluate(() => location.hash);
        expect(wrong, `seed ${SEED}, step ${i + 1}: ${done.slice(-6).join('; ')}\n${link}`).toEqual([]);
      }
      expect(problems).toEqual([]);
    },
  );

  // The check itself: numbers of another selection, which the page was given for its own, are seen.
  it('would be seen if they were of another selection', async () => {
    await page.route('**/ask', (route) => {
      const ask = JSON.parse(route.request().postData() ?? '{}') as Ask;
      return route.continue({ postData: JSON.stringify({ ...ask, where: ask.where ? 'cpu = 3' : '' }) });
    });
    await page.goto('about:blank');
    await page.goto(`${server.url}&v=1&s=${encodeURIComponent('cpu = 0')}`);
    await page.getByRole('status', { name: 'Samples selected' }).waitFor();
    const wrong = await wrongNow();
    await page.unroute('**/ask');
    for (const view of ['Top offenders', 'Topology', 'Statistics'])
      expect(
        wrong.filter((w) => w.startsWith(view)),
        `${view} of\n${wrong.join('\n')}`,
      ).not.toEqual([]);
  });
});
