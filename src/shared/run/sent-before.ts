import { z } from 'zod'
import { chooseWording, type Surface } from '../messages/error-entry.ts'
import { formatCount, formatCounted } from '../messages/figure-text.ts'

/**
 * What happened to a row that was sent before: the service accepted it, did not accept it or answered with an
 * error, or the outcome is unknown (it may have been accepted).
 */
export type SentOutcome = 'taken' | 'unknown' | 'not_taken'

/** An earlier submission of a row, and its row in that run, which people know by `number`. */
export interface SentBefore {
  /** The run, the outcome there, and the names, joined by +, by which the row is recognized. */
  origin: { by: string; outcome: SentOutcome; runId: string }
  row: number
  number: string
  /** Whether its text, URL or notes were different then. */
  isChanged: boolean
}

/** Which rows sent before are skipped: none, those accepted, or also those perhaps accepted. */
export type SkipRule = 'none' | 'taken' | 'taken_or_unknown'

const OTHER_CONTENT = 'another text, URL or notes'

/** Why a row is skipped, as a sentence without a full stop. */
export function saySkipped({ origin: { outcome, runId }, number, isChanged }: SentBefore): string {
  const where = `${isChanged ? ` with ${OTHER_CONTENT}` : ''}, in run ${runId}, row ${number}`
  return outcome === 'taken'
    ? `sent before${where}`
    : `may have been sent before${where}, without a usable answer`
}

/** The names that identify rows, in words: `user_id and text_data`. */
export function sayKey(by: string): string {
  return by.split('+').join(' and ')
}

/** Rows of a source that earlier runs of the workspace sent to the same service. */
export const sentBeforeSchema = z.object({
  /** Sendable rows that the service accepted before, or may have accepted, including skipped ones. */
  rows: z.int(),
  /** Of those, rows without a usable answer: the service may have accepted them. */
  unknown: z.int(),
  /** Rows sent before that the service did not accept: they count as new. */
  not_taken: z.int(),
  /** Of the skipped rows with `only_new`, else of `rows`: those sent with another text, URL or notes. */
  changed: z.int().exactOptional(),
  /** The fields or columns, joined by +, by which rows are recognized. */
  by: z.array(z.string()),
  /** The runs that sent `rows`, newest first. */
  runs: z.array(z.object({ run_id: z.string(), rows: z.int() })),
  /** Unreadable runs: what they sent counts as new. */
  unreadable: z.array(z.string()).exactOptional(),
  /** With `only_new`: runs to the same address with another key, whose rows count as new. */
  other_key: z.array(z.string()).exactOptional(),
  /**
   * With `only_new`: runs to the same address with other headers, Unix socket or resolved address. Their rows
   * count as new.
   */
  other_connection: z.array(z.string()).exactOptional(),
  /** Runs whose source lacks the columns by which rows are recognized: their rows count as new. */
  without_column: z.array(z.string()).exactOptional(),
  /** Those of `runs` whose key or header values could not be compared: they count as equal. */
  key_unknown: z.array(z.string()).exactOptional(),
})

export type SentBeforeSummary = z.infer<typeof sentBeforeSchema>

/** The journal's key for counting rows of an earlier run by outcome. */
export function toSentBeforeKey({ outcome, runId, by }: SentBefore['origin']): string {
  return `${outcome} ${runId} ${by}`
}

/** The journal's key for counting rows that were sent before with another text, URL or notes. */
export const CHANGED_KEY = 'changed'

const APART = ['unreadable', 'other_key', 'other_connection', 'without_column', 'key_unknown'] as const

/** The journal's key for a run whose rows do not count as sent before, or may not. */
export function toApartKey(why: (typeof APART)[number], runId: string): string {
  return `${why} ${runId}`
}

function isApart(text: string): text is (typeof APART)[number] {
  return (APART as readonly string[]).includes(text)
}

/** Sums up the journal's counts; null if nothing was sent before. */
export function toSentBefore(counts: ReadonlyMap<string, number> | undefined): SentBeforeSummary | null {
  const summary: SentBeforeSummary = { rows: 0, unknown: 0, not_taken: 0, by: [], runs: [] }
  const apart = {
    unreadable: new Set<string>(),
    other_key: new Set<string>(),
    other_connection: new Set<string>(),
    without_column: new Set<string>(),
    key_unknown: new Set<string>(),
  }
  const runs = new Map<string, number>()
  for (const [key, rows] of counts ?? []) {
    const [outcome, runId = '', ...names] = key.split(' ')
    if (rows <= 0) continue
    if (key === CHANGED_KEY) {
      summary.changed = rows
      continue
    }
    if (outcome !== undefined && isApart(outcome)) {
      apart[outcome].add(runId)
      continue
    }
    const by = names.join(' ')
    if (!summary.by.includes(by)) summary.by.push(by)
    if (outcome === 'not_taken') {
      summary.not_taken += rows
      continue
    }
    summary.rows += rows
    if (outcome === 'unknown') summary.unknown += rows
    runs.set(runId, (runs.get(runId) ?? 0) + rows)
  }
  const { key_unknown: _compared, ...asNew } = apart
  const isNothingApart = Object.values(asNew).every(({ size }) => size === 0)
  if (summary.by.length === 0 && isNothingApart) return null
  summary.by.sort()
  summary.runs = [...runs]
    .map(([run_id, rows]) => ({ run_id, rows }))
    .sort((a, b) => (a.run_id < b.run_id ? 1 : -1))
  const keyUnknown = [...apart.key_unknown].filter((runId) => runs.has(runId))
  return {
    ...summary,
    ...(apart.unreadable.size > 0 && { unreadable: [...apart.unreadable].sort() }),
    ...(apart.other_key.size > 0 && { other_key: [...apart.other_key].sort() }),
    ...(apart.other_connection.size > 0 && { other_connection: [...apart.other_connection].sort() }),
    ...(apart.without_column.size > 0 && { without_column: [...apart.without_column].sort() }),
    ...(keyUnknown.length > 0 && { key_unknown: keyUnknown.sort() }),
  }
}

/** Most runs named; of more, only the newest. */
const NAMED_RUNS = 3

/**
 * What was sent before, in sentences; empty if nothing. `skipped` of the `sendable` rows are left out because
 * of it, as `isOnlyNew` demands.
 */
export function listSentBefore(
  sentBefore: SentBeforeSummary | undefined | null,
  {
    skipped = 0,
    sendable,
    isOnlyNew,
  }: { skipped?: number | undefined; sendable: number; isOnlyNew: boolean },
  surface: Surface,
): string[] {
  if (sentBefore === undefined || sentBefore === null) return []
  const { rows, unknown, not_taken: notTaken, changed = 0, by, unreadable = [] } = sentBefore
  const { other_key: otherKey = [], key_unknown: keyUnknown = [] } = sentBefore
  const { other_connection: otherConnection = [], without_column: withoutColumn = [] } = sentBefore
  const key = `same ${by.map(sayKey).join(', or ')}`
  const of = `${formatCount(rows)} of ${formatCounted(sendable + skipped, 'row')}`
  const told = `${of} ${rows === 1 ? 'was' : 'were'} sent before (${key}): ${sayRuns(sentBefore)}.`
  const change = `${formatCounted(changed, 'of these has', 'of these have')} ${OTHER_CONTENT} now${isOnlyNew ? `, and ${changed === 1 ? 'is' : 'are'} not sent` : ''}.`
  const [only, ...others] = by.map((names) => names.split('+'))
  const changing = only?.includes('term') ? 'notes' : 'text_data'
  const namesChanging = only === undefined || others.length > 0 || only.includes(changing)
  const again = `To send ${changing === 'notes' ? 'changed notes' : 'a changed text'} again, add`
  const toSendChanged = chooseWording(
    {
      terminal: `${again} --new-by ${only?.join('+')}+${changing}.`,
      window: `${again} ${changing} to what rows are recognized by.`,
    },
    surface,
  )
  const known = `${formatCounted(unknown, 'of them has', 'of them have')} no usable answer: the service may have ${unknown === 1 ? 'it' : 'them'} or not.`
  // Rows with generated ids are recognized by several fields, and only skipped if these are named.
  const contents = by.filter((names) => names.includes('+'))
  const advice = chooseWording(
    {
      terminal: `To send only what is new, add --only-new${contents.map((names) => ` --new-by ${names}`).join(' or')}.`,
      window: 'They are sent again unless you choose to send only what is new.',
    },
    surface,
  )
  return [
    ...(rows === 0 ? [] : [told]),
    ...(unknown === 0 ? [] : [known]),
    ...(skipped === 0 ? [] : [`${formatCounted(skipped, 'row is', 'rows are')} skipped.`]),
    ...(changed === 0 ? [] : [change]),
    ...(changed === 0 || !isOnlyNew || namesChanging ? [] : [toSendChanged]),
    ...(rows === 0 || isOnlyNew ? [] : [advice]),
    ...(notTaken === 0
      ? []
      : [
          `${formatCounted(notTaken, 'row was', 'rows were')} sent before and not taken: ${notTaken === 1 ? 'it counts' : 'they count'} as new.`,
        ]),
    ...(keyUnknown.length === 0
      ? []
      : [
          `Whether the key and the values of headers were the same could not be compared for ${sayIds(keyUnknown)}.`,
        ]),
    ...(otherKey.length === 0
      ? []
      : [
          `What was sent with another key counts as new, ${sayIds(otherKey)}. If both keys are of one project, store a connection that has both.`,
        ]),
    ...(otherConnection.length === 0
      ? []
      : [
          `What was sent with other headers, to another Unix socket or another resolved address counts as new, ${sayIds(otherConnection)}.`,
        ]),
    ...(withoutColumn.length === 0
      ? []
      : [
          `What was sent from a source without the column that rows are recognized by counts as new, ${sayIds(withoutColumn)}.`,
        ]),
    ...(unreadable.length === 0
      ? []
      : [
          `What these runs sent is not known, since they cannot be read, and counts as new: ${unreadable.join(', ')}.`,
        ]),
  ]
}

function sayIds(runs: readonly string[]): string {
  const named = runs.slice(-NAMED_RUNS)
  const more = runs.length - named.length
  return `in ${named.join(', ')}${more === 0 ? '' : ` and ${formatCounted(more, 'other run')}`}`
}

function sayRuns({ runs }: SentBeforeSummary): string {
  const named = runs.slice(0, NAMED_RUNS)
  const more = runs.slice(NAMED_RUNS)
  const rest = more.reduce((sum, { rows }) => sum + rows, 0)
  return [
    ...named.map(({ run_id: runId, rows }) => `${formatCount(rows)} in run ${runId}`),
    ...(more.length === 0 ? [] : [`${formatCount(rest)} in ${formatCounted(more.length, 'other run')}`]),
  ].join(', ')
}
