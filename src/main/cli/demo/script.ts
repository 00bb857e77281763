import type { RunSummary } from '../../../shared/run.ts'
import type { SandboxOptions } from '../../sandbox/sandbox-options.ts'

/** The sandbox of the demo: slow enough to watch, and failing now and then, the same way each time. */
export const DEMO_SANDBOX = {
  seed: 'demo',
  latency: '110ms±70ms',
  faults: ['5xx=2%', '429=1%,retry-after=1', 'reset-before=1%'],
} as const satisfies SandboxOptions

/** Posts of the sample that the service is given before the run, so that it rejects them as duplicates. */
export const SUBMITTED_EARLIER = ['post-0020', 'post-0111', 'post-0112', 'post-0240', 'post-0301'] as const

/** What the demo's run must come to: every row of the sample in exactly one of the counts. */
const EXPECTED_ROWS = {
  read: 372,
  invalid: 8,
  succeeded: 359,
  rejected: SUBMITTED_EARLIER.length,
  failed: 0,
  unknown: 0,
  not_sent: 0,
} as const satisfies Partial<RunSummary['rows']>

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

/** What went otherwise than scripted, a sentence each; empty where all went as it should. */
export function findDifferences(summary: RunSummary): string[] {
  const differences: string[] = []
  if (summary.state !== 'completed') differences.push(`the run should be completed, and is ${summary.state}`)
  for (const [name, expected] of Object.entries(EXPECTED_ROWS)) {
    const found = new Map(Object.entries(summary.rows)).get(name)
    if (found !== expected) differences.push(`rows ${name}: expected ${expected}, found ${found}`)
  }
  const triggered = new Set(summary.triggered_rules.map((rule) => rule.rule_name))
  for (const rule of EXPECTED_RULES) {
    if (!triggered.has(rule)) differences.push(`no row triggered the rule ${rule}`)
  }
  if (summary.requests.retried === 0) differences.push('no request had to be tried again')
  if (summary.retry_after.answers === 0) differences.push('no answer asked to wait with Retry-After')
  if (summary.latency_ms.http_req_duration === undefined) differences.push('no latency was measured')
  return differences
}
