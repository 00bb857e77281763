import type { Arrival, ArrivalCount } from '../../shared/sandbox/arrivals.ts'

type NewArrival = Omit<Arrival, 'number' | 'arrived_on'> & { arrivedOn: Date }

/** How many of the newest requests are kept. */
export const KEPT_ARRIVALS = 1_000

/** Longest part of a body that is kept, in characters. */
const BODY_MAX_CHARACTERS = 16_384

/** Creates the list, which is kept in memory. */
export function createArrivals() {
  const kept: Arrival[] = []
  const counts = new Map<string, ArrivalCount>()
  let arrived = 0
  return {
    note({ endpoint, subject, outcome, arrivedOn, body }: NewArrival): void {
      const name = `${endpoint} ${outcome}`
      const count = counts.get(name)
      if (count === undefined) counts.set(name, { endpoint, outcome, requests: 1 })
      else count.requests += 1
      arrived += 1
      // A ring buffer: the oldest entry is overwritten.
      kept[(arrived - 1) % KEPT_ARRIVALS] = {
        number: arrived,
        endpoint,
        subject,
        outcome,
        arrived_on: arrivedOn.toISOString(),
        body: body !== null && body.length <= BODY_MAX_CHARACTERS ? body : null,
      }
    },
    /** Arrivals of this endpoint and outcome (null for all) from an offset on, newest first. */
    page(
      { endpoint, outcome }: { endpoint: string | null; outcome: string | null },
      offset: number,
      limit: number,
    ): { total: number; arrivals: Arrival[] } {
      const found = kept
        .filter((one) => endpoint === null || one.endpoint === endpoint)
        .filter((one) => outcome === null || one.outcome === outcome)
        .sort((a, b) => b.number - a.number)
      return { total: found.length, arrivals: found.slice(offset, offset + limit) }
    },
    counts: (): ArrivalCount[] => [...counts.values()],
    clear(): void {
      kept.length = 0
      counts.clear()
      arrived = 0
    },
  }
}

/** Arrivals at all endpoints since the start, refused ones included: the newest, and counts of all. */
export interface Arrivals extends ReturnType<typeof createArrivals> {}
