import { isAsync, OPERATIONS } from '../../../../shared/operations/operations.ts'
import { listFixedFields } from '../../../../shared/plan/fixes.ts'
import { toRowAndRecord, toSourcePlace } from '../../../../shared/plan/source-place.ts'
import type { AttemptDetail, CallbackDetail, ExportRow, ResultRow } from '../../../../shared/run/results.ts'
import type { RowFilter } from '../../../../shared/run/row-filters.ts'
import {
  readAppealFindings,
  readServiceMessage,
  readTaskFindings,
  readTermNotes,
} from '../../../../shared/service/answer-findings.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { toHalf } from '../../mapping/split-row.ts'
import { describeAppeal } from '../../service/appeal-reader.ts'
import { ECHO_MISMATCH_CODE } from '../../service/echoes.ts'
import { parseJson } from '../../service/judgement.ts'
import { createPlaceReader } from '../journal/intake-writer.ts'
import { createExchangeReader, type StoredBody } from '../journal/stored-bodies.ts'
import { hasVerdicts, readVerdictsOf } from '../journal/verdict-store.ts'
import {
  type FamilyRow,
  listEarlier,
  type RunRow,
  readFamilyRows,
  type ShownRow,
} from '../results/family-rows.ts'
import { listAllPages } from '../results/result-page.ts'
import { createRowRequests, type RowRequest, readTries } from '../results/row-detail.ts'

/** Bodies of one page add up to about this much at most, unless one alone is larger, UTF-16 code units. */
const PAGE_CHARACTERS = 4 * 1024 * 1024

/** Most classes, and most rules, that get a column of their own; JSON lines have them all. */
const COLUMNS_MAX = 1_000

/** The classes that any row of a run has a score of, by name; at most {@link COLUMNS_MAX}. */
export function readScoredClasses({ members }: RunFamily): string[] {
  const classes = members.flatMap(({ db }) =>
    // Sorted after they are made distinct: SQLite would sort each score of each row.
    db
      .prepare('SELECT class FROM (SELECT DISTINCT class FROM row_class) ORDER BY class LIMIT ?')
      .all(COLUMNS_MAX),
  )
  return [...new Set(classes.map((row) => String(row['class'])))].sort().slice(0, COLUMNS_MAX)
}

/** Rows among which {@link readFirstClasses} looks. */
const FIRST_ROWS = 5_000

/** The classes that any of the first rows of a run has a score of: at once, however many rows there are. */
export function readFirstClasses({ members }: RunFamily): string[] {
  const classes = members.flatMap(({ db }) =>
    db
      .prepare('SELECT DISTINCT class FROM row_class WHERE row <= (SELECT min(row) FROM row_class) + ?')
      .all(FIRST_ROWS),
  )
  return [...new Set(classes.map((row) => String(row['class'])))].sort().slice(0, COLUMNS_MAX)
}

/** The rules that any row of a run triggered, by name; at most {@link COLUMNS_MAX}. */
export function readTriggeredRules({ members }: RunFamily): ResultRow['triggeredRules'] {
  const found = members.flatMap(({ db }) =>
    db.prepare('SELECT rule_id, rule_name FROM rule ORDER BY rule_name, rule_id LIMIT ?').all(COLUMNS_MAX),
  )
  const names = new Map(found.map((rule) => [String(rule['rule_id']), String(rule['rule_name'])]))
  return [...names]
    .map(([ruleId, ruleName]) => ({ ruleId, ruleName }))
    .sort((a, b) => (a.ruleName < b.ruleName ? -1 : 1))
    .slice(0, COLUMNS_MAX)
}

/** The fields that any run of a whole may have sent otherwise than the source has them. */
export function readCorrectedFields({ members }: RunFamily): string[] {
  return [...new Set(members.flatMap(({ record }) => listFixedFields(record.plan.fixes ?? [])))]
}

/** What was said of an item: by its last answer, and in async by the callback that settled it. */
interface ItemExchange {
  item: number
  /** The first row of this export that belongs to the item. */
  row: number
  response: StoredBody | null
  callbacks: CallbackDetail[]
  body: unknown
  termNotes: ReadonlyMap<string, string | null>
}

/**
 * Reads every row that matches with everything an export holds of it, page by page in the order of the source.
 * `withRequests` recomputes the requests, and adds every attempt; `among` are the rows of the filter's cell, ascending.
 */
export function readExportPages(
  family: RunFamily,
  filter: RowFilter,
  { among = null, ...options }: { withRequests: boolean; among?: Uint32Array | null },
): Generator<ExportRow[]> {
  return readPagesOfRows(family, listAllPages(family, filter, among), options)
}

/** Reads given rows as {@link readExportPages} does. */
export function* readPagesOfRows(
  family: RunFamily,
  pages: Iterable<readonly FamilyRow[]>,
  { withRequests }: { withRequests: boolean },
): Generator<ExportRow[]> {
  const toExportRow = createFamilyExportRows(family, withRequests)
  const isJudged = hasVerdicts(family)
  for (const rows of pages) {
    let page: ExportRow[] = []
    let characters = 0
    const ids = rows.map(({ id }) => id)
    const verdicts = isJudged ? readVerdictsOf(family, ids) : null
    for (const row of readFamilyRows(family, rows)) {
      const exported = toExportRow(row)
      if (verdicts !== null) exported.verdicts = verdicts.get(exported.row) ?? []
      page.push(exported)
      characters += countCharacters(exported)
      if (characters < PAGE_CHARACTERS) continue
      yield page
      page = []
      characters = 0
    }
    if (page.length > 0) yield page
  }
}

function countCharacters({ request, response, callbacks }: ExportRow): number {
  const bodies = [request?.body, response?.body, ...callbacks.map(({ body }) => body)]
  return bodies.reduce((sum: number, body) => sum + (body?.length ?? 0), 0)
}

/** Each row as the run exports it whose answer is shown, in the state of its newest run. */
function createFamilyExportRows(family: RunFamily, withRequests: boolean): (row: ShownRow) => ExportRow {
  const exportRows = new Map<RunView, (row: RunRow) => ExportRow>()
  return ({ result, shownBy, joined }) => {
    const toExportRow = exportRows.get(shownBy) ?? createExportRows(shownBy, withRequests)
    exportRows.set(shownBy, toExportRow)
    const tries = withRequests ? readAllTries(family, shownBy, result.row) : []
    return { ...toExportRow({ result, joined }), tries }
  }
}

function readAllTries(family: RunFamily, newest: RunView, row: number): AttemptDetail[] {
  return [...listEarlier(family, newest).reverse(), newest]
    .flatMap((run) => readTries(run, row))
    .map((attempt, index) => ({ ...attempt, number: index + 1 }))
}

function createExportRows(view: RunView, withRequests: boolean): (row: RunRow) => ExportRow {
  const { operation } = view.record.plan
  const exchanges = createExchangeReader(view.db)
  const requests = createRowRequests(view)
  const toPlace = createPlaceReader(view.db)
  const { subject } = OPERATIONS[operation.kind]
  const [isTask, isTerm, isAppeal] = [subject === 'content', subject === 'term', subject === 'appeal']
  const { fixes = [] } = view.record.plan
  let last: ItemExchange | null = null

  function readItem(item: number, row: number): ItemExchange {
    if (last?.item === item) return last
    const response = exchanges.readAnswer(item)
    const callbacks = isAsync(operation) ? exchanges.readCallbacks(item) : []
    const settled = callbacks.find(({ effect }) => effect === 'settled')
    const body = parseJson(settled?.body ?? response?.text ?? '')
    const termNotes = isTerm ? readTermNotes(body) : new Map<string, null>()
    last = { item, row, response, callbacks, body, termNotes }
    return last
  }

  function findNotes({ termNotes }: ItemExchange, { row, cells }: ResultRow, kinds: string | null) {
    if (termNotes.size === 0) return null
    const { term } = requests.mapRow(row, cells, kinds).body
    return termNotes.get(String(term).toLowerCase()) ?? null
  }

  return ({ result, joined }) => {
    const { id: row, item } = joined
    const exchange = item === null ? null : readItem(item, row)
    // What the answer of another row says is not of this one.
    const body = result.errorCode === ECHO_MISMATCH_CODE ? undefined : exchange?.body
    const isFirst = exchange === null || exchange.row === row
    const wasSent = item !== null && result.attempts > 0
    const response = isFirst ? (exchange?.response ?? null) : null
    const isHalf = toHalf(row, joined.kinds) !== null
    const mapped = fixes.length > 0 || isHalf ? requests.mapRow(row, result.cells, joined.kinds) : null
    return {
      ...result,
      // The record's own id would not say which of its two rows this is.
      ...(isHalf && result.postId !== null && { postId: String(mapped?.body['post_id'] ?? result.postId) }),
      ...(mapped?.corrections !== undefined && { corrections: mapped.corrections }),
      message: isAppeal ? (describeAppeal(body) ?? result.message) : result.message,
      kinds: joined.kinds,
      tries: [],
      exchangeInRow: isFirst ? null : toRowAndRecord(exchange.row, toPlace(exchange.row)),
      request: wasSent && withRequests && isFirst ? toSent(requests.toRequest(row, item)) : null,
      response: response === null ? null : { body: response.text, cutFrom: response.cutFrom },
      callbacks: isFirst ? (exchange?.callbacks ?? []) : [],
      body,
      task: isTask && body !== undefined ? readTaskFindings(body) : null,
      appeal: isAppeal && body !== undefined ? readAppealFindings(body) : null,
      termNotes: exchange !== null && isTerm ? findNotes(exchange, result, joined.kinds) : null,
      serviceMessage: isTask || isAppeal ? null : readServiceMessage(body),
    }
  }
}

function toSent({ method, url, body }: RowRequest): ExportRow['request'] {
  return { method, url, body }
}

/** A row that was never sent, as an export has it. */
export function toUnsentRow(row: number, cells: string[], place = toSourcePlace(row, undefined)): ExportRow {
  return {
    ...{ row, cells, place, state: 'pending', attempts: 0, kinds: null },
    ...{ status: null, errorCode: null, message: null, taskId: null, postId: null, answer: null },
    ...{ customIndexItemId: null, durationMs: null, callbackLatencyMs: null, exchangeInRow: null },
    ...{ triggeredRules: [], classScores: [], tries: [], callbacks: [], request: null, response: null },
    ...{ body: undefined, task: null, appeal: null, termNotes: null, serviceMessage: null },
  }
}
