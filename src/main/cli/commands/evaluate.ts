import { type Command, InvalidArgumentError } from 'commander'
import { evaluationSchema } from '../../../shared/lookback/evaluation.ts'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { toEvaluationReport } from '../../../shared/report/evaluation-report.ts'
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
  addDocumentOptions,
  addExamples,
  addOverwriteOption,
  type DocumentFlags,
} from '../options/shared-options.ts'
import { addStepSummary, toSummaryPart } from '../session/github-actions.ts'
import { formatReport } from '../terminal/report-text.ts'
import { type OverwriteFlags, toTargetOf } from '../written-files.ts'

interface EvaluateFlags extends DocumentFlags, EvaluationFlags, OverwriteFlags {
  export?: string
}

/** Adds `evaluate RUN`: how right the rules of a run were, by labels. */
export function addEvaluateCommand(program: Command, context: CliContext): void {
  const command = program
    .command('evaluate')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .description(
      'Compares the rules that each row triggered with its label: which rows were found, missed or flagged wrongly. ' +
        'A label names the rules that a row should trigger, or is a value that --positive assigns to a rule. With any other ' +
        'label, a row should trigger no rule. ' +
        'Rows without a label are left out.',
    )
  addEvaluationOptions(command).option(
    '--export <file>',
    'write all evaluated rows, or only those of --list, to a .csv, .xlsx or .jsonl file',
  )
  addOverwriteOption(command)
  addDocumentOptions(command).action(async (reference: string, flags: EvaluateFlags) => {
    if (!hasLabels(flags)) {
      throw new InvalidArgumentError('Say where the labels are: --label COLUMN, or --verdicts.')
    }
    await withEngine(context, flags.workspace, async (engine) => {
      const run = await resolveRun(engine, reference)
      const options = toEvaluateOptions(flags, context.env)
      const labels = options.labels === undefined ? [] : [options.labels.source]
      const evaluation = await engine.lookback.evaluateRun(run.run_id, {
        ...options,
        ...(flags.export !== undefined && {
          exportFile: await toTargetOf(context, engine, run.run_id, flags.export, flags, labels),
        }),
      })
      if (flags.json) await writeDocument(context.out, evaluationSchema.parse(evaluation))
      else
        await context.out.writeLine(
          formatReport(context.outTerminal, toEvaluationReport(evaluation, 'terminal')),
        )
      await addStepSummary(context, () =>
        toSummaryPart(`Evaluation of ${run.name}`, toEvaluationReport(evaluation, 'page', false)),
      )
      await reportAssertions(context, evaluation, run)
    })
  })
  addExamples(
    command,
    [
      'evaluate latest --label truth --positive "spam=Likely spam"',
      'evaluate latest --label truth --positive "spam=Likely spam" --list "fn:Likely spam" --export missed.csv',
    ],
    `0 if every assertion holds, ${EXIT.thresholdCrossed} if one does not, ${EXIT.notJudged} if they cannot be judged`,
  )
}
