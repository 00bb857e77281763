import { OPERATIONS } from '../../../../shared/operations/operations.ts'
import { listFixedFields } from '../../../../shared/plan/fixes.ts'
import { type SourcePlace, toRowAndRecord, toSourcePlace } from '../../../../shared/plan/source-place.ts'
import type { CallbackDetail, ExportRow, ResultRow } from '../../../../shared/run/results.ts'
import type { RowFilter } from '../../../../shared/run/row-filters.ts'
import type { CutNames } from '../../../../shared/run/written-rows.ts'
import { AnswerContent, NO_CONTENT } from '../../../../shared/service/answer-content.ts'
import { readAnsweredTerms } from '../../../../shared/service/answer-findings.ts'
import { listScoreClasses, readScoreClasses } from '../../journal/found-reader.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { DamagedBodyError, type StoredBody } from '../../journal/stored-bodies.ts'
import { toTraceId } from '../../journal/traces.ts'
import { splitsRows, toHalf } from '../../mapping/split-row.ts'
import { describeAppeal } from '../../service/appeal-reader.ts'
import { ECHO_MISMATCH_CODE } from '../../service/echoes.ts'
import { openVerdicts } from '../journal/verdict-store.ts'
import { countTries, type FamilyRow, findNewest, toShownState } from '../results/family-rows.ts'
import { listAllPages } from '../results/result-page.ts'
import { createRowRequests, numberTries, type RowRequest, readSentKinds } from '../results/row-detail.ts'
import { StoredPage, type StoredRow } from './stored-page.ts'
import { toStretch } from './stretch.ts'

/** Approximate limit on a page's bodies, and on its cells, UTF-16 code units; larger rows have their own. */
const PAGE_CHARACTERS = 4 * 1024 * 1024

/** Most classes, and most rules, that get a column of their own; JSON lines have them all. */
export const COLUMNS_MAX = 1_000

/** The classes with a score in any row of a run, by name; at most {@link COLUMNS_MAX}. */
export function readScoredClasses(family: RunFamily): string[] {
  return readClasses(family, COLUMNS_MAX)
}

function readClasses({ members }: RunFamily, most: number): string[] {
  const classes = members.flatMap(({ db }) => listScoreClasses(db, most))
  return [...new Set(classes)].sort().slice(0, most)
}

/** The same in constant time, without classes beyond the 200 that came first. */
export function readFirstClasses({ members }: RunFamily): string[] {
  const classes = members.flatMap(({ db }) => readScoreClasses(db).map(({ className }) => className))
  return [...new Set(classes)].sort().slice(0, COLUMNS_MAX)
}

/** The rules that any row of a run triggered, by name; at most {@link COLUMNS_MAX}. */
export function readTriggeredRules(family: RunFamily): ResultRow['triggeredRules'] {
  return readRules(family, COLUMNS_MAX)
}

/**
 * Which of the two a run has more of than {@link readScoredClasses} and {@link readTriggeredRules} return.
 */
export function listCutNames(family: RunFamily, asked: readonly CutNames[]): CutNames[] {
  const readers = { classes: readClasses, rules: readRules }
  return asked.filter((names) => readers[names](family, COLUMNS_MAX + 1).length > COLUMNS_MAX)
}

function readRules({ members }: RunFamily, most: number): ResultRow['triggeredRules'] {
  const found = members.flatMap(({ db }) =>
    db.prepare('SELECT rule_id, rule_name FROM rule ORDER BY rule_name, rule_id LIMIT ?').all(most),
  )
  const names = new Map(found.map((rule) => [String(rule['rule_id']), String(rule['rule_name'])]))
  return [...names]
    .map(([ruleId, ruleName]) => ({ ruleId, ruleName }))
    .sort((a, b) => (a.ruleName < b.ruleName ? -1 : 1))
    .slice(0, most)
}

/** Whether row numbers may have a letter because a run of the whole splits records. */
export function haveLetters({ whole }: RunFamily): boolean {
  return whole.some(({ record }) => splitsRows(record.plan))
}

/** The fields that any run of a whole may have corrected. */
export function readCorrectedFields({ members }: RunFamily): string[] {
  const fixes = members.flatMap(({ record: { plan } }) => [
    plan.fixes ?? [],
    ...(plan.earlierFixes ?? []).map((earlier) => earlier.fixes),
  ])
  return [...new Set(fixes.flatMap(listFixedFields))]
}

/** The answers for rows sent together: the last one, and in async the callback that settled them. */
interface ItemExchange {
  /** The first of these rows in this export, and its place. */
  row: number
  place: SourcePlace
  response: StoredBody | null
  callbacks: CallbackDetail[]
  content: AnswerContent
  findTerm: ReturnType<typeof readAnsweredTerms> | null
}

/** What to read of rows besides what every format has. */
interface ReadParts {
  withRequests: boolean
  withFields?: boolean
  /** Whether what is read from answers is wanted (default: true). Without, damaged ones are not noticed. */
  withAnswers?: boolean
  /**
   * Called for each row with a damaged stored answer; the row then comes without what its answers say, and
   * with a remark. Without it, reading such a row throws.
   */
  onDamaged?: (place: SourcePlace) => void
}

/** The remark on a row with a damaged stored answer. */
const DAMAGED_MESSAGE = 'Sluice: the stored answer to this row is damaged, and what it says is missing here'

/**
 * Reads every matching row with everything an export holds of it, page by page in source order.
 * `withRequests` recomputes the requests, and adds every attempt; `withFields` adds what each row sends.
 * `among` are the rows of the filter's cell, ascending.
 */
export function readExportPages(
  family: RunFamily,
  filter: RowFilter,
  { among = null, ...options }: ReadParts & { among?: Uint32Array | null },
): Generator<ExportRow[]> {
  return readPagesOfRows(family, listAllPages(family, filter, among), options)
}

/** Rows whose newest runs are found at a time. */
const FOUND_AT_ONCE = 500

/** Reads rows by number like {@link readExportPages}; rows that no run has are left out. */
export function readRowsByNumber(
  family: RunFamily,
  rows: readonly number[],
  parts: ReadParts,
): Generator<ExportRow[]> {
  const pages = Array.from({ length: Math.ceil(rows.length / FOUND_AT_ONCE) }, (_, index) =>
    findNewest(family, rows.slice(index * FOUND_AT_ONCE, (index + 1) * FOUND_AT_ONCE)),
  )
  return readPagesOfRows(family, pages, parts)
}

/** Reads given rows like {@link readExportPages}. */
export function* readPagesOfRows(
  family: RunFamily,
  pages: Iterable<readonly FamilyRow[]>,
  { withRequests, withFields = false, withAnswers = true, onDamaged }: ReadParts,
): Generator<ExportRow[]> {
  const toRow = (row: WholeRow): ExportRow => {
    try {
      return toExportRow(runs, row, withRequests, withAnswers)
    } catch (error) {
      if (!(error instanceof DamagedBodyError) || onDamaged === undefined) throw error
      const exported = toExportRow(runs, row, withRequests, false)
      const { message } = exported
      onDamaged(exported.place)
      return { ...exported, message: message === null ? DAMAGED_MESSAGE : `${message} (${DAMAGED_MESSAGE})` }
    }
  }
  const runs = family.whole.map((view) => createExportedRun(view, { withRequests, withFields }))
  const verdicts = openVerdicts(family)
  try {
    for (const rows of readSmallPages(runs, pages, withRequests)) {
      const given = verdicts?.read(rows.map(({ id }) => id))
      let page: ExportRow[] = []
      let characters = 0
      for (const row of rows) {
        const exported = toRow(row)
        if (given !== undefined) exported.verdicts = given.get(row.id) ?? []
        page.push(exported)
        characters += countCharacters(exported)
        if (characters < PAGE_CHARACTERS) continue
        yield page
        page = []
        characters = 0
      }
      if (page.length > 0) yield page
    }
  } finally {
    verdicts?.close()
  }
}

function countCharacters({ request, response, callbacks, tries }: ExportRow): number {
  let characters = (request?.body?.length ?? 0) + (response?.body.length ?? 0)
  for (const tried of tries) characters += tried.response?.body.length ?? 0
  for (const { body } of callbacks) characters += body.length
  return characters
}

/** One run of a whole, and its conversion of rows of the current page. */
interface ExportedRun {
  page: StoredPage
  /** Without answers, the row has nothing that is read from them. */
  toExportRow: (stored: StoredRow, withAnswers: boolean) => ExportRow
}

/** A row of a page, with the runs of the whole that decide how it is shown, by age. */
interface WholeRow {
  id: number
  newest: { run: number; stored: StoredRow }
  /** From the newest run that tried it, or the newest of all if none did. */
  shown: { run: number; stored: StoredRow }
  /** Tries of all runs. */
  attempts: number
}

/** The row as exported by the run whose answer is shown, in the state of its newest run. */
function toExportRow(
  runs: readonly ExportedRun[],
  { id, newest, shown, attempts }: WholeRow,
  withTries: boolean,
  withAnswers: boolean,
): ExportRow {
  const run = runs[shown.run] as ExportedRun
  const row = run.toExportRow(shown.stored, withAnswers)
  row.attempts = attempts
  if (newest.run !== shown.run) {
    row.state = toShownState((runs[newest.run] as ExportedRun).page.view, newest.stored)
  }
  if (withTries) {
    // Answers are with the first row of their item.
    const hasAnswers = withAnswers && row.exchangeInRow === null
    row.tries = numberTries(
      runs
        .slice(0, shown.run + 1)
        .map(({ page }, age) =>
          hasAnswers ? [...page.listAnsweredTries(id, age !== shown.run)] : [...page.listTries(id)],
        ),
    )
  }
  return row
}

/** Rows read together, at most and at first. */
const PAGE_ROWS = { most: 1_000, first: 100 }

/** Reads the rows of pages from all runs, in pages that fit in memory however long the cells are. */
function* readSmallPages(
  runs: readonly ExportedRun[],
  pages: Iterable<readonly FamilyRow[]>,
  withTries: boolean,
): Generator<WholeRow[]> {
  let most = PAGE_ROWS.first
  for (const page of pages) {
    for (let from = 0; from < page.length; ) {
      const rows = page.slice(from, from + most)
      from += rows.length
      const found = readTogether(runs, rows, withTries)
      const characters = found.reduce((sum, { shown }) => sum + shown.stored.cells.length, 0)
      most = Math.min(PAGE_ROWS.most, Math.ceil((PAGE_CHARACTERS * found.length) / Math.max(1, characters)))
      if (most === 0) most = 1
      yield found
    }
  }
}

/** Reads a page from all runs that may have its rows, a transaction each; rows that are gone are left out. */
function readTogether(
  runs: readonly ExportedRun[],
  rows: readonly FamilyRow[],
  withTries: boolean,
): WholeRow[] {
  const ageOf = new Map(runs.map(({ page }, age) => [page.view.record.runId, age]))
  const toAge = ({ member }: FamilyRow) => ageOf.get(member.record.runId) ?? 0
  const asked = runs.slice(0, rows.reduce((oldest, row) => Math.max(oldest, toAge(row)), 0) + 1)
  const stretch = toStretch(rows.map(({ id }) => id))
  try {
    for (const { page } of asked) page.view.db.exec('BEGIN')
    for (const { page } of asked) page.readRows(stretch)
    const found = rows.map((row) => toWholeRow(asked, row.id, toAge(row))).filter((row) => row !== null)
    const shown = new Set(found.map((row) => row.shown.run))
    for (const [age, { page }] of asked.entries()) {
      if (shown.has(age)) page.readBeside(stretch)
      if (withTries) page.readTries(stretch)
    }
    return found
  } finally {
    for (const { page } of asked) if (page.view.db.isTransaction) page.view.db.exec('COMMIT')
  }
}

/** Combines what the runs up to a row's newest say about it; null if that run has lost it. */
function toWholeRow(runs: readonly ExportedRun[], id: number, age: number): WholeRow | null {
  const stored = runs[age]?.page.rows.get(id)
  if (stored === undefined) return null
  const newest = { run: age, stored }
  let shown: WholeRow['shown'] | null = null
  let attempts = 0
  for (let run = age; run >= 0; run -= 1) {
    const page = runs[run]?.page
    const before = page?.rows.get(id)
    if (page === undefined || before === undefined) continue
    const tries = countTries(page.view, before)
    if (tries > 0) shown ??= { run, stored: before }
    attempts += tries
  }
  return { id, newest, shown: shown ?? newest, attempts }
}

function createExportedRun(
  view: RunView,
  { withRequests, withFields }: Required<Pick<ReadParts, 'withRequests' | 'withFields'>>,
): ExportedRun {
  const { operation, fixes = [], earlierFixes = [] } = view.record.plan
  const page = new StoredPage(view)
  // A run whose source was never read has no columns for its mapping, and no rows either.
  let made: ReturnType<typeof createRowRequests> | null = null
  const getRequests = () => {
    made ??= createRowRequests(view)
    return made
  }
  const { subject } = OPERATIONS[operation.kind]
  /**
   * Exchanges of recently read items, by their rows' tries: a retry may have sent some rows without the
   * others. After a correction, rows of another item may come between those of one.
   */
  const read = new Map<number, Map<number, ItemExchange>>()

  function findExchange(stored: StoredRow, item: number, place: SourcePlace): ItemExchange {
    if (page.isAlone) return readExchange(stored, place)
    const byTries = read.get(item) ?? new Map<number, ItemExchange>()
    read.delete(item)
    read.set(item, byTries)
    for (const [oldest] of read) if (read.size > READ_ITEMS_MAX) read.delete(oldest)
    const tries = stored.attempts ?? 0
    const exchange = byTries.get(tries) ?? readExchange(stored, place)
    byTries.set(tries, exchange)
    return exchange
  }

  function readExchange(stored: StoredRow, place: SourcePlace): ItemExchange {
    const response = page.readAnswer(stored)
    const callbacks = page.readCallbacks(stored)
    const settled = callbacks.find(({ effect }) => effect === 'settled')
    const content = new AnswerContent(settled?.body ?? response?.text ?? '', subject)
    const findTerm = subject === 'term' && content.body !== undefined ? readAnsweredTerms(content.body) : null
    return { row: stored.id, place, response, callbacks, content, findTerm }
  }

  function findNotes({ findTerm }: ItemExchange, { row, cells }: ResultRow, kinds: string | null) {
    if (findTerm === null) return null
    const { term } = getRequests().mapRow(row, cells, kinds).body
    return findTerm(String(term))?.notes ?? null
  }

  return {
    page,
    toExportRow(stored, withAnswers) {
      const { id: row, item, kinds } = stored
      const result = page.toResult(stored)
      const exchange = item === null || !withAnswers ? null : findExchange(stored, item, result.place)
      // The answer to another row says nothing about this one.
      const isOfOther = exchange === null || result.errorCode === ECHO_MISMATCH_CODE
      const content = isOfOther ? NO_CONTENT : exchange.content
      const isFirst = exchange === null || exchange.row === row
      const wasSent = item !== null && result.attempts > 0
      const response = isFirst ? (exchange?.response ?? null) : null
      const isHalf = toHalf(row, kinds) !== null
      const mapped =
        fixes.length + earlierFixes.length > 0 || isHalf || withFields
          ? getRequests().mapRow(row, result.cells, kinds)
          : null
      const toRequest = () => {
        const sentKinds = earlierFixes.length === 0 ? null : readSentKinds(view, stored)
        const own = { row, cells: result.cells, kinds: sentKinds ?? kinds }
        return toSent(getRequests().toRequest(row, item, own))
      }
      const exported: ExportRow = {
        ...result,
        message: subject === 'appeal' ? (describeAppeal(content.body) ?? result.message) : result.message,
        kinds,
        tries: [],
        exchangeInRow: isFirst ? null : toRowAndRecord(exchange.row, exchange.place),
        request: wasSent && withRequests && isFirst ? toRequest() : null,
        response: response === null ? null : { body: response.text, cutFrom: response.cutFrom },
        callbacks: isFirst && withAnswers ? (exchange?.callbacks ?? page.readCallbacks(stored)) : [],
        content,
        termNotes: isOfOther ? null : findNotes(exchange, result, kinds),
      }
      // The record's own id would not tell its two rows apart.
      if (isHalf && result.postId !== null) {
        exported.postId = String(mapped?.body['post_id'] ?? result.postId)
      }
      if (mapped?.corrections !== undefined) exported.corrections = mapped.corrections
      if (withFields && mapped !== null) exported.fields = mapped.body
      if (stored.traceparent !== null) exported.traceId = toTraceId(stored.traceparent)
      return exported
    },
  }
}

/** Items whose answers are kept while rows of others are read. */
const READ_ITEMS_MAX = 4

function toSent({ method, url, body }: RowRequest): ExportRow['request'] {
  return { method, url, body }
}

/** A row that was never sent, in the form for exports. */
export function toUnsentRow(row: number, cells: string[], place = toSourcePlace(row, undefined)): ExportRow {
  return {
    row,
    cells,
    place,
    state: 'pending',
    attempts: 0,
    kinds: null,
    status: null,
    errorCode: null,
    message: null,
    taskId: null,
    postId: null,
    answer: null,
    customIndexItemId: null,
    durationMs: null,
    callbackLatencyMs: null,
    exchangeInRow: null,
    triggeredRules: [],
    classScores: [],
    tries: [],
    callbacks: [],
    request: null,
    response: null,
    content: NO_CONTENT,
    termNotes: null,
  }
}
