import type { RunSnapshot } from '../../../shared/run/snapshot.ts'

/** Shows on stderr how a run goes on. */
export interface ProgressReporter {
  update(snapshot: RunSnapshot): void
  /** Says something in between, without disturbing what is redrawn. */
  say(text: string): void
  /** Ends the showing; what was redrawn is wiped. */
  finish(): void
}
