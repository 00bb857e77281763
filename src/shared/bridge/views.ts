import { z } from 'zod'
import {
  filterNameSchema,
  operationKindSchema,
  resultViewSchema,
  tableNameSchema,
  tableViewSchema,
} from '../run/result-view.ts'
import { rowFilterSchema } from '../run/row-filters.ts'
import { base, toStrict } from './procedure.ts'

const ofOperation = z.strictObject({ operation: operationKindSchema })
const named = ofOperation.extend({ name: filterNameSchema })

const ofTable = z.strictObject({ table: tableNameSchema })

/** How tables are looked at, kept in the workspace: for the rows of an operation's runs also with saved filters. */
export const viewsContract = {
  read: base.input(ofOperation).output(resultViewSchema),
  /** Stores the columns in their order; null brings the usual ones back. */
  setColumns: base
    .input(toStrict(ofOperation.extend({ columns: resultViewSchema.shape.columns })))
    .output(resultViewSchema),
  /** Stores a filter under a name that is not taken, at a place among the others (default: the last). */
  saveFilter: base
    .input(toStrict(named.extend({ filter: rowFilterSchema, at: z.int().min(0).exactOptional() })))
    .output(resultViewSchema),
  renameFilter: base.input(toStrict(named.extend({ newName: filterNameSchema }))).output(resultViewSchema),
  removeFilter: base.input(named).output(resultViewSchema),
  readTable: base.input(ofTable).output(tableViewSchema),
  setTable: base.input(toStrict(ofTable.extend({ view: tableViewSchema }))).output(tableViewSchema),
}
