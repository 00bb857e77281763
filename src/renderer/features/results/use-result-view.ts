import { useMutation, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { OperationKind } from '../../../shared/operations/operations.ts'
import { type ResultView, type ShownColumn, USUAL_VIEW } from '../../../shared/run/result-view.ts'
import type { RowFilter } from '../../../shared/run/row-filters.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'

/** The chosen columns and saved filters of an operation, which all of its runs share, and how they are changed. */
export function useResultView(operation: OperationKind) {
  const query = useQuery(ask.views.read.queryOptions({ input: { operation } }))
  const {
    error,
    mutate,
    mutateAsync: store,
  } = useMutation({
    mutationFn: async (make: () => Promise<ResultView>) =>
      queryClient.setQueryData(toKey(operation), await make()),
    onError: () => queryClient.invalidateQueries({ queryKey: toKey(operation) }),
  })
  const changes = useMemo(
    () => ({
      /** Shows the columns at once; null brings the usual ones back. */
      setColumns(columns: ShownColumn[] | null) {
        queryClient.setQueryData(toKey(operation), (view: ResultView = USUAL_VIEW) => ({ ...view, columns }))
        mutate(() => bridge.views.setColumns({ operation, columns }))
      },
      saveFilter: (name: string, filter: RowFilter, at?: number) =>
        store(() => bridge.views.saveFilter({ operation, name, filter, ...(at !== undefined && { at }) })),
      renameFilter: (name: string, newName: string) =>
        store(() => bridge.views.renameFilter({ operation, name, newName })),
      removeFilter: (name: string) => store(() => bridge.views.removeFilter({ operation, name })),
    }),
    [operation, mutate, store],
  )
  const failure = error ?? query.error
  return useMemo(
    () => ({
      /** Null until it is read. */
      view: query.data ?? null,
      error: failure,
      ...changes,
    }),
    [query.data, failure, changes],
  )
}

function toKey(operation: OperationKind) {
  return ask.views.read.queryKey({ input: { operation } })
}
