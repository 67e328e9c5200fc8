// The state that a link restores, and its form in the fragment of the address.
//
// Version history (docs/formats.md):
//   1  first

import { parse } from './language';
import { real, oneOf, whole } from './link';
import { EVERYTHING, equal, text, type Selection } from './selection';
import type { Axis, Scale } from '../api/wire';

export type PageName = 'memory' | 'trace' | 'cycles' | 'locality' | 'mesh' | 'trial' | 'study';
export type Metric = 'latency' | 'samples' | 'mean';
/** What of two runs is shown: one of them, or B − A. */
export type Shown = 'diff' | 'a' | 'b';
export type Compared = 'cost' | 'share' | 'samples' | 'mean';

export interface State {
  readonly run: string; // empty: the first one that is open; A,B: two of them as one
  readonly cmp: Shown; // of two runs
  readonly by: Compared; // what of them is compared
  readonly page: PageName;
  readonly select: Selection;
  readonly filter: Selection;
  readonly axes: readonly Axis[]; // empty: those that suit the run
  readonly bins: number;
  readonly axis: string; // of the single axis view; empty: one that suits
  readonly category: string; // of the category view
  readonly rank: Metric; // offenders
  readonly color: Metric; // topology
  readonly shape: 'sunburst' | 'icicle';
  readonly zoom: string; // resource the topology is zoomed to; empty: machine
  readonly bottom:
    | 'parallel'
    | 'axis'
    | 'category'
    | 'timeline'
    | 'heat'
    | 'calls'
    | 'spread'
    | 'lines'
    | 'touches'
    | 'allocations'
    | 'changes';
  // Settings of single views and of later pages, by a name of word characters
  // and dots. A missing entry is the view's default.
  readonly options: Readonly<Record<string, string>>;
}

export const VERSION = 1;

export const INITIAL: State = {
  run: '',
  cmp: 'diff',
  by: 'cost',
  page: 'memory',
  select: EVERYTHING,
  filter: EVERYTHING,
  axes: [],
  bins: 100,
  axis: '',
  category: '',
  rank: 'latency',
  color: 'latency',
  shape: 'sunburst',
  zoom: '',
  bottom: 'parallel',
  options: {},
};

// Read is a state from a link, and what of the link could not be understood,
// as sentences.
export interface Read {
  readonly state: State;
  readonly problems: readonly string[];
  // A token in the link (k=…); it is kept for the tab and never written back.
  readonly token: string | undefined;
  // The link stands for a longer one that the server keeps (l=…).
  readonly kept: string | undefined;
}

// Upgraders: entry n turns the parameters of version n into those of n + 1.
export type Upgrader = (p: URLSearchParams) => void;
// A longer link is not passed on safely by mail and chat; see keptLink.
export const LONGEST = 2000;

// keptLink is the fragment for a link that the server keeps.
export function keptLink(id: string): string {
  return `#v=${VERSION}&l=${id}`;
}

const UPGRADERS: Readonly<Record<number, Upgrader>> = {};

// write gives the fragment for a state: version first, fixed order of keys,
// defaults left out, so that equal states give equal links.
export function write(s: State): string {
  const parts = [`v=${VERSION}`];
  const put = (key: string, value: string, initial = ''): void => {
    if (value !== initial) parts.push(`${key}=${escape(value)}`);
  };
  put('run', s.run);
  put('cmp', s.cmp, INITIAL.cmp);
  put('by', s.by, INITIAL.by);
  put('page', s.page, INITIAL.page);
  put('s', text(s.select));
  put('f', text(s.filter));
  put('axes', s.axes.map(writeAxis).join(','));
  put('bins', String(s.bins), String(INITIAL.bins));
  put('axis', s.axis);
  put('category', s.category);
  put('rank', s.rank, INITIAL.rank);
  put('color', s.color, INITIAL.color);
  put('shape', s.shape, INITIAL.shape);
  put('zoom', s.zoom);
  put('bottom', s.bottom, INITIAL.bottom);
  for (const key of Object.keys(s.options).sort()) put(`o.${key}`, s.options[key] ?? '');
  return '#' + parts.join('&');
}

// read understands a fragment of any version up to ours; of a newer one it takes
// what it knows and says so.
export function read(fragment: string, upgraders = UPGRADERS, newest = VERSION): Read {
  const p = new URLSearchParams(fragment.replace(/^#/, ''));
  const problems: string[] = [];
  const version = whole(newest).read(p.get('v') ?? String(newest));
  if (version === undefined || version < 1)
    problems.push(
      `The link's version ${JSON.stringify(p.get('v'))} is none; it is read as version ${newest}.`,
    );
  else if (version > newest)
    problems.push(`The link was made by a newer Isobath (version ${version}); parts of it may be missing.`);
  else for (let v = version; v < newest; v++) upgraders[v]?.(p);

  const get = (key: string, initial: string): string => p.get(key) ?? initial;
  const selection = (key: string): Selection => {
    try {
      return parse(get(key, ''));
    } catch (error) {
      problems.push(
        `The link's ${key === 's' ? 'selection' : 'filter'} was not understood: ${(error as Error).message}.`,
      );
      return EVERYTHING;
    }
  };
  const state: State = {
    run: get('run', ''),
    cmp: one(get('cmp', ''), SHOWN, INITIAL.cmp),
    by: one(get('by', ''), COMPARED, INITIAL.by),
    page: one(get('page', ''), PAGES, INITIAL.page),
    select: selection('s'),
    filter: selection('f'),
    axes: get('axes', '').split(',').flatMap(readAxis),
    bins: BINS.read(get('bins', '')) ?? INITIAL.bins,
    axis: get('axis', ''),
    category: get('category', ''),
    rank: one(get('rank', ''), METRICS, INITIAL.rank),
    color: one(get('color', ''), METRICS, INITIAL.color),
    shape: one(get('shape', ''), SHAPES, INITIAL.shape),
    zoom: get('zoom', ''),
    bottom: one(get('bottom', ''), BOTTOMS, INITIAL.bottom),
    options: Object.fromEntries([...p].flatMap(([k, v]) => (/^o\.[\w.]+$/.test(k) ? [[k.slice(2), v]] : []))),
  };
  return { state, problems, token: p.get('k') ?? undefined, kept: p.get('l') ?? undefined };
}

export function sameState(a: State, b: State): boolean {
  return write(a) === write(b);
}

// sameRows reports whether two states ask about the same rows.
export function sameRows(a: State, b: State): boolean {
  return a.run === b.run && equal(a.select, b.select) && equal(a.filter, b.filter);
}

const PAGES: readonly PageName[] = ['memory', 'trace', 'cycles', 'locality', 'mesh', 'trial', 'study'];
const SHOWN: readonly Shown[] = ['diff', 'a', 'b'];
const COMPARED: readonly Compared[] = ['cost', 'share', 'samples', 'mean'];
const METRICS = ['latency', 'samples', 'mean'] as const;
const SHAPES = ['sunburst', 'icicle'] as const;
const BOTTOMS = [
  'parallel',
  'axis',
  'category',
  'timeline',
  'heat',
  'calls',
  'spread',
  'lines',
  'touches',
  'allocations',
  'changes',
] as const;
const SCALES: readonly Scale[] = ['linear', 'log', 'quantile', 'appearance', 'rank', 'names'];
const BINS = whole(100, { least: 2, most: 1000 });

function one<T extends string>(value: string, known: readonly T[], initial: T): T {
  return oneOf(known, initial).read(value) ?? initial;
}

// An axis is column[:scale[:bins]][@lo..hi]; a column name is escaped so that
// it has none of these characters.
function writeAxis(a: Axis): string {
  const column = a.column.replace(/[%,:@]/g, (c) => encodeURIComponent(c));
  const bins = a.bins ? `:${a.bins}` : '';
  const scale = a.scale || bins ? `:${a.scale ?? ''}` : '';
  const ranged = a.lo !== undefined && a.hi !== undefined && a.lo !== a.hi;
  return `${column}${scale}${bins}${ranged ? `@${a.lo}..${a.hi}` : ''}`;
}

function readAxis(s: string): Axis[] {
  const m = /^([^:@]+)(?::(\w*))?(?::(\d+))?(?:@(-?[\d.e+-]+?)\.\.(-?[\d.e+-]+))?$/.exec(s);
  if (!m) return [];
  const scale = SCALES.find((k) => k === m[2]);
  const [lo, hi] = [real(0).read(m[4] ?? ''), real(0).read(m[5] ?? '')];
  const bins = m[3] === undefined ? undefined : BINS.read(m[3]);
  return [
    {
      column: (m[1] ?? '').replace(/%(25|2C|3A|40)/g, (c) => decodeURIComponent(c)),
      ...(scale && { scale }),
      ...(bins !== undefined && { bins }),
      ...(lo !== undefined && hi !== undefined && lo < hi && { lo, hi }),
    },
  ];
}

// escape keeps readable what a fragment may hold and URLSearchParams reads back
// unchanged.
function escape(s: string): string {
  return encodeURIComponent(s)
    .replace(/%20/g, '+')
    .replace(/%(3A|3B|2C|40|3D|2F|28|29|21|7C|7E)/g, (c) => decodeURIComponent(c));
}
