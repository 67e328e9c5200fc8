import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SvgRenderer } from '../../../base/svg';
import { roughMeasure } from '../../../base/text';
import type { PlacesAnswer } from '../../../api/decode';
import { parseTokens } from '../../../base/theme';
import { LOPSIDED, machine, places } from '../../../api/fixture';
import { amountScale, linearTicks, logTicks } from '../../../base/scale';
import { at, blockAt, laySunburst, middleAngle, spanAt } from './sunburst';
import { TopologyView, type TopologyInput } from './topology';
import { layTree, pathOf, sayPath, sayResource } from './tree';

const theme = parseTokens(
  readFileSync(new URL('../../../base/tokens.css', import.meta.url), 'utf8'),
  'light',
);
const levels = LOPSIDED.levels.map((l) => l.type);
const SAMPLES = [100, 0, 30, 40, 20, 60, 10, 0, 30];

function view(more: Partial<TopologyInput> = {}): TopologyView {
  return new TopologyView({
    topology: LOPSIDED,
    places: places(SAMPLES),
    metric: 'latency',
    layout: 'sunburst',
    root: 0,
    size: { w: 700, h: 460 },
    chosen: [],
    preview: false,
    unit: 'cycles',
    ...more,
  });
}

describe('tree', () => {
  const tree = layTree(LOPSIDED.resources, 0, levels);
  it('puts every resource inside its parent, and each type on one ring', () => {
    for (const n of tree.nodes) {
      const parent = tree.byIndex.get(n.parent);
      if (!parent) continue;
      expect(n.from).toBeGreaterThanOrEqual(parent.from - 1e-9);
      expect(n.till).toBeLessThanOrEqual(parent.till + 1e-9);
      expect(n.ring).toBeGreaterThan(parent.ring);
    }
    // CPU 3 has no L2 above it and still stands on the ring of the CPUs.
    expect(tree.byIndex.get(8)!.ring).toBe(tree.byIndex.get(5)!.ring);
    expect(tree.rings).toEqual(['Machine', 'NUMA', 'L2', 'CPU']);
  });
  it('gives leaves equal breadth', () => {
    const widths = tree.nodes.filter((n) => n.ring === 3).map((n) => n.till - n.from);
    for (const w of widths) expect(w).toBeCloseTo(0.25);
  });
  it('names resources and where they lie', () => {
    expect(sayResource(LOPSIDED.resources[5]!)).toBe('CPU 0');
    expect(
      sayResource({
        ...LOPSIDED.resources[5]!,
        type: 'L1',
        id: -1,
        label: 'L1 not described',
        virtual: true,
      }),
    ).toBe('L1 not described');
    expect(sayPath(LOPSIDED.resources, 5)).toBe('L2 #0, NUMA 0');
    expect(pathOf(LOPSIDED.resources, 5)).toEqual([5, 3, 1, 0]);
    const cores = machine([
      ['Machine', 0, -1],
      ['NUMA', 1, 0],
      ['L3', 1, 1],
      ['L2', 11, 2],
      ['L1', 11, 3],
      ['CPU', 7, 4],
    ]);
    expect(sayPath(cores.resources, 5)).toBe('core 11, L3 #1, NUMA 1');
  });
});

describe('sunburst', () => {
  const tree = layTree(LOPSIDED.resources, 0, levels);
  const s = laySunburst(tree, { x: 300, y: 300 }, 200, true);
  it('finds each block at its own middle', () => {
    for (const b of s.blocks) {
      const p = at(s, (b.ring.inner + b.ring.outer) / 2, middleAngle(b));
      expect(blockAt(s, tree, p)).toBe(b.node.index);
    }
    expect(blockAt(s, tree, { x: 300, y: 300 })).toBe(0);
    expect(blockAt(s, tree, { x: 5, y: 5 })).toBeUndefined();
  });
  it('keeps the slot at 12 o’clock free and its sides parallel', () => {
    for (const b of s.blocks) {
      for (const r of [b.ring.inner, b.ring.outer]) {
        for (const angle of spanAt(b, r)) {
          const p = at(s, r, angle);
          if (p.y < s.center.y) expect(Math.abs(p.x - s.center.x)).toBeGreaterThanOrEqual(s.slot / 2 - 0.01);
        }
      }
    }
  });
  it('shrinks gaps before blocks on wide machines', () => {
    const rows: [string, number, number][] = [['Machine', 0, -1]];
    for (let i = 0; i < 384; i++) rows.push(['CPU', i, 0]);
    const wide = machine(rows);
    const t = layTree(wide.resources, 0, ['Machine', 'CPU']);
    const w = laySunburst(t, { x: 0, y: 0 }, 200, true);
    const inner = w.blocks.slice(1, -1).map((b) => {
      const r = (b.ring.inner + b.ring.outer) / 2;
      const [from, till] = spanAt(b, r);
      return { width: (till - from) * r, slot: (2 * Math.PI * r) / 384 };
    });
    for (const { width, slot } of inner) expect(width).toBeGreaterThan(0.6 * slot);
  });
});

describe('topology view', () => {
  it('colours each ring on its own scale, and tells no samples from few', () => {
    const v = view();
    expect(v.scales[3]!.amounts).toMatchObject({ lo: 100, hi: 600 });
    expect(v.scales[2]!.amounts).toMatchObject({ lo: 200, hi: 400 });
    const r = new SvgRenderer(theme, roughMeasure);
    v.draw(r);
    // NUMA 0 and CPU 2 have no samples: two hatched blocks.
    expect(r.document({ w: 1, h: 1 }, '').match(/url\(#h\d+\)/g)!.length).toBeGreaterThanOrEqual(2);
  });
  it('does not stretch its scale by a mean of few samples, and marks it', () => {
    // CPU 0 has 60 samples of 10 cycles, CPU 1 ten of 900, which is chance.
    const dear = { ...places(SAMPLES) };
    const latency = dear.latency.map((l) => l.map((c, i) => (i === 6 ? 9000 : c)));
    const v = view({ metric: 'mean', places: { ...dear, latency } as unknown as PlacesAnswer });
    expect(v.value(6)).toBe(900);
    expect(v.scales[3]!.amounts!.hi).toBe(v.value(5));
    expect(v.describe({ resource: 6 }).more).toContain('uncertain');
    expect(v.describe({ resource: 5 }).more).not.toContain('uncertain');
    for (const layout of ['sunburst', 'icicle'] as const) {
      const hatches = (metric: 'mean' | 'latency'): number => {
        const r = new SvgRenderer(theme, roughMeasure);
        view({ metric, layout }).draw(r);
        return r.document({ w: 1, h: 1 }, '').match(/url\(#h\d+\)/g)!.length;
      };
      expect(hatches('mean')).toBeGreaterThan(hatches('latency'));
    }
  });
  it('keeps caches that samples do not name out of the scale of memory nodes', () => {
    const resources = LOPSIDED.resources.map((r, i) =>
      i === 2 ? { ...r, virtual: true, label: 'peer cache' } : r,
    );
    const served = [0, 50, 9000, 0, 0, 0, 0, 0, 0];
    const v = view({ metric: 'samples', topology: { ...LOPSIDED, resources }, places: places(served) });
    const ring = v.tree.byIndex.get(2)!.ring;
    expect(v.tree.rings[ring]).toBe('NUMA');
    expect(v.scales[ring]!.amounts!.hi).toBe(50);
  });
  it('says once how many are not placed where there is one reason', () => {
    const drawn = (reasons: readonly [string, number][]): string => {
      const unplaced = reasons.map(([reason, n]) => ({ reason, counts: [n, n, 0] }));
      const v = view({ places: { ...places(SAMPLES), unplaced } as unknown as PlacesAnswer });
      const r = new SvgRenderer(theme, roughMeasure);
      v.draw(r);
      return [...r.document({ w: 1, h: 1 }, '').matchAll(/>([^<]*)<\/text>/g)].map((m) => m[1]).join(' ');
    };
    expect(drawn([['not said', 57]])).toContain('57 not placed  · not said');
    expect(
      drawn([
        ['not said', 50],
        ['beyond', 7],
      ]),
    ).toContain('57 not placed  · 50: not said; 7:');
  });
  it('describes what a resource served, and its share', () => {
    const said = view().describe({ resource: 5 });
    expect(said.name).toBe('CPU 0');
    expect(said.more.replaceAll('\u202f', ' ')).toBe(
      '(L2 #0, NUMA 0) · 60 of its 60 samples selected · 600 cycles · 60.0 % of the selection · 60 over its link',
    );
    expect(view().describe({ resource: 1 }).more).toContain('no samples placed here');
  });
  it('draws traffic to the node that served it, and says so', () => {
    const none = places(SAMPLES);
    const sent: PlacesAnswer = {
      ...none,
      remote: {
        ...none.remote,
        from: Uint32Array.of(3),
        to: Uint32Array.of(2),
        samples: [Uint32Array.of(9), Uint32Array.of(7), new Uint32Array()],
      },
    };
    for (const layout of ['sunburst', 'icicle'] as const) {
      const paths = (v: TopologyView): number => {
        const r = new SvgRenderer(theme, roughMeasure);
        v.draw(r);
        return r.document({ w: 1, h: 1 }, '').match(/<path/g)?.length ?? 0;
      };
      expect(paths(view({ layout, places: sent }))).toBe(paths(view({ layout })) + 3); // halo, line, end
    }
    const v = view({ places: sent });
    expect(v.describe({ resource: 3 }).more).toContain('7 served by another node');
    expect(v.rows().rows[2]!.at(-2)).toBe('7');
  });
  it('selects by the name of the resource, and nothing for the machine', () => {
    expect(view().wanted({ resource: 3 })).toEqual({ kind: 'resource', id: 'L2:0' });
    expect(view().wanted({ resource: 0 })).toBeUndefined();
  });
  it('walks by keys: around a ring, in and out', () => {
    const v = view();
    expect(v.step(undefined, 'down')).toEqual({ resource: 0 });
    expect(v.step({ resource: 5 }, 'right')).toEqual({ resource: 6 });
    expect(v.step({ resource: 5 }, 'left')).toEqual({ resource: 8 });
    expect(v.step({ resource: 5 }, 'up')).toEqual({ resource: 3 });
    expect(v.step({ resource: 3 }, 'down')).toEqual({ resource: 5 });
  });
  it('hits the same resources as an icicle, and zooms into a subtree', () => {
    const v = view({ layout: 'icicle' });
    const seen = new Set<number>();
    for (let x = 0; x < 700; x += 3)
      for (let y = 0; y < 460; y += 3) {
        const m = v.hitTest({ x, y });
        if (m) seen.add(m.resource);
      }
    expect(seen.size).toBe(LOPSIDED.resources.length);
    expect(view({ root: 1 }).tree.nodes.map((n) => n.index)).toEqual([1, 3, 4, 5, 6, 7]);
  });
  it('has outlines and links that leave the colours of 384 CPUs in sight', () => {
    const rows: [string, number, number][] = [['Machine', 0, -1]];
    for (let p = 0; p < 2; p++) rows.push(['Package', p, 0]);
    for (let i = 0; i < 384; i++) rows.push(['CPU', i, 1 + Math.floor(i / 192)]);
    const n = rows.map((_, i) => (i < 3 ? 1000 : i % 3));
    const v = view({ layout: 'icicle', topology: machine(rows), places: places(n) });
    const r = new SvgRenderer(theme, roughMeasure);
    const outlines: number[] = [];
    const links: number[] = [];
    r.rect = (box, paint) => void (paint.stroke && outlines.push((paint.width ?? 1) / box.w));
    r.line = (x, _y, to, _to, paint) => void (x === to && links.push(paint.width ?? 1)); // not the legend's
    v.draw(r);
    const slot = 700 / 384;
    expect(outlines.length).toBeGreaterThan(100);
    expect(Math.max(...outlines)).toBeLessThan(0.2);
    expect(links.length).toBeGreaterThan(100);
    expect(Math.max(...links)).toBeLessThan(0.7 * slot);
  });
  it('has a row for each resource', () => {
    expect(view().rows().rows).toHaveLength(LOPSIDED.resources.length);
  });
});

describe('scales', () => {
  it('start at 0 when values are nearly equal', () => {
    expect(amountScale([95, 100])!.lo).toBe(0);
    expect(amountScale([50, 100])!.lo).toBe(50);
    expect(amountScale([])).toBeUndefined();
    expect(amountScale([7])!.t(7)).toBe(1);
  });
  it('have round ticks, never too many', () => {
    expect(linearTicks(0, 134.97, 8)).toEqual([0, 20, 40, 60, 80, 100, 120]);
    expect(linearTicks(0, 1, 11)[3]).toBe(0.3);
    expect(logTicks(21, 1791, 8)).toEqual([50, 100, 200, 500, 1000]);
    for (const most of [1, 2, 3, 7]) expect(linearTicks(3, 997, most).length).toBeLessThanOrEqual(most);
  });
});

describe('a measure of a column', () => {
  // CPU 0 and 1 have values, what the caches served has none.
  const amounts = {
    of: 'q',
    name: 'largest of width',
    unit: 'bytes',
    modelled: false,
    atLeast: false,
    mean: false,
    passed: Float64Array.from([64, 0, 0, 0, 0, 8, 64, 0, 0]),
    passedSamples: Uint32Array.from([9, 0, 0, 0, 0, 4, 5, 0, 0]),
    served: new Float64Array(9),
    servedSamples: new Uint32Array(9),
  };
  const v = view({ amounts });
  it('takes the place of the metric in colours, words and the table', () => {
    expect(v.value(5)).toBe(8);
    expect(v.scales.at(-1)!.amounts!.hi).toBe(64);
    expect(v.describe({ resource: 6 }).more).toContain('largest of width 64 bytes');
    const { head, rows } = v.rows();
    expect(head.slice(-2)).toEqual(['Largest of width, bytes', 'values']);
    expect(rows.find((r) => r[0] === 'CPU 0')!.slice(-2)).toEqual(['8', '4']);
    expect(rows.find((r) => r[0] === 'CPU 3')!.slice(-2)).toEqual(['', '0']); // no value is not zero
  });
  it('has no scale where no resource has a value', () => {
    expect(v.scales.find((s) => s.type === 'L2')!.amounts).toBeUndefined();
  });
  it('is uncertain where it is a mean of few samples', () => {
    expect(v.describe({ resource: 6 }).more).not.toContain('uncertain');
    expect(view({ amounts: { ...amounts, mean: true } }).describe({ resource: 6 }).more).toContain(
      'a mean of fewer than 50 samples, uncertain',
    );
  });
  it('marks bounds', () => {
    expect(view({ amounts: { ...amounts, atLeast: true } }).describe({ resource: 5 }).more).toContain('≥8');
  });
});
