// The machine code of a function, as the code viewer shows it.
import type { Assembly, Instruction } from '../../../api/wire';
import { baseName, percent, plural } from '../../../base/format';
import type { Code, CodeColumn } from '../../../frame/code/code';

/** Every instruction can be pointed at, with or without samples. */
export function assemblyCode(
  a: Assembly,
  file: string | undefined,
  line: number | undefined,
  cost: string,
): Code {
  const at = (n: number): Instruction | undefined => a.instructions[n - 1];
  const by = (head: string, of: (i: Instruction) => number): CodeColumn => ({
    head,
    values: new Map(a.instructions.map((i, k) => [k + 1, of(i)])),
  });
  const total = a.instructions.reduce((n, i) => n + i.samples, 0);
  const own = a.instructions.flatMap((i, k) => (i.line === line && i.file === file ? [k + 1] : []));
  // The hottest instruction of the line, or the line's first.
  const hottest = own.reduce((best, n) => (at(n)!.samples > at(best)!.samples ? n : best), own[0] ?? 0);
  const timed = a.instructions.some((i) => i.latency > 0);
  return {
    name: 'Assembly',
    file: a.function,
    text: a.instructions.map((i) => i.text).join('\n'),
    numbering: { head: 'address', text: 'Instructions', of: (n) => at(n)?.addr ?? '' },
    columns: [
      by('samples', (i) => i.samples),
      ...(timed ? [by(cost, (i) => i.latency)] : []),
      { ...by('line', (i) => i.line), tableOnly: true },
    ],
    tones: new Map(own.map((n) => [n, 'here'])),
    ...(hottest > 0 && { reveal: hottest }),
    term: (n) => {
      const i = at(n);
      return i && i.line > 0 ? { kind: 'line', file: i.file, line: i.line } : undefined;
    },
    describe: (n) => {
      const i = at(n);
      if (!i) return undefined;
      const where = i.line > 0 ? ` · ${baseName(i.file)}:${i.line}` : '';
      const share = i.samples > 0 ? ` (${percent(i.samples, total)} of the function)` : '';
      return {
        name: `${i.addr} ${i.text}`,
        more: `· ${plural(i.samples, 'sample')}${share}${where}`,
        counted: i.samples,
      };
    },
    summary: `${a.function}: ${plural(a.instructions.length, 'instruction')}, ${plural(total, 'sample')}`,
  };
}
