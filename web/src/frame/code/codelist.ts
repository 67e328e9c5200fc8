// The code viewer as a table and a picture; loaded when it is asked for.
import { short } from '../../base/format';
import type { Measure } from '../../base/text';
import { ListView, type ListColumn } from '../list';
import type { View } from '../view';
import { largest, places, type Code, type CodeColumn, type Further, type Numbering } from './code';

interface Line {
  readonly number: number;
  readonly text: string;
}

const BAR = { w: 46, h: 14 };
const BY_NUMBER: Numbering = { head: 'line', text: 'source', of: String };

/** The picture has the lines on screen, the table every place. */
export function codeList(
  code: Code,
  visible: readonly number[],
  measure: Measure,
  further?: Further,
): View<unknown> {
  const lines = code.text.split('\n').map((t, i): Line => ({
    number: i + 1,
    text: t.replaceAll('\t', '    ').trimEnd(),
  }));
  const marked = new Set(places(code));
  const numbering = code.numbering ?? BY_NUMBER;
  return new ListView<Line>(
    {
      name: code.name,
      rows: visible.flatMap((n) => lines[n - 1] ?? []),
      listed: lines.filter((l) => marked.has(l.number)),
      term: (l) => (marked.has(l.number) ? code.term?.(l.number) : undefined),
      samples: (l) => code.describe(l.number)?.counted ?? 0,
      columns: [
        { head: numbering.head, link: true, right: true, text: (l) => numbering.of(l.number) },
        ...(further
          ? [...code.columns.map(numberColumn), ...furtherColumns(further), ...code.columns.flatMap(bars)]
          : code.columns.flatMap((c) => [numberColumn(c), ...bars(c)])),
        { head: numbering.text, mono: true, most: 900, text: (l) => l.text },
      ],
    },
    measure,
  ) as View<unknown>;
}

function bars(c: CodeColumn): ListColumn<Line>[] {
  return c.tableOnly || c.narrow === 'number' ? [] : [barColumn(c)];
}

function furtherColumns(further: Further): ListColumn<Line>[] {
  return further.head.map((head, i) => ({ head, right: true, text: (l) => further.of(l.number)[i] ?? '' }));
}

function numberColumn(c: CodeColumn): ListColumn<Line> {
  const head = c.listed ?? c.head;
  return {
    head: c.provenance === 'modelled' ? `${head} (modelled)` : head,
    right: true,
    text: (l) => (c.values.has(l.number) ? (c.write ?? short)(c.values.get(l.number)!) : ''),
    exact: (l) => String(c.values.get(l.number) ?? ''),
  };
}

function barColumn(c: CodeColumn): ListColumn<Line> {
  const most = largest(c);
  const part = (l: Line): number => (most > 0 ? (c.values.get(l.number) ?? 0) / most : 0);
  return {
    head: `${c.head} of the most`,
    text: (l) => (c.values.has(l.number) ? part(l).toFixed(3) : ''),
    picture: {
      size: BAR,
      draw: (r, l, at) => {
        const fill = c.colour?.(l.number) ?? r.theme['selected-bar'];
        if (c.narrow === 'around') {
          const w = (Math.abs(part(l)) * BAR.w) / 2;
          const x = at.x + BAR.w / 2 - (part(l) < 0 ? w : 0);
          if (w > 0) r.rect({ x, y: at.y, w, h: BAR.h }, { fill });
          return;
        }
        const w = BAR.w * part(l);
        if (w > 0) r.rect({ x: at.x + BAR.w - w, y: at.y, w, h: BAR.h }, { fill }, 2);
      },
    },
  };
}
