import type { Arrival } from './recording.ts'
import type { RunHistory } from './run-history.ts'
import { sayArrivals, sayRow } from './say-fault.ts'
import type { Fault } from './verdict.ts'

/** Requests with the same rows must have the path and body that their cells make, however often sent. */
export function judgeBodies(runs: readonly RunHistory[], arrivals: readonly Arrival[]): Fault[] {
  const known = listRequests(runs)
  const faults: Fault[] = []
  for (const [key, changed] of Map.groupBy(arrivals, ({ ids }) => JSON.stringify(ids))) {
    const request = known.get(key)
    // The rows were sent together before a further split.
    if (request === undefined || request.bodies.has(null)) continue
    const wrong = changed.filter(({ path, body }) => !request.bodies.has(`${path} ${body}`))
    if (wrong.length === 0) continue
    const message = `${sayRow(request)}: the path or body of ${sayArrivals(wrong)} is not what its cells make.`
    faults.push({ kind: 'body-changed', runId: request.runId, row: request.row, id: request.id, message })
  }
  return faults
}

interface KnownRequest {
  runId: string
  row: number
  id: string | null
  /** Paths with the hash of a body; includes null if a body cannot be recreated. */
  bodies: Set<string | null>
}

function listRequests(runs: readonly RunHistory[]): Map<string, KnownRequest> {
  const requests = new Map<string, KnownRequest>()
  for (const { runId, rows, items } of runs.flatMap(({ members }) => members)) {
    const ids = new Map(rows.map(({ row, id }) => [row, id]))
    for (const { item, path, requests: sent } of items.values()) {
      for (const { body, rows: carried } of sent) {
        const key = JSON.stringify(carried.map((row) => ids.get(row)))
        const known = requests.get(key) ?? { runId, row: item, id: ids.get(item) ?? null, bodies: new Set() }
        known.bodies.add(body === null ? null : `${path} ${body}`)
        requests.set(key, known)
      }
    }
  }
  return requests
}
