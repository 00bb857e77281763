import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { ALLOCATIONS, type Allocation, type Sample } from '../../../shared/lookback/stratified-sample.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import { SOURCE_OPTIONS } from '../../../shared/options/source-options.ts'
import { count, foreign } from '../../../shared/report/report.ts'
import { sayGuarded, UNGUARDED_FORMATS } from '../../../shared/run/formula-guard.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { createIntegerParser } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRunId } from '../options/run-reference.ts'
import {
  addExamples,
  addOverwriteOption,
  addWorkspaceOption,
  type DocumentFlags,
} from '../options/shared-options.ts'
import { addSourceOptions, type SourceFlags } from '../options/source-options.ts'
import { readFlags } from '../options/table-options.ts'
import { formatTable } from '../terminal/layout.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type OverwriteFlags, toTarget, toTargetOf } from '../written-files.ts'

interface SampleFlags extends DocumentFlags, SourceFlags, OverwriteFlags {
  size: number
  by?: string
  allocation: Allocation
  seed: number
}

/** Strata shown; a document has all. */
const SHOWN = 20

/** Adds `sample RUN|SOURCE FILE`: a seeded, stratified sample to label or to send. */
export function addSampleCommand(program: Command, context: CliContext): void {
  const command = program
    .command('sample')
    .argument('<run-or-source>', `source file, or a run (${RUN_ARGUMENT_HELP})`)
    .argument('<file>', 'output file: .csv, .xlsx or .jsonl')
    .description(
      'Draws a random sample: answered rows of a run to label, or rows of a source to send. ' +
        'The columns sluice_stratum and sluice_stratum_rows tell `evaluate` how many rows each drawn row stands for.',
    )
    .requiredOption('--size <n>', 'rows to draw', createIntegerParser(1, 10_000_000))
    .option(
      '--by <column>',
      'column to group the rows by; for a run also rule, score-band or score-band:CLASS',
    )
    .addOption(
      new Option(
        '--allocation <kind>',
        'rows per group: proportional to the size of the group, or the same number for each group',
      )
        .choices(ALLOCATIONS)
        .default('proportional' satisfies Allocation),
    )
    .option(
      '--seed <n>',
      'random seed; the same seed draws the same rows',
      createIntegerParser(0, 2 ** 32 - 1),
      1,
    )
    .option('--json', 'one JSON document on stdout')
  addOverwriteOption(command)
  addSourceOptions(addWorkspaceOption(command)).action(
    async (reference: string, file: string, flags: SampleFlags) => {
      const { size, by = null, allocation, seed } = flags
      const options = { size, by, allocation, seed }
      const path = resolveFromCaller(reference, context.env)
      const sample = await withEngine(context, flags.workspace, async (engine) => {
        if (existsSync(path)) {
          const target = toTarget(context, engine.workspace, file, flags, [{ path }])
          return engine.runs.sampleSource(
            { header: true, ...readFlags(SOURCE_OPTIONS, flags), path },
            { ...options, file: target },
          )
        }
        const runId = await resolveRunId(engine, reference)
        const target = await toTargetOf(context, engine, runId, file, flags)
        return engine.lookback.sampleRun(runId, { ...options, file: target })
      })
      if (flags.json) await writeDocument(context.out, sample)
      else await context.out.writeLine(formatSample(context.outTerminal, sample))
    },
  )
  addExamples(command, [
    'sample latest to-label.csv --size 10 --by rule',
    'sample posts.csv to-send.csv --size 10 --by truth --seed 7',
  ])
}

function formatSample(terminal: Terminal, sample: Sample): string {
  const { file, rows, bytes, escaped_cells: escaped = 0, seed, strata, warnings = [] } = sample
  const shown = strata.slice(0, SHOWN)
  const table = formatTable(
    terminal,
    {
      columns: [foreign('group', 12), count('rows'), count('drawn')],
      rows: shown.map(({ stratum, rows: all, drawn }) => [stratum || '(empty)', all, drawn]),
    },
    { indent: 2 },
  )
  const left = strata.filter(({ drawn }) => drawn === 0)
  const leftRows = left.reduce((sum, stratum) => sum + stratum.rows, 0)
  return [
    `${formatCounted(rows, 'row')} in ${file} (${formatBytes(bytes)}), seed ${seed}`,
    ...(sample.rows_left_out === undefined
      ? []
      : [
          `${formatCounted(sample.rows_left_out, 'row')} with errors left out; a dry run of the source lists them`,
        ]),
    ...warnings.map(
      ({ rows: told, message }) => `  ${terminal.glyphs.failed} ${formatCounted(told, 'row')}: ${message}`,
    ),
    ...(escaped > 0 ? [sayGuarded(escaped, UNGUARDED_FORMATS)] : []),
    ...(strata.length > 1 ? table : []),
    ...(strata.length > shown.length
      ? [`  and ${formatCounted(strata.length - shown.length, 'further group')}`]
      : []),
    ...(left.length > 0
      ? [
          `${formatCounted(left.length, 'group')} with ${formatCounted(leftRows, 'row')} ${left.length === 1 ? 'has' : 'have'} no row in the sample, so estimates leave ${leftRows === 1 ? 'it' : 'them'} out. Pass a larger --size, or group by fewer values.`,
        ]
      : []),
  ].join('\n')
}
