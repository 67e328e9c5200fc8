// Numbers as people read them: tabular, with a narrow no-break space between
// thousands and before units.

export const THIN = '\u202f';
export const DASH = '–';

/** Before a number that is modelled or estimated; nothing before others. */
export function roughly(is: boolean): string {
  return is ? '≈ ' : '';
}

function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
}

/** An exact whole number: 15 676. */
export function count(n: number): string {
  return n < 0 ? `−${group(String(Math.round(-n)))}` : group(String(Math.round(n)));
}

/** A number with a fixed number of decimals: 1 234.5. */
export function decimal(n: number, places: number): string {
  if (!Number.isFinite(n)) return DASH;
  const [whole = '0', rest] = Math.abs(n).toFixed(places).split('.');
  const sign = n < 0 && Number(n.toFixed(places)) !== 0 ? '−' : '';
  return sign + group(whole) + (rest ? `.${rest}` : '');
}

/** A sum that may be large: 196, 2.6 k, 28.2 k, 587 k, 1.02 M. */
export function short(n: number): string {
  if (!Number.isFinite(n)) return DASH;
  const size = Math.abs(n);
  if (size < 999.5) return count(n);
  const [scale, unit] =
    size < 999_500 ? [1e3, 'k'] : size < 999.5e6 ? [1e6, 'M'] : size < 999.5e9 ? [1e9, 'G'] : [1e12, 'T'];
  const v = n / scale;
  const places = Math.abs(v) >= 99.95 ? 0 : Math.abs(v) >= 9.995 || unit === 'k' ? 1 : 2;
  return decimal(v, places) + THIN + unit;
}

export function mean(n: number): string {
  return decimal(n, 1);
}

/** A share in percent without its sign: 36.4; below one tenth, "<0.1". */
export function share(part: number, whole: number): string {
  if (!(whole > 0)) return DASH;
  const p = (100 * part) / whole;
  return p > 0 && p < 0.05 ? '<0.1' : decimal(p, 1);
}

export function percent(part: number, whole: number): string {
  const s = share(part, whole);
  return s === DASH ? s : `${s}${THIN}%`;
}

/** A change in percent with its sign: −44.3 %. */
export function change(now: number, then: number): string {
  if (now === 0) return then === 0 ? `0.0${THIN}%` : 'new';
  const p = (100 * (then - now)) / now;
  return `${p < 0 ? '−' : p > 0 ? '+' : ''}${Math.abs(p).toFixed(1)}${THIN}%`;
}

/** Digits enough to tell a value from its neighbours at this step. */
export function atStep(v: number, step: number): string {
  const places = step >= 1 || step <= 0 ? 0 : Math.min(9, Math.ceil(-Math.log10(step) - 1e-9));
  return decimal(v, places);
}

/** A value as exactly as it is worth reading: up to six significant digits, integers whole. */
export function exact(v: number): string {
  if (!Number.isFinite(v)) return DASH;
  if (Number.isInteger(v)) return Math.abs(v) < 1e15 ? count(v) : v.toExponential(3);
  const size = Math.abs(v);
  if (size >= 1e15 || size < 1e-6) return v.toExponential(3);
  return decimal(v, Math.max(0, Math.min(9, 5 - Math.floor(Math.log10(size)))))
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}

export function hex(v: number): string {
  return `0x${Math.round(v).toString(16)}`;
}

/** How values of an axis are written: divided by `factor`, followed (once, in the head) by `unit`. */
export interface UnitScale {
  readonly factor: number;
  readonly unit: string;
}

/**
 * The SI scale that suits values up to max. Nanoseconds become µs, ms or s;
 * other units take k, M, G in front; cycles stay cycles, they are read one by one.
 */
export function unitScale(unit: string, max: number): UnitScale {
  if (unit === 'ns') {
    if (max < 10_000) return { factor: 1, unit: 'ns' };
    if (max < 10_000_000) return { factor: 1e3, unit: 'µs' };
    if (max < 10_000_000_000) return { factor: 1e6, unit: 'ms' };
    return { factor: 1e9, unit: 's' };
  }
  if (unit === 'ticks' || unit === 'bytes') {
    const name = unit === 'bytes' ? 'B' : unit;
    if (max < 10_000) return { factor: 1, unit };
    if (max < 10_000_000) return { factor: 1e3, unit: `k${name}` };
    if (max < 10_000_000_000) return { factor: 1e6, unit: `M${name}` };
    return { factor: 1e9, unit: `G${name}` };
  }
  return { factor: 1, unit };
}

export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  let v = n;
  while (v >= 1024 && i < units.length - 1) {
    v /= 1024;
    i++;
  }
  return `${decimal(v, v < 10 && i > 0 ? 1 : 0)}${THIN}${units[i]}`;
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${decimal(seconds, seconds < 10 ? 1 : 0)}${THIN}s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes}${THIN}min ${Math.round(seconds - 60 * minutes)}${THIN}s`;
}

/** How long something will take still; an estimate below a second is none. */
export function remaining(seconds: number): string {
  return seconds < 1 ? `less than 1${THIN}s left` : `${duration(Math.round(seconds))} left`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
