// What the lower region can show: its tabs, the columns and runs each is about,
// and the times without samples. It changes nothing.
import type { Api } from '../../api/client';
import type { ColumnInfo, Info, RunSummary } from '../../api/wire';
import { columnOf, defaultAxes, isConstant } from '../../state/axes';
import type { State } from '../../state/url';
import type { MemoryDesk } from './desk';
import type { TimeGap } from './views/gaps';

export class BottomModel {
  gaps = $state.raw<readonly TimeGap[]>([]); // when samples are missing, for every time axis

  readonly info = $derived<Info | undefined>(this.desk.snap.info);
  readonly link = $derived<State>(this.desk.snap.state);
  readonly tab = $derived(this.link.bottom === 'timeline' ? 'parallel' : this.link.bottom);
  /** Other runs of samples that are open: what they do differently. */
  readonly others = $derived<readonly RunSummary[]>(
    (this.desk.snap.home?.runs ?? []).filter((r) => r.kind === 'samples' && r.id !== this.info?.id),
  );
  readonly heats = $derived<readonly ColumnInfo[]>(
    this.column('time')
      ? ['cpu', 'tid', 'rank', 'symbol', 'function', 'file', 'level', 'node'].flatMap((n) => {
          const c = this.column(n);
          return c && !isConstant(c) ? [c] : [];
        })
      : [],
  );
  /** Whether call stacks were recorded. */
  readonly stacked = $derived((this.column('stack')?.distinct ?? 0) > 0);
  readonly tabs = $derived([
    { id: 'parallel', label: 'Parallel coordinates' },
    { id: 'axis', label: 'One axis' },
    { id: 'category', label: 'Categories' },
    ...(this.heats.length > 0 ? [{ id: 'heat', label: 'Heat map' }] : []),
    ...(this.stacked ? [{ id: 'calls', label: 'Calls' }] : []),
    { id: 'spread', label: 'Spread' },
    { id: 'lines', label: 'Cache lines' },
    ...(this.info?.touches ? [{ id: 'touches', label: 'First touch' }] : []),
    ...(this.info?.allocations ? [{ id: 'allocations', label: 'Allocations' }] : []),
    ...(this.others.length > 0 ? [{ id: 'changes', label: 'Changes' }] : []),
  ]);

  /** The columns of the parallel axes. */
  readonly names = $derived.by((): readonly string[] => {
    const { info, link } = this;
    return link.axes.length > 0 ? link.axes.map((a) => a.column) : info ? defaultAxes(info, innerWidth) : [];
  });
  readonly hidden = $derived(this.info?.columns.filter(isConstant).length ?? 0);
  readonly numeric = $derived(
    (this.info?.columns ?? []).filter((c) => c.kind !== 'category' && !isConstant(c)),
  );
  /** The column that is shown alone. */
  readonly one = $derived<ColumnInfo | undefined>(
    this.column(this.link.axis) ?? this.numeric.find((c) => c.kind === 'time') ?? this.numeric[0],
  );
  /** Whether the axes on screen can have gaps. */
  readonly holes = $derived(
    this.tab === 'axis'
      ? this.one?.name === 'time'
      : this.tab === 'heat' || (this.tab === 'parallel' && this.names.includes('time')),
  );

  constructor(private readonly props: () => { readonly desk: MemoryDesk; readonly api: Api }) {}

  get desk(): MemoryDesk {
    return this.props().desk;
  }

  option(name: string): string | undefined {
    return this.link.options[name];
  }

  column(name: string): ColumnInfo | undefined {
    return this.info && columnOf(this.info, name);
  }

  /** Asks once a run when samples are missing, as long as the component lives that calls it. */
  ask(): void {
    $effect(() => {
      const id = this.info?.gaps ? this.info.id : undefined;
      const stop = new AbortController();
      this.gaps = [];
      if (id) void this.loadGaps(id, stop.signal);
      return () => stop.abort();
    });
  }

  private async loadGaps(id: string, signal: AbortSignal): Promise<void> {
    try {
      const { timeGaps } = await import('./views/gapwords');
      const gaps = await timeGaps(this.props().api, id, signal);
      if (!signal.aborted) this.gaps = gaps;
    } catch {
      // Pictures do without.
    }
  }
}
