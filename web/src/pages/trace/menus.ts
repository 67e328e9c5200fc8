// The menus of the trace page.
import type { MenuItem } from '../../frame/PopMenu.svelte';
import type { TraceControl } from './controller';
import type { Scene } from './scene';
import { isKind, RANKS, type Colour, type TraceState } from './state';

const COLOURS: readonly { id: Colour; label: string; note?: string }[] = [
  { id: 'lateness', label: 'lateness' },
  { id: 'differential', label: 'differential lateness' },
  { id: 'partition-lateness', label: 'lateness in the partition' },
  { id: 'partition-differential', label: 'differential in the partition' },
  { id: 'duration', label: 'duration' },
  { id: 'partition', label: 'partition' },
  { id: 'function', label: 'function' },
  { id: 'group', label: 'kind of work' },
];

function colours(s: Scene): readonly { id: Colour; label: string; note?: string }[] {
  const own = s.trace.info?.measures ?? [];
  return [...COLOURS, ...own.map((m) => ({ id: `metric:${m.name}` as Colour, label: m.name, note: m.unit }))];
}

export function colourName(s: Scene): string {
  return colours(s).find((c) => c.id === s.colour)?.label ?? '';
}

export function colourItems(s: Scene, c: TraceControl): MenuItem[] {
  return [
    ...colours(s).map(({ id, label, note }) => ({
      ...(note && { note }),
      label,
      checked: s.colour === id,
      run: () => c.commit({ colour: id }),
    })),
    {
      label: 'pixels show the mean',
      note: 'not the largest',
      checked: s.now.pixel === 'mean',
      run: () => c.commit({ pixel: s.now.pixel === 'mean' ? 'most' : 'mean' }),
    },
  ];
}

export function compareItems(
  s: Scene,
  c: TraceControl,
  others: readonly { readonly id: string; readonly name: string }[],
  open: (() => void) | undefined,
): MenuItem[] {
  return [
    { label: 'nothing', checked: s.kept.against === '', run: () => c.commit({ against: '' }) },
    ...others.map((r) => ({
      label: r.name,
      checked: s.kept.against === r.id,
      run: () => c.commit({ against: r.id, ...(isKind(s.colour) && { colour: 'duration' as const }) }),
    })),
    ...(open ? [{ label: 'Compare with a file …', run: open }] : []),
  ];
}

const BY: Readonly<Record<TraceState['order']['by'], string>> = {
  rank: 'by rank',
  cluster: 'by cluster',
  host: 'by host',
  communicator: 'by communicator',
  thread: 'with threads',
  neighbours: 'near',
};

export function orderName(s: Scene, rankOf: (process: number) => number): string {
  const { order } = s.now;
  return order.by === 'neighbours' ? `near rank ${rankOf(order.process)}` : BY[order.by];
}

export function rowItems(s: Scene, c: TraceControl): MenuItem[] {
  const { now, trace } = s;
  const by = (order: Partial<TraceState['order']>, more: Partial<TraceState> = {}) => ({
    checked: now.order.by === order.by,
    run: () => c.commit({ order: { ...RANKS, ...order }, rowFrom: 0, rowTo: 0, ...more }),
  });
  const hosts = new Set(trace.info?.processes.map((p) => p.host));
  return [
    { label: BY.rank, ...by({ by: 'rank' }) },
    {
      label: BY.cluster,
      note: 'a typical rank each',
      ...by({ by: 'cluster' }, { pane: 'processes' }),
    },
    { label: BY.host, note: `${hosts.size} in all`, disabled: hosts.size < 2, ...by({ by: 'host' }) },
    { label: BY.communicator, ...by({ by: 'communicator' }) },
    {
      label: BY.thread,
      note: `${trace.info?.threads ?? 0} threads and streams`,
      disabled: !trace.info?.threads,
      ...by({ by: 'thread' }),
    },
    {
      label: 'neighbours of the selected rank',
      disabled: !trace.selected,
      ...by({ by: 'neighbours', process: trace.selected?.process ?? 0 }),
    },
    { label: 'fewer rows', note: 'Ctrl+Shift+wheel', run: () => c.zoomRows(0, 0.5) },
    { label: 'more rows', run: () => c.zoomRows(0, 2) },
    {
      label: 'computation between operations',
      checked: now.computation,
      run: () => c.commit({ computation: !now.computation }),
    },
  ];
}

export function messageItems(s: Scene, c: TraceControl): MenuItem[] {
  return (['none', 'selected', 'in view'] as const).map((m) => ({
    label: m,
    checked: s.now.messages === m,
    run: () => c.commit({ messages: m }),
  }));
}

/** What can be done with an operation that is pointed at. */
export function operationItems(s: Scene, c: TraceControl, op: number | undefined): MenuItem[] {
  const shown = s.picture?.logical;
  const i = op === undefined ? -1 : (shown?.ops?.id.indexOf(op) ?? -1);
  const line = i >= 0 ? shown!.lines[shown!.ops!.line[i]!] : undefined;
  if (!line) return [];
  return [
    {
      label: `Neighbours of rank ${line.rank}`,
      run: () =>
        c.commit({ order: { ...RANKS, by: 'neighbours', process: line.process }, rowFrom: 0, rowTo: 0 }),
    },
    {
      label: `What if rank ${line.rank} computed as others do`,
      run: () => c.whatIf(`rank ${line.rank} = median`),
    },
    ...(line.cluster >= 0
      ? [
          {
            label: line.members > 1 ? `Open the cluster of ${line.members} ranks` : 'Close the cluster',
            run: () => c.toggleCluster(line.cluster, line.members > 1),
          },
        ]
      : []),
  ];
}
