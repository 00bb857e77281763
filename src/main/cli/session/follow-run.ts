import { writeSync } from 'node:fs'
import { EXIT } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { RunHandle } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { COMMAND_PREFIX } from '../invocation.ts'
import { createProgressReporter } from '../progress/progress-reporter.ts'
import { watchInterrupts } from './interrupts.ts'
import type { RunAccess } from './run-access.ts'

/**
 * Shows a run's progress until it ends. The first Ctrl-C lets what is in flight end and keeps the rest pending; the
 * second leaves at once. Throws the `SluiceError` that ended the run, where one did.
 */
export async function followRun(
  context: CliContext,
  handle: RunHandle,
  options: { quiet: boolean; followKey?: RunAccess['followKey'] },
): Promise<RunSummary> {
  const progress = createProgressReporter(context, options.quiet)
  const stopListening = handle.onSnapshot(progress.update)
  const stopFollowing = options.followKey?.(handle, progress.say)
  const stopWatching = watchInterrupts({
    first: () => {
      const snapshot = handle.snapshot()
      if (snapshot?.load) {
        progress.say(
          `Stopping: waiting for ${formatCounted(snapshot.inFlight, 'request')} in flight. Results so far are kept. Press Ctrl-C again to quit at once.`,
        )
        handle.stop()
        return
      }
      const awaiting = snapshot?.rows.awaiting ?? 0
      const awaited =
        awaiting === 0
          ? ''
          : ` ${formatCounted(awaiting, 'callback')} outstanding; resume waits for ${awaiting === 1 ? 'it' : 'them'}.`
      progress.say(
        `Stopping: waiting for ${formatCounted(snapshot?.inFlight ?? 0, 'request')} in flight.${awaited} Press Ctrl-C again to quit at once.`,
      )
      handle.stop()
    },
    second: () => {
      progress.finish()
      const inFlight = handle.snapshot()?.inFlight ?? 0
      // The process ends in this very turn, so nothing may be left in a buffer.
      writeSync(
        2,
        handle.snapshot()?.load
          ? `Quit at once. Results so far are kept.\nTo view them, run: ${COMMAND_PREFIX} show ${handle.runId}\n`
          : `Quit at once. The outcome of ${formatCounted(inFlight, 'row')} in flight is unknown.\n` +
              `To resume, run: ${COMMAND_PREFIX} resume ${handle.runId}\n`,
      )
      process.exit(EXIT.interrupted)
    },
  })
  try {
    // Rejects with what ended intake, too; by then what is left of the run is cleared away.
    handle.ready.catch(() => {})
    return await handle.ended
  } finally {
    stopWatching()
    stopFollowing?.()
    stopListening()
    progress.finish()
  }
}
