/**
 * Signals this close together are one: npm passes on to its script the Ctrl-C that the terminal has already sent to
 * the whole group.
 */
const SAME_INTERRUPT_MS = 300

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** What is done when the person, or the system, asks the process to end. */
export interface InterruptActions {
  first(): void
  /** The second time, while the first is still being seen to. */
  second(): void
}

/** Listens for Ctrl-C, SIGTERM and a closed terminal; returns the way to stop listening. */
export function watchInterrupts(actions: InterruptActions): () => void {
  let lastMs = Number.NEGATIVE_INFINITY
  let count = 0
  const onSignal = () => {
    const nowMs = performance.now()
    const isSame = nowMs - lastMs < SAME_INTERRUPT_MS
    lastMs = nowMs
    if (isSame) return
    count += 1
    if (count === 1) actions.first()
    else actions.second()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
