import { z } from 'zod'
import { OPERATION_KINDS } from '../operations/operations.ts'
import { rowFilterSchema } from './row-filters.ts'

/** Most columns of a table, and most saved filters for an operation. */
const COLUMNS_MAX = 300
const FILTERS_MAX = 100

/** Narrowest and widest column, in rem. */
export const COLUMN_REM = { min: 3, max: 60 } as const

/** The kinds of operations; each has a view of its own. */
export const operationKindSchema = z.enum(OPERATION_KINDS)

/** A column of the table of rows, with a width in rem if a person set one. */
const shownColumnSchema = z.object({
  /** A name as in `--columns`, or that of a column that only the table has. */
  name: z.string().min(1).max(1_000),
  rem: z.number().min(COLUMN_REM.min).max(COLUMN_REM.max).exactOptional(),
})

export type ShownColumn = z.infer<typeof shownColumnSchema>

/** The name of a filter, unique within an operation. */
export const filterNameSchema = z.string().trim().min(1).max(80)

const savedFilterSchema = z.object({ name: filterNameSchema, filter: rowFilterSchema })

export type SavedFilter = z.infer<typeof savedFilterSchema>

/** How the rows of all runs of an operation are shown. */
export const resultViewSchema = z.object({
  /** The columns in order; null for the default columns. */
  columns: z.array(shownColumnSchema).min(1).max(COLUMNS_MAX).nullable(),
  filters: z.array(savedFilterSchema).max(FILTERS_MAX),
})

export type ResultView = z.infer<typeof resultViewSchema>

/** The view of an operation before any change. */
export const USUAL_VIEW: ResultView = { columns: null, filters: [] }

/** Tables of the window that do not show a run's rows. */
export const tableNameSchema = z.enum(['runs', 'index', 'watchlist', 'appeals'])

export type TableName = z.infer<typeof tableNameSchema>

const columnTitleSchema = z.string().min(1).max(80)

/** Rem by title. */
const widthsSchema = z.record(columnTitleSchema, z.number().min(COLUMN_REM.min).max(COLUMN_REM.max))

/** A person's changes to the columns of a table, by title. */
export const tableViewSchema = z.object({
  hidden: z.array(columnTitleSchema).max(COLUMNS_MAX),
  widths: widthsSchema,
})

export type TableView = z.infer<typeof tableViewSchema>

/** The view of a table before any change. */
export const USUAL_TABLE: TableView = { hidden: [], widths: {} }

/** Columns to hide or show, and to resize; null restores the usual columns. */
export const tableChangeSchema = z
  .object({
    hidden: z.record(columnTitleSchema, z.boolean()).exactOptional(),
    widths: widthsSchema.exactOptional(),
  })
  .nullable()

export type TableChange = z.infer<typeof tableChangeSchema>

export function changeTable(view: TableView, change: TableChange): TableView {
  if (change === null) return USUAL_TABLE
  const { hidden = {}, widths } = change
  const others = view.hidden.filter((title) => hidden[title] === undefined)
  const added = Object.keys(hidden).filter((title) => hidden[title])
  return { hidden: [...others, ...added].slice(-COLUMNS_MAX), widths: { ...view.widths, ...widths } }
}

/** Views stored in a workspace: of rows by kind of operation, and of other tables by name. */
export const resultViewsSchema = z.object({
  version: z.literal(1),
  views: z.partialRecord(operationKindSchema, resultViewSchema),
  tables: z.partialRecord(tableNameSchema, tableViewSchema).default({}),
})
