import { describe, expect, it } from 'vitest';
import type { CallNode, CallTree, CallWeight } from '../../../api/wire';
import { pathTerm, pathText } from '../../../state/callpath';
import { parse } from '../../../state/language';
import { clauseOf, text } from '../../../state/selection';
import { callList } from './calllist';
import { CallsView, frames, termOf, type CallsInput } from './calls';

const w = (samples: number, latency = 0): CallWeight => ({ samples, latency });

function node(fn: string, depth: number, total: number, self = 0, selected = total): CallNode {
  return {
    function: fn,
    depth,
    total: w(total, 2 * total),
    self: w(self),
    selected: w(selected),
    hovered: w(0),
  };
}

function tree(over: Partial<CallTree> = {}): CallTree {
  return {
    function: '',
    path: [],
    value: 'samples',
    total: w(100, 200),
    selected: w(40),
    hovered: w(0),
    callers: [],
    callees: [node('main', 0, 80, 10), node('a', 1, 50, 50), node('b', 1, 20, 20), node('x', 0, 20, 20)],
    left: 0,
    functions: [],
    ...over,
  };
}

function view(over: Partial<CallsInput> = {}): CallsView {
  return new CallsView({
    tree: tree(),
    value: 'samples',
    unit: 'cycles',
    timed: true,
    modelled: false,
    size: { w: 1024, h: 200 },
    top: 0,
    brush: [],
    hover: undefined,
    ...over,
  });
}

describe('calls', () => {
  it('places frames below their callers, as wide as what they weigh', () => {
    const places = frames(tree(), 'samples').map((f) => [f.path.join(';'), f.row, f.x, f.w]);
    expect(places).toEqual([
      ['', 0, 0, 1],
      ['main', 1, 0, 0.8],
      ['main;a', 2, 0, 0.5],
      ['main;b', 2, 0.5, 0.2],
      ['x', 1, 0.8, 0.2],
    ]);
  });

  it('keeps children within what they share where a recursion counts samples twice', () => {
    const around = tree({
      function: 'f',
      callers: [node('f', 0, 90), node('main', 0, 100), node('', 1, 100)],
      callees: [node('f', 0, 100), node('f', 1, 90), node('g', 1, 90)],
    });
    for (const f of frames(around, 'samples')) {
      expect(f.x).toBeGreaterThanOrEqual(f.parent?.x ?? 0);
      expect(f.x + f.w).toBeLessThanOrEqual((f.parent ? f.parent.x + f.parent.w : 1) + 1e-9);
    }
    const start = frames(around, 'samples').find((f) => f.part === 'callers' && f.path.length === 2)!;
    expect(start.row).toBe(-2);
    expect(termOf(around, start)).toEqual(pathTerm(['main', 'f'], true));
  });

  it('finds what is under the pointer and walks to neighbours', () => {
    const v = view();
    expect(v.hitTest({ x: 12 + 450, y: 40 })).toEqual({ part: 'callees', path: ['main', 'a'] });
    expect(v.hitTest({ x: 12 + 750, y: 40 })).toBeUndefined();
    const a = { part: 'callees', path: ['main', 'a'] } as const;
    expect(v.step(a, 'right')?.path).toEqual(['main', 'b']);
    expect(v.step(a, 'up')?.path).toEqual(['main']);
    expect(v.step({ part: 'callees', path: ['main'] }, 'down')?.path).toEqual(['main', 'a']);
    expect(v.describe(a).more.replaceAll('\u202f', ' ')).toBe(
      '· 50 samples · 50 in itself · 100 cycles · 50.0 % of samples',
    );
    expect(v.describe({ part: 'callees', path: ['gone'] }).more).toContain('not in this picture');
  });

  it('writes paths that the selection language reads back, and people can read', () => {
    for (const path of [
      ['main', 'f (x)'],
      ['ns::g<int>(char*)', 'main.(*T).M'],
      ['a|b^$', '[k]\\"?'],
    ]) {
      for (const start of [true, false]) {
        const term = pathTerm(path, start);
        expect(parse(text([clauseOf(term)]))).toEqual([clauseOf(term)]);
        expect(term.kind === 'match' && pathText(term.pattern)).toBe((start ? '' : '… ') + path.join(' › '));
        const re = new RegExp(term.kind === 'match' ? term.pattern : '');
        expect(re.test(path.map((f) => `${f} (dir/a.c:3)`).join(';'))).toBe(true);
        expect(re.test(path.map((f) => `${f}2`).join(';'))).toBe(false);
      }
    }
    expect(pathText('^main')).toBeUndefined();
  });

  it('lists what is heavy open, the rest closed', () => {
    const listed = {
      tree: tree({ callees: [...tree().callees, node('y', 0, 4), node('z', 1, 4)] }),
      value: 'samples',
      unit: 'cycles',
      timed: true,
      modelled: false,
    } as const;
    const names = (turned: string[]): string[] =>
      callList(listed, new Set(turned))[0]!.rows.map((r) => r.name);
    expect(names([])).toEqual(['main', 'a', 'b', 'x', 'y']);
    expect(names([JSON.stringify(['callees', ['main']])])).toEqual(['main', 'x', 'y']);
    expect(names([JSON.stringify(['callees', ['y']])])).toEqual(['main', 'a', 'b', 'x', 'y', 'z']);
    expect(callList(listed, new Set())[0]!.listed).toHaveLength(6);
  });
});
