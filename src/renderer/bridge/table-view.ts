import { useQuery } from '@tanstack/react-query'
import {
  changeTable,
  type TableChange,
  type TableName,
  type TableView,
  USUAL_TABLE,
} from '../../shared/run/result-view.ts'
import { createChangeQueue, storeShown, useChange } from './change-queue.ts'
import { ask, bridge } from './client.ts'

const changes = createChangeQueue()

/** A person's changes to a table's columns, and a function to change them; stored in the workspace. */
export function useTableView(table: TableName) {
  const input = { table }
  const key = ask.views.readTable.queryKey({ input })
  const query = useQuery({
    ...ask.views.readTable.queryOptions({ input }),
    queryFn: ({ signal }) => changes.read(() => bridge.views.readTable(input, { signal })),
  })
  const change = useChange((stored: Promise<void>) => stored)
  return {
    view: query.data ?? USUAL_TABLE,
    /** Why it could not be stored; null if it could. */
    error: change.error,
    /** Changes the newest view, also if it was changed since the table was last drawn. */
    changeView(made: TableChange) {
      const show = (view: TableView = USUAL_TABLE) => changeTable(view, made)
      const store = () => bridge.views.changeTable({ table, change: made })
      change.mutate(storeShown({ changes, queryKey: key, show, store }))
    },
  }
}
