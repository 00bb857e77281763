import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { Engine, RunHandle } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { resolveFromCaller } from '../invocation.ts'
import type { ReportingFlags } from '../options/shared-options.ts'
import { createProgressReporter } from '../progress/progress-reporter.ts'
import type { Trial } from './dry-run.ts'
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

/**
 * Writes a plan's load as a project of k6 (`--export-k6 FOLDER`), which reads the key from the environment when k6 runs
 * it; sends nothing and keeps no run.
 */
export async function exportK6(
  context: CliContext,
  engine: Engine,
  { plan, ...secrets }: Trial,
  flags: ReportingFlags & { exportK6: string },
): Promise<ExitCode> {
  const handle = await engine.startRun(plan, { ...secrets, hold: true, isTrial: true })
  const how = await readSource(context, handle, { quiet: flags.quiet === true })
  try {
    if (how === 'interrupted') return EXIT.interrupted
    const file = resolveFromCaller(flags.exportK6, context.env)
    const { rows, sizeBytes } = await engine.exportRun(handle.runId, { file, format: 'k6' })
    await context.out.writeLine(
      flags.json
        ? JSON.stringify({ file, rows, bytes: sizeBytes })
        : `${formatCounted(rows, 'row')} in ${file} (${formatBytes(sizeBytes)}); see its README.md to run it`,
    )
    return EXIT.ok
  } finally {
    await dropRun(engine, handle)
  }
}
