import { describe, expect, it, vi } from 'vitest';
import type { Gesture } from '../context';
import { HostControl, type Carried } from './control.svelte';

const at = { x: 10, y: 20 };

function host(more: Partial<Carried<number>> = {}) {
  const acted: string[] = [];
  const hovered: unknown[] = [];
  const carried = {
    desk: { store: { hover: (t: unknown) => hovered.push(t) }, say: () => {} },
    view: { hitTest: () => 7, wanted: () => undefined, describe: () => ({ name: '', more: '' }) },
    title: 'A view',
    act: (action: string) => {
      acted.push(action);
      return true;
    },
    ...more,
  } as unknown as Carried<number>;
  return { control: new HostControl<number>(() => carried), acted, hovered };
}

const wheel = (deltaX: number, deltaY: number, shiftKey = false): WheelEvent =>
  ({ deltaX, deltaY, shiftKey, ctrlKey: true, metaKey: false, preventDefault: () => {} }) as WheelEvent;
const press = { button: 0, shiftKey: false } as PointerEvent;

describe('a wheel with Ctrl', () => {
  it.each([
    [wheel(0, -100), 'zoom-in'],
    [wheel(0, 100), 'zoom-out'],
    [wheel(-100, 0, true), 'zoom-in'], // with Shift, browsers turn the wheel sideways
    [wheel(100, 0, true), 'zoom-out'],
  ])('zooms, with Shift too', (e, action) => {
    const { control, acted } = host();
    control.wheel(at, e);
    expect(acted).toEqual([action]);
  });
});

describe('a drag', () => {
  it('that is cancelled is over: what the pointer does next is no part of it', () => {
    const gesture = { move: vi.fn(), end: vi.fn(), cancel: vi.fn() };
    const { control } = host({ grab: () => gesture as Gesture });
    control.pressed(at, press);
    control.moved({ x: 40, y: 20 });
    expect(gesture.move).toHaveBeenCalledTimes(1);
    control.giveUp();
    expect(gesture.cancel).toHaveBeenCalledTimes(1);
    control.moved({ x: 60, y: 20 });
    control.released({ x: 60, y: 20 }, press);
    expect(gesture.move).toHaveBeenCalledTimes(1);
    expect(gesture.end).not.toHaveBeenCalled();
  });
});

describe('a mark', () => {
  /** A list of so many rows, all of which are where the pointer is: the last one. */
  function list(rows: number): Carried<number>['view'] {
    return {
      hitTest: () => (rows > 0 ? rows - 1 : undefined),
      step: () => rows - 1,
      wanted: () => undefined,
      describe: (i: number) => ({ name: Array.from({ length: rows }, (_, k) => ({ k }))[i]!.k, more: '' }),
    } as unknown as Carried<number>['view'];
  }

  function shown(rows: number) {
    let view = list(rows);
    const said: unknown[] = [];
    const carried = {
      desk: { store: { hover: () => {} }, say: (s: unknown) => said.push(s) },
      title: 'A list',
      get view() {
        return view;
      },
    } as unknown as Carried<number>;
    const control = new HostControl<number>(() => carried);
    return {
      control,
      said,
      answer: (n: number) => {
        view = list(n);
        control.follow();
      },
    };
  }

  it('of an answer that is gone is what the pointer is at now', () => {
    const { control, answer } = shown(5);
    control.moved(at);
    answer(3);
    expect(control.mark).toBe(2);
    answer(0);
    expect(control.mark).toBeUndefined();
  });

  it('of keys goes with the answer, and begins anew', () => {
    const { control, said, answer } = shown(5);
    control.key('next', {} as KeyboardEvent);
    answer(6);
    expect(control.mark).toBe(4); // it is still there
    answer(3);
    expect(control.mark).toBeUndefined();
    expect(said.at(-1)).toBeUndefined();
  });

  it('that the view has stays, whatever is under the pointer', () => {
    const { control, answer } = shown(5);
    control.moved(at);
    answer(9);
    expect(control.mark).toBe(4);
  });
});

describe('a view that goes', () => {
  it('takes its hover with it, and the tooltip that was to come', () => {
    vi.useFakeTimers();
    const { control, hovered } = host();
    control.moved(at);
    control.destroy();
    vi.runAllTimers();
    expect(control.tip).toBeUndefined();
    expect(hovered.at(-1)).toBeUndefined();
    vi.useRealTimers();
  });
});
