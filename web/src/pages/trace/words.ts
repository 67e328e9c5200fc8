// Words about delays and what removing them gains.
import { decimal, THIN } from '../../base/format';
import type { Operation, ReportGain } from '../../api/wire';

export const CASES: Readonly<Record<Operation['case'], string>> = {
  '': 'on time',
  compute: 'started here',
  message: 'message or receive delayed',
  call: 'the call itself took long',
  sender: 'inherited by message',
  process: 'inherited in process',
};

/** A share with its sign: −31.4 %. */
export function percent(share: number): string {
  const v = 100 * share;
  const digits = Math.abs(v) >= 99.95 ? 0 : 1;
  return `${v > 0 ? '+' : ''}${decimal(v, digits)}${THIN}%`.replace('-', '−');
}

/** What an entry gains alone, for its right side. */
export function gainWords(g: ReportGain): { readonly gain: string; readonly waiting: string } {
  return {
    gain: g.gain_ns > 0 ? `≈ ${percent(-g.gain)}` : 'no gain alone',
    waiting: Math.abs(g.waiting) >= 0.005 ? `${percent(g.waiting)} waiting` : '',
  };
}

/**
 * A sentence of the ranking in its parts: what happened, then what that rests
 * on. The program that prints it has them apart by semicolons.
 */
export function clauses(text: string): { readonly first: string; readonly more: string } {
  const [first = '', ...rest] = text.split('; ');
  return { first: `${capital(first)}.`, more: capital(rest.join('; ')) };
}

/** A sentence begins with a capital letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
