/** Changes that a screen shows before the engine has stored them. */
export interface ChangeQueue {
  /** Calls `store`, which must not reject, once all earlier changes are stored. */
  add(store: () => Promise<void>): void
  /** Resolves once all changes so far are stored or refused. */
  whenStored(): Promise<void>
  /** Reads what the changes concern. An answer from before a change is dropped and read again. */
  read<Answer>(read: () => Promise<Answer>): Promise<Answer>
}

export function createChangeQueue(): ChangeQueue {
  let stored: Promise<void> = Promise.resolve()
  return {
    add(store) {
      stored = stored.then(store)
    },
    whenStored: () => stored,
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
