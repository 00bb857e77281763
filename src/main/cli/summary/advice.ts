import { describeDoubleAdds } from '../../../shared/run/resend-consent.ts'
import type { ErrorGroup, RunSummary } from '../../../shared/run/run.ts'
import { isKeyRefusal } from '../../../shared/service/errors.ts'
import { COMMAND_PREFIX } from '../invocation.ts'

/** What to do, and the command that does it, where there is one. */
export interface Advice {
  text: string
  command?: string
}

interface AdviceRule {
  applies(group: ErrorGroup, summary: RunSummary): boolean
  advise(group: ErrorGroup, summary: RunSummary): Advice
}

const hasStatus = (from: number, to: number) => (group: ErrorGroup) =>
  group.status !== null && group.status >= from && group.status <= to

/** Whether the service says that it had the rows before. */
export function isDuplicate(group: ErrorGroup): boolean {
  if (group.outcome === 'invalid') return false
  return /duplicate|exists|unique/i.test(`${group.error_code ?? ''} ${group.message}`)
}

/** Whether the fault lies in what was asked of all rows alike, and in none of the rows. */
function isOfEveryRow({ error_code }: ErrorGroup): boolean {
  return error_code === 'INVALID_WATCHLIST' || error_code === 'INVALID_CUSTOM_INDEX'
}

/** Whether rows would be refused again, sent as they are: a final 4xx that is about neither the key nor the time. */
export function isFinal(group: ErrorGroup): boolean {
  const { outcome, status, error_code } = group
  if (outcome !== 'rejected' || !hasStatus(400, 499)(group)) return false
  return status !== null && ![408, 425, 429].includes(status) && !isKeyRefusal(status, error_code)
}

/** The command that takes the service's word for delivered, without the program's name. */
export function toDeliveredRetry(runId: string, group: ErrorGroup): string {
  return `retry ${runId} --delivered-code ${group.error_code ?? 'CODE'}`
}

function toRejectedExport(runId: string): string {
  return `${COMMAND_PREFIX} export ${runId} rejected.csv --state rejected`
}

/** The first that applies is said; messages of the engine's own, such as "no such host", already say what to do. */
const RULES: readonly AdviceRule[] = [
  {
    applies: ({ status, error_code }, { operation }) =>
      operation !== 'appeal-status' && isKeyRefusal(status, error_code),
    advise: (_group, { run_id, load }) => {
      const text =
        'Check the API key in the environment variable; keys are on the dashboard of the project, where deleting or refreshing one ends it at once.'
      if (load !== undefined) return { text }
      return {
        text: `${text} With the right key, these rows are sent again by retry; resume sends only what was not sent yet.`,
        command: `${COMMAND_PREFIX} retry ${run_id}`,
      }
    },
  },
  {
    applies: isDuplicate,
    advise: (group, { run_id }) => ({
      text: 'The service has these post_ids from an earlier submission, whose result it does not give again. To submit the source anew, give each run ids of its own: --set "post_id={{run}}-{{row}}". Where it means delivered, say so:',
      command: `${COMMAND_PREFIX} ${toDeliveredRetry(run_id, group)}`,
    }),
  },
  {
    applies: isOfEveryRow,
    advise: ({ error_code }, { target }) => {
      const [what, flag] =
        error_code === 'INVALID_WATCHLIST' ? ['watchlist', '--watchlist'] : ['custom index', '--index']
      const name = target === undefined ? '' : ` "${target}"`
      return {
        text: `The service has no ${what}${name} for this key, and every row goes there: correct ${flag} and submit the source again. A retry would go to the same ${what}.`,
      }
    },
  },
  {
    applies: (group) => group.error_code === 'INVALID_APPEAL',
    advise: (_group, { run_id }) => ({
      text: 'The service does not know these appeals. List the rows to correct their appeal_id:',
      command: toRejectedExport(run_id),
    }),
  },
  {
    applies: ({ status, error_code }, { operation }) =>
      operation === 'appeal-status' && isKeyRefusal(status, error_code),
    advise: () => ({
      text: 'Appeals are read without credentials, so something in front of the service refused: check --base-url, and any gateway or proxy.',
    }),
  },
  {
    applies: hasStatus(429, 429),
    advise: () => ({
      text: 'The service limits the rate: lower --concurrency, set --rate, or raise --retries.',
    }),
  },
  {
    applies: (group) => group.outcome === 'unknown',
    advise: (_group, { operation, rows, run_id }) =>
      operation === 'index-add'
        ? {
            text: describeDoubleAdds(rows.unknown + rows.overdue),
            command: `${COMMAND_PREFIX} retry ${run_id} --resend-index-adds`,
          }
        : {
            text: 'They may have been taken. --on-unknown resend sends them again, with the same post_id and body.',
          },
  },
  {
    applies: (group) => group.status === 404 || group.status === 405,
    advise: () => ({ text: 'There is no such endpoint at this address: check --base-url and its path.' }),
  },
  {
    applies: hasStatus(413, 413),
    advise: () => ({ text: 'The service takes no body of this size: shorten the content of these rows.' }),
  },
  {
    applies: (group) => group.outcome === 'rejected' && hasStatus(400, 499)(group),
    advise: (_group, { run_id }) => ({
      text: 'The service does not take these rows as they are. List them to correct them:',
      command: toRejectedExport(run_id),
    }),
  },
]

/** What a person can do about rows that ended alike; null where the message says it already. */
export function adviseOn(group: ErrorGroup, summary: RunSummary): Advice | null {
  return RULES.find(({ applies }) => applies(group, summary))?.advise(group, summary) ?? null
}
