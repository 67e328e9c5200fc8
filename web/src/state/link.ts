// The form in which a link keeps what a page shows: one schema a page says what
// there is, what it is at first, and what it may be. Reading never fails: a value
// that is missing, of another kind or out of range is the one it is at first.

export type Options = Readonly<Record<string, string>>;

/** One value of a link. */
export interface Field<T> {
  readonly initial: T;
  /** Undefined for a text that is no such value. */
  readonly read: (text: string) => T | undefined;
  readonly write: (value: T) => string;
}

interface Bounds {
  readonly least?: number;
  readonly most?: number;
}

/** A number that is out of bounds becomes the nearest that is not; what is no number is undefined. */
function within(
  n: number,
  { least = -Number.MAX_VALUE, most = Number.MAX_VALUE }: Bounds,
): number | undefined {
  return Number.isFinite(n) ? Math.min(most, Math.max(least, n)) + 0 : undefined; // never -0
}

export function whole(initial: number, bounds: Bounds = {}): Field<number> {
  const safe = { least: Number.MIN_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER, ...bounds };
  return {
    initial,
    read: (text) => (/^-?\d+$/.test(text) ? within(Number(text), safe) : undefined),
    write: String,
  };
}

export function real(initial: number, bounds: Bounds = {}): Field<number> {
  return {
    initial,
    read: (text) => (text.trim() === '' ? undefined : within(Number(text), bounds)),
    write: String,
  };
}

/** A number as the user typed it, or nothing. */
export function typed(): Field<string> {
  return {
    initial: '',
    read: (text) => (text.trim() !== '' && Number.isFinite(Number(text)) ? text : undefined),
    write: (text) => text,
  };
}

const LONGEST_TEXT = 4096;

export function words(initial = ''): Field<string> {
  return {
    initial,
    read: (text) => (text.length <= LONGEST_TEXT ? text : undefined),
    write: (text) => text,
  };
}

export function oneOf<T extends string>(known: readonly T[], initial: T): Field<T> {
  return { initial, read: (text) => known.find((k) => k === text), write: (v) => v };
}

/** Something that is on or off, and the word for what it is not at first. */
export function flag(initial: boolean, word: string): Field<boolean> {
  return {
    initial,
    read: (text) => (text === word ? !initial : undefined),
    write: (v) => (v === initial ? '' : word),
  };
}

export type Span = readonly [from: number, to: number];

/** A range that is not empty; nothing, or everything, is 0 to 0. */
export function span(bounds: Bounds = { least: 0 }): Field<Span> {
  return {
    initial: [0, 0],
    read: (text) => {
      const m = /^(-?[\d.]+(?:e[+-]?\d+)?)\.\.(-?[\d.]+(?:e[+-]?\d+)?)$/.exec(text);
      const [a, b] = [within(Number(m?.[1]), bounds), within(Number(m?.[2]), bounds)];
      return a !== undefined && b !== undefined && a < b ? [a, b] : undefined;
    },
    write: ([a, b]) => (a < b ? `${a}..${b}` : ''),
  };
}

/** A list of texts without line breaks. */
export function lines(): Field<readonly string[]> {
  return {
    initial: [],
    read: (text) => text.split('\n').filter(Boolean),
    write: (list) => list.join('\n'),
  };
}

export type Schema<S> = { readonly [K in keyof S]: Field<S[K]> };

/** Reads and writes a page's part of the options of a link; its keys begin with a prefix. */
export interface Codec<S> {
  readonly initial: S;
  read(options: Options): S;
  /** The options with a state in place of the one they hold; what is as at first is left out. */
  write(state: S, options: Options): Record<string, string>;
}

export function codec<S extends object>(prefix: string, schema: Schema<S>): Codec<S> {
  const keys = Object.keys(schema) as (keyof S & string)[];
  const each = (value: <K extends keyof S & string>(key: K) => S[K]): S =>
    Object.fromEntries(keys.map((k) => [k, value(k)])) as S;
  return {
    initial: each((k) => schema[k].initial),
    read: (options) =>
      each((k) => {
        const text = options[prefix + k];
        return (text === undefined ? undefined : schema[k].read(text)) ?? schema[k].initial;
      }),
    write: (state, options) => {
      const out = Object.fromEntries(Object.entries(options).filter(([k]) => !k.startsWith(prefix)));
      for (const k of keys) {
        const text = schema[k].write(state[k]);
        if (text !== '' && text !== schema[k].write(schema[k].initial)) out[prefix + k] = text;
      }
      return out;
    },
  };
}
