import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { machine, places } from '../../../api/fixture';
import { SvgRenderer } from '../../../base/svg';
import { roughMeasure } from '../../../base/text';
import { parseTokens } from '../../../base/theme';
import { HostsView } from './hosts';
import { resourceOf } from './link';

const theme = parseTokens(
  readFileSync(new URL('../../../base/tokens.css', import.meta.url), 'utf8'),
  'light',
);

/** Hosts of two nodes with two CPUs each; the third one has three times the samples. */
function cluster(hosts: number) {
  const rows: [string, number, number][] = [['Cluster', 0, -1]];
  const samples = [0];
  for (let h = 0; h < hosts; h++) {
    const host = rows.length;
    const n = h === 2 ? 30 : 10;
    rows.push(['Host', h, 0]);
    samples.push(4 * n);
    for (let node = 0; node < 2; node++) {
      const at = rows.length;
      rows.push(['NUMA', node, host], ['CPU', 2 * node, at], ['CPU', 2 * node + 1, at]);
      samples.push(2 * n, n, n);
    }
  }
  samples[0] = samples.reduce((sum, n, i) => sum + (rows[i]![0] === 'Host' ? n : 0), 0);
  const topology = machine(rows);
  const order = [2, ...Array.from({ length: hosts }, (_, h) => h).filter((h) => h !== 2)];
  const answer = {
    ...places(samples),
    hosts: order.map((h) => ({
      resource: 1 + 7 * h,
      distance: h === 2 ? 12.3 : 0,
      measure: h === 2 ? 'samples' : '',
    })),
  };
  return { topology, answer };
}

function view(hosts: number, size = { w: 700, h: 460 }, hovered?: number): HostsView {
  const { topology, answer } = cluster(hosts);
  return new HostsView({
    topology,
    places: answer,
    metric: 'samples',
    layout: 'sunburst',
    root: 0,
    size,
    chosen: ['Host:2'],
    preview: false,
    unit: 'cycles',
    hovered,
  });
}

describe('small pictures of hosts', () => {
  it('draws the host most unlike the others first, with the number that makes it so', () => {
    const v = view(20);
    expect(v.tiles.map((t) => t.head).slice(0, 3)).toEqual(['Host 2', 'Host 0', 'Host 1']);
    expect(v.tiles[0]!.why).toBe('12.3 dev. off, samples');
    expect(v.tiles).toHaveLength(20);
    const r = new SvgRenderer(theme, roughMeasure);
    v.draw(r);
    const svg = r.document(v.size, '');
    expect(svg).toContain('20 hosts, farthest from the median host first · one scale for all');
    expect(v.summary()).toContain('Host 2, 12.3 dev. off, samples');
  });
  it('keeps tiles inside the picture and apart', () => {
    for (const n of [9, 20, 64, 256]) {
      const v = view(n);
      const seen = new Set<string>();
      for (const { box } of v.tiles) {
        expect(box.x + box.w).toBeLessThanOrEqual(700.001);
        expect(box.y + box.h).toBeLessThanOrEqual(460.001);
        expect(box.w).toBeGreaterThanOrEqual(96);
        seen.add(`${box.x},${box.y}`);
      }
      expect(seen.size).toBe(v.tiles.length);
    }
  });
  it('says how many have no room', () => {
    const v = view(256);
    const r = new SvgRenderer(theme, roughMeasure);
    v.draw(r);
    expect(v.tiles.length).toBeLessThan(256);
    expect(r.document(v.size, '')).toContain(`without ${256 - v.tiles.length} hosts nearer to it`);
  });
  it('finds the host by its name and the resources inside it, and selects them', () => {
    const v = view(20);
    const tile = v.tiles[0]!;
    const host = v.hitTest({ x: tile.box.x + 4, y: tile.box.y + 4 })!;
    expect(v.wanted(host)).toEqual({ kind: 'resource', id: 'Host:2' });
    expect(v.describe(host).more).toContain('12.3 deviations from the median host in samples');
    // Somewhere in the tile lies each of its CPUs.
    const found = new Set<number>();
    for (let x = 0; x < tile.box.w; x += 2)
      for (let y = 30; y < tile.box.h; y += 2)
        found.add(v.hitTest({ x: tile.box.x + x, y: tile.box.y + y })!.resource);
    for (const cpu of [17, 18, 20, 21]) expect(found).toContain(cpu);
    expect([...found].every((i) => i >= 15 && i <= 21)).toBe(true);
  });
  it('walks from host to host, into one and out again', () => {
    const v = view(20);
    const first = v.step(undefined, 'next')!;
    expect(first.resource).toBe(15);
    expect(v.step(first, 'right')!.resource).toBe(1);
    const inside = v.step(first, 'down')!;
    expect(inside.resource).toBe(16);
    expect(v.step(inside, 'up')!.resource).toBe(15);
    expect(v.step(first, 'left')!.resource).toBe(v.tiles.at(-1)!.host);
  });
  it('lists hosts first, in the order of the picture', () => {
    const { head, rows } = view(20).rows();
    expect(head.slice(-2)).toEqual(['distance', 'measure']);
    expect(rows[0]![0]).toBe('Host 2');
    expect(rows[0]!.slice(-2)).toEqual(['12.3', 'samples']);
    expect(rows).toHaveLength(1 + 20 * 7);
  });
  it('finds a host by a term of its column', () => {
    const { topology } = cluster(9);
    expect(resourceOf({ kind: 'values', column: 'host', values: ['Host 2'] }, topology)).toBe(15);
    expect(resourceOf({ kind: 'values', column: 'host', values: ['elsewhere'] }, topology)).toBeUndefined();
  });
});
