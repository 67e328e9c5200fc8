import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { roughMeasure } from '../../base/text';
import type { TextStyle } from '../../base/renderer';
import { SvgRenderer } from '../../base/svg';
import { parseTokens } from '../../base/theme';
import type { CyclesClass, CyclesInfo } from '../../api/wire';
import { phaseColor } from './colours';
import { Density } from './contour';
import { parts } from './frames';
import { EMPTY, type Drawing, type Pixels } from './picture';
import { PersistenceView } from './persistence';
import { NO_ZOOM, Plane } from './plane';
import { polarCells, turnOf } from './polar';
import { SpiralView } from './spiral';
import { ASK, INITIAL, readCycles, writeCycles, type CyclesState } from './state';
import { strided } from './strides';
import { TorusView } from './torus';
import { UnwrappedView } from './unwrapped';
import { byPass, classNames, headline, steadyMark, steadyText } from './words';
import { crc32, zip } from './zip';

const theme = parseTokens(readFileSync(new URL('../../base/tokens.css', import.meta.url), 'utf8'), 'light');

function klass(more: Partial<CyclesClass> = {}): CyclesClass {
  return {
    birth: 2,
    death: 10,
    alive: false,
    epsilon: 2,
    turns: 2,
    exact: true,
    stable: true,
    sameLeast: 3,
    sameMost: 14,
    combination: false,
    name: 'inner loop',
    parent: -1,
    passes: 0,
    dual: -1,
    whole: -1,
    sentence: 'inner loop a.c:7',
    place: 'a.c:7',
    turnAt: 0,
    turnLength: 4,
    residual: 0,
    lines: [],
    loop: -1,
    title: '',
    of: '',
    ...more,
  };
}

const info: CyclesInfo = {
  records: 17,
  windows: 9,
  unique: 4,
  symbols: 4,
  symbol: 'pc',
  window: 4,
  cap: 4,
  thread: 0,
  threads: [],
  bars: [],
  preamble: 0,
  postamble: 0,
  notes: [],
  hasLines: true,
  classes: [klass(), klass({ name: 'outer loop', turns: 1 }), klass({ turns: 0, name: '' })],
  lines: [],
  named: [],
  repeats: [],
  hasCode: true,
};

/** Two turns of four windows each, and the window that closes them. */
const drawing: Drawing = {
  took: 1,
  selected: 9,
  unknown: '',
  first: 0,
  last: 9,
  lift: Float32Array.from({ length: 9 }, (_, i) => i / 4),
  other: Float32Array.from({ length: 9 }, (_, i) => i / 8),
  colour: Uint16Array.from({ length: 9 }, (_, i) => i % 2),
  point: Uint32Array.from({ length: 9 }, (_, i) => i % 4),
  polar: undefined,
  turns: Uint32Array.of(0, 4),
  every: 1,
  passes: Uint32Array.of(0, 4),
  byPass: [1, 1],
  teeth: false,
  strips: [{ class: 0, low: Float32Array.of(0, 1, 2), high: Float32Array.of(0.5, 1.5, 2) }],
  ribbon: Uint16Array.of(0, 1, 0),
  ring: Uint32Array.of(3, 2, 2, 2),
  ringColour: Uint16Array.of(0, 1, 0, 1),
  groups: [],
  structures: [],
  colours: [
    { label: 'a.c:7', file: 'a.c', line: 7, function: '', count: 9, in: 'f' },
    { label: 'a.c:8', file: 'a.c', line: 8, function: '', count: 8, in: 'f' },
  ],
};

function spiral(more: object = {}): SpiralView {
  return new SpiralView({
    info,
    class: info.classes[0]!,
    drawing,
    sector: undefined,
    zoom: NO_ZOOM,
    moving: false,
    part: 0,
    size: { w: 600, h: 468 },
    colour: 'line',
    shape: 'spiral',
    from: 0,
    to: 0,
    hovered: -1,
    lit: undefined,
    references: [],
    referencesFrom: 0,
    ...more,
  });
}

describe('the spiral', () => {
  // R = (468 − 68) / 2 = 200, the centre at (330, 224), r0 = 20.
  it('puts a window at its angle and time', () => {
    expect(spiral().hitTest({ x: 330, y: 224 - 20 })).toBe(0);
    expect(spiral().hitTest({ x: 330 + 20 + 180 / 8, y: 224 })).toBe(1); // a quarter turn
    expect(spiral().hitTest({ x: 330, y: 224 - 200 })).toBe(8); // two turns, at the rim
    expect(spiral().hitTest({ x: 10, y: 10 })).toBeUndefined();
  });
  it('knows the visits of a window, and walks between them', () => {
    expect(spiral().visits(1)).toEqual([1, 5]);
    expect(spiral().step(1, 'next')).toBe(5);
    expect(spiral().step(5, 'next')).toBe(5);
    expect(spiral().step(6, 'up')).toBe(4);
    expect(spiral().step(1, 'down')).toBe(4);
  });
  it('says turn, pass and visits', () => {
    expect(spiral().describe(5)).toEqual({
      name: 'Reference 5',
      more: 'a.c:8 · turn 2 at 0.25 · pass 2 · this window is visited 2 times',
    });
  });
  it('morphs along the unwrapped angle', () => {
    // Half way to a class of half the turns, window 4 has turned 0.75 times.
    const p = { x: 330 - (20 + 180 / 2), y: 224 };
    expect(spiral({ part: 0.5 }).hitTest(p)).toBe(4);
  });
  it('is drawn in the colours of its lines', () => {
    const r = new SvgRenderer(theme, roughMeasure);
    spiral().draw(r);
    expect(r.document({ w: 600, h: 468 }, '')).toContain(theme['cat-2']);
  });
});

describe('the strip and the torus', () => {
  it('find references by position', () => {
    const v = new UnwrappedView({
      info,
      drawing,
      class: 0,
      size: { w: 970, h: 120 },
      from: 2,
      to: 6,
      first: 0,
      last: 0,
      lit: undefined,
      hovered: -1,
      visits: [],
    });
    expect(v.referenceAt(52 + 400)).toBe(5);
    expect(v.edgeAt(v.x(2))).toBe('from');
    expect(v.hitTest({ x: 4, y: 4 })).toBeUndefined();
  });
  it('shows two coordinates at once', () => {
    const v = new TorusView({
      drawing,
      size: { w: 520, h: 470 },
      names: ['a', 'b'],
      colour: 'line',
      from: 0,
      to: 0,
      lit: undefined,
      hovered: -1,
    });
    expect(v.describe(2).more).toBe('a at 0.50 · b at 0.25 · a.c:7');
  });
});

describe('the diagram of persistence', () => {
  it('has labels of a million turns that hide neither each other nor a dot', () => {
    const placed: { text: string; x: number; y: number; w: number }[] = [];
    class Texts extends SvgRenderer {
      override text(text: string, x: number, y: number, style: TextStyle): void {
        if (style.fill === theme.text) placed.push({ text, x, y, w: roughMeasure(text, style.font) });
        super.text(text, x, y, style);
      }
    }
    // Twelve classes on seven dots, some of them beside each other.
    const classes = Array.from({ length: 12 }, (_, i) =>
      klass({
        birth: 2 + (i % 3),
        death: 8 + (i % 2) + (i > 8 ? 1 : 0),
        turns: 1_234_567 + i,
        exact: i !== 3,
      }),
    );
    const view = new PersistenceView({
      info: { ...info, cap: 10, classes },
      names: classes.map(() => 'a'),
      active: 0,
      size: { w: 300, h: 260 },
      hovered: -1,
    });
    view.draw(new Texts(theme, roughMeasure));
    expect(placed.length).toBeGreaterThan(2);
    expect(placed.some((l) => /M, .* turns$/.test(l.text))).toBe(true); // of classes that share a dot
    for (const l of placed) {
      expect(l.x).toBeGreaterThan(44);
      expect(l.x + l.w).toBeLessThanOrEqual(300);
      expect(l.y).toBeGreaterThanOrEqual(6); // not cut at the upper edge
      for (const o of placed)
        if (o !== l) expect(Math.abs(o.y - l.y) >= 12 || o.x >= l.x + l.w || l.x >= o.x + o.w).toBe(true);
      const middle = { x: l.x + l.w / 2, y: l.y };
      expect(view.hitTest(middle)).toBeUndefined(); // no dot below it
    }
  });
});

describe('the diagram of persistence of few distances', () => {
  it('has counts of short bars only where no label of classes is', () => {
    const placed: { text: string; x: number; y: number; w: number }[] = [];
    class Texts extends SvgRenderer {
      override text(text: string, x: number, y: number, style: TextStyle): void {
        if (/turns|×/.test(text)) placed.push({ text, x, y, w: roughMeasure(text, style.font) });
        super.text(text, x, y, style);
      }
    }
    const classes = [25_500, 76_500, 51_000, 78_000].map((turns) =>
      klass({ birth: 2, death: 4, turns, exact: false }),
    );
    const bars = [
      { birth: 2, death: 3, alive: false, count: 29 },
      { birth: 3, death: 4, alive: false, count: 15 },
    ];
    for (const h of [180, 300, 420]) {
      placed.length = 0;
      const size = { w: 328, h };
      const view = new PersistenceView({
        info: { ...info, cap: 4, classes, bars },
        names: classes.map(() => 'a'),
        active: 0,
        size,
        hovered: -1,
      });
      view.draw(new Texts(theme, roughMeasure));
      expect(placed.length).toBeGreaterThan(0);
      for (const l of placed)
        for (const o of placed)
          if (o !== l) expect(Math.abs(o.y - l.y) >= 12 || o.x >= l.x + l.w || l.x >= o.x + o.w).toBe(true);
    }
  });
});

describe('words', () => {
  it('name classes, and number those that share a name', () => {
    expect(classNames(info)).toEqual(['Inner loop, a.c:7', 'Outer loop, a.c:7', 'No turns']);
    const named = [{ name: 'swaps', symbol: 'pc', window: 10, class: 0 }];
    expect(classNames({ ...info, named })).toEqual(['Inner loop', 'Outer loop', 'No turns']);
    expect(classNames({ ...info, classes: [klass(), klass()] })).toEqual([
      'Inner loop, a.c:7 1',
      'Inner loop, a.c:7 2',
    ]);
  });
  it('say at which windows turns are as many', () => {
    expect(steadyMark(klass())).toBe('w 3–14');
    expect(steadyText(klass())).toBe('windows of 3 to 14 references count as many turns');
    const one = klass({ stable: false, sameLeast: 10, sameMost: 10 });
    expect(steadyMark(one)).toBe('w 10');
    expect(steadyText(one)).toBe('only windows of 10 references count so many turns');
  });
  it('count turns in passes', () => {
    expect(headline(klass({ turns: 10, passes: 4 }))).toBe('10 turns in 4 passes');
    expect(headline(klass({ turns: 4, exact: false }))).toBe('≈ 4 turns');
    expect(byPass([4, 3, 2, 1])).toBe('4 + 3 + 2 + 1 turns');
    expect(byPass([])).toBe('');
  });
});

describe('the link', () => {
  it('keeps every part of the state', () => {
    const s: CyclesState = {
      order: 'misses',
      before: ['lu-1234'],
      class: 2,
      other: 1,
      part: 0.25,
      view: 'torus',
      colour: 'coordinate',
      toggled: ['f(int)', 'g'],
      method: 'mds',
      epsilon: 4,
      from: 10,
      to: 20,
      first: 5,
      last: 50,
      zoom: { k: 2.5, x: -0.25, y: 0.5 },
      ask: { symbol: 'pc+addr', window: 12, cap: 5, every: 2, from: 100, to: 900, folds: 1, thread: 3 },
    };
    expect(readCycles(writeCycles(s, { map: 'x' }))).toEqual(s);
    expect(writeCycles(INITIAL, { map: 'x', 'c.class': '3' })).toEqual({ map: 'x' });
  });
  it('takes what it understands of a damaged one', () => {
    expect(
      readCycles({
        'c.class': '-4',
        'c.refs': '9..3',
        'c.symbol': 'taste',
        'c.window': 'x',
        'c.part': '7',
        'c.zoom': '0,9',
        'c.time': '4..4',
      }),
    ).toEqual({ ...INITIAL, part: 1, ask: ASK });
  });
});

describe('the plane', () => {
  const size = { w: 600, h: 468 };
  it('keeps the point under the pointer when it is magnified', () => {
    let plane = new Plane(size, NO_ZOOM);
    const p = { x: 430, y: 150 };
    const before = plane.polar(p);
    for (const by of [1.7, 3, 0.9]) plane = new Plane(size, plane.zoomed(p, by));
    const after = plane.polar(p);
    expect(plane.zoom.k).toBeCloseTo(1.7 * 3 * 0.9);
    expect(after.turn).toBeCloseTo(before.turn);
    expect(after.r / plane.R).toBeCloseTo(before.r / 200);
  });
  it('follows a drag by as many pixels', () => {
    const plane = new Plane(size, { k: 4, x: 0.2, y: 0.1 });
    const moved = new Plane(size, plane.moved(30, -12));
    expect(moved.c.x - plane.c.x).toBeCloseTo(30);
    expect(moved.c.y - plane.c.y).toBeCloseTo(-12);
  });
  it('knows which radii and angles it sees', () => {
    expect(new Plane(size, NO_ZOOM).visible()).toMatchObject({ from: 0, to: 1, span: 1 });
    for (const zoom of [
      { k: 8, x: 0.5, y: 0.3 },
      { k: 30, x: 0, y: -0.8 },
      { k: 3, x: -0.9, y: 0 },
    ]) {
      const plane = new Plane(size, zoom);
      const v = plane.visible();
      for (let x = 0; x <= size.w; x += 50) {
        for (let y = 0; y <= size.h; y += 52) {
          const { turn, r } = plane.polar({ x, y });
          const ring = Math.max(0, Math.min(1, (r - plane.r0) / (plane.R - plane.r0)));
          const off = turn - v.angle;
          expect(ring >= v.from - 1e-9 && ring <= v.to + 1e-9 && off - Math.floor(off) <= v.span + 1e-9).toBe(
            true,
          );
        }
      }
    }
  });
});

describe('pixels of a long trace', () => {
  it('have the angle that the library computes', () => {
    for (let i = 0; i < 3600; i++) {
      const [dx, dy] = [Math.sin((2 * Math.PI * i) / 3600), Math.cos((2 * Math.PI * i) / 3600)];
      const off = Math.abs(turnOf(dx, dy) - i / 3600);
      expect(Math.min(off, 1 - off)).toBeLessThan(3e-6);
    }
  });
  const plane = new Plane({ w: 600, h: 468 }, NO_ZOOM);
  const paint = {
    colours: ['#ff0000', '#00ff00'],
    phases: undefined,
    rest: '#888888',
    from: 0,
    to: 0,
    only: undefined,
  };
  // Two radii of four angles; the outer ring is empty at the third.
  const pixels: Pixels = {
    first: 0,
    last: 1000,
    from: 0,
    span: 1,
    radii: 2,
    angles: 4,
    colour: Uint16Array.of(0, 1, 0, 1, 1, 1, EMPTY, 1),
  };
  const at = (p: Pixels, turn: number, ring: number, more: object = {}): string => {
    const cells = polarCells(plane, 0, 1000, p, { ...paint, ...more })!;
    const q = plane.at(turn, plane.r0 + ring * (plane.R - plane.r0));
    const i = (Math.floor(q.y - cells.area.y) * cells.columns + Math.floor(q.x - cells.area.x)) * 4;
    return [...cells.rgba.slice(i, i + 4)].join(',');
  };
  it('lie where their windows are', () => {
    expect(at(pixels, 0.1, 0.2)).toBe('255,0,0,255');
    expect(at(pixels, 0.3, 0.2)).toBe('0,255,0,255');
    expect(at(pixels, 0.6, 0.8)).toBe('0,0,0,0');
    expect(at(pixels, 0.9, 0.8)).toBe('0,255,0,255');
  });
  it('are grey where they are not selected or not lit', () => {
    expect(at(pixels, 0.1, 0.2, { from: 500, to: 1000 })).toBe('136,136,136,255');
    expect(at(pixels, 0.1, 0.2, { only: new Set([1]) })).toBe('136,136,136,255');
    expect(at(pixels, 0.1, 0.8, { from: 500, to: 1000 })).toBe('0,255,0,255');
  });
  it('of a sector over the seam are drawn there alone', () => {
    const sector: Pixels = {
      first: 500,
      last: 1000,
      from: 0.9,
      span: 0.2,
      radii: 1,
      angles: 2,
      colour: Uint16Array.of(0, 1),
    };
    expect(at(sector, 0.95, 0.7)).toBe('255,0,0,255');
    expect(at(sector, 0.05, 0.7)).toBe('0,255,0,255');
    expect(at(sector, 0.05, 0.3)).toBe('0,0,0,0');
    expect(at(sector, 0.5, 0.7)).toBe('0,0,0,0');
  });
});

describe('the circle', () => {
  it('has outlines around what is dense', () => {
    const d = new Density(60, 1);
    for (let i = 0; i < 360; i++) d.add(0.6 * Math.sin(i), 0.6 * Math.cos(i), 1);
    d.smooth(0.04);
    const outline = d.outline(0.2 * d.most, (p) => p);
    expect(outline.length).toBeGreaterThan(100);
    for (const s of outline) {
      if (s.to !== 'move' && s.to !== 'line') continue;
      expect(Math.abs(Math.hypot(s.x, s.y) - 0.6)).toBeLessThan(0.15);
    }
  });
  it('draws each distinct step once, and its outlines', () => {
    const r = new SvgRenderer(theme, roughMeasure);
    spiral({ shape: 'circle' }).draw(r);
    const svg = r.document({ w: 600, h: 468 }, '');
    expect(svg.split(theme['cat-1']).length - 1).toBe(2); // windows 0 and 2 of four
    expect(svg).toContain(theme.text);
  });
});

describe('files', () => {
  it('hold the frames of a morph from end to end', () => {
    const p = parts(25);
    expect([p[0], p[12], p[24]]).toEqual([0, 0.5, 1]);
    expect(p.every((v, i) => i === 0 || v > p[i - 1]!)).toBe(true);
  });
  it('are archives that other programs read', async () => {
    const text = new TextEncoder().encode('isobath');
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926); // the check value of CRC-32
    const bytes = new Uint8Array(
      await zip([
        { name: 'a.svg', bytes: text },
        { name: 'b.svg', bytes: text },
      ]).arrayBuffer(),
    );
    const folder = mkdtempSync(join(tmpdir(), 'isobath-zip-'));
    writeFileSync(join(folder, 'x.zip'), bytes);
    const out = execFileSync(
      'python3',
      [
        '-c',
        'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), ' +
          '[(i.filename, z.read(i).decode()) for i in z.infolist()])',
        join(folder, 'x.zip'),
      ],
      { encoding: 'utf8' },
    );
    rmSync(folder, { recursive: true });
    expect(out.trim()).toBe("None [('a.svg', 'isobath'), ('b.svg', 'isobath')]");
  });
  it('list strides by instruction', () => {
    const ref = (pc: string, address: string) => ({
      record: 0,
      order: 0,
      op: 'load',
      address,
      size: 8,
      pc,
      function: '',
      file: '',
      line: 0,
      object: '',
      offset: 0,
    });
    expect(
      strided([ref('0x1', '0x10'), ref('0x2', '0x90'), ref('0x1', '0x18'), ref('0x2', '0x88')]).map(
        (r) => r.stride,
      ),
    ).toEqual(['', '', '8', '-8']);
  });
});

describe('the ring of phases', () => {
  it('closes', () => {
    expect(phaseColor(theme, 0)).toBe(phaseColor(theme, 1));
    expect(phaseColor(theme, 0)).not.toBe(phaseColor(theme, 0.5));
  });
});
