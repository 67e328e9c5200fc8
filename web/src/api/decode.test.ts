import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ALL, decode, HOVERED, SELECTED, selectionHovered } from './decode';

// Written by TestAnswerFixture in Go; TestAsk there gives the same values.
const file = readFileSync(new URL('testdata/answer.isob', import.meta.url));
const buffer = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer;

describe('decode', () => {
  const a = decode(buffer);

  it('reads counts', () => {
    expect(a.counts).toEqual([6, 3, 2]);
    expect(a.hoverAll).toBe(4);
    expect(a.where).toBe('latency >= 40');
  });

  it('reads histograms', () => {
    const [latency, level] = a.axes;
    expect([...latency!.edges]).toEqual([0, 100, 200, 300, 400]);
    expect([...latency!.counts[ALL]]).toEqual([3, 0, 1, 1, 1]);
    expect([...latency!.counts[SELECTED]]).toEqual([1, 0, 1, 1, 0]);
    expect([...latency!.counts[HOVERED]]).toEqual([0, 0, 1, 1, 0]);
    expect(level!.labels).toEqual(['L1', 'L3', 'Local RAM']);
  });

  it('reads cells, groups, statistics and rows', () => {
    expect([...a.pairs[0]!.left]).toEqual([0, 0, 2, 3, 4]);
    expect([...a.pairs[0]!.right]).toEqual([0, 1, 2, 2, 3]);
    expect(a.groups[0]!.keys[1]).toEqual(['7', '2', '9', '1']);
    expect([...a.groups[0]!.sums[ALL]]).toEqual([600, 50, 0, 10]);
    expect([...a.stats[0]!.quantiles[SELECTED]]).toEqual([200, 400]);
    expect(a.rows!.cells[0]).toEqual(['0x8000000000000001', 'Local RAM']);
  });

  it('reads the topology aggregate', () => {
    expect(a.places!.samples[ALL][0]).toBe(6);
    expect(a.places!.latency[SELECTED][0]).toBe(640);
    expect(a.places!.samples[HOVERED][0]).toBe(2);
  });

  it('knows when the hover is all that is selected', () => {
    expect(selectionHovered(a)).toBe(false);
    expect(selectionHovered({ ...a, counts: [6, 3, 3] })).toBe(true);
    expect(selectionHovered({ ...a, where: '', counts: [6, 6, 6] })).toBe(false); // nothing is selected
  });

  it('says when it is given something else', () => {
    expect(() => decode(new TextEncoder().encode('<!doctype html>').buffer as ArrayBuffer)).toThrow('ISOB');
    expect(() => decode(buffer.slice(0, 40))).toThrow('ends inside');
    expect(() => decode(new ArrayBuffer(3))).toThrow('ISOB');
  });
});
