import { sayExpected } from '../../../../shared/messages/problem-messages.ts'
import { isHint } from '../../../../shared/messages/problem-traits.ts'
import { LEFT_OUT_STATES } from '../../../../shared/run/item-state.ts'
import { FOUND_BY_READERS, type Problem, type ProblemGroup } from '../../../../shared/run/problem.ts'
import type { ErrorGroup, RowWarning } from '../../../../shared/run/run.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'

/** A cause of problems, as the journal counts its rows. */
export type CountedCause = Omit<ProblemGroup, 'rows' | 'unsent' | 'examples'>

/** The columns that {@link toStoredProblem} reads. */
export const PROBLEM_COLUMNS = 'row, severity, code, field, message, args, details, found'

/** A list in SQL of the problems that only readers find. */
export const READER_CODES = FOUND_BY_READERS.map((code) => `'${code}'`).join(', ')

/** Stored and counted severity of a warning whose row is not sent for another reason. */
export const UNSENT_WARNING = 'unsent_warning'

/** Conditions: that a row was left out or skipped, whose problems only say why, and that it was not. */
const IS_LEFT_OUT = LEFT_OUT_STATES.map((state) => `result.state IS '${state}'`).join(' OR ')
export const NOT_OF_LEFT_OUT = `NOT EXISTS (SELECT 1 FROM result WHERE result.row = problem.row AND (${IS_LEFT_OUT}))`

/** Creates a function that stores a problem; `counts` is false for a warning of a row that is not sent. */
export function createProblemInsert(db: DatabaseSync): (problem: Problem, counts?: boolean) => void {
  // The message column stays empty: only journals of earlier versions fill it.
  const insert = db.prepare(`INSERT INTO problem (${PROBLEM_COLUMNS}) VALUES (?, ?, ?, ?, '', ?, ?, ?)`)
  return ({ row, severity, code, field = null, args, details, found = null }, counts = true) =>
    insert.run(
      ...[row, counts ? severity : UNSENT_WARNING, code, field, toJson(args), toJson(details), found],
    )
}

/** A problem as the journal stores it, without the places of rows. */
export function toStoredProblem(stored: Record<string, unknown>): Problem {
  const { field, found } = stored
  return {
    row: Number(stored['row']),
    severity: stored['severity'] === 'error' ? 'error' : 'warning',
    code: stored['code'] as Problem['code'],
    ...toArguments(stored),
    ...(typeof field === 'string' ? { field } : {}),
    ...(typeof found === 'string' ? { found } : {}),
  }
}

const IS_ALSO = ', is also in row '

/** The arguments of a code's words. A journal of an earlier version has the words themselves. */
function toArguments({
  code,
  message,
  args,
  details,
}: Record<string, unknown>): Pick<Problem, 'args' | 'details' | 'text'> {
  if (message === '') {
    return {
      ...(typeof args === 'string' ? { args: JSON.parse(args) } : {}),
      ...(typeof details === 'string' ? { details: JSON.parse(details) } : {}),
    }
  }
  const text = String(message)
  const [cause = '', other] = text.split(IS_ALSO)
  if (code !== 'not_unique' || other === undefined) return { text }
  return { args: { ignoresCase: cause.includes('upper and lower case') }, details: { row: Number(other) } }
}

/** The key by which the journal counts the rows with a problem of one cause; see {@link UNSENT_WARNING}. */
export function toCauseKey({ severity, code, field, args }: Omit<Problem, 'row'>, isUnsent = false): string {
  return JSON.stringify([isUnsent ? UNSENT_WARNING : severity, code, field ?? null, args ?? {}])
}

/** Whether a cause is a warning whose rows are not sent. */
export function isUnsentCause({ severity }: { severity: string }): boolean {
  return severity === UNSENT_WARNING
}

/** The cause of a key; a journal of an earlier version has words instead of arguments. */
export function readCauseKey(key: string): CountedCause {
  const [severity, code, field, said] = JSON.parse(key) as [
    CountedCause['severity'],
    CountedCause['code'],
    string | null,
    string | NonNullable<CountedCause['args']>,
  ]
  if (typeof said === 'string') return { severity, code, field, text: said }
  return { severity, code, field, ...(Object.keys(said).length === 0 ? {} : { args: said }) }
}

/** The words of a cause, without parts that differ between rows. */
export function sayCause({ code, args, text }: Pick<Problem, 'code' | 'args' | 'text'>): string {
  return sayExpected(
    { code, ...(args === undefined ? {} : { args }), ...(text === undefined ? {} : { text }) },
    'terminal',
  )
}

/** Groups of invalid rows, most rows first, then by key, from the journal's counts by {@link toCauseKey}. */
export function toInvalidGroups(problems: ReadonlyMap<string, number>): ErrorGroup[] {
  return toWordedCauses(problems, 'error').map(({ rows, code, message }) => ({
    outcome: 'invalid',
    status: null,
    error_code: code,
    message,
    rows,
  }))
}

/** Warnings about rows by cause, without hints, most rows first, from counts by {@link toCauseKey}. */
export function toRowWarnings(problems: ReadonlyMap<string, number>, runId: string): RowWarning[] {
  const listWith = `sluice show ${runId} --problems`
  return toWordedCauses(problems, 'warning').map((cause) => ({ ...cause, list_with: listWith }))
}

function toWordedCauses(problems: ReadonlyMap<string, number>, wanted: Problem['severity']) {
  return [...problems]
    .filter(([, rows]) => rows > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, rows]) => ({ cause: readCauseKey(key), rows }))
    .filter(({ cause }) => cause.severity === wanted && !isHint(cause))
    .map(({ cause, rows }) => {
      const { code, field } = cause
      const message = sayCause(cause)
      return { code, rows, message: field === null ? message : `${field}: ${message}` }
    })
    .sort((a, b) => b.rows - a.rows)
}

/** The first stored problems of a cause; without errors of left-out rows, which are not counted either. */
export function createExamplesReader(
  db: DatabaseSync,
  limit: number,
): (cause: CountedCause, isUnsent?: boolean) => Problem[] {
  const find = db.prepare(
    `SELECT ${PROBLEM_COLUMNS} FROM problem WHERE severity = ? AND code = ? AND field IS ? AND args IS ?
     AND (message = ? OR code = 'not_unique') AND (severity <> 'error' OR ${NOT_OF_LEFT_OUT}) ORDER BY id LIMIT ${limit}`,
  )
  return ({ severity, code, field, args, text = '' }, isUnsent = false) =>
    find.all(isUnsent ? UNSENT_WARNING : severity, code, field, toJson(args), text).map(toStoredProblem)
}

export function toJson(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value)
}
