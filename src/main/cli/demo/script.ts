import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatProblemOfRow } from '../../../shared/messages/problem-messages.ts'
import { type Plan, type PlanInput, planSchema } from '../../../shared/plan/plan.ts'
import { toRowNumber } from '../../../shared/plan/source-place.ts'
import { foreign, number, text } from '../../../shared/report/report.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine.ts'
import { SAMPLE_FILES } from '../../program-files.ts'
import type { SandboxOptions } from '../../sandbox/sandbox-options.ts'
import { formatTable } from '../terminal/layout.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The demo's sandbox: slow enough to watch, with a few failures, the same in every demo. */
export const DEMO_SANDBOX = {
  seed: 'demo',
  latency: '110ms±70ms',
  faults: ['5xx=2%', '429=1%,retry-after=1', 'reset-before=1%'],
  callbacks: 'delay=150ms±100ms,shuffle=300ms,early=10%',
} as const satisfies SandboxOptions

/** The sandbox's watchlist that receives the terms. */
const DEMO_WATCHLIST = 'sandbox_terms'

const RETRIES = 6

const CONCURRENCY = 8

/** The demo's plans, for a sandbox at `baseUrl`. */
export function createDemoPlans(baseUrl: string): { tasks: Plan; async: Plan; terms: Plan } {
  const toPlan = (name: string, path: string, operation: PlanInput['operation']) =>
    planSchema.parse({
      name,
      connection: { baseUrl },
      source: { path },
      operation,
      pace: { kind: 'closed', concurrency: CONCURRENCY },
      retry: { limit: RETRIES },
    })
  return {
    tasks: toPlan('Demo', SAMPLE_FILES.posts, { kind: 'task' }),
    async: toPlan('Demo, asynchronous', SAMPLE_FILES.media, { kind: 'task', mode: 'async' }),
    terms: toPlan('Demo, watchlist', SAMPLE_FILES.terms, {
      kind: 'watchlist-add',
      watchlist: DEMO_WATCHLIST,
    }),
  }
}

/** Posts of the sample that are submitted before the run, so that the service rejects them as duplicates. */
const SUBMITTED_EARLIER = ['post-0020', 'post-0111', 'post-0112', 'post-0240', 'post-0301'] as const

/** Submits a few posts of the sample beforehand, as if that had happened last week. */
export async function submitEarlier(baseUrl: string, apiKey: string): Promise<void> {
  for (const postId of SUBMITTED_EARLIER) {
    let status = 0
    // The sandbox sometimes fails on purpose; each post succeeds within a few tries.
    for (let attempt = 1; attempt <= 10 && status !== 200; attempt += 1) {
      const answer = await fetch(`${baseUrl}/api/v1/task/sync`, {
        method: 'POST',
        headers: { authorization: `token ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ post_id: postId, user_id: 'lastweek', text_data: 'Submitted last week.' }),
      }).catch(() => null)
      await answer?.body?.cancel()
      status = answer?.status ?? 0
    }
    if (status !== 200) {
      throw new SluiceError({
        id: 'demo_sandbox_refuses',
        postId,
        tries: 10,
        status: status === 0 ? null : status,
      })
    }
  }
}

/** What did not go as scripted, a sentence each; empty if everything did. */
export function findDifferences(runs: { tasks: RunSummary; async: RunSummary; terms: RunSummary }): string[] {
  return [...compareTasks(runs.tasks), ...compareAsync(runs.async), ...compareTerms(runs.terms)]
}

function compareTasks(summary: RunSummary): string[] {
  const differences = compareRows(summary, EXPECTED_ROWS)
  const triggered = new Set(summary.triggered_rules.map((rule) => rule.rule_name))
  for (const rule of EXPECTED_RULES) {
    if (!triggered.has(rule)) differences.push(`no row triggered the rule ${rule}`)
  }
  if (summary.requests.retried === 0) differences.push('no request had to be tried again')
  if (summary.retry_after.answers === 0) differences.push('no answer asked to wait with Retry-After')
  if (summary.latency_ms.http_req_duration === undefined) differences.push('no latency was measured')
  return differences
}

function compareAsync(summary: RunSummary): string[] {
  const differences = compareRows(summary, EXPECTED_ASYNC_ROWS)
  const settled = summary.callbacks?.settled ?? 0
  if (settled !== EXPECTED_ASYNC_ROWS.read) differences.push(`callbacks settled ${settled} of 24 rows`)
  if (summary.latency_ms.callback_latency === undefined) differences.push('no callback latency was measured')
  return differences
}

function compareTerms(summary: RunSummary): string[] {
  const differences = compareRows(summary, EXPECTED_TERM_ROWS)
  const [expected, found] = [JSON.stringify(EXPECTED_TERMS), JSON.stringify(summary.terms)]
  if (found !== expected) differences.push(`terms: expected ${expected}, found ${found}`)
  return differences
}

function compareRows({ name, state, rows }: RunSummary, expected: RunSummary['rows']): string[] {
  const differences = state === 'completed' ? [] : [`${name}: should be completed, and is ${state}`]
  const found = new Map(Object.entries(rows))
  for (const [count, wanted] of Object.entries(expected)) {
    if (found.get(count) !== wanted) {
      differences.push(`${name}: rows ${count}: expected ${wanted}, found ${found.get(count)}`)
    }
  }
  return differences
}

const NOTHING_AMISS = { invalid: 0, rejected: 0, failed: 0, unknown: 0, overdue: 0, awaiting: 0, not_sent: 0 }

/** The expected outcome of the demo's first run: every row of the sample in exactly one count. */
const EXPECTED_ROWS = {
  ...NOTHING_AMISS,
  read: 372,
  invalid: 8,
  succeeded: 359,
  rejected: SUBMITTED_EARLIER.length,
} as const satisfies RunSummary['rows']

const EXPECTED_ASYNC_ROWS = {
  ...NOTHING_AMISS,
  read: 24,
  succeeded: 24,
} as const satisfies RunSummary['rows']

const EXPECTED_TERM_ROWS = { ...NOTHING_AMISS, read: 12, succeeded: 12 } as const satisfies RunSummary['rows']

const EXPECTED_TERMS = {
  added: 10,
  pre_existing: 2,
  updated: 0,
  non_existent: 0,
  failed: [],
} as const satisfies RunSummary['terms']

const EXPECTED_RULES = [
  'Sexual content',
  'Hateful content',
  'Violent content',
  'Bullying',
  'Likely spam',
  'Promotion',
  'Contains a link',
  'Watchlist term',
  'Spanish or Portuguese',
  'Bullying in live chat',
]

const MOST_ROWS = 50

/** A table of the rows that did not succeed and why, in the order of the source. */
export async function formatUnsuccessfulRows(
  terminal: Terminal,
  engine: Engine,
  runId: string,
): Promise<string[]> {
  const reasons: { row: number; cells: string[] }[] = []
  for (const state of ['invalid', 'rejected', 'failed', 'unknown'] as const) {
    const page = await engine.results.readPage(runId, { filter: { state }, offset: 0, limit: MOST_ROWS })
    for (const result of page.rows) {
      const { problems } = await engine.results.readRow(runId, result.row)
      const errors = problems.filter((problem) => problem.severity === 'error')
      const answer = [result.status, result.errorCode, result.message].filter((part) => part !== null)
      const reason = errors.length > 0 ? errors.map(formatProblemOfRow).join('; ') : answer.join(' ')
      reasons.push({
        row: result.row,
        cells: [String(toRowNumber(result.place)), state, reason],
      })
    }
  }
  if (reasons.length === 0) return []
  const table = formatTable(
    terminal,
    {
      columns: [number('ROW'), text('STATE'), foreign('WHY', 20)],
      rows: reasons.toSorted((one, other) => one.row - other.row).map(({ cells }) => cells),
    },
    { indent: 2 },
  )
  return [terminal.tone('strong', 'Rows that did not succeed'), ...table]
}
