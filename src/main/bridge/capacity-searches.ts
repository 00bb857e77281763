import type { CapacityProgress } from '../../shared/bridge/capacity.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { EventSource } from './event-stream.ts'

/** A capacity search of this process. */
export interface CapacitySearch extends EventSource<CapacityProgress> {
  readonly searchId: string
  isOver(): boolean
  read(): CapacityProgress
  /** Ends the probe and the search. */
  stop(): void
}

/** The capacity searches of a process, in the order in which they began. */
export interface CapacitySearches {
  add(search: CapacitySearch): void
  /** Throws `BAD_USAGE` where this process has no such search. */
  require(searchId: string): CapacitySearch
  newest(): CapacitySearch | null
  stopAll(): void
}

/** Makes the register of searches, empty. */
export function createCapacitySearches(): CapacitySearches {
  const searches = new Map<string, CapacitySearch>()
  return {
    add: (search) => void searches.set(search.searchId, search),
    require(searchId) {
      const found = searches.get(searchId)
      if (found === undefined) throw new SluiceError({ id: 'capacity_search_unknown' })
      return found
    },
    newest: () => [...searches.values()].at(-1) ?? null,
    stopAll() {
      for (const search of searches.values()) search.stop()
    },
  }
}
