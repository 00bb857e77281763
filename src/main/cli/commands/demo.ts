import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { EXIT, type ExitCode } from '../../../shared/errors.ts'
import { planSchema } from '../../../shared/plan.ts'
import { DEFAULT_SANDBOX_KEY } from '../../sandbox/sandbox-options.ts'
import type { CliContext } from '../context.ts'
import { SAMPLE_FILE } from '../demo/sample-file.ts'
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
import { formatSummary } from '../summary/summary-text.ts'
import { formatBytes, formatCounted } from '../terminal/number-format.ts'
import { resolveWorkspace } from '../workspace.ts'

const RETRIES = 6
const CONCURRENCY = 8

function toNextSteps(runId: string): [string, string][] {
  return [
    [`show ${runId} --row 59`, 'one row, its request and its answer'],
    [`export ${runId} results.csv --lossless`, 'cells exactly as they were'],
    ['sandbox --port 4010', 'the service to try with files of your own'],
    ['task --help', 'how to submit them'],
  ]
}

async function runDemo(context: CliContext, flags: ReportingFlags): Promise<ExitCode> {
  const { out, outTerminal: terminal, err } = context
  const workspace = resolveWorkspace(flags.workspace, context.env)
  const say = (text: string) => (flags.quiet ? Promise.resolve() : err.writeLine(text))
  const sandbox = await openSandbox(DEMO_SANDBOX)
  try {
    await say(`The embedded service listens at ${sandbox.baseUrl}; its scores are no moderation decision.`)
    await say(`Submitting the bundled sample: ${SAMPLE_FILE}`)
    await submitEarlier(sandbox.baseUrl, DEFAULT_SANDBOX_KEY)
    const plan = planSchema.parse({
      name: 'Demo',
      connection: { baseUrl: sandbox.baseUrl },
      source: { path: SAMPLE_FILE },
      operation: { kind: 'task' },
      pace: { kind: 'closed', concurrency: CONCURRENCY },
      retry: { limit: RETRIES },
    })
    return await withEngine(workspace, async (engine) => {
      const handle = await engine.startRun(plan, { apiKey: DEFAULT_SANDBOX_KEY })
      const summary = await followRun(context, handle, { quiet: flags.quiet === true })
      const folder = join(workspace, 'demo')
      await mkdir(folder, { recursive: true })
      const files = []
      for (const name of ['results.csv', 'results.jsonl']) {
        files.push(await engine.exportRun(summary.run_id, { file: join(folder, name) }))
      }
      if (flags.json) {
        await out.writeLine(JSON.stringify(summary, null, 2))
      } else {
        await out.writeLine(formatSummary(terminal, summary))
        await out.writeLine()
        for (const line of await formatUnsuccessfulRows(terminal, engine, summary.run_id)) {
          await out.writeLine(line)
        }
        const lines = files.map(
          ({ file, rows, sizeBytes }) =>
            `${file}  (${formatCounted(rows, 'row')}, ${formatBytes(sizeBytes)})`,
        )
        await out.writeLine()
        await out.writeLine(formatSection(terminal, 'Exported', lines).join('\n'))
        await out.writeLine()
        await out.writeLine(formatCommands(terminal, toNextSteps(summary.run_id)).join('\n'))
        await out.writeLine()
      }
      if (summary.state === 'interrupted') return toExitCode(summary)
      const differences = findDifferences(summary)
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

/** Adds `demo`: sandbox, bundled sample, run and report, end to end. */
export function addDemoCommand(program: Command, context: CliContext): void {
  const command = program
    .command('demo')
    .summary('see it all at once: sandbox, sample, run, report')
    .description(
      'Starts the sandbox, submits the bundled sample to it and reports. The service fails now and then on ' +
        'purpose, and a few rows of the sample must not pass.',
    )
  addReportingOptions(command).action(async (flags: ReportingFlags) => {
    context.exitCode = await runDemo(context, flags)
  })
  command.addHelpText('after', '\nExits with 0 when everything went as scripted, 1 otherwise.')
}
