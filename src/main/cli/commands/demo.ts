import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { ExportResult } from '../../../shared/run/written-rows.ts'
import type { Engine } from '../../engine/engine.ts'
import { ApiKey } from '../../engine/secrets/bound-secret.ts'
import { WORKER_URLS } from '../../program-files.ts'
import { DEFAULT_SANDBOX_KEY } from '../../sandbox/sandbox-options.ts'
import { startSandboxThread } from '../../sandbox/start-sandbox-thread.ts'
import type { CliContext } from '../context.ts'
import {
  createDemoPlans,
  DEMO_SANDBOX,
  findDifferences,
  formatUnsuccessfulRows,
  submitEarlier,
} from '../demo/script.ts'
import { writeDocument } from '../documents/write-document.ts'
import { resolveWorkspace, withEngine } from '../engine-access.ts'
import { addExamples, addReportingOptions, type ReportingFlags } from '../options/shared-options.ts'
import { followRun, toExitCode } from '../session/settle-run.ts'
import { formatCommands } from '../summary/next-steps.ts'
import { formatBriefSummary, formatSummary } from '../summary/summary-text.ts'
import { formatSection } from '../terminal/layout.ts'

function toNextSteps(runId: string): [string, string][] {
  return [
    [`show ${runId} --row 60`, 'one row with its request and answer'],
    [`export ${runId} results.csv --lossless`, 'export without escaping formulas'],
    ['sandbox --port 4010', 'run the sandbox for your own files'],
    ['task --help', 'options for submitting them'],
  ]
}

/** The demo's runs as they ended, without those that an interruption left out. */
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
    files.push(await engine.results.exportRun(runId, { file: join(folder, name) }))
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
  await out.writeLine('The sandbox has stopped, so the runs of the demo cannot be retried.')
  await out.writeLine()
  await out.writeLine(formatCommands(terminal, toNextSteps(runs.tasks.run_id)).join('\n'))
  await out.writeLine()
}

async function runDemo(context: CliContext, flags: ReportingFlags): Promise<ExitCode> {
  const { out, err } = context
  const workspace = resolveWorkspace(flags.workspace, context.env)
  const say = (text: string) => (flags.quiet ? Promise.resolve() : err.writeLine(text))
  const sandbox = await startSandboxThread(WORKER_URLS.sandbox, {
    ...DEMO_SANDBOX,
    mediaWorkspace: workspace,
  })
  try {
    await say(`Sandbox listening at ${sandbox.baseUrl}. Its scores are not moderation decisions.`)
    await submitEarlier(sandbox.baseUrl, DEFAULT_SANDBOX_KEY)
    const plans = createDemoPlans(sandbox.baseUrl)
    return await withEngine(context, workspace, async (engine) => {
      const run = async (what: string, plan: Plan) => {
        await say(`${what}: ${plan.source.path}`)
        const apiKey = ApiKey.create(DEFAULT_SANDBOX_KEY, sandbox, 'of the demo')
        const handle = await engine.runs.startRun(plan, { apiKey })
        return followRun(context, handle, { quiet: flags.quiet === true })
      }
      const runs: DemoRuns = { tasks: await run('Submitting the sample', plans.tasks) }
      if (runs.tasks.state !== 'interrupted') {
        runs.async = await run('Submitting a second sample with callbacks', plans.async)
      }
      if (runs.async !== undefined && runs.async.state !== 'interrupted') {
        runs.terms = await run('Adding terms to a watchlist', plans.terms)
      }
      const files = await exportResults(engine, workspace, runs.tasks.run_id)
      if (flags.json) {
        const { tasks, ...others } = runs
        await writeDocument(out, { ...tasks, further_runs: Object.values(others) })
      } else {
        await report(context, engine, runs, files)
      }
      const { tasks, async: asyncRun, terms } = runs
      if (asyncRun === undefined || terms === undefined) return toExitCode(asyncRun ?? tasks)
      if (terms.state === 'interrupted') return toExitCode(terms)
      const differences = findDifferences({ tasks, async: asyncRun, terms })
      if (differences.length === 0) {
        await say('The demo went as expected, including the rows that did not succeed.')
        return EXIT.ok
      }
      await err.writeLine('The demo did not go as expected:')
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
      'Starts the sandbox, submits a sample, submits a second one with callbacks, adds terms to a watchlist, and ' +
        'prints the results. The sandbox fails some requests on purpose, and some rows of the sample are invalid.',
    )
  addReportingOptions(command).action(async (flags: ReportingFlags) => {
    context.exitCode = await runDemo(context, flags)
  })
  addExamples(
    command,
    ['demo', 'demo --workspace demo-runs --json'],
    '0 when everything went as expected, 1 otherwise.',
  )
}
