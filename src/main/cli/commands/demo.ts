import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { EXIT, type ExitCode } from '../../../shared/messages/errors.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ExportResult } from '../../../shared/run/results.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine-interface.ts'
import { ApiKey } from '../../engine/secrets/bound-secret.ts'
import { DEFAULT_SANDBOX_KEY } from '../../sandbox/sandbox-options.ts'
import type { CliContext } from '../context.ts'
import { createDemoPlans } from '../demo/plans.ts'
import { DEMO_SANDBOX, findDifferences } from '../demo/script.ts'
import { submitEarlier } from '../demo/submit-earlier.ts'
import { formatUnsuccessfulRows } from '../demo/unsuccessful-rows.ts'
import { withEngine } from '../engine-access.ts'
import { addReportingOptions, type ReportingFlags } from '../options/shared-options.ts'
import { openSandbox } from '../sandbox-access.ts'
import { followRun } from '../session/follow-run.ts'
import { toExitCode } from '../summary/exit-code.ts'
import { formatCommands } from '../summary/next-steps.ts'
import { formatSection } from '../summary/section.ts'
import { formatBriefSummary, formatSummary } from '../summary/summary-text.ts'
import { formatBytes, formatCounted } from '../terminal/number-format.ts'
import { resolveWorkspace } from '../workspace.ts'

function toNextSteps(runId: string): [string, string][] {
  return [
    [`show ${runId} --row 59`, 'one row, its request and its answer'],
    [`export ${runId} results.csv --lossless`, 'cells exactly as they were'],
    ['sandbox --port 4010', 'the service to try with files of your own'],
    ['task --help', 'how to submit them'],
  ]
}

/** The runs of the demo as they ended; those that an interruption left out are not there. */
interface DemoRuns {
  tasks: RunSummary
  async?: RunSummary
  terms?: RunSummary
}

async function exportResults(engine: Engine, workspace: string, runId: string): Promise<ExportResult[]> {
  const folder = join(workspace, 'demo')
  await mkdir(folder, { recursive: true })
  const files = []
  for (const name of ['results.csv', 'results.jsonl']) {
    files.push(await engine.exportRun(runId, { file: join(folder, name) }))
  }
  return files
}

async function report(
  context: CliContext,
  engine: Engine,
  runs: DemoRuns,
  files: readonly ExportResult[],
): Promise<void> {
  const { out, outTerminal: terminal } = context
  await out.writeLine(formatSummary(terminal, runs.tasks))
  await out.writeLine()
  for (const line of await formatUnsuccessfulRows(terminal, engine, runs.tasks.run_id)) {
    await out.writeLine(line)
  }
  for (const run of [runs.async, runs.terms]) {
    if (run === undefined) continue
    await out.writeLine()
    await out.writeLine(formatBriefSummary(terminal, run))
  }
  const lines = files.map(
    ({ file, rows, sizeBytes }) => `${file}  (${formatCounted(rows, 'row')}, ${formatBytes(sizeBytes)})`,
  )
  await out.writeLine()
  await out.writeLine(formatSection(terminal, 'Exported', lines).join('\n'))
  await out.writeLine()
  await out.writeLine("The demo's service ends with it, so a retry of its runs would find nobody.")
  await out.writeLine()
  await out.writeLine(formatCommands(terminal, toNextSteps(runs.tasks.run_id)).join('\n'))
  await out.writeLine()
}

async function runDemo(context: CliContext, flags: ReportingFlags): Promise<ExitCode> {
  const { out, err } = context
  const workspace = resolveWorkspace(flags.workspace, context.env)
  const say = (text: string) => (flags.quiet ? Promise.resolve() : err.writeLine(text))
  const sandbox = await openSandbox(DEMO_SANDBOX)
  try {
    await say(`The embedded service listens at ${sandbox.baseUrl}; its scores are no moderation decision.`)
    await submitEarlier(sandbox.baseUrl, DEFAULT_SANDBOX_KEY)
    const plans = createDemoPlans(sandbox.baseUrl)
    return await withEngine(workspace, async (engine) => {
      const run = async (what: string, plan: Plan) => {
        await say(`${what}: ${plan.source.path}`)
        const apiKey = ApiKey.create(DEFAULT_SANDBOX_KEY, sandbox, 'of the demo')
        const handle = await engine.startRun(plan, { apiKey })
        return followRun(context, handle, { quiet: flags.quiet === true })
      }
      const runs: DemoRuns = { tasks: await run('Submitting the bundled sample', plans.tasks) }
      if (runs.tasks.state !== 'interrupted') {
        runs.async = await run('Submitting a second one, whose results come as callbacks', plans.async)
      }
      if (runs.async !== undefined && runs.async.state !== 'interrupted') {
        runs.terms = await run('Adding terms to a watchlist', plans.terms)
      }
      const files = await exportResults(engine, workspace, runs.tasks.run_id)
      if (flags.json) {
        const { tasks, ...others } = runs
        await out.writeLine(JSON.stringify({ ...tasks, further_runs: Object.values(others) }, null, 2))
      } else {
        await report(context, engine, runs, files)
      }
      const { tasks, async: asyncRun, terms } = runs
      if (asyncRun === undefined || terms === undefined) return toExitCode(asyncRun ?? tasks)
      if (terms.state === 'interrupted') return toExitCode(terms)
      const differences = findDifferences({ tasks, async: asyncRun, terms })
      if (differences.length === 0) {
        await say('The demo went as scripted, the rows that did not succeed included.')
        return EXIT.ok
      }
      await err.writeLine('The demo did not go as scripted:')
      for (const difference of differences) await err.writeLine(`  ${difference}`)
      return EXIT.rowsFailed
    })
  } finally {
    await sandbox.close()
  }
}

/** Adds `demo`: sandbox, bundled samples, runs and report, end to end. */
export function addDemoCommand(program: Command, context: CliContext): void {
  const command = program
    .command('demo')
    .description(
      'Starts the sandbox, submits the bundled sample to it, then a second one whose results come as callbacks, adds ' +
        'terms to a watchlist, and reports. The service fails now and then on purpose, and a few rows of the sample ' +
        'must not pass.',
    )
  addReportingOptions(command).action(async (flags: ReportingFlags) => {
    context.exitCode = await runDemo(context, flags)
  })
  command.addHelpText('after', '\nExits with 0 when everything went as scripted, 1 otherwise.')
}
