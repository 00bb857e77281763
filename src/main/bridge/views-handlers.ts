import type { OperationKind } from '../../shared/operations/operations.ts'
import type { SavedFilter } from '../../shared/run/result-view.ts'
import { addNamed, removeNamed, renameNamed } from '../engine/workspace/named-entries.ts'
import {
  changeResultView,
  changeTableView,
  readResultView,
  readTableView,
} from '../engine/workspace/result-views.ts'
import { bridge } from './bridge-context.ts'

const { views } = bridge

/** Chosen columns of tables, and saved filters of the rows, by operation. */
export const viewsHandlers = views.router({
  read: views.read.handler(async ({ context: { engine }, input: { operation } }) =>
    readResultView(engine.workspace, operation),
  ),
  setColumns: views.setColumns.handler(async ({ context: { engine }, input: { operation, columns } }) =>
    changeResultView(engine.workspace, operation, (view) => ({ ...view, columns })),
  ),
  saveFilter: views.saveFilter.handler(
    async ({ context: { engine }, input: { operation, name, filter, at } }) =>
      changeFilters(engine.workspace, operation, (filters) =>
        addNamed('filter', filters, { name, filter }, at),
      ),
  ),
  renameFilter: views.renameFilter.handler(
    async ({ context: { engine }, input: { operation, name, newName } }) =>
      changeFilters(engine.workspace, operation, (filters) => renameNamed('filter', filters, name, newName)),
  ),
  removeFilter: views.removeFilter.handler(async ({ context: { engine }, input: { operation, name } }) =>
    changeFilters(engine.workspace, operation, (filters) => removeNamed('filter', filters, name)),
  ),
  readTable: views.readTable.handler(async ({ context: { engine }, input: { table } }) =>
    readTableView(engine.workspace, table),
  ),
  setTable: views.setTable.handler(async ({ context: { engine }, input: { table, view } }) =>
    changeTableView(engine.workspace, table, view),
  ),
})

function changeFilters(
  workspace: string,
  operation: OperationKind,
  change: (filters: readonly SavedFilter[]) => SavedFilter[],
) {
  return changeResultView(workspace, operation, (view) => ({ ...view, filters: change(view.filters) }))
}
