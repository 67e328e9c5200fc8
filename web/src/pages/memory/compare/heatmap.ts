// A heat map of two runs: the colour of a cell is how much more or less B has of
// it. Cells that noise explains are pale; what only one run has is counted as 0
// where it is samples, and has no colour where it is a mean.
import { changeColor } from '../../../base/change';
import { mix } from '../../../base/color';
import { plural, decimal } from '../../../base/format';
import { numberScale } from '../../../base/scale';
import type { Theme } from '../../../base/theme';
import { rampOf, type ViewLegend } from '../../../frame/legend';
import type { Said, Table } from '../../../frame/view';
import type { Term } from '../../../state/selection';
import { signed } from '../views/changes';
import { HeatmapView, type HeatGrid, type HeatmapInput, type HeatMark } from '../views/heatmap';
import { changeError, NOT_TESTED, verdictOf, VERDICT_HEAD } from './verdict';

export interface ChangeHeatmapInput extends HeatmapInput {
  readonly before: HeatGrid; // of A: the same rows and as many windows
  readonly allowance: number; // for how two runs of one program differ
  readonly parts: boolean; // windows are parts of each run, not values of the column
}

export class ChangeHeatmapView extends HeatmapView {
  private readonly end: number;

  constructor(protected override readonly input: ChangeHeatmapInput) {
    super(input);
    let most = 1e-9;
    for (let i = 0; i < input.grid.samples.length; i++) most = Math.max(most, Math.abs(this.change(i) ?? 0));
    this.end = most;
  }

  private sides(cell: number): readonly [a: number | undefined, b: number | undefined] {
    const { before, grid, value } = this.input;
    if (value === 'samples') return [before.samples[cell] ?? 0, grid.samples[cell] ?? 0];
    return [this.valueOf(cell, before), this.valueOf(cell)];
  }

  change(cell: number): number | undefined {
    const [a, b] = this.sides(cell);
    return a === undefined || b === undefined || (a === 0 && b === 0) ? undefined : b - a;
  }

  /** The standard error of a change; undefined where it is not known. */
  private error(cell: number): number | undefined {
    const { before, grid, value, allowance } = this.input;
    const [a, b] = this.sides(cell);
    if (a === undefined || b === undefined || value === 'mean') return undefined;
    if (value === 'samples') return changeError(a, b, { allowance });
    const share = (p: number, n: number): number => (p * (1 - p)) / Math.max(1, n);
    return Math.sqrt(
      share(a, before.samples[cell]!) +
        share(b, grid.samples[cell]!) +
        allowance ** 2 * ((a * (1 - a)) ** 2 + (b * (1 - b)) ** 2),
    );
  }

  protected override fillOf(cell: number, theme: Theme): string | undefined {
    const d = this.change(cell);
    if (d === undefined) return undefined;
    const error = this.error(cell);
    const fill = changeColor(theme, Math.sign(d) * Math.sqrt(Math.abs(d) / this.end));
    return error !== undefined && verdictOf(d, error)[2] === 'unsure' ? mix(theme.foot, fill, 0.3) : fill;
  }

  /** Where a window begins and ends, as numbers: in time, or in percent of each run. */
  private ends(window: number): readonly [from: number, to: number] {
    const { grid, parts } = this.input;
    if (parts) return [(100 * window) / this.windows, (100 * (window + 1)) / this.windows];
    return [grid.edges[window]!, grid.edges[window + 1]!];
  }

  private when(window: number): string {
    const { time, parts } = this.input;
    if (parts) {
      const [from, till] = this.ends(window).map((share) => decimal(share, 0));
      return `${from} to ${till} % of each run`;
    }
    const [lo, hi] = this.ends(window);
    if (hi - lo === 1 && lo % 1 !== 0) return `${time.name} ${this.layout.say(lo + 0.5)}`;
    return `${time.name} ${this.layout.say(lo)} – ${this.layout.say(hi)} ${this.layout.scale.unit}`.trim();
  }

  override describe(m: HeatMark): Said {
    const row = this.input.grid.rows[m.row];
    if (!row || m.window >= this.windows) return super.describe(m);
    const cell = m.row * this.windows + m.window;
    const [a, b] = this.sides(cell).map((v) => (v === undefined ? 'none' : this.say(v))) as [string, string];
    const [d, error] = [this.change(cell), this.error(cell)];
    const noise = d !== undefined && error !== undefined && verdictOf(d, error)[2] === 'unsure';
    return {
      name: `${this.input.by.name} ${this.nameOf(row)}, ${this.when(m.window)}`,
      more: `· ${this.unit.replace(', B − A', '')}: A ${a} · B ${b}${d === undefined ? '' : ` · B − A ${signed(d, (v) => this.say(v))}`}${noise ? ' · within noise' : ''}`,
    };
  }

  /** A part of each run is no range of one column. */
  override timeTerms(first: number, last: number): Term[] {
    return this.input.parts ? [] : super.timeTerms(first, last);
  }

  override wanted(m: HeatMark): Term | undefined {
    return this.input.parts ? this.rowTerms(m.row, m.row)[0] : super.wanted(m);
  }

  override rows(): Table {
    const rows = this.input.grid.rows.flatMap((row, r) =>
      Array.from({ length: this.windows }, (_, w) => w).flatMap((w) => {
        const cell = r * this.windows + w;
        const [a, b] = this.sides(cell);
        if (!a && !b) return [];
        const [d, error] = [this.change(cell), this.error(cell)];
        const known = d !== undefined && error !== undefined ? verdictOf(d, error) : NOT_TESTED;
        const numbers = [...this.ends(w), a, b, d];
        return [[this.nameOf(row), ...numbers.map((v) => String(v ?? '')), ...known]];
      }),
    );
    const unit = this.input.parts ? '%' : this.input.time.unit;
    const ends = ['from', 'to'].map((end) => `${end} ${unit}`.trim());
    return { head: [`${this.input.by.name}: ${this.unit}`, ...ends, ...VERDICT_HEAD], rows };
  }

  override get unit(): string {
    return `${super.unit}, B − A`;
  }

  override legendFor(theme: Theme): ViewLegend | undefined {
    const colour = (t: number): string => {
      const s = 2 * t - 1;
      return changeColor(theme, Math.sign(s) * Math.sqrt(Math.abs(s)));
    };
    const write = (v: number): string => signed(v, (n) => this.say(n));
    return {
      ramp: rampOf(numberScale(-this.end, this.end, 'linear'), colour, write, 3),
      unit: `${this.unit}, √`,
    };
  }

  override summary(): string {
    const over = this.input.parts ? 'parts of each run' : this.input.time.name;
    return `Heat map of ${this.unit}, over ${over} and ${plural(this.input.grid.rows.length, 'row')} of ${this.input.by.name}; to ± ${this.say(this.end)}, cells within noise pale`;
  }
}
