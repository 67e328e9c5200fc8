// The whole page as one file, and an export menu that knows what was touched last.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { counted, opened } from './page';
import { show } from './suite';

describe('whole page', () => {
  let folder: string;
  let page: Page;
  let problems: string[];

  function samples(): string {
    folder = mkdtempSync(join(tmpdir(), 'isobath-wholepage-'));
    const rows = Array.from({ length: 60 }, (_, i) =>
      [i, i % 4, 10 + i, i % 2 ? 'L1' : 'L3', 'kernel'].join(','),
    );
    writeFileSync(join(folder, 'small.csv'), ['time,cpu,latency,level,function', ...rows].join('\n') + '\n');
    return join(folder, 'small.csv');
  }
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  show({ serve: () => ['open', samples()], ready: (p) => opened(p, 60) }, (s) => ({ page, problems } = s));

  const save = async (item: string): Promise<{ name: string; bytes: Buffer }> => {
    await page.getByRole('button', { name: /^Export/ }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: item }).click(),
    ]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };

  it('offers the view that was touched last, also one that a tab has brought since', async () => {
    await page.getByRole('tab', { name: 'Heat map' }).click();
    await page.waitForFunction(() => performance.getEntriesByName('draw Heat map').length > 0);
    expect((await save('Heat map as SVG')).bytes.toString()).toContain('<svg');
    await page.getByRole('tab', { name: 'Parallel coordinates' }).click();
    await page.locator('[data-view="Parallel coordinates"]').waitFor();
    expect((await save('Parallel coordinates as CSV')).bytes.length).toBeGreaterThan(20);
  });

  it('saves every view with the selection above them, as PNG and as PDF', async () => {
    await page.keyboard.press('Control+KeyK');
    await page.keyboard.type('cpu 1');
    await page.locator('#command-list[data-about="cpu 1"][data-complete="true"]').waitFor();
    await page.keyboard.press('Enter');
    await counted(page, 15, 60);
    const png = await save('Page as PNG');
    expect(png.name).toBe('small.csv.png');
    expect([...png.bytes.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
    const [w, h] = [png.bytes.readUInt32BE(16), png.bytes.readUInt32BE(20)];
    expect(w).toBe(2 * (await page.evaluate(() => innerWidth)));
    const { bytes } = await save('Page as PDF');
    const text = bytes.toString('latin1');
    expect(text.startsWith('%PDF-1.4\n')).toBe(true);
    // The table says where its objects are, and the picture in it is that of the PNG.
    const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)![1]);
    expect(text.slice(table, table + 4)).toBe('xref');
    [...text.slice(table).matchAll(/^(\d{10}) 00000 n /gm)].forEach((m, i) =>
      expect(text.slice(Number(m[1])).startsWith(`${i + 1} 0 obj\n`)).toBe(true),
    );
    expect(text).toContain(`/Width ${w} /Height ${h} `);
    const picture = /\/FlateDecode \/Length (\d+) >>\nstream\n/.exec(text)!;
    const start = picture.index + picture[0].length;
    const pixels = inflateSync(bytes.subarray(start, start + Number(picture[1])));
    expect(pixels.length).toBe(3 * w * h);
    expect(new Set(pixels).size).toBeGreaterThan(30); // more than a ground and one colour
    const title = Buffer.from(/\/Title <feff([0-9a-f]+)>/.exec(text)![1]!, 'hex')
      .swap16()
      .toString('utf16le');
    expect(title).toMatch(/^Memory · small\.csv · cpu 1 · 15 of 60 samples$/);
    expect(problems).toEqual([]);
  });
});
