import { type QueryKey, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { queryClient } from './client.ts'

/** Changes that a screen shows before the engine has stored them. */
export interface ChangeQueue {
  /** Calls `store` once all earlier changes are stored or refused, and settles as it does. */
  add<Stored>(store: () => Promise<Stored>): Promise<Stored>
  /** Resolves once all changes so far are stored or refused. */
  whenStored(): Promise<void>
  /** Whether no other change waits for the one that is being stored. */
  isLast(): boolean
  /** Reads what the changes concern. An answer from before a change is dropped and read again. */
  read<Answer>(read: () => Promise<Answer>): Promise<Answer>
}

export function createChangeQueue(): ChangeQueue {
  let stored: Promise<void> = Promise.resolve()
  let waiting = 0
  return {
    add(store) {
      waiting += 1
      const added = stored.then(store).finally(() => {
        waiting -= 1
      })
      stored = added.then(
        () => {},
        () => {},
      )
      return added
    },
    whenStored: () => stored,
    isLast: () => waiting === 1,
    async read(read) {
      for (;;) {
        const known = stored
        await known
        const answer = await read()
        if (known === stored) return answer
      }
    },
  }
}

/**
 * Shows a change of a query's answer at once and stores it after earlier ones. `store` returns what is stored
 * then, which is shown unless another change waits. Rejects as it does, and reads again what is stored;
 * therefore the query must read through `changes`.
 */
export function storeShown<Answer>(options: {
  changes: ChangeQueue
  queryKey: QueryKey
  show: (known: Answer | undefined) => Answer | undefined
  store: () => Promise<Answer>
}): Promise<void> {
  const { changes, queryKey, show, store } = options
  queryClient.setQueryData<Answer>(queryKey, show)
  return changes.add(async () => {
    try {
      const stored = await store()
      if (changes.isLast()) queryClient.setQueryData<Answer>(queryKey, stored)
    } catch (error) {
      void queryClient.invalidateQueries({ queryKey })
      throw error
    }
  })
}

/**
 * A mutation for changes that may begin before earlier ones are stored. An error stays until the next change,
 * whichever of them failed.
 */
export function useChange<Change>(store: (change: Change) => Promise<void>) {
  const [error, setError] = useState<Error | null>(null)
  const reset = () => setError(null)
  const mutation = useMutation({
    mutationFn: store,
    onMutate: reset,
    onError: (failure: Error) => setError(failure),
  })
  return { ...mutation, error, reset }
}
