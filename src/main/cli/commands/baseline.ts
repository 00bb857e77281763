import type { Command } from 'commander'
import { type Baseline, DEFAULT_BASELINE } from '../../../shared/lookback/baseline.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { foreign, text } from '../../../shared/report/report.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { parseFilledText } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRunId } from '../options/run-reference.ts'
import { addExamples, addWorkspaceOption, type DocumentFlags } from '../options/shared-options.ts'
import { formatTable } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'

interface BaselineFlags extends DocumentFlags {
  name?: string
}

/** Adds `baseline set|list|remove`: the runs that `compare --against-baseline` compares with. */
export function addBaselineCommand(program: Command, context: CliContext): void {
  const baseline = program
    .command('baseline')
    .description(
      'Marks the runs that `compare --against-baseline` compares with. ' +
        'Each combination of connection and source has its own baseline, or several with different names.',
    )
  const use = (flags: BaselineFlags, work: (engine: Engine) => Promise<void>) =>
    withEngine(context, flags.workspace, work)
  const add = (term: string, summary: string, description: string) =>
    addWorkspaceOption(baseline.command(term).summary(summary).description(description))

  const set = add(
    'set',
    'make a run the baseline',
    'Makes a run the baseline of its connection and source. Replaces the previous baseline of that name.',
  )
    .argument('<run>', RUN_ARGUMENT_HELP)
    .option('--name <name>', 'name of the baseline', parseFilledText, DEFAULT_BASELINE)
    .option('--json', 'one JSON document on stdout')
    .action((reference: string, flags: BaselineFlags) =>
      use(flags, async (engine) => {
        const runId = await resolveRunId(engine, reference)
        const stored = await engine.lookback.setBaseline(runId, flags.name ?? DEFAULT_BASELINE)
        if (flags.json) return writeDocument(context.out, stored)
        await context.out.writeLine(
          `${runId} is the baseline \`${toPrintable(stored.name)}\` of ${toPrintable(stored.source)} on ${stored.base_url}`,
        )
      }),
    )
  addExamples(set, ['baseline set latest', 'baseline set latest --name release-4'])

  const list = add('list', 'list the baselines', 'Lists the baselines.')
    .option('--json', 'one JSON array on stdout')
    .action((flags: BaselineFlags) =>
      use(flags, async (engine) => {
        const baselines = engine.lookback.readBaselines()
        if (flags.json) return writeDocument(context.out, baselines)
        if (baselines.length === 0) return context.out.writeLine('No baselines.')
        const deleted = new Set<string>()
        for (const { run_id: runId } of baselines) {
          if ((await engine.runs.findRuns(runId)).matching === 0) deleted.add(runId)
        }
        const lines = formatTable(context.outTerminal, {
          columns: [
            ...[foreign('NAME', 8), text('RUN'), text('OPERATION')],
            ...[foreign('SOURCE', 12), foreign('CONNECTION', 12)],
          ],
          rows: baselines.map((one) => [
            one.name,
            deleted.has(one.run_id) ? `${one.run_id} (deleted)` : one.run_id,
            one.is_load_test ? `load ${one.operation}` : one.operation,
            ...[one.source, one.base_url],
          ]),
        })
        for (const line of lines) await context.out.writeLine(line)
      }),
    )
  addExamples(list, ['baseline list', 'baseline list --json'])

  const remove = add('remove', 'remove a baseline', 'Removes a baseline. The run is kept.')
    .argument('<run>', 'id of the run, or a unique prefix of it, even if the run was deleted; or `latest`')
    .option('--name <name>', 'remove only the baseline of this name', parseFilledText)
    .option('--json', 'one JSON array on stdout')
    .action((reference: string, flags: BaselineFlags) =>
      use(flags, async (engine) => {
        const { name = null } = flags
        const runId = await findRunOf(engine, reference, name)
        const removed = engine.lookback.removeBaselines(runId, name)
        if (flags.json) return writeDocument(context.out, removed)
        for (const one of removed) {
          await context.out.writeLine(
            `removed the baseline \`${toPrintable(one.name)}\` of ${toPrintable(one.source)} on ${one.base_url}`,
          )
        }
      }),
    )
  addExamples(remove, ['baseline remove latest', 'baseline remove 20261121-0915 --name release-4'])
}

/** The run of a baseline. Baselines are searched first, since the run may have been deleted. */
async function findRunOf(engine: Engine, reference: string, name: string | null): Promise<string> {
  const baselines = engine.lookback.readBaselines().filter((one) => name === null || one.name === name)
  const ids = new Set(
    baselines.map(({ run_id: runId }) => runId).filter((runId) => runId.startsWith(reference)),
  )
  const [only] = ids
  if (only !== undefined && ids.size === 1) return only
  const found = reference === 'latest' ? await resolveRunId(engine, reference) : null
  if (found !== null && baselines.some(({ run_id: runId }) => runId === found)) return found
  const known = baselines.map((one: Baseline) => one.run_id)
  throw new SluiceError({ id: 'baseline_not_of_run', reference, known })
}
