import { skipToken, useMutation, useQuery } from '@tanstack/react-query'
import type { RowMedia } from '../../shared/bridge/media.ts'
import { ask, bridge, queryClient } from './client.ts'

const NONE: readonly RowMedia[] = []

/** The pictures, videos and sounds that a row names, and a function that fetches one from elsewhere. */
export function useRowMedia(runId: string, row: number | null) {
  const input = row === null ? skipToken : { runId, row }
  const found = useQuery(ask.media.ofRow.queryOptions({ input, staleTime: Number.POSITIVE_INFINITY }))
  const fetching = useMutation({
    mutationFn: async ({ row: of, column }: { row: number; column: number }) => {
      const fetched = await bridge.media.fetch({ runId, row: of, column })
      const { queryKey } = ask.media.ofRow.queryOptions({ input: { runId, row: of } })
      queryClient.setQueryData(queryKey, (known: RowMedia[] = []) =>
        known.map((one) => (one.column === column ? fetched : one)),
      )
    },
  })
  return {
    media: found.data ?? NONE,
    fetch: (column: number) => {
      if (row !== null) fetching.mutate({ row, column })
    },
    isFetching: fetching.isPending,
    error: found.error ?? (fetching.variables?.row === row ? fetching.error : null),
  }
}
