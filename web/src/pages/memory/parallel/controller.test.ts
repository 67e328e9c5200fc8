import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Term } from '../../../state/selection';
import type { ParallelView } from '../views/parallel';
import { ParallelControl } from './controller';

class Key {
  constructor(readonly key: string) {}
}
beforeEach(() => vi.stubGlobal('KeyboardEvent', Key));
afterEach(() => vi.unstubAllGlobals());

/** One axis of ten bins, 10 px each, whose brush is the range of pixels. */
function page() {
  const brushes: { terms: readonly Term[]; moving: boolean }[] = [];
  let cancelled = 0;
  const layout = {
    up: false,
    input: { column: { name: 'cpu' } },
    slots: Array.from({ length: 10 }, (_, bin) => ({ bin, from: 10 * bin, till: 10 * bin + 10 })),
    brushTerms: (a: number, b: number): Term[] => [
      { kind: 'range', column: 'cpu', lo: Math.floor(a / 10), hi: Math.floor(b / 10) },
    ],
  };
  const view = {
    columns: [{ layout, brushes: [], x: 0, w: 40 }],
    wanted: () => ({ kind: 'values', column: 'cpu', values: [0] }),
  } as unknown as ParallelView;
  const store = {
    brush: (_: string, terms: readonly Term[], moving = false) => brushes.push({ terms, moving }),
    cancelMove: () => cancelled++,
  };
  const desk = { store, snap: { mode: 'replace' } };
  const model = { axes: [{ column: 'cpu' }], desk, drag: undefined, link: { select: [] }, view };
  const control = new ParallelControl(model as never, () => {});
  const press = (bin: number, key: string): boolean =>
    control.act('extend', { kind: 'bin', axis: 0, bin }, undefined, new Key(key) as unknown as Event);
  const range = (): readonly [unknown, unknown] => {
    const [t] = brushes.at(-1)!.terms;
    return t?.kind === 'range' ? [t.lo, t.hi] : [undefined, undefined];
  };
  return { control, press, range, brushes, cancelled: () => cancelled };
}

describe('a brush stretched by keys', () => {
  it('goes on from where it was, and is set by Enter', () => {
    const p = page();
    p.press(3, 'ArrowDown');
    p.press(3, 'ArrowDown');
    expect(p.range()).toEqual([3, 5]);
    expect(p.brushes.at(-1)!.moving).toBe(true);
    expect(p.control.pick({ kind: 'bin', axis: 0, bin: 3 })).toBe(true);
    expect(p.range()).toEqual([3, 5]);
    expect(p.brushes.at(-1)!.moving).toBe(false);
  });

  it('begins at its own mark, not at that of the brush before', () => {
    const p = page();
    p.press(3, 'ArrowDown');
    p.control.pick({ kind: 'bin', axis: 0, bin: 3 });
    p.press(7, 'ArrowUp');
    expect(p.range()).toEqual([6, 7]);
    p.press(1, 'ArrowDown'); // another mark before the last was set
    expect(p.range()).toEqual([1, 2]);
  });

  it('is given up by Escape, and the next Enter picks the mark', () => {
    const p = page();
    p.press(3, 'ArrowDown');
    expect(p.control.act('close', undefined, undefined)).toBe(true);
    expect(p.cancelled()).toBe(1);
    const before = p.brushes.length;
    expect(p.control.pick({ kind: 'bin', axis: 0, bin: 3 })).toBe(false);
    expect(p.brushes.length).toBe(before);
    expect(p.control.act('close', undefined, undefined)).toBe(false);
  });

  it('does not leave the axis', () => {
    const p = page();
    for (let i = 0; i < 5; i++) p.press(8, 'ArrowDown');
    expect(p.range()).toEqual([8, 9]);
  });
});
