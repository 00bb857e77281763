import type { AppDescription } from '../../shared/bridge/app.ts'
import { bridge } from './client.ts'
import { useConnection } from './connection.ts'
import { useLiveRuns } from './live-runs.ts'
import { useQuery } from './use-query.ts'

/** What the machine knows; asked again when the connection is back and when runs come and go. */
export function useAppDescription(): AppDescription | null {
  const state = useConnection((known) => known.state)
  const revision = useLiveRuns((live) => live.revision)
  return useQuery(
    state === 'lost' ? null : `app ${revision}`,
    (signal) => bridge.app.describe(undefined, { signal }),
    {
      keep: true,
    },
  ).data
}
