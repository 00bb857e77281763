import type { Behaviour } from './behaviour.ts'
import type { Moderation } from './moderation.ts'
import type { ResolvedSandboxOptions } from './sandbox-options.ts'
import type { SandboxStore } from './store/open-store.ts'

/** What time it is. */
export interface SandboxClock {
  /** Milliseconds since some instant; never goes back. */
  nowMs(): number
  /** Wall-clock time, for the time stamps of answers. */
  date(): Date
}

/** What every route works with. */
export interface SandboxContext {
  readonly options: ResolvedSandboxOptions
  readonly store: SandboxStore
  readonly moderation: Moderation
  readonly clock: SandboxClock
  /** Replaced as a whole when settings change. */
  behaviour: Behaviour
}
