import { EXIT, type ExitCode } from '../../../shared/messages/errors.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { Engine } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { resolveFromCaller } from '../invocation.ts'
import type { ReportingFlags } from '../options/shared-options.ts'
import type { Trial } from './dry-run.ts'
import { dropRun, readSource } from './read-source.ts'

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
