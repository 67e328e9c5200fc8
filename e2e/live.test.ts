// A recording that is shown while it goes on: its samples grow in the page, which
// holds still on demand, keeps what is selected, and ends with the run.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, isobath, ROOT, type Browser } from './harness';
import { whereOf } from './page';

describe('a recording that goes on', () => {
  const dir = mkdtempSync(join(tmpdir(), 'isobath-e2e-live-'));
  const run = join(dir, 'grows.isobath');
  let recorder: ChildProcess;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  /** Starts the recording and waits for the address, which is on standard error. */
  function record(program: string): Promise<string> {
    const flags = ['--live', '--no-browser', '--port', '0', '-o', run, '--rate', '500'];
    recorder = spawn(
      process.env['ISOBATH']!,
      ['record', ...flags, '--', program, '200000', '400000000000'],
      // A group of its own: the program outlives the recording, and ends with the group.
      { stdio: ['ignore', 'ignore', 'pipe'], detached: true, env: { ...process.env, XDG_CONFIG_HOME: dir } },
    );
    let said = '';
    return new Promise((resolve, reject) => {
      recorder.stderr!.setEncoding('utf8').on('data', (s: string) => {
        said += s;
        const [url] = /http:\/\/\S+/.exec(said) ?? [];
        if (url) resolve(url);
      });
      recorder.on('exit', (code) => reject(new Error(`it ended with ${code}: ${said}`)));
    });
  }

  beforeAll(async () => {
    const program = join(dir, 'chase');
    execFileSync('gcc', ['-O2', '-g', '-o', program, join(ROOT, 'examples/record/chase.c')]);
    const [url, b] = await Promise.all([record(program), browse({ width: 1440, height: 900 })]);
    browser = b;
    ({ page, problems } = await browser.open(`${url}&s=${encodeURIComponent('op = load')}`));
  });
  afterAll(async () => {
    await browser?.close();
    if (recorder?.pid) process.kill(-recorder.pid, 'SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  const numbersOf = async (label: string): Promise<number[]> => {
    const text = await page.getByRole('status', { name: label }).innerText();
    return [...text.matchAll(/\d[\d\s ]*(?= of | samples)/g)].map((m) => Number(m[0].replace(/\D/g, '')));
  };
  const recorded = async (): Promise<number> => (await numbersOf('Recorded so far'))[0]!;
  /** How many are selected, of how many that are shown. */
  const shown = async (): Promise<[selected: number, all: number]> => {
    const [selected, all] = await numbersOf('Samples selected');
    return [selected!, all!];
  };
  const LONG = { timeout: 60_000 };

  it('grows in the page, and what is selected stays', async () => {
    await page.getByRole('status', { name: 'Recorded so far' }).waitFor();
    const [first, all] = [await recorded(), (await shown())[1]];
    await expect.poll(recorded, LONG).toBeGreaterThan(first + 500);
    await expect.poll(async () => (await shown())[1], LONG).toBeGreaterThan(all + 500);
    expect(await whereOf(page)).toBe('op = load');
    const [selected, of] = await shown();
    expect(selected).toBeLessThanOrEqual(of);
    expect(selected).toBeGreaterThan(0.5 * of);
    await page.waitForFunction(() => performance.getEntriesByName('draw Parallel coordinates').length > 2);
  });

  it('holds still while it is paused, and the recording goes on', async () => {
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('the page holds still').waitFor();
    // What was being made ready when the button was pressed is shown yet.
    const before = await recorded();
    await expect.poll(recorded, LONG).toBeGreaterThan(before + 500);
    const [still, from] = [await shown(), await recorded()];
    await expect.poll(recorded, LONG).toBeGreaterThan(from + 1000);
    expect(await shown()).toEqual(still);
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(async () => (await shown())[1], LONG).toBeGreaterThan(still[1] + 500);
  });

  it('ends with the run, which has all samples', async () => {
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.getByRole('group', { name: 'Recording' }).waitFor({ state: 'detached', ...LONG });
    const { rows } = JSON.parse(isobath('info', run, '--json')) as { rows: number };
    await expect.poll(async () => (await shown())[1], LONG).toBe(rows);
    expect(await whereOf(page)).toBe('op = load');
    await page.reload(); // the address names the run
    await expect.poll(async () => (await shown())[1], LONG).toBe(rows);
    expect(problems).toEqual([]);
  });
});
