// Compares what is on screen with pictures in the repository.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ROOT } from './harness';
import { frames, quiet } from './page';
import { decode, encode, type Picture } from './png';

const BASELINES = join(ROOT, 'e2e', 'screens');

/** Where the pictures of a difference go. */
const DIFFERENCES = process.env['ISOBATH_SCREENS_OUT'] ?? join(tmpdir(), 'isobath-screens');

/** ISOBATH_SCREENS=update makes the pictures anew, to be looked at before they are committed. */
const UPDATE = process.env['ISOBATH_SCREENS'] === 'update';

/** Channels that differ by no more are the same colour: pictures have 256 colours, edges are smoothed. */
const NEAR = 40;

/** The part of the pixels that may differ: less than a short word of text. */
const MOST = 0.0002;

/** The part of the pixels that differ. */
export function differing(before: Picture, after: Picture): number {
  let differ = 0;
  for (let i = 0; i < after.rgb.length; i += 3) if (differs(before, after, i)) differ++;
  return (3 * differ) / after.rgb.length;
}

/** A picture of where two differ: what is the same is pale, what differs is red. */
export function difference(before: Picture, after: Picture): Picture {
  const rgb = new Uint8Array(after.rgb.length);
  for (let i = 0; i < rgb.length; i += 3) {
    const pale = 200 + Math.floor((after.rgb[i]! + after.rgb[i + 1]! + after.rgb[i + 2]!) / 14);
    rgb.set(differs(before, after, i) ? [220, 0, 40] : [pale, pale, pale], i);
  }
  return { width: after.width, height: after.height, rgb };
}

function differs(before: Picture, after: Picture, i: number): boolean {
  const same = before.width === after.width && before.height === after.height;
  return !same || distance(before.rgb, after.rgb, i) > NEAR;
}

function distance(a: Uint8Array, b: Uint8Array, i: number): number {
  return Math.max(Math.abs(a[i]! - b[i]!), Math.abs(a[i + 1]! - b[i + 1]!), Math.abs(a[i + 2]! - b[i + 2]!));
}

/** Screenshots in a row that are the same: nothing moves any more. */
async function settled(page: Page): Promise<Buffer> {
  await quiet(page);
  // How long an answer took is another number each time.
  await page
    .getByText(/^answer \d+ ms$/)
    .evaluateAll((all) => all.forEach((e) => ((e as HTMLElement).style.visibility = 'hidden')));
  let last = await page.screenshot({ caret: 'hide' });
  // Code that comes first may ask and draw after it: a while without a change.
  for (let i = 0, same = 0; i < 100; i++) {
    await page.waitForTimeout(100);
    await quiet(page);
    await frames(page);
    const next = await page.screenshot({ caret: 'hide' });
    same = next.equals(last) ? same + 1 : 0;
    if (same === 3) return next;
    last = next;
  }
  throw new Error('the page does not come to rest');
}

/**
 * Compares the page with the picture of a name. A difference is an error that
 * names three files: before, after, and where they differ.
 */
export async function screen(page: Page, name: string): Promise<void> {
  const file = join(BASELINES, `${name}.png`);
  const after = decode(await settled(page));
  if (UPDATE) {
    mkdirSync(BASELINES, { recursive: true });
    // What is still the same stays the same file.
    if (!existsSync(file) || differing(decode(readFileSync(file)), after) > 0)
      writeFileSync(file, encode(after));
  }
  if (!existsSync(file)) throw new Error(`no picture ${name}; ISOBATH_SCREENS=update makes it`);
  const before = decode(readFileSync(file));
  const part = differing(before, after);
  if (part <= MOST) return;
  mkdirSync(DIFFERENCES, { recursive: true });
  const out = (kind: string, picture: Picture): string => {
    const path = join(DIFFERENCES, `${name}.${kind}.png`);
    writeFileSync(path, encode(picture));
    return path;
  };
  const files = [out('before', before), out('after', after), out('difference', difference(before, after))];
  throw new Error(`${name} differs in ${(100 * part).toFixed(3)} % of its pixels:\n${files.join('\n')}`);
}
