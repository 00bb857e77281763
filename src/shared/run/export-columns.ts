import { toStateName } from '../messages/state-name.ts'
import { OPERATIONS, type OperationKind } from '../operations/operations.ts'
import type { Subject } from '../operations/subjects.ts'
import { toRowNumber } from '../plan/source-place.ts'
import type { TaskFindings } from '../service/answer-findings.ts'
import { readRepeatedMember } from '../service/repeated-members.ts'
import type { FormulaGuard } from './formula-guard.ts'
import { isAppealAnswer } from './item-state.ts'
import type { ExportRow } from './results.ts'
import { nameRules } from './rule-names.ts'

/** A column that a CSV or XLSX export appends to the source's columns. */
export interface ExportColumn {
  name: string
  /** Its title in the window (default: its name). */
  title?: string
  /** Type of its cells in typed formats (default: text). */
  type?: 'integer' | 'number' | 'boolean' | 'timestamp'
  /** The cell of a row, with numbers as numbers; '' if there is no value. */
  read: (row: ExportRow) => string | number
}

/**
 * Columns of every export, in order. Their names are an interface: once released, a column neither changes
 * nor moves. New columns of all operations go after these and before {@link LAST_COLUMN}.
 */
const COMMON_COLUMNS: readonly ExportColumn[] = [
  { name: 'sluice_row', title: 'Row', type: 'integer', read: ({ place }) => toRowNumber(place) },
  { name: 'sluice_state', title: 'State', read: (row) => toStateName(row.state) },
  { name: 'sluice_status', title: 'HTTP status', type: 'integer', read: (row) => row.status ?? '' },
  { name: 'sluice_error_code', title: 'Error code', read: (row) => row.errorCode ?? '' },
  { name: 'sluice_message', title: 'Message', read: (row) => row.message ?? '' },
  { name: 'sluice_task_id', title: 'Task id', read: (row) => row.taskId ?? '' },
  { name: 'sluice_post_id', title: 'Post id', read: (row) => row.postId ?? '' },
  {
    name: 'sluice_triggered_rules',
    title: 'Triggered rules',
    read: (row) => joinTexts(row.triggeredRules.map(({ ruleId, ruleName }) => ruleName || ruleId)),
  },
  { name: 'sluice_duration_ms', title: 'Latency', type: 'number', read: (row) => toMs(row.durationMs) },
  { name: 'sluice_attempts', title: 'Tries', type: 'integer', read: (row) => row.attempts },
]

/** For a source with several files: the row's file. */
export const FILE_COLUMN: ExportColumn = {
  name: 'sluice_file',
  title: 'File',
  read: ({ place }) => place.file ?? '',
}

/** For a run whose requests were sent with traces: the trace of the last one. */
export const TRACE_COLUMN: ExportColumn = {
  name: 'sluice_trace_id',
  title: 'Trace id',
  read: ({ traceId = '' }) => traceId,
}

/** Distinguishes exports from those of versions up to 0.2, which had this number as `sluice_row`. */
const RECORD_COLUMN: ExportColumn = {
  name: 'sluice_record',
  title: 'Record',
  type: 'integer',
  read: ({ row }) => row,
}

/** Columns in exports of some operations, after the common ones. */
const OPERATION_COLUMNS: readonly (ExportColumn & { of: readonly Subject[] })[] = [
  ...columnsOf(['content'], {
    sluice_rule_ids: ['Rule ids', (row) => joinTexts(row.triggeredRules.map(({ ruleId }) => ruleId))],
    sluice_from_cache: ['From cache', (row) => String(row.content.fromCache ?? ''), 'boolean'],
    sluice_language: ['Language', (row) => toListText(row.content.task?.languages)],
    sluice_pii: ['Personal data', (row) => toFoundText(row, 'pii')],
    sluice_urls: ['Addresses', (row) => toFoundText(row, 'urls')],
    sluice_text_filters: ['Text filters', (row) => toFoundText(row, 'textFilters')],
    sluice_custom_classes: ['Custom classes', (row) => toFoundText(row, 'customClasses')],
    sluice_moderated_classes: ['Moderated classes', (row) => toFoundText(row, 'moderatedClasses')],
    sluice_model_results: ['Model results', (row) => toListText(row.content.task?.models)],
    sluice_index_matches: ['Index matches', (row) => toFoundText(row, 'matches')],
  }),
  ...columnsOf(['item'], {
    sluice_custom_index_item_id: ['Item id', (row) => row.customIndexItemId ?? ''],
  }),
  ...columnsOf(['term'], {
    sluice_term_outcome: [
      'Term outcome',
      (row) => (row.answer === null || isAppealAnswer(row.answer) ? '' : row.answer),
    ],
    sluice_term_notes: ['Notes of the term', (row) => row.termNotes ?? ''],
  }),
  ...columnsOf(['item', 'term'], {
    sluice_service_message: ['Message of the service', (row) => row.content.serviceMessage ?? ''],
  }),
  ...columnsOf(['appeal'], {
    sluice_appeal_status: [
      'Appeal',
      (row) => (row.answer !== null && isAppealAnswer(row.answer) ? row.answer : ''),
    ],
    sluice_appeal_action_id: ['Action id of the judgment', (row) => row.content.appeal?.actionId ?? ''],
    sluice_appeal_action_name: ['Action of the judgment', (row) => row.content.appeal?.actionName ?? ''],
    sluice_appeal_reasons: ['Reasons of the judgment', (row) => toListText(row.content.appeal?.reasons)],
    sluice_original_action_id: ['Original action id', (row) => row.content.appeal?.originalActionId ?? ''],
    sluice_original_action_name: ['Original action', (row) => row.content.appeal?.originalActionName ?? ''],
    sluice_original_reasons: ['Original reasons', (row) => toListText(row.content.appeal?.originalReasons)],
  }),
]

/** Columns of operations with these subjects: by name, the title and the cell of a row. */
function columnsOf(
  of: readonly Subject[],
  columns: Record<string, [title: string, read: ExportColumn['read'], type?: 'boolean']>,
) {
  return Object.entries(columns).map(([name, [title, read, type]]) => ({
    name,
    title,
    of,
    read,
    ...(type !== undefined && { type }),
  }))
}

/**
 * Columns of a row's verdicts, in exports of runs that have any. Files of verdicts have the same columns, so
 * either can be imported. A row's verdicts and their rules are joined as lists are, in the same order.
 */
export const VERDICT_COLUMNS = [
  {
    name: 'sluice_verdict',
    title: 'Verdict',
    read: ({ verdicts = [] }) => verdicts.map(({ verdict }) => verdict).join('; '),
  },
  {
    name: 'sluice_rule',
    title: 'Rule of the verdict',
    read: ({ verdicts = [] }) => {
      const rules = verdicts.flatMap(({ rule }) => rule ?? [])
      return rules.length > 1 ? joinTexts(rules) : (rules[0] ?? '')
    },
  },
  {
    name: 'sluice_note',
    title: 'Note of the verdict',
    read: ({ verdicts = [] }) => joinNotes(verdicts.map(({ note }) => note ?? '')),
  },
] as const satisfies readonly ExportColumn[]

/** The last column of every export; if its name is in quotes, the CSV is lossless. */
const LAST_COLUMN: ExportColumn = {
  name: 'sluice_callback_latency_ms',
  title: 'Callback latency',
  type: 'number',
  read: (row) => toMs(row.callbackLatencyMs),
}

/** Prefix of the column with the scores of one class: `score.CLASS`. */
const SCORE = 'score.'

/** Prefix of the column that says whether a rule was triggered: `rule.NAME`. */
const RULE = 'rule.'

/** Prefix of the column with a field's sent value, if a fix changed it: `sent.FIELD`. */
const SENT = 'sent.'

/** Prefix of a column with a member of the answer: `answer.PATH`. */
const ANSWER = 'answer.'

/** Columns that an export has only on request: the bodies as received. */
export const RAW_COLUMNS: readonly ExportColumn[] = [
  { name: 'sluice_response', title: 'Answer as it came', read: (row) => row.response?.body ?? '' },
  {
    name: 'sluice_callback',
    title: 'Callback as it came',
    read: (row) => row.callbacks.find(({ effect }) => effect === 'settled')?.body ?? '',
  },
]

/** What a run has that gets columns of its own. */
export interface RunColumns {
  /** Fields that fixes may have changed. */
  corrected?: readonly string[]
  /** Classes with a score in any row. */
  classes?: readonly string[]
  rules?: ExportRow['triggeredRules']
  hasVerdicts?: boolean
  /** Whether the source has several files. */
  hasFiles?: boolean
  /** Whether requests were sent with traces. */
  hasTraces?: boolean
}

/** The columns that an export of an operation appends, in order, including those of classes and rules. */
export function toExportColumns(
  operation: OperationKind,
  {
    classes = [],
    rules = [],
    corrected = [],
    hasVerdicts = false,
    hasFiles = false,
    hasTraces = false,
    withRaw = false,
  }: RunColumns & { /** Adds the bodies as received. */ withRaw?: boolean },
): ExportColumn[] {
  return [
    ...COMMON_COLUMNS,
    ...(hasFiles ? [FILE_COLUMN] : []),
    RECORD_COLUMN,
    ...OPERATION_COLUMNS.filter(({ of }) => of.includes(OPERATIONS[operation].subject)),
    ...(hasTraces ? [TRACE_COLUMN] : []),
    ...(hasVerdicts ? VERDICT_COLUMNS : []),
    ...(withRaw ? RAW_COLUMNS : []),
    ...toSentColumns(corrected),
    ...toScoreColumns(classes),
    ...toRuleColumns(rules),
    LAST_COLUMN,
  ]
}

/** A column for each corrected field: what was sent for it; '' if nothing was sent or it was unchanged. */
function toSentColumns(corrected: readonly string[]): ExportColumn[] {
  return corrected.map((name) => ({
    name: SENT + name,
    read: ({ corrections = [], attempts }) =>
      attempts === 0 ? '' : (corrections.find(({ field }) => field === name)?.sent ?? ''),
  }))
}

/** One column for each class: `score.CLASS`. */
export function toScoreColumns(classes: readonly string[]): ExportColumn[] {
  return classes.map((name) => ({
    name: SCORE + name,
    type: 'number',
    read: (row) => row.classScores.find(({ className }) => className === name)?.score ?? '',
  }))
}

/**
 * One column for each rule: `true` or `false` if the service decided, else ''. A rule without a name has its
 * id instead; rules with the same name have both.
 */
export function toRuleColumns(rules: ExportRow['triggeredRules']): ExportColumn[] {
  const names = nameRules(rules.map(({ ruleId: id, ruleName: name }) => ({ id, name })))
  return [...names].map(([id, name]) => {
    return { name: RULE + name, type: 'boolean', read: (row) => readRule(row, id) }
  })
}

function readRule({ state, errorCode, triggeredRules }: ExportRow, id: string): string {
  if (triggeredRules.some(({ ruleId }) => ruleId === id)) return 'true'
  return state === 'succeeded' && errorCode === null ? 'false' : ''
}

/** The column for a member of the answer, such as `answer.user_id`; null for any other name. */
export function toAnswerColumn(name: string): ExportColumn | null {
  if (!name.startsWith(ANSWER) || name === ANSWER) return null
  const [first = '', ...path] = name.slice(ANSWER.length).split('.')
  return {
    name,
    read: (row) => {
      const repeated = readRepeatedMember(toAnswerText(row), first)
      return toMemberText(
        path.reduce(readMember, repeated.length > 0 ? repeated : readMember(row.content.body, first)),
      )
    },
  }
}

/** The text of the answer that decided a row; '' if it is stored with another row of the same request. */
function toAnswerText({ content: { body }, callbacks, response }: ExportRow): string {
  if (typeof body !== 'object' || body === null) return ''
  return callbacks.find(({ effect }) => effect === 'settled')?.body ?? response?.body ?? ''
}

/** A member of an object, an item of a list by its index, or a member of each of its items. */
function readMember(value: unknown, key: string): unknown {
  if (Array.isArray(value) && !/^\d+$/.test(key)) {
    return value.map((item) => readMember(item, key)).filter((member) => member !== undefined)
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Record<string, unknown>)[key]
}

function toMemberText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : toListText(value.flat())
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
}

/** Columns that may quote what was sent: ids and addresses from cells, matched parts of a text, messages. */
const QUOTING = new Set([
  'sluice_message',
  'sluice_post_id',
  'sluice_pii',
  'sluice_urls',
  'sluice_text_filters',
  'sluice_model_results',
  'sluice_index_matches',
  'sluice_term_notes',
  'sluice_service_message',
  'sluice_note',
])

/** Whether one of Sluice's columns may hold content of the row. */
export function quotesContent(name: string): boolean {
  return QUOTING.has(name) || name.startsWith(SENT)
}

const NAMES = new Set(
  [
    ...[COMMON_COLUMNS, OPERATION_COLUMNS, VERDICT_COLUMNS, RAW_COLUMNS].flat(),
    ...[FILE_COLUMN, RECORD_COLUMN, TRACE_COLUMN, LAST_COLUMN],
  ].map(({ name }) => name),
)
const PREFIXES = [SENT, SCORE, RULE, ANSWER]

/** Columns with the stratum of a sampled row, and the number of rows in the stratum. */
export const STRATUM_COLUMNS = { name: 'sluice_stratum', rows: 'sluice_stratum_rows' } as const

/** Columns of every export of a ledger, which are adjacent. */
export const LEDGER_COLUMNS = { state: 'sluice_ledger_state', outcome: 'sluice_ledger_outcome' } as const

const MARKS = [STRATUM_COLUMNS, LEDGER_COLUMNS].map((columns) => Object.values<string>(columns))

/**
 * Whether a header is from one of Sluice's exports, with all columns that exports append, or from a sample or
 * a ledger. A person may have added columns after these.
 */
export function isExportHeader(header: readonly string[]): boolean {
  for (const [first = '', second] of MARKS) {
    const at = header.indexOf(first)
    if (at !== -1 && header[at + 1] === second) return true
  }
  return findLastColumn(header) !== null
}

/** Columns that exports of versions up to 0.2 lack. */
const LATER_COLUMNS = [RECORD_COLUMN.name, 'sluice_run_record']

/**
 * The first name of a guarded CSV file's header, which is quoted if nothing else distinguishes the header
 * from one of version 0.2. Null for any other header, and if the name needs quotes anyway.
 */
export function findGuardMark(header: readonly string[]): string | null {
  const [first = ''] = header
  return first === '' || /[",;|\t\r\n]|^\s|\s$/.test(first) || hasLaterColumn(header) ? null : first
}

/** Which guard the cells of a guarded file have; `isMarked` tells whether a name in its header is quoted. */
export function findGuard(
  header: readonly string[],
  isMarked: (name: string) => boolean = () => false,
): FormulaGuard {
  const mark = findGuardMark(header)
  return hasLaterColumn(header) || (mark !== null && isMarked(mark)) ? 'current' : 'earlier'
}

function hasLaterColumn(header: readonly string[]): boolean {
  return !isExportHeader(header) || LATER_COLUMNS.some((name) => header.includes(name))
}

/** Keys of each line of a JSON Lines export; `cells` has the source's columns. */
const JSON_LINES_KEYS = ['row', 'record', 'state', 'error_code', 'message', 'tries', 'cells']
const CELL = 'cells.'

export function isJsonLinesExport(columns: readonly string[]): boolean {
  return JSON_LINES_KEYS.every((key) => columns.includes(key))
}

/** The source's name of a column that a JSON Lines export holds as `cells.NAME`; null for other columns. */
export function findCellName(column: string): string | null {
  return column.startsWith(CELL) ? column.slice(CELL.length) : null
}

/** Indexes of columns that a Sluice export added: these are never content, and a guess never uses them. */
export function findOwnColumns(columns: readonly string[]): Set<number> {
  const ofRow = isExportHeader(columns) ? columns.lastIndexOf(COMMON_COLUMNS[0]?.name ?? '') : -1
  const isJsonLines = isJsonLinesExport(columns)
  const isOwn = (column: string, index: number) => {
    if (isJsonLines) return findCellName(column) === null
    // Columns of an earlier export are renamed in a later one.
    const name = column.replace(/ \((?:source|\d+)\)$/, '')
    const isAdded = ofRow !== -1 && index > ofRow && PREFIXES.some((prefix) => name.startsWith(prefix))
    return isAdded || NAMES.has(name) || MARKS.flat().includes(name)
  }
  return new Set(columns.flatMap((column, index) => (isOwn(column, index) ? [index] : [])))
}

/**
 * How to read formulas in a table with columns of Sluice's exports: with the guard removed, or as they are if
 * it is unclear whether there is a guard. Null for any other table, and for an export without a guard.
 */
export function toOwnExport(header: readonly string[], isGuarded: boolean): 'unguarded' | 'as-is' | null {
  if (isGuarded) return 'unguarded'
  const [row, state] = COMMON_COLUMNS.map(({ name }) => header.includes(name))
  return row && state && !isExportHeader(header) ? 'as-is' : null
}

/**
 * The name of the last column that an export appended, which has the mark of a lossless one; null if the
 * header is not that of an export.
 */
export function findLastColumn(header: readonly string[]): string | null {
  const own = header.slice(header.lastIndexOf(COMMON_COLUMNS[0]?.name ?? ''))
  if (!COMMON_COLUMNS.every(({ name }, index) => own[index] === name)) return null
  const isOwn = (name: string) => NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))
  const end = own.findIndex((name) => !isOwn(name))
  const appended = end === -1 ? own : own.slice(0, end)
  return appended.length > COMMON_COLUMNS.length ? (appended.at(-1) ?? null) : null
}

function toMs(ms: number | null): number | '' {
  return ms === null ? '' : Math.round(ms * 1000) / 1000
}

/** A list of a task's answer: `[]` if it is empty there, '' if the answer does not have it. */
function toFoundText({ content: { task } }: ExportRow, list: TaskFindings['answered'][number]): string {
  const text = toListText(task?.[list])
  return text === '' && task?.answered.includes(list) ? '[]' : text
}

/** Texts joined by `; `; a list with other items as JSON, and '' for an empty list. */
function toListText(list: readonly unknown[] | undefined): string {
  if (list === undefined || list.length === 0) return ''
  return list.every((item) => typeof item === 'string') ? joinTexts(list) : JSON.stringify(list)
}

/** The notes of a row's verdicts, in order; only one if all are equal and it does not look like a list. */
function joinNotes(notes: readonly string[]): string {
  const [first = '', ...others] = notes
  if (others.length === 0) return first
  const isOne = others.every((note) => note === first) && !first.includes(';') && !first.startsWith('[')
  return isOne ? first : joinTexts(notes)
}

/** Texts joined by `; `; as JSON if one has a `;`, is empty, or begins like JSON, to be separable again. */
export function joinTexts(texts: readonly string[]): string {
  return texts.some((text) => text === '' || text.includes(';') || text.startsWith('['))
    ? JSON.stringify(texts)
    : texts.join('; ')
}
