import { chooseDelayMs } from '../latency.ts'
import type { Draw } from '../seeded-draw.ts'
import type { CallbackSettings } from './callback-settings.ts'

/** When a callback is sent: after its acknowledgement, before it, much later, or never. */
export type CallbackTiming = 'normal' | 'early' | 'late' | 'dropped'

/** One copy of a task's callback, as it was decided by chance. */
export interface PlannedCallback {
  timing: CallbackTiming
  /** From the acknowledgement to the first attempt; 0 for an early one. */
  waitMs: number
}

/** Decides by chance when a task's callback is sent, and whether twice. The second copy is never early. */
export function planCallbacks(settings: CallbackSettings, draw: Draw): PlannedCallback[] {
  const timing = chooseTiming(settings, draw)
  const first = { timing, waitMs: chooseWaitMs(settings, timing, 1, draw) }
  if (timing === 'dropped' || settings.doubleShare <= draw('callback double')) return [first]
  const again = timing === 'early' ? 'normal' : timing
  return [first, { timing: again, waitMs: chooseWaitMs(settings, again, 2, draw) }]
}

function chooseTiming(settings: CallbackSettings, draw: Draw): CallbackTiming {
  const { earlyShare, lateShare, dropShare } = settings
  if (earlyShare + lateShare + dropShare === 0) return 'normal'
  const rest = draw('callback timing')
  if (rest < earlyShare) return 'early'
  if (rest < earlyShare + lateShare) return 'late'
  return rest < earlyShare + lateShare + dropShare ? 'dropped' : 'normal'
}

function chooseWaitMs(settings: CallbackSettings, timing: CallbackTiming, copy: number, draw: Draw): number {
  if (timing === 'early' || timing === 'dropped') return 0
  const delayMs = chooseDelayMs(settings.delay, (purpose) => draw(`callback ${copy} ${purpose}`))
  const shuffledMs = settings.shuffleMs === 0 ? 0 : settings.shuffleMs * draw(`callback ${copy} shuffle`)
  return delayMs + shuffledMs + (timing === 'late' ? settings.lateMs : 0)
}
