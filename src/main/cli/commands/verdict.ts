import { type Command, InvalidArgumentError } from 'commander'
import {
  describeVerdicts,
  findVerdictMistake,
  isDecided,
  type PlacedVerdict,
  parseVerdict,
  VERDICTS,
  type Verdict,
  type VerdictDocument,
  type VerdictImport,
} from '../../../shared/lookback/verdict.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { toStateName } from '../../../shared/messages/state-name.ts'
import { nameRow, sayRow, toRowAndRecord } from '../../../shared/plan/source-place.ts'
import { foreign, number, text } from '../../../shared/report/report.ts'
import { sayGuarded, UNGUARDED_FORMATS } from '../../../shared/run/formula-guard.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { parseRowArgument } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRunId } from '../options/run-reference.ts'
import {
  addDocumentOptions,
  addExamples,
  addOverwriteOption,
  type DocumentFlags,
} from '../options/shared-options.ts'
import { formatTable } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import { type OverwriteFlags, toTargetOf } from '../written-files.ts'

interface VerdictFlags extends DocumentFlags, OverwriteFlags {
  note?: string
  remove?: true
  from?: string
  export?: string
}

function parseVerdictArgument(text: string): Verdict['verdict'] {
  const verdict = parseVerdict(text)
  if (verdict === null)
    throw new InvalidArgumentError(`expected one of ${VERDICTS.join(', ')}, found \`${text}\`.`)
  return verdict
}

/** Adds `verdict RUN [ROW VERDICT [RULE]]`: verdicts, which `evaluate --verdicts` takes as labels. */
export function addVerdictCommand(program: Command, context: CliContext): void {
  const command = program
    .command('verdict')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .argument(
      '[row]',
      'row number as in the spreadsheet, where the header is row 1; 4a or 4b for a row that was split',
      parseRowArgument,
    )
    .argument('[verdict]', VERDICTS.join(', '), parseVerdictArgument)
    .argument('[rule]', 'rule that should or should not have triggered')
    .description(
      'Records your verdict on a row. The run itself is not changed. Verdicts:\n' +
        '  agree            the triggered rules are right\n' +
        '  should RULE      right, but RULE should have triggered too\n' +
        '  should-not RULE  right, except that RULE should not have triggered\n' +
        '  unsure           cannot be decided; `evaluate` leaves the row out\n\n' +
        'Without a row, lists all verdicts. Verdicts also apply to retries.',
    )
    .option('--note <text>', 'note for this verdict')
    .option('--remove', 'remove the verdicts on the row')
    .option(
      '--from <file>',
      'import verdicts from a file with the columns row, sluice_verdict, sluice_rule and sluice_note',
    )
    .option('--export <file>', 'write the verdicts with their rows to a .csv or .xlsx file')
  addOverwriteOption(command)
  addDocumentOptions(command).action(
    async (
      reference: string,
      typed: string | undefined,
      verdict: Verdict['verdict'] | undefined,
      rule: string | undefined,
      flags: VerdictFlags,
    ) => {
      refuseContradictions(typed, verdict, rule, flags)
      await withEngine(context, flags.workspace, async (engine) => {
        const runId = await resolveRunId(engine, reference)
        const row = typed === undefined ? undefined : await engine.results.findRow(runId, typed)
        if (row !== undefined) {
          if (verdict === undefined) await engine.lookback.replaceVerdicts(runId, row, [])
          else {
            if (verdict === 'agree') refuseUndecided(await engine.results.readRow(runId, row))
            const given = { row, verdict, rule: rule ?? null, note: flags.note ?? null }
            await engine.lookback.storeVerdicts(runId, [{ ...given, stratum: null, stratum_rows: null }])
          }
        }
        if (flags.from !== undefined) {
          const path = resolveFromCaller(flags.from, context.env)
          const stored = await engine.lookback.importVerdicts(runId, { path, header: true }, true)
          for (const note of stored.notes) await context.err.writeLine(toPrintable(note))
          if (!flags.json) {
            await context.out.writeLine(`${formatCounted(stored.verdicts, 'verdict')} stored`)
            for (const line of listReplaced(stored)) await context.out.writeLine(line)
            return
          }
        }
        if (flags.export !== undefined) {
          const written = await engine.lookback.exportVerdicts(
            runId,
            await toTargetOf(context, engine, runId, flags.export, flags),
          )
          if (!flags.json) {
            const { rows, file, guardedCells = 0 } = written
            await context.out.writeLine(`${formatCounted(rows, 'verdict')} in ${file}`)
            if (guardedCells > 0) await context.out.writeLine(sayGuarded(guardedCells, UNGUARDED_FORMATS))
            return
          }
        }
        await printVerdicts(context, engine, runId, { row, json: flags.json === true })
      })
    },
  )
  addExamples(command, [
    'verdict latest 3 should-not "Likely spam" --note "quotes an advert"',
    'verdict latest --export verdicts.csv',
  ])
}

function refuseContradictions(
  row: string | undefined,
  verdict: Verdict['verdict'] | undefined,
  rule: string | undefined,
  { note, remove, from, export: file }: VerdictFlags,
): void {
  if (row !== undefined && verdict === undefined && remove === undefined) {
    throw new InvalidArgumentError(`expected one of ${VERDICTS.join(', ')} after the row, or --remove.`)
  }
  if (remove !== undefined && (row === undefined || verdict !== undefined)) {
    throw new InvalidArgumentError('--remove needs a row and does not take a verdict.')
  }
  if (row !== undefined && (from ?? file) !== undefined) {
    throw new InvalidArgumentError('--from and --export cannot be used with a row.')
  }
  if (note !== undefined && verdict === undefined) throw new InvalidArgumentError('--note needs a verdict.')
  const mistake = verdict === undefined ? null : findVerdictMistake({ verdict, rule: rule ?? null })
  if (mistake !== null) throw new InvalidArgumentError(`${mistake}.`)
}

/** Throws for a row without an answer: to agree with it would confirm what a retry triggers later. */
function refuseUndecided({ result }: RowDetail): void {
  if (isDecided(result)) return
  const lacks = result.answer === 'no_result' ? 'was answered without a result' : 'has lost its result'
  const why = result.state === 'succeeded' ? lacks : `is ${toStateName(result.state)}`
  throw new InvalidArgumentError(
    `row ${sayRow(result.place)} ${why}, so it has no triggered rules to agree with.`,
  )
}

/** The rows whose verdicts were replaced by others, with both. */
function listReplaced({ differingRows, differing }: VerdictImport): string[] {
  if (differingRows === 0) return []
  const further = differingRows - differing.length
  return [
    `${formatCounted(differingRows, 'row')} had other verdicts, which these replace:`,
    ...differing.map(
      ({ place, known, given }) =>
        `  ${sayRow(place)}: ${describeVerdicts(known)} → ${describeVerdicts(given)}`,
    ),
    ...(further > 0 ? [`  and ${formatCounted(further, 'other row')}`] : []),
  ]
}

function toVerdictDocument({ row, place, ...verdict }: PlacedVerdict): VerdictDocument {
  return { ...toRowAndRecord(row, place), ...verdict }
}

async function printVerdicts(
  { out, outTerminal }: CliContext,
  engine: Engine,
  runId: string,
  { row, json }: { row: number | undefined; json: boolean },
): Promise<void> {
  const all = await engine.lookback.readVerdicts(runId)
  const verdicts = row === undefined ? all : all.filter((verdict) => verdict.row === row)
  if (json) return writeDocument(out, { run_id: runId, verdicts: verdicts.map(toVerdictDocument) })
  if (verdicts.length === 0) return out.writeLine('No verdicts.')
  const lines = formatTable(outTerminal, {
    columns: [number('row'), text('verdict'), foreign('rule', 12), foreign('note', 12)],
    rows: verdicts.map(({ row: rowNumber, place, verdict, rule, note }) => [
      ...[nameRow(toRowAndRecord(rowNumber, place)), verdict, rule ?? '', note ?? ''],
    ]),
  })
  for (const line of lines) await out.writeLine(line)
}
