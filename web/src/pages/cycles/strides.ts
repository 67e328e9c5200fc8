// How far each reference lies from the one before by the same instruction.
import type { Reference } from '../../api/wire';

export interface Strided extends Reference {
  readonly stride: string; // bytes; empty for the first
}

export function strided(references: readonly Reference[]): readonly Strided[] {
  const before = new Map<string, bigint>();
  return references.map((r) => {
    const key = r.pc || `${r.file}:${r.line} ${r.op}`;
    const address = BigInt(r.address);
    const was = before.get(key);
    before.set(key, address);
    return { ...r, stride: was === undefined ? '' : String(address - was) };
  });
}
