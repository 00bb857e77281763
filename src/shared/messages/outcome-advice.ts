import { mayAddTwice, sendsKey } from '../operations/operations.ts'
import { type ErrorGroup, type RowCounts, type RunSummary, toServiceUrl } from '../run/run.ts'
import { isKeyRefusal } from '../service/errors.ts'
import { quoteForShell } from '../shell-command.ts'
import { formatCounted } from './figure-text.ts'
import { isProblemCode, PROBLEM_MESSAGES } from './problem-messages.ts'

/** The properties of rows with the same outcome that advice depends on. */
type Outcome = Pick<ErrorGroup, 'outcome' | 'status' | 'error_code'> & Partial<Pick<ErrorGroup, 'message'>>

/** Facts of the run that advice may mention. */
interface Subject {
  operation: string
  runId: string
  /** The index or watchlist that every row goes to. */
  target?: string | undefined
  /** Whether it is a load test, which cannot be retried. */
  isLoad: boolean
  unknownRows: number
  errorCode: string | null
  /** Where the requests went. */
  baseUrl: string
  /** Whether all requests of the run were answered like this. */
  isWhole: boolean
  /** Whether rows were sent with corrections. */
  isCorrected: boolean
}

/** What to do, and the command that does it, without the program's name. */
export interface Advice {
  text: string
  command?: string
}

interface OutcomeEntry {
  applies(outcome: Outcome, operation: string): boolean
  /** Null if the message of the rows already says it. */
  terminal(subject: Subject): Advice | null
  window: string
  /** Shown with the details of one row, if that differs. */
  windowRow?: string
  /** The step of a new run that can correct all of these rows, if there is one. */
  mend?: MendingStep
}

/** A step of a new run that decides what is sent for all rows. */
export type MendingStep = 'operation' | 'mapping'

const RETRY_WITH_KEY = 'Check the API key and that it belongs to this address, then retry these rows.'
const LOWER_CONCURRENCY =
  'The service limits how fast you may send. Lower the concurrency and retry these rows.'

const WHOLE_ANSWER_BELOW = 'The service answered with an error. Its whole answer is below.'

const hasCode = (code: string) => (outcome: Outcome) => outcome.error_code === code
const hasStatus =
  (...statuses: number[]) =>
  ({ status }: Outcome) =>
    status !== null && statuses.includes(status)
const endedAs = (outcome: ErrorGroup['outcome']) => (group: Outcome) => group.outcome === outcome

/** Advice to correct rows, for the command line. */
const listRejected = ({ runId }: Subject): Advice => ({
  text: 'The service will not accept these rows unchanged. Export them, then correct them:',
  command: `export ${runId} rejected.csv --state rejected`,
})

const nothing = () => null

/** Says that the target of every row does not exist. */
const missingTarget =
  (what: string, flag: string) =>
  ({ target }: Subject): Advice => ({
    text: `The ${what}${target === undefined ? '' : ` "${target}"`} does not exist for this API key, and every row is sent to it. Correct ${flag} and submit the source again; a retry would go to the same ${what}.`,
  })

/** The first applicable entry is used. */
const OUTCOMES: readonly OutcomeEntry[] = [
  {
    applies: ({ outcome }, operation) =>
      mayAddTwice(operation) && (outcome === 'unknown' || outcome === 'overdue'),
    terminal: ({ unknownRows, runId }) => ({
      text: sayDoubleAdds(unknownRows),
      command: `retry ${runId} --resend-index-adds`,
    }),
    window:
      'The service may have added these items. Sending them again may add them twice, so a retry asks you to type a confirmation.',
  },
  {
    applies: ({ status, error_code }, operation) =>
      !sendsKey({ kind: operation }) && isKeyRefusal(status, error_code),
    terminal: () => ({
      text: 'Appeals are read without credentials, so something in front of the service refused the request. Check --base-url, and any gateway or proxy.',
    }),
    window:
      'Appeals are read without credentials, so something in front of the service refused the request. Check the address, and any gateway or proxy.',
  },
  {
    applies: ({ status, error_code }) => isKeyRefusal(status, error_code),
    terminal: ({ runId, isLoad }) => {
      const text =
        'Set the right API key in its environment variable, or replace a kept one with connection key. The project dashboard shows your keys; a key that is deleted or refreshed there stops working at once.'
      if (isLoad) return { text }
      return {
        text: `${text} With the right key, retry sends these rows again, and so does resume while the run has rows that were not sent yet.`,
        command: `retry ${runId}`,
      }
    },
    window: RETRY_WITH_KEY,
  },
  {
    applies: isDuplicate,
    terminal: ({ runId, errorCode, isCorrected }) => ({
      text: isCorrected
        ? `The service has these post_ids from an earlier submission and does not return their results again. It may have the rows as they were before they were corrected. To submit them as new posts, with ids that differ in each run, use run-again ${runId}. Only if they arrived as they are corrected, count them as delivered:`
        : 'The service has these post_ids from an earlier submission and does not return their results again. To submit the rows as new posts, use ids that differ in each run: --set "post_id={{run}}-{{row}}". If this error means that the rows arrived before, count them as delivered:',
      command: toDeliveredRetry(runId, errorCode),
    }),
    window:
      'The service already has this post_id: it was probably delivered before. To send it again as a new post, set post_id to {{run}}-{{row}}.',
  },
  {
    applies: hasCode('INVALID_WATCHLIST'),
    terminal: missingTarget('watchlist', '--watchlist'),
    window: 'The watchlist does not exist. Check its name under Operation.',
    mend: 'operation',
  },
  {
    applies: hasCode('INVALID_CUSTOM_INDEX'),
    terminal: missingTarget('custom index', '--index'),
    window: 'The custom index does not exist. Check its id under Operation.',
    mend: 'operation',
  },
  {
    applies: hasCode('INVALID_APPEAL'),
    terminal: ({ runId }) => ({
      text: 'The service does not know these appeals. Export the rows, then correct their appeal_id:',
      command: `export ${runId} rejected.csv --state rejected`,
    }),
    window: 'The service does not know an appeal with this id. Check the id.',
  },
  {
    applies: hasCode('PARAM_REQUIRED'),
    terminal: listRejected,
    window:
      'A field the service needs is missing or of the wrong type. Compare the request in a row’s details with the mapping.',
    windowRow:
      'A field the service needs is missing or of the wrong type. Compare the request below with the mapping.',
    mend: 'mapping',
  },
  {
    applies: (outcome, operation) =>
      operation === 'task' &&
      outcome.error_code === 'INVALID_PARAM' &&
      /\bmodels?\b/i.test(outcome.message ?? ''),
    terminal: () => ({
      text: 'The service refuses the model. Correct --model and submit the source again; a retry would ask for the same model.',
    }),
    window: 'The service refuses the model. Choose another under Operation.',
    mend: 'operation',
  },
  {
    applies: hasCode('INVALID_PARAM'),
    terminal: listRejected,
    window:
      'The service refuses a value. Open a row to see which one. Correct these rows, or the mapping, and retry them.',
    windowRow: 'The service refuses a value. Correct the row, or the mapping, and retry it.',
    mend: 'mapping',
  },
  {
    applies: hasCode('INVALID_CUSTOM_INDEX_ITEM'),
    terminal: listRejected,
    window: 'The item is not in this index. It may have been removed already, or be in another index.',
  },
  {
    applies: hasCode('REQUIRE_AT_LEAST_ONE_PARAM'),
    terminal: listRejected,
    window: 'The row has no media address. Fill its url or media cell, or map one of these fields.',
    mend: 'mapping',
  },
  {
    applies: (outcome, operation) => operation === 'appeal-status' && outcome.outcome === 'unknown',
    terminal: () => ({
      text: 'A look-up changes nothing, so these appeals can safely be asked for again: add --on-unknown resend.',
    }),
    window: 'A look-up changes nothing. Retry these rows to ask for them again.',
  },
  {
    applies: endedAs('unknown'),
    terminal: () => ({
      text: 'The service may have accepted these rows. To send them again with the same post_id and body, add --on-unknown resend.',
    }),
    window:
      'The service may have accepted these rows. A retry sends the same requests again, and may create duplicates.',
  },
  {
    applies: (outcome) => outcome.status === 429 || outcome.error_code === 'RATE_LIMITED',
    terminal: () => ({
      text: 'The service limits the rate. Lower --concurrency, set --rate, or raise --retries.',
    }),
    window: LOWER_CONCURRENCY,
  },
  {
    applies: hasStatus(404, 405),
    terminal: ({ baseUrl, isWhole }) => ({ text: sayMissingEndpoint(baseUrl, isWhole) }),
    window: 'The service has no endpoint at this address. Check the base URL.',
  },
  {
    applies: hasStatus(413),
    terminal: () => ({
      text: 'The content of these rows is too large for the service. Shorten it.',
    }),
    window: 'The content is too large for the service. Shorten it.',
  },
  {
    applies: hasStatus(408),
    terminal: listRejected,
    window: 'The service timed out. Lower the concurrency and retry these rows.',
  },
  {
    applies: ({ status }) => status !== null && status >= 500,
    terminal: nothing,
    window: 'The service failed. Wait a little, then retry these rows.',
  },
  {
    applies: ({ outcome, status }) => outcome === 'rejected' && status !== null && status >= 400,
    terminal: listRejected,
    window: 'The service answered with an error. Open a row to read its whole answer.',
    windowRow: WHOLE_ANSWER_BELOW,
  },
  {
    applies: endedAs('rejected'),
    terminal: nothing,
    window: 'The service answered with an error. Open a row to read its whole answer.',
    windowRow: WHOLE_ANSWER_BELOW,
  },
  {
    applies: endedAs('failed'),
    terminal: nothing,
    window:
      'The service did not accept these rows. Check the address, the network and the proxy, then retry these rows.',
  },
  {
    applies: endedAs('overdue'),
    terminal: nothing,
    window:
      'The service accepted these rows, but their callbacks are overdue. A late callback still completes its row. Check that the service can reach the address of the receiver.',
  },
]

const NOT_SENT = 'These rows were not sent. Correct them, or the mapping, and retry them.'

/** What a person at the window can do about rows with the same outcome, or about the one open `row`. */
export function adviseInWindow(outcome: Outcome, operation: string, at: 'rows' | 'row' = 'rows'): string {
  const { error_code: code } = outcome
  if (outcome.outcome === 'invalid') {
    return code !== null && isProblemCode(code) ? PROBLEM_MESSAGES[code].remedy : NOT_SENT
  }
  const found = OUTCOMES.find(({ applies }) => applies(outcome, operation))
  return (at === 'row' ? found?.windowRow : undefined) ?? found?.window ?? ''
}

/**
 * The step that can correct all sent rows, if the service refused every one for the same reason; null if rows
 * ended in other ways too, for several reasons, or if no step of a new run helps.
 */
export function findMendingStep(
  {
    rejected,
    ...others
  }: Pick<RowCounts, 'succeeded' | 'rejected' | 'failed' | 'unknown' | 'overdue' | 'awaiting'>,
  errors: readonly ErrorGroup[],
  operation: string,
): MendingStep | null {
  const refused = errors.filter(({ outcome }) => outcome === 'rejected')
  const [only] = refused
  const { succeeded, failed, unknown, overdue, awaiting } = others
  if (rejected === 0 || succeeded + failed + unknown + overdue + awaiting > 0) return null
  if (only === undefined || refused.length > 1) return null
  return OUTCOMES.find(({ applies }) => applies(only, operation))?.mend ?? null
}

/** What a person at the command line can do about rows with the same outcome; null if the message says it. */
export function adviseInTerminal(group: ErrorGroup, summary: RunSummary): Advice | null {
  const { run_id: runId, operation, target, rows, errors } = summary
  const isLike = ({ outcome, status }: ErrorGroup) => outcome === 'invalid' || status === group.status
  const found = OUTCOMES.find(({ applies }) => applies(group, operation))
  return (
    found?.terminal({
      operation,
      runId,
      target,
      isLoad: summary.load !== undefined,
      unknownRows: rows.unknown + rows.overdue,
      errorCode: group.error_code,
      baseUrl: toServiceUrl(summary),
      isWhole: summary.requests.succeeded === 0 && errors.every(isLike),
      isCorrected: summary.corrected !== undefined,
    }) ?? null
  )
}

/** What to do if nothing exists at the path of an endpoint. */
function sayMissingEndpoint(baseUrl: string, isWhole: boolean): string {
  if (!isWhole) return 'The service found nothing at this address. Export these rows, and compare their ids.'
  const { origin } = new URL(baseUrl)
  const wrong = `The service has no endpoint at ${baseUrl}/api/…, so the base URL is probably wrong. Sluice adds the path of each endpoint to it.`
  return baseUrl === origin
    ? `${wrong} Check the host, and whether the deployment needs a path before /api. Then submit the source again with --base-url.`
    : `${wrong} Submit the source again with another one, such as --base-url ${origin}`
}

/** Whether the service says that it already had the rows. */
export function isDuplicate({ outcome, error_code, message = '' }: Outcome): boolean {
  if (outcome === 'invalid') return false
  return /duplicate|exists|unique/i.test(`${error_code ?? ''} ${message}`)
}

/** Whether unchanged rows would be refused again: a final 4xx that depends neither on the key nor on time. */
export function isFinal({ outcome, status, error_code }: Outcome): boolean {
  if (outcome !== 'rejected' || status === null || status < 400 || status > 499) return false
  return ![408, 425, 429].includes(status) && !isKeyRefusal(status, error_code)
}

/** The command that counts this error code as delivered. */
export function toDeliveredRetry(runId: string, errorCode: string | null): string {
  return `retry ${runId} --delivered-code ${quoteForShell(errorCode ?? 'CODE')}`
}

/** What may happen to index items that are sent again. */
export function sayDoubleAdds(items: number): string {
  const they = items === 1 ? 'it' : 'they'
  return `Sending again may add ${formatCounted(items, 'item')} a second time: ${they} may already be in the index.`
}
