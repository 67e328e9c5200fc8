// Random interaction with every page for a while: no error on the console, a page
// that answers, and a server whose memory stays where it was. make soak takes an
// hour (ISOBATH_SOAK is in seconds); make test has a share.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { browse, fixture, start, unanswered, type Running } from './harness';

const SECONDS = Number(process.env['ISOBATH_SOAK'] ?? 40);
/** Gestures that are made however slow the machine is. */
const FEWEST = 20;
/** From here on the memory is judged: caches fill in the beginning. */
const LONG = 900;
/** A server that nobody asks for so long has given back garbage and old answers (idle.go). */
const RESTING = 16_000;
/** Answers that are counted when the play pauses come first; on a busy machine they take as long. */
const ANSWERED = 60_000;
/** Answers of so long before the last question are kept through a rest (idle.go). */
const RECENT = 62_000;
/** How often a long play goes back to the page as it opens, and rests. What a server holds
 * between two questions depends on which question came last; what it holds at rest is
 * what it keeps. */
const RESTS = 4;

const PAGES: readonly (() => readonly string[])[] = [
  () => ['demo'],
  () => ['demo', 'cycles'],
  () => ['demo', 'locality'],
  () => ['demo', 'compare'],
  () => ['open', fixture('otf2/ring16')],
];

/** The memory a process holds of its own, in bytes. Mapped files, the program itself
 * among them, are the system's: it takes their pages back when it needs them. */
function memory(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const own = /RssAnon:\s+(\d+)/.exec(text)?.[1];
  if (!own) throw new Error(`process ${pid} does not say how much memory it holds`);
  return Number(own) * 1024;
}

/** Numbers by chance that a seed repeats: mulberry32. */
function chance(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** What a random click must not hit: it ends the run that is shown, or leaves the page. */
const ENDS = /close|remove|delete|stop|export|download|save|open|print/i;

async function harmless(page: Page, x: number, y: number): Promise<boolean> {
  const name = await page.evaluate(
    ([px, py]) => {
      const hit = document
        .elementFromPoint(px!, py!)
        ?.closest('button, a, input, select, [role=menuitem], [role=tab]');
      return hit
        ? `${hit.getAttribute('aria-label') ?? ''} ${hit.textContent ?? ''} ${hit.getAttribute('title') ?? ''}`
        : '';
    },
    [x, y],
  );
  return !ENDS.test(name);
}

const KEYS = [
  'Escape',
  'Tab',
  'ArrowLeft',
  'ArrowRight',
  'ArrowUp',
  'ArrowDown',
  'Enter',
  'Control+z',
  'i',
  '+',
  '-',
];

/** One gesture by chance. */
async function gesture(page: Page, next: () => number): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 1280, height: 720 };
  const point = (): { x: number; y: number } => ({
    x: next() * (width - 2) + 1,
    y: next() * (height - 2) + 1,
  });
  const kind = next();
  const from = point();
  if (kind < 0.3) await page.mouse.move(from.x, from.y, { steps: 3 });
  else if (kind < 0.5) {
    if (await harmless(page, from.x, from.y)) await page.mouse.click(from.x, from.y);
  } else if (kind < 0.7) {
    if (!(await harmless(page, from.x, from.y))) return;
    const to = point();
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
  } else if (kind < 0.8) {
    await page.mouse.move(from.x, from.y);
    await page.mouse.wheel(0, (next() - 0.5) * 600);
  } else if (kind < 0.9) {
    const tabs = page.getByRole('tab');
    const n = await tabs.count();
    if (n > 0)
      await tabs
        .nth(Math.floor(next() * n))
        .click({ timeout: 2000 })
        .catch(() => {}); // it may be covered
  } else {
    const key = KEYS[Math.floor(next() * KEYS.length)]!;
    const { text, written } = await page.evaluate(() => ({
      text: document.activeElement?.textContent ?? '',
      written: document.activeElement?.matches('input, textarea, [contenteditable=true]') ?? false,
    }));
    // A letter in a text makes a name that nobody knows, which is refused as it should be.
    const typed = written && (key === 'Enter' || key.length === 1);
    if (!typed && (key !== 'Enter' || !ENDS.test(text))) await page.keyboard.press(key);
  }
}

/** How long the page takes to draw a frame, in milliseconds. */
async function frame(page: Page): Promise<number> {
  const began = performance.now();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(0))));
  return performance.now() - began;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** Goes back to where the play began, waits until the play is long ago, asks for the page
 * once more, and waits until the server has rested: nobody has asked it anything for a
 * while, and what it keeps is of this page alone. */
async function rest(page: Page, url: string): Promise<void> {
  await page.mouse.move(0, 0); // nothing under it asks again
  await page.goto(url);
  await page.waitForTimeout(RECENT);
  await page.reload();
  let asked = performance.now();
  const note = (): void => void (asked = performance.now());
  const events = ['request', 'requestfinished', 'requestfailed'] as const;
  for (const e of events) page.on(e as 'request', note);
  const latest = asked + ANSWERED;
  while (performance.now() < Math.min(asked, latest) + RESTING || unanswered(page) > 0) {
    if (performance.now() > latest + RESTING) break; // it never rests, which the memory will tell
    await page.waitForTimeout(500);
  }
  for (const e of events) page.off(e as 'request', note);
}

interface Played {
  frames: number[]; // milliseconds
  used: number[]; // bytes of the server after each gesture
  kept: number[]; // and after each rest
}

/** Plays with a page for so many milliseconds. */
async function play(page: Page, server: Running, share: number, next: () => number): Promise<Played> {
  const played: Played = { frames: [], used: [], kept: [] };
  const turns = SECONDS >= LONG ? RESTS : 1;
  const began = performance.now();
  for (let turn = 1; turn <= turns; turn++) {
    const until = began + (share * turn) / turns - (turns > 1 ? RECENT + RESTING : 0);
    while (performance.now() < until || played.frames.length < FEWEST) {
      await gesture(page, next);
      played.frames.push(await frame(page));
      played.used.push(memory(server.pid));
      if (next() < 0.005) await page.reload();
    }
    if (turns === 1) break;
    await rest(page, server.url);
    played.kept.push(memory(server.pid));
  }
  return played;
}

describe('an hour of use', () => {
  for (const [i, serve] of PAGES.entries())
    it(`plays with ${serve().slice(0, 2).join(' ')}`, async () => {
      const [server, browser] = await Promise.all([start(...serve()), browse({ width: 1280, height: 800 })]);
      try {
        const { page, problems } = await browser.open(server.url);
        page.on('dialog', (d) => void d.dismiss());
        await page.waitForFunction(() =>
          performance.getEntriesByType('measure').some((e) => e.name.startsWith('draw ')),
        );
        const share = (SECONDS * 1000) / PAGES.length;
        const { frames, used, kept } = await play(page, server, share, chance(i + 1));
        const sorted = frames.toSorted((a, b) => a - b);
        // The first rest is before all that is kept for long was asked for once.
        const [, early = 0, , end = 0] = kept;
        console.log(
          `${frames.length} gestures; a frame takes ${sorted[sorted.length >> 1]?.toFixed(0)} ms, p99 ${sorted[Math.floor(sorted.length * 0.99)]?.toFixed(0)} ms, at most ${sorted.at(-1)?.toFixed(0)} ms; ` +
            `server at most ${megabytes(Math.max(...used))} MB; at rest ${kept.map(megabytes).join(', ') || '(not rested)'} MB` +
            problems.map((p) => `\n${p}`).join(''), // at once: what fails is told an hour later
        );
        expect(problems.join('\n')).toBe('');
        expect(Math.max(...frames)).toBeLessThan(30_000);
        if (SECONDS >= LONG) expect(end / early).toBeLessThan(1.05);
      } finally {
        await browser.close();
        await server.stop();
      }
    });
});
