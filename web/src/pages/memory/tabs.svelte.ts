// What the tabs of the lower region are about that are loaded when they are opened.
import type { ColumnInfo } from '../../api/wire';
import { isNaming } from '../../state/axes';
import { BottomModel } from './bottom.svelte';
import type { CallValue } from './views/calls';
import { METRICS } from './views/changes';
import type { HeatValue } from './views/heatmap';

/** What a spread or a change can be by, where the samples have the columns. */
interface Grouping {
  readonly name: string;
  readonly columns: readonly string[];
}
// Named as the schema names the last column, where it does.
const SPREADS: readonly (Partial<Grouping> & Pick<Grouping, 'columns'>)[] = [
  { columns: ['file', 'line'] },
  { columns: ['function'] },
  { columns: ['caller'] },
  { columns: ['symbol'] },
  { name: 'member', columns: ['symbol', 'field'] },
  { columns: ['tid'] },
  { columns: ['cpu'] },
];

export class TabModel extends BottomModel {
  // ---- categories ----

  readonly nominal = $derived(
    (this.info?.columns ?? []).filter((c) => (c.kind === 'category' || isNaming(c)) && c.distinct > 1),
  );
  readonly category = $derived<ColumnInfo | undefined>(this.column(this.link.category) ?? this.nominal[0]);

  // ---- heat map ----

  /** What time can be drawn against. */
  readonly heat = $derived(this.heats.find((c) => c.name === this.option('heat.by')) ?? this.heats[0]);
  readonly heatValues = $derived<readonly HeatValue[]>([
    'samples',
    ...(this.column('latency') ? (['mean'] as const) : []),
    ...(this.column('level') ? (['deep'] as const) : []),
  ]);
  readonly heatValue = $derived(
    this.heatValues.find((v) => v === this.option('heat.value')) ?? this.heatValues[1] ?? 'samples',
  );

  // ---- calls ----

  readonly callValue = $derived<CallValue>(
    this.option('calls.by') === 'latency' && this.column('latency') ? 'latency' : 'samples',
  );
  readonly callsAs = $derived(this.option('calls.as') === 'tree' ? 'tree' : 'flame');
  /** The function whose callers and callees are shown; all calls without one. */
  readonly callsOf = $derived(this.option('calls.of') ?? '');
  readonly callsBelow = $derived<readonly string[]>(this.option('calls.below')?.split(';') ?? []);

  // ---- spread and changes ----

  readonly spreads = $derived<readonly Grouping[]>(
    SPREADS.filter((s) => s.columns.every((c) => this.column(c))).map(({ name, columns }) => ({
      name: name ?? (this.column(columns.at(-1)!)!.title || columns.at(-1)!),
      columns,
    })),
  );
  readonly spread = $derived(
    this.spreads.find((s) => s.name === this.option('spread.by')) ?? this.spreads[0],
  );
  readonly other = $derived(this.others.find((r) => r.id === this.option('changes.with')) ?? this.others[0]);
  /** What this run is compared with: the runs of a pair with each other, which need no name. */
  readonly comparedWith = $derived(this.info?.pair ? '' : this.other?.id);
  readonly changed = $derived(
    [...this.spreads, ...(this.column('level') ? [{ name: 'level', columns: ['level'] }] : [])].filter(
      (s) => s.columns.length < 2 || s.columns[0] === 'file',
    ),
  );
  readonly changeBy = $derived(
    this.changed.find((s) => s.name === this.option('changes.by')) ?? this.changed[0],
  );
  readonly changeMetric = $derived(METRICS.find((m) => m === this.option('changes.metric')) ?? 'cost');
}
