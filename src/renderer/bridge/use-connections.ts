import type { ConnectionEntry } from '../../shared/bridge/app.ts'
import { bridge } from './client.ts'
import { useConnection } from './connection.ts'
import { useLiveRuns } from './live-runs.ts'
import { useQuery } from './use-query.ts'

const NONE: readonly ConnectionEntry[] = []

/** The deployments that the workspace remembers; asked again whenever runs come and go. */
export function useConnections(): readonly ConnectionEntry[] {
  const state = useConnection((known) => known.state)
  const revision = useLiveRuns((live) => live.revision)
  const list = useQuery(
    state === 'lost' ? null : `connections ${revision}`,
    (signal) => bridge.connections.list(undefined, { signal }),
    { keep: true },
  )
  return list.data ?? NONE
}
