import type { RunEntry } from '../../../shared/bridge/runs.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'

/** A run of the list as it stands this moment: what is held here is newer in its snapshot than in its journal. */
export function withLive(entry: RunEntry, snapshot: RunSnapshot | undefined): RunSummary {
  const { summary } = entry
  if (!entry.isHeld || snapshot === undefined || snapshot.phase === 'ended') return summary
  return {
    ...summary,
    rows: snapshot.rows,
    requests: snapshot.requests,
    latency_ms: {
      ...summary.latency_ms,
      ...(snapshot.latencyMs !== null && { http_req_duration: snapshot.latencyMs }),
    },
  }
}
