import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseTokens } from '../../base/theme';
import { parse } from '../../state/language';
import { text } from '../../state/selection';
import {
  axes,
  firstEye,
  orbit,
  pan,
  position,
  project,
  ray,
  readEye,
  writeEye,
  zoom,
  type Vec,
} from './camera';
import { outline, pick } from './pick';
import { colours, Raster } from './raster';
import { fades, FADES, opposites } from './edges';
import { Body, samePanes, type Pane } from './drawer';
import { colourScale } from './scales';
import { meshColor, ramp } from './colours';
import { INITIAL, readClip, readMesh, writeClip, writeMesh } from './state';
import { placeAfter } from './control';
import { fieldName, split, valueOf } from './words';
import type { Field } from './picture';

const css = readFileSync(new URL('../../base/tokens.css', import.meta.url), 'utf8');
const [LIGHT, DARK] = [parseTokens(css, 'light'), parseTokens(css, 'dark')];

function random(seed: number): () => number {
  let s = seed;
  return () => (s = (s * 48271) % 2147483647) / 2147483647;
}

describe('the colours', () => {
  it('runs viridis backwards on white and from 0.06 on black', () => {
    const amount = { signed: false };
    expect([meshColor(0, LIGHT, amount), meshColor(1, LIGHT, amount), meshColor(1, DARK, amount)]).toEqual([
      '#fde725',
      '#440154',
      '#fde725',
    ]);
    expect([...ramp(LIGHT, amount).slice(0, 4), ...ramp(LIGHT, amount).slice(-4)]).toEqual([
      0xfd, 0xe7, 0x25, 255, 0x44, 0x01, 0x54, 255,
    ]);
  });
});

describe('values of few samples', () => {
  it('are striped where there are samples, and only these', () => {
    const out = new Uint32Array(4);
    const pane = {
      values: Float64Array.of(1, 2, Number.NaN, 9),
      scale: colourScale({ min: 1, max: 2, spread: [] }, 'linear', '1', '2'),
      samples: Uint32Array.of(4, 5, 0, 1),
      few: 5,
    };
    const look = (p: Pane): number[] => {
      const table = ramp(LIGHT, p.scale);
      colours(Uint32Array.of(0, 1, 2, 3), Float32Array.of(1, 1, 1, 1), p, table, out);
      return Array.from(out, (c) => c >>> 24);
    };
    expect(look(pane)).toEqual([2, 255, 0, 2]); // striped, whole, none, striped beyond the scale
    expect(look({ values: pane.values, scale: pane.scale })).toEqual([255, 255, 0, 1]);
    expect(samePanes([pane], [{ ...pane, few: 3 }])).toBe(false); // so that they are drawn again
  });
});

describe('planes that clip', () => {
  it('are in the link as they were set, and what is none is left out', () => {
    const planes = readClip('x<0.5,z>1,y>2,nonsense');
    expect(planes).toEqual([
      { axis: 0, below: true, at: 0.5 },
      { axis: 2, below: false, at: 1 },
    ]);
    expect(writeClip(planes)).toBe('x<0.5,z>1');
    expect(readClip('')).toEqual([]);
  });
});

describe('the eye', () => {
  const eye = firstEye(false, 1.5);

  it('starts so that the corner of the origin is in front', () => {
    const corner = (x: number, y: number): number => {
      const p = position(eye);
      return Math.hypot(p[0] - x, p[1] - y, p[2]);
    };
    expect(corner(-1, -1)).toBeLessThan(Math.min(corner(1, 1), corner(1, -1), corner(-1, 1)));
    expect(position(eye)[2]).toBeGreaterThan(0);
  });

  it('sees a point where the ray through that place of the picture passes', () => {
    const r = random(5);
    for (let i = 0; i < 200; i++) {
      const e = pan(zoom(orbit(eye, 360 * r(), 90 * r() - 45), 0.5 + r()), r() - 0.5, r() - 0.5);
      const [x, y] = [2 * r() - 1, 2 * r() - 1];
      const { origin, direction } = ray(e, x, y, 1.7);
      const d = 0.5 + 3 * r();
      const p: Vec = [
        origin[0] + d * direction[0],
        origin[1] + d * direction[1],
        origin[2] + d * direction[2],
      ];
      const seen = project(e, p, 1.7)!;
      expect(seen[0]).toBeCloseTo(x, 9);
      expect(seen[1]).toBeCloseTo(y, 9);
    }
    expect(project(eye, position(zoom(eye, 2)), 1)).toBeUndefined();
  });

  it('has axes at right angles, and a link keeps it', () => {
    const a = axes(orbit(eye, 33, 21));
    const dot = (p: Vec, q: Vec): number => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    for (const [p, q] of [
      [a.right, a.up],
      [a.up, a.back],
      [a.back, a.right],
    ] as const)
      expect(dot(p, q)).toBeCloseTo(0, 12);
    const e = pan(orbit(eye, 400, 10), 0.1, 0.2);
    expect(writeEye(readEye(writeEye(e), eye))).toBe(writeEye(e));
    expect(readEye('1,2', eye)).toBe(eye);
    expect(readEye('1,2,nothing,0,0,0', eye)).toBe(eye);
  });
});

describe('picking', () => {
  // The plane of a triangle is met first, then its three edges are asked: another
  // way than that of the page.
  function slow(c: Float32Array, o: Vec, d: Vec): number {
    const sub = (p: Vec, q: Vec): Vec => [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    const cross = (p: Vec, q: Vec): Vec => [
      p[1] * q[2] - p[2] * q[1],
      p[2] * q[0] - p[0] * q[2],
      p[0] * q[1] - p[1] * q[0],
    ];
    const dot = (p: Vec, q: Vec): number => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    let best = -1;
    let nearest = Infinity;
    for (let t = 0; t < c.length / 9; t++) {
      const v = [0, 1, 2].map((k) => [...c.slice(9 * t + 3 * k, 9 * t + 3 * k + 3)] as unknown as Vec);
      const n = cross(sub(v[1]!, v[0]!), sub(v[2]!, v[0]!));
      const s = dot(n, sub(v[0]!, o)) / dot(n, d);
      if (!(s > 0) || s >= nearest) continue;
      const p: Vec = [o[0] + s * d[0], o[1] + s * d[1], o[2] + s * d[2]];
      if ([0, 1, 2].every((k) => dot(n, cross(sub(v[(k + 1) % 3]!, v[k]!), sub(p, v[k]!))) >= 0))
        [best, nearest] = [t, s];
    }
    return best;
  }

  it('finds the nearest of random triangles, as a slower way does', () => {
    const r = random(11);
    const corners = Float32Array.from({ length: 9 * 300 }, () => 2 * r() - 1);
    let hits = 0;
    for (let i = 0; i < 400; i++) {
      const o: Vec = [4 * r() - 2, 4 * r() - 2, 3];
      const d: Vec = [r() - 0.5, r() - 0.5, -1];
      const want = slow(corners, o, d);
      expect(pick(corners, o, d)).toBe(want);
      if (want >= 0) hits++;
    }
    expect(hits).toBeGreaterThan(100);
    expect(pick(corners, [0, 0, 3], [0, 0, 1])).toBe(-1); // looking away
  });

  it('outlines cells together, without the lines between them', () => {
    // Two unit squares side by side, two triangles each, seen from above.
    const points = [
      [0, 0],
      [1, 0],
      [2, 0],
      [0, 1],
      [1, 1],
      [2, 1],
    ];
    const triangles = Uint32Array.of(0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4);
    const corners = Float32Array.from([...triangles].flatMap((i) => [...points[i]!, 0]));
    const cells = Uint32Array.of(7, 7, 8, 8);
    const edges = (wanted: (c: number) => boolean, eye: Vec, both = false): string[] => {
      const p = outline(triangles, cells, corners, wanted, eye, both);
      return Array.from({ length: p.length / 2 }, (_, i) =>
        [p[2 * i]!, p[2 * i + 1]!].sort().join('-'),
      ).sort();
    };
    expect(edges((c) => c === 7, [0, 0, 5])).toEqual(['0-1', '0-3', '1-4', '3-4']);
    expect(edges(() => true, [0, 0, 5])).toEqual(['0-1', '0-3', '1-2', '2-5', '3-4', '4-5']);
    expect(edges(() => true, [0, 0, -5])).toEqual([]);
    expect(edges(() => true, [0, 0, -5], true)).toHaveLength(6);
  });
});

describe('the raster', () => {
  const eye = firstEye(false, 1.6);

  it('sees what the first triangle on the ray through each point is', () => {
    const r = random(3);
    const points = Float32Array.from({ length: 3 * 400 }, () => 1.6 * r() - 0.8);
    const triangles = Uint32Array.from({ length: 3 * 150 }, () => Math.floor(400 * r()));
    const corners = Float32Array.from([...triangles].flatMap((i) => [...points.slice(3 * i, 3 * i + 3)]));
    const raster = new Raster();
    raster.size(320, 200);
    raster.project(points, eye);
    raster.fill(triangles);
    let seen = 0;
    let different = 0;
    for (let y = 0; y < 200; y += 3) {
      for (let x = 0; x < 320; x += 3) {
        const { origin, direction } = ray(eye, (2 * (x + 0.5)) / 320 - 1, 1 - (2 * (y + 0.5)) / 200, 1.6);
        const got = raster.tri[y * 320 + x]!;
        if (got >= 0) seen++;
        if (got !== pick(corners, origin, direction)) different++;
      }
    }
    expect(seen).toBeGreaterThan(1000);
    expect(different).toBeLessThan(seen / 200); // a point on an edge may fall either way
  });

  it('leaves no gap between neighbours, whatever their edges', () => {
    // A fan of triangles around a point covers a square once.
    const r = random(9);
    const ring = Array.from({ length: 40 }, (_, i) => [
      Math.cos((i * Math.PI) / 20),
      Math.sin((i * Math.PI) / 20),
      0,
    ]);
    const points = Float32Array.from([[0.3 * r(), 0.3 * r(), 0], ...ring].flat());
    const triangles = Uint32Array.from(ring.flatMap((_, i) => [0, 1 + i, 1 + ((i + 1) % 40)]));
    const raster = new Raster();
    raster.size(300, 300);
    raster.project(points, firstEye(true, 1));
    raster.fill(triangles);
    for (let y = 0; y < 300; y++) {
      const row = raster.tri.slice(300 * y, 300 * (y + 1));
      const first = row.findIndex((t) => t >= 0);
      if (first >= 0)
        expect(row.slice(first, row.findLastIndex((t) => t >= 0) + 1).every((t) => t >= 0)).toBe(true);
    }
  });

  it('colours triangles by the value of their cell', () => {
    const table = ramp(LIGHT, { signed: false });
    const out = new Uint32Array(4);
    const light = Float32Array.of(1, 1, 1, 1);
    colours(
      Uint32Array.of(0, 1, 2, 3),
      light,
      {
        values: Float64Array.of(1, 1000, Number.NaN, 0.5),
        scale: colourScale({ min: 1, max: 1000, spread: [] }, 'log'),
      },
      table,
      out,
    );
    const rgb = (v: number): number[] => [v & 255, (v >> 8) & 255, (v >> 16) & 255];
    expect(rgb(out[0]!)).toEqual([...table.slice(0, 3)]);
    expect(rgb(out[1]!)).toEqual([...table.slice(-4, -1)]);
    expect([out[0]! >>> 24, out[2]! >>> 24, out[3]! >>> 24]).toEqual([255, 0, 1]); // whole, none, below the scale
  });
});

describe('edges', () => {
  // Two strips of quads in the plane x, y: one cell high, 40 wide; and 40 high.
  const geometryOf = (rows: number): Body => {
    const positions: number[] = [];
    for (let j = 0; j <= rows; j++) positions.push(-1, (2 * j) / rows - 1, 0, 1, (2 * j) / rows - 1, 0);
    const triangles: number[] = [];
    const edges: number[] = [];
    for (let j = 0; j < rows; j++) {
      const a = 2 * j;
      triangles.push(a, a + 1, a + 3, a, a + 3, a + 2);
      edges.push(a, a + 1);
    }
    return new Body(
      {
        key: '',
        took: 0,
        polygons: rows,
        kept: rows,
        positions: Float32Array.from(positions),
        triangles: Uint32Array.from(triangles),
        of: new Uint32Array(2 * rows),
        cells: new Uint32Array(rows),
        edges: Uint32Array.from(edges),
        features: new Uint32Array(),
      },
      [0, 0, 0],
      1,
    );
  };
  const above = { azimuth: -90, elevation: 89.9, distance: 4, target: [0, 0, 0] as Vec };
  const of = (body: Body, height: number): Uint8Array =>
    fades(body, body.geometry.edges, body.besideEdges, above, height);

  it('are whole where cells are large on the screen, and gone where they are thin', () => {
    expect(new Set(of(geometryOf(4), 400))).toEqual(new Set([FADES]));
    expect(new Set(of(geometryOf(400), 400))).toEqual(new Set([0]));
    const between = of(geometryOf(75), 400);
    expect(Math.min(...between)).toBeGreaterThan(0);
    expect(Math.max(...between)).toBeLessThan(FADES);
  });

  it('know the points beside them', () => {
    expect([...opposites(Uint32Array.of(0, 1, 0, 3), Uint32Array.of(0, 1, 3, 0, 3, 2))]).toEqual([
      3, -1, 1, 2,
    ]);
  });
});

describe('the state in a link', () => {
  it('is written and read, and nothing of it by default', () => {
    expect(writeMesh(INITIAL, { keep: 'x', 'm.cell': '5' })).toEqual({ keep: 'x' });
    const s = {
      ...INITIAL,
      step: 2,
      mode: 'only',
      view: 'slice',
      axis: 0,
      at: 0.25,
      level: 1,
      show: 'both',
      field: 'samples',
      edges: false,
      cell: 9,
      min: '0.5',
      least: 3,
      renderer: 'software',
      eye: '1,2,3,0,0,0',
    } as const;
    expect(readMesh(writeMesh(s, {}))).toEqual(s);
  });

  it('takes what makes no sense for nothing, and the nearest of what is out of bounds', () => {
    expect(
      readMesh({
        'm.step': '-7',
        'm.at': '3',
        'm.axis': '9',
        'm.view': 'smell',
        'm.min': 'low',
        'm.cell': 'x',
      }),
    ).toEqual({ ...INITIAL, at: 1 });
  });
});

describe('words', () => {
  it('names fields', () => {
    expect([
      fieldName('latency_avg'),
      fieldName('samples'),
      fieldName('cpu_distinct'),
      fieldName('my_column'),
      fieldName('latency_sum_per_access'),
      fieldName('samples_per_access'),
    ]).toEqual([
      'latency, average',
      'samples',
      'cpu, distinct',
      'my_column',
      'latency, sum per access',
      'samples per access',
    ]);
  });

  it('says why a cell has no value', () => {
    const field = (name: string, samples: number): Field =>
      ({ name, unit: '', change: false, values: [Number.NaN], samples: [samples] }) as unknown as Field;
    expect([
      valueOf(field('latency_sum_per_access', 3), 0),
      valueOf(field('latency_sum_per_access', 0), 0),
      valueOf(field('latency_avg', 0), 0),
    ]).toEqual(['no access recorded', 'no samples', 'no samples']);
  });

  it('tells where on the mesh from everything else', () => {
    const { place, rest } = split(
      parse(
        'x = 3 & cpu < 8 & (y = 1 & z = 2 | y = 4) & (z = 1 | level = L1) & rows "cells 3 5-9" & rows kept',
      ),
      ['x', 'y', 'z'],
    );
    expect([text(place), text(rest)]).toEqual([
      text(parse('x = 3 & (y = 1 & z = 2 | y = 4) & rows "cells 3 5-9"')),
      text(parse('cpu < 8 & (z = 1 | level = L1) & rows kept')),
    ]);
  });

  it('takes a cell out that is clicked again with Shift', () => {
    const a = parse('x = 1 & y = 2'),
      b = parse('x = 3 & y = 4');
    const both = placeAfter(a, b, 'add');
    expect(text(both)).toBe(text(parse('(x = 1 & y = 2 | x = 3 & y = 4)')));
    expect(text(placeAfter(both, a, 'add'))).toBe(text(b));
    expect(text(placeAfter(a, a, 'add'))).toBe('');
    expect(text(placeAfter(both, a, 'set'))).toBe(text(a));
    expect(text(placeAfter(a, b, 'remove'))).toBe(text(parse('x = 1 & y = 2 & !(x = 3 & y = 4)')));
  });
});
