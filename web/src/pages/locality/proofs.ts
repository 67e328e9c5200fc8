// What a changed program did, in words: its misses are replayed on the machine of
// the advice, its time is measured.
import type { Proof, ProofTime } from '../../api/wire';
import { count, DASH, decimal, short, THIN, unitScale } from '../../base/format';
import type { Provenance } from '../../frame/badge';

/** The change that a proof is of. */
export const proofName = (p: Proof): string => [p.kind, p.object].filter(Boolean).join(' ') + `, ${p.change}`;

export interface ProofMark {
  readonly provenance: Provenance;
  readonly text: string;
}

/** The level whose misses changed most, as predicted and as the changed program has them. */
function rerun(p: Proof): string {
  let most: Proof['levels'][number] | undefined;
  for (const l of p.levels) {
    if (l.level === 'walks') continue;
    if (!most || Math.abs(l.now - l.recorded) > Math.abs(most.now - most.recorded)) most = l;
  }
  const differs = p.levels.some((l) => l.level !== 'walks' && !l.inside);
  let said = 're-run as predicted';
  if (differs) said = 're-run differs from the prediction';
  else if (!p.holds) said = 're-run: references show no pages';
  return most ? `${said}: ${most.level} ${short(most.now)} → ${short(most.recorded)}` : said;
}

/** Both times in one unit, with as many places as tell them apart. */
function times({ before_s, after_s }: ProofTime): string {
  const { factor, unit } = unitScale('ns', 1e9 * Math.max(before_s, after_s));
  const text = (places: number): string[] =>
    [before_s, after_s].map((s) => decimal((1e9 * s) / factor, places));
  const [a, b] = [1, 2, 3].map(text).find(([x, y]) => x !== y) ?? text(3);
  return `${a} → ${b}${THIN}${unit}`;
}

function timed(p: Proof, t: ProofTime): string {
  if (p.saves === 'time') return `timed ${times(t)}`;
  if (p.saves === 'misses') return 'timed: saved misses saved no time';
  return 'timed: no time saved';
}

/** The marks of a proof; those of none say so. */
export function proofMarks(p: Proof | null): readonly ProofMark[] {
  if (!p) return [{ provenance: 'absent', text: 'no re-run' }];
  if (p.saves === 'unknown') return [{ provenance: 'measured', text: 'printed another result' }];
  return [
    { provenance: 'modelled', text: rerun(p) },
    p.time ? { provenance: 'measured', text: timed(p, p.time) } : { provenance: 'absent', text: 'not timed' },
  ];
}

/** What was predicted of a level, from the least to the most. */
export function predictedText(l: Proof['levels'][number]): string {
  const [least, most] = l.predicted;
  return least === most ? count(least) : `${count(least)}${DASH}${count(most)}`;
}
