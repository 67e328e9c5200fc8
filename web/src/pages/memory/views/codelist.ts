// The code pane as a table and a picture: the lines on screen with their heat,
// and as rows every line of the file that has samples.
import { short } from '../../../base/format';
import type { Measure } from '../../../base/text';
import { ALL, SELECTED } from '../../../api/decode';
import type { Heat, LineHeat } from '../../../frame/code';
import { ListView } from '../../../frame/list';
import type { View } from '../../../frame/view';

interface Line {
  readonly number: number;
  readonly text: string;
  readonly heat: LineHeat | undefined;
}

export interface CodeInput {
  readonly file: string;
  readonly text: string;
  readonly heat: Heat;
  readonly unit: string;
  /** First and last line on screen. */
  readonly visible: readonly [number, number];
}

const BAR = { w: 46, h: 14 };

export function codeList({ file, text, heat, unit, visible }: CodeInput, measure: Measure): View<unknown> {
  const lines = text.split('\n').map((t, i): Line => ({
    number: i + 1,
    text: t.replaceAll('\t', '    ').trimEnd(),
    heat: heat.lines.get(i + 1),
  }));
  const amount =
    (of: (h: LineHeat) => number) =>
    (l: Line): string =>
      l.heat ? String(of(l.heat)) : '';
  return new ListView<Line>(
    {
      name: 'Code',
      rows: lines.slice(visible[0] - 1, visible[1]),
      listed: lines.filter((l) => l.heat),
      term: (l) => (l.heat ? { kind: 'line', file, line: l.number } : undefined),
      samples: (l) => l.heat?.samples[SELECTED] ?? 0,
      columns: [
        { head: 'line', link: true, right: true, text: (l) => String(l.number) },
        { head: 'samples', right: true, text: amount((h) => h.samples[SELECTED]) },
        { head: 'of all', right: true, text: amount((h) => h.samples[ALL]) },
        {
          head: unit,
          right: true,
          text: (l) => (l.heat && l.heat.sums[SELECTED] > 0 ? short(l.heat.sums[SELECTED]) : ''),
          exact: amount((h) => h.sums[SELECTED]),
        },
        {
          head: 'heat',
          text: (l) => (l.heat ? l.heat.share.toFixed(3) : ''),
          picture: {
            size: BAR,
            draw: (r, l, at) => {
              const w = BAR.w * (l.heat?.share ?? 0);
              if (w > 0)
                r.rect({ x: at.x + BAR.w - w, y: at.y, w, h: BAR.h }, { fill: r.theme['selected-bar'] }, 2);
            },
          },
        },
        { head: 'source', mono: true, most: 900, text: (l) => l.text },
      ],
    },
    measure,
  ) as View<unknown>;
}
