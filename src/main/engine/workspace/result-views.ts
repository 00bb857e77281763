import { join } from 'node:path'
import type { z } from 'zod'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import type { OperationKind } from '../../../shared/operations/operations.ts'
import {
  type ResultView,
  resultViewsSchema,
  type TableName,
  type TableView,
  USUAL_TABLE,
  USUAL_VIEW,
} from '../../../shared/run/result-view.ts'
import { takeLease } from './lease.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync } from './replace-file.ts'
import { toStoreError } from './store-error.ts'
import { createWorkspaceFolders } from './workspace-files.ts'

type ResultViews = z.infer<typeof resultViewsSchema>

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
  const { views } = changeAll(workspace, (all) => {
    const view = change(all.views[operation] ?? USUAL_VIEW)
    return { ...all, views: { ...all.views, [operation]: view } }
  })
  return views[operation] ?? USUAL_VIEW
}

/** How another table is looked at. Throws `WORKSPACE_UNUSABLE` where the file is damaged. */
export function readTableView(workspace: string, table: TableName): TableView {
  return readAll(workspace).tables[table] ?? USUAL_TABLE
}

/** Changes that, one process at a time. Throws `WORKSPACE_UNUSABLE`. */
export function changeTableView(workspace: string, table: TableName, view: TableView): TableView {
  changeAll(workspace, (all) => ({ ...all, tables: { ...all.tables, [table]: view } }))
  return view
}

function changeAll(workspace: string, change: (views: ResultViews) => ResultViews): ResultViews {
  createWorkspaceFolders(workspace)
  const file = toFile(workspace)
  const lease = takeLease(file, `the saved filters in ${file}`)
  try {
    const changed = change(readAll(workspace))
    try {
      replaceFileSync(file, `${JSON.stringify(resultViewsSchema.parse(changed), null, 2)}\n`, {
        isPrivate: true,
      })
    } catch (error) {
      throw toStoreError('result_views_unusable', file, error)
    }
    return changed
  } finally {
    lease.release()
  }
}

function toFile(workspace: string): string {
  return join(workspace, 'result-views.json')
}

function readAll(workspace: string): ResultViews {
  const file = toFile(workspace)
  try {
    return resultViewsSchema.parse(JSON.parse(readTextFile(file)))
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return resultViewsSchema.parse({ version: 1, views: {} })
    throw toStoreError('result_views_unusable', file, error)
  }
}
