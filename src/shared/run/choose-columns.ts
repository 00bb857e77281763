import { SluiceError } from '../messages/errors.ts'
import { listNearest } from '../messages/find-nearest.ts'
import type { OperationKind } from '../plan/operation.ts'
import {
  type ExportColumn,
  toAnswerColumn,
  toExportColumns,
  toRuleColumns,
  toScoreColumns,
} from './export-columns.ts'
import type { ExportRow } from './results.ts'

/** A column of a table: the index of one of the source, or one of ours. */
export type TableColumn = number | ExportColumn

/** What a table of a run can be made of, and what was asked for. */
export interface ColumnChoice {
  /** Names of columns or {@link GROUPS}, in the order of the table. */
  asked: readonly string[]
  /** Adds the columns of the rules to what was asked for. */
  rulesAsColumns: boolean
  operation: OperationKind
  /** The source's columns. */
  columns: readonly string[]
  /** The classes that any row has a score of. */
  classes: readonly string[]
  /** The rules that any row triggered. */
  rules: ExportRow['triggeredRules']
}

/** Words that stand for several columns. */
const GROUPS = ['default', 'all', 'source', 'scores', 'rules'] as const

/** Begins the name of a source's column whose own name means something else as well. */
const SOURCE = 'source.'

/** Most similar names that an error lists. */
const NEAREST_MAX = 3

/** The columns of a table, each once, in the order they were asked for. Throws `BAD_USAGE` for an unknown name. */
export function chooseColumns(choice: ColumnChoice): TableColumn[] {
  const { asked, rulesAsColumns, operation, columns, classes, rules } = choice
  const source = [...columns.keys()]
  const all = toExportColumns(operation, { classes, rules, withRaw: true })
  const ruleColumns = toRuleColumns(rules)
  const groups: Record<(typeof GROUPS)[number], readonly TableColumn[]> = {
    default: [...source, ...toExportColumns(operation, { classes, ...(rulesAsColumns ? { rules } : {}) })],
    all: [...source, ...all],
    source,
    scores: toScoreColumns(classes),
    rules: ruleColumns,
  }
  const byName = new Map<string, TableColumn>()
  // Of repeated names the first is meant.
  for (const index of source.toReversed()) byName.set(SOURCE + columns[index], index)
  for (const index of source.toReversed()) byName.set(columns[index] ?? '', index)
  for (const column of all) byName.set(column.name, column)

  const find = (name: string): readonly TableColumn[] => {
    const group = GROUPS.find((word) => word === name)
    if (group !== undefined) return groups[group]
    const found = byName.get(name) ?? toAnswerColumn(name)
    if (found !== null) return [found]
    throw new SluiceError({
      id: 'export_column_unknown',
      name,
      candidates: listNearest(name, [...byName.keys(), ...GROUPS], 'sluice_').slice(0, NEAREST_MAX),
    })
  }
  const chosen = [...asked.flatMap(find), ...(rulesAsColumns ? ruleColumns : [])]
  return [...new Map(chosen.map((column) => [toKey(column), column])).values()]
}

function toKey(column: TableColumn): number | string {
  return typeof column === 'number' ? column : column.name
}
