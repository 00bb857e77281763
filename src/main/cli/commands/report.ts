import { type Command, InvalidArgumentError } from 'commander'
import { toToolFormat } from '../../../shared/load/latency-meter.ts'
import { runReportSchema } from '../../../shared/lookback/run-report.ts'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatBytes } from '../../../shared/messages/figure-text.ts'
import { isLoadRun } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import {
  addEvaluationOptions,
  type EvaluationFlags,
  reportAssertions,
  toEvaluateOptions,
} from '../options/evaluation-options.ts'
import { hasLabels } from '../options/label-options.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import {
  addExamples,
  addOverwriteOption,
  addWorkspaceOption,
  type DocumentFlags,
} from '../options/shared-options.ts'
import { type OverwriteFlags, toTargetOf } from '../written-files.ts'

interface ReportFlags extends DocumentFlags, EvaluationFlags, OverwriteFlags {
  withContent?: true
}

/** Adds `report RUN [FILE]`: a run as a page or a workbook to pass on. */
export function addReportCommand(program: Command, context: CliContext): void {
  const command = program
    .command('report')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .argument('[file]', 'output file: .html, .md or .xlsx; for a load test .html or .md')
    .description(
      'Writes a report to share: summary, failures by cause, triggered rules, latency, and an evaluation if labels are given. ' +
        'A .html file is one page that works offline and can be printed; a .md file is Markdown, for pull requests and wikis; a .xlsx file has a sheet for each part, and one for the results. ' +
        'The content of rows is left out unless --with-content is given.',
    )
    .option('--with-content', 'include cells of the source and messages that may quote them')
    .option('--json', 'one JSON document on stdout; needs no file')
  addOverwriteOption(command)
  addEvaluationOptions(command)
  addWorkspaceOption(command).action(
    async (reference: string, file: string | undefined, flags: ReportFlags) => {
      const isEvaluated = hasLabels(flags)
      if (!isEvaluated) refuseUnlabelled(flags)
      if (file === undefined && !flags.json) {
        throw new InvalidArgumentError('Name a file that ends in .html, .md or .xlsx, or add --json.')
      }
      await withEngine(context, flags.workspace, async (engine) => {
        const run = await resolveRun(engine, reference)
        const target =
          file === undefined ? {} : { file: await toTargetOf(context, engine, run.run_id, file, flags) }
        if (isLoadRun(run)) {
          if (isEvaluated) throw new SluiceError({ id: 'evaluation_not_of_tasks', runId: run.run_id })
          await reportLoad(context, engine, run.run_id, { ...target, isJson: flags.json === true })
          return
        }
        const report = await engine.results.reportRun(run.run_id, {
          ...target,
          withContent: flags.withContent === true,
          evaluation: isEvaluated ? toEvaluateOptions(flags, context.env) : null,
        })
        if (flags.json) {
          await writeDocument(context.out, runReportSchema.parse(report))
        } else if (report.written !== null) {
          const { file: written, bytes } = report.written
          await context.out.writeLine(`${written} (${formatBytes(bytes)})`)
        }
        if (report.evaluation !== null) await reportAssertions(context, report.evaluation, run)
      })
    },
  )
  addExamples(
    command,
    [
      'report latest report.html',
      'report latest report.md',
      'report latest report.xlsx --with-content',
      'report latest report.html --label truth --positive "spam=Likely spam"',
    ],
    `0 if every assertion holds, ${EXIT.thresholdCrossed} if one does not, ${EXIT.notJudged} if they cannot be judged`,
  )
}

/** Refuses options that only make sense together with labels. */
function refuseUnlabelled(flags: ReportFlags): void {
  const given = (
    ['positive', 'separator', 'slice', 'score', 'threshold', 'precision', 'assert', 'list'] as const
  ).filter((name) => flags[name] !== undefined)
  if (given.length === 0) return
  const names = given.map((name) => `--${name}`).join(', ')
  const verb = given.length === 1 ? 'needs' : 'need'
  throw new InvalidArgumentError(`${names} ${verb} labels: --label COLUMN, or --verdicts.`)
}

/** Writes or prints the report of a load test. */
async function reportLoad(
  { out }: CliContext,
  engine: Engine,
  runId: string,
  { file, isJson }: { file?: string; isJson: boolean },
): Promise<void> {
  if (file !== undefined && !/\.(html?|md)$/i.test(file))
    throw new SluiceError({ id: 'report_of_load', runId })
  const written = file === undefined ? null : await engine.results.exportRun(runId, { file })
  if (isJson) {
    const report = await engine.results.readLoadReport(runId)
    const histograms = Object.entries(report.histograms).map(([metric, text]) => [metric, toToolFormat(text)])
    await writeDocument(out, { ...report, histograms: Object.fromEntries(histograms) })
  } else if (written !== null) await out.writeLine(`${written.file} (${formatBytes(written.sizeBytes)})`)
}
