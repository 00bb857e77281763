import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../../shared/messages/thrown.ts'
import type { OperationKind } from '../../../shared/plan/operation.ts'
import {
  type ResultView,
  resultViewsSchema,
  type SavedFilter,
  USUAL_VIEW,
} from '../../../shared/run/result-view.ts'
import { takeLease } from './lease.ts'
import { replaceFileSync } from './replace-file.ts'
import { createWorkspaceFolders } from './workspace-files.ts'

/** How the rows of an operation's runs are looked at. Throws `WORKSPACE_UNUSABLE` where the file is damaged. */
export function readResultView(workspace: string, operation: OperationKind): ResultView {
  return readAll(workspace).views[operation] ?? USUAL_VIEW
}

/** Changes it, one process at a time. Throws `WORKSPACE_UNUSABLE`, and what `change` throws. */
export function changeResultView(
  workspace: string,
  operation: OperationKind,
  change: (view: ResultView) => ResultView,
): ResultView {
  createWorkspaceFolders(workspace)
  const file = toFile(workspace)
  const lease = takeLease(file, `the saved filters in ${file}`)
  try {
    const all = readAll(workspace)
    const view = change(all.views[operation] ?? USUAL_VIEW)
    const changed = { ...all, views: { ...all.views, [operation]: view } }
    try {
      replaceFileSync(file, `${JSON.stringify(resultViewsSchema.parse(changed), null, 2)}\n`, {
        isPrivate: true,
      })
    } catch (error) {
      throw toUnusable(file, error)
    }
    return view
  } finally {
    lease.release()
  }
}

/** Adds a filter at a place among the others, by default the last. Throws `BAD_USAGE` where the name is taken. */
export function addFilter(view: ResultView, added: SavedFilter, at = view.filters.length): ResultView {
  if (view.filters.some(({ name }) => name === added.name)) {
    throw new SluiceError({ id: 'filter_name_taken', name: added.name })
  }
  return { ...view, filters: view.filters.toSpliced(at, 0, added) }
}

/** Gives a filter another name. Throws `BAD_USAGE` where it does not exist, or the name is taken. */
export function renameFilter(view: ResultView, name: string, newName: string): ResultView {
  if (name === newName) return view
  const at = findFilter(view, name)
  const [filter] = view.filters.slice(at, at + 1)
  const others = { ...view, filters: view.filters.toSpliced(at, 1) }
  return filter === undefined ? view : addFilter(others, { ...filter, name: newName }, at)
}

/** Removes a filter. Throws `BAD_USAGE` where it does not exist. */
export function removeFilter(view: ResultView, name: string): ResultView {
  return { ...view, filters: view.filters.toSpliced(findFilter(view, name), 1) }
}

function findFilter({ filters }: ResultView, name: string): number {
  const at = filters.findIndex((filter) => filter.name === name)
  if (at === -1) throw new SluiceError({ id: 'filter_unknown', name })
  return at
}

function toFile(workspace: string): string {
  return join(workspace, 'result-views.json')
}

function readAll(workspace: string) {
  const file = toFile(workspace)
  try {
    return resultViewsSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return resultViewsSchema.parse({ version: 1, views: {} })
    throw toUnusable(file, error)
  }
}

function toUnusable(file: string, error: unknown): SluiceError {
  return new SluiceError({ id: 'result_views_unusable', file, reason: toThrownText(error) }, { cause: error })
}
