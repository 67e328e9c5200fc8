import { readFileSync } from 'node:fs';
import { interpolateCividis, interpolateViridis } from 'd3-scale-chromatic';
import { describe, expect, it } from 'vitest';
import {
  amountColor,
  contrast,
  fromOklab,
  inkOn,
  luminance,
  mapColor,
  mix,
  parseColor,
  toHex,
  toOklab,
} from './color';
import {
  atStep,
  bytes,
  count,
  decimal,
  duration,
  exact,
  percent,
  remaining,
  share,
  short,
  unitScale,
} from './format';
import { matches, type KeyEvent } from './keys';
import { rasterize } from './raster';
import type { Strokes } from './renderer';
import { Scheduler } from './scheduler';
import { escapeXml, pathData, SvgRenderer } from './svg';
import { fit, roughMeasure, unparted } from './text';
import { parseTokens } from './theme';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const narrow = (s: string): string => s.replaceAll('\u202f', ' ');

describe('colour', () => {
  it('reads the forms that tokens and canvases use', () => {
    expect(parseColor('#0072b2')).toEqual([0, 114, 178]);
    expect(parseColor('#fff')).toEqual([255, 255, 255]);
    expect(parseColor('rgb(1, 2, 3)')).toEqual([1, 2, 3]);
    expect(() => parseColor('blue')).toThrow(/not a colour/);
  });

  it('goes to OKLab and back', () => {
    for (const c of ['#000000', '#ffffff', '#c2410c', '#56b4e9', '#123456'])
      expect(toHex(fromOklab(toOklab(parseColor(c))))).toBe(c);
    // White has lightness 1 and no colour, by the definition of the space.
    const [L, a, b] = toOklab([255, 255, 255]);
    expect(L).toBeCloseTo(1, 5);
    expect(Math.hypot(a, b)).toBeLessThan(1e-4);
  });

  it('mixes evenly and keeps its ends', () => {
    expect(mix('#ffffff', '#0072b2', 0)).toBe('#ffffff');
    expect(mix('#ffffff', '#0072b2', 1)).toBe('#0072b2');
    const lightness = [0, 0.25, 0.5, 0.75, 1].map(
      (t) => toOklab(parseColor(mix('#ffffff', '#0072b2', t)))[0],
    );
    const steps = lightness.slice(1).map((l, i) => lightness[i]! - l);
    expect(Math.max(...steps) - Math.min(...steps)).toBeLessThan(0.01);
  });

  it.each([
    ['viridis', interpolateViridis],
    ['cividis', interpolateCividis],
  ] as const)('%s is that of the full table', (map, full) => {
    for (let i = 0; i <= 200; i++) {
      const [ours, theirs] = [parseColor(mapColor(map, i / 200)), parseColor(full(i / 200))];
      ours.forEach((v, k) => expect(Math.abs(v - theirs[k]!)).toBeLessThanOrEqual(3));
    }
  });

  it('gives more amount more distance from the background', () => {
    for (const name of ['light', 'dark'] as const) {
      const theme = parseTokens(css, name);
      const away = [0, 0.25, 0.5, 0.75, 1].map((t) => contrast(amountColor(t, theme.dark), theme.bg));
      expect([...away].sort((a, b) => a - b)).toEqual(away);
    }
  });

  it('keeps text and marks legible in both themes', () => {
    for (const name of ['light', 'dark'] as const) {
      const t = parseTokens(css, name);
      for (const ink of [t.text, t.muted, t.selected, t.hover, t.focus, t.error, t.warn, t.ok])
        expect(contrast(ink, t.bg)).toBeGreaterThan(4.5);
      expect(contrast(t.muted, t.surface)).toBeGreaterThan(4.5);
      expect(contrast(t.line, t.bg)).toBeGreaterThan(3);
    }
    expect(inkOn('#fde725')).toBe('#000000');
    expect(inkOn('#440154')).toBe('#ffffff');
    expect(luminance('#ffffff')).toBeCloseTo(1);
  });

  it('keeps selection and hover apart without red and green', () => {
    // Deuteranopia after Viénot 1999, in linear light.
    const seen = (c: string): number[] => {
      const [r, g, b] = parseColor(c).map((v) => (v / 255) ** 2.2) as [number, number, number];
      const y = 0.29275 * r + 0.70725 * g;
      return [y, y, -0.02234 * r + 0.02234 * g + b];
    };
    for (const name of ['light', 'dark'] as const) {
      const t = parseTokens(css, name);
      const [p, q] = [seen(t.selected), seen(t.hover)];
      expect(Math.hypot(...p.map((v, i) => v - q[i]!))).toBeGreaterThan(0.2);
    }
  });
});

describe('numbers', () => {
  it('writes sums as the look demands', () => {
    const written = [196, 999, 2603, 28240, 586_879, 1_022_618, 12_345_678, 2.5e9].map((n) =>
      narrow(short(n)),
    );
    expect(written).toEqual(['196', '999', '2.6 k', '28.2 k', '587 k', '1.02 M', '12.3 M', '2.50 G']);
    expect(narrow(short(999_700))).toBe('1.00 M');
  });
  it('writes counts exactly, with thousands apart', () => {
    expect(narrow(count(15676))).toBe('15 676');
    expect(narrow(decimal(-1234.56, 1))).toBe('−1 234.6');
    expect(decimal(-0.01, 1)).toBe('0.0');
  });
  it('writes shares, never 0 for something', () => {
    expect(share(213, 587)).toBe('36.3');
    expect(share(1, 100_000)).toBe('<0.1');
    expect(share(0, 10)).toBe('0.0');
    expect(share(1, 0)).toBe('–');
    expect(narrow(percent(2147, 15676))).toBe('13.7 %');
  });
  it('chooses units by size', () => {
    expect(unitScale('ns', 5e9)).toEqual({ factor: 1e6, unit: 'ms' });
    expect(unitScale('ticks', 134_973_496_174)).toEqual({ factor: 1e9, unit: 'Gticks' });
    expect(unitScale('cycles', 1e9).factor).toBe(1);
  });
  it('keeps what is worth reading', () => {
    expect(exact(0.1 + 0.2)).toBe('0.3');
    expect(narrow(exact(1790))).toBe('1 790');
    expect(atStep(0.30000000000000004, 0.1)).toBe('0.3');
    expect(narrow(bytes(1536))).toBe('1.5 KiB');
    expect(narrow(duration(75))).toBe('1 min 15 s');
    expect([0.01, 0.6, 1.2, 75].map((s) => narrow(remaining(s)))).toEqual([
      'less than 1 s left',
      'less than 1 s left',
      '1.0 s left',
      '1 min 15 s left',
    ]);
  });
});

describe('text', () => {
  it('keeps numbers with their units', () => {
    for (const [sentence, wholes] of [
      ['fill has 15.3 % ± 0.6 % of 12 345 samples', ['15.3 %', '0.6 %', '12 345']],
      ['along time (≈ 0.00 to 5.11 ms; 3 s each)', ['≈ 0.00', '5.11 ms', '3 s']],
      ['costs 39.6 % less: ≈ 2.21 M → ≈ 1.33 M cycles', ['39.6 %', '≈ 2.21 M', '≈ 1.33 M']],
      ['Line stencil.c:42 costs 16 cycles against 12 samples', []],
      ['63 to 135 G ticks, +4 % and −4.2 % in L1 512 KiB', ['135 G', '+4 %', '−4.2 %', '512 KiB']],
      ['2 sizes of 3 steps, 5 Ranks', []],
    ] as const) {
      const parts = unparted(sentence);
      expect(parts.join('')).toBe(sentence);
      expect(parts.filter((_, i) => i % 2 === 1)).toEqual(wholes);
    }
  });

  it('is cut at its measured width', () => {
    const font = { size: 12 };
    const cut = fit('m_nodeElemCornerList', 60, font, roughMeasure);
    expect(cut).toMatch(/^m_no.*…$/);
    expect(roughMeasure(cut, font)).toBeLessThanOrEqual(60);
    expect(fit('m_x', 60, font, roughMeasure)).toBe('m_x');
    expect(fit('abc', 2, font, roughMeasure)).toBe('');
  });
});

function strokes(lines: { y0: number; y1: number; width: number; rgb: number; alpha: number }[]): Strokes {
  const f = (k: 'y0' | 'y1' | 'width' | 'alpha'): Float32Array => Float32Array.from(lines, (l) => l[k]);
  const n = lines.length;
  return {
    n,
    x0: new Float32Array(n),
    x1: new Float32Array(n).fill(10),
    y0: f('y0'),
    y1: f('y1'),
    width: f('width'),
    rgb: Uint32Array.from(lines, (l) => l.rgb),
    alpha: f('alpha'),
    area: { x: 0, y: 0, w: 10, h: 10 },
  };
}

describe('rasteriser', () => {
  it('covers as much as a line is wide', () => {
    for (const width of [0.5, 1, 3.3]) {
      for (const [y0, y1] of [
        [5, 5],
        [3, 6.5],
        [2, 8],
      ] as const) {
        const { bytes } = rasterize(strokes([{ y0, y1, width, rgb: 0xff0000, alpha: 1 }]), 1);
        let covered = 0;
        for (let i = 3; i < bytes.length; i += 4) covered += bytes[i]! / 255;
        const length = Math.hypot(10, y1 - y0);
        expect(covered).toBeCloseTo(length * width, 0);
      }
    }
  });
  it('draws later strokes over earlier ones', () => {
    const layer = rasterize(
      strokes([
        { y0: 5, y1: 5, width: 2, rgb: 0xff0000, alpha: 1 },
        { y0: 5, y1: 5, width: 2, rgb: 0x0000ff, alpha: 0.5 },
      ]),
      1,
    );
    const at = 4 * (5 * layer.w + 5);
    expect([...layer.bytes.slice(at, at + 4)]).toEqual([127, 0, 128, 255]);
  });
  it('draws very many strokes as it draws them one over the other', () => {
    // Seeded, so that a failure can be seen again.
    let seed = 7;
    const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
    const many = Array.from({ length: 3000 }, () => ({
      y0: 10 * random(),
      y1: 10 * random(),
      width: 0.3 + random(),
      rgb: Math.floor(0xffffff * random()),
      alpha: 0.4 + 0.6 * random(),
    }));
    const fast = rasterize(strokes(many), 4).bytes;
    // The same by painting in order: each stroke alone, then over what is there.
    const slow = new Float64Array(fast.length);
    for (const one of many) {
      const { bytes } = rasterize(strokes([one]), 4);
      for (let at = 0; at < bytes.length; at += 4) {
        const a = bytes[at + 3]! / 255;
        for (let c = 0; c < 3; c++) slow[at + c] = slow[at + c]! * (1 - a) + bytes[at + c]! * a;
        slow[at + 3] = slow[at + 3]! * (1 - a) + 255 * a;
      }
    }
    // At the upper and lower edge, which few strokes reach, the weakest may be missing.
    const [from, till] = [4 * 40 * 4, 4 * 40 * 36];
    for (let at = from; at < till; at++)
      if (Math.abs(fast[at]! - slow[at]!) > 14) expect(`${at}: ${fast[at]}`).toBe(`${at}: ${slow[at]}`);
  });
  it('leaves the rest transparent and stays inside', () => {
    const layer = rasterize(strokes([{ y0: -20, y1: 40, width: 4, rgb: 0xffffff, alpha: 1 }]), 2);
    expect(layer.bytes.length).toBe(4 * 20 * 20);
    expect(layer.bytes[3]).toBe(0);
  });
});

describe('svg', () => {
  const theme = parseTokens(css, 'light');
  it('is a document whose text is escaped', () => {
    const r = new SvgRenderer(theme, roughMeasure);
    r.text('a < b & "c"', 1, 2, { font: { size: 12 }, fill: theme.text });
    r.rect(
      { x: 0, y: 0, w: 5, h: 5 },
      { hatch: { line: '#000000', width: 1, period: 5 }, stroke: '#111111' },
    );
    const doc = r.document({ w: 10, h: 10 }, 'T');
    expect(doc).toContain(escapeXml('a < b & "c"'));
    expect(doc.match(/<pattern/g)).toHaveLength(1);
    expect(doc.trim().endsWith('</svg>')).toBe(true);
  });
  it('draws full circles as two halves', () => {
    const d = pathData([{ to: 'arc', c: { x: 0, y: 0 }, r: 5, from: 0, till: 2 * Math.PI }]);
    expect(d.match(/A/g)).toHaveLength(2);
    expect(d.startsWith('M5 0')).toBe(true);
  });
  it('puts very many strokes in as one picture', () => {
    const r = new SvgRenderer(theme, roughMeasure, () => 'data:,x');
    r.strokes({
      ...strokes(Array.from({ length: 6000 }, () => ({ y0: 1, y1: 2, width: 1, rgb: 0, alpha: 1 }))),
    });
    expect(r.document({ w: 1, h: 1 }, '')).toContain('<image');
  });
});

describe('scheduler', () => {
  it('runs a job once per frame however often it was asked for', () => {
    let frame: (() => void) | undefined;
    const s = new Scheduler((run) => ((frame = run), 1));
    let n = 0;
    const job = (): number => n++;
    s.ask(job);
    s.ask(job);
    frame?.();
    expect(n).toBe(1);
    s.ask(job);
    s.forget(job);
    frame?.();
    expect(n).toBe(1);
  });
});

describe('keys', () => {
  const press = (key: string, code: string, mods: Partial<KeyEvent> = {}): KeyEvent => ({
    key,
    code,
    ctrlKey: false,
    metaKey: false,
    shiftKey: false,
    altKey: false,
    ...mods,
  });
  it('takes bare letters by position and chords by character', () => {
    // On AZERTY the key at A types q.
    expect(matches(press('q', 'KeyA'), 'A')).toBe(true);
    expect(matches(press('a', 'KeyQ'), 'A')).toBe(false);
    expect(matches(press('z', 'KeyW', { ctrlKey: true }), 'Ctrl+Z')).toBe(true);
    expect(matches(press('k', 'KeyK', { metaKey: true }), 'Ctrl+K')).toBe(true);
    expect(matches(press('k', 'KeyK'), 'Ctrl+K')).toBe(false);
    expect(matches(press('?', 'Slash', { shiftKey: true }), '?')).toBe(true);
    expect(matches(press('+', 'Equal', { shiftKey: true }), '+')).toBe(true);
    expect(matches(press('ArrowUp', 'ArrowUp', { shiftKey: true }), 'Shift+ArrowUp')).toBe(true);
    expect(matches(press('ArrowUp', 'ArrowUp', { shiftKey: true }), 'ArrowUp')).toBe(false);
  });
});
