import { judgeBodies } from './judge-bodies.ts'
import { judgeCounts } from './judge-counts.ts'
import { judgeFamily } from './judge-family.ts'
import { judgeGroup } from './judge-group.ts'
import type { Arrival, RecordedEvent } from './recording.ts'
import { createGroups, isFail, isOk, listRows } from './row-groups.ts'
import type { RunHistory } from './run-history.ts'
import { sayArrivals } from './say-fault.ts'
import type { Fault, HistoryVerdict } from './verdict.ts'

/** Facts that journals do not contain. */
interface Consent {
  /** A person agreed to resend index adds with an unknown outcome (default: nobody did). */
  resentIndexAdds?: boolean
}

/** Compares the journals of a run and its retries with everything that the service saw of it. */
export function judgeHistory(
  run: RunHistory,
  events: readonly RecordedEvent[],
  consent: Consent = {},
): HistoryVerdict {
  return judgeHistories([run], events, consent)
}

/** Compares several runs with everything that the service saw of them. */
export function judgeHistories(
  runs: readonly RunHistory[],
  events: readonly RecordedEvent[],
  { resentIndexAdds = false }: Consent = {},
): HistoryVerdict {
  const { groups, strangers } = createGroups(runs, events)
  const arrivals = events.filter((event) => event.kind === 'arrival')
  const rows = runs.flatMap(listRows)
  const ok = rows.filter(isOk).length
  const fail = rows.filter(isFail).length
  return {
    ok,
    info: rows.length - ok - fail,
    fail,
    faults: [
      ...runs.flatMap(judgeFamily),
      ...groups.flatMap((group) => judgeGroup(group, resentIndexAdds)),
      ...judgeBodies(runs, arrivals),
      ...nameStrangers(strangers),
      ...runs.flatMap(judgeCounts),
    ],
  }
}

function nameStrangers(strangers: readonly Arrival[]): Fault[] {
  return [...Map.groupBy(strangers, ({ ids }) => ids.join(', '))].map(([id, arrivals]) => ({
    kind: 'not-in-run',
    runId: null,
    row: null,
    id,
    message: `The service got ${sayArrivals(arrivals)} for ${JSON.stringify(id)}, which is no row of the run.`,
  }))
}
