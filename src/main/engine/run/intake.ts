import { setImmediate } from 'node:timers/promises'
import { listLoadColumns, parseWeight, RowTagWatch } from '../../../shared/load/load-rows.ts'
import { listLoadUrls } from '../../../shared/load/load-target.ts'
import { findOtherUrl } from '../../../shared/load/threshold-tags.ts'
import { readExpression } from '../../../shared/load/thresholds.ts'
import { findDoubtfulColumns, toSwappedWarning } from '../../../shared/mapping/doubt-columns.ts'
import { findColumnOfName } from '../../../shared/mapping/match-columns.ts'
import { mayBeRows } from '../../../shared/mapping/rows-in-key.ts'
import { listColumnsOf } from '../../../shared/mapping/templates.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { FoundProblem, SourceWarning } from '../../../shared/messages/problem-messages.ts'
import { fieldsOf, OPERATIONS, toRowsPerItem } from '../../../shared/operations/operations.ts'
import type { FieldSource, Mapping, Plan } from '../../../shared/plan/plan.ts'
import { findSheetChoice } from '../../../shared/plan/source-place.ts'
import { seemsGuarded } from '../../../shared/run/formula-guard.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { toApartKey } from '../../../shared/run/sent-before.ts'
import type { Journal } from '../journal/journal.ts'
import { type RunRecord, updateRunRecord } from '../journal/run-record.ts'
import { AlikeColumns } from '../mapping/alike-columns.ts'
import { createHalfCheck } from '../mapping/half-again.ts'
import { IdColumns, listCertain, toIdProblems, withoutCertain } from '../mapping/id-columns.ts'
import { createBeforeCheck } from '../mapping/invalid-before.ts'
import { createCellJoiner } from '../mapping/join-cells.ts'
import { findFilledBy, LeftOutContent } from '../mapping/left-out-content.ts'
import { OtherModels } from '../mapping/other-models.ts'
import {
  findLoneHeader,
  findMovedColumns,
  findPlanWarnings,
  findRowsInKeys,
  listSameNamed,
} from '../mapping/plan-warnings.ts'
import { createLeaveOut, type LeavesOut, type UnfitCell } from '../mapping/row-fixer.ts'
import { isMissingAddress, type MapRow, resolveMapping } from '../mapping/row-mapper.ts'
import { SingleRowFixes } from '../mapping/single-row-fixes.ts'
import { hasBothContents, markHalf, type RowHalf, splitsRows, toHalf } from '../mapping/split-row.ts'
import { UnlikeFiles } from '../mapping/unlike-files.ts'
import { UnlistedFields } from '../mapping/unlisted-fields.ts'
import { UnnamedText } from '../mapping/unnamed-text.ts'
import { createRowValidator } from '../mapping/validate-row.ts'
import { createItemRequests } from '../sending/item-requests.ts'
import { describeFiles } from '../source/describe-reading.ts'
import { openSource } from '../source/open-source.ts'
import type { SourceReader, SourceRow } from '../source/source-reader.ts'
import {
  type IntakeRow,
  IntakeWriter,
  type OnWritten,
  type SentBeforeLookup,
} from './journal/intake-writer.ts'
import { CONTENTS, LOOKUP_ROWS, toAskedRows } from './sent-before/asked-rows.ts'
import type { SentWith } from './sent-before/earlier-runs.ts'
import { createKeyReader, findGenerated, findRowKeys, type RowKeys } from './sent-before/row-keys.ts'
import type { UncertainRuns } from './sent-before/sent-before.ts'
import type { SentBeforeSearch } from './sent-before/sent-before-search.ts'

export interface IntakeProgress {
  bytes: { read: number; total: number }
  rowsRead: number
  problems: { errors: number; warnings: number }
}

const NOTHING_KNOWN: SentWith = { key: null, headerValues: null, headerKeys: null }

/**
 * Reads, maps and validates a whole source into the journal in constant memory, yielding to the thread's
 * other events between batches. Throws `BAD_SOURCE`, `BAD_PLAN` or `DISK_FULL`; nothing was sent then.
 * Returns false if `isStopped` asked to stop before the end.
 */
export async function runIntake(options: {
  workspace: string
  record: RunRecord
  journal: Journal
  /** Rows of a trial; no request mixes them with others. */
  limit?: number | undefined
  /** Ids of runs that may have sent rows to the same service. */
  earlierRuns?: readonly string[] | undefined
  /** Entry of the thread that searches their rows. */
  searchWorkerUrl: string
  /** What the rows will be sent with. */
  sentWith?: SentWith | undefined
  onProgress: (progress: IntakeProgress) => void
  isStopped: () => boolean
}): Promise<boolean> {
  const { record, journal } = options
  const { plan } = record
  const reader = await openSource(plan.source)
  let search: SentBeforeSearch | null = null
  try {
    const mapping = resolveForSheet(plan, reader)
    const { nestedTexts } = reader
    keepUsedColumns(plan, mapping, reader)
    const { columns } = reader
    const atFirst = [...columns]
    const resolved = { ...plan, mapping }
    const { mapRow } = createItemRequests({ ...record, plan: resolved, columns }, options.workspace)
    const idColumns = new IdColumns(resolved)
    const leftOut = new LeftOutContent(plan, mapping, columns, nestedTexts)
    const alike = new AlikeColumns(plan, mapping, columns)
    const otherModels = new OtherModels(plan, mapping)
    const sent = listSentColumns(plan, mapping, columns)
    const unlisted = new UnlistedFields(plan, mapping, columns)
    const unnamed = new UnnamedText(plan, columns, sent)
    const ofOneRow = new SingleRowFixes(plan.fixes ?? [], columns)
    const checkOne = createRowCheck(resolved, columns, mapRow)
    const checkRow: typeof checkOne = (row, isAscii) => {
      const checked = checkOne(row, isAscii)
      ofOneRow.note(checked)
      checkWeight?.(checked)
      return checked
    }
    const firstRows: SourceRow[] = []
    const unlikeFiles = new UnlikeFiles(mapping, reader)
    const splitter = new RowSplitter(plan, columns, mapRow)
    const checkWeight = createLoadRowCheck(plan, reader)
    const rowTags = plan.load === undefined ? null : new RowTagWatch(plan.load, columns)
    const keys = chooseRowKeys(plan, mapping, reader)
    if (keys !== null && (options.earlierRuns ?? []).length > 0) {
      const { workspace, earlierRuns: candidates = [], sentWith = NOTHING_KNOWN } = options
      const asking = { ...record, columns: [...columns] }
      const { openSearch } = await import('./sent-before/sent-before-search.ts')
      const task = { workspace, record: asking, sentWith, keys, candidates }
      search = await openSearch(task, reader.sizeBytes, options.searchWorkerUrl)
    }
    // A recognized export has its guard removed already.
    let guarded = 0
    let firstGuarded = ''
    const noteGuarded = (text: unknown) => {
      if (typeof text !== 'string' || reader.ownExport != null || !seemsGuarded(text)) return
      if (guarded === 0) firstGuarded = text
      guarded += 1
    }
    const writer = createIntakeWriter(journal, { plan: resolved, columns }, mapRow, {
      limit: options.limit,
      sentBefore: search === null || search.isEmpty ? null : toLookup(search, keys ?? [], resolved, columns),
      onWritten: (written, isSent, isSkipped) => {
        const { row, cells, kinds = null, body = {}, reported } = written
        idColumns.note(body, row, isSent, reported)
        if (isSent) rowTags?.note(cells)
        if (isSent) otherModels.note(row, body)
        if (isSent) unlisted.note(cells, body)
        if (isSent && toHalf(row, kinds)?.content !== 'url') {
          leftOut.note(cells)
          alike.note(cells)
          unnamed.note(written)
          noteGuarded(body['text_data'])
        }
        splitter.noteHalf(written, isSent || isSkipped)
      },
    })
    const findHalf = createHalfCheck(columns)
    const check = (read: SourceRow, isAscii: boolean): IntakeRow => {
      const again = findHalf?.(read.row, read.cells) ?? null
      const row = again === null ? read : { ...read, problems: [...read.problems, again] }
      return checkRow(splitter.toFirstHalf(row), isAscii)
    }
    for await (const { rows, places, bytesRead, isAscii = false } of reader.batches()) {
      for (const row of rows.slice(0, FIRST_ROWS - firstRows.length)) firstRows.push(row)
      unlikeFiles.note(rows, places)
      writer.writeRows(rows, (row) => check(row, isAscii), places)
      options.onProgress({
        bytes: { read: bytesRead, total: reader.sizeBytes },
        rowsRead: writer.rowsRead,
        problems: writer.problems,
      })
      await writer.writeLookedUp()
      await setImmediate()
      if (options.isStopped()) return false
    }
    await writer.writeHeld()
    let behind = writer.rowsRead + 1
    for (const records of splitter.takeSplit()) {
      writer.writeSecondHalves(records, behind, checkRow)
      behind += records.length
      await writer.writeLookedUp()
      await setImmediate()
      if (options.isStopped()) return false
    }
    await writer.writeHeld()
    const missingTag = rowTags?.missing ?? null
    if (missingTag !== null)
      throw new SluiceError({ id: 'load_tag_missing', column: missingTag.name, named: missingTag.value })
    const uncertain: Partial<UncertainRuns> = search?.uncertain ?? {}
    const { withOtherKey = [], withOtherConnection = [], withUnknownKey = [], withoutColumn = [] } = uncertain
    const unreadable = [...(uncertain.unreadable ?? [])].sort()
    const countApart = (why: Parameters<typeof toApartKey>[0], runIds: readonly string[]) => {
      for (const runId of runIds) journal.counters.add('sent_before', toApartKey(why, runId), 1)
    }
    countApart('unreadable', unreadable)
    countApart('key_unknown', withUnknownKey)
    if (plan.onlyNew !== undefined) countApart('other_key', withOtherKey)
    if (plan.onlyNew !== undefined) countApart('other_connection', withOtherConnection)
    countApart('without_column', withoutColumn)
    if (plan.onlyNew !== undefined && unreadable.length > 0)
      writer.writeCommonProblem({
        severity: 'warning',
        code: 'earlier_run_unread',
        args: { runs: unreadable.join(', ') },
      })
    for (const half of splitter.findSentAlone()) writer.writeFoundTogether(half, 1)
    for (const warning of findPlanWarnings(plan, mapping, reader.columns, reader.header))
      writer.writeCommonProblem(warning)
    const moved = findMovedColumns(mapping, reader, atFirst)
    for (const warning of moved.length > 0 ? moved : unlikeFiles.findWarnings())
      writer.writeCommonProblem(warning)
    const doubtful = findDoubtfulColumns(mapping, columns, firstRows)
    // A column kept by number may be another one now.
    const isGuess = (field: string) => findFilledBy(plan, field) !== null || mapping[field]?.of !== undefined
    for (const found of doubtful.filter(({ field }) => isGuess(field)))
      writer.writeCommonProblem(toSwappedWarning(found))
    for (const { rows, ...warning } of findRowsInKeys(plan, mapping, reader, writer.rowsRead))
      writer.writeCommonProblem(warning, rows)
    const names = new Set(sent.map((index) => columns[index]))
    const isSent = (column: string) =>
      names.has(column) || (plan.source.media !== undefined && column === 'media')
    const ofReader = reader.findWarnings?.(isSent) ?? []
    const isHeaderTold = ofReader.some(({ code }) => code === 'header_like_data')
    if (!isHeaderTold) for (const found of findLoneHeader(plan, reader)) writer.writeCommonProblem(found, 1)
    const ofSource = [
      ...ofReader,
      ...unlisted.findWarnings(),
      ...leftOut.findWarnings(),
      ...unnamed.findWarnings(reader.headings, nestedTexts),
      ...alike.findWarnings(),
      ...toGuardWarnings(guarded, firstGuarded),
    ]
    for (const { rows, among, ...warning } of ofSource) writer.writeCommonProblem(warning, rows, among)
    const together = [...idColumns.findWarnings(), ...otherModels.findWarnings()]
    for (const { rows, example } of together) writer.writeFoundTogether(example, rows)
    writer.writeFixProblems(ofOneRow.findWarnings())
    const readAs = JSON.stringify(describeFiles(reader, plan.source))
    writer.finish(reader.columns, reader.header, () => updateRunRecord(journal.db, { read_as: readAs }))
    return true
  } finally {
    await search?.close()
    reader.close()
  }
}

/** Warns of texts whose leading apostrophe an export may have added. */
function toGuardWarnings(rows: number, first: string): SourceWarning[] {
  if (rows === 0) return []
  return [{ severity: 'warning', code: 'guarded_text', field: 'text_data', found: toFound(first), rows }]
}

/** The keys that identify rows, from the plan or automatic; null if none do. Throws `BAD_PLAN`. */
function chooseRowKeys(
  plan: Plan,
  mapping: Mapping,
  { columns, header }: Pick<SourceReader, 'columns' | 'header'>,
): readonly (readonly string[])[] | null {
  const own = findRowKeys(plan, mapping, columns)
  const { onlyNew, operation } = plan
  if (onlyNew === undefined) return own?.keys ?? null
  const { by } = onlyNew
  const examples = (OPERATIONS[operation.kind].recognizedBy?.contents ?? []).map((names) => names.join('+'))
  if (by === undefined) {
    if (own?.isCertain === true) return own.keys
    throw new SluiceError({ id: 'only_new_without_key', generated: null, keys: examples })
  }
  const unknown = by.filter((name) => createKeyReader([name], operation, columns) === null)
  if (unknown.length > 0)
    throw new SluiceError({ id: 'only_new_by_nothing', unnamed: unknown, sourceColumns: [...columns] })
  refuseDoubled(
    by.filter((name) => fieldsOf(operation).every((field) => field.name !== name)),
    { columns, header },
  )
  const generated = findGenerated(by, plan, mapping, columns)
  if (generated !== null) throw new SluiceError({ id: 'only_new_without_key', generated, keys: examples })
  return [by]
}

function toLookup(
  search: SentBeforeSearch,
  keys: RowKeys['keys'],
  plan: Plan,
  columns: readonly string[],
): SentBeforeLookup {
  const { onlyNew, operation, mapping = {} } = plan
  const skips = onlyNew === undefined ? 'none' : onlyNew.unknown === 'skip' ? 'taken_or_unknown' : 'taken'
  const read = keys.map((names) => createKeyReader(names, operation, columns) ?? (() => null))
  // An address generated for each run is not a change of content.
  const compared = CONTENTS.filter((name) => findGenerated([name], plan, mapping, columns) === null)
  return {
    rowsMax: LOOKUP_ROWS,
    skips,
    find: (rows, cells) => search.find(toAskedRows(rows, cells, read, compared)),
  }
}

/** Rows checked for swapped columns, as many as a preview has. */
const FIRST_ROWS = 100

/** Second halves of split rows written at once. */
const HALVES_AT_ONCE = 500

/** A row as it comes from the source, or from a journal. */
export type ReadRow = Omit<SourceRow, 'kinds'> & { kinds?: string | null }

/** Splits a plan's records with text and a url, and finds halves that are sent without the other. */
export class RowSplitter {
  readonly #splits: boolean
  readonly #leavesOut: LeavesOut
  readonly #mapRow: MapRow
  /** Records whose text half is written, while the url half may not be yet. */
  readonly #split = new Set<number>()
  /** Whether the text of a record whose url is not written yet can be sent. */
  readonly #texts = new Map<number, boolean>()
  readonly #sentAlone: { row: number; without: RowHalf['content'] }[] = []

  constructor(plan: Plan, columns: readonly string[], mapRow: MapRow) {
    this.#splits = splitsRows(plan)
    this.#leavesOut = createLeaveOut(plan.fixes ?? [], columns)
    this.#mapRow = mapRow
  }

  /** The row unchanged or, if it must be split, its text half. */
  toFirstHalf(read: ReadRow): ReadRow {
    const { row, cells, kinds = null } = read
    if (!this.#splits || this.#leavesOut(read, []) || toHalf(row, kinds) !== null) return read
    if (!hasBothContents(this.#mapRow(row, cells, kinds).body)) return read
    this.#split.add(row)
    return { ...read, kinds: markHalf(kinds, { content: 'text_data', of: row }) }
  }

  /** The numbers of split records, {@link HALVES_AT_ONCE} at a time. */
  *takeSplit(): Generator<number[]> {
    const split = [...this.#split]
    for (let from = 0; from < split.length; from += HALVES_AT_ONCE) {
      yield split.slice(from, from + HALVES_AT_ONCE)
    }
  }

  /** Notes whether a row that is not left out can be sent; texts come before urls. */
  noteHalf({ row, kinds = null }: Pick<IntakeRow, 'row' | 'kinds'>, isSent: boolean): void {
    const half = toHalf(row, kinds)
    if (half === null) return
    if (half.content === 'text_data') {
      this.#texts.set(row, isSent)
      return
    }
    // A left-out text is not noted. A retry may lack it entirely.
    const isTextSent = this.#texts.get(half.of) ?? (this.#split.has(half.of) ? false : isSent)
    this.#texts.delete(half.of)
    if (isTextSent === isSent) return
    this.#sentAlone.push(isSent ? { row, without: 'text_data' } : { row: half.of, without: 'url' })
  }

  /** Halves that are sent without the other, once all are written. */
  findSentAlone(): FoundProblem[] {
    const withoutUrl = [...this.#texts].flatMap(([row, isSent]) =>
      isSent && this.#split.has(row) ? [{ row, without: 'url' } as const] : [],
    )
    return [...this.#sentAlone, ...withoutUrl].map(({ row, without }) => ({
      row,
      severity: 'warning',
      code: 'half_row',
      args: { without },
    }))
  }
}

/** A row for the journal, with the cell fixes that were not applied to it. */
type CheckedRow = IntakeRow & { unfit?: readonly UnfitCell[] | undefined }

/** Maps and checks rows for the journal. `plan` has a resolved mapping. */
export function createRowCheck(
  plan: Plan,
  columns: readonly string[],
  mapRow: MapRow,
): (read: ReadRow, isAscii?: boolean) => CheckedRow {
  const validate = createRowValidator(plan, 'mapped')
  const join = createCellJoiner(plan, columns)
  const isUsed = createUseCheck(plan.mapping, columns)
  const findBefore = createBeforeCheck(columns)
  return ({ row, cells, kinds: ownKinds = null, problems: ofReader }, isAscii) => {
    const ofBefore = findBefore?.(row, cells) ?? null
    const all = ofBefore === null ? ofReader : [...ofReader, ofBefore]
    // Most rows have no problems. Text that fills a field is not surplus.
    const found = all.length === 0 ? all : all.filter((problem) => !isUsed(problem))
    const { kinds, problems: foundByReader } =
      found.length === 0 ? { kinds: ownKinds, problems: found } : join(ownKinds, found)
    const mapped = mapRow(row, cells, kinds, isAscii)
    const validated = validate(row, mapped.body)
    const { body, uniqueKey, corrections, unfit } = mapped
    if (foundByReader.length + mapped.problems.length + validated.length === 0) {
      return { row, cells, kinds, uniqueKey, problems: foundByReader, corrections, body, unfit }
    }
    const ofSource = toIdProblems(foundByReader, body)
    const before = [...ofSource, ...withoutReplaced(mapped.problems, ofSource)]
    const reported = listCertain(before)
    const problems = [...before, ...withoutConsequences(withoutCertain(validated, reported), before)]
    return { row, cells, kinds, uniqueKey, problems, corrections, body, reported, unfit }
  }
}

/** Creates a check for problems with text beyond the last named column if the mapping uses a column there. */
function createUseCheck(mapping: Mapping, columns: readonly string[]): (problem: FoundProblem) => boolean {
  const last = Math.max(-1, ...Object.values(mapping).flatMap((source) => listColumnsOf(source, columns)))
  return (problem) =>
    problem.code === 'surplus_cells' && problem.args.than === 'names' && last >= problem.args.cells
}

/** The writer for a plan's rows, with its checks of unique values and rows to leave out. */
export function createIntakeWriter(
  journal: Journal,
  { plan, columns }: { plan: Plan; columns: readonly string[] },
  mapRow: MapRow,
  {
    limit,
    onWritten,
    sentBefore = null,
  }: {
    limit?: number | undefined
    onWritten?: OnWritten
    sentBefore?: SentBeforeLookup | null
  } = {},
): IntakeWriter {
  return new IntakeWriter(journal, (row, cells, kinds) => mapRow(row, cells, kinds).uniqueKey, {
    rowsPerItem: toRowsPerItem(plan.operation),
    leavesOut: createLeaveOut(plan.fixes ?? [], columns),
    trialRows: limit,
    onWritten,
    sentBefore,
    // Lets later runs find these rows without reading all of them; by other keys they read them.
    notedKeys: (findRowKeys(plan, plan.mapping, columns)?.keys ?? []).flatMap((names) => {
      const read = createKeyReader(names, plan.operation, columns)
      return read === null ? [] : [{ name: names.join('+'), read }]
    }),
  })
}

/** What was replaced while reading the source is reported as that. */
function withoutReplaced(
  found: readonly FoundProblem[],
  byReader: readonly FoundProblem[],
): readonly FoundProblem[] {
  return byReader.some(({ code }) => code === 'undecodable_bytes')
    ? found.filter((problem) => problem.code !== 'damaged_text' || problem.args.as !== 'replaced')
    : found
}

/**
 * Drops problems that only follow from others: broken JSON lacks every field, a spreadsheet error is not
 * text, and a file of a folder that has no address or cannot be sent lacks its content.
 */
function withoutConsequences(
  found: readonly FoundProblem[],
  causes: readonly FoundProblem[],
): readonly FoundProblem[] {
  if (causes.some(({ code, severity }) => severity === 'error' && NO_ROW.has(code))) return []
  const errors = causes.filter(({ code }) => code === 'error_cell').map(({ field }) => field)
  const isSaid = ({ code, field }: FoundProblem) => code === 'changed_value' && errors.includes(field)
  const isWithoutContent = causes.some((cause) => isMissingAddress(cause) || REFUSED_FILE.has(cause.code))
  if (errors.length === 0 && !isWithoutContent) return found
  return found.filter((one) => !isSaid(one) && !(isWithoutContent && one.code === 'one_of'))
}

const NO_ROW: ReadonlySet<FoundProblem['code']> = new Set([
  'not_json',
  'batch_request',
  'oversized_row',
  'repeated_header',
  'totals_row',
  'half_again',
  'description_row',
  'footer_row',
  'below_other_header',
  'drawn_line',
  'record_in_quotes',
])

const REFUSED_FILE: ReadonlySet<FoundProblem['code']> = new Set([
  'outside_folder',
  'unreadable_file',
  'unknown_kind',
  'empty_file',
])

/** Throws `BAD_PLAN` if a column that a plan can only name by its name shares it: either may be meant. */
function refuseDoubled(
  names: readonly string[],
  { columns, header }: Pick<SourceReader, 'columns' | 'header'>,
): void {
  for (const column of names) {
    const numbers = listSameNamed(findColumnOfName(columns, column), column, header ?? [])
    if (numbers.length > 1)
      throw new SluiceError({ id: 'columns_doubled', column, columns: numbers.join(' and ') })
  }
}

/**
 * Creates the check of a row's weight in a load test; null without weights. Throws `BAD_PLAN` for columns
 * that the load names but the source lacks or has twice, and for tags of other requests; the check itself
 * throws it for an invalid weight.
 */
function createLoadRowCheck(
  plan: Plan,
  { columns, header }: Pick<SourceReader, 'columns' | 'header'>,
): ((row: CheckedRow) => void) | null {
  const { load } = plan
  if (load === undefined) return null
  const urls = listLoadUrls(plan)
  const tags = load.thresholds.flatMap(({ expression }) => readExpression(expression).tags)
  const other = findOtherUrl(tags, urls)
  if (other !== null)
    throw new SluiceError({ id: 'load_other_url', tag: other.name, named: other.value, urls })
  const unknown = listLoadColumns(load).filter((name) => findColumnOfName(columns, name) === -1)
  if (unknown.length > 0)
    throw new SluiceError({ id: 'load_column_missing', unnamed: unknown, sourceColumns: [...columns] })
  refuseDoubled(listLoadColumns(load), { columns, header })
  const { weight: column } = load
  if (column === undefined) return null
  const cell = findColumnOfName(columns, column)
  return ({ row, cells, problems }) => {
    const text = cells[cell] ?? ''
    if (parseWeight(text) !== null || problems.some(({ severity }) => severity === 'error')) return
    throw new SluiceError({ id: 'load_weight_unusable', row, column, found: text.slice(0, 40) })
  }
}

/** The columns used in requests. */
function listSentColumns(plan: Plan, mapping: Mapping, columns: readonly string[]): number[] {
  const { media } = plan.source
  const template: FieldSource[] = media?.kind === 'template' ? [media] : []
  return [...listSourcesOf(plan, mapping), ...template].flatMap((one) => listColumnsOf(one, columns))
}

/** Sources of fields: the mapping, and fixes with templates. */
function listSourcesOf({ fixes = [] }: Plan, mapping: Mapping): FieldSource[] {
  return [
    ...Object.values(mapping),
    ...fixes.flatMap((fix): FieldSource[] =>
      fix.kind === 'value' ? [{ kind: 'template', template: fix.value }] : [],
    ),
  ]
}

/** Keeps only those fields of objects that are sent, so that journal and exports have no others. */
function keepUsedColumns(plan: Plan, mapping: Mapping, reader: SourceReader): void {
  const { columns, nestedColumns = [] } = reader
  const first = columns.findIndex((name) => nestedColumns.includes(name))
  if (first === -1) return
  const sources = listSourcesOf(plan, mapping)
  // Column numbers count all columns, so none before a numbered one may be dropped.
  if (sources.some((source) => source.kind === 'column' && Number(source.column) > first)) return
  const used = new Set(sources.flatMap((source) => listColumnsOf(source, columns)))
  const ofLoad = plan.load === undefined ? [] : listLoadColumns(plan.load)
  reader.keepNested?.(columns.filter((name, index) => used.has(index) || ofLoad.includes(name)))
}

/**
 * Resolves the mapping. A mistake in it may mean that another sheet was intended, another header row or, if
 * columns that nobody named are missing, rows inside a key.
 */
function resolveForSheet(
  plan: Plan,
  { columns, workbook, likelyHeaderRow = null, rowsInKeys = [], columnsOfSome = [] }: SourceReader,
): Mapping {
  try {
    return resolveMapping(plan, columns)
  } catch (error) {
    const sheetChoice = workbook === null ? null : findSheetChoice(workbook, plan.source)
    if (!(error instanceof SluiceError)) throw error
    if (error.said.id !== 'mapping_unusable') throw error
    const { mistakes } = error.said
    const isMissing = mistakes.every(({ id }) => id === 'content_missing' || id === 'field_missing')
    const meant = isMissing ? rowsInKeys.filter((found) => mayBeRows(found, found.rows)) : []
    throw new SluiceError(
      {
        ...error.said,
        sheetChoice,
        headerRow: likelyHeaderRow,
        rowsInKeys: meant,
        ...(columnsOfSome.length > 0 && { onlyIn: columnsOfSome }),
      },
      { cause: error },
    )
  }
}
