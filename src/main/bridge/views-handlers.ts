import type { OperationKind } from '../../shared/operations/operations.ts'
import type { SavedFilter } from '../../shared/run/result-view.ts'
import { addNamed, removeNamed, renameNamed } from '../engine/workspace/named-entries.ts'
import {
  changeResultView,
  changeTableView,
  readResultView,
  readTableView,
} from '../engine/workspace/result-views.ts'
import type { Handlers } from './bridge-context.ts'

export const viewsHandlers: Handlers<'views'> = {
  read: async ({ context: { engine }, input: { operation } }) => readResultView(engine.workspace, operation),
  setColumns: async ({ context: { engine }, input: { operation, columns } }) =>
    changeResultView(engine.workspace, operation, (view) => ({ ...view, columns })),
  saveFilter: async ({ context: { engine }, input: { operation, name, filter, at } }) =>
    changeFilters(engine.workspace, operation, (filters) =>
      addNamed('filter', filters, { name, filter }, at),
    ),
  renameFilter: async ({ context: { engine }, input: { operation, name, newName } }) =>
    changeFilters(engine.workspace, operation, (filters) => renameNamed('filter', filters, name, newName)),
  removeFilter: async ({ context: { engine }, input: { operation, name } }) =>
    changeFilters(engine.workspace, operation, (filters) => removeNamed('filter', filters, name)),
  readTable: async ({ context: { engine }, input: { table } }) => readTableView(engine.workspace, table),
  changeTable: async ({ context: { engine }, input: { table, change } }) =>
    changeTableView(engine.workspace, table, change),
}

function changeFilters(
  workspace: string,
  operation: OperationKind,
  change: (filters: readonly SavedFilter[]) => SavedFilter[],
) {
  return changeResultView(workspace, operation, (view) => ({ ...view, filters: change(view.filters) }))
}
