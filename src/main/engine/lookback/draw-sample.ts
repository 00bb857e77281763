import { existsSync, realpathSync } from 'node:fs'
import type { Labelling, LabellingOptions } from '../../../shared/lookback/labelling.ts'
import { createRandom } from '../../../shared/lookback/seeded-random.ts'
import {
  allocate,
  drawRows,
  type Sample,
  type SampleOptions,
} from '../../../shared/lookback/stratified-sample.ts'
import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import {
  type ExportColumn,
  FILE_COLUMN,
  STRATUM_COLUMNS,
  toExportColumns,
} from '../../../shared/run/export-columns.ts'
import type { Problem } from '../../../shared/run/problem.ts'
import type { ExportRow } from '../../../shared/run/results.ts'
import { toWrittenRows } from '../../../shared/run/written-rows.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { refuseSource } from '../results/export-run.ts'
import { toMembers, toTable } from '../run/export/csv-report.ts'
import { haveLetters, readRowsByNumber, toUnsentRow } from '../run/export/export-rows.ts'
import { findReportFormat, writeReport } from '../run/export/write-report.ts'
import { hasSeveralFiles } from '../run/journal/intake-writer.ts'
import { readRuleNames } from '../run/results/family-counts.ts'
import { openSource } from '../source/open-source.ts'
import { createBatchPlaces } from '../source/source-reader.ts'
import { type AnsweredStep, readAnsweredSteps } from './answered-rows.ts'
import { storeLabelling } from './labelling-store.ts'
import { findColumnOrThrow, sayDoubled } from './row-labels.ts'
import { createCellReader } from './slices.ts'
import type { WantedColumns } from './stored-columns.ts'

/** Most groups that rows are drawn from. */
const STRATA_MAX = 1_000

/**
 * Draws a sample of a run's answered rows for labelling: each row with what triggered, its stratum and the
 * stratum's size, and empty columns for a verdict. Throws `BAD_USAGE` and what an export throws.
 */
export async function sampleRun(family: RunFamily, options: SampleOptions): Promise<Sample> {
  refuseSource(family, options.file)
  const { record } = family
  const drawn = drawAnswered(family, options)
  const format = findReportFormat(options.file)
  const hasFiles = hasSeveralFiles(family.db)
  const doubled = sayDoubled(options.by === null ? [] : [options.by], record)
  const kept = ['sluice_row', FILE_COLUMN.name, 'sluice_record', 'sluice_post_id', 'sluice_triggered_rules']
  const sample = await write(options, drawn, {
    columns: record.columns,
    header: record.header,
    members: toMembers(toStratumColumns(drawn)),
    rowsHaveLetters: haveLetters(family),
    table: toTable(record.columns, [
      ...toExportColumns(record.plan.operation.kind, { hasFiles }).filter(({ name }) => kept.includes(name)),
      ...toStratumColumns(drawn),
      ...['sluice_verdict', 'sluice_rule', 'sluice_note'].map((name) => ({ name, read: () => '' })),
    ]),
    pages: readRowsByNumber(family, [...drawn.stratumOf.keys()], { withRequests: format === 'jsonl' }),
  })
  if (doubled.length === 0) return sample
  return { ...sample, warnings: doubled.map((message) => toDoubledWarning(message, sample)) }
}

function toDoubledWarning(message: string, { rows }: Sample): NonNullable<Sample['warnings']>[number] {
  return { code: 'ambiguous_column', message, rows }
}

/** Draws answered rows to be labelled, in place of earlier ones. Throws `BAD_USAGE`, `WORKSPACE_UNUSABLE`. */
export function startLabelling(family: RunFamily, options: LabellingOptions, nowMs = Date.now()): Labelling {
  const { by, allocation, seed, rules, showsDecision } = options
  const { stratumOf, strata } = drawAnswered(family, options)
  if (stratumOf.size === 0) throw new SluiceError({ id: 'labelling_empty', runId: family.record.runId })
  const placeOf = new Map(strata.map(({ stratum }, place) => [stratum, place]))
  const rows = [...stratumOf].map(([row, stratum]): Labelling['rows'][number] => [
    row,
    placeOf.get(stratum) ?? 0,
  ])
  // Not the random stream that drew the rows.
  const random = createRandom(~seed >>> 0)
  const order = rows.map((row) => ({ row, key: random() })).sort((a, b) => a.key - b.key)
  return storeLabelling(family, {
    at: 0,
    skipped: [],
    rules: [...rules],
    showsDecision,
    by,
    allocation,
    seed,
    strata,
    started_at: new Date(nowMs).toISOString(),
    rows: order.map(({ row }) => row),
  })
}

function drawAnswered(family: RunFamily, options: Omit<SampleOptions, 'file'>): DrawnRows {
  const groups = new Groups(options.by)
  const reader = createStratumReader(family, options.by)
  for (const step of readAnsweredSteps(family, reader)) {
    const stratumAt = reader.open(step)
    for (let place = 0; place < step.width; place += 1) {
      if (step.answered[place] === 1) groups.add(step.rowAt(place), stratumAt(place))
    }
  }
  return groups.draw(options)
}

/**
 * Draws a sample of a source's rows, to be sent: its columns unchanged, then each row's stratum and the
 * stratum's size. Rows with errors are left out, since the file could not show what is wrong with them. Reads
 * the source twice. Throws `BAD_SOURCE`, `BAD_USAGE` and what an export throws.
 */
export async function sampleSource(source: PlanSource, options: SampleOptions): Promise<Sample> {
  if (existsSync(options.file) && realpathSync(options.file) === realpathSync(source.path)) {
    throw new SluiceError({ id: 'sample_over_source', file: options.file })
  }
  const groups = new Groups(options.by)
  let leftOut = 0
  const first = await openSource(source)
  try {
    const { by } = options
    const at = by === null ? null : findColumnOrThrow(first.columns, by, '--by', source.path)
    for await (const { rows } of first.batches()) {
      for (const { row, cells, problems } of rows) {
        if (problems.some(({ severity }) => severity === 'error')) leftOut += 1
        else groups.add(row, at === null ? '' : (cells[at] ?? '').trim())
      }
    }
  } finally {
    first.close()
  }
  const drawn = groups.draw(options)
  const reader = await openSource(source)
  const told = new Map<string, NonNullable<Sample['warnings']>[number]>()
  const tell = (warning: Pick<Problem, 'code' | 'args'>, rows: number) => {
    const message = sayExpected(warning, 'terminal')
    const before = told.get(message)?.rows ?? 0
    told.set(message, { code: warning.code, message, rows: before + rows })
  }
  async function* readPages(): AsyncGenerator<ExportRow[]> {
    const findPlace = createBatchPlaces()
    for await (const batch of reader.batches()) {
      const toPlace = findPlace(batch)
      yield batch.rows.flatMap(({ row, cells, kinds = null, problems }) => {
        const place = toPlace(row)
        if (!drawn.stratumOf.has(row)) return []
        for (const warning of problems) tell(warning, 1)
        return [{ ...toUnsentRow(row, cells, place), kinds }]
      })
    }
  }
  try {
    const { columns, header } = reader
    const sample = await write(options, drawn, {
      columns: [...columns],
      header: header === null ? null : [...header],
      table: toTable(columns, toStratumColumns(drawn)),
      pages: readPages(),
      members: toMembers(toStratumColumns(drawn)),
    })
    for (const warning of reader.findWarnings?.() ?? []) tell(warning, warning.rows ?? sample.rows)
    const doubled = sayDoubled(options.by === null ? [] : [options.by], reader)
    const warnings = [...doubled.map((message) => toDoubledWarning(message, sample)), ...told.values()]
    return {
      ...sample,
      ...(leftOut > 0 && { rows_left_out: leftOut }),
      ...(warnings.length > 0 && { warnings }),
    }
  } finally {
    reader.close()
  }
}

async function write(
  { file, seed }: SampleOptions,
  { strata }: DrawnRows,
  report: Pick<
    Parameters<typeof writeReport>[0],
    'columns' | 'header' | 'table' | 'members' | 'pages' | 'rowsHaveLetters'
  >,
): Promise<Sample> {
  const written = await writeReport({ ...report, file })
  return { ...toWrittenRows(written), seed, strata }
}

function toStratumColumns({ stratumOf, strata }: DrawnRows): ExportColumn[] {
  const rowsOf = new Map(strata.map(({ stratum, rows }) => [stratum, rows]))
  return [
    { name: STRATUM_COLUMNS.name, read: ({ row }) => stratumOf.get(row) ?? '' },
    {
      name: STRATUM_COLUMNS.rows,
      type: 'integer',
      read: ({ row }) => rowsOf.get(stratumOf.get(row) ?? '') ?? '',
    },
  ]
}

/** The strata of drawn rows, by row number in the order of the source. */
interface DrawnRows {
  stratumOf: ReadonlyMap<number, string>
  strata: Sample['strata']
}

/** Rows and their groups: 6 bytes a row. */
class Groups {
  readonly #by: string | null
  readonly #numberOf = new Map<string, number>()
  readonly #sizes: number[] = []
  #rows = new Uint32Array(1024)
  #groups = new Uint16Array(1024)
  #length = 0

  constructor(by: string | null) {
    this.#by = by
  }

  /** Throws `BAD_USAGE` if there are too many groups to draw from. */
  add(row: number, group: string): void {
    const number = this.#numberOf.get(group) ?? this.#addGroup(group)
    this.#sizes[number] = (this.#sizes[number] ?? 0) + 1
    if (this.#length === this.#rows.length) {
      const [rows, groups] = [this.#rows, this.#groups]
      this.#rows = new Uint32Array(this.#length * 2)
      this.#groups = new Uint16Array(this.#length * 2)
      this.#rows.set(rows)
      this.#groups.set(groups)
    }
    this.#rows[this.#length] = row
    this.#groups[this.#length] = number
    this.#length += 1
  }

  #addGroup(group: string): number {
    if (this.#sizes.length === STRATA_MAX) {
      throw new SluiceError({ id: 'sample_strata_too_many', by: this.#by ?? '', most: STRATA_MAX })
    }
    this.#numberOf.set(group, this.#sizes.length)
    return this.#sizes.push(0) - 1
  }

  draw({ size, allocation, seed }: Omit<SampleOptions, 'file'>): DrawnRows {
    const names = [...this.#numberOf.keys()]
    const drawn = allocate(this.#sizes, size, allocation)
    const groups = this.#groups.subarray(0, this.#length)
    const positions = drawRows(groups, this.#sizes, drawn, createRandom(seed))
    return {
      stratumOf: new Map(positions.map((at) => [this.#rows[at] ?? 0, names[groups[at] ?? 0] ?? ''])),
      strata: names
        .map((stratum, number) => ({
          stratum,
          rows: this.#sizes[number] ?? 0,
          drawn: drawn[number] ?? 0,
        }))
        .sort((a, b) => b.rows - a.rows || (a.stratum < b.stratum ? -1 : 1)),
    }
  }
}

const NO_RULE = 'no rule'
const SCORE_BAND = 'score-band'

/** Scores from 0 to 1 fall into this many bands; whole numbers are bands of their own. */
const BANDS = 10

/** The columns that strata need, and a function that gives the stratum of the row at a place. */
interface StratumReader extends Partial<WantedColumns> {
  open: (step: AnsweredStep) => (place: number) => string
}

function createStratumReader(family: RunFamily, by: string | null): StratumReader {
  const { columns, plan } = family.record
  if (by === null) return { open: () => () => '' }
  const at = findColumn(columns, by)
  if (at === null && by === 'rule') return { open: createRuleReader(family) }
  if (at === null && (by === SCORE_BAND || by.startsWith(`${SCORE_BAND}:`))) {
    const named = by.slice(SCORE_BAND.length + 1)
    const bands = new Map<number, string>()
    return {
      classes: named === '' ? 'all' : [named],
      open(step) {
        const scores = named === '' ? step.highestScores : step.scores([named])[0]
        return (place) => {
          const score = scores?.[place] ?? Number.NaN
          const isWhole = Number.isInteger(score)
          // Whole numbers do not count in bands.
          const number = isWhole ? score : Math.floor(score * BANDS) + 0.5
          const band = bands.get(number) ?? toBand(score)
          bands.set(number, band)
          return band
        }
      },
    }
  }
  const column = at ?? findColumnOrThrow(columns, by, '--by', plan.source.path)
  return { columns: [column], open: createCellReader(column) }
}

/** Strata by the names of all rules that a row triggered. */
function createRuleReader(family: RunFamily): (step: AnsweredStep) => (place: number) => string {
  const names = readRuleNames(family.members)
  const toName = (ruleId: string) => names.get(ruleId) ?? ruleId
  return (step) => {
    const known = new Map<number, string>()
    return (place) => {
      const decision = step.decisionAt(place)
      const stratum = known.get(decision) ?? (step.ruleIdsAt(place).map(toName).sort().join('; ') || NO_RULE)
      known.set(decision, stratum)
      return stratum
    }
  }
}

function toBand(score: number): string {
  if (!Number.isFinite(score)) return 'no score'
  if (Number.isInteger(score)) return String(score)
  const band = Math.floor(score * BANDS)
  return `${band / BANDS} to ${(band + 1) / BANDS}`
}
