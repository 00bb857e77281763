import { useMutation, useQuery } from '@tanstack/react-query'
import type { OperationKind } from '../../../shared/plan/operation.ts'
import { type ResultView, type ShownColumn, USUAL_VIEW } from '../../../shared/run/result-view.ts'
import type { RowFilter } from '../../../shared/run/results.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'

/** The chosen columns and saved filters of an operation, which all of its runs share, and how they are changed. */
export function useResultView(operation: OperationKind) {
  const query = useQuery(ask.views.read.queryOptions({ input: { operation } }))
  const key = ask.views.read.queryKey({ input: { operation } })
  const change = useMutation({
    mutationFn: async (make: () => Promise<ResultView>) => queryClient.setQueryData(key, await make()),
    onError: () => queryClient.invalidateQueries({ queryKey: key }),
  })
  return {
    /** Null until it is read. */
    view: query.data ?? null,
    error: change.error ?? query.error,
    /** Shows the columns at once; null brings the usual ones back. */
    setColumns(columns: ShownColumn[] | null) {
      queryClient.setQueryData(key, (view: ResultView = USUAL_VIEW) => ({ ...view, columns }))
      change.mutate(() => bridge.views.setColumns({ operation, columns }))
    },
    saveFilter: (name: string, filter: RowFilter, at?: number) =>
      change.mutateAsync(() =>
        bridge.views.saveFilter({ operation, name, filter, ...(at !== undefined && { at }) }),
      ),
    renameFilter: (name: string, newName: string) =>
      change.mutateAsync(() => bridge.views.renameFilter({ operation, name, newName })),
    removeFilter: (name: string) => change.mutateAsync(() => bridge.views.removeFilter({ operation, name })),
  }
}
