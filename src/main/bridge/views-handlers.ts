import {
  addFilter,
  changeResultView,
  readResultView,
  removeFilter,
  renameFilter,
} from '../engine/workspace/result-views.ts'
import { bridge } from './bridge-context.ts'

const { views } = bridge

/** Chosen columns and saved filters of the rows, by operation. */
export const viewsHandlers = views.router({
  read: views.read.handler(async ({ context: { engine }, input: { operation } }) =>
    readResultView(engine.workspace, operation),
  ),
  setColumns: views.setColumns.handler(async ({ context: { engine }, input: { operation, columns } }) =>
    changeResultView(engine.workspace, operation, (view) => ({ ...view, columns })),
  ),
  saveFilter: views.saveFilter.handler(
    async ({ context: { engine }, input: { operation, name, filter, at } }) =>
      changeResultView(engine.workspace, operation, (view) => addFilter(view, { name, filter }, at)),
  ),
  renameFilter: views.renameFilter.handler(
    async ({ context: { engine }, input: { operation, name, newName } }) =>
      changeResultView(engine.workspace, operation, (view) => renameFilter(view, name, newName)),
  ),
  removeFilter: views.removeFilter.handler(async ({ context: { engine }, input: { operation, name } }) =>
    changeResultView(engine.workspace, operation, (view) => removeFilter(view, name)),
  ),
})
