import type { Load } from '../../../../shared/load/load.ts'
import { isOpen } from '../../../../shared/load/load-pace.ts'
import type { LoadState } from '../../journal/load-writer.ts'

/** The whole schedule must have gone out to this share, or the generator limited the whole (docs/load-tests.md §1). */
const ACHIEVED_SHARE = 0.98

/** How the machine did that sent a load, as far as its journal's state tells. */
export interface LoadHealth {
  limited: boolean
  limitedSeconds: number
  /** Why it was limited, a sentence each. */
  reasons: string[]
  dropped: number
  waited: number
  gcPauses: number
  gcMaxMs: number | null
  /** Share of the schedule that was sent, 0 to 1; null at a closed pace. */
  achievedShare: number | null
  workers: number
}

/** How the machine did that sent a load (docs/load-tests.md §1); `state` is null before its first second is over. */
export function toLoadHealth(load: Load, state: LoadState | null): LoadHealth {
  const scheduled = isOpen(load.pace) ? (state?.scheduled ?? null) : null
  const sent = (state?.sent ?? 0) + (state?.dropped ?? 0)
  const achievedShare = scheduled === null || scheduled === 0 ? null : Math.min(1, sent / scheduled)
  const reasons = [...(state?.limitedReasons ?? [])]
  // What waited for the cap until the end was the service's doing.
  if (achievedShare !== null && achievedShare < ACHIEVED_SHARE && state?.waited === 0) {
    reasons.push(`Only ${Math.floor(achievedShare * 1000) / 10} % of the schedule went out.`)
  }
  return {
    limited: reasons.length > 0,
    limitedSeconds: state?.limitedSeconds ?? 0,
    reasons,
    dropped: state?.dropped ?? 0,
    waited: state?.waited ?? 0,
    gcPauses: state?.gc.pauses ?? 0,
    gcMaxMs: state === null ? null : state.gc.maxUs / 1000,
    achievedShare,
    workers: load.workers,
  }
}
