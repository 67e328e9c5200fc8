// A clause of the selection as people read it on a chip.
import { baseName, decimal, DASH, exact, unitScale } from '../base/format';
import {
  clauseText,
  type Clause,
  type Quantity,
  type Selection,
  type Term,
  type Value,
} from '../state/selection';
import { pathText } from '../state/callpath';
import type { ColumnInfo } from '../api/wire';
import { titleOf } from '../state/axes';

export interface Chip {
  readonly name: string;
  readonly value: string;
  readonly unit: string;
  readonly title: string; // the exact text of the clause
}

export function chipOf(c: Clause, columns: readonly ColumnInfo[]): Chip {
  const title = clauseText(c);
  const [only] = c.terms;
  if (c.terms.length !== 1 || !only || only.kind === 'all') return severalOf(c, columns, title);
  const chip = termChip(only, columns);
  return { ...chip, name: c.not ? `not ${chip.name}`.trim() : chip.name, title };
}

function severalOf(c: Clause, columns: readonly ColumnInfo[], title: string): Chip {
  const chips = c.terms.filter((t) => t.kind !== 'all').map((t) => termChip(t, columns));
  const names = new Set(chips.map((p) => p.name));
  const not = c.not ? 'not ' : '';
  if (chips.length !== c.terms.length || chips.length > 4)
    return { name: not.trim(), value: title, unit: '', title };
  if (names.size === 1)
    return {
      name: not + chips[0]!.name,
      value: chips.map((p) => p.value).join(', '),
      unit: chips[0]!.unit,
      title,
    };
  return {
    name: not.trim(),
    value: chips.map((p) => `${p.name} ${p.value}`.trim()).join(' or '),
    unit: '',
    title,
  };
}

function termChip(t: Term, columns: readonly ColumnInfo[]): Omit<Chip, 'title'> {
  switch (t.kind) {
    case 'range': {
      const column = columnOf(columns, t.column);
      const scale = unitScale(
        column?.unit ?? '',
        Math.max(Math.abs(Number(t.lo ?? 0)), Math.abs(Number(t.hi ?? 0))),
      );
      const say = (v: Quantity | undefined): string => (v === undefined ? '' : sayQuantity(v, scale.factor));
      const value =
        t.lo === undefined
          ? `up to ${say(t.hi)}`
          : t.hi === undefined
            ? `from ${say(t.lo)}`
            : `${say(t.lo)} ${DASH} ${say(t.hi)}`;
      return { name: nameOf(columns, t.column), value, unit: scale.unit };
    }
    case 'compare':
      return {
        name: `${nameOf(columns, t.column)} ${t.op === '=' ? '' : t.op}`.trim(),
        value: saying(columns, t.column)(t.value),
        unit: columnOf(columns, t.column)?.unit ?? '',
      };
    case 'values':
      return {
        name: nameOf(columns, t.column),
        value: list(t.values.map(saying(columns, t.column))),
        unit: '',
      };
    case 'match': {
      const calls = t.column === 'stack' ? pathText(t.pattern) : undefined;
      if (calls) return { name: 'calls', value: calls, unit: '' };
      return { name: `${nameOf(columns, t.column)} like`, value: t.pattern, unit: '' };
    }
    case 'missing':
      return { name: nameOf(columns, t.column), value: t.not ? 'present' : 'absent', unit: '' };
    case 'line':
      return { name: '', value: `${baseName(t.file)}:${t.line}`, unit: '' };
    case 'resource':
      return { name: 'at', value: t.id.replace(/^(L\d\w*):/, '$1 #').replace(':', ' '), unit: '' };
    case 'rows':
      return rowsChip(t.name);
    case 'all':
      return {
        name: '',
        value: t.clauses
          .map((c) => chipOf(c, columns))
          .map((c) => `${c.name} ${c.value} ${c.unit}`.trim())
          .join(' and '),
        unit: '',
      };
  }
}

/** Rows by name: cells of a mesh, a loop or a field of references. */
function rowsChip(rows: string): { name: string; value: string; unit: string } {
  const [kind = '', ...rest] = rows.split(' ');
  if (kind === 'cells') return { name: kind, value: list(rest), unit: '' };
  const known = kind === 'loop' || kind === 'field';
  return { name: known ? kind : '', value: known ? rest.join(' ') : rows, unit: '' };
}

function sayQuantity(v: Quantity, factor: number): string {
  if (typeof v === 'bigint') return `0x${v.toString(16)}`;
  return factor === 1 ? exact(v) : decimal(v / factor, 2);
}

function sayValue(v: Value): string {
  return typeof v === 'string' ? v : sayQuantity(v, 1);
}

/** Flags are no numbers to people. */
function saying(columns: readonly ColumnInfo[], name: string): (v: Value) => string {
  if (columnOf(columns, name)?.kind !== 'flag') return sayValue;
  return (v) => (Number(v) === 0 ? 'no' : 'yes');
}

function columnOf(columns: readonly ColumnInfo[], name: string): ColumnInfo | undefined {
  return columns.find((c) => c.name === name);
}

/** The name people read; the title of the chip has the one of the file. */
function nameOf(columns: readonly ColumnInfo[], name: string): string {
  const column = columnOf(columns, name);
  return column ? titleOf(column) : name;
}

function list(names: readonly string[]): string {
  return names.length <= 5
    ? names.join(', ')
    : `${names.slice(0, 4).join(', ')} and ${names.length - 4} more`;
}

/** The page's title: data first. */
export function pageTitle(s: Selection, columns: readonly ColumnInfo[], run: string | undefined): string {
  const parts = s.slice(0, 2).map((c) => {
    const chip = chipOf(c, columns);
    return `${chip.name} ${chip.value}`.trim();
  });
  return [...parts, run, 'Isobath'].filter(Boolean).join(' · ');
}
