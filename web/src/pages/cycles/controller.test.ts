import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CyclesControl } from './controller';
import { text, type Selection } from '../../state/selection';
import { NO_ZOOM } from './plane';
import { INITIAL, readCycles, type CyclesState } from './state';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A page with nothing but its state. */
function page(state: Partial<CyclesState> = {}, more: object = {}) {
  const at = {
    options: {} as Record<string, string>,
    saved: 0,
    selected: [] as unknown[],
    select: [] as Selection,
    page: '',
  };
  const kept = { ...INITIAL, ...state };
  const model = {
    live: undefined as CyclesState | undefined,
    get now(): CyclesState {
      return this.live ?? kept;
    },
    kept,
    linked: kept,
    loop: -1,
    counted: false,
    get select(): Selection {
      return at.select;
    },
    class: kept.class,
    stage: { w: 400, h: 400 },
    data: { analysing: false },
    desk: {
      snap: { state: { options: {} } },
      store: {
        change: (patch: { options?: Record<string, string>; page?: string }) => {
          at.saved++;
          if (patch.options) at.options = patch.options;
          if (patch.page) at.page = patch.page;
        },
        go: (patch: { options: Record<string, string>; select: Selection }) => {
          at.saved++;
          Object.assign(at, patch);
        },
        select: (...what: unknown[]) => at.selected.push(what),
      },
    },
    ...more,
  };
  const plane = { zoomed: () => ({ k: 2, x: 0, y: 0 }), moved: () => ({ k: 2, x: 0.1, y: 0 }) };
  const control = new CyclesControl(
    model as never,
    { spiral: { plane, place: () => undefined }, unwrapped: undefined, diagram: undefined } as never,
  );
  return { at, control, model, written: () => readCycles(at.options) };
}

describe('the controller', () => {
  it('puts a zoom into the link once it rests', () => {
    const { at, control, model, written } = page();
    control.steer('zoom-in', undefined, undefined);
    control.steer('zoom-in', undefined, undefined);
    expect([model.live?.zoom.k, at.saved]).toEqual([2, 0]);
    vi.runAllTimers();
    expect([written().zoom.k, at.saved, model.live]).toEqual([2, 1, undefined]);
  });

  it('changes nothing after its page is left', () => {
    const { at, control } = page();
    control.steer('zoom-in', undefined, undefined);
    control.close();
    vi.runAllTimers();
    expect(at.saved).toBe(0);
  });

  it('lets go of what was chosen when it analyses anew', () => {
    const { control, written } = page({ class: 3, from: 5, to: 9, zoom: { k: 3, x: 0, y: 0 } });
    control.again({ symbol: 'addr' });
    expect(written()).toMatchObject({ class: 0, from: 0, to: 0, zoom: NO_ZOOM });
    expect(written().ask.symbol).toBe('addr');
  });

  it('chooses the class that goes around a loop', () => {
    const info = {
      classes: [
        { loop: 4, turns: 0 },
        { loop: 4, turns: 7 },
      ],
    };
    const loops = Array.from({ length: 10 }, (_, i) => ({ name: `a.c:${i} f` }));
    const { at, control, written } = page({}, { info, data: { analysing: false, loops: { loops } } });
    control.chooseLoop(4);
    expect([text(at.select), written().class, at.saved]).toEqual(['rows "loop a.c:4 f"', 1, 1]);
    control.chooseLoop(9);
    expect(text(at.select)).toBe('rows "loop a.c:9 f"');
    control.chooseLoop(-1);
    expect(at.select).toEqual([]);
  });

  it('selects a stretch on all pages where they count as it does, else for itself', () => {
    const shared = page({}, { counted: true });
    shared.control.selectStretch({ from: 5, to: 9 });
    expect([text(shared.at.select), shared.written().to]).toEqual(['order in 5..8', 0]);
    shared.control.selectStretch({ from: 0, to: 0 });
    expect(shared.at.select).toEqual([]);
    const own = page({});
    own.control.selectStretch({ from: 5, to: 9 });
    expect([own.at.select, own.written().from, own.written().to]).toEqual([[], 5, 9]);
  });

  it('does not keep in its own part of the link what the selection says', () => {
    const { control, written } = page({ from: 5, to: 9 }, { stretch: { from: 5, to: 9 } });
    control.commit({ view: 'torus' });
    expect(written()).toMatchObject({ view: 'torus', from: 0, to: 0 });
  });

  it('goes to a named structure once its analysis is there', () => {
    const named = { name: 'rows', class: -1, symbol: 'addr', window: 10 };
    const p = page({}, { info: { classes: [], named: [named] }, wanted: undefined });
    p.control.show(named as never);
    expect(p.written().ask).toMatchObject({ symbol: 'addr', window: 10 });
    p.control.arrive();
    expect(p.at.saved).toBe(1); // not there yet
    Object.assign(p.model, { info: { classes: [], named: [{ ...named, class: 2 }] } });
    p.control.arrive();
    expect(p.written().class).toBe(2);
  });

  it('selects the samples of the lines where samples have no order', () => {
    const chosenReferences = [
      { file: 'a.c', line: 3 },
      { file: 'a.c', line: 3 },
      { file: 'a.c', line: 5 },
      { file: '', line: 0 },
    ];
    const { at, control } = page({ from: 0, to: 4 }, { chosenReferences, hasColumn: () => false });
    control.toMemory();
    expect(at.selected).toEqual([
      [{ kind: 'line', file: 'a.c', line: 3 }, 'only'],
      [{ kind: 'line', file: 'a.c', line: 5 }, 'add'],
    ]);
    expect(at.page).toBe('memory');
  });
});
