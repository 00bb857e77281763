import { EXIT } from '../../../shared/messages/errors.ts'
import type { RunHandle } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { createProgressReporter } from '../progress/progress-reporter.ts'
import { watchInterrupts } from './interrupts.ts'

/**
 * Shows a held run's progress until its source is read and checked. Ctrl-C stops the run; a second one leaves at once.
 * Returns whether it was interrupted. Throws the `SluiceError` that ended intake.
 */
export async function readSource(
  context: CliContext,
  handle: RunHandle,
  options: { quiet: boolean },
): Promise<'read' | 'interrupted'> {
  handle.ended.catch(() => {})
  const progress = createProgressReporter(context, options.quiet)
  const stopListening = handle.onSnapshot(progress.update)
  let isInterrupted = false
  const stopWatching = watchInterrupts({
    first: () => {
      isInterrupted = true
      handle.stop()
    },
    second: () => process.exit(EXIT.interrupted),
  })
  try {
    await Promise.race([handle.ready, handle.ended])
  } finally {
    stopWatching()
    stopListening()
    progress.finish()
  }
  return isInterrupted ? 'interrupted' : 'read'
}

/** Ends a held run that has sent nothing, and removes it. */
export async function dropRun(
  engine: { deleteRun(runId: string): Promise<void> },
  handle: RunHandle,
): Promise<void> {
  handle.stop()
  await handle.ended.catch(() => {})
  await engine.deleteRun(handle.runId).catch(() => {})
}
