import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** Clock ticks per second in `/proc/stat` (USER_HZ, proc(5)). */
const TICKS_PER_SECOND = 100

/**
 * Watches how much of a virtual machine's processor time its host gives to others: whoever measures takes
 * such gaps for the service's time. The returned function returns the share since, 0 to 1; null if the system
 * does not report it.
 */
export function watchSteal(): () => number | null {
  const [ticks, startMs] = [readStealTicks(), performance.now()]
  return () => {
    const now = readStealTicks()
    if (ticks === null || now === null) return null
    const possible = ((performance.now() - startMs) / 1000) * TICKS_PER_SECOND * cpus().length
    return (now - ticks) / possible
  }
}

function readStealTicks(): number | null {
  try {
    const all = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/ +/) ?? []
    const ticks = Number(all[8])
    return Number.isFinite(ticks) ? ticks : null
  } catch {
    return null
  }
}
