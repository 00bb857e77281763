import { useQuery } from '@tanstack/react-query'
import { type TableName, type TableView, USUAL_TABLE } from '../../shared/run/result-view.ts'
import { createChangeQueue, storeShown, useChange } from './change-queue.ts'
import { ask, bridge, queryClient } from './client.ts'

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
    changeView(to: (view: TableView) => TableView) {
      const view = to(queryClient.getQueryData(key) ?? USUAL_TABLE)
      const store = () => bridge.views.setTable({ table, view })
      change.mutate(storeShown({ changes, queryKey: key, show: () => view, store }))
    },
  }
}
