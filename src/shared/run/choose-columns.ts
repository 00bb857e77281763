import { z } from 'zod'
import { SluiceError } from '../messages/errors.ts'
import { listNearest } from '../messages/find-nearest.ts'
import type { OperationKind } from '../operations/operations.ts'
import {
  type ExportColumn,
  FILE_COLUMN,
  quotesContent,
  RAW_COLUMNS,
  type RunColumns,
  TRACE_COLUMN,
  toAnswerColumn,
  toExportColumns,
  toRuleColumns,
  toScoreColumns,
  VERDICT_COLUMNS,
} from './export-columns.ts'
import type { ExportRow } from './results.ts'

/** A table column: the index of a source column, or one of Sluice's columns. */
export type TableColumn = number | ExportColumn

/** The available columns of a run's table, and the requested ones. */
export interface ColumnChoice extends RunColumns {
  /** Names of columns or {@link GROUPS}, in the order of the table. */
  asked: readonly string[]
  /** Adds the columns of rules to the requested ones. */
  rulesAsColumns: boolean
  operation: OperationKind
  columns: readonly string[]
  classes: readonly string[]
  rules: ExportRow['triggeredRules']
}

/** Words that stand for several columns. */
const GROUPS = ['default', 'all', 'source', 'scores', 'rules'] as const

/** Prefix of a source column's name, for names with another meaning too. */
export const SOURCE = 'source.'

/** Most similar names that an error lists. */
const NEAREST_MAX = 3

/** The columns of a table, each once, in the requested order. Throws `BAD_USAGE` for an unknown name. */
export function chooseColumns(choice: ColumnChoice): TableColumn[] {
  const { asked, rulesAsColumns, operation, columns, classes, rules, corrected = [] } = choice
  const { hasVerdicts = false, hasFiles = false, hasTraces = false } = choice
  const has = { hasVerdicts, hasFiles, hasTraces }
  const source = [...columns.keys()]
  const all = toExportColumns(operation, { classes, rules, corrected, ...has, withRaw: true })
  const ruleColumns = toRuleColumns(rules)
  const groups: Record<(typeof GROUPS)[number], readonly TableColumn[]> = {
    default: [
      ...source,
      ...toExportColumns(operation, {
        classes,
        corrected,
        ...has,
        ...(rulesAsColumns ? { rules } : {}),
      }),
    ],
    all: [...source, ...all],
    source,
    scores: toScoreColumns(classes),
    rules: ruleColumns,
  }
  // Empty until there are values; scripts may request them before.
  const byName = new Map<string, TableColumn>(
    [FILE_COLUMN, TRACE_COLUMN, ...VERDICT_COLUMNS].map((column) => [column.name, column]),
  )
  // For repeated names, the first column wins.
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
  return [
    ...new Map(chosen.map((column) => [typeof column === 'number' ? column : column.name, column])).values(),
  ]
}

/** A column that a table of rows can have, for a person to choose. */
export const columnEntrySchema = z.object({
  /** For {@link chooseColumns}; a source column is `source.NAME`. */
  name: z.string(),
  title: z.string(),
  group: z.enum(['row', 'source', 'scores', 'rules', 'answer', 'raw']),
  /** Whether its cells may quote what was sent. Source columns have a rule of their own. */
  hasContent: z.boolean(),
})

export type ColumnEntry = z.infer<typeof columnEntrySchema>

/** Every available column: those of {@link chooseColumns}, and the members of answers by path. */
export function listColumns(
  choice: Omit<ColumnChoice, 'asked' | 'rulesAsColumns'>,
  answerPaths: readonly string[],
): ColumnEntry[] {
  const { operation, columns, classes, rules, hasFiles = false, hasTraces = false } = choice
  const toEntries = (group: ColumnEntry['group'], those: readonly ExportColumn[]) =>
    those.map(({ name, title = name.slice(name.indexOf('.') + 1) }) => ({
      name,
      title,
      group,
      hasContent: group === 'answer' || group === 'raw' || quotesContent(name),
    }))
  const members = answerPaths.map((path) => toAnswerColumn(`answer.${path}`)).filter((one) => one !== null)
  return [
    ...toEntries('row', toExportColumns(operation, { hasFiles, hasTraces })),
    ...[...new Set(columns)].map((name) => ({
      name: SOURCE + name,
      title: name,
      group: 'source' as const,
      hasContent: false,
    })),
    ...toEntries('scores', toScoreColumns(classes)),
    ...toEntries('rules', toRuleColumns(rules)),
    ...toEntries('answer', members),
    ...toEntries('raw', RAW_COLUMNS),
  ]
}

/** Most answer members in a list of columns. */
const PATHS_MAX = 300

/** Deepest level of listed members. */
const DEPTH_MAX = 8

/** The paths of values in answers, for `answer.PATH`, in order of appearance; list items are not numbered. */
export function listAnswerPaths(bodies: Iterable<unknown>): string[] {
  const paths = new Set<string>()
  for (const body of bodies) addPaths(paths, body, [])
  return [...paths].slice(0, PATHS_MAX)
}

function addPaths(paths: Set<string>, value: unknown, path: readonly string[]): void {
  if (paths.size >= PATHS_MAX || path.length > DEPTH_MAX) return
  if (Array.isArray(value)) {
    for (const item of value) addPaths(paths, item, path)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name !== '' && !name.includes('.')) addPaths(paths, member, [...path, name])
    }
  } else if (path.length > 0) paths.add(path.join('.'))
}
