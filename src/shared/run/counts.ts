import { formatCounted } from '../messages/figure-text.ts'
import { nameCode } from '../messages/name-code.ts'
import { toPrintable } from '../messages/printable.ts'
import { COUNTS, countRows } from './item-state.ts'
import type {
  CallbackCounts,
  CorrectedCounts,
  ErrorCause,
  ErrorGroup,
  RequestCounts,
  RowCounts,
  RunWarning,
} from './run.ts'

/**
 * Rows by outcome, from the journal's counts by state. `unaccounted` rows were marked as sent by a process
 * that no longer exists, and have no outcome: they are unknown. Rows without a state were not sent.
 */
export function toRowCounts(
  states: ReadonlyMap<string, number>,
  rowsRead: number,
  unaccounted = 0,
): RowCounts {
  const of = (state: string) => states.get(state) ?? 0
  const counts: Record<string, number> = {}
  for (const { state, count, isIntended } of COUNTS) {
    const rows = of(state) + (state === 'unknown' ? unaccounted : 0)
    if (state !== 'pending' && (rows > 0 || !isIntended)) counts[count] = rows
  }
  const others = Object.values(counts).reduce((sum, n) => sum + n, 0)
  return { read: rowsRead, ...counts, not_sent: rowsRead - others } as RowCounts
}

/** Rows that are or were to be sent: neither invalid nor left out. */
export function countSendable(rows: RowCounts): number {
  return rows.read - countRows(rows, 'unsent')
}

/** Rows that only a new request could change, except invalid ones. */
export function countSettled(rows: RowCounts): number {
  return countRows(rows, 'succeeded', 'unsuccessful')
}

const CELL = 'cell '

/** What fixes changed at intake, from the journal's counts; null if nothing. */
export function toCorrectedCounts(corrected: ReadonlyMap<string, number>): CorrectedCounts | null {
  const fields = [...corrected]
    .filter(([key, n]) => key.startsWith(CELL) && n > 0)
    .map(([key, cells]) => ({ field: key.slice(CELL.length), cells }))
    .sort((a, b) => b.cells - a.cells)
  const split = corrected.get('split') ?? 0
  if (fields.length === 0 && split === 0) return null
  const cells = fields.reduce((sum, field) => sum + field.cells, 0)
  return { rows: corrected.get('rows') ?? 0, cells, fields, split }
}

/**
 * Attempts by outcome, from the journal's counts. `lost` attempts were in flight when their process ended:
 * they are unknown.
 */
export function toRequestCounts(requests: ReadonlyMap<string, number>, lost = 0): RequestCounts {
  const of = (outcome: string) => requests.get(outcome) ?? 0
  const counts = {
    succeeded: of('succeeded'),
    rejected: of('rejected'),
    failed: of('failed'),
    unknown: of('unknown') + lost,
  }
  const sent = Object.values(counts).reduce((sum, n) => sum + n, 0)
  return { sent, ...counts, retried: of('retried') }
}

/** Callbacks by effect, from the journal's counts of callbacks and of rows' answers. */
export function toCallbackCounts(
  callbacks: ReadonlyMap<string, number>,
  answers: ReadonlyMap<string, number>,
): CallbackCounts {
  const of = (kind: string) => callbacks.get(kind) ?? 0
  const inDoubt = answers.get('callback_in_doubt') ?? 0
  return {
    received: of('received'),
    settled: of('settled'),
    early: of('early'),
    late: of('late'),
    doubled: of('doubled'),
    differing: of('differing'),
    other_post: of('other_post'),
    unreadable: of('unreadable'),
    ...(inDoubt > 0 && { in_doubt: inDoubt }),
  }
}

/** The journal's key for counting rows with the same outcome. */
export function toErrorKey(
  outcome: string,
  status: number | null,
  errorCode: string | null,
  message: string,
): string {
  return JSON.stringify([outcome, status, errorCode, message])
}

/** The key for the reason why a row was not sent, in the form of {@link toErrorKey}. */
export function toInvalidKey(code: string, field: string | null, message: string): string {
  return toErrorKey('invalid', null, code, field === null ? message : `${field}: ${message}`)
}

/** The key for all messages of a cause with a code. */
export function toCauseKey({ outcome, status, error_code }: Omit<ErrorGroup, 'rows'>): string {
  return JSON.stringify([outcome, status, error_code])
}

/** Whether a key of {@link toErrorKey} is `cause`, or one of the messages of a key of {@link toCauseKey}. */
export function isOfCause(key: string, cause: string): boolean {
  return key === cause || key.startsWith(`${cause.slice(0, -1)},`)
}

/** A key of an error, a cause or an invalid row in words: `413 PAYLOAD_TOO_LARGE: over 64 kB`. */
export function toCauseLabel(key: string): string {
  const { outcome, status, error_code, message } = parseErrorKey(key)
  if (status === null) return message || (error_code === null ? outcome : nameCode(error_code))
  const name = error_code === null ? String(status) : `${status} ${error_code}`
  // Sluice's own words for an unusable answer begin with its status.
  if (error_code === null && message.startsWith(`answered ${status}`)) return message
  if (message === '') return error_code === null ? `HTTP ${name}` : name
  return error_code === null ? `${name} ${message}` : `${name}: ${message}`
}

/**
 * A service's message without what differs from row to row (quoted values, long numbers, identifiers), so
 * that rows refused for the same cause form one group: `post_id "…" was submitted before`.
 */
export function toErrorPattern(message: string): string {
  return message
    .replaceAll(/"[^"]*"/g, '"…"')
    .replaceAll(/`[^`]*`/g, '`…`')
    .replaceAll(/\b(?=[\w-]*\d)[\w-]{16,}\b|\d{4,}/g, '…')
}

/** Groups of rows with the same outcome, most rows first, from the journal's counts by {@link toErrorKey}. */
export function toErrorGroups(counts: ReadonlyMap<string, number>): ErrorGroup[] {
  const groups: ErrorGroup[] = []
  for (const [key, rows] of counts) {
    if (rows <= 0) continue
    groups.push({ ...parseErrorKey(key), rows })
  }
  return groups.sort((a, b) => b.rows - a.rows)
}

/** What follows the message of a cause that has this many others: ` (and 2 other messages)`. */
export function sayOtherMessages(others: number): string {
  return others === 0 ? '' : ` (and ${formatCounted(others, 'other message')})`
}

/** Merges groups of one code, most rows first: messages that name a post differ, but have the same cause. */
export function mergeErrorGroups(
  groups: readonly ErrorGroup[],
): { group: ErrorGroup; merged: ErrorGroup[] }[] {
  const causes = Map.groupBy(groups, ({ outcome, status, error_code, message }) =>
    JSON.stringify([outcome, status, error_code === null || outcome === 'invalid' ? message : error_code]),
  )
  return [...causes.values()]
    .flatMap((merged) => {
      const [first] = merged
      const rows = merged.reduce((sum, group) => sum + group.rows, 0)
      return first === undefined ? [] : [{ group: { ...first, rows }, merged }]
    })
    .sort((one, other) => other.group.rows - one.group.rows)
}

/** The merged groups of {@link mergeErrorGroups}, causes of unsent rows last. */
export function toErrorCauses(groups: readonly ErrorGroup[]): ErrorCause[] {
  return mergeErrorGroups(groups)
    .map(({ group, merged }) => ({ ...group, messages: merged.length }))
    .sort((one, other) => Number(one.outcome === 'invalid') - Number(other.outcome === 'invalid'))
}

/** Reads a key of {@link toErrorKey}, {@link toInvalidKey} or, without a message, {@link toCauseKey}. */
export function parseErrorKey(key: string): Omit<ErrorGroup, 'rows'> {
  const [outcome, status, errorCode, message = ''] = JSON.parse(key) as [
    ErrorGroup['outcome'],
    number | null,
    string | null,
    string?,
  ]
  return { outcome, status, error_code: errorCode, message }
}

const REUSE_ENDED: Record<string, string> = {
  closed:
    'The service closed connections after an answer without saying so. While it did, each request opened a new connection, which lowers the rate.',
  dropped:
    'The service dropped requests over connections that were used before. While it did, each request opened a new connection, which lowers the rate.',
  stray:
    'The service sent answers that no request asked for. Each request now opens a new connection. A row that was answered before may have the answer of another one, unless its answer repeats its id.',
}

/**
 * Warnings of a run. `reuseEnded`: how often connections were not reused, by reason; `redacted`: answers from
 * which a secret was removed; `texts`: answers by charset other than UTF-8, and `damaged` ones; `rows` by
 * their answers; `ruleNames`: names by {@link toRuleNameKey}.
 */
export function toRunWarnings({
  reuseEnded,
  redacted,
  texts,
  rows,
  ruleNames,
}: Record<
  'reuseEnded' | 'redacted' | 'texts' | 'rows' | 'ruleNames',
  ReadonlyMap<string, number> | undefined
>): RunWarning[] {
  const answers = redacted?.get('answer') ?? 0
  const damaged = texts?.get('damaged') ?? 0
  const empty = rows?.get('no_result') ?? 0
  const charsets = [...(texts ?? [])].filter(([name, n]) => name !== 'damaged' && n > 0)
  return [
    ...Object.entries(REUSE_ENDED)
      .filter(([why]) => (reuseEnded?.get(why) ?? 0) > 0)
      .map(([, message]) => ({ code: 'CONNECTIONS_NOT_REUSED', message })),
    ...warnOfNoResult(empty, 'row'),
    ...warnOfMissingModels(rows?.get('missing_models') ?? 0, 'row'),
    ...warnOfSharedTasks(rows?.get('shared_task') ?? 0, 'row'),
    ...warnOfRuleNames([...(ruleNames ?? [])].flatMap(([key, n]) => (n > 0 ? [key] : []))),
    ...(answers === 0 ? [] : [{ code: 'ANSWERS_REDACTED', message: toRedactedText(answers) }]),
    ...charsets.map(([name, n]) => ({
      code: 'ANSWERS_NOT_UTF8',
      message: `The service sent ${formatCounted(n, 'answer')} in ${name} instead of UTF-8. ${n === 1 ? 'It was' : 'They were'} decoded as that.`,
    })),
    ...(damaged === 0
      ? []
      : [
          {
            code: 'ANSWERS_DAMAGED',
            message: `The service sent ${formatCounted(damaged, 'answer')} with bytes that are not text in the charset of the answer. They show as \uFFFD.`,
          },
        ]),
  ]
}

/**
 * Warns of rows or requests that succeeded by an answer that says nothing of the content; `areLeftOut` where
 * the figures of rules do not include them.
 */
export function warnOfNoResult(
  count: number,
  noun: 'row' | 'request',
  { areLeftOut = false } = {},
): RunWarning[] {
  if (count === 0) return []
  const them = count === 1 ? 'it' : 'them'
  const then = areLeftOut ? `no figure of a rule includes ${them}` : `figures count ${them} as without rules`
  const message = `${formatCounted(count, noun)} succeeded by an answer with neither rules nor scores, such as an acknowledgement. Whether a rule triggered for ${them} is not known; ${then}.`
  return [{ code: 'NO_RESULT', message }]
}

/** Warns of rows or requests whose answer lacks a model that was requested. */
export function warnOfMissingModels(count: number, noun: 'row' | 'request'): RunWarning[] {
  if (count === 0) return []
  const message = `${formatCounted(count, noun)} succeeded by an answer that lacks a model that was requested. Whether a rule of that model triggered is not known; figures of rules include only the others.`
  return [{ code: 'MISSING_MODELS', message }]
}

/** Warns of rows or requests whose answer may be that of another one. */
export function warnOfSharedTasks(count: number, noun: 'row' | 'request'): RunWarning[] {
  if (count === 0) return []
  const message = `${formatCounted(count, noun)} succeeded by an answer with the task_id of another ${noun}, and nothing in it tells whose it is: the service gives equal content one task, or answers were swapped. ${count === 1 ? 'Its' : 'Their'} rules may be those of the other ${noun}.`
  return [{ code: 'SHARED_TASKS', message }]
}

/** Most names of rules noted because their rule had several. */
export const RULE_NAMES_MAX = 20

/** Most rules named in a warning. */
const RENAMED_RULES_SHOWN = 3

/** Longest id and name in it, UTF-16 code units. */
const RULE_NAME_SHOWN = 60

/** The journal's key for a name of a rule that had several. */
export function toRuleNameKey(ruleId: string, ruleName: string): string {
  const cut = (text: string) =>
    text.length > RULE_NAME_SHOWN ? `${text.slice(0, RULE_NAME_SHOWN - 1).toWellFormed()}…` : text
  return JSON.stringify([cut(ruleId), cut(ruleName)])
}

/** The rules that have several of these names, given by {@link toRuleNameKey}, and the first in words. */
function listRenamed(keys: Iterable<string>, areAll: boolean): { count: number; listed: string } {
  const names = [...new Set(keys)].sort().map((key) => JSON.parse(key) as [ruleId: string, ruleName: string])
  // An id stands in for the name of a rule without one.
  const named = names.filter(([ruleId, name]) => name !== ruleId)
  const rules = [...Map.groupBy(named, ([ruleId]) => ruleId)].flatMap(([ruleId, own]) =>
    own.length > 1 ? [`${ruleId} (${own.map(([, name]) => `"${name}"`).join(', ')})`] : [],
  )
  const isMore = rules.length > RENAMED_RULES_SHOWN || !areAll
  const listed = [...rules.slice(0, RENAMED_RULES_SHOWN), ...(isMore ? ['and others'] : [])].join(', ')
  return { count: rules.length, listed: toPrintable(listed) }
}

/** Warns of rules that had several names in a run: `keys` are those of all their names. */
export function warnOfRuleNames(keys: readonly string[]): RunWarning[] {
  const { count, listed } = listRenamed(keys, keys.length < RULE_NAMES_MAX)
  if (count === 0) return []
  const message = `The service gave ${count === 1 ? 'a rule' : 'rules'} several names in this run: ${listed}. Results show only the newest name of a rule; stored answers have their own.`
  return [{ code: 'RULES_RENAMED', message }]
}

/** Says that rules have several names in runs that are compared; nothing if each has one. */
export function sayRenamedOver(keys: Iterable<string>): string[] {
  const { count, listed } = listRenamed(keys, true)
  return count === 0
    ? []
    : [
        `Rules have several names in these runs: ${listed}. Rules are compared by id, under their newest name.`,
      ]
}

function toRedactedText(answers: number): string {
  return `The API key or proxy password was in ${formatCounted(answers, 'answer')} and is stored as [redacted]. Outcomes and counts are not affected; names and ids that contain it show [redacted].`
}

/** What a person types to accept that items may be added to an index twice. */
export const ADD_TWICE = 'add twice'

/**
 * Items that an index may hold twice after resending rows with an unknown outcome. A retry also resends
 * acknowledged rows whose callbacks are overdue.
 */
export function countDoubleAdds({ unknown, overdue }: RowCounts, how: 'resume' | 'retry'): number {
  return how === 'retry' ? unknown + overdue : unknown
}

/** Whether a typed text is {@link ADD_TWICE}. */
export function isAddTwice(text: string): boolean {
  return text.trim().toLowerCase() === ADD_TWICE
}
