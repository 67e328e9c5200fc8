/**
 * The fields of something that is replaced as a whole: who reads one of them hears
 * of that one alone. A snapshot is new whenever the pointer moves or work goes on,
 * and most views show none of that.
 */
export function fieldwise<T extends object>(whole: () => T): T {
  const fields = {} as T;
  for (const name of Object.keys(whole()) as (keyof T)[]) {
    const field = $derived(whole()[name]);
    Object.defineProperty(fields, name, { get: () => field, enumerable: true });
  }
  return fields;
}
