import type { ErrorGroup, RunSummary } from '../../../shared/run.ts'
import { COMMAND_PREFIX } from '../invocation.ts'

/** What to do, and the command that does it, where there is one. */
export interface Advice {
  text: string
  command?: string
}

interface AdviceRule {
  applies(group: ErrorGroup): boolean
  advise(group: ErrorGroup, summary: RunSummary): Advice
}

const hasStatus = (from: number, to: number) => (group: ErrorGroup) =>
  group.status !== null && group.status >= from && group.status <= to

/** The first that applies is said; messages of the engine's own, such as "no such host", already say what to do. */
const RULES: readonly AdviceRule[] = [
  {
    applies: (group) =>
      group.status === 401 || group.status === 403 || group.error_code === 'INVALID_API_KEY',
    advise: () => ({
      text: 'Check the API key in the environment variable; keys are on the dashboard of the project, where deleting or refreshing one ends it at once.',
    }),
  },
  {
    applies: (group) => /duplicate|exists|unique/i.test(`${group.error_code ?? ''} ${group.message}`),
    advise: (group) => ({
      text: `The service has these post_ids from an earlier submission, whose result it does not give again. Where that means delivered, say so: retry RUN --delivered-code ${group.error_code ?? 'CODE'}.`,
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
    advise: () => ({
      text: 'They may have been taken. --on-unknown resend sends them again, with the same post_id and body.',
    }),
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
      command: `${COMMAND_PREFIX} export ${run_id} rejected.csv --state rejected`,
    }),
  },
]

/** What a person can do about rows that ended alike; null where the message says it already. */
export function adviseOn(group: ErrorGroup, summary: RunSummary): Advice | null {
  return RULES.find(({ applies }) => applies(group))?.advise(group, summary) ?? null
}
