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
