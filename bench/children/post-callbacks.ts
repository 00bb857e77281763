import autocannon from 'autocannon'
import { toCallbackPath } from '../../src/main/engine/receiver/addresses.ts'
import { reportToParent } from '../lib/report-to-parent.ts'

/** A service's answer to a task, of typical size with a few rules. */
const BODY = JSON.stringify({
  task_id: 'a3b1c5d7-0000-4000-8000-000000000000',
  user_id: 'user1',
  post_id: '20261121-094329-347k3f9-17',
  triggered_rules: [{ rule_id: 'rule-spam', rule_name: 'Spam' }],
  results: {
    text: {
      classes: [
        { class: 'spam', score: 0.93 },
        { class: 'safe', score: 0.07 },
      ],
    },
  },
})

const { baseUrl, secret, connections, seconds } = JSON.parse(process.argv[2] ?? '') as {
  baseUrl: string
  secret: string
  connections: number
  seconds: number
}

const result = await autocannon({
  url: baseUrl,
  connections,
  duration: seconds,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: BODY,
  requests: Array.from({ length: 20 }, (_, i) => ({
    path: toCallbackPath(secret, { runToken: '20261121-094329-347k3f9', item: i + 1 }),
  })),
})
reportToParent({
  perSecond: result.requests.average,
  p99Ms: result.latency.p99,
  answered: result['2xx'],
  refused: result.non2xx,
  failed: result.errors + result.timeouts,
  statuses: Object.keys(result.statusCodeStats ?? {}),
})
