/** Says that a stored connection's key may be another one now, so that what is sent next has it already. */
export interface KeySwitch {
  announce(): void
  /** Calls the listener at each announcement; returns the way to stop. */
  onSwitch(listener: () => void): () => void
}

/** Makes the switch of one process. */
export function createKeySwitch(): KeySwitch {
  const listeners = new Set<() => void>()
  return {
    announce() {
      for (const listener of listeners) listener()
    },
    onSwitch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
