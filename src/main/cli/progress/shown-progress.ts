import type { RunSnapshot } from '../../../shared/run/snapshot.ts'

/** Shows a run's progress on stderr. */
export interface ProgressReporter {
  update(snapshot: RunSnapshot): void
  /** Prints a message without disturbing the redrawn lines. */
  say(text: string): void
  /** Ends the display and wipes the redrawn lines. */
  finish(): void
}
