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

/** Creates an empty register of searches. */
export function createCapacitySearches() {
  const searches = new Map<string, CapacitySearch>()
  return {
    add: (search: CapacitySearch): void => void searches.set(search.searchId, search),
    /** Throws `BAD_USAGE` if this process has no such search. */
    require(searchId: string): CapacitySearch {
      const found = searches.get(searchId)
      if (found === undefined) throw new SluiceError({ id: 'capacity_search_unknown' })
      return found
    },
    newest: (): CapacitySearch | null => [...searches.values()].at(-1) ?? null,
    stopAll(): void {
      for (const search of searches.values()) search.stop()
    },
  }
}

/** The capacity searches of a process, in the order they began. */
export interface CapacitySearches extends ReturnType<typeof createCapacitySearches> {}
