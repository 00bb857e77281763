import type { Command } from 'commander'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CliContext } from '../context.ts'
import { writeDocumentLine } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { RUN_ARGUMENT_HELP, resolveRunId } from '../options/run-reference.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../options/shared-options.ts'
import { toPrintable } from '../terminal/output.ts'

/** Adds `delete RUN`: removes a run's journal for good, after asking. */
export function addDeleteCommand(program: Command, context: CliContext): void {
  const command = program
    .command('delete')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .description(
      'Permanently deletes a run, its retries and everything that the workspace stores about them, including exports in the ' +
        'workspace. The source and files elsewhere are kept.',
    )
    .option('--yes', 'skip the confirmation')
  addDocumentOptions(command).action(async (reference: string, flags: DocumentFlags & { yes?: true }) => {
    await withEngine(context, flags.workspace, async (engine) => {
      const runId = await resolveRunId(engine, reference)
      const { own, retries } = await describeRun(engine, runId)
      const what =
        retries.length === 0
          ? own
          : `${own} and its ${formatCounted(retries.length, 'retry', 'retries')} (${retries.join(', ')})`
      if (!flags.yes) {
        if (!context.canAsk) {
          throw new SluiceError({ id: 'delete_unconfirmed', what, runId })
        }
        if (!(await context.ask(`Delete ${what} and all results?`))) {
          await context.err.writeLine('Nothing was deleted.')
          return
        }
      }
      await engine.runs.deleteRun(runId)
      if (flags.json) {
        await writeDocumentLine(context.out, { deleted: runId, deleted_retries: retries })
      } else await context.out.writeLine(`Deleted ${what}.`)
    })
  })
  addExamples(command, ['delete latest', 'delete 20261121-0915 --yes'])
}

/** A run's name for the question, and its retries; an unreadable run has no known retries. */
async function describeRun(engine: Engine, runId: string): Promise<{ own: string; retries: string[] }> {
  try {
    const { name, rows, retries } = await engine.runs.summarizeRun(runId)
    return {
      own: `run ${runId} (${toPrintable(name)}, ${formatCounted(rows.read, 'row')})`,
      retries: retries.map((retry) => retry.run_id),
    }
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'WORKSPACE_UNUSABLE') throw error
    return { own: `run ${runId}, which cannot be read (${toPrintable(error.message)})`, retries: [] }
  }
}
