// Sentences about delays.
import { plural } from '../../base/format';
import type { Operation, ReportCause } from '../../api/wire';
import { time } from './scale';

export const CASES: Readonly<Record<Operation['case'], string>> = {
  '': 'on time',
  compute: 'started here',
  message: 'message or receive delayed',
  call: 'the call itself took long',
  sender: 'inherited by message',
  process: 'inherited in process',
};

export interface CauseText {
  readonly who: string;
  readonly verb: string;
  readonly late: string;
  readonly where: string;
  readonly more: string;
  readonly share: string;
}

/** Who was late, by how much, where and why; and whom it held up. */
export function causeText(c: ReportCause, rank: number): CauseText {
  const who = `Rank ${rank}`;
  const late = `${time(c.lateness)} late`;
  const at = `${c.operation} at step ${c.step}`;
  const more = reachText(c);
  const share =
    c.waiting > 0 && c.operations === 0
      ? `× ${plural(c.waiting, 'rank')}`
      : c.share >= 0.005
        ? `${Math.round(100 * c.share)} % of lateness`
        : '';
  if (c.startup)
    return { who, verb: 'began', late, where: `: start-up skew at ${at}.`, more: 'Not ranked.', share };
  switch (c.kind) {
    case 'compute':
      return { who, verb: 'entered', late, where: ` before ${at}: late computation.`, more, share };
    case 'wait':
      return { who, verb: 'entered', late, where: ` before ${at}: it waited for its sends.`, more, share };
    case 'message':
      return {
        who,
        verb: `left ${c.operation}`,
        late,
        where: ` at step ${c.step}; no sender was late: message or receive delayed.`,
        more,
        share,
      };
    default:
      return {
        who,
        verb: `left ${c.operation}`,
        late,
        where: ` at step ${c.step}: the call itself took long.`,
        more,
        share,
      };
  }
}

function reachText(c: ReportCause): string {
  const parts: string[] = [];
  if (c.operations > 0) {
    const whom = c.processes > 0 ? `, on ${plural(c.processes, 'other rank')} too` : '';
    parts.push(`It made ${plural(c.operations, 'operation')} late${whom}.`);
  }
  if (c.waiting > 0)
    parts.push(`The collective absorbed it: ${plural(c.waiting, 'rank')} waited inside the call.`);
  if (c.file) parts.push(`In ${c.region} (${c.file}:${c.line ?? 0}).`);
  return parts.join(' ');
}
