import { EXIT, type ExitCode } from '../../../shared/errors.ts'
import type { RunSummary } from '../../../shared/run.ts'

/** What a command that ran a run exits with (design §4). */
export function toExitCode(summary: RunSummary): ExitCode {
  if (summary.state === 'interrupted') return EXIT.interrupted
  if (summary.state === 'stopped') return EXIT.rowsFailed
  const { read, invalid, succeeded } = summary.rows
  if (read > 0 && invalid === read) return EXIT.badInput
  return succeeded === read ? EXIT.ok : EXIT.rowsFailed
}
