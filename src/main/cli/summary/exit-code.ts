import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import type { RunSummary } from '../../../shared/run/run.ts'

/** Whether a run is a load test. */
export function isLoadRun({ thresholds }: RunSummary): boolean {
  return thresholds !== undefined
}

/** The exit code of a command that executed a run. */
export function toExitCode(summary: RunSummary): ExitCode {
  if (summary.state === 'interrupted') return EXIT.interrupted
  const { read, invalid, succeeded } = summary.rows
  if (read > 0 && invalid === read) return EXIT.badInput
  // Of a load test the thresholds say whether it passed, not its requests.
  if (summary.thresholds?.some(({ ok }) => !ok)) return EXIT.thresholdCrossed
  if (summary.state === 'stopped') return EXIT.rowsFailed
  return isLoadRun(summary) || succeeded === read ? EXIT.ok : EXIT.rowsFailed
}
