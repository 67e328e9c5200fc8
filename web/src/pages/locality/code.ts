// The misses of each line, beside the source.
import type { MissLevel, MissRow, SourceText } from '../../api/wire';
import { count, plural } from '../../base/format';
import type { Code, CodeColumn } from '../../frame/code/code';

interface Input {
  readonly source: SourceText;
  readonly file: string; // its name in the trace
  readonly places: readonly MissRow[];
  readonly levels: readonly MissLevel[];
  readonly by: number; // the level in the gutter; the others are in tables
  readonly selecting: boolean;
  readonly name: string; // of the place that is pointed at
}

export function missCode(of: Input): Code {
  const { source, levels, by } = of;
  const here = of.places.filter((p) => p.file === of.file);
  const chosen = of.selecting ? here.filter((p) => p.selected > 0) : [];
  const pointed = here.find((p) => p.name === of.name);
  const column = (k: number): CodeColumn => ({
    head: `${levels[k]?.level ?? ''} misses`,
    values: new Map(here.map((p) => [p.line, p.misses[k] ?? 0])),
    provenance: 'modelled',
  });
  return {
    name: 'Code',
    file: source.file,
    text: source.text,
    columns: [
      column(by),
      ...levels.flatMap((_, k) => (k === by ? [] : [{ ...column(k), tableOnly: true as const }])),
    ],
    tones: new Map([
      ...chosen.filter((p) => p.selected === p.references).map((p) => [p.line, 'here'] as const),
      ...(pointed ? [[pointed.line, 'pointed'] as const] : []),
    ]),
    reveal: chosen[0]?.line ?? here[0]?.line,
    term: (line) => ({ kind: 'line', file: of.file, line }),
    describe: (line) => {
      const p = here.find((x) => x.line === line);
      const misses = levels.map((l, k) => `${count(p?.misses[k] ?? 0)} ${l.level} misses`);
      return (
        p && {
          name: p.name,
          more: ['', `${plural(p.references, 'reference')}`, ...misses].join(' · ').trim(),
        }
      );
    },
    summary: `${of.file}: misses beside each line`,
  };
}
