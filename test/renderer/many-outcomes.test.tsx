import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { toCauseFilter } from '../../src/renderer/bridge/asked-request.ts'
import { toSnapshot } from '../../src/renderer/bridge/live-runs.ts'
import { listConnectionFacts } from '../../src/renderer/features/plan/plan-screen.tsx'
import { ErrorsPanel, RulesPanel } from '../../src/renderer/features/run/outcome-panels.tsx'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { PLAIN_SUMMARY } from '../helpers/plain-summary.ts'

const RULES = Array.from({ length: 14 }, (_, at) => ({
  rule_id: `r${at}`,
  rule_name: `Rule ${at}`,
  rows: 20 - at,
}))

const ERRORS = Array.from({ length: 12 }, (_, at) => ({
  outcome: 'rejected' as const,
  status: 400,
  error_code: `CODE_${at}`,
  message: `cause ${at}`,
  rows: 20 - at,
}))

/** The screen of an ended run, from its journal. */
const SNAPSHOT = toSnapshot({ ...PLAIN_SUMMARY, triggered_rules: RULES, errors: ERRORS })

function show(panel: React.ReactNode): string {
  return renderToStaticMarkup(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider>{panel}</MantineProvider>
    </QueryClientProvider>,
  )
}

it('counts all rules of an ended run, and offers those that are not listed', () => {
  const shown = show(<RulesPanel rules={SNAPSHOT.triggeredRules} live={false} />)
  expect(shown).toContain('14 rules')
  expect(shown).toContain('Rule 9<')
  expect(shown).not.toContain('Rule 10<')
  expect(shown).toContain('Show all 14')
})

it('says that a run in progress shows only the rules with most rows', () => {
  const shown = show(<RulesPanel rules={RULES.slice(0, 10)} live />)
  expect(shown).toContain('the 10 with most rows')
  expect(shown).not.toContain('10 rules')
})

it('offers every cause of unsuccessful rows', () => {
  const shown = show(<ErrorsPanel runId="r" rows={174} errors={SNAPSHOT.errors} operation="task" />)
  expect(shown).toContain('CODE_9')
  expect(shown).toContain('Show all 12')
})

it('shows a cause once if the service quotes another text in each message', () => {
  const errors = ['spam', 'hello', 'bye'].map((text, at) => {
    return {
      ...{ outcome: 'rejected' as const, status: 400, error_code: 'BAD_TEXT' },
      message: text,
      rows: 3 - at,
    }
  })
  const snapshot = toSnapshot({ ...PLAIN_SUMMARY, errors })
  const shown = show(<ErrorsPanel runId="r" rows={6} errors={snapshot.errors} operation="task" />)
  expect(shown.match(/<li/g)).toHaveLength(1)
  expect(shown).toContain('>6<')
  expect(shown).toContain('and 2 other messages')
  expect(snapshot.errors.map(toCauseFilter)).toEqual([{ cause: '["rejected",400,"BAD_TEXT"]' }])
})

it("hides the service's messages until it is known what they quote", () => {
  const shown = show(
    <ErrorsPanel runId="r" rows={20} errors={SNAPSHOT.errors.slice(0, 1)} operation="task" />,
  )
  expect(shown).toContain('hidden (7 characters)')
  expect(shown).not.toContain('cause 0')
  expect(shown).toContain('Show content')
})

it('shows everything that a plan says about its connection', () => {
  const plan = planSchema.parse({
    operation: { kind: 'task', mode: 'sync', api: 'v1' },
    source: { path: '/posts.csv' },
    connection: {
      baseUrl: 'https://api.example.com',
      headers: { 'x-tenant': 'seven' },
      userAgent: 'probe/1',
      traceparent: true,
      rewritesIds: true,
      unixSocket: '/run/proxy.sock',
      tls: { caFile: '/ca.pem' },
    },
  })
  expect(listConnectionFacts(plan)).toEqual(
    expect.arrayContaining([
      ['Header x-tenant', 'seven'],
      ['User agent', 'probe/1'],
      ['Traceparent', 'yes'],
      ['Rewritten ids', 'yes'],
      ['Unix socket', '/run/proxy.sock'],
      ['File of authorities', '/ca.pem'],
    ]),
  )
})
