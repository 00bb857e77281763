import { join } from 'node:path'
import type { z } from 'zod'
import type { OperationKind } from '../../../shared/operations/operations.ts'
import {
  changeTable,
  type ResultView,
  resultViewsSchema,
  type TableChange,
  type TableName,
  type TableView,
  USUAL_TABLE,
  USUAL_VIEW,
} from '../../../shared/run/result-view.ts'
import { underLease } from './lease.ts'
import { readDocument, writeDocument } from './stored-document.ts'
import { createWorkspaceFolders } from './workspace-files.ts'

type ResultViews = z.infer<typeof resultViewsSchema>

/** Reads the view of an operation's runs. Throws `WORKSPACE_UNUSABLE` if the file is damaged. */
export function readResultView(workspace: string, operation: OperationKind): ResultView {
  return readAll(workspace).views[operation] ?? USUAL_VIEW
}

/** Changes an operation's view, one process at a time. Throws `WORKSPACE_UNUSABLE`, and as `change` does. */
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

/** Reads the view of another table. Throws `WORKSPACE_UNUSABLE` if the file is damaged. */
export function readTableView(workspace: string, table: TableName): TableView {
  return readAll(workspace).tables[table] ?? USUAL_TABLE
}

/** Changes the view of another table, one process at a time. Throws `WORKSPACE_UNUSABLE`. */
export function changeTableView(workspace: string, table: TableName, change: TableChange): TableView {
  const { tables } = changeAll(workspace, (all) => {
    return {
      ...all,
      tables: { ...all.tables, [table]: changeTable(all.tables[table] ?? USUAL_TABLE, change) },
    }
  })
  return tables[table] ?? USUAL_TABLE
}

function changeAll(workspace: string, change: (views: ResultViews) => ResultViews): ResultViews {
  createWorkspaceFolders(workspace)
  const document = toDocument(workspace)
  return underLease(document.file, `the saved filters in ${document.file}`, () => {
    const changed = change(readAll(workspace))
    writeDocument(document, changed)
    return changed
  })
}

function toDocument(workspace: string) {
  const file = join(workspace, 'result-views.json')
  return { file, schema: resultViewsSchema, unusable: 'result_views_unusable' } as const
}

function readAll(workspace: string): ResultViews {
  return readDocument(toDocument(workspace), null) ?? resultViewsSchema.parse({ version: 1, views: {} })
}
