import { describe, expect, it } from 'vitest';
import type { Ranking, ReportGain } from '../../api/wire';
import { pictureAsk } from './asks';
import { TraceControl, type Brush } from './controller';
import { operationItems, rowItems } from './menus';
import { sceneOf, type Scene } from './scene';
import { INITIAL, type TraceState } from './state';
import type { TraceSnapshot } from './store';
import { timelineInput } from './timelineinput';

const gain = (rank: number, op: number): ReportGain =>
  ({
    rank,
    kind: 'compute',
    gain: 0.1,
    evidence: { took_ns: 5e6, usual_ns: 1e6, compared_to: 'at the same step' },
    instances: [
      { process: 3, op, step: 40, time: 0, amount_ns: 4e6, took_ns: 5e6 },
      { process: 4, op: op + 1, step: 41, time: 0, amount_ns: 3e6, took_ns: 4e6 },
    ],
  }) as unknown as ReportGain;

const trace = {
  info: { report: { steps: 100, span_ns: 1e9 }, measures: [], processes: [{ host: 'a' }, { host: 'b' }] },
  ranking: { gains: [gain(1, 10), gain(2, 20)], then: [] } as unknown as Ranking,
} as unknown as TraceSnapshot;

/** A page with nothing but its state. */
function page(state: Partial<TraceState> = {}) {
  const at = {
    kept: { ...INITIAL, ...state },
    live: undefined as TraceState | undefined,
    brush: [] as unknown[],
  };
  const scene = (): Scene => sceneOf(trace, at.kept, at.live, false);
  const control = new TraceControl({
    scene,
    views: () => ({ logical: undefined, physical: undefined, overview: undefined }),
    size: () => ({ w: 670, h: 200 }),
    save: (s) => {
      at.live = undefined;
      if (s) at.kept = s;
    },
    show: (s) => (at.live = s),
    brush: (b: Brush | undefined) => at.brush.push(b),
    find: (_, from) => Promise.resolve(from < 0 ? { id: 30, step: 50, process: 1 } : undefined),
  });
  return { at, control, scene };
}

describe('the controller', () => {
  it('brings an instance of a cause into view and keeps the width of the window', () => {
    const { at, control, scene } = page({ from: 0, to: 10, rowFrom: 0, rowTo: 2 });
    control.follow(2, { id: 21, step: 41, process: 4 });
    expect([at.kept.from, at.kept.to, at.kept.entry, at.kept.op]).toEqual([36, 46, 2, 21]);
    expect(scene().instance?.op).toBe(21);
    expect(scene().active?.rank).toBe(2);
  });

  it('shows a cause without an operation as no operation', () => {
    const { at, control } = page({ op: 7 });
    control.follow(1, { id: -1, step: -1, process: 0 });
    expect([at.kept.op, at.kept.from, at.kept.to]).toEqual([-1, 0, 0]);
  });

  it('stores a window of all steps as none', () => {
    const { at, control } = page({ from: 5, to: 9 });
    control.setSteps(-3, 500);
    expect([at.kept.from, at.kept.to]).toEqual([0, 0]);
    control.setSteps(4.2, 8.1);
    expect([at.kept.from, at.kept.to]).toEqual([4, 9]);
  });

  it('goes to what is found, and stays where nothing is', async () => {
    const { at, control } = page({ from: 0, to: 10 });
    await control.find('late > 1ms');
    expect([at.kept.find, at.kept.op, at.kept.from, at.kept.to]).toEqual(['late > 1ms', 30, 45, 55]);
    await control.find('rank 3');
    expect([at.kept.find, at.kept.op]).toEqual(['late > 1ms', 30]);
  });

  it('makes a change once, and several on top of each other', () => {
    const { at, control } = page();
    for (const c of ['cause 1', ' cause 1 ', '', 'rank 3 = median']) control.whatIf(c);
    expect(at.kept.changes).toEqual(['cause 1', 'rank 3 = median']);
  });
});

describe('the scene', () => {
  it('numbers causes where their operations are', () => {
    const { scene } = page();
    expect(scene().discs.map((d) => [d.number, d.op, d.process, d.active])).toEqual([
      [1, 10, 3, true],
      [2, 20, 3, false],
    ]);
    expect(scene().note.replaceAll('\u202f', ' ')).toBe(
      'computing 5.00 ms; 1.00 ms is usual at the same step',
    );
  });

  it('asks for the changed run only once it is known that it can be', () => {
    const sizes = { overview: { w: 600, h: 60 }, logical: { w: 600, h: 300 }, physical: { w: 600, h: 300 } };
    const ask = { options: null, threshold: 0, from: 0, to: 0, against: '' };
    const changes = (t: TraceSnapshot, s: Partial<TraceState>): readonly string[] | undefined =>
      pictureAsk(sceneOf(t, { ...INITIAL, ...s }, undefined, false), ask, sizes, -1, null)?.changes;
    expect(changes(trace, { changes: ['rank 99 = median'] })).toEqual([]);
    const answered = { ...trace, whatif: { changes: ['cause 1'] } } as unknown as TraceSnapshot;
    expect(changes(answered, { changes: ['cause 1'] })).toEqual(['cause 1']);
    expect(changes(answered, { changes: ['cause 1'], run: 'recorded' })).toEqual([]);
  });

  it('draws nothing before there is a picture', () => {
    const { scene } = page();
    const none = { hovered: -1, partners: [], morph: 0 };
    expect(timelineInput(scene(), 'logical', { w: 100, h: 100 }, none)).toBeUndefined();
  });

  it('offers groups of rows that there are', () => {
    const { scene, control } = page();
    const hosts = rowItems(scene(), control).find((i) => i.label === 'by host')!;
    expect([hosts.note, hosts.disabled]).toEqual(['2 in all', false]);
    expect(operationItems(scene(), control, 3)).toEqual([]);
  });
});
