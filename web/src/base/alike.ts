// Whether two things would give the same picture.

/** What is made of an answer says of which: equal names stand for equal numbers. */
export interface Named {
  readonly still?: string;
}

/**
 * Compares by identity, then plain objects, lists, maps and typed arrays by what
 * they hold. Anything else, a function too, is like itself alone: a picture is
 * rather drawn once too often than kept once too long.
 */
export function alike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Array.isArray(a)) return sameItems(a, b as readonly unknown[]);
  if (ArrayBuffer.isView(a)) return sameItems(a as never, b as never);
  if (a instanceof Map) return sameMap(a, b as ReadonlyMap<unknown, unknown>);
  return Object.getPrototypeOf(a) === Object.prototype && sameFields(a as Fields, b as Fields);
}

type Fields = Readonly<Record<string, unknown>> & Named;

function sameItems(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!alike(a[i], b[i])) return false;
  return true;
}

function sameMap(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  return a.size === b.size && [...a].every(([k, v]) => b.has(k) && alike(v, b.get(k)));
}

function sameFields(a: Fields, b: Fields): boolean {
  if (a.still !== undefined && b.still !== undefined) return a.still === b.still;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => k in b && alike(a[k], b[k]));
}
