import { createReadStream, lstatSync, mkdtempSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import {
  BATCH_EXPORT_FORMATS,
  isTextFormat,
  LOAD_EXPORT_FORMATS,
  listEndings,
  ROW_EXPORT_FORMATS,
} from '../../../shared/run/export-formats.ts'
import { isExportDelimiter, sayGuarded } from '../../../shared/run/formula-guard.ts'
import { type ExportOptions, IN_NEITHER, OUTCOME_FILES } from '../../../shared/run/results.ts'
import { isLoadRun, type RunSummary } from '../../../shared/run/run.ts'
import type { ExportResult } from '../../../shared/run/written-rows.ts'
import { listMissing, sayDamaged, toWrittenRows } from '../../../shared/run/written-rows.ts'
import type { Engine } from '../../engine/engine.ts'
import { isWritable } from '../../engine/workspace/workspace-files.ts'
import type { CliContext } from '../context.ts'
import { writeDocumentLine } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import {
  addFilterOptions,
  type FilterFlags,
  listFilterFlags,
  toRowFilter,
} from '../options/filter-options.ts'
import { parseDelimiter } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import {
  addDocumentOptions,
  addExamples,
  addOverwriteOption,
  type DocumentFlags,
} from '../options/shared-options.ts'
import { type Output, toPrintable } from '../terminal/output.ts'
import { type OverwriteFlags, toTargetOf } from '../written-files.ts'

const STDOUT_FORMATS = ['csv', 'jsonl', 'parquet', 'batch-output', 'batch-input'] as const

type StdoutFormat = (typeof STDOUT_FORMATS)[number]

interface ExportFlags extends DocumentFlags, FilterFlags, OverwriteFlags {
  columns?: string[]
  rulesAsColumns?: true
  delimiter?: string
  format?: StdoutFormat
  gzip?: true
  bom?: true
  lossless?: true
  errors?: string
}

/** Parser of `--columns`: names separated by commas, quoted if a name has a comma. Repeatable. */
function collectColumns(text: string, previous: string[] | undefined): string[] {
  const names = [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/g)]
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
    .filter((name) => name !== '')
  if (names.length === 0) throw new InvalidArgumentError('expected names of columns, such as source,scores.')
  return [...(previous ?? []), ...names]
}

function parseExportDelimiter(text: string): string {
  if (text === 'source') return text
  const delimiter = parseDelimiter(text)
  if (isExportDelimiter(delimiter)) return delimiter
  throw new InvalidArgumentError(`expected \`,\`, \`;\`, \`|\`, \`tab\` or \`source\`, found \`${text}\`.`)
}

/** Refuses options that only apply to exports of rows; a load test exports other records. */
function refuseRowOptions(flags: ExportFlags): void {
  const { lossless, columns, rulesAsColumns, delimiter, format, gzip, bom, errors } = flags
  const given = [
    ...(columns === undefined ? [] : ['--columns']),
    ...(rulesAsColumns ? ['--rules-as-columns'] : []),
    ...(delimiter === undefined ? [] : ['--delimiter']),
    ...(format === undefined ? [] : ['--format']),
    ...(gzip ? ['--gzip'] : []),
    ...(bom ? ['--bom'] : []),
    ...(lossless ? ['--lossless'] : []),
    ...listFilterFlags(flags),
    ...(errors === undefined ? [] : ['--errors']),
  ]
  if (given.length === 0) return
  throw new InvalidArgumentError(`${given.join(', ')} cannot be used with a load test.`)
}

/** Refuses `--bom` except for CSV on stdout: CSV files begin with a byte-order mark anyway. */
function refuseMark(file: string, { bom, format = 'csv' }: ExportFlags): void {
  if (!bom || (file === '-' && format === 'csv')) return
  throw new InvalidArgumentError(
    '--bom only applies to CSV on stdout; a .csv file begins with a byte-order mark anyway.',
  )
}

/** Refuses filters and stdout with `--errors`, which alone decides which rows go into which file. */
function refuseWithErrors({ env }: CliContext, file: string, flags: ExportFlags): void {
  const { errors } = flags
  if (errors === undefined) return
  const given = [...listFilterFlags(flags), ...(file === '-' || errors === '-' ? ['stdout'] : [])]
  if (given.length > 0) throw new InvalidArgumentError(`--errors cannot be used with ${given.join(', ')}.`)
  const [first, second] = [resolveFromCaller(file, env), resolveFromCaller(errors, env)]
  // File systems may ignore case, or reach one folder by two paths.
  if (first.toLowerCase() === second.toLowerCase() || isSameFile(first, second)) {
    throw new InvalidArgumentError('--errors must name another file than the first one.')
  }
}

function isSameFile(one: string, other: string): boolean {
  const [found, same] = [one, other].map((file) => {
    const target = followLinks(file)
    const folder = statSync(dirname(target), { throwIfNoEntry: false })
    return folder && `${folder.dev} ${folder.ino} ${basename(target).toLowerCase()}`
  })
  return found !== undefined && found === same
}

/** Where a link leads, even if nothing exists there yet: an export is written through it. */
function followLinks(file: string, links = 0): string {
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return isLink && links < 40 ? followLinks(resolve(dirname(file), readlinkSync(file)), links + 1) : file
}

/** Writes the error file of a success file that was written, and says how many rows are in which. */
async function exportErrors(
  context: CliContext,
  engine: Engine,
  run: RunSummary,
  success: ExportResult,
  { errors: named, json, ...options }: Omit<ExportOptions, 'file'> & { errors: string; json: boolean },
): Promise<void> {
  const { out, env } = context
  const errors = await engine.results.exportRun(run.run_id, {
    ...options,
    file: resolveFromCaller(named, env),
    filter: OUTCOME_FILES.errors,
  })
  await failIfDamaged(context, json, success, errors)
  const inNeither = Math.max(0, run.rows.read - success.rows - errors.rows)
  if (json) {
    const document = { run_id: run.run_id, ...toWrittenRows(success), errors: toWrittenRows(errors) }
    await writeDocumentLine(out, { ...document, rows_in_neither: inNeither })
    return
  }
  await out.writeLine(`succeeded: ${formatResult(success, false)}`)
  await out.writeLine(`did not succeed: ${formatResult(errors, false)}`)
  await sayChanges(out, success, { ...errors, withoutResult: 0 })
  if (inNeither > 0) {
    const verb = inNeither === 1 ? 'is' : 'are'
    await out.writeLine(`${formatCounted(inNeither, 'row')} ${verb} in neither file: ${IN_NEITHER}`)
  }
}

/** Ends the command with 1 if stored answers of rows in the files are damaged, and `says` so on stderr. */
async function failIfDamaged(
  context: CliContext,
  says: boolean,
  ...files: readonly ExportResult[]
): Promise<void> {
  for (const said of files.flatMap((file) => sayDamaged(file) ?? [])) {
    context.exitCode = EXIT.rowsFailed
    if (says) await context.err.writeLine(toPrintable(said))
  }
}

/** Says how many rows the files lack or have without a result, how many cells changed, and the remedy. */
async function sayChanges(to: Output, ...files: readonly ExportResult[]): Promise<void> {
  for (const said of files.flatMap(listMissing)) await to.writeLine(said)
  const cells = files.reduce((sum, { guardedCells = 0 }) => sum + guardedCells, 0)
  if (cells > 0)
    await to.writeLine(sayGuarded(cells, `--lossless writes ${cells === 1 ? 'it' : 'them'} unchanged`))
}

/** `372 rows in results.csv (48 kB)`; the file of a load test has records, not rows. */
function formatResult({ rows, file, sizeBytes }: ExportResult, isLoad: boolean): string {
  const size = formatBytes(sizeBytes)
  if (!isLoad) return `${formatCounted(rows, 'row')} in ${file} (${size})`
  return rows === 0 ? `${file} (${size})` : `${formatCounted(rows, 'record')} in ${file} (${size})`
}

/** A line for each format: its ending and what it holds. */
function formatFormats(formats: readonly { ending: string; help: string }[]): string {
  const width = Math.max(...formats.map(({ ending }) => ending.length)) + 3
  return formats.map(({ ending, help }) => `  ${`.${ending}`.padEnd(width)}${help}`).join('\n')
}

/**
 * Writes to stdout what the file would hold, once it is complete: a pipe never gets half of it. Until then
 * the file is in a folder that only its owner can read: in the workspace or, if that is read-only, among
 * temporary files.
 */
async function exportToStdout(
  context: CliContext,
  engine: Engine,
  runId: string,
  {
    format,
    gzip,
    ...options
  }: Omit<ExportOptions, 'file' | 'format'> & {
    format: StdoutFormat
    gzip: boolean
  },
): Promise<void> {
  const { out, err, outTerminal } = context
  const isBatch = format === 'batch-output' || format === 'batch-input'
  const ending = isBatch ? (`${format}.jsonl` as const) : format
  const isText = isTextFormat(ending) && !gzip
  if (!isText && outTerminal.isInteractive) throw new SluiceError({ id: 'export_bytes_to_terminal' })
  const parent = isWritable(engine.workspace) ? engine.workspace : tmpdir()
  const folder = mkdtempSync(join(parent, 'export-'))
  try {
    const written = await engine.results.exportRun(runId, {
      ...options,
      file: join(folder, `rows.${ending}${gzip ? '.gz' : ''}`),
    })
    const { file } = written
    for await (const piece of createReadStream(file, isText ? 'utf8' : {}) as AsyncIterable<
      string | Buffer
    >) {
      if (!out.isOpen()) break
      await out.write(piece, { isData: true })
    }
    await failIfDamaged(context, false, written)
    await sayChanges(err, written)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Adds `export RUN FILE`: writes the source's columns and the rows' outcomes, in FILE's format. */
export function addExportCommand(program: Command, context: CliContext): void {
  const command = program
    .command('export')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .argument(
      '<file>',
      `output file, or - for stdout; ends in ${listEndings([...ROW_EXPORT_FORMATS, ...BATCH_EXPORT_FORMATS])}; for a load test in ${listEndings(LOAD_EXPORT_FORMATS)} or .k6`,
    )
    .description(
      'Exports every row of a run with its outcome. The file extension selects the format:\n' +
        `${formatFormats([...ROW_EXPORT_FORMATS, ...BATCH_EXPORT_FORMATS])}\n\n` +
        'For a load test:\n' +
        `${formatFormats([...LOAD_EXPORT_FORMATS, { ending: 'k6', help: 'folder with a k6 project of the same load' }])}\n\n` +
        'The export of an `index add` run can be used as the source of `index remove`.',
    )
    .option(
      '--columns <names>',
      'comma-separated columns of a .csv, .xlsx or .parquet, in order: column names, or the sets all, source, scores, rules and default (the columns without --columns)',
      collectColumns,
    )
    .option('--rules-as-columns', 'add a column rule.NAME for each triggered rule, with true or false')
    .option(
      '--delimiter <character>',
      'delimiter of a .csv: "," ";" "|" or tab, or source to use the delimiter of the source (default: ,)',
      parseExportDelimiter,
    )
    .addOption(new Option('--format <format>', 'format on stdout (default: csv)').choices(STDOUT_FORMATS))
    .option('--gzip', 'compress stdout; a file is compressed if its name ends in .csv.gz or .jsonl.gz')
    .option('--bom', 'begin CSV on stdout with a byte-order mark, as .csv files do')
    .option('--lossless', 'write names and cells unchanged, without escaping formulas')
  addFilterOptions(command)
  command.option(
    '--errors <file>',
    'second file for the rows that did not succeed, each with its reason; <file> then has only those that succeeded',
  )
  addOverwriteOption(command)
  addDocumentOptions(command).action(async (reference: string, file: string, flags: ExportFlags) => {
    await withEngine(context, flags.workspace, async (engine) => {
      const run = await resolveRun(engine, reference)
      if (isLoadRun(run)) refuseRowOptions(flags)
      refuseWithErrors(context, file, flags)
      refuseMark(file, flags)
      const options = {
        lossless: flags.lossless === true,
        rulesAsColumns: flags.rulesAsColumns === true,
        ...(flags.columns === undefined ? {} : { columns: flags.columns }),
        ...(flags.delimiter === undefined ? {} : { delimiter: flags.delimiter }),
        filter: toRowFilter(run, flags),
        ...(flags.errors === undefined ? {} : { filter: OUTCOME_FILES.success }),
      }
      if (file === '-') {
        if (isLoadRun(run)) throw new SluiceError({ id: 'export_load_to_stdout' })
        const [format, gzip] = [flags.format ?? 'csv', flags.gzip === true]
        const byteOrderMark = flags.bom === true
        await exportToStdout(context, engine, run.run_id, { ...options, format, gzip, byteOrderMark })
        return
      }
      if (flags.gzip) throw new SluiceError({ id: 'export_gzip_of_stdout', file })
      if (flags.format !== undefined) throw new SluiceError({ id: 'export_format_of_stdout', file })
      const target = await toTargetOf(context, engine, run.run_id, file, flags)
      if (flags.errors !== undefined) {
        const plan = await engine.runs.readPlan(run.run_id)
        await engine.runs.checkExport(
          plan,
          await toTargetOf(context, engine, run.run_id, flags.errors, flags),
        )
      }
      const result = await engine.results.exportRun(run.run_id, { ...options, file: target })
      if (flags.errors !== undefined) {
        const { errors } = flags
        await exportErrors(context, engine, run, result, { ...options, errors, json: flags.json === true })
        return
      }
      if (flags.json) {
        await writeDocumentLine(context.out, { run_id: run.run_id, ...toWrittenRows(result) })
        await failIfDamaged(context, true, result)
      } else {
        await failIfDamaged(context, false, result)
        await context.out.writeLine(formatResult(result, isLoadRun(run)))
        await sayChanges(context.out, result)
      }
    })
  })
  addExamples(command, [
    'export latest results.csv',
    'export latest rejected.xlsx --state rejected',
    'export latest flagged.csv --flagged',
    'export latest success.csv --errors errors.csv',
    'export latest scores.csv --columns source,sluice_state,scores --rules-as-columns',
    'export latest results.batch-output.jsonl',
    'export 20261121-0915 report.html',
  ])
}
