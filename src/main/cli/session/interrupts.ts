/**
 * The same signal twice this close together is one: npm passes on to its script the Ctrl-C that the terminal has
 * already sent to the whole group.
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
  let last: { signal: NodeJS.Signals; atMs: number } | null = null
  let count = 0
  const onSignal = (signal: NodeJS.Signals) => {
    const atMs = performance.now()
    const isSame = last?.signal === signal && atMs - last.atMs < SAME_INTERRUPT_MS
    last = { signal, atMs }
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
