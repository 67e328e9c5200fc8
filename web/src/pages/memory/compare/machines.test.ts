import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { machine, places } from '../../../api/fixture';
import type { Pair } from '../../../api/wire';
import { SvgRenderer } from '../../../base/svg';
import { roughMeasure } from '../../../base/text';
import { parseTokens } from '../../../base/theme';
import type { TopologyView } from '../views/topology';
import { type TopologyInput } from '../views/topology';
import type { MachinesView } from './machines';
import { topologyOfPair } from './sidesoftopology';

const theme = parseTokens(
  readFileSync(new URL('../../../base/tokens.css', import.meta.url), 'utf8'),
  'light',
);

const APART = 'different machines: 1 CPU, 1 node against 2 CPUs, 1 node';
const PAIR = { unlike: [], allowance: 0, apart: APART } as unknown as Pair;

/** A has one CPU on a node; B has an L2 between its node and two CPUs. */
const made = machine([
  ['Cluster', 0, -1],
  ['Host', 0, 0],
  ['NUMA', 0, 1],
  ['CPU', 0, 2],
  ['Host', 1, 0],
  ['NUMA', 0, 4],
  ['L2', 0, 5],
  ['CPU', 0, 6],
  ['CPU', 1, 6],
]);
const TOPOLOGY = {
  ...made,
  resources: made.resources.map((r) => (r.type === 'Host' ? { ...r, label: r.id === 0 ? 'A' : 'B' } : r)),
};
const OF_A = places([30, 30, 30, 30, 0, 0, 0, 0, 0]);
const OF_B = places([7, 0, 0, 0, 7, 7, 7, 5, 2]);

function input(more: Partial<TopologyInput> = {}): TopologyInput {
  return {
    topology: TOPOLOGY,
    places: OF_B,
    metric: 'samples',
    layout: 'sunburst',
    root: 0,
    size: { w: 700, h: 360 },
    chosen: [],
    preview: false,
    unit: 'cycles',
    ...more,
  };
}

function both(more: Partial<TopologyInput> = {}): MachinesView {
  return topologyOfPair(input(more), OF_A, PAIR, 'diff') as MachinesView;
}

describe('two machines beside each other', () => {
  it('each have their own samples, and a ring of one kind one scale', () => {
    const v = both();
    const [a, b] = v.machines;
    expect([a.total(), b.total()]).toEqual([30, 7]);
    expect([a.tree.rings, b.tree.rings]).toEqual([
      ['Host', 'NUMA', 'CPU'],
      ['Host', 'NUMA', 'L2', 'CPU'],
    ]);
    const scale = (m: TopologyView, type: string) => m.scales.find((s) => s.type === type)!.amounts!;
    for (const m of v.machines) expect([scale(m, 'CPU').lo, scale(m, 'CPU').hi]).toEqual([2, 30]);
  });

  it('say what is which, how they differ, and that nothing is subtracted', () => {
    const r = new SvgRenderer(theme, roughMeasure);
    const v = both();
    v.draw(r);
    const svg = r.document(v.size, '');
    for (const text of [
      'A · 30 samples',
      'B · 7 samples',
      `${APART}: their resources are not subtracted`,
      'L2',
    ])
      expect(svg).toContain(text);
    expect(v.summary()).toContain(`side by side, ${APART}; A 30 samples, B 7`);
  });

  it('are found by the pointer, left A and right B, and selected each on its own', () => {
    const v = both();
    const found = { left: new Set<number>(), right: new Set<number>() };
    const edge = 12 + v.machines[0].size.w + 6;
    for (let x = 0; x < 700; x += 3)
      for (let y = 0; y < 360; y += 3) {
        const m = v.hitTest({ x, y });
        if (m) found[x < edge ? 'left' : 'right'].add(m.resource);
      }
    expect([...found.left].sort()).toEqual([1, 2, 3]);
    expect([...found.right].sort()).toEqual([4, 5, 6, 7, 8]);
    expect(v.wanted({ resource: 4 })).toEqual({ kind: 'resource', id: 'Host:1' });
    expect(v.describe({ resource: 8 }).more).toContain('2 of its 2 samples');
  });

  it('are walked by keys: around one, and from one to the other', () => {
    const v = both();
    expect(v.step(undefined, 'next')).toEqual({ resource: 1 });
    expect(v.step({ resource: 1 }, 'right')).toEqual({ resource: 4 });
    expect(v.step({ resource: 4 }, 'left')).toEqual({ resource: 1 });
    expect(v.step({ resource: 4 }, 'down')).toEqual({ resource: 5 });
    expect(v.step({ resource: 7 }, 'right')).toEqual({ resource: 8 });
    expect(v.step({ resource: 4 }, 'up')).toEqual({ resource: 4 });
  });

  it('are a table with A or B, and nothing compared', () => {
    const { head, rows } = both().rows();
    expect(head).toEqual(['resource', 'A', 'B', 'change', 'low', 'high', 'verdict']);
    expect(rows).toHaveLength(8);
    expect(rows.filter((r) => r[1] !== '').map((r) => r[1])).toEqual(['30', '30', '30']);
    expect(rows.every((r) => (r[1] === '') !== (r[2] === '') && r[6] === 'not compared')).toBe(true);
  });

  it('fit a small pane without a legend', () => {
    const v = both({ size: { w: 300, h: 160 } });
    const r = new SvgRenderer(theme, roughMeasure);
    v.draw(r);
    expect(r.document(v.size, '')).not.toContain('one scale for A and B');
    for (const m of v.machines) expect(m.size.w).toBeGreaterThan(100);
  });

  it('alone: the one that is shown, or the one that is zoomed into', () => {
    const alone = (shown: 'a' | 'b' | 'diff', root = 0): TopologyView => {
      const [own, other] = shown === 'a' ? [OF_A, OF_B] : [OF_B, OF_A];
      return topologyOfPair(input({ places: own, root }), other, PAIR, shown) as TopologyView;
    };
    expect([alone('a').tree.root, alone('a').total()]).toEqual([1, 30]);
    expect([alone('b').tree.root, alone('b').total()]).toEqual([4, 7]);
    expect([alone('diff', 2).tree.root, alone('diff', 2).total()]).toEqual([2, 30]);
    expect([alone('a', 6).tree.root, alone('a', 6).total()]).toEqual([6, 7]);
  });
});
