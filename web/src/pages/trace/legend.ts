// What the colours of the timelines mean, on the page and in exported pictures.
import { decimal, short } from '../../base/format';
import { numberScale } from '../../base/scale';
import type { Theme } from '../../base/theme';
import { rampOf, stopsOf, type ViewLegend } from '../../frame/legend';
import { groupColor, latenessColor, timeUnit } from './scale';
import { changeColor } from '../../base/change';
import { isKind, type Colour } from './state';

export interface Coloured {
  readonly colour: Colour;
  readonly top: number; // end of the scale, ns or the unit of a measure
  readonly signed: boolean;
  readonly unit: string; // of a measure; empty for times
  readonly word: string; // "late"
  readonly groups: readonly string[];
  readonly groupOf: readonly number[]; // by name
}

/** The kinds of work that a trace has. */
export function groupLegend(theme: Theme, c: Pick<Coloured, 'groups' | 'groupOf'>): ViewLegend {
  // The first two names stand for nothing in the trace.
  const present = [...new Set(c.groupOf.slice(2))].sort((a, b) => a - b);
  return {
    items: present.map((g) => ({ label: c.groups[g] ?? '', paint: { fill: groupColor(theme, g) } })),
  };
}

/** Undefined for colours that only tell neighbours apart. */
export function timelineLegend(theme: Theme, c: Coloured): ViewLegend | undefined {
  if (c.colour === 'group') return groupLegend(theme, c);
  if (isKind(c.colour)) return undefined;
  const { factor, unit } = c.colour.startsWith('metric:') ? { factor: 1, unit: c.unit } : timeUnit(c.top);
  const top = c.top / factor;
  const write = (v: number): string => {
    const text = top >= 10_000 ? short(v) : decimal(v, Number.isInteger(v) ? 0 : 1);
    return c.signed && v > 0 ? `+${text}` : text;
  };
  const colour = (t: number): string => (c.signed ? changeColor(theme, 2 * t - 1) : latenessColor(theme, t));
  // Of a difference the ends and 0: round values between them may be 0 alone, without a sign.
  const ramp = c.signed
    ? {
        stops: stopsOf(colour),
        ticks: [-1, 0, 1].map((end) => ({ at: (end + 1) / 2, label: write(end * top) })),
      }
    : rampOf(numberScale(0, top, 'linear'), colour, write, 4);
  return { ramp, unit: `${unit} ${c.word}`.trim() };
}
