import type { Arrivals } from './arrivals.ts'
import type { Behaviour } from './behaviour.ts'
import type { CallbackQueue } from './callbacks/callback-queue.ts'
import type { MediaFetcher } from './media-fetcher.ts'
import type { Moderation } from './moderation.ts'
import type { SandboxClock } from './sandbox-clock.ts'
import type { ResolvedSandboxOptions } from './sandbox-options.ts'
import type { SandboxStore } from './store/open-store.ts'

export interface SandboxContext {
  /** Opens the admin routes; new at each start. */
  readonly adminToken: string
  readonly options: ResolvedSandboxOptions
  readonly store: SandboxStore
  readonly moderation: Moderation
  readonly arrivals: Arrivals
  readonly callbacks: CallbackQueue
  readonly media: MediaFetcher
  readonly clock: SandboxClock
  /** Replaced when settings change. */
  behaviour: Behaviour
}
