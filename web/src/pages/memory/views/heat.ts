// The heat of source lines: what the gutter of the code viewer shows, and which
// line it opens at.
import { ALL, HOVERED, SELECTED, type GroupAnswer } from '../../../api/decode';
import type { SourceText } from '../../../api/wire';
import { baseName, plural } from '../../../base/format';
import type { Code, CodeColumn } from '../../../frame/code/code';
import type { Provenance } from '../../../frame/badge';
import type { Said } from '../../../frame/view';

export interface LineHeat {
  readonly line: number;
  readonly samples: readonly [number, number, number];
  readonly sums: readonly [number, number, number];
  readonly share: number; // of the hottest line of the file, 0 … 1
  readonly hover: number; // the hovered part on the same scale
}

export interface Heat {
  readonly lines: ReadonlyMap<number, LineHeat>;
  /** Hottest line of the selection. */
  readonly top: number | undefined;
  /** Hottest line of the hover. */
  readonly topHover: number | undefined;
}

/** Files of groups by (file, line), by latency or, without one, by samples. */
export function heatOf(groups: GroupAnswer, file: string): Heat {
  const byLatency = groups.sums[SELECTED].some((v) => v > 0);
  const weigh = (l: 0 | 1 | 2, i: number): number =>
    (byLatency ? groups.sums[l][i] : groups.counts[l][i]) ?? 0;
  const own: number[] = [];
  groups.keys[0]?.forEach((f, i) => {
    if (f === file && Number(groups.keys[1]![i]) > 0) own.push(i);
  });
  const most = Math.max(1e-9, ...own.map((i) => weigh(SELECTED, i)));
  const lines = new Map<number, LineHeat>();
  for (const i of own) {
    const line = Number(groups.keys[1]![i]);
    const per = (
      from: readonly [ArrayLike<number>, ArrayLike<number>, ArrayLike<number>],
    ): [number, number, number] => [from[ALL][i] ?? 0, from[SELECTED][i] ?? 0, from[HOVERED][i] ?? 0];
    lines.set(line, {
      line,
      samples: per(groups.counts),
      sums: per(groups.sums),
      share: weigh(SELECTED, i) / most,
      hover: weigh(HOVERED, i) / most,
    });
  }
  return {
    lines,
    top: hottest(groups, own, (i) => weigh(SELECTED, i)),
    topHover: hottest(groups, own, (i) => weigh(HOVERED, i)),
  };
}

/** The heat of any file of the groups, each found once. */
export function heats(groups: GroupAnswer): (file: string) => Heat {
  const known = new Map<string, Heat>();
  return (file) => {
    const heat = known.get(file) ?? heatOf(groups, file);
    known.set(file, heat);
    return heat;
  };
}

function hottest(
  groups: GroupAnswer,
  own: readonly number[],
  weigh: (i: number) => number,
): number | undefined {
  let best: number | undefined;
  let most = 0;
  for (const i of own) {
    if (weigh(i) > most) [best, most] = [Number(groups.keys[1]![i]), weigh(i)];
  }
  return best;
}

/** The file to show: that of the hottest line of the hover, or of the selection. */
export function topFile(groups: GroupAnswer, layer: 1 | 2): string | undefined {
  const byLatency = groups.sums[layer].some((v) => v > 0);
  const values = byLatency ? groups.sums[layer] : groups.counts[layer];
  let best: string | undefined;
  let most = 0;
  groups.keys[0]?.forEach((file, i) => {
    if (file !== '' && file !== '??' && (values[i] ?? 0) > most) [best, most] = [file, values[i]!];
  });
  return best;
}

/** One sentence about the file, for people who do not see the gutter. */
function describeHeat(file: string, heat: Heat): string {
  const top = heat.top === undefined ? '' : `; the most is on line ${heat.top}`;
  return `${file}: ${plural(heat.lines.size, 'line')} with samples${top}`;
}

function sayLine(file: string, l: LineHeat): Said {
  return {
    name: `${baseName(file)}:${l.line}`,
    more: `· ${plural(l.samples[SELECTED], 'sample')} selected`,
    counted: l.samples[SELECTED],
  };
}

export interface HeatInput {
  readonly source: SourceText;
  readonly heat: Heat;
  readonly current: number | undefined;
  readonly unit: string; // of the sums
  readonly provenance: Provenance | undefined;
  readonly places: boolean;
  readonly counted: string; // how many samples are selected, in words
}

/** The source with its heat: cycles beside the lines, or samples where there are none. */
export function codeOf(input: HeatInput): Code {
  const { source, heat, current } = input;
  const by = (of: (l: LineHeat) => number): ReadonlyMap<number, number> =>
    new Map([...heat.lines].map(([line, l]) => [line, of(l)]));
  const byLatency = [...heat.lines.values()].some((l) => l.sums[SELECTED] > 0);
  const samples: CodeColumn = { head: 'samples', values: by((l) => l.samples[SELECTED]) };
  const all: CodeColumn = { head: 'of all', values: by((l) => l.samples[ALL]), tableOnly: true };
  const sums: CodeColumn = {
    head: input.unit,
    values: by((l) => l.sums[SELECTED]),
    hovered: by((l) => l.sums[HOVERED]),
    ...(input.provenance && { provenance: input.provenance }),
  };
  return {
    name: 'Code',
    file: source.file,
    text: source.text,
    columns: byLatency
      ? [{ ...samples, tableOnly: true }, all, sums]
      : [{ ...samples, hovered: by((l) => l.samples[HOVERED]) }, all],
    ...(current !== undefined && { tones: new Map([[current, 'here' as const]]) }),
    reveal: current,
    places: input.places,
    term: (line) => ({ kind: 'line', file: source.file, line }),
    describe: (line) => {
      const l = heat.lines.get(line);
      return l && sayLine(source.file, l);
    },
    summary: describeHeat(source.file, heat) + input.counted,
  };
}
