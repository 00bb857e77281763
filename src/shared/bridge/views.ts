import { z } from 'zod'
import {
  filterNameSchema,
  operationKindSchema,
  resultViewSchema,
  tableChangeSchema,
  tableNameSchema,
  tableViewSchema,
} from '../run/result-view.ts'
import { rowFilterSchema } from '../run/row-filters.ts'
import { base, toStrict } from './procedure.ts'

const ofOperation = z.strictObject({ operation: operationKindSchema })
const named = ofOperation.extend({ name: filterNameSchema })

const ofTable = z.strictObject({ table: tableNameSchema })

/** How tables are shown, kept in the workspace; result tables of an operation also have saved filters. */
export const viewsContract = {
  read: base.input(ofOperation).output(resultViewSchema),
  /** Stores the columns in order; null restores the default columns. */
  setColumns: base
    .input(toStrict(ofOperation.extend({ columns: resultViewSchema.shape.columns })))
    .output(resultViewSchema),
  /** Stores a filter under a new name, at a position in the list (default: the last). */
  saveFilter: base
    .input(toStrict(named.extend({ filter: rowFilterSchema, at: z.int().min(0).exactOptional() })))
    .output(resultViewSchema),
  renameFilter: base.input(toStrict(named.extend({ newName: filterNameSchema }))).output(resultViewSchema),
  removeFilter: base.input(named).output(resultViewSchema),
  readTable: base.input(ofTable).output(tableViewSchema),
  changeTable: base.input(toStrict(ofTable.extend({ change: tableChangeSchema }))).output(tableViewSchema),
}
