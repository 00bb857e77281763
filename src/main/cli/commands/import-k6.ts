import type { Command } from 'commander'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addExamples, addReportingOptions, type ReportingFlags } from '../options/shared-options.ts'
import { toExitCode } from '../session/settle-run.ts'
import { formatLoadSummary } from '../summary/load-summary-text.ts'

interface ImportFlags extends ReportingFlags {
  of?: string
  name?: string
}

/** Adds `import-k6 FILE…`: imports k6 results as a run. */
export function addImportK6Command(program: Command, context: CliContext): void {
  const command = program
    .command('import-k6')
    .argument(
      '<file...>',
      'k6 results: --summary-export, handleSummary, machine-readable summary, or --out json (also .gz); several JSON files are merged into one run',
    )
    .description(
      'Imports k6 results in any of its four formats as a run, for show, compare and export. ' +
        'Only --out json holds every sample, so only its percentiles can be merged and compared.',
    )
    .option(
      '--of <run>',
      `run that the k6 project was exported from, whose plan is copied (${RUN_ARGUMENT_HELP})`,
    )
    .option('--name <text>', 'run name (default: the file name)')
  addReportingOptions(command).action(async (files: string[], flags: ImportFlags) => {
    await withEngine(context, flags.workspace, async (engine) => {
      const of = flags.of === undefined ? undefined : (await resolveRun(engine, flags.of)).run_id
      const summary = await engine.runs.importK6(
        files.map((file) => resolveFromCaller(file, context.env)),
        {
          ...(of === undefined ? {} : { ofRunId: of }),
          ...(flags.name === undefined ? {} : { name: flags.name }),
        },
      )
      if (flags.json) await writeDocument(context.out, summary)
      else {
        const report = await engine.results.readLoadReport(summary.run_id)
        await context.out.writeLine(formatLoadSummary(context.outTerminal, summary, report))
      }
      context.exitCode = toExitCode(summary)
    })
  })
  addExamples(
    command,
    ['import-k6 summary.json', 'import-k6 machine-1.json machine-2.json --name "two machines"'],
    `${EXIT.ok} passed or no thresholds, ${EXIT.thresholdCrossed} threshold failed, ${EXIT.rowsFailed} no request succeeded, ${EXIT.badInput} nothing imported.`,
  )
}
