// Two runs in one page: the built-in example and its repaired form.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './axe';
import { closeTable, frames, linkOf, openTable, quiet } from './page';
import { paintedViews, rememberTexts, rowsOf } from './painted';
import { isobath, shared } from './harness';
import { show } from './suite';

const RUNS = shared('compare/runs');

const CUBE = `# vtk DataFile Version 3.0
cube
ASCII
DATASET STRUCTURED_POINTS
DIMENSIONS 2 2 2
ORIGIN 0 0 0
SPACING 1 1 1
CELL_DATA 1
SCALARS heat float 1
LOOKUP_TABLE default
1.5
`;

describe('two runs', () => {
  let page: Page;
  const status = () => page.getByRole('status', { name: 'Samples selected' });
  show(
    {
      serve: () => ['demo', 'compare'],
      ready: (p) => p.getByRole('radio', { name: 'Difference' }).waitFor(),
      each: true,
    },
    (s) => {
      page = s.page;
    },
  );

  it('opens with the difference, its totals and what changed', async () => {
    await status()
      .filter({ hasText: /A 92.959 · B 92.955/ })
      .waitFor();
    await status().filter({ hasText: '▼ −37.8 %' }).waitFor();
    expect((await linkOf(page)).get('run')).toMatch(/^stencil-\w+,stencil-fixed-\w+$/);
    await page.getByRole('heading', { name: 'What changed' }).waitFor();
    await page
      .getByText(/104 costs ≈ 52.8 ± \d\.\d % less/)
      .first()
      .waitFor();
    await page.locator('[data-view="Changes"]').waitFor();
    await page.getByText('each run scaled to 100 000').first().waitFor();
  });

  it('lists the changes between the two, not of both together', async () => {
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText(/^B costs ≈ 37\.8 % less/).waitFor();
    expect(await page.getByRole('button', { name: /^Compare with/ }).count()).toBe(0);
  });

  it('one selection holds for both, and a link brings back side, measure and selection', async () => {
    const finding = page.locator('li', { hasText: '104 costs' }).first();
    await finding.getByRole('button', { name: 'Select' }).click();
    await status()
      .filter({ hasText: /A 13.359 of 92.959 · B 13.361 of 92.955/ })
      .waitFor();
    await page.keyboard.press('Shift+A');
    await expect
      .poll(() => page.getByRole('radio', { name: 'A', exact: true }).getAttribute('aria-checked'))
      .toBe('true');
    await page.getByRole('button', { name: /^Compare:/ }).click();
    await page.getByRole('menuitemradio', { name: 'share' }).click();
    await expect.poll(async () => (await linkOf(page)).get('by')).toBe('share');
    const link = await linkOf(page);
    expect([link.get('cmp'), link.get('by'), link.get('s')]).toEqual([
      'a',
      'share',
      'file = stencil.c & line = 104',
    ]);
    await page.reload();
    await status()
      .filter({ hasText: /A 13.359 of 92.959 · B 13.361 of 92.955/ })
      .waitFor();
    expect(await page.getByRole('radio', { name: 'A', exact: true }).getAttribute('aria-checked')).toBe(
      'true',
    );
    await page.getByRole('button', { name: 'Compare: compare share', exact: true }).waitFor();
  });

  it('tables have A, B, change, low, high and verdict', async () => {
    for (const view of ['Changes', 'Topology', 'Statistics', 'Parallel coordinates']) {
      const host = page.locator(`[data-view="${view}"]`);
      await host.waitFor();
      await host.focus();
      await page.keyboard.press('t');
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await expect
        .poll(async () => (await dialog.locator('th').allInnerTexts()).slice(-6))
        .toEqual(['A', 'B', 'change', 'low', 'high', 'verdict']);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
    }
  });

  // Every tab below shows both runs: its table has them, with what may be said of the change.
  it.each([
    ['axis', 'One axis', /\d/, true],
    ['category', 'Categories', /\b0$/, true],
    ['heat', 'Heat map', /\d/, true],
    ['spread', 'Spread', /stencil\.c:104/, false],
    ['lines', 'Cache lines', /^partial \+0$/, false],
  ] as const)('%s shows A, B and their difference', async (tab, view, first, ends) => {
    const names = { axis: 'One axis', category: 'Categories', heat: 'Heat map', spread: 'Spread' };
    await page.getByRole('tab', { name: tab === 'lines' ? 'Cache lines' : names[tab] }).click();
    const host = page.locator(`[data-view="${view}"]`);
    const dialog = page.getByRole('dialog');
    const open = async (): Promise<readonly string[]> => {
      await host.focus();
      await page.keyboard.press('t'); // nothing happens until there is an answer
      await frames(page);
      const heads = await dialog.locator('th').allInnerTexts();
      at = heads.indexOf('A');
      return heads.slice(at, at + 6);
    };
    let at = -1;
    await expect.poll(open).toEqual(['A', 'B', 'change', 'low', 'high', 'verdict']);
    // Where a row is of a part of a numeric axis, its ends are numbers.
    expect(at).toBe(ends ? 3 : 1);
    const cells = (): Promise<string[][]> =>
      dialog
        .locator('tbody tr')
        .evaluateAll((all) =>
          all.map((tr) => [...tr.querySelectorAll('td, th')].map((c) => c.textContent?.trim() ?? '')),
        );
    await expect.poll(async () => (await cells()).some((r) => first.test(r[0] ?? ''))).toBe(true);
    const number = (text: string): number => Number(text.replace('−', '-').replace(/\s/g, ''));
    const known = (await cells()).filter((r) => r.length >= at + 6 && r[at] && r[at + 1] && r[at + 2]);
    expect(known.length).toBeGreaterThan(0);
    for (const r of known) {
      const [a, b, change] = r.slice(at, at + 3).map(number);
      expect(b! - a!).toBeCloseTo(change!, 4);
      if (ends)
        for (const end of r.slice(1, 3)) expect(end === '' || Number.isFinite(number(end))).toBe(true);
    }
    if (ends) expect(known.some((r) => r[1] !== '' && number(r[1]!) <= number(r[2]!))).toBe(true);
  });

  it('code as a table has A, B, change, low, high and verdict', async () => {
    await rememberTexts(page.context());
    await page.reload();
    await status().filter({ hasText: '▼ −37.8 %' }).waitFor();
    const line = async (): Promise<Record<string, string> | undefined> => {
      await quiet(page);
      const code = (await paintedViews(page)).find((v) => v.name === 'Code');
      return rowsOf(code?.csv ?? '').find((r) => r['line'] === '104');
    };
    await expect.poll(async () => (await line())?.['verdict']).toBe('less');
    const row = (await line())!;
    expect(Object.keys(row).slice(0, 7)).toEqual(['line', 'A', 'B', 'change', 'low', 'high', 'verdict']);
    const [x, y, change, low, high] = ['A', 'B', 'change', 'low', 'high'].map((c) => Number(row[c]));
    expect([x, y, change]).toEqual([958676, 452280, 452280 - 958676]);
    expect(low! < change! && change! < high! && high! < 0).toBe(true);
  });

  it('has a sign at every change, so that none is told by its colour alone', async () => {
    await rememberTexts(page.context());
    await page.reload();
    await status().filter({ hasText: '▼ −37.8 %' }).waitFor();
    let views = await paintedViews(page);
    const texts = (name: string): readonly string[] => views.find((v) => v.name === name)?.texts ?? [];
    await expect
      .poll(async () => {
        await quiet(page);
        views = await paintedViews(page);
        return texts('Changes').length;
      })
      .toBeGreaterThan(10);
    const amounts = texts('Changes').filter((t) => /\d\s?[kM]$/.test(t));
    expect(amounts.length).toBeGreaterThan(8);
    expect(amounts.filter((t) => !/^([~·?]\s)?[+−]/.test(t))).toEqual([]);
    const said = texts('Topology').map((t) => t.replace(/\s/g, ' '));
    for (const t of ['▼ less in B', '▲ more in B', '−270 k', '+270 k']) expect(said).toContain(t);
    expect(texts('Parallel coordinates').filter((t) => t.startsWith('±')).length).toBeGreaterThan(3);
    // Statistics have the span of time and the change of each number, signed.
    expect(texts('Statistics').filter((t) => /^(≈ )?−\d/.test(t)).length).toBeGreaterThan(4);
    const rows = rowsOf(views.find((v) => v.name === 'Statistics')!.csv);
    const span = rows.find((r) => Object.values(r)[0]!.startsWith('time span'))!;
    const [a, b, change] = ['A', 'B', 'change'].map((c) => Number(span[c]));
    expect([a! > 1e7, b! < 4e6, change]).toEqual([true, true, b! - a!]);
  });

  it('marks findings of one run that the other has not', async () => {
    const kinds = (side: string): string[] =>
      (JSON.parse(isobath('insights', side, '--json')) as { insights: { kind: string }[] }).insights.map(
        (i) => i.kind,
      );
    const [a, b] = [kinds('demo'), kinds('demo:fixed')];
    for (const [side, own, other, word] of [
      ['A', a, b, 'gone in B'],
      ['B', b, a, 'new in B'],
    ] as const) {
      await page.keyboard.press(`Shift+${side}`);
      const marked = page.locator('[data-view="Insights"] li .kind b', { hasText: word });
      const want = own.filter((k) => !other.includes(k)).length;
      await page
        .locator('[data-view="Insights"] li')
        .nth(own.length - 1)
        .waitFor();
      await expect.poll(() => marked.count()).toBe(want);
    }
    expect(a.some((k) => !b.includes(k))).toBe(true);
  });

  it('one side of a pair is that run alone, in views that ask on their own', async () => {
    const groups = async (): Promise<string> => {
      await page.getByRole('tab', { name: 'Spread' }).click();
      const row = page.locator('[data-view="Spread"] tr', { hasText: 'stencil.c:104' });
      await row.waitFor();
      return (await row.locator('td').nth(1).innerText()).replace(/\s/g, '');
    };
    await page.keyboard.press('Shift+A');
    await expect.poll(groups).toBe('13359');
    await page.keyboard.press('Shift+B');
    await expect.poll(groups).toBe('13361');
  });

  it('has A, B and Difference in sight on a small screen, whatever is said beside them', async () => {
    await page.setViewportSize({ width: 1280, height: 720 });
    await status().filter({ hasText: '▼ −37.8 %' }).waitFor();
    for (const name of ['A', 'B', 'Difference']) {
      const side = page.getByRole('radio', { name, exact: true });
      const seen = (): Promise<boolean> =>
        side.evaluate((e) => {
          const { left, right, top, height } = e.getBoundingClientRect();
          return [left + 2, right - 2].every((x) => document.elementFromPoint(x, top + height / 2) === e);
        });
      await expect.poll(seen).toBe(true);
    }
  });

  it('cuts nothing in the bar, and no line of the code under its heads', async () => {
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.reload();
    await status().filter({ hasText: '± 1.3 sampling' }).waitFor();
    const parts = (): Promise<readonly string[]> =>
      status().evaluate((bar) => {
        const { bottom } = bar.getBoundingClientRect();
        return [...bar.querySelectorAll('.part')].flatMap((p) => {
          const box = p.getBoundingClientRect();
          if (box.top >= bottom - 1) return []; // no room: not shown
          const whole = box.bottom <= bottom + 1 && p.scrollWidth <= p.clientWidth + 1;
          return [whole ? p.textContent!.trim() : `cut: ${p.textContent}`];
        });
      });
    await expect.poll(async () => (await parts()).join(' ')).toMatch(/−37\.8 % ± 1\.3 sampling/);
    expect((await parts()).filter((p) => p.startsWith('cut'))).toEqual([]);
    const under = (): Promise<number> =>
      page.locator('[data-view="Code"]').evaluate((e) => {
        const scroller = e.shadowRoot?.querySelector('.cm-scroller');
        const lines = [...(scroller?.querySelectorAll('.cm-line') ?? [])];
        if (!scroller || scroller.scrollTop === 0 || lines.length === 0) return -1;
        const { top } = scroller.getBoundingClientRect();
        return lines.filter((l) => {
          const box = l.getBoundingClientRect();
          return box.top < top - 0.5 && box.bottom > top + 0.5;
        }).length;
      });
    await expect.poll(under).toBe(0);
  });

  it('ends in one run, and another run is compared from the menu', async () => {
    await page.getByRole('button', { name: /^End the comparison/ }).click();
    await status()
      .filter({ hasText: /Everything 92.955 samples/ })
      .waitFor();
    await page.getByRole('button', { name: /^Runs/ }).click();
    await page.getByRole('menu').getByText('Compare with stencil', { exact: false }).first().click();
    await status().filter({ hasText: '▲' }).waitFor(); // the other way round
  });

  it.each(['light', 'dark'])('has nothing for axe to find, %s', async (theme) => {
    await status().filter({ hasText: '▼ −37.8 %' }).waitFor();
    await page
      .getByText(/104 costs ≈ 52.8 ± \d\.\d % less/)
      .first()
      .waitFor();
    const now = await page.locator('[data-theme]').first().getAttribute('data-theme');
    if (now !== theme) await page.getByRole('button', { name: /theme$/ }).click();
    expect(await violations(page, theme === 'dark' ? { colours: true } : {})).toEqual([]);
  });
});

describe('a file to compare with', () => {
  let page: Page;
  const samples = (n: number): string =>
    'time,cpu,latency,line\n' + Array.from({ length: n }, (_, i) => `${i},0,${10 + i},104\n`).join('');
  const folder = mkdtempSync(join(tmpdir(), 'isobath-compare-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  show(
    {
      serve: () => {
        const path = join(folder, 'seven.csv');
        writeFileSync(path, samples(7));
        return ['open', path];
      },
      ready: (p) => p.getByRole('status', { name: 'Samples selected' }).waitFor(),
    },
    (s) => {
      page = s.page;
    },
  );

  it('is chosen as one to open is; one that does not compare is shown and says why', async () => {
    const choose = async (menu: RegExp, name: string, text: string): Promise<void> => {
      await page.getByRole('button', { name: menu }).click();
      await page.getByRole('menuitem', { name: 'Compare with a file …' }).click();
      const dialog = page.getByRole('dialog', { name: 'Compare' });
      await dialog
        .getByLabel('Files of this computer')
        .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
      await dialog.waitFor({ state: 'detached' });
    };
    const compared = (b: number): Promise<void> =>
      page
        .getByRole('status', { name: 'Samples selected' })
        .filter({ hasText: new RegExp(`A 7 · B ${b}\\b`) })
        .waitFor();
    await choose(/^Runs/, 'nine.csv', samples(9));
    await compared(9);
    await choose(/^Run B/, 'eleven.csv', samples(11)); // in place of B
    await compared(11);
    await choose(/^Run B/, 'cube.vtk', CUBE);
    await page
      .getByText('cube.vtk is not compared with seven.csv: it holds mesh, the other memory.')
      .waitFor();
  });
});

/** One run of a program whose function solve got slower, on a machine that is not the same every time. */
function runOf(side: 'a' | 'b', i: number): string {
  let seed = 7 * i + (side === 'a' ? 1 : 2);
  const random = (n: number): number => (seed = (48271 * seed) % 2147483647) % n;
  const main = 4000 + 10 * i; // the system gives threads other numbers in every run
  const rows = Array.from({ length: 600 }, (_, k) => {
    const name = ['solve', 'pack', 'copy'][k % 3]!;
    const slower = side === 'b' && name === 'solve' ? 1.5 : 1;
    const cycles = Math.round((1 + 0.05 * i) * slower * (20 + random(100)));
    return `${k},${k % 2},${main + (k % 2)},${cycles},${name},L${1 + (k % 2)}`;
  });
  return ['time,cpu,tid,latency (cycles),function,level', ...rows].join('\n') + '\n';
}

describe('several runs a side', () => {
  let page: Page;
  const folder = mkdtempSync(join(tmpdir(), 'isobath-several-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const files = (side: 'a' | 'b'): readonly string[] =>
    [0, 1, 2].map((i) => {
      const path = join(folder, `${side}${i}.csv`);
      writeFileSync(path, runOf(side, i));
      return path;
    });
  const status = () => page.getByRole('status', { name: 'Samples selected' });
  const both = (): readonly string[] => [...files('a'), '--', ...files('b')];
  show(
    {
      serve: () => ['open', ...both()],
      ready: (p) => p.getByRole('radio', { name: 'Difference' }).waitFor(),
    },
    (s) => {
      page = s.page;
    },
  );

  interface Row {
    readonly key: Readonly<Record<string, string>>;
    readonly a: { readonly cost: number; readonly mean: number };
    readonly b: { readonly cost: number; readonly mean: number };
    readonly low: number;
    readonly high: number;
    readonly verdict: string;
  }
  interface Diff {
    readonly whole: Row;
    readonly groups: readonly Row[];
    readonly a: { readonly costs: readonly number[] };
    readonly b: { readonly costs: readonly number[] };
  }
  const diff = (...flags: string[]): Diff =>
    JSON.parse(isobath('diff', '--by', 'function', '--json', ...flags, ...both())) as Diff;

  /** What a table says of a row, as numbers: A, B, change, low, high; and its verdict. */
  async function said(view: string, name: string): Promise<readonly [readonly number[], string]> {
    const dialog = await openTable(page, view);
    const all = await dialog
      .locator('tbody tr')
      .evaluateAll((trs) =>
        trs.map((tr) => [...tr.querySelectorAll('td, th')].map((c) => c.textContent?.trim() ?? '')),
      );
    await closeTable(page);
    const row = all.find((r) => r[0] === name) ?? [];
    return [row.slice(1, 6).map(Number), row[6] ?? ''];
  }
  const want = (r: Row, of: 'cost' | 'mean'): readonly number[] => {
    const [a, b] = [r.a[of], r.b[of]];
    return [a, b, b - a, a * (r.low - 1), a * (r.high - 1)];
  };
  const near = (got: readonly number[], of: readonly number[]): void =>
    of.forEach((v, k) => expect(got[k]! / v, `${got.join(' ')} for ${of.join(' ')}`).toBeCloseTo(1, 6));

  it('have the mean of each side, with the interval of its runs and each run by itself', async () => {
    const { whole, a } = diff();
    const reach = (50 * (whole.high - whole.low)).toFixed(1);
    await status().filter({ hasText: 'A 1 800 · B 1 800 samples of 3 runs each' }).waitFor();
    await status()
      .filter({ hasText: `a run ${(whole.a.cost / 1000).toFixed(1)} k → ` })
      .waitFor();
    const change = (100 * (whole.b.cost / whole.a.cost - 1)).toFixed(1);
    expect(whole.verdict).toBe('more');
    await status()
      .filter({ hasText: `▲ +${change} %` })
      .waitFor();
    await status()
      .filter({ hasText: `± ${reach} · 3 runs a side` })
      .waitFor();
    const tip = (await status().getAttribute('title'))!.replace(/[^\S\n]/g, ' ');
    a.costs.forEach((cost, i) => expect(tip).toContain(`A a${i}.csv: ${(cost / 1000).toFixed(1)} k`));
  });

  it('change by function as diff has it', async () => {
    for (const row of diff().groups) {
      const [numbers, verdict] = await said('Changes', row.key['function']!);
      near(numbers, want(row, 'cost'));
      expect(verdict).toBe(row.verdict);
    }
  });

  it('have statistics of a run, with the intervals that diff has', async () => {
    await expect.poll(async () => (await said('Statistics', 'cycles a run'))[1]).toBe('more');
    near((await said('Statistics', 'cycles a run'))[0], want(diff().whole, 'cost'));
    const { whole } = diff('--metric', 'mean');
    const [numbers, verdict] = await said('Statistics', 'mean');
    near(numbers, want(whole, 'mean'));
    expect(verdict).toBe(whole.verdict);
    expect((await said('Statistics', 'samples a run'))[0].slice(0, 3)).toEqual([600, 600, 0]);
    expect((await said('Statistics', 'p50'))[1]).toBe('not tested');
    // What levels served is of a run too: together it is what a run costs.
    const served: number[] = [];
    for (const l of ['L1', 'L2']) served.push((await said('Statistics', `served by ${l}`))[0][0]!);
    expect(served[0]! + served[1]!).toBeCloseTo(diff().whole.a.cost, 6);
  });

  it('keep a selection from side to side and in a link, and one run is a selection as any', async () => {
    const where = async (s: string): Promise<void> => {
      await page.evaluate((t) => {
        const to = new URLSearchParams(location.hash.slice(1));
        to.set('s', t);
        location.hash = to.toString();
      }, s);
    };
    await where('function = solve');
    const selected = () => status().filter({ hasText: /A 600 of 1.800 · B 600 of 1.800/ });
    await selected().waitFor();
    for (const side of 'ABD') {
      await page.keyboard.press(`Shift+${side}`);
      await quiet(page);
      await selected().waitFor();
    }
    await page.keyboard.press('Shift+B');
    await page.reload();
    await selected().waitFor();
    const link = await linkOf(page);
    expect([link.get('s'), link.get('cmp')]).toEqual(['function = solve', 'b']);
    await page.keyboard.press('Shift+D');
    const solve = diff().groups.find((g) => g.key['function'] === 'solve')!;
    await status()
      .filter({
        hasText: `a run ${(solve.a.cost / 1000).toFixed(1)} k → ${(solve.b.cost / 1000).toFixed(1)} k`,
      })
      .waitFor();
    // One run of each side: they cost what they cost, and no other says how runs differ.
    await where('run = a1.csv | run = b1.csv');
    const k = (costs: readonly number[]): string => `${(costs[1]! / 1000).toFixed(1)} k`;
    const { a, b } = diff();
    await status()
      .filter({ hasText: `a run ${k(a.costs)} → ${k(b.costs)}` })
      .waitFor();
    await status().filter({ hasText: 'one run a side' }).waitFor();
    expect((await said('Statistics', 'samples'))[0].slice(0, 3)).toEqual([600, 600, 0]);
  });
});

describe('call stacks of two runs', () => {
  let page: Page;
  const folder = mkdtempSync(join(tmpdir(), 'isobath-stacks-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  show(
    {
      serve: () => {
        const files = ['main;f 10\n', 'main;f 20\nmain;g 7\n'].map((text, i) => {
          const path = join(folder, `${'ab'[i]}.folded`);
          writeFileSync(path, text);
          return path;
        });
        return ['open', ...files];
      },
      ready: (p) => p.getByRole('radio', { name: 'Difference' }).waitFor(),
    },
    (s) => {
      page = s.page;
    },
  );

  it('are those of the run that is shown, and their difference has both', async () => {
    await page.getByRole('tab', { name: 'Calls' }).click();
    const table = async (side: string): Promise<{ heads: string[]; rows: string }> => {
      await page.keyboard.press(`Shift+${side}`);
      await quiet(page);
      const dialog = await openTable(page, 'Calls');
      const heads = await dialog.locator('th').allInnerTexts();
      const all = await dialog.locator('tbody tr').allInnerTexts();
      await closeTable(page);
      return { heads, rows: all.join('\n').replace(/\s+/g, ' ') };
    };
    const rows = async (side: string): Promise<string> => (await table(side)).rows;
    await expect.poll(() => rows('A')).toMatch(/\b10\b/);
    expect(await rows('A')).not.toMatch(/\b(37|30)\b|main;g/);
    await expect.poll(() => rows('B')).toMatch(/\b27\b/);
    await expect.poll(() => rows('D')).toMatch(/main;g 0 7 7 /);
    expect(await rows('D')).toMatch(/main;f 10 20 10 \S+ \S+ unsure/);
    await page.getByText('samples, B − A, √').waitFor();
    await page.locator('.side', { hasText: 'as wide as A and B together' }).waitFor();
    expect((await table('D')).heads.slice(1, 7)).toEqual(['A', 'B', 'change', 'low', 'high', 'verdict']);
  });
});

describe.skipIf(!RUNS)('two runs that do not compare in all', () => {
  let page: Page;
  show(
    {
      serve: () => ['open', ...['model', 'node'].map((n) => `${RUNS}/stencil-${n}.isobath`)],
      ready: (p) => p.getByRole('radio', { name: 'Difference' }).waitFor(),
    },
    (s) => {
      page = s.page;
    },
  );

  it('show each machine with its own samples beside the other', async () => {
    const host = page.locator('[data-view="Topology"]');
    const said = (text: RegExp): Promise<void> =>
      page.getByRole('region', { name: 'Topology' }).getByText(text).waitFor({ state: 'attached' });
    await said(/side by side, different machines: 2 CPUs, 1 node against/);
    await host.focus();
    await page.keyboard.press('t');
    const dialog = page.getByRole('dialog');
    await dialog.locator('tbody tr').first().waitFor();
    const all = await dialog
      .locator('tbody tr')
      .evaluateAll((trs) =>
        trs.map((tr) => [...tr.querySelectorAll('td, th')].map((c) => c.textContent?.trim() ?? '')),
      );
    await page.keyboard.press('Escape');
    const rows = all.filter((r) => r.length === 7); // the last one says how many there are
    const [a, b] = [rows.filter((r) => r[1] !== ''), rows.filter((r) => r[2] !== '')];
    expect([a.length + b.length, a.filter((r) => / A$/.test(r[0]!)).length]).toEqual([
      rows.length,
      a.length - 1, // but for A itself
    ]);
    expect(rows.every((r) => r[6] === 'not compared')).toBe(true);
    const cpus = (of: string[][]): number => of.filter((r) => r[0]!.startsWith('CPU ')).length;
    expect(cpus(a)).toBe(2);
    expect(b.some((r) => r[0] === 'B')).toBe(true);
    // One of them alone has the room of both.
    await page.keyboard.press('Shift+B');
    await said(/^Hardware topology: /);
    await page.keyboard.press('Shift+D');
    await said(/side by side/);
  });
});

// Levels of two models; of a model and of nothing; and the other way round.
describe.skipIf(!RUNS).each([
  ['model', 'node'],
  ['model', 'a'],
  ['a', 'model'],
])('levels of %s and %s, modelled apart', (...names) => {
  let page: Page;
  show(
    {
      serve: () => ['open', ...names.map((n) => `${RUNS}/stencil-${n}.isobath`)],
      ready: (p) => p.getByRole('radio', { name: 'Difference' }).waitFor(),
    },
    (s) => {
      page = s.page;
    },
  );

  it('are shown for A and B, as addresses are, and never subtracted', async () => {
    const axes = await page.evaluate(() => location.hash);
    await page.evaluate((h) => (location.hash = `${h}&axes=function,level,addr`), axes);
    const rows = async (): Promise<string[][]> => {
      const dialog = await openTable(page, 'Parallel coordinates');
      const all = await dialog
        .locator('tbody tr')
        .evaluateAll((trs) =>
          trs.map((tr) => [...tr.querySelectorAll('td, th')].map((c) => c.textContent?.trim() ?? '')),
        );
      await closeTable(page);
      return all;
    };
    const of = async (column: string): Promise<string[][]> => (await rows()).filter((r) => r[0] === column);
    for (const column of ['level', 'addr']) {
      await expect.poll(async () => (await of(column)).length).toBeGreaterThan(0);
      for (const r of await of(column)) expect(r.slice(-4)).toEqual(['', '', '', 'not compared']);
    }
    for (const r of await of('function')) expect(r.at(-1)).not.toBe('not compared');
  });
});

describe.skipIf(!RUNS)('another run in place of the one that is shown', () => {
  let page: Page;
  show(
    {
      serve: () => ['open', ...['stencil', 'join'].map((n) => `${RUNS}/${n}-a.isobath`)],
      ready: (p) => p.getByRole('radio', { name: 'Difference' }).waitFor(),
    },
    (s) => {
      page = s.page;
    },
  );

  it('keeps selection and axes where they exist, and says what does not', async () => {
    const status = page.getByRole('status', { name: 'Samples selected' });
    await page.getByRole('button', { name: /^End the comparison/ }).click();
    await status.filter({ hasText: /Everything 1.013 samples/ }).waitFor();
    const both = 'line > 30 & function = probe';
    await page.evaluate((s) => (location.hash += `&s=${encodeURIComponent(s)}&axes=symbol,weight,cpu`), both);
    await status.filter({ hasText: /\d of 1.013 samples/ }).waitFor();
    await page.getByRole('button', { name: /^Runs/ }).click();
    await page.getByRole('menuitemradio', { name: /^stencil-a/ }).click();
    await status.filter({ hasText: /512 of 936 samples/ }).waitFor();
    const link = await linkOf(page);
    expect([link.get('s'), link.get('axes')]).toEqual(['line > 30', 'symbol,weight,cpu']);
    await page.getByText('stencil-a.isobath does not have, and leaves out: function = probe.').waitFor();
    await page.goBack();
    await status.filter({ hasText: /\d of 1.013 samples/ }).waitFor();
    expect((await linkOf(page)).get('s')).toBe(both);
  });
});
