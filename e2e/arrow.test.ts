// Reads our Arrow files with a reader that shares no code with their writer.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isobath } from './harness';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'isobath-arrow-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const SAMPLES = `source,line,time,cpu,latency,level,hit_type,addr,variable
heat.c,3,10,0,12,L1,Hit,18446744073709551615,u
heat.c,3,11,0,30,L2,Hit,4160,u
??,??,14,7,400,Local RAM,Hit,9000,??
`;

test('an Arrow file of ours opens elsewhere with the same values', () => {
  const csv = join(folder, 'samples.csv');
  const arrow = join(folder, 'samples.arrow');
  writeFileSync(csv, SAMPLES);
  isobath('export', csv, '-o', arrow);
  const table = tableFromIPC(readFileSync(arrow));
  const column = (name: string): unknown[] => [...(table.getChild(name) ?? [])];
  expect(table.numRows).toBe(3);
  expect(column('latency')).toEqual([12, 30, 400]);
  expect(column('level')).toEqual(['L1', 'L2', 'Local RAM']);
  expect(column('line')).toEqual([3, 3, null]);
  expect(column('symbol')).toEqual(['u', 'u', null]);
  expect(column('addr')).toEqual([18446744073709551615n, 4160n, 9000n]);
  expect(column('time')).toEqual([0n, 1n, 4n]);
  expect(table.schema.fields.find((f) => f.name === 'latency')?.metadata.get('isobath.provenance')).toBe(
    'measured',
  );
});
