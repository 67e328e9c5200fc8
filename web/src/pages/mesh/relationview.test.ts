import { describe, expect, it } from 'vitest';
import type { MeshRelation } from '../../api/wire';
import { RelationView, type RelationInput } from './relationview';
import { colourScale, edgesOf, plotScale } from './scales';

const BINS = 4;
const relation = {
  density: {
    x: [0, 10, 20, 30, 40], // the field
    y: [100, 125, 150, 175, 200], // the variable
    log: false,
    counts: Array.from({ length: BINS * BINS }, (_, k) => (k === 1 * BINS + 2 ? 7 : k === 15 ? 1 : 0)),
  },
  picked: [],
  correlation: null,
  categories: [],
  problem: '',
} as unknown as MeshRelation;

const scales = {
  x: colourScale({ min: 100, max: 200, spread: [] }, 'linear'),
  y: colourScale({ min: 0, max: 40, spread: [] }, 'linear'),
};

function view(more: Partial<RelationInput> = {}): RelationView {
  return new RelationView({
    relation,
    bins: BINS,
    scales,
    x: 'pressure',
    y: 'latency',
    size: { w: 276, h: 254 }, // a plot of 200 × 200
    at: undefined,
    brushed: undefined,
    cursor: undefined,
    ...more,
  });
}

describe('the relation', () => {
  it('hits the bin under the pointer, values going up and to the right', () => {
    expect(view().hitTest({ x: 56 + 60, y: 20 + 60 })).toEqual({ x: 1, y: 2 });
    expect(view().hitTest({ x: 20, y: 60 })).toBeUndefined();
    expect(view().binAt({ x: 1000, y: -50 })).toEqual({ x: 3, y: 3 }); // a drag may leave the plot
  });
  it('names the values of a rectangle, whichever corner it was begun at', () => {
    const v = view();
    const whole = { x: [100, 200], y: [0, 40] };
    expect(v.area({ x: 0, y: 0 }, { x: 3, y: 3 })).toEqual(whole);
    expect(v.area({ x: 3, y: 0 }, { x: 0, y: 3 })).toEqual(whole);
    // An edge is counted above it: the bin ends just before.
    const { x, y } = v.area({ x: 1, y: 2 }, { x: 1, y: 2 });
    expect([x[0], y[0]]).toEqual([125, 20]);
    expect(x[1] < 150 && x[1] * (1 + Number.EPSILON) >= 150).toBe(true);
    expect(y[1] < 30 && y[1] * (1 + Number.EPSILON) >= 30).toBe(true);
  });
  it('says and lists the cells of each bin', () => {
    expect(view().describe({ x: 1, y: 2 }).more).toBe('7 cells · pressure 125 to 150 · latency 20 to 30');
    expect(view().rows()).toEqual({
      head: ['pressure from', 'pressure to', 'latency from', 'latency to', 'cells'],
      rows: [
        ['125', '150', '20', '30', '7'],
        ['175', '200', '30', '40', '1'],
      ],
    });
  });
  it('gives decades that reach zero room, and says by which scale', () => {
    // As energies behind a blast: most cells nothing, the others over ten decades.
    const values = Array.from({ length: 2000 }, (_, i) => (i < 1100 ? 0 : 10 ** (-5 + i / 200)));
    const spread = Array.from({ length: 65 }, (_, i) => values[Math.round((i / 64) * 1999)]!);
    const of = { min: 0, max: values.at(-1)!, spread };
    const scale = plotScale(of);
    const edges = edgesOf(scale, BINS);
    const rank = { ...relation, density: { ...relation.density!, y: edges } };
    const v = view({ relation: rank, scales: { x: scale, y: scale } });
    expect(scale.name).not.toBe('linear');
    expect(v.summary()).toContain(`against pressure, ${scale.name}.`);
    const bins = new Set(values.filter((e) => e > 0).map((e) => edges.findLastIndex((edge) => edge <= e)));
    expect(bins.size).toBeGreaterThanOrEqual(BINS - 1); // on a linear scale all but a few have one
  });
  it('keeps clusters clusters, where they are not squeezed', () => {
    const spread = Array.from({ length: 65 }, (_, i) => [0.0187, 0.021, 0.025, 0.028][i >> 4] ?? 0.0283);
    const of = { min: 0.0187, max: 0.0283, spread };
    expect(plotScale(of).name).toBe('linear');
  });
  it('is walked by keys and stays inside', () => {
    expect(view().step(undefined, 'up')).toEqual({ x: 2, y: 3 });
    expect(view().step({ x: 3, y: 3 }, 'right')).toEqual({ x: 3, y: 3 });
  });
  it('keeps its picture while only the pointer moves', () => {
    expect(view({ cursor: { x: 1, y: 1 } }).basis).toEqual(view().basis);
    expect(view({ cursor: { x: 1, y: 1 } }).basisOver).not.toEqual(view().basisOver);
  });
});
