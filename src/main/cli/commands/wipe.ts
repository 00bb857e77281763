import type { Command } from 'commander'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { CliContext } from '../context.ts'
import { writeDocumentLine } from '../documents/write-document.ts'
import { resolveWorkspace, withEngine } from '../engine-access.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../options/shared-options.ts'
import { toPrintable } from '../terminal/output.ts'

/** Adds `wipe`: removes everything that a workspace has recorded, after asking. */
export function addWipeCommand(program: Command, context: CliContext): void {
  const command = program
    .command('wipe')
    .description(
      'Permanently deletes everything recorded in a workspace: runs, callbacks, verdicts, names, tags, notes, baselines ' +
        'and exports inside of it. Connections, settings and saved mappings are kept, as are sources and exports elsewhere.',
    )
    .option('--yes', 'skip the confirmation')
  addDocumentOptions(command).action(async (flags: DocumentFlags & { yes?: true }) => {
    const workspace = resolveWorkspace(flags.workspace, context.env)
    await withEngine(context, flags.workspace, async (engine) => {
      if (!flags.yes) {
        const { all: runs } = await engine.runs.listRuns({ limit: 0 })
        if (!context.canAsk) throw new SluiceError({ id: 'wipe_unconfirmed', workspace, runs })
        const question = `Delete ${formatCounted(runs, 'run')} and everything else recorded in ${toPrintable(workspace)}?`
        if (!(await context.ask(question))) {
          await context.err.writeLine('Nothing was deleted.')
          return
        }
      }
      const deleted = await engine.runs.wipe()
      if (flags.json) return writeDocumentLine(context.out, { workspace, deleted_runs: deleted })
      await context.out.writeLine(
        `Deleted everything recorded in ${toPrintable(workspace)}: ${formatCounted(deleted, 'run')}, retries included. Connections, settings and saved mappings are kept.`,
      )
    })
  })
  addExamples(command, ['wipe --workspace ~/old-runs', 'wipe --yes'])
}
